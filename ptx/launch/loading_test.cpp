#include "ptx/launch/loading.hpp"

#include <gtest/gtest.h>

#include "tests/cuda/fake_ptxas.hpp"
#include "tests/launch/twice.hpp"

namespace ptx::launch {
namespace {

constexpr std::string_view spills =
    "cat <<END\n"
    "ptxas info    : Compiling entry function 'twice' for 'sm_90a'\n"
    "ptxas info    : Function properties for twice\n"
    "    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
    "ptxas info    : Used 255 registers\n"
    "END\n";

/// The module of a text, whose instructions have places in "twice.ptx".
check::Accepted placed() { return check::accept(text::parse(text::print(twice_module()), "twice.ptx").module).value(); }

/// A machine with two GPUs and a ptxas, neither of them real.
class LoadingTest : public ::testing::Test {
 protected:
  LoadingTest() { unsetenv("PYPTX_JIT"); }
  void launch(const KernelImage& image, int gpu = 0) {
    const auto ok = image.launch(Cuda{gpu, nullptr}, pointers);
    EXPECT_TRUE(ok) << render(ok.error());
  }
  /// A module of its own: its text is not in any cache, and it is loaded nowhere.
  static std::shared_ptr<const KernelImage> image(std::uint32_t threads = 32) { return twice_image(threads); }

