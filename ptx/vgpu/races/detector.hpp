// Finds accesses of memory that nothing orders (manual: "Memory Consistency Model", "Data-races", "Proxies"). It follows who
// knows what to have happened (clock.hpp), and holds each access against what was done to the same bytes before (shadow.hpp). So
// a race is found although the executor happens to run the accesses in an order that gives the right result.
//
// One for each run that asks for checks; the run then has one worker. What an instruction orders is told by those who execute it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/findings/findings.hpp"
#include "ptx/vgpu/machine/machine.hpp"
#include "ptx/vgpu/races/clock.hpp"
#include "ptx/vgpu/races/shadow.hpp"

namespace ptx::vgpu::races {

/// An asynchronous operation on its way: what its thread knew when it began it, and how it will be known to have happened.
struct Issue {
  std::shared_ptr<const Knowledge> known;  ///< by its warp
  Agent owner;                             ///< the warp, and what of it its thread knows
  Extent own;
  Agent agent;
  Agent reading;  ///< of what it reads, where that is known to have happened sooner: `.bulk_group` (wait_group.read)
  std::uint32_t clock = 0;
  std::uint32_t item = 0;
  std::uint16_t warp = 0;
  Mask lanes = 0;
  bool through_async_proxy = true;
  bool reduces = false;
  bool of_tensor_cores = false;  ///< tcgen05.mma, .cp
};

/// Operations that threads of a warp have put into groups, by lane: how many of them are closed. The agent's clock is the number
/// of a group, from 1.
struct Stream {
  Agent agent;
  Agent reading;  ///< what bulk copies read
  std::array<std::uint32_t, lane_count> closed{};
  std::array<std::uint32_t, lane_count> last{}, waited_for{};  ///< the group of the last operation, and of the last wait
  std::uint32_t item = 0;                                      ///< of the last operation
  // Of cp.async: what an mbarrier will be told of, from cp.async.mbarrier.arrive until that is performed.
  struct Arrival {
    const std::byte* at = nullptr;
    int lane = 0;
    std::uint32_t clock = 0;
  };
  std::vector<Arrival> arrivals;
};

/// What an instruction does to tensor memory. Products and copies are what tensor cores do one after the other, in the order in
/// which they were begun (manual: "Pipelined tcgen05 Instructions"; that a copy does not overtake the products before it, CUTLASS
/// counts on).
enum class TensorUse : std::uint8_t { load, store, product, copy, give_back };

/// Lanes and columns of the tensor memory of a block.
struct TensorRange {
  int lane = 0, lanes = 0, column = 0, columns = 0;
};

/// An access of tensor memory: done when its own agent's clock is known of, begun when the warp's is.
struct TensorAccess {
  Access access;
  std::uint32_t begun = 0;  ///< the warp's time
  TensorUse use{};
};

/// What has been done to the tensor memory of a block: to 16 lanes of a column at a time, which no instruction divides.
struct TensorShadow {
  static constexpr int lanes = 16;
  struct Cell {
    TensorAccess store;
    std::vector<TensorAccess> loads;  ///< behind it
  };
  std::vector<Cell> cells;
  Cell& at(int lane, int column);
};

/// What a strong store tells, or a fence before it, and to whom.
struct Told {
  Knowledge known;
  isa::Scope scope{};
  std::uint32_t cluster = 0, block = 0;
  std::uint32_t item = 0;
  bool released = true;  ///< false: it would have told that, were it a release
  /// Of one instruction's releases those that reach the same threads are one.
  [[nodiscard]] bool joins(const Told& other) const {
    return released == other.released && scope == other.scope && item == other.item &&
           (scope > isa::Scope::cluster || (cluster == other.cluster && (scope == isa::Scope::cluster || block == other.block)));
  }
};

/// A fence of lanes of a warp.
struct Fenced {
  Told told;                   ///< what was known then, but for what the warp's own lanes did
  std::uint32_t now = 0;       ///< the warp's time
  std::uint32_t together = 0;  ///< and since when its threads knew of each other
  Mask lanes = 0;              ///< whose fence it is
};

/// An instruction of a warp, executed once.
struct InstructionOnce {
  std::uint64_t executed = 0;  ///< the warp's instructions before the segment that it is of
  std::uint32_t item = 0;
  friend bool operator==(const InstructionOnce&, const InstructionOnce&) = default;
};

struct MbarrierState;

/// What a warp knows.
struct WarpState {
  Agent agent;
  std::uint32_t now = 1;
  std::uint32_t together = 1;          ///< its threads know of each other what was done before this time
  bool released = false;               ///< others know of the time `now`: what follows is later
  std::array<Mask, lane_count> met{};  ///< by lane: with these it has met, so that each knows what the others did before `met_at`
  std::array<std::uint32_t, lane_count> met_at{};
  /// Whether lanes of one such group are meant.
  [[nodiscard]] bool have_met(Mask lanes) const { return (lanes & ~met[static_cast<std::size_t>(lowest_lane(lanes))]) == 0; }
  Knowledge known;  ///< to all of its threads; changed through `learning` alone
  Knowledge& learning() {
    issued.reset();
    return known;
  }
  std::shared_ptr<const Knowledge> issued;  ///< the same, as operations were begun by it; null: it has changed since
  Mask informed = 0;                        ///< lanes that know `told` besides
  std::unique_ptr<Knowledge> told;          ///< by a wait of some lanes
  std::optional<Fenced> fenced;             ///< what a strong store behind a fence tells
  Extent returned;                          ///< what mbarriers have told of the warp itself: each of its lanes arrives, and waits
  Mask returned_to = 0;                     ///< lanes that know it
  std::vector<Told> heard;                  ///< what strong loads have found, for a fence behind them
  // The phase that lanes are told of by the instruction that is being executed.
  const MbarrierState* learns_from = nullptr;
  InstructionOnce learns_by;
  std::map<async::Group, Stream> streams;
  Agent wgmma;   ///< of its warpgroup: four warps put the same operations into the same groups
  Agent tensor;  ///< of its tcgen05.mma, .cp and .shift
  std::uint32_t wgmma_closed = 0, tensor_closed = 0;
  Agent tensor_loads, tensor_stores;  ///< of tcgen05.ld and .st, from the first on
  std::vector<Access> registers_set;  ///< its setmaxnreg
  std::uint32_t tensor_loads_done = 0, tensor_stores_done = 0;
  Clock behind_tensor_fence;         ///< what was told of tensor memory before its last tcgen05.fence::after_thread_sync
  Clock before_tensor_fence;         ///< and what else was known then
  Clock behind_map_fence;            ///< and of tensor maps before its last fence.proxy.tensormap::generic.acquire
  Clock behind_near_map_fence;       ///< of which the scope need not reach beyond the cluster
  const Issue* operation = nullptr;  ///< is being performed
};

/// What waits for others at a barrier gets to know.
struct Meeting {
  Knowledge gathered, complete;
};

struct MbarrierState {
  Agent agent;               ///< its clock is the number of a phase, from 1: what was to complete in it has
  std::uint32_t phases = 0;  ///< that are complete
  Meeting phase;
  Meeting from_others;       ///< what other blocks' arrivals tell
  Access made;               ///< its initialisation
  std::vector<Access> uses;  ///< since: each warp's last
  // Lanes that arrive by one instruction tell the same, but for what each has done.
  const WarpState* told_by = nullptr;
  InstructionOnce told_once;
};

/// Of a cluster, while it runs.
struct ClusterKnowledge {
  std::uint32_t number = 0;
  std::uint16_t agents = 0;
  std::vector<WarpState> warps;                              // through the blocks
  std::vector<std::array<Meeting, barrier_count>> barriers;  // by block
  Meeting barrier;
  std::map<const std::byte*, MbarrierState> mbarriers;
  std::pair<const std::byte*, MbarrierState*> last_mbarrier;  // that was asked for: the lanes of a warp ask for the same
  std::vector<TensorShadow> tensor;                           // by block
  std::vector<Access> pair_allocations;                       // by block: its last tcgen05.alloc of a pair
  // By block: what reaches its shared memory from elsewhere, or copies bring there: it must not end before that has happened.
  std::vector<std::vector<Access>> reaches;
};

/// What breaks a rule, but for its message.
inline Fault fault_of(Rule rule, std::uint32_t item, int lane = 0) {
  Fault fault;
  fault.kind = row(rule).kind;
  fault.rule = rule;
  fault.item = item;
  fault.lane = lane;
  return fault;
}

class Detector {
 public:
  Detector(const Code& code, const Options& options);

