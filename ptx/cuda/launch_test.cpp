#include "ptx/cuda/launch.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/cuda/fake_driver.hpp"
#include "tests/support/allocations.hpp"

namespace ptx::cuda {
namespace {

class LaunchTest : public FakeDriverTest {
 protected:
  void SetUp() override {
    FakeDriverTest::SetUp();
    auto made = LoadedKernel::make(*driver, {.image = ".version 8.0\n.target sm_90a\n", .entry = "kernel"});
    ASSERT_TRUE(made);
    kernel = std::move(*made);
    ASSERT_TRUE(kernel->prepare(*device));
  }
  /// The message of a configuration that must be refused.
  std::string refused(const LaunchConfig& config, const FunctionFacts* facts = nullptr) const {
    auto made = LaunchTemplate::make(config, *device, facts);
    EXPECT_FALSE(made);
    if (made) return {};
    EXPECT_EQ(made.error().kind, Kind::launch_config);
    return made.error().message;
  }

  std::unique_ptr<LoadedKernel> kernel;
};

TEST_F(LaunchTest, passes_the_configuration_the_stream_and_the_parameters) {
  const auto packed = LaunchTemplate::make({.grid = {16, 2, 3}, .block = {32, 4, 2}, .dynamic_smem_bytes = 1024}, *device);
  ASSERT_TRUE(packed);
  std::uint64_t first = 0x1122334455667788, second = 42;
  void* params[] = {&first, &second};
  const auto stream = reinterpret_cast<api::Stream>(std::uintptr_t{0x77});
  const ContextGuard guard(*driver, *device->context());
  ASSERT_TRUE(launch(*driver, kernel->loaded(0), *packed, stream, params));
  ASSERT_EQ(fake.launches.size(), 1u);
  const FakeLaunch& seen = fake.launches[0];
  EXPECT_EQ(seen.function, kernel->loaded(0));
  EXPECT_EQ(seen.context, fake_context(0));
  EXPECT_EQ(seen.config.stream, stream);
  EXPECT_EQ(std::tuple(seen.config.grid_x, seen.config.grid_y, seen.config.grid_z), std::tuple(16u, 2u, 3u));
  EXPECT_EQ(std::tuple(seen.config.block_x, seen.config.block_y, seen.config.block_z), std::tuple(32u, 4u, 2u));
  EXPECT_EQ(seen.config.dynamic_smem_bytes, 1024u);
  EXPECT_TRUE(seen.attributes.empty());
  ASSERT_EQ(seen.params.size(), 2u);
  EXPECT_EQ(std::memcmp(seen.params[0].data(), &first, 8), 0);
  EXPECT_EQ(std::memcmp(seen.params[1].data(), &second, 8), 0);
}

TEST_F(LaunchTest, packs_the_attributes_also_in_a_copy) {
  auto packed = LaunchTemplate::make(
      {.grid = {8, 4, 1},
       .block = {128},
       .cluster = {2, 4, 1},
       .flags = flag(api::LaunchAttributeId::cooperative) | flag(api::LaunchAttributeId::programmatic_stream_serialization)},
      *device);
  ASSERT_TRUE(packed);
  const LaunchTemplate copy = *packed;
  packed = LaunchTemplate(LaunchConfig{});  // a copy must not point into the original
  std::uint64_t value = 0;
  void* params[] = {&value, &value};
  ASSERT_TRUE(launch(*driver, kernel->loaded(0), copy, nullptr, params));
  const auto& attributes = fake.launches.at(0).attributes;
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(attributes[0].id, api::LaunchAttributeId::cluster_dimension);
  EXPECT_EQ((std::array{attributes[0].value[0], attributes[0].value[1], attributes[0].value[2]}), (std::array{2u, 4u, 1u}));
  EXPECT_EQ(attributes[1].id, api::LaunchAttributeId::cooperative);
  EXPECT_EQ(attributes[1].value[0], 1u);
  EXPECT_EQ(attributes[2].id, api::LaunchAttributeId::programmatic_stream_serialization);
  EXPECT_EQ(attributes[2].value[0], 1u);
}

TEST_F(LaunchTest, allocates_nothing) {
  const LaunchTemplate packed({.grid = {16}, .block = {32}, .cluster = {2, 1, 1}});
  std::uint64_t value = 0;
  void* params[] = {&value, &value};
  const api::Context context = *device->context();
  fake.recording = false;
  const std::size_t before = heap::allocations;
  for (int i = 0; i < 100; ++i) {
    const ContextGuard guard(*driver, nullptr);
    const auto function = kernel->prepare(*device);
    EXPECT_TRUE(launch(*driver, *function, packed, nullptr, params));
  }
  EXPECT_EQ(heap::allocations, before);
  EXPECT_NE(context, nullptr);
}

TEST_F(LaunchTest, a_refused_launch_shows_its_configuration) {
  fake.fail["cuLaunchKernelEx"] = api::Result::launch_out_of_resources;
  const LaunchTemplate packed({.grid = {16}, .block = {1024}});
  auto failed = launch(*driver, kernel->loaded(0), packed, nullptr, nullptr);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::driver_error);
  EXPECT_TRUE(says(failed.error(), "`cuLaunchKernelEx` failed: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"));
  EXPECT_TRUE(says(failed.error(), "grid (16, 1, 1), block (1024, 1, 1), 0 bytes")) << render(failed.error());

