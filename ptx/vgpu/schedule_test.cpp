// Divergence, convergence, barriers and fairness: kernels whose threads part and meet, against one thread at a time.
#include "ptx/vgpu/schedule.hpp"

#include <functional>
#include <numeric>
#include <random>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

LaunchConfig block(std::uint32_t threads) {
  LaunchConfig config;
  config.block = {threads, 1, 1};
  return config;
}

// ---- random structured programs ------------------------------------------------------------------------------------

// A program as basic blocks of a tiny machine with an accumulator and loop counters; both the kernel and the reference are made
// from it.
struct Op {
  enum class Kind { work, init, inc, jump, branch_if, branch_loop, exit } kind;
  std::uint32_t value = 0;  // work: what is added; branches: salt
  std::uint32_t limit = 0;  // branch_if: taken when hash % 1024 < limit; branch_loop: trips
  int counter = 0;
  int target = 0;
};

class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}
  std::vector<Op> program() {
    block(3);
    ops_.push_back({Op::Kind::exit});
    return ops_;
  }
  [[nodiscard]] int counters() const { return counters_; }

 private:
  std::uint32_t draw(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  int here() const { return static_cast<int>(ops_.size()); }
  void block(int depth) {
    for (std::uint32_t n = 1 + draw(3); n > 0; --n) {
      const std::uint32_t what = draw(100);
      if (depth == 0 || what < 40) {
        ops_.push_back({Op::Kind::work, 1 + draw(1000)});
      } else if (what < 70) {
        const int condition = here();
        constexpr std::uint32_t odds[] = {100, 512, 900};
        ops_.push_back({Op::Kind::branch_if, static_cast<std::uint32_t>(random_()), odds[draw(3)]});
        block(depth - 1);
        const int over = here();
        ops_.push_back({Op::Kind::jump});
        ops_[static_cast<std::size_t>(condition)].target = here();
        block(depth - 1);
        ops_[static_cast<std::size_t>(over)].target = here();
      } else if (what < 95) {
        const int counter = counters_++;
        ops_.push_back({Op::Kind::init, 0, 0, counter});
        const int head = here();
        ops_.push_back({Op::Kind::branch_loop, static_cast<std::uint32_t>(random_()), 6, counter});
        block(depth - 1);
        const int breaks = here();
        ops_.push_back({Op::Kind::branch_if, static_cast<std::uint32_t>(random_()), 80});
        block(depth - 1);
        ops_.push_back({Op::Kind::inc, 0, 0, counter});
        ops_.push_back({Op::Kind::jump, 0, 0, 0, head});
        ops_[static_cast<std::size_t>(head)].target = ops_[static_cast<std::size_t>(breaks)].target = here();
      } else {
        // some lanes leave for good
        const int condition = here();
        ops_.push_back({Op::Kind::branch_if, static_cast<std::uint32_t>(random_()), 960});
        ops_.push_back({Op::Kind::exit});
        ops_[static_cast<std::size_t>(condition)].target = here();
        ops_.push_back({Op::Kind::work, 7});
      }
    }
  }
  std::mt19937 random_;
  std::vector<Op> ops_;
  int counters_ = 0;
};

std::uint32_t hash(std::uint32_t accumulator, std::uint32_t salt) { return ((accumulator ^ salt) * 0x9E3779B1u) >> 12; }

// One thread; nothing when it runs too long.
std::optional<std::uint32_t> scalar(const std::vector<Op>& ops, std::uint32_t lane, int counters) {
  std::uint32_t accumulator = lane;
  std::vector<std::uint32_t> count(static_cast<std::size_t>(counters));
  std::size_t pc = 0;
  for (int steps = 0; steps < 5000; ++steps) {
    const Op& op = ops[pc++];
    const auto target = static_cast<std::size_t>(op.target);
    switch (op.kind) {
      case Op::Kind::work:
        accumulator = accumulator * 31 + op.value;
        break;
      case Op::Kind::init:
        count[static_cast<std::size_t>(op.counter)] = 0;
        break;
      case Op::Kind::inc:
        ++count[static_cast<std::size_t>(op.counter)];
        break;
      case Op::Kind::jump:
        pc = target;
        break;
      case Op::Kind::branch_if:
        if (hash(accumulator, op.value) % 1024 < op.limit) pc = target;
        break;
      case Op::Kind::branch_loop:
        if (count[static_cast<std::size_t>(op.counter)] >= hash(lane, op.value) % op.limit) pc = target;
        break;
      case Op::Kind::exit:
        return accumulator;
    }
  }
  return std::nullopt;
}

