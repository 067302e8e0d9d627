// The table as the program uses it: forms, read once from the rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/ptxas/quirk.hpp"
#include "ptx/isa/row.hpp"
#include "ptx/isa/trait.hpp"

namespace ptx::isa {

struct FormSlot {
  std::string_view name;
  bool optional, literal;
  std::vector<Choice> choices;
};

/// A row, read. Immutable, lives as long as the process.
struct Form {
  FormId id = no_form;
  const Row* row = nullptr;
  std::string_view opcode;  ///< the first word: "cp" of cp.async.bulk
  std::vector<FormSlot> slots;
  std::vector<OperandSpec> operands;
  Traits traits;  ///< what kind of instruction it is
  Quirks quirks;  ///< how ptxas treats it
  /// An integer's value, and not its width alone, decides whether it fits: the row has a rule, or an operand has a range.
  bool reads_integers = false;

  /// Index of the slot of that name, or -1.
  [[nodiscard]] int slot(std::string_view name) const;
  /// The word chosen at a slot, "" when none is.
  [[nodiscard]] std::string_view chosen(const Choices& choices, int slot) const {
    return slot < 0 || choices[static_cast<std::size_t>(slot)] == 0
               ? std::string_view()
               : slots[static_cast<std::size_t>(slot)].choices[choices[static_cast<std::size_t>(slot)] - 1u].word;
  }
  [[nodiscard]] std::string_view chosen(const Choices& choices, std::string_view slot_name) const {
    return chosen(choices, slot(slot_name));
  }
  /// True when the slot of that name has a choice.
  [[nodiscard]] bool has(const Choices& choices, std::string_view slot_name) const { return !chosen(choices, slot_name).empty(); }
  /// True when the operand is there under these choices (an optional one counts as there).
  [[nodiscard]] bool present(const OperandSpec& operand, const Choices& choices) const;
  /// The instruction type of an operand or of a tensor's coordinates: a literal type, a slot's choice, or `wide`.
  [[nodiscard]] Type type(std::string_view word, const Choices& choices) const;
  /// The vector length that a count word means: 1 for "", a slot's choice (v4, x2, 3d), a fixed one, or a fragment's size; 0
  /// unknown.
  [[nodiscard]] int count(std::string_view word, const Choices& choices) const;
  /// The state space that an address operand lies in ("global", "shared::cta", …); "" for generic.
  [[nodiscard]] std::string_view space(const OperandSpec& operand, const Choices& choices) const;
  /// The syntax as a person reads it: "fma.rnd{.ftz}{.sat}.f32 d, a, b, c".
  [[nodiscard]] std::string syntax() const;
  /// The syntax line with its types and the choices of every slot, on several lines.
  [[nodiscard]] std::string_view notation() const { return row->form; }
};

/// Every form, in table order. Thread-safe; read on first use.
std::span<const Form> forms();
inline const Form& form(FormId id) {
  static const std::span<const Form> all = forms();
  return all[id];
}
/// Every row as written, in table order.
std::span<const Row> rows();

/// "fma.rn.f32": opcode and chosen modifiers as PTX spells them.
std::string spell(const Form& form, const Choices& choices);
void spell(const Form& form, const Choices& choices, TextBuffer& out);
/// Whether the same is chosen: two words are compared, where `==` calls a function.
inline bool same(const Choices& a, const Choices& b) {
  constexpr std::size_t word = sizeof(std::uint64_t), last = sizeof(Choices) - word;
  static_assert(sizeof(Choices) > word && last <= word);
  const auto differ = [&](std::size_t at) {
    std::uint64_t x = 0, y = 0;
    std::memcpy(&x, a.data() + at, word);
    std::memcpy(&y, b.data() + at, word);
    return x ^ y;
  };
  return (differ(0) | differ(last)) == 0;
}
/// The form and what is chosen at its slots, as words of a key.
void add(const Form& form, const Choices& choices, Key& key);

/// The first choice of every slot that must have one: all there are of a form whose name never varies.
Choices first_choices(const Form& form);

/// The oldest PTX version that has this form with these choices, on the row's own targets or on this one.
Version version_needed(const Form& form, const Choices& choices);
Version version_needed(const Form& form, const Choices& choices, Target target);
/// True when the form was there for this target once, and this PTX version has it no longer (Row::removed_since).
bool removed(const Form& form, Target target, Version version);
/// The target sets that must each be allowed: the row's and those of the choices.
struct Availability {
  std::string_view what;  ///< the modifier, or "" for the row itself
  TargetSet on;
};
std::vector<Availability> targets_needed(const Form& form, const Choices& choices);

/// The manual's address for a form: "#data-movement-and-conversion-instructions-ld".
std::string manual(const Form& form);

/// A modifier or opcode as C++ and Python spell it: `shared::cta` -> shared__cta, `2d` -> _2d, `global` -> global_ (reserved in
/// either language).
std::string identifier(std::string_view word);
/// The reverse, for what an author wrote: `global_` -> "global", `shared__cta` -> "shared::cta", `_2d` -> "2d".
std::string word_of(std::string_view identifier);

}  // namespace ptx::isa
