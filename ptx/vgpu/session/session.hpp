// A run that is stepped: it stops before an instruction, and everybody may be looked at. Going back is running again from the
// start, which is exact: a run has one worker, and one order for each seed.
//     vgpu::Session session([&](vgpu::Observer& observer) { … program->run(config, params, regions, options with observer); });
//     session.break_at({.ptx_line = 12});
//     vgpu::Stop stop = session.run();
//     for (const vgpu::RegisterView& r : session.registers()) …
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/machine/observer.hpp"

namespace ptx::vgpu {

/// What a register has to be, in at least one lane that runs the instruction: "%r5 >= 32", "%f1 == nan", "%p2 == true".
struct Condition {
  enum class Compare : std::uint8_t { equal, not_equal, less, at_most, more, at_least };
  std::string name = {};  ///< of the register
  Compare compare{};
  std::string value = {};
  /// Kind bad_setting.
  static Expected<Condition> read(std::string_view text);
};
std::string say_condition(const Condition& condition);

/// Bytes that a run stops behind when they have become others, whoever did it: a thread or an asynchronous operation.
struct Watch {
  bool is_shared = false;     ///< in the shared memory of `block`
  std::string name = {};      ///< a .shared variable, or a tensor as reports call it: "X"; "": none
  std::uint64_t address = 0;  ///< behind it; without a name the address
  std::uint64_t bytes = 4;
  std::array<std::uint32_t, 3> block{};
};

/// Where to stop: at every warp that comes there, or at those of one block.
struct Breakpoint {
  std::string file = {};       ///< of the author's line: its end, "gemm.py"; "": any
  std::uint32_t line = 0;      ///< the author's; 0: any
  std::uint32_t ptx_line = 0;  ///< in the PTX; 0: any
  std::optional<std::array<std::uint32_t, 3>> block = {};
  std::optional<std::uint32_t> warp = {};
  std::optional<Condition> condition = {};  ///< true where the kernel has no such register, or nothing has written it: false
};

/// Where a run has stopped, and why.
struct Stop {
  enum class Why : std::uint8_t {
    step,         ///< as many instructions as were asked for have run
    breakpoint,   ///< `breakpoint`
    watch,        ///< what a watch, of the number `breakpoint`, looks at has become something else: `changed`
    finding,      ///< checks have found something: `diagnostic`
    fault,        ///< the run ends with `diagnostic`
    ended,        ///< all that was to run has
    interrupted,  ///< who waits asked for it
  } why = Why::ended;
  std::size_t breakpoint = 0;  ///< its number, from 1
  std::uint64_t position = 0;  ///< instructions of all warps that have run
  std::string kernel = {};
  std::array<std::uint32_t, 3> block{};
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;  ///< that run the instruction
  std::uint32_t ptx_line = 0;
  std::string instruction = {};  ///< "line 12: ld.global.f32 %f1, [%rd4];"
  SourceLocation where = {};     ///< the author's line
  std::optional<Diagnostic> diagnostic = {};
  std::string changed = {};  ///< "tile + 0x10: 00000000 -> 07000000", bytes in their order
};
std::string_view name(Stop::Why why);
/// "lane 3", "lanes 0-15, 20"
std::string say_lanes(std::uint32_t lanes);

/// Lanes of a warp that are at the same place.
struct WarpView {
  std::array<std::uint32_t, 3> block{};
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
  std::string state;  ///< "runs", "ready", "waits", "ended"
  std::string waits;  ///< for what
  std::uint32_t ptx_line = 0;
  std::string instruction;
  SourceLocation where;
  bool focused = false;
};

struct RegisterView {
  std::string name;        ///< as PTX spells it
  Type type = Type::none;  ///< as it is declared
  std::uint32_t bits = 0;  ///< 1 for a predicate
  std::array<std::uint64_t, 32> low{}, high{};
  std::uint32_t undefined = 0;  ///< lanes in which nothing has written it, or an undefined value
};

struct SharedView {
  std::string name;
  std::uint64_t address = 0, bytes = 0;
};

struct MbarrierView {
  std::array<std::uint32_t, 3> block{};
  std::string name;  ///< by the variable in which it lies: "full+8"
  std::uint64_t address = 0, phase = 0;
  std::uint32_t expected = 0, pending = 0;  ///< arrivals: of a phase, and that this one lacks
  std::int32_t bytes = 0;                   ///< that it lacks
  std::vector<std::string> waiting;         ///< "warp 2 lanes 0-31 for phase 3"
};

class Session final : private Observer {
 public:
  /// Runs what is looked at, from the start, with that observer: once, and again for each step back. It has to put memory back to
  /// what it was at first. Called on a thread of the session's own.
  using Run = std::function<void(Observer&)>;
  /// Asked every few milliseconds by who waits for a stop; false: stop where it is.
  using GoesOn = std::function<bool()>;
  explicit Session(Run run, GoesOn goes_on = {});
  /// Ends the run.
  ~Session() override;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Its number, from 1.
  std::size_t break_at(Breakpoint breakpoint);
  /// Its number, which breakpoints and watches share. What is there when the run begins, or when the watch is set, is its first
  /// value. A place that is in no memory of the run is looked at as soon as it is.
  std::size_t watch(Watch watch);
  /// Or of a watch. False: there is none of that number.
  bool remove_breakpoint(std::size_t number);
  [[nodiscard]] std::vector<std::pair<std::size_t, Watch>> watches() const;
  [[nodiscard]] std::vector<std::pair<std::size_t, Breakpoint>> breakpoints() const;
  /// Whether each new finding of checks stops the run: it does without this. Those of a rule alone, where one is named.
  void break_on_findings(bool stops, std::string rule = {}) { stops_at_findings_ = stops, stopping_rule_ = std::move(rule); }

