// What checks of a run have found: each rule and pair of instructions once, and how often; of one pair of the author's lines,
// which he may have unrolled, the first pair of instructions, and how many more there are; without what somebody does not want
// to be told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

class Findings {
 public:
  /// The options are the run's, and outlive this.
  explicit Findings(const Options& options) : options_(options), used_(options.suppress.size()) {}

  /// The rule, and the items of the two instructions.
  using Key = std::tuple<Rule, std::uint32_t, std::uint32_t>;
  /// True for the first finding with this key, of which there are not too many yet: add() is to follow. Any other is counted. One
  /// that is not `hushed` takes the place of one that is.
  bool is_new(const Key& key, bool hushed = false);
  void add(const Key& key, Diagnostic finding);

  /// How many are told, and the last of them.
  [[nodiscard]] std::size_t told() const { return in_order_.size(); }
  [[nodiscard]] Diagnostic last() const { return all_.at(in_order_.back()).diagnostic; }
  [[nodiscard]] const Diagnostic& told(std::size_t number) const { return all_.at(in_order_[number]).diagnostic; }
  /// Whether the run is to end: Options::stop_at_first.
  [[nodiscard]] bool stops() const { return first_error_.has_value(); }
  /// When it is: why.
  [[nodiscard]] Diagnostic first_error() const { return all_.at(*first_error_).diagnostic; }
  /// Writes what was found into the report.
  void give_to(Report& report) const;

 private:
  struct Finding {
    Diagnostic diagnostic;
    std::uint64_t count = 0;
    bool suppressed = false;
    bool hushed = false;                    ///< what it tells of changed nothing
    std::uint64_t more = 0;                 ///< pairs of instructions of the same lines
    std::vector<std::uint32_t> more_lines;  ///< of the PTX text: where the first few of them are
  };
  bool suppress(const Diagnostic& finding);
  // The rule, how loud it is, and the author's places of both sides.
  using Place = std::tuple<std::string, std::uint32_t, std::uint32_t, const CallSite*>;
  using Lines = std::tuple<std::string, Severity, Place, Place>;
  static std::optional<Lines> lines_of(const Diagnostic& finding);

  const Options& options_;
  std::vector<bool> used_;  // by suppression
  std::map<Key, Finding> all_;
  std::vector<Key> in_order_;  // those that are told
  std::map<Lines, Key> by_lines_;
  std::optional<Key> first_error_;
  std::map<Key, std::uint64_t> left_out_;
};

}  // namespace ptx::vgpu
