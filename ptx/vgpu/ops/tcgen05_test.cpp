// tcgen05.mma: factors put into shared and tensor memory by the manual's description of the layouts, the product in whole
// numbers, and all of tensor memory compared. (No GPU has been asked: docs/facts.md.)
#include <random>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/kernel.hpp"
#include "ptx/vgpu/testing/numbers.hpp"
#include "ptx/vgpu/testing/shared_matrices.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::pattern_of;
using testing::Placed;

// Columns of tensor memory: d, a, the metadata of a, the scales.
constexpr int a_begin = 256, e_begin = 320, a_scales_begin = 336, b_scales_begin = 344, used_columns = 384;
constexpr std::uint64_t image_bytes = 65536, b_begin = 32768;

struct Case {
  std::string kind = "f16", d = "f32", a = "f16", b = "f16";
  int m = 128, n = 8;
  bool in_tensor_memory = false, ws = false, sparse = false, adds = true;
  int swizzle = 128;
  bool a_transposed = false, b_transposed = false, negated = false;
  std::string size = "";  // of scales: ".block32"
  int down = -1;          // scale-input-d
  int scale_id = 0;
  bool masked = false;
  std::uint64_t zeros = 0;
  std::string collector = "";
  std::string scale = "ue8m0";
  int selector = 0;                // of the metadata's columns
  int shift = 0;                   // of the columns of b
  bool ashift = false;             // rows of a
  bool k96 = false;                // of 4 bits
  bool elsewhere = false;          // with K = 96: the last 16 of a row's 48 bytes lie in another place
  std::string target = "sm_103a";  // with K = 96
  bool least_maximum = false;      // of the shift of columns: 8
  int e_lane = 0;                  // of the metadata
  std::string refused = "";        // it is a fault that says this
};

bool is_scaled(const Case& c) { return c.kind.starts_with("mx"); }
bool is_packed(const Case& c) { return c.kind.starts_with("mxf4"); }
int bits_of(const std::string& type) {
  return type == "e2m1" ? 4 : type == "e3m2" || type == "e2m3" ? 6 : testing::width_of(type);
}
std::uint64_t raw_of(const std::string& type, int value) { return pattern_of(type, value) >> (type == "e2m1" ? 2 : 0); }

// The lane and column of an element of d.
std::pair<int, int> cell_of_d(const Case& c, int row, int column) {
  if (c.m == 128) return {row, column};
  if (!c.ws) return {row / 16 * 32 + row % 16, column};
  const int part = c.n * c.m / 128;  // columns beside each other
  return {row + c.m * (column / part), column % part};
}

std::string spelling(const Case& c) {
  std::string s = cat("tcgen05.mma.", c.ws ? "ws." : "", c.sparse ? "sp." : "", "cta_group::1.kind::", c.kind);
  if (is_scaled(c)) s += cat(".block_scale", c.size);
  if (c.ashift) s += ".ashift";
  s += c.collector;
  s += cat(" [%d], ", c.in_tensor_memory ? "[%at]" : "%xa", ", %xb, ", c.sparse ? "[%e], " : "", "%i, ");
  if (is_scaled(c)) s += "[%sa], [%sb], ";
  if (c.masked) s += "{%m0, %m1, %m2, %m3}, ";
  s += "%p";
  if (c.down >= 0) s += cat(", ", c.down);
  if (c.zeros != 0 || c.shift != 0) s += ", %z";
  return s;
}