  // -- going on. Each gives where the run stops: at the latest at a breakpoint, a fault, its end
  Stop run();
  /// The focused warp runs so many of its instructions; others meanwhile run as the schedule has it.
  Stop step(std::uint64_t instructions = 1);
  /// Any warp of the focused block runs one; the focus goes to it.
  Stop step_block();
  /// To before the focused warp's last instruction.
  Stop back(std::uint64_t instructions = 1);
  /// To before the last instruction that completed a barrier, a phase of an mbarrier or an asynchronous operation.
  Stop back_to_event();
  /// To before the first instruction.
  Stop restart();
  /// To before the instruction of that number, from 0.
  Stop go_to(std::uint64_t position);

  // -- looking. After the end there is nothing to see: all are empty
  [[nodiscard]] const Stop& where() const { return stop_; }
  /// A warp of a block that runs becomes the focus. False: there is none.
  bool focus(const std::array<std::uint32_t, 3>& block, std::uint32_t warp);
  [[nodiscard]] std::vector<WarpView> warps() const;
  /// Of the focused warp: those that it has.
  [[nodiscard]] std::vector<RegisterView> registers() const;
  /// The variables of the focused block in shared memory, and all of it under the name "".
  [[nodiscard]] std::vector<SharedView> shared_variables() const;
  /// Bytes of the focused block's shared memory from an address on, and of each whether it has been written. Nothing where some
  /// lie outside.
  struct SharedBytes {
    std::vector<std::byte> data;
    std::vector<bool> written;
  };
  [[nodiscard]] std::optional<SharedBytes> shared(std::uint64_t address, std::uint64_t bytes, layout::Swizzle swizzle = {}) const;
  [[nodiscard]] std::vector<MbarrierView> mbarriers() const;
  /// Tensor memory of the focused block: a word by lane and column, of `columns` from the first one on. Empty where the kernel
  /// has none.
  [[nodiscard]] std::vector<std::array<std::uint32_t, 128>> tensor_memory(std::uint32_t first, std::uint32_t columns) const;

 private:
  using WarpKey = std::pair<std::uint64_t, std::uint32_t>;  ///< the block's number in its grid, and the warp's in it
  static constexpr std::uint64_t nowhere = ~std::uint64_t{0};
  struct Goal {
    std::uint64_t position = nowhere;
    std::optional<WarpKey> warp;  ///< stops before an instruction of it
    bool any_of_block = false;    ///< … or of its block
    std::uint64_t after = 0;      ///< so many of them have run
    bool breaks = true;
  };

  void begin_launch(const Launch& launch) override;
  void end_launch(const Launch& launch) override;
  void begin_cluster(Cluster& cluster) override;
  void fault(Cluster& cluster, const Diagnostic& why) override;
  bool before(Warp& warp, const Step& step, Mask mask) override;
  void after(Warp& warp, const Step& step, Mask mask, bool again) override;
  void complete_barrier(Cta&, std::uint32_t) override { note_event(); }
  void complete_cluster(Cluster&) override { note_event(); }
  void complete_phase(const mbarrier::Operator&, Cta&, std::uint64_t, std::uint64_t) override { note_event(); }
  void performed(const async::Operation&, std::uint64_t) override { note_event(); }

  Stop go(const Goal& goal);
  void start();
  void finish();
  void note_event();
  [[nodiscard]] bool is_reached(const WarpKey& key);
  [[nodiscard]] std::size_t breakpoint_at(const Warp& warp, const Step& step, Mask mask);
  [[nodiscard]] std::optional<RegisterView> register_of(const Warp& warp, std::uint32_t scalar) const;
  [[nodiscard]] bool holds(const Condition& condition, const Warp& warp, Mask mask) const;
  /// Null: it is in no memory of the run.
  [[nodiscard]] const std::byte* place_of(const Watch& watch) const;
  struct Watched {
    Watch watch;
    std::vector<std::byte> last{};  // empty: not known
  };
  void look_again(Watched& one) const;
  /// The first that has changed; 0: none. All are looked at again.
  std::size_t changed_watch(std::string& how);
  [[nodiscard]] Stop stop_at(const Warp& warp, const Step& step, Mask mask, Stop::Why why) const;
  /// Called by the run: waits for who looks. False: the run is to end.
  bool halt(Stop stop);
  [[nodiscard]] Warp* focused() const;

  Run run_;
  GoesOn goes_on_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool runs_ = false;     // the thread has the word, not who looks
  bool is_over_ = false;  // the thread has come to its end
  bool has_begun_ = false;
  std::atomic<bool> aborts_{false}, pauses_{false};
  Goal goal_;
  Stop stop_;

  std::map<std::size_t, Breakpoint> breakpoints_;
  std::map<std::size_t, Watched> watches_;
  std::size_t last_breakpoint_ = 0;
  bool stops_at_findings_ = true;
  std::string stopping_rule_;

  // of the run
  const Launch* launch_ = nullptr;
  std::vector<Cluster*> clusters_;
  std::uint64_t position_ = 0;
  std::size_t seen_findings_ = 0;
  std::map<WarpKey, std::vector<std::uint64_t>> history_;  // the last positions of a warp
  std::map<WarpKey, std::vector<Mask>> written_;           // by scalar register: lanes
  std::vector<std::uint64_t> events_;
  std::vector<std::vector<std::size_t>> breaks_;  // by item: breakpoints there, once it was met
  std::vector<bool> looked_at_;
  std::optional<WarpKey> focus_;
  // where it stopped
  const Warp* stopped_warp_ = nullptr;
  const Step* stopped_step_ = nullptr;
  Mask stopped_mask_ = 0;
};

}  // namespace ptx::vgpu
