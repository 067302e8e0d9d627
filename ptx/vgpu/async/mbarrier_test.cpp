// mbarriers against a model that counts with plain numbers.
#include "ptx/vgpu/async/mbarrier.hpp"

#include <random>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::mbarriers {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;

constexpr std::string_view out_param = ".param .u64 out";
constexpr std::string_view begin_kernel =
    ".shared .align 8 .b64 bar[4];\n.reg .b64 %s<2000>;\n.reg .b32 %c;\nld.param.u64 %rd0, [out];\n";

Diagnostic fault_of(std::string_view body, std::uint32_t threads = 1) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  return testing::fault(body_program(out_param, cat(begin_kernel, body)), testing::block(threads), params({out.address()}),
                        {out.region()});
}
void expect_fault(std::string_view body, Kind kind, std::string_view words) {
  const Diagnostic d = fault_of(body);
  EXPECT_EQ(d.kind, kind) << body;
  EXPECT_NE(d.message.find(words), std::string::npos) << body << '\n' << render(d);
}

/// The manual's description: nothing packed, no wrapping phases.
struct Model {
  std::int64_t expected, pending, tx = 0, phase = 0;
  void settle() {
    if (pending == 0 && tx == 0) ++phase, pending = expected;
  }
};

TEST(Mbarrier, CountsLikeThePlainModel) {
  std::mt19937 random(7);
  const auto dice = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (int round = 0; round < 40; ++round) {
    Model model{1 + dice(6), 0};
    model.pending = model.expected;
    std::string body = cat(begin_kernel, "mbarrier.init.shared::cta.b64 [bar], ", model.expected, ";\n");
    std::vector<std::uint32_t> wanted;
    std::vector<std::int64_t> phase_of_state;
    const auto store = [&](std::string_view reg, std::int64_t value) {
      body += cat("st.global.u32 [%rd0+", 4 * wanted.size(), "], ", reg, ";\n");
      wanted.push_back(static_cast<std::uint32_t>(value));
    };
    const auto keep_state = [&](std::int64_t pending, std::int64_t phase) {
      body += cat("mbarrier.pending_count.b64 %c, %s", phase_of_state.size(), ";\n");
      store("%c", pending);
      phase_of_state.push_back(phase);
    };
    for (int i = 0; i < 60; ++i) {
      const std::int64_t pending = model.pending, phase = model.phase, bytes = dice(3) * 32;
      const std::string state = cat("%s", phase_of_state.size());
      switch (dice(8)) {
        case 0:
        case 1: {
          if (model.pending == 0) break;
          const std::int64_t count = 1 + dice(model.pending);
          body += cat("mbarrier.arrive.shared::cta.b64 ", state, ", [bar], ", count, ";\n");
          model.pending -= count;
          model.settle();
          keep_state(pending, phase);
          break;
        }
        case 2:
          if (model.pending == 0) break;
          body += cat("mbarrier.arrive.expect_tx.shared::cta.b64 ", state, ", [bar], ", bytes, ";\n");
          model.tx += bytes, --model.pending;
          model.settle();
          keep_state(pending, phase);
          break;
        case 3:
          if (model.pending < 2) break;
          body += cat("mbarrier.arrive.noComplete.shared::cta.b64 ", state, ", [bar], 1;\n");
          --model.pending;
          keep_state(pending, phase);
          break;
        case 4:
          if (model.pending == 0 || model.expected < 2) break;
          body += cat("mbarrier.arrive_drop.shared::cta.b64 ", state, ", [bar];\n");
          --model.pending, --model.expected;
          model.settle();
          keep_state(pending, phase);
          break;
        case 5:
          body += cat("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], ", bytes, ";\n");
          model.tx += bytes;
          model.settle();
          break;
        case 6: {
          // also before they are expected
          const std::int64_t part = dice(2) == 0 && model.tx > 0 ? model.tx : bytes;
          body += cat("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], ", part, ";\n");
          model.tx -= part;
          model.settle();
          break;
        }
        default: {
          const std::int64_t parity = dice(2);
          body += cat("mbarrier.", dice(2) == 0 ? "test_wait" : "try_wait", ".parity.shared::cta.b64 %p0, [bar], ", parity,
                      ";\nselp.u32 %c, 1, 0, %p0;\n");
          store("%c", (model.phase & 1) != parity ? 1 : 0);
          if (!phase_of_state.empty() && model.phase - phase_of_state.back() <= 1) {
            body += cat("mbarrier.test_wait.shared::cta.b64 %p0, [bar], %s", phase_of_state.size() - 1,
                        ";\nselp.u32 %c, 1, 0, %p0;\n");
            store("%c", model.phase != phase_of_state.back() ? 1 : 0);
          }
        }
      }
    }
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(wanted.size() + 1)};
    testing::run(body_program(out_param, body), testing::block(1), params({out.address()}), {out.region()});
    out.data.resize(wanted.size());
    ASSERT_EQ(out.data, wanted) << "round " << round << '\n' << body;
  }
}

