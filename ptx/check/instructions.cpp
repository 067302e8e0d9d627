#include "ptx/check/instructions.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <tuple>

#include "ptx/check/calls.hpp"
#include "ptx/check/declarations.hpp"
#include "ptx/check/operands.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

using ir::OperandKind;

bool is_offset(std::int64_t value) {
  return value >= std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

bool is_plain_register(const ir::Operand& o) { return o.kind == OperandKind::reg && !o.negated && !o.piped && !o.unified; }

// Whether all is said of it once its signature is known: nothing that follows it depends on it but what reads its results.
bool is_plain(const isa::Form& form) {
  using isa::Trait;
  const isa::Effects& does = form.row->effects;
  constexpr isa::Traits others = Trait::move | Trait::call | Trait::tcgen05 | Trait::tcgen05_mma | Trait::set_registers;
  return !does.control && !does.volatile_ && !does.is_async() && !moves_tensor_memory(does) && !form.traits.has_any(others);
}

// `ld.param`, `st.param`.
bool passes_params(const ir::Inst& inst) {
  const isa::Form& form = isa::form(inst.form);
  if (!form.traits.has_any(isa::Trait::load | isa::Trait::store)) return false;
  const isa::MemoryAccesses memory = isa::memory_accesses(form, inst.choices);
  return std::any_of(memory.begin(), memory.end(), [](const isa::MemoryAccess& a) { return a.space.starts_with("param"); });
}

}  // namespace

void Instructions::enter(const ir::Function& function, Labels& labels) {
  function_ = &function;
  labels_ = &labels;
  scoped_registers_ =
      std::any_of(function.reg_decls.begin(), function.reg_decls.end(), [](const ir::RegDecl& d) { return d.block_local; });
}

// Most operands are registers, and need to know nothing else.
inline void Instructions::sign_register(const ir::Inst& inst, std::uint32_t index, std::uint16_t operand, std::uint64_t word) {
  const ir::Register& reg = function_->regs[index];
  key_.add(word | static_cast<std::uint64_t>(reg.type) << 16 | std::uint64_t{reg.vector} << 24);
  mentions_.push_back({index, operand});
  if (scoped_registers_) use(inst, ir::RegId(index));
}
inline void Instructions::sign(const ir::Inst& inst, const ir::Operand& o, Within within) {
  if (is_plain_register(o))
    sign_register(inst, o.payload, within.operand);
  else
    sign_any(inst, o, within);
}

Instructions::Found Instructions::check(const ir::Inst& inst, std::uint32_t block) {
  const std::size_t before = report_.size();
  if (inst.guard_id().valid()) {
    guard(inst);
    if (passes_params(inst)) check_guarded_param(report_, names_, *function_, inst);
  }
  mentions_.clear();
  if (const OfRegisters& last = of_registers_[slot_of(inst)]; is_like(inst, last)) {
    mention_registers(inst);
    return last.found;
  }
  key_.clear();
  const isa::Form& form = isa::form(inst.form);
  isa::add(form, inst.choices, key_);
  Within within{.block = block, .operand = 1, .exact = form.reads_integers};
  for (const ir::Operand& operand : function_->operands_of(inst)) {
    sign(inst, operand, within);
    if (within.operand != 1u << 15) within.operand = static_cast<std::uint16_t>(within.operand << 1);
  }
  const Found* known = clean_.find(key_);
  const Found found = known != nullptr ? *known : explain(inst);
  if (known != nullptr) remember(inst, found);
  // What a label or a function is like is not part of the signature.
  if (form.row->effects.control && report_.size() == before) {
    if (form.traits.has(isa::Trait::call)) check_call(report_, names_, *function_, inst);
    if (form.traits.has(isa::Trait::branch)) check_branch(report_, *function_, inst);
    if (form.traits.has(isa::Trait::branch_list)) check_branch_list(report_, *function_, inst);
  }
  return found;
}

