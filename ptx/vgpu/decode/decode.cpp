#include <algorithm>
#include <bit>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoder.hpp"
#include "ptx/vgpu/decode/helper_steps.hpp"
#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/occupancy.hpp"
#include "ptx/vgpu/machine/rows_run.hpp"
#include "ptx/vgpu/machine/specials.hpp"

namespace ptx::vgpu {
Decoder::Decoder(Code& code, KernelMemory memory, const check::Accepted& accepted, const flow::Graph& graph,
                 const Expanded* calls, Diagnostics* unsupported)
    : code_(code), accepted_(accepted), graph_(graph), calls_(calls), unsupported_(unsupported), memory_(std::move(memory)) {
  std::uint32_t scalars = 0;
  for (const ir::Register& reg : code_.function->regs) {
    code_.first_scalar.push_back(scalars);
    scalars += reg.vector;
  }
  code_.first_scalar.push_back(scalars);
  scalar_slots_.resize(code_.scalar_count());
  tracked_.resize(code_.scalar_count());
}

Expected<void> Decoder::run() {
  read_directives();
  if (auto error = read_body()) return Unexpected{std::move(*error)};
  if (calls_ != nullptr && !calls_->recursive.empty()) prepare_recursion();
  if (auto error = emit()) return Unexpected{std::move(*error)};
  keep_scalar_slots();
  if (code_.most_frames != 0) keep_slots();
  code_.image = file_.image();
  return {};
}

void Decoder::read_directives() {
  for (const ir::Directive& d : code_.function->directives) {
    if (d.name == "explicitcluster" || d.name == "reqnctapercluster") code_.is_explicit_cluster = true;
    if (d.name == "blocksareclusters") code_.grid_of_clusters = true;
    if (d.name == "maxclusterrank" && !d.values.empty()) code_.largest_cluster = d.values[0];
    if (d.name == "maxnreg" && !d.values.empty()) code_.max_registers = d.values[0];
    if (d.name == "reqntid") code_.required_block = d.dims();
    if (d.name == "maxntid") code_.largest_block = d.dims();
    if (d.name == "reqnctapercluster") code_.required_cluster = d.dims();
  }
}

// Every frame is as large as all variables together.
void Decoder::prepare_recursion() {
  code_.frame_bytes = align_size(code_.local_bytes, 16);
  code_.most_frames = std::min(most_frames_ever, frames_bytes / std::max<std::uint64_t>(code_.frame_bytes, 1));
  code_.local_bytes = code_.frame_bytes * (code_.most_frames + 1);
  code_.frame_pointer = file_.variable64(0);
  const auto place = [&](const Expanded::Recursive::Place& p) -> PassedPlace {
    if (p.in_memory) {
      const auto symbol = memory_.variable(p.index);
      return {true, static_cast<std::uint32_t>(symbol ? symbol->address : 0), static_cast<std::uint32_t>(p.param.bytes()),
              no_scalar};
    }
    const std::uint32_t scalar = code_.first_scalar[p.index];
    return {false, slot_of({scalar, p.param.type}), isa::bits(p.param.type) == 64 ? 8u : 4u, scalar};
  };
  for (const Expanded::Recursive& recursive : calls_->recursive) {
    RecursiveFunction& function = code_.recursive_functions.emplace_back();
    for (const auto& p : recursive.params) function.params.push_back(place(p));
    for (const auto& p : recursive.returns) function.returns.push_back(place(p));
  }
}

// What a call keeps: every register, which of them have been written, and the pointers.
void Decoder::keep_slots() {
  const auto& regs = code_.function->regs;
  for (std::size_t reg = 0; reg < regs.size(); ++reg)
    for (std::uint32_t i = code_.first_scalar[reg]; i < code_.first_scalar[reg + 1]; ++i) {
      if (scalar_slots_[i]) {
        const std::uint32_t bytes = slot_bytes(regs[reg].type);
        for (std::uint32_t half = 0; half < std::max(bytes / 256, 1u); ++half)
          code_.saved_slots.push_back({*scalar_slots_[i] + 256 * half, bytes == sizeof(Mask) ? 0u : bytes == 128 ? 4u : 8u});
      }
      if (tracked_[i]) code_.saved_slots.push_back({*tracked_[i], 0});
    }
  code_.saved_slots.push_back({code_.frame_pointer, 8});
  if (stack_pointer_) code_.saved_slots.push_back({*stack_pointer_, 8});
}

// Where each scalar lies that some instruction has.
void Decoder::keep_scalar_slots() {
  const auto& regs = code_.function->regs;
  code_.scalar_slots.resize(code_.scalar_count());
  for (std::size_t reg = 0; reg < regs.size(); ++reg)
    for (std::uint32_t i = code_.first_scalar[reg]; i < code_.first_scalar[reg + 1]; ++i)
      code_.scalar_slots[i] = {scalar_slots_[i].value_or(no_slot),
                               static_cast<std::uint32_t>(isa::bits(isa::register_type(regs[reg].type)))};
  code_.scalar_slots.back().bits = 1;  // the flag CC.CF
}

std::uint32_t Decoder::slot_of(Scalar scalar) {
  auto& slot = scalar_slots_[scalar.index];
  if (!slot) slot = file_.allocate(scalar.type);
  return *slot;
}

Scalar Decoder::guard_of(const ir::Inst& inst) const {
  return {code_.first_scalar[inst.guard], code_.function->reg(inst.guard_id()).type};
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

const HostCall* Decoder::host_call(std::uint32_t item) const {
  if (calls_ == nullptr) return nullptr;
  const auto found = calls_->host_calls.find(item);
  return found == calls_->host_calls.end() ? nullptr : &found->second;
}

// A slot of 64 bits, which begins as the first local address behind all variables.
std::uint32_t Decoder::stack_pointer() {
  if (stack_pointer_) return *stack_pointer_;
  code_.stack_begin = align_size(code_.local_bytes, 16);
  code_.local_bytes = code_.stack_begin + stack_bytes;
  stack_pointer_ = file_.variable64(local_base + code_.stack_begin);
  return *stack_pointer_;
}

// Zeros in a cluster's first block, where all older targets' blocks are.
std::uint32_t Decoder::rank_base() {
  if (!has_clusters(code_.module->target)) return zero_offset;
  if (code_.rank_base == 0) code_.rank_base = file_.variable64(0);
  return code_.rank_base;
}

Diagnostic Decoder::not_executed(std::uint32_t item, std::string_view why) const {
  const std::string spelled = code_.spell(item);
  Diagnostic d{.kind = Kind::not_executed,
               .severity = Severity::error,
               .message = spelled.empty() ? std::string(why) : cat('`', spelled, "` is not executed: ", why),
               .where = code_.where(item),
               .notes = {}};
  d.ptx(code_.line(item));
  add_debug_places(code_, item, d);
  d.note(cat("kernel: `", code_.name, '`'));
  d.execution = {ExecutionPoint{.kernel = code_.name, .instruction = spelled, .ptx_line = code_.listed_line(item)}};
  return d;
}

// Why an item cannot run, as far as its words say; of an instruction that may, which operands it has is kept.
std::optional<Diagnostic> Decoder::refusal(const ir::Inst& inst, std::uint32_t item) {
  if (inst.kind == ir::ItemKind::raw) return not_executed(item, "the instruction table does not know this statement");
  if (inst.kind != ir::ItemKind::inst) return std::nullopt;
  const isa::Form& form = isa::form(inst.form);
  if (op_of(form.id) == nullptr) return not_executed(item, form.row->not_executed);
  if (calls_ != nullptr)
    if (const auto refused = calls_->refused.find(item); refused != calls_->refused.end())
      return not_executed(item, refused->second);
  auto error = find_specs(inst, item);
  if (error) spec_begin_.pop_back();
  return error;
}

// Reads the body once: which instructions there are, what they read and write.
std::optional<Diagnostic> Decoder::read_body() {
  const ir::Function& f = *code_.function;
  uses_.reserve(f.body.size(), f.operands.size());
  spec_begin_.reserve(f.body.size());
  for (std::uint32_t item = 0; item < f.body.size(); ++item) {
    const ir::Inst& inst = f.body[item];
    if (auto error = refusal(inst, item)) {
      if (unsupported_ == nullptr) return error;
      unsupported_->push_back(std::move(*error));
    } else if (inst.kind == ir::ItemKind::inst) {
      read_uses(inst, item);
    }
  }
  code_.traces.resize(f.body.size());
  checks_.resize(uses_.size());
  for (const flow::MaybeUndefined& read : flow::find_maybe_undefined(graph_, uses_, tracked_.size())) {
    checks_[read.instruction].push_back(read.reg);
    if (tracked_[read.reg]) continue;
    tracked_[read.reg] = file_.allocate(Type::pred);
    code_.maybe_unwritten.push_back({read.reg, *tracked_[read.reg]});
  }
  return std::nullopt;
}

// What check matched the operands of an instruction to, when it stands in the body as it stood there.
std::span<const std::uint8_t> Decoder::matched(const ir::Inst& inst, std::uint32_t item) const {
  if (calls_ == nullptr) return accepted_.row_operands(code_.function_index, item);
  const Expanded::Origin& origin = calls_->items[item];
  const ir::Inst& original = code_.module->functions[origin.function].body[origin.index];
  const bool same = original.kind == inst.kind && original.form == inst.form && original.choices == inst.choices;
  return same ? accepted_.row_operands(origin.function, origin.index) : std::span<const std::uint8_t>();
}

// Keeps which of its form's operands each operand of an instruction is: what check has found. Instructions that stand for a call,
// and those that only ptxas takes, have all operands of their forms as a rule.
std::optional<Diagnostic> Decoder::find_specs(const ir::Inst& inst, std::uint32_t item) {
  spec_begin_.push_back(static_cast<std::uint32_t>(specs_.size()));
  if (const auto found = matched(inst, item); found.size() == inst.operand_count) {
    specs_.insert(specs_.end(), found.begin(), found.end());
    return std::nullopt;
  }
  const isa::Form& form = isa::form(inst.form);
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    if (form.present(form.operands[i], inst.choices)) specs_.push_back(static_cast<std::uint8_t>(i));
  if (specs_.size() - spec_begin_.back() == inst.operand_count) return std::nullopt;
  specs_.resize(spec_begin_.back());
  return not_executed(
      item, "its operands do not fit its row, though ptxas takes them, and some are left out: which they are is not known");
}

std::span<const std::uint8_t> Decoder::specs_of(std::size_t number) const {
  const std::size_t end = number + 1 < spec_begin_.size() ? spec_begin_[number + 1] : specs_.size();
  return std::span(specs_).subspan(spec_begin_[number], end - spec_begin_[number]);
}

void Decoder::read_uses(const ir::Inst& inst, std::uint32_t item) {
  const ir::Function& f = *code_.function;
  const isa::Form& form = isa::form(inst.form);
  const bool guarded = inst.guard_id().valid();
  uses_.add(item, guarded);
  if (guarded) uses_.read(guard_of(inst).index);
  const HostCall* const host = host_call(item);
  const bool on_host = host != nullptr && (is_of_driver(host->function) || host->function == HostFunction::enter);
  if (host != nullptr && host->function == HostFunction::is_callee) uses_.write(code_.first_scalar[host->result.index]);
  const auto use = [&](const ir::Operand& operand, isa::Access access, auto&& self) -> void {
    switch (operand.kind) {
      case ir::OperandKind::reg:
      case ir::OperandKind::part:
        for (auto [i, end, type] = scalars_of(code_, operand); i < end; ++i) {
          if (access != isa::Access::write) uses_.read(i);
          if (access != isa::Access::read) uses_.write(i);
        }
        return;
      case ir::OperandKind::list:
        if (!on_host) return;  // what is passed to a body is moved there
        [[fallthrough]];
      case ir::OperandKind::vector:
        for (const ir::Operand& part : f.parts(operand)) self(part, access, self);
        return;
      case ir::OperandKind::address:
      case ir::OperandKind::tensor:
      case ir::OperandKind::element:
        for (const ir::Operand& part : f.parts(operand)) self(part, isa::Access::read, self);
        return;
      default:
        return;
    }
  };
  const std::span<const std::uint8_t> specs = specs_of(uses_.size() - std::size_t{1});
  for (std::size_t i = 0; i < specs.size(); ++i) use(f.operands[inst.payload + i], form.operands[specs[i]].access, use);
  if (form.traits.has(isa::Trait::carry_in)) uses_.read(code_.carry_scalar());
  if (isa::writes_carry(form, inst.choices)) uses_.write(code_.carry_scalar());
}

void Decoder::add(Step step, const ir::Inst& inst, std::uint32_t item) {
  step.item = item;
  step.ordinal = ordinal_;
  if (inst.guard_id().valid()) {
    step.guard = slot_of(guard_of(inst));
    step.guard_flip = inst.guard_negated ? all_lanes : 0;
  } else {
    step.guard = always_offset;
    step.guard_flip = 0;
  }
  code_.steps.push_back(step);
}

// A register is checked before this instruction may count as its writer, and marked before the instruction may wait.
void Decoder::add_definedness_steps(std::uint32_t number, const ir::Inst& inst, std::uint32_t item) {
  std::vector<std::uint32_t> checked, marked;
  for (const std::uint32_t reg : checks_[number]) {
    if (inst.guard_id().valid() && guard_of(inst).index == reg) {  // the guard itself is read by every lane
      Step check;
      check.run = helper::check_defined();
      check.x[0] = *tracked_[reg];
      check.imm = reg;
      add(check, inst, item);
      code_.steps.back().guard = always_offset, code_.steps.back().guard_flip = 0;
    } else {
      checked.insert(checked.end(), {*tracked_[reg], reg});
    }
  }
  uses_.each_write(number, [&](std::uint32_t reg) {
    if (tracked_[reg]) marked.push_back(*tracked_[reg]);
  });
  const auto add_one = [&](Handler one, Handler all, std::span<const std::uint32_t> list, std::size_t length_of_one) {
    if (list.empty()) return;
    Step step;
    step.run = list.size() == length_of_one ? one : all;
    if (list.size() == length_of_one)
      step.x[0] = list[0], step.imm = list.back();
    else
      step.operands = add_operands(list), step.operand_count = static_cast<std::uint32_t>(list.size());
    add(step, inst, item);
  };
  add_one(helper::check_defined(), helper::check_all_defined(), checked, 2);
  add_one(helper::mark_defined(), helper::mark_all_defined(), marked, 1);
}

std::uint32_t Decoder::signature_of(const ir::Inst& inst) {
  signature_.clear();
  isa::add(isa::form(inst.form), inst.choices, signature_);
  if (const std::uint32_t* known = signatures_.find(signature_)) return *known;
  return signatures_.insert(signature_, signature_count_++);
}

std::optional<Diagnostic> Decoder::emit(std::uint32_t number) {
  const std::uint32_t item = uses_.item(number);
  const ir::Inst& inst = code_.function->body[item];
  Decoding decoding(*this, inst, item, specs_of(number));
  decoding.step.run = op_of(inst.form)(decoding);
  if (!decoding.refusal().empty()) return not_executed(item, decoding.refusal());
  add_trace(decoding, item);
  if (decoding.step.run == nullptr) return not_executed(item, "the executor does not know it with these operands");

  if (rows_run::noting()) {
    Step note;
    note.run = helper::note_row();
    note.x[0] = static_cast<std::uint32_t>(isa::form(inst.form).row - isa::rows().data());
    add(note, inst, item);
  }
  add_definedness_steps(number, inst, item);
  for (const Step& step : decoding.before_) add(step, inst, item);
  if (flow::control_of(inst.form) == flow::Control::branches) {
    const std::uint32_t label = code_.function->operands_of(inst).back().payload;
    jumps_.emplace_back(code_.steps.size(), graph_.block_of(code_.function->labels[label].item));
  }
  if (const HostCall* host = host_call(item); host != nullptr && host->function == HostFunction::enter)
    jumps_.emplace_back(code_.steps.size(),
                        graph_.block_of(code_.function->labels[calls_->recursive[host->recursive].begin].item));
  if (flow::control_of(inst.form) == flow::Control::branch_list) {
    const auto list = list_of_labels(inst);
    if (!list) return not_executed(item, "it names no list of labels");
    decoding.step.x[1] = static_cast<std::uint32_t>(code_.branch_lists.size());
    code_.branch_lists.push_back(*list);
  }
  decoding.step.signature = signature_of(inst);
  decoding.step.is_instruction = true;
  add_doubt(decoding, item);
  add(decoding.step, inst, item);
  ++ordinal_;
  for (const Step& step : decoding.after_) add(step, inst, item);
  return std::nullopt;
}

void Decoder::add_doubt(const Decoding& decoding, std::uint32_t item) {
  if (decoding.step.signature < doubted_) return;
  doubted_ = signature_count_;
  const auto of_blackwell_alone = [](const isa::Availability& needed) {
    for (std::size_t t = 0; t < isa::target_count; ++t)
      if (const auto target = static_cast<Target>(t); (needed.on & isa::node(target)) != 0 && isa::info(target).base < 100)
        return false;
    return true;
  };
  const auto needed = isa::targets_needed(decoding.form(), decoding.choices());
  if (std::any_of(needed.begin(), needed.end(), of_blackwell_alone))
    code_.doubts.push_back({Doubt::Why::never_run, code_.spell(item), decoding.inferred});
  if (decoding.reduces_devices) code_.doubts.push_back({Doubt::Why::devices, code_.spell(item)});
  if (decoding.is_product) code_.doubts.push_back({Doubt::Why::product, code_.spell(item)});
  if (decoding.is_approximation) code_.doubts.push_back({Doubt::Why::approximation, code_.spell(item)});
}

// The blocks that a branch picks from.
std::optional<std::vector<std::uint32_t>> Decoder::list_of_labels(const ir::Inst& inst) const {
  const ir::Function& f = *code_.function;
  const ir::Operand& name = f.operands_of(inst).back();
  const ir::Inst* list = name.kind == ir::OperandKind::label ? flow::labelled_list(f, ir::LabelId(name.payload)) : nullptr;
  if (list == nullptr || list->kind != ir::ItemKind::branch_targets || list->payload >= f.target_lists.size())
    return std::nullopt;
  std::vector<std::uint32_t> blocks;
  for (const ir::Operand& label : f.target_lists[list->payload]) {
    if (label.kind != ir::OperandKind::label || label.payload >= f.labels.size()) return std::nullopt;
    blocks.push_back(graph_.block_of(f.labels[label.payload].item));
  }
  return blocks;
}

std::optional<Diagnostic> Decoder::emit() {
  const std::vector<std::uint32_t> order = flow::weak_topological_order(graph_);
  std::vector<std::uint32_t> start(graph_.size());
  code_.steps.reserve(std::size_t{uses_.size()} + uses_.size() / 4 + graph_.size());
  const ir::Inst unguarded{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t b = order[i];
    const flow::Block& block = graph_.block(b);
    start[b] = static_cast<std::uint32_t>(code_.steps.size());
    const std::uint32_t first = uses_.at(block.begin), last = uses_.at(block.end);
    for (std::uint32_t number = first; number < last; ++number)
      if (auto error = emit(number)) {
        if (unsupported_ == nullptr) return error;
        unsupported_->push_back(std::move(*error));
      }
    Step helper;
    const std::uint32_t item = last > first ? uses_.item(last - 1) : 0;
    if (block.falls_through && (i + 1 == order.size() || order[i + 1] != b + 1)) {
      helper.run = helper::jump();
      jumps_.emplace_back(code_.steps.size(), b + 1);
      add(helper, unguarded, item);
    } else if (b == graph_.size() - 1) {
      helper.run = helper::exit_lanes();  // the end of the body is a ret
      add(helper, unguarded, item);
    }
  }
  Step end;  // nothing gets here: the interpreter may look at the step behind the last
  end.run = helper::exit_lanes();
  add(end, unguarded, 0);
  for (const auto& [step, block] : jumps_) code_.steps[step].target = start[block];
  for (std::vector<std::uint32_t>& list : code_.branch_lists)
    for (std::uint32_t& target : list) target = start[target];
  return std::nullopt;
}

Expected<std::unique_ptr<Code>> decode(std::shared_ptr<const Instance> instance, std::shared_ptr<const ir::Listing> listing,
                                       std::string_view name, Diagnostics* unsupported) {
  const check::Accepted& accepted = instance->accepted();
  const std::shared_ptr<const ir::Module> module = accepted.share();
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
    if (!entries.empty()) d.hint(cat("it has ", list_choices(entries)));
    return Unexpected{std::move(d)};
  }
  auto code = std::make_unique<Code>();
  code->module = module;
  code->listing = std::move(listing);
  code->function = function;
  code->function_index = static_cast<std::size_t>(function - module->functions.data());
  code->name = name;
  code->start_registers = accepted.start_registers(code->function_index).value_or(0);
  const std::shared_ptr<const Expanded> calls = expand_calls(*module, code->function_index, code->listing.get());
  if (calls) {
    code->function = &calls->function;
    code->listing = {calls, code->listing ? &calls->listing : nullptr};  // and keeps the function
  }
  auto memory = KernelMemory::make(*code, *instance, calls.get());
  if (!memory) return Unexpected{std::move(memory).error()};
  const flow::Graph of_expanded = calls ? flow::Graph::of(calls->function) : flow::Graph();
  const flow::Graph& graph = calls ? of_expanded : accepted.graph(code->function_index);
  if (auto done = Decoder(*code, std::move(*memory), accepted, graph, calls.get(), unsupported).run(); !done)
    return Unexpected{done.error()};
  code->instance = std::move(instance);
  return code;
}

}  // namespace ptx::vgpu