// The kernel: %r0 lane, %r1 accumulator. Every exit stores the accumulator. `layout` shuffles the order of the basic blocks in
// the text.
std::vector<std::string> kernel(const std::vector<Op>& ops, std::mt19937* layout) {
  std::vector<bool> leads(ops.size() + 1);
  leads[0] = true;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const bool control = ops[i].kind != Op::Kind::work && ops[i].kind != Op::Kind::init && ops[i].kind != Op::Kind::inc;
    if (control) leads[i + 1] = true;
    if (control && ops[i].kind != Op::Kind::exit) leads[static_cast<std::size_t>(ops[i].target)] = true;
  }
  std::vector<std::vector<std::string>> blocks;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (leads[i]) blocks.push_back({cat("B", i, ":")});
    auto& out = blocks.back();
    switch (op.kind) {
      case Op::Kind::work:
        out.push_back(cat("mad.lo.u32 %r1, %r1, 31, ", op.value));
        break;
      case Op::Kind::init:
        out.push_back(cat("mov.u32 %q", op.counter, ", 0"));
        break;
      case Op::Kind::inc:
        out.push_back(cat("add.u32 %q", op.counter, ", %q", op.counter, ", 1"));
        break;
      case Op::Kind::jump:
        out.push_back(cat("bra B", op.target));
        break;
      case Op::Kind::branch_if:
        out.insert(out.end(), {cat("xor.b32 %r2, %r1, ", op.value), "mul.lo.u32 %r2, %r2, 2654435761", "shr.u32 %r2, %r2, 12",
                               "and.b32 %r2, %r2, 1023", cat("setp.lt.u32 %p0, %r2, ", op.limit), cat("@%p0 bra B", op.target)});
        break;
      case Op::Kind::branch_loop:
        out.insert(out.end(), {cat("xor.b32 %r2, %r0, ", op.value), "mul.lo.u32 %r2, %r2, 2654435761", "shr.u32 %r2, %r2, 12",
                               cat("rem.u32 %r2, %r2, ", op.limit), cat("setp.ge.u32 %p0, %q", op.counter, ", %r2"),
                               cat("@%p0 bra B", op.target)});
        break;
      case Op::Kind::exit:
        out.insert(out.end(), {"st.global.b32 [%rd0], %r1", "ret"});
        break;
    }
    const bool falls = op.kind != Op::Kind::jump && op.kind != Op::Kind::exit;
    if (falls && leads[i + 1]) out.push_back(cat("bra B", i + 1));
  }
  if (layout != nullptr) std::shuffle(blocks.begin() + 1, blocks.end(), *layout);
  std::vector<std::string> lines = {".visible .entry k",         ".param .u64 out",         ".reg .b32 %q<40>",
                                    "ld.param.u64 %rd0, [out]",  "mov.u32 %r0, %laneid",    "mov.u32 %r1, %r0",
                                    "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1"};
  for (const auto& b : blocks) lines.insert(lines.end(), b.begin(), b.end());
  return lines;
}

TEST(Divergence, RandomProgramsRunLikeTheirThreads) {
  std::uint64_t in_order = 0, shuffled = 0;
  int programs = 0;
  for (std::uint32_t seed = 1; programs < 150; ++seed) {
    Generator generator(seed);
    const auto ops = generator.program();
    if (ops.size() > 150 || generator.counters() > 40) continue;
    std::array<std::uint32_t, 32> expected{};
    bool ends = true;
    for (std::uint32_t lane = 0; lane < 32 && ends; ++lane) {
      const auto result = scalar(ops, lane, generator.counters());
      ends = result.has_value();
      if (ends) expected[lane] = *result;
    }
    if (!ends) continue;
    ++programs;
    std::mt19937 layout(seed);
    for (const bool shuffle : {false, true}) {
      const auto program = testing::program(kernel(ops, shuffle ? &layout : nullptr));
      Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
      const Report report = testing::run(program, block(32), params({out.address()}), {out.region()});
      (shuffle ? shuffled : in_order) += report.warp_instructions;
      for (std::size_t lane = 0; lane < 32; ++lane)
        ASSERT_EQ(out.data[lane], expected[lane]) << "seed " << seed << " lane " << lane << (shuffle ? ", shuffled" : "");
    }
  }
  // The order of the blocks in the text must not matter: they are laid out anew.
  EXPECT_LE(shuffled, in_order + in_order / 50) << "lanes meet later when the text is shuffled";
}

