#include "ptx/check/declarations.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ptx/check/initialisers.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::check {
namespace {

using ir::StateSpace;

// The versions that there are (ptxas by what it takes, 13.0 and the newest, 13.5).
constexpr std::array<std::uint8_t, 10> last_minor_of = {0, 5, 3, 2, 3, 1, 5, 8, 8, 5};

bool is_version(Version v) { return v.major >= 1 && v.major < last_minor_of.size() && v.minor <= last_minor_of[v.major]; }

// Where the module says `word`, for a module that was parsed.
ir::WhereId place_of(const ir::Module& module, std::string_view word) {
  if (!module.source) return {};
  const std::string_view text = module.source->text;
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::size_t line = at == 0 ? std::string_view::npos : text.find_last_of('\n', at - 1);
    const std::size_t begin = line == std::string_view::npos ? 0 : line + 1;
    if (text.find_first_not_of(" \t", begin) == at) return ir::Module::at(static_cast<std::uint32_t>(at));
  }
  return {};
}

// Registers and variables exist in fundamental types and .f16x2 alone; the others are types of instructions (manual: "Types").
bool is_declarable(Type type) { return type != Type::none && (isa::register_type(type) == type || type == Type::f16x2); }

void check_options(Report& report) {
  const ir::Module& module = report.module();
  const ir::WhereId where = place_of(module, ".target");
  std::string_view texmode;
  for (const std::string& option : module.target_options) {
    if (option == "debug") {
      const auto is_debug = [](const ir::Section& s) { return s.name.starts_with(".debug"); };
      if (std::none_of(module.sections.begin(), module.sections.end(), is_debug))
        report.error(where, Kind::bad_declaration, "`.target …, debug` promises debug sections, and the module has none");
      continue;
    }
    if (isa::target_from_name(option)) continue;
    if (option == "map_f64_to_f32") {
      if (isa::info(module.target).base >= 13)
        report.error(where, Kind::bad_declaration,
                     cat("`map_f64_to_f32` is for targets before sm_13; `", isa::name(module.target), "` has double precision"));
    } else if (option == "texmode_unified" || option == "texmode_independent") {
      if (!texmode.empty() && texmode != option)
        report.error(where, Kind::bad_declaration, "`texmode_unified` and `texmode_independent` exclude each other");
      texmode = option;
    } else {
      const std::string known[] = {"texmode_unified", "texmode_independent", "debug", "map_f64_to_f32"};
      Diagnostic& d = report.error(where, Kind::bad_declaration, cat('`', option, "` is not an option of `.target`"));
      if (const std::string near = nearest(option, known); !near.empty()) d.hint(cat("did you mean `", near, "`?"));
    }
  }
}

// manual: "Texture Sampler and Surface Types"
void check_opaque(Report& report, ir::WhereId where, const std::string& what, const ir::Variable& v, Level level) {
  const auto bad = [&](std::string_view why) { report.error(where, Kind::bad_declaration, cat(what, ' ', why)); };
  if (v.space != StateSpace::global)
    bad(cat("is declared .", isa::name(v.type), ", which lives only in .global"));
  else if (level == Level::body)
    bad(cat("is declared .", isa::name(v.type), ", which only a module or the parameters of an entry can have"));
  if (isa::name(v.type) == "samplerref" && !has_option(report.module(), "texmode_independent"))
    bad("is a .samplerref, which only `.target …, texmode_independent` has");
}

