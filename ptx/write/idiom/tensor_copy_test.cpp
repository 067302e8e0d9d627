// Tensor copies: what is refused, with which words, and that nothing is written then.
#include "ptx/write/idiom/tensor_copy.hpp"

#include <gtest/gtest.h>

#include "tests/write/written.hpp"

#include "ptx/ir/ir.hpp"

namespace ptx::write::idiom {
namespace {

using write_test::Lines;
using write_test::written;

using write_test::here;

struct TensorCopy : ::testing::Test {
  Builder b{{.name = "k", .target = Target::sm_100a}};
  Value map = Value::of(*b.reg(Type::b64));
  Place smem{Value::of(*b.reg(Type::u32))}, mbar{Value::of(*b.reg(Type::u32)), 8};
  std::vector<Value> coords = {Value::of_integer(0), Value::of_integer(1)};

  TensorBox box(int rank) {
    coords.resize(static_cast<std::size_t>(rank), Value::of_integer(9));
    return {rank, map, coords};
  }
  std::string last(const Expected<void>& done) { return done ? written(b.module()).back() : render(done.error()); }
  std::string refused(const Expected<void>& done) {
    EXPECT_EQ(b.size(), 0u);
    if (done) return "it was written";
    EXPECT_EQ(done.error().where, here);
    return done.error().message;
  }
};

TEST_F(TensorCopy, LoadsOfEveryMode) {
  EXPECT_EQ(last(tensor_load(b, {}, smem, box(1), mbar, {}, {}, here)),
            "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r0], [%rd0, {0}], [%r1+8];");
  EXPECT_EQ(
      last(tensor_load(b, {.mode = TensorMode::tile, .shared_cta = true, .cta_group = 2}, smem, box(2), mbar, {}, {}, here)),
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r0], [%rd0, {0, 9}], "
      "[%r1+8];");
  EXPECT_EQ(last(tensor_load(b, {.mode = TensorMode::im2col}, smem, box(5), mbar, {.cache_hint = map}, {}, here)),
            "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint [%r0], [%rd0, {0, "
            "9, 9, 9, 9}], "
            "[%r1+8], {0, 0, 0}, %rd0;");
  TensorBox rows = box(5);
  rows.rank = 2;
  EXPECT_EQ(
      last(tensor_load(b, {.mode = TensorMode::gather4}, smem, rows, mbar, {.multicast_mask = Value::of_integer(3)}, {}, here)),
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster [%r0], "
      "[%rd0, {0, 9, 9, "
      "9, 9}], [%r1+8], 3;");
}

TEST_F(TensorCopy, RefusesWhatIsNoBox) {
  TensorBox wrong = box(3);
  wrong.rank = 2;
  EXPECT_EQ(refused(tensor_load(b, {}, smem, wrong, mbar, {}, {}, here)),
            "`cp.async.bulk.tensor.2d` is given 3 coordinates; what fits is 2: one a dimension, the fastest first");
  EXPECT_EQ(refused(tensor_store(b, TensorMode::scatter4, box(2), smem, {}, {}, here)),
            "`cp.async.bulk.tensor.2d.tile::scatter4` is given 2 coordinates; what fits is 5: the column, then four rows");
  EXPECT_EQ(refused(tensor_prefetch(b, TensorMode::im2col, box(2), {}, {}, {}, here)),
            "a tensor of 2 dimensions for `cp.async.bulk.prefetch.tensor.2d.im2col`; what fits is 3 to 5");
  EXPECT_EQ(refused(tensor_load(b, {}, smem, box(6), mbar, {}, {}, here)),
            "a tensor of 6 dimensions for `cp.async.bulk.tensor.6d`; what fits is 1 to 5");
  EXPECT_EQ(refused(tensor_load(b, {}, smem, box(2), std::nullopt, {}, {}, here)),
            "`cp.async.bulk.tensor.2d` into shared memory is given no mbarrier");
  EXPECT_EQ(refused(tensor_load(b, {.cta_group = 0}, smem, box(2), mbar, {}, {}, here)),
            "the `cta_group` of `cp.async.bulk.tensor.2d` is 0; what fits is 1 or 2");
  EXPECT_EQ(refused(tensor_reduce(b, "mul", box(2), smem, {}, {}, here)),
            "the operation of `cp.reduce.async.bulk.tensor.2d` is `mul`; what fits after "
            "`cp.reduce.async.bulk.tensor.2d.global.shared::cta` is "
            "`add`, `min`, `max`, `inc`, `dec`, `and`, `or` or `xor`");
}

TEST_F(TensorCopy, SlabsOfAMatrix) {
  const Value row = smem.base(), col = mbar.base();
  EXPECT_TRUE(slab_load(b, smem, map, {.row = row, .col = Value::of_integer(-64)}, mbar, {}, here));
  EXPECT_TRUE(slab_store(b, map, smem, {.row = row, .col = col}, {}, here));
  EXPECT_EQ(written(b.module()),
            (Lines{"cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {0, %r0, "
                   "-1}], [%r1+8];",
                   "shr.u32 %r2, %r1, 6;",
                   "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%rd0, {0, %r0, %r2}], [%r0];"}));
}

TEST_F(TensorCopy, RefusesSlabsWithoutAPlace) {
  EXPECT_EQ(refused(slab_load(b, smem, map, {}, mbar, {}, here)), "`ptx.tma.load_3d` is given no place in the matrix");
  EXPECT_EQ(refused(slab_store(b, map, smem, {.row = map}, {}, here)), "`ptx.tma.store_3d` is given no column");
  EXPECT_EQ(refused(slab_load(b, smem, map, {.row = map, .col = smem.base()}, std::nullopt, {}, here)),
            "`ptx.tma.load_3d` into shared memory is given no mbarrier");
  EXPECT_EQ(refused(slab_load_multicast(b, smem, map, {.coords = coords}, mbar, map, {}, here)),
            "`ptx.tma.load_3d_multicast` is given 2 coordinates; what fits is 3");
}

}  // namespace
}  // namespace ptx::write::idiom
