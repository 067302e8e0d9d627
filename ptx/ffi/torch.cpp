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

template <class T>
using Row = launch::Some<T, 8>;

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

using Scalars = Row<std::optional<std::uint64_t>>;

Expected<Scalars> scalars_of(const OwnedList& list) {
  std::size_t numbers = 0;
  must(api.list_size(list.get(), &numbers), "count a list");
  Value count = 0;
  if (numbers != 0) must(api.list_get(list.get(), 0, &count), "read a list");
  if (numbers != 0 && (numbers % 2 == 0 || count != numbers / 2)) {
    return refuse(Kind::argument_count,
                  cat("`scalars` are a count and two numbers for each; the call has ", numbers, " numbers"));
  }
  Scalars scalars(count);
  for (std::size_t i = 0; i < count; ++i) {
    Value given = 0, bits = 0;
    must(api.list_get(list.get(), 2 * i + 1, &given), "read a list");
    must(api.list_get(list.get(), 2 * i + 2, &bits), "read a list");
    if (given != 0) scalars[i] = bits;
  }
  return scalars;
}

Expected<const Specialisation*> specialisation_for(launch::Plan& plan, Row<OwnedTensor>& tensors, Row<TensorView>& views,
                                                   std::size_t movable) {
  if (views.size() != plan.signature().inputs().size()) return Unexpected{plan.signature().check_count(views.size()).error()};
  if (const Specialisation* last = plan.last(views.all())) [[likely]]
    return last;
  for (std::size_t i = 0; i < movable; ++i)
    if (!launch::is_contiguous(views[i])) make_contiguous(tensors[i], views[i]);
  return plan.find(views.all());
}

/// What a call asks of torch.
class TorchLibrary : public launch::CallLibrary {
 public:
  /// For new tensors, or for `written` ones.
  TorchLibrary(std::span<const launch::Output> outputs, DeviceId device)
      : outputs_(outputs), device_(device), made_(outputs.size()) {}
  explicit TorchLibrary(std::span<const TensorView> written) : written_(written), made_(0) {}

  [[nodiscard]] Expected<TensorView> given(std::size_t output) const { return written_[output]; }
  Expected<void*> allocate(std::size_t output) {
    const launch::Output& wanted = outputs_[output];
    made_[output] = empty(wanted.shape, wanted.strides, wanted.dtype, device_);
    void* address = nullptr;
    must(api.tensor_data(made_[output].get(), &address), "show a tensor's memory");
    return address;
  }
  [[nodiscard]] static Expected<cuda::api::Stream> stream(int ordinal) {
    if (api.cuda_stream == nullptr) return refuse(Kind::torch_abi, "this torch has no CUDA, and the tensors are on a GPU");
    void* stream = nullptr;
    must(api.cuda_stream(ordinal, &stream), "name its current stream");
    return static_cast<cuda::api::Stream>(stream);
  }
  /// Python may not be there, so a warning goes where a compiler's goes.
  static Expected<void> loaded(const KernelImage& image, Expected<void> ready) {
    if (!ready) return ready;
    for (const Diagnostic& warning : image.take_load_warnings()) std::fprintf(stderr, "%s\n", render(warning).c_str());
    return ready;
  }
  [[nodiscard]] Row<OwnedTensor>& made() { return made_; }

 private:
  std::span<const launch::Output> outputs_;
  std::span<const TensorView> written_;
  DeviceId device_;
  Row<OwnedTensor> made_;
};

/// For a kernel that changes an input, which torch must be told of.
Diagnostic changes_an_input(const launch::Signature& signature, std::size_t input) {
  return {.kind = Kind::argument_memory,
          .message = cat("kernel `", signature.kernel(), "` writes its argument ", input,
                         "; `pyptx::launch_` is the operator that does")};
}

/// `pyptx::launch`: new tensors for the outputs.
Expected<Value> launch_new(const TorchKernel& kernel, Row<OwnedTensor>& inputs, const OwnedList& scalar_list) {
  const launch::Signature& signature = kernel.plan->signature();
  if (!kernel.aliases.empty()) return Unexpected{changes_an_input(signature, kernel.aliases[0].first)};
  auto scalars = scalars_of(scalar_list);
  if (!scalars) return Unexpected{std::move(scalars).error()};
  Row<TensorView> views(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) views[i] = view_of(inputs[i]);
  auto found = specialisation_for(*kernel.plan, inputs, views, inputs.size());
  if (!found) return Unexpected{std::move(found).error()};
  for (const std::optional<std::size_t>& changed : (*found)->changed)  // though its plan does not say so
    if (changed) return Unexpected{changes_an_input(signature, *changed)};
  const launch::Call call{.plan = *kernel.plan, .specialisation = **found, .inputs = views.all(), .scalars = scalars->all()};
  TorchLibrary library((*found)->outputs, call.device);
  if (auto ok = launch::run(call, library); !ok) return Unexpected{std::move(ok).error()};
  List made = nullptr;
  must(api.list_new(library.made().size(), &made), "make a list");
  OwnedList list(made);
  for (OwnedTensor& result : library.made().all()) {
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
  launch::Call call{
      .plan = *kernel.plan, .specialisation = **found, .inputs = views.all(), .scalars = scalars->all(), .gives_outputs = true};
  if (views.size() == 0 && written.size() != 0) call.device = written[0].device;
  TorchLibrary library(written.all());
  return launch::run(call, library);
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
