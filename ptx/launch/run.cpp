#include "ptx/launch/run.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "ptx/launch/archive.hpp"
#include "ptx/launch/signature.hpp"
#include "ptx/text/text.hpp"

namespace ptx {
namespace {
launch::Dims dims(cuda::Dim3 dim) { return {dim.x, dim.y, dim.z}; }

/// Bytes of a tensor of this tile; nothing when a dimension is only a name.
std::optional<std::size_t> bytes_of(const Tile& tile) {
  auto bytes = static_cast<std::uint64_t>(tile::element_bytes(tile.dtype()));
  for (const tile::Dim& dim : tile.shape()) {
    const auto* size = std::get_if<std::int64_t>(&dim);
    if (size == nullptr) return std::nullopt;
    bytes = multiply_sizes(bytes, static_cast<std::uint64_t>(*size));
  }
  return bytes;
}
}  // namespace

namespace {
/// The only kernel, or that of the name; none: null.
const ir::Function* find_entry(const ir::Module& module, std::string_view name) {
  const auto wanted = [&](const ir::Function& function) {
    return function.is_entry && (name.empty() || module.str(function.name) == name);
  };
  const auto at = std::find_if(module.functions.begin(), module.functions.end(), wanted);
  return at != module.functions.end() ? &*at : nullptr;
}

Expected<Compiled> compile_entry(ir::Module module, std::string_view name, const CompileOptions& options) {
  auto accepted = check::accept(std::move(module));
  if (!accepted) return Unexpected{std::move(accepted).error()};
  const ir::Module& checked = accepted->module();
  const ir::Function& entry = *find_entry(checked, name);
  std::size_t tensors = entry.params.size() - std::min(entry.params.size(), options.scalars.size());
  // Behind them may be descriptors; how many, the tiles say, and without tiles the names.
  const std::size_t descriptors = std::min(tensors, launch::descriptor_count(checked, entry));
  const std::size_t described = options.tiles.empty() ? tensors - descriptors : options.tiles.size();
  if (described < tensors && tensors - described <= descriptors) tensors = described;
  if (tensors < options.outputs) {
    return Unexpected{{.kind = Kind::param_layout,
                       .message = cat("kernel `", checked.str(entry.name), "` has ", tensors, " tensor parameters; ",
                                      options.outputs, " outputs do not fit")}};
  }
  auto spec = launch::LaunchSpec::make(checked, entry,
                                       {.grid = dims(options.grid),
                                        .block = dims(options.block),
                                        .cluster = dims(options.cluster),
                                        .dynamic_smem_bytes = options.dynamic_smem_bytes,
                                        .cooperative = options.cooperative,
                                        .programmatic = options.programmatic},
                                       static_cast<std::uint32_t>(tensors) - options.outputs, options.outputs, options.scalars,
                                       options.tiles);
  if (!spec) return Unexpected{std::move(spec).error()};
  std::vector<Type> scalars;
  for (std::size_t i = 0; i < options.scalars.size(); ++i) scalars.push_back(entry.params[tensors + i].type);
  auto listing = std::make_shared<const ir::Listing>(text::list(checked));
  auto image = launch::KernelImage::make(std::move(*accepted), std::move(listing), std::move(*spec));
  if (!image) return Unexpected{std::move(image).error()};
  if (!options.tiles.empty() && options.tiles.size() != tensors) {
    return Unexpected{{.kind = Kind::param_layout,
                       .message = cat("kernel `", (*image)->spec().entry, "` has ", tensors, " tensor parameters and ",
                                      options.tiles.size(), " tiles")}};
  }
  return Compiled(std::move(*image), options.tiles, std::move(scalars));
}
}  // namespace

Expected<Compiled> compile(ir::Module module, const CompileOptions& options) {
  const auto is_entry = [](const ir::Function& function) { return function.is_entry; };
  if (const auto entries = std::count_if(module.functions.begin(), module.functions.end(), is_entry); entries != 1) {
    return Unexpected{
        {.kind = Kind::unknown_kernel, .message = cat("a module with ", entries, " kernels; one is needed to compile it")}};
  }
  return compile_entry(std::move(module), {}, options);
}

Expected<Compiled> from_ptx(std::string_view text, std::string_view entry, const CompileOptions& options) {
  text::Parsed parsed = text::parse(std::string(text), entry.empty() ? std::string("kernel.ptx") : cat(entry, ".ptx"));
  for (Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return Unexpected{std::move(finding)};
  if (entry.empty()) return compile(std::move(parsed.module), options);
  if (find_entry(parsed.module, entry) == nullptr)
    return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("the text has no kernel `", entry, '`')}};
  return compile_entry(std::move(parsed.module), entry, options);
}