// Each row of the table, once.
TEST(Mbarrier, EveryForm) {
  const auto run = [](std::string_view instructions, testing::TextOptions options = {}) {
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(4)};
    testing::run(body_program(out_param,
                              cat(begin_kernel, "mbarrier.init.shared.b64 [bar], 1000;\n", instructions,
                                  "\nmbarrier.inval.shared::cta.b64 [bar];\n"),
                              options),
                 testing::block(1), params({out.address()}), {out.region()});
  };
  std::string plain;
  for (const std::string_view op : {"arrive", "arrive_drop"}) {
    for (const std::string_view sem : {"", ".release.cta", ".relaxed.cluster"}) {
      plain += cat("mbarrier.", op, sem, ".shared::cta.b64 %s0, [bar];\n");
      plain += cat("mbarrier.", op, sem, ".shared::cta.b64 %s0, [bar], 3;\n");
      plain += cat("mbarrier.", op, sem, ".shared::cluster.b64 _, [bar], 2;\n");
      plain += cat("mbarrier.", op, ".expect_tx", sem, ".shared::cta.b64 %s0, [bar], 16;\n");
      plain += cat("mbarrier.", op, ".expect_tx", sem, ".shared::cluster.b64 _, [bar], 16;\n");
    }
    plain += cat("mbarrier.", op, ".noComplete.shared.b64 %s0, [bar], 2;\n");
    plain += cat("mbarrier.", op, ".noComplete.release.cta.shared::cta.b64 %s0, [bar], 2;\n");
  }
  for (const std::string_view sem : {"", ".relaxed.cta"}) {
    plain += cat("mbarrier.expect_tx", sem, ".shared::cluster.b64 [bar], 64;\n");
    plain += cat("mbarrier.complete_tx", sem, ".shared::cta.b64 [bar], 64;\n");
  }
  const auto waits = [](std::string_view op, std::string_view phase = "", std::string_view p = "%p0") {
    std::string text;
    for (const std::string_view sem : {"", ".acquire.cta"}) {
      if (!phase.ends_with("conditional")) text += cat("mbarrier.", op, phase, sem, ".shared::cta.b64 ", p, ", [bar], %s0;\n");
      text += cat("mbarrier.", op, ".parity", phase, sem, ".shared::cta.b64 ", p, ", [bar], 0;\n");
    }
    return text;
  };
  plain += waits("test_wait") + waits("try_wait");
  plain += "mbarrier.try_wait.parity.shared::cta.b64 %p0, [bar], 0, 1000;\nmbarrier.pending_count.b64 %c, %s0;\n";
  // through generic and register addresses
  plain +=
      "mov.u32 %r0, bar;\ncvt.u64.u32 %rd1, %r0;\ncvta.shared.u64 %rd2, %rd1;\nmbarrier.arrive.b64 %s0, [%rd2];\n"
      "mbarrier.arrive.shared.b64 %s0, [%r0];\nmbarrier.arrive.shared.b64 %s0, [%rd1+0];\n"
      "cp.async.mbarrier.arrive.shared.b64 [bar];\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n";
  run(plain);
  run(cat("mbarrier.init.layout::v0.shared::cta.b64 [bar+8], 7;\nmbarrier.arrive.shared::cta.b64 %s0, [bar];\n"
          "mbarrier.check_layout.layout::v0.shared::cta.b64 %p0, [bar+8];\n@!%p0 trap;\n"
          "mbarrier.check_layout.layout::v1.shared::cta.b64 %p0, [bar+8];\n@%p0 trap;\n"
          "mbarrier.pending_count.layout::v0.b64 %c, %s0;\n",
          waits("test_wait", ".phase_type::primary", "%p0|%p1"), waits("try_wait", ".phase_type::primary", "%p0|%p1"),
          "@%p1 trap;\n", waits("test_wait", ".phase_type::conditional"), waits("try_wait", ".phase_type::conditional")),
      {"9.3", "sm_90a"});
}