std::uint32_t instruction_descriptor(const Case& c) {
  const std::string_view major[] = {"K", "MN"};
  const int sign = c.negated ? -1 : 1;
  if (is_scaled(c)) {
    const auto kind = c.kind == "mxf8f6f4" ? layout::ScaledMmaKind::mxf8f6f4
                      : c.kind == "mxf4"   ? layout::ScaledMmaKind::mxf4
                                           : layout::ScaledMmaKind::mxf4nvf4;
    const auto bits = layout::descriptor_bits(kind, {.m = c.m,
                                                     .n = c.n,
                                                     .a_dtype = c.a,
                                                     .b_dtype = c.b,
                                                     .scale_dtype = c.scale,
                                                     .scale_a = sign,
                                                     .sparse = c.sparse,
                                                     .a_scale_id = c.scale_id,
                                                     .b_scale_id = c.scale_id,
                                                     .k96 = c.k96});
    EXPECT_TRUE(bits);
    return bits ? *bits : 0;
  }
  const auto kind = c.kind == "f16"      ? layout::MmaKind::f16
                    : c.kind == "tf32"   ? layout::MmaKind::tf32
                    : c.kind == "f8f6f4" ? layout::MmaKind::f8f6f4
                                         : layout::MmaKind::i8;
  const auto bits = layout::descriptor_bits(kind, {.m = 128,
                                                   .n = c.n,
                                                   .d_dtype = c.d,
                                                   .a_dtype = c.a,
                                                   .b_dtype = c.b,
                                                   .a_major = major[c.a_transposed ? 1 : 0],
                                                   .b_major = major[c.b_transposed ? 1 : 0],
                                                   .scale_a = sign,
                                                   .sparse = c.sparse,
                                                   .sparsity_selector = c.selector,
                                                   .max_shift = c.least_maximum ? 1
                                                                : c.shift > 16  ? 3
                                                                                : (c.shift + 7) / 8});
  EXPECT_TRUE(bits);
  return bits ? (*bits & ~(31u << 24)) | static_cast<std::uint32_t>(c.m / 16) << 24 : 0;
}

