#include "ptx/launch/image.hpp"

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <thread>

#include "ptx/check/check.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/launch/loading.hpp"
#include "ptx/launch/ready.hpp"
#include "ptx/launch/run.hpp"
#include "tests/launch/twice.hpp"
#include "tests/support/allocations.hpp"

namespace ptx::launch {

std::size_t allocations_of_this_thread() { return heap::allocations; }

namespace {

// -- on the host
// --------------------------------------------------------------------------------------------------------------------

class ImageTest : public ::testing::Test {
 protected:
  ImageTest() { std::iota(x.begin(), x.end(), 1.0f); }
  std::shared_ptr<const KernelImage> image = twice_image();
  std::vector<float> x = std::vector<float>(32), y = std::vector<float>(32);
};

TEST_F(ImageTest, runs_on_the_executor) {
  void* const pointers[] = {x.data(), y.data()};
  const std::size_t bytes[] = {128, 128};
  const auto report = image->launch(default_cpu(), pointers, bytes);
  ASSERT_TRUE(report) << render(report.error());
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(y[i], 2 * x[i]);
  EXPECT_EQ(report->ctas, 1u);
}

TEST_F(ImageTest, reports_an_access_outside_a_tensor_by_its_name) {
  void* const pointers[] = {x.data(), y.data()};
  const std::size_t bytes[] = {128, 124};
  const auto report = image->launch(default_cpu(), pointers, bytes);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, Kind::out_of_bounds);
  EXPECT_TRUE(says(report.error(), "Y")) << render(report.error());
}

TEST_F(ImageTest, refuses_another_number_of_tensors) {
  void* const pointers[] = {x.data()};
  const std::size_t bytes[] = {128};
  EXPECT_EQ(image->launch(default_cpu(), pointers, bytes).error().kind, Kind::argument_count);
}

TEST_F(ImageTest, a_program_is_decoded_once) {
  std::vector<std::thread> threads;
  std::array<std::shared_ptr<const vgpu::Program>, 4> programs;
  for (auto& program : programs) threads.emplace_back([&] { program = image->program().value(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& program : programs) EXPECT_EQ(program, programs[0]);
}

TEST_F(ImageTest, is_named_by_text_and_launch) {
  const auto again = twice_image();
  EXPECT_EQ(image->key(), again->key());
  EXPECT_EQ(image->key(), Sha256().add(image->text()).add(image->meta()).finish());
  EXPECT_NE(image->key(), twice_image(64)->key());
  EXPECT_GT(image->handle(), 0);
}

TEST_F(ImageTest, other_launches_share_what_the_text_comes_to) {
  const auto with = [&](const Geometry& geometry) {
    return image->with_launch(LaunchSpec::make("twice", geometry, 1, 1).value());
  };
  const auto wider = with({.grid = {7, 1, 1}, .block = {32, 1, 1}}).value();
  EXPECT_EQ(wider->program().value(), image->program().value()) << "decoded once";
  EXPECT_EQ(wider->spec().geometry.grid, (Dims{7, 1, 1}));
  EXPECT_NE(wider->key(), image->key());
  EXPECT_EQ(wider->key(), Sha256().add(wider->text()).add(wider->meta()).finish());
  const auto other = with({.block = {32, 1, 1}, .dynamic_smem_bytes = 64}).value();
  EXPECT_NE(other->program().value(), image->program().value()) << "its code is prepared otherwise";
  EXPECT_EQ(image->with_launch(LaunchSpec::make("twice", {}, 2, 1).value()).error().kind, Kind::param_layout);
  EXPECT_EQ(image->with_launch(LaunchSpec::make("other", {}, 1, 1).value()).error().kind, Kind::unknown_kernel);
  const auto text = KernelImage::from_text(image->text(), image->meta()).value();
  EXPECT_EQ(text->with_launch(image->spec()).error().kind, Kind::unknown_kernel);
}

TEST_F(ImageTest, text_alone_is_read_checked_and_executed) {
  const auto text = KernelImage::from_text(image->text(), image->meta()).value();
  EXPECT_FALSE(text->has_module());
  EXPECT_EQ(text->key(), image->key());
  EXPECT_TRUE(text->program());
}

TEST_F(ImageTest, text_that_is_not_accepted_is_not_executed) {
  std::string broken = image->text();
  broken.replace(broken.find("ret;"), 4, "bra NOWHERE;");
  const auto program = KernelImage::from_text(broken, image->meta()).value()->program();
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, Kind::bad_image);
  EXPECT_TRUE(says(program.error(), "`NOWHERE`"));
  EXPECT_EQ(program.error().where.file, std::string("twice.ptx"));
}

TEST_F(ImageTest, refuses_what_does_not_fit_the_module) {
  auto accepted = check::accept(twice_module()).value();
  auto listing = std::make_shared<const ir::Listing>(text::list(accepted.module()));
  EXPECT_EQ(KernelImage::make(accepted, listing, LaunchSpec::make("other", {}, 1, 1).value()).error().kind, Kind::unknown_kernel);
  EXPECT_EQ(KernelImage::make(accepted, listing, LaunchSpec::make("twice", {}, 2, 1).value()).error().kind, Kind::param_layout);
  EXPECT_EQ(KernelImage::from_text("no PTX", image->meta()).error().kind, Kind::bad_image);
  EXPECT_EQ(KernelImage::from_text(image->text(), "no record").error().kind, Kind::bad_image);
}

TEST_F(ImageTest, the_block_must_fit_the_directives) {
  const auto made = [](const ir::Directive& directive) {
    ir::Module module = twice_module();
    module.functions[0].directives.push_back(directive);
    auto accepted = check::accept(std::move(module)).value();
    auto listing = std::make_shared<const ir::Listing>(text::list(accepted.module()));
    return KernelImage::make(accepted, listing, LaunchSpec::make("twice", {.block = {32, 1, 1}}, 1, 1).value());
  };
  EXPECT_TRUE(made({"reqntid", {32, 1, 1}}));
  EXPECT_TRUE(made({"maxntid", {64, 1, 1}}));
  const auto refused = made({"reqntid", {128, 1, 1}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::launch_config);
  EXPECT_TRUE(says(refused.error(), "block (32, 1, 1) does not fit the kernel's `.reqntid` (128, 1, 1)"));
  EXPECT_FALSE(made({"maxntid", {16, 1, 1}}));
}

// -- on a GPU that is not there
// -------------------------------------------------------------------------------------------------------

class CudaImageTest : public ::testing::Test {
 protected:
  FakeCuda& fake = fake_driver();
  static inline int counter = 0;
  std::shared_ptr<const KernelImage> image = text_image(
      "kernel", {.grid = {16, 1, 1}, .block = {32, 1, 1}, .dynamic_smem_bytes = static_cast<std::uint32_t>(16 * ++counter)});
  void* const pointers[2] = {reinterpret_cast<void*>(std::uintptr_t{0x1100}), reinterpret_cast<void*>(std::uintptr_t{0x2200})};
  const cuda::api::Stream stream = reinterpret_cast<cuda::api::Stream>(std::uintptr_t{0x77});
};

TEST_F(CudaImageTest, launches_with_addresses_geometry_and_stream) {
  const auto ok = image->launch(Cuda{1, stream}, pointers);
  ASSERT_TRUE(ok) << render(ok.error());
  ASSERT_EQ(fake.launches.size(), 1u);
  const FakeLaunch& seen = fake.launches[0];
  EXPECT_EQ(seen.context, fake_context(1));
  EXPECT_EQ(seen.config.stream, stream);
  EXPECT_EQ(seen.config.grid_x, 16u);
  EXPECT_EQ(seen.config.block_x, 32u);
  for (std::size_t i = 0; i < 2; ++i) {
    void* address = nullptr;
    std::memcpy(&address, seen.params[i].data(), sizeof address);
    EXPECT_EQ(address, pointers[i]);
  }
}

TEST_F(CudaImageTest, loads_once_and_then_neither_allocates_nor_locks) {
  ASSERT_TRUE(image->prepare(0));
  EXPECT_TRUE(image->prepared(0));
  EXPECT_FALSE(image->prepared(1));
  fake.calls.clear();
  ASSERT_TRUE(image->launch(Cuda{0, stream}, pointers));
  ASSERT_TRUE(image->launch(Cuda{0, stream}, pointers));
  EXPECT_EQ(fake.count("cuLaunchKernelEx"), 2u);
  EXPECT_EQ(fake.count("cuLibraryLoadData") + fake.count("cuKernelGetFunction") + fake.count("cuFuncLoad"), 0u);
  fake.recording = false;
  const std::size_t before = heap::allocations;
  ASSERT_TRUE(image->launch(Cuda{0, stream}, pointers));
  EXPECT_EQ(heap::allocations, before);
}

TEST_F(CudaImageTest, scalars_come_with_the_launch) {
  fake.kernels["twice"].params = {{0, 8}, {8, 8}, {16, 4}};
  auto accepted = check::accept(twice_module(true)).value();
  const ir::Module& module = accepted.module();
  auto listing = std::make_shared<const ir::Listing>(text::list(module));
  const std::array<Scalar, 1> factor = {1.0};
  auto spec = LaunchSpec::make(module, module.functions[0], {.block = {32, 1, 1}}, 1, 1, factor).value();
  const auto scaled = KernelImage::make(std::move(accepted), std::move(listing), std::move(spec)).value();
  const auto passed = [&] {
    float value = 0;
    std::memcpy(&value, fake.launches.back().params.at(2).data(), sizeof value);
    return value;
  };
  const auto bits = [](float value) { return std::optional<std::uint64_t>(std::bit_cast<std::uint32_t>(value)); };
  ASSERT_TRUE(scaled->launch(Cuda{0, stream}, pointers));
  EXPECT_EQ(passed(), 1.0f);
  for (const float value : {2.0f, -7.5f}) {
    ASSERT_TRUE(scaled->launch(Cuda{0, stream}, pointers, std::array{bits(value)}));
    EXPECT_EQ(passed(), value);
  }
  ASSERT_TRUE(scaled->launch(Cuda{0, stream}, pointers, std::array{std::optional<std::uint64_t>()}));
  EXPECT_EQ(passed(), 1.0f);
  const auto other = scaled->with_scalars(std::array{bits(4.0f)}).value();
  EXPECT_NE(other->key(), scaled->key());
  ASSERT_TRUE(other->launch(Cuda{0, stream}, pointers));
  EXPECT_EQ(passed(), 4.0f);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 1u) << "one code for all values";
  const auto refused = scaled->launch(Cuda{0, stream}, pointers, std::array{bits(1), bits(2)});
  EXPECT_TRUE(says(refused.error(), "kernel `twice` has 1 scalar parameters; the launch has 2"));
}

TEST_F(CudaImageTest, many_threads_load_it_once) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { EXPECT_TRUE(image->prepare(0)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 1u);
}

TEST_F(CudaImageTest, says_which_gpu_is_not_there) {
  const auto failed = image->launch(Cuda{7, nullptr}, pointers);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::no_device);
  EXPECT_FALSE(image->launch(Cuda{-1, nullptr}, pointers));
  EXPECT_FALSE(image->prepare(cuda::max_devices));
}

TEST_F(CudaImageTest, loads_while_a_graph_is_captured) {
  fake.capture = cuda::api::CaptureStatus::active;
  const auto launched = image->launch(Cuda{0, stream}, pointers);
  ASSERT_TRUE(launched) << render(launched.error());
  EXPECT_EQ(fake.launches.size(), 1u);
}

TEST_F(CudaImageTest, what_nobody_holds_any_more_is_unloaded_before_the_next_load) {
  (void)cuda::collect_retired();
  ASSERT_TRUE(image->launch(Cuda{0, stream}, pointers));
  EXPECT_EQ(fake.live_libraries, 1);
  image.reset();
  EXPECT_EQ(fake.live_libraries, 1) << "a destructor calls no driver";
  ASSERT_TRUE(text_image("kernel", {.grid = {2, 1, 1}, .block = {32, 1, 1}})->prepare(0));
  EXPECT_EQ(fake.live_libraries, 1);
  EXPECT_EQ(fake.count("cuLibraryUnload"), 1u);
}

TEST_F(CudaImageTest, what_a_graph_has_captured_stays_loaded) {
  (void)cuda::collect_retired();
  fake.capture = cuda::api::CaptureStatus::active;
  ASSERT_TRUE(image->launch(Cuda{0, stream}, pointers));
  fake.capture = cuda::api::CaptureStatus::none;
  image.reset();
  EXPECT_EQ(cuda::collect_retired(), 0u);
  EXPECT_EQ(fake.live_libraries, 1);
}

TEST_F(CudaImageTest, a_lost_context_names_the_kernels) {
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, pointers));
  fake.fail["cuLaunchKernelEx"] = cuda::api::Result::illegal_address;
  const auto failed = image->launch(Cuda{0, nullptr}, pointers);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(says(failed.error(), "launched by pyptx before it: kernel `kernel`; with PYPTX_SYNC=1 each launch reports"))
      << render(failed.error());
}

