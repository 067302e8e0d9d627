// Instructions on bits, each held to a reference that works bit by bit.
#include <bitset>

#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

using testing::expect_like;
using testing::expect_pieces;
using testing::Inputs;
using testing::IntegerType;
using testing::Piece;
using testing::types;
using testing::untyped;
using testing::Wide;

const IntegerType u32 = types[1], s32 = types[4], b32 = untyped[1];
const std::vector<IntegerType> words = {untyped[1], untyped[2]};                    // b32, b64
const std::vector<IntegerType> numbers = {types[1], types[2], types[4], types[5]};  // u32, u64, s32, s64

std::vector<bool> bits_of(std::uint64_t a, int width) {
  std::vector<bool> bits;
  for (int i = 0; i < width; ++i) bits.push_back((a >> i & 1) != 0);
  return bits;
}
std::uint64_t word_of(const std::vector<bool>& bits) {
  std::uint64_t a = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) a |= std::uint64_t{bits[i]} << i;
  return a;
}
std::uint32_t low(std::uint64_t a) { return static_cast<std::uint32_t>(a); }

TEST(BitOps, Count) {
  for (const IntegerType& t : words) {
    expect_like(cat("popc.", t.name, " %vd, %va"), {"b32", t.reg(), "", ""}, u32, t, t, t, [&](Wide a, Wide, Wide) {
      const auto bits = bits_of(static_cast<std::uint64_t>(a), t.width);
      return static_cast<Wide>(std::count(bits.begin(), bits.end(), true));
    });
    expect_like(cat("clz.", t.name, " %vd, %va"), {"b32", t.reg(), "", ""}, u32, t, t, t, [&](Wide a, Wide, Wide) {
      Wide zeros = 0;
      for (Wide bit = Wide{1} << (t.width - 1); bit != 0 && (a & bit) == 0; bit >>= 1) ++zeros;
      return zeros;
    });
    expect_like(cat("brev.", t.name, " %vd, %va"), {t.reg(), t.reg(), "", ""}, t, t, t, t, [&](Wide a, Wide, Wide) {
      auto bits = bits_of(static_cast<std::uint64_t>(a), t.width);
      std::reverse(bits.begin(), bits.end());
      return static_cast<Wide>(word_of(bits));
    });
  }
}

TEST(BitOps, FindTheHighest) {
  for (const IntegerType& t : numbers) {
    const auto place = [](Wide a) {
      if (a < 0) a = -1 - a;
      Wide at = -1;
      while (a > 0) a /= 2, ++at;
      return at;
    };
    const std::array<std::string, 4> regs = {"b32", t.reg(), "", ""};
    expect_like(cat("bfind.", t.name, " %vd, %va"), regs, u32, t, t, t, [&](Wide a, Wide, Wide) { return place(a); });
    expect_like(cat("bfind.shiftamt.", t.name, " %vd, %va"), regs, u32, t, t, t,
                [&](Wide a, Wide, Wide) { return place(a) < 0 ? Wide{-1} : t.width - 1 - place(a); });
  }
}

// The n-th of the list of set bits from base up or down.
std::uint32_t nth_set(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  std::vector<std::uint32_t> found;
  if (base > 31) return 0xFFFFFFFF;
  if (offset >= 0)
    for (std::uint32_t i = base; i < 32; ++i) {
      if ((mask >> i & 1) != 0) found.push_back(i);
      if (offset == 0) break;
    }
  else
    for (std::uint32_t i = base + 1; i-- > 0;)
      if ((mask >> i & 1) != 0) found.push_back(i);
  const std::int64_t n = offset < 0 ? -std::int64_t{offset} : std::max<std::int64_t>(offset, 1);
  return n <= static_cast<std::int64_t>(found.size()) ? found[static_cast<std::size_t>(n - 1)] : 0xFFFFFFFF;
}

TEST(BitOps, FindTheNth) {
  std::vector<Piece> pieces = {{"fns.b32 %d, %a, %b, %c;",
                                [](const Inputs& in) { return nth_set(low(in.a), low(in.b), static_cast<std::int32_t>(in.c)); }}};
  for (std::uint32_t base : {0u, 1u, 15u, 31u})
    for (const int offset : {-32, -5, -1, 0, 1, 2, 16, 32})
      pieces.push_back(
          {cat("fns.b32 %d, %a, ", base, ", ", offset, ";"), [=](const Inputs& in) { return nth_set(low(in.a), base, offset); }});
  auto rows = testing::make_inputs(2000);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i % 2 == 0) rows[i].b %= 32, rows[i].c = i % 35 - 17;
  expect_pieces(pieces, rows, 32);
}