  /// A cluster begins.
  void begin_cluster(Cluster& cluster);
  /// The last warp of a block has ended.
  void end_block(Cta& cta);

  // -- accesses, when they are about to be made. `bytes` of each lane at its place; `same`: lanes that store what is there
  // already, with which other stores agree: they are held against loads alone.
  void access(Warp& warp, const Step& step, Mask lanes, bool is_store, std::uint32_t bytes,
              const std::array<Place, lane_count>& places, Mask same = 0);
  /// These lanes store to places of which others of them store something else: `place` is the first one's.
  void store_unlike(Warp& warp, const Step& step, Mask lanes, std::uint32_t bytes, const Place& place);
  /// Of all lanes, one behind the other.
  void access_in_order(Warp& warp, const Step& step, bool is_store, std::uint32_t bytes, const std::byte* first);
  /// All lanes load the same.
  void load_together(Warp& warp, const Step& step, const std::byte* at, std::uint32_t bytes) {
    if (is_looked_at(warp, at, bytes))
      touch(warp, step, judge_of(state(warp), all_lanes), access_by(warp, step, all_lanes, false), at, bytes);
  }
  /// Of all lanes together.
  void access_together(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint32_t bytes);
  /// Of all lanes together rows of 16 bytes in the block's shared memory, which these lanes name: ldmatrix, stmatrix. No lane's
  /// bytes are its own.
  void access_rows(Warp& warp, const Step& step, bool is_store, Mask lanes, const std::array<Place, lane_count>& places);
  /// And no lane's bytes are its own: a tensor map that is copied.
  void access_by_all(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint32_t bytes);
  /// Of the operation that is being performed; nothing where none is.
  void access_of_operation(Warp& warp, const Step& step, bool is_store, const std::byte* at, std::uint64_t bytes);

