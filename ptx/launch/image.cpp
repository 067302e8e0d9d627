#include "ptx/launch/image.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <set>
#include <thread>

#include "ptx/launch/alignment.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

cuda::Dim3 dim3(const Dims& dims) { return {dims[0], dims[1], dims[2]}; }

/// `.reqntid` and `.maxntid` bind the driver and the executor alike, so they are checked before either.
Expected<void> check_directives(const ir::Function& entry, std::string_view name, const Geometry& geometry) {
  for (const ir::Directive& directive : entry.directives) {
    if (directive.name != "reqntid" && directive.name != "maxntid") continue;
    Dims wanted{1, 1, 1};
    std::copy_n(directive.values.begin(), std::min<std::size_t>(3, directive.values.size()), wanted.begin());
    if (auto ok = check_launch_bound(directive.name, wanted, geometry.block); !ok)
      return Unexpected{{.kind = Kind::launch_config, .message = cat("kernel `", name, "`: ", ok.error().message)}};
  }
  return {};
}

}  // namespace

Cpu default_cpu() {
  Cpu cpu;
  cpu.options.workers = std::max(1u, std::thread::hardware_concurrency());
  cpu.attended = true;
  return cpu;
}

/// The kernel, ready on one GPU.
struct KernelImage::OnDevice {
  const cuda::Driver& driver;
  cuda::api::Context context;
  cuda::api::Function function;
  cuda::LaunchTemplate launch;
  const cuda::Device& device;
  struct Described {
    cuda::RecentTensorMaps recent;                                   // passed by address
    std::atomic<const cuda::api::TensorMapBytes*> encoded{nullptr};  // passed by value: one of any tensor, the Code's
  };
  const std::unique_ptr<Described[]> descriptors;
};

namespace {

/// A name that stays for good: for what is said when the kernel may be gone.
const char* kept_name(const std::string& name) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  return names.insert(name).first->c_str();
}

/// The kernel of the last launch, by any thread: an error that a kernel causes is reported by a later call.
std::atomic<const char*> last_launched{nullptr};

/// Whether the module waits for the grid that is launched ahead of it; statements that the table does not know are text.
bool waits_for_grid_ahead(const ir::Module& module) {
  const auto waits_for_grid = [](const isa::Form& form) { return form.row->effects.waits == isa::Event::grid; };
  const auto waits = [&](const ir::Inst& item) {
    if (item.kind == ir::ItemKind::raw) {
      const std::string_view statement = module.str(ir::StringId(item.payload));
      return std::any_of(isa::forms().begin(), isa::forms().end(), [&](const isa::Form& form) {
        return waits_for_grid(form) &&
               statement.find(cat(isa::spell(form, isa::first_choices(form)), ';')) != std::string_view::npos;
      });
    }
    return item.kind == ir::ItemKind::inst && waits_for_grid(isa::form(item.form));
  };
  return std::any_of(module.functions.begin(), module.functions.end(),
                     [&](const ir::Function& f) { return std::any_of(f.body.begin(), f.body.end(), waits); });
}

}  // namespace

/// What an image's text comes to: everything but the values of scalars.
struct KernelImage::Code {
  Code(std::shared_ptr<const ir::Listing> text, const LaunchSpec& spec)
      : listing(std::move(text)), offsets(spec.offsets()), name(kept_name(spec.entry)) {
    hash.add(listing->text);
    for (std::uint32_t i = 0; i < spec.inputs + spec.outputs; ++i)
      tensor_names.push_back(i < spec.inputs ? cat("input ", i) : cat("output ", i - spec.inputs));
  }

  const std::shared_ptr<const ir::Listing> listing;
  Sha256 hash;  // of the text, to which an image adds its launch
  std::optional<check::Accepted> accepted;
  const std::vector<std::size_t> offsets;  // of the spec's params
  std::vector<std::string> tensor_names;   // as the executor's reports call them

  std::vector<Alignment> alignments;  // by tensor, where the text was read; empty: no tensor needs any

  std::once_flag decoded;
  std::optional<Expected<std::shared_ptr<const vgpu::Program>>> program;

