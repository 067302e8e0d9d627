// A run that is stepped: stops, what is seen there, and that going back is exact.
#include "ptx/vgpu/session/session.hpp"

#include <algorithm>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;
using Why = Stop::Why;

/// A session of one kernel with one buffer, which each run finds as it was at first.
struct Stepped {
  std::shared_ptr<const Program> program;
  LaunchConfig config;
  Options options;
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(1024)};
  std::vector<std::uint32_t> at_first = x.data;
  std::optional<Expected<Report>> report;
  Session session;

  Stepped(std::string_view body, std::uint32_t threads, const Options& given = {})
      : program(testing::text_program(".param .u64 x", body)),
        config(block(threads)),
        options(given),
        session([this](Observer& o) {
          std::copy(at_first.begin(), at_first.end(), x.data.begin());
          Options with = options;
          with.observer = &o;
          report.emplace(program->run(config, params({x.address()}), std::vector<Region>{x.region()}, with));
        }) {}

  /// Where an instruction of these words is about to run for the first time.
  Stop first(std::string_view words) {
    Stop stop = session.go_to(0);
    while (stop.why == Why::step && stop.instruction.find(words) == std::string::npos) stop = session.step_block();
    return stop;
  }
  [[nodiscard]] RegisterView reg(const std::string& name) {
    for (RegisterView& view : session.registers())
      if (view.name == name) return view;
    ADD_FAILURE() << "no register " << name;
    return {};
  }
};

constexpr std::string_view loop_kernel = R"(.reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .pred %p<2>;
ld.param.u64 %rd0, [x];
mov.u32 %r0, %tid.x;
mul.wide.u32 %rd1, %r0, 4;
add.u64 %rd1, %rd0, %rd1;
mov.u32 %r1, 0;
LOOP:
add.u32 %r1, %r1, 1;
setp.le.u32 %p0, %r1, %r0;
@%p0 bra LOOP;
st.global.u32 [%rd1], %r1;
ret;)";

TEST(Session, StopsAtALineAndShowsRegisters) {
  Stepped s(loop_kernel, 32);
  const std::uint32_t line_of_store = s.first("st.global").ptx_line;
  ASSERT_NE(line_of_store, 0u);
  s.session.restart();
  EXPECT_EQ(s.session.break_at({.ptx_line = line_of_store}), 1u);
  const Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::breakpoint);
  EXPECT_EQ(stop.breakpoint, 1u);
  EXPECT_NE(stop.instruction.find("st.global"), std::string::npos) << stop.instruction;
  EXPECT_EQ(stop.lanes, 0xFFFFFFFFu);  // those that have left the loop wait for the others
  EXPECT_EQ(s.reg("%r1").low[0], 1u);
  EXPECT_EQ(s.reg("%r1").low[5], 6u);
  EXPECT_EQ(s.reg("%p0").bits, 1u);
  EXPECT_EQ(s.reg("%rd1").low[3], s.x.address() + 12);
  EXPECT_EQ(s.x.data[0], 0u);
  EXPECT_TRUE(s.session.remove_breakpoint(1));
  EXPECT_FALSE(s.session.remove_breakpoint(1));
  EXPECT_EQ(s.session.run().why, Why::ended);
  EXPECT_EQ(s.x.data[7], 8u);
  EXPECT_TRUE(s.session.warps().empty());
  EXPECT_TRUE(s.session.registers().empty());
}

TEST(Session, ShowsLanesThatHaveParted) {
  Stepped s(loop_kernel, 32);
  const std::uint32_t line = s.first("add.u32 %r1").ptx_line;
  s.session.break_at({.ptx_line = line});
  ASSERT_EQ(s.session.run().lanes, 0xFFFFFFFEu);  // lane 0 has left the loop
  const RegisterView p = s.reg("%p0");
  EXPECT_EQ(p.low[0], 0u);
  EXPECT_EQ(p.low[5], 1u);
  const auto warps = s.session.warps();
  ASSERT_EQ(warps.size(), 2u);
  EXPECT_EQ(warps[0].state, "runs");
  EXPECT_EQ(warps[1].lanes, 1u);
  EXPECT_EQ(warps[1].state, "ready");
  EXPECT_NE(warps[1].instruction.find("st.global"), std::string::npos) << warps[1].instruction;
}

TEST(Session, ARegisterIsUndefinedUntilSomethingWritesIt) {
  Stepped s(loop_kernel, 8);
  s.session.go_to(2);
  EXPECT_EQ(s.reg("%r0").undefined & 0xFFu, 0u);
  EXPECT_EQ(s.reg("%r1").undefined & 0xFFu, 0xFFu);
}

