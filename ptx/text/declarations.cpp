// Declarations: registers, variables with their initialisers, and parameters.
#include <bit>
#include <limits>

#include "ptx/text/parser.hpp"

namespace ptx::text {
namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr int max_braces = 64;  // of an initialiser, one in the other

}  // namespace

bool Parser::align(std::uint32_t& bytes) {
  const char* at = c_.at;
  if (!number(bytes, "a number of bytes")) return false;
  if (bytes == 0) error(Kind::bad_declaration, at, "an alignment is a power of two; 0 is here");
  return true;
}

// A vector length, if one stands here, and the type: what else a declaration says stands before them.
bool Parser::type_with_vector(Type& type, std::uint8_t& vector, std::string_view of) {
  std::string_view word = c_.peek_directive();
  if (word == "v2" || word == "v4" || word == "v8") {
    vector = static_cast<std::uint8_t>(word[1] - '0');
    c_.take_directive(word);
    word = c_.peek_directive();
  }
  const auto found = isa::type_from_name(word);
  if (!found) return word.empty() ? expected(cat("the type of ", of)) : syntax(c_.at, "`.", word, "` is not a type of ", of);
  type = *found;
  c_.take_directive(word);
  return true;
}

// .global .u32;
bool Parser::nameless(const char* from) {
  c_.eat(';');
  if (!listed(Kind::bad_declaration)) return true;
  list({.kind = Kind::bad_declaration, .severity = Severity::warning, .message = "this declaration names nothing"}, from);
  hint("ptxas takes it, and declares nothing");
  return true;
}

// ---- registers ------------------------------------------------------------------------------------------------------------

// .reg .pred p, q; .reg .b32 %r<10>, x; .reg .v4 .f32 v;
bool Parser::registers(const char* from) {
  c_.take_directive("reg");
  if (const char* at = c_.at; c_.eat_directive("align")) {
    std::uint32_t bytes = 0;
    if (!align(bytes)) return false;
    if (listed(Kind::bad_declaration)) {
      list({.kind = Kind::bad_declaration, .severity = Severity::warning, .message = "a register has no alignment"}, at);
      hint("not in the manual; ptxas takes it, and does nothing with it");
    }
  }
  Type type = Type::none;
  std::uint8_t vector = 1;
  if (!type_with_vector(type, vector, "a register")) return false;
  if (c_.is_at(';')) return nameless(from);
  Fingerprint fingerprint(module_);
  const std::size_t first = function_.body.size();
  bool whole = true;
  do {
    ir::RegDecl decl;
    decl.type = type;
    decl.vector = vector;
    decl.block_local = true;
    decl.where = ir::Module::at(c_.offset());
    whole = name(decl.base, "the name of a register") && family_size(decl.count);
    if (!whole) break;
    function_.reg_decls.push_back(decl);
    names_.declare(ir::RegDeclId(function_.reg_decls.size() - 1));
    ir::Inst& item = function_.body.emplace_back();
    item.kind = ir::ItemKind::reg_decl;
    item.payload = static_cast<std::uint32_t>(function_.reg_decls.size() - 1);
    item.where = ir::Module::at(c_.offset(from)).index;
  } while (c_.eat(','));
  whole = whole && end_statement();
  for (std::size_t i = first; i < function_.body.size(); ++i) fingerprint.add(function_, function_.body[i]);
  if (first != function_.body.size()) piece(from, fingerprint);
  return whole;
}

// <10>, or nothing
bool Parser::family_size(std::optional<std::uint32_t>& count) {
  if (!c_.eat('<')) return true;
  std::uint32_t n = 0;
  if (!number(n, "the number of registers")) return false;
  count = n;
  return c_.eat('>') || expected("`>`");
}

// ---- variables --------------------------------------------------------------------------------------------------------------

// .attribute(.managed, .unified(19, 95))
bool Parser::attributes(std::vector<std::string>& list) {
  c_.take_directive("attribute");
  if (!c_.eat('(')) return expected("`(`");
  do {
    const std::string_view word = c_.peek_directive();
    if (word.empty()) return expected("an attribute such as `.managed`");
    c_.take_directive(word);
    std::string attribute(word);
    if (c_.eat('(')) {
      attribute += '(';
      bool first = true;
      do {
        std::uint64_t value = 0;
        if (!number(value, any, "a number")) return false;
        attribute += cat(first ? "" : ", ", value);
        first = false;
      } while (c_.eat(','));
      if (!c_.eat(')')) return expected("`)`");
      attribute += ')';
    }
    list.push_back(std::move(attribute));
  } while (c_.eat(','));
  return c_.eat(')') || expected("`,` or `)`");
}

// [2][3], []
bool Parser::dimensions(ir::Variable& v) {
  for (bool first = true; c_.eat('['); first = false) {
    if (c_.is_at(']')) {
      if (!first) return syntax(c_.at, "only the first dimension may be left out");
      v.unsized = true;
    } else {
      std::uint64_t n = 0;
      if (!number(n, any, "the number of elements")) return false;
      if (first)
        v.elements = n;
      else
        v.inner.push_back(n);
    }
    if (!c_.eat(']')) return expected("`]`");
  }
  return true;
}

