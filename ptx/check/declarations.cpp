#include "ptx/check/declarations.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ptx::check {
namespace {

using ir::StateSpace;

// Reports at the item when there is one.
Diagnostic& error(Report& report, const ir::Function* function, const ir::Inst* item, Kind kind, std::string message) {
  return item != nullptr ? report.error(*function, *item, kind, std::move(message)) : report.error(kind, std::move(message));
}

// Registers and variables exist in fundamental types and .f16x2 alone; the others are types of instructions (manual: "Types").
bool is_declarable(Type type) { return type != Type::none && (isa::register_type(type) == type || type == Type::f16x2); }

void check_type(Report& report, const ir::Function* function, const ir::Inst* item, const std::string& what, Type type) {
  if (!is_declarable(type)) {
    error(report, function, item, Kind::bad_declaration,
          cat(what, " is declared .", isa::name(type), ", which only instructions have"))
        .note(cat("hint: declare it .", isa::name(isa::register_type(type))));
    return;
  }
  if (type != Type::b128) return;
  const ir::Module& module = report.module();
  if (module.version < Version{8, 3})
    error(report, function, item, Kind::version_lacks,
          cat(what, " is declared .b128, which needs PTX 8.3; this module says `.version ", to_string(module.version), '`'));
  if (!isa::allows(module.target, isa::node(sm_70)))
    error(report, function, item, Kind::target_lacks,
          cat(what, " is declared .b128, which needs `sm_70` or newer; this kernel targets `", isa::name(module.target), '`'));
}

void check_name(Report& report, const ir::Function* function, const ir::Inst* item, std::string_view what,
                std::string_view name) {
  if (is_identifier(name)) return;
  error(report, function, item, Kind::bad_declaration, cat('`', name, "` cannot name ", what))
      .note("hint: a name is a letter, or one of `_`, `$`, `%` and another character; then letters, digits, `_` and `$`");
}

void check_alignment(Report& report, const ir::Function* function, const ir::Inst* item, const std::string& what,
                     std::uint32_t align) {
  if (align == 0 || std::has_single_bit(align)) return;  // 0: not written
  error(report, function, item, Kind::bad_declaration, cat(what, " is aligned to ", align, " bytes, which is no power of two"));
}

void declare(Report& report, Names& names, const ir::Function* function, const ir::Inst* item, const Entity& entity) {
  const auto taken = names.declare(entity);
  if (!taken) return;
  const std::string now = describe(report.module(), entity), before = describe(report.module(), *taken);
  error(report, function, item, Kind::duplicate_symbol,
        now == before ? cat(now, " is declared twice") : cat(now, " and ", before, " share a name in one scope"));
}

// ---- directives (manual: "Performance-Tuning Directives", "Cluster Dimension Directives") --------------------------------

struct DirectiveInfo {
  std::string_view name;
  std::size_t least, most;  ///< values
  Version since;
  isa::TargetSet on;
};
constexpr std::array directive_infos = {
    DirectiveInfo{"maxnreg", 1, 1, {1, 3}, isa::node(sm_10)},
    DirectiveInfo{"maxntid", 1, 3, {1, 3}, isa::node(sm_10)},
    DirectiveInfo{"reqntid", 1, 3, {2, 1}, isa::node(sm_10)},
    DirectiveInfo{"minnctapersm", 1, 1, {2, 0}, isa::node(sm_10)},
    DirectiveInfo{"reqnctapercluster", 1, 3, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"explicitcluster", 0, 0, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"maxclusterrank", 1, 1, {7, 8}, isa::node(sm_90)},
    DirectiveInfo{"blocksareclusters", 0, 0, {9, 0}, isa::node(sm_90)},
    DirectiveInfo{"noreturn", 0, 0, {6, 4}, isa::node(sm_30)},
};

void check_directive(Report& report, const ir::Function& function, const ir::Directive& directive) {
  const ir::Module& module = report.module();
  const auto info = std::find_if(directive_infos.begin(), directive_infos.end(),
                                 [&](const DirectiveInfo& d) { return d.name == directive.name; });
  if (info == directive_infos.end()) {
    std::vector<std::string> known;
    for (const DirectiveInfo& d : directive_infos) known.emplace_back(d.name);
    Diagnostic& d = report.error(Kind::bad_declaration, cat("`.", directive.name, "` is no directive of a function"));
    if (const std::string near = nearest(directive.name, known); !near.empty()) d.note(cat("hint: did you mean `.", near, "`?"));
    return;
  }
  const std::string what = cat("`.", directive.name, '`');
  if (directive.values.size() < info->least || directive.values.size() > info->most)
    report.error(Kind::bad_declaration,
                 cat(what, " takes ", info->least == info->most ? cat(info->most) : cat(info->least, " to ", info->most),
                     info->most == 1 ? " value, " : " values, ", directive.values.size(), " given"));
  if (std::find(directive.values.begin(), directive.values.end(), 0u) != directive.values.end())
    report.error(Kind::bad_declaration, cat(what, " has a value of 0"));
  if (!isa::allows(module.target, info->on))
    report.error(Kind::target_lacks, cat(what, " needs `sm_90` or newer; this kernel targets `", isa::name(module.target), '`'));
  if (module.version < info->since)
    report.error(Kind::version_lacks, cat(what, " needs PTX ", to_string(info->since), "; this module says `.version ",
                                          to_string(module.version), '`'));
  if (info->name == "noreturn" && function.is_entry)
    report.error(Kind::bad_declaration, "`.noreturn` stands on a `.func`, not on an `.entry`");
}

void check_directives(Report& report, const ir::Function& function) {
  const auto has = [&](std::string_view name) {
    return std::any_of(function.directives.begin(), function.directives.end(),
                       [&](const ir::Directive& d) { return d.name == name; });
  };
  for (const ir::Directive& directive : function.directives) check_directive(report, function, directive);
  if (has("maxntid") && has("reqntid")) report.error(Kind::bad_declaration, "`.maxntid` and `.reqntid` exclude each other");
  if (has("reqnctapercluster") && has("maxclusterrank"))
    report.error(Kind::bad_declaration, "`.reqnctapercluster` and `.maxclusterrank` exclude each other");
  if (has("blocksareclusters") && !(has("reqntid") && has("reqnctapercluster")))
    report.error(Kind::bad_declaration, "`.blocksareclusters` goes with `.reqntid` and `.reqnctapercluster`");
}

void check_param(Report& report, const ir::Param& param) {
  const ir::Module& module = report.module();
  const std::string what = cat("the parameter `", module.str(param.name), '`');
  check_name(report, nullptr, nullptr, "a parameter", module.str(param.name));
  check_alignment(report, nullptr, nullptr, what, param.align);
  check_alignment(report, nullptr, nullptr, what, param.ptr_align);
  if (param.type == Type::pred || param.type == Type::f16x2)
    report.error(Kind::bad_declaration, cat(what, " is declared .", isa::name(param.type), ", which no parameter can be"));
  else
    check_type(report, nullptr, nullptr, what, param.type);
  if (param.elements == 0u) report.error(Kind::bad_declaration, cat(what, " is an array of no elements"));
  if (param.ptr_space && (*param.ptr_space == StateSpace::param || *param.ptr_space == StateSpace::reg))
    report.error(Kind::bad_declaration,
                 cat(what, " points to .", name(*param.ptr_space), "; what fits is .global, .shared, .local or .const"));
}

}  // namespace

