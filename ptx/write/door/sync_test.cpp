// Barriers, fences, clusters and pipelines in C++: the program that tests/python/test_sync.py writes too.
#include "ptx/write/door/sync.hpp"

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/written.hpp"

namespace ptx {
namespace {

using write_test::Lines;
using write_test::written;

TEST(SyncDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "synchronise",
            .in_specs = {{"X", {64, 64}, bf16}},
            .out_specs = {{"Y", {64, 64}, bf16}},
            .raw_params = {{"n", u32}},
            .smem = 65536,
            .extern_smem = "tiles",
            .version = Version{8, 6},
            .raw_directives = {{"maxntid", {256}}, {"minnctapersm", {1}}}});
  auto n = k.param<u32>("n");
  auto first = n == 0;
  auto full = k.smem.mbarrier(2);

  k.mbarrier.init(full[0], 1);
  k.mbarrier.init(full[1], n, first);
  k.fence.mbarrier_init();
  k.if_(first, [&] { k.tma_desc("Y"); });
  k.scope([&] { k.tma_desc("X"); });
  k.tma_desc("Y");
  auto state = k.mbarrier.arrive(full[0]);
  k.mbarrier.try_wait(full[0], state, {.parity = false});
  k.mbarrier.try_wait(full[0], 1);
  k.mbarrier.arrive_expect_tx(full[1], 4096, !first);
  k.mbarrier.expect_tx(full[1], n);
  k.mbarrier.wait(full[0], 0);
  k.mbarrier.wait(full[1], n, first);
  k.mbarrier.wait(full[1], n, !first);
  k.mbarrier.inval(full[1]);

  auto base = k.smem.base();
  auto ring = k.mbarrier.array(base, 64, 3);
  ring.init_all(1);
  auto pipe = k.pipeline(3);
  auto [stage, phase] = pipe.advance();
  auto slot = ring.at(stage);
  k.if_(first, [&] { slot.arrive_expect_tx(64); });
  slot.wait(phase);
  slot.arrive();
  ring[1].init(2);
  ring[1].wait(0, first);
  slot.arrive_remote(1, 2, !first);
  ring[0].arrive_remote(n);
  ring.arrive_remote_all(0);
  (void)slot.addr_reg();
  (void)ring[2].addr_reg();
  k << inst.mbarrier.init.shared__cta.b64(addr(ring[2]), 7);
  auto by_name = k.mbarrier.array(addr("tiles"), 0, 2);
  by_name[1].init(1);
  by_name.at(stage).init(1);

  k.fence.proxy_async();
  k.fence.proxy_async(first);
  k.fence.proxy_async_shared_cta();
  k.fence.proxy_async_generic_acquire_shared_cluster(!first);
  k.cluster.arrive();
  k.cluster.wait({.aligned = true});
  k.cluster.sync();
  k.cluster.rank(1);
  k.cluster.map_shared_u32(base, 1);
  k.cluster.map_shared_u32(full[0], n);
  k.cluster.arrive_remote(full[1], 1);
  k.cluster.arrive_multicast(base, 0b101);

  k.bar.sync();
  k.bar.sync(1, 64);
  k.named_barrier(3, {.count = 128}).sync();
  k.named_barrier(n).sync();
  k.setmaxnreg(40, false);
  k.setmaxnreg_inc(232);
  auto lane = k.scalar<b32>();
  auto chosen = k.scalar<pred>();
  k.elect_sync(lane, chosen, 0xFFFFFFFF);
  k << inst.ret();
  write_test::expect_golden(k, "sync");
  EXPECT_EQ(k.boundary().tma_tensors, (std::vector<std::string>{"Y", "X"}));
}

TEST(SyncDoor, WhatIsGivenIsJudgedAtTheAuthorsLine) {
  const auto error_of = [](auto write) {
    Kernel k({.name = "synchronise"});
    write(k);
    const auto module = k.module();
    EXPECT_FALSE(module);
    return module ? Diagnostic{} : module.error();
  };
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  const Diagnostic d = error_of([](Kernel& k) { k.mbarrier.wait(k.smem.mbarrier(1)[0], 2); });
  EXPECT_EQ(d.kind, Kind::immediate_range);
  EXPECT_EQ(d.where.line, line);
  EXPECT_EQ(error_of([](Kernel& k) { k.mbarrier.array(k.scalar<u32>(0), 4, 2); }).kind, Kind::bad_declaration);
  EXPECT_EQ(error_of([](Kernel& k) { k.mbarrier.array(k.scalar<u32>(0), 0, 0); }).kind, Kind::bad_declaration);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.mbarrier.array(k.scalar<u32>(0), 0, 2)[2]; }).kind, Kind::bad_operator);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.pipeline(0); }).kind, Kind::immediate_range);
  EXPECT_EQ(error_of([](Kernel& k) { k.cluster.arrive_multicast(k.scalar<u32>(0), 0); }).kind, Kind::immediate_range);
  EXPECT_EQ(error_of([](Kernel& k) { k.cluster.arrive_multicast(k.scalar<u32>(0), 1 << 16); }).kind, Kind::immediate_range);
  EXPECT_EQ(error_of([](Kernel& k) { k.setmaxnreg(41); }).kind, Kind::immediate_range);
  EXPECT_EQ(error_of([](Kernel& k) { k.tma_desc("A B"); }).kind, Kind::bad_declaration);
}

TEST(SyncDoor, EveryBarrierTakesAGuard) {
  Kernel k({.name = "guarded"});
  auto lane = k.scalar<b32>();
  auto chosen = k.scalar<pred>();
  k.bar.sync(1, 64, chosen);
  k.named_barrier(3, {.count = 128}).sync(!chosen);
  k.cluster.sync({.aligned = true, .pred = chosen});
  k.setmaxnreg(40, false, chosen);
  k.setmaxnreg_inc(232, !chosen);
  k.elect_sync(lane, chosen, 0xFFFFFFFF, !chosen);
  EXPECT_EQ(written(k.builder().module()),
            (Lines{"@%p0 bar.sync 1, 64;", "@!%p0 bar.sync 3, 128;", "@%p0 barrier.cluster.arrive.aligned;",
                   "@%p0 barrier.cluster.wait.aligned;", "@%p0 setmaxnreg.dec.sync.aligned.u32 40;",
                   "@!%p0 setmaxnreg.inc.sync.aligned.u32 232;", "@!%p0 elect.sync %r0|%p0, 4294967295;"}));
}

// A slot made in front of a branch has its address whichever way the kernel goes.
TEST(SyncDoor, ASlotsAddressIsComputedWhereItIsMade) {
  Kernel k({.name = "synchronise"});
  auto base = k.scalar<u32>(0), stage = k.scalar<u32>(1);
  auto slot = k.mbarrier.array(base, 0, 4).at(stage);
  const std::size_t before = k.builder().size();
  k.if_(stage == 0, [&] { slot.arrive(); });
  slot.arrive();
  const Lines lines = written(k.builder().module());
  EXPECT_EQ(lines[2], "shl.b32 %r2, %r1, 3;");
  EXPECT_EQ(lines[3], "add.u32 %r3, %r0, %r2;");
  EXPECT_EQ(before, 4u);
  EXPECT_EQ(lines.back(), "mbarrier.arrive.shared.b64 %rd1, [%r3];");
}

}  // namespace
}  // namespace ptx
