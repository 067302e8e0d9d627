// `ptx.ldmatrix`, `ptx.stmatrix`, `ptx.mma`.
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "checks.hpp"
#include "helper_call.hpp"
#include "ptx/write/idiom/matrix.hpp"

namespace ptx::python {
namespace {

using namespace write::idiom;
using write::Place;
using write::Value;

struct MmaSpace {};  // a namespace of Python: a class with static methods alone

// The registers of an operand: a list, a tuple, an array, or one register.
std::vector<Value> registers(Call& call, nb::handle object) {
  if (PyTuple_Check(object.ptr())) {
    const std::span<const Value> parts = call.values(object);
    return {parts.begin(), parts.end()};
  }
  const Value value = call.value(object);
  if (value.kind == Value::Kind::reg) return {value};
  if (value.kind != Value::Kind::vector) call.refuse("the registers", object, "a list of registers, or an array");
  return {value.parts.begin(), value.parts.end()};
}

// The same, for helpers that compute with them: registers alone.
std::vector<write::Reg> plain_registers(Call& call, nb::handle object) {
  std::vector<write::Reg> regs;
  if (object.is_none()) return regs;
  for (const Value& value : registers(call, object)) {
    if (value.kind != Value::Kind::reg) call.refuse("the registers", object, "registers alone");
    regs.push_back(value.reg);
  }
  return regs;
}

void ldmatrix(nb::handle dst, nb::handle src, std::string_view layout, bool trans, std::string_view source_format,
              nb::handle pred) {
  Call call("ptx.ldmatrix", pred);
  const std::vector<Value> regs = registers(call, dst);
  const Place from = call.place(src);
  unwrap(write::idiom::ldmatrix(call.builder(), regs, from, {.layout = layout, .trans = trans}, source_format, call.guard(),
                                call.where()));
}

void stmatrix(nb::handle smem, nb::handle given, std::string_view layout, bool trans, std::string_view shape, nb::handle pred) {
  Call call("ptx.stmatrix", pred);
  const Place to = call.place(smem);
  const std::vector<Value> regs = registers(call, given);
  unwrap(write::idiom::stmatrix(call.builder(), to, regs, {.layout = layout, .trans = trans, .shape = shape}, call.guard(),
                                call.where()));
}

void store_accumulators(nb::handle frag, nb::handle smem_base, nb::handle lane, std::int64_t row_stride, nb::handle tmp_bf16,
                        nb::handle tmp_pack, nb::handle pred) {
  Call call("ptx.stmatrix_x4_trans_f32_bf16", pred);
  const std::vector<write::Reg> accumulators = plain_registers(call, frag), halves = plain_registers(call, tmp_bf16),
                                packs = plain_registers(call, tmp_pack);
  const AccumulatorStore store{.frag = accumulators,
                               .smem_base = call.place(smem_base),
                               .lane = call.value(lane),
                               .row_stride = row_stride,
                               .tmp_bf16 = halves,
                               .tmp_pack = packs};
  unwrap(write::idiom::stmatrix_x4_trans_f32_bf16(call.builder(), store, call.guard(), call.where()));
}

void mma_sync(nb::handle shape, nb::handle dtype_d, nb::handle dtype_a, nb::handle dtype_b, nb::handle dtype_c, nb::handle d,
              nb::handle a, nb::handle b, nb::handle c, std::string_view a_layout, std::string_view b_layout, nb::handle pred) {
  constexpr const char* helper = "ptx.mma.sync";
  Call call(helper, pred);
  std::array<std::int64_t, 3> sizes{};
  if (!nb::try_cast(shape, sizes)) call.refuse("the shape", shape, "three numbers, `(m, n, k)`");
  const std::vector<Value> to = registers(call, d), left = registers(call, a), right = registers(call, b),
                           added = registers(call, c);
  const WarpMma mma{.shape = sizes,
                    .dtype_d = type_argument(dtype_d, helper),
                    .dtype_a = type_argument(dtype_a, helper),
                    .dtype_b = type_argument(dtype_b, helper),
                    .dtype_c = type_argument(dtype_c, helper),
                    .a_layout = a_layout,
                    .b_layout = b_layout,
                    .d = to,
                    .a = left,
                    .b = right,
                    .c = added};
  const std::string path =
      cat("mma.sync.aligned.m", sizes[0], 'n', sizes[1], 'k', sizes[2], '.', a_layout, '.', b_layout, '.', isa::name(mma.dtype_d),
          '.', isa::name(mma.dtype_a), '.', isa::name(mma.dtype_b), '.', isa::name(mma.dtype_c));
  unwrap_validated(path, write::idiom::mma_sync(call.builder(), mma, call.guard(), call.where()));
}

}  // namespace

void bind_matrix(nb::module_& m) {
  m.def(
      "ldmatrix", ldmatrix, nb::kw_only(), any("dst"), any("src"), nb::arg("layout") = "x4", nb::arg("trans") = false,
      nb::arg("source_format") = "", or_none("pred"),
      nb::sig(
          "def ldmatrix(*, dst: Reg | RegArray | typing.Sequence[Reg], src: typing.Any, layout: str = 'x4', trans: bool = False, "
          "source_format: "
          "str = '', pred: Reg | NegPred | None = None) -> None"),
      "`ldmatrix.sync.aligned.m8n8.x4[.trans].shared.b16 {dst}, [src]`: matrices from shared memory, a row's address from each "
      "lane. "
      "`layout` is their number, or shape and number: 'x2', 'm8n8.x4', 'x4.trans'.");
  m.def(
      "stmatrix", stmatrix, nb::kw_only(), any("smem"), any("regs"), nb::arg("layout") = "x4", nb::arg("trans") = false,
      nb::arg("shape") = "m8n8", or_none("pred"),
      nb::sig("def stmatrix(*, smem: typing.Any, regs: Reg | RegArray | typing.Sequence[Reg], layout: str = 'x4', trans: bool = "
              "False, shape: str = "
              "'m8n8', pred: Reg | NegPred | None = None) -> None"),
      "`stmatrix.sync.aligned.m8n8.x4[.trans].shared::cta.b16 [smem], {regs}`: matrices into shared memory, a row's address "
      "from each lane.");
  m.def("stmatrix_x4_trans_f32_bf16", store_accumulators, nb::kw_only(), any("frag"), any("smem_base"), any("lane"),
        nb::arg("row_stride"), or_none("tmp_bf16"), or_none("tmp_pack"), or_none("pred"),
        nb::sig("def stmatrix_x4_trans_f32_bf16(*, frag: RegArray | typing.Sequence[Reg], smem_base: typing.Any, lane: Reg, "
                "row_stride: int, "
                "tmp_bf16: RegArray | typing.Sequence[Reg] | None = None, tmp_pack: RegArray | typing.Sequence[Reg] | None = "
                "None, pred: Reg | "
                "NegPred | None = None) -> None"),
        "f32 accumulators into shared memory as bf16: the lane's address, 14 instructions; then for each eight of `frag` eight "
        "`cvt`, four "
        "`mov` and one `stmatrix`, `row_stride` * 32 bytes further on each time.");
  nb::class_<MmaSpace>(m, "mma", "Matrix products of one warp.")
      .def_static(
          "sync", mma_sync, nb::kw_only(), any("shape"), any("dtype_d"), any("dtype_a"), any("dtype_b"), any("dtype_c"), any("d"),
          any("a"), any("b"), any("c"), nb::arg("a_layout") = "row", nb::arg("b_layout") = "col", or_none("pred"),
          nb::sig(
              "def sync(*, shape: typing.Sequence[int], dtype_d: PtxType, dtype_a: PtxType, dtype_b: PtxType, dtype_c: PtxType, "
              "d: "
              "Reg | RegArray | typing.Sequence[Reg], a: Reg | RegArray | typing.Sequence[Reg], b: Reg | RegArray | "
              "typing.Sequence[Reg], c: "
              "Reg | RegArray | "
              "typing.Sequence[Reg], a_layout: str = 'row', b_layout: str = 'col', pred: Reg | NegPred | None = None) -> None"),
          "`mma.sync.aligned.mMnNkK.row.col.D.A.B.C {d}, {a}, {b}, {c}`: d = a * b + c, of `shape` (M, N, K); the fragments are "
          "this "
          "thread's registers.");
}

}  // namespace ptx::python
