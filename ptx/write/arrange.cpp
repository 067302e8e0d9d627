// The order of what the arguments of a call write. In `k << inst.add.u32(d, a * 4, b * 8)` both products are instructions, and
// C++ leaves it to the compiler which is evaluated first; GCC and clang choose differently. What each of them wrote is one piece
// at the end of the body, so the pieces can be put in the order in which the operands stand, and the registers that they made be
// numbered again: a source gives the same text whatever compiles it.
#include <algorithm>

#include "ptx/ir/ir.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

void collect_fresh(std::span<const Value> operands, std::vector<ir::RegId>& found) {
  for (const Value& operand : operands) {
    if (operand.kind == Value::Kind::reg && operand.fresh && std::find(found.begin(), found.end(), operand.reg.id) == found.end())
      found.push_back(operand.reg.id);
    collect_fresh(operand.parts, found);
  }
}

}  // namespace

// Whether the values from the first one on are instructions alone, and none names what another made.
bool Builder::State::independent(std::size_t first) const {
  const ir::Function& function = module.functions.front();
  const std::size_t before = made[first].begin.regs;
  for (std::size_t i = first; i < made.size(); ++i) {
    const Mark begin = made[i].begin, end = i + 1 < made.size() ? made[i + 1].begin : made_end;
    bool apart = true;
    const auto own = [&](std::uint32_t reg) { apart &= reg < before || (reg >= begin.regs && reg < end.regs); };
    for (std::size_t item = begin.items; item < end.items; ++item) {
      const ir::Inst& inst = function.body[item];
      if (inst.kind != ir::ItemKind::inst) return false;
      if (inst.guard != ir::RegId::absent) own(inst.guard);
      for (std::size_t o = 0; o < inst.operand_count; ++o) each_register(function, function.operands[inst.payload + o], own);
    }
    if (!apart) return false;
  }
  return true;
}

// Puts the values from the first one on into the order given. Registers keep their ids, which handles hold, and change their
// numbers: those of a declaration are given out again in the new order.
void Builder::State::reorder(std::size_t first, std::span<const std::size_t> order) {
  ir::Function& function = entry();
  std::vector<ir::Inst> items;
  std::vector<std::size_t> regs;
  std::vector<Made> values;
  Mark at = made[first].begin;
  for (const std::size_t i : order) {
    const Mark begin = made[i].begin, end = i + 1 < made.size() ? made[i + 1].begin : made_end;
    items.insert(items.end(), function.body.begin() + static_cast<std::ptrdiff_t>(begin.items),
                 function.body.begin() + static_cast<std::ptrdiff_t>(end.items));
    const std::size_t old = regs.size();
    for (std::size_t reg = begin.regs; reg < end.regs; ++reg) regs.push_back(reg);
    // as they are numbered: a value inside this one may have been put in order before
    std::stable_sort(regs.begin() + static_cast<std::ptrdiff_t>(old), regs.end(),
                     [&](std::size_t a, std::size_t b) { return function.regs[a].index < function.regs[b].index; });
    values.push_back({made[i].result, at});
    at = {at.items + end.items - begin.items, at.regs + end.regs - begin.regs};
  }
  std::copy(items.begin(), items.end(), function.body.begin() + static_cast<std::ptrdiff_t>(made[first].begin.items));

  std::vector<ir::Register> numbered;  // as they were made
  for (const std::size_t reg : regs) numbered.push_back(function.regs[reg]);
  std::stable_sort(numbered.begin(), numbered.end(), [](const ir::Register& a, const ir::Register& b) {
    return a.decl != b.decl ? a.decl < b.decl : a.index < b.index;
  });
  for (const std::size_t reg : regs) {
    ir::Register& renamed = function.regs[reg];
    const auto next =
        std::find_if(numbered.begin(), numbered.end(), [&](const ir::Register& r) { return r.decl == renamed.decl; });
    renamed.index = next->index;
    numbered.erase(next);
  }
  // Ids are as they were made, so that these values cannot be taken apart again.
  made.resize(first);
  if (!values.empty()) made.push_back({values.back().result, values.front().begin});
}

// Puts what the fresh operands wrote into their order; how many of the last values they are.
std::size_t Builder::State::arrange(std::span<const Value> operands) {
  if (made.empty() || made_end != written() || made_prologue != prologue) return 0;
  std::vector<ir::RegId> wanted;
  collect_fresh(operands, wanted);
  std::size_t first = made.size();
  while (first > 0 && std::find(wanted.begin(), wanted.end(), made[first - 1].result) != wanted.end()) --first;
  if (made.size() - first < 2) return made.size() - first;
  std::vector<std::size_t> order;
  for (const ir::RegId reg : wanted)
    for (std::size_t i = first; i < made.size(); ++i)
      if (made[i].result == reg) order.push_back(i);
  if (std::is_sorted(order.begin(), order.end()) || !independent(first)) return made.size() - first;
  reorder(first, order);
  return 1;
}

void Builder::arrange(std::span<const Value> operands) { state_->arrange(operands); }

Builder::Mark Builder::begin_value(std::span<const Value> operands) {
  State& s = *state_;
  const std::size_t taken = s.arrange(operands);
  if (taken == 0) return s.written();
  const Mark begin = s.made[s.made.size() - taken].begin;
  s.made.resize(s.made.size() - taken);
  s.made_end = begin;
  return begin;
}

void Builder::end_value(Mark begin, Reg result) {
  State& s = *state_;
  if (s.made_end != begin || s.made_prologue != s.prologue) s.made.clear();
  s.made.push_back({result.id, begin});
  s.made_end = s.written();
  s.made_prologue = s.prologue;
}

}  // namespace ptx::write
