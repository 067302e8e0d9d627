#include "ptx/write/builder.hpp"

#include <algorithm>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

thread_local Builder* current_builder = nullptr;

Diagnostic diagnose(Kind kind, std::string message, SourceLocation where) {
  Diagnostic d;
  d.kind = kind;
  d.message = std::move(message);
  d.where = where;
  return d;
}

Diagnostic not_an_identifier(std::string_view what, std::string_view name, SourceLocation where) {
  return diagnose(Kind::bad_declaration, cat('`', name, "` cannot name ", what), where)
      .hint(
          "a PTX name starts with a letter, or with `_`, `$` or `%` and more, and goes on with letters, digits, `_` and "
          "`$`");
}

// ptxas reads such a name as the special register wherever it stands.
Diagnostic special_name(std::string_view name, SourceLocation where) {
  return diagnose(Kind::bad_declaration, cat('`', name, "` cannot name a register: PTX has a special register of that name"),
                  where);
}

Diagnostic already_declared(std::string_view name, SourceLocation where) {
  return diagnose(Kind::duplicate_symbol, cat('`', name, "` is declared already"), where);
}

}  // namespace

std::optional<std::size_t> family_of(Type type) {
  enum : std::size_t { p, rs, r, rd, f, fd, h, hh, rq, b };
  if (type == Type::pred) return p;
  if (type == Type::f16 || type == Type::bf16) return h;
  if (type == Type::f16x2 || type == Type::bf16x2) return hh;
  if (type == Type::f32) return f;
  if (type == Type::f64) return fd;
  const bool packed = isa::kind(type) == isa::TypeKind::packed;
  switch (isa::bits(type)) {
    case 0:
      return std::nullopt;
    case 8:
      return packed ? b : r;  // PTX loads, stores and converts bytes through wider registers
    case 16:
      return packed ? b : rs;
    case 32:
      return r;
    case 64:
      return rd;
    case 128:
      return rq;
    default:
      return std::nullopt;  // 1- and 4-bit formats exist inside wider registers alone
  }
}

Version default_version(Target target) {
  const isa::TargetInfo& info = isa::info(target);
  const Version usual = info.base == 100 || info.base == 101 ? Version{8, 8} : Version{8, 5};
  return std::max(usual, info.since);
}

// ---- state ----------------------------------------------------------------------------------------------------------

Builder::State::State(KernelHeader header) {
  module.target = header.target;
  module.version = header.version.value_or(default_version(header.target));
  ir::Function& f = module.functions.emplace_back();
  f.name = module.intern(header.name);
  f.is_entry = header.is_entry;
  f.linkage = header.linkage;
  f.directives = std::move(header.directives);
  dynamic_shared = header.dynamic_shared;
  tma_by_value = header.tma_by_value;
  for (const Family& family : families) declare(family.base, family.declared, 0u, {});
  if (!is_identifier(header.name)) fail(not_an_identifier("a kernel", header.name, {}));
  names.add(header.name);
  for (const std::string& name : header.module_names) names.add(name);
  const Version since = isa::info(header.target).since;
  if (module.version < since)
    fail(diagnose(Kind::version_lacks,
                  cat("target ", isa::name(header.target), " needs PTX ", to_string(since), "; this kernel's version is ",
                      to_string(module.version)),
                  {}));
}

ir::RegDeclId Builder::State::declare(std::string_view base, Type declared, std::optional<std::uint32_t> count,
                                      SourceLocation where) {
  const ir::RegDeclId id(entry().reg_decls.size());
  const bool automatic = id.index < families.size();
  const bool block_local = !automatic && scopes.size() > 1;
  entry().reg_decls.push_back({module.intern(base), declared, count, block_local});
  closed.push_back(false);
  if (block_local) {
    scopes.back().decls.push_back(id);
    add_item(ir::ItemKind::reg_decl, id.index, where);
  }
  return id;
}

Reg Builder::State::add_register(ir::RegDeclId decl, std::uint32_t index, Type type) {
  ir::RegDecl& declared = entry().reg_decls[decl.index];
  if (declared.count) declared.count = std::max(*declared.count, index + 1);
  entry().regs.push_back({decl, index, declared.type});
  newest_reg = {entry().body.size(), entry().operands.size()};
  return {ir::RegId(entry().regs.size() - 1), type};
}

