// Divergence: kernels whose threads part and meet, against one thread at a time.
#include "ptx/vgpu/machine/schedule.hpp"

#include <functional>
#include <random>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

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

}  // namespace
}  // namespace ptx::vgpu