  /// What was told of the operation so far is looked at: pieces of a line come one by one, and are one access.
  void flush_operation();
  /// And another one begins: what was found to be in order before this one need not be so before that.
  void end_operation() { flush_operation(), seen_in_order_ = 0; }
  /// It reads these granules of a line of shared memory.
  void access_line_of_operation(Warp& warp, const Step& step, const std::byte* line, std::uint32_t where);
  /// It reads these parts of the sheets of shared memory behind `pattern`; the same parts always have the same number.
  void access_sheets_of_operation(Warp& warp, const Step& step, const std::byte* pattern, std::span<const PartOfSheet> parts,
                                  std::uint64_t number);
  /// Of a tensor map of 128 bytes by a lane's tensor copy.
  void access_of_tensor_map(Warp& warp, const Step& step, int lane, const std::byte* at);
  void access_tensor_memory(Warp& warp, const Step& step, Mask lanes, const Cta& of, TensorUse use, bool is_store,
                            const TensorRange& range);
  /// tcgen05.alloc of the two blocks of a pair asks, or asks again.
  void allocate_with_pair(Warp& warp, const Step& step);
  /// setmaxnreg asks for the first time.
  void set_registers(Warp& warp, const Step& step);
  /// An access that is none of its rule's errors, but looks like one.
  void suspect(Warp& warp, const Step& step, Rule rule, int lane, std::string message);
  /// tcgen05.dealloc of a block whose pair is `peer`.
  void give_back_with_pair(Warp& warp, const Step& step, const Cta& peer);

  // -- what orders accesses
  /// `alone`: of the instruction's lanes it is the only one, as it is where a flag is set.
  void strong_access(Warp& warp, const Step& step, int lane, bool alone, bool loads, bool stores, const std::byte* at);
  void fence(Warp& warp, const Step& step, Mask lanes);
  void meet(Warp& warp, Mask lanes);
  void come_to_barrier(Warp& warp, std::uint32_t barrier);
  void complete_barrier(Cta& cta, std::uint32_t barrier);
  void leave_barrier(Warp& warp, std::uint32_t barrier);
  void come_to_cluster(Warp& warp, const Step& step);
  void complete_cluster(Cluster& cluster);
  void leave_cluster(Warp& warp);

  void initialise(const mbarrier::Operator& by, const std::byte* at);
  void invalidate(const mbarrier::Operator& by, const std::byte* at);
  /// `of_copies`: it tells of what its thread has copied (cp.async.mbarrier.arrive), and of nothing else.
  void arrive(const mbarrier::Operator& by, const std::byte* at, bool of_copies);
  void complete_phase(const mbarrier::Operator& by, const std::byte* at);
  void wait(const mbarrier::Operator& by, const std::byte* at);

