// wgmma: matrices put into shared memory by the manual's description of the layouts, piece by piece, and their product in
// integers.
#include "ptx/vgpu/testing/fragments.hpp"
#include "ptx/vgpu/testing/numbers.hpp"
#include "ptx/vgpu/testing/shared_matrices.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::pattern_of;
using testing::Placed;
using testing::range_of;
using testing::width_of;

struct Case {
  std::string d, a, b;  // types
  int n = 8;
  int swizzle = 0;  // bytes of a row of the pattern: 0, 32, 64, 128
  bool from_memory = true, a_transposed = false, b_transposed = false, adds = true;
  int scale_a = 1, scale_b = 1;
  bool clamp = false, sparse = false;
  int selector = 0;
  int base_offset = 0;  // rows of 128 bytes that the matrices begin behind a multiple of 1024, laid out from where they begin
};

constexpr std::uint32_t b_begin = 16384, image_bytes = 49152;

struct At {
  int row = 0, column = 0;
};
// the manual's figures: thread of the warpgroup, element of its fragment
At d_at(int thread, int i) { return {thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8, i / 4 * 8 + thread % 4 * 2 + i % 2}; }
At a_at(int thread, int i, int per) {
  const int reg = i / per;
  return {thread / 32 * 16 + thread % 32 / 4 + reg % 2 * 8, reg / 2 * 4 * per + thread % 4 * per + i % per};
}

