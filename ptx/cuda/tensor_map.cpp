#include "ptx/cuda/tensor_map.hpp"

namespace ptx::cuda {
namespace {

constexpr std::size_t block_bytes = 64 * 1024;
constexpr int least_major = 9;  // compute capability of the first GPUs with tensor copies

api::TensorMapSwizzle swizzle_of(layout::Swizzle swizzle) {
  using enum api::TensorMapSwizzle;
  switch (swizzle) {
    case layout::Swizzle::b32:
      return b32;
    case layout::Swizzle::b64:
      return b64;
    case layout::Swizzle::b128:
      return b128;
    case layout::Swizzle::b128_atom32:
      return api::TensorMapSwizzle::b128_atom32;
    case layout::Swizzle::b128_atom64:
      return api::TensorMapSwizzle::b128_atom64;
    default:
      return none;
  }
}

}  // namespace

Expected<api::TensorMapBytes> encode(const layout::TensorMap& map, api::DeviceAddr tensor, const Device& device) {
  if (auto ok = map.check(); !ok) return Unexpected{std::move(ok).error()};
  if (const std::uint64_t multiple = layout::address_alignment(map); tensor % multiple != 0) {
    return Unexpected{{.kind = Kind::argument_alignment,
                       .message = cat("the data pointer 0x", hex(tensor), " is not a multiple of ", multiple,
                                      " bytes, which a tensor map needs")}};
  }
  if (device.capability().major < least_major) {
    return Unexpected{{.kind = Kind::wrong_device,
                       .message = cat("tensor maps need compute capability 9.0 or later; GPU ", device.ordinal(), " (",
                                      device.name(), ") is ", to_string(device.capability()))}};
  }
  return in_context(device, [&]() -> Expected<api::TensorMapBytes> {
    const auto& call = device.driver().call;
    const auto type = static_cast<api::TensorMapType>(map.type);
    const auto interleave = static_cast<api::TensorMapInterleave>(map.interleave);
    const auto promotion = static_cast<api::TensorMapL2Promotion>(map.l2_promotion);
    const auto fill = static_cast<api::TensorMapFill>(map.fill);
    auto* const at = reinterpret_cast<void*>(tensor);
    api::TensorMapBytes bytes;
    const api::Result result =
        map.im2col
            ? call.tensor_map_encode_im2col(&bytes, type, map.rank, at, map.sizes.data(), map.strides.data(),
                                            map.im2col->lower_corner.data(), map.im2col->upper_corner.data(),
                                            map.im2col->channels_per_pixel, map.im2col->pixels_per_column,
                                            map.element_strides.data(), interleave, swizzle_of(map.swizzle), promotion, fill)
            : call.tensor_map_encode_tiled(&bytes, type, map.rank, at, map.sizes.data(), map.strides.data(), map.box.data(),
                                           map.element_strides.data(), interleave, swizzle_of(map.swizzle), promotion, fill);
    if (result == api::Result::success) return bytes;
    return Unexpected{driver_error(device.driver(), result, map.im2col ? "cuTensorMapEncodeIm2col" : "cuTensorMapEncodeTiled")
                          .note(cat("tensor map: ", layout::to_string(map), ", at 0x", hex(tensor)))};
  });
}

std::size_t TensorMaps::Hash::operator()(const api::TensorMapBytes& bytes) const noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::uint64_t word : bytes.words) hash = (hash ^ word) * 0x100000001b3;
  return static_cast<std::size_t>(hash ^ hash >> 32);
}

std::size_t TensorMaps::size() const {
  const std::lock_guard lock(mutex_);
  return placed_.size();
}

Unexpected TensorMaps::failed(api::Result result, std::string_view symbol) const {
  const auto number = static_cast<std::uint32_t>(result);
  if (number < 900 || number > 908) return Unexpected{driver_error(device_.driver(), result, symbol)};
  return Unexpected{Diagnostic{.kind = Kind::capture_unprepared,
                               .message = cat("a TMA descriptor that is new to GPU ", device_.ordinal(),
                                              " cannot be copied there while a stream is being captured into a CUDA graph")}
                        .note(cat("driver: ", describe(device_.driver(), result)))
                        .hint("call the kernel with these tensors once before the capture begins")};
}

Expected<void> TensorMaps::take_memory() {
  const Driver& driver = device_.driver();
  if (stream_ == nullptr) {
    if (const api::Result result = driver.call.stream_create(&stream_, api::non_blocking_stream); result != api::Result::success)
      return failed(result, "cuStreamCreate");
  }
  if (next_ != end_) return {};
  api::DeviceAddr block = 0;
  if (const api::Result result = driver.call.mem_alloc(&block, block_bytes); result != api::Result::success)
    return failed(result, "cuMemAlloc");
  next_ = block;
  end_ = block + block_bytes;
  return {};
}

Expected<void> TensorMaps::reserve() {
  return in_context(device_, [&] {
    const std::lock_guard lock(mutex_);
    const OutsideOfCaptures outside(device_.driver());
    return take_memory();
  });
}

Expected<const PlacedTensorMap*> TensorMaps::place(const layout::TensorMap& map, api::DeviceAddr tensor) {
  const auto bytes = encode(map, tensor, device_);
  if (!bytes) return Unexpected{bytes.error()};
  return in_context(device_, [&]() -> Expected<const PlacedTensorMap*> {
    // Held until the bytes have arrived: whoever finds the descriptor may launch with it.
    const std::lock_guard lock(mutex_);
    if (const auto known = placed_.find(*bytes); known != placed_.end()) return &known->second;
    const Driver& driver = device_.driver();
    const OutsideOfCaptures outside(driver);
    if (auto room = take_memory(); !room) return Unexpected{std::move(room).error()};
    api::Result result = driver.call.memcpy_htod_async(next_, bytes->words.data(), sizeof *bytes, stream_);
    if (result != api::Result::success) return failed(result, "cuMemcpyHtoDAsync");
    result = driver.call.stream_synchronize(stream_);
    if (result != api::Result::success) return failed(result, "cuStreamSynchronize");
    const auto at = placed_.emplace(*bytes, PlacedTensorMap{.tensor = tensor, .addr = next_}).first;
    next_ += sizeof *bytes;
    return &at->second;
  });
}

}  // namespace ptx::cuda
