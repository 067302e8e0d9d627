// All orders in which a small kernel's threads can go on, one run after the other, instead of some at random.
//
// A run is a sequence of turns: a warp's turn has one instruction that others can see (a strong access, an operation on an
// mbarrier) and all that stands before the next one; an asynchronous operation that tells an mbarrier has a turn of its own. Who
// has the next turn is a choice, and runs follow a tree of choices depth first: each has the choices of the one before it up to
// the last that has an alternative. Two turns that touch nothing alike give the same in both orders, so one of them is enough:
// sleep sets (P. Godefroid, "Partial-Order Methods for the Verification of Concurrent Systems", 1996) leave the other one out.
//
// Ordinary accesses are no choices: where they are ordered their order follows from the others, and where they are not the race
// checks say so in any order. Threads of a warp that have parted keep the executor's order. Clusters are explored one after the
// other, each with the others in the executor's order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::vgpu {

struct Warp;

class Exploration {
 public:
  /// `most`: runs; 0: as many as there are orders.
  explicit Exploration(std::uint64_t most) : most_(most) {}

  /// Begins the next run. False: there is none left, or there were `most`.
  bool begin_run();
  /// The run has ended, well or not.
  void end_run();

  /// Runs that have ended.
  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  /// Of them those that gave nothing new: each order that they could have gone on with was in another one.
  [[nodiscard]] std::uint64_t redundant() const { return redundant_; }
  /// Whether all orders were run.
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  /// A run did not repeat what the one before it did up to their common choice: the kernel's inputs differ, or its clock decides.
  [[nodiscard]] bool diverged() const { return diverged_; }

  // -- what a run asks and tells
  using Agent = std::uint64_t;  ///< who can have a turn: a number that stays the same from run to run
  /// A cluster begins: its number, by which it asks.
  std::uint32_t begin_cluster() { return clusters_now_++; }
  /// Which of those that can go on has the next turn; there is at least one.
  std::size_t choose(std::uint32_t cluster, std::span<const Agent> can_run);
  /// Whose turn it is touches what others can see: memory that this warp reaches.
  void touch(const Warp& warp, const std::byte* at, bool changes);
  /// What the turn has touched it has changed: an atomic operation, which may also leave what is there.
  void touched_changes();
  /// Nobody tells what turns touch: each goes with none other.
  void touch_all() { all_touches_ = true; }
  /// Whether the turn of this agent, which has ended, has touched just what its turn before has.
  bool touched_the_same(std::uint32_t cluster, Agent agent);

 private:
  using Touches = std::map<std::uint64_t, bool>;  // places that are the same in every run, and whether they were changed
  struct Turn {
    Agent agent = 0;
    Touches touches;
  };
  struct Choice {
    std::vector<Agent> can_run;
    Agent chosen = 0;
    std::vector<Turn> sleeping, done;
    Touches touches;  // of the turn that was chosen
  };
  void end_turn();
  [[nodiscard]] bool are_independent(const Touches& a, const Touches& b) const;
  static const Agent* first_left(const Choice& choice);

  std::uint64_t most_, runs_ = 0, redundant_ = 0;
  bool exhausted_ = false, diverged_ = false, all_touches_ = false;
  std::uint32_t explored_ = 0;  // the cluster whose choices are
  std::uint32_t clusters_now_ = 0, clusters_ = 0;
  std::vector<Choice> choices_;

  // of the run
  std::size_t depth_ = 0;
  bool in_turn_ = false, is_redundant_ = false;
  std::vector<Turn> sleeping_;
  Touches now_;
  std::map<std::pair<std::uint32_t, Agent>, Touches> before_;  // of each agent's turn before
};

}  // namespace ptx::vgpu