std::optional<std::size_t> Builder::State::family_called(std::string_view base) const {
  for (std::size_t i = 0; i < families.size(); ++i)
    if (module.str(module.functions.front().reg_decls[i].base) == base) return i;
  return std::nullopt;
}

std::optional<std::pair<std::size_t, std::uint32_t>> Builder::State::family_place(std::string_view name) const {
  const SplitName split = split_number(name);
  if (split.number < 0) return std::nullopt;
  const auto family = family_called(split.base);
  if (!family) return std::nullopt;
  return std::pair(*family, static_cast<std::uint32_t>(split.number));
}

bool Builder::State::rename_family(std::size_t family, Type declared) {
  ir::RegDecl& decl = entry().reg_decls[family];
  if (families[family].declared == declared || *decl.count != 0) return false;
  std::string base(families[family].base);
  do base += 'x';
  while (family_called(base) || names.array_taken(base, 1));
  decl.base = module.intern(base);
  return true;
}

void Builder::State::add_item(ir::ItemKind kind, std::uint32_t payload, SourceLocation where) {
  ir::Inst item;
  item.kind = kind;
  item.payload = payload;
  item.where = place(where).index;
  entry().body.push_back(item);
}

ir::LabelId Builder::State::label_named(std::string_view name, SourceLocation where) {
  auto& labels = scopes.back().labels;
  if (const auto it = labels.find(name); it != labels.end()) return it->second;
  const ir::LabelId id(entry().labels.size());
  entry().labels.push_back({module.intern(name)});
  label_infos.push_back({where, {}});
  labels.emplace(name, id);
  return id;
}

// A label that a closing block names but does not define is one of the block around it.
void Builder::State::close_labels(Scope& inner, Scope& outer) {
  for (const auto& [name, id] : inner.labels) {
    if (entry().labels[id.index].item != ir::Label{}.item) continue;
    const auto [it, is_new] = outer.labels.emplace(name, id);
    if (!is_new) label_infos[id.index].same_as = it->second;
  }
}

Expected<void> Builder::State::resolve_labels() {
  std::vector<std::string> defined;
  for (const auto& [name, id] : scopes.front().labels)
    if (entry().labels[id.index].item != ir::Label{}.item) defined.push_back(name);
  const ir::LabelId* undefined = nullptr;  // the first in the author's order
  for (const auto& [name, id] : scopes.front().labels)
    if (entry().labels[id.index].item == ir::Label{}.item && (undefined == nullptr || id < *undefined)) undefined = &id;
  if (undefined != nullptr) {
    const std::string_view name = module.str(entry().labels[undefined->index].name);
    Diagnostic d = diagnose(Kind::undefined_label, cat("the kernel branches to `", name, "` and never defines that label"),
                            label_infos[undefined->index].first_use);
    if (const std::string near = nearest(name, defined); !near.empty()) d.hint(cat("did you mean `", near, "`?"));
    return Unexpected{std::move(d)};
  }
  std::vector<std::uint32_t> new_id(label_infos.size());
  std::vector<ir::Label> kept;
  for (std::size_t i = 0; i < label_infos.size(); ++i)
    if (!label_infos[i].same_as.valid()) {
      new_id[i] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(entry().labels[i]);
    }
  if (kept.size() == label_infos.size()) return {};
  const auto real = [&](std::uint32_t id) {
    while (label_infos[id].same_as.valid()) id = label_infos[id].same_as.index;
    return new_id[id];
  };
  for (ir::Operand& operand : entry().operands)
    if (operand.kind == ir::OperandKind::label) operand.payload = real(operand.payload);
  for (ir::Inst& item : entry().body)
    if (item.kind == ir::ItemKind::label) item.payload = real(item.payload);
  entry().labels = std::move(kept);
  return {};
}

// ---- declarations -----------------------------------------------------------------------------------------------

std::string Value::spelled() const { return above ? cat(static_cast<std::uint64_t>(integer)) : cat(integer); }

Builder::Builder(KernelHeader header) : state_(Owned<State>::make(std::move(header))) {}
Builder::Builder(Builder&&) noexcept = default;
Builder& Builder::operator=(Builder&&) noexcept = default;
Builder::~Builder() = default;

