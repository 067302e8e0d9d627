#include "tests/oracle/cases.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <random>
#include <set>

#include "ptx/isa/isa.hpp"

namespace ptx::oracle {
namespace {

// The types a register can be declared with.
constexpr Type register_types[] = {Type::pred, Type::b8,  Type::b16, Type::b32,   Type::b64, Type::b128,
                                   Type::u8,   Type::u16, Type::u32, Type::u64,   Type::s8,  Type::s16,
                                   Type::s32,  Type::s64, Type::f16, Type::f16x2, Type::f32, Type::f64};

constexpr std::size_t max_combinations = 2500;

// What can stand at a slot: nothing (0) where it is optional, and each of its choices.
std::uint8_t first_choice(const isa::FormSlot& slot) { return slot.optional ? 0 : 1; }

isa::Choices defaults(const isa::Form& form) {
  isa::Choices choices{};
  for (std::size_t i = 0; i < form.slots.size(); ++i) choices[i] = first_choice(form.slots[i]);
  return choices;
}

std::uint32_t optional_count(const isa::Form& form) {
  return static_cast<std::uint32_t>(
      std::count_if(form.operands.begin(), form.operands.end(), [](const auto& o) { return o.optional; }));
}

// An immediate that is right for its meaning: the first of the operand's range.
std::int64_t usual_immediate(const isa::OperandSpec& operand, std::size_t element = 0) {
  return operand.range.empty() ? 1 : (*isa::detail::parse_range(isa::detail::range_of(operand.range, element)).begin()).low;
}

// Integers that tell a range from another one: its borders and those beyond them; without a range, some that a hidden one might
// leave out.
std::vector<std::int64_t> telling_integers(const isa::OperandSpec& operand, Type type) {
  if (type == Type::pred) return {0, 1};  // ptxas takes any for a predicate; nothing says what 2 would mean
  if (operand.range.empty()) return {0, 1, 3, 100};
  std::set<std::int64_t> all;
  for (const isa::IntegerRange& r : isa::detail::parse_range(isa::detail::range_of(operand.range, 0))) {
    all.insert({r.low - 1, r.low, r.low + 1, r.times != 0 ? r.low * r.times : r.low + r.step});
    if (r.high != std::numeric_limits<std::int64_t>::max()) all.insert({r.high, r.high + 1});
  }
  return {all.begin(), all.end()};
}

// Parts of registers: some that one of the words allows.
constexpr std::string_view parts[] = {".b0",  ".b3",    ".b4",  ".h1",  ".h2",    ".h10",   ".h01",  ".h32",
                                      ".h40", ".b3210", ".b20", ".b02", ".b7654", ".b0123", ".b8000"};

// A call needs functions and a branch a table of labels to go to; both are asked about by hand.
bool needs_surroundings(const isa::Form& form) { return form.opcode == "call" || form.opcode == "brx"; }

// A variable that lies in the space.
std::string_view variable_in(std::string_view space) {
  if (space.starts_with("global")) return "global_variable";
  if (space.starts_with("const")) return "const_variable";
  if (space.starts_with("param")) return "entry_param";
  return "shared_variable";
}

// True when the operands lean on what is chosen at a slot.
bool shapes_operands(const isa::Form& form, std::string_view slot) {
  return std::any_of(form.operands.begin(), form.operands.end(), [&](const isa::OperandSpec& o) {
    return o.type == slot || o.count == slot || o.space == slot || o.when_slot == slot || o.coords_count == slot ||
           (o.type == "wide" && slot == "type") || (o.type == "dreg" && slot == "dtype");
  });
}

}  // namespace

bool uses_b128(const Case& c) {
  const isa::Form& form = isa::form(c.form);
  if (c.change.type == Type::b128) return true;
  return std::any_of(form.operands.begin(), form.operands.end(),
                     [&](const auto& o) { return form.present(o, c.choices) && form.type(o.type, c.choices) == Type::b128; });
}

std::vector<isa::Choices> combinations(const isa::Form& form, Depth depth) {
  std::set<isa::Choices> all = {defaults(form)};
  const auto& slots = form.slots;
  const auto sweep = [&](isa::Choices choices, std::size_t slot, auto&& then) {
    for (std::size_t c = first_choice(slots[slot]); c <= slots[slot].choices.size(); ++c) {
      choices[slot] = static_cast<std::uint8_t>(c);
      then(choices);
    }
  };
  const auto add = [&](const isa::Choices& choices) { all.insert(choices); };
  for (std::size_t i = 0; i < slots.size(); ++i)
    if (depth != Depth::operands || shapes_operands(form, slots[i].name)) sweep(defaults(form), i, add);
  if (depth != Depth::pairs) return {all.begin(), all.end()};

  std::size_t product = 1;
  for (const auto& slot : slots) product = std::min(max_combinations + 1, product * (slot.choices.size() + slot.optional));
  if (product <= max_combinations) {
    std::vector<isa::Choices> whole = {defaults(form)};
    for (std::size_t i = 0; i < slots.size(); ++i) {
      std::vector<isa::Choices> next;
      for (const isa::Choices& choices : whole) sweep(choices, i, [&](const isa::Choices& c) { next.push_back(c); });
      whole = std::move(next);
    }
    return whole;
  }
  for (std::size_t i = 0; i < slots.size(); ++i)
    for (std::size_t j = i + 1; j < slots.size(); ++j)
      sweep(defaults(form), i, [&](const isa::Choices& choices) { sweep(choices, j, add); });
  std::mt19937 random(form.id);  // three and more together: a sample, the same each time
  for (int n = 0; n < 1000; ++n) {
    isa::Choices choices{};
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const auto first = first_choice(slots[i]);
      choices[i] = static_cast<std::uint8_t>(first + random() % (slots[i].choices.size() + 1 - first));
    }
    all.insert(choices);
  }
  return {all.begin(), all.end()};
}

