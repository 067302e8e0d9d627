#include "ptx/cuda/compile.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "ptx/cuda/files.hpp"
#include "tests/cuda/fake_ptxas.hpp"

namespace ptx::cuda {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kernel_text =
    ".version 8.5\n.target sm_90a\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 out)\n{\n  setmaxnreg.inc.sync.aligned.u32 160;\n  wgmma.mma_async.sync.aligned;\n"
    "  ret;\n}\n";
constexpr std::string_view loud =
    "cat <<END\n"
    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.\n"
    "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to the presence of "
    "calls "
    "in the function 'kernel'\n"
    "ptxas info    : (C7519) warpgroup.arrive is injected in around line 7 by compiler to allow use of registers in GMMA in "
    "function 'kernel'\n"
    "ptxas kernel.ptx, line 8; warning : something else\n"
    "ptxas info    : Compiling entry function 'kernel' for 'sm_90a'\n"
    "ptxas info    : Function properties for kernel\n"
    "    48 bytes stack frame, 128 bytes spill stores, 132 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 1 barriers\n"
    "END\n";
constexpr std::string_view refuses = "echo \"ptxas kernel.ptx, line 6; error   : I refuse\"; exit 255";
constexpr std::string_view too_old =
    "echo \"ptxas k.ptx, line 1; fatal   : Unsupported .version 8.5; current version is '7.8'\"; exit 255";

bool says(const Diagnostic& error, std::string_view what) { return render(error).find(what) != std::string::npos; }

class CompileTest : public ::testing::Test {
 protected:
  CompileRequest request(std::string_view of = kernel_text, std::string_view target = "sm_90a") const {
    return {.text = of, .entry = "kernel", .target = target, .where = [](std::uint32_t line) {
              return line >= 6 ? SourceLocation{"author.py", line * 10} : SourceLocation{};
            }};
  }
  /// As a load does it: by the environment.
  Expected<CompiledCode> run(const CompileRequest& what) const {
    auto settings = CompileSettings::from_environment();
    if (!settings) return Unexpected{std::move(settings).error()};
    return compile(what, *settings);
  }
  Expected<CompiledCode> run() const { return run(request()); }
  Diagnostic refused() const {
    const auto code = run();
    EXPECT_FALSE(code);
    return code ? Diagnostic{} : code.error();
  }
  FakePtxas ptxas;
};

TEST_F(CompileTest, compiles_once_and_then_finds_it) {
  const auto first = run();
  ASSERT_TRUE(first) << render(first.error());
  EXPECT_EQ(first->cubin,
            "\x7f"
            "ELF sm_90a");
  EXPECT_FALSE(first->from_cache);
  const auto second = run();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->cubin, first->cubin);
  EXPECT_TRUE(second->from_cache);
  EXPECT_EQ(ptxas.compiles(), 1u);
  EXPECT_EQ(ptxas.versions(), 1u);
}

TEST_F(CompileTest, another_text_target_or_ptxas_is_another_entry) {
  ASSERT_TRUE(run());
  const std::string other = cat(kernel_text, "// more\n");
  EXPECT_FALSE(run(request(other))->from_cache);
  EXPECT_EQ(run(request(kernel_text, "sm_90"))->cubin,
            "\x7f"
            "ELF sm_90");
  EXPECT_EQ(ptxas.compiles(), 3u);
  ptxas.install("13.1");
  EXPECT_FALSE(run()->from_cache);
  EXPECT_EQ(ptxas.compiles(), 4u);
  EXPECT_NE(cache_key("a", "b", "c"), cache_key("ab", "", "c"));
}

TEST_F(CompileTest, the_newest_that_the_driver_is_for_comes_first) {
  const auto other = [&](const char* folder, const char* version) {
    const fs::path path = ptxas.folder() / folder / "ptxas";
    ptxas.script(path, version, cat("printf '\\177ELF ", version, "' > \"$out\"; exit 0"));
    return path.string();
  };
  CompileSettings settings;
  settings.ptxas = {other("a", "12.8"), other("b", "13.0"), other("c", "14.1"), other("d", "12.9")};
  const auto made_by = [&](int driver) {
    CompileRequest asked = request();
    asked.driver_version = driver;
    const auto code = compile(asked, settings);
    return code ? code->cubin.substr(5) : render(code.error());
  };
  EXPECT_EQ(made_by(0), "14.1");
  EXPECT_EQ(made_by(14000), "14.1");
  EXPECT_EQ(made_by(13000), "13.0");
  EXPECT_EQ(made_by(12040), "12.9");
  EXPECT_EQ(made_by(11080), "14.1") << "the driver is for none of them";
}