void expect_wgmma(const Case& c, std::mt19937_64& random) {
  const int bits = width_of(c.a), k = 256 / bits * (c.sparse ? 2 : 1), stored = 256 / bits, per = 32 / bits, n = c.n;
  const auto draw = [&](const std::string& type) {
    const auto [least, most] = range_of(type);
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  std::vector<int> a(static_cast<std::size_t>(64 * k)), packed(static_cast<std::size_t>(64 * stored)),
      b(static_cast<std::size_t>(k * n)), acc(static_cast<std::size_t>(64 * n));
  std::vector<std::uint32_t> metadata(128);
  for (int& x : b) x = draw(c.b);
  for (int& x : acc) x = draw("s8");
  for (int& x : packed) x = draw(c.a);
  if (!c.sparse) a = packed;
  constexpr int ordered[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  const int group = bits == 32 ? 2 : 4, kept = group / 2;
  for (int row = 0; c.sparse && row < 64; ++row)
    for (int chunk = 0; chunk < k / group; ++chunk) {
      const int indices = bits == 32 ? (random() % 2 == 0 ? 0b0100 : 0b1110) : ordered[random() % 6];
      for (int i = 0; i < kept; ++i)
        a[static_cast<std::size_t>(row * k + chunk * group +
                                   (bits == 32 ? indices / 0b1110
                                    : i == 0   ? indices & 3
                                               : indices >> 2))] =
            packed[static_cast<std::size_t>(row * stored + chunk * kept + i)];
      const int warp = row / 16, g = row % 8, h = row / 8 % 2;
      const int lane = bits >= 16 ? 4 * g + 2 * c.selector + chunk / 4 : 4 * g + h + 2 * (chunk / 8);
      const int bit = bits >= 16 ? 4 * (chunk % 4) + 16 * h : 4 * (chunk % 8);
      metadata[static_cast<std::size_t>(32 * warp + lane)] |= static_cast<std::uint32_t>(indices) << bit;
    }
  // shared memory
  constexpr std::uint64_t shared_start = 1024;  // tiles begin there: the pattern goes by the address
  const Placed place_a(c.swizzle, bits, c.a_transposed, 64), place_b(c.swizzle, bits, c.b_transposed, n);
  Buffer<std::uint8_t> image{"image", std::vector<std::uint8_t>(image_bytes)};
  const auto put = [&](const Placed& placed, std::uint64_t base, int mn, int at_k, std::uint64_t pattern) {
    const std::uint64_t first =
        placed.bit(shared_start + base, mn, at_k) - shared_start * 8 + static_cast<std::uint64_t>(1024 * c.base_offset);
    testing::put_bits(image.data, first, bits, pattern);
  };
  for (int row = 0; c.from_memory && row < 64; ++row)
    for (int s = 0; s < stored; ++s) put(place_a, 0, row, s, pattern_of(c.a, packed[static_cast<std::size_t>(row * stored + s)]));
  for (int column = 0; column < n; ++column)
    for (int at_k = 0; at_k < k; ++at_k)
      put(place_b, b_begin, column, at_k, pattern_of(c.b, b[static_cast<std::size_t>(at_k * n + column)]));
  // registers
  const int d_bits = width_of(c.d), d_registers = n / 2 * d_bits / 32;
  Buffer<std::uint32_t> registers{"registers", std::vector<std::uint32_t>(static_cast<std::size_t>((d_registers + 5) * 128))};
  const auto reg = [&](int number, int thread) -> std::uint32_t& {
    return registers.data[static_cast<std::size_t>(number * 128 + thread)];
  };
  Buffer<std::uint32_t> expected{"expected", std::vector<std::uint32_t>(static_cast<std::size_t>(d_registers * 128))};
  for (int thread = 0; thread < 128; ++thread) {
    for (int i = 0; i < n / 2; ++i) {
      const At at = d_at(thread, i);
      const int number = i * d_bits / 32, shift = i * d_bits % 32;
      reg(number, thread) |=
          static_cast<std::uint32_t>(pattern_of(c.d, acc[static_cast<std::size_t>(at.row * n + at.column)]) << shift);
      int sum = c.adds ? acc[static_cast<std::size_t>(at.row * n + at.column)] : 0;
      for (int at_k = 0; at_k < k; ++at_k)
        sum += c.scale_a * c.scale_b * a[static_cast<std::size_t>(at.row * k + at_k)] *
               b[static_cast<std::size_t>(at_k * n + at.column)];
      expected.data[static_cast<std::size_t>(number * 128 + thread)] |= static_cast<std::uint32_t>(pattern_of(c.d, sum) << shift);
    }
    for (int i = 0; i < 4 * per; ++i) {
      const At at = a_at(thread, i, per);
      reg(d_registers + i / per, thread) |= static_cast<std::uint32_t>(
          pattern_of(c.a, packed[static_cast<std::size_t>(at.row * stored + at.column)]) << (i % per * bits));
    }
    reg(d_registers + 4, thread) = metadata[static_cast<std::size_t>(thread)];
  }
  const std::uint64_t begin = static_cast<std::uint64_t>(c.base_offset) << 49 | static_cast<std::uint64_t>(8 * c.base_offset);
  std::string d_list = "{";
  for (int i = 0; i < d_registers; ++i) d_list += cat(i == 0 ? "" : ", ", "%d", i);
  const bool integers = c.d == "s32", halves = c.a == "f16" || c.a == "bf16";
  std::string line = cat("wgmma.mma_async.", c.sparse ? "sp." : "", "sync.aligned.m64n", n, 'k', k, '.', c.d, '.', c.a, '.', c.b,
                         c.a == "b1" ? ".and.popc" : "", c.clamp ? ".satfinite" : "", ' ', d_list, "}, ",
                         c.from_memory ? "%xa" : "{%a0, %a1, %a2, %a3}", ", %xb", c.sparse ? cat(", %e, ", c.selector) : "", ", ",
                         c.adds ? "1" : "0");
  if (!integers) line += cat(", ", c.scale_a, ", ", c.scale_b);
  if (halves && c.from_memory) line += c.a_transposed ? ", 1" : ", 0";
  if (halves) line += c.b_transposed ? ", 1" : ", 0";
  std::string body = cat(R"(.shared .align 1024 .b8 tile[)", image_bytes, R"(];
.reg .b64 %x<8>; .reg .b64 %xa, %xb; .reg .b32 %r<8>; .reg .b32 %w<4>; .reg .b32 %d<128>; .reg .b32 %a<4>; .reg .b32 %e; .reg .pred %p;
ld.param.u64 %x0, [image]; ld.param.u64 %x1, [registers]; ld.param.u64 %x2, [out];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mul.wide.u32 %x3, %r0, 4; add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
mov.u32 %r2, 0; mul.wide.u32 %x4, %r0, 16; add.u64 %x4, %x4, %x0; shl.b32 %r3, %r0, 4; add.u32 %r3, %r3, %r1;
FILL:
ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x4]; st.shared.v4.b32 [%r3], {%w0, %w1, %w2, %w3};
add.u64 %x4, %x4, 2048; add.u32 %r3, %r3, 2048; add.u32 %r2, %r2, 2048;
setp.lt.u32 %p, %r2, )",
                         image_bytes, R"(;
@%p bra FILL;
bar.sync 0;
shr.u32 %r4, %r1, 4; cvt.u64.u32 %x5, %r4; mov.b64 %xa, )",
                         place_a.descriptor() + begin, "; add.u64 %xa, %xa, %x5; mov.b64 %xb, ", place_b.descriptor() + begin,
                         "; add.u64 %xb, %xb, %x5; add.u64 %xb, %xb, ", b_begin / 16, ";\n");
  for (int i = 0; i < d_registers; ++i) body += cat("ld.global.b32 %d", i, ", [%x1+", i * 512, "];\n");
  for (int i = 0; i < 4; ++i) body += cat("ld.global.b32 %a", i, ", [%x1+", (d_registers + i) * 512, "];\n");
  body += cat("ld.global.b32 %e, [%x1+", (d_registers + 4) * 512, "];\n", "wgmma.fence.sync.aligned;\n", line,
              ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
  for (int i = 0; i < d_registers; ++i) body += cat("st.global.b32 [%x2+", i * 512, "], %d", i, ";\n");
  auto made =
      testing::make_from_text(testing::text_kernel(".param .u64 image, .param .u64 registers, .param .u64 out", body + "ret;"));
  ASSERT_TRUE(made) << line << '\n' << render(made.error());
  for (const Numerics numerics : {Numerics::exact, Numerics::fast}) {  // the sums of these are exact either way
    Options options;
    options.numerics = numerics;
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(expected.data.size())};
    testing::run(*made, testing::block(128), testing::params({image.address(), registers.address(), out.address()}),
                 {image.region(), registers.region(), out.region()}, options);
    for (std::size_t i = 0; i < out.data.size(); ++i)
      ASSERT_EQ(out.data[i], expected.data[i]) << line << " swizzle " << c.swizzle << " register " << i / 128 << " thread "
                                               << i % 128 << " numerics " << static_cast<int>(numerics);
  }
}

