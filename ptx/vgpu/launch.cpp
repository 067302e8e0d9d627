// Runs a grid: workers take CTAs in order, each worker runs its own.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#include "ptx/vgpu/occupancy.hpp"
#include "ptx/vgpu/report.hpp"
#include "ptx/vgpu/run_control.hpp"
#include "ptx/vgpu/schedule.hpp"
#include "ptx/vgpu/specials.hpp"
#include "ptx/vgpu/waiting.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::chrono::microseconds longest_wait{2000};  // of the calling thread for its helpers
constexpr std::uint64_t attend_now = 1u << 20;
constexpr std::uint64_t max_of_cta = 1u << 30;  // instructions, where the run has no limit

Diagnostic launch_error(Kind kind, std::string message) {
  return {.kind = kind, .severity = Severity::error, .message = std::move(message), .where = {}, .notes = {}};
}

std::uint64_t shared_bytes(const Code& code, const LaunchConfig& config) {
  return config.dynamic_smem_bytes == 0 ? code.static_smem : add_sizes(code.dynamic_smem_offset, config.dynamic_smem_bytes);
}

std::optional<Diagnostic> check_config(const Code& code, const LaunchConfig& config, std::size_t param_bytes) {
  const auto name = cat("kernel `", code.name, "`: ");
  if (auto ok = check_launch_geometry(config.grid, config.block); !ok)
    return launch_error(Kind::launch_config, cat(name, ok.error().message));
  for (const auto& [directive, bound] : {std::pair("reqntid", code.required_block), std::pair("maxntid", code.largest_block)})
    if (bound[0] != 0)
      if (auto ok = check_launch_bound(directive, bound, config.block); !ok)
        return launch_error(Kind::launch_config, cat(name, ok.error().message));
  const std::uint64_t smem = shared_bytes(code, config);
  if (const std::uint64_t limit = isa::max_shared_bytes(code.module->target); smem > limit)
    return launch_error(Kind::launch_config, cat(name, smem, " bytes of shared memory; a block on ",
                                                 isa::name(code.module->target), " has at most ", limit));
  if (param_bytes != code.param_bytes)
    return launch_error(Kind::param_layout,
                        cat(name, "its parameters take ", code.param_bytes, " bytes, ", param_bytes, " given"));
  return std::nullopt;
}

// A warp of a CTA that has not ended and does not wait for others, or one that waits.
const Warp& a_live_warp(const Cta& cta) {
  const auto runs = [](const Warp& w) { return w.live != 0 && !w.waiting; };
  const auto found = std::find_if(cta.warps.begin(), cta.warps.end(), runs);
  return found != cta.warps.end() ? *found
                                  : *std::find_if(cta.warps.begin(), cta.warps.end(), [](const Warp& w) { return w.live != 0; });
}

// `what` has run to its limit: the run, or the block alone.
Diagnostic report_stopped(const Cta& cta, std::uint64_t executed, std::string_view what, std::string done) {
  const Warp& warp = a_live_warp(cta);
  const LaneGroup& f = warp.others.front();
  const Fault fault{Kind::step_limit,
                    cat("stands where the ", what, " was stopped, after ", executed, " warp instructions"),
                    cta.launch->code.steps[f.pc].item,
                    lowest_lane(f.mask),
                    {std::move(done)}};
  return report(cta, warp, fault);
}

