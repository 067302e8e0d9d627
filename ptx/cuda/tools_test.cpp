#include "ptx/cuda/tools.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "ptx/cuda/disk_cache.hpp"
#include "ptx/cuda/subprocess.hpp"
#include "tests/support/variables.hpp"

namespace ptx::cuda {
namespace {

namespace fs = std::filesystem;

/// Gives each test a folder of its own for made-up tools, and its own folder for temporary files.
class ToolsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(temporary);
    no_ptxas.emplace("PYPTX_PTXAS", std::nullopt);
    no_nvdisasm.emplace("PYPTX_NVDISASM", std::nullopt);
    no_cuobjdump.emplace("PYPTX_CUOBJDUMP", std::nullopt);
    temporary_variable.emplace("TMPDIR", temporary.string());
    cache_variable.emplace("PYPTX_CACHE_DIR", "off");
  }
  void TearDown() override { EXPECT_TRUE(fs::is_empty(temporary)) << "a temporary folder was left behind"; }

  /// A shell script as a tool, below a site-packages folder `root`. Its output is its last argument but one.
  std::string script(const fs::path& path, std::string_view body) {
    fs::create_directories(path.parent_path());
    EXPECT_TRUE(write_file(path.string(), cat("#!/bin/sh\n", body, "\n")));
    EXPECT_EQ(chmod(path.c_str(), 0700), 0);
    return path.string();
  }
  fs::path root(std::string_view name) const { return fs::path(own->file(name)); }

  Expected<TemporaryFolder> own = TemporaryFolder::make();
  fs::path temporary = root("tmp");
  std::optional<ScopedVariable> no_ptxas, no_nvdisasm, no_cuobjdump, temporary_variable, cache_variable;
};

constexpr std::string_view good_text =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry store(.param .u64 out)\n{\n"
    "  .reg .b64 %rd<3>;\n  .shared .align 16 .b8 staging[512];\n"
    "  ld.param.u64 %rd1, [out];\n  mov.u64 %rd2, 7;\n  st.global.u64 [%rd1], %rd2;\n  ret;\n}\n";

// --- where tools are

TEST_F(ToolsTest, the_variable_comes_first_and_is_not_passed_over) {
  const std::string mine = script(root("mine/ptxas"), "exit 0");
  {
    const ScopedVariable set("PYPTX_PTXAS", mine);
    EXPECT_EQ(*find_tools(Tool::ptxas), std::vector<std::string>{mine});
  }
  const ScopedVariable set("PYPTX_PTXAS", mine + "-not-there");
  const auto none = find_tool(Tool::ptxas);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, Kind::no_tool);
  EXPECT_EQ(none.error().message, cat("PYPTX_PTXAS is `", mine, "-not-there`, which is not a program that can be run"));
}

TEST_F(ToolsTest, wheels_then_triton_then_the_toolkit_then_the_path) {
  const std::string site = root("site").string();
  const std::string triton = script(root("site/triton/backends/nvidia/bin/ptxas"), "exit 0");
  const std::string wheel12 = script(root("site/nvidia/cuda_nvcc/bin/ptxas"), "exit 0");
  const std::string wheel13 = script(root("user/nvidia/cu13/bin/ptxas"), "exit 0");
  const std::string toolkit = script(root("toolkit/bin/ptxas"), "exit 0");
  const std::string on_path = script(root("path/ptxas"), "exit 0");
  const ScopedVariable home("CUDA_HOME", root("toolkit").string());
  const ScopedVariable path("PATH", cat(":", root("empty").string(), "::", root("path").string()));
  auto found = find_tools(Tool::ptxas, {site, root("user").string()});
  ASSERT_TRUE(found);
  if (found->back() == "/usr/local/cuda/bin/ptxas") found->pop_back();
  EXPECT_EQ(*found, (std::vector{wheel13, wheel12, triton, toolkit, on_path}));
}

