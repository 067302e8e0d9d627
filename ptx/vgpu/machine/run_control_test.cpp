// Runs that are stopped, that nothing can end, and that wait for blocks that have no room.
#include "ptx/vgpu/machine/run_control.hpp"

#include <atomic>
#include <thread>

#include "ptx/vgpu/machine/occupancy.hpp"
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::has_note;
using testing::params;

LaunchConfig grid(std::uint32_t blocks, std::uint32_t threads = 32) {
  LaunchConfig config;
  config.grid = {blocks, 1, 1};
  config.block = {threads, 1, 1};
  return config;
}
Options with_workers(unsigned workers) {
  Options options;
  options.workers = workers;
  return options;
}

// Never ends, and never is where it was: time goes on.
const std::vector<std::string> endless = {"L:", "mov.u64 %rd0, %clock64", "bra L"};

TEST(RunControl, AStopTokenEndsARun) {
  const auto program = testing::program(endless);
  for (const unsigned workers : {1u, 3u}) {
    std::stop_source source;
    Options options = with_workers(workers);
    options.stop = source.get_token();
    std::jthread stopper([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      source.request_stop();
    });
    const Diagnostic d = testing::fault(program, grid(7), {}, {}, options);
    EXPECT_EQ(d.kind, Kind::interrupted) << render(d);
    EXPECT_TRUE(d.message.starts_with("kernel `k` was stopped after ") && d.message.ends_with("; 0 of 7 blocks had ended"))
        << d.message;
  }
}

TEST(RunControl, WhoWatchesMayEndARun) {
  const auto program = testing::program(endless);
  for (const unsigned workers : {1u, 3u}) {
    Options options = with_workers(workers);
    int asked = 0;
    const auto caller = std::this_thread::get_id();
    options.watch = [&](const RunProgress& progress) {
      EXPECT_EQ(std::this_thread::get_id(), caller);
      EXPECT_EQ(progress.ctas, 7u);
      EXPECT_EQ(progress.ctas_done, 0u);
      return ++asked < 3;
    };
    EXPECT_EQ(testing::fault(program, grid(7), {}, {}, options).kind, Kind::interrupted);
    EXPECT_EQ(asked, 3);
  }
}

TEST(RunControl, TheCallerWatchesWhileItsHelpersRun) {
  // block 0 returns at once, block 1 never
  const auto program =
      testing::program({"mov.u32 %r0, %ctaid.x", "setp.eq.u32 %p0, %r0, 0", "@%p0 ret", "L:", "mov.u64 %rd0, %clock64", "bra L"});
  Options options = with_workers(2);
  int asked = 0;
  options.watch = [&](const RunProgress&) { return ++asked < 5; };
  EXPECT_EQ(testing::fault(program, grid(2), {}, {}, options).kind, Kind::interrupted);
}

TEST(RunControl, TheLargestGridOfNothingCanBeStopped) {
  Options options;
  RunProgress last;
  options.watch = [&](const RunProgress& progress) {
    EXPECT_GE(progress.ctas_done, last.ctas_done);
    last = progress;
    return progress.ctas_done < 1000;
  };
  const Diagnostic d = testing::fault(testing::program({"ret"}), grid(0x7FFFFFFFu, 1), {}, {}, options);
  EXPECT_EQ(d.kind, Kind::interrupted);
  EXPECT_EQ(last.ctas, 0x7FFFFFFFu);
}

