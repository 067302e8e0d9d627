#include "ptx/vgpu/vgpu.hpp"

#include <numeric>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

std::vector<std::string> vector_add() {
  return {".visible .entry k",
          ".param .u64 x",
          ".param .u64 y",
          ".param .u64 z",
          "ld.param.u64 %rd0, [x]",
          "ld.param.u64 %rd1, [y]",
          "ld.param.u64 %rd2, [z]",
          "mov.u32 %r0, %tid.x",
          "mov.u32 %r1, %ctaid.x",
          "mov.u32 %r2, %ntid.x",
          "mad.lo.u32 %r3, %r1, %r2, %r0",
          "mul.wide.u32 %rd3, %r3, 4",
          "add.u64 %rd0, %rd0, %rd3",
          "add.u64 %rd1, %rd1, %rd3",
          "add.u64 %rd2, %rd2, %rd3",
          "ld.global.f32 %f0, [%rd0]",
          "ld.global.f32 %f1, [%rd1]",
          "add.f32 %f2, %f0, %f1",
          "st.global.f32 [%rd2], %f2",
          "ret"};
}

TEST(Program, AddsVectors) {
  const auto program = testing::program(vector_add());
  Buffer<float> x{"x", std::vector<float>(96), false}, y{"y", std::vector<float>(96), false},
      z{"z", std::vector<float>(96), true, false};
  std::iota(x.data.begin(), x.data.end(), 0.0f);
  std::iota(y.data.begin(), y.data.end(), 1000.0f);
  LaunchConfig config;
  config.grid = {2, 1, 1};
  config.block = {48, 1, 1};  // a warp and a half
  const Report report =
      testing::run(program, config, params({x.address(), y.address(), z.address()}), {x.region(), y.region(), z.region()});
  for (std::size_t i = 0; i < 96; ++i) EXPECT_EQ(z.data[i], 1000.0f + 2 * static_cast<float>(i));
  EXPECT_EQ(report.ctas, 2u);
  EXPECT_EQ(report.warp_instructions, 2u * 2u * 16u);
  EXPECT_EQ(program->name(), "k");
}

// A barrier of the grid as cooperative groups have it: each block adds one behind the size of the driver's workspace, and waits.
TEST(Program, CooperativeLaunches) {
  const auto program = testing::program({".visible .entry k",
                                         ".param .u64 x",
                                         "ld.param.u64 %rd0, [x]",
                                         "mov.u32 %r0, %envreg1",
                                         "mov.u32 %r1, %envreg2",
                                         "mov.b64 %rd1, {%r1, %r0}",
                                         "ld.global.u32 %r2, [%rd1]",
                                         "atom.global.add.u32 %r3, [%rd1+4], 1",
                                         "mov.u32 %r4, %nctaid.x",
                                         "mov.u32 %r5, %ctaid.x",
                                         "add.u64 %rd2, %rd0, 0",
                                         "WAIT:",
                                         "ld.acquire.gpu.global.u32 %r6, [%rd1+4]",
                                         "setp.lt.u32 %p0, %r6, %r4",
                                         "@%p0 bra WAIT",
                                         "mul.wide.u32 %rd3, %r5, 4",
                                         "add.u64 %rd2, %rd2, %rd3",
                                         "add.u32 %r7, %r6, %r2",
                                         "st.global.u32 [%rd2], %r7",
                                         "ret"});
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(3), true, false};
  LaunchConfig config;
  config.grid = {3, 1, 1};
  config.cooperative = true;
  testing::run(program, config, params({x.address()}), {x.region()});
  EXPECT_EQ(x.data, (std::vector<std::uint32_t>{11, 11, 11}));
  config.grid = {1000000, 1, 1};
  const std::array regions{x.region()};
  const auto refused = program->run(config, params({x.address()}), regions);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::launch_config) << render(refused.error());
}

}  // namespace
}  // namespace ptx::vgpu