void check_header(Report& report) {
  const ir::Module& module = report.module();
  const isa::TargetInfo& target = isa::info(module.target);
  if (module.version < target.since)
    report
        .error(Kind::version_lacks, cat("the target `", target.name, "` needs PTX ", to_string(target.since),
                                        "; this module says `.version ", to_string(module.version), '`'))
        .note(cat("hint: `.version ", to_string(target.since), "` knows it"));
  if (module.address_size != 64 && (module.address_size != 32 || target.base >= 90))
    report.error(Kind::bad_declaration,
                 cat("`.address_size ", module.address_size, "` is not one that `", target.name, "` has; what fits is 64"));
}

void declare_variable(Report& report, Names& names, const ir::Variable& v, std::uint32_t index, Level level,
                      const ir::Function* function, const ir::Inst* item) {
  const ir::Module& module = report.module();
  const std::string what = cat("the .", name(v.space), " variable `", module.str(v.name), '`');
  const auto bad = [&](std::string_view why) -> Diagnostic& {
    return error(report, function, item, Kind::bad_declaration, cat(what, ' ', why));
  };
  check_name(report, function, item, "a variable", module.str(v.name));
  check_alignment(report, function, item, what, v.align);
  if (v.type == Type::pred)
    bad("is declared .pred, and predicates live only in registers");
  else
    check_type(report, function, item, what, v.type);
  if (v.space == StateSpace::reg) bad("is a register, not a variable");
  if (level == Level::module && (v.space == StateSpace::local || v.space == StateSpace::param)) bad("belongs inside a function");
  if (level == Level::body && v.linkage != ir::Linkage::none) bad("has a linkage, which only variables of a module can have");
  if (v.linkage == ir::Linkage::common && v.space != StateSpace::global) bad("is .common, which only .global variables can be");
  if (v.unsized && v.linkage != ir::Linkage::extern_) bad("has no size, and is not .extern");
  if (v.elements == 0u) bad("is an array of no elements");
  declare(report, names, function, item, {Meaning::variable, v.space, false, 0, v.name, index, 0});
}

