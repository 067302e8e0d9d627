// A row of the instruction table: one PTX syntax line in the manual's own notation, read while compiling, so that a malformed row
// is a compile error at that row. A row is data: no code inside rows.
//
// The notation
//   fma.rnd{.ftz}{.sat}.f32   the opcode and its modifiers in order; {…} may be left out; a name that a slot list below defines
//                             stands for its choices, any other name is itself
//   d:=.f32                   a register that the instruction writes
//   d:+.f32                   a register that it reads and writes
//   a:.f32                    a value that it reads: a register, an immediate or (mov) a special register
//   a:%.b64  n:#.s32          a register only; an immediate only
//   c:!.pred  a:-.s32         a predicate, which `!` may negate; a number, which `-` may
//   d:=?.b32  d:=_            may be the sink `_`; is always the sink
//   d:=.type+                 the register may be wider than the type (ld, st, cvt)
//   n:#.u32=0..15             the integers that fit, where an integer stands: 4|8|16, 24..256/8 in steps of 8, 0../16 the
//   multiples
//                             of 16, 32..512*2 the powers of two between them; 0|2:0..3 for the elements of a vector
//   a:.atype~lane             a part of the register may be named: lane, select2, select4, mask2, mask4 (video instructions)
//   d:=.vec.type  d:=.x4.f32  a vector: its length is a slot's choice (v2), a fixed one (x4), or a fragment word of fragment.hpp
//   d:=.f32{|p:=.pred}        a second destination behind a bar; without the braces it is required
//   [a:.space]  [a]           an address in a state space; a generic address
//   [map:.tensor, c:.dim.s32] a tensor map and its coordinates
//   [t:.texture, c:.x2.f32]   a texture, perhaps a sampler, and the coordinates; [s:.surface, …] a surface and the coordinates
//   (r:=list)  (a:list)       results and arguments of a call
//   t:label  s:symbol         a label; the name of a variable, parameter or function
//   s:symbol.space            the name of a variable in a state space
//   a:special.type            a special register (mov, cvt)
//   {, b:.u32}                operands that may be left out
//   {, m:.b16 @.multicast}    an operand that is there exactly when that slot is chosen; @.slot=x|y: when it is chosen as x or y
//   ; .rnd = { .rn, .rz @8.6, .rm @sm_100a|sm_103a }     a slot's choices, each with its own first version and targets if they
//   differ
// Types are a type's name, a slot whose choices are types, `wide` (twice the slot `type`) or `dreg` (the 32-bit register that
// holds the slot `dtype`: f32 or s32 as it is, f16 in pairs).
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "ptx/isa/effect.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/target.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa {

/// One row as written. Everything else about an instruction is derived from it.
struct Row {
  std::string_view form;  ///< the notation above
  Version since;          ///< first PTX version
  TargetSet on = 0;       ///< any of these targets
  Version also_since;     ///< first PTX version on the targets of `also_on`
  TargetSet also_on = 0;  ///< targets that have it in other versions than those of `on`; 0 is none
  Version removed_since;  ///< from this PTX version on it is gone from the targets of `removed_on`
  TargetSet removed_on = 0;
  Effects effects;
  std::string_view exec;          ///< names ptx::vgpu::op::<exec>; empty when the executor does not run it
  std::string_view not_executed;  ///< why not
  std::string_view anchor;        ///< the manual's anchor
  std::string_view doc;           ///< one sentence
  std::string_view rule;          ///< name of a cross-slot rule (table/rules.cpp), or empty
  std::string_view unproven;      ///< why no ptxas has been asked about it, or empty
};

// ---- reading the notation -----------------------------------------------------------------------------------------

/// A row cannot be read: thrown as it is at run time, and no constant expression while compiling, so that the compiler shows the
/// line. A function in place of `throw`, since a program that includes this may be built without exceptions.
[[noreturn]] void slip(const char* why);