Expected<Reg> Builder::reg(Type type, std::string_view name, SourceLocation where) {
  State& s = *state_;
  const auto family = family_of(type);
  if (!family) return Unexpected{diagnose(Kind::bad_declaration, cat("no register has type .", isa::name(type)), where)};
  if (name.empty()) {
    const ir::RegDeclId decl(*family);
    return s.add_register(decl, *s.entry().reg_decls[*family].count, type);
  }
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a register", name, where)};
  if (isa::special_from_name(name)) return Unexpected{special_name(name, where)};
  if (const auto place = s.family_place(name); place && !s.rename_family(place->first, families[*family].declared)) {
    const auto [named_family, index] = *place;
    if (families[named_family].declared != families[*family].declared)
      return Unexpected{diagnose(Kind::bad_declaration,
                                 cat('`', name, "` is the name of a .", isa::name(families[named_family].declared),
                                     " register, and .", isa::name(type), " was asked for"),
                                 where)};
    if (index < *s.entry().reg_decls[named_family].count) return Unexpected{already_declared(name, where)};
    return s.add_register(ir::RegDeclId(named_family), index, type);
  }
  if (s.names.taken(name)) return Unexpected{already_declared(name, where)};
  s.names.add(name);
  return s.add_register(s.declare(name, families[*family].declared, std::nullopt, where), 0, type);
}

Expected<RegArray> Builder::array(Type type, std::uint32_t count, std::string_view name, SourceLocation where) {
  State& s = *state_;
  const auto family = family_of(type);
  if (!family || count == 0)
    return Unexpected{diagnose(
        Kind::bad_declaration,
        !family ? cat("no register has type .", isa::name(type)) : std::string("an array has at least one register"), where)};
  const std::optional<std::size_t> called = s.family_called(name);
  const bool free = called && s.rename_family(*called, families[*family].declared);
  constexpr std::size_t none = families.size();
  std::size_t takes = called && !free ? *called : none;  // the family whose own name the array has
  std::string base(name);
  if (takes != none) {
    if (families[takes].declared != families[*family].declared)
      return Unexpected{diagnose(Kind::bad_declaration,
                                 cat('`', name, "` is the family of .", isa::name(families[takes].declared), " registers, and .",
                                     isa::name(type), " was asked for"),
                                 where)};
    if (*s.entry().reg_decls[takes].count != 0) return Unexpected{already_declared(cat(name, 0), where)};
  } else if (!name.empty()) {
    if (!is_identifier(name)) return Unexpected{not_an_identifier("an array", name, where)};
    constexpr std::uint32_t max_specials = 32;  // %envreg0 to %envreg31
    for (std::uint32_t i = 0; i < std::min(count, max_specials); ++i)
      if (const std::string element = cat(name, i); isa::special_from_name(element))
        return Unexpected{special_name(element, where)};
    if (s.names.array_taken(name, count)) return Unexpected{already_declared(name, where)};
  } else if (*s.entry().reg_decls[*family].count == 0) {
    takes = *family;
  } else {
    ++*s.entry().reg_decls[*family].count;  // the array counts as one register of its family
    do base = cat(families[*family].arrays, s.next_array[*family]++, '_');
    while (s.names.array_taken(base, count));
  }
  ir::RegDeclId decl;
  if (takes != none) {
    decl = ir::RegDeclId(takes);
  } else {
    s.names.add_array(base, count);
    decl = s.declare(base, families[*family].declared, count, where);
  }
  RegArray array{decl, static_cast<std::uint32_t>(s.entry().regs.size()), count, type};
  for (std::uint32_t i = 0; i < count; ++i) s.add_register(decl, i, type);
  return array;
}

Reg Builder::at(const RegArray& array, std::uint32_t index) { return {ir::RegId(array.first + index), array.type}; }

Reg Builder::loop_counter() {
  const ir::RegDeclId decl(counter_family);
  return state_->add_register(decl, *state_->entry().reg_decls[counter_family].count, Type::s32);
}

Expected<std::string_view> Builder::variable(const ir::Variable& variable, std::string_view name, SourceLocation where) {
  State& s = *state_;
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a variable", name, where)};
  if (s.names.taken(name)) return Unexpected{already_declared(name, where)};
  s.names.add_global(name);
  s.entry().variables.push_back(variable);
  s.entry().variables.back().name = s.module.intern(name);
  return s.module.str(s.entry().variables.back().name);
}

