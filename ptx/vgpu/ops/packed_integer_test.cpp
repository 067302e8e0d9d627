// Packed integers and dot products, part by part in 128 bits.
#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

using testing::expect_pieces;
using testing::Inputs;
using testing::Piece;
using testing::Wide;

// Part i of a word, as a number.
Wide part(std::uint64_t word, int i, int width, bool is_signed) {
  const std::int64_t size = std::int64_t{1} << width;
  const auto value = static_cast<std::int64_t>(word >> (i * width)) & (size - 1);
  return is_signed && value >= size / 2 ? value - size : value;
}
using Op = Wide (*)(Wide a, Wide b);
std::uint64_t each(const Inputs& in, int width, bool is_signed, bool sat, bool relu, Op op) {
  Wide d = 0;
  for (int i = 32 / width - 1; i >= 0; --i) {
    Wide v = op(part(in.a, i, width, is_signed), part(in.b, i, width, is_signed));
    const Wide size = Wide{1} << width, most = is_signed ? size / 2 - 1 : size - 1, least = is_signed ? -size / 2 : Wide{0};
    if (sat) v = v > most ? most : v < least ? least : v;
    if (relu && v < 0) v = 0;
    d = d * size + (v % size + size) % size;
  }
  return static_cast<std::uint64_t>(d);
}
const std::vector<std::pair<std::string, Op>> ops = {{"add", [](Wide a, Wide b) { return a + b; }},
                                                     {"sub", [](Wide a, Wide b) { return a - b; }},
                                                     {"min", [](Wide a, Wide b) { return std::min(a, b); }},
                                                     {"max", [](Wide a, Wide b) { return std::max(a, b); }}};

// Halves and bytes that are special each, and random ones.
std::vector<Inputs> packed_inputs() {
  std::vector<Inputs> rows = testing::make_inputs(1500);
  std::mt19937_64 random(7);
  constexpr std::uint64_t parts[] = {0, 1, 0x7F, 0x80, 0x81, 0xFF, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x7F7F, 0x8080};
  const auto word = [&] { return parts[random() % 12] << 16 | parts[random() % 12]; };
  for (int i = 0; i < 1500; ++i) rows.push_back({word(), word(), word(), word()});
  return rows;
}

TEST(PackedIntegerOps, Halves) {
  std::vector<Piece> pieces;
  for (const bool is_signed : {false, true})
    for (const auto& [name, op] : ops)
      for (const bool relu : {false, true}) {
        if (name == "sub" || (relu && (name == "add" || !is_signed))) continue;
        pieces.push_back({cat(name, relu ? ".relu" : "", is_signed ? ".s16x2" : ".u16x2", " %d, %a, %b;"),
                          [=, op = op](const Inputs& in) { return each(in, 16, is_signed, false, relu, op); }});
        if (relu)
          pieces.push_back({cat(name, ".relu.s32 %d, %a, %b;"),
                            [=, op = op](const Inputs& in) { return each(in, 32, true, false, true, op); }});
      }
  EXPECT_EQ(pieces.size(), 10u);
  expect_pieces(pieces, packed_inputs(), 32);
}

TEST(PackedIntegerOps, BytesAndClampedSums) {
  std::vector<Piece> pieces;
  for (const bool is_signed : {false, true})
    for (const auto& [name, op] : ops)
      for (const bool more : {false, true}) {  // .sat of sums, .relu of the others
        const bool sums = name == "add" || name == "sub";
        if (more && !sums && !is_signed) continue;
        pieces.push_back({cat(name,
                              !more  ? ""
                              : sums ? ".sat"
                                     : ".relu",
                              is_signed ? ".s8x4" : ".u8x4", " %d, %a, %b;"),
                          [=, op = op](const Inputs& in) { return each(in, 8, is_signed, more && sums, more && !sums, op); }});
      }
  const Op add = ops[0].second;
  pieces.push_back({"add.sat.u16x2 %d, %a, %b;", [=](const Inputs& in) { return each(in, 16, false, true, false, add); }});
  pieces.push_back({"add.sat.s16x2 %d, %a, %b;", [=](const Inputs& in) { return each(in, 16, true, true, false, add); }});
  pieces.push_back({"add.sat.u32 %d, %a, %b;", [=](const Inputs& in) { return each(in, 32, false, true, false, add); }});
  pieces.push_back(
      {"neg.s8x4 %d, %a;", [](const Inputs& in) { return each(in, 8, true, false, false, [](Wide a, Wide) { return -a; }); }});
  expect_pieces(pieces, packed_inputs(), 32, ".version 9.2\n.target sm_120f");
}

TEST(PackedIntegerOps, DotProducts) {
  std::vector<Piece> pieces;
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true}) {
      const std::string types = cat(a_signed ? ".s32" : ".u32", b_signed ? ".s32" : ".u32", " %d, %a, %b, %c;");
      pieces.push_back({cat("dp4a", types), [=](const Inputs& in) {
                          Wide sum = static_cast<Wide>(in.c & 0xFFFFFFFF);
                          for (int i = 0; i < 4; ++i) sum += part(in.a, i, 8, a_signed) * part(in.b, i, 8, b_signed);
                          return static_cast<std::uint64_t>(sum) & 0xFFFFFFFF;
                        }});
      for (const int from : {0, 2})
        pieces.push_back({cat("dp2a", from == 0 ? ".lo" : ".hi", types), [=](const Inputs& in) {
                            Wide sum = static_cast<Wide>(in.c & 0xFFFFFFFF);
                            for (int i = 0; i < 2; ++i) sum += part(in.a, i, 16, a_signed) * part(in.b, from + i, 8, b_signed);
                            return static_cast<std::uint64_t>(sum) & 0xFFFFFFFF;
                          }});
    }
  expect_pieces(pieces, packed_inputs(), 32);
}

}  // namespace
}  // namespace ptx::vgpu