// Where a CTA goes round in circles: the strong load that one of its warps executed last, or where that warp stands.
Diagnostic report_livelock(const Cta& cta, std::uint64_t ctas, std::uint64_t begun, std::size_t most) {
  constexpr std::size_t max_notes = 8;
  const Code& code = cta.launch->code;
  const auto place = [&](const Warp& w) {
    const Step& at = code.steps[w.others.front().pc];
    return w.waiting || w.polled == never_polled ? at.item : w.polled;
  };
  const auto awaits = [&](const Warp& w) {  // an mbarrier, in a loop
    return !w.waiting && w.polled != never_polled &&
           isa::form(code.function->body[w.polled].form).row->effects.sync == isa::Sync::mbarrier;
  };
  const Warp& warp = a_live_warp(cta);
  const bool polls = warp.polled != never_polled;
  std::vector<std::string> notes;
  std::size_t more = 0;
  for (const Warp& w : cta.warps)
    if (w.live != 0 && ++more <= max_notes)
      notes.push_back(cat("warp ", w.index, awaits(w) ? cat(" waits for ", mbarrier::say(cta, w.awaited), ", at ") : " is at ",
                          say_place(code, place(w))));
  if (more > max_notes) notes.push_back(cat("and ", more - max_notes, " more warps"));
  if (begun < ctas)
    notes.push_back(cat(ctas - begun, " of ", ctas, " blocks have not begun: ", multiprocessors, " multiprocessors hold ", most,
                        " of these blocks at a time"));
  Fault fault{Kind::deadlock,
              awaits(warp) ? cat("waits for ", mbarrier::say(cta, warp.awaited),
                                 ": every thread that runs is back where it was, and nobody can complete it any more")
                           : cat(polls ? "polls memory that nobody can change any more" : "is in a loop that nothing can end",
                                 ": every thread that runs is back where it was, and no memory has changed meanwhile"),
              place(warp), lowest_lane(warp.others.front().mask), std::move(notes)};
  return report(cta, warp, fault);
}

// Bytes from one lane's local memory to the next one's: as the lane sees its addresses aligned, so they are for the host, whose
// atomic accesses must be (16 is what std::vector's memory has, and more than any access is wide).
std::uint64_t local_stride(const Code& code) { return align_size(code.local_bytes, 16); }

// Bytes of a block while it runs: registers, local and shared memory, and what keeps track of what has been written there.
std::uint64_t block_bytes(const Code& code, const LaunchConfig& config, bool check_initialised) {
  const std::uint64_t warps = (volume(config.block) + lane_count - 1) / lane_count;
  const std::uint64_t tracked = check_initialised ? 2 : 1;
  const std::uint64_t local = multiply_sizes(local_stride(code), lane_count * tracked);
  const std::uint64_t warp = add_sizes(sizeof(Warp) + code.image.size() * sizeof(RegisterLine), local);
  return add_sizes(multiply_sizes(warp, warps), multiply_sizes(shared_bytes(code, config), tracked));
}

// What blocks may take of the host's memory: a system that is asked for more ends processes instead of refusing. Asked once: the
// question is a system call, which a small launch would feel.
std::uint64_t host_budget() {
  static const std::uint64_t half = host_memory() / 2;
  return half;
}

Diagnostic no_memory(const Code& code, const LaunchConfig& config, std::uint64_t bytes) {
  return launch_error(Kind::out_of_memory,
                      cat("kernel `", code.name, "`: a block ", to_string(config.block), " takes ", bytes,
                          " bytes of registers, local and shared memory, which this machine cannot provide"));
}

// What the workers of a grid share while it runs. The first fault in the order of the CTAs wins, so that every number of workers
// reports the same.
struct Progress {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> stop_at{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<std::size_t> resident{0};  // CTAs that have begun and not ended
  std::size_t max_resident = 1;          // of them at a time
  std::uint64_t block_bytes = 0;
  std::mutex mutex;
  std::optional<Diagnostic> fault;  // of CTA stop_at

  void fail(std::uint64_t cta, Diagnostic diagnostic) {
    const std::lock_guard lock(mutex);
    if (cta >= stop_at) return;
    stop_at = cta;
    fault = std::move(diagnostic);
  }

