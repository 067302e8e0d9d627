// Runs a grid: workers take clusters of CTAs in order, each worker runs its own.
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

#include "ptx/vgpu/findings/report.hpp"
#include "ptx/vgpu/machine/cluster.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/occupancy.hpp"
#include "ptx/vgpu/machine/run_control.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/machine/waiting.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::chrono::microseconds longest_wait{2000};  // of the calling thread for its helpers
constexpr std::uint64_t attend_now = 1u << 20;
constexpr std::uint64_t max_of_cta = 1u << 30;  // instructions, where the run has no limit
constexpr LaunchDims no_cluster{1, 1, 1};

Diagnostic launch_error(Kind kind, std::string message) {
  return {.kind = kind, .severity = Severity::error, .message = std::move(message), .where = {}, .notes = {}};
}

// What is asked for, with the clusters that the kernel says where the launch says nothing, and a grid of blocks in any case.
LaunchConfig complete(const Code& code, LaunchConfig config) {
  if (code.required_cluster[0] != 0 && config.cluster == no_cluster) config.cluster = code.required_cluster;
  for (std::size_t i = 0; i < 3 && code.grid_of_clusters; ++i)
    config.grid[i] = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{config.grid[i]} * config.cluster[i], std::numeric_limits<std::uint32_t>::max()));
  return config;
}

// What a kernel says of the clusters that it is launched in; "" when they fit.
std::string misfit_of_cluster(const Code& code, const LaunchDims& cluster) {
  const std::uint64_t blocks = volume(cluster);
  if (blocks > 1 && !has_clusters(code.module->target))
    return cat("cluster ", to_string(cluster), " needs sm_90 or later; the kernel is for ", isa::name(code.module->target));
  if (code.required_cluster[0] != 0 && cluster != code.required_cluster)
    return cat("cluster ", to_string(cluster), " is not the kernel's `.reqnctapercluster` ", to_string(code.required_cluster));
  if (code.largest_cluster != 0 && blocks > code.largest_cluster)
    return cat("cluster ", to_string(cluster), " has ", blocks, " blocks; the kernel's `.maxclusterrank` is ",
               code.largest_cluster);
  return {};
}

