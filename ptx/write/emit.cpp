// Writing an instruction: find its form, encode its operands, append it whole. Most instructions of a kernel repeat the spelling
// and the kinds of operands of an earlier one, so what isa::match found is remembered by exactly those.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <deque>
#include <tuple>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

// What an Args shows besides kinds and types.
struct Showing {
  bool names = false;                // as a diagnostic shows them
  bool authored = true;              // numbers are an author's, not those of a text: isa::Arg
  std::span<const Type> types = {};  // of the operands, where they are known: numbers are shown as they will be written
};

// Whether a number is written with 32 bits: `0f…` and `0d…` of a text say it themselves.
bool is_single(const Value& value, Type type) {
  const bool spelled = value.kind == Value::Kind::floating && !value.text.empty();
  return spelled ? value.text[1] == 'f' || value.text[1] == 'F' : isa::bits(type) == 32;
}

// The operands as isa::match sees them.
class Args {
 public:
  Args(std::span<const Value> values, const ir::Module& module, Showing showing) : module_(module), showing_(showing) {
    all_.reserve(values.size());
    for (const Value& value : values)
      all_.push_back(arg_of(value, all_.size() < showing.types.size() ? showing.types[all_.size()] : Type::none));
  }
  [[nodiscard]] std::span<const isa::Arg> all() const { return all_; }

 private:
  isa::Arg arg_of(const Value& value, Type type) {
    isa::Arg arg;
    arg.negated = value.negated;
    arg.piped = value.piped;
    switch (value.kind) {
      case Value::Kind::reg:
        arg.kind = isa::ArgKind::reg;
        arg.type = register_type(value.reg);
        if (showing_.names) show(arg, module_.reg_name(module_.functions.front(), value.reg.id));
        break;
      case Value::Kind::special:
        arg.kind = isa::ArgKind::special;
        arg.type = isa::specials()[value.special].type;
        arg.shown = isa::specials()[value.special].name;
        break;
      case Value::Kind::integer:
        arg.kind = isa::ArgKind::integer;
        arg.authored = showing_.authored;
        arg.integer = value.integer;
        if (isa::is_float(type)) encode(arg, value.as_double(), isa::bits(type) == 32);
        break;
      case Value::Kind::floating:
        arg.kind = isa::ArgKind::floating;
        if (type != Type::none) encode(arg, value.floating, is_single(value, type));
        if (showing_.names) {
          char text[32];
          show(arg, std::string(text, std::to_chars(text, text + sizeof text, value.floating).ptr));
        }
        break;
      case Value::Kind::symbol:
      case Value::Kind::label:
        arg.kind = isa::ArgKind::symbol;
        arg.shown = value.text;
        break;
      case Value::Kind::sink:
        arg.kind = isa::ArgKind::sink;
        break;
      case Value::Kind::vector:
        arg.kind = isa::ArgKind::vector;
        break;
      case Value::Kind::address:
        arg.kind = isa::ArgKind::address;
        arg.authored = true;
        break;
      case Value::Kind::tensor:
        arg.kind = isa::ArgKind::tensor;
        break;
      case Value::Kind::list:
        arg.kind = isa::ArgKind::list;
        break;
    }
    if (!value.parts.empty()) {
      std::vector<isa::Arg> parts;
      for (const Value& part : value.parts) parts.push_back(arg_of(part, type));
      arg.elements = parts_.emplace_back(std::move(parts));
    }
    return arg;
  }
  static void encode(isa::Arg& arg, double number, bool single) {
    arg.kind = isa::ArgKind::floating;
    arg.type = single ? Type::f32 : Type::f64;
    arg.integer = single ? std::bit_cast<std::int32_t>(static_cast<float>(number)) : std::bit_cast<std::int64_t>(number);
  }
  void show(isa::Arg& arg, std::string text) { arg.shown = texts_.emplace_back(std::move(text)); }
  // PTX computes with no bytes: a register that was asked for as one is declared wider, and is what it is declared as.
  [[nodiscard]] Type register_type(Reg reg) const {
    const Store<ir::Register>& declared = module_.functions.front().regs;
    return isa::bits(reg.type) == 8 && reg.id.index < declared.size() ? declared[reg.id.index].type : reg.type;
  }

