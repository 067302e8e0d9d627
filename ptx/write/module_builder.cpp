#include "ptx/write/module_builder.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <deque>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/link.hpp"
#include "ptx/write/names.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write {
namespace {

std::uint64_t float_bits(double value, bool wide) {
  return wide ? std::bit_cast<std::uint64_t>(value) : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

// Whether a variable of the type can start so: PTX has literals of integers, .f32 and .f64 alone.
Expected<void> can_start(std::string_view name, Type type, const Initial& initial, SourceLocation where) {
  if (const auto* list = std::get_if<std::vector<Initial>>(&initial.value)) {
    for (const Initial& element : *list)
      if (auto fits = can_start(name, type, element, where); !fits) return fits;
    return {};
  }
  if (std::holds_alternative<AddressOf>(initial.value)) return {};
  const auto* integer = std::get_if<std::int64_t>(&initial.value);
  const auto refused = [&](const std::string& hint) {
    return refuse(Kind::bad_initialiser,
                  cat("the variable `", name, "` is .", isa::name(type), " and cannot start as ",
                      integer != nullptr ? cat("the integer ", *integer) : std::string("a floating-point number")),
                  where, hint);
  };
  if (type == Type::f32 || type == Type::f64) return {};
  if (isa::is_float(type) || isa::kind(type) == isa::TypeKind::packed) {
    if (integer != nullptr && *integer == 0) return {};
    return refused(
        cat("PTX has no literals of that type; declare it .b", isa::bits(isa::register_type(type)), " and give the bits"));
  }
  if (integer == nullptr) return refused("");
  if (!isa::rules::in_range(*integer, type)) return refused(cat("it has ", isa::bits(type), " bits"));
  return {};
}

// An initial value as the elements of an initialiser. Integers of a float's variable are that float.
void add(ir::Module& module, Type type, const Initial& initial, std::vector<ir::Init>& out) {
  ir::Init init;
  if (const auto* list = std::get_if<std::vector<Initial>>(&initial.value)) {
    init.kind = ir::InitKind::open;
    out.push_back(init);
    for (const Initial& element : *list) add(module, type, element, out);
    init.kind = ir::InitKind::close;
    out.push_back(init);
    return;
  }
  if (const auto* address = std::get_if<AddressOf>(&initial.value)) {
    init.kind = address->generic ? ir::InitKind::generic : ir::InitKind::symbol;
    init.symbol = module.intern(address->symbol);
    init.value = static_cast<std::uint64_t>(address->offset);
  } else if (const auto* integer = std::get_if<std::int64_t>(&initial.value); integer != nullptr && !isa::is_float(type)) {
    init.kind = ir::InitKind::integer;
    init.value = static_cast<std::uint64_t>(*integer);
  } else {
    const double number = integer != nullptr ? static_cast<double>(*integer) : std::get<double>(initial.value);
    init.kind = ir::InitKind::floating;
    init.width = isa::bits(type) == 32 ? 32 : 64;
    init.value = float_bits(number, init.width == 64);
  }
  out.push_back(init);
}

Expected<void> refuse_if(bool bad, std::string message, SourceLocation where, std::string_view hint = {}) {
  if (bad) return refuse(Kind::bad_declaration, std::move(message), where, hint);
  return {};
}

std::string count(std::size_t n, std::string_view what) { return cat(n, ' ', what, n == 1 ? "" : "s"); }

// The argument as the call has it: special registers copied, numbers as the parameter's type spells them.
Expected<Value> argument(Builder& builder, const Callee& callee, std::size_t i, const Value& given,
                         std::deque<std::string>& texts, SourceLocation where) {
  const Type type = callee.params[i];
  const auto bad = [&](const std::string& seen) {
    return refuse(Kind::call_mismatch,
                  cat("argument ", i + 1, " of `", callee.name, "` is ", seen, "; what fits is .", isa::name(type)), where);
  };
  const bool is_integer = given.kind == Value::Kind::integer, is_floating = given.kind == Value::Kind::floating;
  if (is_integer && !isa::is_float(type))
    return given.fits(type) ? Expected<Value>(given) : bad(cat("the integer ", given.spelled()));
  if (is_integer || is_floating) {
    if (type != Type::f32 && type != Type::f64)
      return bad(is_integer ? cat("the integer ", given.spelled()) : std::string("a floating-point number"));
    Value value = Value::of_floating(is_integer ? given.as_double() : given.floating);
    const bool wide = type == Type::f64;
    char digits[17];
    const auto end = std::to_chars(digits, digits + sizeof digits, float_bits(value.floating, wide), 16).ptr;
    std::string bits(digits, end);
    value.text = texts.emplace_back(cat(wide ? "0d" : "0f", std::string((wide ? 16 : 8) - bits.size(), '0'), bits));
    return value;
  }
  Expected<Value> read = readable(builder, given, where);
  if (!read) return read;
  if (read->kind != Value::Kind::reg || read->negated) return bad("neither a register nor a number");
  if (!isa::fits(read->reg.type, type))
    return bad(cat("the .", isa::name(read->reg.type), " register `", builder.name(read->reg), '`'));
  return read;
}

}  // namespace

Expected<std::vector<Reg>> call(Builder& builder, const Callee& callee, std::span<const Value> arguments, const Guard& guard,
                                SourceLocation where) {
  if (callee.owner != nullptr && callee.owner != builder.owner())
    return refuse(Kind::call_mismatch,
                  cat('`', callee.name, "` is a function of another module than `", builder.module().str(builder.function().name),
                      "`, which calls it"),
                  where, "a kernel calls functions of the module that it is written into");
  if (arguments.size() != callee.params.size())
    return refuse(
        Kind::call_mismatch,
        cat('`', callee.name, "` takes ", count(callee.params.size(), "argument"), "; this call gives ", arguments.size()),
        where);
  std::deque<std::string> texts;
  std::vector<Value> given, results;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Expected<Value> value = argument(builder, callee, i, arguments[i], texts, where);
    if (!value) return Unexpected{value.error()};
    given.push_back(*value);
  }
  std::vector<Reg> regs;
  for (const Type type : callee.returns) {
    const Expected<Reg> reg = builder.reg(type, {}, where);
    if (!reg) return Unexpected{reg.error()};
    regs.push_back(*reg);
    results.push_back(Value::of(*reg));
  }
  std::vector<Value> operands;
  if (!results.empty()) operands.push_back(Value::list_of(results));
  operands.push_back(Value::of_symbol(callee.name));
  if (!given.empty()) operands.push_back(Value::list_of(given));
  if (auto written = builder.emit("call", operands, guard, where); !written) return Unexpected{std::move(written).error()};
  return regs;
}