TEST(Release, is_read_from_what_a_tool_says) {
  const auto release = [](std::string_view text) {
    const Release r = release_of(text);
    return std::vector{r.major, r.minor, r.patch};
  };
  EXPECT_EQ(release("Cuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0.r13.0/compiler"), (std::vector{13, 0, 88}));
  EXPECT_EQ(release("release 12.8, V12.8.93"), (std::vector{12, 8, 93}));
  EXPECT_EQ(release("release 12.10, V12.10.1"), (std::vector{12, 10, 1}));
  EXPECT_EQ(release("release 12.4"), (std::vector{12, 4, 0}));
  for (const char* unsaid : {"", "release", "release ", "release x.y", "ptxas 13"})
    EXPECT_EQ(release(unsaid), (std::vector{0, 0, 0}));
  EXPECT_LT(release_of("release 12.9, V12.9.86"), release_of("release 12.10, V12.10.1"));
}

TEST_F(ToolsTest, the_newest_is_taken_wherever_it_lies) {
  const auto of = [](const char* version) { return cat("echo 'release ", version, ", V", version, ".5'"); };
  const std::string triton = script(root("site/triton/backends/nvidia/bin/ptxas"), of("12.8"));
  const std::string on_path = script(root("path/ptxas"), of("13.0"));
  const std::string same = script(root("other/ptxas"), of("13.0"));
  const std::string silent = script(root("silent/ptxas"), "exit 1");
  const std::vector<FoundTool> found = newest_first({silent, triton, on_path, same}, DiskCache());
  std::vector<std::string> paths;
  for (const FoundTool& tool : found) paths.push_back(tool.path);
  EXPECT_EQ(paths, (std::vector{on_path, same, triton, silent}));
  EXPECT_FALSE(found.back().version);
  const ScopedVariable path("PATH", cat(root("silent").string(), ':', root("path").string(), ":/usr/bin:/bin"));
  const ScopedVariable home("CUDA_HOME", std::nullopt);
  const auto best = find_tool(Tool::ptxas, {root("site").string()});
  ASSERT_TRUE(best);
  EXPECT_GE(release_of(*version_of(*best)), (Release{13, 0, 5}));
}

TEST_F(ToolsTest, a_tool_that_is_nowhere_says_where_it_was_sought) {
  const ScopedVariable path("PATH", root("empty").string());
  const ScopedVariable home("CUDA_HOME", std::nullopt);
  const auto none = find_tool(Tool::nvdisasm, {root("site").string()});
  if (none) GTEST_SKIP() << "this machine has " << *none;
  EXPECT_EQ(none.error().kind, Kind::no_tool);
  EXPECT_EQ(none.error().message, "`nvdisasm` is not found");
  const std::string text = render(none.error());
  EXPECT_NE(text.find(root("site").string() + "/nvidia/cu13/bin"), std::string::npos) << text;
  EXPECT_NE(text.find("pip install nvidia-cuda-nvdisasm"), std::string::npos) << text;
}

TEST_F(ToolsTest, what_cannot_be_run_is_no_tool) {
  const fs::path path = root("path/ptxas");
  fs::create_directories(path);  // a folder of that name
  const ScopedVariable set("PYPTX_PTXAS", path.string());
  EXPECT_FALSE(find_tool(Tool::ptxas));
}

// --- ptxas itself

class PtxasTest : public ToolsTest {
 protected:
  void SetUp() override {
    ToolsTest::SetUp();
    if (const auto found = find_tool(Tool::ptxas); !found) GTEST_SKIP() << render(found.error());
  }
};

TEST_F(PtxasTest, assembles_and_reports) {
  const auto cubin = assemble(good_text, "sm_90a");
  ASSERT_TRUE(cubin) << render(cubin.error());
  EXPECT_TRUE(
      cubin->bytes.starts_with("\x7f"
                               "ELF"));
  EXPECT_EQ(cubin->target, "sm_90a");
  ASSERT_EQ(cubin->report.functions.size(), 1u) << cubin->log;
  EXPECT_EQ(cubin->report.functions[0].name, "store");
  EXPECT_EQ(cubin->report.functions[0].target, "sm_90a");
  EXPECT_GT(cubin->report.functions[0].registers, 0u);
  EXPECT_EQ(cubin->report.functions[0].spill_store_bytes, 0u);
  EXPECT_FALSE(has_error(cubin->report));
}