void expect_mma(const Case& c, std::mt19937_64& random) {
  SCOPED_TRACE(cat(spelling(c), " m", c.m, 'n', c.n, ' ', c.d, ' ', c.a, ' ', c.b, " swizzle ", c.swizzle));
  const int a_bits = bits_of(c.a), b_bits = bits_of(c.b);
  const int stored = c.kind == "f16"    ? 16
                     : c.kind == "tf32" ? 8
                     : c.k96            ? 96
                     : is_packed(c)     ? 64
                                        : 32,
            k = c.sparse ? 2 * stored : stored;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const auto draw = [&](const std::string& type) {
    const auto [least, most] = testing::range_of(type);
    return least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
  };
  std::vector<int> packed(at(c.m * stored)), a(at(c.m * k)), b(at(k * (c.n + c.shift))), acc(at(c.m * c.n));
  for (int& x : packed) x = draw(c.a);
  for (int& x : b) x = draw(c.b);
  for (int& x : acc) x = draw("s8") * (c.down > 0 ? 1 << c.down : 1);
  if (!c.sparse) a = packed;

  Buffer<std::uint32_t> cells{"cells", std::vector<std::uint32_t>(128 * used_columns, 0x0BAD0BAD)};
  const auto cell = [&](int lane, int column) -> std::uint32_t& { return cells.data.at(at(lane * used_columns + column)); };
  const int copies = c.ws ? 128 / c.m : 1;

  // where the elements of a sparse a belong
  const int group = c.kind == "tf32" ? 2 : is_packed(c) ? 8 : 4, kept = group / 2;
  constexpr int ordered[] = {0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110};
  for (int lane = 0; c.sparse && lane < 128; ++lane)
    for (int column = 0; column < 8; ++column) cell(lane, e_begin + column) = 0;
  for (int row = 0; c.sparse && row < c.m; ++row)
    for (int chunk = 0; chunk < k / group; ++chunk) {
      const int indices = group == 2 ? (random() % 2 == 0 ? 0b0100 : 0b1110) : ordered[random() % 6];
      for (int i = 0; i < kept; ++i) {
        const int place = group == 2   ? indices / 0b1110
                          : group == 4 ? indices >> 2 * i & 3
                                       : 2 * (indices >> 2 * (i / 2) & 3) + i % 2;
        a[at(row * k + chunk * group + place)] = packed[at(row * stored + chunk * kept + i)];
      }
      // 16 and 32 bits: 16 rows of a lie in 16 lanes, their two halves beside each other in 32 bits, four groups in each eight
      // lanes; else a row in a lane, eight groups in a column
      const bool wide = a_bits >= 16;
      const int sixteen = row / 16 * (c.m == 64 && !c.ws ? 32 : 16);
      const int lane = sixteen + (wide ? chunk / 4 * 8 + row % 8 : row % 16);
      const int bit = wide ? row % 16 / 8 * 16 + chunk % 4 * 4 : chunk % 8 * 4;
      for (int copy = 0; copy < copies; ++copy)
        cell(lane + copy * c.m, e_begin + (wide ? c.selector : chunk / 8)) |= static_cast<std::uint32_t>(indices) << bit;
    }

  // shared memory
  constexpr std::uint64_t shared_start = 1024, further = 16384;
  const int a_per = a_bits < 8 && !is_packed(c) ? 16 : 0, b_per = b_bits < 8 && !is_packed(c) ? 16 : 0;
  Placed place_a(c.swizzle, a_bits, c.a_transposed, c.m, a_per), place_b(c.swizzle, b_bits, c.b_transposed, c.n + c.shift, b_per);
  if (c.kind == "tf32" && c.a_transposed) place_a.take_wide_atoms();
  if (c.kind == "tf32" && c.b_transposed) place_b.take_wide_atoms();
  Buffer<std::uint8_t> image{"image", std::vector<std::uint8_t>(image_bytes)};
  const auto put = [&](const Placed& placed, std::uint64_t base, int mn, int at_k, std::uint64_t pattern) {
    if (c.elsewhere && at_k >= 64)
      base += further, at_k -= 64;
    else if (c.elsewhere)
      at_k += 192;  // of 256 elements
    testing::put_bits(image.data, placed.bit(shared_start + base, mn, at_k) - shared_start * 8, placed.bits, pattern);
  };
  for (int row = 0; row < c.m; ++row)
    for (int s = 0; s < stored; ++s) {
      const std::uint64_t raw = raw_of(c.a, packed[at(row * stored + s)]);
      if (!c.in_tensor_memory) {
        put(place_a, 0, row, s, raw);
        continue;
      }
      // 4 and 6 bits in a byte each, where there are not two of 4: 0b00SEEM00, 0b00SEEEMM
      const int width = a_per != 0 ? 8 : a_bits, unused = a_per != 0 && a_bits == 4 ? 2 : 0;
      const int per = 32 / width, lane = c.ws ? row : cell_of_d(c, row, 0).first;
      for (int copy = 0; copy < copies; ++copy) {
        std::uint32_t& word = cell(lane + copy * c.m, a_begin + s / per);
        if (s % per == 0) word = 0;
        word |= static_cast<std::uint32_t>(raw << (s % per * width + unused));
      }
    }
  const int b_columns = c.n + c.shift;
  for (int column = 0; column < b_columns; ++column)
    for (int at_k = 0; at_k < k; ++at_k) put(place_b, b_begin, column, at_k, raw_of(c.b, b[at(at_k * b_columns + column)]));

  // scales: powers of two, or small numbers, one byte for each 32 or 16 along k that are stored
  const bool finely = c.size == ".block16" || c.size == ".scale_vec::4X";
  const int scales = !is_scaled(c) ? 0 : c.kind == "mxf8f6f4" ? 1 : (finely ? 4 : 2) + (!c.k96 ? 0 : finely ? 2 : 1);
  std::vector<double> a_scale(at(c.m * scales)), b_scale(at(c.n * scales));
  const auto put_scales = [&](std::vector<double>& of, int begin, int rows) {
    for (int lane = 0; lane < 128; ++lane)
      for (int column = 0; column < (c.k96 ? 8 : 0) + (rows + 31) / 32; ++column) cell(lane, begin + column) = 0;
    for (int row = 0; row < rows; ++row)
      for (int i = 0; i < scales; ++i) {
        const int raw = c.scale == "ue8m0" ? 126 + static_cast<int>(random() % 4) : 0x30 + static_cast<int>(random() % 0x14);
        of[at(row * scales + i)] = c.scale == "ue8m0" ? std::ldexp(1.0, raw - 127) : std::ldexp(8 + raw % 8, raw / 8 - 10);
        for (int quarter = 0; quarter < 4; ++quarter)
          cell(32 * quarter + row % 32, begin + row / 32 + (c.scale_id + i) / 4 * (rows > 128 ? 8 : 4)) |=
              static_cast<std::uint32_t>(raw) << (c.scale_id + i) % 4 * 8;
      }
  };
  if (scales != 0) put_scales(a_scale, a_scales_begin, c.m), put_scales(b_scale, b_scales_begin, c.n);

  // d before and behind
  for (int row = 0; row < c.m; ++row)
    for (int column = 0; column < c.n; ++column) {
      const auto [lane, cell_column] = cell_of_d(c, row, column);
      cell(lane, cell_column) = static_cast<std::uint32_t>(pattern_of(c.d, acc[at(row * c.n + column)]));
    }
  auto expected = cells.data;
  for (int row = 0; row < c.m; ++row)
    for (int column = 0; column < c.n; ++column) {
      const auto [lane, cell_column] = cell_of_d(c, row, column);
      if (c.masked && lane % 3 == 0) continue;
      double sum = c.adds ? acc[at(row * c.n + column)] / (c.down > 0 ? 1 << c.down : 1) : 0;
      const bool zeroed = c.zeros != 0 && layout::is_zero_column(c.zeros, c.m, column, c.n);
      for (int i = 0; i < k && !zeroed; ++i) {
        double scale = c.negated ? -1 : 1;
        if (scales != 0) scale *= a_scale[at(row * scales + i * scales / k)] * b_scale[at(column * scales + i * scales / k)];
        const int a_row = c.ashift && row % 32 != 31 ? row + 1 : row;
        sum += scale * a[at(a_row * k + i)] * b[at(i * b_columns + column + c.shift)];
      }
      expected[at(lane * used_columns + cell_column)] = c.d == "f32"
                                                            ? std::bit_cast<std::uint32_t>(static_cast<float>(sum))
                                                            : static_cast<std::uint32_t>(pattern_of(c.d, static_cast<int>(sum)));
    }

  std::string body = cat(".shared .align 1024 .b8 tile[", image_bytes, R"(]; .shared .b32 slot; .shared .b64 done;
.reg .b64 %x<8>; .reg .b64 %xa, %xb, %z; .reg .b32 %r<8>; .reg .b32 %w<4>; .reg .b32 %c<64>; .reg .b32 %m<4>; .reg .pred %p, %q;
.reg .b32 %d, %at, %e, %sa, %sb, %i;
ld.param.u64 %x0, [image]; ld.param.u64 %x1, [cells]; ld.param.u64 %x2, [out];
mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mul.wide.u32 %x3, %r0, )",
                         4 * used_columns, R"(; add.u64 %x1, %x1, %x3; add.u64 %x2, %x2, %x3;
mov.u32 %r2, 0; mul.wide.u32 %x4, %r0, 16; add.u64 %x4, %x4, %x0; shl.b32 %r3, %r0, 4; add.u32 %r3, %r3, %r1;
FILL:
ld.global.v4.b32 {%w0, %w1, %w2, %w3}, [%x4]; st.shared.v4.b32 [%r3], {%w0, %w1, %w2, %w3};
add.u64 %x4, %x4, 2048; add.u32 %r3, %r3, 2048; add.u32 %r2, %r2, 2048;
setp.lt.u32 %p, %r2, )",
                         image_bytes, R"(;