std::size_t Instructions::slot_of(const ir::Inst& inst) {
  std::uint64_t first = 0;
  std::memcpy(&first, inst.choices.data(), sizeof first);
  constexpr int bits = std::bit_width(std::tuple_size_v<decltype(of_registers_)>) - 1;
  return (first * 0x9E3779B97F4A7C15u ^ inst.form * 0xC2B2AE3D27D4EB4Fu) >> (64 - bits);
}

bool Instructions::is_like(const ir::Inst& inst, const OfRegisters& last) const {
  if (inst.form != last.form || inst.operand_count != last.operands || !isa::same(inst.choices, last.choices)) return false;
  const ir::Operand* const operands = function_->operands.data() + inst.payload;
  const ir::Register* const registers = function_->regs.data();
  for (std::size_t i = 0; i < last.operands; ++i) {
    if (!is_plain_register(operands[i])) return false;
    const ir::Register& reg = registers[operands[i].payload];
    if (OfRegisters::Kind{reg.type, reg.vector} != last.kinds[i]) return false;
  }
  return true;
}

void Instructions::mention_registers(const ir::Inst& inst) {
  std::uint16_t bit = 1;
  for (const ir::Operand& operand : function_->operands_of(inst)) {
    mentions_.push_back({operand.payload, bit});
    if (scoped_registers_) use(inst, ir::RegId(operand.payload));
    bit = static_cast<std::uint16_t>(bit << 1);
  }
}

// It is clean.
void Instructions::remember(const ir::Inst& inst, Found found) {
  const std::span<const ir::Operand> operands = function_->operands_of(inst);
  OfRegisters& last = of_registers_[slot_of(inst)];
  if (operands.size() > last.kinds.size() || isa::form(inst.form).row->effects.control ||
      !std::all_of(operands.begin(), operands.end(), is_plain_register))
    return;
  last.form = inst.form;
  last.choices = inst.choices;
  last.operands = inst.operand_count;
  last.found = found;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Register& reg = function_->regs[operands[i].payload];
    last.kinds[i] = {reg.type, reg.vector};
  }
}

void Instructions::guard(const ir::Inst& inst) {
  if (scoped_registers_) use(inst, inst.guard_id());
  const Type type = function_->reg(inst.guard_id()).type;
  if (type == Type::pred) return;
  const ir::Module& module = report_.module();
  report_
      .error(*function_, inst, Kind::bad_guard,
             cat("the guard `", module.reg_name(*function_, inst.guard_id()), "` is a .", isa::name(type),
                 " register; what fits is a predicate"))
      .hint("`setp.ne` compares a value with 0 and writes a predicate");
}

// One word an operand, and those of its parts behind it: kind, then what is said by the kind from bit 16 on.
void Instructions::sign_any(const ir::Inst& inst, const ir::Operand& o, Within within) {
  std::uint64_t word =
      static_cast<unsigned>(o.kind) | (o.negated ? 0x100u : 0u) | (o.piped ? 0x200u : 0u) | (o.unified ? 0x400u : 0u);
  switch (o.kind) {
    case OperandKind::reg:
      sign_register(inst, o.payload, within.operand, word);
      break;
    case OperandKind::text:
      check_offset_of_name(report_, names_, *function_, inst, ir::StringId(o.payload));
      [[fallthrough]];
    case OperandKind::special:
      key_.add(word | std::uint64_t{o.payload} << 16);
      break;
    case OperandKind::integer:
    case OperandKind::expression:
      sign_integer(word, function_->integer(o), within.exact);
      break;
    case OperandKind::symbol:
      sign_symbol(word, inst, ir::StringId(o.payload));
      break;
    case OperandKind::label:
      key_.add(word);
      labels_->use(inst, ir::LabelId(o.payload), within.block);
      break;
    case OperandKind::vector:
    case OperandKind::address:
    case OperandKind::tensor:
    case OperandKind::list:
    case OperandKind::part:
    case OperandKind::element: {
      const std::span<const ir::Operand> parts = function_->parts(o);
      key_.add(word | std::uint64_t{parts.size()} << 16 | (is_array_element(o) ? std::uint64_t{1} << 40 : 0));
      if (o.kind == OperandKind::address || o.kind == OperandKind::tensor || o.kind == OperandKind::element) within.operand = 0;
      within.exact = within.exact && o.kind == OperandKind::vector;
      for (const ir::Operand& part : parts) sign(inst, part, within);
      break;
    }
    case OperandKind::floating:
      word |= std::uint64_t{o.count} << 16;
      key_.add(word);
      if (within.exact) key_.add(function_->constants[o.payload]);
      break;
    case OperandKind::sink:
      key_.add(word);
      break;
  }
}

