// What a C++ program passes to a kernel: memory that it holds, on the host or on a GPU, with as much of its type and shape as is
// known. Views: nothing here owns, copies or allocates.
//     std::vector<float> x;      any contiguous range: its element type counts, its shape is the tile's
//     shaped(x, {16, 512})       the same, with a shape: what it must be where two dimensions of a tile are open
//     cuda::DeviceBuffer b;      a GPU's memory, without a type
//     gpu_memory(pointer, n)     a GPU's memory that somebody else holds: `float*` of cudaMalloc, a tensor's data_ptr(),
//     CUdeviceptr
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/brief.hpp"
#include "ptx/launch/tensor.hpp"

namespace ptx {

/// The sizes of a tensor, outermost first; up to 8 dimensions. A row-major tensor without gaps.
struct Shape {
  static constexpr std::size_t max_rank = 8;
  std::array<std::int64_t, max_rank> sizes{};
  std::size_t rank = 0;  ///< 0: not said

  Shape() = default;
  template <std::integral... I>
    requires(sizeof...(I) > 0)
  Shape(I... all) : rank(sizeof...(I)) {  // NOLINT(google-explicit-constructor): `{16, 512}`
    static_assert(sizeof...(I) <= max_rank, "a shape has at most 8 dimensions");
    std::size_t i = 0;
    ((sizes[i++] = static_cast<std::int64_t>(all)), ...);
  }
};

/// Memory of one tensor, borrowed for a call. On a GPU it must live until the kernel has run.
struct Memory {
  void* data = nullptr;
  std::size_t bytes = 0;
  bool on_gpu = false;
  int ordinal = -1;               ///< of the GPU; -1: not known, and taken for the one that the call runs on
  launch::ElementType element{};  ///< of no bits: memory without a type, which stands for any
  Shape shape{};                  ///< of rank 0: not said, the tile's
};

namespace launch {

/// The element type of a C++ type. Enumerations are their integers and `std::array<T, N>` its T. Classes, `std::byte` and
/// whatever else no tensor library knows have none (no bits): memory of them fits by its size.
template <class T>
constexpr ElementType element_type_of() {
  using U = std::remove_cv_t<T>;
  constexpr auto bits = static_cast<std::uint8_t>(sizeof(U) * 8);
  if constexpr (std::is_same_v<U, std::byte>) {
    return {};
  } else if constexpr (std::is_same_v<U, bool>) {
    return {6, 8};
#ifdef __FLT16_MAX__
  } else if constexpr (std::is_same_v<U, _Float16>) {
    return {2, 16};
#endif
#ifdef __BFLT16_MAX__
  } else if constexpr (std::is_same_v<U, __bf16>) {
    return {4, 16};
#endif
  } else if constexpr (std::is_floating_point_v<U>) {
    return sizeof(U) <= 8 ? ElementType{2, bits} : ElementType{};
  } else if constexpr (std::is_integral_v<U>) {
    return {static_cast<std::uint8_t>(std::is_signed_v<U> ? 0 : 1), bits};
  } else if constexpr (std::is_enum_v<U>) {
    return element_type_of<std::underlying_type_t<U>>();
  } else if constexpr (std::is_array_v<U>) {
    return element_type_of<std::remove_all_extents_t<U>>();
  } else if constexpr (requires {
                         typename U::value_type;
                         std::tuple_size<U>::value;
                       }) {
    return element_type_of<typename U::value_type>();
  } else {
    return {};
  }
}

template <class R>
concept HostRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
                    std::is_trivially_copyable_v<std::ranges::range_value_t<R>>;
template <class R>
concept WritableHostRange = HostRange<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <HostRange R>
Memory memory_of(R&& range) {
  return {.data = const_cast<void*>(static_cast<const void*>(std::ranges::data(range))),
          .bytes = std::ranges::size(range) * sizeof(std::ranges::range_value_t<R>),
          .element = element_type_of<std::ranges::range_value_t<R>>()};
}
inline Memory memory_of(const cuda::DeviceBuffer& buffer) {
  return {
      .data = reinterpret_cast<void*>(buffer.addr()), .bytes = buffer.size_bytes(), .on_gpu = true, .ordinal = buffer.ordinal()};
}

}  // namespace launch

/// Memory as `shaped` and `gpu_memory` give it; `Writable`: a kernel may write it.
template <bool Writable>
struct View : Memory {};

/// `elements` from `data` on, an address on the GPU `ordinal`; -1: on the one that the call runs on.
///     kernel.run(gpu(0, stream), {gpu_memory(x, n)}, {gpu_memory(y, n)})
template <class T>
  requires(std::is_trivially_copyable_v<T>)
View<!std::is_const_v<T>> gpu_memory(T* data, std::size_t elements, int ordinal = -1) {
  return {{.data = const_cast<void*>(static_cast<const void*>(data)),
           .bytes = elements * sizeof(T),
           .on_gpu = true,
           .ordinal = ordinal,
           .element = launch::element_type_of<T>()}};
}
/// The same of a CUdeviceptr; the memory has no type.
template <std::same_as<unsigned long long> Address>
View<true> gpu_memory(Address address, std::size_t bytes, int ordinal = -1) {
  return {{.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)),
           .bytes = bytes,
           .on_gpu = true,
           .ordinal = ordinal}};
}

