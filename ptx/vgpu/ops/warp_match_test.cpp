// Matches of lanes, reductions of floating-point numbers over a warp, and exchanges without .sync.
#include <cmath>
#include <map>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::Operands;
using testing::params;

constexpr std::uint32_t masks[] = {0xFFFFFFFFu, 0x80000F00u, 0x00000010u, 0x5A5A5A5Au};

// A warp's values for each way that they may repeat.
std::vector<Operands> warps() {
  std::vector<Operands> rows;
  std::mt19937_64 random(23);
  for (const std::uint64_t kinds : {1u, 2u, 3u, 5u, 32u})
    for (int round = 0; round < 4; ++round) {
      std::vector<std::uint64_t> values(kinds);
      for (std::uint64_t& v : values) v = random();
      if (kinds > 1) values[1] = values[0] ^ std::uint64_t{1} << (round < 2 ? 63 : 31);  // the same but for one half
      for (int l = 0; l < 32; ++l) rows.push_back({random(), values[random() % kinds], 0, 0});
    }
  return rows;
}

TEST(Match, AnyAndAll) {
  const auto rows = warps();
  for (const std::uint32_t members : masks)
    for (const int width : {32, 64}) {
      const std::string type = cat('b', width);
      const std::uint64_t bits = width == 64 ? ~std::uint64_t{0} : 0xFFFFFFFFu;
      const std::array<std::string, 4> types = {"b32", type, "", ""};
      const auto any = testing::run_rows(cat("match.any.sync.", type, " %vd, %va, ", members), types, rows, members);
      const auto all = testing::run_rows(cat("match.all.sync.", type, " %vd|%p2, %va, ", members), types, rows, members);
      const auto alone = testing::run_rows(cat("match.all.sync.", type, " %vd, %va, ", members), types, rows, members);
      const auto same =
          testing::run_rows(cat("match.all.sync.", type, " _|%vd, %va, ", members), {"pred", type, "", ""}, rows, members);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        if ((members >> (i % 32) & 1) == 0) {
          ASSERT_EQ(any[i], static_cast<std::uint32_t>(rows[i].d));
          ASSERT_EQ(same[i], static_cast<std::uint32_t>(rows[i].d) != 0 ? 1u : 0u);
          continue;
        }
        std::map<std::uint64_t, std::uint32_t> groups;
        for (std::size_t l = 0; l < 32; ++l)
          if ((members >> l & 1) != 0) groups[rows[i / 32 * 32 + l].a & bits] |= 1u << l;
        ASSERT_EQ(any[i], groups[rows[i].a & bits]) << width << " lane " << i % 32;
        ASSERT_EQ(all[i], groups.size() == 1 ? members : 0);
        ASSERT_EQ(alone[i], all[i]);
        ASSERT_EQ(same[i], groups.size() == 1 ? 1u : 0u);
      }
    }
}

TEST(Match, AnUndefinedValueMakesTheResultsUndefined) {
  const auto program = testing::text_program(
      ".param .u64 out",
      ".reg .b64 %x; .reg .b32 %r<4>, %u; .reg .pred %p<2>;\nld.param.u64 %x, [out];\nmov.u32 %r0, %laneid;\n"
      "match.all.sync.b32 %r1|%p0, %u, -1;\nselp.u32 %r2, 1, 2, %p0;\nst.global.u32 [%x], %r2;\nret;");
  Buffer<std::uint32_t> out{"out", {0}};
  EXPECT_EQ(testing::fault(program, block(32), params({out.address()}), {out.region()}).kind, Kind::uninitialised);
}

