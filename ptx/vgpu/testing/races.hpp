// Kernels that the race checks look at, in tests: a body of PTX behind a beginning that all share, and the rules that it breaks.
#pragma once

#include <array>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::testing::races {

inline constexpr std::string_view parameters = ".param .u64 memory";
// %r0 = thread, %r1 = tile, %r2 = its word of the tile, %r3 = that of the thread opposite, %rd0 = memory, %rd1 = its word there
inline constexpr std::string_view start =
    ".reg .b32 %r<32>;\n.reg .b64 %rd<16>;\n.reg .pred %p<8>;\n.shared .align 128 .b8 tile[4096];\n.shared .align 8 .b64 "
    "bar[4];\n"
    "ld.param.u64 %rd0, [memory];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nshl.b32 %r4, %r0, 2;\nadd.u32 %r2, %r1, %r4;\n"
    "mov.u32 %r5, %ntid.x;\nsub.u32 %r5, %r5, 1;\nsub.u32 %r5, %r5, %r0;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r3, %r1, %r5;\n"
    "cvt.u64.u32 %rd2, %r4;\nadd.u64 %rd1, %rd0, %rd2;\nmov.u32 %r20, bar;\nsetp.eq.u32 %p0, %r0, 0;\nsetp.lt.u32 %p1, %r0, "
    "32;\n";

struct Shape {
  std::uint32_t threads = 64, blocks = 1, cluster = 1;
};

inline Expected<Report> run(std::string_view body, Shape shape, Completion completion = Completion::eager) {
  const auto program = text_program(parameters, cat(start, body, "ret;\n"));
  Buffer<std::uint32_t> memory{"memory", std::vector<std::uint32_t>(4096)};
  std::iota(memory.data.begin(), memory.data.end(), 0u);
  LaunchConfig config = testing::block(shape.threads);
  config.grid[0] = shape.blocks;
  config.cluster[0] = shape.cluster;
  Options options;
  options.checks = Checks::full;
  options.check_initialised = false;
  options.completion = completion;
  const std::vector<Region> regions{memory.region()};
  return program->run(config, params({memory.address()}), regions, options);
}

// "P-01 R-wr": the rules that are broken, whenever what is asynchronous is performed. Who breaks one does so at any time.
inline std::string rules(std::string_view body, Shape shape = {}) {
  std::set<std::string> all;
  std::array<bool, 2> any{};
  for (const Completion completion : {Completion::eager, Completion::lazy}) {
    const auto report = run(body, shape, completion);
    if (!report) return render(report.error());
    any[static_cast<std::size_t>(completion)] = !report->findings.empty();
    for (const Diagnostic& finding : report->findings) all.insert(finding.execution.front().rule);
  }
  EXPECT_EQ(any[0], any[1]) << body;
  std::string words;
  for (const std::string& rule : all) words += cat(words.empty() ? "" : " ", rule);
  return words;
}

}  // namespace ptx::vgpu::testing::races
