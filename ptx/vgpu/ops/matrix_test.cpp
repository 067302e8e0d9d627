// ldmatrix, stmatrix and movmatrix: elements named by row and column, found in memory by a second reading of the manual; and what
// they say of rows that are not there, not aligned or not written.
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;

// A warp fills 512 bytes of shared memory with bytes of its own from `in`, runs the lines with %r0 = lane and %r1 = the address
// of its row (of 16 bytes, in the order of `rows`), and stores %q0 to %q3.
std::string kernel(std::string_view target, std::string_view lines) {
  return cat(".version 9.1\n.target ", target, R"(
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 rows, .param .u64 out)
{
.shared .align 128 .b8 tile[512];
.reg .b64 %x<8>; .reg .b32 %r<8>; .reg .b32 %q<4>; .reg .b32 %w<4>;
ld.param.u64 %x0, [in]; ld.param.u64 %x1, [rows]; ld.param.u64 %x2, [out];
mov.u32 %r0, %tid.x; mul.wide.u32 %x3, %r0, 16; add.u64 %x4, %x0, %x3;
ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x4];
mov.u32 %r2, tile; shl.b32 %r3, %r0, 4; add.u32 %r3, %r2, %r3;
st.shared.v4.b32 [%r3], {%w0, %w1, %w2, %w3};
bar.sync 0;
mul.wide.u32 %x5, %r0, 4; add.u64 %x5, %x1, %x5; ld.global.b32 %r1, [%x5]; add.u32 %r1, %r1, %r2;
mov.b32 %q0, 0; mov.b32 %q1, 0; mov.b32 %q2, 0; mov.b32 %q3, 0;
)",
             lines, R"(
add.u64 %x6, %x2, %x3;
st.global.v4.b32 [%x6], {%q0, %q1, %q2, %q3};
ret;
}
)");
}

struct TileRun {
  Buffer<std::uint8_t> in{"in", std::vector<std::uint8_t>(512)};
  Buffer<std::uint32_t> rows{"rows", std::vector<std::uint32_t>(32)};
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(128)};

  explicit TileRun(std::uint64_t seed = 1) {
    std::mt19937_64 random(seed);
    for (auto& byte : in.data) byte = static_cast<std::uint8_t>(random());
    for (std::uint32_t i = 0; i < 32; ++i) rows.data[i] = (i * 7 + 3) % 32 * 16;
  }
  std::vector<std::byte> params() { return testing::params({in.address(), rows.address(), out.address()}); }
  std::vector<Region> regions() { return {in.region(), rows.region(), out.region()}; }
  void go(std::string_view target, std::string_view lines) {
    auto made = testing::make_from_text(kernel(target, lines));
    ASSERT_TRUE(made) << render(made.error());
    testing::run(*made, testing::block(32), params(), regions());
  }
  Diagnostic fault(std::string_view lines) {
    auto made = testing::make_from_text(kernel("sm_90a", lines));
    if (!made) return made.error();
    return testing::fault(*made, testing::block(32), params(), regions());
  }
  // byte b of the row that lane `lane` names
  [[nodiscard]] std::uint8_t byte(int lane, int b) const {
    return in.data[rows.data[static_cast<std::size_t>(lane)] + static_cast<std::size_t>(b)];
  }
  [[nodiscard]] std::uint32_t half(int lane, int element) const {
    return byte(lane, 2 * element) | byte(lane, 2 * element + 1) << 8;
  }
  [[nodiscard]] std::uint32_t got(int lane, int reg) const { return out.data[static_cast<std::size_t>(4 * lane + reg)]; }
};

std::string registers(int count) { return count == 1 ? "{%q0}" : count == 2 ? "{%q0, %q1}" : "{%q0, %q1, %q2, %q3}"; }