  // -- asynchronous operations
  [[nodiscard]] Issue begin(Warp& warp, const Step& step, int lane, const async::Operation& operation);
  /// Of a cp.async of these lanes, which are to be performed at once; nothing: they are to begin one by one.
  [[nodiscard]] std::optional<Issue> begin_copies(Warp& warp, const Step& step, Mask lanes);
  /// What a lane's operation accesses from here on is looked at together with the others', by look_at_collected().
  void collect_for(int lane) { collecting_ = lane; }
  void look_at_collected(Warp& warp, const Step& step);
  /// Of wgmma, or of tcgen05.mma and .cp, which the whole warp or one of its lanes begins.
  [[nodiscard]] Issue begin_product(Warp& warp, const Step& step, Mask lanes);
  void close_groups(Warp& warp, Mask lanes, async::Group group);
  /// `read_alone`: what they read has been read, they may still store.
  void wait_for_groups(Warp& warp, Mask lanes, async::Group group, std::uint32_t left, bool read_alone);
  void close_wgmma_group(Warp& warp) { ++state(warp).wgmma_closed; }
  void close_tensor_operations(Warp& warp) { ++state(warp).tensor_closed; }
  void wait_for_wgmma_groups(Warp& warp, std::uint32_t left);
  /// tcgen05.wait of all loads, or of all stores, of a warp.
  void wait_for_tensor_memory(Warp& warp, bool stores);

  [[nodiscard]] Findings& findings() { return findings_; }

 private:
  // Whose knowledge an access is judged by.
  struct Judge {
    const WarpState* warp = nullptr;  // of an access in the order of its thread
    const Knowledge* known = nullptr;
    const Knowledge* told = nullptr;
    const Clock* behind_fence = nullptr;  // which what others did is known of as well, where such fences are used
    const Issue* issue = nullptr;         // of an operation: what its warp did before it is known, too
  };
  [[nodiscard]] static Judge judge_of(const WarpState& warp, Mask lanes);
  [[nodiscard]] Judge judge_of(const WarpState& warp, const Issue& issue) const;

  [[nodiscard]] ClusterKnowledge& state(const Cluster& cluster) { return *states_.at(&cluster); }
  [[nodiscard]] static WarpState& state(const Warp& warp) { return *warp.knowledge; }
  // What the words of an instruction say of its accesses.
  struct AccessWords {
    isa::Ordering order;
    bool is_volatile = false, updates = false, by_read_only_cache = false;
    std::uint8_t width = 0;  // of a strong one: Access::width
  };
  [[nodiscard]] const AccessWords& words(std::uint32_t item);
  [[nodiscard]] const isa::Ordering& ordering(std::uint32_t item) { return words(item).order; }
  [[nodiscard]] MbarrierState& mbarrier(const Cluster& cluster, const std::byte* at);
  [[nodiscard]] Stream& stream(Warp& warp, async::Group group);
  [[nodiscard]] bool is_looked_at(const Warp& warp, const std::byte* at, std::uint64_t bytes);
  /// The block of the cluster in whose shared memory that is; nullptr: it is elsewhere.
  [[nodiscard]] static const Cta* block_at(const Warp& warp, const std::byte* at);
  [[nodiscard]] static bool is_shared(const Warp& warp, const std::byte* at) { return block_at(warp, at) != nullptr; }

  [[nodiscard]] static Extent own_extent(const WarpState& warp, Mask live, Mask lanes);
  static void publish(const Warp& warp, WarpState& state, Mask lanes, Knowledge& to);
  static void add_told_and_heard(const WarpState& state, Mask lanes, Knowledge& to);
  static void learn(const Warp& warp, WarpState& state, Mask lanes, const Knowledge& what);
  static void share_told(WarpState& state);
  static void come_together(WarpState& state);

