// Every fault: what it says, where it points.
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::has_note;
using testing::params;

std::string address(std::uint64_t a) { return cat("0x", hex(a)); }
std::string shown(const Diagnostic& d) { return render(d); }

// x[tid] + offset, loaded or stored.
std::vector<std::string> touch(const std::string& instruction, int offset = 0, int scale = 4) {
  return {".visible .entry k",
          ".param .u64 x",
          "ld.param.u64 %rd0, [x]",
          "mov.u32 %r0, %tid.x",
          cat("mul.wide.u32 %rd1, %r0, ", scale),
          "add.u64 %rd1, %rd1, %rd0",
          "mov.b32 %r1, 7",
          cat(instruction, " [%rd1+", offset, ']', instruction.starts_with("st") ? ", %r1" : ""),
          "ret"};
}
std::string load = "ld.global.b32 %r2,";

TEST(Fault, OutOfBoundsSaysByHowMuchAndWho) {
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(40)};
  const auto program = testing::program(touch(load, 4));
  const Diagnostic d = testing::fault(program, block(48), params({x.address()}), {x.region()});
  EXPECT_EQ(d.kind, Kind::out_of_bounds);
  EXPECT_EQ(shown(d), cat("error: `ld.global.b32` loads 4 bytes at address ", address(x.address() + 160),
                          ", just past the end of `X` (160 bytes)  [out_of_bounds]\n"
                          "  --> kernel.py:8\n"
                          "  = ptx: line 16: ld.global.b32 %r2, [%rd1+4];\n"
                          "  = thread: (39, 0, 0) of block (0, 0, 0) in kernel `k` (warp 1, lane 7)\n"
                          "  = rule: A-01 (docs/rules/A-01.md)\n"
                          "  = replay: kernel `k`, grid (1, 1, 1), block (48, 1, 1), 0 bytes of dynamic shared memory"));
}

TEST(Fault, OutOfBoundsDescribesThePosition) {
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(8)};
  const auto message = [&](const std::vector<std::string>& lines, std::vector<Region> regions) {
    const Diagnostic d = testing::fault(testing::program(lines), block(1), params({x.address()}), std::move(regions));
    EXPECT_EQ(d.kind, Kind::out_of_bounds);
    return d.message;
  };
  const std::string at = address(x.address() + 44), before = address(x.address() - 4), straddling = address(x.address() + 24);
  EXPECT_EQ(message(touch(load, 44), {x.region()}),
            cat("`ld.global.b32` loads 4 bytes at address ", at, ", 12 bytes past the end of `X` (32 bytes)"));
  EXPECT_EQ(message(touch("st.global.b32", 44), {x.region()}),
            cat("`st.global.b32` stores 4 bytes at address ", at, ", 12 bytes past the end of `X` (32 bytes)"));
  EXPECT_EQ(message(touch(load, -4), {x.region()}),
            cat("`ld.global.b32` loads 4 bytes at address ", before, ", 4 bytes before the start of `X` (32 bytes)"));
  auto short_x = x.region();
  short_x.bytes = 29;
  EXPECT_EQ(message(touch("ld.global.b64 %rd2,", 24), {short_x}), cat("`ld.global.b64` loads 8 bytes at address ", straddling,
                                                                      ", of which 3 bytes are past the end of `X` (29 bytes)"));
  EXPECT_EQ(message(touch(load), {}),
            cat("`ld.global.b32` loads 4 bytes at address ", address(x.address()), ", where the kernel has no memory"));
  const auto wild =
      message({".visible .entry k", ".param .u64 x", "mov.u64 %rd0, 64", "ld.global.b32 %r0, [%rd0]", "ret"}, {x.region()});
  EXPECT_EQ(wild, "`ld.global.b32` loads 4 bytes at address 0x40, far from every allocation; the nearest is `X` (32 bytes)");
  auto unnamed = x.region();
  unnamed.name.clear();
  EXPECT_EQ(message(touch(load, 32), {unnamed}), cat("`ld.global.b32` loads 4 bytes at address ", address(x.address() + 32),
                                                     ", just past the end of an unnamed allocation (32 bytes)"));
}

