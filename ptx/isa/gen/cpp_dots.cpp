// The C++ dots: a struct for each state of the modifier tree. A state carries the words written so far as a template argument;
// its members lead on through references, so that a compiler instantiates only the dots that are written; a state that a form is
// whole in has call operators, one for each way in which optional operands may be left out, whose parameters are constrained by
// the form itself (instruction.hpp).
#include <bit>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "ptx/isa/gen/gen.hpp"
#include "ptx/isa/gen/states.hpp"

namespace ptx::isa::gen {
namespace {

// The syntax line with the operands' types, without the choices: "fma.rnd{.ftz}{.sat}.f32 d:=.f32, a:.f32, b:.f32, c:.f32".
std::string typed_syntax(const Form& f) {
  std::string out;
  for (const char c : f.notation().substr(0, f.notation().find(';')))
    if (c != ' ' || (!out.empty() && out.back() != ' ')) out += c;
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

// A word that two slots could take leaves the reader, and the dots, in doubt about which one is meant.
void require_unambiguous(const Form& f) {
  for (std::size_t from = 0; from <= f.slots.size(); ++from) {
    std::set<std::string_view> seen;
    for (std::size_t k = from; k < f.slots.size(); ++k) {
      for (const Choice& choice : f.slots[k].choices)
        if (!seen.insert(choice.word).second)
          throw std::runtime_error(cat("two slots of `", f.notation(), "` take `.", choice.word, '`'));
      if (!f.slots[k].optional) break;
    }
  }
}

// The row as dots::FormText (instruction.hpp) has it, traits and quirks in front: "{0u, 0u, {{"rnd", "rn rz rm rp"}, {"ftz"}, …},
// {{Role::reg, …}}}".
std::string operand_text(const OperandSpec& o) {
  constexpr std::string_view roles[] = {"value", "reg", "imm", "address", "tensor", "label", "symbol", "special", "sink", "list"};
  constexpr std::string_view accesses[] = {"read", "write", "read_write"};
  const unsigned flags =
      1u * o.optional | 2u * o.conditional | 4u * o.wider | 8u * o.negatable | 16u * o.minus | 32u * o.sink | 64u * o.piped;
  const std::string_view words[] = {o.name,         o.type,         o.count,       o.space, o.when_slot,
                                    o.when_choices, o.coords_count, o.coords_type, o.part};
  std::size_t last = std::size(words);
  while (last > 1 && words[last - 1].empty()) --last;
  std::string out = cat("{Role::", roles[static_cast<std::size_t>(o.role)],
                        ", Access::", accesses[static_cast<std::size_t>(o.access)], ", ", flags);
  for (std::size_t i = 0; i < last; ++i) out += cat(", \"", words[i], '"');
  return out + '}';
}
std::string form_text(const Form& f) {
  std::string slots, operands;
  for (const FormSlot& slot : f.slots) {
    std::string words;
    for (const Choice& choice : slot.choices) words += cat(words.empty() ? "" : " ", choice.word);
    slots += cat(slots.empty() ? "" : ", ", "{\"", slot.name, slot.literal ? std::string() : cat("\", \"", words), "\"}");
  }
  for (const OperandSpec& o : f.operands) operands += cat(operands.empty() ? "" : ", ", operand_text(o));
  return cat("template <> inline constexpr FormText<", f.slots.size(), ", ", f.operands.size(), "> form_text<", f.id, ">{",
             f.traits.bits(), "u, ", f.quirks.bits(), "u, {", slots, "}, {", operands, "}};\n");
}

class CppDots {
 public:
  Files write() {
    std::map<std::string_view, std::string> texts;  // by opcode
    for (const Form& f : forms()) {
      require_unambiguous(f);
      texts[f.opcode] += form_text(f);
      for (const FormSlot& slot : f.slots)
        for (const Choice& choice : slot.choices) place_of(choice.word);
    }
    std::map<std::string_view, State> by_opcode;
    for (const Form& f : forms()) by_opcode[f.opcode].push_back({f.id, 0});

    Files files;
    std::string declared, root = "template <Words W>\nstruct Root {\n", all;
    for (const auto& [opcode, state] : by_opcode) {
      const Form& first = form(state.front().form);
      const std::string id = identifier(opcode);
      declarations_.clear();
      definitions_.clear();
      const std::string& start = name_of(state, id);
      declared += cat("template <Words W> struct ", start, ";\n");
      root += cat("  /// `", opcode, "`: ", first.row->doc, " Manual: ", manual(first), ". Include <ptx/inst/", opcode,
                  ".hpp>.\n", member(id, start, "W"));
      all += cat("#include \"ptx/inst/", opcode, ".hpp\"\n");
      files[cat("inst/", opcode, ".hpp")] = cat(
          "// Written by isagen from ptx/isa/table: the dots of `", opcode, "`.\n#pragma once\n\n#include \"ptx/inst.hpp\"\n\n",
          "namespace ptx::dots {\n\n", texts[opcode], '\n', declarations_, '\n', definitions_, "\n}  // namespace ptx::dots\n");
    }
    root += "};\n";

    const std::string words = cat("template <> inline constexpr std::string_view word_texts<0>{\n", lines(word_texts_), ",\n    ",
                                  word_texts_.size(), "};\n");
    files["inst.hpp"] =
        cat("// Written by isagen from ptx/isa/table: the root of the dots `ptx::inst`, and the special registers. What stands "
            "behind an "
            "opcode is in\n// <ptx/inst/OPCODE.hpp>, for those who compile often; <ptx/ptx.hpp> includes them all.\n"
            "#pragma once\n\n#include \"ptx/write/instruction.hpp\"\n\nnamespace ptx {\nnamespace dots {\n\n",
            words, '\n', declared, '\n', root,
            "\n}  // namespace dots\n\n"
            "/// `k << inst.<opcode>.<modifier>…(operands)` writes one instruction.\n"
            "inline constexpr dots::Root<dots::Words{}> inst{};\n\n",
            special_registers(), "\n}  // namespace ptx\n");
    files["write/inst.hpp"] =
        cat("// Written by isagen from ptx/isa/table: every PTX instruction in PTX's own spelling.\n#pragma once\n\n", all);
    return files;
  }

 private:
  // Where a word stands in the text of all words.
  std::size_t place_of(std::string_view word) {
    const auto [it, is_new] = words_.emplace(word, word_texts_.size());
    if (is_new) word_texts_ += cat(word, ' ');
    return it->second;
  }

  // A long text as literals of about a hundred characters, each from a word's begin on.
  static std::string lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find(' ', 100));
      const std::size_t size = std::min(line.size() + 1, text.size());
      out += cat(out.empty() ? "" : "\n", "    \"", text.substr(0, size), '"');
      text.remove_prefix(size);
    }
    return out;
  }

