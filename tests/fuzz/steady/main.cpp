// The fuzzers without libFuzzer: the same inputs every time, so that a test says the same of the same code everywhere.
//
//     steady_<fuzzer> [--seed S] [--inputs N] [--from I] FOLDER…
//
// The texts in the folders come first as they are, then N inputs made of them: input I depends on S, I and the texts alone. When
// one breaks the fuzzer, its number is the last line, and `--from I --inputs 1` runs it again. Inputs that reach further are
// libFuzzer's to find: ./dev fuzz.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/mutations.hpp"
#include "tests/fuzz/starts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size);
// Of the address sanitizer, where it is linked.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace ptx::fuzz {

__attribute__((weak)) std::vector<std::string> starts() { return {}; }

namespace {

struct Settings {
  std::uint64_t seed = 1, inputs = 1000, from = 0;
  std::vector<std::filesystem::path> folders;
};

// What a dying process says: written beforehand, as it may then allocate nothing.
char last_words[200];

void say_last_words() { (void)!::write(STDERR_FILENO, last_words, std::strlen(last_words)); }

extern "C" void on_abort(int) { say_last_words(); }

class Inputs {
 public:
  Inputs(std::vector<std::string> starts, std::uint64_t seed) : starts_(std::move(starts)), seed_(seed) {}

  [[nodiscard]] std::size_t starts() const { return starts_.size(); }
  /// The starts in their order, then what is made of them.
  [[nodiscard]] std::string at(std::uint64_t index) const {
    if (index < starts_.size()) return starts_[index];
    std::seed_seq mixed{static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32),
                        static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32)};
    std::uint32_t first = 0;
    mixed.generate(&first, &first + 1);
    std::minstd_rand random(first);
    random.discard(8);
    if (starts_.empty() || random() % 3 == 0) return noise(random);
    std::string input = starts_[random() % starts_.size()];
    const bool as_text = is_text(input) && random() % 4 != 0;
    for (auto more = 1 + random() % 4; more > 0; --more)
      input = as_text ? mutated(input, random) : with_other_bytes(input, random);
    return input;
  }

 private:
  static std::string noise(std::minstd_rand& random) {
    std::string bytes(random() % 1024, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() >> 8);
    return bytes;
  }
  // Bytes that are changed, gone, or there twice.
  static std::string with_other_bytes(std::string input, std::minstd_rand& random) {
    if (input.empty()) return noise(random);
    const std::size_t at = random() % input.size(), count = 1 + random() % std::min<std::size_t>(16, input.size() - at);
    switch (random() % 6) {
      case 0:
        input[at] = static_cast<char>(input[at] ^ (1 << random() % 8));
        break;
      case 1:
        input[at] = static_cast<char>(random() >> 8);
        break;
      case 2:
        std::fill_n(input.begin() + static_cast<std::ptrdiff_t>(at), count, static_cast<char>(random() % 2 == 0 ? 0 : 0xFF));
        break;
      case 3:
        input.erase(at, count);
        break;
      case 4:
        input.insert(random() % input.size(), input.substr(at, count));
        break;
      default:
        input.resize(at);
        break;
    }
    return input;
  }

  std::vector<std::string> starts_;
  std::uint64_t seed_;
};

std::vector<std::string> read(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::filesystem::path> paths;
  for (const std::filesystem::path& folder : folders)
    for (const auto& entry : std::filesystem::directory_iterator(folder))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

bool read(int count, char** words, Settings& settings) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    std::uint64_t* number = word == "--seed"     ? &settings.seed
                            : word == "--inputs" ? &settings.inputs
                            : word == "--from"   ? &settings.from
                                                 : nullptr;
    if (number == nullptr) {
      if (!std::filesystem::is_directory(word)) return std::fprintf(stderr, "no folder %s\n", words[i]), false;
      settings.folders.emplace_back(word);
      continue;
    }
    if (++i == count) return std::fprintf(stderr, "a number is missing after %s\n", words[i - 1]), false;
    const std::string_view digits = words[i];
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), *number);
    if (error != std::errc() || end != digits.data() + digits.size())
      return std::fprintf(stderr, "%s is no number\n", words[i]), false;
  }
  return true;
}

int run(const Settings& settings) {
  std::vector<std::string> begin = read(settings.folders);
  for (std::string& more : starts()) begin.push_back(std::move(more));
  const Inputs inputs(std::move(begin), settings.seed);
  const std::uint64_t end = settings.from + settings.inputs + (settings.from == 0 ? inputs.starts() : 0);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(say_last_words);
  std::signal(SIGABRT, on_abort);
  for (std::uint64_t i = settings.from; i < end; ++i) {
    std::snprintf(last_words, sizeof last_words, "broken by input %llu of seed %llu: --seed %llu --from %llu --inputs 1\n",
                  static_cast<unsigned long long>(i), static_cast<unsigned long long>(settings.seed),
                  static_cast<unsigned long long>(settings.seed), static_cast<unsigned long long>(i));
    const std::string input = inputs.at(i);
    LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(input.data()), input.size());
  }
  std::printf("%llu inputs of seed %llu\n", static_cast<unsigned long long>(end - settings.from),
              static_cast<unsigned long long>(settings.seed));
  return 0;
}

}  // namespace
}  // namespace ptx::fuzz

// libFuzzer's own, which a fuzzer's mutator may call: this driver has its own mutations and calls no fuzzer's.
extern "C" std::size_t LLVMFuzzerMutate(unsigned char*, std::size_t size, std::size_t) { return size; }

int main(int count, char** words) {
  ptx::fuzz::Settings settings;
  return ptx::fuzz::read(count, words, settings) ? ptx::fuzz::run(settings) : 2;
}