@%p bra FILL;
setp.ge.u32 %p, %r0, 32;
@%p bra TAKEN;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
mbarrier.init.shared::cta.b64 [done], 32;
TAKEN:
fence.proxy.async.shared::cta;
bar.sync 0;
ld.shared.b32 %d, [slot]; shr.u32 %r4, %r0, 5; shl.b32 %r4, %r4, 21; add.u32 %r4, %r4, %d;
)");
  if (a_per != 0 && b_per != 0) {  // the last 4 of 16 bytes are padding of both, which nobody need write
    const std::string whole = "st.shared.v4.b32 [%r3], {%w0, %w1, %w2, %w3}";
    body.replace(body.find(whole), whole.size(), "st.shared.v2.b32 [%r3], {%w0, %w1}; st.shared.b32 [%r3+8], %w2");
  }
  // the initialisation above is of one thread alone
  body.replace(body.find("mbarrier.init"), std::string("mbarrier.init.shared::cta.b64 [done], 32").size(),
               "setp.eq.u32 %q, %r0, 0;\n@%q mbarrier.init.shared::cta.b64 [done], 1");
  std::string list = "{%c0";
  for (int i = 1; i < 64; ++i) list += cat(", %c", i);
  list += '}';
  for (int column = 0; column < used_columns; column += 64) {
    for (int i = 0; i < 64; ++i) body += cat("ld.global.b32 %c", i, ", [%x1+", 4 * (column + i), "];\n");
    body += cat("tcgen05.st.sync.aligned.32x32b.x64.b32 [%r4+", column, "], ", list, ";\n");
  }
  body +=
      cat("tcgen05.wait::st.sync.aligned;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\ntcgen05.fence::after_thread_sync;\n",
          "setp.ne.u32 %q, %r0, 0;\n@%q bra ISSUED;\n", "add.u32 %at, %d, ", a_begin, "; add.u32 %e, %d, ",
          e_begin + (c.e_lane << 16), "; add.u32 %sa, %d, ", a_scales_begin, "; add.u32 %sb, %d, ", b_scales_begin,
          ";\nshr.u32 %r5, %r1, 4; cvt.u64.u32 %x5, %r5; mov.b64 %xa, ", place_a.tcgen05_descriptor(),
          "; add.u64 %xa, %xa, %x5; mov.b64 %xb, ", place_b.tcgen05_descriptor() + b_begin / 16,
          "; add.u64 %xb, %xb, %x5; mov.b32 %i, ", instruction_descriptor(c), "; mov.b64 %z, ",
          c.zeros | static_cast<std::uint64_t>(c.shift) << 56, ";\n");
  if (c.elsewhere) {  // byte 96 of a row on, and where it goes on
    const auto other = [&](std::uint64_t begin) { return std::uint64_t{1} << 52 | (begin + further) / 16 << 16 | 6; };
    body += cat("shl.b64 %x6, %x5, 16; and.b64 %xa, %xa, ", ~(std::uint64_t{0x3FFF} << 16), "; and.b64 %xb, %xb, ",
                ~(std::uint64_t{0x3FFF} << 16), "; add.u64 %xa, %xa, %x6; add.u64 %xb, %xb, %x6; add.u64 %xa, %xa, ", other(0),
                "; add.u64 %xb, %xb, ", other(b_begin), ";\n");
  }
  for (int i = 0; i < 4; ++i) {
    std::uint32_t mask = 0;
    for (int lane = 32 * i; lane < 32 * i + 32; ++lane) mask |= (lane % 3 == 0 ? 1u : 0u) << lane % 32;
    body += cat("mov.b32 %m", i, ", ", mask, ";\n");
  }
  body += cat("setp.", c.adds ? "eq" : "ne", ".u32 %p, %r0, 0;\n", spelling(c),
              ";\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\nISSUED:\nWAIT:\n"
              "mbarrier.try_wait.parity.shared::cta.b64 %p, [done], 0;\n@!%p bra WAIT;\ntcgen05.fence::after_thread_sync;\n");
  for (int column = 0; column < used_columns; column += 64) {
    body += cat("tcgen05.ld.sync.aligned.32x32b.x64.b32 ", list, ", [%r4+", column, "];\ntcgen05.wait::ld.sync.aligned;\n");
    for (int i = 0; i < 64; ++i) body += cat("st.global.b32 [%x2+", 4 * (column + i), "], %c", i, ";\n");
  }
  body +=
      "tcgen05.fence::before_thread_sync;\nbar.sync 0;\nsetp.ge.u32 %p, %r0, 32;\n@%p bra END;\n"
      "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %d, 512;\nEND:\nret;";
  auto made = testing::make_from_text(
      cat(".version 8.8\n.target ", c.k96 ? c.target : "sm_100a",
          "\n.address_size 64\n.visible .entry k(.param .u64 image, .param .u64 cells, .param .u64 out)\n{\n", body, "\n}\n"));
  ASSERT_TRUE(made) << render(made.error());
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(cells.data.size())};
  if (!c.refused.empty()) {
    const Diagnostic d =
        testing::fault(*made, testing::block(128), testing::params({image.address(), cells.address(), out.address()}),
                       {image.region(), cells.region(), out.region()});
    EXPECT_NE(d.message.find(c.refused), std::string::npos) << render(d);
    return;
  }
  testing::run(*made, testing::block(128), testing::params({image.address(), cells.address(), out.address()}),
               {image.region(), cells.region(), out.region()});
  for (std::size_t i = 0; i < out.data.size(); ++i)
    ASSERT_EQ(out.data[i], expected[i]) << "lane " << i / used_columns << " column " << i % used_columns;
}

