// `ptx.cp`: copies of a few bytes a thread, bulk copies and reductions.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string_view.h>

#include "bindings.hpp"
#include "helper_call.hpp"
#include "ptx/write/idiom/async_copy.hpp"

namespace ptx::python {
namespace {

using namespace write::idiom;
using write::Place;

// Namespaces of Python, and the objects in them that can be called themselves.
struct CpSpace {};
struct AsyncSpace {};
struct ReduceSpace {};
struct ReduceAsyncSpace {};
struct BulkCopies {};      // ptx.cp.async_.bulk
struct BulkReductions {};  // ptx.cp.reduce.async_.bulk

// ---- ptx.cp.async_ --------------------------------------------------------------------------------------------------

template <CopyCaches caches>
void async_copy(const AsyncSpace&, nb::handle dst, nb::handle src, nb::handle bytes, nb::handle src_size, nb::handle cache_hint,
                nb::handle pred) {
  Call call(caches == CopyCaches::ca ? "ptx.cp.async_.ca" : "ptx.cp.async_.cg", pred);
  const Place to = call.place(dst), from = call.place(src);
  unwrap(cp_async(call.builder(), caches, to, from, call.value(bytes),
                  {.src_size = call.optional(src_size), .cache_hint = call.optional(cache_hint)}, call.guard(), call.where()));
}

template <bool bulk, class Space>
void commit(const Space&, nb::handle pred) {
  Call call("commit_group", pred);
  unwrap(commit_group(call.builder(), bulk, call.guard(), call.where()));
}

void bind_async(nb::module_& m) {
  nb::class_<AsyncSpace> space(m, "CpAsync",
                               "`ptx.cp.async_`: copies from global into shared memory, a few bytes a thread, or `bulk`.");
  const auto copy = [&](const char* name, auto function, const char* doc) {
    method(space, name,
           "self, dst: typing.Any, src: typing.Any, bytes: int, src_size: Reg | int | None = None, *, cache_hint: Reg | int | "
           "None = None",
           doc, function, any("dst"), any("src"), any("bytes"), or_none("src_size"), nb::kw_only(), or_none("cache_hint"));
  };
  copy("cg", async_copy<CopyCaches::cg>,
       "`cp.async.cg.shared.global [dst], [src], bytes`: 16 bytes, only through L2. Of these `src_size` are read, the rest are "
       "zeros.");
  copy("ca", async_copy<CopyCaches::ca>,
       "`cp.async.ca.shared.global [dst], [src], bytes`: 4, 8 or 16 bytes. Of these `src_size` are read, the rest are zeros.");
  method(space, "commit_group", "self, *", "`cp.async.commit_group`: the copies begun so far are a group.",
         commit<false, AsyncSpace>, nb::kw_only());
  method(
      space, "wait_group", "self, n: int, *", "`cp.async.wait_group n`: wait until at most `n` groups are pending.",
      [](const AsyncSpace&, nb::handle n, nb::handle pred) {
        Call call("ptx.cp.async_.wait_group", pred);
        unwrap(wait_group(call.builder(), false, false, call.value(n), call.guard(), call.where()));
      },
      any("n"), nb::kw_only());
  method(
      space, "wait_all", "self, *", "`cp.async.wait_all`: wait until no copy is pending.",
      [](const AsyncSpace&, nb::handle pred) {
        Call call("ptx.cp.async_.wait_all", pred);
        unwrap(wait_all(call.builder(), call.guard(), call.where()));
      },
      nb::kw_only());
}

// ---- ptx.cp.async_.bulk ---------------------------------------------------------------------------------------------

// What a bulk copy may be given besides destination, source and size.
struct BulkArguments {
  nb::handle mbar = nb::none(), multicast_mask = nb::none(), cache_hint = nb::none(), byte_mask = nb::none();
};

BulkCopy copy_of(Call& call, BulkRoute route, nb::handle dst, nb::handle src, nb::handle size, nb::handle mbar) {
  BulkCopy copy{.route = route, .dst = call.place(dst), .src = call.place(src), .size = call.value(size)};
  copy.mbar = call.optional_place(mbar);
  return copy;
}

void bulk(BulkRoute route, nb::handle dst, nb::handle src, nb::handle size, const BulkArguments& given, nb::handle pred) {
  Call call("ptx.cp.async_.bulk", pred);
  unwrap(bulk_copy(call.builder(), copy_of(call, route, dst, src, size, given.mbar),
                   {.multicast_mask = call.optional(given.multicast_mask),
                    .cache_hint = call.optional(given.cache_hint),
                    .byte_mask = call.optional(given.byte_mask)},
                   call.guard(), call.where()));
}

void bulk_reduction(const BulkReductions&, std::string_view op, nb::handle dtype, nb::handle dst, nb::handle src, nb::handle size,
                    nb::handle mbar, nb::handle cache_hint, nb::handle pred) {
  Call call("ptx.cp.reduce.async_.bulk", pred);
  const Type type = type_argument(dtype, "ptx.cp.reduce.async_.bulk");
  const BulkRoute route = mbar.is_none() ? BulkRoute::cta_to_global : BulkRoute::cta_to_cluster;
  unwrap(bulk_reduce(call.builder(), op, type, copy_of(call, route, dst, src, size, mbar),
                     {.cache_hint = call.optional(cache_hint)}, call.guard(), call.where()));
}

void bind_bulk(nb::class_<BulkCopies>& space) {
  method(
      space, "__call__",
      "self, *, dst: typing.Any, src: typing.Any, size: Reg | int, mbar: typing.Any, multicast_mask: Reg | int | None = None, "
      "cache_hint: Reg "
      "| int | None = None",
      "`cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes[.multicast::cluster] [dst], [src], size, [mbar][, "
      "mask]`: `size` "
      "bytes of global memory, a multiple of 16, into shared memory.",
      [](const BulkCopies&, nb::handle dst, nb::handle src, nb::handle size, nb::handle mbar, nb::handle mask, nb::handle hint,
         nb::handle pred) {
        bulk(BulkRoute::global_to_cluster, dst, src, size, {.mbar = mbar, .multicast_mask = mask, .cache_hint = hint}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("size"), or_none("mbar"), or_none("multicast_mask"), or_none("cache_hint"));
  method(
      space, "shared_cta_global",
      "self, *, dst: typing.Any, src: typing.Any, size: Reg | int, mbar: typing.Any, cache_hint: Reg | int | None = None",
      "`cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]` (PTX 8.6).",
      [](const BulkCopies&, nb::handle dst, nb::handle src, nb::handle size, nb::handle mbar, nb::handle hint, nb::handle pred) {
        bulk(BulkRoute::global_to_cta, dst, src, size, {.mbar = mbar, .cache_hint = hint}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("size"), or_none("mbar"), or_none("cache_hint"));
  method(
      space, "shared_cluster_shared_cta", "self, *, dst: typing.Any, src: typing.Any, size: Reg | int, mbar: typing.Any",
      "`cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [dst], [src], size, [mbar]`: into another CTA of "
      "the cluster, "
      "whose addresses `dst` and `mbar` are.",
      [](const BulkCopies&, nb::handle dst, nb::handle src, nb::handle size, nb::handle mbar, nb::handle pred) {
        bulk(BulkRoute::cta_to_cluster, dst, src, size, {.mbar = mbar}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("size"), or_none("mbar"));
  method(
      space, "store",
      "self, *, dst: typing.Any, src: typing.Any, size: Reg | int, cache_hint: Reg | int | None = None, byte_mask: Reg | int | "
      "None = None",
      "`cp.async.bulk.global.shared::cta.bulk_group [dst], [src], size`: shared memory into global memory, part of a bulk group; "
      "of each 16 "
      "bytes those that `byte_mask` tells.",
      [](const BulkCopies&, nb::handle dst, nb::handle src, nb::handle size, nb::handle hint, nb::handle mask, nb::handle pred) {
        bulk(BulkRoute::cta_to_global, dst, src, size, {.cache_hint = hint, .byte_mask = mask}, pred);
      },
      nb::kw_only(), any("dst"), any("src"), any("size"), or_none("cache_hint"), or_none("byte_mask"));
  method(
      space, "prefetch", "self, *, src: typing.Any, size: Reg | int, cache_hint: Reg | int | None = None",
      "`cp.async.bulk.prefetch.L2.global [src], size`: global memory into the L2 cache.",
      [](const BulkCopies&, nb::handle src, nb::handle size, nb::handle hint, nb::handle pred) {
        Call call("ptx.cp.async_.bulk.prefetch", pred);
        const Place from = call.place(src);
        unwrap(bulk_prefetch(call.builder(), from, call.value(size), {.cache_hint = call.optional(hint)}, call.guard(),
                             call.where()));
      },
      nb::kw_only(), any("src"), any("size"), or_none("cache_hint"));
  method(space, "commit_group", "self, *", "`cp.async.bulk.commit_group`: the bulk copies begun so far are a group.",
         commit<true, BulkCopies>, nb::kw_only());
  method(
      space, "wait_group", "self, n: int, *, read: bool = False",
      "`cp.async.bulk.wait_group[.read] n`: wait until at most `n` groups are pending, or (`read`) still read their source.",
      [](const BulkCopies&, nb::handle n, bool read, nb::handle pred) {
        Call call("ptx.cp.async_.bulk.wait_group", pred);
        unwrap(wait_group(call.builder(), true, read, call.value(n), call.guard(), call.where()));
      },
      any("n"), nb::kw_only(), nb::arg("read") = false);
}

}  // namespace

void bind_copies(nb::module_& m) {
  bind_tensor_copies(m);

  nb::class_<BulkCopies> bulk(m, "BulkCopies", "`ptx.cp.async_.bulk`: bulk copies, and their groups.");
  bind_bulk(bulk);
  add_ranks<TensorCopies>(bulk);
  bulk.attr("tensor") = TensorSpace{};
  const nb::object bulk_copies = nb::cast(BulkCopies{});

  nb::class_<BulkReductions> reductions(m, "BulkReductions",
                                        "`ptx.cp.reduce.async_.bulk`: bulk copies that reduce what they write to.");
  method(reductions, "__call__",
         "self, op: str, dtype: PtxType, *, dst: typing.Any, src: typing.Any, size: Reg | int, mbar: typing.Any = None, "
         "cache_hint: Reg | int | "
         "None = None",
         "`cp.reduce.async.bulk.global.shared::cta.bulk_group.op.dtype [dst], [src], size`: global memory is reduced with `size` "
         "bytes of shared "
         "memory; with an mbarrier it is another CTA's shared memory, `.shared::cluster`.",
         bulk_reduction, nb::arg("op"), any("dtype"), nb::kw_only(), any("dst"), any("src"), any("size"), or_none("mbar"),
         or_none("cache_hint"));
  add_ranks<TensorReductions>(reductions);

  bind_async(m);
  m.attr("CpAsync").attr("bulk") = bulk_copies;
  nb::class_<ReduceAsyncSpace> reduce_async(m, "CpReduceAsync", "`ptx.cp.reduce.async_`");
  reduce_async.attr("bulk") = BulkReductions{};
  nb::class_<ReduceSpace> reduce(m, "CpReduce", "`ptx.cp.reduce`");
  reduce.attr("async_") = ReduceAsyncSpace{};
  nb::class_<CpSpace> cp(m, "Cp", "`ptx.cp`: asynchronous copies.");
  cp.attr("async_") = AsyncSpace{};
  cp.attr("async_bulk") = bulk_copies;
  cp.attr("reduce") = ReduceSpace{};
  m.attr("cp") = CpSpace{};
}

}  // namespace ptx::python