Expected<void> give_back(Builder& builder, std::span<const Value> results, SourceLocation where) {
  const ir::Function& function = builder.function();
  const std::string name(builder.module().str(function.name));
  if (function.is_entry) return refuse(Kind::call_mismatch, cat("kernel `", name, "` gives nothing back"), where);
  if (results.size() != function.returns.size())
    return refuse(Kind::call_mismatch,
                  cat('`', name, "` returns ", count(function.returns.size(), "value"), "; this gives ", results.size()), where);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Reg into{function.returns[i].reg, builder.result_type(i)};
    Value value = results[i];
    if (value.kind == Value::Kind::reg && value.reg.id == into.id) continue;
    if (value.kind == Value::Kind::reg && !isa::fits(value.reg.type, into.type))
      return refuse(Kind::call_mismatch,
                    cat("result ", i + 1, " of `", name, "` is the .", isa::name(value.reg.type), " register `",
                        builder.name(value.reg), "`; what fits is .", isa::name(into.type)),
                    where);
    if (auto moved = move_into(builder, into, value, where); !moved) return Unexpected{moved.error()};
  }
  return ret(builder, {}, where);
}

ModuleBuilder::ModuleBuilder(Target target, std::optional<Version> version)
    : target_(target), version_(version.value_or(default_version(target))) {}