std::optional<Diagnostic> check_config(const Code& code, const LaunchConfig& config, std::size_t param_bytes) {
  const auto name = cat("kernel `", code.name, "`: ");
  if (auto ok = check_launch_geometry(config.grid, config.block, config.cluster); !ok)
    return launch_error(Kind::launch_config, cat(name, ok.error().message));
  if (const std::string misfit = misfit_of_cluster(code, config.cluster); !misfit.empty())
    return launch_error(Kind::launch_config, cat(name, misfit));
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

// An address in a multicast region stands for one in each replica, and whether an access fits there is asked once: so all lie as
// the first one does, as they do on GPUs.
std::optional<Diagnostic> check_replicas(const Code& code, std::span<const Region> regions) {
  constexpr std::uintptr_t widest = 16;  // bytes that multimem accesses at once
  const auto behind = [](const std::byte* data) { return reinterpret_cast<std::uintptr_t>(data) % widest; };
  for (const Region& region : regions)
    for (std::size_t i = 0; i < region.further_replicas.size(); ++i)
      if (const auto first = behind(region.data), other = behind(region.further_replicas[i]); first != other)
        return launch_error(Kind::launch_config, cat("kernel `", code.name, "`: replica ", i, " of multicast region `",
                                                     region.name, "` lies ", other, " bytes behind a multiple of ", widest,
                                                     ", and its first memory ", first, "; what fits is the same of all"));
  return std::nullopt;
}

// Bytes of a cluster's blocks while they run: registers, local and shared memory, and what keeps track of what has been written
// there.
std::uint64_t cluster_bytes(const Code& code, const LaunchConfig& config, bool check_initialised) {
  const std::uint64_t warps = (volume(config.block) + lane_count - 1) / lane_count;
  const std::uint64_t tracked = check_initialised ? 2 : 1;
  const std::uint64_t local = multiply_sizes(local_stride(code), lane_count * tracked);
  const std::uint64_t warp = add_sizes(sizeof(Warp) + code.image.size() * sizeof(RegisterLine), local);
  const std::uint64_t block = add_sizes(multiply_sizes(warp, warps), multiply_sizes(shared_bytes(code, config), tracked));
  return multiply_sizes(block, volume(config.cluster));
}

// What blocks may take of the host's memory: a system that is asked for more ends processes instead of refusing. Asked once: the
// question is a system call, which a small launch would feel.
std::uint64_t host_budget() {
  static const std::uint64_t half = host_memory() / 2;
  return half;
}

Diagnostic no_memory(const Code& code, const LaunchConfig& config, std::uint64_t bytes) {
  return launch_error(
      Kind::out_of_memory,
      cat("kernel `", code.name, "`: ",
          config.cluster == no_cluster ? cat("a block ", to_string(config.block)) : cat("a cluster ", to_string(config.cluster)),
          " takes ", bytes, " bytes of registers, local and shared memory, which this machine cannot provide"));
}

// What the workers of a grid share while it runs. The first fault in the order of the clusters wins, so that every number of
// workers reports the same.
struct Progress {
  explicit Progress(std::uint64_t clusters) : waiting(clusters) {}
  WaitingClusters waiting;
  std::atomic<std::uint64_t> stop_at{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<std::size_t> resident{0};  // clusters that have begun and not ended
  std::size_t max_resident = 1;          // of them at a time
  std::uint64_t cluster_bytes = 0;
  std::mutex mutex;
  std::optional<Diagnostic> fault;  // of cluster stop_at

  void fail(std::uint64_t cluster, Diagnostic diagnostic) {
    const std::lock_guard lock(mutex);
    if (cluster >= stop_at) return;
    stop_at = cluster;
    fault = std::move(diagnostic);
  }

  // The first cluster that goes round in circles since so many changes.
  std::uint64_t stuck_since = 0, stuck_cluster = 0;
  std::optional<Diagnostic> stuck;
  template <class Make>
  void offer_stuck(std::uint64_t cluster, std::uint64_t since, Make make) {
    const std::lock_guard lock(mutex);
    if (stuck && stuck_since == since && stuck_cluster <= cluster) return;
    stuck_since = since, stuck_cluster = cluster;
    stuck = make();
  }
  Diagnostic take_stuck() {
    const std::lock_guard lock(mutex);
    return std::move(*stuck);
  }
};

// Clusters that are resident at a time.
std::size_t max_resident(const Code& code, const LaunchConfig& config) {
  const std::uint64_t smem = shared_bytes(code, config);
  const auto threads = static_cast<std::uint32_t>(volume(config.block));
  const std::size_t blocks =
      std::size_t{multiprocessors} * blocks_of_multiprocessor(code.module->target, {threads, smem, code.max_registers});
  return std::max<std::size_t>(1, blocks / volume(config.cluster));
}

// The clusters that one worker has begun, and their turns.
class Residents {
 public:
  Residents(const Launch& launch, std::uint64_t clusters, Progress& progress, RunControl& control, std::size_t index)
      : worker_{launch, std::vector<const MemoryRegion*>(launch.code.sites, &no_region)},
        clusters_(clusters),
        most_(progress.max_resident),
        progress_(progress),
        control_(control),
        index_(index) {
    const Options& options = launch.options;
    if (launch.races != nullptr && launch.exploration == nullptr && options.threads == Threads::random)
      random_.emplace(static_cast<std::minstd_rand::result_type>(mixed(options.seed) >> 32));
  }

  // To the end, whatever happens: an exception that left the thread would end the process.
  void work_safely() {
    try {
      work();
    } catch (const std::bad_alloc&) {
      progress_.fail(at_, no_memory(worker_.launch.code, worker_.launch.config, progress_.cluster_bytes));
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
      if (fresh_ || begins_another()) begin();
      if (residents_.empty()) break;
      if (random_) std::swap(residents_.front(), residents_[(*random_)() % residents_.size()]);
      Resident now = std::move(residents_.front());
      residents_.pop_front();
      std::uint64_t ran = 0;
      if (now.cluster->index > progress_.stop_at || !turn(now, ran)) {
        --progress_.resident;
        --begun_;
        spare_.push_back(std::move(now.cluster));
        fresh_ = residents_.empty();
      } else {
        residents_.push_back(std::move(now));
        look_for_livelock();
      }
      if (index_ == 0) control_.attend(ran);
    }
  }

  // Where threads run in a random order and one worker has them all, blocks do, too.
  bool begins_another() { return random_ && residents_.size() < 4 && (*random_)() % 2 == 0; }
  struct Resident {
    std::unique_ptr<Cluster> cluster;
    std::uint64_t turn = cta_turn;  // instructions of its next turn: few while it only polls
    Rounds rounds;
    std::uint64_t stuck_since = not_stuck;  // RunControl::changes when it was found to go round in circles
    bool hesitates = false;                 // in random order: it begins with short turns
  };
  static constexpr std::uint64_t not_stuck = ~std::uint64_t{0};
  static constexpr std::uint64_t least_turn = least_cta_turn;
  static constexpr std::uint64_t first_turn = 512;  // of a cluster that begins because others poll: perhaps it will, too

  // Half of the clusters begin with turns of a few instructions: what blocks tell each other they often tell early.
  std::uint64_t random_turn(const Resident& now, std::uint64_t most) {
    constexpr std::uint32_t lengths = 13, few = 8;
    if (now.hesitates && now.cluster->executed < first_turn) return 1 + (*random_)() % few;
    return (*random_)() % 2 == 0 ? most : std::max<std::uint64_t>(1, most >> (*random_)() % lengths);
  }

  void begin() {
    if (++progress_.resident <= most_) {
      if (const auto taken = progress_.waiting.take(); taken && *taken < progress_.stop_at) {
        const std::uint64_t index = *taken;
        ++begun_;
        at_ = index;
        auto cluster = spare_.empty() ? std::make_unique<Cluster>() : std::move(spare_.back());
        if (!spare_.empty()) spare_.pop_back();
        start_cluster(*cluster, worker_, index);
        residents_.push_back(
            {std::move(cluster), residents_.empty() ? cta_turn : first_turn, {}, not_stuck, random_ && (*random_)() % 2 == 0});
        return;
      }
    }
    --progress_.resident;
  }

  // False: the cluster has ended.
  bool turn(Resident& now, std::uint64_t& ran) {
    Cluster& cluster = *now.cluster;
    at_ = cluster.index;
    const std::uint64_t before = cluster.executed;
    const std::size_t blocks = cluster.blocks.size();
    const auto left = control_.left();
    const ClusterState state =
        run_cluster(cluster, random_ ? random_turn(now, now.turn) : now.turn, left ? before + *left : max_of_cta * blocks);
    std::uint64_t changes = 0, polls = 0;
    for (Cta& block : cluster.blocks) changes += std::exchange(block.changes, 0), polls += std::exchange(block.polls, 0);
    const bool polled = polls != 0;
    ran = cluster.executed - before;
    control_.count(ran, changes);
    if (state == ClusterState::done) control_.count_done(blocks);
    if (const std::uint64_t cancelled = progress_.waiting.newly_cancelled(); cancelled != 0)
      control_.count_done(cancelled * blocks);
    if (races::Detector* const races = worker_.launch.races; races != nullptr && races->findings().stops()) {
      progress_.fail(cluster.index, shown(cluster, races->findings().first_error()));
      return false;
    }
    if (state == ClusterState::fault) progress_.fail(cluster.index, shown(cluster, report(faulty(cluster))));
    if (state == ClusterState::limit) {
      if (left)
        control_.end(shown(cluster, report_stopped(cluster, control_.executed(), "run", control_.say_done())));
      else
        progress_.fail(cluster.index, shown(cluster, report_stopped(cluster, cluster.executed, blocks == 1 ? "block" : "cluster",
                                                                    control_.say_done())));
    }
    if (state != ClusterState::running) return false;
    now.turn = polled && changes == 0 ? std::max(least_turn, now.turn / 4) : cta_turn;
    const std::uint64_t since = control_.changes();
    now.stuck_since = now.rounds.stuck_after_turn(cluster, polled, since) ? since : not_stuck;
    fresh_ = polled || now.stuck_since != not_stuck;
    return true;
  }

  // Why the run ends, which who observes it sees while the cluster is as it was then.
  Diagnostic shown(Cluster& cluster, Diagnostic why) {
    if (Observer* const observer = worker_.launch.observer; observer != nullptr) observer->fault(cluster, why);
    return why;
  }

  void look_for_livelock() {
    const std::uint64_t since = residents_.back().stuck_since;
    if (since == not_stuck || (progress_.waiting.handed_out() < clusters_ && progress_.resident < most_)) return;
    if (!std::all_of(residents_.begin(), residents_.end(), [&](const Resident& r) { return r.stuck_since == since; })) return;
    const auto earlier = [](const Resident& a, const Resident& b) { return a.cluster->index < b.cluster->index; };
    Cluster& first = *std::min_element(residents_.begin(), residents_.end(), earlier)->cluster;
    // Each worker offers its own first cluster; the first of all is reported.
    progress_.offer_stuck(first.index, since, [&] {
      return shown(first, report_livelock(first, {clusters_, progress_.waiting.handed_out(), most_}));
    });
    if (control_.all_stuck(index_, since)) control_.end(progress_.take_stuck());
  }

  Worker worker_;
  std::deque<Resident> residents_;
  std::vector<std::unique_ptr<Cluster>> spare_;
  const std::uint64_t clusters_;
  const std::size_t most_;
  Progress& progress_;
  RunControl& control_;
  const std::size_t index_;
  std::optional<std::minstd_rand> random_;  // whose turn it is, and how long
  std::size_t begun_ = 0;                   // clusters that have begun here and not ended
  std::uint64_t at_ = 0;                    // the cluster in hand
  bool fresh_ = true;                       // begin another: none is resident, or the one that had its turn waits for something
};

// Instructions that take part in the order of threads: strong accesses, and operations on mbarriers.
std::vector<bool> seen_by_others(const Code& code) {
  std::vector<bool> seen;
  for (const ir::Inst& inst : code.function->body) {
    const bool is_inst = inst.kind == ir::ItemKind::inst;
    seen.push_back(is_inst && (isa::form(inst.form).row->effects.sync == isa::Sync::mbarrier ||
                               isa::ordering(isa::form(inst.form), inst.choices).strong));
  }
  return seen;
}

Expected<Report> run_checked(const Code& code, const LaunchConfig& config, std::span<const std::byte> params,
                             std::span<const Region> regions, const Options& options) {
  const std::uint64_t bytes = cluster_bytes(code, config, options.check_initialised), budget = host_budget();
  if (bytes > budget) return Unexpected{no_memory(code, config, bytes)};
  if (auto misfit = check_replicas(code, regions)) return Unexpected{std::move(*misfit)};
  const std::uint64_t ctas = volume(config.grid), clusters = ctas / volume(config.cluster);
  if (const std::size_t most = max_resident(code, config); config.cooperative && clusters > most)
    return refuse(Kind::launch_config,
                  cat("kernel `", code.name, "`: a cooperative launch of ", clusters, " clusters of blocks; ", multiprocessors,
                      " multiprocessors hold ", most, " of them at a time"));
  const bool checks = options.checks == Checks::full;
  const std::size_t workers = checks || options.observer != nullptr || options.exploration != nullptr
                                  ? 1
                                  : std::min({std::uint64_t{std::max(1u, options.workers)}, clusters, budget / bytes});
  std::optional<races::Detector> detector;
  if (checks) detector.emplace(code, options);
  Progress progress(clusters);
  // As the driver lays it out: its size, and a barrier of the grid.
  std::array<std::uint32_t, 2> workspace{sizeof(workspace), 0};
  std::vector<Region> known(regions.begin(), regions.end());
  if (config.cooperative)
    known.push_back(
        {.data = reinterpret_cast<std::byte*>(workspace.data()), .bytes = sizeof workspace, .name = "the grid's workspace"});
  const Launch launch{code,
                      config,
                      code.is_explicit_cluster || config.cluster != no_cluster,
                      options,
                      static_cast<std::uint32_t>(volume(config.block)),
                      GlobalMemory(known, code.instance->regions(), options.check_initialised),
                      {params.begin(), params.end()},
                      config.cooperative ? reinterpret_cast<std::uintptr_t>(workspace.data()) : 0,
                      progress.waiting,
                      checks ? &*detector : nullptr,
                      options.observer,
                      options.exploration,
                      options.exploration != nullptr ? seen_by_others(code) : std::vector<bool>{}};
  if (options.exploration != nullptr && !checks) options.exploration->touch_all();
  if (options.observer != nullptr) options.observer->begin_launch(launch);
  progress.max_resident = std::min<std::uint64_t>(max_resident(code, config), budget / bytes);
  progress.cluster_bytes = bytes;
  RunControl control(code, options, ctas, workers);
  {
    const auto work = [&](std::size_t worker) {
      try {
        Residents(launch, clusters, progress, control, worker).work_safely();
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
  if (options.observer != nullptr) options.observer->end_launch(launch);
  Report report{.warp_instructions = control.executed(), .ctas = ctas - progress.waiting.cancelled() * volume(config.cluster)};
  if (detector) detector->findings().give_to(report);
  // What is found before a fault often is its cause.
  const auto with_findings = [&](Diagnostic fault) {
    for (const Diagnostic& finding : report.findings)
      if (finding.message != fault.message) fault.note(cat("found before: ", finding.message));
    return Unexpected{std::move(fault)};
  };
  if (progress.fault) return with_findings(std::move(*progress.fault));
  if (auto ending = control.take_ending()) return with_findings(std::move(*ending));
  // Turns end where warps jump, so the last ones may have gone beyond it.
  if (options.max_instructions != 0 && control.executed() > options.max_instructions)
    return with_findings(launch_error(Kind::step_limit, cat("kernel `", code.name, "` took ", control.executed(),
                                                            " warp instructions; it may take ", options.max_instructions)));
  return report;
}

}  // namespace

Expected<Report> run_grid(const Code& code, const LaunchConfig& asked, std::span<const std::byte> params,
                          std::span<const Region> regions, const Options& given) {
  const LaunchConfig config = complete(code, asked);
  Options options = given;
  options.check_initialised = options.check_initialised && options.checks != Checks::off;
  if (auto error = check_config(code, config, params.size())) return Unexpected{std::move(*error)};
  try {
    return run_checked(code, config, params, regions, options);
  } catch (const std::bad_alloc&) {
    return Unexpected{no_memory(code, config, cluster_bytes(code, config, options.check_initialised))};
  }
}

}  // namespace ptx::vgpu