  const ir::Module& module_;
  Showing showing_;
  std::deque<std::vector<isa::Arg>> parts_;
  std::deque<std::string> texts_;
  std::vector<isa::Arg> all_;
};

// True when the number can be written for an operand of `type`; what makes it false is found again by whoever explains it.
bool number_fits(const Value& value, Type type) {
  if (value.kind == Value::Kind::reg) return true;
  switch (value.kind) {
    case Value::Kind::integer:
      return isa::is_float(type) || type == Type::pred || value.fits(type);
    case Value::Kind::floating:
      return isa::bits(type) != 32 || !std::isfinite(value.floating) || std::isfinite(static_cast<float>(value.floating));
    case Value::Kind::vector:
      for (const Value& part : value.parts)
        if (!number_fits(part, type)) return false;
      return true;
    case Value::Kind::address:
      return value.parts.size() < 2 || std::in_range<std::int32_t>(value.parts[1].integer);
    default:
      return true;
  }
}

// True when the integers among the operands all stand for predicates.
bool only_predicates_are_numbers(const isa::Match& match, std::span<const Value> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i].kind == Value::Kind::integer || !values[i].parts.empty())
      if (match.form->type(match.form->operands[match.operand_of[i]].type, match.choices) != Type::pred) return false;
  return true;
}

Diagnostic diagnose(Kind kind, std::string message) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  return d;
}

}  // namespace

// ---- what is asked for ----------------------------------------------------------------------------------------------

// Appends to `key` what decides whether and how an operand fits: kinds, types, lengths. False when a register cannot be used
// here.
bool Builder::State::add_to_key(const Value& value) {
  const std::uint64_t word = static_cast<unsigned>(value.kind) | (value.negated ? 0x100u : 0u) | (value.piped ? 0x200u : 0u);
  switch (value.kind) {
    case Value::Kind::reg:
      return add_register_to_key(value.reg, word);
    case Value::Kind::special:
      key.add(word | std::uint64_t{value.special} << 16);
      return true;
    case Value::Kind::vector:
    case Value::Kind::address:
    case Value::Kind::tensor:
    case Value::Kind::list: {
      key.add(word | std::uint64_t{value.parts.size()} << 16);
      bool all_usable = true;
      for (const Value& part : value.parts) all_usable &= add_to_key(part);
      return all_usable;
    }
    default:
      key.add(word);
      return true;
  }
}

// The numbers that a rule of the table may look at: not those of addresses.
void Builder::State::add_integers_to_key(std::span<const Value> values) {
  for (const Value& value : values) {
    if (value.kind == Value::Kind::integer) key.add(static_cast<std::uint64_t>(value.integer));
    if (value.kind == Value::Kind::floating) key.add(std::bit_cast<std::uint64_t>(value.floating));
    if (value.kind == Value::Kind::vector) add_integers_to_key(value.parts);
  }
}
bool Builder::State::end_key_with_integers(std::span<const Value> values) {
  key.add(~std::uint64_t{0});  // no operand's word: what follows is no further operand
  const std::size_t none = key.words().size();
  add_integers_to_key(values);
  return key.words().size() != none;
}

Diagnostic Builder::State::unusable(std::span<const Value> values, const Guard& guard) const {
  const auto explain = [this](Reg reg) {
    if (reg.id.index >= module.functions.front().regs.size()) {
      return diagnose(Kind::undefined_symbol, "an operand is a register of another kernel")
          .hint("registers belong to the kernel in whose body they were made");
    }
    return diagnose(Kind::undefined_symbol,
                    cat("register `", module.reg_name(module.functions.front(), reg.id), "` belongs to a block that is closed"))
        .hint("make it outside the block, or use it inside");
  };
  if (guard.predicate && !usable(*guard.predicate)) return explain(*guard.predicate);
  std::vector<Value> rest(values.rbegin(), values.rend());
  while (!rest.empty()) {
    const Value value = rest.back();
    rest.pop_back();
    if (value.kind == Value::Kind::reg && !usable(value.reg)) return explain(value.reg);
    rest.insert(rest.end(), value.parts.rbegin(), value.parts.rend());
  }
  return diagnose(Kind::internal, "an operand was refused without a reason");
}

