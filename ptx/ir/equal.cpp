// The order in which a module prints, and whether two modules say the same.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::ir {
namespace {

// The families of automatic registers, in the order in which a function declares them (docs/decisions/0002).
struct Family {
  std::string_view base;
  Type type;
};
constexpr std::array families = {Family{"%p", Type::pred}, Family{"%rs", Type::b16}, Family{"%r", Type::b32},
                                 Family{"%rd", Type::b64}, Family{"%f", Type::f32},  Family{"%fd", Type::f64},
                                 Family{"%h", Type::b16},  Family{"%hh", Type::b32}, Family{"%rq", Type::b128}};

// Compares two modules, thing by thing; `what_` says the first difference. Registers and labels are numbered as each module came
// by them, so they are compared by what declares them: the declarations pair up in the order of the text.
class Comparison {
 public:
  Comparison(const Module& a, const Module& b) : a_(a), b_(b) {}

  std::string run() {
    same("the version", to_string(a_.version), to_string(b_.version));
    same("the target", isa::name(a_.target), isa::name(b_.target));
    same("the options of the target", joined(a_.target_options), joined(b_.target_options));
    same("the size of an address", cat(a_.address_size), cat(b_.address_size));
    if (!what_.empty()) return what_;
    const std::vector<ModuleItem> items_a = items_in_order(a_), items_b = items_in_order(b_);
    for (std::size_t i = 0; i < std::max(items_a.size(), items_b.size()) && what_.empty(); ++i) {
      if (i >= items_a.size() || i >= items_b.size()) {
        same("the number of things in the module", cat(items_a.size()), cat(items_b.size()));
        break;
      }
      place_ = cat("thing ", i + 1, " of the module");
      item(items_a[i], items_b[i]);
    }
    return what_;
  }

 private:
  static std::string joined(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) out += cat(out.empty() ? "" : ", ", word);
    return out;
  }