  ~Code() {
    // A graph may replay what it captured whenever it likes: its kernels stay loaded.
    if (captured.load(std::memory_order_relaxed)) return;
    for (auto& kernel : loaded.release()) cuda::retire(std::move(kernel));
  }

  const char* const name;  // for good
  mutable std::atomic<bool> captured{false};
  std::array<std::atomic<const OnDevice*>, cuda::max_devices> ready{};
  std::atomic<bool> warned{false};  // there are warnings
  std::mutex mutex;                 // guards what follows
  Diagnostics warnings;             // of compilers, that nobody has taken yet
  DeviceCode loaded;
  std::vector<std::unique_ptr<const OnDevice>> on_devices;
  std::vector<std::unique_ptr<const cuda::api::TensorMapBytes>> encoded;
};

std::int64_t KernelImage::handle_of(const Digest& key) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value |= std::uint64_t{key[i]} << 8 * i;
  return static_cast<std::int64_t>(value & 0x7FFF'FFFF'FFFF'FFFF);
}

KernelImage::KernelImage(std::shared_ptr<Code> code, LaunchSpec spec)
    : code_(std::move(code)), spec_(std::move(spec)), meta_(spec_.serialise()) {
  passes_values_ = std::any_of(spec_.params.begin(), spec_.params.end(),
                               [](const Param& param) { return param.kind == Param::Kind::tensor_map_value; });
  key_ = Sha256(code_->hash).add(meta_).finish();
  handle_ = handle_of(key_);
}

const std::vector<std::string>& KernelImage::tensor_names() const { return code_->tensor_names; }
const std::string& KernelImage::text() const { return code_->listing->text; }
bool KernelImage::has_module() const { return code_->accepted.has_value(); }
bool KernelImage::prepared(int ordinal) const noexcept {
  return ordinal >= 0 && ordinal < cuda::max_devices &&
         code_->ready[static_cast<std::size_t>(ordinal)].load(std::memory_order_acquire) != nullptr;
}

bool KernelImage::synchronous() noexcept {
  static const bool is = [] {
    const char* value = std::getenv("PYPTX_SYNC");
    return value != nullptr && *value != '\0' && std::string_view(value) != "0";
  }();
  return is;
}

KernelImage::~KernelImage() = default;

Expected<std::shared_ptr<const KernelImage>> KernelImage::make(check::Accepted accepted,
                                                               std::shared_ptr<const ir::Listing> listing, LaunchSpec spec) {
  if (auto valid = spec.validate(); !valid) return Unexpected{std::move(valid).error()};
  const ir::Module& module = accepted.module();
  const ir::Function* entry = module.find(spec.entry);
  if (entry == nullptr || !entry->is_entry) {
    return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("the module has no kernel `", spec.entry, '`')}};
  }
  bool same = entry->params.size() == spec.params.size();
  for (std::size_t i = 0; same && i < spec.params.size(); ++i) {
    same = entry->params[i].bytes() == spec.params[i].size_bytes && entry->params[i].alignment() == spec.params[i].align_bytes;
  }
  if (!same) {
    return Unexpected{
        {.kind = Kind::param_layout, .message = cat("the launch does not pass the parameters of kernel `", spec.entry, '`')}};
  }
  if (auto ok = check_directives(*entry, spec.entry, spec.geometry); !ok) return Unexpected{std::move(ok).error()};
  if (spec.geometry.programmatic && !waits_for_grid_ahead(module)) {
    return Unexpected{Diagnostic{
        .kind = Kind::launch_config,
        .message = cat("kernel `", spec.entry, "` is launched before the kernel ahead of it has ended, and never waits for it")}
                          .hint("write `griddepcontrol.wait` before the first access to memory that another kernel writes")};
  }
  auto code = std::make_shared<Code>(std::move(listing), spec);
  std::shared_ptr<KernelImage> image(new KernelImage(std::move(code), std::move(spec)));
  for (std::size_t i = 0; i < image->spec_.params.size(); ++i) {
    const Param& param = image->spec_.params[i];
    if (param.kind == Param::Kind::pointer)
      image->code_->tensor_names[param.arg] = std::string(module.str(entry->params[i].name));
  }
  const std::vector<Alignment> needed = alignments(module, *entry);
  for (std::size_t i = 0; i < image->spec_.params.size(); ++i) {
    const Param& param = image->spec_.params[i];
    if (param.kind != Param::Kind::pointer || needed[i].bytes == 1) continue;
    image->code_->alignments.resize(std::size_t{image->spec_.inputs} + image->spec_.outputs);
    image->code_->alignments[param.arg] = needed[i];
  }
  image->code_->accepted = std::move(accepted);
  return std::shared_ptr<const KernelImage>(std::move(image));
}