TEST(Fault, OutOfBoundsKnowsEverySpace) {
  const auto message = [&](std::vector<std::string> lines, std::size_t dynamic_smem = 0) {
    LaunchConfig config = block(1);
    config.dynamic_smem_bytes = dynamic_smem;
    const Diagnostic d = testing::fault(testing::program(lines), config, {}, {});
    EXPECT_EQ(d.kind, Kind::out_of_bounds);
    return d.message;
  };
  EXPECT_EQ(message({".shared .align 4 .b8 tile[64]", "mov.b32 %r0, tile", "st.shared.b32 [%r0+64], 1", "ret"}),
            "`st.shared.b32` stores 4 bytes at shared address 0x440, just past the end of shared memory (64 bytes)");
  EXPECT_EQ(message({"mov.u32 %r0, 0", "st.shared.b32 [%r0], 1", "ret"}),
            "`st.shared.b32` stores 4 bytes at shared address 0x0, where the kernel has no memory");
  EXPECT_EQ(message({".shared .align 4 .b8 tile[64]", "mov.u32 %r0, 1000", "st.shared.b32 [%r0], 1", "ret"}),
            "`st.shared.b32` stores 4 bytes at shared address 0x3e8, 24 bytes before the start of shared memory (64 bytes)");
  EXPECT_EQ(message({".module .extern .shared .align 16 .b8 dyn[]", ".visible .entry k", "mov.b32 %r0, dyn",
                     "st.shared.b32 [%r0+96], 1", "ret"},
                    96),
            "`st.shared.b32` stores 4 bytes at shared address 0x460, just past the end of shared memory (96 bytes)");
  EXPECT_EQ(message({".shared .align 4 .b8 tile[64]", "mov.b64 %rd0, tile", "cvta.shared.u64 %rd0, %rd0", "st.b32 [%rd0+72], 1",
                     "ret"}),
            "`st.b32` stores 4 bytes at address 0xf100000000000448, 8 bytes past the end of shared memory (64 bytes)");
  EXPECT_EQ(message({".local .align 4 .b8 mine[8]", "st.local.b32 [mine+8], 1", "ret"}),
            "`st.local.b32` stores 4 bytes at local address 0x18, just past the end of local memory (8 bytes)");
}

// `.extern .shared` memory has the size that the launch says.
TEST(Fault, SaysThatALaunchGivesNoDynamicSharedMemory) {
  const auto told = [](const std::vector<std::string>& lines, std::uint32_t bytes) {
    LaunchConfig config = block(1);
    config.dynamic_smem_bytes = bytes;
    return render(testing::fault(testing::program(lines), config, {}, {}));
  };
  constexpr std::string_view words =
      "`dyn` is `.extern .shared`: its size is the launch's dynamic shared memory, which is 0 bytes";
  const auto store = [](std::string_view address) {
    return std::vector<std::string>{".module .extern .shared .align 16 .b8 dyn[]", ".visible .entry k", "mov.b32 %r0, dyn",
                                    cat("st.shared.b32 [", address, "], 1"), "ret"};
  };
  EXPECT_NE(told(store("%r0+4"), 0).find(words), std::string::npos) << told(store("%r0+4"), 0);
  EXPECT_EQ(told(store("%r0+4096"), 64).find(words), std::string::npos);
  EXPECT_EQ(told({".shared .align 4 .b8 tile[64]", "mov.b32 %r0, tile", "st.shared.b32 [%r0+64], 1", "ret"}, 0)
                .find("is `.extern .shared`"),
            std::string::npos);
}

TEST(Fault, ParametersHaveBounds) {
  const auto program = testing::program({".visible .entry k", ".param .u64 x", "ld.param.u32 %r0, [x+8]", "ret"});
  const Diagnostic d = testing::fault(program, block(1), params({1}), {});
  EXPECT_EQ(d.kind, Kind::out_of_bounds);
  EXPECT_EQ(d.message,
            "`ld.param.u32` loads 4 bytes at param address 0x8, just past the end of the kernel's parameters (8 bytes)");
}