TEST_F(CudaImageTest, the_compiled_kernel_must_take_what_is_passed) {
  fake.kernels["kernel"].params = {{0, 8}, {8, 4}};
  EXPECT_EQ(image->prepare(0).error().kind, Kind::param_layout);
  fake.kernels["kernel"].params = {{0, 8}, {8, 8}};
  EXPECT_TRUE(image->prepare(0)) << "a failure is not kept";
}

TEST_F(CudaImageTest, what_the_gpu_has_not_is_refused_with_the_kernels_name) {
  using Attribute = cuda::api::FunctionAttribute;
  fake.kernels["kernel"].attributes[Attribute::max_threads_per_block] = 384;
  fake.kernels["kernel"].attributes[Attribute::num_regs] = 168;
  const auto large = text_image("kernel", {.grid = {1, 1, 1}, .block = {512, 1, 1}});
  const Diagnostic refused = large->prepare(0).error();
  EXPECT_EQ(refused.kind, Kind::launch_config);
  EXPECT_TRUE(
      says(refused, "kernel `kernel`: block (512, 1, 1) has 512 threads; the compiled kernel, with 168 registers a thread"))
      << render(refused);
}

TEST_F(CudaImageTest, a_cluster_must_find_room) {
  const auto clustered = text_image("kernel", {.grid = {16, 1, 1}, .block = {32, 1, 1}, .cluster = {2, 1, 1}});
  fake.active_clusters = 0;
  const Diagnostic refused = clustered->prepare(0).error();
  EXPECT_EQ(refused.kind, Kind::launch_config);
  EXPECT_TRUE(says(refused, "kernel `kernel`: not one cluster finds room on the GPU: block (32, 1, 1)")) << render(refused);
  fake.active_clusters = 1;
  ASSERT_TRUE(clustered->launch(Cuda{0, nullptr}, pointers));
  ASSERT_EQ(fake.launches[0].attributes.size(), 1u);
  EXPECT_EQ(fake.launches[0].attributes[0].value[0], 2u);
}