// Layout v0: the conditional phase is complete when the primary one is, whatever bytes or arrivals that lacked.
TEST(Mbarrier, TheConditionalPhaseIsThePrimaryOne) {
  std::string body(begin_kernel);
  std::vector<std::uint32_t> wanted;
  const auto ask = [&](std::uint32_t phase) {
    for (const std::string_view op : {"test_wait", "try_wait"})
      for (const std::string_view sem : {"", ".acquire.cta", ".relaxed.cluster"})
        for (const std::uint32_t parity : {0u, 1u}) {
          body += cat("mbarrier.", op, ".parity.phase_type::conditional", sem, ".shared::cta.b64 %p0, [bar], ", parity,
                      ";\nselp.u32 %c, 1, 0, %p0;\nst.global.u32 [%rd0+", 4 * wanted.size(), "], %c;\n");
          wanted.push_back(phase % 2 != parity ? 1 : 0);
        }
  };
  body += "mbarrier.init.layout::v0.shared::cta.b64 [bar], 2;\n";
  ask(0);
  body += "mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  ask(0);
  body += "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;\n";
  ask(0);
  body += "mbarrier.complete_tx.shared::cta.b64 [bar], 64;\n";
  ask(1);
  body += "mbarrier.arrive.shared::cta.b64 _, [bar], 2;\n";
  ask(2);
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(wanted.size(), 7)};
  testing::run(body_program(out_param, body, {"9.3", "sm_90a"}), testing::block(1), params({out.address()}), {out.region()});
  EXPECT_EQ(out.data, wanted);
}

// ThunderKittens begins with `mbarrier.init` by all lanes of a warp, where one is meant.
TEST(Mbarrier, IsInitialisedByLanesTogether) {
  const std::string body = cat(begin_kernel,
                               "mbarrier.init.shared::cta.b64 [bar], 32;\nmbarrier.arrive.shared::cta.b64 _, [bar];\n"
                               "mov.u32 %r0, %tid.x;\nst.global.u32 [%rd0], 1;\n");
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  testing::run(body_program(out_param, body), testing::block(32), params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 1U);
  // lanes that want different counts, and a warp that comes when another has arrived
  const Diagnostic counts = fault_of("mov.u32 %r0, %tid.x;\nadd.u32 %r0, %r0, 1;\nmbarrier.init.shared::cta.b64 [bar], %r0;", 2);
  EXPECT_NE(counts.message.find("which is in use"), std::string::npos) << render(counts);
  const Diagnostic late = fault_of("mbarrier.init.shared::cta.b64 [bar], 64;\nmbarrier.arrive.shared::cta.b64 _, [bar];", 64);
  EXPECT_NE(late.message.find("which is in use"), std::string::npos) << render(late);
}

// Triton's warp-specialised kernels initialise an mbarrier twice in a row.
TEST(Mbarrier, IsInitialisedTwiceByOneThread) {
  constexpr std::string_view init = "@%p0 mbarrier.init.shared::cta.b64 [bar], 1;\n",
                             arrive = "@%p0 mbarrier.arrive.shared::cta.b64 _, [bar];\n";
  const std::string first = "mov.u32 %r0, %tid.x;\nsetp.eq.u32 %p0, %r0, 0;\n";
  const std::string body = cat(begin_kernel, first, init, "bar.sync 0;\n", init, arrive, "@%p0 st.global.u32 [%rd0], 1;\n");
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(1)};
  testing::run(body_program(out_param, body), testing::block(64), params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 1U);
  // by another thread, and by the same when somebody has arrived
  const Diagnostic other = fault_of(cat(first, init, "bar.sync 0;\nsetp.eq.u32 %p0, %r0, 32;\n", init), 64);
  EXPECT_NE(other.message.find("which is in use"), std::string::npos) << render(other);
  const Diagnostic used = fault_of(cat(first,
                                       "mbarrier.init.shared::cta.b64 [bar], 2;\nmbarrier.arrive.shared::cta.b64 _, [bar];\n"
                                       "mbarrier.init.shared::cta.b64 [bar], 2;\n"),
                                   1);
  EXPECT_NE(used.message.find("which is in use"), std::string::npos) << render(used);
}

