// Statements that were read from text become part of a kernel being written. write does not see text: whoever has read one hands
// over the IR that text::parse made of it, in which everything goes by the names of that other module.
#include <algorithm>
#include <deque>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {
namespace {

constexpr std::uint32_t max_registers = 1 << 16;  // of one declaration

}  // namespace

class Builder::State::ParsedInliner {
 public:
  ParsedInliner(Builder& builder, State& state, const ir::Module& from, const ir::Function& function,
                std::span<const ir::RegDeclId> declared, SourceLocation where)
      : builder_(builder), state_(state), from_(from), function_(function), where_(where) {
    decls_.resize(function.reg_decls.size());
    std::copy(declared.begin(), declared.end(), decls_.begin());
    regs_.resize(function.regs.size());
  }

  Expected<void> run() {
    if (auto free = names_are_free(); !free) return free;
    for (const ir::Inst& item : function_.body)
      if (auto done = add(item); !done) return done;
    return {};
  }

 private:
  [[nodiscard]] std::string_view str(ir::StringId id) const { return from_.str(id); }
  [[nodiscard]] std::string_view str(std::uint32_t id) const { return from_.str(ir::StringId(id)); }
  ir::StringId intern(ir::StringId id) { return id.valid() ? state_.module.intern(from_.str(id)) : id; }
  std::uint32_t intern(std::uint32_t id) { return state_.module.intern(str(id)).index; }

  [[nodiscard]] Unexpected taken(std::string_view name) const {
    return refuse(Kind::duplicate_symbol, cat('`', name, "` is declared already"), where_,
                  "give it another name, or put the text in a `scope()`");
  }
  // What the text declares outside of its own blocks joins the names around it; a block of its own may hide them.
  Expected<void> names_are_free() const {
    int depth = 0;
    for (const ir::Inst& item : function_.body) {
      depth += item.kind == ir::ItemKind::open ? 1 : item.kind == ir::ItemKind::close ? -1 : 0;
      if (depth != 0) continue;
      if (item.kind == ir::ItemKind::variable && state_.names.taken(str(function_.variables[item.payload].name)))
        return taken(str(function_.variables[item.payload].name));
      if (item.kind != ir::ItemKind::reg_decl) continue;
      const ir::RegDecl& decl = function_.reg_decls[item.payload];
      const std::string_view base = str(decl.base);
      if (decl.count ? state_.names.array_taken(base, std::min(*decl.count, max_registers)) : state_.names.taken(base))
        return taken(base);
    }
    return {};
  }

  // ---- registers ------------------------------------------------------------------------------------------------------

  Expected<void> declare(std::uint32_t index) {
    const ir::RegDecl& decl = function_.reg_decls[index];
    const std::string_view base = str(decl.base);
    if (decl.count && (*decl.count == 0 || *decl.count > max_registers))
      return refuse(
          Kind::bad_declaration,
          cat("`", base, '<', *decl.count, ">` declares ", *decl.count, " registers; what fits is 1 to ", max_registers), where_);
    if (depth_ == 0 && decl.vector == 1) {  // a family of automatic registers may be among them
      if (decl.count) {
        const Expected<RegArray> array = builder_.array(decl.type, *decl.count, base, where_);
        if (!array) return Unexpected{array.error()};
        decls_[index] = array->decl;
      } else {
        const Expected<Reg> single = builder_.reg(decl.type, base, where_);
        if (!single) return Unexpected{single.error()};
        decls_[index] = state_.entry().regs[single->id.index].decl;
        singles_.push_back({index, single->id});
      }
      return {};
    }
    if (decl.count)
      state_.names.add_array(base, *decl.count);
    else
      state_.names.add(base);
    decls_[index] = state_.declare(base, decl.type, decl.count, where_);
    state_.entry().reg_decls[decls_[index].index].vector = decl.vector;
    return {};
  }

  std::uint32_t reg(std::uint32_t id) {
    ir::RegId& known = regs_[id];
    if (known.valid()) return known.index;
    const ir::Register& wanted = function_.regs[id];
    for (const Single& single : singles_)
      if (single.decl == wanted.decl.index) return (known = single.reg).index;
    const ir::RegDeclId decl = decls_[wanted.decl.index];
    Store<ir::Register>& regs = state_.entry().regs;
    const auto it =
        std::find_if(regs.begin(), regs.end(), [&](const ir::Register& r) { return r.decl == decl && r.index == wanted.index; });
    if (it != regs.end()) return (known = ir::RegId(static_cast<std::size_t>(it - regs.begin()))).index;
    known = state_.add_register(decl, wanted.index, wanted.type).id;
    regs.back().vector = wanted.vector;
    return known.index;
  }

