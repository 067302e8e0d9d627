// Instructions: a guard, an opcode with its modifiers, operands. A kernel says the same few hundred things over and over, so the
// form that an instruction has is looked up by what was written: the opcode's text, and the kinds and types of the operands.
#include <algorithm>
#include <bit>
#include <deque>

#include "ptx/isa/isa.hpp"
#include "ptx/text/parser.hpp"

namespace ptx::text {

using ir::OperandKind;

namespace {

// Behind the `(` stands a name, and not the one that is a number.
bool opens_names(const Cursor& c) {
  constexpr std::string_view number = "WARP_SZ";
  if (!is(c.at[1], start_class)) return false;
  return !Cursor::between(c.at + 1, c.end).starts_with(number) || is(c.at[1 + number.size()], follow_class);
}

}  // namespace

bool Parser::instruction(const char* from) {
  ir::Inst inst;
  inst.where = ir::Module::at(c_.offset(from)).index;
  undeclared_ = has_symbol_ = names_decide_ = false;
  if (c_.is_at('@') && !guard(inst)) return false;
  const char* at = c_.at;
  if (!is(c_.peek(), start_class)) return expected("an instruction");
  Opcode& spelled = opcode();
  if (spelled.unknown()) return unknown(from, at, spelled);
  if (spelled.remark() && listed(spelled.remark()->kind)) list(*spelled.remark(), at);
  stack_.clear();
  signature_.clear();
  exact_integers_ = spelled.reads_integers();
  const bool cut_off = on_new_line() && (c_.is_at('}') || c_.is_at('@') || c_.is_at('.') || c_.done());
  if (!c_.is_at(';') && !cut_off && !operands(spelled)) return false;
  if (!end_statement()) return false;
  if (stack_.size() > 255) return syntax(at, "an instruction has at most 255 operands; ", stack_.size(), " are here");
  if (undeclared_) {
    add_raw(from);
    return true;
  }
  inst.payload = static_cast<std::uint32_t>(function_.operands.size());
  inst.operand_count = static_cast<std::uint8_t>(stack_.size());
  function_.operands.insert(function_.operands.end(), stack_.begin(), stack_.end());
  choose(inst, spelled);
  if (has_symbol_)
    for (std::size_t i = 0; i < stack_.size(); ++i)
      if (stack_[i].kind == OperandKind::symbol)
        names_.use_label(inst.payload + static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(function_.body.size()));
  function_.body.push_back(inst);
  piece(from, Fingerprint(module_).add(function_, inst));
  return true;
}

// @p, @!p
bool Parser::guard(ir::Inst& inst) {
  c_.eat('@');
  inst.guard_negated = c_.eat('!');
  const char* end = c_.name_end();
  if (end == c_.at) return expected("the predicate of a guard");
  const std::string_view text = Cursor::between(c_.at, end);
  if (const auto reg = names_.find_register(text))
    inst.guard = reg->index;
  else
    undeclared(text);
  c_.take(end);
  return true;
}

// The opcode and its modifiers. They may have spaces between them, as in `ld .global .f32`.
Opcode& Parser::opcode() {
  const auto modifiers_end = [](const char* p) {
    while (*p == '.' && is(p[1], word_class)) p = Cursor::word_end(p + 1);
    return p;
  };
  const char* at = c_.at;
  const char* end = modifiers_end(c_.name_end());
  c_.take(end);
  if (!c_.is_at('.') || !is(c_.at[1], word_class)) return opcodes_->find(Cursor::between(at, end));
  spelled_.assign(at, end);
  while (c_.is_at('.') && is(c_.at[1], word_class)) {
    const char* word = c_.at;
    end = modifiers_end(word);
    spelled_.append(word, end);
    c_.take(end);
  }
  return opcodes_->find(spelled_);
}

// A statement that the table does not know is kept as it is.
bool Parser::unknown(const char* from, const char* at, const Opcode& opcode) {
  while (!c_.done() && !c_.is_at(';')) {
    if (c_.is_at('"') && c_.string_end() != nullptr)
      c_.take(c_.string_end());
    else if (on_new_line() && (is_statement_directive(c_.peek_directive()) || c_.is_at('}')))
      break;
    else
      c_.take(is(c_.peek(), start_class) ? c_.name_end() : c_.at + 1);
  }
  if (!c_.is_at(';')) {
    c_.at = c_.last = at;
    return expected("an instruction that ends with `;`");
  }
  c_.eat(';');
  if (parsed_.findings.size() <= max_findings_) {
    constexpr std::size_t max_explained = 100;
    Opcode::Why why = ++unknown_ <= max_explained ? opcode.explain() : opcode.name_it();
    if (isa::is_undescribed(opcode.text(), module_.target)) {
      why.diagnostic.severity = Severity::warning;
      why.diagnostic.hint("not in the manual; ptxas takes it, and nobody here looks at its operands");
    }
    // words with spaces between them stand elsewhere
    list(std::move(why.diagnostic), at + (Cursor::between(at, c_.end).starts_with(opcode.text()) ? why.offset : 0));
  }
  add_raw(from);
  return true;
}

// ---- operands ---------------------------------------------------------------------------------------------------------------

bool Parser::operands(const Opcode& opcode) {
  for (bool piped = false;;) {
    ir::Operand o;
    if (piped) sign(piped_mark);
    if (!operand(o, opcode)) return false;
    o.piped = piped;
    stack_.push_back(o);
    piped = false;
    if (c_.eat(',')) continue;
    if (c_.is_at(';')) return true;
    if (c_.eat('|'))
      piped = true;
    else
      return on_new_line() || c_.done() || c_.is_at('}') || expected("`,` or `;`");
  }
}

bool Parser::operand(ir::Operand& o, const Opcode& opcode) {
  const char first = c_.peek();
  if (is(first, start_class)) return name_operand(o);
  switch (first) {
    case '[':
      return address(o, opcode);
    case '{':
      return list(o, OperandKind::vector, '}', opcode);
    case '(':
      // `(1 << 4)` is a number, unless the instruction takes lists
      if (opcode.takes_lists() || c_.at[1] == ')' || opens_names(c_)) return list(o, OperandKind::list, ')', opcode);
      return constant_operand(o);
    case '!':
      // `!WARP_SZ` is a number
      if (Cursor ahead = c_; ahead.eat('!') && is(ahead.peek(), start_class) && !ahead.starts_with("WARP_SZ"))
        return negated_operand(o, '!');
      return constant_operand(o);
    case '-':
      if (Cursor ahead = c_;
          ahead.eat('-') && is(ahead.peek(), start_class) && names_.find_register(Cursor::between(ahead.at, ahead.name_end())))
        return negated_operand(o, '-');
      return constant_operand(o);
    default:
      return begins_constant(c_) ? constant_operand(o) : expected("an operand");
  }
}

// !%p1, -%r1
bool Parser::negated_operand(ir::Operand& o, char mark) {
  const char* at = c_.at;
  c_.eat(mark);
  sign(negated_mark);
  if (!name_operand(o)) return false;
  o.negated = true;
  if (o.kind != OperandKind::reg && o.kind != OperandKind::part) return true;
  const std::uint32_t reg = o.kind == OperandKind::reg ? o.payload : function_.operands[o.payload].payload;
  if (const bool predicate = function_.regs[reg].type == Type::pred; predicate != (mark == '!'))
    error(Kind::operand_mismatch, at, '`', std::string_view(&mark, 1),
          predicate ? "` negates numbers, and" : "` negates predicates, and", " a .", isa::name(function_.regs[reg].type),
          " register follows it");
  return true;
}

bool Parser::name_operand(ir::Operand& o) {
  const char* at = c_.at;
  const char* end = c_.name_end();
  const std::string_view text = Cursor::between(at, end);
  const std::optional<ir::RegId> reg = names_.find_register(text);
  if (*end == '.' && is(end[1], word_class)) return name_part(o, text, reg);
  if (reg) {
    o.kind = OperandKind::reg;
    o.payload = reg->index;
    sign_reg(*reg);
    c_.take(end);
    return true;
  }
  if (*at == '%') {
    if (const auto special = isa::special_from_name(text)) {
      o.kind = OperandKind::special;
      o.payload = *special;
      sign(special_mark);
      signature_.append(reinterpret_cast<const char*>(&*special), sizeof *special);
      c_.take(end);
      return true;
    }
    undeclared(text);
    c_.take(end);
    return true;
  }
  if (text == "_") {
    o.kind = OperandKind::sink;
    sign(sink_mark);
    c_.take(end);
    return true;
  }
  if (text == "WARP_SZ") return constant_operand(o);
  c_.take(end);
  if (c_.is_at('+')) {  // an address and a constant: known when it is linked
    std::uint64_t add = 0;
    if (!offset(add)) return false;
    o.kind = OperandKind::text;
    o.payload = module_.intern(cat(text, '+', static_cast<std::int64_t>(add))).index;
    sign(text_mark);
    names_decide_ = true;
    return true;
  }
  if (c_.is_at('[')) return element(o, text);
  o.kind = OperandKind::symbol;
  o.payload = module_.intern(text).index;
  has_symbol_ = names_decide_ = true;
  sign(symbol_mark);
  return true;
}

// [1], [%r1], [%r1+1] behind the name of an array
bool Parser::element(ir::Operand& o, std::string_view name) {
  const std::size_t mark = stack_.size();
  stack_.push_back({.kind = OperandKind::symbol, .payload = module_.intern(name).index});
  sign(element_mark);
  names_decide_ = true;
  c_.eat('[');
  ir::Operand index;
  const char* at = c_.at;
  if (is(c_.peek(), start_class) && !c_.starts_with("WARP_SZ")) {
    if (!name_operand(index)) return false;
    if (index.kind != OperandKind::reg && !undeclared_)
      return syntax(at, "the index of an array is a register or a number, and ", seen(at), " here");
  } else if (!begins_constant(c_)) {
    return expected("the index of an array");
  } else if (!constant_operand(index)) {
    return false;
  }
  stack_.push_back(index);
  if (index.kind == OperandKind::reg && c_.is_at('+')) {
    c_.eat('+');
    ir::Operand added;
    if (!begins_constant(c_)) return expected("a number");
    if (!constant_operand(added)) return false;
    if (added.kind == OperandKind::floating) return syntax(at, "an integer is added to the index of an array");
    stack_.push_back(added);
  } else if (c_.is_at('-')) {
    syntax(c_.at, "a number can only be added to the index of an array: ptxas reads no `-` after a register");
    hint("write `+-`, as in `a[%r1+-1]`");
    return false;
  }
  if (!c_.is_at(']')) return expected("`]`");
  sign(']');
  c_.eat(']');
  flush(o, OperandKind::element, mark);
  return true;
}

// %tid.x, %r1.h10, v.x
bool Parser::name_part(ir::Operand& o, std::string_view text, std::optional<ir::RegId> reg) {
  const char* at = c_.at;
  const char* end = Cursor::word_end(at + text.size() + 1);
  const std::string_view whole = Cursor::between(at, end);
  if (!reg) {
    c_.take(end);
    const auto special = text[0] == '%' ? isa::special_from_name(whole) : std::nullopt;
    if (!special) return undeclared(isa::special_from_name(text) ? whole : text);
    o.kind = OperandKind::special;
    o.payload = *special;
    sign(special_mark);
    signature_.append(reinterpret_cast<const char*>(&*special), sizeof *special);
    return true;
  }
  const std::string_view part = whole.substr(text.size());
  const std::size_t mark = stack_.size();
  const ir::StringId id = module_.intern(part);
  stack_.push_back({.kind = OperandKind::reg, .payload = reg->index});
  stack_.push_back({.kind = OperandKind::text, .payload = id.index});
  sign('.');
  sign_reg(*reg);
  signature_ += part;
  sign('\0');
  flush(o, OperandKind::part, mark);
  c_.take(end);
  return true;
}

// The statement is kept as text: nothing is known of a register without a declaration.
bool Parser::undeclared(std::string_view text) {
  undeclared_ = true;
  const std::size_t function = module_.functions.size() + 1;
  std::size_t& reported = reported_[module_.intern(text).index];
  if (reported == function) return true;
  reported = function;
  const char* const at = text.data();
  error(Kind::undefined_symbol, at, "the register `", text, "` is not declared here");
  return true;
}

// ---- numbers --------------------------------------------------------------------------------------------------------

// Of an integer only its width decides which form fits, unless a form looks at the value.
void Parser::sign_integer(std::uint64_t value) {
  sign(integer_mark);
  if (exact_integers_) {
    signature_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return;
  }
  const bool negative = static_cast<std::int64_t>(value) < 0;
  sign(static_cast<char>(static_cast<unsigned>(std::bit_width(negative ? ~value : value)) | (negative ? 0x80u : 0u)));
}

void Parser::integer(ir::Operand& o, std::uint64_t value, ir::IntegerFormat format) {
  o.kind = OperandKind::integer;
  o.count = static_cast<std::uint16_t>(format);
  o.payload = static_cast<std::uint32_t>(function_.constants.size());
  function_.constants.push_back(value);
}

bool Parser::constant_operand(ir::Operand& o) {
  // The common case, `12` or `-5`.
  const char* p = c_.at;
  const bool negative = *p == '-';
  p += negative;
  std::uint64_t value = 0;
  const char* digits = p;
  for (; is(*p, digit_class) && p - digits < 18; ++p) value = 10 * value + static_cast<unsigned>(*p - '0');
  if (p != digits && (*digits != '0' || p - digits == 1) && (*p == ',' || *p == ';' || *p == ']' || *p == '}' || *p == ')')) {
    value = negative ? 0 - value : value;
    integer(o, value, ir::IntegerFormat::decimal);
    sign_integer(value);
    c_.take(p);
    return true;
  }
  const char* at = c_.at;
  Constant v;
  if (!constant(v)) return false;
  if (!v.is_integer()) {
    o.kind = OperandKind::floating;
    o.count = v.kind == Constant::Kind::floating32 ? 32 : 64;
    o.payload = static_cast<std::uint32_t>(function_.constants.size());
    function_.constants.push_back(v.bits);
    sign(floating_mark);
    sign(static_cast<char>(o.count));
    return true;
  }
  sign_integer(v.bits);
  const bool is_unsigned = v.suffixed || (v.plain && v.kind == Constant::Kind::uint && *at != '-');
  if (v.plain) {
    using ir::IntegerFormat;
    integer(o, v.bits,
            v.hexadecimal ? (v.suffixed ? IntegerFormat::hexadecimal_unsigned : IntegerFormat::hexadecimal)
                          : (is_unsigned ? IntegerFormat::decimal_unsigned : IntegerFormat::decimal));
    return true;
  }
  const std::size_t mark = stack_.size();
  ir::Operand number;
  integer(number, v.bits, ir::IntegerFormat::decimal);
  const ir::StringId text = module_.intern(one_line(Cursor::between(at, c_.last)));
  stack_.push_back(number);
  stack_.push_back({.kind = OperandKind::text, .payload = text.index});
  flush(o, OperandKind::expression, mark);
  return true;
}

// ---- operands that have parts ---------------------------------------------------------------------------------------

// What stands on the stack from `mark` on becomes the parts of an operand.
void Parser::flush(ir::Operand& o, OperandKind kind, std::size_t mark) {
  o.kind = kind;
  o.count = static_cast<std::uint16_t>(stack_.size() - mark);
  o.payload = static_cast<std::uint32_t>(function_.operands.size());
  function_.operands.insert(function_.operands.end(), stack_.begin() + static_cast<std::ptrdiff_t>(mark), stack_.end());
  stack_.resize(mark);
}

// {a, b}, (a, b)
bool Parser::list(ir::Operand& o, OperandKind kind, char close, const Opcode& opcode) {
  const char* at = c_.at;
  const std::size_t mark = stack_.size();
  sign(*at);
  c_.take(at + 1);
  if (!c_.is_at(close)) do {
      const char first = c_.peek();
      if (first == '{' || first == '[' || (first == '(' && kind == OperandKind::list && opens_names(c_)))
        return expected("a register or a number");
      ir::Operand element;
      if (first == '(' ? !constant_operand(element) : !operand(element, opcode)) return false;
      stack_.push_back(element);
    } while (c_.eat(','));
  if (!c_.is_at(close)) return expected(close == '}' ? "`,` or `}`" : "`,` or `)`");
  sign(close);
  c_.take(c_.at + 1);
  if (stack_.size() - mark > 0xFFFF) return syntax(at, "a list has at most 65535 elements; ", stack_.size() - mark, " are here");
  flush(o, kind, mark);
  return true;
}

// [a], [a+4], [map, {…}], [texture, sampler, {…}]
bool Parser::address(ir::Operand& o, const Opcode& opcode) {
  const char* at = c_.at;
  const std::size_t mark = stack_.size();
  sign('[');
  c_.eat('[');
  ir::Operand base;
  if (is(c_.peek(), start_class) && !c_.starts_with("WARP_SZ")) {
    const char* end = c_.name_end();
    const std::string_view text = Cursor::between(c_.at, end);
    // a name with an offset is no constant of its own here
    if (*end == '.') {
      if (!name_operand(base)) return false;
    } else if (const auto reg = names_.find_register(text)) {
      base = {.kind = OperandKind::reg, .payload = reg->index};
      sign_reg(*reg);
      c_.take(end);
    } else if (*c_.at == '%') {
      if (!name_operand(base)) return false;
    } else {
      base = {.kind = OperandKind::symbol, .payload = module_.intern(text).index};
      sign(symbol_mark);
      names_decide_ = true;
      c_.take(end);
    }
  } else if (begins_constant(c_)) {
    if (!constant_operand(base)) return false;
  } else {
    return expected("the base of an address");
  }
  stack_.push_back(base);
  if (c_.is_at('+')) {
    c_.eat('+');
    ir::Operand added;
    if (is(c_.peek(), start_class) ? !name_operand(added)
        : begins_constant(c_)      ? !constant_operand(added)
                                   : !expected("an offset"))
      return false;
    stack_.push_back(added);
  } else if (c_.is_at('-')) {
    syntax(c_.at, "an offset can only be added: PTX has no `-` after the base of an address");
    hint("write `+-`, as in `[%rd1+-4]`");
    return false;
  }
  if (!c_.is_at(',')) {
    if (!c_.is_at(']')) return expected("`]`");
    sign(']');
    c_.eat(']');
    flush(o, OperandKind::address, mark);
    if (c_.eat_directive("unified")) {
      o.unified = true;
      sign('u');
    }
    return true;
  }
  if (stack_.size() - mark != 1) return expected("`]`");
  while (c_.eat(',')) {
    if (c_.is_at('[')) return expected("coordinates `{…}`");
    ir::Operand part;
    if (!operand(part, opcode)) return false;
    stack_.push_back(part);
  }
  if (!c_.is_at(']')) return expected("`,` or `]`");
  if (stack_.size() - mark > 3)
    return syntax(at, "a tensor or texture operand has at most 3 parts; ", stack_.size() - mark, " are here");
  sign('t');
  c_.eat(']');
  flush(o, OperandKind::tensor, mark);
  return true;
}

// ---- the form -------------------------------------------------------------------------------------------------------

void Parser::choose(ir::Inst& inst, Opcode& opcode) {
  const bool only = opcode.candidates().size() == 1;  // check says whether its operands fit
  const Candidate* chosen = only ? &opcode.candidates().front() : opcode.remembered(signature_, opcodes_->module());
  if (chosen == nullptr) {
    std::deque<std::vector<isa::Arg>> parts;
    std::vector<isa::Arg> args;
    for (const ir::Operand& o : function_.operands_of(inst)) args.push_back(ir::arg_of(module_, function_, o, parts));
    // When none fits, the one that comes nearest stays: check says what is wrong with the operands.
    const Chosen found = text::choose(opcode.candidates(), args, module_.target);
    // What ptxas overlooks depends on the target.
    const bool in_any_module = found.by == Chosen::By::match && !names_decide_;
    chosen = &opcode.remember(signature_, in_any_module ? Opcode::any_module : opcodes_->module(), *found.candidate);
  }
  inst.form = chosen->form;
  inst.choices = chosen->choices;
}

}  // namespace ptx::text