Expected<void> ModuleBuilder::add_name(std::string_view name, std::string_view what, SourceLocation where) {
  if (!is_identifier(name) || name.starts_with('%'))
    return refuse(Kind::bad_declaration, cat('`', name, "` cannot name ", what), where,
                  "a name starts with a letter, or with `_` or `$` and more, and goes on with letters, digits, `_` and `$`");
  if (std::find(names_.begin(), names_.end(), name) != names_.end())
    return refuse(Kind::duplicate_symbol, cat("the module has a `", name, "` already"), where);
  names_.emplace_back(name);
  return {};
}

ir::Module& ModuleBuilder::declarations() {
  if (parts_.empty() || !parts_.back().function.empty()) parts_.emplace_back();
  return parts_.back().module;
}

Expected<void> ModuleBuilder::variable(const VariableSpec& spec, SourceLocation where) {
  const bool is_module_space =
      spec.space == ir::StateSpace::global || spec.space == ir::StateSpace::const_ || spec.space == ir::StateSpace::shared;
  const auto what = [&] { return cat("the variable `", spec.name, '`'); };
  if (auto e =
          refuse_if(!is_module_space,
                    cat(what(), " lies in .", ir::name(spec.space), "; a module's lie in .global, .const or .shared"), where);
      !e)
    return e;
  if (auto e = refuse_if(spec.type == Type::none || spec.type == Type::pred || isa::bits(spec.type) < 8,
                         cat(what(), " is .", isa::name(spec.type), ", which no memory holds"), where);
      !e)
    return e;
  if (auto e = refuse_if(spec.vector != 1 && spec.vector != 2 && spec.vector != 4,
                         cat(what(), " is a vector of ", int{spec.vector}, "; what fits is 2 or 4"), where);
      !e)
    return e;
  if (auto e = refuse_if(spec.align != 0 && !std::has_single_bit(spec.align),
                         cat(what(), " is aligned to ", spec.align, " bytes; what fits is a power of two"), where);
      !e)
    return e;
  for (std::size_t i = 0; i < spec.shape.size(); ++i)
    if (auto e = refuse_if(spec.shape[i] == 0 && i > 0, cat(what(), " has a dimension of 0"), where,
                           "the first dimension alone may be left open");
        !e)
      return e;
  if (spec.init)
    if (auto fits = can_start(spec.name, spec.type, *spec.init, where); !fits) return fits;
  if (auto added = add_name(spec.name, "a variable", where); !added) return added;
  ir::Module& module = declarations();
  ir::Variable v;
  v.name = module.intern(spec.name);
  v.space = spec.space;
  v.linkage = spec.linkage;
  v.type = isa::register_type(spec.type);  // as registers: bf16 is declared .b16
  v.align = spec.align;
  v.vector = spec.vector;
  v.attributes = spec.attributes;
  v.where = module.add(where);
  if (!spec.shape.empty()) {
    v.unsized = spec.shape[0] == 0;
    if (!v.unsized) v.elements = spec.shape[0];
    v.inner.assign(spec.shape.begin() + 1, spec.shape.end());
  }
  if (spec.init) add(module, v.type, *spec.init, v.initialiser);
  module.variables.push_back(std::move(v));
  module.items.push_back(
      {ir::ModuleItemKind::variable, static_cast<std::uint32_t>(module.variables.size() - 1), module.add(where)});
  return {};
}

Expected<void> ModuleBuilder::pragma(std::string_view text, SourceLocation where) {
  if (auto e = refuse_if(text.find_first_of("\"\n") != std::string_view::npos,
                         cat("the pragma `", text, "` has a quote or a newline in it"), where,
                         "give the text between the quotes alone: `nounroll`");
      !e)
    return e;
  ir::Module& module = declarations();
  module.items.push_back({ir::ModuleItemKind::pragma, module.intern(cat('"', text, '"')).index, module.add(where)});
  return {};
}