// -- tensors that share memory, on the host
// --------------------------------------------------------------------------------------------------------------------

TEST(Overlap, an_output_may_be_an_input) {
  std::vector<float> x(32, 3.0f);
  void* const pointers[] = {x.data(), x.data()};
  const std::size_t bytes[] = {x.size() * 4, x.size() * 4};
  const auto report = twice_image()->launch(default_cpu(), pointers, bytes);
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(x, std::vector<float>(32, 6.0f));
}

TEST(Overlap, what_is_only_read_may_begin_at_one_place) {
  const auto spec = LaunchSpec::make(twice_module(), twice_module().functions[0], {.block = {32, 1, 1}}, 2, 0);
  ASSERT_TRUE(spec) << render(spec.error());
  auto accepted = check::accept(twice_module()).value();
  auto listing = std::make_shared<const ir::Listing>(text::list(accepted.module()));
  const auto image = KernelImage::make(std::move(accepted), std::move(listing), *spec).value();
  std::vector<float> memory(32, 3.0f);
  void* const pointers[] = {memory.data(), memory.data()};
  const std::size_t bytes[] = {64, 128};
  const auto refused = image->launch(default_cpu(), pointers, bytes);
  ASSERT_FALSE(refused) << "it writes what it said it only reads";
  EXPECT_NE(refused.error().kind, Kind::argument_memory) << render(refused.error());
}

