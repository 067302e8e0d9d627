// What the second hand found, told by cause: who disagrees, how often on each target, and what most of it has in common.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "tests/oracle/disagreements.hpp"

namespace ptx::oracle {

/// The opcode of a statement, without its guard.
std::string opcode_of(std::string_view statement);

/// ptxas ended otherwise than with a verdict.
bool is_crash(std::string_view why);

struct Disagreement {
  bool we_accept = false;
  std::string statement, how, reason;  ///< how: what was done to it, "" when it stands as it was
  Target target{};
};

struct Result {
  std::size_t asked = 0, accepted = 0, crashes = 0;
  std::vector<Disagreement> found;
  std::optional<Diagnostic> fault;
};

class Report {
 public:
  explicit Report(const Disagreements& known) : known_(known) {}

  void add(Target target, Result result);
  /// Nothing that the list does not know.
  [[nodiscard]] bool clean() const { return unknown_.empty(); }
  /// What we refuse of what nothing was done to, although ptxas takes it.
  [[nodiscard]] std::size_t refused_as_they_stood() const;

  void list(const std::string& path) const;
  void print() const;
  /// Only the figures of each target, as far as they are known.
  void print_figures() const;
  [[nodiscard]] std::size_t asked() const;

 private:
  struct Tally {
    std::size_t asked = 0, accepted = 0, false_errors = 0, false_passes = 0, known = 0, crashes = 0;
  };
  static void line(const std::string& name, const Tally& t);
  void print_causes(bool accept) const;

  const Disagreements& known_;
  std::map<Target, Tally> tallies_;
  std::vector<Disagreement> all_, unknown_;
};

}  // namespace ptx::oracle