Expected<void> ModuleBuilder::alias(std::string_view name, std::string_view function, SourceLocation where) {
  if (auto added = add_name(name, "an alias", where); !added) return added;
  aliases_.push_back({std::string(name), std::string(function), parts_.size(), where});
  return {};
}

Expected<void> ModuleBuilder::section(std::string_view name, std::string_view lines, SourceLocation where) {
  const std::string dotted = name.starts_with('.') ? std::string(name) : cat('.', name);
  if (auto e = refuse_if(!is_identifier(dotted.substr(1)) || lines.find_first_of("{}") != std::string_view::npos,
                         cat("the section `", dotted, "` is no section of PTX"), where,
                         "a name such as `.debug_str`, and the directives that stand between its braces");
      !e)
    return e;
  ir::Section made;
  made.name = dotted;
  for (std::string_view rest = lines; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (!line.empty()) made.lines += cat(line, '\n');
  }
  ir::Module& module = declarations();
  module.sections.push_back(std::move(made));
  module.items.push_back(
      {ir::ModuleItemKind::section, static_cast<std::uint32_t>(module.sections.size() - 1), module.add(where)});
  return {};
}

Expected<void> ModuleBuilder::append(const ir::Module& parsed, SourceLocation where) {
  for (const ir::Variable& v : parsed.variables)
    if (v.linkage != ir::Linkage::extern_)
      if (auto added = add_name(parsed.str(v.name), "a variable", where); !added) return added;
  for (const ir::Function& f : parsed.functions)
    if (f.has_body)
      if (auto added = add_name(parsed.str(f.name), "a function", where); !added) return added;
  write::append(declarations(), parsed);
  return {};
}

Expected<std::size_t> ModuleBuilder::declare(std::string_view name, SourceLocation where) {
  if (auto added = add_name(name, "a function", where); !added) return Unexpected{added.error()};
  Part& part = parts_.emplace_back();
  part.defined = false;
  part.function = name;
  part.where = where;
  return parts_.size() - 1;
}

void ModuleBuilder::define(std::size_t number, ir::Module function) {
  parts_[number].module = std::move(function);
  parts_[number].defined = true;
}

Expected<void> ModuleBuilder::place_alias(ir::Module& module, const Alias& alias) const {
  const ir::Function* target = module.find(alias.function);
  if (target == nullptr || !target->has_body || target->is_entry)
    return refuse(Kind::undefined_symbol,
                  cat("`", alias.name, "` is an alias of `", alias.function, "`, which is no function of the module"),
                  alias.where);
  ir::Function declared = declaration_of(*target);
  declared.name = module.intern(alias.name);
  const ir::WhereId where = module.add(alias.where);
  module.functions.push_back(std::move(declared));
  // its declaration in front of all functions, which may call it; the alias itself behind the definition
  const ir::ModuleItem declaration{ir::ModuleItemKind::function, static_cast<std::uint32_t>(module.functions.size() - 1), where};
  const auto is_function = [](const ir::ModuleItem& item) { return item.kind == ir::ModuleItemKind::function; };
  module.items.insert(std::find_if(module.items.begin(), module.items.end(), is_function), declaration);
  module.items.push_back({ir::ModuleItemKind::alias, module.intern(cat(alias.name, ", ", alias.function)).index, where});
  return {};
}

Expected<ir::Module> ModuleBuilder::link(std::span<const ir::Module* const> kernels) const {
  ir::Module module;
  module.target = target_;
  module.version = version_;
  module.address_size = 64;
  for (const Part& part : parts_) {
    if (!part.defined)
      return refuse(Kind::undefined_symbol, cat("the function `", part.function, "` is declared in the module and never written"),
                    part.where);
    write::append(module, part.module);
  }
  for (const Alias& alias : aliases_)
    if (auto placed = place_alias(module, alias); !placed) return Unexpected{placed.error()};
  for (const ir::Module* kernel : kernels) write::append(module, *kernel);
  declare_ahead(module);
  return module;
}

}  // namespace ptx::write