TEST(Fault, MisalignedNamesTheNeed) {
  Buffer<std::uint64_t> x{"X", std::vector<std::uint64_t>(16)};
  Diagnostic d = testing::fault(testing::program(touch(load, 2)), block(1), params({x.address()}), {x.region()});
  EXPECT_EQ(d.kind, Kind::misaligned);
  EXPECT_EQ(d.message,
            cat("`ld.global.b32` loads 4 bytes at address ", address(x.address() + 2), ", which is not a multiple of 4"));
  // lanes 0 and 2 are aligned to 8, lane 1 is not
  d = testing::fault(testing::program(touch("ld.global.v2.b32 {%r2, %r3},")), block(4), params({x.address()}), {x.region()});
  EXPECT_EQ(d.kind, Kind::misaligned);
  EXPECT_EQ(d.message,
            cat("`ld.global.v2.b32` loads 8 bytes at address ", address(x.address() + 4), ", which is not a multiple of 8"));
  EXPECT_TRUE(has_note(d, "thread: (1, 0, 0) of block (0, 0, 0) in kernel `k` (warp 0, lane 1)")) << shown(d);
}

TEST(Fault, ReadOnlyRegionsTakeNoStores) {
  Buffer<std::uint32_t> x{"X", std::vector<std::uint32_t>(64), false};
  const Diagnostic d =
      testing::fault(testing::program(touch("st.global.b32", 12)), block(32), params({x.address()}), {x.region()});
  EXPECT_EQ(d.kind, Kind::read_only);
  EXPECT_EQ(d.message, cat("`st.global.b32` stores 4 bytes at address ", address(x.address() + 12),
                           ", byte 12 of `X`, which the kernel may only read"));
  EXPECT_EQ(x.data[3], 0u);
  const Diagnostic p = testing::fault(testing::program({".visible .entry k", ".param .u64 x", "mov.u64 %rd0, x",
                                                        "cvta.param.u64 %rd0, %rd0", "st.b64 [%rd0], 1", "ret"}),
                                      block(1), params({1}), {});
  EXPECT_EQ(p.kind, Kind::read_only) << shown(p);
}

TEST(Fault, DivergentBarriersShowBothPlaces) {
  const auto program = testing::program(
      {"mov.u32 %r0, %laneid", "setp.lt.u32 %p0, %r0, 8", "@%p0 bra LOW", "bar.sync 0", "ret", "LOW:", "bar.sync 1", "ret"});
  const Diagnostic d = testing::fault(program, block(32), {}, {});
  EXPECT_EQ(d.kind, Kind::divergent);
  EXPECT_EQ(d.message, "`bar.sync` needs all live threads of warp 0 together; lanes 0-7 cannot come");
  EXPECT_EQ(d.where.line, 4u);
  EXPECT_TRUE(has_note(d, "lanes 8-31 wait at kernel.py:4, line 12: bar.sync 0;")) << shown(d);
  EXPECT_TRUE(has_note(d, "lanes 0-7 wait at kernel.py:7, line 15: bar.sync 1;")) << shown(d);
}

TEST(Fault, AlignedBarriersThatAGuardLeavesLanesOutOf) {
  for (const char* barrier : {"@%p0 bar.sync 0", "@%p0 bar.arrive 1, 64", "@!%p0 barrier.sync.aligned 0"}) {
    const auto program = testing::program({"mov.u32 %r0, %laneid", "setp.lt.u32 %p0, %r0, 8", barrier, "ret"});
    const Diagnostic d = testing::fault(program, block(64), {}, {});
    EXPECT_EQ(d.kind, Kind::divergent);
    EXPECT_EQ(d.where.line, 3u);
    const std::string left_out = barrier[1] == '!' ? "lanes 0-7" : "lanes 8-31";
    EXPECT_TRUE(d.message.ends_with(cat("needs all live threads of warp 0 together; its guard leaves out ", left_out)))
        << d.message;
  }
  // the same guard in every lane of a warp, and a barrier that is not aligned
  testing::run(testing::program({"mov.u32 %r0, %tid.x", "setp.lt.u32 %p0, %r0, 32", "@%p0 bar.sync 1, 32",
                                 "setp.lt.u32 %p1, %r0, 8", "@%p1 ret", "bar.sync 0", "ret"}),
               block(64), {}, {});
}