void check_attributes(Report& report, ir::WhereId where, const std::string& what, const ir::Variable& v) {
  const auto bad = [&](std::string_view why) -> Diagnostic& {
    return report.error(where, Kind::bad_declaration, cat(what, ' ', why));
  };
  for (const std::string& attribute : v.attributes) {
    const std::string_view name = std::string_view(attribute).substr(0, attribute.find('('));
    if (name != "managed" && name != "unified") {
      bad(cat("has the attribute `.", name, "`; there are `.managed` and `.unified`"));
      continue;
    }
    if (name == "unified" && std::count(attribute.begin(), attribute.end(), ',') != 1)
      bad("has the attribute `.unified` without its two numbers").hint("`.unified(19, 95)`");
    if (v.space != StateSpace::global) bad(cat("is `.", name, "`, which only .global variables can be"));
    if (name == "managed")
      check_availability(report, where, "`.managed`", {4, 0}, isa::node(sm_30));
    else
      check_availability(report, where, "`.unified`", {8, 0}, isa::node(sm_90));
  }
}

void check_size(Report& report, ir::WhereId where, const std::string& what, const ir::Variable& v) {
  const auto bad = [&](std::string_view why) { report.error(where, Kind::bad_declaration, cat(what, ' ', why)); };
  if (v.unsized && v.initialiser.empty() && v.linkage != ir::Linkage::extern_) bad("has no size, and is not .extern");
  if (v.elements == 0u || std::find(v.inner.begin(), v.inner.end(), 0u) != v.inner.end()) bad("is an array of no elements");
  if (v.space == StateSpace::param && v.align > 128) bad(cat("is aligned to ", v.align, " bytes; a parameter has 128 at most"));
}

}  // namespace

bool has_option(const ir::Module& module, std::string_view option) {
  return std::find(module.target_options.begin(), module.target_options.end(), option) != module.target_options.end();
}

// ---- what every declaration is held to ------------------------------------------------------------------------------

void check_availability(Report& report, ir::WhereId where, const std::string& what, Version since, isa::TargetSet on) {
  const ir::Module& module = report.module();
  if (!isa::allows(module.target, on))
    report.error(where, Kind::target_lacks,
                 cat(what, " needs ", isa::say_needed(on), "; this kernel targets `", isa::name(module.target), '`'));
  if (module.version < since)
    report.error(where, Kind::version_lacks,
                 cat(what, " needs PTX ", to_string(since), "; this module says `.version ", to_string(module.version), '`'));
}

void check_type(Report& report, ir::WhereId where, const std::string& what, Type type) {
  if (!is_declarable(type)) {
    report.error(where, Kind::bad_declaration, cat(what, " is declared .", isa::name(type), ", which only instructions have"))
        .hint(cat("declare it .", isa::name(isa::register_type(type))));
    return;
  }
  if (type == Type::b128) check_availability(report, where, cat(what, " is declared .b128, which"), {8, 3}, isa::node(sm_70));
}

void check_name(Report& report, ir::WhereId where, std::string_view what, std::string_view name) {
  if (is_identifier(name)) return;
  report.error(where, Kind::bad_declaration, cat('`', name, "` cannot name ", what))
      .hint("a name is a letter, or one of `_`, `$`, `%` and another character; then letters, digits, `_` and `$`");
}

void check_alignment(Report& report, ir::WhereId where, const std::string& what, std::uint32_t align) {
  if (align == 0 || std::has_single_bit(align)) return;  // 0: not written
  report.error(where, Kind::bad_declaration, cat(what, " is aligned to ", align, " bytes, which is not a power of two"));
}

void check_vector(Report& report, ir::WhereId where, const std::string& what, Type type, unsigned vector) {
  if (vector > 1 && vector * static_cast<unsigned>(isa::bits(type)) > 128)
    report.error(where, Kind::bad_declaration,
                 cat(what, " is declared .v", vector, " .", isa::name(type), "; a vector has 16 bytes at most"));
}

void declare(Report& report, Names& names, ir::WhereId where, const Entity& entity) {
  const auto taken = names.declare(entity);
  if (!taken) return;
  const std::string now = describe(report.module(), entity), before = describe(report.module(), *taken);
  report.error(where, Kind::duplicate_symbol,
               now == before ? cat(now, " is declared twice") : cat(now, " and ", before, " share a name in one scope"));
}

// ---- the module -----------------------------------------------------------------------------------------------------