  // ---- operands -------------------------------------------------------------------------------------------------------

  ir::Operand copy(const ir::Operand& o) {
    ir::Operand copied = o;
    switch (o.kind) {
      case ir::OperandKind::reg:
        copied.payload = reg(o.payload);
        break;
      case ir::OperandKind::integer:
      case ir::OperandKind::floating:
        copied.payload = state_.constant(function_.constants[o.payload]);
        break;
      case ir::OperandKind::symbol:
      case ir::OperandKind::text:
        copied.payload = intern(o.payload);
        break;
      case ir::OperandKind::label:
        copied.payload = state_.label_named(str(function_.labels[o.payload].name), where_).index;
        break;
      case ir::OperandKind::vector:
      case ir::OperandKind::address:
      case ir::OperandKind::tensor:
      case ir::OperandKind::list:
      case ir::OperandKind::part:
      case ir::OperandKind::expression:
      case ir::OperandKind::element:
        copied.payload = copy_all(function_.parts(o));
        break;
      case ir::OperandKind::special:
      case ir::OperandKind::sink:
        break;
    }
    return copied;
  }
  // The index of the first of them.
  std::uint32_t copy_all(std::span<const ir::Operand> operands) {
    std::vector<ir::Operand> copies;
    for (const ir::Operand& o : operands) copies.push_back(copy(o));
    Store<ir::Operand>& store = state_.entry().operands;
    store.insert(store.end(), copies.begin(), copies.end());
    return static_cast<std::uint32_t>(store.size() - copies.size());
  }

  // ---- statements -------------------------------------------------------------------------------------------------------

  Expected<void> add(const ir::Inst& item) {
    ir::Function& entry = state_.entry();
    switch (item.kind) {
      case ir::ItemKind::inst: {
        ir::Inst inst = item;
        inst.payload = copy_all(function_.operands_of(item));
        if (item.guard_id().valid()) inst.guard = reg(item.guard);
        inst.where = state_.place(where_).index;
        entry.body.push_back(inst);
        return {};
      }
      case ir::ItemKind::label:
        return builder_.label(str(function_.labels[item.payload].name), where_);
      case ir::ItemKind::open:
        ++depth_;
        builder_.open_block(where_);
        return {};
      case ir::ItemKind::close:
        --depth_;
        return builder_.close_block(where_);
      case ir::ItemKind::reg_decl:
        return declare(item.payload);
      case ir::ItemKind::variable: {
        ir::Variable variable = function_.variables[item.payload];
        state_.names.add(str(variable.name));
        variable.name = intern(variable.name);
        variable.where = {};
        for (ir::Init& init : variable.initialiser) init.symbol = intern(init.symbol);
        entry.variables.push_back(std::move(variable));
        state_.add_item(item.kind, static_cast<std::uint32_t>(entry.variables.size() - 1), where_);
        return {};
      }
      case ir::ItemKind::comment:
      case ir::ItemKind::pragma:
      case ir::ItemKind::raw:
        state_.add_item(item.kind, intern(item.payload), where_);
        return {};
      case ir::ItemKind::loc: {
        ir::Loc loc = function_.locs[item.payload];
        loc.function_name = intern(loc.function_name);
        entry.locs.push_back(loc);
        state_.add_item(item.kind, static_cast<std::uint32_t>(entry.locs.size() - 1), where_);
        return {};
      }
      case ir::ItemKind::prototype: {
        ir::Prototype prototype = function_.prototypes[item.payload];
        for (auto* params : {&prototype.returns, &prototype.params})
          for (ir::Param& param : *params) {
            param.name = intern(param.name);
            param.where = {};
          }
        entry.prototypes.push_back(std::move(prototype));
        state_.add_item(item.kind, static_cast<std::uint32_t>(entry.prototypes.size() - 1), where_);
        return {};
      }
      case ir::ItemKind::branch_targets:
      case ir::ItemKind::call_targets: {
        std::vector<ir::Operand> list;
        for (const ir::Operand& o : function_.target_lists[item.payload]) list.push_back(copy(o));
        entry.target_lists.push_back(std::move(list));
        state_.add_item(item.kind, static_cast<std::uint32_t>(entry.target_lists.size() - 1), where_);
        return {};
      }
    }
    return {};
  }

