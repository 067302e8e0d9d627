// Asynchronous copies in C++: the program that tests/python/test_copies.py writes too, and errors at the author's lines.
#include "ptx/write/door/copies.hpp"

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/written.hpp"

namespace ptx {
namespace {

using write_test::written;

TEST(CopiesDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "copies", .in_specs = {{"X", {64, 64}, bf16}}, .out_specs = {{"Y", {64, 64}, bf16}}, .arch = sm_100a});
  auto tile = k.smem.alloc<bf16>({2, 64, 64});
  auto full = k.smem.mbarrier(2);
  auto [x, y] = k.global_ptrs("X", "Y");
  auto tid = k.from_<u32>(tid_x);
  auto mask = k.scalar<b16>(3);
  auto policy = k.scalar<b64>(0);
  auto first = tid == 0;
  auto smem = k.smem.base("smem_0");

  k.cp.async_.cg(smem, addr(x, 16), 16);
  k.cp.async_.ca(addr(smem, 32), x, 8, {.src_size = tid, .cache_hint = policy, .pred = !first});
  k.cp.async_.commit_group();
  k.cp.async_.wait_group(1);
  k.cp.async_.wait_all(first);

  auto& bulk = k.cp.async_.bulk;
  bulk({.dst = tile, .src = x, .size = 4096, .mbar = full[0], .multicast_mask = mask, .cache_hint = policy, .pred = first});
  bulk.shared_cta_global({.dst = tile[1], .src = x, .size = 4096, .mbar = full[1]});
  bulk.shared_cluster_shared_cta({.dst = smem, .src = tile[1], .size = 4096, .mbar = smem});
  bulk.store({.dst = y, .src = tile, .size = 4096, .cache_hint = policy, .byte_mask = mask});
  bulk.prefetch({.src = x, .size = 4096});
  k.cp.reduce.async_.bulk("add", bf16, {.dst = y, .src = tile, .size = 4096});
  k.cp.reduce.async_.bulk("min", s32, {.dst = smem, .src = tile, .size = 4096, .mbar = smem});
  k.cp.async_bulk.commit_group();
  bulk.wait_group(1, {.read = true});
  bulk.wait_group(0);

  bulk.tensor_1d({.dst = tile, .src = x, .coord = {0}, .mbar = full[0]});
  bulk.tensor_2d(
      {.dst = tile[1], .src = x, .coord = {tid, 64}, .mbar = full[1], .cta_group = 2, .multicast_mask = 3, .pred = !first});
  bulk.tensor_3d.store({.dst = y, .src = tile[1], .coord = {0, tid, -1}, .cache_hint = policy});
  bulk.tensor_4d.shared_cta_global_tile({.dst = tile, .src = x, .coord = {0, 0, 0, 0}, .mbar = full[0], .cta_group = 2});
  bulk.tensor_5d.prefetch({.src = x, .coord = {0, 1, 2, 3, 4}});
  bulk.tensor.tile_2d(tile, x, {0, tid}, {.mbar = full[0], .cache_hint = policy, .multicast_mask = mask});
  bulk.tensor.im2col_4d(tile, x, {0, 1, 2, 3}, {.mbar = full[0]});
  bulk.tensor.im2col_5d(tile, x, {0, 1, 2, 3, 4}, {.mbar = full[0], .offsets = {0, mask, 2}});
  bulk.tensor.gather4_2d(tile, x, {0, 4, 5, 6, 7}, {.mbar = full[0]});
  bulk.tensor.scatter4_2d(y, tile, {0, 4, 5, 6, 7});
  bulk.tensor.store_3d(y, tile, {0, 1, 2}, {.cache_hint = policy});
  bulk.tensor.prefetch_im2col_3d(x, {0, 1, 2});
  bulk.tensor.prefetch_gather4_2d(x, {0, 4, 5, 6, 7}, {.cache_hint = policy});
  k.cp.reduce.async_.bulk.tensor_2d("max", {.dst = y, .src = tile, .coord = {0, tid}});

  k.tma.load_3d({.dst = tile, .src = x, .row = tid, .col = 128, .mbar = full[0]});
  k.tma.load_3d({.dst = tile, .src = x, .row = 0, .col = tid, .mbar = full[0], .pred = first});
  k.tma.load_3d_multicast({.dst = tile, .src = x, .row = 0, .col = tid, .mbar = full[0], .mask = mask, .issuer = 1});
  k.tma.load_3d_multicast({.dst = tile, .src = x, .mbar = full[0], .mask = 3, .coords = {1, 2, tid}, .pred = !first});
  k.tma.store_3d({.dst = y, .src = tile[1], .row = tid, .col = -64});
  k << inst.ret();
  write_test::expect_golden(k, "copies");
}

TEST(CopiesDoor, DynamicSharedMemoryIsAddressedByARegister) {
  Kernel k({.name = "k", .smem = 64 * 1024});
  auto map = k.scalar<b64>();
  auto tile = k.smem.alloc<bf16>({2, 64});
  auto full = k.smem.mbarrier(2);
  k.cp.async_.bulk.tensor_1d({.dst = tile[1], .src = map, .coord = {0}, .mbar = full[1]});
  EXPECT_EQ(written(k.builder().module()),
            (write_test::Lines{
                "mov.b32 %r0, dyn_smem;", "add.s32 %r0, %r0, 128;", "mov.b32 %r1, dyn_smem;", "add.s32 %r1, %r1, 264;",
                "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {0}], [%r1];"}));
}

