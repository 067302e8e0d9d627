#include "ptx/launch/sized.hpp"

#include <algorithm>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/call.hpp"
#include "ptx/launch/warnings.hpp"
#include "ptx/text/text.hpp"

namespace ptx::launch {
namespace {

/// Memory of a C++ program, which is all there before the call.
class MemoryOfCpp : public CallLibrary {
 public:
  MemoryOfCpp(const Place& place, std::span<const TensorView> outputs) : place_(place), outputs_(outputs) {}
  [[nodiscard]] Expected<TensorView> given(std::size_t output) const { return outputs_[output]; }
  /// Not asked: such a call gives its outputs.
  [[nodiscard]] static Expected<void*> allocate(std::size_t /*output*/) { return nullptr; }
  [[nodiscard]] Expected<cuda::api::Stream> stream(int /*ordinal*/) const { return std::get<Cuda>(place_).stream; }
  [[nodiscard]] Cpu cpu() const { return std::get<Cpu>(place_); }

 private:
  const Place& place_;
  std::span<const TensorView> outputs_;
};

}  // namespace

// How many of the entry's parameters are tensors and how many scalars. Behind them may be descriptors; how many, the tiles say,
// and without tiles the names.
Expected<void> SizedKernel::count_parameters() {
  const ir::Module& module = accepted_->module();
  const ir::Function& entry = *module.find(name_);
  const std::size_t params = entry.params.size(), given = options_.scalars.size();
  const std::size_t described = descriptor_count(entry);
  std::size_t scalars = given;
  if (options_.tiles.empty()) {
    tensors_ = params - std::min(params, given);
    tensors_ -= std::min(tensors_, described);
  } else {
    tensors_ = options_.tiles.size();
    // Scalars that are named as dimensions need no value: the call has it.
    const std::size_t behind = params - std::min(params, tensors_);
    const bool all_given = given <= behind && behind - given <= described;
    if (!all_given && behind >= described) scalars = behind - described;
  }
  for (std::size_t i = 0; i < scalars && tensors_ + i < params; ++i) {
    const ir::Param& param = entry.params[tensors_ + i];
    scalar_types_.push_back(param.type);
    const auto& names = shapes_.names();
    const auto at = std::find(names.begin(), names.end(), module.str(param.name));
    scalar_dims_.push_back(at == names.end() ? -1 : static_cast<std::int32_t>(at - names.begin()));
  }
  if (tensors_ < options_.outputs) {
    return refuse(Kind::param_layout,
                  cat("kernel `", name_, "` has ", tensors_, " tensor parameters; ", options_.outputs, " outputs do not fit"));
  }
  if (!options_.tiles.empty() && params < tensors_) {
    return refuse(Kind::param_layout,
                  cat("kernel `", name_, "` has ", params, " parameters and ", options_.tiles.size(), " tiles"));
  }
  inputs_ = tensors_ - options_.outputs;
  return {};
}

Expected<std::shared_ptr<SizedKernel>> SizedKernel::make(check::Accepted accepted, std::string_view entry,
                                                         CompileOptions options) {
  auto kernel = std::shared_ptr<SizedKernel>(new SizedKernel);
  kernel->name_ = entry;
  kernel->accepted_ = std::move(accepted);
  const ir::Module& module = kernel->accepted_->module();
  kernel->listing_ = std::make_shared<const ir::Listing>(text::list(module));
  kernel->options_ = std::move(options);
  const CompileOptions& given = kernel->options_;
  const std::size_t outputs = std::min<std::size_t>(given.outputs, given.tiles.size());
  kernel->shapes_ = TensorShapes(given.tiles, given.tiles.size() - outputs);
  if (auto counted = kernel->count_parameters(); !counted) return Unexpected{std::move(counted).error()};
  std::vector<std::string> names;
  const ir::Function& function = *module.find(entry);
  for (std::size_t i = 0; i < kernel->tensors_; ++i) names.emplace_back(module.str(function.params[i].name));
  for (const TensorMapOption& map : given.tensor_maps) {
    if (std::find(names.begin(), names.end(), map.tensor) == names.end())
      return refuse(Kind::param_layout,
                    cat("a tensor map is of `", map.tensor, "`, which is not a tensor of kernel `", entry, '`'));
  }
  for (const auto& [extent, what] : {std::pair(&given.grid, "grid"), {&given.block, "block"}, {&given.cluster, "cluster"}})
    for (const Size& size : extent->sizes())
      for (const std::string& dim : size.dims())
        if (const auto& dims = kernel->dims(); std::find(dims.begin(), dims.end(), dim) == dims.end())
          return refuse(Kind::dim_unbound,
                        cat("the ", what, " of kernel `", entry, "` is of dimension `", dim, "`, which no tensor has"));
  return finish(std::move(kernel), std::move(names));
}

Expected<std::shared_ptr<SizedKernel>> SizedKernel::of_image(std::shared_ptr<const KernelImage> image, std::vector<Tile> tiles,
                                                             std::vector<Type> scalars) {
  auto kernel = std::shared_ptr<SizedKernel>(new SizedKernel);
  const LaunchSpec& spec = image->spec();
  kernel->name_ = spec.entry;
  kernel->inputs_ = spec.inputs;
  kernel->tensors_ = std::size_t{spec.inputs} + spec.outputs;
  kernel->options_.outputs = spec.outputs;
  kernel->options_.tiles = std::move(tiles);
  kernel->shapes_ = TensorShapes(kernel->options_.tiles, kernel->inputs_);
  kernel->scalar_dims_.assign(scalars.size(), -1);
  kernel->scalar_types_ = std::move(scalars);
  std::vector<std::string> names = image->tensor_names();
  kernel->only_image_ = std::move(image);
  return finish(std::move(kernel), std::move(names));
}

Expected<std::shared_ptr<SizedKernel>> SizedKernel::of_maker(std::string name, std::size_t inputs, std::vector<Tile> tiles,
                                                             std::vector<std::string> names, Make make) {
  auto kernel = std::shared_ptr<SizedKernel>(new SizedKernel);
  kernel->name_ = std::move(name);
  kernel->make_ = std::move(make);
  kernel->inputs_ = inputs;
  kernel->tensors_ = tiles.size();
  kernel->options_.outputs = static_cast<std::uint32_t>(tiles.size() - inputs);
  kernel->options_.tiles = std::move(tiles);
  kernel->shapes_ = TensorShapes(kernel->options_.tiles, inputs);
  return finish(std::move(kernel), std::move(names));
}

Expected<std::shared_ptr<SizedKernel>> SizedKernel::finish(std::shared_ptr<SizedKernel> kernel, std::vector<std::string> names) {
  if (!kernel->make_ && kernel->only_image_ == nullptr && !kernel->depends_on_sizes()) {
    auto made = kernel->make_image({});
    if (!made) return Unexpected{std::move(made).error()};
    kernel->only_image_ = std::move(*made);
  }
  if (kernel->options_.tiles.empty()) return kernel;
  const auto middle = kernel->options_.tiles.begin() + static_cast<std::ptrdiff_t>(kernel->inputs_);
  auto signature = Signature::make(kernel->name_, {kernel->options_.tiles.begin(), middle},
                                   {middle, kernel->options_.tiles.end()}, std::move(names));
  if (!signature) return Unexpected{std::move(signature).error()};
  kernel->signature_ = std::move(*signature);
  return kernel;
}

Expected<std::vector<std::optional<std::uint64_t>>> SizedKernel::pack(std::span<const Scalar> values) const {
  const auto unnamed = static_cast<std::size_t>(std::count(scalar_dims_.begin(), scalar_dims_.end(), -1));
  const bool all = values.size() == scalar_types_.size();
  if (!all && values.size() != unnamed) {
    return refuse(Kind::argument_count, cat("kernel `", name_, "` has ", scalar_types_.size(), " scalar parameters; ",
                                            values.size(), " values are given"));
  }
  std::vector<std::optional<std::uint64_t>> packed;
  auto value = values.begin();
  for (std::size_t i = 0; i < scalar_types_.size(); ++i) {
    if (!all && scalar_dims_[i] >= 0) {
      packed.emplace_back();
      continue;
    }
    auto bits = pack_scalar(scalar_types_[i], *value++);
    if (!bits) return Unexpected{std::move(bits).error()};
    packed.emplace_back(*bits);
  }
  return packed;
}

/// Whether scalars named as dimensions are given no value, and so are their sizes.
bool SizedKernel::scalars_are_sizes() const {
  const auto unnamed = static_cast<std::size_t>(std::count(scalar_dims_.begin(), scalar_dims_.end(), -1));
  return options_.scalars.size() != scalar_types_.size() && options_.scalars.size() == unnamed;
}

bool SizedKernel::depends_on_sizes() const {
  if (dims().empty()) return false;
  const bool describes = accepted_->module().find(name_)->params.size() > tensors_ + scalar_types_.size();
  return describes || scalars_are_sizes() || options_.grid.is_open() || options_.block.is_open() || options_.cluster.is_open();
}

Expected<LaunchSpec> SizedKernel::spec(const Sizes& sizes) const {
  Geometry geometry{.dynamic_smem_bytes = options_.dynamic_smem_bytes, .attributes = attributes_of(options_)};
  const auto resolve = [&](const Extent& extent, std::string_view what, Dims& into) -> Expected<void> {
    auto dims = extent.resolve(sizes, cat(what, " of kernel `", name_, '`'));
    if (!dims) return Unexpected{std::move(dims).error()};
    into = *dims;
    return {};
  };
  if (auto ok = resolve(options_.grid, "grid", geometry.grid); !ok) return Unexpected{std::move(ok).error()};
  if (auto ok = resolve(options_.block, "block", geometry.block); !ok) return Unexpected{std::move(ok).error()};
  if (auto ok = resolve(options_.cluster, "cluster", geometry.cluster); !ok) return Unexpected{std::move(ok).error()};

  const ir::Module& module = accepted_->module();
  const ir::Function& entry = *module.find(name_);
  // Values that nobody gave are those of the dimensions; when the counts do not agree, LaunchSpec::make says so.
  std::vector<Scalar> scalars = options_.scalars;
  if (scalars_are_sizes()) {
    for (std::size_t i = 0; i < scalar_dims_.size(); ++i) {
      if (scalar_dims_[i] < 0) continue;
      const std::int64_t size = sizes.at(dims()[static_cast<std::size_t>(scalar_dims_[i])]);
      scalars.insert(scalars.begin() + static_cast<std::ptrdiff_t>(i), size);
    }
  }
  std::vector<Descriptor> maps;
  for (const TensorMapOption& option : options_.tensor_maps) {
    auto map = option.of_sizes ? option.of_sizes(sizes) : Expected<layout::TensorMap>(option.map);
    if (!map) {
      Diagnostic error = std::move(map).error();
      error.message = cat("the tensor map of `", option.tensor, "` of kernel `", name_, "`: ", error.message);
      return Unexpected{std::move(error)};
    }
    const auto is_it = [&](const ir::Param& param) { return module.str(param.name) == option.tensor; };
    const auto at = std::find_if(entry.params.begin(), entry.params.end(), is_it);
    maps.push_back({.arg = static_cast<std::uint32_t>(at - entry.params.begin()), .map = *map});
  }
  auto made = LaunchSpec::make(module, entry, geometry, static_cast<std::uint32_t>(inputs_), options_.outputs, scalars,
                               options_.tiles, sizes, maps);
  if (made && !options_.aliases.empty()) made = made->with_aliases(options_.aliases);
  if (made && !options_.inputs_apart.empty()) made = made->with_inputs_apart(options_.inputs_apart);
  return made;
}

Expected<std::vector<Tile>> SizedKernel::tiles(const Sizes& sizes) const {
  std::vector<Tile> fixed;
  for (const Tile& tile : options_.tiles) {
    auto shape = tile.resolve(sizes);
    if (!shape) return Unexpected{std::move(shape).error()};
    auto made = Tile::make({shape->begin(), shape->end()}, tile.dtype(), tile.layout());
    if (!made) return Unexpected{std::move(made).error()};
    fixed.push_back(std::move(*made));
  }
  return fixed;
}

Expected<std::shared_ptr<const KernelImage>> SizedKernel::image(const Sizes& given) {
  Sizes sizes;
  for (const std::string& name : dims()) {
    const auto at = given.find(name);
    if (at == given.end()) {
      return Unexpected{
          Diagnostic{.kind = Kind::dim_unbound, .message = cat("dimension `", name, "` of kernel `", name_, "` has no size")}
              .hint(cat("give it by name: `kernel.at({{\"", name, "\", 1024}})`"))};
    }
    if (at->second < 0) {
      return refuse(Kind::argument_dim,
                    cat("dimension `", name, "` of kernel `", name_, "` is ", at->second, "; what fits is 0 or more"));
    }
    sizes.emplace(name, at->second);
  }
  if (only_image_ != nullptr) return only_image_;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = images_.find(sizes); known != images_.end()) return known->second;
  }
  auto made = make_ ? make_(sizes) : make_image(sizes);
  if (!made) return made;
  const std::lock_guard lock(mutex_);
  return images_.try_emplace(std::move(sizes), std::move(*made)).first->second;  // of two threads that made it, the first
}