void check_header(Report& report) {
  const ir::Module& module = report.module();
  const isa::TargetInfo& target = isa::info(module.target);
  if (!is_version(module.version))
    report.error(place_of(module, ".version"), Kind::version_lacks,
                 cat("there is no PTX ", to_string(module.version), "; the newest known here is 9.5"));
  else if (module.version < target.since)
    report
        .error(place_of(module, ".target"), Kind::version_lacks,
               cat("the target `", target.name, "` needs PTX ", to_string(target.since), "; this module says `.version ",
                   to_string(module.version), '`'))
        .hint(cat("`.version ", to_string(target.since), "` knows it"));
  const unsigned size = module.address_size;
  if (size != 0 && size != 64 && (size != 32 || target.base >= 90))
    report.error(place_of(module, ".address_size"), Kind::bad_declaration,
                 cat("`.address_size ", size, "` is not one that `", target.name, "` has; what fits is 64"));
  check_options(report);
}

void declare_variable(Report& report, Names& names, const ir::Variable& v, std::uint32_t index, Level level, ir::WhereId where) {
  const ir::Module& module = report.module();
  const std::string what = cat("the .", name(v.space), " variable `", module.str(v.name), '`');
  const auto bad = [&](std::string_view why) { report.error(where, Kind::bad_declaration, cat(what, ' ', why)); };
  check_name(report, where, "a variable", module.str(v.name));
  if (level == Level::module && isa::special_from_name(module.str(v.name)))
    report.error(where, Kind::duplicate_symbol, cat('`', module.str(v.name), "` is a special register"));
  check_alignment(report, where, what, v.align);
  if (is_opaque(v.type))
    check_opaque(report, where, what, v, level);
  else if (v.type == Type::pred)
    bad("is declared .pred, and predicates live only in registers");
  else
    check_type(report, where, what, v.type);
  if (v.vector > 1 && is_opaque(v.type)) bad(cat("is a vector of .", isa::name(v.type), "; there are no such vectors"));
  check_vector(report, where, what, v.type, v.vector);
  if (v.space == StateSpace::param && (v.vector > 1 || v.type == Type::f16x2))
    bad(cat("is declared ", v.vector > 1 ? cat(".v", v.vector) : ".f16x2", ", which a parameter cannot be"));
  if (v.space == StateSpace::reg) bad("is a register, not a variable");
  if (v.space == StateSpace::sreg) bad("is in .sreg, where nothing can be declared");
  if (v.space == StateSpace::tex) {
    report.error(where, Kind::bad_declaration, cat(what, " is in .tex, which was removed in PTX 1.5"))
        .hint("`.global .texref name;`");
  }
  if (level == Level::module && (v.space == StateSpace::local || v.space == StateSpace::param)) bad("belongs inside a function");
  if (level == Level::body && v.linkage != ir::Linkage::none) bad("has a linkage, which only variables of a module can have");
  if (v.linkage == ir::Linkage::common && v.space != StateSpace::global) bad("is .common, which only .global variables can be");
  if (v.linkage == ir::Linkage::common && is_opaque(v.type)) bad(cat("is .common, which a .", isa::name(v.type), " cannot be"));
  check_size(report, where, what, v);
  check_attributes(report, where, what, v);
  if (!v.initialiser.empty()) check_initialiser(report, names, v, where);

  const bool array = v.elements.has_value() || v.unsized;
  const Entity entity{Meaning::variable, v.space, false, 0, v.name, index, 0, false, array, v.vector > 1 ? Type::none : v.type};
  // A variable may be declared .extern more than once, beside its definition (manual: ".extern").
  const Entity* before = level == Level::module ? names.find_innermost(v.name) : nullptr;
  if (before == nullptr || before->meaning != Meaning::variable) return declare(report, names, where, entity);
  const ir::Variable& other = module.variables[before->index];
  const bool extern_first = other.linkage == ir::Linkage::extern_, extern_now = v.linkage == ir::Linkage::extern_;
  if (!extern_first && !extern_now) return declare(report, names, where, entity);
  const bool same = v.space == other.space && v.type == other.type && v.vector == other.vector && v.inner == other.inner &&
                    (v.unsized || other.unsized || v.elements == other.elements);
  if (!same)
    report.error(where, Kind::duplicate_symbol, cat(what, " was declared before, with another type or size"));
  else if ((extern_first && v.linkage == ir::Linkage::none) || (extern_now && other.linkage == ir::Linkage::none))
    report.error(where, Kind::duplicate_symbol, cat(what, " is .extern and also the module's own"))
        .hint("a definition that others may name is `.visible` or `.weak`");
}