// x<3> is x0, x1 and x2 (manual: "Parameterized Variable Names"), of which no dimensions and no initial values may be said. Here
// each is a variable of its own, and so there is a bound to them.
bool Parser::numbered_variables(std::vector<ir::Variable>& list) {
  constexpr std::uint64_t most = 1 << 16;
  const char* at = c_.at;
  std::uint64_t count = 0;
  if (!number(count, most, "the number of variables")) return false;
  if (count == 0) return syntax(at, "`<0>` declares no variable");
  if (!c_.eat('>')) return expected("`>`");
  const ir::Variable common = list.back();
  const std::string base(module_.str(common.name));
  list.pop_back();
  for (std::uint64_t i = 0; i < count; ++i) {
    ir::Variable& variable = list.emplace_back(common);
    variable.name = module_.intern(cat(base, i));
  }
  return true;
}

bool Parser::variables(const char* from, ir::Linkage linkage, bool in_body) {
  ir::Variable common;
  common.linkage = linkage;
  common.type = Type::none;
  bool has_space = false;
  for (;;) {
    const std::string_view word = c_.peek_directive();
    if (word == "align") {
      c_.take_directive(word);
      if (!align(common.align)) return false;
    } else if (word == "attribute") {
      if (!attributes(common.attributes)) return false;
    } else if (const auto space = space_of(word); space && !has_space) {
      c_.take_directive(word);
      common.space = *space;
      has_space = true;
    } else {
      break;
    }
  }
  if (!has_space) return expected("a state space such as `.global`");
  if (!type_with_vector(common.type, common.vector, "a variable")) return false;
  if (c_.is_at(';')) return nameless(from);
  std::vector<ir::Variable>& list = in_body ? function_.variables : module_.variables;
  const std::size_t first = list.size();
  std::size_t declared = first;
  bool whole = true;
  do {
    ir::Variable& variable = list.emplace_back(common);
    variable.where = ir::Module::at(c_.offset());
    whole = name(variable.name, "the name of a variable");
    if (whole && c_.eat('<'))
      whole = numbered_variables(list);
    else if (whole)
      whole = dimensions(variable) && (!c_.eat('=') || initialiser(variable));
    if (whole && in_body)
      for (; declared < list.size(); ++declared) names_.declare_symbol(list[declared].name);
  } while (whole && c_.eat(','));
  if (!whole || !end_statement()) {
    list.resize(first);
    return false;
  }
  Fingerprint fingerprint(module_);
  for (std::size_t i = first; i < list.size(); ++i) {
    if (in_body) {
      ir::Inst& inst = function_.body.emplace_back();
      inst.kind = ir::ItemKind::variable;
      inst.payload = static_cast<std::uint32_t>(i);
      inst.where = ir::Module::at(c_.offset(from)).index;
      fingerprint.add(function_, inst);
    } else {
      item(ir::ModuleItemKind::variable, i, from);
      fingerprint.add(module_.items.back());
    }
  }
  piece(from, fingerprint);
  return true;
}

bool Parser::initialiser(ir::Variable& v) {
  if (c_.is_at('{')) return init_list(v);
  return init_element(v);
}

bool Parser::init_list(ir::Variable& v) {
  int depth = 0;
  const char* from = c_.at;
  for (;;) {
    if (c_.is_at('{')) {
      c_.eat('{');
      if (++depth > max_braces) return syntax(from, "an initialiser nests more than ", max_braces, " deep");
      v.initialiser.push_back({.kind = ir::InitKind::open});
      if (!c_.is_at('}')) continue;
    } else if (!init_element(v)) {
      return false;
    }
    while (c_.is_at('}')) {
      c_.eat('}');
      v.initialiser.push_back({.kind = ir::InitKind::close});
      if (--depth == 0) return true;
    }
    if (!c_.eat(',')) return expected("`,` or `}`");
  }
}

// +4, +-4, +(4*2): what is added to an address
bool Parser::offset(std::uint64_t& value) {
  if (c_.is_at('-')) {
    syntax(c_.at, "an offset can only be added: PTX has no `-` after an address");
    hint("write `+-`, as in `x+-4`");
    return false;
  }
  if (!c_.eat('+')) return true;
  const char* at = c_.at;
  Constant constant_value;
  if (!constant(constant_value)) return false;
  if (!constant_value.is_integer()) return syntax(at, "an offset is an integer");
  value = constant_value.bits;
  return true;
}

