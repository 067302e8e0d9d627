// The modifier tree as its generators walk it: states of (form, next slot), shared by every spelling that leaves the same ways to
// go on.
#pragma once

#include <algorithm>
#include <compare>
#include <string>
#include <vector>

#include "ptx/isa/isa.hpp"

namespace ptx::isa::gen {

// A way in which the dots so far can go on. The words already chosen do not matter to what may follow, so that states with the
// same places share one class.
struct Place {
  FormId form;
  std::size_t next_slot;
  bool vector = false;  // of `let`, whose calls give the destination: a length above 1 was chosen for it
  friend auto operator<=>(const Place&, const Place&) = default;
};
using State = std::vector<Place>;

inline bool is_complete(const Place& place) {
  const auto& slots = form(place.form).slots;
  return std::all_of(slots.begin() + static_cast<std::ptrdiff_t>(place.next_slot), slots.end(),
                     [](const FormSlot& slot) { return slot.optional; });
}

inline std::string availability(Version since, TargetSet on) {
  std::string text = since > Version{0, 0} ? cat("PTX ", to_string(since)) : std::string();
  if (on == 0) return text;
  const bool one = (on & (on - 1)) == 0;
  const bool base = one && info(static_cast<Target>(__builtin_ctzll(on))).variant == ' ';
  return cat(text, text.empty() ? "" : ", ", list_targets(on), base ? " or newer" : "");
}

// Whether the words chosen so far make a vector of the destination: its length is a slot of its own, `{.vec}`.
inline bool chooses_vector(const Form& form, std::size_t slot, std::size_t choice) {
  Choices choices{};
  choices[slot] = static_cast<std::uint8_t>(choice + 1);
  return !form.operands.empty() && form.slot(form.operands.front().count) == static_cast<int>(slot) &&
         form.count(form.operands.front().count, choices) > 1;
}

// The words that may follow, in table order, each with what it leads to and what it needs.
struct Next {
  std::string_view word;
  State state;
  const Choice* choice;
};
inline std::vector<Next> next_of(const State& state, bool lets = false) {
  std::vector<Next> all;
  for (const Place& place : state) {
    const auto& slots = form(place.form).slots;
    for (std::size_t k = place.next_slot; k < slots.size(); ++k) {
      for (std::size_t c = 0; c < slots[k].choices.size(); ++c) {
        const Choice& choice = slots[k].choices[c];
        auto it = std::find_if(all.begin(), all.end(), [&](const Next& next) { return next.word == choice.word; });
        if (it == all.end()) it = all.insert(all.end(), {choice.word, {}, &choice});
        const bool vector = lets && (place.vector || chooses_vector(form(place.form), k, c));
        if (const Place there{place.form, k + 1, vector}; std::find(it->state.begin(), it->state.end(), there) == it->state.end())
          it->state.push_back(there);
      }
      if (!slots[k].optional) break;
    }
  }
  return all;
}

}  // namespace ptx::isa::gen
