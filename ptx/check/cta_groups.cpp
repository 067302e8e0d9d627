#include "ptx/check/cta_groups.hpp"

#include "ptx/isa/isa.hpp"

namespace ptx::check {

void CtaGroups::enter(const ir::Function& function) {
  function_ = &function;
  reported_ = false;
}

void CtaGroups::use(const ir::Inst& inst) {
  const isa::Form& form = isa::form(inst.form);
  unsigned used = 0;
  if (const std::string_view group = form.chosen(inst.choices, form.slot("cta_group")); !group.empty()) {
    used = group.ends_with('1') ? 1u : 2u;
  } else {
    for (const ir::Operand& operand : function_->operands_of(inst))
      if (operand.kind == ir::OperandKind::symbol)
        if (const auto found = groups_of_.find(operand.payload); found != groups_of_.end()) used |= found->second;
  }
  if (used == 0) return;
  unsigned& groups = groups_of_[function_->name.index];
  groups |= used;
  if (groups != 3 || reported_) return;
  reported_ = true;
  report_
      .error(*function_, inst, Kind::unknown_modifier,
             cat('`', report_.module().str(function_->name),
                 "` uses `.cta_group::1` and `.cta_group::2`; a function and what it calls have one of them"))
      .hint("ptxas refuses both in one function, whatever path is taken");
}

}  // namespace ptx::check