bool Instructions::is_array_element(const ir::Operand& operand) const {
  if (operand.kind != OperandKind::element) return false;
  const Entity* entity = names_.find(ir::StringId(function_->parts(operand)[0].payload));
  return entity != nullptr && entity->array;
}

// Of an integer only its width decides, unless a rule looks at the value.
void Instructions::sign_integer(std::uint64_t word, std::int64_t value, bool exact) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (exact) {
    key_.add(word);
    key_.add(bits);
    return;
  }
  const int width = std::bit_width(value < 0 ? ~bits : bits);
  key_.add(word | static_cast<std::uint64_t>(width) << 16 | (value < 0 ? 1u << 24 : 0u));
}

void Instructions::sign_symbol(std::uint64_t word, const ir::Inst& inst, ir::StringId name) {
  if (const Entity* entity = names_.find(name); entity != nullptr && entity->meaning != Meaning::reg) {
    const unsigned meaning = (function_->is_entry ? 0x80u : 0u) | static_cast<unsigned>(entity->meaning) << 4 |
                             (entity->result ? 0x08u : 0u) | static_cast<unsigned>(entity->space);
    key_.add(word | std::uint64_t{meaning} << 16 | static_cast<std::uint64_t>(entity->type) << 24);
    return;
  }
  key_.add(word | 0xFFu << 16);
  const std::string_view spelled = report_.module().str(name);
  if (labels_->mentioned_in_raw(spelled)) return;
  Diagnostic& d = report_.error(*function_, inst, Kind::undefined_symbol,
                                cat('`', spelled, "` is not declared here: no variable, parameter or function has this name"));
  if (++undefined_ > max_hints) return;  // a look at every name for each of many mistakes would take too long
  const ir::Module& module = report_.module();
  const auto named = [&](const auto& thing) { return thing.name == name; };
  if (std::any_of(module.functions.begin(), module.functions.end(), named) ||
      std::any_of(module.variables.begin(), module.variables.end(), named))
    d.hint("it is declared further down; declare it before its use");
  else if (const std::string near = nearest(spelled, names_.symbols()); !near.empty())
    d.hint(cat("did you mean `", near, "`?"));
}

void Instructions::use(const ir::Inst& inst, ir::RegId reg) {
  const ir::RegDeclId decl_id = function_->reg(reg).decl;
  const ir::RegDecl& decl = function_->reg_decls[decl_id.index];
  const Entity* entity = decl.count ? names_.find_family(decl.base) : names_.find(decl.base);
  if (entity != nullptr && entity->meaning == Meaning::reg && entity->index == decl_id.index) return;
  const std::string spelled = report_.module().reg_name(*function_, reg);
  if (entity == nullptr)
    report_.error(*function_, inst, Kind::undefined_symbol,
                  cat("the register `", spelled, "` is used outside the block that declares it"));
  else
    report_.error(
        *function_, inst, Kind::duplicate_symbol,
        cat("the register `", spelled, "` is hidden here by ", describe(report_.module(), *entity), " of an inner block"));
}

// ---- new signatures -------------------------------------------------------------------------------------------------