Expected<std::shared_ptr<const KernelImage>> KernelImage::from_text(std::string text, std::string_view meta, Ready ready) {
  auto spec = LaunchSpec::parse(meta);
  if (!spec) return Unexpected{std::move(spec).error()};
  if (auto target = cuda::target_of(text); !target) {
    return Unexpected{
        Diagnostic{.kind = Kind::bad_image, .message = cat("the text of kernel `", spec->entry, "` is not PTX")}.note(
            target.error().message)};
  }
  auto listing = std::make_shared<ir::Listing>();
  listing->text = std::move(text);
  auto code = std::make_shared<Code>(std::move(listing), *spec);
  code->loaded = DeviceCode(std::move(ready.cubins));
  if (ready.tensor_names.size() == code->tensor_names.size()) code->tensor_names = std::move(ready.tensor_names);
  return std::shared_ptr<const KernelImage>(new KernelImage(std::move(code), std::move(*spec)));
}

Expected<std::shared_ptr<const KernelImage>> KernelImage::with_scalars(Scalars scalars) const {
  if (auto ok = check_count(std::size_t{spec_.inputs} + spec_.outputs, scalars); !ok) return Unexpected{std::move(ok).error()};
  LaunchSpec spec = spec_;
  auto given = scalars.begin();
  for (Param& param : spec.params)
    if (param.kind == Param::Kind::scalar && given != scalars.end()) param.bits = given++->value_or(param.bits);
  return std::shared_ptr<const KernelImage>(new KernelImage(code_, std::move(spec)));
}