TEST(Tcgen05Mma, MultipliesDenseMatrices) {
  std::mt19937_64 random(5);
  std::vector<Case> all;
  for (const int m : {64, 128})
    for (const auto& [kind, d, a, b] : std::vector<std::array<const char*, 4>>{{"f16", "f32", "f16", "f16"},
                                                                               {"f16", "f16", "f16", "f16"},
                                                                               {"f16", "f32", "bf16", "bf16"},
                                                                               {"tf32", "f32", "tf32", "tf32"},
                                                                               {"f8f6f4", "f32", "e4m3", "e5m2"},
                                                                               {"f8f6f4", "f16", "e5m2", "e2m1"},
                                                                               {"f8f6f4", "f32", "e3m2", "e2m3"},
                                                                               {"f8f6f4", "f32", "e2m1", "e4m3"},
                                                                               {"i8", "s32", "s8", "u8"}})
      for (const bool in_tensor_memory : {false, true}) {
        Case c{kind, d, a, b, m, m == 64 ? 32 : 48, in_tensor_memory};
        c.swizzle = in_tensor_memory ? 32 : m == 64 ? 64 : 128;
        all.push_back(c);
      }
  all.push_back({"f16", "f32", "bf16", "bf16", 128, 256});
  for (const int transposed : {1, 2, 3}) {
    Case c{"f16", "f32", "f16", "bf16", 128, 64};
    c.b = "f16", c.a_transposed = (transposed & 1) != 0, c.b_transposed = (transposed & 2) != 0;
    all.push_back(c);
    Case wide{"tf32", "f32", "tf32", "tf32", 128, 64};  // the swizzle with atoms of 32 bytes
    wide.a_transposed = c.a_transposed, wide.b_transposed = c.b_transposed;
    all.push_back(wide);
  }
  for (const bool in_tensor_memory : {false, true}) {
    Case c{"tf32", "f32", "tf32", "tf32", 128, 16, in_tensor_memory};
    c.down = 3;
    all.push_back(c);
    c = {"f16", "f16", "f16", "f16", 64, 16, in_tensor_memory};
    c.down = 2, c.negated = true, c.swizzle = 0;
    all.push_back(c);
    c = {"f16", "f32", "f16", "f16", 128, 24, in_tensor_memory};
    c.masked = true, c.adds = false, c.collector = ".collector::a::fill";
    all.push_back(c);
  }
  for (const Case& c : all) expect_mma(c, random);
}

