// For tests of clusters: kernels whose threads leave some words each in an output, run in grids of clusters.
#pragma once

#include <array>

#include "ptx/vgpu/testing/on_gpu.hpp"
#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::testing::cluster {

using Dims = std::array<std::uint32_t, 3>;

inline constexpr std::string_view out_param = ".param .u64 out";

inline LaunchConfig grid_of(Dims grid, Dims cluster, std::uint32_t threads = 32) {
  LaunchConfig config;
  config.grid = grid;
  config.cluster = cluster;
  config.block = {threads, 1, 1};
  return config;
}
inline std::uint32_t volume_of(Dims d) { return d[0] * d[1] * d[2]; }

/// The block's own rank in %r0, the number of its thread in %r1, and %rd0 where the thread's words of the output are, `words` of
/// them.
inline std::string begin_kernel(std::uint32_t words = 1) {
  return cat(
      "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %cluster_ctarank;\nmov.u32 %r1, %tid.x;\n"
      "mov.u32 %r2, %ctaid.z;\nmov.u32 %r3, %nctaid.y;\nmov.u32 %r4, %ctaid.y;\nmad.lo.u32 %r2, %r2, %r3, %r4;\n"
      "mov.u32 %r3, %nctaid.x;\nmov.u32 %r4, %ctaid.x;\nmad.lo.u32 %r2, %r2, %r3, %r4;\n"
      "mov.u32 %r3, %ntid.x;\nmad.lo.u32 %r2, %r2, %r3, %r1;\nmul.wide.u32 %rd1, %r2, ",
      4 * words, ";\nadd.u64 %rd0, %rd0, %rd1;\n");
}

/// What every thread leaves in the output; on a GPU, where there is one, it must be the same.
inline std::vector<std::uint32_t> run(std::string_view body, const LaunchConfig& config, std::uint32_t words = 1,
                                      const Options& options = {}, const TextOptions& text = {}) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(std::size_t{volume_of(config.grid)} * config.block[0] * words)};
  testing::run(body_program(out_param, cat(begin_kernel(words), body), text), config, params({out.address()}), {out.region()},
               options);
  if (text.target.starts_with("sm_90"))
    expect_same_on_gpu(body_text(out_param, cat(begin_kernel(words), body), text), config, out.data);
  return out.data;
}
inline Diagnostic fault(std::string_view body, const LaunchConfig& config, const Options& options = {},
                        const TextOptions& text = {}) {
  Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(4096)};
  return testing::fault(body_program(out_param, cat(begin_kernel(), body), text), config, params({out.address()}), {out.region()},
                        options);
}
inline void expect_fault(std::string_view body, const LaunchConfig& config, Kind kind, std::string_view words) {
  const Diagnostic d = fault(body, config);
  EXPECT_EQ(d.kind, kind) << body;
  EXPECT_NE(render(d).find(words), std::string::npos) << body << '\n' << render(d);
}

inline constexpr std::string_view meet = "barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;\n";

}  // namespace ptx::vgpu::testing::cluster