TEST(Ldmatrix, GivesEachLaneTwoElementsOfARowOrAColumn) {
  for (const int count : {1, 2, 4})
    for (const bool trans : {false, true})
      for (const std::string space : {".shared", ".shared::cta", ""}) {
        TileRun run;
        // without a state space the address is generic
        const std::string generic = "mov.u32 %r4, 0; cvt.u64.u32 %x7, %r1; cvta.shared.u64 %x7, %x7;\n";
        run.go("sm_90a", cat(generic, "ldmatrix.sync.aligned.m8n8.x", count, trans ? ".trans" : "", space, ".b16 ",
                             registers(count), ", [", space.empty() ? "%x7" : "%r1", "];"));
        for (int lane = 0; lane < 32; ++lane)
          for (int m = 0; m < count; ++m) {
            const int row = lane / 4, column = 2 * (lane % 4);
            const std::uint32_t low = trans ? run.half(8 * m + column, row) : run.half(8 * m + row, column);
            const std::uint32_t high = trans ? run.half(8 * m + column + 1, row) : run.half(8 * m + row, column + 1);
            ASSERT_EQ(run.got(lane, m), low | high << 16) << "lane " << lane << " matrix " << m << (trans ? " trans" : "");
          }
      }
}

TEST(Ldmatrix, WidensElementsOfFourAndSixBits) {
  for (const int count : {1, 2, 4})
    for (const int bits : {4, 6}) {
      TileRun run;
      run.go("sm_120a", cat("ldmatrix.sync.aligned.m8n16.x", count, ".shared.b8x16.", bits == 4 ? "b4x16_p64 " : "b6x16_p32 ",
                            registers(count), ", [%r1];"));
      for (int lane = 0; lane < 32; ++lane)
        for (int m = 0; m < count; ++m) {
          std::uint32_t expected = 0;
          for (int j = 0; j < 4; ++j)
            for (int b = 0; b < bits; ++b) {
              const int bit = (4 * (lane % 4) + j) * bits + b;
              expected |= static_cast<std::uint32_t>(run.byte(8 * m + lane / 4, bit / 8) >> bit % 8 & 1) << (8 * j + b);
            }
          ASSERT_EQ(run.got(lane, m), expected) << "lane " << lane << " matrix " << m;
        }
    }
}

// "Each thread in a warp loads 4 consecutive columns across 2 rows", of the transposed matrix: a row of it is a column of 16 rows
// in memory. CuTe's traits say the same (docs/facts.md).
TEST(Ldmatrix, TransposesSixteenBySixteen) {
  for (const int count : {1, 2})
    for (const int bits : {8, 4, 6}) {
      TileRun run;
      run.go("sm_120a", cat("ldmatrix.sync.aligned.m16n16.x", count, ".trans.shared.",
                            bits == 8   ? "b8 "
                            : bits == 4 ? "b8x16.b4x16_p64 "
                                        : "b8x16.b6x16_p32 ",
                            registers(2 * count), ", [%r1];"));
      for (int lane = 0; lane < 32; ++lane)
        for (int m = 0; m < count; ++m)
          for (int half = 0; half < 2; ++half) {
            const int row = lane / 4 + 8 * half;  // of the transposed matrix
            std::uint32_t expected = 0;
            for (int j = 0; j < 4; ++j)
              for (int b = 0; b < bits; ++b) {
                const int column = 4 * (lane % 4) + j, bit = row * bits + b;
                expected |= static_cast<std::uint32_t>(run.byte(16 * m + column, bit / 8) >> bit % 8 & 1) << (8 * j + b);
              }
            ASSERT_EQ(run.got(lane, 2 * m + half), expected) << bits << " lane " << lane << " matrix " << m;
          }
    }
}