Expected<void> KernelImage::check_count(std::size_t pointers, Scalars scalars) const {
  const std::size_t takes = std::size_t{spec_.inputs} + spec_.outputs;
  if (pointers != takes) [[unlikely]]
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", spec_.entry, "` takes ", spec_.inputs, " inputs and ", spec_.outputs,
                                      " outputs; the launch has ", pointers, " tensors")}};
  if (scalars.empty()) [[likely]]
    return {};
  const auto is_scalar = [](const Param& param) { return param.kind == Param::Kind::scalar; };
  const auto has = static_cast<std::size_t>(std::count_if(spec_.params.begin(), spec_.params.end(), is_scalar));
  if (scalars.size() == has) return {};
  return Unexpected{
      {.kind = Kind::argument_count,
       .message = cat("kernel `", spec_.entry, "` has ", has, " scalar parameters; the launch has ", scalars.size())}};
}

Diagnostic KernelImage::misaligned(std::size_t tensor, std::uintptr_t address) const {
  const Alignment& needed = code_->alignments[tensor];
  Diagnostic error{
      .kind = Kind::argument_alignment,
      .message = cat("tensor `", code_->tensor_names[tensor], "` of kernel `", spec_.entry, "`: the address 0x", hex(address),
                     " is not a multiple of ", needed.bytes, " bytes, which `", needed.access, "` needs")};
  if (needed.where.known()) error.note(cat("`", needed.access, "` at ", to_string(needed.where)));
  return std::move(error).hint(
      "a tensor that begins in the middle of another may lie anywhere; a copy (`.clone()`, `numpy.copy`) is aligned");
}

Expected<void> KernelImage::check_alignments(std::span<void* const> pointers) const {
  const std::vector<Alignment>& needed = code_->alignments;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const auto address = reinterpret_cast<std::uintptr_t>(pointers[i]);
    if ((address & (needed[i].bytes - 1)) != 0) [[unlikely]]
      return Unexpected{misaligned(i, address)};
  }
  return {};
}

// -- on the host
// --------------------------------------------------------------------------------------------------------------------

Expected<std::shared_ptr<const vgpu::Program>> KernelImage::decode() const {
  if (code_->accepted) return vgpu::Program::make(*code_->accepted, code_->listing, spec_.entry);
  // Made from text: it is read back, and nothing runs unchecked.
  const auto bad = [&](Diagnostic why) {
    return Unexpected{Diagnostic{.kind = Kind::bad_image,
                                 .message = cat("the text of kernel `", spec_.entry, "` is not PTX that can run: ", why.message),
                                 .where = why.where,
                                 .notes = std::move(why.notes)}};
  };
  text::Parsed parsed = text::parse(text(), cat(spec_.entry, ".ptx"));
  for (Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return bad(std::move(finding));
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return bad(std::move(accepted).error());
  auto listing = std::make_shared<ir::Listing>();
  listing->text = text();
  for (const ir::Function& function : accepted->module().functions) {
    std::vector<std::uint32_t>& lines = listing->line_of.emplace_back();
    lines.reserve(function.body.size());
    for (const ir::Inst& item : function.body) lines.push_back(accepted->module().where(item).line);
  }
  return vgpu::Program::make(*accepted, std::move(listing), spec_.entry);
}

Expected<std::shared_ptr<const vgpu::Program>> KernelImage::program() const {
  if (!spec_.tensor_maps.empty()) {
    return Unexpected{Diagnostic{.kind = Kind::not_executed,
                                 .message = cat("kernel `", spec_.entry, "` takes ", spec_.tensor_maps.size(),
                                                " TMA descriptors, and the executor does not run tensor copies")}
                          .hint("call it with tensors on a GPU of compute capability 9.0 or later")};
  }
  if (spec_.geometry.cluster != Dims{1, 1, 1}) {
    return Unexpected{{.kind = Kind::not_executed,
                       .message = cat("kernel `", spec_.entry, "` is launched in clusters ", to_string(spec_.geometry.cluster),
                                      ", which the executor does not run")}};
  }
  std::call_once(code_->decoded, [this] { code_->program.emplace(decode()); });
  return *code_->program;
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
  std::vector<vgpu::Region> regions;
  regions.reserve(pointers.size());
  std::vector<bool> is_input;  // of each region
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const bool output = i >= spec_.inputs;
    if (bytes[i] == 0) continue;
    auto* const data = static_cast<std::byte*>(pointers[i]);
    const auto overlaps = [&](const vgpu::Region& other) {
      return data < other.data + other.bytes && other.data < data + bytes[i];
    };
    vgpu::Region* same = nullptr;  // one tensor given twice, or changed in place
    for (vgpu::Region& other : regions) {
      if (!overlaps(other)) continue;
      const bool two_outputs = output && !is_input[static_cast<std::size_t>(&other - regions.data())];
      const bool read_alone = !output && !other.writable;
      const bool is_it = other.data == data && (read_alone || (other.bytes == bytes[i] && !two_outputs));
      if (is_it) same = &other;
      if (is_it || read_alone) continue;
      return Unexpected{{.kind = Kind::argument_memory,
                         .message = cat("tensors `", other.name, "` and `", code_->tensor_names[i], "` of kernel `", spec_.entry,
                                        "` overlap in memory: ", other.bytes, " and ", bytes[i],
                                        " bytes; what fits are tensors apart, or an output that is an input")}};
    }
    if (same == nullptr) {
      regions.push_back({.data = data,
                         .bytes = bytes[i],
                         .writable = output,
                         .initialised = !output || cpu.keeps_outputs,
                         .name = code_->tensor_names[i]});
      is_input.push_back(!output);
    } else {
      same->bytes = std::max(same->bytes, bytes[i]);
      same->writable = same->writable || output;
    }
  }
  const std::vector<std::size_t>& offsets = code_->offsets;
  std::vector<std::byte> block(offsets.empty() ? 0 : offsets.back() + spec_.params.back().size_bytes);
  auto given = scalars.begin();
  for (std::size_t i = 0; i < spec_.params.size(); ++i) {
    const Param& param = spec_.params[i];
    std::uint64_t value = param.kind == Param::Kind::pointer ? reinterpret_cast<std::uintptr_t>(pointers[param.arg]) : param.bits;
    if (param.kind == Param::Kind::scalar && given != scalars.end()) value = given++->value_or(value);
    for (std::size_t byte = 0; byte < param.size_bytes; ++byte)
      block[offsets[i] + byte] = static_cast<std::byte>(value >> 8 * byte);
  }
  const vgpu::LaunchConfig config{
      .grid = spec_.geometry.grid, .block = spec_.geometry.block, .dynamic_smem_bytes = spec_.geometry.dynamic_smem_bytes};
  if (!cpu.attended) return (*decoded)->run(config, block, regions, cpu.options);
  vgpu::Options options = cpu.options;
  if (options.max_instructions == 0) {
    auto limit = max_instructions_setting();
    if (!limit) return Unexpected{std::move(limit).error()};
    options.max_instructions = *limit;
  }
  Attendance attendance(spec_.entry, cpu.interrupt_hook);
  if (!options.watch) options.watch = std::ref(attendance);
  return (*decoded)->run(config, block, regions, options);
}

