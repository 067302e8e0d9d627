// Whatever check accepts runs in the memory that it was given: texts as they come, kernels authored at random, and kernels made
// to reach beyond. The first byte of an input that is no text says which, and how it is launched.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>

#include "tests/fuzz/authoring.hpp"
#include "tests/fuzz/contained.hpp"
#include "tests/fuzz/hostile.hpp"

extern "C" std::size_t LLVMFuzzerMutate(unsigned char* data, std::size_t size, std::size_t most);

namespace {

using namespace ptx;

bool is_text(std::string_view input) { return input.find(".version") != std::string_view::npos; }

fuzz::Launching launching(unsigned choice) {
  constexpr std::uint32_t threads[] = {32, 1, 33, 64};
  return {.threads = threads[choice % 4],
          .blocks = 1 + choice / 4 % 3,
          .dynamic_smem = choice / 12 % 4 * 100,
          .check_initialised = choice % 5 != 0,
          .workers = 1 + choice / 7 % 2};
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '.' || c == '$'; }

struct Span {
  std::size_t begin, end;
};

// The tokens of a text: words, and single characters that are no space.
std::vector<Span> tokens(std::string_view text) {
  std::vector<Span> found;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    std::size_t end = at + 1;
    if (is_word(text[at]))
      while (end < text.size() && is_word(text[end])) ++end;
    found.push_back({at, end});
    at = end;
  }
  return found;
}

// As the world gets PTX wrong: another number, another word of the same text, a line more or less.
std::string mutated(const std::string& text, std::minstd_rand& random) {
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  const std::vector<Span> all = tokens(text);
  if (all.empty()) return text;
  const Span token = all[below(all.size())];
  const std::string_view word(text.data() + token.begin, token.end - token.begin);
  const auto with = [&](std::string_view other) { return cat(text.substr(0, token.begin), other, text.substr(token.end)); };
  switch (below(6)) {
    case 0: {  // a line again elsewhere, or gone
      const std::size_t begin = text.rfind('\n', token.begin) + 1,
                        end = std::min(text.find('\n', token.begin), text.size() - 1) + 1;
      const std::string line = text.substr(begin, end - begin);
      if (below(2) == 0) return text.substr(0, begin) + text.substr(end);
      const std::size_t there = text.find('\n', all[below(all.size())].begin);
      if (there == std::string::npos) return text;
      return text.substr(0, there + 1) + line + text.substr(there + 1);
    }
    case 1:
    case 2:  // a hostile number for a number
      for (const Span each : all)
        if (each.begin >= token.begin && std::isdigit(static_cast<unsigned char>(text[each.begin])) != 0) {
          return cat(text.substr(0, each.begin), fuzz::hostile_numbers[below(std::size(fuzz::hostile_numbers))],
                     text.substr(each.end));
        }
      return with(fuzz::hostile_numbers[below(std::size(fuzz::hostile_numbers))]);
    case 3:  // a word that begins alike
      for (int attempt = 0; attempt < 20; ++attempt) {
        const Span other = all[below(all.size())];
        if (text[other.begin] == word[0]) return with(std::string_view(text).substr(other.begin, other.end - other.begin));
      }
      return text;
    case 4:
      return with(
          std::array<std::string_view, 8>{".global", ".shared", ".local", ".const", ".v2", ".v4", ".b64", ".x"}[below(8)]);
    default: {
      const Span other = all[below(all.size())];
      return with(std::string_view(text).substr(other.begin, other.end - other.begin));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size > 1u << 16) return 0;
  fuzz::Outcome outcome;
  if (is_text(input)) {
    outcome = fuzz::run_contained(std::string(input), launching(size == 0 ? 0 : data[size - 1]));
  } else {
    fuzz::Bytes in(data, size);
    const unsigned choice = in.next();
    if (choice % 2 == 0) {
      auto module = fuzz::author(in);
      if (!module) return 0;
      outcome = fuzz::run_contained(std::move(*module), launching(choice / 2));
    } else {
      std::string text = fuzz::Hostile(in).module();
      if (std::getenv("PTX_FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", text.c_str());
      outcome = fuzz::run_contained(std::move(text), launching(choice / 2));
    }
  }
  for (const Diagnostic& error : outcome.errors) {
    const std::string shown = render(error);
    if (std::getenv("PTX_FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", shown.c_str());
    if (error.kind == Kind::internal) std::fprintf(stderr, "%s\n", shown.c_str()), std::abort();
  }
  if (!outcome.contained) std::fprintf(stderr, "a guard zone was written to\n"), std::abort();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(unsigned char* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::minstd_rand random(seed);
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!is_text(text) || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string other = mutated(text, random);
  for (auto more = random() % 3; more > 0; --more) other = mutated(other, random);
  if (other.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, other.data(), other.size());
  return other.size();
}
