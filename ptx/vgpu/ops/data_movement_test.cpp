#include <numeric>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::Operands;
using testing::params;

TEST(Mov, CopiesEveryWidth) {
  const auto rows = testing::make_rows(testing::integer_edges(), {0}, 64, 50, false);
  for (const int width : {16, 32, 64}) {
    const std::uint64_t bits = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    const auto results =
        testing::run_rows(cat("mov.b", width, " %vd, %va"), {cat('b', width), cat('b', width), "", ""}, rows, 0xFFFF0000u);
    for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(results[i], (i % 32 >= 16 ? rows[i].a : rows[i].d) & bits);
  }
  const auto flags = testing::run_rows("mov.pred %vd, %va", {"pred", "pred", "", ""}, rows);
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(flags[i], static_cast<std::uint32_t>(rows[i].a) != 0 ? 1u : 0u);
  EXPECT_EQ(testing::run_rows("mov.f32 %vd, 0f3FC00000", {"f32", "", "", ""}, {{}})[0], 0x3FC00000u);
  EXPECT_EQ(testing::run_rows("mov.f32 %vd, 0d3FF8000000000000", {"f32", "", "", ""}, {{}})[0], 0x3FC00000u)
      << "an f64 literal read as f32";
  EXPECT_EQ(testing::run_rows("mov.f64 %vd, 0f3FC00000", {"f64", "", "", ""}, {{}})[0], 0x3FF8000000000000u);
  EXPECT_EQ(testing::run_rows("mov.b32 %vd, -1", {"b32", "", "", ""}, {{}})[0], 0xFFFFFFFFu);
}

TEST(Mov, PacksAndUnpacks) {
  const std::vector<Operands> rows = {{0, 0x1111AAAA22223333, 0x4444555566667777, 0x9999}};
  EXPECT_EQ(testing::run_rows("mov.b32 %vd, {%va, %vb}", {"b32", "b16", "b16", ""}, rows)[0], 0x77773333u);
  EXPECT_EQ(testing::run_rows("mov.b64 %vd, {%va, %vb}", {"b64", "b32", "b32", ""}, rows)[0], 0x6666777722223333u);
  EXPECT_EQ(testing::run_rows("mov.b64 %vd, {%va, %vb, %vc, %va}", {"b64", "b16", "b16", "b16"}, rows)[0], 0x3333999977773333u);
  EXPECT_EQ(testing::run_rows("mov.b32 {%vd, _}, %va", {"b16", "b32", "", ""}, rows)[0], 0x3333u);
  EXPECT_EQ(testing::run_rows("mov.b32 {_, %vd}, %va", {"b16", "b32", "", ""}, rows)[0], 0x2222u);
  EXPECT_EQ(testing::run_rows("mov.b64 {_, %vd}, %va", {"b32", "b64", "", ""}, rows)[0], 0x1111AAAAu);
  EXPECT_EQ(testing::run_rows("mov.b64 {_, _, _, %vd}, %va", {"b16", "b64", "", ""}, rows)[0], 0x1111u);
}

TEST(MovSpecial, KnowsEveryIndex) {
  const auto program = testing::program(
      {".module .extern .shared .align 16 .b8 dynamic[]", ".visible .entry k", ".param .u64 out",
       ".shared .align 4 .b8 fixed[100]", "ld.param.u64 %rd0, [out]", "mov.u32 %r0, %tid.x", "mov.u32 %r1, %tid.y",
       "mov.u32 %r2, %tid.z", "mov.u32 %r3, %ntid.x", "mov.u32 %r4, %ntid.y", "mov.u32 %r5, %ntid.z", "mov.u32 %r6, %ctaid.x",
       "mov.u32 %r7, %ctaid.y", "mov.u32 %r8, %ctaid.z", "mov.u32 %r9, %nctaid.x", "mov.u32 %r10, %nctaid.y",
       "mov.u32 %r11, %nctaid.z", "mov.u32 %r12, %laneid", "mov.u32 %r13, %warpid", "mov.u32 %r14, %lanemask_lt",
       "mov.u32 %r15, %lanemask_ge", "mov.u32 %r16, %dynamic_smem_size", "mov.u32 %r17, %total_smem_size",
       // the row of this thread
       "mad.lo.u32 %r20, %r8, %r10, %r7", "mad.lo.u32 %r20, %r20, %r9, %r6", "mad.lo.u32 %r20, %r20, %r5, %r2",
       "mad.lo.u32 %r20, %r20, %r4, %r1", "mad.lo.u32 %r20, %r20, %r3, %r0", "mul.wide.u32 %rd1, %r20, 80",
       "add.u64 %rd0, %rd0, %rd1", "st.global.v4.b32 [%rd0], {%r0, %r1, %r2, %r12}",
       "st.global.v4.b32 [%rd0+16], {%r6, %r7, %r8, %r13}", "st.global.v4.b32 [%rd0+32], {%r14, %r15, %r16, %r17}", "ret"});
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(std::size_t{2 * 3 * 2} * 5 * 4 * 3 * 20)};
  LaunchConfig config{{2, 3, 2}, {5, 4, 3}, 32};
  testing::run(program, config, params({out.address()}), {out.region()});
  std::size_t row = 0;
  for (std::uint32_t cz = 0; cz < 2; ++cz)
    for (std::uint32_t cy = 0; cy < 3; ++cy)
      for (std::uint32_t cx = 0; cx < 2; ++cx)
        for (std::uint32_t thread = 0; thread < 60; ++thread, ++row) {
          const std::uint32_t* v = &out.data[row * 20];
          const std::uint32_t lane = thread % 32;
          const std::vector<std::uint32_t> expected = {thread % 5,  thread / 5 % 4,   thread / 20,         lane, cx,      cy, cz,
                                                       thread / 32, (1u << lane) - 1, ~((1u << lane) - 1), 32,   112 + 32};
          ASSERT_EQ(std::vector(v, v + 12), expected);
        }
}