// -- on a GPU
// -----------------------------------------------------------------------------------------------------------------------

CompilerText KernelImage::compiler_text() const {
  return code_->accepted ? CompilerText::of(*code_->accepted) : CompilerText{.text = text()};
}

/// The caller holds the mutex.
Expected<cuda::LoadedKernel*> KernelImage::on_device(const cuda::Device& gpu) const {
  std::vector<std::size_t> param_bytes;
  for (const Param& param : spec_.params) param_bytes.push_back(param.size_bytes);
  const Dims& cluster = spec_.geometry.cluster;
  const DeviceCode::Image image{.entry = spec_.entry,
                                .dynamic_smem_bytes = spec_.geometry.dynamic_smem_bytes,
                                .non_portable_cluster = std::uint64_t{cluster[0]} * cluster[1] * cluster[2] > 8,
                                .param_bytes = std::move(param_bytes)};
  auto loaded = code_->loaded.on(gpu, image, [&] { return compiler_text(); });
  // Also when the load failed after it: what a compiler says may be why.
  for (Diagnostic& warning : code_->loaded.take_warnings()) code_->warnings.push_back(std::move(warning));
  code_->warned.store(!code_->warnings.empty(), std::memory_order_release);
  return loaded;
}

Diagnostics KernelImage::take_load_warnings() const {
  if (!code_->warned.load(std::memory_order_acquire)) return {};
  const std::lock_guard lock(code_->mutex);
  code_->warned.store(false, std::memory_order_relaxed);
  return std::exchange(code_->warnings, {});
}

std::vector<cuda::Cubin> KernelImage::ready_cubins() const { return code_->loaded.ready(); }

Expected<const KernelImage::OnDevice*> KernelImage::load(int ordinal) const {
  auto device = cuda::device(ordinal);
  if (!device) return Unexpected{std::move(device).error()};
  const cuda::Device& gpu = **device;
  auto context = gpu.context();
  if (!context) return Unexpected{std::move(context).error()};
  (void)cuda::collect_retired();

  Code& code = *code_;
  const std::lock_guard lock(code.mutex);
  std::atomic<const OnDevice*>& slot = code.ready[static_cast<std::size_t>(ordinal)];
  if (const OnDevice* ready = slot.load(std::memory_order_acquire)) return ready;
  auto loaded = on_device(gpu);
  if (!loaded) return Unexpected{std::move(loaded).error()};
  auto function = (*loaded)->prepare(gpu);
  if (!function) return Unexpected{std::move(function).error()};
  auto facts = (*loaded)->facts(gpu);
  if (!facts) return Unexpected{std::move(facts).error()};
  const auto refused = [&](Diagnostic error) {
    error.message = cat("kernel `", spec_.entry, "`: ", error.message);
    return Unexpected{std::move(error)};
  };
  auto packed = cuda::LaunchTemplate::make({.grid = dim3(spec_.geometry.grid),
                                            .block = dim3(spec_.geometry.block),
                                            .cluster = dim3(spec_.geometry.cluster),
                                            .dynamic_smem_bytes = spec_.geometry.dynamic_smem_bytes,
                                            .cooperative = spec_.geometry.cooperative,
                                            .programmatic_stream_serialization = spec_.geometry.programmatic,
                                            .non_portable_cluster = true},
                                           gpu, &*facts);
  if (!packed) return refused(std::move(packed).error());
  if (spec_.geometry.cluster != Dims{1, 1, 1}) {
    auto fits = cuda::in_context(gpu, [&] { return cuda::check_cluster_fits(gpu.driver(), *function, *packed); });
    if (!fits) return refused(std::move(fits).error());
  }
  if (!spec_.tensor_maps.empty()) {
    if (auto room = gpu.tensor_maps().reserve(); !room) return Unexpected{std::move(room).error()};
  }
  code.on_devices.push_back(std::unique_ptr<const OnDevice>(new OnDevice{
      gpu.driver(), *context, *function, *packed, gpu, std::make_unique<OnDevice::Described[]>(spec_.tensor_maps.size())}));
  slot.store(code.on_devices.back().get(), std::memory_order_release);
  return code.on_devices.back().get();
}