TEST(Overlap, in_part_it_is_refused) {
  std::vector<float> memory(40, 3.0f);
  void* const pointers[] = {memory.data(), memory.data() + 8};
  const std::size_t bytes[] = {128, 128};
  const auto refused = twice_image()->launch(default_cpu(), pointers, bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::argument_memory);
  EXPECT_TRUE(says(refused.error(), "tensors `X` and `Y` of kernel `twice` overlap in memory: 128 and 128 bytes"));
}

// -- kernels that take TMA descriptors
// -------------------------------------------------------------------------------------------------------------------

class DescriptorTest : public ::testing::Test {
 protected:
  DescriptorTest() { fake.kernels["twice"].params = {{0, 8}, {8, 8}, {16, 8}, {24, 8}}; }

  static std::shared_ptr<const KernelImage> described_image(std::int64_t rows, bool by_value = false) {
    auto accepted = check::accept(twice_module(false, true, by_value)).value();
    const ir::Module& module = accepted.module();
    auto listing = std::make_shared<const ir::Listing>(text::list(module));
    const std::array tiles{Tile::make({rows, 32}, Type::f32, Layout::tma_128b).value(),
                           Tile::make({rows, 32}, Type::f32).value()};
    auto spec = LaunchSpec::make(module, module.functions[0], {.block = {32, 1, 1}}, 1, 1, {}, tiles);
    EXPECT_TRUE(spec) << render(spec.error());
    return KernelImage::make(std::move(accepted), std::move(listing), std::move(*spec)).value();
  }
  static void* tensor(std::uintptr_t addr) { return reinterpret_cast<void*>(addr); }
  /// The value of a parameter of the last launch.
  std::uint64_t passed(std::size_t param) const {
    std::uint64_t value = 0;
    std::memcpy(&value, fake.launches.back().params.at(param).data(), sizeof value);
    return value;
  }
  /// What lies at the address that the last launch passed.
  const FakeTensorMap& described(std::size_t param) const {
    std::uint64_t number = 0;
    std::memcpy(&number, reinterpret_cast<const void*>(passed(param)), sizeof number);
    return fake.tensor_maps.at(number);
  }

