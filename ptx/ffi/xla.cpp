#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "ptx/ffi/ffi.hpp"
#include "ptx/ffi/xla_abi.hpp"
#include "ptx/launch/launch.hpp"

namespace ptx::ffi {
namespace {

using namespace xla;  // the structures only
using launch::KernelImage;
using launch::Registry;

enum class Platform : std::uint8_t { cpu, cuda };

/// XLA's word for what kind of failure a diagnostic is.
ErrorCode code_of(Kind kind) {
  switch (kind) {
    case Kind::unknown_kernel:
      return ErrorCode::not_found;
    case Kind::not_executed:
      return ErrorCode::unimplemented;
    case Kind::no_driver:
    case Kind::no_device:
      return ErrorCode::unavailable;
    case Kind::wrong_device:
    case Kind::capture_unprepared:
      return ErrorCode::failed_precondition;
    case Kind::out_of_bounds:
      return ErrorCode::out_of_range;
    case Kind::bad_image:
    case Kind::argument_count:
    case Kind::argument_dtype:
    case Kind::launch_config:
      return ErrorCode::invalid_argument;
    default:
      return ErrorCode::internal;
  }
}

void* fail(const CallFrame& frame, const char* message, ErrorCode code) noexcept {
  ErrorCreateArgs args{.struct_size = offsetof(ErrorCreateArgs, code) + sizeof(std::int32_t),
                       .extension = nullptr,
                       .message = message,
                       .code = static_cast<std::int32_t>(code)};
  return frame.api->error_create(&args);
}
void* fail(const CallFrame& frame, const Diagnostic& diagnostic) {
  return fail(frame, render(diagnostic).c_str(), code_of(diagnostic.kind));
}

/// The attributes of one call, borrowed from XLA.
struct Call {
  std::optional<std::int32_t> abi;
  std::optional<std::int64_t> handle;
  std::optional<std::string_view> key, meta, ptx;
};

Expected<Call> read(const Attributes& attributes) {
  Call call;
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    const std::string_view name(attributes.names[i]->data, attributes.names[i]->size);
    const void* value = attributes.values[i];
    if (attributes.types[i] == AttributeType::scalar) {
      const auto& scalar = *static_cast<const Scalar*>(value);
      if (name == "abi" && scalar.dtype == DataType::s32) {
        std::memcpy(&call.abi.emplace(), scalar.value, sizeof(std::int32_t));
        continue;
      }
      if (name == "cubin_handle" && scalar.dtype == DataType::s64) {
        std::memcpy(&call.handle.emplace(), scalar.value, sizeof(std::int64_t));
        continue;
      }
    } else if (attributes.types[i] == AttributeType::string) {
      const auto& span = *static_cast<const ByteSpan*>(value);
      std::optional<std::string_view>* wanted = name == "key"    ? &call.key
                                                : name == "meta" ? &call.meta
                                                : name == "ptx"  ? &call.ptx
                                                                 : nullptr;
      if (wanted != nullptr) {
        *wanted = std::string_view(span.data, span.size);
        continue;
      }
    }
    return refuse(Kind::bad_image, cat("`", xla_target, "` does not know the attribute `", name, "` in this form"));
  }
  if (call.abi && *call.abi != launch::abi_version) {
    return refuse(Kind::bad_image,
                  cat("this program was made for launch ABI ", *call.abi, "; this process has ABI ", launch::abi_version));
  }
  if (!call.handle && !call.key) return refuse(Kind::bad_image, cat("`", xla_target, "` has neither `key` nor `cubin_handle`"));
  if (call.key && call.key->size() != Digest{}.size())
    return refuse(Kind::bad_image, cat("the kernel's key is ", call.key->size(), " bytes, not 32"));
  return call;
}

/// The kernel that the attributes name: in the registry, or made from the text they carry.
Expected<const KernelImage*> image_of(const Call& call) {
  Registry& registry = Registry::process();
  // From the first time on it is pinned: when XLA drops a program, it does not say so.
  const auto pinned = [&](std::shared_ptr<const KernelImage> image) -> Expected<const KernelImage*> {
    auto kept = registry.pin(std::move(image));
    if (!kept) return Unexpected{std::move(kept).error()};
    return kept->get();
  };
  if (!call.key) {
    if (const KernelImage* image = registry.find(*call.handle)) return image;
    if (auto known = registry.share(*call.handle)) return pinned(std::move(known));
    return Unexpected{Diagnostic{.kind = Kind::unknown_kernel,
                                 .message = cat("no kernel with handle ", *call.handle, " is registered in this process")}
                          .hint("the call carries no PTX; register the kernel before the program runs")};
  }
  Digest key;
  std::memcpy(key.data(), call.key->data(), key.size());
  if (const KernelImage* image = registry.find(key)) return image;
  if (auto known = registry.share(KernelImage::handle_of(key)); known != nullptr && known->key() == key)
    return pinned(std::move(known));
  if (!call.meta || !call.ptx) return refuse(Kind::bad_image, "the call carries a key, but not the kernel's `meta` and `ptx`");
  auto made = KernelImage::from_text(std::string(*call.ptx), *call.meta);
  if (!made) return Unexpected{std::move(made).error()};
  if ((*made)->key() != key)
    return refuse(Kind::bad_image, "the kernel's text and launch record do not have the key that the call names");
  return pinned(std::move(*made));
}

std::size_t element_bytes(DataType dtype) {
  switch (dtype) {
    case DataType::s16:
    case DataType::u16:
    case DataType::f16:
    case DataType::bf16:
      return 2;
    case DataType::s32:
    case DataType::u32:
    case DataType::f32:
      return 4;
    case DataType::s64:
    case DataType::u64:
    case DataType::f64:
    case DataType::c64:
      return 8;
    case DataType::c128:
      return 16;
    default:
      return 1;
  }
}

/// Addresses and sizes of a call's buffers, arguments first.
struct Tensors {
  std::array<void*, launch::max_params> pointers;
  std::array<std::size_t, launch::max_params> bytes;
  std::size_t count = 0;
};

Expected<void> collect(const CallFrame& frame, const KernelImage& image, Tensors& tensors) {
  const launch::LaunchSpec& spec = image.spec();
  if (frame.args.size != spec.inputs || frame.results.size != spec.outputs) {
    return Unexpected{{.kind = Kind::argument_count,
                       .message = cat("kernel `", spec.entry, "` takes ", spec.inputs, " inputs and ", spec.outputs,
                                      " outputs; the call has ", frame.args.size, " and ", frame.results.size)}};
  }
  for (const Buffers* buffers : {&frame.args, &frame.results}) {
    for (std::int64_t i = 0; i < buffers->size; ++i) {
      const auto& buffer = *static_cast<const Buffer*>(buffers->values[i]);
      std::size_t bytes = element_bytes(buffer.dtype);
      for (std::int64_t dim = 0; dim < buffer.rank; ++dim)
        bytes = multiply_sizes(bytes, static_cast<std::uint64_t>(buffer.dims[dim]));
      tensors.pointers[tensors.count] = buffer.data;
      tensors.bytes[tensors.count++] = bytes;
    }
  }
  return {};
}

/// The GPU that the call runs on, or -1 where XLA does not say.
int ordinal_of(const CallFrame& frame) {
  constexpr std::size_t needed = offsetof(Api, device_ordinal_get) + sizeof(void*);
  if (frame.api->struct_size < needed || frame.api->device_ordinal_get == nullptr) return -1;
  DeviceOrdinalGetArgs args{.struct_size = offsetof(DeviceOrdinalGetArgs, ordinal) + sizeof(std::int32_t),
                            .extension = nullptr,
                            .context = frame.context,
                            .ordinal = -1};
  // An error is XLA's to free and says no more than -1 does.
  return frame.api->device_ordinal_get(&args) == nullptr ? args.ordinal : -1;
}

/// What a call asks of XLA: it has made everything by now.
struct XlaLibrary : launch::CallLibrary {
  cuda::api::Stream current = nullptr;
  [[nodiscard]] Expected<cuda::api::Stream> stream(int /*ordinal*/) const { return current; }
};

void* run(const CallFrame& frame, const KernelImage& image, launch::DeviceId device, XlaLibrary library) {
  Tensors tensors;
  if (auto ok = collect(frame, image, tensors); !ok) return fail(frame, ok.error());
  const auto ran = launch::run_image(image, device, std::span(tensors.pointers.data(), tensors.count),
                                     std::span(tensors.bytes.data(), tensors.count), {}, false, library);
  return ran ? nullptr : fail(frame, ran.error());
}

void* run_on_cuda(const CallFrame& frame, const KernelImage& image) {
  StreamGetArgs stream{.struct_size = sizeof stream, .extension = nullptr, .context = frame.context, .stream = nullptr};
  if (void* error = frame.api->stream_get(&stream)) return error;
  const int ordinal = ordinal_of(frame);
  if (ordinal < 0)
    return fail(frame, "pyptx: XLA does not say on which GPU the call runs; jaxlib 0.6 or later does", ErrorCode::unimplemented);
  XlaLibrary library;
  library.current = static_cast<cuda::api::Stream>(stream.stream);
  return run(frame, image, {launch::DeviceId::Kind::cuda, ordinal}, library);
}

void* handle(const CallFrame& frame, Platform platform) {
  if (frame.extension != nullptr && frame.extension->type == ExtensionType::metadata) {
    Metadata& metadata = *reinterpret_cast<MetadataExtension*>(frame.extension)->metadata;
    // The version that the runtime itself speaks, up to what we know: an older jaxlib refuses a newer one. Without an `api`
    // (jaxlib 0.5.0) it is 0.1.
    metadata.version.major = major_version;
    metadata.version.minor = frame.api != nullptr ? std::min(frame.api->version.minor, newest_minor_version) : 1;
    metadata.traits = platform == Platform::cuda ? command_buffer_compatible : 0;
    return nullptr;
  }
  auto call = read(frame.attributes);
  if (!call) return fail(frame, call.error());
  auto image = image_of(*call);
  if (!image) return fail(frame, image.error());
  switch (frame.stage) {
    case Stage::instantiate:
      if (platform == Platform::cpu) {  // what the executor cannot run fails while compiling
        if (auto program = (*image)->program(); !program) return fail(frame, program.error());
      }
      return nullptr;
    case Stage::prepare:
    case Stage::initialize:
      // Loading may synchronise the device: here it cannot stall a collective, and nothing is being captured.
      if (const int ordinal = ordinal_of(frame); platform == Platform::cuda && ordinal >= 0) {
        if (auto ready = (*image)->prepare(ordinal); !ready) return fail(frame, ready.error());
        // XLA prepares without Python, so a warning goes where a compiler's goes.
        for (const Diagnostic& warning : (*image)->take_load_warnings()) std::fprintf(stderr, "%s\n", render(warning).c_str());
      }
      return nullptr;
    case Stage::execute:
      return platform == Platform::cuda ? run_on_cuda(frame, **image) : run(frame, **image, {}, {});
  }
  return fail(frame, "pyptx: an unknown stage of XLA's FFI", ErrorCode::unimplemented);
}

void* guarded(void* call_frame, Platform platform) noexcept {
  const auto& frame = *static_cast<const CallFrame*>(call_frame);
  try {
    return handle(frame, platform);
  } catch (const std::exception& error) {
    return fail(frame, error.what(), ErrorCode::internal);
  } catch (...) {
    return fail(frame, "pyptx: an unknown C++ exception", ErrorCode::internal);
  }
}

}  // namespace

extern "C" void* pyptx_xla_launch_cpu(void* call_frame) noexcept { return guarded(call_frame, Platform::cpu); }
extern "C" void* pyptx_xla_launch_cuda(void* call_frame) noexcept { return guarded(call_frame, Platform::cuda); }

}  // namespace ptx::ffi
