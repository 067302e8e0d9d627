// Tensor copies, `ptx.cp.async_.bulk.tensor_2d` and the like, and `ptx.tma`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include <string>

#include "helper_call.hpp"
#include "ptx/write/idiom/tensor_copy.hpp"

namespace ptx::python {
namespace {

using namespace write::idiom;
using write::Place;
using write::Value;

struct TmaSpace {};  // a namespace of Python

// ---- tensor copies --------------------------------------------------------------------------------------------------

struct TensorArguments {
  nb::handle mbar = nb::none(), offsets = nb::none(), multicast_mask = nb::none(), cache_hint = nb::none();
  int cta_group = 1;
};

std::string helper_name(std::string_view stem, int rank, std::string_view method = {}) {
  return cat("ptx.cp.async_.bulk.", stem, rank, 'd', method);
}

void load(const std::string& helper, int rank, TensorMode mode, bool shared_cta, nb::handle dst, nb::handle src, nb::handle coord,
          const TensorArguments& given, nb::handle pred) {
  Call call(helper, pred);
  const Place to = call.place(dst);
  const TensorBox box{rank, call.map(src), call.values(coord)};
  const std::optional<Place> mbar = call.optional_place(given.mbar);
  const TensorLoad load{
      .mode = mode, .shared_cta = shared_cta, .cta_group = given.cta_group, .im2col_offsets = call.values(given.offsets)};
  unwrap(tensor_load(call.builder(), load, to, box, mbar,
                     {.multicast_mask = call.optional(given.multicast_mask), .cache_hint = call.optional(given.cache_hint)},
                     call.guard(), call.where()));
}

void store(const std::string& helper, int rank, TensorMode mode, nb::handle dst, nb::handle src, nb::handle coord,
           nb::handle hint, nb::handle pred) {
  Call call(helper, pred);
  const TensorBox box{rank, call.map(dst), call.values(coord)};
  const Place from = call.place(src);
  unwrap(tensor_store(call.builder(), mode, box, from, {.cache_hint = call.optional(hint)}, call.guard(), call.where()));
}

void prefetch(const std::string& helper, int rank, TensorMode mode, nb::handle src, nb::handle coord, nb::handle offsets,
              nb::handle hint, nb::handle pred) {
  Call call(helper, pred);
  const TensorBox box{rank, call.map(src), call.values(coord)};
  unwrap(tensor_prefetch(call.builder(), mode, box, call.values(offsets), {.cache_hint = call.optional(hint)}, call.guard(),
                         call.where()));
}

void bind_copies_by_rank(nb::module_& m) {
  nb::class_<TensorCopies> space(m, "TensorCopies", "`ptx.cp.async_.bulk.tensor_Nd`: boxes of a tensor of N dimensions.");
  method(
      space, "__call__",
      "self, *, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int], mbar: typing.Any = None, cta_group: int = "
      "1, "
      "multicast_mask: Reg | int | None = None, cache_hint: Reg | int | None = None",
      "`cp.async.bulk.tensor.Nd.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src, {coord}], [mbar]`: a box of the "
      "tensor whose "
      "map `src` is into shared memory; `coord` is its first element, the fastest dimension first. `multicast_mask` has a bit "
      "for each CTA "
      "of the cluster.",
      [](const TensorCopies& self, nb::handle dst, nb::handle src, nb::handle coord, nb::handle mbar, int cta_group,
         nb::handle mask, nb::handle hint, nb::handle pred) {
        load(helper_name("tensor_", self.rank), self.rank, TensorMode::implicit_tile, false, dst, src, coord,
             {.mbar = mbar, .multicast_mask = mask, .cache_hint = hint, .cta_group = cta_group}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("coord"), or_none("mbar"), nb::arg("cta_group") = 1, or_none("multicast_mask"),
      or_none("cache_hint"));
  method(
      space, "shared_cta_global_tile",
      "self, *, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int], mbar: typing.Any, cta_group: int = 1, "
      "cache_hint: Reg | "
      "int | None = None",
      "`cp.async.bulk.tensor.Nd.shared::cta.global.tile.mbarrier::complete_tx::bytes [dst], [src, {coord}], [mbar]` (PTX 8.6).",
      [](const TensorCopies& self, nb::handle dst, nb::handle src, nb::handle coord, nb::handle mbar, int cta_group,
         nb::handle hint, nb::handle pred) {
        load(helper_name("tensor_", self.rank, ".shared_cta_global_tile"), self.rank, TensorMode::tile, true, dst, src, coord,
             {.mbar = mbar, .cache_hint = hint, .cta_group = cta_group}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("coord"), or_none("mbar"), nb::arg("cta_group") = 1, or_none("cache_hint"));
  method(
      space, "store",
      "self, *, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int], cache_hint: Reg | int | None = None",
      "`cp.async.bulk.tensor.Nd.global.shared::cta.bulk_group [dst, {coord}], [src]`: shared memory into a box of the tensor "
      "whose map `dst` "
      "is, part of a bulk group.",
      [](const TensorCopies& self, nb::handle dst, nb::handle src, nb::handle coord, nb::handle hint, nb::handle pred) {
        store(helper_name("tensor_", self.rank, ".store"), self.rank, TensorMode::implicit_tile, dst, src, coord, hint, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("coord"), or_none("cache_hint"));
  method(
      space, "prefetch", "self, *, src: typing.Any, coord: typing.Sequence[Reg | int], cache_hint: Reg | int | None = None",
      "`cp.async.bulk.prefetch.tensor.Nd.L2.global [src, {coord}]`: a box of a tensor into the L2 cache.",
      [](const TensorCopies& self, nb::handle src, nb::handle coord, nb::handle hint, nb::handle pred) {
        prefetch(helper_name("tensor_", self.rank, ".prefetch"), self.rank, TensorMode::implicit_tile, src, coord, nb::none(),
                 hint, pred);
      },
      nb::kw_only(), any("src"), any("coord"), or_none("cache_hint"));
}

void bind_reductions_by_rank(nb::module_& m) {
  nb::class_<TensorReductions> space(m, "TensorReductions",
                                     "`ptx.cp.reduce.async_.bulk.tensor_Nd`: boxes of a tensor reduced with shared memory.");
  method(
      space, "__call__",
      "self, op: str, *, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int], cache_hint: Reg | int | None = "
      "None",
      "`cp.reduce.async.bulk.tensor.Nd.global.shared::cta.op.bulk_group [dst, {coord}], [src]`: a box of the tensor whose map "
      "`dst` is becomes "
      "the sum, minimum, … of itself and shared memory; `op` is add, min, max, inc, dec, and, or, or xor.",
      [](const TensorReductions& self, std::string_view op, nb::handle dst, nb::handle src, nb::handle coord, nb::handle hint,
         nb::handle pred) {
        Call call(cat("ptx.cp.reduce.async_.bulk.tensor_", self.rank, 'd'), pred);
        const TensorBox box{self.rank, call.map(dst), call.values(coord)};
        const Place from = call.place(src);
        unwrap(tensor_reduce(call.builder(), op, box, from, {.cache_hint = call.optional(hint)}, call.guard(), call.where()));
      },
      nb::arg("op"), nb::kw_only(), any("dst"), any("src"), any("coord"), or_none("cache_hint"));
}

// `ptx.cp.async_.bulk.tensor`: the forms whose first operands are positional.
class TensorForms {
 public:
  explicit TensorForms(nb::class_<TensorSpace>& space) : space_(space) {}

  void loads(std::string_view stem, int rank, TensorMode mode, const char* doc) {
    const std::string name = cat(stem, rank, 'd'), helper = cat("ptx.cp.async_.bulk.tensor.", name);
    const bool im2col = mode == TensorMode::im2col;
    const auto copy = [helper, rank, mode](const TensorSpace&, nb::handle dst, nb::handle src, nb::handle coord, nb::handle mbar,
                                           nb::handle hint, nb::handle mask, int cta_group, nb::handle pred) {
      load(helper, rank, mode, false, dst, src, coord,
           {.mbar = mbar, .multicast_mask = mask, .cache_hint = hint, .cta_group = cta_group}, pred);
    };
    const auto filtered = [helper, rank, mode](const TensorSpace&, nb::handle dst, nb::handle src, nb::handle coord,
                                               nb::handle offsets, nb::handle mbar, nb::handle hint, nb::handle mask,
                                               int cta_group, nb::handle pred) {
      load(helper, rank, mode, false, dst, src, coord,
           {.mbar = mbar, .offsets = offsets, .multicast_mask = mask, .cache_hint = hint, .cta_group = cta_group}, pred);
    };
    if (im2col)
      method(space_, name, parameters(true, ", offsets: typing.Sequence[Reg | int] | None = None"), doc, filtered, any("dst"),
             any("src"), any("coord"), or_none("offsets"), nb::kw_only(), or_none("mbar"), or_none("cache_hint"),
             or_none("multicast_mask"), nb::arg("cta_group") = 1);
    else
      method(space_, name, parameters(true), doc, copy, any("dst"), any("src"), any("coord"), nb::kw_only(), or_none("mbar"),
             or_none("cache_hint"), or_none("multicast_mask"), nb::arg("cta_group") = 1);
  }
  void stores(std::string_view stem, int rank, TensorMode mode, const char* doc) {
    const std::string name = cat(stem, rank, 'd'), helper = cat("ptx.cp.async_.bulk.tensor.", name);
    method(
        space_, name, cat(parameters(false), ", cache_hint: Reg | int | None = None"), doc,
        [helper, rank, mode](const TensorSpace&, nb::handle dst, nb::handle src, nb::handle coord, nb::handle hint,
                             nb::handle pred) { store(helper, rank, mode, dst, src, coord, hint, pred); },
        any("dst"), any("src"), any("coord"), nb::kw_only(), or_none("cache_hint"));
  }
  void prefetches(std::string_view stem, int rank, TensorMode mode, const char* doc) {
    const std::string name = cat(stem, rank, 'd'), helper = cat("ptx.cp.async_.bulk.tensor.", name);
    method(
        space_, name,
        "self, src: typing.Any, coord: typing.Sequence[Reg | int], offsets: typing.Sequence[Reg | int] | None = None, *, "
        "cache_hint: Reg | int "
        "| None = None",
        doc,
        [helper, rank, mode](const TensorSpace&, nb::handle src, nb::handle coord, nb::handle offsets, nb::handle hint,
                             nb::handle pred) { prefetch(helper, rank, mode, src, coord, offsets, hint, pred); },
        any("src"), any("coord"), or_none("offsets"), nb::kw_only(), or_none("cache_hint"));
  }

 private:
  static std::string parameters(bool loads, std::string_view offsets = {}) {
    return cat("self, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int]", offsets, ", *",
               loads ? ", mbar: typing.Any = None, cache_hint: Reg | int | None = None, multicast_mask: Reg | int | None = None, "
                       "cta_group: "
                       "int = 1"
                     : "");
  }
  nb::class_<TensorSpace>& space_;
};

void bind_tensor_forms(nb::class_<TensorSpace>& space) {
  TensorForms forms(space);
  for (int rank = 1; rank <= 5; ++rank) {
    forms.loads("tile_", rank, TensorMode::implicit_tile,
                "`cp.async.bulk.tensor.Nd.shared::cluster.global.mbarrier::complete_tx::bytes [dst], [src, {coord}], [mbar]`");
    forms.stores("store_", rank, TensorMode::implicit_tile,
                 "`cp.async.bulk.tensor.Nd.global.shared::cta.bulk_group [dst, {coord}], [src]`");
    forms.prefetches("prefetch_", rank, TensorMode::implicit_tile, "`cp.async.bulk.prefetch.tensor.Nd.L2.global [src, {coord}]`");
    if (rank < 3) continue;
    forms.loads("im2col_", rank, TensorMode::im2col,
                "`cp.async.bulk.tensor.Nd.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [dst], [src, {coord}], "
                "[mbar], {offsets}`: "
                "the pixels under a convolution's filter; `offsets`, one a spatial dimension, are the filter's place, zeros "
                "unless given.");
    forms.prefetches("prefetch_im2col_", rank, TensorMode::im2col,
                     "`cp.async.bulk.prefetch.tensor.Nd.L2.global.im2col [src, {coord}], {offsets}`");
  }
  forms.loads("gather4_", 2, TensorMode::gather4,
              "`cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [dst], [src, {col, r0, "
              "r1, r2, r3}], "
              "[mbar]`: four rows of a matrix.");
  forms.prefetches("prefetch_gather4_", 2, TensorMode::gather4,
                   "`cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [src, {col, r0, r1, r2, r3}]`");
  method(
      space, "scatter4_2d",
      "self, dst: typing.Any, src: typing.Any, coord: typing.Sequence[Reg | int], *, mbar: None = None, cache_hint: Reg | int | "
      "None = None",
      "`cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [dst, {col, r0, r1, r2, r3}], [src]`: shared memory "
      "into four "
      "rows of a matrix, part of a bulk group; it has no mbarrier.",
      [](const TensorSpace&, nb::handle dst, nb::handle src, nb::handle coord, nb::handle mbar, nb::handle hint,
         nb::handle pred) {
        if (!mbar.is_none()) {
          Diagnostic d;
          d.kind = Kind::operand_mismatch;
          d.message = cat("`ptx.cp.async_.bulk.tensor.scatter4_2d` takes no mbarrier, but is given ", describe(mbar));
          d.where = Trace::require("ptx.cp.async_.bulk.tensor.scatter4_2d").where();
          d.hint("a copy to global memory is part of a bulk group: `commit_group`, then `wait_group`");
          raise(d);
        }
        store("ptx.cp.async_.bulk.tensor.scatter4_2d", 2, TensorMode::scatter4, dst, src, coord, hint, pred);
      },
      any("dst"), any("src"), any("coord"), nb::kw_only(), or_none("mbar"), or_none("cache_hint"));
}

// ---- ptx.tma --------------------------------------------------------------------------------------------------------

SlabPosition position(Call& call, nb::handle row, nb::handle col, nb::handle coords) {
  if (!coords.is_none()) return {.coords = call.values(coords)};
  return {.row = call.optional(row), .col = call.optional(col)};
}

// `issuer=`: the rank of a CTA in its cluster, or a guard.
Issuer issuer_argument(Call& call, nb::handle issuer) {
  if (issuer.is_none()) return {{}, call.guard()};
  if (call.guard().predicate)
    raise(Kind::operand_mismatch, "`ptx.tma.load_3d_multicast` is given `issuer` and `pred`; what fits is one of them",
          call.where());
  if (as<Reg>(issuer) == nullptr && as<NegPred>(issuer) == nullptr && PyIndex_Check(issuer.ptr()))
    return {nb::cast<std::int64_t>(nb::int_(nb::borrow(issuer))), {}};
  return {{}, call.guard_of(issuer)};
}

void bind_tma(nb::module_& m) {
  nb::class_<TmaSpace> space(m, "Tma",
                             "`ptx.tma`: tensor copies of a row-major matrix seen as slabs of 64 columns, a tensor of three "
                             "dimensions {64, rows, slabs}.");
  method(
      space, "load_3d",
      "self, dst: typing.Any, src: typing.Any, row: Reg | int | None = None, col: Reg | int | None = None, mbar: typing.Any = "
      "None, coords: "
      "typing.Sequence[Reg | int] | None = None, *",
      "`cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [dst], [src, {0, row, col / 64}], "
      "[mbar]`; a column in "
      "a register is divided by a `shr.u32` before. `coords` are the three coordinates themselves.",
      [](const TmaSpace&, nb::handle dst, nb::handle src, nb::handle row, nb::handle col, nb::handle mbar, nb::handle coords,
         nb::handle pred) {
        Call call("ptx.tma.load_3d", pred);
        const Place to = call.place(dst);
        const Value map = call.map(src);
        const SlabPosition where = position(call, row, col, coords);
        unwrap(slab_load(call.builder(), to, map, where, call.optional_place(mbar), call.guard(), call.where()));
      },
      any("dst"), any("src"), or_none("row"), or_none("col"), or_none("mbar"), or_none("coords"), nb::kw_only());
  method(
      space, "load_3d_multicast",
      "self, dst: typing.Any, src: typing.Any, row: Reg | int | None = None, col: Reg | int | None = None, mbar: typing.Any = "
      "None, mask: Reg | int | None = None, coords: typing.Sequence[Reg | int] | None = None, *, issuer: Reg | NegPred | int | "
      "None = None",
      "`load_3d` into all CTAs of the cluster that `mask` has a bit for. `issuer` is the CTA that does it, by its rank (a `mov` "
      "and a `setp` "
      "before), or a predicate.",
      [](const TmaSpace&, nb::handle dst, nb::handle src, nb::handle row, nb::handle col, nb::handle mbar, nb::handle mask,
         nb::handle coords, nb::handle issuer, nb::handle pred) {
        Call call("ptx.tma.load_3d_multicast", pred);
        const Issuer by = issuer_argument(call, issuer);
        const Place to = call.place(dst);
        const Value map = call.map(src);
        const SlabPosition where = position(call, row, col, coords);
        if (mask.is_none()) call.refuse("the mask", mask, "a register or a number with a bit for each CTA of the cluster");
        const std::optional<Place> barrier = call.optional_place(mbar);
        unwrap(slab_load_multicast(call.builder(), to, map, where, barrier, call.value(mask), by, call.where()));
      },
      any("dst"), any("src"), or_none("row"), or_none("col"), or_none("mbar"), or_none("mask"), or_none("coords"), nb::kw_only(),
      or_none("issuer"));
  method(
      space, "store_3d",
      "self, dst: typing.Any, src: typing.Any, row: Reg | int | None = None, col: Reg | int | None = None, coords: "
      "typing.Sequence[Reg | int] | "
      "None = None, *",
      "`cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [dst, {0, row, col / 64}], [src]`",
      [](const TmaSpace&, nb::handle dst, nb::handle src, nb::handle row, nb::handle col, nb::handle coords, nb::handle pred) {
        Call call("ptx.tma.store_3d", pred);
        const Value map = call.map(dst);
        const Place from = call.place(src);
        const SlabPosition where = position(call, row, col, coords);
        unwrap(slab_store(call.builder(), map, from, where, call.guard(), call.where()));
      },
      any("dst"), any("src"), or_none("row"), or_none("col"), or_none("coords"), nb::kw_only());
  m.attr("tma") = TmaSpace{};
}

}  // namespace

void bind_tensor_copies(nb::module_& m) {
  bind_copies_by_rank(m);
  bind_reductions_by_rank(m);
  nb::class_<TensorSpace> forms(m, "TensorForms", "`ptx.cp.async_.bulk.tensor`: tensor copies with their operands in order.");
  bind_tensor_forms(forms);
  add_ranks<TensorCopies>(forms);
  bind_tma(m);
}

}  // namespace ptx::python