TEST_F(CompileTest, the_caches_limit_is_a_setting) {
  for (const char* wrong : {"0", "-1", "much", "1.5", "99999999999"}) {
    const ScopedVariable set("PYPTX_CACHE_MIB", wrong);
    EXPECT_EQ(refused().kind, Kind::bad_setting) << wrong;
  }
  const ScopedVariable set("PYPTX_CACHE_MIB", "64");
  EXPECT_TRUE(run());
}

TEST_F(CompileTest, a_damaged_entry_is_compiled_again) {
  ASSERT_TRUE(run());
  std::size_t found = 0;
  for (const auto& entry : fs::recursive_directory_iterator(ptxas.cache())) {
    if (entry.path().extension() != ".cubin") continue;
    ++found;
    fs::resize_file(entry.path(), fs::file_size(entry.path()) - 1);
  }
  EXPECT_EQ(found, 1u);
  EXPECT_FALSE(run()->from_cache);
  EXPECT_TRUE(run()->from_cache);
  EXPECT_EQ(ptxas.compiles(), 2u);
}

TEST_F(CompileTest, threads_may_compile_the_same) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      EXPECT_EQ(run()->cubin,
                "\x7f"
                "ELF sm_90a");
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(run()->from_cache);
}

TEST_F(CompileTest, without_a_cache_it_still_compiles) {
  {
    const ScopedVariable off("PYPTX_CACHE_DIR", "off");
    ASSERT_TRUE(run());
    EXPECT_TRUE(run()->warnings.empty());
    EXPECT_EQ(ptxas.compiles(), 2u);
    EXPECT_EQ(ptxas.versions(), 1u);
  }
  const ScopedVariable broken("PYPTX_CACHE_DIR", ptxas.path().string() + "/cache");
  std::size_t said = 0;
  for (int i = 0; i < 3; ++i) {
    const auto code = run();
    ASSERT_TRUE(code) << render(code.error());
    for (const Diagnostic& warning : code->warnings) said += warning.kind == Kind::cache_unusable;
  }
  EXPECT_LE(said, 1u) << "once in a process";
}

TEST_F(CompileTest, warnings_stand_at_the_authors_lines_and_come_from_the_cache_too) {
  ptxas.install("13.0", std::string(loud));
  for (const bool cached : {false, true}) {
    const auto code = run();
    ASSERT_TRUE(code) << render(code.error());
    EXPECT_EQ(code->from_cache, cached);
    ASSERT_EQ(code->warnings.size(), 4u);
    EXPECT_EQ(code->warnings[0].kind, Kind::setmaxnreg_ignored);
    EXPECT_EQ(code->warnings[0].severity, Severity::warning);
    EXPECT_EQ(code->warnings[0].message,
              "ptxas on kernel `kernel`: 'setmaxnreg' ignored; unable to determine register count at entry. (C7508)");
    EXPECT_EQ(code->warnings[0].where, (SourceLocation{"author.py", 60}));
    EXPECT_TRUE(says(code->warnings[0], "ptx line 6: `setmaxnreg.inc.sync.aligned.u32 160;`"));
    EXPECT_EQ(code->warnings[1].kind, Kind::wgmma_pipeline);
    EXPECT_EQ(code->warnings[1].where, (SourceLocation{"author.py", 70}));
    EXPECT_EQ(code->warnings[2].kind, Kind::compiler_warning);
    EXPECT_EQ(code->warnings[2].where, (SourceLocation{"author.py", 80}));
    EXPECT_EQ(code->warnings[3].kind, Kind::register_spill);
    EXPECT_TRUE(says(code->warnings[3], "stores 128 bytes and loads 132 bytes")) << render(code->warnings[3]);
    EXPECT_EQ(code->warnings[3].where, (SourceLocation{"author.py", 60})) << "the first line of the kernel that has a place";
  }
  EXPECT_EQ(ptxas.compiles(), 1u);
}

