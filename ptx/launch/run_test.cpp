#include "ptx/launch/run.hpp"

#include "ptx/ir/ir.hpp"

#include <array>
#include <span>

#include "tests/launch/twice.hpp"

namespace ptx {
namespace {

using launch::fake_driver;
using launch::says;
using launch::twice_module;

TEST(Compiled, runs_host_memory_on_the_executor) {
  const auto kernel = compile(twice_module(), {.block = {32}}).value();
  const std::vector<float> x(32, 1.5f);
  std::array<float, 32> y{};
  const auto ran = kernel.run(cpu(), {x}, {y});
  ASSERT_TRUE(ran) << render(ran.error());
  for (const float value : y) EXPECT_EQ(value, 3.0f);
  EXPECT_TRUE(kernel.run(cpu(), {std::span(x)}, {std::span(y)}));
  EXPECT_NE(kernel.ptx().find(".entry twice("), std::string::npos);
}

TEST(Compiled, passes_scalars) {
  const auto kernel = compile(twice_module(true), {.block = {32}, .scalars = {-3.0}}).value();
  const std::vector<float> x(32, 2.0f);
  std::vector<float> y(32);
  ASSERT_TRUE(kernel.run(cpu(), {x}, {y}));
  EXPECT_EQ(y[31], -6.0f);
}

TEST(Compiled, keeps_the_variables_of_its_module) {
  const auto kernel = from_ptx(R"(
.version 8.5
.target sm_90a
.address_size 64
.global .b32 count[2] = {40, 1};
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  ld.global.u32 %r0, [count];
  ld.global.u32 %r1, [count+4];
  add.u32 %r0, %r0, %r1;
  st.global.u32 [count], %r0;
  st.global.u32 [%rd], %r0;
  ret;
}
)",
                               "k", {})
                          .value();
  std::array<std::uint32_t, 1> out{};
  ASSERT_TRUE(kernel.run(cpu(), {}, {out}));
  EXPECT_EQ(out[0], 41u);
  const auto count = kernel.variable("count");
  ASSERT_TRUE(count) << render(count.error());
  ASSERT_EQ(count->size(), 8u);
  EXPECT_EQ((*count)[0], std::byte{41});
  (*count)[4] = std::byte{9};
  ASSERT_TRUE(kernel.run(cpu(), {}, {out}));
  EXPECT_EQ(out[0], 50u);
  EXPECT_TRUE(says(kernel.variable("other").error(), "the module of kernel `k` has no .global or .const variable `other`"));
}

TEST(Compiled, refuses_text_that_would_reach_beyond_its_memory) {
  const auto module = [](std::string_view declaration) {
    return cat(".version 8.5\n.target sm_90a\n.address_size 64\n", declaration,
               "\n.visible .entry k(.param .u64 out) { .reg .b64 %rd; mov.u64 %rd, g; st.global.u8 [%rd+100], 1; ret; }\n");
  };
  for (const char* declaration : {".global .b8 g[18446744073709551615];", ".global .b64 g[2305843009213693953];"}) {
    const auto refused = from_ptx(module(declaration), "k", {});
    ASSERT_FALSE(refused) << declaration;
    EXPECT_EQ(refused.error().kind, Kind::bad_declaration);
  }
  std::array<std::uint32_t, 1> out{};
  const auto small = from_ptx(module(".global .b8 g[100];"), "k", {}).value();
  EXPECT_TRUE(says(small.run(cpu(), {}, {out}).error(), "just past the end of `g` (100 bytes)"));
}

TEST(Compiled, takes_other_scalars) {
  const auto kernel = compile(twice_module(true), {.block = {32}, .scalars = {-3.0}}).value();
  const std::vector<float> x(32, 2.0f);
  std::vector<float> y(32);
  for (const double factor : {5.0, -1.0}) {
    const auto other = kernel.with_scalars({factor});
    ASSERT_TRUE(other) << render(other.error());
    ASSERT_TRUE(other->run(cpu(), {x}, {y}));
    EXPECT_EQ(y[7], 2 * factor);
  }
  ASSERT_TRUE(kernel.run(cpu(), {x}, {y}));
  EXPECT_EQ(y[7], -6.0f);
  EXPECT_TRUE(says(kernel.with_scalars({}).error(), "kernel `twice` has 1 scalar parameters; 0 values are given"));
}

