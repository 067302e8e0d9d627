#include "tests/producers/recording.hpp"

#include <charconv>
#include <optional>
#include <sstream>

namespace ptx::producers {
namespace {

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  const auto write = [&](std::byte byte) {
    text += digits[std::to_integer<unsigned>(byte) >> 4];
    text += digits[std::to_integer<unsigned>(byte) & 15];
  };
  for (std::size_t i = 0; i < bytes.size();) {
    std::size_t end = i + 1;
    while (end < bytes.size() && bytes[end] == bytes[i]) ++end;
    write(bytes[i]);
    if (end - i > 8) {
      text += cat('*', end - i, ',');
      i = end;
    } else {
      ++i;
    }
  }
  return text.empty() ? "-" : text;
}

std::optional<std::vector<std::byte>> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  if (text == "-") return bytes;
  while (!text.empty()) {
    unsigned value = 0;
    if (text.size() < 2 || std::from_chars(text.data(), text.data() + 2, value, 16).ptr != text.data() + 2) return std::nullopt;
    text.remove_prefix(2);
    std::size_t count = 1;
    if (text.starts_with('*')) {
      const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), count);
      if (error != std::errc() || end == text.data() + text.size() || *end != ',') return std::nullopt;
      text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
    }
    bytes.insert(bytes.end(), count, static_cast<std::byte>(value));
  }
  return bytes;
}

std::string sizes(const Sizes3& all) { return cat(all[0], ',', all[1], ',', all[2]); }

// Words of a line, taken one after the other; `good` falls when one is missing or is not what was asked for.
class Words {
 public:
  explicit Words(const std::string& line) : in_(line) {}
  std::string word() {
    std::string word;
    good_ = static_cast<bool>(in_ >> word) && good_;
    return word;
  }
  std::size_t number() {
    std::size_t value = 0;
    good_ = static_cast<bool>(in_ >> value) && good_;
    return value;
  }
  Sizes3 sizes() {
    Sizes3 all{};
    char comma = ',';
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != 0) in_ >> comma;
      good_ = static_cast<bool>(in_ >> all[i]) && comma == ',' && good_;
    }
    return all;
  }
  std::vector<std::byte> bytes() {
    auto read = bytes_of(word());
    good_ = read.has_value() && good_;
    return std::move(read).value_or(std::vector<std::byte>());
  }
  [[nodiscard]] bool good() const { return good_; }

 private:
  std::istringstream in_;
  bool good_ = true;
};

std::optional<Step> step_of(Words& words) {
  const std::string what = words.word();
  if (what == "module") return LoadStep{.file = words.word()};
  if (what == "allocate") {
    AllocateStep step{.bytes = words.number()};
    step.name = words.word();
    return step;
  }
  if (what == "write") {
    WriteStep step{.allocation = words.number()};
    step.bytes = words.bytes();
    return step;
  }
  if (what == "variable") {
    VariableStep step{.file = words.word()};
    step.name = words.word();
    step.bytes = words.bytes();
    return step;
  }
  if (what != "launch") return std::nullopt;
  LaunchStep step{.file = words.word()};
  step.entry = words.word();
  step.grid = words.sizes();
  step.block = words.sizes();
  step.cluster = words.sizes();
  step.shared_bytes = words.number();
  step.cooperative = words.number() != 0;
  step.params = words.bytes();
  return step;
}

}  // namespace

std::string to_line(const Step& step) {
  struct Line {
    std::string operator()(const LoadStep& s) const { return cat("module ", s.file); }
    std::string operator()(const AllocateStep& s) const { return cat("allocate ", s.bytes, ' ', s.name); }
    std::string operator()(const WriteStep& s) const { return cat("write ", s.allocation, ' ', hex(s.bytes)); }
    std::string operator()(const VariableStep& s) const { return cat("variable ", s.file, ' ', s.name, ' ', hex(s.bytes)); }
    std::string operator()(const LaunchStep& s) const {
      return cat("launch ", s.file, ' ', s.entry, ' ', sizes(s.grid), ' ', sizes(s.block), ' ', sizes(s.cluster), ' ',
                 s.shared_bytes, ' ', s.cooperative ? 1 : 0, ' ', hex(s.params));
    }
  };
  return std::visit(Line{}, step) + '\n';
}

Expected<std::vector<Step>> read_recording(std::string_view text) {
  std::vector<Step> steps;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    Words words(line);
    auto step = step_of(words);
    if (!step || !words.good())
      return refuse(Kind::syntax, cat("line ", steps.size() + 1, " of the recording is no step: `", line.substr(0, 60), '`'));
    steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace ptx::producers
