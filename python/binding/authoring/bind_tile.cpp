// The tensor boundary contract: `Tile`, `Layout`, `unify_envs`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <tuple>
#include <utility>

#include "ptx/tile/tile.hpp"
#include "python/binding/authoring/handles.hpp"
#include "python/binding/base/author.hpp"
#include "python/binding/base/define.hpp"
#include "python/binding/base/errors.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

constexpr std::array layouts = {Layout::row,     Layout::col,     Layout::tma_128b,
                                Layout::tma_64b, Layout::tma_32b, Layout::interleaved};
std::array<nb::handle, layouts.size()> layout_objects;  // the enumeration keeps them alive

nb::object layout_object(Layout layout) { return nb::borrow(layout_objects[static_cast<std::size_t>(layout)]); }

std::optional<Layout> layout_of(nb::handle object) {
  for (std::size_t i = 0; i < layouts.size(); ++i)
    if (layout_objects[i].is(object)) return layouts[i];
  return std::nullopt;
}

[[noreturn]] void bad(std::string message) { raise(Kind::bad_tile, std::move(message), authors_line()); }
[[noreturn]] void bad_kind(std::string message) { raise(Kind::argument_kind, std::move(message), authors_line()); }

// A size or a name; nothing for anything else. True and False are no sizes.
std::optional<tile::Dim> dim_of(nb::handle object) {
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  if (PyBool_Check(object.ptr()) || !PyIndex_Check(object.ptr())) return std::nullopt;
  const nb::object integer = nb::steal(PyNumber_Index(object.ptr()));
  if (!integer.is_valid()) throw nb::python_error();
  std::int64_t size = 0;
  if (!nb::try_cast(integer, size)) bad(cat("a dimension is ", describe(integer), "; what fits is 1 to 2^63 - 1, or a name"));
  return size;
}

tile::Dim dim_argument(nb::handle object, const char* what) {
  if (auto dim = dim_of(object)) return *std::move(dim);
  bad_kind(cat("`", what, "` is ", describe(object), "; a dimension is an int or the name of one"));
}

std::optional<tile::Dim> optional_dim(nb::handle object, const char* what) {
  return object.is_none() ? std::nullopt : std::optional(dim_argument(object, what));
}

nb::object dim_object(const tile::Dim& dim) {
  if (const auto* size = std::get_if<std::int64_t>(&dim)) return nb::cast(*size);
  return nb::cast(std::get<std::string>(dim));
}

nb::tuple dims_object(const std::vector<tile::Dim>& dims) {
  nb::list all;
  for (const tile::Dim& dim : dims) all.append(dim_object(dim));
  return nb::tuple(all);
}

nb::object box_object(const Tile& tile) { return tile.tma_box() ? nb::object(dims_object(*tile.tma_box())) : nb::none(); }

template <class T>
void set_once(std::optional<T>& slot, T value, const char* what, bool may_agree) {
  if (slot && *slot != value) bad(cat("a Tile is given two ", what, "s that differ"));
  if (slot && !may_agree) bad(cat("a Tile is given two ", what, "s, the same one twice; what fits is one"));
  slot = value;
}

Tile make_tile(const nb::args& items, nb::handle dtype, nb::handle layout, nb::handle tma_box, int tma_rank, bool tma_padding) {
  std::vector<tile::Dim> dims;
  std::optional<Type> type;
  std::optional<Layout> order;
  for (const nb::handle item : items) {
    if (const PtxType* t = as<PtxType>(item)) {
      set_once(type, t->type, "dtype", false);
    } else if (const auto l = layout_of(item)) {
      set_once(order, *l, "layout", false);
    } else if (auto dim = dim_of(item)) {
      dims.push_back(*std::move(dim));
    } else {
      bad_kind(cat("a Tile is given ", describe(item),
                   "; what fits is a dimension (an int or a name), a dtype such as `f32`, or a `Layout`"));
    }
  }
  if (!dtype.is_none()) set_once(type, type_argument(dtype, "Tile"), "dtype", true);
  if (!layout.is_none()) {
    const auto l = layout_of(layout);
    if (!l) bad_kind(cat("the layout of a Tile is ", describe(layout), "; what fits is a `Layout`"));
    set_once(order, *l, "layout", true);
  }
  std::optional<std::vector<tile::Dim>> box;
  if (!tma_box.is_none()) {
    box.emplace();
    for (const nb::handle item : tma_box) box->push_back(dim_argument(item, "tma_box"));
  }
  return unwrap_here(
      Tile::make(std::move(dims), type.value_or(Type::none), order.value_or(Layout::row), std::move(box), tma_rank, tma_padding));
}

