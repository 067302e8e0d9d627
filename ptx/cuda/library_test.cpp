#include "ptx/cuda/library.hpp"

#include <thread>

#include "tests/cuda/fake_driver.hpp"

namespace ptx::cuda {
namespace {

constexpr const char* text_90a = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel() { add.f32 %f1; }\n";

class LibraryTest : public FakeDriverTest {
 protected:
  std::unique_ptr<LoadedKernel> make(KernelSource source) {
    auto made = LoadedKernel::make(*driver, std::move(source));
    EXPECT_TRUE(made) << render(made.error());
    return made ? std::move(*made) : nullptr;
  }
  KernelSource source() const { return {.image = text_90a, .entry = "kernel"}; }
  /// The diagnostic of a prepare() that must fail.
  Diagnostic refused(KernelSource what) {
    auto kernel = make(std::move(what));
    auto function = kernel->prepare(*device);
    EXPECT_FALSE(function);
    EXPECT_EQ(kernel->loaded(0), nullptr);
    return function ? Diagnostic{} : function.error();
  }
};

TEST_F(LibraryTest, loads_once_and_finds_a_function_on_each_gpu) {
  const auto kernel = make(source());
  EXPECT_TRUE(fake.calls.empty());  // made without the driver
  EXPECT_EQ(kernel->loaded(0), nullptr);
  const auto first = kernel->prepare(*device);
  ASSERT_TRUE(first) << render(first.error());
  EXPECT_EQ(kernel->loaded(0), *first);
  EXPECT_EQ(kernel->loaded(1), nullptr);
  const auto other = kernel->prepare(**driver->device(1));
  ASSERT_TRUE(other);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(fake.images, std::vector<std::string>{text_90a});
  EXPECT_EQ(fake.count("cuKernelGetFunction"), 2u);
  EXPECT_EQ(fake.count("cuFuncLoad"), 2u);
  const std::size_t calls = fake.calls.size();
  EXPECT_EQ(*kernel->prepare(*device), *first);
  EXPECT_EQ(fake.calls.size(), calls);  // the hot path asks the driver nothing
  EXPECT_EQ(fake.count("cuCtxPushCurrent"), fake.count("cuCtxPopCurrent"));
}

TEST_F(LibraryTest, threads_that_come_at_once_load_once) {
  const auto kernel = make(source());
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { EXPECT_TRUE(kernel->prepare(**driver->device(i % 2))); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 1u);
  EXPECT_EQ(fake.count("cuKernelGetFunction"), 2u);
}

TEST_F(LibraryTest, the_target_is_checked_before_anything_is_loaded) {
  const Diagnostic error = refused({.image = ".version 8.6\n.target sm_100a\n", .entry = "kernel"});
  EXPECT_EQ(error.kind, Kind::wrong_device);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), 0u);
  const auto none = LoadedKernel::make(*driver, {.image = "not PTX", .entry = "kernel"});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Kind::unknown_target);
}

TEST_F(LibraryTest, a_cubin_takes_its_target_from_the_caller) {
  const std::string cubin(
      "\x7f"
      "ELF\0\0rest",
      10);
  const auto kernel = make({.image = cubin, .entry = "kernel", .target = "sm_90a"});
  EXPECT_EQ(kernel->image_kind(), ImageKind::cubin);
  EXPECT_TRUE(kernel->prepare(*device));
  EXPECT_EQ(fake.images, std::vector<std::string>{"cubin"});
  EXPECT_EQ(refused({.image = cubin, .entry = "kernel", .target = "sm_80"}).kind, Kind::wrong_device);
}

TEST_F(LibraryTest, the_compilers_log_is_in_the_error_whenever_it_compiles) {
  for (const bool lazy : {true, false}) {
    fake.lazy = lazy;
    fake.jit_log =
        "ptxas application ptx input, line 4; error   : Arguments mismatch for instruction 'add'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n";
    const Diagnostic error = refused(source());
    EXPECT_EQ(error.kind, Kind::compile_error);
    EXPECT_EQ(error.message, "the driver's compiler refused the PTX: Arguments mismatch for instruction 'add'");
    EXPECT_TRUE(says(error, "ptx line 4: `.visible .entry kernel() { add.f32 %f1; }`: Arguments mismatch")) << render(error);
    EXPECT_TRUE(says(error, "CUDA_ERROR_INVALID_PTX (218)"));
  }
}

TEST_F(LibraryTest, a_log_longer_than_its_buffer_is_cut_not_overrun) {
  fake.jit_log = "ptxas application ptx input, line 4; error   : " + std::string(100000, 'x');
  const Diagnostic error = refused(source());
  EXPECT_GT(error.message.size(), 10000u);
  EXPECT_LT(error.message.size(), 16384u);
}