TEST(MovSpecial, ReadsClocksThatAdvance) {
  const auto program =
      testing::program({".visible .entry k", ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u64 %rd1, %clock64",
                        "mov.u32 %r0, %clock", "mov.u32 %r1, %clock_hi", "mov.u64 %rd2, %globaltimer", "sub.u64 %rd3, %rd2, %rd1",
                        "st.global.b64 [%rd0], %rd3", "st.global.b32 [%rd0+8], %r1", "ret"});
  Buffer<std::uint64_t> out{"out", std::vector<std::uint64_t>(2)};
  testing::run(program, {}, params({out.address()}), {out.region()});
  EXPECT_EQ(out.data[0], 3u) << "an instruction is a tick";
  EXPECT_EQ(out.data[1], 0u);
}

// ld and st of every width: a kernel copies through registers; the reference is memory itself.
struct Width {
  std::string type, reg;
  int bytes;
};
const Width widths[] = {{"b8", "b16", 1},  {"u8", "b32", 1},  {"b16", "b16", 2}, {"u16", "b32", 2},   {"b32", "b32", 4},
                        {"f32", "f32", 4}, {"b64", "b64", 8}, {"f64", "f64", 8}, {"b128", "b128", 16}};

// One kernel: every thread copies its element of `elements` from x at `stride` to y; through shared memory when asked.
std::vector<std::string> copy(const Width& w, int elements, int stride, const std::string& guard, bool volatile_access) {
  const std::string vec = elements == 1 ? "" : cat(".v", elements);
  std::string list = "%q0";
  for (int i = 1; i < elements; ++i) list += cat(", %q", i);
  if (elements > 1) list = cat('{', list, '}');
  const std::string how = volatile_access ? ".volatile" : "";
  std::vector<std::string> lines = {".target sm_100",
                                    ".version 8.8",
                                    ".visible .entry k",
                                    ".param .u64 x",
                                    ".param .u64 y",
                                    ".shared .align 16 .b8 staging[32768]",
                                    cat(".reg .", w.reg, " %q<", elements, ">"),
                                    "ld.param.u64 %rd0, [x]",
                                    "ld.param.u64 %rd1, [y]",
                                    "mov.u32 %r0, %tid.x",
                                    "and.b32 %r1, %r0, 1",
                                    "setp.eq.u32 %p0, %r1, 0",
                                    cat("mul.lo.u32 %r2, %r0, ", stride),
                                    "cvt.u64.u32 %rd2, %r2",
                                    "add.u64 %rd0, %rd0, %rd2",
                                    "add.u64 %rd1, %rd1, %rd2",
                                    "mov.u32 %r3, staging",
                                    "add.u32 %r3, %r3, %r2",
                                    cat(guard, "ld", how, ".global", vec, '.', w.type, ' ', list, ", [%rd0+16]")};
  if (elements * w.bytes <= 16)  // only global memory has wider vectors
    lines.insert(lines.end(), {cat(guard, "st", how, ".shared", vec, '.', w.type, " [%r3], ", list), "bar.sync 0",
                               cat(guard, "ld", how, ".shared", vec, '.', w.type, ' ', list, ", [%r3]")});
  lines.insert(lines.end(), {cat(guard, "st", how, ".global", vec, '.', w.type, " [%rd1+16], ", list), "ret"});
  return lines;
}

