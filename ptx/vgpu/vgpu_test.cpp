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

}  // namespace
}  // namespace ptx::vgpu
