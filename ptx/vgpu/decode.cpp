#include <algorithm>
#include <bit>

#include "ptx/vgpu/decoder.hpp"
#include "ptx/vgpu/helper_steps.hpp"
#include "ptx/vgpu/specials.hpp"

namespace ptx::vgpu {
namespace {

std::uint64_t align_up(std::uint64_t n, std::uint64_t to) { return (n + to - 1) / to * to; }

std::uint64_t alignment(const ir::Variable& v) {
  return v.align != 0 ? v.align : std::max<std::uint64_t>(1, static_cast<std::uint64_t>(isa::bits(v.type)) / 8);
}

}  // namespace

Decoder::Decoder(Code& code) : code_(code), reg_slots_(code.function->regs.size()), tracked_(code.function->regs.size()) {}

Expected<void> Decoder::run() {
  place_params();
  place_variables();
  read_directives();
  if (auto error = read_body()) return Unexpected{std::move(*error)};
  if (auto error = emit()) return Unexpected{std::move(*error)};
  code_.image = file_.image();
  return {};
}

void Decoder::place_params() {
  std::uint64_t at = 0;
  for (const ir::Param& param : code_.function->params) {
    at = align_up(at, std::max(1u, param.alignment()));
    symbols_[param.name] = {Space::param, static_cast<std::int64_t>(at)};
    at += param.bytes();
  }
  code_.param_bytes = at;
}

void Decoder::place(const ir::Variable& variable, std::vector<const ir::Variable*>& unsized) {
  const std::uint64_t align = alignment(variable);
  switch (variable.space) {
    case ir::StateSpace::shared:
      if (variable.unsized) {
        unsized.push_back(&variable);
        return;
      }
      code_.static_smem = align_up(code_.static_smem, align);
      symbols_[variable.name] = {Space::shared, static_cast<std::int64_t>(shared_base + code_.static_smem)};
      code_.static_smem += variable.bytes();
      return;
    case ir::StateSpace::local:
      code_.local_bytes = align_up(code_.local_bytes, align);
      symbols_[variable.name] = {Space::local, static_cast<std::int64_t>(local_base + code_.local_bytes)};
      code_.local_bytes += variable.bytes();
      return;
    case ir::StateSpace::global:
    case ir::StateSpace::const_: {
      // Variables without an initialiser start as zeros (manual: "Initializers").
      auto& storage = code_.storage.emplace_back(std::make_unique<std::byte[]>(variable.bytes() + align));
      auto address = align_up(reinterpret_cast<std::uintptr_t>(storage.get()), align);
      std::byte* data = storage.get() + (address - reinterpret_cast<std::uintptr_t>(storage.get()));
      symbols_[variable.name] = {Space::global, static_cast<std::int64_t>(address)};
      code_.variables.push_back({data, variable.bytes(), variable.space == ir::StateSpace::global, true,
                                 std::string(code_.module->str(variable.name))});
      return;
    }
    default:
      return;
  }
}

void Decoder::place_variables() {
  std::vector<const ir::Variable*> unsized;
  for (const ir::Variable& v : code_.module->variables) place(v, unsized);
  for (const ir::Variable& v : code_.function->variables) place(v, unsized);
  // Every `extern .shared x[]` names the same place: where the dynamic part starts (manual: "Variables: extern").
  std::uint64_t align = 16;
  for (const ir::Variable* v : unsized) align = std::max(align, alignment(*v));
  code_.dynamic_smem_offset = align_up(code_.static_smem, align);
  for (const ir::Variable* v : unsized)
    symbols_[v->name] = {Space::shared, static_cast<std::int64_t>(shared_base + code_.dynamic_smem_offset)};
}

void Decoder::read_directives() {
  for (const ir::Directive& d : code_.function->directives) {
    auto* into = d.name == "reqntid" ? &code_.required_block : d.name == "maxntid" ? &code_.largest_block : nullptr;
    if (into == nullptr) continue;
    into->fill(1);
    std::copy_n(d.values.begin(), std::min<std::size_t>(3, d.values.size()), into->begin());
  }
}

std::optional<Decoder::Symbol> Decoder::symbol(ir::StringId name) const {
  const auto it = symbols_.find(name);
  return it == symbols_.end() ? std::nullopt : std::optional(it->second);
}

std::uint32_t Decoder::slot_of(ir::RegId reg) {
  auto& slot = reg_slots_[reg.index];
  if (!slot) slot = file_.allocate(code_.function->reg(reg).type);
  return *slot;
}

std::uint32_t Decoder::slot_of(isa::SpecialId special) {
  const auto [it, is_new] = special_slots_.try_emplace(special, 0);
  if (is_new) {
    const Type type = isa::specials()[special].type;
    it->second = file_.allocate(type);
    code_.specials.push_back({special_value(special), isa::bits(type) == 64, it->second});
  }
  return it->second;
}

Diagnostic Decoder::not_executed(std::uint32_t item, std::string_view why) const {
  const std::string spelled = code_.spell(item);
  Diagnostic d{.kind = Kind::not_executed,
               .severity = Severity::error,
               .message = spelled.empty() ? std::string(why) : cat('`', spelled, "` is not executed: ", why),
               .where = code_.where(item),
               .notes = {}};
  d.note(cat("ptx: ", code_.line(item)));
  d.note(cat("kernel: `", code_.name, '`'));
  return d;
}

// Reads the body once: which instructions there are, where their labels lead, what they read and write.
std::optional<Diagnostic> Decoder::read_body() {
  const ir::Function& f = *code_.function;
  std::vector<std::uint32_t> inst_at(f.body.size() + 1);
  std::vector<std::pair<std::size_t, std::uint32_t>> branches;  // instruction, item that its label stands at
  for (std::uint32_t item = 0; item < f.body.size(); ++item) {
    inst_at[item] = static_cast<std::uint32_t>(flow_.size());
    const ir::Inst& inst = f.body[item];
    if (inst.kind == ir::ItemKind::raw) return not_executed(item, "the instruction table does not know this statement");
    if (inst.kind != ir::ItemKind::inst) continue;
    const isa::Form& form = isa::form(inst.form);
    if (op_of(form.id) == nullptr) return not_executed(item, form.row->not_executed);
    const Decoding decoding(*this, inst, item);
    if (!decoding.refusal().empty()) return not_executed(item, decoding.refusal());
    read_flow(inst, item, decoding);
    for (const ir::Operand& operand : f.operands_of(inst))
      if (operand.kind == ir::OperandKind::label) branches.emplace_back(flow_.size() - 1, f.labels[operand.payload].item);
  }
  inst_at[f.body.size()] = static_cast<std::uint32_t>(flow_.size());
  for (const auto& [inst, item] : branches) flow_[inst].target = inst_at[std::min<std::size_t>(item, f.body.size())];
  blocks_ = find_blocks(flow_);
  checks_.resize(flow_.size());
  for (const MaybeUndefined& read : find_maybe_undefined(flow_, blocks_, f.regs.size())) {
    checks_[read.inst].push_back(read.reg);
    if (!tracked_[read.reg]) tracked_[read.reg] = file_.allocate(Type::pred);
  }
  return std::nullopt;
}

void Decoder::read_flow(const ir::Inst& inst, std::uint32_t item, const Decoding& decoding) {
  const ir::Function& f = *code_.function;
  FlowInst flow;
  flow.item = item;
  flow.guarded = inst.guard_id().valid();
  const isa::Form& form = decoding.form();
  // bra, ret, exit and trap; a guarded one lets its other lanes by
  flow.falls_through = flow.guarded || !form.row->effects.has(isa::Effect::control);
  if (flow.guarded) flow.reads.push_back(inst.guard);
  const auto use = [&](const ir::Operand& operand, isa::Access access, auto&& self) -> void {
    switch (operand.kind) {
      case ir::OperandKind::reg:
        if (access != isa::Access::write) flow.reads.push_back(operand.payload);
        if (access != isa::Access::read) flow.writes.push_back(operand.payload);
        return;
      case ir::OperandKind::vector:
        for (const ir::Operand& part : f.parts(operand)) self(part, access, self);
        return;
      case ir::OperandKind::address:
      case ir::OperandKind::tensor:
        for (const ir::Operand& part : f.parts(operand)) self(part, isa::Access::read, self);
        return;
      default:
        return;
    }
  };
  for (const auto& [spec, operand] : decoding.operands_) use(*operand, spec->access, use);
  flow_.push_back(std::move(flow));
}

void Decoder::add(Step step, const ir::Inst& inst, std::uint32_t item) {
  step.item = item;
  step.ordinal = ordinal_;
  if (inst.guard_id().valid()) {
    step.guard = slot_of(inst.guard_id());
    step.guard_flip = inst.guard_negated ? all_lanes : 0;
  } else {
    step.guard = always_offset;
    step.guard_flip = 0;
  }
  code_.steps.push_back(step);
}

std::optional<Diagnostic> Decoder::emit(std::uint32_t number) {
  const FlowInst& flow = flow_[number];
  const ir::Inst& inst = code_.function->body[flow.item];
  Decoding decoding(*this, inst, flow.item);
  decoding.step.run = op_of(inst.form)(decoding);
  if (!decoding.refusal().empty()) return not_executed(flow.item, decoding.refusal());

  // A register is checked before this instruction may count as its writer, and marked before the instruction may wait.
  for (const std::uint32_t reg : checks_[number]) {
    Step check;
    check.run = helper::check_defined();
    check.x[0] = *tracked_[reg];
    check.imm = reg;
    Step& placed = (add(check, inst, flow.item), code_.steps.back());
    // the guard itself is read by every lane
    if (inst.guard == reg) placed.guard = always_offset, placed.guard_flip = 0;
  }
  for (const std::uint32_t reg : flow.writes)
    if (tracked_[reg]) {
      Step mark;
      mark.run = helper::mark_defined();
      mark.x[0] = *tracked_[reg];
      add(mark, inst, flow.item);
    }
  for (const Step& step : decoding.before_) add(step, inst, flow.item);
  if (flow.target >= 0) {
    const auto at = std::lower_bound(blocks_.begin(), blocks_.end(), flow.target,
                                     [](const Block& b, std::int64_t place) { return b.first < place; });
    jumps_.emplace_back(code_.steps.size(), static_cast<std::uint32_t>(at - blocks_.begin()));
  }
  decoding.step.signature =
      signatures_.try_emplace({inst.form, inst.choices}, static_cast<std::uint32_t>(signatures_.size())).first->second;
  add(decoding.step, inst, flow.item);
  ++ordinal_;
  for (const Step& step : decoding.after_) add(step, inst, flow.item);
  return std::nullopt;
}

std::optional<Diagnostic> Decoder::emit() {
  const std::vector<std::uint32_t> order = weak_topological_order(blocks_);
  std::vector<std::uint32_t> start(blocks_.size());
  const ir::Inst unguarded{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Block& block = blocks_[order[i]];
    start[order[i]] = static_cast<std::uint32_t>(code_.steps.size());
    for (std::uint32_t number = block.first; number < block.last; ++number)
      if (auto error = emit(number)) return error;
    Step helper;
    const std::uint32_t item = block.last > block.first ? flow_[block.last - 1].item : 0;
    if (block.next >= 0 && (i + 1 == order.size() || order[i + 1] != block.next)) {
      helper.run = helper::jump();
      jumps_.emplace_back(code_.steps.size(), static_cast<std::uint32_t>(block.next));
      add(helper, unguarded, item);
    } else if (order[i] == blocks_.size() - 1) {
      helper.run = helper::exit_lanes();  // the end of the body is a ret
      add(helper, unguarded, item);
    }
  }
  Step end;  // nothing gets here: the interpreter may look at the step behind the last
  end.run = helper::exit_lanes();
  add(end, unguarded, 0);
  for (const auto& [step, block] : jumps_) code_.steps[step].target = start[block];
  return std::nullopt;
}

Expected<std::unique_ptr<Code>> decode(std::shared_ptr<const ir::Module> module, std::shared_ptr<const ir::Listing> listing,
                                       std::string_view name) {
  const ir::Function* function = module->find(name);
  if (function == nullptr || !function->is_entry) {
    std::vector<std::string> entries;
    for (const ir::Function& f : module->functions)
      if (f.is_entry) entries.emplace_back(module->str(f.name));
    Diagnostic d{.kind = Kind::unknown_kernel,
                 .severity = Severity::error,
                 .message = cat("the module has no entry `", name, '`'),
                 .where = {},
                 .notes = {}};
    if (!entries.empty()) d.note(cat("hint: it has ", list_choices(entries)));
    return Unexpected{std::move(d)};
  }
  auto code = std::make_unique<Code>();
  code->module = std::move(module);
  code->listing = std::move(listing);
  code->function = function;
  code->function_index = static_cast<std::size_t>(function - code->module->functions.data());
  code->name = name;
  if (auto done = Decoder(*code).run(); !done) return Unexpected{done.error()};
  return code;
}

}  // namespace ptx::vgpu