TEST(Wgmma, MultipliesMatricesInSharedMemory) {
  std::mt19937_64 random(31);
  std::vector<Case> all;
  int count = 0;
  for (const int swizzle : {0, 32, 64, 128})
    for (const bool from_memory : {true, false}) {
      const int n = count % 3 == 0 ? 8 : count % 3 == 1 ? 64 : 136;
      ++count;
      for (const auto& [d, a, b] : std::vector<std::array<const char*, 3>>{{"f32", "f16", "f16"},
                                                                           {"f16", "f16", "f16"},
                                                                           {"f32", "bf16", "bf16"},
                                                                           {"f32", "tf32", "tf32"},
                                                                           {"f32", "e4m3", "e5m2"},
                                                                           {"f16", "e5m2", "e4m3"},
                                                                           {"f32", "e4m3", "e4m3"},
                                                                           {"s32", "s8", "u8"},
                                                                           {"s32", "u8", "s8"},
                                                                           {"s32", "b1", "b1"}}) {
        Case c{d, a, b, std::string(d) == "s32" && n == 136 ? 144 : n, swizzle, from_memory};
        all.push_back(c);
        if (std::string(d) != "s32") {
          c.scale_a = -1;
          c.adds = false;
          all.push_back(c);
          c.scale_b = -1, c.scale_a = 1, c.adds = true;
          all.push_back(c);
        } else if (std::string(a) != "b1") {
          c.clamp = true;
          all.push_back(c);
        }
        if (width_of(a) == 16)
          for (const int transposed : {1, 2, 3}) {
            if (!from_memory && transposed != 2) continue;
            Case t{d, a, b, n, swizzle, from_memory, (transposed & 1) != 0, (transposed & 2) != 0};
            all.push_back(t);
          }
        // b of a sparse product is 64 bytes deep, a row of 32 bytes does not hold it
        if (std::string(a) == "b1" || swizzle == 32) continue;
        for (int selector = 0; selector < (width_of(a) >= 16 ? 2 : 1); ++selector) {
          Case s{d, a, b, c.n, swizzle, from_memory};
          s.sparse = true, s.selector = selector;
          all.push_back(s);
        }
      }
    }
  all.push_back({"f32", "bf16", "bf16", 256, 128, true});
  for (const int base_offset : {1, 3, 7}) {
    all.push_back({"f32", "bf16", "bf16", 64, 128, true});
    all.back().base_offset = base_offset;
  }
  for (const Case& c : all) expect_wgmma(c, random);
}