  struct Single {
    std::uint32_t decl;  // of the text
    ir::RegId reg;
  };
  Builder& builder_;
  State& state_;
  const ir::Module& from_;
  const ir::Function& function_;
  SourceLocation where_;
  int depth_ = 0;
  std::vector<ir::RegDeclId> decls_;  // by RegDeclId of the text
  std::vector<ir::RegId> regs_;       // by RegId of the text
  std::vector<Single> singles_;       // registers by themselves: `%r7` is one of a family here
};

std::vector<ir::RegDeclId> Builder::visible_registers() const {
  std::vector<ir::RegDeclId> visible;
  const std::vector<ir::RegDecl>& decls = function().reg_decls;
  for (std::size_t i = 0; i < decls.size(); ++i)
    if (!state_->closed[i] && decls[i].count != 0u) visible.emplace_back(i);
  return visible;
}

Expected<void> Builder::accepts(const ir::Module& from, const ir::Function& function, const ir::Inst& inst) const {
  const isa::Form& form = isa::form(inst.form);
  std::deque<std::vector<isa::Arg>> parts;
  std::vector<isa::Arg> args;
  for (const ir::Operand& o : function.operands_of(inst)) args.push_back(ir::arg_of(from, function, o, parts));
  const isa::Judgement judged = isa::legal(form, inst.choices, args, {target(), state_->module.version});
  if (!judged.match && isa::leniency(form, inst.choices, args, target()).empty()) return Unexpected{judged.match.error()};
  if (inst.guard_id().valid() && function.reg(inst.guard_id()).type != Type::pred) {
    Diagnostic d;
    d.kind = Kind::bad_guard;
    d.message = cat("the guard of `", isa::spell(form, inst.choices), "` is `", from.reg_name(function, inst.guard_id()),
                    "`, a .", isa::name(function.reg(inst.guard_id()).type), " register; what fits is a predicate");
    return Unexpected{std::move(d)};
  }
  if (!judged.lacking.empty()) return Unexpected{with_form(judged.lacking.front(), form)};
  if (judged.broken && judged.broken->severity == Severity::error) return Unexpected{with_form(*judged.broken, form)};
  return {};
}

Expected<void> Builder::inline_parsed(const ir::Module& from, const ir::Function& function,
                                      std::span<const ir::RegDeclId> declared, SourceLocation where) {
  return State::ParsedInliner(*this, *state_, from, function, declared, where).run();
}

// ---- directives of a body ---------------------------------------------------------------------------------------------

Expected<void> Builder::pragma(std::string_view text, SourceLocation where) {
  if (text.find_first_of("\"\n") != std::string_view::npos)
    return refuse(Kind::bad_declaration, cat("the pragma `", text, "` has a quote or a newline in it"), where,
                  "give only the text between the quotes: `nounroll`");
  state_->add_item(ir::ItemKind::pragma, state_->module.intern(text).index, where);
  return {};
}

void Builder::loc(std::uint32_t file, std::uint32_t line, std::uint32_t column, SourceLocation where) {
  std::vector<ir::Loc>& locs = state_->entry().locs;
  locs.push_back({.file = file, .line = line, .column = column});
  state_->add_item(ir::ItemKind::loc, static_cast<std::uint32_t>(locs.size() - 1), where);
}

Expected<void> Builder::file(std::uint32_t number, std::string_view name, SourceLocation where) {
  if (name.find_first_of("\"\n") != std::string_view::npos)
    return refuse(Kind::bad_declaration, cat("the name of file ", number, ", `", name, "`, has a quote or a newline in it"),
                  where);
  ir::Module& module = state_->module;
  const std::string prefix = cat(number, " \""), text = cat(prefix, name, '"');
  for (const ir::ModuleItem& item : module.items)
    if (item.kind == ir::ModuleItemKind::file) {
      const std::string_view known = module.str(ir::StringId(item.payload));
      if (known == text) return {};
      if (known.starts_with(prefix))
        return refuse(Kind::bad_declaration, cat("file ", number, " is `", known.substr(prefix.size() - 1), "` already"), where,
                      "give this one another number");
    }
  module.items.push_back({ir::ModuleItemKind::file, module.intern(text).index, module.add(where)});
  return {};
}

}  // namespace ptx::write
