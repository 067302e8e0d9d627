// The room on a real GPU. Each test skips with the driver's own reason where there is none.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <vector>

#include "ptx/cuda/cuda.hpp"

namespace ptx::cuda {
namespace {

constexpr std::string_view vector_add_text = R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry vector_add(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  ld.param.u64 %rd3, [c];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd4, %r5, 4;
  add.u64 %rd5, %rd1, %rd4;
  add.u64 %rd6, %rd2, %rd4;
  add.u64 %rd7, %rd3, %rd4;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd6];
  add.rn.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}
)";

// Thread t writes 3 * t to the far end of its block's dynamic shared memory; its neighbour reads it.
constexpr std::string_view big_smem_text = R"(.version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 staging[];
.visible .entry big_smem(.param .u64 out, .param .u32 offset)
{
  .reg .b32 %r<9>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [offset];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, staging;
  add.u32 %r3, %r3, %r1;
  shl.b32 %r4, %r2, 2;
  add.u32 %r5, %r3, %r4;
  mul.lo.u32 %r6, %r2, 3;
  st.shared.u32 [%r5], %r6;
  bar.sync 0;
  xor.b32 %r7, %r4, 4;
  add.u32 %r5, %r3, %r7;
  ld.shared.u32 %r8, [%r5];
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r8;
  ret;
}
)";

// Each block writes 100 * (blocks in its cluster) + its rank there.
constexpr std::string_view cluster_text = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry cluster_rank(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_nctarank;
  mov.u32 %r2, %cluster_ctarank;
  mad.lo.u32 %r3, %r1, 100, %r2;
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd2, %r4, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

constexpr std::string_view wild_store_text = R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry wild_store()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, 64;
  st.global.u32 [%rd1], 1;
  ret;
}
)";

TEST(GpuTexts, are_ptx) {
  for (const std::string_view text : {vector_add_text, big_smem_text, cluster_text, wild_store_text}) {
    const auto target = target_of(text);
    ASSERT_TRUE(target) << text;
    const auto cubin = assemble(text, assembly_target(*target, {9, 0}));
    if (!cubin && cubin.error().kind == Kind::no_tool) GTEST_SKIP() << render(cubin.error());
    EXPECT_TRUE(cubin) << render(cubin.error());
  }
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto found = cuda::device(0);
    if (!found) GTEST_SKIP() << render(found.error());
    device = *found;
  }
  const Driver& driver() const { return device->driver(); }

  std::unique_ptr<LoadedKernel> make(KernelSource source) const {
    auto made = LoadedKernel::make(driver(), std::move(source));
    EXPECT_TRUE(made) << render(made.error());
    return made ? std::move(*made) : nullptr;
  }
  /// Launches on the default stream and waits.
  Expected<void> run(LoadedKernel& kernel, const LaunchConfig& config, std::span<void*> params) const {
    return in_context(*device, [&]() -> Expected<void> {
      auto function = kernel.prepare(*device);
      if (!function) return Unexpected{std::move(function).error()};
      auto facts = kernel.facts(*device);
      if (!facts) return Unexpected{std::move(facts).error()};
      auto packed = LaunchTemplate::make(config, *device, &*facts);
      if (!packed) return Unexpected{std::move(packed).error()};
      if (auto ok = launch(driver(), *function, *packed, nullptr, params.data()); !ok) return ok;
      return synchronize(*device);
    });
  }
  template <class T>
  std::vector<T> read(const DeviceBuffer& buffer) const {
    std::vector<T> values(buffer.size_bytes() / sizeof(T));
    auto ok = buffer.copy_to(std::as_writable_bytes(std::span(values)));
    EXPECT_TRUE(ok) << render(ok.error());
    return values;
  }
  /// Runs vector_add with these launch flags and checks the sum.
  void add_vectors(LoadedKernel& kernel, LaunchConfig config = {}) const {
    constexpr std::uint32_t n = 1000;
    std::vector<float> a(n), b(n);
    std::iota(a.begin(), a.end(), 0.0f);
    std::iota(b.begin(), b.end(), 0.5f);
    auto a_gpu = DeviceBuffer::copy_of(*device, std::span(a));
    auto b_gpu = DeviceBuffer::copy_of(*device, std::span(b));
    auto c_gpu = DeviceBuffer::make(*device, n * sizeof(float));
    ASSERT_TRUE(a_gpu && b_gpu && c_gpu);
    api::DeviceAddr a_addr = a_gpu->addr(), b_addr = b_gpu->addr(), c_addr = c_gpu->addr();
    std::uint32_t count = n;
    std::array<void*, 4> params{&a_addr, &b_addr, &c_addr, &count};
    config.grid = {8};
    config.block = {128};
    const auto ok = run(kernel, config, params);
    ASSERT_TRUE(ok) << render(ok.error());
    const std::vector<float> c = read<float>(*c_gpu);
    for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  }

  const Device* device = nullptr;
};

const std::vector<std::size_t> vector_add_params{8, 8, 8, 4};

