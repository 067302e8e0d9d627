// The clocks of the timeline: of warps, engines, barriers.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/vgpu/async/engine.hpp"
#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/timeline/cost.hpp"
#include "ptx/vgpu/timeline/recorder.hpp"
#include "ptx/vgpu/timeline/timeline.hpp"

namespace ptx::vgpu {

namespace timeline {

/// What does one thing after the other, whoever asks first: its free time is given to whom it fits.
class Engine {
 public:
  /// When a piece of work of that length begins that is there from `ready` on.
  std::uint64_t begin(std::uint64_t ready, std::uint64_t length);
  std::uint32_t row = none;

 private:
  std::map<std::uint64_t, std::uint64_t> busy_;  // from, to
};

/// Groups of asynchronous operations of a warp.
struct Groups {
  Moment open;                 ///< when those are done that no group has yet
  std::vector<Moment> closed;  ///< when a group and all before it are done
  void close();
  /// All groups but the last `left`.
  [[nodiscard]] Moment done(std::uint32_t left) const;
  /// Everything.
  [[nodiscard]] Moment all() const;
};

struct WarpTime {
  std::uint64_t clock = 0;
  std::uint32_t row = none;
  std::vector<std::uint64_t> ready;  ///< by scalar register
  // instructions that follow each other, until they are a slice
  struct Stretch {
    std::uint64_t start = 0, end = 0;
    std::uint32_t first = none, last = none;  ///< items
    std::uint32_t instructions = 0;
  } stretch;
  // the instruction that runs
  struct Current {
    std::uint32_t item = none;
    std::uint64_t before = 0;  ///< the clock
    std::uint32_t slice = none;
    std::uint64_t operation = 0;  ///< that it has begun: number and 1
    Mask lanes = 0;
    // of cp.async: what each lane copies
    Mask copying = 0;
    std::uint32_t copied = 0;  ///< bytes
    std::array<std::uint64_t, lane_count> from{}, to{};
  } current;
  std::uint64_t accessed = 0;  ///< when its accesses of memory have had their turns
  bool polls = false;          ///< an mbarrier whose phase is not complete
  std::uint32_t polled = 0;
  std::map<async::Group, Groups> copies;
  Groups wgmma;
  Moment tensor;  ///< what it has had tcgen05 do
};

struct Meeting {
  Moment gathered, complete;
};
struct Phases {
  Moment gathered;
  std::map<std::uint64_t, Moment> complete;  ///< the last ones
};

struct BlockTime {
  std::uint32_t process = none;
  std::vector<WarpTime> warps;
  std::array<Meeting, barrier_count> barriers;
  std::map<std::uint64_t, Phases> mbarriers;  ///< by shared address
  std::map<std::string, Engine> copies;       ///< by the name of their row
  Engine memory;                              ///< what accesses of shared and global memory take turns at; not shown
  std::array<Engine, 4> cores;
  Engine tensor;
};

struct ClusterTime {
  std::vector<BlockTime> blocks;
  Meeting barrier;
  std::size_t ended = 0;
};

/// What is known of an instruction once it has run.
struct Item {
  bool known = false;
  InstructionCost cost;
  bool by_itself = false;                    ///< has a slice of its own
  bool of_text = false;                      ///< the author wrote PTX: slices are stretches of it
  std::vector<std::uint32_t> reads, writes;  ///< scalar registers
  std::string text;
};

}  // namespace timeline

class Timeline::Model {
 public:
  explicit Model(const TimelineOptions& options) : recorder(options.most_slices) {}

  void begin_launch(const Launch& launch);
  void end_launch();
  void begin_cluster(Cluster& cluster);
  void end_block(Cta& cta);
  void before(Warp& warp, const Step& step, Mask mask);
  void again(Warp& warp, const Step& step, Mask mask);
  timeline::BlockTime& block(const Cta& cta);
  timeline::WarpTime& warp(const Warp& warp) { return block(*warp.cta).warps[warp.index]; }
  /// What the warp is at.
  [[nodiscard]] static timeline::Moment now(const timeline::WarpTime& warp) {
    return {std::max(warp.clock, warp.accessed), warp.current.slice};
  }
  /// The warp waits for that moment.
  void wait(Warp& warp, const timeline::Moment& until, const std::string& what);
  /// When what tells an mbarrier has happened.
  timeline::Moment teller(Warp& warp);
  std::uint64_t begin_operation(Warp& warp, const Step& step, int lane, const async::Operation& operation);
  /// What the lanes of a cp.async have touched.
  void count_copies(Warp& warp);
  void multiply(Warp& warp, const TensorProduct& product);
  [[nodiscard]] std::string say_mbarrier(std::uint64_t address, std::uint64_t phase) const;
  [[nodiscard]] std::string trace() const;
  [[nodiscard]] Profile profile() const;
  void add_bytes(std::uint64_t operation, std::uint64_t bytes);

  const Code* code = nullptr;
  timeline::Recorder recorder;
  std::unordered_map<const Cluster*, timeline::ClusterTime> clusters;
  /// An asynchronous operation: when it is done, and the row of its instruction.
  struct Operation {
    timeline::Moment done;
    std::uint32_t row = 0;
  };
  std::vector<Operation> operations;    ///< by number
  std::optional<std::size_t> performs;  ///< which operation

 private:
  timeline::Item& item(std::uint32_t number);
  [[nodiscard]] ProfileRow& row(std::uint32_t item) { return rows_[first_row_ + item]; }
  void flush(timeline::WarpTime& warp);
  std::uint64_t wait_for_registers(timeline::WarpTime& warp, const timeline::Item& item);
  std::uint64_t count_access(Warp& warp, const Step& step, Mask mask, const timeline::Item& item, ProfileRow& row);
  void issue(Warp& warp, const Step& step, timeline::WarpTime& time, const timeline::Item& item, std::uint64_t in_memory);
  void add_to_stretch(timeline::WarpTime& warp, std::uint32_t item, std::uint64_t start);
  std::uint32_t engine_row(timeline::BlockTime& block, timeline::Engine& engine, const std::string& name, std::uint32_t order);

  std::vector<timeline::Item> items_;
  std::vector<ProfileRow> rows_;
  std::vector<std::string> texts_;  // by row of rows_
  std::vector<std::string> kernels_;
  std::size_t first_row_ = 0;
  std::uint64_t launch_start_ = 0, end_ = 0;
  std::uint64_t begun_ = 0, slots_ = 1;
  std::multiset<std::uint64_t> free_;  // since when a place for a cluster is
};

}  // namespace ptx::vgpu