tile::Env env_of(const nb::dict& dict) {
  tile::Env env;
  for (const auto& [name, size] : dict) {
    if (!PyUnicode_Check(name.ptr()) || PyBool_Check(size.ptr()) || !PyIndex_Check(size.ptr()))
      bad_kind(cat("the dimension ", describe(name), " is bound to ", describe(size), "; what fits is a name and an int"));
    env[nb::cast<std::string>(name)] = std::get<std::int64_t>(*dim_of(size));
  }
  return env;
}

nb::dict dict_of(const tile::Env& env) {
  nb::dict dict;
  for (const auto& [name, size] : env) dict[nb::cast(name)] = size;
  return dict;
}

nb::tuple state_of(const Tile& tile) {
  return nb::make_tuple(dims_object(tile.shape()), type_object(tile.dtype()), layout_object(tile.layout()), box_object(tile),
                        tile.tma_rank(), tile.tma_padding());
}

std::string tile_shown(const Tile& tile) {
  nb::list parts;
  for (const tile::Dim& dim : tile.shape()) parts.append(nb::repr(dim_object(dim)));
  parts.append(nb::repr(type_object(tile.dtype())));
  if (tile.layout() != Layout::row) parts.append(nb::str(layout_object(tile.layout())));
  if (tile.tma_box()) parts.append(nb::str("tma_box={}").format(box_object(tile)));
  if (tile.tma_rank() != 2) parts.append(nb::str("tma_rank={}").format(tile.tma_rank()));
  if (tile.tma_padding()) parts.append(nb::str("tma_padding=True"));
  return nb::cast<std::string>(nb::str("Tile({})").format(nb::str(", ").attr("join")(parts)));
}

void bind_layout(nb::module_& m) {
  nb::list members;
  for (const Layout layout : layouts) {
    const std::string value(tile::name(layout));
    members.append(nb::make_tuple(nb::str(value.c_str()).attr("upper")(), value));
  }
  const nb::object type = nb::module_::import_("enum").attr("Enum")("Layout", members, nb::arg("module") = m.attr("__name__"));
  type.attr("__doc__") = "How a tile lies in memory: row-major, column-major, or in the pattern of a TMA swizzle.";
  std::size_t i = 0;
  for (const nb::handle member : type) layout_objects[i++] = member;
  m.attr("Layout") = type;
}

// Tiles of the operands of wgmma.
void def_operand_tiles(Class<Tile>& tile) {
  tile.function(
          "wgmma_a(m: int | str, k: int | str, dtype: PtxType, *, tile_m: int | str | None = None, tile_k: int | str | None = "
          "None) -> Tile",
          "The tile of a wgmma A operand, M x K: its layout follows from the width of one load.",
          [](nb::handle rows, nb::handle k, nb::handle dtype, nb::handle tile_m, nb::handle tile_k) {
            return unwrap_here(Tile::wgmma_a(dim_argument(rows, "m"), dim_argument(k, "k"), type_argument(dtype, "Tile.wgmma_a"),
                                             optional_dim(tile_m, "tile_m"), optional_dim(tile_k, "tile_k")));
          })
      .function(
          "wgmma_b(k: int | str, n: int | str, dtype: PtxType, *, tile_k: int | str | None = None, tile_n: int | str | None = "
          "None) -> Tile",
          "The tile of a wgmma B operand, K x N.",
          [](nb::handle k, nb::handle n, nb::handle dtype, nb::handle tile_k, nb::handle tile_n) {
            return unwrap_here(Tile::wgmma_b(dim_argument(k, "k"), dim_argument(n, "n"), type_argument(dtype, "Tile.wgmma_b"),
                                             optional_dim(tile_k, "tile_k"), optional_dim(tile_n, "tile_n")));
          });
}

}  // namespace

