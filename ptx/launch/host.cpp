#include "ptx/launch/host.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ptx/launch/attendance.hpp"
#include "ptx/launch/content.hpp"
#include "ptx/launch/executor_module.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/observing.hpp"
#include "ptx/launch/params.hpp"
#include "ptx/launch/signature.hpp"

namespace ptx::launch {
namespace {

/// The text of an image that was made of text is read back: nothing runs unchecked.
HostSide::Program decode_text(const std::string& text, const std::string& entry) {
  const auto bad = [&](Diagnostic why) {
    return Unexpected{Diagnostic{.kind = Kind::bad_image,
                                 .message = cat("the text of kernel `", entry, "` is not PTX that can run: ", why.message),
                                 .where = why.where,
                                 .notes = std::move(why.notes)}};
  };
  auto module = ExecutorModule::make(text, cat(entry, ".ptx"));
  return module ? (*module)->kernel(entry) : bad(std::move(module).error());
}

/// The memory of a launch, each piece once: tensors may be one, and overlap in no other way.
class Regions {
 public:
  Regions(const LaunchSpec& spec, const std::vector<std::string>& names, const Cpu& cpu)
      : spec_(spec), names_(names), cpu_(cpu) {}

  Expected<void> add(std::size_t tensor, std::byte* data, std::size_t bytes) {
    if (bytes == 0) return {};
    const bool output = tensor >= spec_.inputs;
    vgpu::Region* same = nullptr;  // one tensor given twice, or changed in place
    for (std::size_t i = 0; i < all_.size(); ++i) {
      vgpu::Region& other = all_[i];
      if (lie_apart(data, bytes, other.data, other.bytes)) continue;
      const bool two_outputs = output && !is_input_[i];
      const bool read_alone = !output && !other.writable;
      const bool is_it = other.data == data && (read_alone || (other.bytes == bytes && !two_outputs));
      if (is_it) same = &other;
      if (!is_it && !read_alone) return overlap(other, tensor, bytes);
    }
    if (same == nullptr) {
      all_.push_back({.data = data,
                      .bytes = bytes,
                      .writable = output,
                      .initialised = !output || cpu_.keeps_outputs,
                      .name = names_[tensor]});
      if (tensor < cpu_.forms.size()) {
        all_.back().shape = cpu_.forms[tensor].shape;
        all_.back().element_bits = cpu_.forms[tensor].element_bits;
      }
      is_input_.push_back(!output);
    } else {
      same->bytes = std::max(same->bytes, bytes);
      same->writable = same->writable || output;
    }
    return {};
  }
  [[nodiscard]] std::vector<vgpu::Region>& all() { return all_; }

 private:
  [[nodiscard]] Unexpected overlap(const vgpu::Region& other, std::size_t tensor, std::size_t bytes) const {
    return {{.kind = Kind::argument_memory,
             .message = cat("tensors `", other.name, "` and `", names_[tensor], "` of kernel `", spec_.entry,
                            "` overlap in memory: ", other.bytes, " and ", bytes,
                            " bytes; what fits are tensors apart, or an output that is an input")}};
  }

  const LaunchSpec& spec_;
  const std::vector<std::string>& names_;
  const Cpu& cpu_;
  std::vector<vgpu::Region> all_;
  std::vector<bool> is_input_;  // of each
};

/// The TMA descriptors of a launch: where they lie while it runs, and what kernels that take them by address are passed.
class HostDescriptors {
 public:
  HostDescriptors(const LaunchSpec& spec, const std::vector<std::string>& names)
      : spec_(spec), names_(names), words_(spec.tensor_maps.size()), addresses_(words_.size()) {}