TEST(Redux, OfFloats) {
  std::vector<Operands> rows;
  std::mt19937_64 random(29);
  const auto edges = testing::f32_edges();
  for (int warp = 0; warp < 40; ++warp)
    for (int l = 0; l < 32; ++l) {
      // edges; numbers of ordinary size; zeros of both signs; NaN alone
      const std::uint64_t v = warp % 4 == 0   ? edges[random() % edges.size()]
                              : warp % 4 == 1 ? 0x3F000000 | (random() & 0x80FFFFFF)
                              : warp % 4 == 2 ? random() << 31 & 0x80000000
                                              : 0x7F800001 | (random() & 0x807FFFFF);
      rows.push_back({0, v, 0, 0});
    }
  for (const std::uint32_t members : masks)
    for (const bool greatest : {false, true})
      for (const bool size : {false, true})
        for (const bool nan : {false, true}) {
          const std::string opcode = cat("redux.sync.", greatest ? "max" : "min", size ? ".abs" : "", nan ? ".NaN" : "", ".f32");
          const auto made = testing::make_from_text(cat(
              ".version 8.6\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 rows)\n{\n.reg .b64 %x<2>; .reg "
              ".b32 "
              "%r<4>; .reg .f32 %f<2>; .reg .pred %p;\nld.param.u64 %x0, [rows];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\n"
              "mad.lo.u32 %r1, %r1, 32, %r0;\nmul.wide.u32 %x1, %r1, 32;\nadd.u64 %x0, %x0, %x1;\nld.global.f32 %f0, [%x0+8];\n"
              "shr.u32 %r2, ",
              members, ", %r0;\nand.b32 %r2, %r2, 1;\nsetp.ne.u32 %p, %r2, 0;\n@!%p ret;\n", opcode, " %f1, %f0, ", members,
              ";\nst.global.f32 [%x0], %f1;\nret;\n}\n"));
          ASSERT_TRUE(made) << render(made.error());
          Buffer<Operands> table{"rows", rows};
          LaunchConfig config = block(32);
          config.grid[0] = static_cast<std::uint32_t>(rows.size() / 32);
          testing::run(*made, config, params({table.address()}), {table.region()});
          for (std::size_t i = 0; i < rows.size(); ++i) {
            if ((members >> (i % 32) & 1) == 0) continue;
            // by comparing, and the sign of a zero apart
            bool any = false, any_nan = false, minus_zero = false, plus_zero = false;
            float result = 0;
            for (std::size_t l = 0; l < 32; ++l) {
              if ((members >> l & 1) == 0) continue;
              float v = testing::f32(rows[i / 32 * 32 + l].a);
              if (size) v = std::fabs(v);
              if (std::isnan(v)) {
                any_nan = true;
                continue;
              }
              if (v == 0) (std::signbit(v) ? minus_zero : plus_zero) = true;
              if (!any || (greatest ? v > result : v < result)) result = v;
              any = true;
            }
            if (result == 0 && any) result = (greatest ? plus_zero : !minus_zero) ? 0.0f : -0.0f;
            const std::uint32_t expected = !any || (nan && any_nan) ? 0x7FFFFFFFu : std::bit_cast<std::uint32_t>(result);
            ASSERT_EQ(table.data[i].d & 0xFFFFFFFF, expected) << opcode << " warp " << i / 32 << " of " << hex(members);
          }
        }
}

// Targets before sm_70 exchange among the lanes that are together.
TEST(WithoutSync, LanesThatAreTogether) {
  for (const std::uint32_t mask : {0xFFFFFFFFu, 0x0F0F5555u}) {
    const auto made = testing::make_from_text(
        cat(".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n.reg .b64 %x<2>; .reg .b32 "
            "%r<8>; .reg "
            ".pred %p<6>;\nld.param.u64 %x0, [out];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %x1, %r0, 16;\nadd.u64 %x0, %x0, %x1;\n"
            "shr.u32 %r1, ",
            mask,
            ", %r0;\nand.b32 %r1, %r1, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@!%p0 bra OUT;\nmul.lo.u32 %r2, %r0, %r0;\n"
            "shfl.bfly.b32 %r3|%p1, %r2, 2, 31;\nsetp.gt.u32 %p2, %r0, 12;\nvote.ballot.b32 %r4, %p2;\nvote.all.pred %p3, %p2;\n"
            "vote.any.pred %p4, %p2;\nvote.uni.pred %p5, !%p1;\nselp.u32 %r5, 1, 0, %p3;\nselp.u32 %r6, 2, 0, %p4;\nadd.u32 %r5, "
            "%r5, %r6;\n"
            "selp.u32 %r6, 4, 0, %p5;\nadd.u32 %r5, %r5, %r6;\nselp.u32 %r6, 8, 0, %p1;\nadd.u32 %r5, %r5, %r6;\n"
            "st.global.v4.u32 [%x0], {%r3, %r4, %r5, %r2};\nOUT:\nret;\n}\n"));
    ASSERT_TRUE(made) << render(made.error());
    struct alignas(16) Row {
      std::uint32_t words[4] = {77, 77, 77, 77};
    };
    Buffer<Row> out{"out", std::vector<Row>(32)};
    testing::run(*made, block(32), params({out.address()}), {out.region()});
    for (std::uint32_t l = 0; l < 32; ++l) {
      const bool runs = (mask >> l & 1) != 0;
      EXPECT_EQ(out.data[l].words[0], runs ? (l ^ 2) * (l ^ 2) : 77);
      EXPECT_EQ(out.data[l].words[1], runs ? mask & 0xFFFFE000u : 77);
      EXPECT_EQ(out.data[l].words[2], runs ? 2u + 4 + 8 : 77);
    }
  }
}

}  // namespace
}  // namespace ptx::vgpu
