// The end of an `if_` block, which `else_` and `elif_` take back. Between it and `elif_` stands the condition, which was written
// before `elif_` was called: `with ptx.elif_(r == 1):` is a comparison, and then the branch. It goes with the branch, so threads
// that took an earlier one do not compute it; nothing that is written there may be read behind the branches.
#include <algorithm>

#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

// The register that an instruction writes in all threads, when it is a register's value and nothing else that it makes.
std::optional<std::uint32_t> only_result(const ir::Function& function, const ir::Inst& item) {
  if (item.kind != ir::ItemKind::inst || item.guard_id().valid()) return std::nullopt;
  const isa::Form& form = isa::form(item.form);
  isa::Effects others = form.row->effects;
  others.reads = {};
  others.proxy = isa::Proxy::generic;
  if (!others.is_pure() || form.operands.empty() || form.operands[0].access != isa::Access::write) return std::nullopt;
  const ir::Operand& result = function.operands[item.payload];
  return result.kind == ir::OperandKind::reg ? std::optional(result.payload) : std::nullopt;
}

bool reads(const ir::Function& function, const ir::Inst& item, std::uint32_t reg) {
  if (item.kind != ir::ItemKind::inst) return false;
  const std::optional<std::uint32_t> result = only_result(function, item);
  bool found = item.guard == reg;
  const auto look = [&](std::uint32_t named) { found |= named == reg; };
  for (std::size_t i = result ? 1 : 0; i < item.operand_count; ++i)
    each_register(function, function.operands[item.payload + i], look);
  return found;
}

}  // namespace

void Builder::end_if_with(std::string_view label) { state_->ended_if = {size(), function().regs.size(), std::string(label)}; }

std::optional<std::string> Builder::reopen_if(bool keep_condition) {
  State& s = *state_;
  if (!s.ended_if || s.ended_if->items > size()) return std::nullopt;
  ir::Function& f = s.entry();
  const std::size_t end = s.ended_if->items;
  const auto is_condition = [&](const ir::Inst& item) {
    const std::optional<std::uint32_t> result = only_result(f, item);
    return result && *result >= s.ended_if->registers;
  };
  if (!keep_condition && end != size()) return std::nullopt;
  if (!std::all_of(f.body.begin() + static_cast<std::ptrdiff_t>(end), f.body.end(), is_condition)) return std::nullopt;
  ir::LabelId label;
  label.index = f.body[end - 1].payload;
  f.labels[label.index].item = ir::Label{}.item;
  f.body.erase(f.body.begin() + static_cast<std::ptrdiff_t>(end) - 1);
  for (std::size_t i = end - 1; i < f.body.size(); ++i) s.conditional.push_back({*only_result(f, f.body[i]), label});
  std::string name = std::move(s.ended_if->label);
  s.ended_if.reset();
  return name;
}

std::optional<Diagnostic> Builder::State::conditional_values() {
  const ir::Function& f = entry();
  for (const Conditional& value : conditional) {
    const std::uint32_t end = f.labels[value.end.index].item;
    for (std::size_t i = end; i < f.body.size(); ++i) {
      const ir::Inst& item = f.body[i];
      if (reads(f, item, value.reg)) {
        ir::RegId reg;
        reg.index = value.reg;
        Diagnostic d;
        d.kind = Kind::bad_control_flow;
        d.message = cat("`", module.reg_name(f, reg),
                        "` has no value here for threads that took an earlier branch: it is computed between ",
                        "the end of an `if_` block and `elif_`, which holds the condition of `elif_`");
        d.where = module.where(item);
        const auto computed =
            std::find_if(f.body.begin(), f.body.end(), [&](const ir::Inst& other) { return only_result(f, other) == value.reg; });
        d.note(cat("computed: ", to_string(module.where(*computed))));
        d.hint("compute it in front of `if_`");
        return d;
      }
      if (only_result(f, item) == value.reg) break;  // a value of its own from here on
    }
  }
  return std::nullopt;
}

}  // namespace ptx::write
