#include "ptx/vgpu/machine/cluster.hpp"

#include <algorithm>

#include "ptx/vgpu/async/queue.hpp"
#include "ptx/vgpu/machine/exploration.hpp"
#include "ptx/vgpu/machine/schedule.hpp"
#include "ptx/vgpu/machine/specials.hpp"
#include "ptx/vgpu/races/detector.hpp"

namespace ptx::vgpu {

std::uint64_t shared_bytes(const Code& code, const LaunchConfig& config) {
  return config.dynamic_smem_bytes == 0 ? code.static_smem : add_sizes(code.dynamic_smem_offset, config.dynamic_smem_bytes);
}

// As the lane sees its addresses aligned, so they are for the host, whose atomic accesses must be (16 is what std::vector's
// memory has, and more than any access is wide).
std::uint64_t local_stride(const Code& code) { return align_size(code.local_bytes, 16); }

std::string say_block(const Cta& cta) {
  std::string text = cat("block ", to_string(cta.id));
  if (cta.cluster->blocks.size() > 1) text += cat(", rank ", cta.rank, " of cluster ", to_string(cta.cluster->id));
  return text;
}

namespace {

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
  warp.wgmma_groups = warp.wgmma_awaited = 0;
  warp.thread_registers = launch.code.start_registers;
  warp.awaited_registers = warp.register_requests = 0;
  warp.fault.reset();
  warp.races = nullptr;
  warp.observer = cta.launch->observer;
  warp.exploration = cta.launch->exploration;
  warp.may_be_seen = warp.polls_again = false;
  warp.stalled_at = not_stalled;
  warp.traced = false;
  warp.undefined_bits.clear();
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
  if (cta.rank != 0 && launch.code.rank_base != 0)
    std::fill_n(warp.slot<std::uint64_t>(launch.code.rank_base), lane_count, in_block(cta.rank, 0));
  fill_specials(warp);
}

void start_block(Cluster& cluster, std::uint32_t rank, Worker& worker) {
  Cta& cta = cluster.blocks[rank];
  const Launch& launch = worker.launch;
  const auto& grid = launch.config.grid;
  const auto& shape = launch.config.cluster;
  cta.worker = &worker;
  cta.launch = &launch;
  cta.cluster = &cluster;
  cta.rank = rank;
  cta.id = {cluster.id[0] * shape[0] + rank % shape[0], cluster.id[1] * shape[1] + rank / shape[0] % shape[1],
            cluster.id[2] * shape[2] + rank / shape[0] / shape[1]};
  cta.index = (std::uint64_t{cta.id[2]} * grid[1] + cta.id[1]) * grid[0] + cta.id[0];
  cta.barriers = {};
  cta.mbarriers.clear();
  cta.tensor_memory.reset();
  cta.saw_no_cluster = false;
  cta.executed = cta.polls = cta.changes = 0;
  // What the system keeps is there, with zeros in it, for a kernel that asks where it lies.
  const std::uint64_t reserved = reads_reserved_memory(launch.code) ? shared_base : 0;
  const std::uint64_t smem = reserved + shared_bytes(launch.code, launch.config);
  cta.shared.assign(smem, std::byte{0});
  if (launch.options.check_initialised) {
    cta.shared_written.assign(smem, 0);
    ++marks_taken_back;
    std::fill_n(cta.shared_written.begin(), reserved, written_mark);
  }
  cta.shared_region = {in_block(rank, shared_base - reserved),
                       smem,
                       cta.shared.data(),
                       cta.shared_written.empty() ? nullptr : cta.shared_written.data(),
                       0,
                       true,
                       "shared memory"};
  cta.shared_window_region = cta.shared_region;
  cta.shared_window_region.begin += shared_window;
  // Nobody writes parameters: one copy serves every CTA. The region wants a mutable pointer and is not writable.
  cta.param_region = {0,     launch.params.size(),     const_cast<std::byte*>(launch.params.data()), nullptr, 0,
                      false, "the kernel's parameters"};
  cta.param_window_region = cta.param_region;
  cta.param_window_region.begin += param_window;
  const std::uint32_t warps = (launch.threads + lane_count - 1) / lane_count;
  cta.warps.resize(warps);
  cta.register_pool = {};
  cta.live_warps = warps;
  for (std::uint32_t w = 0; w < warps; ++w) start_warp(cta, w, launch.threads - w * lane_count);
}

}  // namespace

std::array<std::uint32_t, 3> cluster_id(const LaunchConfig& config, std::uint64_t index) {
  std::array<std::uint64_t, 3> clusters{};
  for (std::size_t i = 0; i < 3; ++i) clusters[i] = config.grid[i] / config.cluster[i];
  return {static_cast<std::uint32_t>(index % clusters[0]), static_cast<std::uint32_t>(index / clusters[0] % clusters[1]),
          static_cast<std::uint32_t>(index / clusters[0] / clusters[1])};
}

void start_cluster(Cluster& cluster, Worker& worker, std::uint64_t index) {
  const LaunchConfig& config = worker.launch.config;
  cluster.index = index;
  cluster.id = cluster_id(config, index);
  cluster.blocks.resize(volume(config.cluster));
  cluster.came_warps = cluster.live_warps = 0;
  cluster.executed = 0;
  cluster.queue.reset();
  const Options& options = worker.launch.options;
  const std::uint64_t seed = mixed(mixed(options.seed) + index);
  Exploration* const exploration = worker.launch.exploration;
  if (exploration != nullptr)
    cluster.queue.reset(new async::Queue(*exploration));
  else if (options.completion != Completion::eager)
    cluster.queue.reset(new async::Queue(options.completion, seed));
  cluster.explored_as = exploration != nullptr ? exploration->begin_cluster() : 0;
  cluster.seen_changes = cluster.last_explored = 0;
  cluster.random.reset();
  if (options.threads == Threads::random && exploration == nullptr)
    cluster.random.emplace(static_cast<std::minstd_rand::result_type>(seed >> 32));
  for (std::uint32_t rank = 0; rank < cluster.blocks.size(); ++rank) {
    start_block(cluster, rank, worker);
    cluster.live_warps += cluster.blocks[rank].live_warps;
  }
  if (worker.launch.races != nullptr) worker.launch.races->begin_cluster(cluster);
  if (worker.launch.observer != nullptr) worker.launch.observer->begin_cluster(cluster);
}

}  // namespace ptx::vgpu