  static std::string member(std::string_view name, std::string_view type, std::string_view words) {
    const std::string whole = cat(type, '<', words, '>');
    return cat("  static inline const ", whole, "& ", name, " = node<", whole, ">;\n");
  }

  // The struct of a state, written when first asked for. It is called after the first spelling that leads to it.
  const std::string& name_of(const State& state, const std::string& spelling) {
    if (const auto it = names_.find(state); it != names_.end()) return it->second;
    // Deep states have a short name: the header is compiled often, and long names are most of it.
    constexpr std::size_t most = 48;
    std::string name = spelling.size() <= most
                           ? cat("after_", spelling, what_comes(state))
                           : cat("after_", spelling.substr(0, spelling.find('_', 24)), "_etc_", names_.size());
    while (!taken_.insert(name).second) name += '_';
    const std::string& kept = names_[state] = name;
    declarations_ += cat("template <Words W> struct ", name, ";\n");
    std::string body;
    for (const Next& next : next_of(state)) {
      const std::string id = identifier(next.word);
      if (const std::string needs = availability(next.choice->since, next.choice->on); !needs.empty())
        body += cat("  /// Needs ", needs, ".\n");
      body += member(id, name_of(next.state, cat(spelling, '_', id)), cat("W.then(", place_of(next.word), ')'));
    }
    std::string whole_forms, whole;
    for (const Place& place : state)
      if (is_complete(place)) {
        body += calls(form(place.form));
        whole += cat(", ", place.form);
        whole_forms += cat(whole_forms.empty() ? "" : "  or  ", typed_syntax(form(place.form)));
      }
    const std::string complaint = whole_forms.empty() ? cat("a modifier is missing; what may come next is ", required_next(state))
                                                      : cat("operands do not fit  ", whole_forms);
    body += cat("  template <class... X> Inst operator()(const X&...) const { static_assert(never<X...>, \"", complaint,
                "\"); return refused(); }\n");
    const std::string base = whole.empty() ? std::string() : cat(" : Whole<W", whole, '>');
    definitions_ += cat("template <Words W>\nstruct ", name, base, " {\n", body, "};\n");
    return kept;
  }

  // "_comes_rn_rz_rm_rp" when one of a few words must come next: `inst.fma.f32` is then refused with "after_fma_comes_rn_rz_rm_rp
  // has no member f32".
  static std::string what_comes(const State& state) {
    constexpr std::size_t most = 6;
    for (const Place& place : state) {
      const auto& slots = form(place.form).slots;
      if (place.next_slot == slots.size() || slots[place.next_slot].optional) return {};
    }
    const std::vector<Next> next = next_of(state);
    if (next.size() > most) return {};
    std::string out = "_comes";
    for (const Next& n : next) out += cat('_', identifier(n.word));
    return out;
  }