/// A fixed-capacity vector that works while compiling.
template <class T, std::size_t N>
struct FixedVector {
  std::array<T, N> items{};
  std::size_t count = 0;
  constexpr T& add(T item) {
    if (count == N) slip("too many entries in this row");
    items[count] = item;
    return items[count++];
  }
  [[nodiscard]] constexpr const T* begin() const { return items.data(); }
  [[nodiscard]] constexpr const T* end() const { return items.data() + count; }
  constexpr T* begin() { return items.data(); }
  constexpr T* end() { return items.data() + count; }
  [[nodiscard]] constexpr std::size_t size() const { return count; }
  constexpr T& operator[](std::size_t i) { return items[i]; }
  constexpr const T& operator[](std::size_t i) const { return items[i]; }
};

struct Choice {
  std::string_view word;  ///< without the leading dot: "shared::cta"
  Version since{0, 0};    ///< 0.0: as the row
  TargetSet on = 0;       ///< 0: as the row
};

struct Slot {
  std::string_view name;
  bool optional = false;
  bool literal = false;  ///< the name itself is the only choice
  FixedVector<Choice, 56> choices;
};

/// One alternative of an operand's range: low to high, in steps of `step`, or from one to the next times `times`.
struct IntegerRange {
  std::int64_t low = 0, high = 0, step = 1, times = 0;
  [[nodiscard]] constexpr bool holds(std::int64_t n) const {
    if (n < low || n > high) return false;
    if (times == 0) return (n - low) % step == 0;
    std::int64_t power = low;
    while (power < n) power *= times;
    return power == n;
  }
};
using IntegerRanges = FixedVector<IntegerRange, 8>;

struct ParsedForm {
  std::string_view opcode;
  FixedVector<Slot, max_slots> slots;
  FixedVector<OperandSpec, 14> operands;
};

namespace detail {

struct Cursor {
  std::string_view text;
  std::size_t at = 0;

