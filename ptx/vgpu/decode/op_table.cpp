// Which op runs which form. A row whose exec(…) names no function is an undefined reference to ptx::vgpu::op::<word> here.
#include <vector>

#include "ptx/vgpu/decode/decoding.hpp"

namespace ptx::vgpu {
namespace {

struct FormOp {
  isa::FormId form;
  OpDecoder op;
};
constexpr FormOp form_ops[] = {
#define PTX_FORM_OP(form, word) {form, &op::word},
#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/ops.inc"
#undef PTX_FORM_OP
};

}  // namespace

OpDecoder op_of(isa::FormId form) {
  static const std::vector<OpDecoder> ops = [] {
    std::vector<OpDecoder> by_form(isa::forms().size());
    for (const FormOp& entry : form_ops) by_form[entry.form] = entry.op;
    return by_form;
  }();
  return ops[form];
}

}  // namespace ptx::vgpu