TEST_F(LibraryTest, a_log_written_after_the_kernel_object_is_gone_hits_no_freed_memory) {
  // The library stays loaded, and the driver may compile for another GPU later: AddressSanitizer watches this one.
  ASSERT_TRUE(make(source())->prepare(*device));
  EXPECT_EQ(fake.live_libraries, 1);
  EXPECT_EQ(fake.write_logs("late\n"), 1u);
}

TEST_F(LibraryTest, a_failed_compile_may_be_tried_again) {
  fake.jit_log = "ptxas fatal   : out of luck\n";
  const auto kernel = make(source());
  EXPECT_FALSE(kernel->prepare(*device));
  fake.jit_log.clear();
  EXPECT_TRUE(kernel->prepare(*device));
}

TEST_F(LibraryTest, text_newer_than_the_driver_says_which_driver_this_is) {
  fake.fail["cuLibraryLoadData"] = api::Result::unsupported_ptx_version;
  const Diagnostic error = refused(source());
  EXPECT_EQ(error.kind, Kind::compile_error);
  EXPECT_TRUE(says(error, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)")) << render(error);
  EXPECT_EQ(error.message,
            "kernel `kernel` cannot be loaded: PTX .version 8.0 needs the driver of CUDA 12.0 (this one is of CUDA 13.0)");
  KernelSource with = source();
  with.image.replace(with.image.find("8.0"), 3, "99.9");
  with.no_cubin = Diagnostic{.kind = Kind::no_tool, .message = "`ptxas` is not found"};
  EXPECT_TRUE(says(refused(with), "PTX .version 99.9 needs a newer driver (this one is of CUDA 13.0) and no ptxas was found"));
  EXPECT_TRUE(says(refused(with), "hint: `pip install pyptx[tools]`"));
  with.no_cubin = Diagnostic{.kind = Kind::compile_error, .message = "ptxas refused the PTX: Unsupported .version"};
  EXPECT_TRUE(says(refused(with), "and ptxas did not compile it")) << render(refused(with));
}

TEST_F(LibraryTest, a_failure_that_is_no_compile_error_stays_one_of_the_driver) {
  fake.fail["cuLibraryLoadData"] = api::Result::out_of_memory;
  const Diagnostic error = refused(source());
  EXPECT_EQ(error.kind, Kind::driver_error);
  EXPECT_TRUE(says(error, "kernel `kernel` cannot be loaded: `cuLibraryLoadData` failed: CUDA_ERROR_OUT_OF_MEMORY"));
}

TEST_F(LibraryTest, an_entry_that_is_not_there_is_named) {
  const Diagnostic error = refused({.image = text_90a, .entry = "colonel"});
  EXPECT_EQ(error.kind, Kind::unknown_kernel);
  EXPECT_EQ(error.message, "the code has no kernel `colonel`");
}

TEST_F(LibraryTest, the_parameters_are_compared_with_the_compiled_kernels) {
  fake.kernels["kernel"].params = {{0, 8}, {8, 4}, {64, 128}};
  KernelSource with = source();
  with.param_bytes = std::vector<std::size_t>{8, 4, 128};
  EXPECT_TRUE(make(with)->prepare(*device));

  with.param_bytes = std::vector<std::size_t>{8, 8, 128};
  Diagnostic error = refused(with);
  EXPECT_EQ(error.kind, Kind::param_layout);
  EXPECT_EQ(error.message, "parameter 1 of kernel `kernel` is 4 bytes in the compiled code; the launch packs 8");
  with.param_bytes = std::vector<std::size_t>{8};
  EXPECT_EQ(refused(with).message, "kernel `kernel` takes 3 parameters; the launch packs 1");
  with.param_bytes = std::vector<std::size_t>{8, 4, 128, 4};
  EXPECT_EQ(refused(with).message, "kernel `kernel` takes 3 parameters; the launch packs 4");
  fake.kernels["kernel"].params = {{0, 8}};
  EXPECT_EQ(refused(with).message, "kernel `kernel` takes 1 parameter; the launch packs 4");
  fake.kernels["kernel"].params = {};
  with.param_bytes.emplace();
  EXPECT_TRUE(make(with)->prepare(*device));
}

TEST_F(LibraryTest, much_shared_memory_is_opted_into) {
  const auto opted = [&](const LoadedKernel& kernel) {
    const auto at = fake.function_attributes.find({kernel.loaded(0), api::FunctionAttribute::max_dynamic_shared_size_bytes});
    return at == fake.function_attributes.end() ? -1 : at->second;
  };
  KernelSource with = source();
  with.dynamic_smem_bytes = 48 * 1024;
  auto kernel = make(with);
  ASSERT_TRUE(kernel->prepare(*device));
  EXPECT_EQ(opted(*kernel), -1);  // what every kernel may have
  fake.kernels["kernel"].attributes[api::FunctionAttribute::shared_size_bytes] = 16;
  kernel = make(with);
  ASSERT_TRUE(kernel->prepare(*device));
  EXPECT_EQ(opted(*kernel), 48 * 1024);  // static memory counts
  with.dynamic_smem_bytes = 227 * 1024;
  Diagnostic error = refused(with);
  EXPECT_EQ(error.kind, Kind::launch_config);
  EXPECT_TRUE(says(error, "needs 232464 bytes of shared memory (16 static, 232448 dynamic)")) << render(error);
  EXPECT_TRUE(says(error, "has at most 232448"));
  const std::size_t loads = fake.count("cuLibraryLoadData");
  with.dynamic_smem_bytes = 240 * 1024;
  EXPECT_EQ(refused(with).kind, Kind::launch_config);
  EXPECT_EQ(fake.count("cuLibraryLoadData"), loads);  // seen before loading
}

TEST_F(LibraryTest, large_clusters_are_opted_into) {
  KernelSource with = source();
  with.non_portable_cluster = true;
  const auto kernel = make(with);
  ASSERT_TRUE(kernel->prepare(*device));
  EXPECT_EQ((fake.function_attributes.at({kernel->loaded(0), api::FunctionAttribute::non_portable_cluster_size_allowed})), 1);
}

TEST_F(LibraryTest, loads_while_a_stream_is_captured) {
  const auto kernel = make(source());
  fake.capture = api::CaptureStatus::active;
  const auto function = kernel->prepare(*device);
  ASSERT_TRUE(function) << render(function.error());
  EXPECT_EQ(fake.count("cuThreadExchangeStreamCaptureMode"), 2u) << "the thread's own mode is back";
  ASSERT_TRUE(kernel->unload());
  EXPECT_EQ(fake.live_libraries, 0);
}

TEST_F(LibraryTest, says_so_where_a_capture_is_in_the_way_after_all) {
  const auto kernel = make(source());
  fake.fail = {{"cuLibraryLoadData", api::Result::stream_capture_unsupported}};
  const auto refused = kernel->prepare(*device);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::capture_unprepared);
  EXPECT_TRUE(says(refused.error(), "call `kernel.prepare(device)`")) << render(refused.error());
  fake.fail.clear();
  EXPECT_TRUE(kernel->prepare(*device));
}