  [[nodiscard]] Access access_by(Warp& warp, const Step& step, Mask lanes, bool is_store);
  [[nodiscard]] static Access access_by(const Issue& issue, bool is_store);
  void hold_against(Warp& warp, const Step& step, Mask lanes, const Cta& of, const TensorAccess& before, const TensorAccess& now,
                    int lane, int column);
  [[nodiscard]] bool uses_what_it_loads(std::uint32_t item) const;
  void found_in_tensor_memory(Warp& warp, const Step& step, bool complete, const Cta& of, const TensorAccess& before,
                              const TensorAccess& now, int lane, int column);
  // Lanes that have accessed bytes of their own, one behind the other: from where on, and how many each.
  struct InOrder {
    const std::byte* first = nullptr;
    std::uint32_t bytes = 0;
  };
  void touch(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* at, std::uint64_t bytes,
             const InOrder& in_order);
  void touch(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* at, std::uint64_t bytes) {
    touch(warp, step, judge, access, at, bytes, {});
  }
  void touch_line(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* begin,
                  std::uint32_t where, const Spread& spread = {});
  // Lanes of one access, each with `bytes` of its own from at(lane) on.
  template <class At, class Look>
  void touch_lanes(Warp& warp, const Step& step, Access access, Mask lanes, std::uint32_t bytes, At at, Look look);
  // Calls use(judge) with what judges these lanes alone, of those that `judge` is of.
  template <class Use>
  void by_judge_of(const Warp& warp, const Judge& judge, Mask lanes, Use use) {
    if (judge.issue == nullptr) return use(judge_of(state(warp), lanes));
    Issue one = *judge.issue;
    one.lanes = lanes, one.own = own_extent(state(warp), warp.live, lanes);
    use(judge_of(state(warp), one));
  }
  void touch_sheet(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* begin,
                   const SheetPart& where);
  bool touch_as_sheet(Warp& warp, const Judge& judge, const Access& access, const std::byte* begin, const SheetPart& where);
  void spread_out(Shadow::Page& page, std::size_t sheet);
  void gather(const std::byte* begin, const Access& stored);
  [[nodiscard]] Sheet& sheet_at(const std::byte* at) {
    return shadow_.page_of(at).sheets[reinterpret_cast<std::uintptr_t>(at) % Shadow::page_bytes / sheet_bytes];
  }
  void store_sheets(Warp& warp, const Step& step, const Judge& judge, const Access& access, const std::byte* begin,
                    std::size_t sheets);
  bool store_as_blanket(Warp& warp, const Judge& judge, const Access& access, const std::byte* begin, std::size_t sheets);
  void spread_blanket(const std::byte* begin, std::size_t sheets, const Access& stored);
  std::size_t read_as_blanket(Warp& warp, const Judge& judge, const Access& access, const std::byte* pattern,
                              std::span<const PartOfSheet> parts, const std::vector<PartOfSheet>* all);
  void take_off(std::uint32_t blanket);
  const std::vector<PartOfSheet>* kept_parts(std::span<const PartOfSheet> parts, std::uint64_t number);
  void empty(Line& line);
  void note_found(const Access& store);
  void use_mbarrier(const mbarrier::Operator& by, const Judge& judge, const Access& now, const std::byte* at);
  void touch_granules(Warp& warp, const Step& step, const Judge& judge, Access access, Line& line, const std::byte* at,
                      std::uint64_t bytes, const Spread& spread);
  void touch_granule(Warp& warp, const Step& step, const Judge& judge, const Access& access, Granule& granule,
                     const std::byte* at);
  bool touch_as_piece(Warp& warp, const Judge& judge, Line& line, const Piece& now);
  void divide(Line& line);
  Line& line_at(const std::byte* at, const Access& access, bool shared);
  /// What is wrong about the second; nothing where they are ordered.
  struct Wrong {
    Kind kind{};
    Severity severity = Severity::error;
  };
  [[nodiscard]] std::optional<Wrong> wrong(Warp& warp, const Judge& judge, const Access& before, const Access& now) const;
  void hold_against(Warp& warp, const Step& step, const Judge& judge, const Access& before, const Access& now,
                    const std::byte* at);
  static bool stands_for(const Judge& judge, const Access& now, const Access& other);
  static bool stays_beside(const Judge& judge, const Access& now, const Access& before);
  [[nodiscard]] bool among_strong(const Cluster& cluster, const Access& before, const Access& now) const;
  static bool reaches(const Judge& judge, const Access& before, Clock Knowledge::* of);
  static bool in_order_of_warp(const Judge& judge, const Access& before, const Access& now);
  enum class MbarrierUse : std::uint8_t { initialise, invalidate, use, operation };
  void update(const mbarrier::Operator& by, const std::byte* at, MbarrierUse use);
  static std::optional<Knowledge> told_behind_fence(const WarpState& warp, Mask lanes);
  void fence_of_proxy(Warp& warp, const Step& step, Mask lanes);
  [[nodiscard]] const isa::Effects& effects(std::uint32_t item) const;
  /// The access before, as far as it is remembered: its block is not where that is of another cluster.
  [[nodiscard]] ExecutionPoint point_before(const Warp& warp, const Access& access, ExecutionPoint::Access what) const;
  /// What is said of two accesses: the second as a fault, and the first, whose access `was` is.
  [[nodiscard]] Diagnostic report_both(const Warp& warp, const Fault& fault, Severity severity, const Access& before,
                                       ExecutionPoint::Access was) const;
  void found(Warp& warp, const Step& step, const Judge& judge, Kind kind, Severity severity, const Access& before,
             const Access& now, const std::byte* at);
  /// Of two accesses that nothing orders: the gap that is left on a way between them.
  [[nodiscard]] static std::optional<Gap> gap_between(const Warp& warp, const Judge& judge, const Access& before,
                                                      const Access& now);
  [[nodiscard]] std::string say_gap(const Warp& warp, const Gap& gap, const Access& before, const Access& now) const;

