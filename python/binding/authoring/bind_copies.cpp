// `ptx.cp`: copies of a few bytes a thread, bulk copies, tensor copies and reductions; and `ptx.tma`.
#include <nanobind/nanobind.h>

#include "ptx/write/door/copies_helpers.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using namespace write::declare;
using Mode = write::idiom::TensorMode;

// Objects that can be called, and have methods besides.
struct OfRank {
  int rank;
};
struct CopiesOfRank : OfRank {};      // ptx.cp.async_.bulk.tensor_2d
struct ReductionsOfRank : OfRank {};  // ptx.cp.reduce.async_.bulk.tensor_2d

// The rank of the object whose method is called.
template <class Self>
int rank_of(nb::handle self) {
  return nb::cast<const Self&>(self).rank;
}

// An attribute of the class for each rank: `tensor_1d` to `tensor_5d`.
template <class Copies>
void add_ranks(nb::handle space) {
  for (int rank = 1; rank <= 5; ++rank) space.attr(cat("tensor_", rank, 'd').c_str()) = Copies{{rank}};
}

void bind_tensor_forms(nb::handle space) {
  const auto form = [&](const auto& row, Mode mode, int rank) { helpers::bind(As::method, space, row, {mode, rank}); };
  for (int rank = 1; rank <= 5; ++rank) {
    form(tile_form, Mode::implicit_tile, rank);
    form(store_form, Mode::implicit_tile, rank);
    form(prefetch_form, Mode::implicit_tile, rank);
    if (rank < 3) continue;
    form(im2col_form, Mode::im2col, rank);
    form(prefetch_im2col_form, Mode::im2col, rank);
  }
  form(gather4_form, Mode::gather4, 2);
  form(prefetch_gather4_form, Mode::gather4, 2);
  form(scatter4_form, Mode::scatter4, 2);
}

}  // namespace

void bind_copies(nb::module_& m) {
  Class<CopiesOfRank> tensors(m, "TensorCopies", "`ptx.cp.async_.bulk.tensor_Nd`: boxes of a tensor of N dimensions.");
  helpers::bind_all<As::method>(tensors, tensor_helpers, {.of = rank_of<CopiesOfRank>});
  Class<ReductionsOfRank> tensor_reductions(
      m, "TensorReductions", "`ptx.cp.reduce.async_.bulk.tensor_Nd`: boxes of a tensor reduced with shared memory.");
  helpers::bind_all<As::method>(tensor_reductions, tensor_reduction_helpers, {.of = rank_of<ReductionsOfRank>});
  const nb::object forms = space(m, "TensorForms", "`ptx.cp.async_.bulk.tensor`: tensor copies with their operands in order.");
  bind_tensor_forms(forms);
  add_ranks<CopiesOfRank>(forms);
  const nb::object tma =
      space(m, "Tma",
            "`ptx.tma`: tensor copies of a row-major matrix seen as slabs of 64 columns, a tensor of three dimensions "
            "{64, rows, slabs}.");
  helpers::bind_all<As::method>(tma, tma_helpers);
  m.attr("tma") = tma();

  const nb::object bulk = space(m, "BulkCopies", "`ptx.cp.async_.bulk`: bulk copies, and their groups.");
  helpers::bind_all<As::method>(bulk, bulk_helpers);
  add_ranks<CopiesOfRank>(bulk);
  bulk.attr("tensor") = forms();
  const nb::object bulk_copies = bulk();

  const nb::object reductions =
      space(m, "BulkReductions", "`ptx.cp.reduce.async_.bulk`: bulk copies that reduce what they write to.");
  helpers::bind_all<As::method>(reductions, bulk_reduction_helpers);
  add_ranks<ReductionsOfRank>(reductions);

  const nb::object async =
      space(m, "CpAsync", "`ptx.cp.async_`: copies from global into shared memory, a few bytes a thread, or `bulk`.");
  helpers::bind_all<As::method>(async, async_helpers);
  async.attr("bulk") = bulk_copies;
  const nb::object reduce_async = space(m, "CpReduceAsync", "`ptx.cp.reduce.async_`");
  reduce_async.attr("bulk") = reductions();
  const nb::object reduce = space(m, "CpReduce", "`ptx.cp.reduce`");
  reduce.attr("async_") = reduce_async();
  const nb::object cp = space(m, "Cp", "`ptx.cp`: asynchronous copies.");
  cp.attr("async_") = async();
  cp.attr("async_bulk") = bulk_copies;
  cp.attr("reduce") = reduce();
  m.attr("cp") = cp();
}

}  // namespace ptx::python