  [[nodiscard]] constexpr bool done() const { return at >= text.size(); }
  [[nodiscard]] constexpr char peek() const { return done() ? '\0' : text[at]; }
  constexpr void space() {
    while (!done() && (text[at] == ' ' || text[at] == '\n')) ++at;
  }
  constexpr bool eat(char c) {
    space();
    if (peek() != c) return false;
    ++at;
    return true;
  }
  constexpr bool eat(std::string_view word) {
    space();
    if (!text.substr(at).starts_with(word)) return false;
    at += word.size();
    return true;
  }
  constexpr void need(char c, const char* why) {
    if (!eat(c)) slip(why);
  }
  static constexpr bool word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  /// Letters, digits, `_`, and `::` (but not a single ':').
  constexpr std::string_view word() {
    const std::size_t begin = at;
    while (!done()) {
      if (word_char(text[at])) {
        ++at;
      } else if (text[at] == ':' && at + 1 < text.size() && text[at + 1] == ':') {
        at += 2;
      } else {
        break;
      }
    }
    if (begin == at) slip("expected a word in this row's form");
    return text.substr(begin, at - begin);
  }
  constexpr unsigned number() {
    unsigned n = 0;
    if (peek() < '0' || peek() > '9') slip("expected a number");
    while (peek() >= '0' && peek() <= '9') n = 10 * n + static_cast<unsigned>(text[at++] - '0');
    return n;
  }
};

constexpr std::int64_t parse_integer(Cursor& c) {
  const bool negative = c.peek() == '-';
  if (negative) ++c.at;
  const auto n = static_cast<std::int64_t>(c.number());
  return negative ? -n : n;
}

constexpr IntegerRanges parse_range(std::string_view text) {
  IntegerRanges all;
  Cursor c{text};
  do {
    IntegerRange range;
    range.low = range.high = parse_integer(c);
    if (c.eat(std::string_view(".."))) {
      const bool open = c.peek() != '-' && (c.peek() < '0' || c.peek() > '9');
      range.high = open ? std::numeric_limits<std::int64_t>::max() : parse_integer(c);
      if (c.eat('/')) range.step = c.number();
      if (c.eat('*')) range.times = c.number();
      if (range.step == 0 || range.times == 1 || range.low > range.high) slip("a range that nothing is in");
    }
    all.add(range);
  } while (c.eat('|'));
  if (!c.done()) slip("a range is 0..15, 4|8|16, 24..256/8, 0../16 or 32..512*2");
  return all;
}

// The range of one element: "0|2:0..3" has one each; the last one holds for all the rest.
constexpr std::string_view range_of(std::string_view text, std::size_t element) {
  for (; element > 0 && text.find(':') != std::string_view::npos; --element) text.remove_prefix(text.find(':') + 1);
  return text.substr(0, text.find(':'));
}

constexpr void parse_type(Cursor& c, OperandSpec& o) {
  c.need('.', "an operand's type starts with '.'");
  o.type = c.word();
  if (c.peek() == '.') {
    ++c.at;
    o.count = o.type;
    o.type = c.word();
  }
  if (c.peek() == '+') ++c.at, o.wider = true;
  if (c.peek() == '~') ++c.at, o.part = c.word();
  if (c.peek() == '=') {
    const std::size_t begin = ++c.at;
    while (std::string_view("0123456789-.|/*:").find(c.peek()) != std::string_view::npos && !c.done()) ++c.at;
    o.range = c.text.substr(begin, c.at - begin);
  }
}

constexpr void parse_condition(Cursor& c, OperandSpec& o) {
  if (!c.eat('@')) return;
  c.need('.', "a condition names a slot: @.slot");
  o.when_slot = c.word();
  o.conditional = true;
  o.optional = false;
  if (c.peek() == '=') {
    const std::size_t begin = ++c.at;
    do c.word();
    while (c.peek() == '|' && ++c.at);
    o.when_choices = c.text.substr(begin, c.at - begin);
  }
}

constexpr OperandSpec parse_operand(Cursor& c) {
  OperandSpec o;
  c.space();
  if (c.eat('(')) {
    o.role = Role::list;
    o.name = c.word();
    c.need(':', "a list is written (a:list) or (r:=list)");
    if (c.eat('=')) o.access = Access::write;
    if (!c.eat(std::string_view("list"))) slip("a list is written (a:list) or (r:=list)");
    c.need(')', "missing ) after a list");
    return o;
  }
  if (c.eat('[')) {
    o.role = Role::address;
    o.name = c.word();
    if (c.eat(':')) {
      c.need('.', "an address space starts with '.'");
      o.space = c.word();
      if (o.space == "tensor" || o.space == "texture" || o.space == "surface") {
        o.role = Role::tensor;
        if (o.space == "tensor") o.space = {};
        c.need(',', "a tensor operand has coordinates: [map:.tensor, c:.dim.s32]");
        c.space();
        c.word();
        c.need(':', "coordinates need a type");
        OperandSpec coords;
        parse_type(c, coords);
        o.coords_count = coords.count;
        o.coords_type = coords.type;
      }
    }
    c.need(']', "missing ] after an address operand");
    return o;
  }
  o.name = c.word();
  c.need(':', "an operand needs ':' (read), ':=' (written) or ':+' (both)");
  if (c.peek() == '=')
    ++c.at, o.access = Access::write;
  else if (c.peek() == '+')
    ++c.at, o.access = Access::read_write;
  if (o.access != Access::read) o.role = Role::reg;
  for (bool more = true; more;) {
    switch (c.peek()) {
      case '%':
        o.role = Role::reg, ++c.at;
        break;
      case '#':
        o.role = Role::imm, ++c.at;
        break;
      case '!':
        o.negatable = true, ++c.at;
        break;
      case '-':
        o.minus = true, ++c.at;
        break;
      case '?':
        o.sink = true, ++c.at;
        break;
      default:
        more = false;
    }
  }
  if (c.eat('_')) {
    o.role = Role::sink;
  } else if (c.eat(std::string_view("label"))) {
    o.role = Role::label;
  } else if (c.eat(std::string_view("symbol"))) {
    o.role = Role::symbol;
    if (c.peek() == '.') ++c.at, o.space = c.word();
  } else if (c.eat(std::string_view("special"))) {
    o.role = Role::special;
    parse_type(c, o);
  } else {
    parse_type(c, o);
  }
  return o;
}

constexpr void parse_operands(Cursor& c, ParsedForm& form, bool optional) {
  for (bool first = true;; first = false) {
    c.space();
    if (c.done() || c.peek() == ';' || c.peek() == '}') return;
    if (c.eat('{')) {
      const bool pipe = c.eat('|');
      if (!pipe && !form.operands.size()) slip("an optional group comes after an operand");
      if (!pipe) c.need(',', "an optional operand starts with ','");
      const std::size_t begin = form.operands.size();
      if (pipe) {
        OperandSpec o = parse_operand(c);
        o.piped = o.optional = true;
        form.operands.add(o);
      } else {
        parse_operands(c, form, true);
      }
      if (c.peek() == '@') {
        OperandSpec condition;
        parse_condition(c, condition);
        for (std::size_t i = begin; i < form.operands.size(); ++i) {
          form.operands[i].when_slot = condition.when_slot;
          form.operands[i].when_choices = condition.when_choices;
          form.operands[i].conditional = true;
          form.operands[i].optional = false;
        }
      }
      c.need('}', "missing } after an optional operand");
      continue;
    }
    bool piped = false;
    if (!first || (form.operands.size() && !optional)) {
      piped = c.eat('|');
      if (!piped) c.need(',', "missing , between operands");
    }
    OperandSpec o = parse_operand(c);
    o.optional = optional;
    o.piped = piped;
    form.operands.add(o);
    c.space();
    if (c.peek() == '@') return;  // the condition belongs to the group
  }
}

constexpr void parse_choice(Cursor& c, Slot& slot) {
  c.need('.', "choices start with '.'");
  Choice choice{c.word()};
  for (c.space(); c.peek() == '@'; c.space()) {
    ++c.at;
    if (c.peek() >= '0' && c.peek() <= '9') {
      choice.since.major = static_cast<std::uint8_t>(c.number());
      if (c.peek() != '.') slip("a version is major.minor");
      ++c.at;
      choice.since.minor = static_cast<std::uint8_t>(c.number());
    } else {
      do {
        const auto target = target_from_name(c.word());
        if (!target) slip("unknown target behind @");
        choice.on |= node(*target);
      } while (c.peek() == '|' && ++c.at);
    }
  }
  slot.choices.add(choice);
}

}  // namespace detail