  FakeCuda& fake = fake_driver();
  std::shared_ptr<const KernelImage> image = described_image(64);
};

TEST_F(DescriptorTest, passes_the_descriptors_of_the_tensors_at_hand) {
  void* const pointers[] = {tensor(0x1000), tensor(0x2000)};
  const auto ok = image->launch(Cuda{0, nullptr}, pointers);
  ASSERT_TRUE(ok) << render(ok.error());
  EXPECT_EQ(passed(0), 0x1000u);
  EXPECT_EQ(passed(1), 0x2000u);
  EXPECT_EQ(described(2).tensor, 0x2000u) << "the entry names Y_tma_desc first";
  EXPECT_EQ(described(2).swizzle, cuda::api::TensorMapSwizzle::none);
  EXPECT_EQ(described(3).tensor, 0x1000u);
  EXPECT_EQ(described(3).swizzle, cuda::api::TensorMapSwizzle::b128);
  EXPECT_EQ(described(3).sizes, (std::vector<std::uint64_t>{32, 64}));
}

TEST_F(DescriptorTest, tensors_that_take_turns_cost_nothing_after_their_first) {
  void* const there[] = {tensor(0x1000), tensor(0x2000)};
  void* const back[] = {tensor(0x2000), tensor(0x1000)};
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, there));
  const std::uint64_t first = passed(2);
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, back));
  EXPECT_NE(passed(2), first);
  EXPECT_EQ(described(2).tensor, 0x1000u);
  fake.calls.clear();
  for (int round = 0; round < 3; ++round) {
    ASSERT_TRUE(image->launch(Cuda{0, nullptr}, there));
    EXPECT_EQ(passed(2), first);
    EXPECT_EQ(described(3).tensor, 0x1000u);
    ASSERT_TRUE(image->launch(Cuda{0, nullptr}, back));
    EXPECT_EQ(described(3).tensor, 0x2000u);
  }
  EXPECT_EQ(fake.count("cuTensorMapEncodeTiled") + fake.count("cuMemcpyHtoDAsync"), 0u);
  fake.recording = false;
  const std::size_t before = heap::allocations;
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, there));
  EXPECT_EQ(heap::allocations, before);
}