std::vector<Case> choice_cases(const isa::Form& form, Depth depth) {
  std::vector<Case> cases;
  if (needs_surroundings(form)) return cases;
  for (const isa::Choices& choices : combinations(form, depth)) cases.push_back({.form = form.id, .choices = choices});
  for (std::uint32_t optional = 1; optional < 1u << optional_count(form); ++optional)
    for (const isa::Choices& choices : combinations(form, Depth::each))
      cases.push_back({.form = form.id, .choices = choices, .optional = optional});
  return cases;
}

std::vector<Case> operand_cases(const isa::Form& form) {
  using Kind = Change::Kind;
  std::vector<Case> cases;
  if (needs_surroundings(form)) return cases;
  const std::uint32_t optional = (1u << optional_count(form)) - 1;
  for (const isa::Choices& choices : combinations(form, Depth::operands))
    for (std::size_t i = 0; i < form.operands.size(); ++i) {
      const isa::OperandSpec& o = form.operands[i];
      const auto add = [&](Change change) {
        change.operand = static_cast<int>(i);
        cases.push_back({.form = form.id, .choices = choices, .optional = optional, .change = change});
      };
      if (o.role == isa::Role::special)
        for (std::size_t s = 0; s < isa::specials().size(); ++s)
          add({.kind = Kind::special, .special = static_cast<isa::SpecialId>(s)});
      if (!form.present(o, choices)) continue;
      if (o.role == isa::Role::symbol)
        for (const std::string_view name : {"shared_variable", "global_variable", "const_variable", "entry_param"})
          add({.kind = Kind::symbol, .part = name});
      if (o.role == isa::Role::tensor && form.count(o.coords_count, choices) == 1) add({.kind = Kind::scalar});
      if (o.role == isa::Role::label || o.role == isa::Role::symbol || o.role == isa::Role::special ||
          o.role == isa::Role::address || o.role == isa::Role::tensor)
        continue;
      for (const Kind kind : {Kind::floating, Kind::sink}) add({.kind = kind});
      for (const std::int64_t integer : telling_integers(o, form.type(o.type, choices)))
        add({.kind = Kind::integer, .integer = integer});
      if (!o.part.empty())
        for (const std::string_view part : parts) add({.kind = Kind::part, .part = part});
      if (form.type(o.type, choices) == Type::pred) add({.kind = Kind::negate});
      for (const Type type : register_types) add({.kind = Kind::type, .type = type});
    }
  return cases;
}