  FakeCuda& fake = fake_driver();
  cuda::FakePtxas ptxas;
  void* const pointers[2] = {reinterpret_cast<void*>(std::uintptr_t{0x1100}), reinterpret_cast<void*>(std::uintptr_t{0x2200})};
};

TEST_F(LoadingTest, a_gpu_gets_the_cubin_of_ptxas) {
  const auto kernel = image();
  launch(*kernel);
  launch(*kernel, 1);
  EXPECT_EQ(fake.images, std::vector<std::string>{"cubin"}) << "one for both";
  EXPECT_EQ(ptxas.compiles(), 1u);
  EXPECT_TRUE(kernel->take_load_warnings().empty());
  launch(*image());  // another image of the same text, as another process would have
  EXPECT_EQ(ptxas.compiles(), 1u);
  EXPECT_EQ(fake.images.size(), 2u);
}

TEST_F(LoadingTest, other_launches_of_a_text_have_one_module) {
  auto kernel = twice_image();
  const auto wider =
      kernel->with_launch(LaunchSpec::make("twice", {.grid = {9, 1, 1}, .block = {32, 1, 1}}, 1, 1).value()).value();
  ASSERT_TRUE(kernel->prepare(0));
  ASSERT_TRUE(wider->prepare(0));
  EXPECT_EQ(fake.images.size(), 1u);
  kernel.reset();  // the other one still launches it
  EXPECT_TRUE(wider->prepared(0));
}

TEST_F(LoadingTest, the_driver_compiles_when_it_is_to) {
  const ScopedVariable driver("PYPTX_JIT", "driver");
  launch(*image());
  ASSERT_EQ(fake.images.size(), 1u);
  EXPECT_NE(fake.images[0].find(".entry twice"), std::string::npos);
  EXPECT_EQ(ptxas.compiles(), 0u);
}

TEST_F(LoadingTest, text_of_an_older_target_is_compiled_for_the_gpu) {
  auto older = KernelImage::from_text(".version 8.5\n.target sm_80\n", LaunchSpec::make("kernel", {}, 1, 1).value().serialise());
  const ScopedVariable forbidden("PYPTX_NO_COMPILE", "1");
  const auto refused = (*older)->prepare(0);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::compile_needed);
  EXPECT_TRUE(says(refused.error(), "kernel `kernel` would have to be compiled for `sm_90`"));
  EXPECT_TRUE(says(refused.error(), ptxas.cache()));
  const ScopedVariable allowed("PYPTX_NO_COMPILE", std::nullopt);
  EXPECT_TRUE((*older)->prepare(0)) << "a failure is not kept";
  EXPECT_EQ(ptxas.compiles(), 1u);
}

TEST_F(LoadingTest, a_target_that_the_gpu_does_not_have_is_refused_before_ptxas_runs) {
  auto other =
      KernelImage::from_text(".version 8.6\n.target sm_100a\n", LaunchSpec::make("kernel", {}, 1, 1).value().serialise());
  const Diagnostic error = (*other)->prepare(0).error();
  EXPECT_EQ(error.kind, Kind::wrong_device);
  EXPECT_TRUE(says(error, "kernel `kernel` targets `sm_100a` (architecture-specific")) << render(error);
  EXPECT_EQ(ptxas.compiles() + ptxas.versions(), 0u);
}

TEST_F(LoadingTest, warnings_are_given_once_for_an_image_and_again_from_the_cache) {
  ptxas.install("13.0", std::string(spills));
  for (int process = 0; process < 2; ++process) {
    check::Accepted accepted = placed();
    auto listing = std::make_shared<const ir::Listing>(text::list(accepted.module()));
    auto spec = LaunchSpec::make(accepted.module(), accepted.module().functions[0], {.block = {32, 1, 1}}, 1, 1).value();
    const auto kernel = KernelImage::make(std::move(accepted), std::move(listing), std::move(spec)).value();
    ASSERT_TRUE(kernel->prepare(0));
    ASSERT_TRUE(kernel->prepare(1));
    const Diagnostics warnings = kernel->take_load_warnings();
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_EQ(warnings[0].kind, Kind::register_spill);
    EXPECT_TRUE(says(warnings[0], "kernel `twice`"));
    EXPECT_TRUE(std::string_view(warnings[0].where.file).ends_with("twice.ptx")) << to_string(warnings[0].where);
    EXPECT_TRUE(kernel->take_load_warnings().empty());
  }
  EXPECT_EQ(ptxas.compiles(), 1u);
  const ScopedVariable strict("PYPTX_STRICT", "1");
  EXPECT_EQ(image()->prepare(0).error().kind, Kind::register_spill);
}

TEST_F(LoadingTest, a_serialised_wgmma_is_said_once_and_not_for_each_shape) {
  ptxas.install(
      "13.0",
      "cat <<END\n"
      "ptxas info    : (C7515) Potential Performance Loss: wgmma.mma_async instructions are serialized due to something in the "
      "function 'twice'\n"
      "END\n");
  std::size_t said = 0;
  for (const std::uint32_t threads : {32u, 64u, 128u, 256u}) {  // each is an image of its own
    const auto kernel = image(threads);
    ASSERT_TRUE(kernel->prepare(0));
    for (const Diagnostic& warning : kernel->take_load_warnings()) said += warning.kind == Kind::wgmma_pipeline;
  }
  EXPECT_EQ(said, 1u);
  const ScopedVariable strict("PYPTX_STRICT", "1");
  for (const std::uint32_t threads : {32u, 64u}) EXPECT_EQ(image(threads)->prepare(0).error().kind, Kind::wgmma_pipeline);
}

TEST_F(LoadingTest, a_driver_that_does_not_take_the_cubin_compiles_the_text) {
  fake.refuse_cubins = true;
  const auto kernel = image();
  launch(*kernel);
  EXPECT_EQ(fake.images.size(), 2u);
  const Diagnostics warnings = kernel->take_load_warnings();
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(says(warnings[0], "is compiled by the driver, since it does not load what ptxas made")) << render(warnings[0]);
  const ScopedVariable forced("PYPTX_JIT", "ptxas");
  EXPECT_EQ(image()->prepare(0).error().kind, Kind::compile_error);
}

TEST_F(LoadingTest, switches_that_do_not_fit_fail_the_launch) {
  const ScopedVariable jit("PYPTX_JIT", "magic");
  const auto failed = image()->launch(Cuda{0, nullptr}, pointers);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, Kind::bad_setting);
}