void bind_tile(nb::module_& m) {
  bind_layout(m);
  function(m, "dtype_matches(dtype: PtxType, name: str) -> bool",
           "Whether tensors of that numpy type stand for tiles of the PTX type.",
           [](nb::handle dtype, std::string_view name) { return tile::dtype_matches(type_argument(dtype, "Tile"), name); });
  Class<Tile> tile(m, "Tile",
                   "What a kernel expects of a tensor: dimensions (sizes, or names bound at the call), dtype and layout.\n\n"
                   "    Tile(\"M\", 512, f32)");
  tile.def(
          "__init__",
          [](Tile* self, const nb::args& items, nb::handle dtype, nb::handle layout, nb::handle tma_box, int tma_rank,
             bool tma_padding) { new (self) Tile(make_tile(items, dtype, layout, tma_box, tma_rank, tma_padding)); },
          nb::arg("dims_and_dtype"), nb::kw_only(), nb::arg("dtype") = nb::none(), nb::arg("layout") = nb::none(),
          nb::arg("tma_box") = nb::none(), nb::arg("tma_rank") = 2, nb::arg("tma_padding") = false,
          nb::sig("def __init__(self, *dims_and_dtype: int | str | PtxType | Layout, dtype: PtxType | None = None, layout: "
                  "Layout | None = None, tma_box: typing.Sequence[int | str] | None = None, tma_rank: int = 2, tma_padding: bool "
                  "= False) -> None"))
      .value("shape -> tuple[int | str, ...]", [](const Tile& t) { return dims_object(t.shape()); })
      .value("dtype -> PtxType", [](const Tile& t) { return type_object(t.dtype()); })
      .value("layout -> Layout", [](const Tile& t) { return layout_object(t.layout()); })
      .value("tma_box -> tuple[int | str, ...] | None", "What one TMA copy moves; None: the whole tensor.", box_object)
      .function("_shared_box_bytes(self, dims: dict[str, int]) -> int | None",
                "What one copy by the tile's tensor map takes of shared memory; None where that is not known.",
                [](const Tile& self, const nb::dict& dims) { return tile::shared_box_bytes(self, env_of(dims)); })
      .field<&Tile::tma_rank>("tma_rank -> int", "Rank of the tensor map: 2, or 3 for the 64-column view of a matrix.")
      .field<&Tile::tma_padding>("tma_padding -> bool", "With tma_rank=3: pad the innermost box dimension.")
      .field<&Tile::rank>("rank -> int", "Number of dimensions.")
      .value("symbolic_dims -> tuple[str, ...]", "The names among the dimensions, in order.",
             [](const Tile& t) { return nb::tuple(nb::cast(t.symbolic_dims())); })
      .function("resolve_shape(self, env: dict[str, int]) -> tuple[int, ...]",
                "The shape with its names replaced by their sizes; KeyError for a name that `env` lacks.",
                [](const Tile& t, const nb::dict& env) { return nb::tuple(nb::cast(unwrap_here(t.resolve(env_of(env))))); })
      .function(
          "matches(self, array_shape: typing.Sequence[int], array_dtype_name: str) -> bool",
          "Whether rank, fixed dimensions and dtype (its PTX or numpy name) fit.",
          [](const Tile& t, const std::vector<std::int64_t>& shape, std::string_view dtype) { return t.matches(shape, dtype); })
      .function("extract_env(self, array_shape: typing.Sequence[int]) -> dict[str, int]",
                "The sizes of this tile's names in an array of that shape; ValueError when it does not fit.",
                [](const Tile& t, const std::vector<std::int64_t>& shape) { return dict_of(unwrap_here(t.extract(shape))); });
  def_operand_tiles(tile);
  tile.def(
          "__eq__", [](const Tile& a, const Tile& b) { return a == b; }, nb::is_operator(),
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .dunder("__hash__(self) -> int", [](const Tile& t) { return nb::hash(state_of(t)); })
      .dunder("__getstate__(self) -> tuple", state_of)
      .def("__setstate__",
           [](Tile& self, const std::tuple<nb::args, nb::object, nb::object, nb::object, int, bool>& state) {
             const auto& [shape, dtype, layout, box, rank, padding] = state;
             new (&self) Tile(make_tile(shape, dtype, layout, box, rank, padding));
           })
      .dunder("__repr__(self) -> str", tile_shown);

  function(m, "unify_envs(envs: typing.Sequence[dict[str, int]]) -> dict[str, int]",
           "One binding of names to sizes out of many; ValueError when one name has two sizes.", [](const nb::sequence& envs) {
             std::vector<tile::Env> all;
             for (const nb::handle env : envs) {
               if (!PyDict_Check(env.ptr()))
                 bad_kind(cat("`unify_envs` takes dicts of sizes by name, ", describe(env), " was given"));
               all.push_back(env_of(nb::borrow<nb::dict>(env)));
             }
             return dict_of(unwrap_here(tile::unify(all)));
           });
}

}  // namespace ptx::python