TEST(Tcgen05Mma, MultipliesSparseMatrices) {
  std::mt19937_64 random(6);
  for (const auto& [kind, d, a, b] : std::vector<std::array<const char*, 4>>{{"f16", "f32", "f16", "f16"},
                                                                             {"tf32", "f32", "tf32", "tf32"},
                                                                             {"f8f6f4", "f32", "e4m3", "e4m3"},
                                                                             {"i8", "s32", "u8", "s8"}})
    for (const int m : {64, 128})
      for (const bool in_tensor_memory : {false, true}) {
        Case c{kind, d, a, b, m, 16, in_tensor_memory, false, true};
        expect_mma(c, random);
        if (bits_of(a) < 16) continue;
        c.down = 1, c.selector = 1;
        expect_mma(c, random);
      }
}

// A lane of tensor memory stands in for the one before it, in each quarter of the lanes.
TEST(Tcgen05Mma, ShiftsTheRowsOfA) {
  std::mt19937_64 random(9);
  for (const auto& [kind, d, a, b] : std::vector<std::array<const char*, 4>>{
           {"f16", "f32", "bf16", "bf16"}, {"f8f6f4", "f32", "e2m1", "e4m3"}, {"i8", "s32", "u8", "s8"}}) {
    Case c{kind, d, a, b, 128, 16, true};
    c.ashift = true;
    expect_mma(c, random);
    if (bits_of(c.a) < 16) continue;
    c.down = 2;
    expect_mma(c, random);
  }
}