  Expected<void> encode(std::span<void* const> pointers) {
    for (const Param& param : spec_.params) {
      if (!param.is_descriptor()) continue;
      const layout::TensorMap& map = spec_.tensor_maps[param.bits];
      const auto tensor = reinterpret_cast<std::uintptr_t>(pointers[param.arg]);
      const auto refuse = [&](Kind kind, std::string_view why) {
        return Unexpected{
            {.kind = kind,
             .message = cat("the TMA descriptor of tensor `", names_[param.arg], "` of kernel `", spec_.entry, "`: ", why)}};
      };
      if (auto ok = map.check(); !ok) return refuse(ok.error().kind, ok.error().message);
      if (const std::uint64_t multiple = layout::address_alignment(map); tensor % multiple != 0)
        return refuse(Kind::argument_alignment, cat("the data pointer 0x", hex(tensor), " is not a multiple of ", multiple,
                                                    " bytes, which a tensor map needs"));
      words_[param.bits] = layout::encode(map, tensor);
      addresses_[param.bits] = reinterpret_cast<std::uintptr_t>(&words_[param.bits]);
    }
    return {};
  }
  /// What the parameter's value is.
  [[nodiscard]] void* value(const Param& param) {
    return param.kind == Param::Kind::tensor_map_value ? static_cast<void*>(&words_[param.bits]) : &addresses_[param.bits];
  }
  /// Those that the kernel finds by address, as memory that it may read.
  void add_to(std::vector<vgpu::Region>& regions) {
    for (const Param& param : spec_.params)
      if (param.kind == Param::Kind::tensor_map)
        regions.push_back({.data = reinterpret_cast<std::byte*>(&words_[param.bits]),
                           .bytes = sizeof(layout::TensorMapWords),
                           .writable = false,
                           .name = cat(names_[param.arg], "'s TMA descriptor")});
  }

 private:
  const LaunchSpec& spec_;
  const std::vector<std::string>& names_;
  std::vector<layout::TensorMapWords> words_;
  std::vector<std::uint64_t> addresses_;
};

/// The parameters as the executor takes them: one block of bytes.
std::vector<std::byte> parameter_block(const LaunchSpec& spec, std::span<const std::size_t> offsets,
                                       std::span<void* const> pointers, ScalarValues scalars, HostDescriptors& descriptors) {
  std::vector<std::byte> block(offsets.empty() ? 0 : offsets.back() + spec.params.back().size_bytes);
  void* values[max_params];
  const auto descriptor = [&](const Param& param, void*) { return descriptors.value(param); };
  if (!gather_params(spec, pointers, scalars, values, descriptor)) return block;
  for (std::size_t i = 0; i < spec.params.size(); ++i)
    std::memcpy(block.data() + offsets[i], values[i], spec.params[i].size_bytes);
  return block;
}

}  // namespace

Cpu default_cpu() {
  Cpu cpu;
  cpu.options.workers = std::max(1u, std::thread::hardware_concurrency());
  cpu.attended = true;
  if (const auto checks = checks_setting()) cpu.options.checks = *checks;
  default_arithmetic().give_to(cpu.options);
  return cpu;
}

void Arithmetic::give_to(vgpu::Options& options) const {
  options.numerics = numerics;
  options.approximations = approximations;
  options.completion = completion;
  options.threads = threads;
  if (checks) options.checks = *checks;
  options.seed = seed;
  options.suppress = suppress;
  options.max_findings = max_findings;
  options.stop_at_first = stop_at_first;
}

namespace {
struct SharedArithmetic {
  std::mutex mutex;
  Arithmetic now;
};
SharedArithmetic& shared_arithmetic() {
  static SharedArithmetic shared;
  return shared;
}
}  // namespace

Arithmetic default_arithmetic() {
  SharedArithmetic& shared = shared_arithmetic();
  const std::lock_guard lock(shared.mutex);
  return shared.now;
}
void set_default_arithmetic(const Arithmetic& arithmetic) {
  SharedArithmetic& shared = shared_arithmetic();
  const std::lock_guard lock(shared.mutex);
  shared.now = arithmetic;
}

namespace {
struct Collection {
  std::mutex mutex;
  bool collects = false;
  Collected all;
  void add(const vgpu::Report& report) {
    all.findings.insert(all.findings.end(), report.findings.begin(), report.findings.end());
    all.suppressed += report.suppressed;
    all.left_out += report.left_out;
    const auto& unused = report.unused_suppressions;
    if (all.runs++ == 0) all.unused_suppressions = unused;
    std::erase_if(all.unused_suppressions,
                  [&](const std::string& one) { return std::find(unused.begin(), unused.end(), one) == unused.end(); });
  }
};
Collection& collection() {
  static Collection all;
  return all;
}

// What checks have found in a run that went well otherwise.
Expected<vgpu::Report> judge(vgpu::Report report) {
  Collection& all = collection();
  const std::lock_guard lock(all.mutex);
  if (all.collects) {
    all.add(report);
    return report;
  }
  if (report.findings.empty()) return report;
  const auto is_error = [](const Diagnostic& finding) { return finding.severity == Severity::error; };
  const auto first = std::find_if(report.findings.begin(), report.findings.end(), is_error);
  if (first == report.findings.end()) return report;
  Diagnostic error = std::move(*first);
  for (const Diagnostic& other : report.findings)
    if (&other != &*first) error.note(cat("found too: ", other.message));
  return Unexpected{std::move(error)};
}
}  // namespace

void collect_findings(bool collect) {
  Collection& all = collection();
  const std::lock_guard lock(all.mutex);
  all.collects = collect;
}
Collected take_findings() {
  Collection& all = collection();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.all, {});
}

