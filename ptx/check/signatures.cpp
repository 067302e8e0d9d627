#include "ptx/check/signatures.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "ptx/check/declarations.hpp"
#include "ptx/check/directives.hpp"

namespace ptx::check {
namespace {

using ir::StateSpace;

// Functions that the driver has for every module (CUDA's system calls).
constexpr std::array<std::string_view, 6> system_calls = {
    "vprintf", "malloc", "free", "__assertfail", "__cuda_syscall_cp_async_bulk", "cudaGetParameterBufferV2"};

bool is_system_call(std::string_view name) {
  return std::find(system_calls.begin(), system_calls.end(), name) != system_calls.end() || name.starts_with("cuda") ||
         name.starts_with("__cuda_syscall");
}

// Whose parameter it is; what is allowed differs.
enum class Of : std::uint8_t { entry, func, result, prototype };

void check_param(Report& report, const ir::Param& param, Of of, bool last) {
  const ir::Module& module = report.module();
  const bool result = of == Of::result;
  const std::string what = cat(result ? "the result `" : "the parameter `", module.str(param.name), '`');
  const auto bad = [&](std::string_view why) { report.error(param.where, Kind::bad_declaration, cat(what, ' ', why)); };
  if (of == Of::entry && module.str(param.name) == "_")
    report.warning(param.where, Kind::bad_declaration, "a parameter of an entry is named `_`")
        .hint("not in the manual; ptxas takes one");
  else if (of != Of::prototype)
    check_name(report, param.where, result ? "a result" : "a parameter", module.str(param.name));
  check_alignment(report, param.where, what, param.align);
  check_alignment(report, param.where, what, param.ptr_align);
  check_vector(report, param.where, what, param.type, param.vector);

  const bool incomplete = param.unsized || param.elements == 0u;
  if (param.in_register) {
    if (of == Of::entry) bad("is in a register; an entry's parameters are in .param");
    if (param.elements || param.unsized) bad("is an array, which a register cannot be");
    check_type(report, param.where, what, param.type);
  } else if (is_opaque(param.type)) {
    if (of != Of::entry) bad(cat("is declared .", isa::name(param.type), ", which only parameters of entries can be"));
    const auto& options = module.target_options;
    if (isa::name(param.type) == "samplerref" &&
        std::find(options.begin(), options.end(), "texmode_independent") == options.end())
      bad("is a .samplerref, which only `.target …, texmode_independent` has");
  } else if (param.type == Type::f16x2 || param.vector > 1 || (param.type == Type::pred && of != Of::prototype)) {
    bad(cat("is declared .", param.vector > 1 ? cat('v', param.vector) : std::string(isa::name(param.type)),
            ", which a parameter cannot be"));
  } else if (param.type != Type::pred) {
    check_type(report, param.where, what, param.type);
  }
  if (incomplete && !param.in_register) {
    if (of == Of::entry || result)
      bad(param.unsized ? "is an array without a size" : "is an array of no elements");
    else if (!last)
      bad("is an array without a size, and not the last parameter");
  }
  if (of == Of::func || result) {
    if (!param.in_register && param.align > 128)
      bad(cat("is aligned to ", param.align, " bytes; a function's parameter has 128 at most"));
    if (param.is_ptr) bad("says `.ptr`, which only parameters of entries can say");
  }
  if (param.ptr_space && (*param.ptr_space == StateSpace::param || *param.ptr_space == StateSpace::reg))
    bad(cat("points to .", name(*param.ptr_space), "; what fits is .global, .shared, .local or .const"));
}

void check_returns(Report& report, const std::vector<ir::Param>& returns, Of of, ir::WhereId where) {
  for (const ir::Param& param : returns) check_param(report, param, of, true);
  if (returns.size() > 1 && std::any_of(returns.begin(), returns.end(), [](const ir::Param& p) { return !p.in_register; }))
    report.error(where, Kind::bad_declaration, cat(returns.size(), " results are in .param; more than one must be in registers"))
        .hint("return one array, `.param .align 8 .b8 result[16]`");
}

bool is_noreturn(const ir::Function& f) {
  return std::any_of(f.directives.begin(), f.directives.end(), [](const ir::Directive& d) { return d.name == "noreturn"; });
}

std::string_view written(ir::Linkage linkage) { return linkage == ir::Linkage::none ? "without a linkage" : name(linkage); }

// A function was declared before: the two must say the same (manual: "Function Declarations and Definitions"; ptxas 13.0).
void check_redeclaration(Report& report, const ir::Function& before, const ir::Function& now) {
  const std::string what = cat("the function `", report.module().str(now.name), '`');
  const auto bad = [&](const std::string& why) -> Diagnostic& {
    Diagnostic& d = report.error(now.where, Kind::duplicate_symbol, cat(what, ' ', why));
    if (const SourceLocation where = report.module().where(before.where); where.known()) d.place("first", where);
    return d;
  };
  if (before.has_body) {
    bad(now.has_body ? "is defined twice" : "is declared after its definition");
  } else if (before.is_entry != now.is_entry) {
    bad(cat("was declared as ", before.is_entry ? "an entry" : "a device function"));
  } else if (const std::string_view results = difference(before.returns, now.returns); !results.empty()) {
    bad(cat("was declared with different results: their ", results, " differ"));
  } else if (const std::string_view params = difference(before.params, now.params); !params.empty()) {
    bad(cat("was declared with different parameters: their ", params, " differ"));
  } else if (before.linkage != now.linkage && !(now.linkage == ir::Linkage::none && (before.linkage == ir::Linkage::visible ||
                                                                                     before.linkage == ir::Linkage::weak))) {
    bad(cat("is ", written(now.linkage), " and was declared ", written(before.linkage)));
  } else if (is_noreturn(before) != is_noreturn(now)) {
    bad("is `.noreturn` in only one declaration");
  }
}

}  // namespace

std::string_view difference(const std::vector<ir::Param>& a, const std::vector<ir::Param>& b) {
  if (a.size() != b.size()) return "numbers";
  for (std::size_t i = 0; i < a.size(); ++i) {
    const ir::Param &x = a[i], &y = b[i];
    if (x.in_register != y.in_register) return "state spaces";
    if (x.type != y.type || x.vector != y.vector) return "types";
    if (x.elements.has_value() != y.elements.has_value() || x.elements != y.elements || x.unsized != y.unsized) return "sizes";
    if (x.alignment() != y.alignment()) return "alignments";
  }
  return {};
}

void declare_function(Report& report, Names& names, std::uint32_t index) {
  const ir::Module& module = report.module();
  const ir::Function& function = module.functions[index];
  if (const std::string_view spelled = module.str(function.name); !is_identifier(spelled))
    report.error(function.where, Kind::bad_declaration, cat('`', spelled, "` cannot name a function"));
  if (function.has_body && function.linkage == ir::Linkage::extern_)
    report.error(function.where, Kind::bad_declaration,
                 cat("the function `", module.str(function.name), "` is .extern and has a body"));
  if (function.linkage == ir::Linkage::common)
    report.error(function.where, Kind::bad_declaration,
                 cat("the function `", module.str(function.name), "` is .common, which only .global variables can be"));
  const Entity entity{Meaning::function, StateSpace::reg, false, 0, function.name, index, 0};
  if (const Entity* before = names.find_innermost(function.name); before != nullptr && before->meaning == Meaning::function) {
    const ir::Function& other = module.functions[before->index];
    check_redeclaration(report, other, function);
    if (!other.has_body) names.redefine(function.name, index);
    return;
  }
  declare(report, names, function.where, entity);
}

void check_signature(Report& report, Names& names, const ir::Function& function) {
  const ir::Module& module = report.module();
  check_returns(report, function.returns, Of::result, function.where);
  if (function.is_entry && !function.returns.empty())
    report.error(function.where, Kind::bad_declaration, cat("the entry `", module.str(function.name), "` returns something"));
  const auto declare_param = [&](const ir::Param& param, std::size_t i, bool result) {
    Entity entity{Meaning::parameter, StateSpace::param, false, 0, param.name, static_cast<std::uint32_t>(i), 0, result};
    entity.array = param.elements.has_value() || param.unsized;
    entity.type = param.type;
    if (param.in_register) {
      entity.meaning = Meaning::reg;
      entity.space = StateSpace::reg;
      const bool has_reg = param.reg.valid() && param.reg.index < function.regs.size();
      entity.index = has_reg ? function.regs[param.reg.index].decl.index : 0xFFFFFFFFu;
    }
    declare(report, names, param.where, entity);
  };
  for (std::size_t i = 0; i < function.returns.size(); ++i) declare_param(function.returns[i], i, true);
  for (std::size_t i = 0; i < function.params.size(); ++i) {
    check_param(report, function.params[i], function.is_entry ? Of::entry : Of::func, i + 1 == function.params.size());
    declare_param(function.params[i], i, false);
  }
  // manual: "Kernel Function Parameters"; ptxas 13.0 holds the version to it, not the target
  const std::uint64_t limit = module.version < Version{8, 1} ? 4352 : 32764;
  if (const std::uint64_t bytes = ir::param_offsets(function.params).back(); function.is_entry && bytes > limit)
    report.error(function.where, Kind::bad_declaration,
                 cat("the parameters of `", module.str(function.name), "` take ", bytes, " bytes; PTX ",
                     to_string(module.version), " gives an entry ", limit));
  check_directives(report, function);
  if (!function.has_body && function.is_entry && !function.directives.empty())
    report.error(function.where, Kind::bad_declaration,
                 cat("the declaration of `", module.str(function.name), "` has directives, which only its definition can have"));
}

void check_prototype(Report& report, const ir::Prototype& prototype, ir::WhereId where) {
  check_returns(report, prototype.returns, Of::prototype, where);
  for (std::size_t i = 0; i < prototype.params.size(); ++i)
    check_param(report, prototype.params[i], Of::prototype, i + 1 == prototype.params.size());
  check_directives(report, prototype, where);
}

void check_alias(Report& report, Names& names, std::string_view text, ir::WhereId where, std::vector<bool>& aliased) {
  const ir::Module& module = report.module();
  const auto bad = [&](Kind kind, std::string why) { report.error(where, kind, std::move(why)); };
  check_availability(report, where, "`.alias`", {6, 3}, isa::node(sm_30));
  const auto trimmed = [](std::string_view word) {
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && (word.back() == ' ' || word.back() == ';')) word.remove_suffix(1);
    return word;
  };
  const std::size_t comma = text.find(',');
  const std::string_view words[] = {trimmed(text.substr(0, comma)),
                                    comma == std::string_view::npos ? "" : trimmed(text.substr(comma + 1))};
  const ir::Function* functions[2] = {};
  std::uint32_t alias_index = 0;
  for (int i = 0; i < 2; ++i) {
    const Entity* entity = names.find(words[i]);
    if (entity == nullptr) return bad(Kind::undefined_symbol, cat('`', words[i], "` of `.alias` is not declared before it"));
    if (entity->meaning != Meaning::function)
      return bad(Kind::bad_declaration, cat("`.alias` of ", describe(module, *entity), "; only functions have aliases"));
    functions[i] = &module.functions[entity->index];
    if (i == 0) alias_index = entity->index;
    if (functions[i]->is_entry) return bad(Kind::bad_declaration, cat("`.alias` of the entry `", words[i], '`'));
  }
  const auto& [alias, function] = functions;
  if (alias->has_body || alias == function)
    return bad(Kind::duplicate_symbol, cat("the function `", words[0], "` is defined, and cannot be an alias"));
  if (aliased[alias_index]) return bad(Kind::duplicate_symbol, cat("the function `", words[0], "` has two aliases"));
  aliased[alias_index] = true;
  if (function->linkage == ir::Linkage::weak)
    bad(Kind::bad_declaration, cat("the function `", words[1], "` is .weak, and cannot be aliased"));
  if (!difference(alias->returns, function->returns).empty() || !difference(alias->params, function->params).empty())
    bad(Kind::duplicate_symbol, cat("the functions `", words[0], "` and `", words[1], "` of `.alias` have different parameters"));
}

