// Tensor memory: what lies where after loads and stores of every shape, and its rules.
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;

std::string module_of(std::string_view parameters, std::string_view body, std::string_view target = "sm_100a") {
  return cat(".version 8.8\n.target ", target, "\n.address_size 64\n.visible .entry k(", parameters, ")\n{\n", body, "\n}\n");
}
std::string list_of(std::string_view name, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += cat(i == 0 ? "" : ", ", '%', name, i);
  return list + "}";
}

constexpr std::string_view take = R"(.shared .b32 slot; .reg .b32 %t, %l, %n; .reg .pred %p;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;
bar.sync 0;
ld.shared.b32 %t, [slot]; mov.u32 %l, %tid.x;
)";
constexpr std::string_view give = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 512;\nret;";

// Whose register a cell is, by the manual's figures of the fragments: a row of a shape is 32, 64, 128 or 256 bits wide, its cells
// go to threads one, two or four (of 256 bits: each two cells) side by side, and rows follow each other in the threads behind.
struct Owner {
  int thread, reg;
};
Owner owner_of(const std::string& shape, int row, int column) {
  if (shape == "32x32b" || shape == "16x32bx2") return {row, column};
  if (shape == "16x64b") return {row % 8 * 4 + column % 2 * 2 + row / 8, column / 2};
  if (shape == "16x128b") return {row % 8 * 4 + column % 4, column / 4 * 2 + row / 8};
  return {row % 8 * 4 + column % 8 / 2, column / 8 * 4 + row / 8 * 2 + column % 2};
}

TEST(TensorMemory, LoadsAndStoresEveryShape) {
  struct Shape {
    std::string name;
    int num, registers, rows, columns;
  };
  const Shape shapes[] = {{"32x32b", 1, 1, 32, 1},  {"32x32b", 16, 16, 32, 16}, {"16x64b", 1, 1, 16, 2},
                          {"16x64b", 8, 8, 16, 16}, {"16x128b", 1, 2, 16, 4},   {"16x128b", 4, 8, 16, 16},
                          {"16x256b", 1, 4, 16, 8}, {"16x256b", 4, 16, 16, 32}, {"16x32bx2", 1, 1, 16, 1},
                          {"16x32bx2", 8, 8, 16, 8}};
  for (const Shape& s : shapes)
    for (const bool packs : {false, true})
      for (const int lane : {0, 16})
        for (const bool stores : {false, true}) {
          if (lane == 16 && s.rows == 32) continue;
          const bool halves = s.name == "16x32bx2";
          constexpr int begin = 3, split = 40, width = 96;
          const auto cell = [](int row, int column) { return static_cast<std::uint32_t>(row << 24 | column << 8 | 0x55); };
          const auto value = [](int thread, int reg) { return static_cast<std::uint32_t>(0x80010000 | reg << 17 | thread); };
          std::string body = cat(".reg .b32 %c<96>, %v<64>; .reg .b64 %x<4>;\n", take,
                                 "ld.param.u64 %x0, [out]; mul.wide.u32 %x1, %l, 512; add.u64 %x0, %x0, %x1;\n");
          for (int column = 0; column < width; ++column)
            body += cat("shl.b32 %n, %l, 24; or.b32 %c", column, ", %n, ", column << 8 | 0x55, ";\n");
          body += cat("tcgen05.st.sync.aligned.32x32b.x64.b32 [%t], ", list_of("c", 64), ";\n");
          for (int column = 64; column < width; ++column)
            body += cat("tcgen05.st.sync.aligned.32x32b.x1.b32 [%t+", column, "], {%c", column, "};\n");
          body += "tcgen05.wait::st.sync.aligned;\n";
          const std::string words = cat(".sync.aligned.", s.name, ".x", s.num);
          const std::string place = cat("[%t+", begin + (lane << 16), ']'), more = halves ? cat(", ", split) : "";
          if (stores) {
            for (int r = 0; r < s.registers; ++r) body += cat("or.b32 %v", r, ", %l, ", value(0, r), ";\n");
            body += cat("tcgen05.st", words, packs ? ".unpack::16b" : "", ".b32 ", place, more, ", ", list_of("v", s.registers),
                        ";\ntcgen05.wait::st.sync.aligned;\n");
            for (int column = 0; column < width; ++column)
              body += cat("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%c", column, "}, [%t+", column, "];\n");
            body += "tcgen05.wait::ld.sync.aligned;\n";
            for (int column = 0; column < width; ++column) body += cat("st.global.b32 [%x0+", 4 * column, "], %c", column, ";\n");
          } else {
            body += cat("tcgen05.ld", words, packs ? ".pack::16b" : "", ".b32 ", list_of("v", s.registers), ", ", place, more,
                        ";\ntcgen05.wait::ld.sync.aligned;\n");
            for (int r = 0; r < s.registers; ++r) body += cat("st.global.b32 [%x0+", 4 * r, "], %v", r, ";\n");
          }
          const auto made = testing::make_from_text(module_of(".param .u64 out", body + std::string(give)));
          ASSERT_TRUE(made) << render(made.error());
          Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32 * 128)};
          std::vector<std::uint32_t> expected(out.data.size());
          const auto at = [&](int row, int column) -> std::uint32_t& {
            return expected[static_cast<std::size_t>(row * 128 + column)];
          };
          for (int row = 0; stores && row < 32; ++row)
            for (int column = 0; column < width; ++column) at(row, column) = cell(row, column);
          for (int half = 0; half < (halves ? 2 : 1); ++half)
            for (int row = 0; row < s.rows; ++row)
              for (int column = 0; column < s.columns; ++column) {
                Owner owner = owner_of(s.name, row, column);
                owner.thread += 16 * half;
                const int first = begin + split * half + (packs ? 2 : 1) * column;
                if (stores) {
                  const std::uint32_t v = value(0, owner.reg) | static_cast<std::uint32_t>(owner.thread);
                  at(lane + row, first) = packs ? v & 0xFFFF : v;
                  if (packs) at(lane + row, first + 1) = v >> 16;
                } else {
                  at(owner.thread, owner.reg) =
                      packs ? (cell(lane + row, first) & 0xFFFF) | cell(lane + row, first + 1) << 16 : cell(lane + row, first);
                }
              }
          testing::run(*made, testing::block(32), testing::params({out.address()}), {out.region()});
          for (std::size_t i = 0; i < expected.size(); ++i)
            ASSERT_EQ(out.data[i], expected[i])
                << words << (stores ? " stores " : " loads ") << packs << " lane " << lane << ": " << i / 128 << ", " << i % 128;
        }
}

