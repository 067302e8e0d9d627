// Threads that went round a barrier on which threads of their warp wait, as against those that left early.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "ptx/flow/flow.hpp"

namespace ptx::vgpu {

/// What a kernel's flow of control says of its barriers and its exits. Asked for where lanes of a warp exit while others of it
/// wait at an .aligned barrier, which is rare: worked out at the first question. Workers may ask at the same time.
class Bypasses {
 public:
  /// True when threads that leave at item `exit` have run code which those at item `barrier` have yet to run and from which no
  /// way leads back to it: they went round the barrier, past the place where their branch ends. False where nothing but leaving
  /// lies behind that place, as with `if (i >= n) return;`.
  [[nodiscard]] bool went_round(const ir::Function& function, std::uint32_t barrier, std::uint32_t exit) const;

 private:
  struct Ways {
    explicit Ways(const ir::Function& function);
    flow::Graph graph;
    flow::DominatorTree dominators, post_dominators;
  };
  mutable std::mutex mutex_;
  mutable std::optional<Ways> ways_;
  mutable std::map<std::pair<std::uint32_t, std::uint32_t>, bool> known_;  // by blocks of barrier and exit
};

}  // namespace ptx::vgpu
