// mma.sync and mma.sp: matrices laid out by the manual's formulas, shape by shape, and their product in 64-bit integers. Small
// whole numbers, so that no sum is rounded; how sums are rounded is tested in ptx/num.
#include <cmath>
#include <functional>

#include "ptx/vgpu/testing/fragments.hpp"
#include "ptx/vgpu/testing/numbers.hpp"

namespace ptx::vgpu {
namespace {

using testing::Fragments;
using testing::pattern_of;
using testing::range_of;
using testing::width_of;

struct At {
  int row = 0, column = 0;
};
// The manual's formulas, as they are printed: element i of the lane.
At a_at(const std::string& shape, int bits, int lane, int i) {
  const int g = lane >> 2, t = lane % 4;
  if (shape == "m8n8k16") return {g, t * 4 + i};
  if (shape == "m8n8k32") return {g, t * 8 + i};
  if (shape == "m8n8k128") return {g, t * 32 + i};
  if (shape == "m8n8k4") return {g, t};
  if (shape == "m16n8k4") return {i == 0 ? g : g + 8, t};
  if (shape == "m16n8k8" && bits == 16) return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
  if (shape == "m16n8k8") return {i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4};
  if (shape == "m16n8k16" && bits == 64) return {i % 2 == 0 ? g : g + 8, (i / 2) * 4 + t};
  if (shape == "m16n8k16" && bits == 16)
    return {i < 2 || (4 <= i && i < 6) ? g : g + 8, i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
  if (shape == "m16n8k16") return {i < 4 ? g : g + 8, t * 4 + (i & 3)};
  if (shape == "m16n8k32" && bits == 8)
    return {i < 4 || (8 <= i && i < 12) ? g : g + 8, i < 8 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16};
  if (shape == "m16n8k32") return {i < 8 ? g : g + 8, t * 8 + (i & 7)};
  if (shape == "m16n8k64") return {i < 8 || (16 <= i && i < 24) ? g : g + 8, i < 16 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32};
  if (shape == "m16n8k128") return {i < 32 ? g : g + 8, t * 32 + (i & 31)};
  return {i < 32 || (64 <= i && i < 96) ? g : g + 8, i < 64 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128};  // m16n8k256
}
At b_at(const std::string& shape, int bits, int lane, int i) {
  const int g = lane >> 2, t = lane % 4;
  if (shape == "m8n8k16") return {t * 4 + i, g};
  if (shape == "m8n8k32") return {t * 8 + i, g};
  if (shape == "m8n8k128" || shape == "m16n8k128") return {t * 32 + i, g};
  if (shape == "m8n8k4" || shape == "m16n8k4") return {t, g};
  if (shape == "m16n8k8" && bits == 16) return {t * 2 + i, g};
  if (shape == "m16n8k8") return {i == 0 ? t : t + 4, g};
  if (shape == "m16n8k16" && bits == 64) return {t + 4 * i, g};
  if (shape == "m16n8k16" && bits == 16) return {i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
  if (shape == "m16n8k16") return {t * 4 + i, g};
  if (shape == "m16n8k32" && bits == 8) return {i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
  if (shape == "m16n8k32") return {t * 8 + i, g};
  if (shape == "m16n8k64") return {i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
  return {i < 32 ? t * 32 + (i & 31) : t * 32 + (i & 31) + 128, g};
}
At c_at(const std::string& shape, int lane, int i) {
  const int g = lane >> 2, t = lane % 4;
  if (shape.starts_with("m8")) return {g, t * 2 + i};
  return {i < 2 ? g : g + 8, t * 2 + (i & 1)};
}

struct Instruction {
  std::string spelling;  // SHAPE and types as they stand in it
  std::string shape;
  std::string d, a, b;
  std::string target = "sm_90a";
  std::string bit_operation = {};
};

struct Matrices {
  std::vector<int> a, b, c, d;
};

void expect_product(const Instruction& instruction, std::mt19937_64& random) {
  const testing::Shape s = testing::shape_of(instruction.shape);
  const int bits = width_of(instruction.a), lanes_a = s.m * s.k / 32, lanes_b = s.k * s.n / 32, lanes_c = s.m * s.n / 32;
  const auto draw = [&](std::pair<int, int> from) {
    return from.first + static_cast<int>(random() % static_cast<unsigned>(from.second - from.first + 1));
  };
  Matrices m;
  m.a.resize(static_cast<std::size_t>(s.m * s.k)), m.b.resize(static_cast<std::size_t>(s.k * s.n));
  m.c.resize(static_cast<std::size_t>(s.m * s.n));
  for (int& x : m.a) x = draw(range_of(instruction.a));
  for (int& x : m.b) x = draw(range_of(instruction.b));
  for (int& x : m.c) x = draw({-60, 60});
  Fragments run(instruction.spelling, instruction.target, instruction.a == "f64" ? 64 : 32);
  run.set("a", lanes_a, bits, [&](int lane, int i) {
    const At at = a_at(instruction.shape, bits, lane, i);
    return pattern_of(instruction.a, m.a[static_cast<std::size_t>(at.row * s.k + at.column)]);
  });
  run.set("b", lanes_b, bits, [&](int lane, int i) {
    const At at = b_at(instruction.shape, bits, lane, i);
    return pattern_of(instruction.b, m.b[static_cast<std::size_t>(at.row * s.n + at.column)]);
  });
  run.set("c", lanes_c, width_of(instruction.d), [&](int lane, int i) {
    const At at = c_at(instruction.shape, lane, i);
    return pattern_of(instruction.d, m.c[static_cast<std::size_t>(at.row * s.n + at.column)]);
  });
  run.expect("d", lanes_c, width_of(instruction.d), [&](int lane, int i) {
    const At at = c_at(instruction.shape, lane, i);
    std::int64_t sum = m.c[static_cast<std::size_t>(at.row * s.n + at.column)];
    for (int k = 0; k < s.k; ++k) {
      const int x = m.a[static_cast<std::size_t>(at.row * s.k + k)], y = m.b[static_cast<std::size_t>(k * s.n + at.column)];
      sum += instruction.bit_operation == "xor" ? x ^ y : x * y;
    }
    return pattern_of(instruction.d, static_cast<int>(sum));
  });
  run.check();
}

TEST(Mma, MultipliesMatricesAsTheManualLaysThemOut) {
  std::mt19937_64 random(3);
  std::vector<Instruction> all;
  const auto add = [&](std::string shape, const std::string& d, const std::string& a, const std::string& b,
                       std::string target = "sm_90a", const std::string& kind = "") {
    all.push_back(
        {cat("mma.sync.aligned.", shape, ".row.col", kind, '.', d, '.', a, '.', b, '.', d), shape, d, a, b, std::move(target)});
  };
  for (const char* target : {"sm_80", "sm_90a", "sm_100a"}) {
    for (const char* shape : {"m16n8k8", "m16n8k16"}) {
      add(shape, "f32", "f16", "f16", target);
      add(shape, "f16", "f16", "f16", target);
      add(shape, "f32", "bf16", "bf16", target);
    }
    for (const char* shape : {"m16n8k4", "m16n8k8"}) add(shape, "f32", "tf32", "tf32", target);
  }
  add("m16n8k8", "f32", "f16", "f16", "sm_75");
  for (const char* shape : {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}) add(shape, "f64", "f64", "f64");
  for (const char* a : {"s8", "u8"})
    for (const char* b : {"s8", "u8"})
      for (const char* shape : {"m8n8k16", "m16n8k16", "m16n8k32"}) add(shape, "s32", a, b);
  for (const char* a : {"s4", "u4"})
    for (const char* b : {"s4", "u4"})
      for (const char* shape : {"m8n8k32", "m16n8k32", "m16n8k64"}) add(shape, "s32", a, b);
  for (const char* a : {"e4m3", "e5m2"})
    for (const char* b : {"e4m3", "e5m2"})
      for (const char* d : {"f32", "f16"})
        for (const char* shape : {"m16n8k16", "m16n8k32"})
          for (const char* target : {"sm_89", "sm_90a"}) add(shape, d, a, b, target);
  for (const char* a : {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"})
    for (const char* b : {"e4m3", "e2m1", "e2m3"})
      for (const char* d : {"f32", "f16"}) add("m16n8k32", d, a, b, "sm_120a", ".kind::f8f6f4");
  for (const char* operation : {"xor", "and"})
    for (const char* shape : {"m8n8k128", "m16n8k128", "m16n8k256"})
      all.push_back({cat("mma.sync.aligned.", shape, ".row.col.s32.b1.b1.s32.", operation, ".popc"), shape, "s32", "b1", "b1",
                     "sm_90a", operation});
  for (const Instruction& instruction : all)
    for (int round = 0; round < 2; ++round) expect_product(instruction, random);
}

TEST(Mma, ClampsIntegersOnlyWhenAsked) {
  for (const bool clamp : {false, true}) {
    Fragments run(cat("mma.sync.aligned.m16n8k32.row.col", clamp ? ".satfinite" : "", ".s32.s8.s8.s32"), "sm_90a", 32);
    run.set("a", 16, 8, [](int lane, int) { return lane < 16 ? 0x7F : 0x80; });
    run.set("b", 8, 8, [](int, int) { return 0x7F; });
    run.set("c", 4, 32, [](int lane, int) { return lane < 16 ? 0x7FFFFFF0 : 0x80000010; });
    const std::int64_t plus = std::int64_t{0x7FFFFFF0} + 32 * 127 * 127, minus = -std::int64_t{0x7FFFFFF0} - 32 * 128 * 127;
    run.expect("d", 4, 32, [&](int lane, int) -> std::uint64_t {
      if (clamp) return lane < 16 ? 0x7FFFFFFF : 0x80000000;
      return static_cast<std::uint32_t>(lane < 16 ? plus : minus);
    });
    run.check();
  }
}

TEST(Mma, OfDoublesIsAChainOfFusedMultiplyAddsInAnyRounding) {
  std::mt19937_64 random(5);
  for (const std::string rounding : {"", ".rn", ".rz", ".rm", ".rp"}) {
    const auto draw = [&] { return std::bit_cast<double>((random() & 0x800FFFFFFFFFFFFF) | (1000 + random() % 40) << 52); };
    std::array<double, 16 * 8> a;
    std::array<double, 8 * 8> b;
    std::array<double, 16 * 8> c;
    for (double& x : a) x = draw();
    for (double& x : b) x = draw();
    for (double& x : c) x = draw();
    a[3] = std::nan("");
    Fragments run(cat("mma.sync.aligned.m16n8k8.row.col", rounding, ".f64.f64.f64.f64"), "sm_90a", 64);
    const auto of = [](const auto& matrix, At at, int columns) {
      return matrix[static_cast<std::size_t>(at.row * columns + at.column)];
    };
    run.set("a", 4, 64, [&](int lane, int i) { return std::bit_cast<std::uint64_t>(of(a, a_at("m16n8k8", 64, lane, i), 8)); });
    run.set("b", 2, 64, [&](int lane, int i) { return std::bit_cast<std::uint64_t>(of(b, b_at("m16n8k8", 64, lane, i), 8)); });
    run.set("c", 4, 64, [&](int lane, int i) { return std::bit_cast<std::uint64_t>(of(c, c_at("m16n8k8", lane, i), 8)); });
    run.expect("d", 4, 64, [&](int lane, int i) {
      const At at = c_at("m16n8k8", lane, i);
      double sum = of(c, at, 8);
      for (int k = 0; k < 8; ++k) {
        // in twice the precision, and then rounded once: a sum of 53 + 53 bits and 53 others that are near it fits 113
        const long double x = a[static_cast<std::size_t>(at.row * 8 + k)], y = b[static_cast<std::size_t>(k * 8 + at.column)];
        if (std::isnan(static_cast<double>(x))) return std::uint64_t{0x7FF8000000000000};
        sum = testing::fused(static_cast<double>(x), static_cast<double>(y), sum, rounding);
      }
      return std::bit_cast<std::uint64_t>(sum);
    });
    run.check();
  }
}

// ---- sparse

TEST(MmaSparse, PutsElementsWhereTheMetadataSays) {
  std::mt19937_64 random(9);
  struct Sparse {
    std::string shape, d, a, b, target;
    int selectors;
    std::string kind = {};
    bool ordered_alone = false;
  };
  std::vector<Sparse> all = {{"m16n8k16", "f32", "f16", "f16", "sm_80", 4},
                             {"m16n8k16", "f16", "f16", "f16", "sm_90a", 4},
                             {"m16n8k32", "f32", "f16", "f16", "sm_90a", 2},
                             {"m16n8k32", "f16", "f16", "f16", "sm_80", 2},
                             {"m16n8k16", "f32", "bf16", "bf16", "sm_80", 4},
                             {"m16n8k32", "f32", "bf16", "bf16", "sm_90a", 2},
                             {"m16n8k8", "f32", "tf32", "tf32", "sm_80", 4},
                             {"m16n8k16", "f32", "tf32", "tf32", "sm_90a", 2},
                             {"m16n8k32", "s32", "s8", "u8", "sm_80", 2},
                             {"m16n8k64", "s32", "u8", "s8", "sm_90a", 1},
                             {"m16n8k64", "s32", "s4", "s4", "sm_80", 2},
                             {"m16n8k128", "s32", "u4", "s4", "sm_90a", 1},
                             {"m16n8k64", "f32", "e4m3", "e5m2", "sm_89", 1},
                             {"m16n8k64", "f16", "e5m2", "e4m3", "sm_120a", 1, "", true},
                             {"m16n8k64", "f32", "e2m1", "e3m2", "sm_120a", 1, ".kind::f8f6f4", true},
                             {"m16n8k64", "f16", "e2m3", "e2m1", "sm_120a", 1, ".kind::f8f6f4", true}};
  for (const Sparse& sparse : all)
    for (int selector = 0; selector < sparse.selectors; ++selector)
      for (const char* variant : {"sp", "sp::ordered_metadata"}) {
        if (sparse.ordered_alone && std::string(variant) == "sp") continue;
        const testing::Shape s = testing::shape_of(sparse.shape);
        const int bits = width_of(sparse.a), stored = s.k / 2, group = bits == 32 ? 2 : bits == 4 ? 8 : 4, kept = group / 2;
        const auto draw = [&](const std::string& type) {
          const auto [least, most] = range_of(type);
          return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
        };
        // the sparse matrix itself, and what says where its elements are
        std::vector<int> a(static_cast<std::size_t>(16 * s.k)), packed(static_cast<std::size_t>(16 * stored)),
            b(static_cast<std::size_t>(s.k * 8)), c(16 * 8);
        std::array<std::uint32_t, 32> metadata{};
        for (int& x : b) x = draw(sparse.b);
        for (int& x : c) x = draw("s8");
        constexpr int ordered[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
        for (int row = 0; row < 16; ++row)
          for (int chunk = 0; chunk < s.k / group; ++chunk) {
            const int indices = bits == 32 ? (random() % 2 == 0 ? 0b0100 : 0b1110) : ordered[random() % 6];
            for (int i = 0; i < kept; ++i) {
              const int x = draw(sparse.a);
              packed[static_cast<std::size_t>(row * stored + chunk * kept + i)] = x;
              const int place = bits == 32  ? (indices == 0b1110 ? 1 : 0)
                                : bits == 4 ? 2 * (i < 2 ? indices & 3 : indices >> 2) + i % 2
                                            : (i == 0 ? indices & 3 : indices >> 2);
              a[static_cast<std::size_t>(row * s.k + chunk * group + place)] = x;
            }
            const int g = row % 8, h = row / 8, chunks = s.k / group;
            int lane = 0, bit = 0;
            if (bits >= 16) {
              lane = chunks == 4 ? 4 * g + selector : 4 * g + 2 * selector + chunk / 4;
              bit = 4 * (chunk % 4) + 16 * h;
            } else {
              lane = chunks == 8 ? 4 * g + 2 * selector + h : 4 * g + h + 2 * (chunk / 8);
              bit = 4 * (chunk % 8);
            }
            metadata[static_cast<std::size_t>(lane)] |= static_cast<std::uint32_t>(indices) << bit;
          }
        Fragments run(cat("mma.", variant, ".sync.aligned.", sparse.shape, ".row.col", sparse.kind, '.', sparse.d, '.', sparse.a,
                          '.', sparse.b, '.', sparse.d),
                      sparse.target, 32, cat(", %e0, ", selector));
        // a fragment of the stored matrix is that of a dense one of half the depth (manual: "Matrix fragments … sparse")
        const std::string half = cat("m16n8k", stored);
        run.set("a", 16 * stored / 32, bits, [&](int lane, int i) {
          const At at = a_at(half, bits, lane, i);
          return pattern_of(sparse.a, packed[static_cast<std::size_t>(at.row * stored + at.column)]);
        });
        run.set("b", s.k * 8 / 32, bits, [&](int lane, int i) {
          const int per = 32 / bits, row = (lane % 4) * per + i % per + 4 * per * (i / per);
          return pattern_of(sparse.b, b[static_cast<std::size_t>(row * 8 + lane / 4)]);
        });
        run.set("c", 4, width_of(sparse.d), [&](int lane, int i) {
          const At at = c_at(sparse.shape, lane, i);
          return pattern_of(sparse.d, c[static_cast<std::size_t>(at.row * 8 + at.column)]);
        });
        run.set("e", 1, 32, [&](int lane, int) { return metadata[static_cast<std::size_t>(lane)]; });
        run.expect("d", 4, width_of(sparse.d), [&](int lane, int i) {
          const At at = c_at(sparse.shape, lane, i);
          int sum = c[static_cast<std::size_t>(at.row * 8 + at.column)];
          for (int k = 0; k < s.k; ++k)
            sum += a[static_cast<std::size_t>(at.row * s.k + k)] * b[static_cast<std::size_t>(k * 8 + at.column)];
          return pattern_of(sparse.d, sum);
        });
        run.check();
      }
}

TEST(MmaSparse, MetadataThatCannotBe) {
  const auto fault = [](std::string_view variant, std::string_view shape, std::string_view type, std::uint32_t metadata) {
    const auto program = testing::text_program(
        "", cat(".reg .b32 %a<4>; .reg .b32 %e; .reg .f32 %d<4>;\nmov.b32 %e, ", metadata,
                ";\nmov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %d0, 0;\nmma.", variant, ".sync.aligned.", shape, ".row.col.f32.",
                type, '.', type, ".f32 {%d0, %d1, %d2, %d3}, {%a0, %a1}, {%a0, %a1}, {%d0, %d0, %d0, %d0}, %e, 0;\nret;"));
    const auto report = program->run(testing::block(32), {}, {});
    return report ? std::string() : report.error().message;
  };
  constexpr std::uint32_t ascending = 0x4444'4444, equal = 0, descending = 0x1111'1111, tf32 = 0xE4E4'E4E4;
  EXPECT_EQ(fault("sp::ordered_metadata", "m16n8k16", "f16", ascending), "");
  for (const std::uint32_t wrong : {equal, descending})
    EXPECT_NE(fault("sp::ordered_metadata", "m16n8k16", "f16", wrong).find("that do not ascend"), std::string::npos);
  EXPECT_EQ(fault("sp", "m16n8k16", "f16", descending), "") << "which promises no order";
  EXPECT_EQ(fault("sp", "m16n8k8", "tf32", tf32), "");
  EXPECT_NE(fault("sp", "m16n8k8", "tf32", ascending | 1).find("what fits for its types is 0x4 or 0xe"), std::string::npos);
}

TEST(MmaQuads, MultiplyFourPairsOfMatrices) {
  std::mt19937_64 random(11);
  for (const std::string types : {"f16 f16", "f32 f16", "f32 f32"})
    for (const bool a_row : {true, false})
      for (const bool b_row : {true, false}) {
        const std::string d = types.substr(0, 3), c = types.substr(4);
        std::array<std::array<int, 32>, 4> a, b;
        std::array<std::array<int, 64>, 4> sum;
        const auto draw = [&] { return static_cast<int>(random() % 17) - 8; };
        for (auto* matrices : {&a, &b})
          for (auto& m : *matrices)
            for (int& x : m) x = draw();
        for (auto& m : sum)
          for (int& x : m) x = draw();
        Fragments run(cat("mma.sync.aligned.m8n8k4.", a_row ? "row" : "col", '.', b_row ? "row" : "col", '.', d, ".f16.f16.", c),
                      "sm_70", 32);
        const auto quad = [](int lane) { return static_cast<std::size_t>(lane % 16 / 4); };
        run.set("a", 4, 16, [&](int lane, int i) {
          const int row = a_row ? (lane < 16 ? lane % 4 : lane % 4 + 4) : (lane < 16 ? i % 4 : i % 4 + 4),
                    column = a_row ? i : lane % 4;
          return pattern_of("f16", a[quad(lane)][static_cast<std::size_t>(row * 4 + column)]);
        });
        run.set("b", 4, 16, [&](int lane, int i) {
          const int row = b_row ? lane % 4 : i, column = b_row ? (lane < 16 ? i : i + 4) : (lane < 16 ? lane % 4 : lane % 4 + 4);
          return pattern_of("f16", b[quad(lane)][static_cast<std::size_t>(row * 8 + column)]);
        });
        const auto place = [](const std::string& type, int lane, int i) -> At {
          if (type == "f16") return {lane < 16 ? lane % 4 : lane % 4 + 4, i};
          const int x = (lane & 1) + (i & 2);
          return {lane < 16 ? x : x + 4, (i & 4) + (lane & 2) + (i & 1)};
        };
        run.set("c", 8, width_of(c), [&](int lane, int i) {
          const At at = place(c, lane, i);
          return pattern_of(c, sum[quad(lane)][static_cast<std::size_t>(at.row * 8 + at.column)]);
        });
        run.expect("d", 8, width_of(d), [&](int lane, int i) {
          const At at = place(d, lane, i);
          int total = sum[quad(lane)][static_cast<std::size_t>(at.row * 8 + at.column)];
          for (int k = 0; k < 4; ++k)
            total += a[quad(lane)][static_cast<std::size_t>(at.row * 4 + k)] *
                     b[quad(lane)][static_cast<std::size_t>(k * 8 + at.column)];
          return pattern_of(d, total);
        });
        run.check();
      }
}

}  // namespace
}  // namespace ptx::vgpu
