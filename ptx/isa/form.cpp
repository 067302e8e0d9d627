#include "ptx/isa/form.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "ptx/isa/given.hpp"
#include "ptx/isa/implied.hpp"
#include "ptx/isa/rules.hpp"

namespace ptx {

std::string to_string(Version v) { return cat(unsigned{v.major}, '.', unsigned{v.minor}); }

namespace isa {
namespace {

std::vector<Form> read_forms() {
  std::vector<Form> forms;
  forms.reserve(rows().size());
  for (const Row& row : rows()) {
    const ParsedForm parsed = parse_form(row.form);
    Form form;
    form.id = static_cast<FormId>(forms.size());
    form.row = &row;
    form.opcode = parsed.opcode;
    for (const Slot& slot : parsed.slots)
      form.slots.push_back({slot.name, slot.optional, slot.literal, {slot.choices.begin(), slot.choices.end()}});
    form.operands.assign(parsed.operands.begin(), parsed.operands.end());
    form.reads_integers = !row.rule.empty() || std::any_of(form.operands.begin(), form.operands.end(),
                                                           [](const OperandSpec& o) { return !o.range.empty(); });
    form.traits = given(form, given_traits());
    form.quirks = given(form, given_quirks());
    forms.push_back(std::move(form));
  }
  return forms;
}

// Words reserved in C++20 or Python, as far as PTX uses them as opcodes or modifiers.
constexpr std::array<std::string_view, 21> reserved = {"and",    "or",     "not",    "xor",     "const", "global",   "if",
                                                       "in",     "is",     "return", "default", "auto",  "volatile", "async",
                                                       "import", "export", "with",   "extern",  "int",   "lambda",   "pass"};
// `xor` is reserved in C++ only as an alternative token, `async` in Python only; one spelling serves both languages.

}  // namespace

void slip(const char* why) { throw why; }

std::string list_targets(TargetSet set) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < target_count; ++i)
    if ((set >> i & 1) != 0) names.emplace_back(detail::target_infos[i].name);
  return list_choices(names);
}

std::span<const Form> forms() {
  static const std::vector<Form>& all = *new std::vector<Form>(read_forms());  // never destroyed: used by other statics
  return all;
}

int Form::slot(std::string_view name) const { return rules::slot(*this, name); }
bool Form::present(const OperandSpec& operand, const Choices& choices) const { return rules::present(*this, operand, choices); }
Type Form::type(std::string_view word, const Choices& choices) const { return rules::type(*this, word, choices); }
int Form::count(std::string_view word, const Choices& choices) const { return rules::count(*this, word, choices); }
std::string_view Form::space(const OperandSpec& operand, const Choices& choices) const {
  return rules::space(*this, operand, choices);
}

std::string Form::syntax() const {
  const std::string_view text = row->form;
  const std::size_t end = text.find(' ');
  std::string out(text.substr(0, std::min(end, text.find(';'))));
  bool first = true;
  for (const OperandSpec& o : operands) {
    const bool optional = o.optional || o.conditional;
    const std::string_view separator = o.piped ? "|" : first ? " " : ", ";
    std::string shown(o.name);
    if (o.role == Role::address) shown = cat('[', o.name, ']');
    if (o.role == Role::tensor) shown = cat('[', o.name, o.space == "texture" ? "{, sampler}" : "", ", {…}]");
    if (o.role == Role::list) shown = cat('(', o.name, "…)");
    if (!o.part.empty()) shown += "{.part}";
    if (!o.count.empty()) shown = cat('{', o.name, "…}");
    if (o.negatable) shown = cat("{!}", shown);
    out += optional ? cat('{', separator, shown, '}') : cat(separator, shown);
    first = false;
  }
  return out;
}

void spell(const Form& form, const Choices& choices, TextBuffer& out) {
  out.add(form.opcode);
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (choices[i] != 0) {
      out.add('.');
      out.add(form.slots[i].choices[choices[i] - 1u].word);
    }
}
std::string spell(const Form& form, const Choices& choices) {
  std::string out;
  TextBuffer buffer(out);
  spell(form, choices, buffer);
  buffer.flush();
  return out;
}

Choices first_choices(const Form& form) {
  Choices choices{};
  for (std::size_t i = 0; i < form.slots.size(); ++i) choices[i] = form.slots[i].optional ? 0 : 1;
  return choices;
}

void add(const Form& form, const Choices& choices, Key& key) {
  std::uint64_t first = 0, last = 0;
  static_assert(max_slots <= 2 * sizeof first);
  std::memcpy(&first, choices.data(), sizeof first);
  std::memcpy(&last, choices.data() + sizeof first, max_slots - sizeof first);
  constexpr unsigned width = 8 * sizeof form.id;
  key.add(form.id | first << width);
  if (form.slots.size() <= sizeof first - sizeof form.id) return;  // most forms
  key.add(first >> (64 - width));
  key.add(last);
}

namespace {
Version version_needed(const Form& form, const Choices& choices, Version needed) {
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (choices[i] != 0) needed = std::max(needed, form.slots[i].choices[choices[i] - 1u].since);
  return needed;
}
}  // namespace

Version version_needed(const Form& form, const Choices& choices) { return version_needed(form, choices, form.row->since); }
Version version_needed(const Form& form, const Choices& choices, Target target) {
  const Row& row = *form.row;
  const bool also = allows(target, row.also_on) && (!allows(target, row.on) || row.also_since < row.since);
  return version_needed(form, choices, also ? row.also_since : row.since);
}

bool removed(const Form& form, Target target, Version version) {
  return allows(target, form.row->removed_on) && version >= form.row->removed_since;
}

std::vector<Availability> targets_needed(const Form& form, const Choices& choices) {
  std::vector<Availability> needed = {{"", form.row->on | form.row->also_on}};
  for (std::size_t i = 0; i < form.slots.size(); ++i)
    if (choices[i] != 0)
      if (const Choice& choice = form.slots[i].choices[choices[i] - 1u]; choice.on != 0)
        needed.push_back({choice.word, choice.on});
  return needed;
}

std::string manual(const Form& form) { return cat('#', form.row->anchor); }

std::string identifier(std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] == ':') {
      out += "__";
      ++i;
    } else {
      out += word[i];
    }
  }
  if (!out.empty() && out[0] >= '0' && out[0] <= '9') out.insert(out.begin(), '_');
  if (std::find(reserved.begin(), reserved.end(), out) != reserved.end()) out += '_';
  return out;
}

std::string word_of(std::string_view id) {
  if (id.size() > 1 && id.ends_with('_') && !id.ends_with("__")) id.remove_suffix(1);
  if (id.size() > 1 && id[0] == '_' && id[1] >= '0' && id[1] <= '9') id.remove_prefix(1);
  std::string out;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (id[i] == '_' && i + 1 < id.size() && id[i + 1] == '_') {
      out += "::";
      ++i;
    } else {
      out += id[i];
    }
  }
  return out;
}

}  // namespace isa
}  // namespace ptx