TEST(TensorMemory, ReducesWhatItLoads) {
  struct Case {
    const char *words, *type;
    std::array<std::uint32_t, 4> cells;
    std::uint32_t expected;
  };
  const Case cases[] = {
      {"min", "u32", {7, 0x80000000, 3, 9}, 3},
      {"max", "u32", {7, 0x80000000, 3, 9}, 0x80000000},
      {"min", "s32", {7, 0x80000000, 3, 9}, 0x80000000},
      {"max", "s32", {7, 0x80000000, 3, 9}, 9},
      {"min", "f32", {0x3F800000, 0xC0000000, 0x7FC00000, 0x40400000}, 0xC0000000},
      {"max", "f32", {0x3F800000, 0xC0800000, 0x7FC00000, 0x40400000}, 0x40400000},
      {"max.abs", "f32", {0x3F800000, 0xC0800000, 0x7FC00000, 0x40400000}, 0x40800000},
      {"min.NaN", "f32", {0x3F800000, 0xC0800000, 0x7FC00000, 0x40400000}, 0x7FFFFFFF},
  };
  for (const Case& c : cases)
    for (const bool halves : {false, true}) {
      std::string body = cat(".reg .b32 %c<4>, %v<5>; .reg .b64 %x<4>;\n", take,
                             "ld.param.u64 %x0, [out]; mul.wide.u32 %x1, %l, 4; add.u64 %x0, %x0, %x1;\n");
      for (int i = 0; i < 4; ++i) body += cat("mov.b32 %c", i, ", ", c.cells[static_cast<std::size_t>(i)], ";\n");
      body += cat("tcgen05.st.sync.aligned.32x32b.x4.b32 [%t], {%c0, %c1, %c2, %c3};\n",
                  "tcgen05.st.sync.aligned.32x32b.x4.b32 [%t+8], {%c3, %c2, %c1, %c0};\ntcgen05.wait::st.sync.aligned;\n",
                  "tcgen05.ld.red.sync.aligned.", halves ? "16x32bx2" : "32x32b", ".x4.", c.words, '.', c.type,
                  " {%v0, %v1, %v2, %v3}, %v4, [%t]", halves ? ", 8" : "", ";\ntcgen05.wait::ld.sync.aligned;\n",
                  "st.global.b32 [%x0], %v4;\n");
      const auto made = testing::make_from_text(module_of(".param .u64 out", body + std::string(give), "sm_103a"));
      ASSERT_TRUE(made) << render(made.error());
      Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(32)};
      testing::run(*made, testing::block(32), testing::params({out.address()}), {out.region()});
      for (const std::uint32_t value : out.data) ASSERT_EQ(value, c.expected) << c.words << c.type;
    }
}