// 3 or 6 scales of a row, of which those behind the fourth byte lie in another word; rows of 48 bytes, whole and in two parts.
TEST(Tcgen05Mma, MultipliesNinetySixAtOnce) {
  std::mt19937_64 random(10);
  for (const int n : {40, 128, 136, 256})
    for (const auto& [kind, size, first] : std::vector<std::tuple<const char*, const char*, int>>{{"mxf4", ".block32", 0},
                                                                                                  {"mxf4", ".block32", 1},
                                                                                                  {"mxf4nvf4", ".block32", 3},
                                                                                                  {"mxf4nvf4", ".block16", 0},
                                                                                                  {"mxf4nvf4", ".block16", 2}}) {
      Case c{kind, "f32", "e2m1", "e2m1", 128, n};
      c.size = size, c.scale_id = first, c.k96 = true;
      c.elsewhere = n <= 128 && first != 1;
      expect_mma(c, random);
    }
}

TEST(Tcgen05Mma, KeepsWeights) {
  std::mt19937_64 random(7);
  for (const int m : {32, 64, 128})
    for (const bool in_tensor_memory : {false, true})
      for (const bool sparse : {false, true}) {
        Case c{"f16", "f32", "f16", "f16", m, 64, in_tensor_memory, true, sparse};
        c.collector = ".collector::b2::fill";
        expect_mma(c, random);
        c.shift = m == 32 ? 16 : 31;  // columns of b
        expect_mma(c, random);
        c.zeros = std::uint64_t{1} << 39 | std::uint64_t{2} << 40 | std::uint64_t{3} << 48 | std::uint64_t{1} << 33 | 0x0100;
        c.shift = sparse ? 0 : 3, c.b_transposed = c.shift != 0;
        expect_mma(c, random);
      }
  expect_mma({"i8", "s32", "s8", "s8", 64, 128, false, true}, random);
}

TEST(Tcgen05Mma, ScalesBlocks) {
  std::mt19937_64 random(8);
  for (const bool in_tensor_memory : {false, true})
    for (const bool sparse : {false, true})
      for (const auto& [kind, type, size] : std::vector<std::array<const char*, 3>>{{"mxf8f6f4", "e4m3", ""},
                                                                                    {"mxf8f6f4", "e5m2", ".block32"},
                                                                                    {"mxf8f6f4", "e4m3", ".scale_vec::1X"},
                                                                                    {"mxf4", "e2m1", ""},
                                                                                    {"mxf4", "e2m1", ".scale_vec::2X"},
                                                                                    {"mxf4nvf4", "e2m1", ".block16"},
                                                                                    {"mxf4nvf4", "e2m1", ".scale_vec::2X"}}) {
        Case c{kind, "f32", type, type, 128, 40, in_tensor_memory, false, sparse};
        c.size = size;
        c.scale_id = c.kind == "mxf8f6f4" ? 3 : c.kind == "mxf4" ? 2 : 0;
        expect_mma(c, random);
      }
  for (const char* size : {".block16", ".scale_vec::4X"}) {
    Case c{"mxf4nvf4", "f32", "e2m1", "e2m1", 128, 40};
    c.size = size, c.scale = "ue4m3";
    expect_mma(c, random);
    c.sparse = c.in_tensor_memory = true;
    expect_mma(c, random);
  }
  Case mixed{"mxf8f6f4", "f32", "e2m1", "e3m2", 128, 160};
  expect_mma(mixed, random);
  mixed.in_tensor_memory = true;
  expect_mma(mixed, random);
}

