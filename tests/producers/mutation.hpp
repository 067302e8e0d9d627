// One synchronisation less, or a weaker one, in programs that others have made: which lines order something, and what is said
// once one of them is left out or altered.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/producers/device.hpp"
#include "tests/producers/recording.hpp"

namespace ptx::producers {

struct Mutation {
  std::string name;
  std::regex of;        ///< lines that it can be made of
  std::string instead;  ///< what stands there then
};
const std::vector<Mutation>& mutations();

/// What launches with a text say, and leave behind.
struct Run {
  bool ended = false;  ///< without a fault
  std::string said;
  std::string broken;              ///< by what has ended it: the rule, or the kind of what has none
  std::set<std::string> findings;  ///< "R-wr 130 120": the rule, and the lines of the two accesses
  std::uint64_t instructions = 0;
  std::vector<std::vector<std::byte>> contents;
};

/// A recording whose texts can be changed.
class Program {
 public:
  static std::optional<Program> read(const std::filesystem::path& recording);

  /// The launches of an entry, or all, with a file's text changed. `most`: instructions of a launch; 0: as many as it takes.
  [[nodiscard]] Run play(const std::string& file, const std::string& text, const std::string& entry, std::uint64_t most) const;

  [[nodiscard]] std::set<std::string> files() const;
  [[nodiscard]] bool launches(const std::string& entry) const;
  [[nodiscard]] std::string text_of(const std::string& file) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::optional<Diagnostic> take(Device& device, const Step& step, const std::string& file, const std::string& text,
                                 const std::string& entry, Run& run) const;

  std::vector<Step> steps_;
  std::filesystem::path folder_;
  std::string name_;
};

/// A text by its lines, of which one may be another.
class Lines {
 public:
  explicit Lines(const std::string& text);
  [[nodiscard]] std::size_t size() const { return lines_.size(); }
  [[nodiscard]] const std::string& operator[](std::size_t i) const { return lines_[i]; }
  [[nodiscard]] std::string text() const { return text_with(lines_.size(), {}); }
  [[nodiscard]] std::string text_with(std::size_t at, const std::string& instead) const;

 private:
  std::vector<std::string> lines_;
};

/// What the checker says of a text, without running it: kinds, each as often as it says it.
std::multiset<std::string> said_by_checker(const std::string& text);

}  // namespace ptx::producers
