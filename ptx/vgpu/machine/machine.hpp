// The machine as data: steps that a kernel is decoded into, the warps and CTAs that run them, and the faults that end a run. A
// warp is explicit state, so waiting is returning: no thread or fiber stands behind a CUDA thread.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/async/mbarrier.hpp"
#include "ptx/vgpu/machine/lanes.hpp"
#include "ptx/vgpu/machine/observer.hpp"
#include "ptx/vgpu/memory/memory.hpp"
#include "ptx/vgpu/tensor/memory.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

struct Code;
struct Step;
struct Warp;
struct Cta;
struct Cluster;

/// What a handler tells the interpreter.
enum class Outcome : std::uint8_t {
  next,     ///< go on with the step behind this one
  jumped,   ///< go on at Warp::pc, all of the lane group's lanes
  regroup,  ///< Warp::pc and ::active changed, or other lane groups did: choose again who runs
  left,     ///< the lane group is gone: its lanes exited, or wait
  fault,    ///< Warp::fault says why
};

using Handler = Outcome (*)(Warp& warp, const Step& step, Mask mask);

/// What a .sync instruction exchanges between the lanes of a warp. Fragments may come to it at different places, so each first
/// gives its lanes' values and then, when all have come, takes its lanes' results.
struct Exchange {
  Mask members = 0;  ///< the lanes that take part
  std::array<std::uint32_t, lane_count> value{};
  std::array<std::uint32_t, lane_count> high;  ///< of values of 64 bits, which few instructions have
  Mask pred = 0;
  Mask undefined = 0;                                    ///< lanes of which some of the value is (undefined.hpp)
  std::array<std::uint32_t, lane_count> undefined_bits;  ///< in those lanes: which bits
};
/// What makes a result known though other values are undefined.
enum class SettledBy : std::uint8_t { nothing, one_false, one_true };
/// A reduction over a barrier of the CTA gives its predicate, and takes the number of threads that came with a true one in
/// value[0] and that came at all in value[1].
struct Collective {
  void (*give)(Warp& warp, const Step& step, Mask mask, Exchange& exchange);
  /// False: a fault was recorded.
  bool (*take)(Warp& warp, const Step& step, Mask mask, const Exchange& exchange);
  bool lane_by_lane = false;                  ///< `take` says itself which results are undefined; else all are when one value is
  SettledBy settled_by = SettledBy::nothing;  ///< of predicates
};

/// One decoded instruction, or a small helper beside it. Registers are byte offsets into the warp's register file; which of `x`
/// is what is the handler's own convention.
struct Step {
  Handler run = nullptr;
  std::array<std::uint32_t, 10> x{};
  std::uint32_t guard = 0;      ///< offset of the predicate: lanes whose bit is set run
  Mask guard_flip = 0;          ///< all ones for @!p
  std::int64_t imm = 0;         ///< address offset, constant value, …
  std::uint32_t target = 0;     ///< branches: index of the step
  std::uint32_t item = 0;       ///< the instruction's place in the function's body
  std::uint32_t ordinal = 0;    ///< instructions before this step, in the order of the steps: how they are counted
  std::uint32_t site = 0;       ///< memory accesses: index of the inline cache
  std::uint32_t signature = 0;  ///< equal for equal opcode and modifiers
  std::uint32_t operands = 0, operand_count = 0;  ///< a span of Code::operands: operands_of
  Space space{};                                  ///< memory accesses
  bool narrow_address = false;                    ///< memory accesses: the address register has 32 bits
  bool is_instruction = false;                    ///< no helper: it has a Trace
  const Collective* collective = nullptr;
};

/// Why a run ended, as the handler sees it; report.hpp makes the Diagnostic.
struct Fault {
  Kind kind{};
  std::string message;
  std::uint32_t item = 0;
  int lane = 0;
  std::vector<std::string> notes;
  std::optional<ExecutionPoint::Access> access = std::nullopt;
  std::optional<Rule> rule = std::nullopt;  ///< nothing: usual_rule(kind)
};

enum class Wait : std::uint8_t {
  none,      ///< can run
  converge,  ///< at an .aligned instruction, for the other live lanes of the warp
  members,   ///< at a .sync instruction, for the lanes of its membermask (`key`)
  barrier,   ///< at a barrier without .aligned, for the other live lanes of the warp (`key`: the barrier)
  arrived,   ///< the warp has come to barrier `key` and waits for the CTA
};