TEST_F(GpuTest, vector_add_from_text) {
  const auto kernel = make({.image = std::string(vector_add_text), .entry = "vector_add", .param_bytes = vector_add_params});
  add_vectors(*kernel);
}

TEST_F(GpuTest, vector_add_from_a_cubin) {
  const auto text_target = target_of(vector_add_text);
  ASSERT_TRUE(text_target);
  const std::string target = assembly_target(*text_target, device->capability());
  auto cubin = assemble(vector_add_text, target);
  if (!cubin && cubin.error().kind == Kind::no_tool) GTEST_SKIP() << render(cubin.error());
  ASSERT_TRUE(cubin) << render(cubin.error());
  const auto kernel = make({.image = cubin->bytes, .entry = "vector_add", .target = target, .param_bytes = vector_add_params});
  add_vectors(*kernel);
}

TEST_F(GpuTest, a_target_of_another_gpu_is_refused_before_loading) {
  const bool hopper = device->capability() == ComputeCapability{9, 0};
  const std::string other = hopper ? ".version 8.6\n.target sm_100a\n" : ".version 8.0\n.target sm_90a\n";
  const auto function = make({.image = other, .entry = "k"})->prepare(*device);
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, Kind::wrong_device);
}

TEST_F(GpuTest, the_drivers_compiler_says_what_it_refuses) {
  std::string bad(vector_add_text);
  bad.replace(bad.find("%f1, %f2;"), 9, "%f1, %f9;");
  const auto function = make({.image = bad, .entry = "vector_add"})->prepare(*device);
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, Kind::compile_error);
  const std::string text = render(function.error());
  EXPECT_NE(text.find("%f9"), std::string::npos) << text;
  EXPECT_NE(text.find("ptx line "), std::string::npos) << text;
}

TEST_F(GpuTest, parameters_other_than_the_compiled_kernels_are_refused) {
  auto function =
      make({.image = std::string(vector_add_text), .entry = "vector_add", .param_bytes = std::vector<std::size_t>{8, 8, 8, 8}})
          ->prepare(*device);
  if (driver().call.kernel_get_param_info == nullptr) GTEST_SKIP() << "this driver is older than CUDA 12.4";
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, Kind::param_layout);
  EXPECT_EQ(function.error().message, "parameter 3 of kernel `vector_add` is 4 bytes in the compiled code; the launch packs 8");
  function = make({.image = std::string(vector_add_text), .entry = "vector_add", .param_bytes = std::vector<std::size_t>{8}})
                 ->prepare(*device);
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().message, "kernel `vector_add` takes 4 parameters; the launch packs 1");
}

TEST_F(GpuTest, an_entry_that_is_not_there_is_named) {
  const auto function = make({.image = std::string(vector_add_text), .entry = "vector_sub"})->prepare(*device);
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().kind, Kind::unknown_kernel) << render(function.error());
}

TEST_F(GpuTest, more_than_48_kib_of_shared_memory) {
  if (device->capability() < ComputeCapability{8, 0}) GTEST_SKIP() << "needs compute capability 8.0";
  constexpr std::uint32_t bytes = 96 * 1024;
  const auto kernel = make({.image = std::string(big_smem_text), .entry = "big_smem", .dynamic_smem_bytes = bytes});
  auto out = DeviceBuffer::make(*device, 64 * sizeof(std::uint32_t));
  ASSERT_TRUE(out);
  api::DeviceAddr addr = out->addr();
  std::uint32_t offset = bytes - 64 * 4;
  std::array<void*, 2> params{&addr, &offset};
  const auto ok = run(*kernel, {.block = {64}, .dynamic_smem_bytes = bytes}, params);
  ASSERT_TRUE(ok) << render(ok.error());
  const auto values = read<std::uint32_t>(*out);
  for (std::uint32_t t = 0; t < 64; ++t) ASSERT_EQ(values[t], 3 * (t ^ 1)) << t;

  const auto too_much = make({.image = std::string(big_smem_text), .entry = "big_smem", .dynamic_smem_bytes = 1 << 20});
  EXPECT_EQ(too_much->prepare(*device).error().kind, Kind::launch_config);
}

TEST_F(GpuTest, clusters) {
  if (!device->limits().clusters) GTEST_SKIP() << "needs compute capability 9.0";
  for (const std::uint32_t blocks : {2u, 4u, 16u}) {
    const bool large = blocks > 8;
    const auto kernel = make({.image = std::string(cluster_text), .entry = "cluster_rank", .non_portable_cluster = large});
    auto out = DeviceBuffer::make(*device, 16 * sizeof(std::uint32_t));
    ASSERT_TRUE(out);
    api::DeviceAddr addr = out->addr();
    std::array<void*, 1> params{&addr};
    const LaunchConfig config{.grid = {16}, .block = {32}, .cluster = {blocks, 1, 1}, .non_portable_cluster = large};
    const auto ok = run(*kernel, config, params);
    ASSERT_TRUE(ok) << render(ok.error());
    const auto values = read<std::uint32_t>(*out);
    for (std::uint32_t block = 0; block < 16; ++block) ASSERT_EQ(values[block], 100 * blocks + block % blocks) << block;
    const auto fits = in_context(
        *device, [&]() -> Expected<void> { return check_cluster_fits(driver(), kernel->loaded(0), LaunchTemplate(config)); });
    EXPECT_TRUE(fits) << render(fits.error());
  }
}