Expected<vgpu::Report> run_on(const Cpu& cpu, const vgpu::Program& program, const vgpu::LaunchConfig& config,
                              std::span<const std::byte> params, std::span<const vgpu::Region> regions) {
  const auto judged = [&](Expected<vgpu::Report> report) {
    return report && cpu.findings_are_errors ? judge(*std::move(report)) : std::move(report);
  };
  if (!cpu.attended) return judged(program.run(config, params, regions, cpu.options));
  vgpu::Options options = cpu.options;
  if (auto checks = checks_setting(); !checks) return Unexpected{std::move(checks).error()};
  if (options.checks == vgpu::Checks::full) {
    auto suppressed = suppressions_setting();
    if (!suppressed) return Unexpected{std::move(suppressed).error()};
    options.suppress.insert(options.suppress.end(), suppressed->begin(), suppressed->end());
  }
  if (options.max_instructions == 0) {
    auto limit = max_instructions_setting();
    if (!limit) return Unexpected{std::move(limit).error()};
    options.max_instructions = *limit;
  }
  const Observed observed;
  if (options.observer == nullptr) options.observer = observed.observer();
  if (options.exploration == nullptr) options.exploration = observed.exploration();
  if (observed.steps()) return program.run(config, params, regions, options);
  Attendance attendance(program.name(), cpu.interrupt_hook);
  if (!options.watch) options.watch = std::ref(attendance);
  return judged(program.run(config, params, regions, options));
}

Expected<std::shared_ptr<const vgpu::Program>> KernelImage::program() const {
  return content_->host.program([this] {
    return content_->accepted ? vgpu::Program::make(*content_->accepted, content_->listing, spec_.entry)
                              : decode_text(text(), spec_.entry);
  });
}

Expected<std::span<std::byte>> KernelImage::variable(std::string_view name) const {
  auto decoded = program();
  if (!decoded) return Unexpected{std::move(decoded).error()};
  if (const auto bytes = (*decoded)->instance()->variable(name)) return *bytes;
  return Unexpected{{.kind = Kind::undefined_symbol,
                     .message = cat("the module of kernel `", spec_.entry, "` has no .global or .const variable `", name, '`')}};
}

Expected<vgpu::Report> KernelImage::launch(const Cpu& cpu, std::span<void* const> pointers, std::span<const std::size_t> bytes,
                                           Scalars scalars) const {
  if (auto ok = check_count(pointers.size(), scalars); !ok) return Unexpected{std::move(ok).error()};
  if (auto ok = check_count(bytes.size(), scalars); !ok) return Unexpected{std::move(ok).error()};
  if (auto ok = check_alignments(pointers); !ok) return Unexpected{std::move(ok).error()};
  auto decoded = program();
  if (!decoded) return Unexpected{std::move(decoded).error()};
  Regions regions(spec_, content_->tensor_names, cpu);
  for (std::size_t i = 0; i < pointers.size(); ++i)
    if (auto ok = regions.add(i, static_cast<std::byte*>(pointers[i]), bytes[i]); !ok) return Unexpected{std::move(ok).error()};
  HostDescriptors descriptors(spec_, content_->tensor_names);
  if (auto ok = descriptors.encode(pointers); !ok) return Unexpected{std::move(ok).error()};
  descriptors.add_to(regions.all());
  const std::vector<std::byte> block = parameter_block(spec_, content_->param_offsets, pointers, scalars, descriptors);
  const vgpu::LaunchConfig config{.grid = spec_.geometry.grid,
                                  .block = spec_.geometry.block,
                                  .dynamic_smem_bytes = spec_.geometry.dynamic_smem_bytes,
                                  .cluster = spec_.geometry.cluster};
  return run_on(cpu, **decoded, config, block, regions.all());
}

}  // namespace ptx::launch
