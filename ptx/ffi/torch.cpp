#include "ptx/ffi/torch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "ptx/ffi/torch_abi.hpp"

namespace ptx::ffi {
namespace {

using namespace torch;  // the types only
using launch::DeviceId;
using launch::KernelImage;
using launch::Specialisation;
using launch::TensorView;

// -- kernels by key
// ------------------------------------------------------------------------------------------------------------------

struct Known {
  std::string key;
  TorchKernel kernel;
  const Known* next = nullptr;
};

/// Chains that only grow: a reader takes no lock.
struct Keys {
  std::array<std::atomic<const Known*>, 1024> chains{};
  std::mutex mutex;  // of those who add

  static Keys& process() {
    static Keys& keys = *new Keys;  // NOLINT: compiled graphs may outlive our statics
    return keys;
  }
  std::atomic<const Known*>& chain(std::string_view key) { return chains[std::hash<std::string_view>{}(key) % chains.size()]; }
};

// -- what torch hands over
// -----------------------------------------------------------------------------------------------------------

/// A run's torch; set once, before torch can call.
Api api;
TorchHooks hooks;

/// What of torch a call owns, to be given back at its end.
template <class Handle, Status (*Api::*free)(Handle)>
class Owned {
 public:
  Owned() = default;
  explicit Owned(Handle handle) : handle_(handle) {}
  explicit Owned(Value value) : handle_(reinterpret_cast<Handle>(value)) {}
  ~Owned() {
    if (handle_ != nullptr) (api.*free)(handle_);
  }
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  [[nodiscard]] Handle get() const { return handle_; }
  Value release() { return reinterpret_cast<Value>(std::exchange(handle_, nullptr)); }

 private:
  Handle handle_ = nullptr;
};
using OwnedTensor = Owned<Tensor, &Api::tensor_delete>;
using OwnedList = Owned<List, &Api::list_delete>;
using OwnedString = Owned<String, &Api::string_delete>;

/// A call of torch that fails only when torch is broken or out of memory; it has printed why.
void must(Status status, const char* what) {
  if (status != 0) [[unlikely]]
    throw std::runtime_error(std::string("pyptx: torch cannot ") + what);
}

std::string_view view_of(const OwnedString& string) {
  const char* data = nullptr;
  std::size_t length = 0;
  must(api.string_data(string.get(), &data), "show a string");
  must(api.string_length(string.get(), &length), "show a string");
  return {data, length};
}

/// Room for a few items without the heap, and for more with it.
template <class T>
class Row {
 public:
  explicit Row(std::size_t count) : count_(count) {
    if (count > few_.size()) many_ = std::make_unique<T[]>(count);
  }
  T& operator[](std::size_t i) { return data()[i]; }
  T* data() { return many_ ? many_.get() : few_.data(); }
  [[nodiscard]] std::size_t size() const { return count_; }
  operator std::span<T>() { return {data(), count_}; }        // NOLINT(google-explicit-constructor)
  operator std::span<const T>() { return {data(), count_}; }  // NOLINT(google-explicit-constructor)