TEST(Mbarrier, SaysWhatIsWrong) {
  constexpr std::string_view init = "mbarrier.init.shared::cta.b64 [bar], 2;\n";
  const auto after_init = [&](std::string_view rest) { return cat(init, rest); };
  expect_fault("mbarrier.arrive.shared::cta.b64 _, [bar];", Kind::barrier_misuse, "where none is: nothing has initialised one");
  expect_fault(after_init("mbarrier.init.shared::cta.b64 [bar], 3;"), Kind::barrier_misuse, "which is in use");
  expect_fault(after_init("mbarrier.inval.shared::cta.b64 [bar];\nmbarrier.arrive.shared::cta.b64 _, [bar];"),
               Kind::barrier_misuse, "where none is");
  expect_fault(after_init("st.shared.u32 [bar+4], 5;\nmbarrier.arrive.shared::cta.b64 _, [bar];"), Kind::barrier_misuse,
               "whose bytes something else has overwritten");
  // a copy of one is none
  expect_fault(
      after_init("ld.shared.b64 %rd1, [bar];\nst.shared.b64 [bar+8], %rd1;\nmbarrier.arrive.shared::cta.b64 _, [bar+8];"),
      Kind::barrier_misuse, "where none is");
  expect_fault(after_init("mbarrier.arrive.shared::cta.b64 _, [bar], 3;"), Kind::barrier_misuse,
               "whose phase 0 lacks 2 of 2 arrivals");
  expect_fault(after_init("mbarrier.arrive.noComplete.shared::cta.b64 %s0, [bar], 2;"), Kind::barrier_misuse, "must not");
  expect_fault(after_init("mbarrier.expect_tx.shared::cta.b64 [bar], 1048576;"), Kind::barrier_misuse, "reaches to 1048575");
  expect_fault(after_init("mbarrier.complete_tx.shared::cta.b64 [bar], 1048576;"), Kind::barrier_misuse, "more than it expects");
  expect_fault("mov.u32 %r0, 0;\nmbarrier.init.shared::cta.b64 [bar], %r0;", Kind::barrier_misuse, "expects 0 arrivals");
  expect_fault("mov.u32 %r0, bar;\nmbarrier.init.shared::cta.b64 [%r0+4], 2;", Kind::misaligned, "multiple of 8");
  expect_fault("mov.u32 %r0, bar;\nmbarrier.init.shared::cta.b64 [%r0+32], 2;", Kind::out_of_bounds, "past the end");
  expect_fault("mbarrier.init.b64 [%rd0], 2;", Kind::out_of_bounds, "which is not in shared memory");
  // a state of two phases ago
  expect_fault(after_init("mbarrier.arrive.shared::cta.b64 %s0, [bar], 2;\nmbarrier.arrive.shared::cta.b64 %s1, [bar], 2;\n"
                          "mbarrier.test_wait.shared::cta.b64 %p0, [bar], %s0;"),
               Kind::barrier_misuse, "neither the current one, 2, nor the one before it");
  // and one that is none, or another mbarrier's
  const std::string state = "mbarrier.arrive.shared::cta.b64 %s0, [bar];\n";
  expect_fault(after_init(cat(state, "mov.b64 %s0, 77;\nmbarrier.test_wait.shared::cta.b64 %p0, [bar], %s0;")),
               Kind::barrier_misuse, "for the state 0x4d, which no arrival has returned");
  expect_fault(after_init("mov.b64 %s0, 77;\nmbarrier.pending_count.b64 %r1, %s0;"), Kind::barrier_misuse,
               "is given the state 0x4d, which no arrival has returned");
  expect_fault(after_init(cat(state,
                              "mbarrier.init.shared::cta.b64 [bar+8], 2;\n"
                              "mbarrier.test_wait.shared::cta.b64 %p0, [bar+8], %s0;")),
               Kind::barrier_misuse, "which an arrival at another mbarrier has returned");
  // what inval frees is not written
  expect_fault(after_init("mbarrier.inval.shared::cta.b64 [bar];\nld.shared.b32 %r1, [bar];\nst.global.u32 [%rd0], %r1;"),
               Kind::uninitialised, "stores");
  // overwritten and initialised again: the memory was in other use meanwhile
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  testing::run(body_program(out_param, cat(begin_kernel, init, "st.shared.b64 [bar], 5;\n", init,
                                           "mbarrier.arrive.shared::cta.b64 _, [bar], 2;")),
               testing::block(1), params({out.address()}), {out.region()});
}

