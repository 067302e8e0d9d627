#include "tests/oracle/walks.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>

#include "ptx/isa/isa.hpp"
#include "ptx/text/text.hpp"

namespace ptx::oracle {
namespace {

// What a mutation may put in an operand's place. The names are declared by `declarations` and by Kernel.
constexpr std::array pool = {
    "%mp0",
    "!%mp1",
    "%mb16_0",
    "%mb16_1",
    "%mb32_0",
    "%mb32_1",
    "%mb64_0",
    "%mb64_1",
    "%mb128_0",
    "%mu16_0",
    "%mu32_0",
    "%mu64_0",
    "%ms32_0",
    "%ms64_0",
    "%mf16_0",
    "%mf16x2_0",
    "%mf32_0",
    "%mf64_0",
    "%mb8_0",
    "%tid.x",
    "%clock64",
    "%laneid",
    "_",
    "0",
    "1",
    "-1",
    "3",
    "16",
    "255",
    "0x80000000",
    "4294967296",
    "0f3F800000",
    "1.5",
    "$end",
    "m_shared",
    "m_global",
    "m_const",
    "entry_param",
    "call_param",
    "k",
    "[%mb32_0]",
    "[%mb64_0]",
    "[%mb64_0+16]",
    "[%mb64_0+-4]",
    "[m_shared]",
    "[m_global+4]",
    "[m_const]",
    "[entry_param]",
    "[0]",
    "[%mp0]",
    "[%mf32_0]",
    "{%mb32_0, %mb32_1}",
    "{%mb64_0, %mb64_1}",
    "{%mf32_0, %mf32_0, %mf32_0, %mf32_0}",
    "{%mb16_0, %mb16_1}",
    "{%mb32_0}",
    "[%mb64_0, {%mb32_0}]",
    "[%mb64_0, {%mb32_0, %mb32_1}]",
    "(%mb32_0)",
    "m_shared+4",
};
constexpr const char* declarations =
    "\t.reg .pred %mp<2>; .reg .b8 %mb8_<2>; .reg .b16 %mb16_<2>; .reg .b32 %mb32_<2>; .reg .b64 %mb64_<2>; .reg .b128 "
    "%mb128_<2>; .reg .u16 %mu16_<2>; "
    ".reg .u32 %mu32_<2>; .reg .u64 %mu64_<2>; .reg .s32 %ms32_<2>; .reg .s64 %ms64_<2>; .reg .f16 %mf16_<2>; "
    ".reg .f16x2 %mf16x2_<2>; .reg .f32 %mf32_<2>; .reg .f64 %mf64_<2>;";
constexpr const char* variables =
    ".shared .align 16 .b8 m_shared[64]; .global .align 16 .b8 m_global[64]; .const .align 16 .b8 m_const[64];";

/// A statement in pieces, to be changed and put together again.
struct Pieces {
  std::vector<std::string> words;     // opcode and modifiers
  std::vector<std::string> operands;  // as spelled
  std::vector<bool> piped;            // by operand: joined to the one before it by `|`
};

// Splits at the commas and bars that are in no bracket.
Pieces split(std::string_view statement) {
  Pieces pieces;
  while (statement.ends_with(';')) statement.remove_suffix(1);
  const std::size_t space = statement.find(' ');
  std::string_view opcode = statement.substr(0, space);
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos; dot = opcode.find('.')) {
    pieces.words.emplace_back(opcode.substr(0, dot));
    opcode.remove_prefix(dot + 1);
  }
  pieces.words.emplace_back(opcode);
  if (space == std::string_view::npos) return pieces;
  std::string operand;
  bool bar = false;
  int depth = 0;
  const auto done = [&](bool next_bar) {
    while (operand.starts_with(' ')) operand.erase(0, 1);
    pieces.operands.push_back(std::exchange(operand, {}));
    pieces.piped.push_back(std::exchange(bar, next_bar));
  };
  for (const char c : statement.substr(space + 1)) {
    if (std::string_view("([{").find(c) != std::string_view::npos) ++depth;
    if (std::string_view(")]}").find(c) != std::string_view::npos) --depth;
    if (depth == 0 && (c == ',' || c == '|'))
      done(c == '|');
    else
      operand += c;
  }
  done(false);
  return pieces;
}

std::string join(const Pieces& pieces) {
  std::string out;
  for (std::size_t i = 0; i < pieces.words.size(); ++i) out += cat(i == 0 ? "" : ".", pieces.words[i]);
  for (std::size_t i = 0; i < pieces.operands.size(); ++i)
    out += cat(i == 0 ? " " : pieces.piped[i] ? "|" : ", ", pieces.operands[i]);
  return out + ';';
}

class Walk {
 public:
  explicit Walk(std::uint64_t seed) : random_(seed) {
    for (const isa::Form& form : isa::forms())
      for (const isa::FormSlot& slot : form.slots)
        for (const isa::Choice& choice : slot.choices) {
          std::vector<std::string_view>& words = words_[form.opcode];
          if (std::find(words.begin(), words.end(), choice.word) == words.end()) words.push_back(choice.word);
        }
  }