Expected<Resolved> Builder::State::resolve(const Spelling& spelling, std::span<const Value> values) {
  const auto find = [&](const Args& args) {
    return spelling.dots != nullptr ? isa::match(*spelling.dots, args.all())
                                    : isa::match(isa::form(spelling.pattern->form), spelling.pattern->choices, args.all());
  };
  const Args args(values, module, {});
  Expected<isa::Match> found = find(args);
  if (!found) {
    // Any number stands for a predicate, which is true unless it is 0.
    const Expected<isa::Match> as_text = find(Args(values, module, {.authored = false}));
    if (!as_text || !only_predicates_are_numbers(*as_text, values))
      return Unexpected{find(Args(values, module, {.names = true})).error()};
    found = as_text;
  }
  if (found->truncated) return Unexpected{*found->truncated};
  const isa::Form& form = *found->form;
  Resolved result{form.id, found->choices, {}, {}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const isa::OperandSpec& operand = form.operands[found->operand_of[i]];
    result.types[i] = form.type(operand.type, found->choices);
    result.roles[i] = operand.role;
    if (number_fits(values[i], result.types[i])) continue;
    if (operand.role == isa::Role::address) {
      return Unexpected{
          diagnose(Kind::immediate_range, cat("the offset of address `", operand.name, "` of `", isa::spell(form, found->choices),
                                              "` is ", values[i].parts[1].integer, ", which 32 bits cannot hold"))
              .hint("add it to the base register")};
    }
    if (values[i].above)
      return Unexpected{
          diagnose(Kind::immediate_range,
                   cat("operand ", i + 1, " `", operand.name, "` of `", isa::spell(form, found->choices), "` is the integer ",
                       values[i].spelled(), ", which .", isa::name(result.types[i]), " cannot hold"))};
    return Unexpected{
        diagnose(Kind::immediate_range, cat("operand ", i + 1, " `", operand.name, "` of `", isa::spell(form, found->choices),
                                            "` is ", isa::describe(Args(values, module, {.names = true}).all()[i]), ", which .",
                                            isa::name(result.types[i]), " holds only as an infinity"))
            .hint("write an infinity if one is meant")};
  }
  const Args as_written(values, module, {.names = true, .types = std::span(result.types).first(values.size())});
  if (auto judged = check_legal(form, result.choices, as_written.all()); !judged) return Unexpected{std::move(judged).error()};
  return result;
}

Expected<void> Builder::State::check_legal(const isa::Form& form, const isa::Choices& choices,
                                           std::span<const isa::Arg> args) const {
  const isa::Platform platform{module.target, module.version};
  const auto refuse = [&form](Diagnostic& d) { return Unexpected{with_form(std::move(d), form)}; };
  if (auto lacking = isa::lacks(form, choices, platform); !lacking.empty()) return refuse(lacking.front());
  if (auto lacking = isa::lacks(args, platform); !lacking.empty()) return refuse(lacking.front());
  if (auto broken = isa::breaks_rule(form, choices, args, platform); broken && broken->severity == Severity::error)
    return refuse(*broken);
  return {};
}

// ---- what is written ------------------------------------------------------------------------------------------------

std::uint32_t Builder::State::constant(std::uint64_t bits) {
  entry().constants.push_back(bits);
  return static_cast<std::uint32_t>(entry().constants.size() - 1);
}

namespace {

// Most operands are registers, and need to know nothing else.
bool is_plain_register(const Value& value) { return value.kind == Value::Kind::reg && !value.negated && !value.piped; }
ir::Operand plain_register(const Value& value) { return {.kind = ir::OperandKind::reg, .payload = value.reg.id.index}; }

bool is_integer(const Value& value) { return value.kind == Value::Kind::integer; }

}  // namespace