  // The first CTA that goes round in circles since so many changes.
  std::uint64_t stuck_since = 0, stuck_cta = 0;
  std::optional<Diagnostic> stuck;
  template <class Make>
  void offer_stuck(std::uint64_t cta, std::uint64_t since, Make make) {
    const std::lock_guard lock(mutex);
    if (stuck && stuck_since == since && stuck_cta <= cta) return;
    stuck_since = since, stuck_cta = cta;
    stuck = make();
  }
  Diagnostic take_stuck() {
    const std::lock_guard lock(mutex);
    return std::move(*stuck);
  }
};

void start_warp(Cta& cta, std::uint32_t index, std::uint32_t lanes) {
  const Launch& launch = *cta.launch;
  Warp& warp = cta.warps[index];
  warp.cta = &cta;
  warp.index = index;
  warp.live = lanes >= lane_count ? all_lanes : (Mask{1} << lanes) - 1;
  warp.file = launch.code.image;
  warp.registers = warp.file.data()->bytes.data();
  warp.waiting = warp.fairness = warp.cluster_came = warp.cluster_open = false;
  warp.others.assign(1, {0, warp.live, Wait::none, 0, 0});
  warp.patience = warp.patience_now = full_patience;
  warp.executed = warp.turn = 0;
  warp.polled = never_polled;
  warp.yields = false;
  warp.fault.reset();
  warp.traced = false;
  warp.undefined_sources.clear();
  if (launch.code.most_frames != 0)
    for (std::vector<CallFrame>& frames : warp.frames) frames.clear();
  if (const std::uint64_t bytes = launch.code.local_bytes; bytes != 0) {
    const std::uint64_t stride = local_stride(launch.code);
    warp.local.assign(stride * lane_count, std::byte{0});
    if (launch.options.check_initialised) warp.local_written.assign(stride * lane_count, 0);
    warp.local_region = {.begin = local_base,
                         .size = bytes,
                         .data = warp.local.data(),
                         .written = warp.local_written.empty() ? nullptr : warp.local_written.data(),
                         .lane_stride = stride,
                         .writable = true,
                         .name = "local memory"};
    warp.local_window_region = warp.local_region;
    warp.local_window_region.begin += local_window;
  }
  fill_specials(warp);
}

void start_cta(Cta& cta, Worker& worker, std::uint64_t index) {
  const Launch& launch = worker.launch;
  const auto& grid = launch.config.grid;
  cta.worker = &worker;
  cta.launch = &launch;
  cta.index = index;
  cta.id = {static_cast<std::uint32_t>(index % grid[0]), static_cast<std::uint32_t>(index / grid[0] % grid[1]),
            static_cast<std::uint32_t>(index / grid[0] / grid[1])};
  cta.barriers = {};
  cta.mbarriers.clear();
  cta.executed = cta.polls = cta.changes = 0;
  const std::uint64_t smem = shared_bytes(launch.code, launch.config);
  cta.shared.assign(smem, std::byte{0});
  if (launch.options.check_initialised) cta.shared_written.assign(smem, 0);
  cta.shared_region = {shared_base, smem, cta.shared.data(), cta.shared_written.empty() ? nullptr : cta.shared_written.data(),
                       0,           true, "shared memory"};
  cta.shared_window_region = cta.shared_region;
  cta.shared_window_region.begin += shared_window;
  // Nobody writes parameters: one copy serves every CTA. The region wants a mutable pointer and is not writable.
  cta.param_region = {0,     launch.params.size(),     const_cast<std::byte*>(launch.params.data()), nullptr, 0,
                      false, "the kernel's parameters"};
  cta.param_window_region = cta.param_region;
  cta.param_window_region.begin += param_window;
  const std::uint32_t warps = (launch.threads + lane_count - 1) / lane_count;
  cta.warps.resize(warps);
  cta.live_warps = warps;
  for (std::uint32_t w = 0; w < warps; ++w) start_warp(cta, w, launch.threads - w * lane_count);
}

// CTAs that are resident at a time.
std::size_t max_resident(const Code& code, const LaunchConfig& config) {
  const std::uint64_t smem = shared_bytes(code, config);
  const auto threads = static_cast<std::uint32_t>(volume(config.block));
  return std::size_t{multiprocessors} * blocks_of_multiprocessor(code.module->target, {threads, smem, code.max_registers});
}

// The CTAs that one worker has begun, and their turns.
class Residents {
 public:
  Residents(const Launch& launch, std::uint64_t ctas, Progress& progress, RunControl& control, std::size_t index)
      : worker_{launch, std::vector<const MemoryRegion*>(launch.code.sites, &no_region)},
        ctas_(ctas),
        most_(progress.max_resident),
        progress_(progress),
        control_(control),
        index_(index) {}