void declare_registers(Report& report, Names& names, const ir::Function& function, std::uint32_t index, ir::WhereId where) {
  const ir::RegDecl& decl = function.reg_decls[index];
  const std::string_view base = report.module().str(decl.base);
  const std::string what = cat("the register `", base, '`');
  check_name(report, where, "a register", decl.count ? cat(base, '0') : std::string(base));
  if (is_opaque(decl.type))
    report.error(where, Kind::bad_declaration, cat(what, " is declared .", isa::name(decl.type), ", which a register cannot be"));
  else
    check_type(report, where, what, decl.type);
  check_vector(report, where, what, decl.type, decl.vector);
  if (decl.type == Type::pred && decl.vector > 1)
    report.error(where, Kind::bad_declaration, cat(what, " is a vector of predicates; there are no such vectors"));
  declare(report, names, where,
          {Meaning::reg, StateSpace::reg, decl.count.has_value(), decl.count.value_or(0), decl.base, index, 0});
}

// ---- memory that is declared with a size ----------------------------------------------------------------------------

namespace {

std::uint64_t aligned(std::uint64_t offset, const ir::Variable& v) { return align_size(offset, v.alignment()); }

// What a function takes of a space: its own variables, and those of the module that it and the functions it names take.
class Footprint {
 public:
  explicit Footprint(const ir::Module& module) : module_(module) {
    for (std::uint32_t i = 0; i < module.variables.size(); ++i) {
      const ir::Variable& v = module.variables[i];
      if (v.space == StateSpace::shared && v.linkage != ir::Linkage::extern_) note(v.name, i);
    }
    for (std::uint32_t i = 0; i < module.functions.size(); ++i)
      if (module.functions[i].has_body) note(module.functions[i].name, i | function_bit);
  }

  std::uint64_t shared_bytes(const ir::Function& entry) {
    seen_.assign(module_.functions.size(), false);
    taken_.assign(module_.variables.size(), false);
    bytes_ = 0;
    std::vector<const ir::Function*> open{&entry};
    while (!open.empty()) {
      const ir::Function& f = *open.back();
      open.pop_back();
      for (const ir::Variable& v : f.variables)
        if (v.space == StateSpace::shared) take(v);
      for (const ir::Operand& o : f.operands)
        if (o.kind == ir::OperandKind::symbol && o.payload < index_.size() && index_[o.payload] != nothing)
          visit(index_[o.payload], open);
    }
    return bytes_;
  }

 private:
  static constexpr std::uint32_t nothing = 0xFFFFFFFFu, function_bit = 0x80000000u;

  void note(ir::StringId name, std::uint32_t what) {
    if (!name.valid()) return;
    if (name.index >= index_.size()) index_.resize(name.index + std::size_t{1}, nothing);
    index_[name.index] = what;
  }
  void visit(std::uint32_t what, std::vector<const ir::Function*>& open) {
    if ((what & function_bit) == 0) {
      if (!taken_[what]) take(module_.variables[what]);
      taken_[what] = true;
    } else if (const std::uint32_t f = what & ~function_bit; !seen_[f]) {
      seen_[f] = true;
      open.push_back(&module_.functions[f]);
    }
  }
  void take(const ir::Variable& v) { bytes_ = add_sizes(aligned(bytes_, v), v.bytes()); }