TEST(Stmatrix, PutsBackWhatLdmatrixGives) {
  for (const int count : {1, 2, 4})
    for (const bool trans : {false, true}) {
      // the bytes of `in` as registers, stored by columns or rows, then looked at in memory
      TileRun run;
      run.go("sm_90a", cat("stmatrix.sync.aligned.m8n8.x", count, trans ? ".trans" : "", ".shared.b16 [%r1], ",
                           count == 1   ? "{%w0}"
                           : count == 2 ? "{%w0, %w1}"
                                        : "{%w0, %w1, %w2, %w3}",
                           ";\nbar.sync 0;\nld.shared.v4.b32 {%q0, %q1, %q2, %q3}, [%r3];"));
      std::vector<std::uint8_t> memory = run.in.data;
      for (int m = 0; m < count; ++m)
        for (int row = 0; row < 8; ++row)
          for (int column = 0; column < 8; ++column) {
            // element (row, column) of the fragment: in lane 4 row + column / 2
            const int r = trans ? column : row, c = trans ? row : column;
            const auto lane = static_cast<std::size_t>(4 * r + c / 2);
            for (std::size_t b = 0; b < 2; ++b)
              memory[run.rows.data[static_cast<std::size_t>(8 * m + row)] + static_cast<std::size_t>(2 * column) + b] =
                  run.in.data[16 * lane + static_cast<std::size_t>(4 * m + 2 * (c % 2)) + b];
          }
      ASSERT_EQ(std::memcmp(memory.data(), run.out.data.data(), 512), 0) << count << (trans ? " trans" : "");
    }
}

TEST(Stmatrix, StoresBytesByColumns) {
  for (const int count : {1, 2, 4}) {
    TileRun run;
    run.go("sm_100a", cat("stmatrix.sync.aligned.m16n8.x", count, ".trans.shared.b8 [%r1], ",
                          count == 1   ? "{%w0}"
                          : count == 2 ? "{%w0, %w1}"
                                       : "{%w0, %w1, %w2, %w3}",
                          ";\nbar.sync 0;\nld.shared.v4.b32 {%q0, %q1, %q2, %q3}, [%r3];"));
    std::vector<std::uint8_t> memory = run.in.data;
    for (int m = 0; m < count; ++m)
      for (int row = 0; row < 16; ++row)
        for (int column = 0; column < 8; ++column) {
          // as an accumulator of 16 x 8: rows lane / 4 and lane / 4 + 8, columns 2 (lane % 4) and one on; column by column in
          // memory
          const auto lane = static_cast<std::size_t>(4 * (row % 8) + column / 2),
                     element = static_cast<std::size_t>(2 * (row / 8) + column % 2);
          memory[run.rows.data[static_cast<std::size_t>(8 * m + column)] + static_cast<std::size_t>(row)] =
              run.in.data[16 * lane + static_cast<std::size_t>(4 * m) + element];
        }
    ASSERT_EQ(std::memcmp(memory.data(), run.out.data.data(), 512), 0) << count;
  }
}

TEST(Movmatrix, Transposes) {
  TileRun run;
  run.go("sm_90a", "movmatrix.sync.aligned.m8n8.trans.b16 %q0, %w0;");
  const auto element = [](const auto& reg, int row, int column) {
    return reg(4 * row + column / 2) >> (16 * (column % 2)) & 0xFFFF;
  };
  const auto source = [&](int lane) {
    std::uint32_t word = 0;
    std::memcpy(&word, &run.in.data[16 * static_cast<std::size_t>(lane)], 4);
    return word;
  };
  const auto result = [&](int lane) { return run.got(lane, 0); };
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) ASSERT_EQ(element(result, row, column), element(source, column, row));
}

TEST(Ldmatrix, SaysWhichRowIsNotThere) {
  constexpr std::string_view x1 = "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q0}, [%r1];",
                             x4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q0, %q1, %q2, %q3}, [%r1];";
  TileRun run;
  run.rows.data[9] = 4;  // not a multiple of 16
  EXPECT_EQ(run.fault(x4).kind, Kind::misaligned);
  TileRun ignored;
  ignored.rows.data[9] = 4;  // .x1 takes the addresses of lanes 0 to 7
  ignored.go("sm_90a", x1);
  TileRun outside;
  outside.rows.data[3] = 512;
  EXPECT_EQ(outside.fault(x1).kind, Kind::out_of_bounds);
  TileRun global;
  EXPECT_EQ(global.fault("ldmatrix.sync.aligned.m8n8.x1.b16 {%q0}, [%x0];").kind, Kind::out_of_bounds);
}

