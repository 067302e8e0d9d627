#include "ptx/write/link.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::write {
namespace {

// Copies the parts of a module with the ids of another one.
class Copier {
 public:
  Copier(ir::Module& into, const ir::Module& from) : into_(into), from_(from), strings_(from.string_count()) {}

  ir::Function function(const ir::Function& original) {
    ir::Function f = original;
    f.name = text(f.name);
    f.where = place(f.where);
    params(f.returns);
    params(f.params);
    for (ir::RegDecl& decl : f.reg_decls) {
      decl.base = text(decl.base);
      decl.where = place(decl.where);
    }
    for (ir::Variable& v : f.variables) variable(v);
    for (ir::Label& label : f.labels) label.name = text(label.name);
    for (ir::Inst& item : f.body) body_item(item);
    for (ir::Operand& operand : f.operands) name(operand);
    for (ir::Loc& loc : f.locs) loc.function_name = text(loc.function_name);
    for (ir::Prototype& prototype : f.prototypes) {
      params(prototype.returns);
      params(prototype.params);
    }
    for (std::vector<ir::Operand>& list : f.target_lists)
      for (ir::Operand& operand : list) name(operand);
    return f;
  }
  ir::Variable variable_copy(const ir::Variable& original) {
    ir::Variable v = original;
    variable(v);
    return v;
  }
  std::uint32_t text(std::uint32_t index) { return text(id(index)).index; }
  ir::WhereId place(ir::WhereId where) {
    const SourceLocation known = from_.where(where);
    return known.known() ? into_.add(known) : ir::WhereId{};
  }

 private:
  static ir::StringId id(std::uint32_t index) {
    ir::StringId made;
    made.index = index;
    return made;
  }
  ir::StringId text(ir::StringId of) {
    if (!of.valid()) return of;
    ir::StringId& known = strings_[of.index];
    if (!known.valid()) known = into_.intern(from_.str(of));
    return known;
  }
  void params(std::vector<ir::Param>& list) {
    for (ir::Param& param : list) {
      param.name = text(param.name);
      param.where = place(param.where);
    }
  }
  void variable(ir::Variable& v) {
    v.name = text(v.name);
    v.where = place(v.where);
    for (ir::Init& init : v.initialiser) init.symbol = text(init.symbol);
  }
  void name(ir::Operand& operand) {
    if (operand.kind == ir::OperandKind::symbol || operand.kind == ir::OperandKind::text) operand.payload = text(operand.payload);
  }
  void body_item(ir::Inst& item) {
    item.where = place(where_id(item)).index;
    if (item.kind == ir::ItemKind::comment || item.kind == ir::ItemKind::pragma || item.kind == ir::ItemKind::raw)
      item.payload = text(item.payload);
  }
  static ir::WhereId where_id(const ir::Inst& item) {
    ir::WhereId where;
    where.index = item.where;
    return where;
  }

  ir::Module& into_;
  const ir::Module& from_;
  std::vector<ir::StringId> strings_;  // by id in `from`
};

// The same variable, declared `extern` before.
ir::Variable* declared_extern(ir::Module& module, const ir::Variable& v) {
  if (v.linkage != ir::Linkage::extern_) return nullptr;
  for (ir::Variable& known : module.variables)
    if (known.name == v.name && known.linkage == v.linkage && known.space == v.space && known.type == v.type &&
        known.unsized == v.unsized)
      return &known;
  return nullptr;
}

}  // namespace

void append(ir::Module& into, const ir::Module& from) {
  Copier copy(into, from);
  for (const ir::ModuleItem& item : ir::items_in_order(from)) {
    ir::ModuleItem placed{item.kind, 0, copy.place(item.where)};
    switch (item.kind) {
      case ir::ModuleItemKind::variable: {
        ir::Variable v = copy.variable_copy(from.variables[item.payload]);
        if (ir::Variable* known = declared_extern(into, v)) {
          known->align = std::max(known->align, v.align);
          continue;
        }
        into.variables.push_back(std::move(v));
        placed.payload = static_cast<std::uint32_t>(into.variables.size() - 1);
        break;
      }
      case ir::ModuleItemKind::function:
        into.functions.push_back(copy.function(from.functions[item.payload]));
        placed.payload = static_cast<std::uint32_t>(into.functions.size() - 1);
        break;
      case ir::ModuleItemKind::section:
        into.sections.push_back(from.sections[item.payload]);
        placed.payload = static_cast<std::uint32_t>(into.sections.size() - 1);
        break;
      case ir::ModuleItemKind::file:
      case ir::ModuleItemKind::pragma:
      case ir::ModuleItemKind::alias:
      case ir::ModuleItemKind::raw:
        placed.payload = copy.text(item.payload);
        break;
    }
    into.items.push_back(placed);
  }
}

ir::Function declaration_of(const ir::Function& function) {
  ir::Function declared;
  declared.name = function.name;
  declared.is_entry = function.is_entry;
  declared.has_body = false;
  declared.linkage = function.linkage;
  declared.returns = function.returns;
  declared.params = function.params;
  declared.attributes = function.attributes;
  for (std::vector<ir::Param>* list : {&declared.returns, &declared.params})
    for (ir::Param& param : *list) param.reg = {};
  declared.where = function.where;
  return declared;
}

void declare_ahead(ir::Module& module) {
  std::unordered_map<std::uint32_t, std::size_t> defined;  // by name: the place of its item
  for (std::size_t i = 0; i < module.items.size(); ++i)
    if (module.items[i].kind == ir::ModuleItemKind::function) {
      const ir::Function& f = module.functions[module.items[i].payload];
      if (!f.is_entry) defined.try_emplace(f.name.index, i);  // a declaration of the author's counts
    }
  std::vector<std::size_t> ahead;  // items that are named before
  for (std::size_t i = 0; i < module.items.size(); ++i) {
    if (module.items[i].kind != ir::ModuleItemKind::function) continue;
    for (const ir::Operand& operand : module.functions[module.items[i].payload].operands) {
      if (operand.kind != ir::OperandKind::symbol) continue;
      const auto it = defined.find(operand.payload);
      if (it != defined.end() && it->second > i) ahead.push_back(it->second);
    }
  }
  std::sort(ahead.begin(), ahead.end());
  ahead.erase(std::unique(ahead.begin(), ahead.end()), ahead.end());
  std::vector<ir::ModuleItem> declarations;
  for (const std::size_t i : ahead) {
    const ir::ModuleItem item = module.items[i];
    module.functions.push_back(declaration_of(module.functions[item.payload]));
    declarations.push_back({item.kind, static_cast<std::uint32_t>(module.functions.size() - 1), item.where});
  }
  const auto first = std::find_if(module.items.begin(), module.items.end(),
                                  [](const ir::ModuleItem& item) { return item.kind == ir::ModuleItemKind::function; });
  module.items.insert(first, declarations.begin(), declarations.end());
}

}  // namespace ptx::write