// Two warps hand a counter to and fro; then a lane group waits for another one of its own warp.
TEST(Mbarrier, WaitsGiveWay) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(2)};
  constexpr std::string_view body =
      ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n.shared .u32 cell;\n"
      "ld.param.u64 %rd0, [out];\nld.param.u64 %rd9, [split];\ncvt.u32.u64 %r8, %rd9;\nmov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, "
      "%r0, 0;\n@%p0 bra READY;\n"
      "mbarrier.init.shared.b64 [full], 1;\nmbarrier.init.shared.b64 [empty], 1;\nREADY:\nbar.sync 0;\n"
      "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nsetp.eq.u32 %p1, %r0, 0;\n@%p1 bra PRODUCE;\n"
      "setp.ne.u32 %p1, %r0, %r8;\n@%p1 bra DONE;\n"
      "CONSUME:\nand.b32 %r3, %r1, 1;\n"
      "FULL:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [full], %r3;\n@!%p2 bra FULL;\n"
      "ld.shared.u32 %r4, [cell];\nadd.u32 %r2, %r2, %r4;\nmbarrier.arrive.shared.b64 %rd1, [empty];\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 100;\n@%p3 bra CONSUME;\nst.global.u32 [%rd0], %r2;\nbra DONE;\n"
      "PRODUCE:\nand.b32 %r3, %r1, 1;\nxor.b32 %r3, %r3, 1;\n"
      "EMPTY:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r3;\n@!%p2 bra EMPTY;\n"
      "st.shared.u32 [cell], %r1;\nmbarrier.arrive.shared.b64 %rd1, [full];\n"
      "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p3, %r1, 100;\n@%p3 bra PRODUCE;\nDONE:\n";
  const auto program = body_program(".param .u64 out, .param .u64 split", body);
  for (const std::uint64_t consumer : {32u, 1u, 31u}) {
    out.data[0] = 0;
    testing::run(program, testing::block(64), params({out.address(), consumer}), {out.region()});
    EXPECT_EQ(out.data[0], 4950u) << "consumer: thread " << consumer;
  }
}

TEST(Mbarrier, AWaitThatNobodyCanEndIsADeadlock) {
  const Diagnostic d = fault_of(
      "mov.u32 %r0, %tid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra READY;\nmbarrier.init.shared.b64 [bar], 2;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\nREADY:\nbar.sync 0;\n"
      "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n",
      64);
  EXPECT_EQ(d.kind, Kind::deadlock);
  EXPECT_NE(
      d.message.find("waits for phase 0 of the mbarrier at shared address 0x400, which lacks 1 of 2 arrivals and 128 bytes"),
      std::string::npos)
      << render(d);
  EXPECT_NE(render(d).find("warp 1 waits for phase 0"), std::string::npos) << render(d);
  const Diagnostic more = fault_of(
      "mbarrier.init.shared.b64 [bar], 1;\nmbarrier.complete_tx.shared::cta.b64 [bar], 64;\n"
      "mbarrier.arrive.shared.b64 _, [bar];\n"
      "WAIT:\nmbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra WAIT;\n");
  EXPECT_EQ(more.kind, Kind::deadlock);
  EXPECT_NE(more.message.find("64 bytes more have come than are expected"), std::string::npos) << render(more);
}

// Blocks feed each other through global memory: the second lets the first one's flag be, which arrives at its own barrier then.
TEST(Mbarrier, WhatABarrierWaitsForMayComeFromAnotherBlock) {
  constexpr std::string_view body =
      ".shared .align 8 .b64 bar;\nld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
      "setp.eq.u32 %p0, %r1, 1;\n@%p0 bra SECOND;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\n"
      "mbarrier.init.shared.b64 [bar], 1;\nREADY:\nbar.sync 0;\nsetp.eq.u32 %p2, %r0, 32;\n@%p2 bra FEED;\n"
      "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra WAIT;\n"
      "setp.eq.u32 %p4, %r0, 0;\n@%p4 st.global.u32 [%rd0+4], 7;\nret;\n"
      "FEED:\nld.volatile.global.u32 %r2, [%rd0];\nsetp.eq.u32 %p5, %r2, 0;\n@%p5 bra FEED;\n"
      "mbarrier.arrive.shared.b64 %rd1, [bar];\nret;\n"
      "SECOND:\nsetp.eq.u32 %p6, %r0, 0;\n@%p6 st.volatile.global.u32 [%rd0], 1;\n";
  const auto program = body_program(out_param, body);
  for (const unsigned workers : {1u, 2u}) {
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(2)};
    LaunchConfig config = testing::block(33);
    config.grid = {2, 1, 1};
    testing::run(program, config, params({out.address()}), {out.region()}, {.workers = workers});
    EXPECT_EQ(out.data[1], 7u);
  }
}

}  // namespace
}  // namespace ptx::vgpu::mbarriers