void declare_registers(Report& report, Names& names, const ir::Function& function, std::uint32_t index, const ir::Inst* item) {
  const ir::RegDecl& decl = function.reg_decls[index];
  const std::string_view base = report.module().str(decl.base);
  check_name(report, &function, item, "a register", decl.count ? cat(base, '0') : std::string(base));
  check_type(report, &function, item, cat("the register `", base, '`'), decl.type);
  declare(report, names, &function, item,
          {Meaning::reg, StateSpace::reg, decl.count.has_value(), decl.count.value_or(0), decl.base, index, 0});
}

void check_signature(Report& report, Names& names, const ir::Function& function) {
  const ir::Module& module = report.module();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    const ir::Param& param = function.params[i];
    check_param(report, param);
    declare(report, names, nullptr, nullptr,
            {Meaning::parameter, StateSpace::param, false, 0, param.name, static_cast<std::uint32_t>(i), 0});
    const std::uint64_t align = std::max<std::uint64_t>(1, param.alignment());
    bytes = (bytes + align - 1) / align * align + param.bytes();
  }
  // manual: "Kernel Function Parameters"; ptxas 13.0 holds the version to it, not the target
  const std::uint64_t limit = module.version < Version{8, 1} ? 4352 : 32764;
  if (function.is_entry && bytes > limit)
    report.error(Kind::bad_declaration, cat("the parameters of `", module.str(function.name), "` take ", bytes, " bytes; PTX ",
                                            to_string(module.version), " gives an entry ", limit));
  check_directives(report, function);
}

std::uint64_t static_shared_limit(Target target) {
  const isa::TargetInfo& info = isa::info(target);
  if (info.base < 20) return 16 * 1024;
  // measured with ptxas 13.0: exact targets alone get all that their machine has
  if (info.variant != 'a') return 48 * 1024;
  return info.base >= 120 ? 99 * 1024 : 227 * 1024;
}

void check_shared_memory(Report& report, const ir::Function& function) {
  const ir::Module& module = report.module();
  std::uint64_t bytes = 0;
  for (const ir::Variable& v : function.variables)
    if (v.space == StateSpace::shared) bytes += v.bytes();
  std::vector<ir::StringId> shared;
  for (const ir::Variable& v : module.variables)
    if (v.space == StateSpace::shared && v.bytes() != 0) shared.push_back(v.name);
  if (!shared.empty()) {
    std::vector<bool> used(module.variables.size());
    for (const ir::Operand& o : function.operands)
      if (o.kind == ir::OperandKind::symbol)
        for (std::size_t i = 0; i < module.variables.size(); ++i)
          if (module.variables[i].name.index == o.payload) used[i] = true;
    for (std::size_t i = 0; i < module.variables.size(); ++i)
      if (used[i] && module.variables[i].space == StateSpace::shared) bytes += module.variables[i].bytes();
  }
  const std::uint64_t limit = static_shared_limit(module.target);
  if (!function.is_entry || bytes <= limit) return;
  report
      .error(Kind::shared_memory_size,
             cat('`', module.str(function.name), "` declares ", bytes, " bytes of shared memory; `", isa::name(module.target),
                 "` gives a kernel ", limit, " at most when they are declared with a size"))
      .note("hint: dynamic shared memory may be larger: `.extern .shared .align 128 .b8 name[];` and the launch says how much");
}

}  // namespace ptx::check