/// Lanes of a warp that are at the same place. A warp is one lane group until its lanes part, and again when they meet.
struct LaneGroup {
  std::uint32_t pc = 0;
  Mask mask = 0;
  Wait wait = Wait::none;
  std::uint32_t key = 0;
  std::uint64_t last_run = 0;
};

/// Where undefined values come from: the instruction that loaded them, and what it found; or that read a register which nothing
/// had written.
struct UndefinedSource {
  std::uint32_t item = 0;
  std::string message;
};

/// Bits of a register, of one lane.
struct RegisterBits {
  std::uint64_t low = 0, high = 0;
  [[nodiscard]] constexpr bool any() const { return (low | high) != 0; }
  friend constexpr RegisterBits operator|(RegisterBits a, RegisterBits b) { return {a.low | b.low, a.high | b.high}; }
  friend constexpr RegisterBits operator&(RegisterBits a, RegisterBits b) { return {a.low & b.low, a.high & b.high}; }
  friend constexpr RegisterBits operator^(RegisterBits a, RegisterBits b) { return {a.low ^ b.low, a.high ^ b.high}; }
  friend constexpr RegisterBits operator~(RegisterBits a) { return {~a.low, ~a.high}; }
  friend constexpr bool operator==(RegisterBits, RegisterBits) = default;
};

/// What a lane had when it called a function that runs already, and where it goes on.
struct CallFrame {
  std::uint32_t resume = 0, call = 0;
  std::vector<std::uint64_t> registers;
  std::vector<RegisterBits> undefined;  ///< by scalar register; empty: nobody had looked
};

namespace races {
class Detector;
struct WarpState;
}  // namespace races

/// 64 bytes of a register file, aligned for vector instructions.
struct alignas(64) RegisterLine {
  std::array<std::byte, 64> bytes;
};

inline constexpr std::uint32_t never_polled = 0xFFFFFFFFu;
inline constexpr std::uint64_t not_stalled = ~std::uint64_t{0};

struct Warp {
  Cta* cta = nullptr;
  std::byte* registers = nullptr;
  std::uint32_t index = 0;  ///< in the CTA
  Mask live = 0;            ///< lanes that exist and have not exited

  // the lane group that runs
  std::uint32_t pc = 0;
  Mask active = 0;
  std::uint32_t limit = 0;  ///< a place where another lane group waits: stop when the pc gets there
  // the others
  std::vector<LaneGroup> others;

  std::uint64_t turn = 0;      ///< how often a lane group was chosen
  std::uint32_t patience = 0;  ///< backward jumps that the running lane group may still take while others can run
  std::uint32_t patience_now = 0;
  bool fairness = false;                ///< choose the lane group that has not run for longest
  std::uint64_t executed = 0;           ///< instructions, up to the start of the segment that runs
  std::uint64_t turn_start = 0;         ///< `executed` when the warp got its turn
  std::uint32_t segment_start = 0;      ///< ordinal of the first step since the last jump
  bool waiting = false;                 ///< at a barrier of the CTA
  bool cluster_came = false;            ///< has come to the cluster's barrier and not waited there since
  bool cluster_open = false;            ///< and others have not come yet
  std::uint32_t polled = never_polled;  ///< item of the strong load, or wait at an mbarrier, that it executed last
  AwaitedMbarrier awaited;              ///< of the wait at an mbarrier that failed last
  bool yields = false;                  ///< its turn ends at the next jump: it waits for others
  std::uint32_t wgmma_groups = 0;       ///< that it has committed
  std::uint32_t wgmma_awaited = 0;      ///< and of them those that it has waited for
  std::uint32_t thread_registers = 0;   ///< as setmaxnreg has left them
  std::uint32_t awaited_registers = 0;  ///< that it asks for and does not get; 0: none
  std::uint32_t register_requests = 0;  ///< of setmaxnreg, that it has executed

  // undefined.hpp; the vectors go by scalar register and mean something while the warp is traced
  bool traced = false;
  std::vector<Mask> undefined;  ///< lanes in which some of its bits are
  std::vector<Mask> partly;     ///< of these: lanes in which others are not
  std::unordered_map<std::uint32_t, std::array<RegisterBits, lane_count>>
      undefined_bits;                           ///< which are, in the lanes of `partly`
  std::vector<std::uint32_t> undefined_source;  ///< key of undefined_sources
  std::map<std::uint32_t, UndefinedSource> undefined_sources;