TEST_F(LoadingTest, the_text_for_compilers_knows_the_authors_lines) {
  const auto accepted = placed();
  const CompilerText text = CompilerText::of(accepted);
  EXPECT_NE(text.text.find(".loc"), std::string::npos);
  const std::size_t at = text.text.find("mul.wide.u32");
  ASSERT_NE(at, std::string::npos);
  const auto line =
      1 + static_cast<std::uint32_t>(std::count(text.text.begin(), text.text.begin() + static_cast<long>(at), '\n'));
  EXPECT_TRUE(text.where(line).known());
  EXPECT_FALSE(text.where(1).known());
  EXPECT_FALSE(text.where(100000).known());
  const cuda::CompileSettings settings;
  EXPECT_EQ(compile_for(text, "twice", "sm_80", settings).error().kind, Kind::wrong_device);
  EXPECT_EQ(compile_for(text, "twice", "sm_x", settings).error().kind, Kind::unknown_target);
}

// -- what ptxas itself says

class RealPtxasTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const auto found = cuda::find_tool(cuda::Tool::ptxas); !found) GTEST_SKIP() << render(found.error());
  }
  static Expected<cuda::CompiledCode> compiled(const std::string& text, const std::string& target = "sm_90a") {
    text::Parsed parsed = text::parse(text, "author.ptx");
    EXPECT_TRUE(parsed.findings.empty());
    return compile_for(CompilerText::of(check::accept(std::move(parsed.module)).value()), "kernel", target, {});
  }
  /// A kernel of these instructions.
  static std::string kernel(const std::string& body, const std::string& target = "sm_90a", const std::string& directives = "") {
    return cat(".version 8.5\n.target ", target, "\n.address_size 64\n.visible .entry kernel(.param .u64 out)\n", directives,
               "{\n", body, "  ret;\n}\n");
  }
};

TEST_F(RealPtxasTest, text_is_compiled_for_what_it_allows) {
  const std::string text = kernel("", "sm_80");
  for (const char* target : {"sm_80", "sm_90"}) {
    const auto code = compiled(text, target);
    ASSERT_TRUE(code) << render(code.error());
    EXPECT_TRUE(
        code->cubin.starts_with("\x7f"
                                "ELF"));
    EXPECT_TRUE(code->warnings.empty());
    ASSERT_EQ(code->report.functions.size(), 1u);
    EXPECT_EQ(code->report.functions[0].target, target);
  }
}

TEST_F(RealPtxasTest, a_dropped_setmaxnreg_stands_at_its_line) {
  const auto code = compiled(kernel("  setmaxnreg.inc.sync.aligned.u32 160;\n"));
  ASSERT_TRUE(code) << render(code.error());
  ASSERT_EQ(code->warnings.size(), 1u) << code->log;
  EXPECT_EQ(code->warnings[0].kind, Kind::setmaxnreg_ignored);
  EXPECT_EQ(code->warnings[0].where.file, std::string("author.ptx"));
  EXPECT_EQ(code->warnings[0].where.line, 6u);
}

TEST_F(RealPtxasTest, spills_are_found) {
  std::string body = "  .reg .b64 %out;\n  .reg .f32 %f<200>;\n  ld.param.u64 %out, [out];\n";
  for (int i = 0; i < 200; ++i) body += cat("  ld.volatile.global.f32 %f", i, ", [%out+", 4 * i, "];\n");
  for (int i = 0; i < 200; ++i) body += cat("  st.volatile.global.f32 [%out+", 4 * (199 - i), "], %f", i, ";\n");
  const auto code = compiled(kernel(body, "sm_90a", ".maxnreg 32\n"));
  ASSERT_TRUE(code) << render(code.error());
  ASSERT_EQ(code->warnings.size(), 1u) << code->log;
  EXPECT_EQ(code->warnings[0].kind, Kind::register_spill);
  EXPECT_EQ(code->warnings[0].where.file, std::string("author.ptx"));
}

}  // namespace
}  // namespace ptx::launch