TEST_F(CompileTest, strict_makes_warnings_errors) {
  ptxas.install("13.0", std::string(loud));
  const ScopedVariable strict("PYPTX_STRICT", "1");
  for (int i = 0; i < 2; ++i) {
    const Diagnostic error = refused();
    EXPECT_EQ(error.kind, Kind::setmaxnreg_ignored);
    EXPECT_EQ(error.severity, Severity::error);
    EXPECT_TRUE(says(error, "also: ptxas on kernel `kernel`: there are not enough registers")) << render(error);
    EXPECT_TRUE(says(error, "PYPTX_STRICT=1"));
  }
  EXPECT_EQ(ptxas.compiles(), 1u);
}

TEST_F(CompileTest, a_refusal_is_an_error_with_the_authors_line) {
  ptxas.install("13.0", std::string(refuses));
  const Diagnostic error = refused();
  EXPECT_EQ(error.kind, Kind::compile_error);
  EXPECT_EQ(error.where, (SourceLocation{"author.py", 60}));
  EXPECT_TRUE(says(error, "I refuse"));
  EXPECT_EQ(refused().kind, Kind::compile_error);
  EXPECT_EQ(ptxas.compiles(), 2u) << "a refusal is not kept";
  ptxas.install("13.0", "kill -SEGV $$");
  EXPECT_EQ(refused().kind, Kind::tool_failed);
}

TEST_F(CompileTest, no_compile_takes_what_is_there_and_names_what_is_not) {
  const ScopedVariable set("PYPTX_NO_COMPILE", "1");
  const Diagnostic error = refused();
  EXPECT_EQ(error.kind, Kind::compile_needed);
  EXPECT_EQ(error.message, "kernel `kernel` would have to be compiled for `sm_90a`, and PYPTX_NO_COMPILE=1 forbids it");
  EXPECT_TRUE(says(error, cat("the cache is ", ptxas.cache()))) << render(error);
  {
    const ScopedVariable allowed("PYPTX_NO_COMPILE", "0");
    ASSERT_TRUE(run());
  }
  EXPECT_TRUE(run()->from_cache);
  ptxas.install("13.1");
  EXPECT_TRUE(run()->from_cache) << "another ptxas's code is better than none";
  EXPECT_EQ(ptxas.compiles(), 1u);
  const ScopedVariable driver("PYPTX_JIT", "driver");
  EXPECT_EQ(refused().kind, Kind::compile_needed);
  const ScopedVariable off("PYPTX_CACHE_DIR", "off");
  EXPECT_TRUE(says(refused(), "the cache is off"));
}

TEST_F(CompileTest, switches_name_what_fits) {
  {
    const ScopedVariable set("PYPTX_JIT", "nvcc");
    EXPECT_EQ(refused().kind, Kind::bad_setting);
    EXPECT_EQ(refused().message, "PYPTX_JIT is `nvcc`; what fits is `ptxas` or `driver`");
  }
  for (const char* name : {"PYPTX_NO_COMPILE", "PYPTX_STRICT"}) {
    const ScopedVariable set(name, "yes");
    EXPECT_EQ(refused().message, cat(name, " is `yes`; what fits is `1` or `0`"));
  }
  const ScopedVariable set("PYPTX_PTXAS", "/not/there");
  EXPECT_EQ(refused().kind, Kind::no_tool) << "what is named is not passed over";
}

TEST_F(CompileTest, the_driver_is_asked_when_it_is_wanted) {
  const ScopedVariable set("PYPTX_JIT", "driver");
  const auto code = run();
  ASSERT_TRUE(code);
  EXPECT_TRUE(code->cubin.empty());
  EXPECT_FALSE(code->no_cubin);
  EXPECT_EQ(ptxas.compiles(), 0u);
}