/// Reads a form. Throws a literal on a malformed one: at run time that never happens, since `row` has read every form while
/// compiling.
constexpr ParsedForm parse_form(std::string_view text) {
  ParsedForm form;
  detail::Cursor c{text};
  c.space();
  form.opcode = c.word();
  for (;;) {
    const bool optional = c.peek() == '{' && c.at + 1 < text.size() && text[c.at + 1] == '.';
    if (optional) ++c.at;
    if (c.peek() != '.') break;
    ++c.at;
    form.slots.add({.name = c.word(), .optional = optional, .literal = false, .choices = {}});
    if (optional && c.peek() != '}') slip("missing } after an optional modifier");
    if (optional) ++c.at;
  }
  detail::parse_operands(c, form, false);
  c.need(';', "a form ends with ;");
  for (c.space(); !c.done(); c.space()) {
    c.need('.', "expected '.slot = { … }' behind the ;");
    const std::string_view name = c.word();
    c.need('=', "expected '=' after a slot's name");
    c.need('{', "expected '{' after a slot's name");
    Slot* slot = nullptr;
    for (Slot& s : form.slots)
      if (s.name == name && s.choices.size() == 0) {
        slot = &s;
        break;
      }
    if (slot == nullptr) slip("a slot is defined that the form does not use");
    do {
      c.space();
      detail::parse_choice(c, *slot);
    } while (c.eat(','));
    c.need('}', "missing } after the choices of a slot");
  }
  for (Slot& slot : form.slots)
    if (slot.choices.size() == 0) {
      slot.literal = true;
      slot.choices.add({slot.name});
    }
  return form;
}

