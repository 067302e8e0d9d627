// Warp-wide exchange against the manual's pseudocode, one lane at a time.
#include <numeric>
#include <optional>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Operands;

std::vector<Operands> random_rows(std::size_t warps) {
  std::mt19937_64 random(11);
  std::vector<Operands> rows(32 * warps);
  for (Operands& row : rows) row = {random(), random(), random() % 40, 0};
  for (std::size_t w = 0; w < warps; ++w) {
    // c of shfl.sync: clamp in bits 0 to 4, segment mask in bits 8 to 12
    constexpr std::uint64_t cs[] = {31, 0, 0x1C1F, 0x181F, 0x1E1F, 0x0F00 | 15, 7, 0x1C03};
    const std::uint64_t c = cs[w % std::size(cs)];
    for (std::size_t l = 0; l < 32; ++l) rows[32 * w + l].c = c;
  }
  return rows;
}

struct Shuffled {
  std::uint32_t value;
  bool in_range;
};
Shuffled shuffled(const std::string& mode, const std::vector<Operands>& rows, std::size_t row) {
  const std::size_t warp = row / 32 * 32;
  const int lane = static_cast<int>(row % 32), b = static_cast<int>(rows[row].b & 31), c = static_cast<int>(rows[row].c & 31),
            segment = static_cast<int>(rows[row].c >> 8 & 31);
  const int most = (lane & segment) | (c & ~segment), least = lane & segment;
  int j = 0;
  bool p = false;
  if (mode == "up") j = lane - b, p = j >= most;
  if (mode == "down") j = lane + b, p = j <= most;
  if (mode == "bfly") j = lane ^ b, p = j <= most;
  if (mode == "idx") j = least | (b & ~segment), p = j <= most;
  if (!p) j = lane;
  return {static_cast<std::uint32_t>(rows[warp + static_cast<std::size_t>(j)].a), p};
}

// The rows with a where d was: for an instruction that reads its own destination.
std::vector<Operands> moved(std::vector<Operands> rows) {
  for (Operands& row : rows) row.d = row.a;
  return rows;
}

TEST(Shfl, FollowsTheManualInEveryMode) {
  const auto rows = random_rows(64);
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    const auto values =
        testing::run_rows(cat("shfl.sync.", mode, ".b32 %vd, %va, %vb, %vc, -1"), {"b32", "b32", "b32", "b32"}, rows);
    const auto flags =
        testing::run_rows(cat("shfl.sync.", mode, ".b32 %r9|%vd, %va, %vb, %vc, -1"), {"pred", "b32", "b32", "b32"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Shuffled expected = shuffled(mode, rows, i);
      ASSERT_EQ(values[i], expected.value) << mode << " row " << i << " b=" << rows[i].b << " c=0x" << hex(rows[i].c);
      ASSERT_EQ(flags[i], expected.in_range ? 1u : 0u) << mode << " row " << i;
    }
    // constants, which are one permutation worked out while decoding
    for (const std::uint64_t b : {0u, 1u, 4u, 16u, 31u})
      for (const std::uint64_t c : {0u, 31u, 0x181Fu, 0x1C03u}) {
        auto same = rows;
        for (Operands& row : same) row.b = b, row.c = c;
        const auto fast =
            testing::run_rows(cat("shfl.sync.", mode, ".b32 %vd, %va, ", b, ", ", c, ", -1"), {"b32", "b32", "", ""}, same);
        const auto range = testing::run_rows(cat("shfl.sync.", mode, ".b32 %r9|%vd, %va, ", b, ", ", c, ", 4294967295"),
                                             {"pred", "b32", "", ""}, same);
        const auto in_place =
            testing::run_rows(cat("shfl.sync.", mode, ".b32 %vd, %vd, ", b, ", ", c, ", -1"), {"b32", "", "", ""}, moved(same));
        for (std::size_t i = 0; i < same.size(); ++i) {
          ASSERT_EQ(fast[i], shuffled(mode, same, i).value) << mode << " b=" << b << " c=" << c << " lane " << i % 32;
          ASSERT_EQ(in_place[i], fast[i]);
          ASSERT_EQ(range[i], shuffled(mode, same, i).in_range ? 1u : 0u);
        }
      }
  }
}

TEST(Shfl, ExchangesAmongAnyMembers) {
  // bfly by 1 stays within pairs of lanes: masks made of pairs
  for (const std::uint32_t members : {0xFFFFFFFFu, 0x0000FFFFu, 0xC3C30F0Fu, 0x00000003u}) {
    const auto rows = random_rows(4);
    const auto values =
        testing::run_rows(cat("shfl.sync.bfly.b32 %vd, %va, 1, 31, ", members), {"b32", "b32", "", ""}, rows, members);
    for (std::size_t i = 0; i < rows.size(); ++i)
      EXPECT_EQ(values[i], static_cast<std::uint32_t>((members >> (i % 32) & 1) != 0 ? rows[i ^ 1].a : rows[i].d))
          << "lane " << i % 32 << " of 0x" << hex(members);
  }
}