TEST_F(CompileTest, a_ptxas_that_is_too_old_gives_way_and_is_not_asked_again) {
  ptxas.install("11.8", std::string(too_old));
  {
    const auto code = run();
    ASSERT_TRUE(code) << render(code.error());
    EXPECT_TRUE(code->cubin.empty()) << "the driver compiles";
    EXPECT_EQ(code->no_cubin->kind, Kind::compile_error);
    EXPECT_EQ(run()->no_cubin->kind, Kind::compile_error);
    EXPECT_EQ(ptxas.compiles(), 1u);
    const ScopedVariable forced("PYPTX_JIT", "ptxas");
    EXPECT_TRUE(says(refused(), "Unsupported .version 8.5")) << render(refused());
    EXPECT_EQ(ptxas.compiles(), 1u);
  }
  // With a newer one behind it.
  const ScopedVariable any("PYPTX_PTXAS", std::nullopt);
  const fs::path site = ptxas.folder() / "site";
  ptxas.script(site / "nvidia/cu13/bin/ptxas", "99.7", std::string(too_old));  // newer than any that this machine has
  set_tool_roots({site.string()});
  EXPECT_EQ(tool_roots(), std::vector<std::string>{site.string()});
  ptxas.install("98.8");
  EXPECT_EQ(run()->cubin,
            "\x7f"
            "ELF sm_90a");
  EXPECT_EQ(ptxas.compiles(), 3u);
  EXPECT_TRUE(run()->from_cache);
  EXPECT_EQ(ptxas.compiles(), 3u) << "a warm cache starts no program";
  // A driver's own major version goes first.
  ptxas.script(site / "nvidia/cu13/bin/ptxas", "99.0", "printf '\\177ELF of 13' > \"$out\"; exit 0");
  CompileRequest older_driver = request();
  older_driver.driver_version = 98080;
  EXPECT_EQ(run(older_driver)->cubin,
            "\x7f"
            "ELF sm_90a");
  older_driver.driver_version = 99000;
  EXPECT_EQ(run(older_driver)->cubin,
            "\x7f"
            "ELF of 13");
  set_tool_roots({});
}

TEST_F(CompileTest, without_ptxas_the_driver_compiles_unless_the_cache_has_it) {
  CompileSettings settings = CompileSettings::from_environment().value();
  settings.ptxas.emplace();
  auto code = compile(request(), settings);
  ASSERT_TRUE(code) << render(code.error());
  EXPECT_TRUE(code->cubin.empty());
  EXPECT_EQ(code->no_cubin->kind, Kind::no_tool);
  settings.jit = Jit::ptxas;
  EXPECT_EQ(compile(request(), settings).error().kind, Kind::no_tool);
  ASSERT_TRUE(run());
  EXPECT_TRUE(compile(request(), settings)->from_cache);
}

TEST_F(CompileTest, a_full_disk_leaves_it_to_the_driver) {
  const ScopedVariable gone("TMPDIR", (ptxas.folder() / "not-there").string());
  const auto code = run();
  ASSERT_TRUE(code) << render(code.error());
  EXPECT_TRUE(code->cubin.empty());
  ASSERT_EQ(code->warnings.size(), 1u);
  EXPECT_TRUE(says(code->warnings[0], "is compiled by the driver, since ptxas cannot run: no temporary folder"));
  const ScopedVariable forced("PYPTX_JIT", "ptxas");
  EXPECT_EQ(refused().kind, Kind::file_error);
}

TEST_F(CompileTest, versions_of_ptx_have_their_cuda) {
  EXPECT_EQ(cuda_of_ptx(9, 0), "13.0");
  EXPECT_EQ(cuda_of_ptx(8, 8), "12.9");
  EXPECT_EQ(cuda_of_ptx(8, 6), "12.7");
  EXPECT_EQ(cuda_of_ptx(8, 4), "12.4");
  EXPECT_EQ(cuda_of_ptx(7, 8), "11.8");
  EXPECT_EQ(cuda_of_ptx(6, 5), "10.2");
  EXPECT_EQ(cuda_of_ptx(6, 6), "");
  EXPECT_EQ(cuda_of_ptx(99, 0), "");
}

}  // namespace
}  // namespace ptx::cuda
