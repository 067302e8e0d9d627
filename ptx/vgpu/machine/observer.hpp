// Who looks at a run while it goes on: a timeline (timeline/timeline.hpp), a session that steps (session.hpp). Told of each
// instruction before and after it, and of what threads wait for. The run then has one worker; a run that nobody observes asks for
// it once in each stretch of instructions and at each barrier, and no more.
#pragma once

#include <cstdint>

#include "ptx/base/base.hpp"

namespace ptx::vgpu {

struct Code;
struct Cta;
struct Cluster;
struct Launch;
struct Step;
struct Warp;
using Mask = std::uint32_t;

namespace async {
struct Operation;
enum class Group : std::uint8_t;
}  // namespace async
namespace mbarrier {
struct Operator;
}  // namespace mbarrier

/// What tcgen05.mma multiplies.
struct TensorProduct {
  int m = 0, n = 0, k = 0;
  int bits = 16;   ///< of an element of a
  int blocks = 1;  ///< .cta_group
};

class Observer {
 public:
  virtual ~Observer() = default;

  virtual void begin_launch(const Launch&) {}
  /// All that ran has ended, or was ended.
  virtual void end_launch(const Launch&) {}
  virtual void begin_cluster(Cluster&) {}
  /// The last warp of a block has ended.
  virtual void end_block(Cta&) {}
  /// The run ends with this, and the cluster is as it was when that happened.
  virtual void fault(Cluster&, const Diagnostic&) {}

  /// The warp is about to run an instruction in these lanes; none where its guard says so. False ends the run, kind interrupted.
  virtual bool before(Warp&, const Step&, Mask) { return true; }
  /// It has. `again`: its lanes wait for others of their warp, and it runs once more when they have come.
  virtual void after(Warp&, const Step&, Mask, [[maybe_unused]] bool again) {}

  // -- barriers of a block and of a cluster: a warp comes, the last one completes it, each that waits goes on
  virtual void come_to_barrier(Warp&, [[maybe_unused]] std::uint32_t barrier) {}
  virtual void complete_barrier(Cta&, [[maybe_unused]] std::uint32_t barrier) {}
  virtual void leave_barrier(Warp&, [[maybe_unused]] std::uint32_t barrier) {}
  virtual void come_to_cluster(Warp&) {}
  virtual void complete_cluster(Cluster&) {}
  virtual void leave_cluster(Warp&) {}

  // -- mbarriers, by block and shared address: arrivals and bytes, a phase that thereby is complete, and who asks for one
  virtual void arrive(const mbarrier::Operator&, Cta&, [[maybe_unused]] std::uint64_t address) {}
  virtual void complete_phase(const mbarrier::Operator&, Cta&, [[maybe_unused]] std::uint64_t address,
                              [[maybe_unused]] std::uint64_t phase) {}
  virtual void ask_for_phase(const mbarrier::Operator&, [[maybe_unused]] std::uint64_t address,
                             [[maybe_unused]] std::uint64_t phase, [[maybe_unused]] bool complete) {}

  // -- asynchronous operations
  /// A lane begins one; what is returned is its Operation::number from then on.
  virtual std::uint64_t begin_operation(Warp&, const Step&, [[maybe_unused]] int lane, const async::Operation&) { return 0; }
  /// It is performed: what its mbarrier is told meanwhile is told by it.
  virtual void perform(const async::Operation&) {}
  virtual void performed(const async::Operation&, [[maybe_unused]] std::uint64_t bytes) {}
  virtual void close_groups(Warp&, async::Group) {}
  virtual void wait_for_groups(Warp&, async::Group, [[maybe_unused]] std::uint32_t left) {}
  virtual void multiply(Warp&, const Step&, const TensorProduct&) {}
};

}  // namespace ptx::vgpu