TEST(Session, StepsAWarp) {
  Stepped s(loop_kernel, 64);
  Stop stop = s.session.step();
  EXPECT_EQ(stop.why, Why::step);
  EXPECT_EQ(stop.position, 0u);
  EXPECT_NE(stop.instruction.find("ld.param"), std::string::npos);
  stop = s.session.step();
  EXPECT_EQ(stop.position, 1u);
  EXPECT_NE(stop.instruction.find("mov.u32"), std::string::npos);
  stop = s.session.step(3);
  EXPECT_EQ(stop.position, 4u);
  ASSERT_TRUE(s.session.focus({0, 0, 0}, 1));
  stop = s.session.step();  // warp 0 runs as the schedule has it, then warp 1 its first instruction
  EXPECT_EQ(stop.warp, 1u);
  EXPECT_NE(stop.instruction.find("mov.u32 %r0"), std::string::npos) << stop.instruction;
  EXPECT_FALSE(s.session.focus({0, 0, 0}, 2));
  EXPECT_FALSE(s.session.focus({1, 0, 0}, 0));
}

// What there is to see, as one text.
std::string state(Session& session) {
  std::string all = cat(session.where().position, ' ', session.where().instruction, ' ', session.where().lanes, '\n');
  for (const WarpView& w : session.warps())
    all += cat(w.warp, ' ', w.lanes, ' ', w.state, ' ', w.instruction, ' ', w.waits, '\n');
  for (const RegisterView& r : session.registers()) {
    all += cat(r.name, ' ', r.undefined);
    for (const std::uint64_t value : r.low) all += cat(' ', value);
    all += '\n';
  }
  return all;
}

TEST(Session, BackEqualsForward) {
  Stepped s(loop_kernel, 64);
  std::vector<std::string> forward;
  s.session.go_to(0);
  for (int i = 0; i < 40; ++i) {
    forward.push_back(state(s.session));
    s.session.step();
  }
  for (std::size_t i = 40; i-- > 0;) {
    s.session.back();
    ASSERT_EQ(state(s.session), forward[i]) << i;
  }
  s.session.go_to(39);
  EXPECT_EQ(state(s.session), forward[39]);
  s.session.back(5);
  EXPECT_EQ(state(s.session), forward[34]);
}

constexpr std::string_view mbarrier_kernel = R"(.shared .align 16 .b8 tile[4096]; .shared .align 8 .b64 full[2];
.reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mov.u32 %r2, full; setp.ne.u32 %p, %r0, 0;
@!%p mbarrier.init.shared.b64 [%r2], 1;
@!%p mbarrier.init.shared.b64 [%r2+8], 1;
bar.sync 0;
@%p bra WAIT;
mbarrier.arrive.expect_tx.shared.b64 %rd5, [%r2], 4096; mov.u32 %r3, tile;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd0], 4096, [%r2];
WAIT:
mbarrier.try_wait.parity.shared.b64 %p, [%r2], 0;
@!%p bra WAIT;
WAIT2:
mbarrier.try_wait.parity.shared.b64 %p, [%r2+8], 0;
@!%p bra WAIT2;
ret;)";

TEST(Session, ShowsADeadlockAsItStands) {
  Stepped s(mbarrier_kernel, 64);
  for (std::size_t i = 0; i < s.at_first.size(); ++i) s.at_first[i] = static_cast<std::uint32_t>(i * i);
  const Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::fault);
  ASSERT_TRUE(stop.diagnostic);
  EXPECT_EQ(stop.diagnostic->kind, Kind::deadlock) << render(*stop.diagnostic);
  const auto barriers = s.session.mbarriers();
  ASSERT_EQ(barriers.size(), 2u);
  EXPECT_EQ(barriers[0].name, "full");
  EXPECT_EQ(barriers[0].phase, 1u);
  EXPECT_EQ(barriers[1].name, "full + 0x8");
  EXPECT_EQ(barriers[1].phase, 0u);
  EXPECT_EQ(barriers[1].pending, 1u);
  EXPECT_EQ(barriers[1].waiting.size(), 2u);
  const auto variables = s.session.shared_variables();
  const auto tile = std::find_if(variables.begin(), variables.end(), [](const SharedView& v) { return v.name == "tile"; });
  ASSERT_NE(tile, variables.end());
  const auto bytes = s.session.shared(tile->address + 40, 4);
  ASSERT_TRUE(bytes);
  std::uint32_t value = 0;
  std::memcpy(&value, bytes->data.data(), sizeof value);
  EXPECT_EQ(value, 100u);
  EXPECT_TRUE(bytes->written[0]);
  EXPECT_FALSE(s.session.shared(tile->address, 1 << 20));
  // the copy is the last thing that happened
  const Stop event = s.session.back_to_event();
  EXPECT_NE(event.instruction.find("cp.async.bulk"), std::string::npos) << event.instruction;
  EXPECT_EQ(s.session.mbarriers()[0].bytes, 4096);
  EXPECT_FALSE(s.session.shared(tile->address + 40, 4)->written[0]);
}