Expected<void> KernelImage::prepare(int ordinal) const {
  if (prepared(ordinal)) return {};
  auto ready = load(ordinal);
  if (!ready) return Unexpected{std::move(ready).error()};
  return {};
}

Diagnostic KernelImage::about_descriptor(const Param& param, Diagnostic error) const {
  error.message =
      cat("the TMA descriptor of tensor `", code_->tensor_names[param.arg], "` of kernel `", spec_.entry, "`: ", error.message);
  return error;
}

Expected<const cuda::PlacedTensorMap*> KernelImage::place(const OnDevice& ready, const Param& param,
                                                          cuda::api::DeviceAddr tensor) const {
  auto placed = ready.device.tensor_maps().place(spec_.tensor_maps[param.bits], tensor);
  if (!placed) return Unexpected{about_descriptor(param, std::move(placed).error())};
  ready.descriptors[param.bits].recent.remember(**placed);
  return placed;
}

Expected<void> KernelImage::write_descriptor(const OnDevice& ready, const Param& param, cuda::api::DeviceAddr tensor,
                                             cuda::api::TensorMapBytes& out) const {
  const layout::TensorMap& map = spec_.tensor_maps[param.bits];
  std::atomic<const cuda::api::TensorMapBytes*>& slot = ready.descriptors[param.bits].encoded;
  if (const cuda::api::TensorMapBytes* any = slot.load(std::memory_order_acquire);
      any != nullptr && tensor % layout::address_alignment(map) == 0) [[likely]] {
    out = *any;
    if (ready.driver.call.tensor_map_replace_address(&out, reinterpret_cast<void*>(tensor)) == cuda::api::Result::success)
        [[likely]]
      return {};
  }
  auto encoded = cuda::encode(map, tensor, ready.device);
  if (!encoded) return Unexpected{about_descriptor(param, std::move(encoded).error())};
  out = *encoded;
  const std::lock_guard lock(code_->mutex);
  if (slot.load(std::memory_order_relaxed) == nullptr) {
    code_->encoded.push_back(std::make_unique<const cuda::api::TensorMapBytes>(*encoded));
    slot.store(code_->encoded.back().get(), std::memory_order_release);
  }
  return {};
}

/// An error of a launch, with the kernels that may have caused it.
Diagnostic KernelImage::failed(Diagnostic error) const {
  error.note(cat("launching kernel `", spec_.entry, '`'));
  if (const char* last = last_launched.load(std::memory_order_relaxed)) {
    error.note(cat("launched by pyptx before it: kernel `", last, "`; with PYPTX_SYNC=1 each launch reports its own errors"));
  }
  return error;
}

Expected<void> KernelImage::wait_for(const OnDevice& ready, cuda::api::Stream stream) const {
  auto status = cuda::api::CaptureStatus::none;
  if (ready.driver.call.stream_is_capturing(stream, &status) != cuda::api::Result::success ||
      status != cuda::api::CaptureStatus::none)
    return {};  // nothing runs yet
  auto done = cuda::checked(ready.driver, ready.driver.call.stream_synchronize(stream), "cuStreamSynchronize");
  if (done) return {};
  Diagnostic error = std::move(done).error();
  error.message = cat("kernel `", spec_.entry, "` failed: ", error.message);
  return Unexpected{std::move(error)};
}