TEST(LdSt, CopyEveryWidthAndLength) {
  constexpr std::uint32_t threads = 80;  // two warps and a half
  for (const Width& w : widths)
    for (const int elements : {1, 2, 4, 8}) {
      const int bytes = w.bytes * elements;
      if (bytes > 32 || (elements == 8 && w.bytes != 4) || (elements > 1 && w.bytes == 16)) continue;
      for (const int stride : {bytes, 2 * bytes, 0})
        for (const std::string guard : {"", "@%p0 ", "@!%p0 "})
          for (const bool volatile_access : {false, true}) {
            if (volatile_access && (w.bytes == 16 || elements == 8)) continue;
            const auto program = testing::program(copy(w, elements, stride, guard, volatile_access));
            ASSERT_NE(program, nullptr);
            const std::size_t size = 16 + static_cast<std::size_t>(std::max(stride, 1)) * threads + 64;
            // aligned for the widest access
            Buffer<std::array<std::uint64_t, 4>> x{"x", std::vector<std::array<std::uint64_t, 4>>((size + 95) / 32)},
                y{"y", x.data};
            auto align = [](std::byte* p) {
              return p + (32 - reinterpret_cast<std::uintptr_t>(p) % 32) % 32 + 16;
            };  // [+16] is then a multiple of 32
            std::byte* from = align(x.region().data);
            std::byte* to = align(y.region().data);
            for (std::size_t i = 0; i < size - 48; ++i) from[i] = static_cast<std::byte>(i * 7 + 3), to[i] = std::byte{0xEE};
            std::vector<std::byte> expected(to, to + size - 48);
            for (std::uint32_t t = 0; t < threads; ++t)
              if (guard.empty() || (guard == "@%p0 ") == (t % 2 == 0))
                std::memcpy(&expected[16 + static_cast<std::size_t>(stride) * t],
                            from + 16 + static_cast<std::size_t>(stride) * t, static_cast<std::size_t>(bytes));
            LaunchConfig config;
            config.block = {threads, 1, 1};
            testing::run(program, config, params({reinterpret_cast<std::uintptr_t>(from), reinterpret_cast<std::uintptr_t>(to)}),
                         {x.region(), y.region()});
            ASSERT_EQ(std::memcmp(to, expected.data(), expected.size()), 0)
                << w.type << " x " << elements << " stride " << stride << ' ' << guard << volatile_access;
          }
    }
}

TEST(Ld, ExtendsToTheRegister) {
  Buffer<std::uint64_t> memory{"memory", {0xFEDCBA9876543280}};
  const std::pair<const char*, std::array<std::uint64_t, 2>> cases[] = {{"u8", {0x80, 0x80}},
                                                                        {"s8", {0xFFFFFF80, 0xFFFFFFFFFFFFFF80}},
                                                                        {"b8", {0x80, 0x80}},
                                                                        {"u16", {0x3280, 0x3280}},
                                                                        {"s16", {0x3280, 0x3280}},
                                                                        {"u32", {0x76543280, 0x76543280}},
                                                                        {"s32", {0x76543280, 0x76543280}}};
  for (const auto& [type, expected] : cases)
    for (const int width : {32, 64}) {
      const auto program =
          testing::program({".visible .entry k", ".param .u64 from", ".param .u64 to", "ld.param.u64 %rd0, [from]",
                            "ld.param.u64 %rd1, [to]", cat("ld.global.", type, width == 32 ? " %r0" : " %rd2", ", [%rd0]"),
                            width == 32 ? "cvt.u64.u32 %rd2, %r0" : "", "st.global.b64 [%rd1], %rd2", "ret"});
      Buffer<std::uint64_t> out{"out", {0}};
      testing::run(program, {}, params({memory.address(), out.address()}), {memory.region(), out.region()});
      EXPECT_EQ(hex(out.data[0]), hex(expected[width == 32 ? 0 : 1])) << type << " into " << width << " bits";
    }
}