TEST(Fault, LanesThatGoRoundAnAlignedBarrier) {
  // `if (lane < 16) bar.sync;`, and what follows is for everybody
  const std::vector<std::string> start{"mov.u32 %r0, %laneid", "setp.ge.u32 %p0, %r0, 16"};
  const auto kernel = [&](std::vector<std::string> lines) {
    lines.insert(lines.begin(), start.begin(), start.end());
    return testing::program(lines);
  };
  for (const char* barrier : {"bar.sync 0", "barrier.sync.aligned 0", "bar.arrive 1, 64"}) {
    const Diagnostic d = testing::fault(
        kernel({"@%p0 bra JOIN", barrier, "JOIN:", "add.u32 %r1, %r0, 1", "setp.lt.u32 %p1, %r0, 20", "@%p1 ret", "ret"}),
        block(32), {}, {});
    EXPECT_EQ(d.kind, Kind::divergent);
    EXPECT_EQ(d.where.line, 4u) << shown(d);
    EXPECT_TRUE(
        d.message.ends_with("needs all live threads of warp 0 together; lanes 16-19 went round it, on to what stands behind"))
        << d.message;
    EXPECT_TRUE(has_note(d, cat("lanes 0-15 wait at kernel.py:4, line 12: ", barrier, ";"))) << shown(d);
    EXPECT_TRUE(has_note(d, "lanes 16-19 exit at kernel.py:8, line 16: @%p1 ret;")) << shown(d);
  }
  // what follows is parted again before the end, or stands behind a loop
  EXPECT_EQ(testing::fault(kernel({"@%p0 bra JOIN", "bar.sync 0", "JOIN:", "add.u32 %r1, %r0, 1", "@%p0 bra END",
                                   "add.u32 %r1, %r1, 1", "END:", "ret"}),
                           block(32), {}, {})
                .kind,
            Kind::divergent);
  EXPECT_EQ(testing::fault(kernel({"mov.u32 %r2, 0", "AGAIN:", "@%p0 bra OUT", "bar.sync 0", "add.u32 %r2, %r2, 1",
                                   "setp.lt.u32 %p1, %r2, 3", "@%p1 bra AGAIN", "OUT:", "add.u32 %r1, %r0, 1", "ret"}),
                           block(32), {}, {})
                .kind,
            Kind::divergent);
}

// A GPU's barriers and votes wait for the threads that have not exited.
TEST(Fault, LeavingEarlyIsNoMisuse) {
  const std::vector<std::string> start{"mov.u32 %r0, %tid.x", "setp.ge.u32 %p0, %r0, 16"};
  for (const std::vector<std::string>& rest : std::vector<std::vector<std::string>>{
           {"@%p0 ret", "bar.sync 0", "add.u32 %r1, %r0, 1", "ret"},
           {"@%p0 bra END", "bar.sync 0", "add.u32 %r1, %r0, 1", "bar.sync 0", "END:", "ret"},
           {"@%p0 bra END", "bar.sync 0", "add.u32 %r1, %r0, 1", "END:", "bra LAST", "LAST:", "ret"},
           // the other side does its own work
           {"@%p0 bra OTHER", "bar.sync 0", "ret", "OTHER:", "add.u32 %r1, %r0, 1", "ret"},
           // a loop that lanes leave at different times
           {"mov.u32 %r2, 0", "AGAIN:", "bar.sync 0", "add.u32 %r2, %r2, 1", "setp.le.u32 %p1, %r2, %r0", "@%p1 bra AGAIN",
            "ret"},
           // other warps, whatever they do behind it
           {"setp.ge.u32 %p1, %r0, 32", "@%p1 bra JOIN", "bar.sync 0", "JOIN:", "add.u32 %r1, %r0, 1", "ret"},
           // not aligned
           {"@%p0 bra JOIN", "barrier.sync 0", "JOIN:", "add.u32 %r1, %r0, 1", "ret"},
           {"@%p0 ret", "vote.sync.all.pred %p1, %p0, -1", "redux.sync.add.u32 %r1, %r0, -1", "bar.warp.sync -1", "ret"},
           {"@%p0 bra END", "vote.sync.all.pred %p1, %p0, -1", "END:", "ret"}}) {
    std::vector<std::string> lines = start;
    lines.insert(lines.end(), rest.begin(), rest.end());
    testing::run(testing::program(lines), block(64), {}, {});
  }
}

