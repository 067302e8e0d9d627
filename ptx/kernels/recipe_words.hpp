// The words of recipes' names: a letter and a number, or a flag.
#pragma once

#include <charconv>
#include <span>
#include <string_view>
#include <system_error>

namespace ptx::kernels {

/// "t128": a number of a recipe by its letter.
template <class Recipe>
struct NumberWord {
  char letter;
  int Recipe::* value;
};
/// "residual": what a recipe has or has not.
template <class Recipe>
struct FlagWord {
  std::string_view word;
  bool Recipe::* value;
};

/// Whether a word is one of the numbers; then the recipe has it.
template <class Recipe>
bool reads_number(std::span<const NumberWord<Recipe>> numbers, std::string_view word, Recipe& recipe) {
  for (const NumberWord<Recipe>& number : numbers) {
    if (word.size() < 2 || word.front() != number.letter) continue;
    const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), recipe.*number.value);
    if (error == std::errc() && end == word.data() + word.size()) return true;
  }
  return false;
}
/// Whether a word is one of the flags; then the recipe has it.
template <class Recipe>
bool reads_flag(std::span<const FlagWord<Recipe>> flags, std::string_view word, Recipe& recipe) {
  for (const FlagWord<Recipe>& flag : flags)
    if (flag.word == word) return recipe.*flag.value = true;
  return false;
}

}  // namespace ptx::kernels
