// Runs a grid: workers take CTAs in order, each worker runs its own.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <mutex>
#include <thread>

#include "ptx/vgpu/report.hpp"
#include "ptx/vgpu/schedule.hpp"
#include "ptx/vgpu/specials.hpp"

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t most_threads = 1024;
// A CTA that polls memory this long may be waiting for a later one (a flag in global memory): its worker then starts that one
// too, and gives both turns.
constexpr std::uint64_t turn = 1u << 15;
constexpr std::size_t most_resident = 132 * 16;  // CTAs of 128 threads that an H200 holds at a time

Diagnostic launch_error(Kind kind, std::string message) {
  return {.kind = kind, .severity = Severity::error, .message = std::move(message), .where = {}, .notes = {}};
}

// Shared memory that a CTA may have, bytes (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
std::uint64_t smem_limit(Target target) {
  const std::uint16_t base = isa::info(target).base;
  if (base >= 120) return 99 * 1024;
  if (base >= 90) return 227 * 1024;
  if (base == 86 || base == 89) return 99 * 1024;
  if (base >= 80) return 163 * 1024;
  return base >= 75 ? 64 * 1024 : base >= 70 ? 96 * 1024 : 48 * 1024;
}

std::optional<Diagnostic> check_config(const Code& code, const LaunchConfig& config, std::size_t param_bytes) {
  const auto name = cat("kernel `", code.name, "`: ");
  std::uint64_t threads = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    if (config.grid[i] == 0 || config.block[i] == 0)
      return launch_error(Kind::launch_config, cat(name, config.grid[i] == 0 ? "grid" : "block", " dimension ", "xyz"[i],
                                                   " is 0; what fits is 1 or more"));
    threads *= config.block[i];
  }
  if (threads > most_threads)
    return launch_error(Kind::launch_config, cat(name, "a block of ", threads, " threads; what fits is at most ", most_threads));
  if (code.required_block[0] != 0 && code.required_block != config.block)
    return launch_error(Kind::launch_config, cat(name, "its `.reqntid` asks for a block of ", code.required_block[0], " x ",
                                                 code.required_block[1], " x ", code.required_block[2], ", the launch has ",
                                                 config.block[0], " x ", config.block[1], " x ", config.block[2]));
  const std::uint64_t largest = std::uint64_t{code.largest_block[0]} * code.largest_block[1] * code.largest_block[2];
  if (code.largest_block[0] != 0 && threads > largest)
    return launch_error(Kind::launch_config, cat(name, "its `.maxntid` allows ", largest, " threads, the block has ", threads));
  const std::uint64_t smem =
      (config.dynamic_smem_bytes == 0 ? code.static_smem : code.dynamic_smem_offset + config.dynamic_smem_bytes);
  if (const std::uint64_t limit = smem_limit(code.module->target); smem > limit)
    return launch_error(Kind::launch_config, cat(name, smem, " bytes of shared memory; a block on ",
                                                 isa::name(code.module->target), " has at most ", limit));
  if (param_bytes != code.param_bytes)
    return launch_error(Kind::param_layout,
                        cat(name, "its parameters take ", code.param_bytes, " bytes, ", param_bytes, " given"));
  return std::nullopt;
}

// What the workers of a grid share while it runs. The first fault in the order of the CTAs wins, so that every number of workers
// reports the same.
struct Progress {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> stop_at{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<std::uint64_t> executed{0};
  std::mutex mutex;
  std::optional<Diagnostic> fault;  // of CTA stop_at

  void fail(std::uint64_t cta, Diagnostic diagnostic) {
    const std::lock_guard lock(mutex);
    if (cta >= stop_at) return;
    stop_at = cta;
    fault = std::move(diagnostic);
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
  warp.waiting = warp.starving = false;
  warp.others.assign(1, {0, warp.live, Wait::none, 0, 0});
  warp.patience = warp.patience_now = full_patience;
  warp.executed = warp.turn = 0;
  warp.fault.reset();
  if (const std::uint64_t bytes = launch.code.local_bytes; bytes != 0) {
    warp.local.assign(bytes * lane_count, std::byte{0});
    if (launch.options.check_initialised) warp.local_written.assign(bytes * lane_count, 0);
    warp.local_region = {local_base, bytes, warp.local.data(), warp.local_written.empty() ? nullptr : warp.local_written.data(),
                         bytes,      true,  "local memory"};
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
  cta.executed = cta.polls = 0;
  const std::uint64_t smem = launch.config.dynamic_smem_bytes == 0
                                 ? launch.code.static_smem
                                 : launch.code.dynamic_smem_offset + launch.config.dynamic_smem_bytes;
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

void work(const Launch& launch, std::uint64_t ctas, Progress& progress) {
  Worker worker{launch, std::vector<const MemoryRegion*>(launch.code.sites, &no_region)};
  std::deque<std::unique_ptr<Cta>> resident;
  std::vector<std::unique_ptr<Cta>> spare;
  bool fresh = true;  // start another CTA: none is resident, or the one that had its turn was polling
  while (true) {
    if (fresh && resident.size() < most_resident)
      if (const std::uint64_t index = progress.next++; index < ctas && index < progress.stop_at) {
        auto cta = spare.empty() ? std::make_unique<Cta>() : std::move(spare.back());
        if (!spare.empty()) spare.pop_back();
        start_cta(*cta, worker, index);
        resident.push_back(std::move(cta));
      }
    if (resident.empty()) return;
    auto cta = std::move(resident.front());
    resident.pop_front();
    if (cta->index > progress.stop_at) {
      fresh = resident.empty();
      continue;
    }
    const std::uint64_t before = cta->executed;
    const CtaState state = run_cta(*cta, turn);
    progress.executed += cta->executed - before;
    if (state == CtaState::running) {
      fresh = std::exchange(cta->polls, 0) != 0;
      resident.push_back(std::move(cta));
      continue;
    }
    if (state == CtaState::fault) progress.fail(cta->index, report(*cta, faulty(*cta), *faulty(*cta).fault));
    spare.push_back(std::move(cta));
    fresh = resident.empty();
  }
}

}  // namespace

Expected<Report> run_grid(const Code& code, const LaunchConfig& config, std::span<const std::byte> params,
                          std::span<const Region> regions, const Options& options) {
  if (auto error = check_config(code, config, params.size())) return Unexpected{std::move(*error)};
  Launch launch{code,
                config,
                options,
                config.block[0] * config.block[1] * config.block[2],
                GlobalMemory(regions, code.variables, options.check_initialised),
                {params.begin(), params.end()}};
  const std::uint64_t ctas = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
  Progress progress;
  {
    std::vector<std::jthread> helpers;
    for (std::uint64_t i = 1; i < std::min<std::uint64_t>(options.workers, ctas); ++i)
      helpers.emplace_back([&] { work(launch, ctas, progress); });
    work(launch, ctas, progress);
  }
  if (progress.fault) return Unexpected{std::move(*progress.fault)};
  return Report{progress.executed, ctas};
}

}  // namespace ptx::vgpu