TEST_F(GpuTest, programmatic_and_cooperative_launches_are_taken) {
  const auto kernel = make({.image = std::string(vector_add_text), .entry = "vector_add"});
  add_vectors(*kernel, {.flags = flag(api::LaunchAttributeId::cooperative)});
  add_vectors(*kernel, {.flags = flag(api::LaunchAttributeId::programmatic_stream_serialization)});
}

TEST_F(GpuTest, streams_and_fills) {
  auto stream = Stream::make(*device);
  ASSERT_TRUE(stream) << render(stream.error());
  auto buffer = DeviceBuffer::make(*device, 1000);
  ASSERT_TRUE(buffer) << render(buffer.error());
  ASSERT_TRUE(buffer->fill(0xAB));
  EXPECT_EQ(read<std::uint8_t>(*buffer), std::vector<std::uint8_t>(1000, 0xAB));
  EXPECT_TRUE(stream->synchronize());
}

TEST_F(GpuTest, unloads_and_loads_again) {
  const auto kernel = make({.image = std::string(vector_add_text), .entry = "vector_add"});
  ASSERT_TRUE(kernel->prepare(*device));
  const auto gone = kernel->unload();
  ASSERT_TRUE(gone) << render(gone.error());
  ASSERT_TRUE(kernel->prepare(*device));
}

// Every rule that we check is the driver's: what we let pass, it takes. Which of ours it would not need, it cannot tell us.
TEST_F(GpuTest, tensor_maps_are_encoded_and_lie_there) {
  if (device->capability().major < 9) GTEST_SKIP() << "GPU " << device->name() << " has no tensor copies";
  using Sizes = std::vector<std::int64_t>;
  using layout::Swizzle;
  const auto tiled = [](layout::TensorMapType type, const Sizes& shape, const Sizes& box, Swizzle swizzle) {
    auto map = layout::tiled_tensor_map(type, shape, box, swizzle);
    EXPECT_TRUE(map) << render(map.error());
    return *map;
  };
  using enum layout::TensorMapType;
  std::vector<layout::TensorMap> maps{
      tiled(f32, {1000}, {256}, Swizzle::none),
      tiled(bf16, {256, 192}, {128, 64}, Swizzle::b128),
      tiled(bf16, {256, 192}, {128, 32}, Swizzle::b64),
      tiled(bf16, {256, 192}, {128, 16}, Swizzle::b32),
      tiled(f32, {1, 9}, {1, 8}, Swizzle::none),
      tiled(u8, {2, 3, 4, 5, 32}, {1, 2, 2, 5, 32}, Swizzle::b32),
      tiled(u8, {4, 16}, {256, 128}, Swizzle::none),  // a box larger than the tensor
      layout::slab_tensor_map(bf16, 4096, 2048, 128, 256, Swizzle::b128).value(),
      layout::slab_tensor_map(bf16, 4096, 2048, 128, 64, Swizzle::none, true).value(),
  };
  for (std::uint8_t type = 0; type <= static_cast<std::uint8_t>(tf32_ftz); ++type)
    maps.push_back(tiled(static_cast<layout::TensorMapType>(type), {64, 64}, {32, 16}, Swizzle::none));
  for (const layout::TensorMap& map : maps) {
    for (const api::DeviceAddr tensor : {api::DeviceAddr{0}, api::DeviceAddr{0x7f00'0000'0010}}) {
      const auto bytes = encode(map, tensor, *device);
      ASSERT_TRUE(bytes) << render(bytes.error());
      const auto placed = device->tensor_maps().place(map, tensor);
      ASSERT_TRUE(placed) << render(placed.error());
      EXPECT_EQ((*placed)->addr % 64, 0u);
      api::TensorMapBytes there;
      const auto read = in_context(*device, [&] {
        return checked(driver(), driver().call.memcpy_dtoh(&there, (*placed)->addr, sizeof there), "cuMemcpyDtoH");
      });
      ASSERT_TRUE(read) << render(read.error());
      EXPECT_EQ(there, *bytes) << to_string(map);
      EXPECT_EQ(device->tensor_maps().place(map, tensor).value(), *placed);
    }
  }
}

// A lost context ends all GPU work of its process, so this one runs in a process of its own.
using GpuDeathTest = GpuTest;
TEST_F(GpuDeathTest, a_wild_store_is_reported_as_what_it_is) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const auto kernel = make({.image = std::string(wild_store_text), .entry = "wild_store"});
        const auto failed = run(*kernel, {}, {});
        if (!failed) fputs(render(failed.error()).c_str(), stderr);
        std::_Exit(failed ? 0 : 3);
      },
      testing::ExitedWithCode(3), "CUDA_ERROR_ILLEGAL_ADDRESS \\(700\\)[^$]*a kernel that ran earlier in this process caused it");
}

}  // namespace
}  // namespace ptx::cuda
