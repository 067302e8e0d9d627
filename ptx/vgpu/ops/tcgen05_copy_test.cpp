// tcgen05.cp: a matrix put into shared memory by the manual's description of its layout, and all of the columns compared that the
// copy may reach. (No GPU has been asked: docs/facts.md.)
#include "ptx/vgpu/testing/kernel.hpp"
#include "ptx/vgpu/testing/shared_matrices.hpp"

namespace ptx::vgpu::tensor_copies_in {
namespace {

using testing::Buffer;

constexpr std::uint64_t image_bytes = 16384;
constexpr int columns = 16, lanes = 128;

struct Case {
  std::string shape;  // "64x128b.warpx2::02_13"
  int rows, words;    // of the matrix
  int swizzle = 0;
  int column = 0;  // of the address
  int lane = 0;
  int bits = 32;        // of an element; those of 6 and 4 are widened
  bool shifts = false;  // a tcgen05.shift follows
};
// Where the lane of a warp gets its row; -1: from nowhere.
int row_of_lane(const Case& c, int lane) {
  const int warp = lane / 32;
  if (c.rows == 128) return lane;
  if (c.rows == 4) return lane % 32 == c.lane ? warp : -1;
  if (c.rows == 32) return lane % 32;
  const bool second = c.shape.ends_with("02_13") ? warp % 2 == 1 : warp >= 2;  // "warps 0 and 2 form a pair; warps 1 and 3"
  return lane % 32 + (second ? 32 : 0);
}
std::uint32_t value_at(std::size_t block, int row, int word) {
  return static_cast<std::uint32_t>(block * 100000) + static_cast<std::uint32_t>(row * 100 + word);
}
std::uint32_t element_at(const Case& c, std::size_t block, int row, int element) {
  return (value_at(block, row, element) * 37 + static_cast<std::uint32_t>(element)) & ((1u << c.bits) - 1);
}

// 128 threads: fill shared memory, take tensor memory and fill it with 7, copy, store what is there. %a is the address, %x5 the
// descriptor.
std::string module_of(int group, std::string_view copy, std::string_view fill = "") {
  std::string body = cat(".shared .align 1024 .b8 tile[", image_bytes, "];\n.shared .align 8 .b64 bar;\n.shared .b32 slot;\n",
                         ".reg .b64 %x<8>;\n.reg .b32 %r<8>, %v<", columns, ">, %t, %a;\n.reg .pred %p<4>;\n",
                         "ld.param.u64 %x0, [in]; ld.param.u64 %x1, [out]; ld.param.u64 %x5, [descriptor];\n"
                         "mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank; shr.u32 %r2, %r0, 5;\n"
                         "mul.wide.u32 %x2, %r1, ",
                         image_bytes, "; add.u64 %x0, %x0, %x2;\nmul.wide.u32 %x2, %r0, ", image_bytes / lanes,
                         "; add.u64 %x0, %x0, %x2;\nmov.u32 %r3, tile; cvt.u32.u64 %r4, %x2; add.u32 %r3, %r3, %r4;\n");
  if (fill.empty())
    for (std::uint64_t i = 0; i < image_bytes / lanes; i += 16)
      body +=
          cat("ld.global.v4.b32 {%v0, %v1, %v2, %v3}, [%x0+", i, "]; st.shared.v4.b32 [%r3+", i, "], {%v0, %v1, %v2, %v3};\n");
  std::string list = "%v0";
  for (int i = 1; i < columns; ++i) list += cat(", %v", i);
  for (int i = 0; i < columns; ++i) body += cat("mov.b32 %v", i, ", 7;\n");
  body +=
      cat("setp.ne.u32 %p0, %r2, 0; setp.ne.u32 %p1, %r0, 0;\n@!%p1 mbarrier.init.shared::cta.b64 [bar], 1;\n"
          "@%p0 bra TAKEN;\ntcgen05.alloc.cta_group::",
          group, ".sync.aligned.shared::cta.b32 [slot], 32;\nTAKEN:\nbar.sync 0;\n",
          "ld.shared.b32 %t, [slot]; shl.b32 %r5, %r2, 21; add.u32 %r5, %r5, %t;\n"
          "tcgen05.st.sync.aligned.32x32b.x16.b32 [%r5], {",
          list, "};\ntcgen05.wait::st.sync.aligned;\n",
          "tcgen05.fence::before_thread_sync;\nfence.proxy.async.shared::cta;\nbarrier.cluster.arrive.release; "
          "barrier.cluster.wait.acquire;\n"
          "cvt.u64.u32 %x6, %r3; mov.u32 %r6, tile; and.b32 %r6, %r6, 0xFFFFFF; shr.u32 %r6, %r6, 4; cvt.u64.u32 %x6, %r6; "
          "or.b64 %x5, %x5, %x6;\n"
          "or.b32 %r4, %r0, %r1; setp.ne.u32 %p2, %r4, 0;\n@%p2 bra COPIED;\n",
          copy,
          group == 1 ? "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
                     : "mov.b16 %h, 3;\ntcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
                       "[bar], %h;\n",
          "COPIED:\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [bar], 0;\n@!%p3 bra "
          "WAIT;\ntcgen05.fence::after_thread_sync;\n"
          "tcgen05.ld.sync.aligned.32x32b.x16.b32 {",
          list, "}, [%r5];\ntcgen05.wait::ld.sync.aligned;\n", "mad.lo.u32 %r4, %r1, ", lanes, ", %r0; mul.wide.u32 %x3, %r4, ",
          columns * 4, "; add.u64 %x1, %x1, %x3;\n");
  for (int i = 0; i < columns; ++i) body += cat("st.global.b32 [%x1+", 4 * i, "], %v", i, ";\n");
  body += cat("bar.sync 0;\n@%p0 bra DONE;\ntcgen05.dealloc.cta_group::", group, ".sync.aligned.b32 %t, 32;\nDONE:\nret;\n");
  return cat(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 "
      "descriptor)\n{\n.reg .b16 %h;\n",
      body, "}\n");
}
std::string copy_of(int group, const Case& c) {
  return cat("add.u32 %a, %t, ", c.column + (c.lane << 16), ";\ntcgen05.cp.cta_group::", group, '.', c.shape,
             c.bits == 6   ? ".b8x16.b6x16_p32"
             : c.bits == 4 ? ".b8x16.b4x16_p64"
                           : "",
             " [%a], %x5;\n", c.shifts ? cat("tcgen05.shift.cta_group::", group, ".down [%a];\n") : "");
}
// Sixteen elements of 6 bits in 12 bytes, and 4 bytes of padding, or of 4 bits in 8 bytes, and 8 of padding, for every 16 bytes
// of a row.
void put_elements(std::vector<std::uint8_t>& image, const testing::Placed& placed, std::size_t block, const Case& c, int row) {
  for (int element = 0; element < c.words * 4; ++element)
    for (int bit = 0; bit < c.bits; ++bit) {
      const int at = element % 16 * c.bits + bit;
      testing::put_bits(image, placed.bit(0, row, element / 16 * 4) + static_cast<std::uint64_t>(at), 1,
                        element_at(c, block, row, element) >> bit & 1);
    }
}
// What lies in a word of tensor memory.
std::uint32_t copied(const Case& c, std::size_t block, int row, int word) {
  if (c.bits == 32) return value_at(block, row, word);
  std::uint32_t all = 0;
  for (int i = 0; i < 4; ++i) all |= element_at(c, block, row, 4 * word + i) << (8 * i + (c.bits == 4 ? 2 : 0));
  return all;
}

void expect_copy(const Case& c, int group) {
  SCOPED_TRACE(cat(c.shape, " swizzle ", c.swizzle, " group ", group));
  const auto made = testing::make_from_text(module_of(group, copy_of(group, c)));
  ASSERT_TRUE(made) << render(made.error());
  const testing::Placed placed(c.swizzle, 32, false, c.rows);
  const auto blocks = static_cast<std::size_t>(group);
  Buffer<std::uint8_t> in{"in", {}};
  for (std::size_t b = 0; b < blocks; ++b) {
    std::vector<std::uint8_t> image(image_bytes, 0xEE);
    for (int row = 0; row < c.rows; ++row)
      if (c.bits != 32)
        put_elements(image, placed, b, c, row);
      else
        for (int w = 0; w < c.words; ++w) testing::put_bits(image, placed.bit(0, row, w), 32, value_at(b, row, w));
    in.data.insert(in.data.end(), image.begin(), image.end());
  }
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(blocks * lanes * columns)};
  LaunchConfig config = testing::block(lanes);
  config.grid[0] = config.cluster[0] = static_cast<std::uint32_t>(group);
  testing::run(*made, config, testing::params({in.address(), out.address(), placed.tcgen05_descriptor()}),
               {in.region(), out.region()});
  for (std::size_t b = 0; b < blocks; ++b)
    for (int lane = 0; lane < lanes; ++lane)
      for (int column = 0; column < columns; ++column) {
        const int row = row_of_lane(c, c.shifts && lane % 32 != 31 ? lane + 1 : lane), word = column - c.column;
        const std::uint32_t expected = row >= 0 && word >= 0 && word < c.words ? copied(c, b, row, word) : 7;
        ASSERT_EQ(out.data[(b * lanes + static_cast<std::size_t>(lane)) * columns + static_cast<std::size_t>(column)], expected)
            << "block " << b << " lane " << lane << " column " << column;
      }
}

TEST(Tcgen05Copy, PutsRowsIntoLanes) {
  for (const int group : {1, 2})
    for (const Case& c :
         {Case{"128x256b", 128, 8}, Case{"128x256b", 128, 8, 32, 4}, Case{"128x256b", 128, 8, 128},
          Case{"128x128b", 128, 4, 0, 8}, Case{"4x256b", 4, 8}, Case{"4x256b", 4, 8, 0, 1, 28},
          Case{"64x128b.warpx2::02_13", 64, 4}, Case{"64x128b.warpx2::01_23", 64, 4, 0, 12}, Case{"32x128b.warpx4", 32, 4, 0, 3}})
      expect_copy(c, group);
}

// By the manual 16 elements of 6 bits and 4 bytes of padding become 16 bytes, and so do 16 of 4 bits and 8 bytes of padding.
TEST(Tcgen05Copy, WidensElements) {
  for (const int group : {1, 2})
    for (const int bits : {4, 6})
      for (const Case& c : {Case{"128x256b", 128, 8, 0, 0, 0, bits}, Case{"128x256b", 128, 8, 64, 4, 0, bits},
                            Case{"128x128b", 128, 4, 0, 8, 0, bits}, Case{"4x256b", 4, 8, 0, 1, 28, bits},
                            Case{"64x128b.warpx2::02_13", 64, 4, 0, 0, 0, bits},
                            Case{"64x128b.warpx2::01_23", 64, 4, 0, 12, 0, bits}, Case{"32x128b.warpx4", 32, 4, 0, 3, 0, bits}})
        expect_copy(c, group);
}

// What others saw on a B200: a lane gets its successor's 32 bytes, the last one of each quarter of the lanes keeps its own.
TEST(Tcgen05Copy, ShiftsRows) {
  for (const int group : {1, 2}) {
    Case c{"128x256b", 128, 8, 0, 4};
    c.shifts = true;
    expect_copy(c, group);
  }
  auto made = testing::make_from_text(module_of(1, "tcgen05.shift.cta_group::1.down [%t];\n", "none"));
  ASSERT_TRUE(made) << render(made.error());
  const auto notes = (*made)->fidelity();
  const auto about = std::find_if(notes.begin(), notes.end(),
                                  [](const FidelityNote& note) { return note.instruction == "tcgen05.shift.cta_group::1.down"; });
  ASSERT_NE(about, notes.end());
  EXPECT_EQ(about->fidelity, Fidelity::unverified);
  EXPECT_NE(about->why.find("saw them go on a B200"), std::string::npos) << about->why;
}

TEST(Tcgen05Copy, HasRules) {
  const auto fault = [](std::string_view copy, std::uint64_t descriptor, std::string_view fill = "") {
    auto made = testing::make_from_text(module_of(1, copy, fill));
    if (!made) return made.error();
    Buffer<std::uint8_t> in{"in", std::vector<std::uint8_t>(image_bytes)};
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(lanes * columns)};
    return testing::fault(*made, testing::block(lanes), testing::params({in.address(), out.address(), descriptor}),
                          {in.region(), out.region()});
  };
  const auto says = [](const Diagnostic& d, Kind kind, std::string_view words) {
    EXPECT_EQ(d.kind, kind) << render(d);
    EXPECT_NE(render(d).find(words), std::string::npos) << render(d);
  };
  const std::uint64_t whole = testing::Placed(0, 32, false, 128).tcgen05_descriptor();
  const auto copy = [](std::string_view shape, int offset) {
    return copy_of(1, {std::string(shape), 0, 0, 0, offset & 0xFFFF, offset >> 16});
  };
  says(fault(copy("128x256b", 1 << 16), whole), Kind::tensor_memory_misuse, "copies to lane 1 of tensor memory; what fits is 0");
  says(fault(copy("4x256b", 32 << 16), whole), Kind::tensor_memory_misuse, "what fits is 0 to 31");
  const auto shift = [](int offset) { return cat("add.u32 %a, %t, ", offset, ";\ntcgen05.shift.cta_group::1.down [%a];\n"); };
  says(fault(shift(1 << 16), whole), Kind::tensor_memory_misuse, "shifts rows from lane 1 of tensor memory on");
  says(fault(shift(32 << 16), whole), Kind::not_executed, "which of them go then nobody has told");
  says(fault(shift(28), whole), Kind::out_of_bounds, "shifts rows in column 32 of tensor memory, which is not allocated");
  says(fault(copy("128x256b", 0), whole | std::uint64_t{1} << 52), Kind::not_executed, "as an absolute address");
  says(fault(copy("128x256b", 28), whole), Kind::out_of_bounds, "copies to column 32 of tensor memory, which is not allocated");
  says(fault(copy("128x256b", 0), whole & ~(std::uint64_t{1} << 46)), Kind::bad_descriptor, "copies a matrix: ");
  says(fault(copy("128x256b", 0), whole | std::uint64_t{0x3FFF} << 32), Kind::out_of_bounds, "reads 16 bytes at shared address");
  says(fault(copy("32x128b.warpx4", 0), whole, "none"), Kind::uninitialised, "nothing has written byte");
}

}  // namespace
}  // namespace ptx::vgpu::tensor_copies_in