Expected<void> KernelImage::launch(const Cuda& gpu, std::span<void* const> pointers, Scalars scalars) const {
  const OnDevice* ready = nullptr;
  if (gpu.ordinal >= 0 && gpu.ordinal < cuda::max_devices) [[likely]] {
    ready = code_->ready[static_cast<std::size_t>(gpu.ordinal)].load(std::memory_order_acquire);
  }
  if (ready == nullptr) [[unlikely]] {
    auto loaded = load(gpu.ordinal);
    if (!loaded) return Unexpected{std::move(loaded).error()};
    ready = *loaded;
  }
  if (auto ok = check_count(pointers.size(), scalars); !ok) return ok;
  if (!code_->alignments.empty())
    if (auto ok = check_alignments(pointers); !ok) return ok;
  if (ready->driver.forked()) [[unlikely]]
    return ready->driver.check_process();

  const cuda::ContextGuard guard(ready->driver, ready->context);
  if (!guard.ok()) [[unlikely]]
    return guard.entered();

  // The legacy default stream is never captured; asking of another one costs some 20 ns, once it is known nothing.
  if (gpu.stream != nullptr && !code_->captured.load(std::memory_order_relaxed)) {
    auto status = cuda::api::CaptureStatus::none;
    if (ready->driver.call.stream_is_capturing(gpu.stream, &status) == cuda::api::Result::success &&
        status != cuda::api::CaptureStatus::none) [[unlikely]]
      code_->captured.store(true, std::memory_order_relaxed);
  }
  if (!passes_values_) [[likely]]
    return launch_with(*ready, gpu, pointers, scalars, nullptr);
  alignas(cuda::api::TensorMapBytes) std::byte room[max_descriptor_values * sizeof(cuda::api::TensorMapBytes)];  // not cleared
  return launch_with(*ready, gpu, pointers, scalars, reinterpret_cast<cuda::api::TensorMapBytes*>(room));
}

inline Expected<void> KernelImage::launch_with(const OnDevice& ready, const Cuda& gpu, std::span<void* const> pointers,
                                               Scalars scalars, cuda::api::TensorMapBytes* descriptors) const {
  // cuLaunchKernelEx takes the address of each value and copies it before it returns.
  void* values[max_params];
  auto given = scalars.begin();
  for (std::size_t i = 0; i < spec_.params.size(); ++i) {
    const Param& param = spec_.params[i];
    switch (param.kind) {
      case Param::Kind::pointer:
        values[i] = const_cast<void**>(&pointers[param.arg]);
        break;
      case Param::Kind::scalar:
        values[i] = const_cast<std::uint64_t*>(&param.bits);
        if (given == scalars.end()) break;
        if (given->has_value()) values[i] = const_cast<std::uint64_t*>(&**given);
        ++given;
        break;
      case Param::Kind::tensor_map: {
        const auto tensor = reinterpret_cast<cuda::api::DeviceAddr>(pointers[param.arg]);
        const cuda::PlacedTensorMap* placed = ready.descriptors[param.bits].recent.find(tensor);
        if (placed == nullptr) [[unlikely]] {
          auto made = place(ready, param, tensor);
          if (!made) return Unexpected{std::move(made).error()};
          placed = *made;
        }
        values[i] = const_cast<cuda::api::DeviceAddr*>(&placed->addr);
        break;
      }
      case Param::Kind::tensor_map_value: {
        cuda::api::TensorMapBytes& bytes = *std::construct_at(descriptors++);
        auto written = write_descriptor(ready, param, reinterpret_cast<cuda::api::DeviceAddr>(pointers[param.arg]), bytes);
        if (!written) return written;
        values[i] = &bytes;
        break;
      }
    }
  }
  auto launched = cuda::launch(ready.driver, ready.function, ready.launch, gpu.stream, values);
  if (!launched) [[unlikely]]
    return Unexpected{failed(std::move(launched).error())};
  last_launched.store(code_->name, std::memory_order_relaxed);
  if (synchronous()) [[unlikely]]
    return wait_for(ready, gpu.stream);
  return {};
}

}  // namespace ptx::launch
