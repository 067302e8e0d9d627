#include "ptx/launch/run.hpp"

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

TEST(Compiled, takes_a_kernel_with_its_boundary) {
  struct Boundary {
    std::vector<Tile> in_tiles{Tile::make({32}, Type::f32).value()}, out_tiles{Tile::make({32}, Type::f32).value()};
    launch::Dims grid{1, 1, 1}, block{32, 1, 1}, cluster{1, 1, 1};
    bool cooperative = false, programmatic = false;
    std::uint32_t smem = 0;
  };
  struct Recipe {
    Boundary declared;
    static Expected<ir::Module> module() { return twice_module(); }
    [[nodiscard]] const Boundary& boundary() const { return declared; }
  };
  const auto kernel = compile(Recipe{});
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<float> x(32, 4.0f), y(32);
  ASSERT_TRUE(kernel->run(cpu(), {x}, {y}));
  EXPECT_EQ(y[0], 8.0f);
  x.resize(31);
  const auto shorter = kernel->run(cpu(), {x}, {y});
  EXPECT_EQ(shorter.error().kind, Kind::argument_dim);
  EXPECT_TRUE(says(shorter.error(), "input 0 of kernel `twice` is 124 bytes; float32[32] is 128"));

  struct Broken : Recipe {
    static Expected<ir::Module> module() { return Unexpected{{.kind = Kind::undefined_label, .message = "no label"}}; }
  };
  EXPECT_EQ(compile(Broken{}).error().kind, Kind::undefined_label);
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
  EXPECT_EQ(kernel->run(cpu(), {std::vector<float>(1024)}, {std::vector<float>(1024)}).error().kind, Kind::not_executed);

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