  // Forms with equal chances, so that rare instructions are asked about as often as common ones. Half of the choices left out
  // where they may be, and one operand in four changed into something that may or may not fit.
  Case legal(Target target, Version version) {
    for (int tries = 0;; ++tries) {
      const isa::Form& form = isa::forms()[below(isa::forms().size())];
      // calls need functions and prototypes: tests/oracle/modules.cpp asks about those
      const auto is_list = [](const isa::OperandSpec& o) { return o.role == isa::Role::list; };
      if (form.opcode == "call" || std::any_of(form.operands.begin(), form.operands.end(), is_list)) continue;
      // mostly what this target has: refusing what it lacks is the easy half
      if (tries < 8 && !(isa::allows(target, form.row->on) && form.row->since <= version)) continue;
      Case c;
      c.form = form.id;
      for (std::size_t i = 0; i < form.slots.size(); ++i) {
        const isa::FormSlot& slot = form.slots[i];
        if (slot.optional && one_in(2)) continue;
        c.choices[i] = static_cast<std::uint8_t>(1 + below(slot.choices.size()));
      }
      c.optional = static_cast<std::uint32_t>(random_());
      if (!form.operands.empty() && one_in(4)) {
        using Change = Change::Kind;
        constexpr std::array kinds = {Change::integer, Change::floating, Change::negate,
                                      Change::sink,    Change::type,     Change::type};
        constexpr std::array types = {Type::pred, Type::b16, Type::b32, Type::b64, Type::u16, Type::u32, Type::u64,
                                      Type::s16,  Type::s32, Type::s64, Type::f16, Type::f32, Type::f64, Type::f16x2};
        const std::size_t operand = below(form.operands.size());
        const isa::Role role = form.operands[operand].role;
        if (role == isa::Role::value || role == isa::Role::reg || role == isa::Role::imm)
          c.change = {
              .operand = static_cast<int>(operand), .kind = kinds[below(kinds.size())], .type = types[below(types.size())]};
      }
      return c;
    }
  }

  std::string mutate(std::string_view statement) {
    Pieces p = split(statement);
    for (int changes = 1 + static_cast<int>(one_in(4)); changes > 0; --changes) one_in(2) ? mutate_words(p) : mutate_operands(p);
    return join(p);
  }

  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void mutate_words(Pieces& p) {
    const auto of_opcode = words_.find(p.words.front());  // not [], which would keep a view of the word
    const std::vector<std::string_view> none;
    const std::vector<std::string_view>& words = of_opcode == words_.end() ? none : of_opcode->second;
    const std::size_t place = 1 + below(p.words.size());  // behind the opcode; the end is a place too
    const bool at_word = place < p.words.size();
    const auto at = p.words.begin() + static_cast<std::ptrdiff_t>(std::min(place, p.words.size()));
    switch (below(4)) {
      case 0:
        if (at_word) p.words.erase(at);
        break;
      case 1:
        if (!words.empty()) p.words.emplace(at, words[below(words.size())]);
        break;
      case 2:
        if (at_word && !words.empty()) *at = words[below(words.size())];
        break;
      default:
        if (at_word) std::swap(*at, p.words[1 + below(p.words.size() - 1)]);
        break;
    }
  }

  void mutate_operands(Pieces& p) {
    if (p.operands.empty()) {
      p.operands.emplace_back(pool[below(pool.size())]);
      p.piped.push_back(false);
      return;
    }
    const std::size_t place = below(p.operands.size());
    const auto at = static_cast<std::ptrdiff_t>(place);
    switch (below(6)) {
      case 0:
        p.operands.erase(p.operands.begin() + at);
        p.piped.erase(p.piped.begin() + at);
        if (!p.piped.empty()) p.piped[0] = false;
        break;
      case 1:
        p.operands.insert(p.operands.begin() + at, pool[below(pool.size())]);
        p.piped.insert(p.piped.begin() + at, false);
        break;
      case 2:
        std::swap(p.operands[place], p.operands[below(p.operands.size())]);
        break;
      default:
        p.operands[place] = pool[below(pool.size())];
        break;
    }
  }