Expected<std::shared_ptr<const KernelImage>> SizedKernel::make_image(const Sizes& sizes) const {
  auto launch = spec(sizes);
  if (!launch) return Unexpected{std::move(launch).error()};
  return KernelImage::make(*accepted_, listing_, std::move(*launch));
}

Expected<Plan*> SizedKernel::plan_for(std::span<const std::int64_t> sizes) {
  // Sizes that no input has are a plan's own.
  const std::vector<std::size_t>& own = shapes_.of_outputs();
  if (own.empty()) {
    if (Plan* plan = only_plan_.load(std::memory_order_acquire)) return plan;
  }
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const SizedPlan& plan) {
    return std::equal(own.begin(), own.end(), plan.sizes.begin(),
                      [&](std::size_t name, std::int64_t size) { return sizes[name] == size; });
  };
  if (const auto known = std::find_if(plans_.begin(), plans_.end(), fits); known != plans_.end()) return known->plan.get();
  SizedPlan made;
  tile::Env fixed;
  for (const std::size_t name : own) {
    made.sizes.push_back(sizes[name]);
    fixed.emplace(dims()[name], sizes[name]);
  }
  auto signature = Signature::make(name_, signature_->inputs(), signature_->outputs(), signature_->names(), std::move(fixed));
  if (!signature) return Unexpected{std::move(signature).error()};
  made.plan = std::make_unique<Plan>(std::move(*signature), [this](const tile::Env& env) { return image(env); });
  Plan* const plan = plans_.emplace_back(std::move(made)).plan.get();
  if (own.empty()) only_plan_.store(plan, std::memory_order_release);
  return plan;
}