TEST(Divergence, BothSidesMeetAtTheJoin) {
  // behind the join, activemask must see the whole warp; inside, its half
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid",
                        "mul.wide.u32 %rd1, %r0, 8", "add.u64 %rd0, %rd0, %rd1", "setp.lt.u32 %p0, %r0, 12", "@%p0 bra LOW",
                        "activemask.b32 %r1", "bra JOIN", "LOW:", "activemask.b32 %r1", "add.u32 %r2, %r1, %r1",
                        "JOIN:", "activemask.b32 %r3", "st.global.v2.b32 [%rd0], {%r1, %r3}", "ret"});
  Buffer<std::array<std::uint32_t, 2>> out{"out", std::vector<std::array<std::uint32_t, 2>>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::size_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out.data[lane][0], lane < 12 ? 0x00000FFFu : 0xFFFFF000u);
    EXPECT_EQ(out.data[lane][1], 0xFFFFFFFFu);
  }
}

TEST(Divergence, LoopsRunAsLongAsTheirLongestLane) {
  // lane l goes round l times: 31 rounds of 3 instructions for the warp, not the sum over lanes
  const auto program = testing::program({"mov.u32 %r0, %laneid", "mov.u32 %r1, 0", "L:", "setp.ge.u32 %p0, %r1, %r0",
                                         "@%p0 bra DONE", "add.u32 %r1, %r1, 1", "bra L", "DONE:", "ret"});
  const Report report = testing::run(program, block(32), {}, {});
  EXPECT_EQ(report.warp_instructions, 2u + 31u * 4u + 2u + 1u);
}

// ---- .sync instructions in parted warps -----------------------------------------------------------------------------

TEST(Sync, ExchangesBetweenDifferentPlaces) {
  // the same shfl.sync stands in both arms of a branch: the manual asks for the same opcode, qualifiers and membermask, not the
  // same place
  const auto program = testing::program(
      {".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid", "mul.wide.u32 %rd1, %r0, 4",
       "add.u64 %rd0, %rd0, %rd1", "and.b32 %r1, %r0, 1", "setp.eq.u32 %p0, %r1, 0", "@%p0 bra EVEN", "mul.lo.u32 %r2, %r0, 100",
       "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1", "bra JOIN", "EVEN:", "mul.lo.u32 %r4, %r0, 1000",
       "shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1", "JOIN:", "st.global.b32 [%rd0], %r3", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane % 2 == 0 ? (lane + 1) * 100 : (lane - 1) * 1000);
}

TEST(Sync, WaitsForAllMembersThatHaveNotExited) {
  // lanes 0 to 15 exit first; the others still name them in the membermask
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid",
                        "setp.lt.u32 %p0, %r0, 16", "@%p0 ret", "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1",
                        "redux.sync.add.u32 %r1, %r0, -1", "st.global.b32 [%rd0], %r1", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 16; lane < 32; ++lane) EXPECT_EQ(out.data[lane], (16u + 31u) * 8u);
}

TEST(Sync, GroupsWithTheirOwnMembermasksDoNotMix) {
  // each quarter of the warp reduces by itself, with its membermask in a register
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %laneid",
                        "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1", "and.b32 %r1, %r0, 24", "mov.u32 %r2, 255",
                        "shl.b32 %r2, %r2, %r1", "redux.sync.add.u32 %r3, %r0, %r2", "st.global.b32 [%rd0], %r3", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane / 8 * 64 + 28);
}

TEST(Sync, AlignedBarriersWaitForTheRestOfTheWarp) {
  // a guard holds half of the warp back for a while: the barrier waits until it has exited
  const auto program = testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x", "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1",
                                         "and.b32 %r1, %r0, 16", "setp.ne.u32 %p0, %r1, 0", "@%p0 bra AWAY", "bar.sync 0",
                                         "st.global.b32 [%rd0], 1", "ret", "AWAY:", "st.global.b32 [%rd0], 2", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  testing::run(program, block(64), params({out.address()}), {out.region()});
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out.data[t], (t & 16) != 0 ? 2u : 1u);
}

