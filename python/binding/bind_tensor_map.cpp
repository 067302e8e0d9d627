// Tensor maps: `TensorMap`, the description made of a `Tile`, and `EncodedTensorMap`, its 128 bytes on the host and on a GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "author.hpp"
#include "errors.hpp"
#include "tensor_map_handle.hpp"

namespace nb = nanobind;

namespace ptx::python {
namespace {

template <class T>
T unwrap_here(Expected<T> expected) {
  if (expected) return std::move(*expected);
  Diagnostic error = std::move(expected).error();
  if (!error.where.known()) error.where = authors_line();
  raise(error);
}

/// Bound as `pyptx._ptx.EncodedTensorMap`.
struct EncodedTensorMap {
  layout::TensorMap map;
  std::unique_ptr<const cuda::api::TensorMapBytes> bytes;  // has an address that stays
  cuda::api::DeviceAddr device_addr = 0;

  [[nodiscard]] std::uintptr_t host_addr() const { return reinterpret_cast<std::uintptr_t>(bytes.get()); }
};

EncodedTensorMap encode(const TensorMapHandle& self, std::uint64_t tensor, int ordinal) {
  const auto encoded = [&]() -> Expected<EncodedTensorMap> {
    const nb::gil_scoped_release unlocked;
    auto device = cuda::device(ordinal);
    if (!device) return Unexpected{std::move(device).error()};
    const auto bytes = cuda::encode(self.map, tensor, **device);
    if (!bytes) return Unexpected{bytes.error()};
    const auto placed = (*device)->tensor_maps().place(self.map, tensor);
    if (!placed) return Unexpected{placed.error()};
    return EncodedTensorMap{self.map, std::make_unique<const cuda::api::TensorMapBytes>(*bytes), (*placed)->addr};
  };
  return unwrap_here(encoded());
}

/// The first `rank` numbers, outermost first, as shapes are written.
template <class Numbers>
nb::tuple outermost_first(const Numbers& numbers, std::size_t rank) {
  std::vector<std::uint64_t> reversed(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(rank));
  std::reverse(reversed.begin(), reversed.end());
  return nb::tuple(nb::cast(reversed));
}

/// The box of `synthesize_tma_descriptor` for a matrix of fixed size.
std::pair<std::int64_t, std::int64_t> default_tma_box(const Tile& tile) {
  const auto type = unwrap_here(tile::tensor_map_type(tile.dtype()));
  const auto shape = unwrap_here(tile.resolve({}));
  const auto box = layout::default_matrix_box(type, shape.back(), tile::swizzle_of(tile.layout()));
  return {box[0], box[1]};
}

}  // namespace

void add_tensor_map_types(nb::module_& m) {
  nb::class_<TensorMapHandle>(m, "TensorMap",
                              "What a tensor copy (TMA) knows of a tensor, but for its address. Compares by value.")
      .def_static(
          "of",
          [](const Tile& tile, const tile::Env& sizes) { return TensorMapHandle{unwrap_here(tile::tensor_map(tile, sizes))}; },
          nb::arg("tile"), nb::arg("sizes") = tile::Env{},
          "Of a row-major tensor of that tile, its dimensions' names replaced by sizes. ValueError names the rule of tensor maps "
          "that it breaks.")
      .def_prop_ro(
          "dtype", [](const TensorMapHandle& self) { return name(self.map.type); }, "The element type; 8-bit floats are `u8`.")
      .def_prop_ro(
          "shape", [](const TensorMapHandle& self) { return outermost_first(self.map.sizes, self.map.rank); },
          nb::sig("def shape(self) -> tuple[int, ...]"), "Its dimensions, outermost first.")
      .def_prop_ro(
          "strides", [](const TensorMapHandle& self) { return outermost_first(self.map.strides, self.map.rank - 1u); },
          nb::sig("def strides(self) -> tuple[int, ...]"), "Bytes, of every dimension but the innermost.")
      .def_prop_ro(
          "box", [](const TensorMapHandle& self) { return outermost_first(self.map.box, self.map.rank); },
          nb::sig("def box(self) -> tuple[int, ...]"), "What one copy moves, outermost first.")
      .def_prop_ro(
          "box_bytes", [](const TensorMapHandle& self) { return self.map.box_bytes(); },
          "Bytes that one copy moves, and its mbarrier expects.")
      .def_prop_ro(
          "swizzle", [](const TensorMapHandle& self) { return layout::tensor_map_swizzle_name(self.map.swizzle); },
          "\"NONE\", \"32B\", \"64B\" or \"128B\".")
      .def("encode", encode, nb::arg("address"), nb::arg("device") = 0,
           "With the tensor's address, on the host and on a GPU. RuntimeError without a driver or a GPU.")
      .def(
          "__eq__", [](const TensorMapHandle& a, const TensorMapHandle& b) { return a.map == b.map; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const TensorMapHandle& self) { return nb::hash(nb::cast(layout::to_string(self.map))); })
      .def("__repr__", [](const TensorMapHandle& self) { return cat("<tensor map ", layout::to_string(self.map), '>'); });

  nb::class_<EncodedTensorMap>(m, "EncodedTensorMap", nb::is_weak_referenceable(),
                               "A CUtensorMap: 128 bytes that never change, on the host while this lives, on the GPU for good.")
      .def_prop_ro(
          "map", [](const EncodedTensorMap& self) { return TensorMapHandle{self.map}; }, "What it was made of.")
      .def_prop_ro("host_ptr", &EncodedTensorMap::host_addr, "Where the bytes lie on the host.")
      .def_prop_ro(
          "device_ptr", [](const EncodedTensorMap& self) { return self.device_addr; }, "Where they lie on the GPU.")
      .def(
          "__bytes__", [](const EncodedTensorMap& self) { return nb::bytes(self.bytes.get(), sizeof *self.bytes); },
          nb::sig("def __bytes__(self) -> bytes"));

  m.def("default_tma_box", default_tma_box, nb::arg("tile"),
        "128 rows by as many columns as the swizzle is wide: what one copy of a matrix moves unless the author says.");
}

}  // namespace ptx::python