Diagnostic fault_of(std::string_view body, std::uint32_t threads = 32) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(64)};
  auto made = testing::make_from_text(
      module_of(".param .u64 out", cat(".reg .b64 %x<4>; .reg .b32 %r<4>; .shared .b32 other; .reg .b32 %u;\n", body)));
  if (!made) return made.error();
  return testing::fault(*made, testing::block(threads), testing::params({out.address()}), {out.region()});
}

TEST(TensorMemory, HasRules) {
  const auto alloc = [](std::string_view columns) {
    return cat("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [other], ", columns, ";\n");
  };
  const auto says = [](const Diagnostic& d, Kind kind, std::string_view words) {
    EXPECT_EQ(d.kind, kind) << render(d);
    EXPECT_NE(d.message.find(words), std::string::npos) << d.message;
  };
  const Kind misuse = Kind::tensor_memory_misuse;
  says(fault_of(cat(alloc("64"), "ret;")), misuse,
       "allocates columns 0 to 63 of tensor memory, and the CTA ends without giving them back (tcgen05.dealloc)");
  says(fault_of(cat("mov.u32 %r0, 48;\n", alloc("%r0"), "ret;")), misuse,
       "48 columns of tensor memory; what fits is a power of two");
  says(fault_of(cat(alloc("32"), alloc("64"), "ret;")), misuse, "asks for 64 columns of tensor memory after an allocation of 32");
  says(fault_of(cat("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n", alloc("32"), "ret;")), misuse,
       "relinquished");
  says(fault_of(cat(take, "mov.u32 %u, 32;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %u, 64;\nret;")), misuse,
       "gives back 64 columns of tensor memory at 0x20, which were not allocated so; what is allocated: 512 at 0x0");
  says(fault_of("mov.u32 %r0, %laneid; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r0];\nret;"), Kind::divergent,
       "is given an address in tensor memory");
  says(fault_of(cat(alloc("32"), "ld.shared.b32 %u, [other];\ntcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%u+31];\nret;")),
       Kind::out_of_bounds, "loads column 32 of tensor memory, which is not allocated; columns 0 to 31 are");
  says(fault_of(cat(take, "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r0, %r1}, [%t+511];\nret;")), Kind::out_of_bounds,
       "column 512");
  says(fault_of(cat(take, "add.u32 %u, %t, 0x200000;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%u];\nret;")), misuse,
       "loads lanes 32 to 63 of tensor memory; warp 0 can reach lanes 0 to 31");
  // what nobody wrote may be loaded, and not be stored where others see it
  says(fault_of(cat(take, "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r0}, [%t+5];\ntcgen05.wait::ld.sync.aligned;\n",
                    "ld.param.u64 %x0, [out]; st.global.b32 [%x0], %r0;\nret;")),
       Kind::uninitialised, "");
  // nobody gives back what an allocation waits for
  const Diagnostic stuck = fault_of(cat(alloc("512"), alloc("512"), "ret;"));
  EXPECT_EQ(stuck.kind, Kind::deadlock) << render(stuck);
}

TEST(TensorMemory, WaitsForColumns) {
  // the second warp's allocation waits until the first one gives back
  const std::string body = R"(.shared .b32 slots[4]; .reg .b32 %r<8>; .reg .b64 %x<4>; .reg .pred %p;
mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 5; mov.u32 %r2, slots; mad.lo.u32 %r2, %r1, 4, %r2;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 256;
ld.shared.b32 %r3, [%r2];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 256;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 256;
ld.shared.b32 %r4, [%r2];
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r4, 256;
ld.param.u64 %x0, [out]; mul.wide.u32 %x1, %r0, 4; add.u64 %x0, %x0, %x1; st.global.b32 [%x0], %r4;
ret;)";
  const auto made = testing::make_from_text(module_of(".param .u64 out", body));
  ASSERT_TRUE(made) << render(made.error());
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(128, 1)};
  testing::run(*made, testing::block(128), testing::params({out.address()}), {out.region()});
  for (const std::uint32_t address : out.data) EXPECT_TRUE(address == 0 || address == 256) << address;
}

}  // namespace
}  // namespace ptx::vgpu
