// Tensor maps: `TensorMap`, the description made of a `Tile`, and `EncodedTensorMap`, its 128 bytes on the host and on a GPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/launch/tensor_map_handle.hpp"

namespace nb = nanobind;

namespace ptx::python {
namespace {

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

/// One of `values`, by its name.
template <class T, std::size_t N>
T named(std::string_view what, std::string_view name, const std::pair<std::string_view, T> (&values)[N]) {
  std::string fits;
  for (const auto& [known, value] : values) {
    if (known == name) return value;
    fits += cat(fits.empty() ? "" : ", ", '`', known, '`');
  }
  raise(Kind::bad_tile, cat("`", what, "` of a tensor map is `", name, "`; what fits is ", fits), authors_line());
}

/// The element type that a name or a type of PTX says.
layout::TensorMapType element_type_of(nb::handle dtype) {
  using enum layout::TensorMapType;
  if (nb::isinstance<nb::str>(dtype)) {
    const auto given = nb::cast<std::string>(dtype);
    for (const layout::TensorMapType type : {b4x16, b4x16_p64, b6x16_p32})
      if (layout::name(type) == given) return type;
  }
  return unwrap_here(tile::tensor_map_type(type_argument(dtype, "TensorMap")));
}

/// What both kinds of tensor maps have in common. Shapes, strides (bytes) and element strides are outermost first.
layout::TensorMap map_of(const std::vector<std::int64_t>& shape, nb::handle dtype,
                         const std::optional<std::vector<std::int64_t>>& strides, std::string_view swizzle,
                         std::string_view interleave, std::string_view l2_promotion, std::string_view fill,
                         const std::optional<std::vector<std::uint32_t>>& element_strides) {
  using layout::Swizzle;
  constexpr std::size_t most = layout::TensorMap::max_rank;
  const std::size_t rank = shape.size();
  if (rank < 1 || rank > most) raise(Kind::bad_tile, cat("a tensor map has 1 to 5 dimensions, not ", rank), authors_line());
  layout::TensorMap map{.type = element_type_of(dtype), .rank = static_cast<std::uint8_t>(rank)};
  map.swizzle = named<Swizzle>("swizzle", swizzle,
                               {{"NONE", Swizzle::none},
                                {"32B", Swizzle::b32},
                                {"64B", Swizzle::b64},
                                {"128B", Swizzle::b128},
                                {"128B_ATOM_32B", Swizzle::b128_atom32},
                                {"128B_ATOM_64B", Swizzle::b128_atom64}});
  map.interleave = named<layout::Interleave>(
      "interleave", interleave,
      {{"NONE", layout::Interleave::none}, {"16B", layout::Interleave::b16}, {"32B", layout::Interleave::b32}});
  map.l2_promotion = named<layout::L2Promotion>("l2_promotion", l2_promotion,
                                                {{"NONE", layout::L2Promotion::none},
                                                 {"64B", layout::L2Promotion::b64},
                                                 {"128B", layout::L2Promotion::b128},
                                                 {"256B", layout::L2Promotion::b256}});
  map.fill =
      named<layout::TensorMapFill>("fill", fill, {{"zero", layout::TensorMapFill::zero}, {"nan", layout::TensorMapFill::nan}});
  if (strides && strides->size() + 1 != rank)
    raise(Kind::bad_tile, cat("a tensor map of ", rank, " dimensions has ", rank - 1, " strides, not ", strides->size()),
          authors_line());
  if (element_strides && element_strides->size() != rank)
    raise(Kind::bad_tile, cat("a tensor map of ", rank, " dimensions has as many element strides, not ", element_strides->size()),
          authors_line());
  std::uint64_t stride = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t of_tensor = rank - 1 - i;
    if (shape[of_tensor] < 1)
      raise(Kind::bad_tile, cat("a dimension of a tensor map is ", shape[of_tensor], "; at least 1 fits"), authors_line());
    map.sizes[i] = static_cast<std::uint64_t>(shape[of_tensor]);
    if (element_strides) map.element_strides[i] = (*element_strides)[of_tensor];
    if (i != 0) {
      const std::int64_t given = strides ? (*strides)[of_tensor] : 0;
      if (strides && given < 0)
        raise(Kind::bad_tile, cat("a stride of a tensor map is ", given, "; at least 0 fits"), authors_line());
      map.strides[i - 1] = strides ? static_cast<std::uint64_t>(given) : stride;
    }
    if (i == 0)
      stride = map.interleave == layout::Interleave::none ? layout::bytes_of(map.type, map.sizes[0])
                                                          : map.sizes[0] * layout::slice_bytes(map.interleave);
    else if (__builtin_mul_overflow(stride, map.sizes[i], &stride))
      stride = std::uint64_t{1} << 40;  // refused by check()
  }
  return map;
}

template <class T>
using Optional = std::optional<std::vector<T>>;

TensorMapHandle tiled(const std::vector<std::int64_t>& shape, nb::handle dtype, const std::vector<std::uint32_t>& box,
                      const Optional<std::int64_t>& strides, std::string_view swizzle, std::string_view interleave,
                      std::string_view l2_promotion, std::string_view fill, const Optional<std::uint32_t>& element_strides) {
  layout::TensorMap map = map_of(shape, dtype, strides, swizzle, interleave, l2_promotion, fill, element_strides);
  if (box.size() != shape.size())
    raise(Kind::bad_tile, cat("the box has ", box.size(), " dimensions, the tensor ", shape.size()), authors_line());
  std::copy(box.rbegin(), box.rend(), map.box.begin());
  unwrap_here(map.check());
  return {map};
}

TensorMapHandle im2col(const std::vector<std::int64_t>& shape, nb::handle dtype, const std::vector<std::int32_t>& lower_corner,
                       const std::vector<std::int32_t>& upper_corner, std::uint32_t channels_per_pixel,
                       std::uint32_t pixels_per_column, const Optional<std::int64_t>& strides, std::string_view swizzle,
                       std::string_view interleave, std::string_view l2_promotion, std::string_view fill,
                       const Optional<std::uint32_t>& element_strides) {
  layout::TensorMap map = map_of(shape, dtype, strides, swizzle, interleave, l2_promotion, fill, element_strides);
  const std::size_t space = shape.size() < 3 ? 0 : shape.size() - 2;
  if (lower_corner.size() != space || upper_corner.size() != space) {
    raise(Kind::bad_tile,
          cat("the corners have ", lower_corner.size(), " and ", upper_corner.size(), " numbers; a tensor of ", shape.size(),
              " dimensions (images, space, channels) has ", space, " of space"),
          authors_line());
  }
  layout::Im2col& pixels = map.im2col.emplace();
  std::copy(lower_corner.rbegin(), lower_corner.rend(), pixels.lower_corner.begin());
  std::copy(upper_corner.rbegin(), upper_corner.rend(), pixels.upper_corner.begin());
  pixels.channels_per_pixel = channels_per_pixel;
  pixels.pixels_per_column = pixels_per_column;
  unwrap_here(map.check());
  return {map};
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
  Class<TensorMapHandle>(m, "TensorMap", "What a tensor copy (TMA) knows of a tensor, but for its address. Compares by value.")
      .function(
          "of(tile: Tile, sizes: Mapping[str, int] = {}) -> TensorMap",
          "Of a row-major tensor of that tile, its dimensions' names replaced by sizes. ValueError names the rule of tensor maps "
          "that it breaks.",
          [](const Tile& tile, const tile::Env& sizes) { return TensorMapHandle{unwrap_here(tile::tensor_map(tile, sizes))}; })
      .function(
          "tiled(shape: Sequence[int], dtype: PtxType | str, box: Sequence[int], *, strides: Sequence[int] | None = None, "
          "swizzle: str "
          "= 'NONE', interleave: str = 'NONE', l2_promotion: str = '128B', fill: str = 'zero', element_strides: Sequence[int] | "
          "None = None) -> TensorMap",
          "Of a tensor of 1 to 5 dimensions, outermost first: what cuTensorMapEncodeTiled takes. `strides` are bytes, by default "
          "those of a row-major tensor; `fill=\"nan\"` is what floats read outside the tensor. With `interleave` the innermost "
          "dimension counts slices of 16 or 32 bytes. The packed types of Blackwell are strings: `\"b4x16\"`, `\"b4x16_p64\"`, "
          "`\"b6x16_p32\"`; the shape counts their elements. ValueError names the rule of tensor maps that is broken.",
          tiled)
      .function(
          "im2col(shape: Sequence[int], dtype: PtxType | str, lower_corner: Sequence[int], upper_corner: Sequence[int], "
          "channels_per_pixel: int, pixels_per_column: int, *, strides: Sequence[int] | None = None, swizzle: str = 'NONE', "
          "interleave: str = 'NONE', l2_promotion: str = '128B', fill: str = 'zero', element_strides: Sequence[int] | None = "
          "None) -> TensorMap",
          "Of a tensor (images, one to three dimensions of space, channels): what cuTensorMapEncodeIm2col takes; with "
          "`interleave` "
          "(images, slices of channels, space). The corners are of the pixels' box, for each dimension of space, outermost "
          "first.",
          im2col)
      .value("dtype -> str", "The element type; 8-bit floats are `u8`.",
             [](const TensorMapHandle& self) { return name(self.map.type); })
      .value("shape -> tuple[int, ...]", "Its dimensions, outermost first.",
             [](const TensorMapHandle& self) { return outermost_first(self.map.sizes, self.map.rank); })
      .value("strides -> tuple[int, ...]", "Bytes, of every dimension but the innermost.",
             [](const TensorMapHandle& self) { return outermost_first(self.map.strides, self.map.rank - 1u); })
      .value("box -> tuple[int, ...]", "What one copy moves, outermost first.",
             [](const TensorMapHandle& self) { return outermost_first(self.map.box, self.map.rank); })
      .value("box_bytes -> int", "Bytes that one copy moves, and its mbarrier expects.",
             [](const TensorMapHandle& self) { return self.map.box_bytes(); })
      .value("_shared_box_bytes -> int", "What one copy takes of shared memory, where packed types may be padded.",
             [](const TensorMapHandle& self) { return self.map.shared_box_bytes(); })
      .value("swizzle -> str", "\"NONE\", \"32B\", \"64B\" or \"128B\".",
             [](const TensorMapHandle& self) { return layout::tensor_map_swizzle_name(self.map.swizzle); })
      .function("words(self, address: int) -> bytes",
                "Its 128 bytes with the tensor's address, as a kernel's descriptor has them: what a launch of `pyptx.executor` "
                "passes by value. ValueError for an address that is not aligned as its tensor must be.",
                [](const TensorMapHandle& self, std::uint64_t address) {
                  if (const std::uint64_t multiple = layout::address_alignment(self.map); address % multiple != 0)
                    raise(Kind::argument_alignment,
                          cat("the tensor's address 0x", hex(address), " is not a multiple of ", multiple,
                              " bytes, which a tensor map needs"),
                          authors_line());
                  const layout::TensorMapWords words = layout::encode(self.map, address);
                  return nb::bytes(words.word.data(), sizeof words.word);
                })
      .function("encode(self, address: int, device: int = 0) -> EncodedTensorMap",
                "With the tensor's address, on the host and on a GPU. RuntimeError without a driver or a GPU.", encode)
      .def(
          "__eq__", [](const TensorMapHandle& a, const TensorMapHandle& b) { return a.map == b.map; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .dunder("__hash__(self) -> int",
              [](const TensorMapHandle& self) { return nb::hash(nb::cast(layout::to_string(self.map))); })
      .dunder("__repr__(self) -> str",
              [](const TensorMapHandle& self) { return cat("<tensor map ", layout::to_string(self.map), '>'); });

  Class<EncodedTensorMap>(m, "EncodedTensorMap", nb::is_weak_referenceable(),
                          "A CUtensorMap: 128 bytes that never change, on the host while this lives, on the GPU for good.")
      .value("map -> TensorMap", "What it was made of.", [](const EncodedTensorMap& self) { return TensorMapHandle{self.map}; })
      .field<&EncodedTensorMap::host_addr>("host_ptr -> int", "Where the bytes lie on the host.")
      .value("device_ptr -> int", "Where they lie on the GPU.", [](const EncodedTensorMap& self) { return self.device_addr; })
      .dunder("__bytes__(self) -> bytes",
              [](const EncodedTensorMap& self) { return nb::bytes(self.bytes.get(), sizeof *self.bytes); });

  function(m, "default_tma_box(tile: Tile) -> tuple[int, int]",
           "128 rows by as many columns as the swizzle is wide: what one copy of a matrix moves unless the author says.",
           default_tma_box);
}

}  // namespace ptx::python
