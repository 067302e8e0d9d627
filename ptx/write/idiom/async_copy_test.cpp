// `cp.async` and bulk copies: the words and operands of every option, and what is refused.
#include "ptx/write/idiom/async_copy.hpp"

#include <gtest/gtest.h>

#include "tests/write/written.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::write::idiom {
namespace {

using write_test::written;

using write_test::here;

struct AsyncCopy : ::testing::Test {
  Builder b{{.name = "k", .target = Target::sm_100a}};
  Value policy = Value::of(*b.reg(Type::b64)), mask = Value::of(*b.reg(Type::b16));
  Place global{policy}, smem{Value::of(*b.reg(Type::u32)), -16};

  std::string last(const Expected<void>& done) { return done ? written(b.module()).back() : render(done.error()); }
  Diagnostic refused(const Expected<void>& done) {
    EXPECT_EQ(b.size(), 0u);
    EXPECT_FALSE(done);
    return done ? Diagnostic{} : done.error();
  }
};

TEST_F(AsyncCopy, FewBytesAThread) {
  const Value sixteen = Value::of_integer(16);
  EXPECT_EQ(last(cp_async(b, CopyCaches::cg, smem, global, sixteen, {}, {}, here)),
            "cp.async.cg.shared.global [%r0+-16], [%rd0], 16;");
  EXPECT_EQ(last(cp_async(b, CopyCaches::ca, smem, global, sixteen, {.src_size = Value::of_integer(8), .cache_hint = policy}, {},
                          here)),
            "cp.async.ca.shared.global.L2::cache_hint [%r0+-16], [%rd0], 16, 8, %rd0;");
}

TEST_F(AsyncCopy, SizesItDoesNotHave) {
  for (const auto& [caches, size] :
       {std::pair{CopyCaches::cg, 8}, {CopyCaches::cg, 4}, {CopyCaches::ca, 12}, {CopyCaches::ca, 32}})
    EXPECT_EQ(refused(cp_async(b, caches, smem, global, Value::of_integer(size), {}, {}, here)).kind, Kind::immediate_range)
        << size;
}

TEST_F(AsyncCopy, BulkRoutes) {
  BulkCopy copy{.dst = smem, .src = global, .size = Value::of_integer(64), .mbar = smem};
  EXPECT_EQ(last(bulk_copy(b, copy, {.multicast_mask = mask, .cache_hint = policy}, {}, here)),
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [%r0+-16], "
            "[%rd0], 64, "
            "[%r0+-16], %rs0, %rd0;");
  copy.route = BulkRoute::global_to_cta;
  EXPECT_EQ(last(bulk_copy(b, copy, {}, {}, here)),
            "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r0+-16], [%rd0], 64, [%r0+-16];");
  copy = {.route = BulkRoute::cta_to_cluster, .dst = smem, .src = smem, .size = Value::of_integer(64), .mbar = smem};
  EXPECT_EQ(last(bulk_copy(b, copy, {}, {}, here)),
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r0+-16], [%r0+-16], 64, [%r0+-16];");
  EXPECT_EQ(last(bulk_reduce(b, "xor", Type::b32, copy, {}, {}, here)),
            "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.xor.b32 [%r0+-16], [%r0+-16], 64, "
            "[%r0+-16];");
  copy = {.route = BulkRoute::cta_to_global, .dst = global, .src = smem, .size = Value::of_integer(64)};
  EXPECT_EQ(last(bulk_copy(b, copy, {.cache_hint = policy, .byte_mask = mask}, {}, here)),
            "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%rd0], [%r0+-16], 64, %rd0, %rs0;");
  EXPECT_EQ(last(bulk_reduce(b, "add", Type::bf16, copy, {.cache_hint = policy}, {}, here)),
            "cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.add.noftz.bf16 [%rd0], [%r0+-16], 64, %rd0;");
}

TEST_F(AsyncCopy, WhatBulkCopiesRefuse) {
  BulkCopy copy{.dst = smem, .src = global, .size = Value::of_integer(64)};
  EXPECT_EQ(refused(bulk_copy(b, copy, {}, {}, here)).message, "`cp.async.bulk` into shared memory is given no mbarrier");
  copy.route = BulkRoute::cta_to_global;
  copy.mbar = smem;
  EXPECT_EQ(refused(bulk_copy(b, copy, {}, {}, here)).message,
            "`cp.async.bulk` to global memory takes no mbarrier, but is given one");
  copy.mbar.reset();
  EXPECT_EQ(refused(bulk_reduce(b, "max", Type::f32, copy, {}, {}, here)).message,
            "the type of `cp.reduce.async.bulk` is `f32`; what fits after "
            "`cp.reduce.async.bulk.global.shared::cta.bulk_group.max` is `u32`, "
            "`s32`, `u64`, `s64`, `f16` or `bf16`");
}

}  // namespace
}  // namespace ptx::write::idiom