// -- a call
// ---------------------------------------------------------------------------------------------------------------------------

Expected<void> SizedKernel::check_places(const CallMemory& call) const {
  const std::size_t outputs = tensors_ - inputs_;
  if (call.inputs.size() != inputs_ || call.outputs.size() != outputs) {
    return refuse(Kind::argument_count, cat("kernel `", name_, "` takes ", inputs_, " inputs and ", outputs,
                                            " outputs; the call has ", call.inputs.size(), " and ", call.outputs.size()));
  }
  const bool on_gpu = call.device.kind == DeviceId::Kind::cuda;
  for (std::size_t i = 0; i < call.size(); ++i) {
    const Memory& memory = call[i];
    const bool elsewhere = on_gpu && memory.ordinal >= 0 && memory.ordinal != call.device.ordinal;
    if (memory.on_gpu == on_gpu && !elsewhere) continue;
    const std::string which =
        signature_ ? (i < inputs_ ? signature_->argument(i) : signature_->output(i - inputs_))
                   : cat(i < inputs_ ? "input " : "output ", i < inputs_ ? i : i - inputs_, " of kernel `", name_, '`');
    if (memory.on_gpu && on_gpu)
      return refuse(Kind::argument_device,
                    cat(which, " is in the memory of GPU ", memory.ordinal, "; the call runs on GPU ", call.device.ordinal));
    return Unexpected{
        Diagnostic{
            .kind = Kind::argument_device,
            .message = cat(which, " is in ",
                           memory.on_gpu ? "a GPU's memory; the call runs on the CPU" : "host memory; the call runs on a GPU")}
            .hint(on_gpu ? "copy it to the GPU with `ptx::cuda::DeviceBuffer::copy_of`; of memory that is there already, say "
                           "so with `ptx::gpu_memory(pointer, elements)`"
                         : "run it with `ptx::gpu(0)`")};
  }
  return {};
}