  // The words that one of the missing modifiers may be.
  static std::string required_next(const State& state) {
    std::vector<std::string> words;
    for (const Place& place : state) {
      const auto& slots = form(place.form).slots;
      for (std::size_t k = place.next_slot; k < slots.size(); ++k)
        if (!slots[k].optional) {
          for (const Choice& choice : slots[k].choices)
            if (const std::string dotted = cat('.', choice.word); std::find(words.begin(), words.end(), dotted) == words.end())
              words.push_back(dotted);
          break;
        }
    }
    std::string list = ptx::list_choices(words);
    std::erase(list, '`');
    return list;
  }

  // The call operators of a form: one for each choice of the operands that need not be there.
  static std::string calls(const Form& f) {
    const std::string doc = cat("  /// `", f.syntax(), "`: ", f.row->doc, '\n', "  /// ", availability(f.row->since, f.row->on),
                                ". Manual: ", manual(f), '\n');
    unsigned conditional = 0, optional = 0;
    for (std::size_t i = 0; i < f.operands.size(); ++i) {
      if (f.operands[i].conditional) conditional |= 1u << i;
      if (f.operands[i].optional) optional |= 1u << i;
    }
    std::string out;
    const unsigned may_lack = conditional | optional;
    for (unsigned lacks = 0;; lacks = (lacks - may_lack) & may_lack) {  // every subset of may_lack
      std::vector<std::string> parameters, arguments;
      for (unsigned i = 0; i < f.operands.size(); ++i) {
        if ((lacks >> i & 1) != 0) continue;
        const std::string name = cat(identifier(f.operands[i].name), f.operands[i].name == "at" ? "_" : "");
        if (f.operands[i].piped) {
          arguments.back() += cat('_', name);
          parameters.back() = cat("Piped<", f.id, ", W, ", i - 1, ", ", i, "> auto ", arguments.back());
        } else {
          arguments.push_back(name);
          parameters.push_back(cat("Operand<", f.id, ", W, ", i, "> auto ", name));
        }
      }
      std::string head, call = cat("make<", f.id, ", W>(at");
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        head += cat(parameters[i], ", ");
        call += cat(", ", arguments[i]);
      }
      out += cat(lacks == 0 ? doc : "  /// The same without operands that may be left out.\n", "  Inst operator()(", head,
                 "SourceLocation at = SourceLocation::current()) const");
      if (conditional != 0) out += cat(" requires With<", f.id, ", W, ", conditional & ~lacks, "u>");
      out += cat(" { return ", call, "); }\n");
      if (lacks == may_lack) break;
    }
    return out;
  }

  // `tid_x`, and `special.tid.x()`.
  static std::string special_registers() {
    std::string constants;
    std::map<std::string, std::string> groups;
    for (SpecialId id = 0; id < specials().size(); ++id) {
      const Special& s = specials()[id];
      const std::string_view path = s.name.substr(1);
      const std::size_t dot = path.find('.');
      std::string flat(path);
      if (dot != std::string_view::npos) flat[dot] = '_';
      const std::string type = cat("Special<Type::", name(s.type), '>');
      const std::string doc = cat('`', s.name, "`: ", s.doc, ". ", availability(s.since, s.on), '.');
      const bool whole = special_from_name(cat(s.name, ".x")).has_value();  // `special.tid()` beside `special.tid.x()`
      if (!whole) constants += cat("/// ", doc, "\ninline constexpr ", type, ' ', flat, '{', id, "};\n");
      const std::string group(whole ? path : dot == std::string_view::npos ? std::string_view() : path.substr(0, dot));
      const std::string_view indent = group.empty() ? "  " : "    ";
      const std::string_view method = whole ? "operator()" : group.empty() ? path : path.substr(dot + 1);
      groups[group] += cat(indent, "/// ", doc, '\n', indent, "[[nodiscard]] constexpr ", type, ' ', method,
                           "() const { return {", id, "}; }\n");
    }
    std::string tree;
    for (const auto& [group, members] : groups)
      tree += group.empty() ? members : cat("  struct {\n", members, "  } ", group, ";\n");
    return cat(constants, "\n/// The special registers as Python spells them: `special.tid.x()`.\nstruct SpecialRegisters {\n",
               tree, "};\ninline constexpr SpecialRegisters special{};\n");
  }

  std::map<std::string, std::size_t, std::less<>> words_;
  std::string word_texts_ = " ";
  std::map<State, std::string> names_;
  std::set<std::string> taken_;
  std::string declarations_, definitions_;
};

}  // namespace

Files generate_cpp_dots() { return CppDots().write(); }

}  // namespace ptx::isa::gen