Expected<std::string_view> Builder::module_variable(const ir::Variable& variable, std::string_view name, SourceLocation where) {
  State& s = *state_;
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a variable", name, where)};
  if (s.names.taken(name)) return Unexpected{already_declared(name, where)};
  s.names.add_global(name);
  s.module.variables.push_back(variable);
  s.module.variables.back().name = s.module.intern(name);
  return s.module.str(s.module.variables.back().name);
}

Expected<void> Builder::param(ir::Param param, std::string_view name, SourceLocation where) {
  State& s = *state_;
  if (!s.entry().is_entry)
    return Unexpected{diagnose(Kind::bad_declaration,
                               cat('`', name, "` would be a parameter of a kernel, and a device function is written"), where)
                          .hint("hand the function what it needs as an argument")};
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a parameter", name, where)};
  if (s.names.taken(name)) return Unexpected{already_declared(name, where)};
  s.names.add_global(name);
  param.name = s.module.intern(name);
  s.entry().params.push_back(param);
  return {};
}

namespace {

// A call passes registers of 16 bits and more: small ones are untyped then (check/calls.cpp).
bool can_be_passed(Type type) { return type != Type::pred && isa::bits(isa::register_type(type)) >= 16 && isa::bits(type) <= 64; }

}  // namespace

Expected<Reg> Builder::State::passed(std::vector<ir::Param> ir::Function::* list, Type type, std::string_view name,
                                     SourceLocation where) {
  if (!can_be_passed(type))
    return Unexpected{
        diagnose(Kind::bad_declaration, cat("`", name, "` is .", isa::name(type), ", which no call passes"), where)
            .hint(type == Type::pred ? "pass a .u32, 0 or 1: `selp` makes it, `!= 0` reads it" : "pass it in a wider register")};
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a parameter", name, where)};
  std::string called = name.starts_with('%') ? std::string(name) : cat('%', name);
  while (isa::special_from_name(called) || family_place(called) || family_called(called) || names.taken(called)) called += '_';
  names.add_global(called);
  const Type declared = families[*family_of(type)].declared;
  const ir::RegDeclId decl(entry().reg_decls.size());
  entry().reg_decls.push_back({module.intern(called), declared, std::nullopt, false});
  entry().reg_decls.back().is_param = true;
  closed.push_back(false);
  const Reg reg = add_register(decl, 0, type);
  ir::Param param;
  param.name = entry().reg_decls.back().base;
  param.type = declared;
  param.reg = reg.id;
  param.in_register = true;
  param.where = place(where);
  (entry().*list).push_back(param);
  return reg;
}

Expected<Reg> Builder::function_param(Type type, std::string_view name, SourceLocation where) {
  return state_->passed(&ir::Function::params, type, name, where);
}
Expected<Reg> Builder::function_result(Type type, std::string_view name, SourceLocation where) {
  Expected<Reg> made = state_->passed(&ir::Function::returns, type, name, where);
  if (made) state_->result_types.push_back(type);
  return made;
}
Type Builder::result_type(std::size_t index) const { return state_->result_types[index]; }

// ---- labels and structure -------------------------------------------------------------------------------------------

Expected<void> Builder::label(std::string_view name, SourceLocation where) {
  State& s = *state_;
  if (!is_identifier(name)) return Unexpected{not_an_identifier("a label", name, where)};
  const ir::LabelId id = s.label_named(name, where);
  ir::Label& label = s.entry().labels[id.index];
  if (label.item != ir::Label{}.item) {
    Diagnostic d = diagnose(Kind::duplicate_label, cat("label `", name, "` is defined already"), where);
    if (const SourceLocation first = s.module.where(s.entry().body[label.item]); first.known()) d.place("first", first);
    return Unexpected{std::move(d).hint("give this one another name, or put each in a `scope()` of its own")};
  }
  label.item = static_cast<std::uint32_t>(s.entry().body.size());
  s.add_item(ir::ItemKind::label, id.index, where);
  return {};
}

std::string Builder::fresh_label(std::string_view stem) { return cat("$_", stem, '_', state_->next_label++); }

void Builder::open_block(SourceLocation where) {
  State& s = *state_;
  s.add_item(ir::ItemKind::open, 0, where);
  s.scopes.emplace_back().opened = where;
  s.names.open();
}