// The parts follow each other in the entry's store: what is in them comes before all of them.
ir::Operand Builder::State::lower_parts(ir::OperandKind kind, std::span<const Value> parts, Type type,
                                        const SourceLocation& where) {
  Store<ir::Operand>& store = entry().operands;
  ir::Operand operand{.kind = kind, .count = static_cast<std::uint16_t>(parts.size())};
  if (std::all_of(parts.begin(), parts.end(), is_plain_register)) {
    operand.payload = static_cast<std::uint32_t>(store.size());
    for (const Value& part : parts) store.push_back(plain_register(part));
    return operand;
  }
  const std::size_t mark = lowered.size();
  for (const Value& part : parts) lowered.push_back(lower(part, type, isa::Role::value, where));
  operand.payload = static_cast<std::uint32_t>(store.size());
  store.insert(store.end(), lowered.begin() + static_cast<std::ptrdiff_t>(mark), lowered.end());
  lowered.resize(mark);
  return operand;
}

ir::Operand Builder::State::lower_floating(const Value& value, Type type) {
  // `0f…` and `0d…` of a text stay as they are; and a signalling NaN is quiet as a double
  const bool spelled = value.kind == Value::Kind::floating && !value.text.empty();
  const double number = value.kind == Value::Kind::floating ? value.floating : value.as_double();
  const bool single = is_single(value, type);
  std::uint64_t bits = single ? std::bit_cast<std::uint32_t>(static_cast<float>(number)) : std::bit_cast<std::uint64_t>(number);
  if (spelled) std::from_chars(value.text.data() + 2, value.text.data() + value.text.size(), bits, 16);
  return {.kind = ir::OperandKind::floating, .count = static_cast<std::uint16_t>(single ? 32 : 64), .payload = constant(bits)};
}

ir::Operand Builder::State::lower_integer(const Value& value, Type type) {
  if (isa::is_float(type)) return lower_floating(value, type);
  const ir::Operand number{.kind = ir::OperandKind::integer, .payload = constant(static_cast<std::uint64_t>(value.integer))};
  if (value.text.empty()) return number;
  Store<ir::Operand>& store = entry().operands;
  const auto first = static_cast<std::uint32_t>(store.size());
  store.push_back(number);
  store.push_back({.kind = ir::OperandKind::text, .payload = module.intern(value.text).index});
  return {.kind = ir::OperandKind::expression, .count = 2, .payload = first};
}

ir::Operand Builder::State::lower_name(const Value& value, isa::Role role, const SourceLocation& where) {
  if (role == isa::Role::label) return {.kind = ir::OperandKind::label, .payload = label_named(value.text, where).index};
  // by its name, in a kernel that allocates nothing before
  if (dynamic_shared && !shared.declared && value.text == dynamic_symbol) (void)declare_dynamic_shared();
  return {.kind = ir::OperandKind::symbol, .payload = module.intern(value.text).index};
}

ir::Operand Builder::State::lower_address(const Value& value, const SourceLocation& where) {
  const bool offset = value.parts.size() == 2 && is_integer(value.parts[1]);
  if (offset && is_integer(value.parts[0])) {  // `[75+19]` would be read as one number
    const auto sum = static_cast<std::uint64_t>(value.parts[0].integer) + static_cast<std::uint64_t>(value.parts[1].integer);
    const std::array whole{Value::of_integer(static_cast<std::int64_t>(sum))};
    return lower_parts(ir::OperandKind::address, whole, Type::b64, where);
  }
  const bool no_offset = offset && value.parts[1].integer == 0;
  return lower_parts(ir::OperandKind::address, no_offset ? value.parts.first(1) : value.parts, Type::b64, where);
}