TEST(Sync, NonAlignedBarriersMayStandInBothArms) {
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 flags[256]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "mov.u32 %r1, flags",
                                         "mad.lo.u32 %r2, %r0, 4, %r1",
                                         "st.shared.b32 [%r2], %r0",
                                         "and.b32 %r3, %r0, 1",
                                         "setp.eq.u32 %p0, %r3, 0",
                                         "@%p0 bra EVEN",
                                         "barrier.sync 0",
                                         "bra JOIN",
                                         "EVEN:",
                                         "barrier.sync 0",
                                         "JOIN:",
                                         "xor.b32 %r4, %r0, 33",
                                         "mad.lo.u32 %r4, %r4, 4, %r1",
                                         "ld.shared.b32 %r5, [%r4]",
                                         "st.global.b32 [%rd0], %r5",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  testing::run(program, block(64), params({out.address()}), {out.region()});
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out.data[t], t ^ 33);
}

// ---- barriers of the CTA ----------------------------------------------------------------------------------------------

TEST(Barrier, OrdersSharedMemoryBetweenWarps) {
  // a tree reduction over 256 threads
  std::vector<std::string> lines = {
      ".visible .entry k",        ".param .u64 out",   ".shared .align 4 .b8 sums[1024]", "ld.param.u64 %rd0, [out]",
      "mov.u32 %r0, %tid.x",      "mov.u32 %r1, sums", "mad.lo.u32 %r1, %r0, 4, %r1",     "mul.lo.u32 %r2, %r0, %r0",
      "st.shared.b32 [%r1], %r2", "bar.sync 0"};
  for (int half = 128; half >= 1; half /= 2)
    lines.insert(lines.end(),
                 {cat("setp.lt.u32 %p0, %r0, ", half), cat("@%p0 ld.shared.b32 %r3, [%r1+", 4 * half, "]"),
                  "@%p0 ld.shared.b32 %r4, [%r1]", "@%p0 add.u32 %r4, %r4, %r3", "@%p0 st.shared.b32 [%r1], %r4", "bar.sync 0"});
  lines.insert(lines.end(), {"setp.eq.u32 %p1, %r0, 0", "@%p1 ld.shared.b32 %r5, [%r1]", "mov.u32 %r6, %ctaid.x",
                             "mul.wide.u32 %rd1, %r6, 4", "add.u64 %rd0, %rd0, %rd1", "@%p1 st.global.b32 [%rd0], %r5", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(30)};
  LaunchConfig config = block(256);
  config.grid = {30, 1, 1};
  for (const unsigned workers : {1u, 3u}) {
    Options options;
    options.workers = workers;
    const Report report = testing::run(testing::program(lines), config, params({out.address()}), {out.region()}, options);
    EXPECT_EQ(report.ctas, 30u);
    for (const std::uint32_t sum : out.data) EXPECT_EQ(sum, 255u * 256u * 511u / 6u);
  }
}

TEST(Barrier, NamedOnesPassDataFromProducersToConsumers) {
  // warp 0 produces 8 values, one a round; warps 1 and 2 consume: full = barrier 1 (arrive, sync), empty = barrier 2 (sync,
  // arrive)
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 slot[4]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %tid.x",
                                         "mov.u32 %r1, 0",
                                         "mov.u32 %r9, 0",
                                         "setp.lt.u32 %p0, %r0, 32",
                                         "@%p0 bra PRODUCER",
                                         "CONSUMER:",
                                         "bar.sync 1, 96",
                                         "ld.shared.b32 %r2, [slot]",
                                         "mad.lo.u32 %r9, %r9, 10, %r2",
                                         "bar.arrive 2, 96",
                                         "add.u32 %r1, %r1, 1",
                                         "setp.lt.u32 %p1, %r1, 8",
                                         "@%p1 bra CONSUMER",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "st.global.b32 [%rd0], %r9",
                                         "ret",
                                         "PRODUCER:",
                                         "add.u32 %r3, %r1, 1",
                                         "st.shared.b32 [slot], %r3",
                                         "bar.arrive 1, 96",
                                         "bar.sync 2, 96",
                                         "add.u32 %r1, %r1, 1",
                                         "setp.lt.u32 %p1, %r1, 8",
                                         "@%p1 bra PRODUCER",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(96)};
  testing::run(program, block(96), params({out.address()}), {out.region()});
  for (std::size_t t = 32; t < 96; ++t) EXPECT_EQ(out.data[t], 12345678u);
}

