// The command `debug`, as a person at its prompt meets it, and what `run` says of time.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/tool/tool.hpp"

namespace ptx::tool {
namespace {

namespace fs = std::filesystem;

// A loop whose lanes leave one after the other; line 7 is the first of the body.
constexpr std::string_view loop = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X)
.reqntid 32, 1, 1
{
  .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<2>; .reg .pred %p<2>;
  .shared .align 16 .b8 tile[256];
  ld.param.u64 %rd0, [X];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.u64 %rd1, %rd0, %rd1;
  mov.u32 %r2, tile;
  st.shared.u32 [%r2+8], %r0;
  mov.f32 %f1, 0f3FC00000;
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p0, %r1, %r0;
  @%p0 bra LOOP;
  bar.sync 0;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

// Two warps of which one never comes to the barrier.
constexpr std::string_view stuck = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k()
.reqntid 64, 1, 1
{
  .reg .b32 %r<4>; .reg .pred %p;
  mov.u32 %r0, %tid.x;
  setp.lt.u32 %p, %r0, 32;
  @%p bra FIRST;
  bar.sync 1;
  ret;
FIRST:
  bar.sync 0;
  ret;
}
)";

class Debug : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / cat("ptx_debug_", ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string write(std::string_view text) const {
    const fs::path path = folder_ / "k.ptx";
    std::ofstream(path) << text;
    return path.string();
  }
  // Each line of the prompt's answers to these commands.
  [[nodiscard]] std::string talk(std::string_view text, const std::string& commands, std::vector<std::string> words = {}) const {
    std::istringstream in(commands);
    words.insert(words.begin(), {"debug", write(text)});
    Caller caller;
    caller.in = &in;
    const Outcome outcome = run(words, caller);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return outcome.out;
  }
  fs::path folder_;
};

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST_F(Debug, BreaksStepsAndShows) {
  const std::string said =
      talk(loop, "break 22\nrun\nregisters r1 p0 f1\nback\nstep\nshared tile u32[4]\nrun\nquit\n", {"--arg", "u32[32]"});
  EXPECT_TRUE(has(said, "breakpoint 1\n")) << said;
  EXPECT_TRUE(has(said, "line 22: st.global.u32 [%rd1], %r1;")) << said;
  EXPECT_TRUE(has(said, "%r1  b32  0-1: 0x1  2: 0x2  3: 0x3")) << said;
  EXPECT_TRUE(has(said, "%p0  pred  false")) << said;
  EXPECT_TRUE(has(said, "%f1  f32  1.5")) << said;
  EXPECT_TRUE(has(said, "line 21: bar.sync 0;")) << said;
  EXPECT_TRUE(has(said, "  ? ? 31 ?\n")) << said;
  EXPECT_TRUE(has(said, "the run has ended: 1 block")) << said;
}

TEST_F(Debug, ShowsLanesThatHaveParted) {
  const std::string said = talk(loop, "break 18\nrun\nrun\nwarps\n", {"--arg", "u32[32]"});
  EXPECT_TRUE(has(said, "warp 0  runs  lanes 2-31  at line 18: add.u32 %r1, %r1, 1;")) << said;
  EXPECT_TRUE(has(said, "warp 0  ready  lanes 0-1  at line 21: bar.sync 0;")) << said;
}

TEST_F(Debug, ShowsADeadlock) {
  const std::string said = talk(stuck, "run\nwarps\nbarriers\nback\nwhere\n");
  EXPECT_TRUE(has(said, "which cannot complete")) << said;
  EXPECT_TRUE(has(said, "warp 0  waits  lanes 0-31  for barrier 0: 32 of 64 threads have come")) << said;
  EXPECT_TRUE(has(said, "warp 1 waits for barrier 1: 32 of 64 threads have come")) << said;
}

TEST_F(Debug, SaysWhatIsWrongWithACommand) {
  const std::string said = talk(loop,
                                "runn\nbreak x\nbreak 22 wrap 1\ndelete 7\nstep 0\nstep x\nfocus\nfocus 9\nregisters q\nshared "
                                "nothing\nshared tile f33\nshared tile u32[9999]\nshared tile u32[4] 77B\ngoto\nback x\n\nquit\n",
                                {"--arg", "u32[32]"});
  for (const char* part :
       {"`runn` is no command here; did you mean `run`?", "`break` takes a line of the PTX",
        "`break` takes `block X,Y,Z`, `warp N` and `if REGISTER == VALUE`", "`delete` takes the number of a breakpoint",
        "`step` takes a number, 1 at least, `0` was given", "`x` was given", "`focus` takes a warp", "has no warp 9",
        "the kernel uses no register `q`", "`nothing` is none of the block's", "`f33` is no type and sizes",
        "lie outside of the block's shared memory", "`77B` is no swizzle", "`goto` takes"})
    EXPECT_TRUE(has(said, part)) << part << '\n' << said;
}

TEST_F(Debug, ListsTheFile) {
  const std::string said =
      talk(loop, "list\nlist\nlist\nlist\nlist 9\nbreak 22\nrun\nl\nlist 99\nlist x\nquit\n", {"--arg", "u32[32]"});
  EXPECT_TRUE(has(said, ">     9    ld.param.u64 %rd0, [X];\n     10    mov.u32 %r0, %tid.x;\n")) << said;
  EXPECT_TRUE(has(said, "\n(ptx)      15  ") || has(said, "     15    mov.f32 %f1, 0f3FC00000;\n")) << said;
  EXPECT_TRUE(has(said, "the file has 24 lines, which were shown")) << said;
  EXPECT_TRUE(has(said, ">    22    st.global.u32 [%rd1], %r1;\n")) << said;
  EXPECT_TRUE(has(said, "`list` takes a line of the file, 1 to 24; `99` was given")) << said;
  EXPECT_TRUE(has(said, "`x` was given")) << said;
}

TEST_F(Debug, BreakpointsStandAtInstructions) {
  const std::string said = talk(loop, "break 17\nbreak 9999\nbreak 24\nbreak\nrun\nquit\n", {"--arg", "u32[32]"});
  EXPECT_TRUE(has(said, "breakpoint 1, at line 18: no instruction stands at line 17\n")) << said;
  EXPECT_TRUE(has(said, "no instruction stands at line 9999 or behind it; the last one is at line 23")) << said;
  EXPECT_TRUE(has(said, "no instruction stands at line 24 or behind it")) << said;
  EXPECT_TRUE(has(said, "1: line 18\n")) << said;
  EXPECT_TRUE(has(said, "line 18: add.u32 %r1, %r1, 1;")) << said;
}

TEST_F(Debug, AnEmptyKernelAndNoCommands) {
  constexpr std::string_view empty = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n  ret;\n}\n";
  EXPECT_TRUE(has(talk(empty, ""), "line 6: ret;"));
  const std::string said = talk(empty, "run\nrun\nregisters\nwarps\nshared\nbarriers\nback\nstep\n");
  EXPECT_TRUE(has(said, "the run has ended: 1 block, 1 warp instruction\n")) << said;
  EXPECT_TRUE(has(said, "nothing runs")) << said;
}