ir::Operand Builder::State::lower(const Value& value, Type type, isa::Role role, const SourceLocation& where) {
  ir::Operand operand;
  switch (value.kind) {
    case Value::Kind::reg:
      operand = plain_register(value);
      break;
    case Value::Kind::special:
      operand = {.kind = ir::OperandKind::special, .payload = value.special};
      break;
    case Value::Kind::integer:
      operand = lower_integer(value, type);
      break;
    case Value::Kind::floating:
      operand = lower_floating(value, type);
      break;
    case Value::Kind::symbol:
    case Value::Kind::label:
      operand = lower_name(value, role, where);
      break;
    case Value::Kind::vector:
      operand = lower_parts(ir::OperandKind::vector, value.parts, type, where);
      break;
    case Value::Kind::list:
      operand = lower_parts(ir::OperandKind::list, value.parts, type, where);
      break;
    case Value::Kind::address:
      operand = lower_address(value, where);
      break;
    case Value::Kind::tensor: {
      const std::array parts{lower(value.parts[0], Type::b64, isa::Role::value, where),
                             lower(value.parts[1], Type::s32, isa::Role::value, where)};
      operand = {.kind = ir::OperandKind::tensor, .count = 2, .payload = static_cast<std::uint32_t>(entry().operands.size())};
      entry().operands.insert(entry().operands.end(), parts.begin(), parts.end());
      break;
    }
    case Value::Kind::sink:
      operand.kind = ir::OperandKind::sink;
      break;
  }
  operand.negated = value.negated;
  operand.piped = value.piped;
  return operand;
}

bool Builder::State::usable(std::span<const Value> values) const {
  for (const Value& value : values)
    if (value.kind == Value::Kind::reg ? !usable(value.reg) : !usable(value.parts)) return false;
  return true;
}
bool Builder::State::usable(std::span<const Value> values, const Guard& guard) const {
  return (!guard.predicate || usable(*guard.predicate)) && usable(values);
}

std::size_t Builder::State::slot_of(const isa::ModifierTree& dots) {
  const std::uint64_t spread = std::bit_cast<std::uintptr_t>(&dots) * 0x9E3779B97F4A7C15u;
  return spread >> (64 - std::bit_width(std::tuple_size_v<decltype(of_registers)>) + 1);
}

const Resolved* Builder::State::like_the_last(const isa::ModifierTree& dots, std::span<const Value> values) const {
  const OfRegisters& last = of_registers[slot_of(dots)];
  if (last.dots != &dots || last.operands != values.size()) return nullptr;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_plain_register(values[i]) || values[i].reg.type != last.types[i]) return nullptr;
  return &last.resolved;
}

void Builder::State::remember(const isa::ModifierTree& dots, std::span<const Value> values, const Resolved& found) {
  OfRegisters& last = of_registers[slot_of(dots)];
  if (values.size() > last.types.size() || !std::all_of(values.begin(), values.end(), is_plain_register)) return;
  last.dots = &dots;
  last.operands = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) last.types[i] = values[i].reg.type;
  last.resolved = found;
}

// What was found of the spelling before.
const Resolved* Builder::State::known(const Spelling& spelling, std::span<const Value> values) {
  if (spelling.dots != nullptr) return like_the_last(*spelling.dots, values);
  if (spelling.pattern == nullptr || !spelling.pattern->same_operands) return nullptr;
  Recent& last = recent[std::bit_cast<std::uintptr_t>(spelling.pattern) / alignof(std::max_align_t) % recent.size()];
  if (last.pattern == spelling.pattern) return last.resolved;
  const auto found = resolved_patterns.find(spelling.pattern);
  if (found == resolved_patterns.end()) return nullptr;
  last = {spelling.pattern, &found->second};
  return last.resolved;
}