namespace {

// ptxas: an array of another module without its size is resolved in no module of its own, used or not.
void check_resolved_variables(Report& report) {
  const ir::Module& module = report.module();
  std::unordered_set<std::uint32_t> defined;
  for (const ir::Variable& v : module.variables)
    if (v.linkage != ir::Linkage::extern_) defined.insert(v.name.index);
  for (const ir::Variable& v : module.variables) {
    if (v.linkage != ir::Linkage::extern_ || !v.unsized || v.space == StateSpace::shared || defined.contains(v.name.index))
      continue;
    report
        .warning(v.where, Kind::unresolved_extern,
                 cat("the .", name(v.space), " array `", module.str(v.name),
                     "` is another module's: this one runs only when linked with it"))
        .hint("with its size written here, ptxas takes it in a module that is not linked");
  }
}

}  // namespace

void check_resolved(Report& report, const std::vector<bool>& aliased) {
  check_resolved_variables(report);
  const ir::Module& module = report.module();
  std::vector<std::uint8_t> defined, named;  // by StringId
  const auto mark = [](std::vector<std::uint8_t>& set, std::uint32_t id) {
    if (id >= set.size()) set.resize(id + std::size_t{1});
    set[id] = 1;
  };
  bool declarations = false;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& f = module.functions[i];
    if (f.name.valid() && (f.has_body || aliased[i])) mark(defined, f.name.index);
    declarations = declarations || !f.has_body;
  }
  if (!declarations) return;
  for (const ir::Function& f : module.functions)
    for (const ir::Operand& o : f.operands)
      if (o.kind == ir::OperandKind::symbol && o.payload != ir::StringId::absent) mark(named, o.payload);
  for (const ir::Function& f : module.functions) {
    const std::uint32_t id = f.name.index;
    if (f.has_body || !f.name.valid() || (id < defined.size() && defined[id] != 0)) continue;
    const std::string_view spelled = module.str(f.name);
    if (f.linkage != ir::Linkage::extern_) {
      report.error(f.where, Kind::undefined_symbol, cat("the function `", spelled, "` is declared, and nothing defines it"))
          .hint(cat("`.extern` says that another module does"));
      mark(defined, id);
    } else if (id < named.size() && named[id] != 0 && !f.is_entry && !is_system_call(spelled)) {
      report.warning(f.where, Kind::unresolved_extern,
                     cat("the function `", spelled, "` is another module's: this one runs only when linked with it"));
      mark(defined, id);
    }
  }
}

}  // namespace ptx::check