Kernel::Kernel(Target target, Version version) {
  module_.target = target;
  module_.version = version;
  function_.name = module_.intern("k");
  function_.variables = {
      {.name = module_.intern("call_param"), .space = ir::StateSpace::param, .type = Type::b8, .align = 32, .elements = 256}};
  function_.body.push_back({.kind = ir::ItemKind::variable, .payload = 0});
  function_.params = {{.name = module_.intern("entry_param"), .type = Type::b8, .align = 32, .elements = 256}};
  module_.variables = {
      {.name = module_.intern("shared_variable"),
       .space = ir::StateSpace::shared,
       .type = Type::b8,
       .align = 32,
       .elements = 256},
      {.name = module_.intern("global_variable"),
       .space = ir::StateSpace::global,
       .type = Type::b8,
       .align = 32,
       .elements = 256},
      {.name = module_.intern("const_variable"), .space = ir::StateSpace::const_, .type = Type::b8, .align = 32, .elements = 256},
  };
  end_ = ir::LabelId(0);
  function_.labels.push_back({.name = module_.intern("$end")});
}

ir::Operand Kernel::reg(Type type, std::uint32_t index) {
  constexpr std::uint32_t most = 160;
  auto [decl, new_decl] = decls_.try_emplace(type, function_.reg_decls.size());
  if (new_decl)
    function_.reg_decls.push_back({.base = module_.intern(cat('%', isa::name(type), '_')), .type = type, .count = most});
  auto [id, new_reg] = regs_.try_emplace({type, index}, function_.regs.size());
  if (new_reg) function_.regs.push_back({.decl = decl->second, .index = index, .type = type});
  return {.kind = ir::OperandKind::reg, .payload = id->second.index};
}

ir::Operand Kernel::integer(std::int64_t value) {
  function_.constants.push_back(static_cast<std::uint64_t>(value));
  return {.kind = ir::OperandKind::integer, .payload = static_cast<std::uint32_t>(function_.constants.size() - 1)};
}

ir::Operand Kernel::symbol(std::string_view name) {
  return {.kind = ir::OperandKind::symbol, .payload = module_.intern(name).index};
}

ir::Operand Kernel::group(ir::OperandKind kind, const std::vector<ir::Operand>& parts) {
  const auto first = static_cast<std::uint32_t>(function_.operands.size());
  function_.operands.insert(function_.operands.end(), parts.begin(), parts.end());
  return {.kind = kind, .count = static_cast<std::uint8_t>(parts.size()), .payload = first};
}

ir::Operand Kernel::address(std::string_view space, bool stores) {
  if (stores && space.starts_with("param")) return group(ir::OperandKind::address, {symbol("call_param")});
  if (space.starts_with("param")) return group(ir::OperandKind::address, {symbol("entry_param")});
  const bool narrow = space.starts_with("shared") || space == "tmem" || space == "local";
  return group(ir::OperandKind::address, {reg(narrow ? Type::b32 : Type::b64, 100)});
}

ir::Operand Kernel::scalar(const isa::OperandSpec& spec, Type type, const Change& change, std::uint32_t index,
                           std::int64_t immediate) {
  using Kind = Change::Kind;
  switch (change.kind) {
    case Kind::integer:
      return integer(change.integer);
    case Kind::part: {
      ir::Operand whole = scalar(spec, type, {}, index, immediate);
      return group(ir::OperandKind::part, {whole, {.kind = ir::OperandKind::text, .payload = module_.intern(change.part).index}});
    }
    case Kind::floating: {
      const bool wide = isa::bits(type) == 64;
      function_.constants.push_back(wide ? 0x3FF8000000000000u : 0x3FC00000u);  // 1.5
      return {.kind = ir::OperandKind::floating,
              .count = static_cast<std::uint8_t>(wide ? 64 : 32),
              .payload = static_cast<std::uint32_t>(function_.constants.size() - 1)};
    }
    case Kind::sink:
      return {.kind = ir::OperandKind::sink};
    case Kind::type:
      return reg(change.type, index);
    case Kind::special:
    case Kind::negate:
    case Kind::symbol:
    case Kind::scalar:
    case Kind::none:
      break;
  }
  Type declared = isa::register_type(type);
  if (isa::bits(declared) == 8) declared = Type::b16;  // nothing computes in 8 bits
  if (isa::bits(type) == 8 && !spec.wider) declared = Type::b8;
  ir::Operand operand = reg(declared, index);
  operand.negated = change.kind == Kind::negate;
  return operand;
}