TEST_F(DescriptorTest, kernels_share_what_is_the_same) {
  void* const pointers[] = {tensor(0x5000), tensor(0x6000)};
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, pointers));
  const std::uint64_t of_y = passed(2);
  const auto again = described_image(64);
  ASSERT_TRUE(again->launch(Cuda{0, nullptr}, pointers));
  EXPECT_EQ(passed(2), of_y);
  const auto taller = described_image(128);
  ASSERT_TRUE(taller->launch(Cuda{0, nullptr}, pointers));
  EXPECT_NE(passed(2), of_y);
}

TEST_F(DescriptorTest, each_gpu_has_its_own) {
  void* const pointers[] = {tensor(0x1000), tensor(0x2000)};
  ASSERT_TRUE(image->launch(Cuda{0, nullptr}, pointers));
  const std::uint64_t on_first = passed(2);
  ASSERT_TRUE(image->launch(Cuda{1, nullptr}, pointers));
  EXPECT_NE(passed(2), on_first);
  EXPECT_EQ(described(2).tensor, 0x2000u);
}

TEST_F(DescriptorTest, new_tensors_come_while_a_graph_is_captured) {
  ASSERT_TRUE(image->prepare(0));
  fake.capture = cuda::api::CaptureStatus::active;
  void* const pointers[] = {tensor(0x71000), tensor(0x72000)};
  const auto ok = image->launch(Cuda{0, nullptr}, pointers);
  ASSERT_TRUE(ok) << render(ok.error());
  EXPECT_EQ(described(3).tensor, 0x71000u);
  fake.fail["cuMemcpyHtoDAsync"] = cuda::api::Result::stream_capture_unsupported;
  void* const others[] = {tensor(0x73000), tensor(0x72000)};
  const auto refused = image->launch(Cuda{0, nullptr}, others);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::capture_unprepared);
  EXPECT_TRUE(says(refused.error(), "the TMA descriptor of tensor `X` of kernel `twice`: "));
}

TEST_F(DescriptorTest, the_address_must_be_aligned) {
  void* const pointers[] = {tensor(0x1008), tensor(0x2000)};
  const auto refused = image->launch(Cuda{0, nullptr}, pointers);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::argument_alignment);
  EXPECT_TRUE(says(refused.error(), "tensor `X` of kernel `twice`: the data pointer 0x1008 is not a multiple of 16 bytes"));
  EXPECT_TRUE(fake.launches.empty());
}

TEST_F(DescriptorTest, an_image_of_text_passes_them_too) {
  const auto text = KernelImage::from_text(image->text(), image->meta()).value();
  EXPECT_EQ(text->key(), image->key());
  void* const pointers[] = {tensor(0x1000), tensor(0x2000)};
  ASSERT_TRUE(text->launch(Cuda{0, nullptr}, pointers));
  EXPECT_EQ(described(2).tensor, 0x2000u);
  EXPECT_EQ(described(3).tensor, 0x1000u);
}

TEST_F(DescriptorTest, many_threads_launch) {
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::size_t wrong = 0;
  fake.on_launch = [&](const FakeLaunch& launch) {
    const auto word = [](const std::vector<std::byte>& bytes) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data(), sizeof value);
      return value;
    };
    std::uint64_t number = 0;
    std::memcpy(&number, reinterpret_cast<const void*>(word(launch.params[3])), sizeof number);
    const std::lock_guard lock(mutex);
    wrong += fake.tensor_maps.at(number).tensor != word(launch.params[0]);
  };
  for (std::uintptr_t thread = 1; thread <= 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (std::uintptr_t i = 0; i < 100; ++i) {
        void* const pointers[] = {tensor(0x10000 * (1 + (i * thread) % 37)), tensor(0x900000)};
        EXPECT_TRUE(image->launch(Cuda{0, nullptr}, pointers));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(fake.launches.size(), 400u);
}

TEST_F(DescriptorTest, by_value_each_launch_has_its_own) {
  fake.kernels["twice"].params = {{0, 8}, {8, 8}, {128, 128}, {256, 128}};
  const auto by_value = described_image(64, true);
  const auto passed_map = [&](std::size_t param) -> const FakeTensorMap& { return fake.tensor_maps.at(passed(param)); };
  for (const std::uintptr_t addr : {0x1000, 0x3000, 0x1000}) {
    void* const pointers[] = {tensor(addr), tensor(0x2000)};
    const auto ok = by_value->launch(Cuda{0, nullptr}, pointers);
    ASSERT_TRUE(ok) << render(ok.error());
    EXPECT_EQ(passed_map(2).tensor, 0x2000u);
    EXPECT_EQ(passed_map(3).tensor, addr);
    EXPECT_EQ(passed_map(3).swizzle, cuda::api::TensorMapSwizzle::b128);
  }
  EXPECT_EQ(fake.count("cuTensorMapEncodeTiled"), 2u) << "one for each descriptor; then the address alone changes";
  EXPECT_EQ(fake.count("cuMemcpyHtoDAsync"), 0u);
  void* const odd[] = {tensor(0x1008), tensor(0x2000)};
  const auto refused = by_value->launch(Cuda{0, nullptr}, odd);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::argument_alignment);
  EXPECT_TRUE(says(refused.error(), "tensor `X` of kernel `twice`: the data pointer 0x1008 is not a multiple of 16 bytes"));
}

