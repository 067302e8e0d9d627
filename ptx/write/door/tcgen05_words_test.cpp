#include "ptx/write/door/tcgen05.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/write/written.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::write {
namespace {

using write_test::Lines;
using write_test::written;

// What a helper wrote, or why it did not: its error is kept in the builder.
Expected<void> result_of(Builder& builder) {
  if (auto failed = builder.take_failure()) return Unexpected{*std::move(failed)};
  return {};
}

class Tcgen05Words : public ::testing::Test {
 protected:
  Builder b{{.name = "k", .target = Target::sm_100a}};
  SourceLocation here{.file = "author.py", .line = 7};
  Value taddr = Value::of(*b.reg(Type::u32)), desc = Value::of(*b.reg(Type::b64));
  TmemArg at(const Value& base, std::int64_t columns = 0) { return {nullptr, Place(base, columns), here}; }
  Expected<void> mma(const Tcgen05MmaOptions& options) { return mma(b, taddr, desc, options); }
  Expected<void> mma(Builder& builder, const Value& d, const Value& factor, const Tcgen05MmaOptions& options) {
    Tcgen05(builder).mma(at(d), at(factor), at(factor), 1, options);
    return result_of(builder);
  }
  std::string last() { return written(b.module()).back(); }
};

TEST_F(Tcgen05Words, ADenseProductNamesTheLanesThatItLeavesAlone) {
  ASSERT_TRUE(mma({}));
  EXPECT_EQ(written(b.module()), (Lines{"mov.u32 %r1, 1;", "setp.ne.b32 %p0, %r1, 0;", "mov.u32 %r2, 0;",
                                        "tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd0, 1, {%r2, %r2, %r2, %r2}, %p0;"}));
  Builder older({.name = "k", .target = Target::sm_100a, .version = Version{8, 7}});
  Tcgen05MmaOptions m;
  const Value d = Value::of(*older.reg(Type::b32)), factor = Value::of(*older.reg(Type::u64));
  m.enable_input_d.value = Value::of(*older.reg(Type::pred));
  ASSERT_TRUE(mma(older, d, factor, m));
  EXPECT_EQ(written(older.module()), (Lines{"tcgen05.mma.cta_group::1.kind::f16 [%r0], %rd0, %rd0, 1, %p0;"}));
}

TEST_F(Tcgen05Words, EveryKindIsWrittenAsTheTableHasIt) {
  for (const std::string_view kind : {"f16", "tf32", "i8", "f8f6f4"})
    for (const std::string_view collector : {"", "fill", "use", "lastuse", "discard"})
      for (const bool sparse : {false, true}) {
        Tcgen05MmaOptions m;
        m.kind = kind;
        m.collector_a = collector;
        m.sparse = sparse;
        if (sparse) m.sparse_metadata = at(taddr);
        const auto done = mma(m);
        ASSERT_TRUE(done) << render(done.error());
        EXPECT_EQ(last().rfind(cat("tcgen05.mma", sparse ? ".sp" : "", ".cta_group::1.kind::", kind,
                                   collector.empty() ? "" : ".collector::a::", collector, " ["),
                               0),
                  0u)
            << last();
      }
}

TEST_F(Tcgen05Words, ScalesBelongToTheKindsThatHaveThem) {
  for (const std::string_view kind : {"mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    Tcgen05MmaOptions m;
    m.kind = kind;
    const std::size_t before = b.size();
    const auto refused = mma(m);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
    EXPECT_EQ(b.size(), before);
    m.scale_a = m.scale_b = at(taddr, 4);
    m.scale_size = kind == "mxf4nvf4" ? "block16" : "block32";
    ASSERT_TRUE(mma(m));
    EXPECT_NE(last().find("1, [%r0+4], [%r0+4], %p"), std::string::npos) << last();
  }
  Tcgen05MmaOptions m;
  m.scale_a = m.scale_b = at(taddr);
  EXPECT_FALSE(mma(m));
}

TEST_F(Tcgen05Words, TransfersCountTheirRegisters) {
  const RegArray array = *b.array(Type::b32, 8);
  Registers eight;
  for (std::uint32_t i = 0; i < 8; ++i) eight.regs.push_back(b.at(array, i));
  const auto load = [&](std::string_view shape, std::int64_t count) {
    Tcgen05(b).ld(eight, at(taddr), {.shape = shape, .count = count});
    return result_of(b);
  };
  const auto store = [&](std::string_view shape, std::int64_t count) {
    Tcgen05(b).st(at(taddr), eight, {.shape = shape, .count = count});
    return result_of(b);
  };
  struct Case {
    std::string_view shape;
    std::int64_t count;
  };
  for (const Case& c : {Case{"32x32b", 8}, Case{"16x64b", 8}, Case{"16x128b", 4}, Case{"16x256b", 2}}) {
    ASSERT_TRUE(load(c.shape, c.count)) << c.shape;
    ASSERT_TRUE(store(c.shape, c.count)) << c.shape;
    const auto refused = load(c.shape, c.count / 2);
    ASSERT_FALSE(refused) << c.shape;
    EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
    EXPECT_NE(refused.error().message.find("is given 8 registers"), std::string::npos) << refused.error().message;
  }
  EXPECT_EQ(load("16x32bx2", 8).error().kind, Kind::operand_count);
}

TEST_F(Tcgen05Words, ACommitToSeveralCtasNeedsItsMask) {
  const auto commit = [&](std::int64_t offset, const Tcgen05CommitOptions& options) {
    Tcgen05(b).commit(at(taddr, offset), options);
    return result_of(b);
  };
  ASSERT_TRUE(commit(8, {.space = "cta"}));
  EXPECT_EQ(last(), "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r0+8];");
  ASSERT_TRUE(commit(0, {.multicast_mask = 3}));
  EXPECT_EQ(last(), "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r0], %rs0;");
  const auto refused = commit(0, {.multicast = true});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::operand_mismatch);
}

}  // namespace
}  // namespace ptx::write