/// The memory as a tensor of this shape: `shaped(x, {16, 512})`.
template <launch::HostRange R>
View<launch::WritableHostRange<R>> shaped(R&& range, const Shape& shape) {
  View<launch::WritableHostRange<R>> view{launch::memory_of(range)};
  view.shape = shape;
  return view;
}
inline View<true> shaped(cuda::DeviceBuffer& buffer, const Shape& shape) {
  View<true> view{launch::memory_of(buffer)};
  view.shape = shape;
  return view;
}
inline View<false> shaped(const cuda::DeviceBuffer& buffer, const Shape& shape) {
  View<false> view{launch::memory_of(buffer)};
  view.shape = shape;
  return view;
}
template <bool Writable>
View<Writable> shaped(View<Writable> view, const Shape& shape) {
  view.shape = shape;
  return view;
}

/// What a kernel reads: a contiguous range of the host's, a DeviceBuffer, or one of the views above.
struct In : Memory {
  // NOLINTBEGIN(google-explicit-constructor): `{x, w}` is how a call reads
  template <launch::HostRange R>
  In(const R& range) : Memory(launch::memory_of(range)) {}
  In(const cuda::DeviceBuffer& buffer) : Memory(launch::memory_of(buffer)) {}
  template <bool Writable>
  In(const View<Writable>& view) : Memory(view) {}
  // NOLINTEND(google-explicit-constructor)
};

/// What a kernel writes: the same, but not const.
struct Out : Memory {
  // NOLINTBEGIN(google-explicit-constructor)
  template <launch::WritableHostRange R>
  Out(R&& range) : Memory(launch::memory_of(range)) {}
  Out(cuda::DeviceBuffer& buffer) : Memory(launch::memory_of(buffer)) {}
  Out(const View<true>& view) : Memory(view) {}
  // NOLINTEND(google-explicit-constructor)
};

/// The inputs or the outputs of a call: `{x, w}`, or any range of them that lies in one piece. A view: the call makes no copy.
template <class T>
class Arguments {
 public:
  Arguments() = default;
  // NOLINTBEGIN(google-explicit-constructor)
  Arguments(std::initializer_list<T> list) { all_ = {list.begin(), list.size()}; }  // which lives until the call has returned
  Arguments(std::span<const T> all) : all_(all) {}
  Arguments(const std::vector<T>& all) : all_(all) {}
  // NOLINTEND(google-explicit-constructor)
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  const T& operator[](std::size_t i) const { return all_[i]; }

 private:
  std::span<const T> all_;
};

}  // namespace ptx