TEST(Compiled, names_what_does_not_fit) {
  EXPECT_EQ(compile(ir::Module(), {}).error().kind, Kind::unknown_kernel);
  EXPECT_EQ(compile(twice_module(), {.outputs = 3}).error().kind, Kind::param_layout);
  const auto kernel = compile(twice_module(), {.block = {32}}).value();
  std::vector<float> x(32), y(32);
  EXPECT_TRUE(says(kernel.run(cpu(), {x, x}, {y}).error(), "kernel `twice` takes 1 inputs and 1 outputs; the call has 2 and 1"));
  const auto host_on_gpu = kernel.run(gpu(0), {x}, {y});
  EXPECT_EQ(host_on_gpu.error().kind, Kind::argument_device);
  EXPECT_TRUE(says(host_on_gpu.error(), "input 0 of kernel `twice` is in host memory; the call runs on a GPU"));
}

TEST(Compiled, makes_the_descriptors_of_its_tiles) {
  FakeCuda& fake = fake_driver();
  fake.kernels["twice"].params = {{0, 8}, {8, 8}, {16, 8}, {24, 8}};
  const cuda::Device& device = *cuda::device(0).value();
  auto x = cuda::DeviceBuffer::make(device, 32 * 32 * 4).value();
  auto y = cuda::DeviceBuffer::make(device, 32 * 32 * 4).value();
  const std::vector<Tile> tiles(2, Tile::make({32, 32}, Type::f32, Layout::tma_128b).value());
  const auto kernel = compile(twice_module(false, true), {.block = {32}, .tiles = tiles});
  ASSERT_TRUE(kernel) << render(kernel.error());
  EXPECT_EQ(kernel->image().spec().tensor_maps.size(), 2u);
  const auto ran = kernel->run(gpu(0), {x}, {y});
  ASSERT_TRUE(ran) << render(ran.error());
  std::vector<float> on_host(1024, 1.5f), doubled(1024);
  const auto executed = kernel->run(cpu(), {on_host}, {doubled});
  ASSERT_TRUE(executed);
  EXPECT_EQ(doubled[31], 3.0f) << "the executor makes them too";

  EXPECT_TRUE(says(compile(twice_module(false, true), {.block = {32}}).error(), "has no Tile to make it from"));
  const auto scalars = compile(twice_module(false, true), {.scalars = {std::int64_t{1}, std::int64_t{2}}, .tiles = tiles});
  ASSERT_TRUE(scalars) << render(scalars.error());
  EXPECT_TRUE(scalars->image().spec().tensor_maps.empty()) << "what the caller passes as a scalar is one";
  EXPECT_EQ(compile(twice_module(false, true), {.tiles = {tiles[0]}}).error().kind, Kind::param_layout);
}

TEST(Compiled, runs_device_buffers_on_a_gpu) {
  FakeCuda& fake = fake_driver();
  fake.kernels["twice"].params = {{0, 8}, {8, 8}};
  const cuda::Device& device = *cuda::device(0).value();
  auto x = cuda::DeviceBuffer::make(device, 128).value();
  auto y = cuda::DeviceBuffer::make(device, 128).value();
  const auto kernel = compile(twice_module(), {.block = {32}}).value();
  EXPECT_EQ(kernel.run(cpu(), {x}, {y}).error().kind, Kind::argument_device);
  const auto ran = kernel.run(gpu(0), {x}, {y});
  ASSERT_TRUE(ran) << render(ran.error());
  ASSERT_EQ(fake.launches.size(), 1u);
  EXPECT_EQ(fake.launches[0].config.block_x, 32u);
  const auto stream = cuda::Stream::make(device).value();
  ASSERT_TRUE(kernel.run(gpu(0, stream), {x}, {y}));
  EXPECT_EQ(fake.launches[1].config.stream, stream.handle());
}

}  // namespace
}  // namespace ptx