TEST_F(PtxasTest, errors_stand_at_the_authors_line) {
  std::string bad(good_text);
  bad.replace(bad.find("mov.u64 %rd2, 7"), 15, "mov.u64 %rd9, 7");
  const auto cubin = assemble(bad, "sm_90a", {.where = [](std::uint32_t line) { return SourceLocation{"store.py", line * 10}; }});
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::compile_error);
  EXPECT_EQ(cubin.error().where, (SourceLocation{"store.py", 90}));
  const std::string text = render(cubin.error());
  EXPECT_NE(text.find("ptx line 9: `mov.u64 %rd9, 7;`: "), std::string::npos) << text;
  EXPECT_NE(text.find("assembled for `sm_90a` by "), std::string::npos) << text;
  EXPECT_EQ(text.find(temporary.string()), std::string::npos) << "the temporary file is named: " << text;
}

TEST_F(PtxasTest, a_target_that_cannot_take_the_text_is_a_compile_error) {
  const auto cubin = assemble(good_text, "sm_100a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::compile_error);
  EXPECT_NE(cubin.error().message.find("sm_90a"), std::string::npos) << cubin.error().message;
}

TEST_F(PtxasTest, text_of_the_future_asks_for_a_newer_ptxas) {
  std::string future(good_text);
  future.replace(future.find("8.0"), 3, "99.0");
  const auto cubin = assemble(future, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_NE(render(cubin.error()).find("hint: a newer ptxas may take it"), std::string::npos) << render(cubin.error());
}

TEST_F(PtxasTest, its_arguments_are_passed_on) {
  EXPECT_TRUE(assemble(good_text, "sm_90a", {.arguments = {"-O1"}, .line_info = true}));
  EXPECT_FALSE(assemble(good_text, "sm_90a", {.arguments = {"--no-such-option"}}));
}

TEST_F(PtxasTest, a_ptxas_that_is_too_old_gives_way_to_the_next) {
  const std::string newest = "[ \"$1\" = --version ] && { echo 'release 99.0, V99.0.1'; exit 0; }\n";
  script(root("site/nvidia/cu13/bin/ptxas"),
         newest + "echo \"ptxas k.ptx, line 1; fatal   : Unsupported .version 8.0; current version is '7.8'\"; exit 255");
  const auto cubin = assemble(good_text, "sm_90a", {.roots = {root("site").string()}});
  ASSERT_TRUE(cubin) << render(cubin.error());
  script(root("site/nvidia/cu13/bin/ptxas"), newest + "echo 'ptxas k.ptx, line 1; error   : I refuse'; exit 255");
  EXPECT_FALSE(assemble(good_text, "sm_90a", {.roots = {root("site").string()}}));  // a verdict is a verdict
}

TEST_F(PtxasTest, a_full_disk_is_said) {
  // A limit on file size stands in for it: the write fails in the same way.
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction old_action{};
  sigaction(SIGXFSZ, &ignore, &old_action);
  rlimit old_limit{};
  getrlimit(RLIMIT_FSIZE, &old_limit);
  const rlimit nothing{.rlim_cur = 16, .rlim_max = old_limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &nothing);
  const auto cubin = assemble(good_text, "sm_90a");
  setrlimit(RLIMIT_FSIZE, &old_limit);
  sigaction(SIGXFSZ, &old_action, nullptr);
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::file_error);
  EXPECT_NE(cubin.error().message.find("kernel.ptx`: File too large"), std::string::npos) << cubin.error().message;
}

// --- tools that go wrong, and the disassemblers, made up

TEST_F(ToolsTest, a_crash_is_told_from_a_refusal) {
  const ScopedVariable set("PYPTX_PTXAS", script(root("ptxas"), "echo 'about to fall'; kill -SEGV $$"));
  const auto cubin = assemble(good_text, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::tool_failed);
  EXPECT_NE(cubin.error().message.find("was killed by signal 11 (Segmentation fault)"), std::string::npos)
      << cubin.error().message;
  EXPECT_EQ(notes_of(cubin.error()).at(0), "it printed: about to fall");
}

TEST_F(ToolsTest, an_exit_without_a_word_and_a_missing_result_are_said) {
  {
    const ScopedVariable set("PYPTX_PTXAS", script(root("ptxas"), "exit 3"));
    const auto cubin = assemble(good_text, "sm_90a");
    ASSERT_FALSE(cubin);
    EXPECT_EQ(cubin.error().kind, Kind::tool_failed);
    EXPECT_NE(cubin.error().message.find("exited with code 3"), std::string::npos) << cubin.error().message;
    EXPECT_EQ(notes_of(cubin.error()).at(0), "it printed nothing");
  }
  const ScopedVariable set("PYPTX_PTXAS", script(root("ptxas"), "exit 0"));
  EXPECT_EQ(assemble(good_text, "sm_90a").error().kind, Kind::tool_failed);
}

TEST_F(ToolsTest, what_is_no_machine_code_is_no_result) {
  for (const char* leaves : {": > \"$out\"", "echo hello > \"$out\""}) {
    const ScopedVariable set("PYPTX_PTXAS",
                             script(root("ptxas"), cat("for w; do [ \"$last\" = -o ] && out=$w; last=$w; done\n", leaves)));
    const auto cubin = assemble(good_text, "sm_90a");
    ASSERT_FALSE(cubin) << leaves;
    EXPECT_EQ(cubin.error().kind, Kind::tool_failed);
    EXPECT_NE(cubin.error().message.find("ended well and left"), std::string::npos) << cubin.error().message;
  }
}

TEST_F(ToolsTest, a_program_that_does_not_end_is_ended) {
  const std::string sleeps = script(root("sleeps"), "echo begun; while :; do :; done");
  const auto begin = std::chrono::steady_clock::now();
  const auto ended = run_process(sleeps, {}, {.time = std::chrono::milliseconds(300)});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, Kind::tool_failed);
  EXPECT_EQ(ended.error().message, cat('`', sleeps, "` ran for more than 300 ms, and was ended"));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(5)) << "it did not run on";
  const ScopedVariable set("PYPTX_PTXAS", sleeps);
  const ScopedVariable limit("PYPTX_PTXAS_SECONDS", "1");
  const auto cubin = assemble(good_text, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_NE(cubin.error().message.find("ran for more than 1 s"), std::string::npos) << cubin.error().message;
  for (const char* wrong : {"0", "-1", "soon", "1.5", "99999999999"}) {
    const ScopedVariable bad("PYPTX_PTXAS_SECONDS", wrong);
    EXPECT_EQ(assemble(good_text, "sm_90a").error().kind, Kind::bad_setting) << wrong;
  }
}

