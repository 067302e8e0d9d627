// Which op runs which form. A row whose exec(…) names no function is an undefined reference to ptx::vgpu::op::<word> here.
#include <array>

#include "ptx/vgpu/decoding.hpp"

namespace ptx::vgpu {
namespace {

struct FormOp {
  isa::FormId form;
  OpDecoder op;
};
constexpr FormOp form_ops[] = {
#define PTX_FORM_OP(form, word) {form, &op::word},
#include "ptx/vgpu/ops.inc"
#undef PTX_FORM_OP
};

}  // namespace

OpDecoder op_of(isa::FormId form) {
  for (const FormOp& entry : form_ops)
    if (entry.form == form) return entry.op;
  return nullptr;
}

}  // namespace ptx::vgpu