// What the executor does not take, and says so.
TEST(Tcgen05Mma, RefusesWhatNobodyHasTold) {
  std::mt19937_64 random(11);
  const auto expect_refusal = [&](Case c, std::string_view words) {
    c.refused = words;
    expect_mma(c, random);
  };
  Case weights{"f16", "f32", "f16", "f16", 32, 64, false, true};
  weights.shift = 17;
  expect_refusal(weights,
                 "shifts the columns of b by 17 (bits 56 to 61 of the zero-column mask descriptor); what fits is at most 16");
  weights.m = 64, weights.least_maximum = true;
  expect_refusal(weights, "what fits is at most 8, the maximum shift in the instruction descriptor");
  Case sparse{"f16", "f32", "f16", "f16", 64, 16, false, false, true};
  sparse.selector = 2;
  expect_refusal(sparse, "has sparsity selector 2, of which nobody has told the columns");
  sparse.selector = 0, sparse.e_lane = 16;
  expect_refusal(sparse, "has the metadata of a at lane 16 of tensor memory, and d at lane 0");
  Case bytes{"i8", "s32", "s8", "s8", 128, 16, false, false, true};
  bytes.selector = 1;
  expect_refusal(bytes, "is given sparsity selector 1; what fits is 0");
  Case rows{"f16", "f32", "f16", "f16", 64, 16, true};
  rows.ashift = true;
  expect_refusal(rows, "shifts the rows of a, with M = 64; what fits is 128");
  Case wide{"mxf4nvf4", "f32", "e2m1", "e2m1", 128, 40};
  wide.k96 = true, wide.size = ".block16", wide.scale_id = 1;
  expect_refusal(wide, "from byte 1 on; 6 of a row do not begin there");
  wide.scale_id = 0, wide.elsewhere = true, wide.swizzle = 0;
  expect_refusal(wide, "that is executed with K = 96 and a swizzle");
  wide.size = ".scale_vec::2X";
  expect_refusal(wide, "has K = 96, whose scales are `.block16` or `.block32`");
  wide.target = "sm_100a";
  expect_refusal(wide, "has K = 96, which only sm_103a has");
}

TEST(Tcgen05Mma, SaysWhatIsInferred) {
  const auto why = [](const Case& c, std::string_view target) {
    auto made = testing::make_from_text(cat(".version 8.8\n.target ", target, "\n.address_size 64\n.visible .entry k()\n{\n",
                                            ".reg .b32 %d, %at, %e, %sa, %sb, %i;\n.reg .b64 %xa, %xb, %z;\n.reg .pred %p;\n",
                                            spelling(c), ";\nret;\n}\n"));
    EXPECT_TRUE(made) << render(made.error());
    return made ? (*made)->fidelity().at(0).why : std::string();
  };
  const auto said = [&](const Case& c, std::string_view words, std::string_view target = "sm_100a") {
    EXPECT_NE(why(c, target).find(words), std::string::npos) << spelling(c) << ": " << why(c, target);
  };
  Case packed{"mxf4", "f32", "e2m1", "e2m1"};
  packed.size = ".block32";
  said(packed, "with K = 96, all products of an element are aligned at once", "sm_103a");
  said(packed, "as the manual says; no GPU has been asked");
  EXPECT_EQ(why(packed, "sm_100a").find("inferred"), std::string::npos);
  said({"i8", "s32", "s8", "s8", 64, 16, false, false, true}, "with 64 rows of a CTA, metadata lies as that of 16 and 32 bits");
  said({"f16", "f32", "f16", "f16", 64, 16, false, false, true}, "as the manual says");
  Case shifted{"f16", "f32", "f16", "f16", 128, 16, false, true};
  shifted.shift = 8;
  said(shifted, "a shift of columns beyond the maximum in the instruction descriptor is refused, which is inferred");
  Case rows{"f16", "f32", "f16", "f16", 128, 16, true};
  rows.ashift = true;
  said(rows, "of .ashift nobody has told");
}

}  // namespace
}  // namespace ptx::vgpu