/// Without tiles nothing is known of the tensors but where they lie.
Expected<void> SizedKernel::run_by_address(const CallMemory& memory, const Place& place, KernelImage::Scalars scalars) const {
  Some<void*> addresses(memory.size());
  Some<std::size_t> bytes(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    addresses[i] = memory[i].data;
    bytes[i] = memory[i].bytes;
  }
  MemoryOfCpp library(place, {});
  auto ran = run_apart(*only_image_, memory.device, addresses.all(), bytes.all(), scalars, true, library);
  warn(only_image_->take_load_warnings());
  return ran;
}

Expected<void> SizedKernel::run(const Place& place, Arguments<In> inputs, Arguments<Out> outputs, KernelImage::Scalars scalars,
                                const Sizes* fixed) {
  const auto* const gpu = std::get_if<Cuda>(&place);
  const CallMemory memory{
      .inputs = inputs, .outputs = outputs, .device = gpu != nullptr ? DeviceId{DeviceId::Kind::cuda, gpu->ordinal} : DeviceId{}};
  if (auto ok = check_places(memory); !ok) return ok;
  if (!signature_) return run_by_address(memory, place, scalars);

  Some<TensorView> views(memory.size());
  Some<std::int64_t, 64> shapes(shapes_.count());
  Some<std::int64_t> sizes(dims().size());
  std::size_t dim = 0;
  for (std::int64_t& size : sizes.all()) size = fixed == nullptr ? -1 : fixed->at(dims()[dim++]);
  if (auto fits = shapes_.fit(*signature_, memory, views.all(), shapes.all(), sizes.all()); !fits) return fits;
  const std::span<const TensorView> given = views.all().first(inputs_);
  auto plan = plan_for(sizes.all());
  if (!plan) return Unexpected{std::move(plan).error()};
  auto specialisation = (*plan)->get(given);
  if (!specialisation) return Unexpected{std::move(specialisation).error()};
  MemoryOfCpp library(place, views.all().subspan(inputs_));
  auto ran = launch::run({.plan = **plan,
                          .specialisation = **specialisation,
                          .inputs = given,
                          .scalars = scalars,
                          .gives_outputs = true,
                          .device = memory.device},
                         library);
  if (gpu != nullptr && (*specialisation)->image != nullptr) warn((*specialisation)->image->take_load_warnings());
  return ran;
}

}  // namespace ptx::launch