  // To the end, whatever happens: an exception that left the thread would end the process.
  void work_safely() {
    try {
      work();
    } catch (const std::bad_alloc&) {
      progress_.fail(at_, no_memory(worker_.launch.code, worker_.launch.config, progress_.block_bytes));
    } catch (const std::exception& error) {
      progress_.fail(
          at_, launch_error(Kind::internal, cat("kernel `", worker_.launch.code.name, "`: the executor failed: ", error.what())));
    }
    progress_.resident -= begun_;
    control_.leave(index_);
  }

 private:
  void work() {
    while (!control_.over()) {
      if (fresh_) begin();
      if (residents_.empty()) break;
      Resident now = std::move(residents_.front());
      residents_.pop_front();
      std::uint64_t ran = 0;
      if (now.cta->index > progress_.stop_at || !turn(now, ran)) {
        --progress_.resident;
        --begun_;
        spare_.push_back(std::move(now.cta));
        fresh_ = residents_.empty();
      } else {
        residents_.push_back(std::move(now));
        look_for_livelock();
      }
      if (index_ == 0) control_.attend(ran);
    }
  }

  struct Resident {
    std::unique_ptr<Cta> cta;
    std::uint64_t turn = cta_turn;  // instructions of its next turn: few while it only polls
    Rounds rounds;
    std::uint64_t stuck_since = not_stuck;  // RunControl::changes when it was found to go round in circles
  };
  static constexpr std::uint64_t not_stuck = ~std::uint64_t{0};
  static constexpr std::uint64_t least_turn = 128;
  static constexpr std::uint64_t first_turn = 512;  // of a CTA that begins because others poll: perhaps it will, too

  void begin() {
    if (++progress_.resident <= most_) {
      if (const std::uint64_t index = progress_.next++; index < ctas_ && index < progress_.stop_at) {
        ++begun_;
        at_ = index;
        auto cta = spare_.empty() ? std::make_unique<Cta>() : std::move(spare_.back());
        if (!spare_.empty()) spare_.pop_back();
        start_cta(*cta, worker_, index);
        residents_.push_back({std::move(cta), residents_.empty() ? cta_turn : first_turn, {}, not_stuck});
        return;
      }
    }
    --progress_.resident;
  }

  // False: the CTA has ended.
  bool turn(Resident& now, std::uint64_t& ran) {
    Cta& cta = *now.cta;
    at_ = cta.index;
    const std::uint64_t before = cta.executed;
    const auto left = control_.left();
    const CtaState state = run_cta(cta, now.turn, left ? before + *left : max_of_cta);
    const std::uint64_t changes = std::exchange(cta.changes, 0);
    const bool polled = std::exchange(cta.polls, 0) != 0;
    ran = cta.executed - before;
    control_.count(ran, changes);
    if (state == CtaState::done) control_.count_done();
    if (state == CtaState::fault) progress_.fail(cta.index, report(cta, faulty(cta), *faulty(cta).fault));
    if (state == CtaState::limit) {
      if (left)
        control_.end(report_stopped(cta, control_.executed(), "run", control_.say_done()));
      else
        progress_.fail(cta.index, report_stopped(cta, cta.executed, "block", control_.say_done()));
    }
    if (state != CtaState::running) return false;
    now.turn = polled && changes == 0 ? std::max(least_turn, now.turn / 4) : cta_turn;
    const std::uint64_t since = control_.changes();
    now.stuck_since = now.rounds.stuck_after_turn(cta, polled, since) ? since : not_stuck;
    fresh_ = polled || now.stuck_since != not_stuck;
    return true;
  }