// The manual's loops, bit by bit.
std::uint64_t extracted(std::uint64_t a, std::uint64_t b, std::uint64_t c, int width, bool is_signed) {
  const auto bits = bits_of(a, width);
  const int pos = b & 0xFF, len = c & 0xFF, msb = width - 1;
  const bool sign = is_signed && len != 0 && bits[static_cast<std::size_t>(std::min(pos + len - 1, msb))];
  std::vector<bool> d;
  for (int i = 0; i <= msb; ++i) d.push_back(i < len && pos + i <= msb ? bits[static_cast<std::size_t>(pos + i)] : sign);
  return word_of(d);
}
std::uint64_t inserted(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t e, int width) {
  const auto from = bits_of(a, width);
  auto f = bits_of(b, width);
  for (std::size_t i = 0; i < (e & 0xFF) && (c & 0xFF) + i < f.size(); ++i) f[(c & 0xFF) + i] = from[i];
  return word_of(f);
}

TEST(BitOps, ExtractAndInsertFields) {
  auto rows = testing::make_inputs(2000);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (i % 3 != 0) rows[i].c %= 70, rows[i].e %= 70;  // else of any size
  for (const int width : {32, 64}) {
    std::vector<Piece> pieces;
    const bool wide = width == 64;
    const std::string amounts = wide ? "cvt.u32.u64 %n0, %c; cvt.u32.u64 %n1, %e; " : "mov.b32 %n0, %c; mov.b32 %n1, %e; ";
    for (const bool is_signed : {false, true})
      pieces.push_back({cat(amounts, "bfe.", is_signed ? 's' : 'u', width, " %d, %a, %n0, %n1;"),
                        [=](const Inputs& in) { return extracted(in.a, in.c, in.e, width, is_signed); }});
    pieces.push_back({cat(amounts, "bfi.b", width, " %d, %a, %b, %n0, %n1;"),
                      [=](const Inputs& in) { return inserted(in.a, in.b, in.c, in.e, width); }});
    for (const unsigned pos : {0u, 1u, 31u, 32u, 63u, 64u, 255u})
      for (const unsigned len : {0u, 1u, 8u, 31u, 32u, 33u, 64u, 255u}) {
        pieces.push_back({cat("bfe.s", width, " %d, %a, ", pos, ", ", len, ";"),
                          [=](const Inputs& in) { return extracted(in.a, pos, len, width, true); }});
        pieces.push_back({cat("bfi.b", width, " %d, %a, %b, ", pos, ", ", len, ";"),
                          [=](const Inputs& in) { return inserted(in.a, in.b, pos, len, width); }});
      }
    expect_pieces(pieces, rows, width);
  }
}

TEST(BitOps, ExtendAndMask) {
  for (const bool wrap : {false, true}) {
    const std::string mode = wrap ? "wrap" : "clamp";
    for (const IntegerType& t : {u32, s32})
      expect_like(cat("szext.", mode, '.', t.name, " %vd, %va, %vb"), {"b32", "b32", "b32", ""}, u32, u32, u32, u32,
                  [&](Wide a, Wide n, Wide) -> Wide {
                    if (wrap) n %= 32;
                    if (n >= 32) return a;
                    const Wide size = Wide{1} << static_cast<int>(n), rest = a % size;
                    return t.is_signed && rest * 2 >= size && n > 0 ? rest - size : rest;
                  });
    expect_like(cat("bmsk.", mode, ".b32 %vd, %va, %vb"), {"b32", "b32", "b32", ""}, u32, u32, u32, u32,
                [&](Wide from, Wide length, Wide) {
                  if (wrap) from %= 32, length %= 32;
                  Wide mask = 0;
                  for (Wide i = from; i < from + length && i < 32; ++i) mask += Wide{1} << static_cast<int>(i);
                  return mask;
                });
  }
}

// The manual's tables, byte 3 of d first.
constexpr std::string_view picked[6][4] = {{"3210", "4321", "5432", "6543"}, {"5670", "6701", "7012", "0123"},
                                           {"0000", "1111", "2222", "3333"}, {"3210", "3211", "3222", "3333"},
                                           {"0000", "1110", "2210", "3210"}, {"1010", "3232", "1010", "3232"}};

