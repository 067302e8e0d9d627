#include "ptx/write/idiom/tcgen05.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/write/written.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::write::idiom {
namespace {

using write_test::Lines;
using write_test::written;

class Tcgen05Test : public ::testing::Test {
 protected:
  Builder b{{.name = "k", .target = Target::sm_100a}};
  Where here{.file = "author.py", .line = 7};
  Value taddr = Value::of(*b.reg(Type::u32)), desc = Value::of(*b.reg(Type::b64));
  Tcgen05Mma mma() {
    Tcgen05Mma m;
    m.d = Place(taddr);
    m.a_descriptor = m.b_descriptor = desc;
    m.idesc = Value::of_integer(1);
    m.enable = Value::of_integer(1);
    return m;
  }
  std::string last() { return written(b.module()).back(); }
};

TEST_F(Tcgen05Test, ADenseProductNamesTheLanesThatItLeavesAlone) {
  ASSERT_TRUE(tcgen05_mma(b, mma(), {}, here));
  EXPECT_EQ(written(b.module()), (Lines{"mov.u32 %r1, 1;", "setp.ne.b32 %p0, %r1, 0;", "mov.u32 %r2, 0;",
                                        "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd0, 1, {%r2, %r2, %r2, %r2}, %p0;"}));
  Builder older({.name = "k", .target = Target::sm_100a, .version = Version{8, 7}});
  Tcgen05Mma m = mma();
  m.d = Place(Value::of(*older.reg(Type::b32)));
  m.a_descriptor = m.b_descriptor = Value::of(*older.reg(Type::u64));
  m.enable = Value::of(*older.reg(Type::pred));
  ASSERT_TRUE(tcgen05_mma(older, m, {}, here));
  EXPECT_EQ(written(older.module()), (Lines{"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd0, 1, %p0;"}));
}

TEST_F(Tcgen05Test, EveryKindIsWrittenAsTheTableHasIt) {
  for (const std::string_view kind : {"f16", "tf32", "i8", "f8f6f4"})
    for (const std::string_view collector : {"", "fill", "use", "lastuse", "discard"})
      for (const bool sparse : {false, true}) {
        Tcgen05Mma m = mma();
        m.kind = kind;
        m.collector_a = collector;
        m.sparse = sparse;
        if (sparse) m.sparse_metadata = Place(taddr);
        const auto done = tcgen05_mma(b, m, {}, here);
        ASSERT_TRUE(done) << render(done.error());
        EXPECT_EQ(last().rfind(cat("tcgen05.mma", sparse ? ".sp" : "", ".cta_group::1.kind::", kind,
                                   collector.empty() ? "" : ".collector::a::", collector, " ["),
                               0),
                  0u)
            << last();
      }
}

TEST_F(Tcgen05Test, ScalesBelongToTheKindsThatHaveThem) {
  for (const std::string_view kind : {"mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    Tcgen05Mma m = mma();
    m.kind = kind;
    const std::size_t before = b.size();
    const auto refused = tcgen05_mma(b, m, {}, here);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
    EXPECT_EQ(b.size(), before);
    m.scale_a = m.scale_b = Place(taddr, 4);
    m.scale_size = kind == "mxf4nvf4" ? "block16" : "block32";
    ASSERT_TRUE(tcgen05_mma(b, m, {}, here));
    EXPECT_NE(last().find("1, [%r0+4], [%r0+4], %p"), std::string::npos) << last();
  }
  Tcgen05Mma m = mma();
  m.scale_a = m.scale_b = Place(taddr);
  EXPECT_FALSE(tcgen05_mma(b, m, {}, here));
}

TEST_F(Tcgen05Test, TransfersCountTheirRegisters) {
  const RegArray array = *b.array(Type::b32, 8);
  std::vector<Reg> eight;
  for (std::uint32_t i = 0; i < 8; ++i) eight.push_back(b.at(array, i));
  struct Case {
    std::string_view shape;
    std::int64_t count;
  };
  for (const Case& c : {Case{"32x32b", 8}, Case{"16x64b", 8}, Case{"16x128b", 4}, Case{"16x256b", 2}}) {
    ASSERT_TRUE(tcgen05_ld(b, {Place(taddr), eight, c.shape, c.count}, {}, here)) << c.shape;
    ASSERT_TRUE(tcgen05_st(b, {Place(taddr), eight, c.shape, c.count}, {}, here)) << c.shape;
    const auto refused = tcgen05_ld(b, {Place(taddr), eight, c.shape, c.count / 2}, {}, here);
    ASSERT_FALSE(refused) << c.shape;
    EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
    EXPECT_NE(refused.error().message.find("is given 8 registers"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(tcgen05_ld(b, {Place(taddr), eight, "16x32bx2", 8}, {}, here).error().kind, Kind::operand_count);
}

TEST_F(Tcgen05Test, ACommitToSeveralCtasNeedsItsMask) {
  ASSERT_TRUE(tcgen05_commit(b, {.mbar = Place(taddr, 8), .space = "cta"}, {}, here));
  EXPECT_EQ(last(), "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0+8];");
  ASSERT_TRUE(tcgen05_commit(b, {.mbar = Place(taddr), .multicast_mask = Value::of_integer(3)}, {}, here));
  EXPECT_EQ(last(), "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r0], %rs0;");
  const auto refused = tcgen05_commit(b, {.mbar = Place(taddr), .multicast = true}, {}, here);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
}

}  // namespace
}  // namespace ptx::write::idiom
