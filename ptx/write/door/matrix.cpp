#include "ptx/write/door/matrix.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/idiom/matrix.hpp"

namespace ptx::write {
namespace {

std::vector<Value> values_of(const Registers& registers) {
  std::vector<Value> values;
  for (const Reg& reg : registers.regs) values.push_back(Value::of(reg));
  return values;
}

}  // namespace

void Ldmatrix::operator()(const LdmatrixOperands& operands, Where at) const {
  const Expected<Place> src = operands.src.in(builder());
  if (!src) return keep(Unexpected{src.error()});
  keep(idiom::ldmatrix(builder(), values_of(operands.dst), *src, {.layout = operands.layout, .trans = operands.trans},
                       operands.source_format, operands.pred.guard, at));
}

void Stmatrix::operator()(const StmatrixOperands& operands, Where at) const {
  const Expected<Place> smem = operands.smem.in(builder());
  if (!smem) return keep(Unexpected{smem.error()});
  keep(idiom::stmatrix(builder(), *smem, values_of(operands.regs),
                       {.layout = operands.layout, .trans = operands.trans, .shape = operands.shape}, operands.pred.guard, at));
}

void StmatrixX4TransF32Bf16::operator()(const AccumulatorStoreOperands& operands, Where at) const {
  const Expected<Place> base = operands.smem_base.in(builder());
  if (!base) return keep(Unexpected{base.error()});
  keep(idiom::stmatrix_x4_trans_f32_bf16(builder(),
                                         {.frag = operands.frag.regs,
                                          .smem_base = *base,
                                          .lane = operands.lane.value,
                                          .row_stride = operands.row_stride,
                                          .tmp_bf16 = operands.tmp_bf16.regs,
                                          .tmp_pack = operands.tmp_pack.regs},
                                         operands.pred.guard, at));
}

std::string MmaOperands::instruction() const {
  return cat("mma.sync.aligned.m", shape[0], 'n', shape[1], 'k', shape[2], '.', a_layout, '.', b_layout, '.', isa::name(dtype_d),
             '.', isa::name(dtype_a), '.', isa::name(dtype_b), '.', isa::name(dtype_c));
}

void Mma::sync(const MmaOperands& operands, Where at) const {
  const std::vector<Value> d = values_of(operands.d), a = values_of(operands.a), b = values_of(operands.b),
                           c = values_of(operands.c);
  keep(idiom::mma_sync(builder(),
                       {.shape = operands.shape,
                        .dtype_d = operands.dtype_d,
                        .dtype_a = operands.dtype_a,
                        .dtype_b = operands.dtype_b,
                        .dtype_c = operands.dtype_c,
                        .a_layout = operands.a_layout,
                        .b_layout = operands.b_layout,
                        .d = d,
                        .a = a,
                        .b = b,
                        .c = c},
                       operands.pred.guard, at));
}

}  // namespace ptx::write