TEST(BitOps, PickBytes) {
  const auto bytes = [](const Inputs& in) {
    std::array<std::uint8_t, 8> all{};
    for (std::size_t i = 0; i < 8; ++i) all[i] = static_cast<std::uint8_t>((i < 4 ? in.a : in.b) >> (8 * (i % 4)));
    return all;
  };
  std::vector<Piece> pieces = {{"prmt.b32 %d, %a, %b, %c;", [&](const Inputs& in) {
                                  std::uint64_t d = 0;
                                  for (int i = 3; i >= 0; --i) {
                                    const auto control = in.c >> (4 * i) & 15;
                                    const std::uint8_t byte = bytes(in)[control % 8];
                                    d = d * 256 + (control < 8 ? byte : byte > 127 ? 255 : 0);
                                  }
                                  return d;
                                }}};
  constexpr std::string_view modes[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  for (std::size_t mode = 0; mode < 6; ++mode)
    pieces.push_back({cat("prmt.b32.", modes[mode], " %d, %a, %b, %c;"), [=](const Inputs& in) {
                        std::uint64_t d = 0;
                        for (const char byte : picked[mode][in.c % 4])
                          d = d * 256 + bytes(in)[static_cast<std::size_t>(byte - '0')];
                        return d;
                      }});
  expect_pieces(pieces, testing::make_inputs(2000), 32);
}

std::uint32_t by_table(const Inputs& in, unsigned table) {
  std::bitset<32> a(in.a), b(in.b), c(in.c), d;
  for (std::size_t i = 0; i < 32; ++i) d[i] = (table >> (4 * a[i] + 2 * b[i] + c[i]) & 1) != 0;
  return low(d.to_ulong());
}

TEST(BitOps, LookUpThreeBits) {
  std::vector<Piece> pieces;
  for (unsigned table = 0; table < 256; ++table)
    pieces.push_back({cat("lop3.b32 %d, %a, %b, %c, ", table, ";"), [=](const Inputs& in) { return by_table(in, table); }});
  for (const bool is_and : {false, true})
    for (const unsigned table : {0u, 0x80u, 0x40u, 0x96u, 0xFFu, 0x01u})
      for (const bool negated : {false, true}) {
        const auto p = [=](const Inputs& in) {
          const bool some = by_table(in, table) != 0, q = (in.e & 1) != (negated ? 1u : 0u);
          return is_and ? some && q : some || q;
        };
        const std::string setup = "and.b32 %t, %e, 1; setp.eq.u32 %q, %t, 1; setp.eq.u32 %p, %t, 0; ";
        const std::string op = cat("lop3.", is_and ? "and" : "or", ".b32 ");
        const std::string rest = cat("%a, %b, %c, ", table, negated ? ", !%q; " : ", %q; ");
        pieces.push_back({cat(setup, op, "%t|%p, ", rest, "selp.u32 %d, 1, 0, %p; xor.b32 %d, %d, %t;"),
                          [=](const Inputs& in) { return by_table(in, table) ^ (p(in) ? 1u : 0u); }});
        pieces.push_back(
            {cat(setup, op, "_|%p, ", rest, "selp.u32 %d, 1, 0, %p;"), [=](const Inputs& in) { return p(in) ? 1u : 0u; }});
      }
  auto rows = testing::make_inputs(200);
  rows.push_back({0, 0, 0, 0});
  rows.push_back({0, 0, 0, 1});
  expect_pieces(pieces, rows, 32);
  // a guard, and the destination among the sources
  expect_pieces({{"setp.lt.u32 %z, %e, 100; mov.b32 %d, %a; setp.ne.u32 %q, 0, 0; @%z lop3.or.b32 %d|%q, %d, %b, %d, 0x3C, %q; "
                  "@%q add.u32 %d, %d, 1;",
                  [](const Inputs& in) {
                    if (low(in.e) >= 100) return low(in.a);
                    const std::uint32_t d = low(in.a) ^ low(in.b);
                    return d + (d != 0 ? 1 : 0);
                  }}},
                testing::make_inputs(500), 32);
}

TEST(BitOps, ShiftTwoWords) {
  for (const bool left : {false, true})
    for (const bool wrap : {false, true})
      expect_like(cat("shf.", left ? 'l' : 'r', wrap ? ".wrap" : ".clamp", ".b32 %vd, %va, %vb, %vc"),
                  {"b32", "b32", "b32", "b32"}, b32, b32, b32, u32, [&](Wide a, Wide b, Wide c) {
                    const Wide n = wrap ? c % 32 : std::min<Wide>(c, 32), both = (b << 32) + a,
                               power = Wide{1} << static_cast<int>(n);
                    return left ? both * power / (Wide{1} << 32) : both / power;
                  });
}

TEST(BitOps, NegateAsC) {
  for (const IntegerType& t : untyped) expect_like("cnot", t, 1, [](Wide a, Wide, Wide) { return static_cast<Wide>(a == 0); });
}

TEST(BitOps, MultiplyWithoutCarries) {
  const IntegerType u64 = types[2];
  for (const bool hi : {false, true})
    expect_like(
        cat("clmad.", hi ? "hi" : "lo", ".u64 %vd, %va, %vb, %vc"), {"b64", "b64", "b64", "b64"}, u64, u64, u64, u64,
        [&](Wide a, Wide b, Wide c) {
          std::bitset<128> sum;
          for (int i = 0; i < 64; ++i)
            if ((b >> i & 1) != 0)
              for (std::size_t j = 0; j < 64; ++j)
                sum[static_cast<std::size_t>(i) + j] = sum[static_cast<std::size_t>(i) + j] != ((a >> j & 1) != 0);
          return static_cast<Wide>((hi ? sum >> 64 : sum & std::bitset<128>(~0ull)).to_ullong() ^ static_cast<std::uint64_t>(c));
        },
        {".version 9.3", ".target sm_90a"});
}

}  // namespace
}  // namespace ptx::vgpu