// Any bits, NaN and infinities among them or finite numbers alone: a host that computes where the accumulators lie and one that
// does not give the same.
TEST(Wgmma, TheSameBitsOnEveryHost) {
  struct Types {
    const char* names;
    int k;
    std::uint32_t finite;  // the bits of a word that finite factors may have
  };
  constexpr int n = 40, registers = n / 2;
  std::string d_list;
  for (int i = 0; i < registers; ++i) d_list += cat(i == 0 ? "" : ", ", "%d", i);
  std::mt19937 random(8);
  for (const Types& types :
       {Types{"bf16.bf16", 16, 0xBFFFBFFF}, Types{"f16.f16", 16, 0xBFFFBFFF}, Types{"tf32.tf32", 8, 0xBFFFFFFF},
        Types{"e5m2.e4m3", 32, 0xBFBFBFBF}, Types{"e4m3.e4m3", 32, 0xBFBFBFBF}}) {
    std::string body = cat(R"(.shared .align 1024 .b8 tile[16384];
.reg .b64 %x<8>; .reg .b64 %xa, %xb; .reg .b32 %r<8>; .reg .b32 %d<20>; .reg .pred %p;
ld.param.u64 %x0, [image]; ld.param.u64 %x1, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mul.wide.u32 %x3, %r0, 4;
add.u64 %x1, %x1, %x3; add.u64 %x0, %x0, %x3; mad.lo.u32 %r3, %r0, 4, %r1; mov.u32 %r2, 0;
FILL:
ld.global.b32 %r4, [%x0]; st.shared.b32 [%r3], %r4; add.u64 %x0, %x0, 512; add.u32 %r3, %r3, 512; add.u32 %r2, %r2, 1;
setp.lt.u32 %p, %r2, 32;
@%p bra FILL;
bar.sync 0;
shr.u32 %r4, %r1, 4; cvt.u64.u32 %xa, %r4; add.u64 %xa, %xa, 0x4000004000010000; add.u64 %xb, %xa, 512;
)");
    for (int i = 0; i < registers; ++i) body += cat("ld.global.b32 %d", i, ", [%x1+", i * 512, "];\n");
    body += cat("wgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n", n, 'k', types.k, ".f32.", types.names, " {",
                d_list, "}, %xa, %xb, 1, 1, -1", types.k == 16 ? ", 0, 0" : "",
                ";\nwgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < registers; ++i) body += cat("st.global.b32 [%x1+", i * 512, "], %d", i, ";\n");
    const std::string text = testing::text_kernel(".param .u64 image, .param .u64 out", body + "ret;");
    const auto usual = testing::make_from_text(text);
    baseline_only = true;
    const auto older = testing::make_from_text(text);
    baseline_only = false;
    ASSERT_TRUE(usual && older) << types.names;
    for (int round = 0; round < 12; ++round)
      for (const Numerics numerics : {Numerics::exact, Numerics::fast}) {
        Buffer<std::uint32_t> image{"image", std::vector<std::uint32_t>(4096)};
        std::vector<std::uint32_t> before(registers * 128);
        const std::uint32_t kept = round % 3 == 0 ? ~0u : types.finite;
        for (auto& x : image.data) x = static_cast<std::uint32_t>(random()) & kept;
        for (auto& x : before) x = static_cast<std::uint32_t>(random()) & (kept | 0x3FFFFFFF);
        Options options;
        options.numerics = numerics;
        std::vector<std::vector<std::uint32_t>> results;
        for (const auto* program : {&*usual, &*older}) {
          Buffer<std::uint32_t> out{"out", before};
          testing::run(*program, testing::block(128), testing::params({image.address(), out.address()}),
                       {image.region(), out.region()}, options);
          results.push_back(out.data);
        }
        ASSERT_EQ(results[0], results[1]) << types.names << " numerics " << static_cast<int>(numerics) << " round " << round;
      }
  }
}

Diagnostic fault_of(std::string_view body, std::uint32_t threads) {
  auto made = testing::make_from_text(testing::text_kernel(
      "", cat(".shared .align 1024 .b8 tile[16384];\n.reg .b64 %x<8>; .reg .b32 %r<8>; .reg .b32 %d<4>; .reg .b32 %a<4>;\n", body,
              "\nret;")));
  if (!made) return made.error();
  return testing::fault(*made, testing::block(threads), {}, {});
}

TEST(Wgmma, SaysWhatCannotBe) {
  const auto body = [](std::string_view descriptor) {
    return cat(
        "mov.b32 %d0, 0; mov.b32 %d1, 0; mov.b32 %d2, 0; mov.b32 %d3, 0; mov.b32 %a0, 0; mov.b32 %a1, 0; mov.b32 %a2, 0; mov.b32 "
        "%a3, 0;\n",
        descriptor, "\nwgmma.fence.sync.aligned;\n",
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d0, %d1, %d2, %d3}, {%a0, %a1, %a2, %a3}, %x0, 1, 1, 1, 0;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;");
  };
  const std::string good = "mov.b64 %x0, 0x800080040;", beyond = "mov.b64 %x0, 0x800083FFF;";
  EXPECT_EQ(fault_of(body(beyond), 128).kind, Kind::out_of_bounds);
  EXPECT_EQ(fault_of(body(good), 64).kind, Kind::divergent);  // two warps are no warpgroup
  EXPECT_EQ(fault_of(body("mov.u32 %r0, %laneid; cvt.u64.u32 %x0, %r0; add.u64 %x0, %x0, 64;"), 128).kind, Kind::divergent);
  // nothing has written the matrix: its product is undefined
  const Diagnostic undefined = fault_of(
      cat(body(good), "\n.reg .b64 %y; .shared .b32 flag; .reg .pred %p0; setp.eq.b32 %p0, %d0, 0;\n@%p0 bra END;\nEND:"), 128);
  EXPECT_EQ(undefined.kind, Kind::uninitialised) << render(undefined);
}

}  // namespace
}  // namespace ptx::vgpu