TEST_F(LibraryTest, what_is_retired_is_unloaded_later) {
  (void)collect_retired();
  auto kernel = make(source());
  ASSERT_TRUE(kernel->prepare(*device));
  retire(std::move(kernel));
  retire(nullptr);
  EXPECT_EQ(fake.live_libraries, 1);
  EXPECT_EQ(collect_retired(), 1u);
  EXPECT_EQ(fake.live_libraries, 0);
  EXPECT_EQ(collect_retired(), 0u);
}

TEST_F(LibraryTest, an_older_driver_goes_without_the_newer_calls) {
  fake.missing = {"cuFuncLoad", "cuKernelGetParamInfo"};
  load();
  KernelSource with = source();
  with.param_bytes = std::vector<std::size_t>{8, 8};
  EXPECT_TRUE(make(with)->prepare(*device));
}

TEST_F(LibraryTest, stays_loaded_until_it_is_unloaded) {
  ASSERT_TRUE(make(source())->prepare(*device));
  EXPECT_EQ(fake.live_libraries, 1);
  const auto kernel = make(source());
  EXPECT_TRUE(kernel->unload());  // nothing yet
  ASSERT_TRUE(kernel->prepare(*device));
  EXPECT_EQ(fake.live_libraries, 2);
  EXPECT_TRUE(kernel->unload());
  EXPECT_EQ(fake.live_libraries, 1);
  EXPECT_EQ(kernel->loaded(0), nullptr);
  EXPECT_TRUE(kernel->prepare(*device));  // and back
}

TEST_F(LibraryTest, tells_what_the_compiled_kernel_needs) {
  fake.kernels["kernel"].attributes = {{api::FunctionAttribute::max_threads_per_block, 384},
                                       {api::FunctionAttribute::shared_size_bytes, 1024},
                                       {api::FunctionAttribute::local_size_bytes, 16},
                                       {api::FunctionAttribute::num_regs, 168}};
  const auto facts = make(source())->facts(*device);
  ASSERT_TRUE(facts) << render(facts.error());
  EXPECT_EQ(facts->max_threads_per_block, 384u);
  EXPECT_EQ(facts->static_smem_bytes, 1024u);
  EXPECT_EQ(facts->local_bytes, 16u);
  EXPECT_EQ(facts->registers, 168u);
}

}  // namespace
}  // namespace ptx::cuda