TEST_F(ToolsTest, a_program_that_prints_without_end_is_ended) {
  const std::string talks = script(root("talks"), "while :; do echo and on and on and on and on; done");
  const auto ended = run_process(talks, {}, {.output_bytes = 100'000});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, cat('`', talks, "` printed more than 100000 bytes, and was ended"));
}

TEST_F(ToolsTest, how_it_ended_is_known_where_children_are_forgotten) {
  const std::string leaves = script(root("leaves"), "echo said; exit \"$1\"");
  const std::string falls = script(root("falls"), "kill -SEGV $$");
  const std::string hangs = script(root("hangs"), "while :; do :; done");
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  struct sigaction no_wait{};
  no_wait.sa_handler = SIG_DFL;
  no_wait.sa_flags = SA_NOCLDWAIT;
  for (const struct sigaction& action : {ignore, no_wait}) {
    struct sigaction old{};
    sigaction(SIGCHLD, &action, &old);
    for (const int code : {0, 3, 127, 255}) {
      const auto ended = run_process(leaves, {std::to_string(code)});
      EXPECT_TRUE(ended && ended->exit_code == code && ended->signal == 0 && ended->output == "said\n") << code;
    }
    const auto fallen = run_process(falls, {});
    EXPECT_TRUE(fallen && fallen->signal == SIGSEGV);
    EXPECT_FALSE(run_process(hangs, {}, {.time = std::chrono::milliseconds(200)}));
    sigaction(SIGCHLD, &old, nullptr);
  }
  // Somebody else who waits for every child.
  std::atomic<bool> done = false;
  std::thread thief([&] {
    while (!done) {
      if (::waitpid(-1, nullptr, WNOHANG) <= 0) std::this_thread::yield();
    }
  });
  for (int i = 0; i < 20; ++i) {
    const auto ended = run_process(leaves, {"7"});
    EXPECT_TRUE(ended && ended->exit_code == 7);
  }
  done = true;
  thief.join();
}

TEST_F(ToolsTest, a_program_that_cannot_start_says_why) {
  const fs::path path = root("ptxas");
  ASSERT_TRUE(write_file(path.string(), "#!/no/such/interpreter\n"));
  ASSERT_EQ(chmod(path.c_str(), 0700), 0);
  const ScopedVariable set("PYPTX_PTXAS", path.string());
  const auto cubin = assemble(good_text, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::tool_failed);
  EXPECT_NE(cubin.error().message.find("cannot start `"), std::string::npos) << cubin.error().message;
}

TEST_F(ToolsTest, no_temporary_folder_is_said) {
  const ScopedVariable set("PYPTX_PTXAS", script(root("ptxas"), "exit 0"));
  const ScopedVariable gone("TMPDIR", root("not-there").string());
  const auto cubin = assemble(good_text, "sm_90a");
  ASSERT_FALSE(cubin);
  EXPECT_EQ(cubin.error().kind, Kind::file_error);
  EXPECT_NE(cubin.error().message.find("temporary folder"), std::string::npos) << cubin.error().message;
}

TEST_F(ToolsTest, output_larger_than_a_pipe_is_read_to_its_end) {
  const auto ended =
      run_process(script(root("talk"), "i=0; while [ $i -lt 3000 ]; do echo $i$i$i$i$i$i$i$i$i$i; i=$((i+1)); done"), {});
  ASSERT_TRUE(ended);
  EXPECT_TRUE(ended->ok());
  EXPECT_GT(ended->output.size(), 65536u);
  EXPECT_TRUE(ended->output.ends_with("2999\n"));
}

TEST_F(ToolsTest, arguments_are_passed_as_they_are) {
  const auto ended = run_process("/bin/echo", {"-e", "a  b", "$HOME", "'"});
  ASSERT_TRUE(ended);
  EXPECT_NE(ended->output.find("a  b $HOME '"), std::string::npos) << ended->output;
}

TEST_F(ToolsTest, nvdisasm_disassembles) {
  script(root("site/nvidia/cu13/bin/nvdisasm"), "echo \"$1 of $(cat \"$2\")\"");
  const auto sass = disassemble("CUBIN", {root("site").string()});
  ASSERT_TRUE(sass) << render(sass.error());
  EXPECT_EQ(*sass, "-c of CUBIN\n");
}

TEST_F(ToolsTest, cuobjdump_stands_in_for_it) {
  const ScopedVariable path("PATH", "/usr/bin:/bin");
  const ScopedVariable home("CUDA_HOME", std::nullopt);
  if (const auto real = find_tool(Tool::nvdisasm)) GTEST_SKIP() << "this machine has " << *real;
  const std::vector<std::string> roots{root("site").string()};
  const auto none = disassemble("CUBIN", roots);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "`nvdisasm` is not found");
  script(root("site/nvidia/cu13/bin/cuobjdump"), "echo \"$1 of $(cat \"$2\")\"");
  EXPECT_EQ(*disassemble("CUBIN", roots), "-sass of CUBIN\n");
}

TEST_F(ToolsTest, a_disassembler_that_fails_shows_what_it_printed) {
  script(root("site/nvidia/cu13/bin/nvdisasm"), "echo \"nvdisasm fatal   : $2 is no cubin\" >&2; exit 1");
  const auto sass = disassemble("CUBIN", {root("site").string()});
  ASSERT_FALSE(sass);
  EXPECT_EQ(sass.error().kind, Kind::tool_failed);
  EXPECT_EQ(notes_of(sass.error()).at(0), "it printed: nvdisasm fatal   : kernel.cubin is no cubin");
}

TEST_F(ToolsTest, a_real_cubin_comes_back_as_sass) {
  if (const auto found = find_tool(Tool::nvdisasm); !found) GTEST_SKIP() << render(found.error());
  const auto cubin = assemble(good_text, "sm_90a");
  if (!cubin && cubin.error().kind == Kind::no_tool) GTEST_SKIP() << render(cubin.error());
  ASSERT_TRUE(cubin) << render(cubin.error());
  const auto sass = disassemble(cubin->bytes);
  ASSERT_TRUE(sass) << render(sass.error());
  EXPECT_NE(sass->find("STG"), std::string::npos) << *sass;
  EXPECT_NE(sass->find("EXIT"), std::string::npos);
}

}  // namespace
}  // namespace ptx::cuda
