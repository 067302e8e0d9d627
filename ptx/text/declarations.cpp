// Declarations: registers, variables with their initialisers, and parameters.
#include <bit>
#include <limits>

#include "ptx/text/parser.hpp"

namespace ptx::text {
namespace {

constexpr std::uint64_t any = std::numeric_limits<std::uint64_t>::max();
constexpr int most_braces = 64;  // of an initialiser, one in the other

}  // namespace

bool Parser::align(std::uint32_t& bytes) { return number(bytes, "a number of bytes"); }

// A word that is a type or a vector length. `known`: it was one of them, and is taken.
bool Parser::type_or_vector(std::string_view word, Type& type, std::uint8_t& vector, bool& known) {
  known = true;
  if (word == "v2" || word == "v4" || word == "v8") {
    vector = static_cast<std::uint8_t>(word[1] - '0');
  } else if (const auto found = isa::type_from_name(word)) {
    type = *found;
  } else {
    known = false;
    return true;
  }
  c_.take_directive(word);
  return true;
}

// ---- registers ------------------------------------------------------------------------------------------------------------

// .reg .pred p, q; .reg .b32 %r<10>, x; .reg .v4 .f32 v;
bool Parser::registers(const char* from) {
  c_.take_directive("reg");
  Type type = Type::none;
  std::uint8_t vector = 1;
  while (c_.is_at('.')) {
    bool known = false;
    const std::string_view word = c_.peek_directive();
    type_or_vector(word, type, vector, known);
    if (!known) return syntax(c_.at, "`.", word, "` is no type of a register");
  }
  if (type == Type::none) return expected("the type of the register");
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

bool Parser::variables(const char* from, ir::Linkage linkage, bool in_body) {
  ir::Variable common;
  common.linkage = linkage;
  common.type = Type::none;
  bool has_space = false;
  while (c_.is_at('.')) {
    const std::string_view word = c_.peek_directive();
    bool known = false;
    type_or_vector(word, common.type, common.vector, known);
    if (known) continue;
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
      return syntax(c_.at, "`.", word, "` has no place in the declaration of a variable");
    }
  }
  if (!has_space) return expected("a state space such as `.global`");
  if (common.type == Type::none) return expected("the type of the variable");
  std::vector<ir::Variable>& list = in_body ? function_.variables : module_.variables;
  const std::size_t first = list.size();
  bool whole = true;
  do {
    ir::Variable& variable = list.emplace_back(common);
    variable.where = ir::Module::at(c_.offset());
    whole = name(variable.name, "the name of a variable") && dimensions(variable) && (!c_.eat('=') || initialiser(variable));
    if (whole && in_body) names_.declare_symbol(variable.name);
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
      if (++depth > most_braces) return syntax(from, "an initialiser nests more than ", most_braces, " deep");
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
    syntax(c_.at, "an offset is added: PTX has no `-` behind an address");
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
bool Parser::param(ir::Param& p) {
  const std::string_view first = c_.peek_directive();
  if (first != "param" && first != "reg") return expected("`.param` or `.reg`");
  c_.take_directive(first);
  p.in_register = first == "reg";
  p.type = Type::none;
  while (c_.is_at('.')) {
    const std::string_view word = c_.peek_directive();
    bool known = false;
    type_or_vector(word, p.type, p.vector, known);
    if (known) continue;
    if (word == "align") {
      c_.take_directive(word);
      if (!align(p.is_ptr ? p.ptr_align : p.align)) return false;
    } else if (word == "ptr") {
      c_.take_directive(word);
      p.is_ptr = true;
    } else if (const auto space = space_of(word); space && p.is_ptr && !p.ptr_space) {
      c_.take_directive(word);
      p.ptr_space = *space;
    } else {
      return syntax(c_.at, "`.", word, "` has no place in the declaration of a parameter");
    }
  }
  if (p.type == Type::none) return expected("the type of the parameter");
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
bool Parser::params(std::vector<ir::Param>& list) {
  if (!c_.eat('(')) return expected("`(`");
  if (c_.eat(')')) return true;
  do {
    if (ir::Param next; param(next))
      list.push_back(next);
    else
      return false;
  } while (c_.eat(','));
  return c_.eat(')') || expected("`,` or `)`");
}

}  // namespace ptx::text