TEST_F(DescriptorTest, the_executor_gets_them_too) {
  std::vector<float> x(64 * 32 + 4, 1.5F), y(64 * 32, 0.0F);
  auto* const aligned = reinterpret_cast<float*>((reinterpret_cast<std::uintptr_t>(x.data()) + 15) / 16 * 16);
  void* const pointers[] = {aligned, y.data()};
  const std::size_t bytes[] = {y.size() * 4, y.size() * 4};
  for (const bool by_value : {false, true}) {
    const auto ran = described_image(64, by_value)->launch(default_cpu(), pointers, bytes);
    ASSERT_TRUE(ran) << render(ran.error());
  }
  void* const odd[] = {aligned + 1, y.data()};
  const auto refused = image->launch(default_cpu(), odd, bytes);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::argument_alignment);
  EXPECT_TRUE(says(refused.error(), "the TMA descriptor of tensor `X` of kernel `twice`: the data pointer 0x"));
}

TEST(Compiled, launches_on_a_gpu_without_the_heap) {
  FakeCuda& fake = fake_driver();
  fake.kernels["twice"].params = {{0, 8}, {8, 8}};
  const cuda::Device& device = *cuda::device(0).value();
  auto x = cuda::DeviceBuffer::make(device, 128).value();
  auto y = cuda::DeviceBuffer::make(device, 128).value();
  const auto kernel = compile(twice_module(), {.block = {32}}).value();
  ASSERT_TRUE(kernel.run(gpu(0), {x}, {y}));  // loads it
  fake.recording = false;
  const std::size_t before = heap::allocations;
  const bool ran = kernel.run(gpu(0), {x}, {y}).has_value();
  EXPECT_EQ(heap::allocations, before);
  fake.recording = true;
  EXPECT_TRUE(ran);
}

// The whole call of a C++ program: types, open dimensions, overlaps and the launch.
TEST(Compiled, fits_open_dimensions_without_the_heap) {
  FakeCuda& fake = fake_driver();
  fake.kernels["twice"].params = {{0, 8}, {8, 8}};
  const Tile open = Tile::make({"M", 32}, Type::f32).value();
  const auto kernel = compile(twice_module(), {.grid = dim("M"), .block = 32, .tiles = {open, open}}).value();
  auto* const x = reinterpret_cast<const float*>(std::uintptr_t{0x10000});
  auto* const y = reinterpret_cast<float*>(std::uintptr_t{0x20000});
  void* const stream = reinterpret_cast<void*>(std::uintptr_t{0x77});
  const auto run = [&] { return kernel.run(gpu(0, stream), {gpu_memory(x, 64)}, {shaped(gpu_memory(y, 64), {2, 32})}); };
  const auto first = run();
  ASSERT_TRUE(first) << render(first.error());
  EXPECT_EQ(fake.launches.back().config.grid_x, 2u);
  fake.recording = false;
  const std::size_t before = heap::allocations;
  const bool ran = run().has_value();
  EXPECT_EQ(heap::allocations, before);
  fake.recording = true;
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace ptx::launch