TEST(Barrier, DoesNotWaitForWarpsThatHaveExited) {
  const auto program =
      testing::program({"mov.u32 %r0, %tid.x", "setp.ge.u32 %p0, %r0, 64", "@%p0 ret", "bar.sync 0", "bar.sync 0", "ret"});
  testing::run(program, block(256), {}, {});
}

// ---- progress ---------------------------------------------------------------------------------------------------------

TEST(Progress, ALaneMayWaitForAnotherLaneOfItsWarp) {
  // lane l spins until flag l is set, then sets flag l + 1: without fairness the spinners run for ever
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 out",
                                         ".shared .align 4 .b8 flags[132]",
                                         "ld.param.u64 %rd0, [out]",
                                         "mov.u32 %r0, %laneid",
                                         "mov.u32 %r1, flags",
                                         "mad.lo.u32 %r1, %r0, 4, %r1",
                                         "st.shared.b32 [%r1+4], 0",
                                         "setp.eq.u32 %p0, %r0, 0",
                                         "@%p0 st.shared.b32 [%r1], 1",
                                         "bar.warp.sync -1",
                                         "SPIN:",
                                         "ld.volatile.shared.b32 %r2, [%r1]",
                                         "setp.eq.u32 %p1, %r2, 0",
                                         "@%p1 bra SPIN",
                                         "add.u32 %r3, %r2, 1",
                                         "st.volatile.shared.b32 [%r1+4], %r3",
                                         "mul.wide.u32 %rd1, %r0, 4",
                                         "add.u64 %rd0, %rd0, %rd1",
                                         "st.global.b32 [%rd0], %r2",
                                         "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
  const Report report = testing::run(program, block(32), params({out.address()}), {out.region()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(out.data[lane], lane + 1);
  EXPECT_LT(report.warp_instructions, 30000u);
}

TEST(Progress, AWarpMayWaitForAnotherWarp) {
  const auto program =
      testing::program({".visible .entry k", ".shared .align 4 .b8 flag[4]", "mov.u32 %r0, %tid.x", "setp.eq.u32 %p0, %r0, 0",
                        "@%p0 st.shared.b32 [flag], 0", "bar.sync 0", "setp.eq.u32 %p1, %r0, 40", "@%p1 bra SET",
                        "SPIN:", "ld.acquire.cta.shared.b32 %r1, [flag]", "setp.eq.u32 %p2, %r1, 0", "@%p2 bra SPIN", "ret",
                        "SET:", "st.release.cta.shared.b32 [flag], 1", "ret"});
  testing::run(program, block(64), {}, {});
}

TEST(Progress, ABlockMayWaitForALaterBlock) {
  // block b waits for the flag of block b + 1; the last one sets its own: one worker must keep all of them going
  const auto program = testing::program(
      {".visible .entry k", ".param .u64 flags", "ld.param.u64 %rd0, [flags]", "mov.u32 %r0, %ctaid.x",
       "mul.wide.u32 %rd1, %r0, 4", "add.u64 %rd0, %rd0, %rd1", "mov.u32 %r1, %nctaid.x", "sub.u32 %r1, %r1, 1",
       "setp.eq.u32 %p0, %r0, %r1", "@%p0 bra SET", "SPIN:", "ld.relaxed.gpu.global.b32 %r2, [%rd0+4]", "setp.eq.u32 %p1, %r2, 0",
       "@%p1 bra SPIN", "fence.acq_rel.gpu", "SET:", "st.release.gpu.global.b32 [%rd0], 1", "ret"});
  for (const unsigned workers : {1u, 2u}) {
    Buffer<std::uint32_t> flags{"flags", std::vector<std::uint32_t>(5)};
    LaunchConfig config = block(32);
    config.grid = {5, 1, 1};
    Options options;
    options.workers = workers;
    testing::run(program, config, params({flags.address()}), {flags.region()}, options);
    EXPECT_EQ(std::accumulate(flags.data.begin(), flags.data.end(), 0u), 5u);
  }
}

}  // namespace
}  // namespace ptx::vgpu