  fake.fail["cuLaunchKernelEx"] = api::Result::illegal_address;
  failed = launch(*driver, kernel->loaded(0), packed, nullptr, nullptr);
  EXPECT_TRUE(says(failed.error(), "a kernel that ran earlier in this process caused it")) << render(failed.error());
}

TEST_F(LaunchTest, each_limit_is_named) {
  EXPECT_EQ(refused({.grid = {0, 1, 1}}), "grid (0, 1, 1) is empty: x is 0");
  EXPECT_EQ(refused({.grid = {1, 65536, 1}}), "grid (1, 65536, 1) has 65536 blocks in y; at most 65535 fit");
  EXPECT_EQ(refused({.block = {1, 1, 65}}), "block (1, 1, 65) has 65 threads in z; at most 64 fit");
  EXPECT_EQ(refused({.block = {64, 32, 1}}), "block (64, 32, 1) has 2048 threads; at most 1024 fit");
  EXPECT_EQ(refused({.block = {0xFFFFFFFF, 0xFFFFFFFF, 1}}),
            "block (4294967295, 4294967295, 1) has 4294967295 threads in x; at most 1024 fit");
  EXPECT_EQ(refused({.dynamic_smem_bytes = 240 * 1024}),
            "a block needs 245760 bytes of dynamic shared memory; at most 232448 fit");
  EXPECT_EQ(refused({.grid = {6}, .cluster = {4, 1, 1}}), "grid (6, 1, 1) is not a whole number of clusters (4, 1, 1) in x");
  EXPECT_EQ(refused({.grid = {16}, .cluster = {16, 1, 1}}),
            "cluster (16, 1, 1) has 16 blocks; at most 8 are portable (16 with the non-portable cluster flag)");
  EXPECT_EQ(refused({.grid = {16, 2, 1}, .cluster = {16, 2, 1}, .non_portable_cluster = true}),
            "cluster (16, 2, 1) has 32 blocks; at most 16 fit");
  EXPECT_EQ(refused({.cluster = {1, 0, 1}}), "cluster (1, 0, 1) is empty: y is 0");
  EXPECT_TRUE(LaunchTemplate::make({.grid = {16}, .cluster = {16, 1, 1}, .non_portable_cluster = true}, *device));
  EXPECT_TRUE(LaunchTemplate::make({.grid = {2147483647, 65535, 65535}, .block = {16, 1, 64}}, *device));
}

TEST_F(LaunchTest, the_compiled_kernels_needs_count) {
  const FunctionFacts facts{.max_threads_per_block = 384, .static_smem_bytes = 1024, .registers = 168};
  EXPECT_EQ(
      refused({.block = {512}}, &facts),
      "block (512, 1, 1) has 512 threads; the compiled kernel, with 168 registers a thread and its `.maxntid`, runs with at "
      "most 384");
  EXPECT_EQ(refused({.dynamic_smem_bytes = 232448}, &facts),
            "a block needs 232448 bytes of dynamic shared memory and 1024 of static; at most 232448 fit");
  EXPECT_TRUE(LaunchTemplate::make({.block = {384}, .dynamic_smem_bytes = 231424}, *device, &facts));
}

TEST_F(LaunchTest, clusters_need_a_gpu_that_has_them) {
  DeviceLimits ampere = device->limits();
  ampere.capability = {8, 0};
  ampere.clusters = false;
  const auto failed = validate({.grid = {2}, .cluster = {2, 1, 1}}, ampere);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "cluster (2, 1, 1) needs compute capability 9.0 or later; this GPU is 8.0");
  EXPECT_TRUE(validate({.grid = {2}}, ampere));
}

TEST_F(LaunchTest, a_cluster_that_fits_nowhere_is_found_out) {
  const LaunchTemplate packed({.grid = {8}, .cluster = {8, 1, 1}, .dynamic_smem_bytes = 200000});
  EXPECT_TRUE(check_cluster_fits(*driver, kernel->loaded(0), packed));
  fake.active_clusters = 0;
  const auto failed = check_cluster_fits(*driver, kernel->loaded(0), packed);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::launch_config);
  EXPECT_TRUE(says(failed.error(), "not one cluster finds room"));
}

}  // namespace
}  // namespace ptx::cuda
