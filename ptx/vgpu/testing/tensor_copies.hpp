// Kernels around one tensor copy: shared memory is filled before it, and dumped behind it.
#pragma once

#include <map>

#include "ptx/layout/layout.hpp"
#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::tensor_copies {

inline constexpr std::size_t room = 16384;  // of shared memory, which is dumped whole
inline constexpr std::uint8_t untouched = 0xCC;
inline constexpr std::uint32_t tile_begin = 1024;  // its shared address

/// A kernel that fills shared memory from `image`, runs `instructions` in thread 0, waits until `n` bytes have come (unless 0)
/// and dumps shared memory. Coordinates %r8 to %r12, offsets %h0 to %h2, %rd8 the map's address, %r1 the tile's.
inline std::string kernel_around(std::string_view instructions, std::string_view address_of_map) {
  return cat(".shared .align 1024 .b8 tile[", room, "];\n.shared .align 8 .b64 bar;\n",
             "ld.param.u64 %rd0, [image];\nld.param.u64 %rd1, [dump];\nld.param.u32 %r7, [n];\nld.param.u32 %r8, [c0];\n"
             "ld.param.u32 %r9, [c1];\nld.param.u32 %r10, [c2];\nld.param.u32 %r11, [c3];\nld.param.u32 %r12, [c4];\n"
             "ld.param.u16 %h0, [o0];\nld.param.u16 %h1, [o1];\nld.param.u16 %h2, [o2];\n",
             address_of_map,
             "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nshl.b32 %r2, %r0, 4;\nmov.u32 %r4, %r2;\n"
             "FILL:\nadd.u32 %r3, %r1, %r4;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd3, %rd0, %rd2;\n"
             "ld.global.v2.b64 {%rd4, %rd5}, [%rd3];\nst.shared.v2.b64 [%r3], {%rd4, %rd5};\nadd.u32 %r4, %r4, 1024;\n"
             "setp.lt.u32 %p0, %r4, ",
             room,
             ";\n@%p0 bra FILL;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra FILLED;\nmbarrier.init.shared.b64 [bar], 1;\n"
             "fence.mbarrier_init.release.cluster;\nFILLED:\nfence.proxy.async.shared::cta;\nbar.sync 0;\n@%p1 bra WAIT;\n",
             instructions,
             "\nmbarrier.arrive.expect_tx.shared.b64 _, [bar], %r7;\nWAIT:\n"
             "mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\nmov.u32 %r4, %r2;\n"
             "DUMP:\nadd.u32 %r3, %r1, %r4;\ncvt.u64.u32 %rd2, %r4;\nadd.u64 %rd3, %rd1, %rd2;\n"
             "ld.shared.v2.b64 {%rd4, %rd5}, [%r3];\nst.global.v2.b64 [%rd3], {%rd4, %rd5};\nadd.u32 %r4, %r4, 1024;\n"
             "setp.lt.u32 %p0, %r4, ",
             room, ";\n@%p0 bra DUMP;\n");
}
inline constexpr std::string_view by_value = "mov.b64 %rd8, map;\ncvta.param.u64 %rd8, %rd8;\n";
inline constexpr std::string_view parameters =
    ".param .align 64 .b8 map[128], .param .u64 image, .param .u64 dump, .param .u32 n, .param .u32 c0, .param .u32 c1, .param "
    ".u32 c2, "
    ".param .u32 c3, .param .u32 c4, .param .u16 o0, .param .u16 o1, .param .u16 o2";

struct Call {
  layout::TensorMapWords map;
  std::vector<std::uint8_t> image = std::vector<std::uint8_t>(room, untouched);
  std::uint32_t bytes = 0;
  std::array<std::int32_t, 5> coordinates{};
  std::array<std::uint16_t, 3> offsets{};
};
/// Shared memory afterwards, or the fault.
inline Expected<std::vector<std::uint8_t>> run_call(const std::shared_ptr<const Program>& program, const Call& call,
                                                    std::vector<Region> regions, const Options& options = {}) {
  testing::Buffer<std::uint8_t> image{"image", call.image, false}, dump{"dump", std::vector<std::uint8_t>(room)};
  std::vector<std::byte> block(128 + 16 + 24 + 6);
  const std::uint64_t pointers[] = {image.address(), dump.address()};
  std::memcpy(block.data(), call.map.word.data(), 128);
  std::memcpy(&block[128], pointers, 16);
  std::memcpy(&block[144], &call.bytes, 4);
  std::memcpy(&block[148], call.coordinates.data(), 20);
  std::memcpy(&block[168], call.offsets.data(), 6);
  regions.push_back(image.region());
  regions.push_back(dump.region());
  auto ran = program->run(testing::block(64), block, regions, options);
  if (!ran) return Unexpected{ran.error()};
  return dump.data;
}

/// The programs, by their instruction and header.
inline std::shared_ptr<const Program> program_of(const std::string& instructions, testing::TextOptions options = {}) {
  static std::map<std::string, std::shared_ptr<const Program>> made;
  auto& program = made[cat(options.version, options.target, instructions)];
  if (program == nullptr) {
    auto fresh = testing::make_body(parameters, kernel_around(instructions, by_value), options);
    EXPECT_TRUE(fresh) << render(fresh.error());
    if (fresh) program = *fresh;
  }
  return program;
}
inline std::string load_of(int rank, std::string_view dst = "shared::cluster", std::string_view mode = "") {
  constexpr std::string_view coordinates[] = {
      "", "{%r8}", "{%r8, %r9}", "{%r8, %r9, %r10}", "{%r8, %r9, %r10, %r11}", "{%r8, %r9, %r10, %r11, %r12}"};
  constexpr std::string_view offsets[] = {"", "", "", ", {%h0}", ", {%h0, %h1}", ", {%h0, %h1, %h2}"};
  return cat("cp.async.bulk.tensor.", rank, "d.", dst, ".global", mode, ".mbarrier::complete_tx::bytes [%r1], [%rd8, ",
             coordinates[rank], "], [bar]",
             mode == ".im2col"                ? offsets[rank]
             : mode.starts_with(".im2col::w") ? offsets[4]
                                              : "",
             ";");
}
inline std::string store_of(int rank, std::string_view reduction = "", std::string_view mode = "") {
  std::string load = load_of(rank);
  const std::string coordinates = load.substr(load.find("[%rd8"), load.find(", [bar]") - load.find("[%rd8"));
  return cat(reduction.empty() ? "cp.async.bulk.tensor." : "cp.reduce.async.bulk.tensor.", rank, "d.global.shared::cta",
             reduction, mode, ".bulk_group ", coordinates,
             ", [%r1];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;");
}

}  // namespace ptx::vgpu::tensor_copies