  // races/detector.hpp; null where a run asks for no checks
  races::Detector* races = nullptr;
  races::WarpState* knowledge = nullptr;
  // observer.hpp; null where nobody observes the run
  Observer* observer = nullptr;
  // exploration.hpp; null where a run takes one order
  Exploration* exploration = nullptr;
  bool may_be_seen = false;                ///< its turn has not had the instruction that others see
  bool polls_again = false;                ///< its turn has ended before a poll that it has just made in vain
  std::uint64_t stalled_at = not_stalled;  ///< Cluster::seen_changes when it was found to wait for one more

  std::array<std::vector<CallFrame>, lane_count> frames;
  std::vector<std::byte> local;  ///< .local variables, lane after lane
  std::vector<std::uint8_t> local_written;
  MemoryRegion local_region, local_window_region;
  std::vector<RegisterLine> file;

  /// The 32 lanes of a register.
  template <class Slot>
  [[nodiscard]] Slot* slot(std::uint32_t offset) const {
    return reinterpret_cast<Slot*>(registers + offset);  // slots are u32 or u64 arrays and are only ever used as what they are
  }
  [[nodiscard]] Mask& pred(std::uint32_t offset) const { return *slot<Mask>(offset); }

  /// Ends the run at this step: `lane` is the thread that did it. Returns Outcome::fault.
  Outcome fail(const Step& step, int lane, Kind kind, std::string message, std::vector<std::string> notes = {});
  /// The same, and which rule was broken; of the rule's kind.
  Outcome fail(const Step& step, int lane, Rule rule, std::string message, std::vector<std::string> notes = {});
  std::optional<Fault> fault;
};

/// The registers that setmaxnreg moves between the warps of a CTA (manual: "Instruction Set: setmaxnreg").
struct RegisterPool {
  std::uint32_t spare = 0;  ///< given back, and not taken since: of a thread, for all lanes of a warp
  struct Request {
    std::uint32_t item = 0, registers = 0;
    bool takes = false;
  };
  std::vector<std::vector<Request>> requests;  ///< by warpgroup, in the order in which its first warp has come
};

/// A hardware barrier of the CTA.
struct Barrier {
  std::uint32_t arrived_warps = 0;
  std::uint32_t expected_threads = 0;  ///< 0: every live warp of the CTA
  std::uint32_t opened_by = 0;         ///< item of the first arrival
  bool reduces = false;                ///< those that come reduce their predicates
  std::uint32_t votes = 0, voters = 0;
  std::uint32_t known_false = 0, known_true = 0;     ///< of the voters; of the others it is undefined (undefined.hpp)
  std::uint32_t unknown_warp = 0, unknown_lane = 0;  ///< the first of those
};
inline constexpr std::uint32_t barrier_count = 16;
/// What LaneGroup::key is at the barrier of the cluster, whose threads come and wait by two instructions.
inline constexpr std::uint32_t cluster_arrival = 0xFFFF'FFFEu, cluster_wait = 0xFFFF'FFFFu;

/// The clusters of a grid that have not begun, in their order. Workers begin them, and kernels may take the work of one instead
/// (clusterlaunchcontrol.try_cancel): each is handed out once.
class WaitingClusters {
 public:
  explicit WaitingClusters(std::uint64_t clusters) : clusters_(clusters) {}
  /// The first of them, which then is no more; nothing when there is none.
  std::optional<std::uint64_t> take() {
    const std::uint64_t index = next_.fetch_add(1);
    return index < clusters_ ? std::optional(index) : std::nullopt;
  }
  std::optional<std::uint64_t> cancel() {
    const auto index = take();
    if (index) ++cancelled_, ++untold_;
    return index;
  }
  [[nodiscard]] std::uint64_t handed_out() const { return std::min(next_.load(), clusters_); }
  [[nodiscard]] std::uint64_t cancelled() const { return cancelled_; }
  /// How many were cancelled since it was asked last.
  std::uint64_t newly_cancelled() { return untold_.exchange(0); }

 private:
  std::uint64_t clusters_;
  std::atomic<std::uint64_t> next_{0}, cancelled_{0}, untold_{0};
};

/// What every worker of a launch shares, unchanging while it runs.
struct Launch {
  const Code& code;
  LaunchConfig config;  ///< with the clusters as they are
  bool explicit_cluster = false;
  Options options;
  std::uint32_t threads = 0;  ///< of a CTA
  GlobalMemory global;
  std::vector<std::byte> params;
  std::uint64_t grid_workspace = 0;  ///< of a cooperative launch: its address
  WaitingClusters& waiting;
  races::Detector* races = nullptr;
  Observer* observer = nullptr;
  Exploration* exploration = nullptr;
  std::vector<bool> seen_by_others{};  ///< by item: instructions that are choices of an exploration
};