TEST(Fault, MembersThatCannotCome) {
  const auto program = testing::program({"mov.u32 %r0, %laneid", "setp.eq.u32 %p0, %r0, 3", "@%p0 bra ALONE",
                                         "shfl.sync.idx.b32 %r1, %r0, 0, 31, -1", "ret", "ALONE:", "bar.warp.sync 24", "ret"});
  const Diagnostic d = testing::fault(program, block(32), {}, {});
  EXPECT_EQ(d.kind, Kind::divergent);
  EXPECT_EQ(d.message, "`shfl.sync.idx.b32` waits for lane 3 of its membermask 0xffffffff, which cannot come");
  EXPECT_TRUE(has_note(d, "lane 3 waits at kernel.py:7, line 15: bar.warp.sync 24;")) << shown(d);
}

TEST(Fault, MembersThatWaitWithTheSameMaskElsewhere) {
  // lanes 0 to 15 have voted among themselves, and wait for the whole warp at the next instruction
  const auto program =
      testing::program({"mov.u32 %r0, %laneid", "mov.u32 %r1, -1", "setp.lt.u32 %p0, %r0, 16", "@%p0 mov.u32 %r1, 65535",
                        "vote.sync.ballot.b32 %r2, %p0, %r1", "bar.warp.sync -1", "ret"});
  const Diagnostic d = testing::fault(program, block(32), {}, {});
  EXPECT_EQ(d.message, "`vote.sync.ballot.b32` waits for lanes 0-15 of its membermask 0xffffffff, which cannot come");
}

TEST(Fault, MembermasksNameTheirOwnLane) {
  const auto program = testing::program({"mov.u32 %r0, %laneid", "redux.sync.add.u32 %r1, %r0, 255", "ret"});
  const Diagnostic d = testing::fault(program, block(32), {}, {});
  EXPECT_EQ(d.kind, Kind::divergent);
  EXPECT_EQ(d.message, "`redux.sync.add.u32` is executed by lane 8, which its membermask 0x000000ff does not name");
}

TEST(Fault, DeadlocksShowWhereEachWarpWaits) {
  const auto program = testing::program(
      {"mov.u32 %r0, %tid.x", "setp.lt.u32 %p0, %r0, 32", "@%p0 bra FIRST", "bar.sync 1", "ret", "FIRST:", "bar.sync 2", "ret"});
  const Diagnostic d = testing::fault(program, block(64), {}, {});
  EXPECT_EQ(d.kind, Kind::deadlock);
  EXPECT_EQ(d.message, "`bar.sync` waits at barrier 2, which cannot complete: no warp of the block can continue");
  EXPECT_EQ(d.where.line, 7u);
  EXPECT_TRUE(has_note(d, "warp 0 waits at barrier 2, where 32 of 64 threads have come: kernel.py:7, line 15: bar.sync 2;"))
      << shown(d);
  EXPECT_TRUE(has_note(d, "warp 1 waits at barrier 1, where 32 of 64 threads have come: kernel.py:4, line 12: bar.sync 1;"))
      << shown(d);
}

TEST(Fault, BarriersThatExitedThreadsCanNoLongerFill) {
  const auto program = testing::program({"mov.u32 %r0, %tid.x", "setp.ge.u32 %p0, %r0, 32", "@%p0 ret", "bar.sync 3, 64", "ret"});
  const Diagnostic d = testing::fault(program, block(64), {}, {});
  EXPECT_EQ(d.kind, Kind::deadlock);
  EXPECT_TRUE(has_note(d, "warp 0 waits at barrier 3, where 32 of 64 threads have come: kernel.py:4, line 12: bar.sync 3, 64;"))
      << shown(d);
  EXPECT_TRUE(has_note(d, "1 warp has exited")) << shown(d);
}