TEST_F(Debug, RepeatsTheLastCommandAtAnEmptyLine) {
  const std::string said = talk(loop, "step 2\n\n\nquit\n", {"--arg", "u32[32]"});
  EXPECT_TRUE(has(said, "instruction 6")) << said;
}

TEST_F(Debug, TakesCommandsFromAFile) {
  const fs::path script = folder_ / "commands";
  std::ofstream(script) << "step 1\nwhere";
  const std::string said = talk(loop, "this is not read\n", {"--arg", "u32[32]", "--commands", script.string()});
  EXPECT_TRUE(has(said, "(ptx) step 1\nblock (0, 0, 0) warp 0, lanes 0-31, instruction 1, ")) << said;
  EXPECT_TRUE(has(said, "(ptx) where\n")) << said;
}

TEST_F(Debug, StopsAtAFinding) {
  constexpr std::string_view race = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 X)
.reqntid 64, 1, 1
{
  .reg .b32 %r<2>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [X];
  mov.u32 %r0, %tid.x;
  st.global.u32 [%rd0], %r0;
  ret;
}
)";
  const std::string said = talk(race, "run\nwhere\n", {"--arg", "u32[1]", "--checks", "full"});
  EXPECT_TRUE(has(said, "instruction")) << said;
  EXPECT_TRUE(has(said, "k.ptx:10")) << said;
  EXPECT_FALSE(has(said, "the run has ended")) << said;
}

TEST_F(Debug, TakesOneFileAndItsLaunch) {
  const auto error = [&](std::vector<std::string> words) {
    std::istringstream in;
    Caller caller;
    caller.in = &in;
    const Outcome outcome = run(words, caller);
    EXPECT_NE(outcome.status, 0);
    return outcome.err;
  };
  const std::string file = write(loop);
  EXPECT_TRUE(has(error({"debug", "-"}), "`debug` takes one file"));
  EXPECT_TRUE(has(error({"debug", file, "--grid", "x"}), "`--grid` takes one to three numbers"));
  EXPECT_TRUE(has(error({"debug", file}), "X"));  // the parameter has no value
  EXPECT_TRUE(has(error({"debug", file, "--entry", "q", "--arg", "u32[32]"}), "no kernel `q`"));
  EXPECT_TRUE(has(error({"debug", (folder_ / "none.ptx").string()}), "none.ptx"));
  EXPECT_TRUE(has(error({"debug", write("nonsense")}), "error"));
}

TEST_F(Debug, RunWritesATraceAndAProfile) {
  const std::string trace = (folder_ / "out.json").string();
  const Outcome outcome =
      run(std::vector<std::string>{"run", write(loop), "--arg", "u32[32]", "--trace", trace, "--profile"}, {});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "wavefronts")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "claims order, not speed")) << outcome.out;
  std::stringstream text;
  text << std::ifstream(trace).rdbuf();
  EXPECT_TRUE(has(text.str(), "\"traceEvents\"")) << text.str();
  EXPECT_TRUE(has(text.str(), "bar.sync"));
  EXPECT_TRUE(
      has(run(std::vector<std::string>{"run", write(loop), "--profile", "--format", "json"}, {}).err, "table for people"));
  // of a run that fails, too
  const Outcome failed = run(std::vector<std::string>{"run", write(stuck), "--trace", trace}, {});
  EXPECT_EQ(failed.status, 1);
  EXPECT_TRUE(fs::file_size(trace) > 0);
  EXPECT_EQ(run(std::vector<std::string>{"run", write(loop), "--arg", "u32[32]", "--trace", (folder_ / "no" / "x").string()}, {})
                .status,
            2);
}

}  // namespace
}  // namespace ptx::tool