TEST(CopiesDoor, KeepsTheFirstErrorWithItsLine) {
  Kernel k({.name = "k"});
  auto map = k.scalar<b64>();
  auto smem = k.scalar<u32>();
  const auto line = static_cast<std::uint32_t>(__LINE__ + 1);
  k.cp.async_.bulk.tensor_2d({.dst = smem, .src = map, .coord = {0}, .mbar = smem});
  k.tma.load_3d({.dst = smem, .src = map, .mbar = smem});
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::operand_mismatch);
  EXPECT_EQ(module.error().where.line, line);
}

TEST(CopiesDoor, RefusesPlacesOfAnotherKernel) {
  Kernel other({.name = "other"}), k({.name = "k"});
  auto map = k.scalar<b64>();
  auto theirs = other.smem.alloc<bf16>(64);
  k.cp.async_.bulk.tensor_1d.store({.dst = map, .src = theirs, .coord = {0}});
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::undefined_symbol);
}

// What lies behind an allocation is another one's.
TEST(CopiesDoor, RefusesCopiesLargerThanTheirTile) {
  const auto refused = [](std::uint32_t smem, auto write) {
    Kernel k({.name = "k",
              .in_specs = {{"X", {"M", 64}, bf16, Layout::tma_128b, {64, 64}}},
              .out_specs = {{"Y", {256, 64}, bf16, Layout::tma_128b, {128, 64}}},
              .smem = smem});
    auto tile = k.smem.alloc<bf16>({2, 32, 64});
    auto behind = k.smem.alloc<bf16>({2, 32, 64});
    auto full = k.smem.mbarrier(1);
    write(k, tile, full);
    const auto module = k.module();
    return module ? std::string("written") : module.error().message;
  };
  using Tile = SharedAlloc<bf16>;
  using Barriers = MbarrierArray;
  const auto bulk = [](int stage, int size) {
    return [=](Kernel& k, Tile& tile, Barriers& full) {
      auto [x, y] = k.global_ptrs("X", "Y");
      k.cp.async_.bulk({.dst = tile[stage], .src = x, .size = size, .mbar = full[0]});
    };
  };
  for (const auto& [smem, name] : {std::pair{0u, "`smem_0`"}, {64u * 1024, "an allocation of shared memory"}}) {
    EXPECT_EQ(refused(smem, bulk(0, 8192)), "written");
    EXPECT_EQ(refused(smem, bulk(1, 4096)), "written");
    EXPECT_EQ(refused(smem, bulk(0, 8208)),
              cat("`cp.async.bulk` copies 8208 bytes to ", name, ", of which 8192 bytes are left there"));
    EXPECT_EQ(refused(smem, bulk(1, 4112)),
              cat("`cp.async.bulk` copies 4112 bytes to ", name, ", of which 4096 bytes are left there"));
    EXPECT_EQ(refused(smem,
                      [](Kernel& k, Tile& tile, Barriers&) {
                        auto [x, y] = k.global_ptrs("X", "Y");
                        k.cp.async_.bulk.store({.dst = y, .src = tile, .size = 16384});
                      }),
              cat("`cp.async.bulk` copies 16384 bytes from ", name, ", of which 8192 bytes are left there"));
    const auto load = [](int stage) {
      return [=](Kernel& k, Tile& tile, Barriers& full) {
        k.cp.async_.bulk.tensor_2d({.dst = tile[stage], .src = k.tma_desc("X"), .coord = {0, 0}, .mbar = full[0]});
      };
    };
    EXPECT_EQ(refused(smem, load(0)), "written");
    EXPECT_EQ(refused(smem, load(1)),
              cat("`cp.async.bulk.tensor.2d` copies a box of 8192 bytes to ", name, ", of which 4096 bytes are left there"));
    EXPECT_EQ(refused(smem,
                      [](Kernel& k, Tile& tile, Barriers&) {
                        k.cp.async_.bulk.tensor_2d.store({.dst = k.tma_desc("Y"), .src = tile, .coord = {0, 0}});
                      }),
              cat("`cp.async.bulk.tensor.2d` copies a box of 16384 bytes from ", name, ", of which 8192 bytes are left there"));
  }
}

TEST(CopiesDoor, BoxesOfTensorMapsThatAreGiven) {
  const std::int64_t shape[] = {256, 64}, box[] = {128, 64};
  const layout::TensorMap map = *layout::tiled_tensor_map(layout::TensorMapType::bf16, shape, box, layout::Swizzle::none);
  Kernel k(
      {.name = "k", .in_specs = {{"X", {256, 64}, bf16, Layout::row, {64, 64}}}, .tensor_maps = {{.tensor = "X", .map = map}}});
  auto tile = k.smem.alloc<bf16>({64, 64});
  auto full = k.smem.mbarrier(1);
  k.cp.async_.bulk.tensor_2d({.dst = tile, .src = k.tma_desc("X"), .coord = {0, 0}, .mbar = full[0]});
  const auto line = static_cast<std::uint32_t>(__LINE__ - 1);
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::shared_memory_size);
  EXPECT_EQ(module.error().where.line, line);
  EXPECT_EQ(module.error().message,
            "`cp.async.bulk.tensor.2d` copies a box of 16384 bytes to `smem_0`, of which 8192 bytes are left there");
}

}  // namespace
}  // namespace ptx
