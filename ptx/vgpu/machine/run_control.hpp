// What ends a run besides the faults of its warps: a request from outside, the limit on its instructions, and that nothing can
// change any more.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// Whether a cluster goes round in circles: whether all of its registers and places are as they were some turns ago, and nothing
/// has changed in memory meanwhile. It then does so until somebody else changes something.
class Rounds {
 public:
  /// Asked after each turn of the cluster; `changes` counts those of the whole run.
  bool stuck_after_turn(const Cluster& cluster, bool polled, std::uint64_t changes);

 private:
  std::uint64_t changes_ = 0, seen_ = 0;
  std::uint32_t turns_ = 0, mark_ = 0;
  bool stuck_ = false;
};

class RunControl {
 public:
  RunControl(const Code& code, const Options& options, std::uint64_t ctas, std::size_t workers);

  /// Asked before each turn, by every worker.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_relaxed); }
  /// Ends the run; what ended it first is kept.
  void end(Diagnostic why);
  [[nodiscard]] std::optional<Diagnostic> take_ending() { return std::move(ending_); }

  /// Instructions that the run may still take; nothing when it has no limit.
  [[nodiscard]] std::optional<std::uint64_t> left() const {
    if (options_.max_instructions == 0) return std::nullopt;
    return options_.max_instructions - std::min(options_.max_instructions, executed());
  }
  /// After a turn.
  void count(std::uint64_t instructions, std::uint64_t changes) {
    executed_.fetch_add(instructions, std::memory_order_relaxed);
    if (changes != 0) changes_.fetch_add(changes);
  }
  void count_done(std::uint64_t blocks) { done_.fetch_add(blocks, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t executed() const { return executed_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t changes() const { return changes_.load(); }
  /// "12 of 100 blocks had ended"
  [[nodiscard]] std::string say_done() const;

  /// Called by the thread that called run(), after each turn of its own and while it waits for others: asks those who may stop
  /// the run whether they do, every few milliseconds.
  void attend(std::uint64_t instructions);

  /// All clusters of a worker are stuck since `changes`, and it can start no other. True when so are all others': nothing can
  /// change any more.
  bool all_stuck(std::size_t worker, std::uint64_t changes);
  /// The worker has no cluster any more.
  void leave(std::size_t worker) { stuck_since_[worker].store(gone); }

 private:
  static constexpr std::uint64_t running = ~std::uint64_t{0}, gone = running - 1;
  const Code& code_;
  const Options& options_;
  const std::uint64_t ctas_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> executed_{0}, changes_{0}, done_{0};
  std::vector<std::atomic<std::uint64_t>> stuck_since_;
  std::mutex mutex_;
  std::optional<Diagnostic> ending_;
  std::chrono::steady_clock::time_point attended_;
  std::uint64_t since_ = 0;  // instructions, and more for each turn
};

}  // namespace ptx::vgpu