Instructions::Found Instructions::explain(const ir::Inst& inst) {
  const std::size_t before = report_.size();
  const isa::Form& form = isa::form(inst.form);
  parts_.clear();
  shown_.clear();
  std::vector<isa::Arg> args;
  for (const ir::Operand& operand : function_->operands_of(inst)) args.push_back(arg(operand));
  const ir::Module& module = report_.module();
  isa::Judgement judged = isa::legal(form, inst.choices, args, {module.target, module.version});
  for (Diagnostic& lacking : judged.lacking) report_.add(*function_, inst, std::move(lacking));
  Expected<isa::Match>& match = judged.match;
  if (!match) {
    Diagnostic mismatch = std::move(match).error();
    if (const std::string_view what = isa::leniency(form, inst.choices, args, module.target); !what.empty()) {
      mismatch.severity = Severity::warning;
      mismatch.hint(cat("not in the manual; ptxas takes ", what));
      check_operands(report_, names_, *function_, inst);
    }
    report_.add(*function_, inst, std::move(mismatch));
    return {.access = {.writes = 0xFFFF, .updates = 0}};
  }
  Found found;
  found.operands = matches_.intern(std::span(match->operand_of).first(args.size()));
  Access& access = found.access;
  for (std::size_t i = 0; i < args.size() && i < 16; ++i) {
    const isa::Access how = form.operands[match->operand_of[i]].access;
    if (how != isa::Access::read) access.writes |= static_cast<std::uint16_t>(1u << i);
    if (how == isa::Access::read_write) access.updates |= static_cast<std::uint16_t>(1u << i);
  }
  if (match->truncated) {
    match->truncated->severity = Severity::warning;
    match->truncated->hint("ptxas takes the low bits and says nothing");
    report_.add(*function_, inst, std::move(*match->truncated));
  }
  names_fit(inst, form, *match);
  check_operands(report_, names_, *function_, inst);
  if (judged.broken) report_.add(*function_, inst, std::move(*judged.broken));
  found.plain = is_plain(form);
  if (report_.size() == before) clean_.insert(key_, found);
  return found;
}

// The table knows that a name or an address stands here; what the name means is known only here.
void Instructions::names_fit(const ir::Inst& inst, const isa::Form& form, const isa::Match& match) {
  const std::span<const ir::Operand> operands = function_->operands_of(inst);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const ir::Operand& o = operands[i];
    const isa::OperandSpec& spec = form.operands[match.operand_of[i]];
    if (o.kind == OperandKind::element) element_fits(inst, o);
    if (spec.role == isa::Role::address) address_fits(inst, form, spec, o);
    if (spec.role == isa::Role::tensor && spec.space.empty()) tensor_map_fits(inst, form, o);
    if (spec.role == isa::Role::symbol && o.kind == OperandKind::label)
      report_.error(*function_, inst, Kind::operand_mismatch,
                    cat("operand ", i + 1, " `", spec.name, "` of `", short_name(form), "` is the label `",
                        report_.module().str(function_->labels[o.payload].name), "`, which has no address"));
    const ir::Operand& name = o.kind == OperandKind::element ? function_->parts(o)[0] : o;
    if (spec.role == isa::Role::symbol && name.kind == OperandKind::symbol &&
        form.traits.has_any(isa::Trait::move | isa::Trait::generic_address))
      if (const Entity* entity = names_.find(ir::StringId(name.payload));
          entity != nullptr && entity->meaning == Meaning::variable && entity->space == ir::StateSpace::param)
        report_.error(
            *function_, inst, Kind::operand_mismatch,
            cat(describe(report_.module(), *entity), " has no address: only parameters of the function itself have one"));
    if (spec.role != isa::Role::label || o.kind == OperandKind::label) continue;
    if (const Entity* entity = names_.find(ir::StringId(o.payload)))
      report_.error(*function_, inst, Kind::operand_mismatch,
                    cat("operand ", i + 1, " `", spec.name, "` of `", short_name(form), "` is ",
                        describe(report_.module(), *entity), "; what fits is a label"));
  }
}

