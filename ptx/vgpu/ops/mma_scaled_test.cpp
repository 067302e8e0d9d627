// mma.sync and mma.sp with .block_scale: matrices and scales laid out by the manual's formulas, products in double precision.
// Small numbers, so that no sum is rounded. (No GPU has been asked: docs/facts.md.)
#include <cmath>
#include <functional>

#include "ptx/vgpu/testing/fragments.hpp"
#include "ptx/vgpu/testing/numbers.hpp"

namespace ptx::vgpu::scaled {
namespace {

using testing::Fragments;

struct Case {
  std::string kind, size, a, b, scale;  // "mxf4nvf4", ".scale_vec::4X", "e2m1", "e2m1", "ue4m3"
  int scales;                           // of a row
  bool sparse = false;
  std::string target = "sm_120a";
};
bool is_packed(const Case& c) { return c.kind != "mxf8f6f4"; }
std::uint64_t raw_of(const Case& c, const std::string& type, int value) {
  return testing::pattern_of(type, value) >> (is_packed(c) ? 2 : 0);
}
// The scales of the manual's tables: powers of two, or small numbers without a sign.
double scale_value(const std::string& type, std::uint32_t raw) {
  if (type == "ue8m0") return std::ldexp(1.0, static_cast<int>(raw) - 127);
  return std::ldexp(1.0 + (raw & 7) / 8.0, static_cast<int>(raw >> 3) - 7);
}

struct Selectors {
  int a_byte, a_thread, b_byte, b_thread;
};

void expect_product(const Case& c, const Selectors& by, std::mt19937_64& random) {
  const int bits = is_packed(c) ? 4 : 8, per = 32 / bits, k = (is_packed(c) ? 64 : 32) * (c.sparse ? 2 : 1),
            stored = c.sparse ? k / 2 : k;
  const int group = bits == 4 ? 8 : 4, kept = group / 2;
  const auto draw = [&](int least, int most) {
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  const auto at = [](const std::vector<int>& matrix, int row, int column, int columns) {
    return matrix[static_cast<std::size_t>(row * columns + column)];
  };
  std::vector<int> a(static_cast<std::size_t>(16 * k)), packed(static_cast<std::size_t>(16 * stored)),
      b(static_cast<std::size_t>(k * 8)), sums(16 * 8);
  std::array<std::uint32_t, 32> metadata{};
  for (int& x : b) x = draw(-2, 2);
  for (int& x : sums) x = draw(-100, 100);
  constexpr int ordered[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  for (int row = 0; row < 16; ++row)
    for (int chunk = 0; chunk < k / group; ++chunk) {
      const int indices = ordered[random() % 6];
      for (int i = 0; i < (c.sparse ? kept : group); ++i) {
        const int x = draw(-2, 2);
        const int place = !c.sparse   ? i
                          : bits == 4 ? 2 * (i < 2 ? indices & 3 : indices >> 2) + i % 2
                                      : (i == 0 ? indices & 3 : indices >> 2);
        packed[static_cast<std::size_t>(row * stored + chunk * (c.sparse ? kept : group) + i)] = x;
        a[static_cast<std::size_t>(row * k + chunk * group + place)] = x;
      }
      metadata[static_cast<std::size_t>(4 * (row % 8) + row / 8 + 2 * (chunk / 8))] |= static_cast<std::uint32_t>(indices)
                                                                                       << (4 * (chunk % 8));
    }
  const auto some_scale = [&] { return static_cast<std::uint32_t>(c.scale == "ue8m0" ? draw(125, 130) : draw(0x30, 0x42)); };
  std::array<std::array<std::uint32_t, 4>, 16> a_scales{};
  std::array<std::array<std::uint32_t, 4>, 8> b_scales{};
  for (auto* row : {&a_scales[0], &a_scales[8]})
    for (int i = 0; i < 8; ++i)
      for (auto& s : row[i]) s = some_scale();
  for (auto& column : b_scales)
    for (auto& s : column) s = some_scale();
  Fragments run(cat("mma", c.sparse ? ".sp::ordered_metadata" : "", ".sync.aligned.m16n8k", k, ".row.col.kind::", c.kind,
                    ".block_scale", c.size, ".f32.", c.a, '.', c.b, ".f32.", c.scale),
                c.target, 32,
                cat(c.sparse ? ", %e0, 0" : "", ", {%sa0}, {", by.a_byte, ", ", by.a_thread, "}, {%sb0}, {", by.b_byte, ", ",
                    by.b_thread, '}'));
  run.set("a", 16 * stored / 32, bits, [&](int lane, int i) {
    const int reg = i / per, row = lane / 4 + 8 * (reg & 1), column = (lane % 4) * per + i % per + 4 * per * (reg / 2);
    return raw_of(c, c.a, at(packed, row, column, stored));
  });
  run.set("b", k * 8 / 32, bits,
          [&](int lane, int i) { return raw_of(c, c.b, at(b, (lane % 4) * per + i % per + 4 * per * (i / per), lane / 4, 8)); });
  const auto c_at = [](int lane, int i) { return std::pair(lane / 4 + (i < 2 ? 0 : 8), 2 * (lane % 4) + i % 2); };
  run.set("c", 4, 32, [&](int lane, int i) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(at(sums, c_at(lane, i).first, c_at(lane, i).second, 8)));
  });
  if (c.sparse) run.set("e", 1, 32, [&](int lane, int) { return metadata[static_cast<std::size_t>(lane)]; });
  // "thread-id-a 0 selects the lower two threads of the quad": the first has row g, the second g + 8. All else is noise.
  run.set("sa", 1, 32, [&](int lane, int) {
    std::uint64_t word = random() & 0xFFFFFFFF;
    if (lane % 4 / 2 != by.a_thread) return word;
    for (int s = 0; s < c.scales; ++s) {
      const int shift = 8 * (by.a_byte + s);
      word = (word & ~(std::uint64_t{0xFF} << shift)) |
             std::uint64_t{a_scales[static_cast<std::size_t>(lane / 4 + 8 * (lane % 2))][static_cast<std::size_t>(s)]} << shift;
    }
    return word;
  });
  run.set("sb", 1, 32, [&](int lane, int) {
    std::uint64_t word = random() & 0xFFFFFFFF;
    if (lane % 4 != by.b_thread) return word;
    for (int s = 0; s < c.scales; ++s) {
      const int shift = 8 * (by.b_byte + s);
      word = (word & ~(std::uint64_t{0xFF} << shift)) |
             std::uint64_t{b_scales[static_cast<std::size_t>(lane / 4)][static_cast<std::size_t>(s)]} << shift;
    }
    return word;
  });
  run.expect("d", 4, 32, [&](int lane, int i) {
    const auto [row, column] = c_at(lane, i);
    double sum = at(sums, row, column, 8);
    for (int j = 0; j < k; ++j) {
      const auto s = static_cast<std::size_t>(j * c.scales / k);
      sum += at(a, row, j, k) * scale_value(c.scale, a_scales[static_cast<std::size_t>(row)][s]) * at(b, j, column, 8) *
             scale_value(c.scale, b_scales[static_cast<std::size_t>(column)][s]);
    }
    return std::bit_cast<std::uint32_t>(static_cast<float>(sum));
  });
  run.check();
}

TEST(MmaScaled, MultipliesByTheScalesOfRowsAndColumns) {
  std::mt19937_64 random(44);
  for (const bool sparse : {false, true})
    for (const Case& c :
         {Case{"mxf8f6f4", "", "e4m3", "e5m2", "ue8m0", 1}, Case{"mxf8f6f4", ".scale_vec::1X", "e2m1", "e3m2", "ue8m0", 1},
          Case{"mxf8f6f4", "", "e2m3", "e2m1", "ue8m0", 1}, Case{"mxf4", "", "e2m1", "e2m1", "ue8m0", 2},
          Case{"mxf4", ".scale_vec::2X", "e2m1", "e2m1", "ue8m0", 2},
          Case{"mxf4nvf4", ".scale_vec::2X", "e2m1", "e2m1", "ue8m0", 2},
          Case{"mxf4nvf4", ".scale_vec::4X", "e2m1", "e2m1", "ue4m3", 4},
          Case{"mxf4nvf4", ".scale_vec::4X", "e2m1", "e2m1", "ue8m0", 4}})
      for (int i = 0; i < 4; ++i) {
        Case with = c;
        with.sparse = sparse;
        expect_product(with,
                       {c.scales == 1   ? i
                        : c.scales == 2 ? 2 * (i / 2)
                                        : 0,
                        i % 2,
                        c.scales == 1   ? 3 - i
                        : c.scales == 2 ? 2 * (i % 2)
                                        : 0,
                        i},
                       random);
      }
}

constexpr std::string_view head =
    ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %a<4>, %b<2>, %s<2>;\n.reg .f32 %d<4>;\n.reg .b16 %h;\n";
std::string kernel(std::string_view byte_of_a, std::string_view scale) {
  std::string body;
  for (const char* reg : {"%a0", "%a1", "%a2", "%a3", "%b0", "%b1"}) body += cat("mov.b32 ", reg, ", 0x22222222;\n");  // ones
  for (int i = 0; i < 4; ++i) body += cat("mov.f32 %d", i, ", 0f00000000;\n");
  return cat(".version 9.0\n.target sm_120a\n.address_size 64\n", head, body, "mov.b32 %s0, ", scale, ";\nmov.b16 %h, ",
             byte_of_a,
             ";\nmma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%d0, %d1, %d2, %d3}, {%a0, "
             "%a1, %a2, %a3}, "
             "{%b0, %b1}, {%d0, %d1, %d2, %d3}, {%s0}, {%h, 0}, {%s0}, {0, 0};\n"
             ".reg .b64 %x;\nld.param.u64 %x, [out];\nst.global.f32 [%x], %d0;\nret;\n}\n");
}

TEST(MmaScaled, SaysThatNoGpuWasAskedAndWhatDoesNotFit) {
  const auto made = testing::make_from_text(kernel("0", "0x7F7F7F7F"));
  ASSERT_TRUE(made) << render(made.error());
  testing::Buffer<float> out{"out", {0}};
  testing::run(*made, testing::block(32), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 64.0f);
  const auto notes = (*made)->fidelity();
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].fidelity, Fidelity::unverified);
  const auto nan = testing::make_from_text(kernel("2", "0xFF7FFFFF"));
  ASSERT_TRUE(nan);
  testing::run(*nan, testing::block(32), testing::params({out.address()}), {out.region()});
  EXPECT_TRUE(std::isnan(out.data[0])) << "a scale of all ones is NaN";
  const auto odd = testing::make_from_text(kernel("1", "0x7F7F7F7F"));
  ASSERT_TRUE(odd);
  const Diagnostic d = testing::fault(*odd, testing::block(32), testing::params({out.address()}), {out.region()});
  EXPECT_EQ(d.kind, Kind::bad_descriptor);
  EXPECT_NE(d.message.find("is given byte 1 for 2 scales of four bytes; what fits is 0 or 2"), std::string::npos) << d.message;
}

}  // namespace
}  // namespace ptx::vgpu::scaled
