#include "ptx/write/instruction.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx {

void Inst::emit_into(write::Builder& builder) const {
  if (!operands_.belong_to(builder)) {
    Diagnostic d;
    d.kind = Kind::undefined_symbol;
    d.message = cat("`", isa::spell(isa::form(pattern_->form), pattern_->choices), "` names a register of another kernel");
    d.where = at_;
    builder.fail(std::move(d).hint("registers belong to the kernel that made them"));
    return;
  }
  if (auto written = builder.emit(*pattern_, operands_.all(), guard_, at_); !written) builder.fail(std::move(written).error());
}

}  // namespace ptx