  bool same(std::string_view what, std::string_view a, std::string_view b) {
    if (a == b || !what_.empty()) return what_.empty();
    what_ = cat(place_, place_.empty() ? "" : ": ", what, " is `", a, "` in one and `", b, "` in the other");
    return false;
  }
  bool same(std::string_view what, std::uint64_t a, std::uint64_t b) { return a == b || same(what, cat(a), cat(b)); }
  bool same(std::string_view what, StringId a, StringId b) { return same(what, a_.str(a), b_.str(b)); }
  template <class Thing, class Compare>
  bool same_list(std::string_view what, const std::vector<Thing>& a, const std::vector<Thing>& b, Compare compare) {
    if (!same(cat("the number of ", what), a.size(), b.size())) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!compare(a[i], b[i])) return false;
    return true;
  }

  void item(const ModuleItem& a, const ModuleItem& b) {
    if (!same("its kind", static_cast<std::uint64_t>(a.kind), static_cast<std::uint64_t>(b.kind))) return;
    switch (a.kind) {
      case ModuleItemKind::variable:
        variable(a_.variables[a.payload], b_.variables[b.payload]);
        break;
      case ModuleItemKind::function:
        function(a_.functions[a.payload], b_.functions[b.payload]);
        break;
      case ModuleItemKind::section:
        same("the name of the section", a_.sections[a.payload].name, b_.sections[b.payload].name);
        same("the content of the section", a_.sections[a.payload].lines, b_.sections[b.payload].lines);
        break;
      case ModuleItemKind::file:
      case ModuleItemKind::pragma:
      case ModuleItemKind::alias:
      case ModuleItemKind::raw:
        same("its text", StringId(a.payload), StringId(b.payload));
        break;
    }
  }

  bool variable(const Variable& a, const Variable& b) {
    const std::string of = cat(" of `", a_.str(a.name), '`');
    return same("the name of a variable", a.name, b.name) && same(cat("the state space", of), name(a.space), name(b.space)) &&
           same(cat("the linkage", of), name(a.linkage), name(b.linkage)) &&
           same(cat("the type", of), isa::name(a.type), isa::name(b.type)) && same(cat("the alignment", of), a.align, b.align) &&
           same(cat("the vector length", of), a.vector, b.vector) && same(cat("the missing size", of), a.unsized, b.unsized) &&
           same(cat("being an array", of), a.elements.has_value(), b.elements.has_value()) &&
           same(cat("the length", of), a.elements.value_or(0), b.elements.value_or(0)) &&
           same_list(cat("dimensions", of), a.inner, b.inner,
                     [&](auto x, auto y) { return same(cat("a dimension", of), x, y); }) &&
           same(cat("the attributes", of), joined(a.attributes), joined(b.attributes)) &&
           same_list(cat("initial values", of), a.initialiser, b.initialiser, [&](const Init& x, const Init& y) {
             return same(cat("the kind of an initial value", of), static_cast<std::uint64_t>(x.kind),
                         static_cast<std::uint64_t>(y.kind)) &&
                    same(cat("an initial value", of), x.value, y.value) &&
                    same(cat("an initial value", of), x.symbol, y.symbol) &&
                    same(cat("the width of an initial value", of), x.width, y.width) &&
                    same(cat("the mask of an initial value", of), x.mask_byte, y.mask_byte);
           });
  }

  bool param(const Param& a, const Param& b) {
    const std::string of = cat(" of the parameter `", a_.str(a.name), '`');
    return same("the name of a parameter", a.name, b.name) && same(cat("the type", of), isa::name(a.type), isa::name(b.type)) &&
           same(cat("the alignment", of), a.align, b.align) && same(cat("the vector length", of), a.vector, b.vector) &&
           same(cat("being an array", of), a.elements.has_value(), b.elements.has_value()) &&
           same(cat("the length", of), a.elements.value_or(0), b.elements.value_or(0)) &&
           same(cat("the missing size", of), a.unsized, b.unsized) &&
           same(cat("the space", of), a.in_register ? "reg" : "param", b.in_register ? "reg" : "param") &&
           same(cat("being a pointer", of), a.is_ptr, b.is_ptr) &&
           same(cat("the space behind the pointer", of), a.ptr_space ? name(*a.ptr_space) : "",
                b.ptr_space ? name(*b.ptr_space) : "") &&
           same(cat("the alignment behind the pointer", of), a.ptr_align, b.ptr_align) &&
           same(cat("the described tensor", of), a.describes, b.describes);
  }
  bool params(const std::vector<Param>& a, const std::vector<Param>& b) {
    return same_list("parameters", a, b, [&](const Param& x, const Param& y) { return param(x, y); });
  }
  bool directives(const std::vector<Directive>& a, const std::vector<Directive>& b) {
    return same_list("directives", a, b, [&](const Directive& x, const Directive& y) {
      return same("a directive", x.name, y.name) && same("the text of a directive", x.text, y.text) &&
             same_list("values of a directive", x.values, y.values,
                       [&](auto v, auto w) { return same("a value of a directive", v, w); });
    });
  }

  // ---- functions ------------------------------------------------------------------------------------------------------

  // One line of a body in the order of the text.
  struct Line {
    ItemKind kind;
    std::uint32_t payload;
    const Inst* inst = nullptr;
    std::uint32_t item = 0;
  };
  static std::vector<Line> lines(const Module& module, const Function& f) {
    std::vector<Line> out;
    out.reserve(f.body.size());
    const Leading leading = leading_declarations(module, f);
    for (const std::uint32_t i : leading.reg_decls) out.push_back({ItemKind::reg_decl, i});
    for (const std::uint32_t i : leading.variables) out.push_back({ItemKind::variable, i});
    for (std::uint32_t i = 0; i < f.body.size(); ++i)
      if (f.body[i].kind != ItemKind::comment) out.push_back({f.body[i].kind, f.body[i].payload, &f.body[i], i});
    return out;
  }

  void function(const Function& a, const Function& b) {
    place_ = cat("function `", a_.str(a.name), '`');
    if (!same("its name", a.name, b.name) || !same("its kind", a.is_entry ? "entry" : "func", b.is_entry ? "entry" : "func") ||
        !same("having a body", a.has_body, b.has_body) || !same("its linkage", name(a.linkage), name(b.linkage)) ||
        !same("its attributes", joined(a.attributes), joined(b.attributes)) || !params(a.returns, b.returns) ||
        !params(a.params, b.params) || !directives(a.directives, b.directives) || !a.has_body)
      return;
    fa_ = &a;
    fb_ = &b;
    decls_.assign(a.reg_decls.size(), RegDeclId::absent);
    labels_.assign(a.labels.size(), LabelId::absent);
    pair_params(a.returns, b.returns);
    pair_params(a.params, b.params);
    const std::vector<Line> la = lines(a_, a), lb = lines(b_, b);
    // what is defined later may be used before
    for (std::size_t i = 0; i < std::min(la.size(), lb.size()); ++i)
      if (la[i].kind == ItemKind::label && lb[i].kind == ItemKind::label) labels_[la[i].payload] = lb[i].payload;
    for (std::size_t i = 0; i < std::min(la.size(), lb.size()); ++i) {
      place_ = cat("function `", a_.str(a.name), "`, line ", i + 1);
      if (!line(la[i], lb[i])) return;
    }
    place_ = cat("function `", a_.str(a.name), '`');
    same("the number of its lines", la.size(), lb.size());
  }

  void pair_params(const std::vector<Param>& a, const std::vector<Param>& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (a[i].reg.valid() && b[i].reg.valid()) decls_[fa_->reg(a[i].reg).decl.index] = fb_->reg(b[i].reg).decl.index;
  }

  bool line(const Line& a, const Line& b) {
    if (!same("its kind", static_cast<std::uint64_t>(a.kind), static_cast<std::uint64_t>(b.kind))) return false;
    switch (a.kind) {
      case ItemKind::inst:
        return instruction(*a.inst, *b.inst);
      case ItemKind::label:
        return same("a label", fa_->labels[a.payload].name, fb_->labels[b.payload].name);
      case ItemKind::open:
      case ItemKind::close:
      case ItemKind::comment:
        return true;
      case ItemKind::reg_decl: {
        const RegDecl& x = fa_->reg_decls[a.payload];
        const RegDecl& y = fb_->reg_decls[b.payload];
        decls_[a.payload] = b.payload;
        return same("the name of a register", x.base, y.base) &&
               same("the type of a register", isa::name(x.type), isa::name(y.type)) &&
               same("the size of a family of registers", cat(x.count.has_value(), ' ', x.count.value_or(0)),
                    cat(y.count.has_value(), ' ', y.count.value_or(0))) &&
               same("the vector length of a register", x.vector, y.vector);
      }
      case ItemKind::variable:
        return variable(fa_->variables[a.payload], fb_->variables[b.payload]);
      case ItemKind::pragma:
      case ItemKind::raw:
        return same("its text", StringId(a.payload), StringId(b.payload));
      case ItemKind::loc: {
        const Loc& x = fa_->locs[a.payload];
        const Loc& y = fb_->locs[b.payload];
        return same("the file", x.file, y.file) && same("the line", x.line, y.line) && same("the column", x.column, y.column) &&
               same("the function", x.function_name, y.function_name) &&
               same("the offset", x.function_offset, y.function_offset) &&
               same("the file of the call", x.inlined_file, y.inlined_file) &&
               same("the line of the call", x.inlined_line, y.inlined_line) &&
               same("the column of the call", x.inlined_column, y.inlined_column);
      }
      case ItemKind::prototype: {
        const Prototype& x = fa_->prototypes[a.payload];
        const Prototype& y = fb_->prototypes[b.payload];
        return params(x.returns, y.returns) && params(x.params, y.params) && directives(x.directives, y.directives);
      }
      case ItemKind::branch_targets:
      case ItemKind::call_targets:
        return operands(fa_->target_lists[a.payload], fb_->target_lists[b.payload]);
    }
    return true;
  }

  bool instruction(const Inst& a, const Inst& b) {
    if (a.form != b.form || a.choices != b.choices) {
      const bool spelled =
          same("the instruction", isa::spell(isa::form(a.form), a.choices), isa::spell(isa::form(b.form), b.choices));
      return spelled && same("the form of the instruction", isa::form(a.form).syntax(), isa::form(b.form).syntax()) &&
             same("the form of the instruction", a.form, b.form);
    }
    if (!same("having a guard", a.guard_id().valid(), b.guard_id().valid())) return false;
    if (a.guard_id().valid() &&
        (!same("the sign of the guard", a.guard_negated, b.guard_negated) || !reg(a.guard_id(), b.guard_id())))
      return false;
    return operands(fa_->operands_of(a), fb_->operands_of(b));
  }

  bool reg(RegId a, RegId b) {
    const Register& x = fa_->reg(a);
    const Register& y = fb_->reg(b);
    if (decls_[x.decl.index] == y.decl.index && x.index == y.index) return true;
    const std::string one = a_.reg_name(*fa_, a), other = b_.reg_name(*fb_, b);
    return same("a register", one, other) && same("the declaration of a register", cat(one, ", declaration ", x.decl.index),
                                                  cat(other, ", declaration ", y.decl.index));
  }

  bool operands(std::span<const Operand> a, std::span<const Operand> b) {
    if (!same("the number of operands", a.size(), b.size())) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!operand(a[i], b[i])) return false;
    return true;
  }
  bool operand(const Operand& a, const Operand& b) {
    if (!same("the kind of an operand", static_cast<std::uint64_t>(a.kind), static_cast<std::uint64_t>(b.kind)) ||
        !same("a `!`", a.negated, b.negated) || !same("a `|`", a.piped, b.piped) || !same("a `.unified`", a.unified, b.unified))
      return false;
    switch (a.kind) {
      case OperandKind::reg:
        return reg(RegId(a.payload), RegId(b.payload));
      case OperandKind::special:
        return same("a special register", isa::specials()[a.payload].name, isa::specials()[b.payload].name);
      case OperandKind::integer:
        return same("an integer", fa_->constants[a.payload], fb_->constants[b.payload]) &&
               same("the format of an integer", a.count, b.count);
      case OperandKind::floating:
        return same("a floating-point number", fa_->constants[a.payload], fb_->constants[b.payload]) &&
               same("the width of a floating-point number", a.count, b.count);
      case OperandKind::symbol:
      case OperandKind::text:
        return same("a name", StringId(a.payload), StringId(b.payload));
      case OperandKind::label:
        return same("a label", fa_->labels[a.payload].name, fb_->labels[b.payload].name) &&
               (labels_[a.payload] == LabelId::absent ||
                same("which label of that name is meant", cat(labels_[a.payload]), cat(b.payload)));
      case OperandKind::sink:
        return true;
      default:
        return operands(fa_->parts(a), fb_->parts(b));
    }
  }

  const Module &a_, &b_;
  const Function *fa_ = nullptr, *fb_ = nullptr;
  std::vector<std::uint32_t> decls_, labels_;  // of a -> of b
  std::string place_, what_;
};

}  // namespace

