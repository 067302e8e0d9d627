// isa: what the instruction table says of an opcode, on a terminal.
#include "ptx/isa/isa.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "ptx/tool/commands.hpp"
#include "ptx/tool/style.hpp"

namespace ptx::tool {
namespace {

namespace table = ptx::isa;

constexpr std::size_t max_in_full = 8;  // forms; more are listed, a line or two each

std::string strip(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) out += cat(out.empty() ? "" : separator, part);
  return out;
}

std::string list_opcodes(const Caller& caller) {
  const Style style(caller.colour);
  std::vector<std::pair<std::string, std::vector<std::string>>> families;
  std::vector<std::string> seen;
  for (const table::Form& form : table::forms()) {
    std::string opcode(form.opcode);
    if (std::find(seen.begin(), seen.end(), opcode) != seen.end()) continue;
    seen.push_back(opcode);
    const std::string title = table::family(form);
    auto it = std::find_if(families.begin(), families.end(), [&](const auto& family) { return family.first == title; });
    if (it == families.end()) it = families.insert(it, {title, {}});
    it->second.push_back(std::move(opcode));
  }
  std::string out;
  for (const auto& [title, opcodes] : families)
    out += cat(style(Colour::bold, title), "\n  ", wrap(join(opcodes, " "), columns - 2, "  "), "\n\n");
  return cat(out, plural(seen.size(), "opcode"), ", ", plural(table::forms().size(), "form"), "; `", caller.program,
             " isa OPCODE` shows one\n");
}

// A line of a form's table: a name, and text that goes on below itself.
std::string row(std::string_view name, std::string_view text) {
  constexpr std::size_t name_width = 14;
  const std::string padding(name.size() < name_width ? name_width - name.size() : 1, ' ');
  const std::string indent(4 + name_width, ' ');
  return cat("    ", name, padding, wrap(text, columns - indent.size(), indent), '\n');
}

std::string show(const table::ModifierTree::State& state, const Style& style, bool in_full) {
  const table::Form& form = table::form(state.form);
  const table::Row& r = *form.row;
  std::string out = cat(style(Colour::bold, form.syntax()), "\n    ", r.doc, '\n');
  if (!in_full) return out + row("available", strip(table::available(form)));
  out += row("available", strip(table::available(form)));
  if (const Version needed = table::version_needed(form, state.choices); needed > r.since)
    out += row("  as written", cat("PTX ", to_string(needed)));
  for (const table::Availability& needed : table::targets_needed(form, state.choices))
    if (!needed.what.empty()) out += row(cat("  .", needed.what), strip(table::available({0, 0}, needed.on)));
  for (std::size_t i = 0; i < form.slots.size(); ++i) {
    const table::FormSlot& slot = form.slots[i];
    if (slot.literal && !slot.optional) continue;
    const std::string name = slot.optional ? cat("{.", slot.name, '}') : cat('.', slot.name);
    std::string text = slot.literal ? "may be left out" : strip(table::list_words(slot));
    if (state.choices[i] != 0) text = cat('.', slot.choices[state.choices[i] - 1u].word, " (chosen)");
    out += row(name, text);
  }
  for (const table::OperandSpec& operand : form.operands) out += row(operand.name, strip(table::describe(form, operand)));
  const std::vector<std::string> effects = table::describe_effects(form);
  if (!effects.empty()) out += row("effects", join(effects, ", "));
  out += row("CPU executor", r.exec.empty() ? cat("no: ", r.not_executed) : "yes");
  if (!r.unproven.empty()) out += row("ptxas", cat("unproven: ", r.unproven));
  out += row("write", table::spell_call(form, state.choices));
  return out + row("manual", table::manual(form));
}

}  // namespace

Outcome isa(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.empty()) return {.status = 0, .out = list_opcodes(caller), .err = {}};
  if (arguments.files.size() != 1)
    return refuse(caller, cat("`isa` takes one instruction, ", arguments.files.size(), " were given"),
                  cat("join its words by dots: `", caller.program, " isa ", join(arguments.files, "."), '`'));
  if (arguments.files.front().empty())
    return refuse(caller, "`isa` is given an empty instruction", cat('`', caller.program, " isa` shows the names of all"));
  const table::ModifierTree* dots = &table::ModifierTree::root();
  for (std::string_view rest = arguments.files.front(); !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('.'));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const table::ModifierTree* next = dots->follow(word);
    if (next == nullptr) next = dots->follow(table::word_of(word));  // as Python spells it: global_, shared__cta
    if (next == nullptr) {
      const Diagnostic why = dots->explain(word);
      Outcome outcome = refuse(caller, why.message);
      for (const std::string& note : notes_of(why)) outcome.err += cat("  = ", note, '\n');
      return outcome;
    }
    dots = next;
  }
  std::vector<table::ModifierTree::State> states;  // each form once: the way that fills the earliest slots
  for (const table::ModifierTree::State& state : dots->states())
    if (std::none_of(states.begin(), states.end(), [&](const auto& other) { return other.form == state.form; }))
      states.push_back(state);
  const Style style(caller.colour);
  const bool in_full = states.size() <= max_in_full;
  std::string out;
  for (const table::ModifierTree::State& state : states) out += cat(show(state, style, in_full), '\n');
  out += plural(states.size(), "form");
  const std::vector<std::string> words = dots->next_words();
  if (!words.empty()) {
    std::vector<std::string> dotted;
    for (const std::string& word : words) dotted.push_back(cat('.', word));
    out += cat(dots->complete().empty() ? "; must go on with " : "; may go on with ", wrap(join(dotted, " "), columns, "  "));
  }
  return {.status = 0, .out = out + '\n', .err = {}};
}

}  // namespace ptx::tool