  const Code& code_;
  Shadow shadow_;
  const std::uint32_t first_cluster_;
  const bool fences_tensor_memory_;  ///< there is a tcgen05.fence in the kernel
  const bool writes_cluster_scope_;  ///< there is an arrival or a wait at an mbarrier with the cluster's scope
  std::unordered_map<const Cluster*, std::unique_ptr<ClusterKnowledge>> states_;
  std::vector<std::optional<AccessWords>> words_;
  const MemoryRegion* last_region_ = nullptr;
  // Of the operation that is being performed: what it accesses of a line.
  struct Pending {
    Warp* warp = nullptr;
    const Step* step = nullptr;
    const Issue* issue = nullptr;
    const std::byte* line = nullptr;
    std::uint32_t where = 0;
    bool is_store = false;
  } pending_;
  // Of the operations of several lanes: what each of them accesses.
  struct Collected {
    std::array<const std::byte*, lane_count> at{};
    std::array<std::uint32_t, lane_count> bytes{};
    Mask lanes = 0;
  };
  std::array<Collected, 2> collected_{};  // loads, stores
  int collecting_ = -1;                   // for this lane
  void collect(bool is_store, const std::byte* at, std::uint64_t bytes);
  // What an operation has read of many sheets, and which stores it found there: the other warps of its group read the same.
  struct ReadSheets {
    const std::byte* pattern = nullptr;
    std::uint64_t number = 0, stores = 0;
    Access access;
    std::vector<Access> found;
  };
  std::array<ReadSheets, 64> read_sheets_{};
  std::unordered_map<std::uint64_t, std::vector<PartOfSheet>> parts_;  // by number, of what blankets say
  std::uint64_t stores_ = 0;                                           // to memory, as far as they have been noted
  std::vector<Access>* finds_stores_ = nullptr;                        // of the sheets that are being read
  [[nodiscard]] bool reads_again(Warp& warp, const Judge& judge, const ReadSheets& before, const Access& now);
  std::array<Access, 4> in_order_{};  // before the operation that is being performed: lines share most of them
  std::size_t seen_in_order_ = 0;
  [[nodiscard]] bool is_wrong(Warp& warp, const Judge& judge, const Access& before, const Access& now);

  // What strong stores have told whoever loads the same place by a strong load. An update hands on what was told before it.
  struct Message {
    std::vector<Told> told;
    isa::Scope scope{};  // of the last store, and whose it was
    std::uint32_t cluster = 0, block = 0;
  };
  void note_reach(const Cta& block, const Access& now);
  void note_read_of_pair(const Warp& warp, const Issue& issue, const std::byte* at);
  void end_before(const Cta& block, const Access& reach);
  static void add_told(std::vector<Told>& all, Told one);
  void hear(Warp& warp, const Step& step, int lane, const Message& message);
  std::unordered_map<const std::byte*, Message> messages_;

  Findings findings_;
};

/// While it lives, what the warp accesses by operations is the issue's: where checks are on.
class Performing {
 public:
  Performing(Warp& warp, const Issue* issue) : warp_(warp) {
    if (warp.races != nullptr) before_ = std::exchange(warp.knowledge->operation, issue);
  }
  /// Of an issue that is made for it.
  template <class Make>
    requires std::is_invocable_v<Make>
  Performing(Warp& warp, Make make) : warp_(warp) {
    if (warp.races == nullptr) return;
    own_ = make();
    before_ = std::exchange(warp.knowledge->operation, &*own_);
  }
  ~Performing() { end(); }
  Performing(const Performing&) = delete;
  Performing& operator=(const Performing&) = delete;
  void end() {
    if (warp_.races == nullptr) return;
    warp_.races->end_operation();
    warp_.knowledge->operation = before_;
  }

 private:
  Warp& warp_;
  std::optional<Issue> own_;
  const Issue* before_ = nullptr;
};

}  // namespace ptx::vgpu::races