TEST(Session, UnswizzlesTiles) {
  // thread t writes t to where its word of a tile of 128-byte rows lies with the 128-byte swizzle
  Stepped s(R"(.shared .align 1024 .b8 tile[1024]; .reg .b32 %r<8>;
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; shr.u32 %r2, %r1, 3; and.b32 %r2, %r2, 112; xor.b32 %r1, %r1, %r2;
mov.u32 %r3, tile; add.u32 %r3, %r3, %r1; st.shared.u32 [%r3], %r0; bar.sync 0; ret;)",
            256);
  EXPECT_EQ(s.first("ret").why, Why::step);
  const auto variables = s.session.shared_variables();
  ASSERT_EQ(variables.size(), 2u);
  const auto plain = s.session.shared(variables[1].address, 1024, layout::Swizzle::b128);
  ASSERT_TRUE(plain);
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, plain->data.data() + 4 * i, sizeof value);
    EXPECT_EQ(value, i);
    EXPECT_TRUE(plain->written[4 * i]);
  }
}

TEST(Session, StopsAtFindings) {
  Options options;
  options.checks = Checks::full;
  Stepped s(R"(.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; st.global.u32 [%rd0], %r0; ret;)",
            64, options);
  const Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::finding);
  ASSERT_TRUE(stop.diagnostic);
  EXPECT_NE(stop.instruction.find("st.global"), std::string::npos);
  s.session.break_on_findings(false);
  s.session.restart();
  EXPECT_EQ(s.session.run().why, Why::ended);
}

TEST(Session, AFaultIsAStop) {
  Stepped s(".reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd0, [x]; mov.u32 %r0, 7;\nst.global.u32 [%rd0+4096], %r0; ret;",
            32);
  Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::fault);
  EXPECT_EQ(stop.diagnostic->kind, Kind::out_of_bounds);
  EXPECT_EQ(s.reg("%r0").low[0], 7u);
  stop = s.session.back();
  EXPECT_EQ(stop.why, Why::step);
  EXPECT_NE(stop.instruction.find("st.global"), std::string::npos);
  EXPECT_EQ(s.session.run().why, Why::fault);
  EXPECT_EQ(s.session.run().why, Why::fault);  // there is no more
}

TEST(Session, EndsWithItsRunUnderWay) {
  for (const std::uint64_t position : {0, 3, 7}) {
    Stepped s(loop_kernel, 64);
    s.session.go_to(position);
  }
  Stepped never(loop_kernel, 64);  // not begun
  EXPECT_TRUE(never.session.warps().empty());
  Stepped empty("ret;", 32);
  EXPECT_EQ(empty.session.run().why, Why::ended);
  EXPECT_EQ(empty.session.step().why, Why::ended);
  EXPECT_EQ(empty.session.back().position, 0u);
}

TEST(Session, WhoWaitsMayInterrupt) {
  const auto program = testing::text_program("", ".reg .b32 %r<2>;\nmov.u32 %r0, 0;\nL: add.u32 %r0, %r0, 1;\nbra L;");
  int asked = 0;
  Session session(
      [&](Observer& observer) {
        Options options;
        options.observer = &observer;
        options.max_instructions = 1u << 30;
        static_cast<void>(program->run(block(32), {}, {}, options));
      },
      [&] { return ++asked < 3; });
  const Stop stop = session.run();
  EXPECT_EQ(stop.why, Why::interrupted);
  EXPECT_GT(session.registers()[0].low[0], 0u);
}

// ---- conditions and watches

TEST(Session, StopsWhereARegisterHasAValue) {
  Stepped s(loop_kernel, 64);
  const std::uint32_t line = s.first("setp.le").ptx_line;
  s.session.restart();
  const auto stop_if = [&](std::string_view condition) {
    const std::size_t number = s.session.break_at({.ptx_line = line, .condition = *Condition::read(condition)});
    s.session.restart();
    const Stop stop = s.session.run();
    s.session.remove_breakpoint(number);
    return stop;
  };
  const Stop third = stop_if("%r1 == 3");
  ASSERT_EQ(third.why, Why::breakpoint);
  EXPECT_EQ(s.reg("%r1").low[31], 3u);
  EXPECT_EQ(third.warp, 0u);
  const Stop late = stop_if("r1>=40");
  ASSERT_EQ(late.why, Why::breakpoint);
  EXPECT_EQ(late.warp, 1u);  // its lanes go round more often
  EXPECT_EQ(stop_if("%r1 == 100").why, Why::ended);
  EXPECT_EQ(stop_if("%r1 < -1").why, Why::ended);
  EXPECT_EQ(stop_if("%p0 == true").why, Why::breakpoint);
  EXPECT_EQ(stop_if("%r7 == 0").why, Why::ended);      // nothing has written it
  EXPECT_EQ(stop_if("%nobody == 0").why, Why::ended);  // there is none
}