// By the kinds and types of its operands.
Expected<const Resolved*> Builder::State::look_up(const Spelling& spelling, std::span<const Value> values, const Guard& guard) {
  key.clear();
  if (spelling.dots != nullptr)
    key.add(std::uint64_t{0xFF} << 56 | std::bit_cast<std::uintptr_t>(spelling.dots));  // no form's word: 0xFF is no choice
  else
    isa::add(isa::form(spelling.pattern->form), spelling.pattern->choices, key);
  bool all_usable = !guard.predicate || usable(*guard.predicate);
  for (const Value& value : values) all_usable &= is_plain_register(value) ? add_register_to_key(value.reg) : add_to_key(value);
  if (!all_usable) return Unexpected{unusable(values, guard)};

  const Resolved* known = resolved.find(key);
  const bool reads_integers = known != nullptr && known->reads_integers;
  bool by_integers = false;
  if (reads_integers) {
    by_integers = end_key_with_integers(values);
    known = resolved.find(key);
  }
  if (known == nullptr) {
    Expected<Resolved> found = resolve(spelling, values);
    if (!found) return Unexpected{std::move(found).error()};
    if (!reads_integers && isa::form(found->form).reads_integers) {
      resolved.insert(key, {.reads_integers = true});
      by_integers = end_key_with_integers(values);
    }
    known = &resolved.insert(key, *found);
  }
  if (!by_integers && spelling.pattern != nullptr && spelling.pattern->same_operands)
    resolved_patterns.emplace(spelling.pattern, *known);
  if (spelling.dots != nullptr) remember(*spelling.dots, values, *known);
  return known;
}

Expected<void> Builder::State::emit(const Spelling& spelling, std::span<const Value> values, const Guard& guard,
                                    const SourceLocation& where) {
  if (!made.empty()) arrange(values);
  const auto at_where = [&where](Diagnostic d) {
    d.where = where;
    return Unexpected{std::move(d)};
  };
  if (finished)
    return at_where(
        diagnose(Kind::no_active_trace, "this kernel or function is finished: the text of its module has been asked for"));
  if (guard.predicate && guard.predicate->type != Type::pred) {
    const bool known = usable(*guard.predicate);
    return at_where(
        diagnose(Kind::bad_guard, cat("an instruction is guarded by ",
                                      known ? cat('`', module.reg_name(entry(), guard.predicate->id), "`, ") : std::string(),
                                      "a .", isa::name(guard.predicate->type), " register; what fits is a predicate"))
            .hint("`setp` makes a predicate, and so do the comparison operators"));
  }
  const Resolved* instruction = known(spelling, values);
  if (instruction != nullptr) {
    if (append_registers(*instruction, values, guard, where)) return {};
    if (!usable(values, guard)) return at_where(unusable(values, guard));
  } else {
    const Expected<const Resolved*> found = look_up(spelling, values, guard);
    if (!found) return at_where(found.error());
    instruction = *found;
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!number_fits(values[i], instruction->types[i])) return at_where(resolve(spelling, values).error());
  append(*instruction, values, guard, where);
  return {};
}

// An instruction but for its operands, which are the next in the store.
void Builder::State::begin(const Resolved& instruction, std::size_t operands, const Guard& guard, const SourceLocation& where) {
  const ir::WhereId at = place(where);
  ir::Inst& inst = entry().body.emplace_back();
  inst.form = instruction.form;
  inst.choices = instruction.choices;
  inst.payload = static_cast<std::uint32_t>(entry().operands.size());
  inst.operand_count = static_cast<std::uint8_t>(operands);
  if (guard.predicate) inst.guard = guard.predicate->id.index;
  inst.guard_negated = guard.negated;
  inst.where = at.index;
}

// What most instructions are: all of its operands are registers, which can be used here. False, and nothing done, for others.
bool Builder::State::append_registers(const Resolved& instruction, std::span<const Value> values, const Guard& guard,
                                      const SourceLocation& where) {
  if (guard.predicate && !usable(*guard.predicate)) return false;
  for (const Value& value : values)
    if (!is_plain_register(value) || !usable(value.reg)) return false;
  begin(instruction, values.size(), guard, where);
  for (const Value& value : values) entry().operands.push_back(plain_register(value));
  return true;
}

void Builder::State::append(const Resolved& instruction, std::span<const Value> values, const Guard& guard,
                            const SourceLocation& where) {
  // Parts go into the store before the operands that have them.
  const std::size_t mark = lowered.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!is_plain_register(values[i])) lowered.push_back(lower(values[i], instruction.types[i], instruction.roles[i], where));
  begin(instruction, values.size(), guard, where);
  const ir::Operand* other = lowered.data() + mark;
  for (const Value& value : values) entry().operands.push_back(is_plain_register(value) ? plain_register(value) : *other++);
  lowered.resize(mark);
}