namespace detail {
// Every word that an operand leans on must exist: a slot, a type, or `wide`.
constexpr const Slot* find_slot(const ParsedForm& form, std::string_view name) {
  for (const Slot& s : form.slots)
    if (s.name == name) return &s;
  return nullptr;
}
constexpr bool type_word_known(const ParsedForm& form, std::string_view word) {
  if (word.empty() || word == "wide" || word == "dreg" || type_from_name(word)) return true;
  const Slot* slot = find_slot(form, word);
  if (slot == nullptr) return false;
  for (const Choice& choice : slot->choices)
    if (!type_from_name(choice.word)) return false;
  return true;
}
constexpr bool part_word_known(std::string_view word) {
  return word == "lane" || word == "select2" || word == "select4" || word == "mask2" || word == "mask4";
}
constexpr bool are_operands(const ParsedForm& form, std::string_view words) {
  while (!words.empty()) {
    const std::size_t end = words.find(' ');
    bool found = false;
    for (const OperandSpec& o : form.operands) found = found || o.name == words.substr(0, end);
    if (!found) return false;
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
  return true;
}
constexpr void validate(const Row& row, const ParsedForm& form) {
  for (const OperandSpec& o : form.operands) {
    if (!type_word_known(form, o.type)) slip("an operand's type is neither a type nor a slot of types");
    if (o.conditional && find_slot(form, o.when_slot) == nullptr) slip("an operand's condition names no slot of the form");
    for (std::size_t i = 0; !o.range.empty() && i < 4; ++i) parse_range(range_of(o.range, i));
    if (!o.part.empty() && !part_word_known(o.part)) slip("the parts of a register are lane, select2, select4, mask2 or mask4");
  }
  for (const std::string_view words : {row.effects.reads, row.effects.writes, row.effects.signals})
    if (!are_operands(form, words)) slip("reads(…), writes(…) and signals(…) name operands of the form");
  if (row.on == 0) slip("a row says on which targets it exists: on(…)");
  if (row.exec.empty() && row.not_executed.empty()) slip("a row says exec(…) or not_executed(why)");
  if (row.anchor.empty()) slip("a row cites the manual: doc(anchor, sentence)");
}
struct Since {
  Version version;
};
struct On {
  TargetSet targets;
};
struct Also {
  Version since;
  TargetSet on;
};
struct Removed {
  Version since;
  TargetSet on;
};
struct Unproven {
  std::string_view why;
};
struct Reads {
  std::string_view operands;
};
struct Writes {
  std::string_view operands;
};
struct Signals {
  std::string_view operand;
};
struct Async {
  Proxy proxy;
  Event completes;
};
struct Commits {
  Event what;
};
struct Waits {
  Event what;
};
struct Syncs {
  Sync kind;
  Scope scope;
};
struct Exec {
  std::string_view word;
};
struct NotExecuted {
  std::string_view why;
};
struct Doc {
  std::string_view anchor, sentence;
};
struct Rule {
  std::string_view name;
};
constexpr void put(Row& r, Since x) { r.since = x.version; }
constexpr void put(Row& r, On x) { r.on = x.targets; }
constexpr void put(Row& r, Also x) { r.also_since = x.since, r.also_on = x.on; }
constexpr void put(Row& r, Removed x) { r.removed_since = x.since, r.removed_on = x.on; }
constexpr void put(Row& r, Unproven x) { r.unproven = x.why; }
constexpr void put(Row& r, Effect x) {
  if (x == Effect::control) r.effects.control = true;
  if (x == Effect::volatile_) r.effects.volatile_ = true;
}
constexpr void put(Row& r, Reads x) { r.effects.reads = x.operands; }
constexpr void put(Row& r, Writes x) { r.effects.writes = x.operands; }
constexpr void put(Row& r, Signals x) { r.effects.signals = x.operand; }
constexpr void put(Row& r, Proxy x) { r.effects.proxy = x; }
constexpr void put(Row& r, Async x) { r.effects.proxy = x.proxy, r.effects.completes = x.completes; }
constexpr void put(Row& r, Commits x) { r.effects.commits = x.what; }
constexpr void put(Row& r, Waits x) { r.effects.waits = x.what; }
constexpr void put(Row& r, Syncs x) { r.effects.sync = x.kind, r.effects.scope = x.scope; }
constexpr void put(Row& r, Converged x) { r.effects.converged = x; }
constexpr void put(Row& r, Exec x) { r.exec = x.word; }
constexpr void put(Row& r, NotExecuted x) { r.not_executed = x.why; }
constexpr void put(Row& r, Doc x) { r.anchor = x.anchor, r.doc = x.sentence; }
constexpr void put(Row& r, Rule x) { r.rule = x.name; }
}  // namespace detail

// The columns of a row, by name.
consteval detail::Since since(std::uint8_t major, std::uint8_t minor) { return {{major, minor}}; }
template <class... T>
consteval detail::On on(T... targets) {
  return {(node(targets) | ...)};
}
/// Further targets, which have the row from another PTX version on.
template <class... T>
consteval detail::Also also(std::uint8_t major, std::uint8_t minor, T... targets) {
  return {{major, minor}, (node(targets) | ...)};
}
/// Targets that have the row no longer, from a PTX version on.
template <class... T>
consteval detail::Removed removed(std::uint8_t major, std::uint8_t minor, T... targets) {
  return {{major, minor}, (node(targets) | ...)};
}
/// The row is in the manual, and no ptxas at hand knows it.
consteval detail::Unproven unproven(std::string_view why) { return {why}; }
// What it does besides computing (effect.hpp); the operands that name memory have spaces between them: reads("a b").
consteval detail::Reads reads(std::string_view operands) { return {operands}; }
consteval detail::Writes writes(std::string_view operands) { return {operands}; }
/// The mbarrier that is told when it completes.
consteval detail::Signals signals(std::string_view operand) { return {operand}; }
/// The way on which it accesses memory, or which a fence joins with the generic one; async(…) says it, too.
consteval Proxy through(Proxy proxy) { return proxy; }
consteval detail::Async async(Proxy proxy, Event completes) { return {proxy, completes}; }
/// Closes a group of what completes so, or has it tracked.
consteval detail::Commits commits(Event what) { return {what}; }
consteval detail::Waits waits(Event what) { return {what}; }
/// The scope counts where no modifier says another.
consteval detail::Syncs syncs(Sync kind, Scope scope = Scope::none) { return {kind, scope}; }
consteval Converged converged(Converged who) { return who; }
consteval detail::Exec exec(std::string_view word) { return {word}; }
consteval detail::NotExecuted not_executed(std::string_view why) { return {why}; }
consteval detail::Doc doc(std::string_view anchor, std::string_view sentence) { return {anchor, sentence}; }
consteval detail::Rule rule(std::string_view name) { return {name}; }

/// A row, read and validated while compiling.
template <class... Column>
consteval Row row(std::string_view form, Column... columns) {
  Row r;
  r.form = form;
  (detail::put(r, columns), ...);
  detail::validate(r, parse_form(form));
  return r;
}

namespace rules {
/// True when an integer is in an operand's range.
constexpr bool in_range(std::int64_t value, std::string_view range) {
  if (range.empty()) return true;
  for (const IntegerRange& r : detail::parse_range(range))
    if (r.holds(value)) return true;
  return false;
}
}  // namespace rules

}  // namespace ptx::isa