  std::mt19937_64 random_;
  std::map<std::string_view, std::vector<std::string_view>> words_;  // by opcode: every modifier of its forms
};

// The module of `kernel` as text, with the statements that `write` makes of each case's line in its place, and what
// mutations name declared in front.
template <class Write>
Asked rewritten(Kernel kernel, std::size_t cases, Write write, std::string_view more_declarations = {}) {
  const ir::Listing listing = text::list(std::move(kernel).finish());
  const std::vector<std::uint32_t>& line_of = listing.line_of.back();
  std::map<std::uint32_t, std::size_t> case_at;
  for (std::size_t i = 0; i < cases; ++i) case_at[line_of[line_of.size() - 2 - cases + i]] = i;  // a label and ret end the body
  std::string text;
  std::vector<std::uint32_t> lines;
  std::uint32_t out_line = 1, in_line = 1;
  const auto add = [&](std::string_view line) {
    text += line;
    text += '\n';
    ++out_line;
  };
  bool header = true;
  for (std::size_t at = 0; at < listing.text.size(); ++in_line) {
    const std::size_t end = std::min(listing.text.find('\n', at), listing.text.size());
    const std::string_view line = std::string_view(listing.text).substr(at, end - at);
    at = end + 1;
    if (header && line.find(".entry") != std::string_view::npos) add(variables), header = false;
    if (case_at.contains(in_line)) {
      for (const std::string& statement : write(line.substr(line.find_first_not_of('\t')))) {
        lines.push_back(out_line);
        add('\t' + statement);
      }
    } else {
      add(line);
    }
    if (line == "{") {
      add(declarations);
      if (!more_declarations.empty()) add(more_declarations);
    }
  }
  return Asked(std::move(text), lines);
}

}  // namespace

Asked random_text(std::uint64_t seed, std::size_t count, Target target, Version version) {
  Walk walk(seed);
  Kernel kernel(target, version);
  for (std::size_t i = 0; i < count; ++i) kernel.add(walk.legal(target, version), static_cast<std::uint32_t>(i + 1));
  return rewritten(std::move(kernel), count, [&](std::string_view statement) {
    return std::vector<std::string>{walk.one_in(2) ? walk.mutate(statement) : std::string(statement)};
  });
}

Asked given_text(std::span<const std::string> statements, Target target, Version version) {
  Kernel kernel(target, version);
  std::string types;
  for (const Type type : {Type::pred, Type::b8, Type::b16, Type::b32, Type::b64, Type::b128, Type::u16, Type::u32, Type::u64,
                          Type::s16, Type::s32, Type::s64, Type::f16, Type::f16x2, Type::f32, Type::f64})
    types += cat("\t.reg .", isa::name(type), " %", isa::name(type), "_<160>;");
  Case c;
  c.form = std::find_if(isa::forms().begin(), isa::forms().end(), [](const isa::Form& f) { return f.opcode == "exit"; })->id;
  kernel.add(c, 1);
  return rewritten(
      std::move(kernel), 1,
      [&](std::string_view) {
        std::vector<std::string> lines(statements.begin(), statements.end());
        return lines;
      },
      types);
}

Asked moved_text(std::span<const Case> cases, Target target, Version version) {
  Kernel kernel(target, version);
  for (std::size_t i = 0; i < cases.size(); ++i) kernel.add(cases[i], static_cast<std::uint32_t>(i + 1));
  return rewritten(std::move(kernel), cases.size(), [](std::string_view statement) {
    const Pieces pieces = split(statement);
    std::vector<std::string> moved;
    for (std::size_t i = 1; i < pieces.words.size(); ++i)
      for (const std::size_t to : {i + 1, pieces.words.size() - 1}) {
        if (to <= i || to >= pieces.words.size()) continue;
        Pieces changed = pieces;
        const std::string word = changed.words[i];
        changed.words.erase(changed.words.begin() + static_cast<std::ptrdiff_t>(i));
        changed.words.insert(changed.words.begin() + static_cast<std::ptrdiff_t>(to), word);
        if (moved.empty() || moved.back() != join(changed)) moved.push_back(join(changed));
      }
    return moved;
  });
}

}  // namespace ptx::oracle
