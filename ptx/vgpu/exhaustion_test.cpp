// Memory that runs out while a grid runs, on whichever thread: an error, not the end of the process.
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "ptx/vgpu/testing/kernel.hpp"

namespace {

std::atomic<std::size_t> largest{std::numeric_limits<std::size_t>::max()};

}  // namespace

// Not inlined: a compiler that sees through both takes the pair of `new` and `free` for a mistake.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (bytes <= largest.load(std::memory_order_relaxed))
    if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
// Sanitizers have one of their own, which would not fit the `delete` below.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return bytes <= largest.load(std::memory_order_relaxed) ? std::malloc(bytes == 0 ? 1 : bytes) : nullptr;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace ptx::vgpu {
namespace {

TEST(Exhaustion, IsAnErrorOfTheRun) {
  const auto program = testing::program({".visible .entry k", ".local .align 4 .b8 b[65536]", "mov.u64 %rd0, b", "mov.b32 %r0, 1",
                                         "st.local.b32 [%rd0], %r0", "ret"});
  ASSERT_NE(program, nullptr);
  LaunchConfig config;
  config.grid = {8, 1, 1};
  config.block = {32, 1, 1};
  for (const unsigned workers : {1u, 2u, 4u}) {
    Options options;
    options.workers = workers;
    largest = 1u << 20;  // a warp's local memory is twice that
    const auto report = program->run(config, {}, {}, options);
    largest = std::numeric_limits<std::size_t>::max();
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().kind, Kind::out_of_memory);
    EXPECT_TRUE(report.error().message.starts_with("kernel `k`: a block (32, 1, 1) takes ")) << report.error().message;
    EXPECT_TRUE(program->run(config, {}, {}, options)) << "and the next run is as any other";
  }
}

TEST(Exhaustion, OfTheRunsOwnBookkeepingToo) {
  const auto program = testing::program({".visible .entry k", ".param .u64 x", "ret"});
  testing::Buffer<std::uint64_t> x{"x", std::vector<std::uint64_t>(1u << 18), true, false};
  const std::vector regions{x.region()};
  largest = 1u << 20;
  const auto report = program->run({}, testing::params({x.address()}), regions);
  largest = std::numeric_limits<std::size_t>::max();
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Kind::out_of_memory);
}

TEST(Exhaustion, MoreThanTheMachineHasIsRefusedBeforeItIsTouched) {
  // 1024 threads of 512 KiB, and as much to keep track of it: a GiB a block, for as many workers as fit
  const auto program = testing::program({".visible .entry k", ".local .align 4 .b8 b[524288]", "mov.u64 %rd0, b", "ret"});
  Options options;
  options.workers = 1u << 20;
  options.check_initialised = false;
  LaunchConfig config;
  config.grid = {4, 1, 1};
  config.block = {32, 1, 1};
  EXPECT_TRUE(program->run(config, {}, {}, options));
}

}  // namespace
}  // namespace ptx::vgpu