Expected<Compiled> load(const std::string& path) {
  auto saved = launch::load_saved(path);
  if (!saved) return Unexpected{std::move(saved).error()};
  return Compiled(std::move(saved->image), std::move(saved->tiles), std::move(saved->scalar_types));
}

Expected<Diagnostics> Compiled::save(const std::string& path, std::optional<std::vector<std::string>> targets) const {
  return launch::save(path, *image_, {.targets = std::move(targets), .tiles = tiles_, .scalar_types = scalars_});
}

Expected<Compiled> Compiled::with_scalars(const std::vector<launch::Scalar>& values) const {
  if (values.size() != scalars_.size()) {
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", image_->spec().entry, "` has ", scalars_.size(), " scalar parameters; ",
                                      values.size(), " values are given")}};
  }
  std::vector<std::optional<std::uint64_t>> bits;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto packed = launch::pack_scalar(scalars_[i], values[i]);
    if (!packed) return Unexpected{std::move(packed).error()};
    bits.emplace_back(*packed);
  }
  auto image = image_->with_scalars(bits);
  if (!image) return Unexpected{std::move(image).error()};
  return Compiled(std::move(*image), tiles_, scalars_);
}

namespace {
/// Room for `count` of them: in the object itself for as many as kernels have, on the heap beyond.
template <class T>
class Some {
 public:
  explicit Some(std::size_t count) : count_(count) {
    if (count > few_.size()) many_.resize(count);
  }
  T& operator[](std::size_t i) { return many_.empty() ? few_[i] : many_[i]; }
  [[nodiscard]] std::span<T> all() { return {many_.empty() ? few_.data() : many_.data(), count_}; }

 private:
  std::size_t count_;
  std::array<T, 32> few_{};
  std::vector<T> many_;
};
}  // namespace

Expected<void> Compiled::run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs) const {
  const launch::LaunchSpec& spec = image_->spec();
  if (inputs.size() != spec.inputs || outputs.size() != spec.outputs) {
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", spec.entry, "` takes ", spec.inputs, " inputs and ", spec.outputs,
                                      " outputs; the call has ", inputs.size(), " and ", outputs.size())}};
  }
  const bool on_gpu = std::holds_alternative<launch::Cuda>(place);
  const std::size_t count = inputs.size() + outputs.size();
  Some<void*> pointers(count);
  Some<std::size_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    const bool input = i < inputs.size();
    const Memory& memory = input ? static_cast<const Memory&>(inputs[i]) : outputs[i - inputs.size()];
    const auto which = [&] {
      return cat(input ? "input " : "output ", input ? i : i - inputs.size(), " of kernel `", spec.entry, '`');
    };
    if (const auto wanted = tiles_.empty() ? std::nullopt : bytes_of(tiles_[i]); wanted && *wanted != memory.bytes) {
      return Unexpected{
          {.kind = Kind::argument_dim,
           .message = cat(which(), " is ", memory.bytes, " bytes; ", launch::describe(tiles_[i]), " is ", *wanted)}};
    }
    if (memory.on_gpu != on_gpu) {
      return Unexpected{Diagnostic{
          .kind = Kind::argument_device,
          .message = cat(which(), " is in ",
                         memory.on_gpu ? "a GPU's memory; the call runs on the CPU" : "host memory; the call runs on a GPU")}
                            .note(on_gpu ? "hint: copy it to the GPU with `ptx::cuda::DeviceBuffer::copy_of`"
                                         : "hint: run it with `ptx::gpu(0)`")};
    }
    pointers[i] = memory.data;
    bytes[i] = memory.bytes;
  }
  if (const auto* gpu = std::get_if<launch::Cuda>(&place)) return image_->launch(*gpu, pointers.all());
  auto report = image_->launch(std::get<launch::Cpu>(place), pointers.all(), bytes.all());
  if (!report) return Unexpected{std::move(report).error()};
  return {};
}

}  // namespace ptx