/// A thread of the host.
struct Worker {
  const Launch& launch;
  std::vector<const MemoryRegion*> site_cache;  ///< by Step::site: the region that was found last
};

struct Cta {
  Worker* worker = nullptr;
  const Launch* launch = nullptr;
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;  ///< in its cluster
  std::uint64_t index = 0;
  std::array<std::uint32_t, 3> id{};
  std::vector<Warp> warps;
  std::uint32_t live_warps = 0;
  std::array<Barrier, barrier_count> barriers{};
  LiveMbarriers mbarriers;
  TensorMemory tensor_memory;
  RegisterPool register_pool;
  SharedBytes shared;
  std::vector<std::uint8_t> shared_written;
  MemoryRegion shared_region, shared_window_region, param_region, param_window_region;
  bool saw_no_cluster = false;  ///< has learned that no cluster was left to cancel
  std::uint64_t executed = 0;
  std::uint64_t polls = 0;  ///< strong loads since the CTA's worker looked last
  std::uint64_t changes =
      0;  ///< what others may wait for, or what makes the next round differ: stores, barriers, exits, clock reads
};

namespace async {
class Queue;
struct QueueDeleter {
  void operator()(Queue* queue) const;
};
}  // namespace async

/// CTAs that run at the same time, on one thread of the host, and reach each other's shared memory (manual: "Cluster of
/// Cooperative Thread Arrays"). Each CTA is in one: in its own where nobody asks for clusters.
struct Cluster {
  std::vector<Cta> blocks;  ///< by rank; one that has ended has no live warps
  std::uint64_t index = 0;
  std::array<std::uint32_t, 3> id{};
  std::uint32_t live_warps = 0;  ///< of all blocks
  std::uint32_t came_warps = 0;  ///< of them those that have come to the cluster's barrier, which is open
  std::uint64_t executed = 0;
  /// Asynchronous operations that have begun; null: they are performed when they begin (Completion::eager).
  std::unique_ptr<async::Queue, async::QueueDeleter> queue;
  /// By which the order of threads is chosen; nothing: they take turns (Threads::in_turn).
  std::optional<std::minstd_rand> random;
  std::uint32_t explored_as = 0;    ///< its number in the run's exploration
  std::uint64_t seen_changes = 0;   ///< of an explored run: turns in which something changed that others may wait for
  std::uint64_t last_explored = 0;  ///< who had the last turn
};

// ---- handlers -----------------------------------------------------------------------------------------------------

/// Bytes of memory that the host has.
std::uint64_t host_memory();

/// True when the host can run what is compiled for AVX2 and FMA, and `baseline_only` is not set.
bool host_has_avx2();
/// For tests: what is decoded meanwhile runs as on a host without AVX2.
extern bool baseline_only;

/// A handler compiled once for the baseline and once for hosts with AVX2 and FMA, and chosen while decoding. The choice is
/// explicit, because clones that the loader chooses between do not work under the sanitizers. Without AVX2 a fused multiply-add
/// calls the C library.
template <class Body>
struct Compiled {
#if defined(__x86_64__)
  // For processors of before 2013: small, not fast.
  [[gnu::cold]] static Outcome baseline(Warp& warp, const Step& step, Mask mask) { return Body::run(warp, step, mask); }
  [[gnu::target("avx2,fma")]] static Outcome avx2(Warp& warp, const Step& step, Mask mask) { return Body::run(warp, step, mask); }
  static Handler handler() { return host_has_avx2() ? &avx2 : &baseline; }
  /// For hosts that have more than AVX2, called by what is made for them.
  static Outcome widest(Warp& warp, const Step& step, Mask mask) { return avx2(warp, step, mask); }
  /// Of what programs do seldom: compiled once.
  static Handler seldom() { return &baseline; }
#else
  static Outcome baseline(Warp& warp, const Step& step, Mask mask) { return Body::run(warp, step, mask); }
  static Handler handler() { return &baseline; }
  static Outcome widest(Warp& warp, const Step& step, Mask mask) { return baseline(warp, step, mask); }
  static Handler seldom() { return &baseline; }
#endif
};

}  // namespace ptx::vgpu