ir::Operand Kernel::operand(const isa::Form& form, const Case& c, std::size_t index) {
  const isa::OperandSpec& o = form.operands[index];
  const Change change = c.change.operand == static_cast<int>(index) ? c.change : Change{};
  const auto first_reg = static_cast<std::uint32_t>(index);
  switch (o.role) {
    case isa::Role::label:
      return {.kind = ir::OperandKind::label, .payload = end_.index};
    case isa::Role::symbol:
      if (change.kind == Change::Kind::symbol) return symbol(change.part);
      return symbol(variable_in(form.space(o, c.choices)));
    case isa::Role::sink:
      if (change.kind == Change::Kind::none) return {.kind = ir::OperandKind::sink};
      return scalar(o, Type::b64, change, first_reg, 1);
    case isa::Role::special: {
      if (change.kind == Change::Kind::special) return {.kind = ir::OperandKind::special, .payload = change.special};
      const Type type = form.type(o.type, c.choices);
      const std::string_view name = type == Type::pred       ? "%is_explicit_cluster"
                                    : isa::bits(type) == 128 ? "%tid"
                                    : isa::bits(type) == 64  ? "%clock64"
                                                             : "%laneid";
      return {.kind = ir::OperandKind::special, .payload = *isa::special_from_name(name)};
    }
    case isa::Role::address:
      return address(form.space(o, c.choices), form.opcode == "st");
    case isa::Role::tensor: {
      std::vector<ir::Operand> coords;
      for (int i = 0; i < form.count(o.coords_count, c.choices); ++i)
        coords.push_back(reg(form.type(o.coords_type, c.choices), first_reg + static_cast<std::uint32_t>(i)));
      if (change.kind == Change::Kind::scalar) return group(ir::OperandKind::tensor, {reg(Type::b64, 100), coords.front()});
      return group(ir::OperandKind::tensor, {reg(Type::b64, 100), group(ir::OperandKind::vector, coords)});
    }
    case isa::Role::imm:
      if (change.kind == Change::Kind::none && o.count.empty()) return integer(usual_immediate(o));
      break;
    default:
      break;
  }
  const Type type = form.type(o.type, c.choices);
  const int count = form.count(o.count, c.choices);
  if (o.count.empty() || (count == 1 && form.slot(o.count) >= 0)) return scalar(o, type, change, first_reg, usual_immediate(o));
  std::vector<ir::Operand> elements;
  for (int i = 0; i < count; ++i)
    elements.push_back(scalar(o, type, i == 0 ? change : Change{}, 10 * first_reg % 30 + static_cast<std::uint32_t>(i), 1));
  return group(ir::OperandKind::vector, elements);
}

bool Kernel::add(const Case& c, std::uint32_t number, std::string* refusal) {
  const isa::Form& form = isa::form(c.form);
  std::vector<ir::Operand> operands;
  std::uint32_t optional = 0;
  for (std::size_t i = 0; i < form.operands.size(); ++i) {
    const isa::OperandSpec& o = form.operands[i];
    if (!form.present(o, c.choices) || (o.optional && (c.optional >> optional++ & 1) == 0)) continue;
    operands.push_back(operand(form, c, i));
    operands.back().piped = o.piped;
  }
  ir::Inst inst{.form = c.form, .payload = static_cast<std::uint32_t>(function_.operands.size())};
  function_.operands.insert(function_.operands.end(), operands.begin(), operands.end());
  inst.operand_count = static_cast<std::uint8_t>(operands.size());
  inst.choices = c.choices;
  inst.where = module_.add({"case", number}).index;

  const isa::ModifierTree* dots = isa::ModifierTree::root().follow(form.opcode);
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (c.choices[i] != 0) dots = dots->follow(form.chosen(c.choices, static_cast<int>(i)));
  std::deque<std::vector<isa::Arg>> scratch;
  std::vector<isa::Arg> args;
  for (const ir::Operand& operand : operands) args.push_back(ir::arg_of(module_, function_, operand, scratch));
  const auto fit = isa::match(*dots, args);
  if (fit) {
    inst.form = fit->form->id;
    inst.choices = fit->choices;
  } else if (refusal != nullptr) {
    *refusal = fit.error().message;
  }
  function_.body.push_back(inst);
  return fit.has_value();
}

ir::Module Kernel::finish() && {
  function_.labels[end_.index].item = static_cast<std::uint32_t>(function_.body.size());
  function_.body.push_back({.kind = ir::ItemKind::label, .payload = end_.index});
  const auto form = std::find_if(isa::forms().begin(), isa::forms().end(), [](const isa::Form& f) { return f.opcode == "ret"; });
  function_.body.push_back({.form = form->id});
  module_.functions.push_back(std::move(function_));
  return std::move(module_);
}

}  // namespace ptx::oracle