TEST(RunControl, TheLimitIsOfTheWholeRun) {
  const auto program =
      testing::program({"mov.u32 %r0, 0", "L:", "add.u32 %r0, %r0, 1", "setp.lt.u32 %p0, %r0, 10", "@%p0 bra L", "ret"});
  const std::uint64_t of_block = testing::run(program, grid(1), {}, {}).warp_instructions;
  Options options;
  options.max_instructions = 100 * of_block;
  testing::run(program, grid(100), {}, {}, options);
  const Diagnostic d = testing::fault(program, grid(101), {}, {}, options);
  EXPECT_EQ(d.kind, Kind::step_limit);
  options.max_instructions = 12 * of_block + 5;
  for (const unsigned workers : {1u, 2u}) {
    options.workers = workers;
    const Diagnostic stopped = testing::fault(program, grid(1000), {}, {}, options);
    EXPECT_EQ(stopped.kind, Kind::step_limit) << render(stopped);
    if (workers == 1) {
      EXPECT_TRUE(has_note(stopped, "thread: (0, 0, 0) of block (12, 0, 0) in kernel `k` (warp 0, lane 0)")) << render(stopped);
      EXPECT_TRUE(has_note(stopped, "12 of 1000 blocks had ended")) << render(stopped);
    }
  }
}

// ---- nothing can change any more

constexpr const char* wait_for_flag = "ld.relaxed.gpu.global.b32 %r2, [%rd0]";
// Each block polls the first flag, which nobody sets; with `between` in the loop.
std::vector<std::string> polling(const std::vector<std::string>& between = {}) {
  std::vector<std::string> lines = {
      ".visible .entry k", ".param .u64 flags", "ld.param.u64 %rd0, [flags]", "mov.u32 %r3, 0", "SPIN:", wait_for_flag};
  lines.insert(lines.end(), between.begin(), between.end());
  lines.insert(lines.end(), {"setp.eq.u32 %p1, %r2, 0", "@%p1 bra SPIN", "ret"});
  return lines;
}

TEST(Livelock, BlocksThatPollWhatNobodySets) {
  const auto program = testing::program(polling());
  for (const unsigned workers : {1u, 2u, 4u})
    for (const std::uint32_t blocks : {1u, 2u, 40u}) {
      Buffer<std::uint32_t> flags{"flags", {0}};
      const Diagnostic d =
          testing::fault(program, grid(blocks, 64), params({flags.address()}), {flags.region()}, with_workers(workers));
      EXPECT_EQ(d.kind, Kind::deadlock);
      EXPECT_EQ(d.message,
                "`ld.relaxed.gpu.global.b32` polls memory that nobody can change any more: every thread that runs is back where "
                "it was, "
                "and no memory has changed meanwhile");
      EXPECT_EQ(d.where.line, 6u);
      EXPECT_TRUE(has_note(d, "thread: (0, 0, 0) of block (0, 0, 0) in kernel `k` (warp 0, lane 0)")) << render(d);
      EXPECT_TRUE(has_note(d, cat("warp 1 is at kernel.py:6, line 15: ", wait_for_flag, ";"))) << render(d);
    }
}

TEST(Livelock, LoopsThatNothingEnds) {
  for (const std::vector<std::string>& lines : std::vector<std::vector<std::string>>{
           {"L:", "bra L"},
           // in circles of several rounds, and with lanes at different places
           {"mov.u32 %r0, 0", "L:", "add.u32 %r0, %r0, 1", "and.b32 %r0, %r0, 7", "bra L"},
           {"mov.u32 %r0, %laneid", "setp.lt.u32 %p0, %r0, 9", "@%p0 bra M", "L:", "bra L", "M:", "bra M"},
           {"nanosleep.u32 100", "mov.u32 %r0, 1", "L:", "nanosleep.u32 %r0", "shl.b32 %r0, %r0, 1", "min.u32 %r0, %r0, 512",
            "bra L"}}) {
    const Diagnostic d = testing::fault(testing::program(lines), grid(2), {}, {});
    EXPECT_EQ(d.kind, Kind::deadlock);
    EXPECT_TRUE(d.message.find("is in a loop that nothing can end") != std::string::npos) << d.message;
  }
}