std::vector<ModuleItem> items_in_order(const Module& module) {
  std::vector<bool> variables(module.variables.size()), functions(module.functions.size());
  for (const ModuleItem& item : module.items) {
    if (item.kind == ModuleItemKind::variable && item.payload < variables.size()) variables[item.payload] = true;
    if (item.kind == ModuleItemKind::function && item.payload < functions.size()) functions[item.payload] = true;
  }
  std::vector<ModuleItem> order;
  order.reserve(module.items.size() + variables.size() + functions.size());
  for (std::uint32_t i = 0; i < variables.size(); ++i)
    if (!variables[i]) order.push_back({ModuleItemKind::variable, i, module.variables[i].where});
  order.insert(order.end(), module.items.begin(), module.items.end());
  for (std::uint32_t i = 0; i < functions.size(); ++i)
    if (!functions[i]) order.push_back({ModuleItemKind::function, i, module.functions[i].where});
  return order;
}

Leading leading_declarations(const Module& module, const Function& function) {
  Leading leading;
  std::vector<bool> placed(function.variables.size());
  for (const Inst& item : function.body)
    if (item.kind == ItemKind::variable) placed[item.payload] = true;
  for (std::uint32_t i = 0; i < placed.size(); ++i)
    if (!placed[i]) leading.variables.push_back(i);
  const auto rank = [&](const RegDecl& decl) {
    const auto family = std::find_if(families.begin(), families.end(), [&](const Family& f) {
      return decl.count && decl.type == f.type && module.str(decl.base) == f.base;
    });
    return family - families.begin();
  };
  std::vector<std::pair<std::ptrdiff_t, std::uint32_t>> ranked;
  for (std::uint32_t i = 0; i < function.reg_decls.size(); ++i)
    if (const RegDecl& decl = function.reg_decls[i]; !decl.block_local && !decl.is_param) ranked.emplace_back(rank(decl), i);
  std::sort(ranked.begin(), ranked.end());
  for (const auto& [order, i] : ranked) leading.reg_decls.push_back(i);
  return leading;
}

std::string difference(const Module& a, const Module& b) { return Comparison(a, b).run(); }

}  // namespace ptx::ir
