#include "ptx/isa/given.hpp"

#include "ptx/isa/table/traits.hpp"

namespace ptx::isa {
namespace {

// Calls `test` with each of the words between `separator`, until one fails.
template <class Test>
bool every_word(std::string_view words, char separator, const Test& test) {
  while (!words.empty()) {
    const std::size_t end = words.find(separator);
    if (!test(words.substr(0, end))) return false;
    words = end == std::string_view::npos ? std::string_view() : words.substr(end + 1);
  }
  return true;
}

}  // namespace

bool goes_by(const Form& form, std::string_view name, std::string_view with, std::string_view without) {
  std::size_t at = 0;
  const auto leads = [&](std::string_view word) {
    const std::size_t place = at++;
    if (place == 0) return form.opcode == word;
    return place <= form.slots.size() && form.slots[place - 1].name == word;
  };
  return every_word(name, '.', leads) && every_word(with, ' ', [&](std::string_view slot) { return form.slot(slot) >= 0; }) &&
         every_word(without, ' ', [&](std::string_view slot) { return form.slot(slot) < 0; });
}

std::span<const Given<Trait>> given_traits() { return table::traits; }

}  // namespace ptx::isa