TEST(Livelock, IsNoneWhileSomethingChanges) {
  Buffer<std::uint32_t> flags{"flags", {0, 0}};
  // a wait that gives up after so many rounds, and one that gives up after some time
  for (const std::vector<std::string>& between :
       std::vector<std::vector<std::string>>{{"add.u32 %r3, %r3, 1", "setp.gt.u32 %p2, %r3, 30000", "@%p2 ret"},
                                             {"mov.u64 %rd1, %clock64", "setp.gt.u64 %p2, %rd1, 90000", "@%p2 ret"}})
    for (const std::uint32_t blocks : {1u, 3u})
      testing::run(testing::program(polling(between)), grid(blocks), params({flags.address()}), {flags.region()});
  // block 1 computes for long without touching memory before it sets the flag that block 0 waits for
  const auto slow = testing::program(
      {".visible .entry k", ".param .u64 flags", "ld.param.u64 %rd0, [flags]", "mov.u32 %r0, %ctaid.x", "setp.eq.u32 %p0, %r0, 0",
       "@%p0 bra SPIN", "mov.u32 %r1, 0", "L:", "add.u32 %r1, %r1, 1", "setp.lt.u32 %p2, %r1, 90000", "@%p2 bra L",
       "st.release.gpu.global.b32 [%rd0], 1", "ret", "SPIN:", wait_for_flag, "setp.eq.u32 %p1, %r2, 0", "@%p1 bra SPIN", "ret"});
  for (const unsigned workers : {1u, 2u}) {
    flags.data = {0, 0};
    testing::run(slow, grid(2), params({flags.address()}), {flags.region()}, with_workers(workers));
  }
}

// ---- residency

TEST(Residency, AsManyBlocksAsTheTargetHolds) {
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_75, {32}), 16u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_75, {1024}), 1u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_80, {256, 40 * 1024}), 4u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_90, {64}), 32u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_90, {96}), 21u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_90a, {384, 0, 168}), 1u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_90a, {128, 227 * 1024}), 1u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_120a, {1024}), 1u);
  EXPECT_EQ(blocks_of_multiprocessor(Target::sm_100a, {32}), 32u);
}

// Every block waits for the flag that the last one sets.
std::shared_ptr<const Program> wait_for_last() {
  return testing::program({".target sm_90a", ".visible .entry k", ".param .u64 flags", "ld.param.u64 %rd0, [flags]",
                           "mov.u32 %r0, %ctaid.x", "mov.u32 %r1, %nctaid.x", "sub.u32 %r1, %r1, 1", "setp.eq.u32 %p0, %r0, %r1",
                           "@%p0 st.release.gpu.global.b32 [%rd0], 1", "SPIN:", wait_for_flag, "setp.eq.u32 %p1, %r2, 0",
                           "@%p1 bra SPIN", "ret"});
}

// Blocks that need a multiprocessor each, for their shared memory.
LaunchConfig one_of_a_multiprocessor(std::uint32_t blocks) {
  LaunchConfig config = grid(blocks);
  config.dynamic_smem_bytes = 200 * 1024;
  return config;
}

TEST(Residency, AllBlocksThatFitRunTogether) {
  for (const unsigned workers : {1u, 2u}) {
    for (const LaunchConfig& config : {grid(700), one_of_a_multiprocessor(132)}) {
      Buffer<std::uint32_t> flags{"flags", {0}};
      testing::run(wait_for_last(), config, params({flags.address()}), {flags.region()}, with_workers(workers));
    }
  }
}

TEST(Residency, BlocksThatFindNoRoomAreNamed) {
  Buffer<std::uint32_t> flags{"flags", {0}};
  const Diagnostic d =
      testing::fault(wait_for_last(), one_of_a_multiprocessor(133), params({flags.address()}), {flags.region()}, with_workers(2));
  EXPECT_EQ(d.kind, Kind::deadlock);
  EXPECT_TRUE(has_note(d, "1 of 133 blocks have not begun: 132 multiprocessors hold 132 of these blocks at a time")) << render(d);
}

}  // namespace
}  // namespace ptx::vgpu