// x, x+4, generic(x)+4, generic(x+4)
bool Parser::init_symbol(ir::Init& init) {
  const char* at = c_.at;
  if (!name(init.symbol, "the name of a variable or function")) return false;
  init.kind = ir::InitKind::symbol;
  if (module_.str(init.symbol) == "generic" && c_.is_at('(')) {
    c_.eat('(');
    init.kind = ir::InitKind::generic;
    if (!name(init.symbol, "the name of a variable or function")) return false;
    if (!c_.eat(')')) return expected("`)`");
  }
  init.value = 0;
  if (module_.str(init.symbol) == "_") return syntax(at, "`_` has no address");
  return offset(init.value);
}

bool Parser::init_element(ir::Variable& v) {
  ir::Init init;
  const char* at = c_.at;
  const bool opaque = isa::kind(v.type) == isa::TypeKind::opaque;
  if (is(c_.peek(), start_class) && !(c_.starts_with("WARP_SZ") && !is(c_.at[7], follow_class))) {
    if (!opaque) {
      if (!init_symbol(init)) return false;
    } else {
      if (!name(init.symbol, "a field or its value")) return false;
      init.kind = ir::InitKind::word;
      if (c_.eat('=')) {
        init.kind = ir::InitKind::field;
        v.initialiser.push_back(init);
        if (!is(c_.peek(), start_class)) return init_number(v);
        init = {.kind = ir::InitKind::word};
        if (!name(init.symbol, "the value of the field")) return false;
      }
    }
    v.initialiser.push_back(init);
    return true;
  }
  if (c_.is_at('0') && is(c_.at[1], start_class)) {  // 0xFF00(x): one byte of an address
    Cursor ahead = c_;
    Constant mask;
    ConstantError why;
    if (read_number(ahead, mask, why) && ahead.is_at('(')) {
      const int shift = std::countr_zero(mask.bits);
      if (mask.bits == 0 || mask.bits >> shift != 0xFF || shift % 8 != 0)
        return syntax(at, "a mask picks one byte: 0xFF, 0xFF00 and so on");
      c_ = ahead;
      c_.eat('(');
      if (!init_symbol(init)) return false;
      init.mask_byte = static_cast<std::uint8_t>(1 + shift / 8);
      if (!c_.eat(')')) return expected("`)`");
      v.initialiser.push_back(init);
      return true;
    }
  }
  return init_number(v);
}

bool Parser::init_number(ir::Variable& v) {
  Constant value;
  if (!begins_constant(c_)) return expected("a number, a name or `{`");
  if (!constant(value)) return false;
  ir::Init init;
  init.value = value.bits;
  init.kind = value.is_integer() ? ir::InitKind::integer : ir::InitKind::floating;
  if (value.is_integer())
    init.width = value.hexadecimal && value.plain ? 1 : 0;
  else
    init.width = value.kind == Constant::Kind::floating32 ? 32 : 64;
  v.initialiser.push_back(init);
  return true;
}

// ---- parameters ---------------------------------------------------------------------------------------------------------------

// .param .u64 .ptr .global .align 16 x, .param .align 8 .b8 x[16], .reg .b32 x
bool Parser::param(ir::Param& p, bool of_entry) {
  const std::string_view first = c_.peek_directive();
  if (first != "param" && first != "reg") return expected("`.param` or `.reg`");
  c_.take_directive(first);
  p.in_register = first == "reg";
  p.type = Type::none;
  while (c_.eat_directive("align"))
    if (!align(p.align)) return false;
  if (!type_with_vector(p.type, p.vector, "a parameter")) return false;
  const char* behind = c_.at;
  if (c_.eat_directive("ptr")) {
    p.is_ptr = true;
    if (const auto space = space_of(c_.peek_directive()); space && *space != ir::StateSpace::tex) {
      c_.take_directive(c_.peek_directive());
      p.ptr_space = *space;
    }
  }
  if (c_.eat_directive("align")) {
    if (!align(p.is_ptr ? p.ptr_align : p.align)) return false;
    if (!of_entry && !p.is_ptr)
      return syntax(behind, "the alignment of a parameter comes before its type, as in `.param .align 8 .b8 x[16]`");
  }
  if (c_.is_at('.')) return syntax(c_.at, "`.", c_.peek_directive(), "` cannot follow the type of a parameter");
  p.where = ir::Module::at(c_.offset());
  if (!name(p.name, "the name of the parameter")) return false;
  if (!c_.eat('[')) return true;
  if (c_.is_at(']')) {
    p.unsized = true;
  } else {
    std::uint64_t n = 0;
    if (!number(n, any, "the number of elements")) return false;
    p.elements = n;
  }
  if (!c_.eat(']')) return expected("`]`");
  return !c_.is_at('[') || syntax(c_.at, "a parameter has one dimension");
}

// ( … ), the bracket included
bool Parser::params(std::vector<ir::Param>& list, bool of_entry) {
  if (!c_.eat('(')) return expected("`(`");
  if (c_.eat(')')) return true;
  do {
    if (ir::Param next; param(next, of_entry))
      list.push_back(next);
    else
      return false;
  } while (c_.eat(','));
  return c_.eat(')') || expected("`,` or `)`");
}

}  // namespace ptx::text