TEST(Vote, ReducesThePredicatesOfTheMembers) {
  std::mt19937_64 random(5);
  for (const std::uint32_t members : {0xFFFFFFFFu, 0x0F0F0001u}) {
    auto rows = random_rows(32);
    for (std::size_t w = 0; w < 32; ++w) {
      const std::uint64_t pattern = w == 0   ? 0
                                    : w == 1 ? ~std::uint64_t{0}
                                    : w == 2 ? members
                                    : w == 3 ? ~std::uint64_t{members}
                                             : random();
      for (std::size_t l = 0; l < 32; ++l) rows[32 * w + l].a = pattern >> l & 1;
    }
    const auto run = [&](const std::string& spelled, const char* reg) {
      return testing::run_rows(cat(spelled, ", ", members), {reg, "pred", "", ""}, rows, members);
    };
    const auto all = run("vote.sync.all.pred %vd, %va", "pred"), any = run("vote.sync.any.pred %vd, %va", "pred"),
               uni = run("vote.sync.uni.pred %vd, %va", "pred"), none = run("vote.sync.all.pred %vd, !%va", "pred"),
               ballot = run("vote.sync.ballot.b32 %vd, %va", "b32"), inverse = run("vote.sync.ballot.b32 %vd, !%va", "b32");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if ((members >> (i % 32) & 1) == 0) continue;
      std::uint32_t set = 0;
      for (std::size_t l = 0; l < 32; ++l) set |= static_cast<std::uint32_t>(rows[i / 32 * 32 + l].a) << l;
      set &= members;
      ASSERT_EQ(all[i], set == members ? 1u : 0u);
      ASSERT_EQ(any[i], set != 0 ? 1u : 0u);
      ASSERT_EQ(uni[i], set == 0 || set == members ? 1u : 0u);
      ASSERT_EQ(none[i], set == 0 ? 1u : 0u);
      ASSERT_EQ(ballot[i], set);
      ASSERT_EQ(inverse[i], members & ~set);
    }
  }
}

TEST(Redux, ReducesTheValuesOfTheMembers) {
  using Reduce = std::uint32_t (*)(std::uint32_t, std::uint32_t);
  const std::pair<const char*, Reduce> ops[] = {
      {"add.u32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
      {"add.s32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
      {"min.u32", [](std::uint32_t a, std::uint32_t b) { return std::min(a, b); }},
      {"max.u32", [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); }},
      {"min.s32",
       [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b; }},
      {"max.s32",
       [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b; }},
      {"and.b32", [](std::uint32_t a, std::uint32_t b) { return a & b; }},
      {"or.b32", [](std::uint32_t a, std::uint32_t b) { return a | b; }},
      {"xor.b32", [](std::uint32_t a, std::uint32_t b) { return a ^ b; }}};
  for (const std::uint32_t members : {0xFFFFFFFFu, 0x80000F00u, 0x00000010u}) {
    const auto rows = random_rows(16);
    for (const auto& [name, reduce] : ops) {
      const auto results =
          testing::run_rows(cat("redux.sync.", name, " %vd, %va, ", members), {"b32", "b32", "", ""}, rows, members);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::optional<std::uint32_t> expected;
        for (std::size_t l = 0; l < 32; ++l)
          if ((members >> l & 1) != 0) {
            const auto v = static_cast<std::uint32_t>(rows[i / 32 * 32 + l].a);
            expected = expected ? reduce(*expected, v) : v;
          }
        ASSERT_EQ(results[i], (members >> (i % 32) & 1) != 0 ? *expected : static_cast<std::uint32_t>(rows[i].d))
            << name << " lane " << i % 32;
      }
    }
  }
}

TEST(Activemask, IsTheLanesThatRunTogether) {
  const auto rows = random_rows(1);
  for (const std::uint32_t mask : {0xFFFFFFFFu, 0x00FF1234u})
    for (std::size_t i = 0;
         const std::uint64_t value : testing::run_rows("activemask.b32 %vd", {"b32", "", "", ""}, rows, mask)) {
      EXPECT_EQ(value, (mask >> (i % 32) & 1) != 0 ? mask : static_cast<std::uint32_t>(rows[i].d));
      ++i;
    }
}

TEST(Elect, ChoosesTheLowestMember) {
  const auto rows = random_rows(1);
  for (const std::uint32_t members : {0xFFFFFFFFu, 0x00FF1230u, 0x80000000u}) {
    const auto leader = testing::run_rows(cat("elect.sync %vd|%p2, ", members), {"b32", "", "", ""}, rows, members);
    const auto elected = testing::run_rows(cat("elect.sync _|%vd, ", members), {"pred", "", "", ""}, rows, members);
    for (std::size_t i = 0; i < 32; ++i) {
      if ((members >> i & 1) == 0) continue;
      EXPECT_EQ(leader[i], static_cast<std::uint64_t>(std::countr_zero(members)));
      EXPECT_EQ(elected[i], i == static_cast<std::size_t>(std::countr_zero(members)) ? 1u : 0u);
    }
  }
}

}  // namespace
}  // namespace ptx::vgpu