// g[1]: what stands before the brackets is an array.
void Instructions::element_fits(const ir::Inst& inst, const ir::Operand& element) {
  const Entity* entity = names_.find(ir::StringId(function_->parts(element)[0].payload));
  if (entity == nullptr || entity->array) return;  // nothing: reported while signing
  report_
      .error(*function_, inst, Kind::operand_mismatch,
             cat(describe(report_.module(), *entity), " is not an array: only arrays have elements"))
      .hint("an address and an offset in bytes is `[x+4]`");
}

// The address of a tensor map is a generic one: a name stands for it where the two are the same.
void Instructions::tensor_map_fits(const ir::Inst& inst, const isa::Form& form, const ir::Operand& tensor) {
  const ir::Operand& map = function_->parts(tensor)[0];
  if (map.kind != OperandKind::symbol) return;
  const Entity* entity = names_.find(ir::StringId(map.payload));
  if (entity == nullptr || (entity->meaning == Meaning::variable && entity->space == ir::StateSpace::global)) return;
  report_
      .error(*function_, inst, Kind::operand_mismatch,
             cat('`', isa::spell(form, inst.choices), "` takes the generic address of a tensor map; ",
                 describe(report_.module(), *entity), " is not in a space that has one by name"))
      .hint("`mov.b64` takes the address of a parameter, and `cvta.param.u64` makes a generic one of it");
}

// ptxas extends a narrow register with zeros, but a whole program of 32-bit addresses is none that it still compiles: it takes
// them for such where the instruction reads or writes memory by itself. Other instructions it lowers, and these read no halves.
void Instructions::narrow_address(const ir::Inst& inst, const isa::Form& form, std::string_view space, ir::RegId reg) {
  const Type type = function_->reg(reg).type;
  const int has = isa::bits(type), needs = isa::rules::needs_wide_address(space) ? 64 : 32;
  if (has >= needs) return;
  using isa::Quirk;
  const ir::Operand& first = function_->operands_of(inst)[0];
  const bool is_first = first.kind == OperandKind::address && function_->parts(first)[0].payload == reg.index;
  const bool reads_words = form.quirks.has(Quirk::no_halves_for_address) ||
                           (is_first && form.quirks.has(Quirk::no_halves_for_first_address)) ||
                           (space.empty() && form.quirks.has(Quirk::no_halves_for_generic_address));
  const bool refused = has == 32 ? form.quirks.has(Quirk::no_words_for_address) : reads_words;
  const std::string message = cat("an address ", space.empty() ? "" : cat("in .", space, ' '), "has ", needs, " bits; `",
                                  report_.module().reg_name(*function_, reg), "` is a .", isa::name(type), " register");
  if (refused)
    report_.error(*function_, inst, Kind::operand_mismatch, message)
        .hint(cat("`cvt.u64.u32` widens a 32-bit register; `ld.param.u64` reads a pointer"));
  else
    report_.warning(*function_, inst, Kind::operand_mismatch, message).hint("ptxas extends it with zeros and says nothing");
}