 private:
  std::size_t count_;
  std::array<T, 8> few_;
  std::unique_ptr<T[]> many_;
};

/// The tensors of a list, which then owns none.
Row<OwnedTensor> tensors_of(const OwnedList& list) {
  std::size_t count = 0;
  must(api.list_size(list.get(), &count), "count a list");
  Row<OwnedTensor> tensors(count);
  for (std::size_t i = 0; i < count; ++i) {
    Value value = 0;
    must(api.list_get(list.get(), i, &value), "read a list");
    tensors[i] = OwnedTensor(value);
  }
  return tensors;
}

TensorView view_of(const OwnedTensor& tensor) {
  TensorView view;
  std::int64_t rank = 0;
  std::int64_t *sizes = nullptr, *strides = nullptr;
  std::int32_t dtype = 0, device = 0, ordinal = 0;
  const Tensor handle = tensor.get();
  must(api.tensor_data(handle, &view.data), "show a tensor's memory");
  must(api.tensor_rank(handle, &rank), "show a tensor's rank");
  must(api.tensor_sizes(handle, &sizes), "show a tensor's sizes");
  must(api.tensor_strides(handle, &strides), "show a tensor's strides");
  must(api.tensor_dtype(handle, &dtype), "show a tensor's type");
  must(api.tensor_device_type(handle, &device), "show a tensor's device");
  must(api.tensor_device_index(handle, &ordinal), "show a tensor's device");
  view.rank = static_cast<std::int32_t>(rank);
  view.shape = sizes;
  view.strides = strides;
  if (dtype >= 0 && static_cast<std::size_t>(dtype) < api.types.size()) view.dtype = api.types[static_cast<std::size_t>(dtype)];
  if (device == api.cuda) view.device = {DeviceId::Kind::cuda, ordinal};
  return view;
}

OwnedTensor empty(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides, launch::ElementType type,
                  DeviceId device) {
  const auto number = api.number_of(type);
  if (!number) throw std::runtime_error(cat("pyptx: this torch has no ", launch::numpy_name(type), " tensors"));
  const bool on_gpu = device.kind == DeviceId::Kind::cuda;
  Tensor made = nullptr;
  must(api.tensor_empty(static_cast<std::int64_t>(shape.size()), shape.data(), strides.data(), *number,
                        on_gpu ? api.cuda : api.cpu, on_gpu ? device.ordinal : 0, &made),
       "allocate a tensor");
  return OwnedTensor(made);
}

/// A compiler lays out what it computes as it likes, so an input may need to be put in row-major order first.
void make_contiguous(OwnedTensor& tensor, TensorView& view) {
  const std::span<const std::int64_t> shape(view.shape, static_cast<std::size_t>(view.rank));
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = multiply_dims(stride, shape[i]);
  }
  OwnedTensor copy = empty(shape, strides, view.dtype, view.device);
  must(api.tensor_copy(copy.get(), tensor.get(), 0), "copy a tensor");
  tensor = std::move(copy);
  view = view_of(tensor);
}

// -- the call
// ------------------------------------------------------------------------------------------------------------------------

Expected<const TorchKernel*> kernel_of(std::string_view key, std::string_view payload) {
  if (const TorchKernel* kernel = find_torch_kernel(key)) [[likely]]
    return kernel;
  if (payload.empty()) {
    return Unexpected{
        Diagnostic{.kind = Kind::unknown_kernel, .message = cat("no kernel of this process has the key `", key, '`')}.hint(
            "the graph was traced in another process, and carries no kernel; `torch.export` makes one that does")};
  }
  if (hooks.adopt == nullptr)
    return refuse(Kind::unknown_kernel, cat("the kernel of key `", key, "` is in its call, and nothing here unpacks it"));
  if (auto adopted = hooks.adopt(key, payload); !adopted) return Unexpected{std::move(adopted).error()};
  const TorchKernel* kernel = find_torch_kernel(key);
  return kernel != nullptr ? Expected(kernel)
                           : refuse(Kind::bad_image, cat("the payload of `pyptx::launch` holds another kernel than `", key, '`'));
}

struct Scalars {
  Row<std::optional<std::uint64_t>> values;
};

Expected<Scalars> scalars_of(const OwnedList& list) {
  std::size_t numbers = 0;
  must(api.list_size(list.get(), &numbers), "count a list");
  Value count = 0;
  if (numbers != 0) must(api.list_get(list.get(), 0, &count), "read a list");
  if (numbers != 0 && (numbers % 2 == 0 || count != numbers / 2)) {
    return refuse(Kind::argument_count,
                  cat("`scalars` are a count and two numbers for each; the call has ", numbers, " numbers"));
  }
  Scalars scalars{.values = Row<std::optional<std::uint64_t>>(count)};
  for (std::size_t i = 0; i < count; ++i) {
    Value given = 0, bits = 0;
    must(api.list_get(list.get(), 2 * i + 1, &given), "read a list");
    must(api.list_get(list.get(), 2 * i + 2, &bits), "read a list");
    if (given != 0) scalars.values[i] = bits;
  }
  return scalars;
}

Expected<const Specialisation*> specialisation_for(launch::Plan& plan, Row<OwnedTensor>& tensors, Row<TensorView>& views,
                                                   std::size_t movable) {
  if (views.size() != plan.signature().inputs().size()) return Unexpected{plan.signature().check_count(views.size()).error()};
  if (const Specialisation* last = plan.last(views)) [[likely]]
    return last;
  for (std::size_t i = 0; i < movable; ++i)
    if (!launch::is_contiguous(views[i])) make_contiguous(tensors[i], views[i]);
  return plan.find(views);
}

Expected<void> launch_on(const Specialisation& specialisation, DeviceId device, std::span<void* const> pointers,
                         std::span<const std::size_t> bytes, KernelImage::Scalars scalars, bool keeps_outputs) {
  if (specialisation.image == nullptr) return {};  // no elements
  const KernelImage& image = *specialisation.image;
  if (device.kind == DeviceId::Kind::cpu) {
    launch::Cpu cpu = launch::default_cpu();
    cpu.keeps_outputs = keeps_outputs;
    auto report = image.launch(cpu, pointers, bytes, scalars);
    return report ? Expected<void>() : Unexpected{std::move(report).error()};
  }
  if (api.cuda_stream == nullptr) return refuse(Kind::torch_abi, "this torch has no CUDA, and the tensors are on a GPU");
  void* stream = nullptr;
  must(api.cuda_stream(device.ordinal, &stream), "name its current stream");
  if (!image.prepared(device.ordinal)) [[unlikely]] {
    if (auto ready = image.prepare(device.ordinal); !ready) return ready;
    // Python may not be there, so a warning goes where a compiler's goes.
    for (const Diagnostic& warning : image.take_load_warnings()) std::fprintf(stderr, "%s\n", render(warning).c_str());
  }
  return image.launch(launch::Cuda{device.ordinal, static_cast<cuda::api::Stream>(stream)}, pointers, scalars);
}

/// `pyptx::launch`: new tensors for the outputs.
Expected<Value> launch_new(const TorchKernel& kernel, Row<OwnedTensor>& inputs, const OwnedList& scalar_list) {
  const launch::Signature& signature = kernel.plan->signature();
  if (!kernel.aliases.empty()) {
    return refuse(Kind::argument_memory, cat("kernel `", signature.kernel(), "` writes its argument ", kernel.aliases[0].first,
                                             "; `pyptx::launch_` is the operator that does"));
  }
  auto scalars = scalars_of(scalar_list);
  if (!scalars) return Unexpected{std::move(scalars).error()};
  Row<TensorView> views(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) views[i] = view_of(inputs[i]);
  auto found = specialisation_for(*kernel.plan, inputs, views, inputs.size());
  if (!found) return Unexpected{std::move(found).error()};
  const std::vector<launch::Output>& outputs = (*found)->outputs;
  const DeviceId device = views.size() == 0 ? DeviceId{} : views[0].device;

  Row<void*> pointers(views.size() + outputs.size());
  Row<std::size_t> bytes(pointers.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    pointers[i] = views[i].data;
    bytes[i] = views[i].bytes();
  }
  Row<OwnedTensor> results(outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    results[i] = empty(outputs[i].shape, outputs[i].strides, outputs[i].dtype, device);
    must(api.tensor_data(results[i].get(), &pointers[views.size() + i]), "show a tensor's memory");
    bytes[views.size() + i] = outputs[i].bytes;
  }
  if (auto ok = launch_on(**found, device, pointers, bytes, scalars->values, false); !ok)
    return Unexpected{std::move(ok).error()};
  List made = nullptr;
  must(api.list_new(outputs.size(), &made), "make a list");
  OwnedList list(made);
  for (OwnedTensor& result : std::span<OwnedTensor>(results)) {
    must(api.list_push(list.get(), reinterpret_cast<Value>(result.get())), "fill a list");
    result.release();
  }
  return list.release();
}

/// `pyptx::launch_`: the caller's.
Expected<void> launch_into(const TorchKernel& kernel, Row<OwnedTensor>& others, Row<OwnedTensor>& results,
                           const OwnedList& scalar_list) {
  const launch::Signature& signature = kernel.plan->signature();
  auto scalars = scalars_of(scalar_list);
  if (!scalars) return Unexpected{std::move(scalars).error()};
  if (results.size() != signature.outputs().size()) {
    return refuse(Kind::argument_count, cat("kernel `", signature.kernel(), "` gives ", signature.outputs().size(),
                                            " tensors; the call has ", results.size(), " to put them in"));
  }
  Row<TensorView> written(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) written[i] = view_of(results[i]);
  // The inputs, those that are outputs among them.
  const bool all_written = signature.inputs().size() == kernel.aliases.size();
  Row<TensorView> own(all_written && others.size() == 1 ? 0 : others.size());
  for (std::size_t i = 0; i < own.size(); ++i) {
    own[i] = view_of(others[i]);
    if (!launch::is_contiguous(own[i])) make_contiguous(others[i], own[i]);
  }
  Row<TensorView> views(own.size() + kernel.aliases.size());
  auto alias = kernel.aliases.begin();
  for (std::size_t i = 0, next = 0; i < views.size(); ++i) {
    if (alias != kernel.aliases.end() && alias->first == i) {
      views[i] = written[alias++->second];
    } else if (next < own.size()) {
      views[i] = own[next++];
    }
  }
  auto found = specialisation_for(*kernel.plan, others, views, 0);
  if (!found) return Unexpected{std::move(found).error()};
  const std::vector<launch::Output>& outputs = (*found)->outputs;
  const DeviceId device = views.size() != 0 ? views[0].device : written.size() != 0 ? written[0].device : DeviceId{};

  Row<void*> pointers(views.size() + outputs.size());
  Row<std::size_t> bytes(pointers.size());
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    const TensorView& view = i < views.size() ? views[i] : written[i - views.size()];
    if (i >= views.size()) {
      const std::size_t output = i - views.size();
      if (auto fits = signature.check_output(output, outputs[output], view, views, device); !fits) return fits;
    }
    pointers[i] = view.data;
    bytes[i] = view.bytes();
  }
  const std::span<void* const> all = pointers;
  if (auto apart = signature.check_apart(outputs, all.subspan(views.size())); !apart) return apart;
  return launch_on(**found, device, pointers, bytes, scalars->values, true);
}