TEST(Ldmatrix, NeedsTheWholeWarp) {
  TileRun guarded;
  const Diagnostic d =
      guarded.fault(".reg .pred %p; setp.lt.u32 %p, %r0, 16;\n@%p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q0}, [%r1];");
  EXPECT_EQ(d.kind, Kind::divergent) << render(d);
  // lanes that come by different ways meet
  TileRun parted;
  parted.go("sm_90a", R"(.reg .pred %p; setp.lt.u32 %p, %r0, 16;
@%p bra OTHER;
add.u32 %r1, %r1, 0;
OTHER:
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%q0}, [%r1];)");
  EXPECT_EQ(parted.got(0, 0), parted.half(0, 0) | parted.half(0, 1) << 16);
}

// Shared memory that nothing has written: what is loaded from it is undefined, and only that.
TEST(Ldmatrix, CarriesUndefinedElements) {
  const auto text = [](std::string_view tail) {
    return cat(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n", R"(
.shared .align 128 .b8 tile[128];
.reg .b64 %x<4>; .reg .b32 %r<8>; .reg .b32 %a<4>; .reg .b32 %c<4>; .reg .b32 %d<4>; .reg .pred %p, %o;
ld.param.u64 %x0, [out]; mov.u32 %r0, %tid.x; mul.wide.u32 %x1, %r0, 4; add.u64 %x0, %x0, %x1;
mov.u32 %r1, tile; shl.b32 %r2, %r0, 4; add.u32 %r2, %r1, %r2;
setp.lt.u32 %p, %r0, 4; mov.b32 %r3, 0x3C003C00;
@%p st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3};
setp.lt.u32 %o, %r0, 16;
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a0}, [%r2];
)",
               tail, "ret;\n}\n");
  };
  const auto go = [&](std::string_view tail) -> Expected<Report> {
    auto made = testing::make_from_text(text(tail));
    if (!made) return Unexpected{made.error()};
    static Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
    out.data.assign(32, 0);
    return (*made)->run(testing::block(32), testing::params({out.address()}), std::vector<Region>{out.region()});
  };
  // rows 0 to 3 are in lanes 0 to 15
  EXPECT_TRUE(go("@%o st.global.b32 [%x0], %a0;\n"));
  const auto all = go("st.global.b32 [%x0], %a0;\n");
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().kind, Kind::uninitialised) << render(all.error());
  // a product has undefined elements in those rows alone
  const std::string product =
      "mov.b32 %c0, 0; mov.b32 %c1, 0; mov.b32 %c2, 0; mov.b32 %c3, 0;\n"
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%d0, %d1, %d2, %d3}, {%a0, %r3}, {%r3}, {%c0, %c1, %c2, %c3};\n";
  EXPECT_TRUE(go(product + "@%o st.global.b32 [%x0], %d0;\n"));
  EXPECT_TRUE(go(product + "st.global.b32 [%x0], %d2;\n"));
  const auto undefined = go(product + "st.global.b32 [%x0], %d0;\n");
  ASSERT_FALSE(undefined);
  EXPECT_EQ(undefined.error().kind, Kind::uninitialised) << render(undefined.error());
  // transposed, a column of the stored matrix is undefined; stmatrix hands that on through memory
  const std::string through =
      "movmatrix.sync.aligned.m8n8.trans.b16 %a1, %a0;\nstmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%r2], {%a1};\nbar.sync "
      "0;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%a2}, [%r2];\n";
  EXPECT_TRUE(go(through + "@%o st.global.b32 [%x0], %a2;\n"));
  EXPECT_FALSE(go(through + "st.global.b32 [%x0], %a2;\n"));
}

}  // namespace
}  // namespace ptx::vgpu
