#include "ptx/check/dataflow.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>

namespace ptx::check {
namespace {

using ir::OperandKind;

// The stretches of a body that loops may repeat, merged where they touch: [first, last] of each, ascending.
struct Loop {
  std::uint32_t first, last;
};

std::vector<Loop> loops_of(const flow::Graph& graph) {
  std::vector<Loop> loops;
  for (std::uint32_t b = 0; b < graph.size(); ++b)
    for (const std::uint32_t to : graph.successors(b))
      if (to <= b) loops.push_back({graph.block(to).begin, graph.block(b).end - 1});
  std::sort(loops.begin(), loops.end(), [](const Loop& a, const Loop& b) { return a.first < b.first; });
  std::size_t kept = 0;
  for (const Loop& loop : loops) {
    if (kept != 0 && loop.first <= loops[kept - 1].last)
      loops[kept - 1].last = std::max(loops[kept - 1].last, loop.last);
    else
      loops[kept++] = loop;
  }
  loops.resize(kept);
  return loops;
}

// `st.u8 [%SP+113], %rs92`, `st.param.b8 [param0], %rs1`: compilers copy structs whole, and with them bytes that hold nothing.
bool hands_on_padding(const ir::Inst& inst) {
  const isa::Form& form = isa::form(inst.form);
  if (!form.traits.has(isa::Trait::store)) return false;
  const std::string_view type = form.chosen(inst.choices, "type");
  return type == "b8" || type == "u8" || type == "s8" || form.chosen(inst.choices, "ss").starts_with("param");
}

}  // namespace

Registers::Registers(const ir::Function& function) : function_(function), seen_(function.regs.size()) {
  for (const auto* list : {&function.params, &function.returns})
    for (const ir::Param& param : *list)
      if (param.reg.valid() && param.reg.index < seen_.size()) seen_[param.reg.index] = {before_all, never, true};
}

void Registers::touch(std::uint32_t item, const ir::Inst& inst, std::span<const Mention> mentions, Access access, bool is_move) {
  ++item;  // 0 is before all
  if (inst.guard != ir::RegId::absent) read(item, inst.guard);
  if (is_move && mentions.size() == 2) {
    const std::span<const ir::Operand> o = function_.operands_of(inst);
    if (o.size() == 2 && o[0].kind == OperandKind::reg && o[1].kind == OperandKind::reg && seen_[o[1].payload].write == never) {
      handed_.push_back({item, o[0].payload, o[1].payload});
      seen_[o[0].payload].again = true;
      return;
    }
  }
  for (const Mention& mention : mentions) {
    Seen& seen = seen_[mention.reg];
    if ((access.writes & mention.operand) == 0)
      read(item, mention.reg);
    else if (seen.write == never)
      seen.write = item;
    else
      seen.again = true;
  }
}

// What is written somewhere, a loop may have brought: its moves are reads and writes like others. The rest hand on nothing.
void Registers::settle_handed() {
  bool grew = true;
  while (grew) {
    grew = false;
    std::size_t kept = 0;
    for (const Handed& move : handed_) {
      Seen &to = seen_[move.to], &from = seen_[move.from];
      if (from.write == never) {
        handed_[kept++] = move;
        continue;
      }
      grew = true;
      from.read = std::min(from.read, move.item);
      to.write = std::min(to.write, move.item);
    }
    handed_.resize(kept);
  }
}

void Registers::report_unwritten(Report& report, const flow::Graph& graph) {
  settle_handed();
  std::vector<std::uint32_t> early;  // registers whose first read stands before every write
  for (std::uint32_t r = 0; r < seen_.size(); ++r)
    if (seen_[r].read != never && seen_[r].write >= seen_[r].read) early.push_back(r);
  if (early.empty()) return;
  for (const ir::Inst& item : function_.body)
    if (item.kind == ir::ItemKind::raw) return;  // it may write anything
  if (!graph.is_complete()) return;
  const std::vector<Loop> loops = loops_of(graph);
  std::sort(early.begin(), early.end(), [&](std::uint32_t a, std::uint32_t b) { return seen_[a].read < seen_[b].read; });
  std::vector<std::uint32_t> together;
  for (std::size_t i = 0; i < early.size(); ++i) {
    const Seen& seen = seen_[early[i]];
    const std::uint32_t item = seen.read - 1;
    const auto behind = std::upper_bound(loops.begin(), loops.end(), item,
                                         [](std::uint32_t place, const Loop& loop) { return place < loop.first; });
    const bool round = behind != loops.begin() && item <= (behind - 1)->last && seen.write - 1 <= (behind - 1)->last;
    if (!round) together.push_back(early[i]);
    if (i + 1 < early.size() && seen_[early[i + 1]].read == seen.read) continue;
    if (!together.empty()) this->report(report, item, together);
    together.clear();
  }
}

void Registers::report(Report& report, std::uint32_t item, const std::vector<std::uint32_t>& registers) const {
  constexpr std::size_t max_named = 4;
  const ir::Inst& inst = function_.body[item];
  std::string names;
  for (std::size_t i = 0; i < registers.size() && i < max_named; ++i) {
    const bool last = i + 1 == registers.size();
    names += cat(i == 0 ? "" : last ? " and " : ", ", '`', report.module().reg_name(function_, ir::RegId(registers[i])), '`');
  }
  if (registers.size() > max_named) names += cat(" and ", registers.size() - max_named, " more");
  const auto unwritten = [&](std::uint32_t r) { return seen_[r].write == never; };
  const bool all = std::all_of(registers.begin(), registers.end(), unwritten);
  const bool one = registers.size() == 1;
  Diagnostic& d = report.warning(function_, inst, Kind::uninitialised,
                                 cat("the register", one ? " " : "s ", names, one ? " is" : " are", " read here, and ",
                                     all ? cat("nothing writes ", one ? "it" : "them")
                                         : cat("no path leads here from where ", one ? "it is written" : "they are written")));
  for (const std::uint32_t r : registers)
    for (const Handed& move : handed_)
      if (move.to == r && move.item < item + 2) {
        d.hint(cat("what is moved into `", report.module().reg_name(function_, ir::RegId(r)), "` is `",
                   report.module().reg_name(function_, ir::RegId(move.from)), "`, which nothing writes"));
        break;
      }
  if (all && hands_on_padding(inst)) d.severity = Severity::note;
}

std::optional<std::int64_t> Registers::constant(const ir::Operand& o) const {
  if (o.kind == OperandKind::integer || o.kind == OperandKind::expression) return function_.integer(o);
  if (o.kind != OperandKind::reg) return std::nullopt;
  const Seen& seen = seen_[o.payload];
  if (seen.write == never || seen.again || seen.write == before_all) return std::nullopt;
  const ir::Inst& inst = function_.body[seen.write - 1];
  if (inst.kind != ir::ItemKind::inst || !is(inst, isa::Trait::move)) return std::nullopt;
  const std::span<const ir::Operand> operands = function_.operands_of(inst);
  if (operands.size() != 2 || operands[0].kind != OperandKind::reg) return std::nullopt;
  if (operands[1].kind != OperandKind::integer && operands[1].kind != OperandKind::expression) return std::nullopt;
  return function_.integer(operands[1]);
}

}  // namespace ptx::check