/// Throws what torch turns into the caller's error.
[[noreturn]] void fail(const Diagnostic& error) {
  throw std::runtime_error(hooks.report != nullptr ? hooks.report(error) : render(error));
}

void boxed_launch(Value* stack, std::uint64_t, std::uint64_t) {
  const OwnedString key(stack[0]), payload(stack[1]);
  const OwnedList input_list(stack[2]), scalars(stack[3]);
  Row<OwnedTensor> inputs = tensors_of(input_list);
  const auto kernel = kernel_of(view_of(key), view_of(payload));
  if (!kernel) fail(kernel.error());
  const auto results = launch_new(**kernel, inputs, scalars);
  if (!results) fail(results.error());
  stack[0] = *results;
}

void boxed_launch_into(Value* stack, std::uint64_t, std::uint64_t) {
  const OwnedString key(stack[0]), payload(stack[1]);
  const OwnedList input_list(stack[2]), output_list(stack[3]), scalars(stack[4]);
  Row<OwnedTensor> inputs = tensors_of(input_list), outputs = tensors_of(output_list);
  const auto kernel = kernel_of(view_of(key), view_of(payload));
  if (!kernel) fail(kernel.error());
  if (const auto done = launch_into(**kernel, inputs, outputs, scalars); !done) fail(done.error());
}

}  // namespace