Expected<void> Builder::close_block(SourceLocation where) {
  State& s = *state_;
  if (s.scopes.size() == 1) return Unexpected{diagnose(Kind::bad_control_flow, "a block is closed that was never opened", where)};
  State::Scope inner = std::move(s.scopes.back());
  s.scopes.pop_back();
  s.names.close();
  for (const ir::RegDeclId decl : inner.decls) s.closed[decl.index] = s.some_closed = true;
  s.close_labels(inner, s.scopes.back());
  s.add_item(ir::ItemKind::close, 0, where);
  return {};
}

void Builder::comment(std::string_view text) { state_->add_item(ir::ItemKind::comment, state_->module.intern(text).index); }
void Builder::raw(std::string_view statement, SourceLocation where) {
  state_->add_item(ir::ItemKind::raw, state_->module.intern(statement).index, where);
}

void Builder::enter_helper(std::string_view function, SourceLocation at) {
  std::vector<const CallSite*>& helpers = state_->helpers;
  if (at.from == nullptr && !helpers.empty()) at.from = helpers.back();
  helpers.push_back(intern_call(at, function));
}
void Builder::leave_helper() {
  if (!state_->helpers.empty()) state_->helpers.pop_back();
}

std::size_t Builder::size() const { return function().body.size(); }
void Builder::set_block_threads(std::uint64_t threads) { state_->block_threads = threads; }
std::uint64_t Builder::block_threads() const { return state_->block_threads; }
void Builder::set_owner(const void* module) { state_->owner = module; }
const void* Builder::owner() const { return state_->owner; }
Target Builder::target() const { return state_->module.target; }
const ir::Module& Builder::module() const { return state_->module; }
const ir::Function& Builder::function() const { return state_->module.functions.front(); }
std::string Builder::name(Reg reg) const {
  return reg.id.index < function().regs.size() ? state_->module.reg_name(function(), reg.id)
                                               : std::string("a register of another kernel");
}

// ---- the end ------------------------------------------------------------------------------------------------------

void Builder::fail(Diagnostic diagnostic) { state_->fail(std::move(diagnostic)); }
const Diagnostic* Builder::failure() const { return state_->failure ? &*state_->failure : nullptr; }
std::optional<Diagnostic> Builder::take_failure() { return std::exchange(state_->failure, std::nullopt); }

Expected<ir::Module> Builder::finish() {
  State& s = *state_;
  if (s.finished) return Unexpected{diagnose(Kind::no_active_trace, "this kernel is finished: its text has been asked for", {})};
  if (s.failure) return Unexpected{*s.failure};
  if (s.scopes.size() > 1)
    return Unexpected{diagnose(Kind::bad_control_flow, "a block is opened and never closed", s.scopes.back().opened)};
  if (auto too_much = s.too_much_static_shared()) return Unexpected{std::move(*too_much)};
  if (auto wrong = s.conditional_values()) return Unexpected{std::move(*wrong)};
  if (auto resolved = s.resolve_labels(); !resolved) return Unexpected{std::move(resolved).error()};
  // families that nobody used are not declared
  ir::Function& f = s.entry();
  std::vector<std::uint32_t> new_id;
  std::vector<ir::RegDecl> kept;
  for (const ir::RegDecl& decl : f.reg_decls) {
    new_id.push_back(static_cast<std::uint32_t>(kept.size()));
    if (decl.count != 0u) kept.push_back(decl);
  }
  for (ir::Register& reg : f.regs) reg.decl.index = new_id[reg.decl.index];
  for (ir::Inst& item : f.body)
    if (item.kind == ir::ItemKind::reg_decl) item.payload = new_id[item.payload];
  f.reg_decls = std::move(kept);
  ir::Module module = std::move(s.module);
  // what is still written goes into an empty kernel that nobody reads
  state_ =
      Owned<State>::make(KernelHeader{std::string(module.str(module.functions.front().name)), module.target, module.version, {}});
  state_->finished = true;
  return module;
}

Builder* current() { return current_builder; }
Tracing::Tracing(Builder& builder) : outer_(std::exchange(current_builder, &builder)) {}
Tracing::~Tracing() { current_builder = outer_; }

}  // namespace ptx::write