TEST(Fault, BarrierMisuse) {
  const auto message = [](const std::vector<std::string>& lines) {
    const Diagnostic d = testing::fault(testing::program(lines), block(64), {}, {});
    EXPECT_EQ(d.kind, Kind::barrier_misuse) << shown(d);
    return d.message;
  };
  EXPECT_EQ(message({"mov.u32 %r0, 16", "bar.sync %r0", "ret"}), "`bar.sync` names barrier 16; a CTA has barriers 0 to 15");
  EXPECT_EQ(message({"mov.u32 %r0, 48", "bar.sync 0, %r0", "ret"}),
            "`bar.sync` counts 48 threads; what fits is a multiple of the warp's 32");
  EXPECT_EQ(message({"mov.u32 %r0, %tid.x", "shr.u32 %r1, %r0, 5", "mad.lo.u32 %r1, %r1, 32, 64", "bar.sync 0, %r1", "ret"}),
            "`bar.sync` expects 96 threads at barrier 0, where others have come that expect 64 threads");
  EXPECT_EQ(message({"mov.u32 %r0, %laneid", "and.b32 %r0, %r0, 1", "bar.sync %r0", "ret"}),
            "`bar.sync` names barrier 1 here and 0 in another lane of its warp");
  EXPECT_EQ(message({"mov.u32 %r0, 0", "bar.sync 1, %r0", "ret"}), "`bar.sync` counts 0 threads: no barrier of them completes");
  EXPECT_EQ(message({"mov.u32 %r0, 0", "barrier.sync 1, %r0", "ret"}),
            "`barrier.sync` counts 0 threads: no barrier of them completes");
  EXPECT_EQ(message({"mov.u32 %r0, %laneid", "and.b32 %r0, %r0, 32", "setp.eq.u32 %p0, %r0, 0", "mov.u32 %r1, %laneid",
                     "setp.eq.u32 %p1, %r1, 9", "selp.b32 %r2, 32, 64, %p1", "bar.arrive 2, %r2", "ret"}),
            "`bar.arrive` counts 32 threads here and 64 in another lane of its warp");
}

TEST(Fault, StepLimitStopsEndlessLoops) {
  const auto program = testing::program({"L:", "bra L"});
  Options options;
  options.max_instructions = 10000;
  const Diagnostic d = testing::fault(program, block(64), {}, {}, options);
  EXPECT_EQ(d.kind, Kind::step_limit);
  EXPECT_EQ(d.message, "`bra` stands where the run was stopped, after 10000 warp instructions");
}

TEST(Fault, TrapEndsTheKernel) {
  const auto program = testing::program({"mov.u32 %r0, %tid.x", "setp.eq.u32 %p0, %r0, 40", "@%p0 trap", "ret"});
  const Diagnostic d = testing::fault(program, block(64), {}, {});
  EXPECT_EQ(d.kind, Kind::trapped);
  EXPECT_EQ(d.message, "`trap` ends the kernel");
  EXPECT_TRUE(has_note(d, "thread: (40, 0, 0) of block (0, 0, 0) in kernel `k` (warp 1, lane 8)")) << shown(d);
}

TEST(Fault, IsTheSameForAnyNumberOfWorkers) {
  // every block from 7 on faults
  const auto program = testing::program({"mov.u32 %r0, %ctaid.x", "setp.ge.u32 %p0, %r0, 7", "@%p0 trap", "ret"});
  LaunchConfig config = block(32);
  config.grid = {200, 1, 1};
  for (const unsigned workers : {1u, 2u, 7u}) {
    Options options;
    options.workers = workers;
    const Diagnostic d = testing::fault(program, config, {}, {}, options);
    EXPECT_TRUE(has_note(d, "thread: (0, 0, 0) of block (7, 0, 0) in kernel `k` (warp 0, lane 0)")) << shown(d);
  }
}

TEST(Fault, NeedsNoListing) {
  const auto accepted =
      check::accept(ptx::testing::Script::module({"@%p0 trap", "setp.eq.u32 %p0, 1, 1", "@%p0 trap", "ret"}, "kernel.py"));
  ASSERT_TRUE(accepted);
  const auto program = Program::make(*accepted, nullptr, "k");
  ASSERT_TRUE(program);
  const Diagnostic d = testing::fault(*program, block(1), {}, {});
  EXPECT_TRUE(has_note(d, "ptx: @%p0 trap;")) << shown(d);
}