TEST(Session, ConditionsThatAreNone) {
  for (const auto& [text, words] : {std::pair("%r1", "has no operator"), std::pair("== 3", "names no register"),
                                    std::pair("%r1 == three", "compares with `three`, which is no number"),
                                    std::pair("%r1 < ", "compares with ``, which is no number")}) {
    const auto condition = Condition::read(text);
    ASSERT_FALSE(condition) << text;
    EXPECT_EQ(condition.error().kind, Kind::bad_setting);
    EXPECT_NE(condition.error().message.find(words), std::string::npos) << condition.error().message;
  }
  EXPECT_EQ(say_condition(*Condition::read(" r1 >=  0x10 ")), "%r1 >= 0x10");
}

TEST(Session, ComparesFloatingPointValues) {
  Stepped s(R"(.reg .f32 %f<3>; .reg .b32 %r<2>; .reg .s32 %s<2>;
mov.u32 %r0, %tid.x;
cvt.rn.f32.u32 %f0, %r0;
mul.f32 %f0, %f0, 0f3F000000;
sub.s32 %s0, %r0, 9;
mov.f32 %f1, %f0;
mov.f32 %f2, 0f7FC00000;
ret;)",
            8);
  const std::uint32_t line = s.first("ret").ptx_line;
  for (const auto& [condition, stops] :
       {std::pair("%f0 == 1.5", true), std::pair("%f1 > 3.5", false), std::pair("%f0 >= 3.5", true),
        std::pair("%f2 == nan", true), std::pair("%s0 < -8", true), std::pair("%s0 < -9", false), std::pair("%s0 > -3", true),
        std::pair("%s0 > -2", false), std::pair("%r0 == 0x7", true)}) {
    const std::size_t number = s.session.break_at({.ptx_line = line, .condition = *Condition::read(condition)});
    s.session.restart();
    EXPECT_EQ(s.session.run().why == Why::breakpoint, stops) << condition;
    s.session.remove_breakpoint(number);
  }
}

TEST(Session, StopsBehindWhatChangesMemory) {
  Stepped s(R"(.reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .b32 tile[64];
ld.param.u64 %rd0, [x];
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
mad.lo.u32 %r1, %r0, 4, %r1;
st.shared.u32 [%r1], %r0;
bar.sync 0;
mad.lo.u32 %r2, %r0, 2, 1;
st.shared.u32 [%r1], %r2;
st.global.u32 [%rd0+12], 9;
st.global.u32 [%rd0+12], 9;
ret;)",
            64);
  const std::size_t tile = s.session.watch({.is_shared = true, .name = "tile", .address = 4 * 40});
  const std::size_t x = s.session.watch({.name = "x", .address = 12});
  EXPECT_EQ(s.session.watches().size(), 2u);
  s.session.restart();
  Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::watch);
  EXPECT_EQ(stop.breakpoint, tile);
  EXPECT_EQ(stop.changed, "tile + 0xa0: 00000000 -> 28000000");
  EXPECT_EQ(stop.warp, 1u);
  EXPECT_NE(stop.instruction.find("st.shared.u32 [%r1], %r0"), std::string::npos) << stop.instruction;
  stop = s.session.run();
  EXPECT_EQ(stop.changed, "tile + 0xa0: 28000000 -> 51000000");
  stop = s.session.run();
  EXPECT_EQ(std::pair(stop.why, stop.breakpoint), std::pair(Why::watch, x));
  EXPECT_EQ(stop.changed, "x + 0xc: 00000000 -> 09000000");
  EXPECT_EQ(s.session.run().why, Why::ended);  // storing what is there changes nothing
  s.session.remove_breakpoint(tile);
  s.session.restart();
  EXPECT_EQ(s.session.run().breakpoint, x);
}

TEST(Session, StopsAtFindingsOfOneRule) {
  Options options;
  options.checks = Checks::full;
  Stepped s(R"(.reg .b32 %r<4>; .shared .align 4 .b32 tile[64];
mov.u32 %r0, %tid.x;
mov.u32 %r1, tile;
and.b32 %r2, %r0, 32;
st.shared.u32 [%r1], %r0;
ld.shared.u32 %r3, [%r1];
ret;)",
            64, options);
  s.session.break_on_findings(true, "R-ww");
  Stop stop = s.session.run();
  ASSERT_EQ(stop.why, Why::finding);
  EXPECT_EQ(stop.diagnostic->execution.front().rule, "R-ww");
}

}  // namespace
}  // namespace ptx::vgpu