TEST(Cvta, MapsEverySpaceIntoGenericAddresses) {
  const auto program = testing::program(
      {".visible .entry k", ".param .u64 out", ".param .u64 seven", ".shared .align 8 .b8 tile[64]",
       ".local .align 8 .b8 mine[16]", "ld.param.u64 %rd0, [out]", "cvta.to.global.u64 %rd0, %rd0",
       // shared, through its window and by its name
       "mov.u64 %rd1, tile", "cvta.shared.u64 %rd2, %rd1", "st.b64 [%rd2+8], 11", "ld.shared.b64 %rd3, [tile+8]",
       "cvta.to.shared.u64 %rd4, %rd2", "sub.u64 %rd4, %rd4, %rd1",
       // local: every lane has its own
       "mov.u64 %rd5, mine", "cvta.local.u64 %rd6, %rd5", "mov.u32 %r0, %laneid", "cvt.u64.u32 %rd7, %r0",
       "st.local.b64 [mine+8], %rd7", "ld.b64 %rd8, [%rd6+8]",
       // a parameter
       "mov.u64 %rd9, seven", "cvta.param.u64 %rd10, %rd9", "ld.b64 %rd11, [%rd10]",
       // half of the warp reads shared memory, the other half global
       "setp.lt.u32 %p0, %r0, 16", "selp.b64 %rd12, %rd2, %rd0, %p0", "ld.b64 %rd13, [%rd12+8]", "mul.wide.u32 %rd14, %r0, 64",
       "add.u64 %rd0, %rd0, %rd14", "st.global.b64 [%rd0], %rd3", "st.global.b64 [%rd0+16], %rd4",
       "st.global.b64 [%rd0+24], %rd8", "st.global.b64 [%rd0+32], %rd11", "st.global.b64 [%rd0+40], %rd13", "ret"});
  Buffer<std::array<std::uint64_t, 8>> out{"out", std::vector<std::array<std::uint64_t, 8>>(32)};
  out.data[0][1] = 99;
  LaunchConfig config;
  config.block = {32, 1, 1};
  testing::run(program, config, params({out.address(), 7}), {out.region()});
  for (std::uint64_t lane = 0; lane < 32; ++lane) {
    const auto& row = out.data[lane];
    EXPECT_EQ(row[0], 11u);
    EXPECT_EQ(row[2], 0u);
    EXPECT_EQ(row[3], lane);
    EXPECT_EQ(row[4], 7u);
    EXPECT_EQ(row[5], lane < 16 ? 11u : 99u);
  }
}

TEST(Variables, OfTheModuleAreZeroAndKeepTheirValues) {
  const auto program =
      testing::program({".module .global .align 8 .b64 counter[4]", ".module .const .align 4 .b32 table[8]", ".visible .entry k",
                        ".param .u64 out", "ld.param.u64 %rd0, [out]", "mov.u64 %rd1, counter", "ld.global.b64 %rd2, [counter+8]",
                        "add.u64 %rd2, %rd2, 5", "st.global.b64 [%rd1+8], %rd2", "ld.const.b32 %r0, [table+28]",
                        "cvt.u64.u32 %rd3, %r0", "st.global.b64 [%rd0], %rd2", "st.global.b64 [%rd0+8], %rd3", "ret"});
  Buffer<std::array<std::uint64_t, 2>> out{"out", {{7, 7}}};
  for (const std::uint64_t expected : {5u, 10u}) {
    testing::run(program, {}, params({out.address()}), {out.region()});
    EXPECT_EQ(out.data[0][0], expected);
    EXPECT_EQ(out.data[0][1], 0u);
  }
}

// 32 bytes at once, ordered and with a priority of L2.
TEST(DataMovement, OrderedAccessesOf32Bytes) {
  constexpr std::string_view priority = ".L2::evict_last";
  const struct {
    std::string_view type, registers;
  } cases[] = {{"v8.f32", "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"}, {"v4.b64", "{%d0, %d1, %d2, %d3}"}};
  for (const auto& c : cases)
    for (const std::string_view load : {"ld.acquire.gpu.global", "ld.global.nc"}) {
      const auto program = testing::make_from_text(
          cat(".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n"
              ".reg .f32 %f<8>; .reg .b64 %d<4>; .reg .b64 %a<2>;\nld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\n",
              load, priority, '.', c.type, ' ', c.registers, ", [%a0];\nst.release.gpu.global", priority, '.', c.type, " [%a1], ",
              c.registers, ";\nret;\n}\n"));
      ASSERT_TRUE(program.has_value()) << render(program.error());
      struct alignas(32) Block {
        std::uint32_t words[8];
      };
      testing::Buffer<Block> x{"x", {Block{{1, 2, 3, 4, 5, 6, 7, 8}}}}, y{"y", {Block{}}};
      LaunchConfig config;
      testing::run(*program, config, testing::params({x.address(), y.address()}), {x.region(), y.region()});
      for (std::uint32_t i = 0; i < 8; ++i) EXPECT_EQ(y.data[0].words[i], i + 1) << load << ' ' << c.type;
    }
}

// A priority of L1 is advice: the value is the same.
TEST(DataMovement, PrioritiesOfL1ChangeNothing) {
  const auto program = testing::make_from_text(
      ".version 8.8\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x, .param .u64 y)\n{\n"
      ".reg .b32 %r; .reg .b64 %a<2>;\nld.param.u64 %a0, [x];\nld.param.u64 %a1, [y];\n"
      "ld.global.L1::no_allocate.b32 %r, [%a0];\nst.global.L1::no_allocate.b32 [%a1], %r;\nret;\n}\n");
  ASSERT_TRUE(program.has_value()) << render(program.error());
  testing::Buffer<std::uint32_t> x{"x", {7}}, y{"y", {0}};
  LaunchConfig config;
  testing::run(*program, config, testing::params({x.address(), y.address()}), {x.region(), y.region()});
  EXPECT_EQ(y.data[0], 7u);
}

}  // namespace
}  // namespace ptx::vgpu