void Instructions::address_fits(const ir::Inst& inst, const isa::Form& form, const isa::OperandSpec& spec,
                                const ir::Operand& address) {
  if (form.traits.has_any(isa::Trait::texture_handle | isa::Trait::surface_handle)) return;  // no address, but a handle
  const std::span<const ir::Operand> parts = function_->parts(address);
  const bool has_offset = address.kind == OperandKind::address && parts.size() == 2;  // an element's second part is its index
  if (has_offset && parts[1].kind == OperandKind::integer && !is_offset(function_->integer(parts[1])))
    report_
        .warning(*function_, inst, Kind::immediate_range,
                 cat("the offset ", function_->integer(parts[1]), " is outside the 32 signed bits that an address holds"))
        .hint("add it to the register; ptxas says nothing");
  if (parts[0].kind == OperandKind::reg) narrow_address(inst, form, form.space(spec, inst.choices), ir::RegId(parts[0].payload));
  if (parts[0].kind != OperandKind::symbol) return;
  const Entity* entity = names_.find(ir::StringId(parts[0].payload));
  if (entity == nullptr) return;  // reported while signing
  const std::string_view wanted = form.space(spec, inst.choices);
  const ir::StateSpace space = entity->meaning == Meaning::parameter ? ir::StateSpace::param : entity->space;
  const auto is = [&](ir::StateSpace s) { return entity->meaning != Meaning::function && space == s; };
  bool fits = wanted.starts_with(name(space)) && is(space);  // .shared::cta and .param::entry are parts of their space
  if (wanted.empty())
    fits = is(ir::StateSpace::shared) ||
           (!form.quirks.has(isa::Quirk::shared_names_only) && (is(ir::StateSpace::global) || is(ir::StateSpace::local)));
  // the handle of a parameter counts as a global variable wherever nobody looks what it is
  const bool handle = entity->meaning == Meaning::parameter && is_opaque(entity->type) && (wanted.empty() || wanted == "global");
  if (!fits) {
    Diagnostic& d = report_.error(
        *function_, inst, Kind::operand_mismatch,
        cat('`', isa::spell(form, inst.choices), "` takes ",
            wanted.empty() ? "a generic address" : cat("an address in .", wanted), "; ", describe(report_.module(), *entity),
            " is not in ", wanted.empty() ? "a space that has one" : "that space"));
    if (form.quirks.has(isa::Quirk::any_tensor_map) || handle) {
      d.severity = Severity::warning;
      d.hint(handle ? "ptxas takes its handle and says nothing" : "ptxas overlooks where the tensor map is");
    } else if (is(ir::StateSpace::param)) {
      d.hint("`ld.param` reads a parameter");
    }
    d.manual(cat(isa::manual(form)));
    return;
  }
  if (entity->meaning != Meaning::parameter) return;
  if (form.row->effects.writes_at(spec.name) && !entity->result)
    report_.error(
        *function_, inst, Kind::operand_mismatch,
        cat(describe(report_.module(), *entity), " of ", function_->is_entry ? "an entry" : "a function", " is read-only"));
  else if (form.row->effects.reads_at(spec.name) && entity->result)
    report_
        .error(*function_, inst, Kind::operand_mismatch,
               cat(describe(report_.module(), *entity), " of a function cannot be read"))
        .hint("keep the value in a register, and `st.param` it at the end");
}

isa::Arg Instructions::arg(const ir::Operand& operand) {
  isa::Arg result;
  if (operand.kind == OperandKind::vector || operand.kind == OperandKind::address || operand.kind == OperandKind::tensor ||
      operand.kind == OperandKind::list || operand.kind == OperandKind::element) {
    std::vector<isa::Arg> elements;
    for (const ir::Operand& part : function_->parts(operand)) elements.push_back(arg(part));
    result.kind = operand.kind == OperandKind::vector    ? isa::ArgKind::vector
                  : operand.kind == OperandKind::address ? isa::ArgKind::address
                  : operand.kind == OperandKind::tensor  ? isa::ArgKind::tensor
                  : operand.kind == OperandKind::element ? isa::ArgKind::element
                                                         : isa::ArgKind::list;
    result.negated = operand.negated;
    result.piped = operand.piped;
    result.elements = parts_.emplace_back(std::move(elements));
  } else {
    result = ir::arg_of(report_.module(), *function_, operand, parts_);
    if (operand.kind == OperandKind::symbol)
      if (const Entity* entity = names_.find(ir::StringId(operand.payload))) {
        result.space = entity->meaning == Meaning::function    ? "function"
                       : entity->meaning == Meaning::parameter ? "param"
                                                               : name(entity->space);
        if (!entity->array) result.type = entity->type;
      }
  }
  if (operand.kind == OperandKind::reg || operand.kind == OperandKind::address || operand.kind == OperandKind::floating ||
      operand.kind == OperandKind::element) {
    std::string& text = shown_.emplace_back();
    ir::spell(report_.module(), *function_, operand, text);
    result.shown = text;
  }
  return result;
}

}  // namespace ptx::check