  void look_for_livelock() {
    const std::uint64_t since = residents_.back().stuck_since;
    if (since == not_stuck || (progress_.next < ctas_ && progress_.resident < most_)) return;
    if (!std::all_of(residents_.begin(), residents_.end(), [&](const Resident& r) { return r.stuck_since == since; })) return;
    const auto earlier = [](const Resident& a, const Resident& b) { return a.cta->index < b.cta->index; };
    Cta& first = *std::min_element(residents_.begin(), residents_.end(), earlier)->cta;
    // Each worker offers its own first CTA; the first of all is reported.
    progress_.offer_stuck(first.index, since, [&] { return report_livelock(first, ctas_, progress_.next, most_); });
    if (control_.all_stuck(index_, since)) control_.end(progress_.take_stuck());
  }

  Worker worker_;
  std::deque<Resident> residents_;
  std::vector<std::unique_ptr<Cta>> spare_;
  const std::uint64_t ctas_;
  const std::size_t most_;
  Progress& progress_;
  RunControl& control_;
  const std::size_t index_;
  std::size_t begun_ = 0;  // CTAs that have begun here and not ended
  std::uint64_t at_ = 0;   // the CTA in hand
  bool fresh_ = true;      // begin another CTA: none is resident, or the one that had its turn waits for something
};

Expected<Report> run_checked(const Code& code, const LaunchConfig& config, std::span<const std::byte> params,
                             std::span<const Region> regions, const Options& options) {
  const std::uint64_t bytes = block_bytes(code, config, options.check_initialised), budget = host_budget();
  if (bytes > budget) return Unexpected{no_memory(code, config, bytes)};
  const std::uint64_t ctas = volume(config.grid);
  const std::size_t workers = std::min({std::uint64_t{std::max(1u, options.workers)}, ctas, budget / bytes});
  const Launch launch{code,
                      config,
                      options,
                      static_cast<std::uint32_t>(volume(config.block)),
                      GlobalMemory(regions, code.instance->regions(), options.check_initialised),
                      {params.begin(), params.end()}};
  Progress progress;
  progress.max_resident = std::min<std::uint64_t>(max_resident(code, config), budget / bytes);
  progress.block_bytes = bytes;
  RunControl control(code, options, ctas, workers);
  {
    const auto work = [&](std::size_t worker) {
      try {
        Residents(launch, ctas, progress, control, worker).work_safely();
      } catch (const std::bad_alloc&) {  // before it had begun
        progress.fail(0, no_memory(code, config, bytes));
        control.leave(worker);
      }
    };
    std::atomic<std::size_t> helping{0};
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < workers; ++i) {
      ++helping;
      try {
        helpers.emplace_back([&, i] {
          work(i);
          --helping;
        });
      } catch (const std::system_error&) {  // as many workers as the system gives
        --helping;
        control.leave(i);
      }
    }
    work(0);
    // Who may stop the run is asked until the others are done.
    for (auto wait = std::chrono::microseconds(1); helping != 0; wait = std::min(2 * wait, longest_wait)) {
      control.attend(attend_now);
      std::this_thread::sleep_for(wait);
    }
  }
  if (progress.fault) return Unexpected{std::move(*progress.fault)};
  if (auto ending = control.take_ending()) return Unexpected{std::move(*ending)};
  return Report{control.executed(), ctas};
}

}  // namespace

Expected<Report> run_grid(const Code& code, const LaunchConfig& config, std::span<const std::byte> params,
                          std::span<const Region> regions, const Options& options) {
  if (auto error = check_config(code, config, params.size())) return Unexpected{std::move(*error)};
  try {
    return run_checked(code, config, params, regions, options);
  } catch (const std::bad_alloc&) {
    return Unexpected{no_memory(code, config, block_bytes(code, config, options.check_initialised))};
  }
}

}  // namespace ptx::vgpu