TEST(Make, RefusesWhatIsNotExecuted) {
  const auto refused = [](const std::vector<std::string>& lines, std::string_view entry = "k") {
    const auto accepted = check::accept(ptx::testing::Script::module(lines, "kernel.py"));
    EXPECT_TRUE(accepted) << render(accepted.error());
    auto program = Program::make(*accepted, std::make_shared<ir::Listing>(text::list(accepted->module())), entry);
    EXPECT_FALSE(program);
    return program ? Diagnostic{} : program.error();
  };
  Diagnostic d = refused({".version 9.3", ".target sm_100a", "fabric.submit", "ret"});
  EXPECT_EQ(
      shown(d),
      "error: `fabric.submit` is not executed: what fabric operations act on is the memory of other nodes, and nothing in PTX "
      "says how it is laid out  [not_executed]\n"
      "  --> kernel.py:3\n"
      "  = ptx: line 7: fabric.submit;\n"
      "  = kernel: `k`");
  d = refused({"raw some.thing %r1", "ret"});
  EXPECT_EQ(d.kind, Kind::not_executed);
  EXPECT_EQ(d.message, "the instruction table does not know this statement");
  d = refused({"ret"}, "other");
  EXPECT_EQ(d.kind, Kind::unknown_kernel);
  EXPECT_EQ(d.message, "the module has no entry `other`");
  EXPECT_TRUE(has_note(d, "hint: it has `k`")) << shown(d);
}

TEST(Launch, ChecksItsConfiguration) {
  const auto program =
      testing::program({".visible .entry k", ".param .u64 x", ".reqntid 64, 1, 1", ".shared .align 4 .b8 tile[1000]", "ret"});
  const auto message = [&](const LaunchConfig& config, std::size_t param_bytes, Kind kind) {
    const std::vector<std::byte> bytes(param_bytes);
    const Diagnostic d = testing::fault(program, config, bytes, {});
    EXPECT_EQ(d.kind, kind) << shown(d);
    return d.message;
  };
  EXPECT_EQ(message({{0, 1, 1}, {64, 1, 1}, 0}, 8, Kind::launch_config), "kernel `k`: grid (0, 1, 1) is empty: x is 0");
  EXPECT_EQ(message({{1, 1, 1}, {64, 1, 0}, 0}, 8, Kind::launch_config), "kernel `k`: block (64, 1, 0) is empty: z is 0");
  EXPECT_EQ(message({{1, 1, 1}, {64, 32, 1}, 0}, 8, Kind::launch_config),
            "kernel `k`: block (64, 32, 1) has 2048 threads; at most 1024 fit");
  EXPECT_EQ(message({{1, 1, 1}, {32, 2, 1}, 0}, 8, Kind::launch_config),
            "kernel `k`: block (32, 2, 1) does not fit the kernel's `.reqntid` (64, 1, 1)");
  EXPECT_EQ(message({{1, 1, 1}, {64, 1, 1}, 232448}, 8, Kind::launch_config),
            "kernel `k`: 233456 bytes of shared memory; a block on sm_90a has at most 232448");
  EXPECT_EQ(message({{1, 1, 1}, {64, 1, 1}, 0}, 4, Kind::param_layout), "kernel `k`: its parameters take 8 bytes, 4 given");
  for (const Target target : {sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100a, sm_120}) {
    const auto any =
        testing::make_from_text(cat(".version 9.0\n.target ", isa::name(target), "\n.visible .entry k() { ret; }\n"));
    ASSERT_TRUE(any.has_value()) << render(any.error());
    const std::uint32_t most = isa::max_shared_bytes(target);
    testing::run(*any, {{1, 1, 1}, {32, 1, 1}, most}, {}, {});
    EXPECT_EQ(testing::fault(*any, {{1, 1, 1}, {32, 1, 1}, most + 1}, {}, {}).message,
              cat("kernel `k`: ", most + 1, " bytes of shared memory; a block on ", isa::name(target), " has at most ", most));
  }
  const auto limited = testing::program({".visible .entry k", ".maxntid 32, 2, 1", "ret"});
  EXPECT_EQ(testing::fault(limited, block(96), {}, {}).message,
            "kernel `k`: block (96, 1, 1) does not fit the kernel's `.maxntid` (32, 2, 1)");
}

}  // namespace
}  // namespace ptx::vgpu