// ---- the front door -------------------------------------------------------------------------------------------------

Expected<void> Builder::emit(const isa::ModifierTree& dots, std::span<const Value> operands, const Guard& guard,
                             SourceLocation where) {
  return state_->emit({.dots = &dots}, operands, guard, where);
}

Expected<void> Builder::can_emit(const isa::ModifierTree& dots, std::span<const Value> operands, const Guard& guard,
                                 SourceLocation where) {
  State& s = *state_;
  const auto at_where = [&where](Diagnostic d) {
    d.where = where;
    return Unexpected{std::move(d)};
  };
  s.key.clear();
  bool all_usable = !guard.predicate || s.usable(*guard.predicate);
  for (const Value& value : operands) all_usable &= s.add_to_key(value);
  if (!all_usable) return at_where(s.unusable(operands, guard));
  if (const Expected<Resolved> found = s.resolve({.dots = &dots}, operands); !found) return at_where(found.error());
  return {};
}

Expected<void> Builder::emit(const Pattern& pattern, std::span<const Value> operands, const Guard& guard, SourceLocation where) {
  return state_->emit({.pattern = &pattern}, operands, guard, where);
}

Expected<void> Builder::emit(std::string_view dots, std::span<const Value> operands, const Guard& guard, SourceLocation where) {
  auto it = state_->dots_by_text.find(dots);
  if (it == state_->dots_by_text.end()) {
    const isa::ModifierTree* node = &isa::ModifierTree::root();
    for (std::string_view rest = dots; node != nullptr;) {
      const std::size_t dot = rest.find('.');
      const std::string_view word = rest.substr(0, dot);
      const isa::ModifierTree* next = node->follow(word);
      if (next == nullptr) {
        Diagnostic d = node->explain(word);
        d.where = where;
        return Unexpected{std::move(d)};
      }
      node = next;
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
    it = state_->dots_by_text.emplace(dots, node).first;
  }
  return emit(*it->second, operands, guard, where);
}

bool Builder::release(Reg newest) {
  ir::Function& f = state_->entry();
  if (newest.id.index + 1 != f.regs.size()) return false;
  if (state_->newest_reg.items != f.body.size() || state_->newest_reg.operands != f.operands.size()) return false;
  const ir::Register& reg = f.regs.back();
  ir::RegDecl& decl = f.reg_decls[reg.decl.index];
  if (!decl.count || *decl.count != reg.index + 1) return false;
  decl.count = reg.index;
  f.regs.pop_back();
  return true;
}

bool Builder::redirect(Reg from, Reg to) {
  ir::Function& f = state_->entry();
  if (f.body.empty() || f.body.back().kind != ir::ItemKind::inst || f.body.back().operand_count == 0) return false;
  if (!from.id.valid() || from.id.index + 1 != f.regs.size() || to.id.index >= from.id.index || from.type != to.type)
    return false;
  const ir::Inst& last = f.body.back();
  const isa::Form& form = isa::form(last.form);
  ir::Operand& destination = f.operands[last.payload];
  const auto is_from = [&](const ir::Operand& operand) {
    return operand.kind == ir::OperandKind::reg && operand.payload == from.id.index;
  };
  if (form.operands.empty() || form.operands[0].access != isa::Access::write || !is_from(destination)) return false;
  // the register's only instruction is the last one, and names it once
  std::size_t named = 0;
  for (std::size_t i = state_->newest_reg.operands; i < f.operands.size(); ++i) named += is_from(f.operands[i]);
  if (named != 1 || state_->newest_reg.items + 1 != f.body.size()) return false;
  const ir::Register& reg = f.regs.back();
  ir::RegDecl& decl = f.reg_decls[reg.decl.index];
  if (!decl.count || *decl.count != reg.index + 1) return false;
  destination.payload = to.id.index;
  decl.count = reg.index;
  f.regs.pop_back();
  return true;
}

}  // namespace ptx::write