bool add_torch_kernel(std::string_view key, TorchKernel kernel) {
  Keys& keys = Keys::process();
  const std::lock_guard lock(keys.mutex);
  if (find_torch_kernel(key) != nullptr) return false;
  std::atomic<const Known*>& chain = keys.chain(key);
  const auto* known = new Known{std::string(key), std::move(kernel), chain.load(std::memory_order_relaxed)};  // NOLINT
  chain.store(known, std::memory_order_release);
  return true;
}

const TorchKernel* find_torch_kernel(std::string_view key) noexcept {
  const Known* known = Keys::process().chain(key).load(std::memory_order_acquire);
  while (known != nullptr && known->key != key) known = known->next;
  return known != nullptr ? &known->kernel : nullptr;
}

Expected<void> register_torch_operators(TorchSchemas schemas, TorchHooks with) {
  auto found = Api::find();
  if (!found) return Unexpected{std::move(found).error()};
  return register_torch_operators(*found, schemas, with);
}

Expected<void> register_torch_operators(const Api& with, TorchSchemas schemas, TorchHooks language) {
  static std::mutex mutex;
  static bool done = false;
  const std::lock_guard lock(mutex);
  if (done) return {};
  api = with;
  hooks = language;
  const auto ok = [](Status status) { return status == 0; };
  const Unexpected refused{{.kind = Kind::torch_abi, .message = "torch does not take the operators `pyptx::launch`"}};
  // The libraries' objects are kept: with them, torch would take the operators back.
  Library library = nullptr;
  if (schemas == TorchSchemas::define) {
    if (!ok(api.library_init_fragment("pyptx", __FILE__, __LINE__, &library))) return refused;
    for (const char* schema : torch_schemas)
      if (!ok(api.library_def(library, schema))) return refused;
  }
  for (const char* backend : {"CPU", "CUDA"}) {
    if (!ok(api.library_init_impl("pyptx", backend, __FILE__, __LINE__, &library))) return refused;
    constexpr std::pair<const char*, Boxed> kernels[] = {
        {"launch", boxed_launch}, {"launch_", boxed_launch_into}, {"exported", boxed_launch}, {"exported_", boxed_launch_into}};
    for (const auto& [name, boxed] : kernels)
      if (!ok(api.library_impl(library, name, boxed, spoken_version))) return refused;
  }
  done = true;
  return {};
}

}  // namespace ptx::ffi