  const ir::Module& module_;
  std::vector<std::uint32_t> index_;  // by StringId
  std::vector<bool> seen_, taken_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::uint64_t static_shared_limit(Target target) {
  const isa::TargetInfo& info = isa::info(target);
  if (info.base < 20) return 16 * 1024;
  // measured with ptxas 13.0: exact targets alone get all that their machine has
  if (info.variant != 'a') return 48 * 1024;
  return isa::max_shared_bytes(target);
}

void check_shared_memory(Report& report) {
  const ir::Module& module = report.module();
  const std::uint64_t limit = static_shared_limit(module.target);
  // Only a module that declares more than fits can have an entry that takes more.
  std::uint64_t declared = 0;
  const auto count = [&](const std::vector<ir::Variable>& variables) {
    for (const ir::Variable& v : variables)
      if (v.space == StateSpace::shared) declared = add_sizes(declared, add_sizes(v.bytes(), v.align));
  };
  count(module.variables);
  for (const ir::Function& f : module.functions) count(f.variables);
  if (declared <= limit) return;
  Footprint footprint(module);
  for (const ir::Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const std::uint64_t bytes = footprint.shared_bytes(function);
    if (bytes <= limit) continue;
    report
        .error(function.where, Kind::shared_memory_size,
               cat('`', module.str(function.name), "` takes ", bytes, " bytes of shared memory; `", isa::name(module.target),
                   "` gives a kernel ", limit, " at most when they are declared with a size"))
        .hint("dynamic shared memory may be larger: `.extern .shared .align 128 .b8 name[];` and the launch says how much");
  }
}

namespace {

// Counts the variables of one space, and says at which of them it is more than there is.
class Room {
 public:
  Room(Report& report, StateSpace space, std::uint64_t limit, std::string_view whose)
      : report_(report), space_(space), limit_(limit), whose_(whose) {}
  void add(const ir::Variable& v) {
    if (v.space != space_ || v.linkage == ir::Linkage::extern_) return;
    const std::uint64_t before = bytes_;
    bytes_ = add_sizes(aligned(bytes_, v), v.bytes());
    if (before > limit_ || bytes_ <= limit_) return;
    report_.error(v.where, Kind::bad_declaration,
                  cat("the .", name(space_), " variable `", report_.module().str(v.name), "` ends at byte ", bytes_, " of ",
                      whose_, limit_));
  }

 private:
  Report& report_;
  StateSpace space_;
  std::uint64_t limit_, bytes_ = 0;
  std::string_view whose_;
};

}  // namespace

void check_declared_memory(Report& report) {
  const ir::Module& module = report.module();
  Room constant(report, StateSpace::const_, 64 * 1024, "constant memory; a module has ");  // manual: "Constant State Space"
  // ptxas counts neither .global nor .local variables (docs/facts.md); no GPU has a tebibyte, and a thread has 512 KiB (CUDA C++
  // programming guide, "Technical Specifications per Compute Capability").
  Room global(report, StateSpace::global, std::uint64_t{1} << 40, "global memory; no GPU has more than ");
  for (const ir::Variable& v : module.variables) constant.add(v), global.add(v);
  std::vector<std::uint32_t> named_by(module.string_count());  // the last function that names it, counted from 1
  std::uint32_t function = 0;
  for (const ir::Function& f : module.functions) {
    ++function;
    if (f.variables.empty()) continue;
    Room local(report, StateSpace::local, 512 * 1024, "local memory; a thread has ");
    for (const ir::Operand& o : f.operands)
      if (o.kind == ir::OperandKind::symbol && o.payload < named_by.size()) named_by[o.payload] = function;
    for (const ir::Variable& v : f.variables) {
      constant.add(v), global.add(v);
      if (v.name.valid() && v.name.index < named_by.size() && named_by[v.name.index] == function) local.add(v);
    }
  }
}

}  // namespace ptx::check
