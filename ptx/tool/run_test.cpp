// The command `run`: what a kernel is given, what is shown, and what is said of wrong words.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ptx/tool/elements.hpp"
#include "ptx/tool/tool.hpp"

namespace ptx::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view saxpy = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry saxpy(.param .u64 X, .param .u64 Y, .param .f32 a, .param .u32 n)
{
  .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p;
  ld.param.u64 %rd0, [X]; ld.param.u64 %rd1, [Y]; ld.param.f32 %f0, [a]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r0;
  @%p ret;
  mul.wide.u32 %rd2, %r4, 4; add.u64 %rd3, %rd0, %rd2; add.u64 %rd4, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd4], %f3;
  ret;
}
)";

Outcome call(std::vector<std::string> options, std::string_view text = saxpy, const Caller& more = {}) {
  std::istringstream in{std::string(text)};
  options.insert(options.begin(), {"run", "-"});
  Caller caller = more;
  caller.in = &in;
  return run(options, caller);
}
// The error that a command line gives, which has to be of that status.
std::string error(int status, const std::vector<std::string>& options, std::string_view text = saxpy) {
  const Outcome outcome = call(options, text);
  EXPECT_EQ(outcome.status, status) << outcome.out << outcome.err;
  return outcome.err;
}
std::vector<std::string> with_arguments(std::vector<std::string> words, std::vector<std::string> options = {}) {
  for (std::string& word : words) {
    options.emplace_back("--arg");
    options.push_back(std::move(word));
  }
  return options;
}

TEST(Run, ShowsWhatChanged) {
  const Outcome outcome =
      call(with_arguments({"f32[1000]=iota", "f32[1000]=1", "2.5", "1000"}, {"--grid", "4", "--block", "256"}));
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out,
            "saxpy: 4 blocks, 576 warp instructions\n"
            "Y f32[1000]: 1 3.5 6 8.5 … 2491 2493.5 2496 2498.5\n");
}

// CUTLASS's DSL declares pointers as eight bytes.
TEST(Run, EightBytesMayBeAPointer) {
  const Outcome outcome =
      call(with_arguments({"u32[2]=5"}),
           ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .align 8 .b8 p[8])\n{\n.reg "
           ".b64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a+4], 7;\nret;\n}\n");
  EXPECT_EQ(outcome.out, "k: 1 block, 3 warp instructions\np u32[2]: 5 7\n") << outcome.err;
}

TEST(Run, TakesParametersByNameAndTheOthersInOrder) {
  const Outcome outcome = call(with_arguments({"n:3", "Y:f32[]=1,2,3", "f32[3]=10", "2"}, {"--block=4", "--print=0"}));
  EXPECT_EQ(outcome.out, "saxpy: 1 block, 18 warp instructions\nY f32[3]: 21 22 23\n") << outcome.err;
}

TEST(Run, InClusters) {
  constexpr std::string_view ranks = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry ranks(.param .u64 Y)
{
  .reg .b32 %r<4>; .reg .b64 %rd<3>;
  ld.param.u64 %rd0, [Y]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %cluster_ctarank; mov.u32 %r2, %cluster_nctarank;
  mad.lo.u32 %r1, %r2, 10, %r1;
  mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
  st.global.u32 [%rd0], %r1;
  ret;
}
)";
  const auto shown = [&](std::vector<std::string> options) {
    const Outcome outcome = call(with_arguments({"u32[4]"}, std::move(options)), ranks);
    return outcome.status == 0 ? outcome.out : outcome.err;
  };
  EXPECT_EQ(shown({"--grid", "4", "--cluster", "2"}), "ranks: 4 blocks, 36 warp instructions\nY u32[4]: 20 21 20 21\n");
  EXPECT_EQ(shown({"--grid", "4"}), "ranks: 4 blocks, 36 warp instructions\nY u32[4]: 10 10 10 10\n");
  EXPECT_NE(shown({"--grid", "4", "--cluster", "3"}).find("grid (4, 1, 1) is not a whole number of clusters (3, 1, 1) in x"),
            std::string::npos);
}

TEST(Run, SaysThatNothingChanged) {
  EXPECT_EQ(call(with_arguments({"f32[4]=1", "f32[4]=1", "1", "0"})).out,
            "saxpy: 1 block, 10 warp instructions\nno buffer changed\n");
}

TEST(Run, TakesTheArithmetic) {
  const std::string_view third = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry third(.param .u64 Y)
{
  .reg .b64 %rd<1>;
  .reg .f32 %f<2>;
  ld.param.u64 %rd0, [Y];
  mov.f32 %f0, 0f40400000;
  rcp.approx.f32 %f1, %f0;
  st.global.f32 [%rd0], %f1;
  ret;
}
)";
  const auto shown = [&](std::vector<std::string> options) {
    const Outcome outcome = call(with_arguments({"f32[1]"}, std::move(options)), third);
    return outcome.status == 0 ? outcome.out : outcome.err;
  };
  EXPECT_EQ(shown({"--approx", "rounded"}),
            "third: 1 block, 5 warp instructions\nY f32[1]: 0.33333334\n"
            "within a bound: `rcp.approx.f32`: rounded to nearest, on request\n");
  EXPECT_NE(shown({"--approx", "perturb", "--seed", "1"}), shown({"--approx", "perturb", "--seed", "2"}));
  EXPECT_NE(shown({"--numerics", "quick"}).find("quick"), std::string::npos);
  EXPECT_EQ(shown({"--numerics", "fast"}), shown({}));
}

TEST(Run, EndsWhatTakesTooLong) {
  constexpr std::string_view endless = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry endless()
{
  .reg .b32 %r<1>;
  mov.u32 %r0, 0;
again:
  add.u32 %r0, %r0, 1;
  bra again;
}
)";
  const Outcome outcome = call(with_arguments({}, {"--limit", "5000"}), endless);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("step_limit"), std::string::npos) << outcome.err;
}

TEST(Run, TheLimitIsOfStraightLinesToo) {
  const Outcome most = call(with_arguments({"f32[2]=1", "f32[2]=1", "2", "2"}, {"--block", "2", "--limit", "18"}));
  EXPECT_EQ(most.status, 0) << most.err;
  const Outcome less = call(with_arguments({"f32[2]=1", "f32[2]=1", "2", "2"}, {"--block", "2", "--limit", "17"}));
  EXPECT_EQ(less.status, 1) << less.out;
  EXPECT_NE(less.err.find("step_limit"), std::string::npos) << less.err;
}

TEST(Run, ATraceThatCannotBeWrittenIsToldBeforeTheRun) {
  const Outcome outcome = call(
      with_arguments({"f32[2]=1", "f32[2]=1", "2", "2"}, {"--block", "2", "--limit", "1", "--trace", "no/such/folder/t.json"}));
  EXPECT_NE(outcome.err.find("its folder is not there"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("step_limit"), std::string::npos) << outcome.err;
}

TEST(Run, TellsResultsAsJson) {
  const Outcome outcome = call(with_arguments({"f32[2]=1,inf", "f32[2]=1", "2", "2"}, {"--block", "2", "--format", "json"}));
  EXPECT_EQ(outcome.out,
            "{\"kernel\": \"saxpy\", \"blocks\": 1, \"warp_instructions\": 18, \"fidelity\": [], \"buffers\": [{\"name\": \"Y\", "
            "\"type\": \"f32\", \"elements\": [3, \"inf\"]}], \"findings\": [], \"suppressed\": 0, \"left_out\": 0, "
            "\"unused_suppressions\": []}\n")
      << outcome.err;
}

TEST(Run, FaultsNameBufferLineAndThread) {
  const std::string outside = error(1, with_arguments({"f32[7]=1", "f32[8]=1", "2", "8"}, {"--block", "8"}));
  EXPECT_NE(outside.find("just past the end of `X` (28 bytes)"), std::string::npos) << outside;
  EXPECT_NE(outside.find("12 |   ld.global.f32 %f1, [%rd3];"), std::string::npos) << outside;
  EXPECT_NE(outside.find("thread: (7, 0, 0) of block (0, 0, 0)"), std::string::npos) << outside;
  const std::string unwritten = error(1, with_arguments({"f32[8]=1", "f32[8]", "2", "8"}, {"--block", "8"}));
  EXPECT_NE(unwritten.find("nothing has written byte 0 of `Y`"), std::string::npos) << unwritten;
}

TEST(Run, WrongWordsAreNamed) {
  const auto words = [](std::vector<std::string> given) { return error(2, with_arguments(std::move(given))); };
  EXPECT_EQ(words({"1"}), "ptxkit: error: `Y` has no `--arg`: kernel `saxpy` takes `X` (u64), `Y` (u64), `a` (f32), `n` (u32)\n");
  EXPECT_EQ(words({"1", "1", "1", "1", "5"}),
            "ptxkit: error: `--arg 5` is one too many: kernel `saxpy` takes `X` (u64), `Y` (u64), `a` (f32), `n` (u32)\n");
  EXPECT_EQ(words({"1", "1", "1e300", "1"}), "ptxkit: error: `--arg 1e300` for parameter `a`: `1e300` is beyond the type f32\n");
  EXPECT_EQ(words({"1", "1", "1", "-1"}), "ptxkit: error: `--arg -1` for parameter `n`: `-1` is beyond the type u32\n");
  EXPECT_EQ(words({"1", "1", "1", "4294967296"}),
            "ptxkit: error: `--arg 4294967296` for parameter `n`: `4294967296` is beyond the type u32\n");
  EXPECT_EQ(words({"1", "1", "f32[3]", "1"}),
            "ptxkit: error: `--arg f32[3]` for parameter `a`: its type, f32, takes no address\n");
  EXPECT_EQ(words({"f32[3]=1,2", "1", "1", "1"}),
            "ptxkit: error: `--arg f32[3]=1,2` for parameter `X`: 2 values for 3 elements; give one for all, or each\n");
  EXPECT_EQ(words({"f32[x]=1", "1", "1", "1"}),
            "ptxkit: error: `--arg f32[x]=1` for parameter `X`: `[x]` says no number of elements\n");
  EXPECT_EQ(
      words({"e4m3[8]", "1", "1", "1"}),
      "ptxkit: error: `--arg e4m3[8]` for parameter `X`: `e4m3` is no type of a buffer's elements; what fits is f16, bf16, f32, "
      "f64, or b, u or s with 8, 16, 32 or 64 bits, as in `u8[64]`\n");
  EXPECT_EQ(
      words({"Z:f32[4]", "1", "1", "1"}),
      "ptxkit: error: `--arg Z:f32[4]`: there is no parameter `Z`; kernel `saxpy` takes `X` (u64), `Y` (u64), `a` (f32), `n` "
      "(u32)\n");
  EXPECT_EQ(words({"f32[2]=random:x", "1", "1", "1"}),
            "ptxkit: error: `--arg f32[2]=random:x` for parameter `X`: `x` is no seed of `random`\n");
  EXPECT_EQ(words({"f32[]=@nowhere.npy", "1", "1", "1"}),
            "ptxkit: error: `--arg f32[]=@nowhere.npy` for parameter `X`: cannot read `nowhere.npy`: no such file\n");
  EXPECT_NE(words({"f64[9999999999999999999]", "1", "1", "1"}).find("there is no memory for"), std::string::npos);
}

TEST(Run, WrongOptionsAreNamed) {
  EXPECT_EQ(error(2, {"--grid", "4,x"}), "ptxkit: error: `--grid` takes one to three numbers, `4,x` was given\n");
  EXPECT_EQ(error(2, {"--block", "1,2,3,4"}), "ptxkit: error: `--block` takes one to three numbers, `1,2,3,4` was given\n");
  EXPECT_EQ(error(2, {"--workers", "0"}), "ptxkit: error: `--workers` takes 1 to 1024, 0 was given\n");
  EXPECT_EQ(error(2, {"--save", "Y"}), "ptxkit: error: `--save` takes NAME=FILE, `Y` was given\n");
  EXPECT_EQ(error(2, with_arguments({"1", "1", "1", "0"}, {"--save", "Y=y.npy"})),
            "ptxkit: error: `--save Y`: no parameter of that name has a buffer\n");
  EXPECT_EQ(error(2, with_arguments({"1", "1", "1", "0"}, {"--trace", "-"})),
            "ptxkit: error: `--trace` takes the name of a file\n");
  EXPECT_EQ(error(2, {"--entry", "other"}), "ptxkit: error: the file has no kernel `other`; it has `saxpy`\n");
  EXPECT_NE(error(2, with_arguments({"1", "1", "1", "0"}, {"--grid", "0"})).find("grid (0, 1, 1) is empty"), std::string::npos);
}

TEST(Run, SaysWhatIsWrongWithTheText) {
  EXPECT_NE(error(1, {}, ".version 8.0\n.target sm_80\n.visible .entry f() { add.u32 %r1; }").find("[undefined_symbol]"),
            std::string::npos);
  EXPECT_NE(error(2, {}, ".version 8.0\n.target sm_80\n.address_size 64\n").find("has no kernel"), std::string::npos);
}

TEST(Run, TheCallerEndsALongRun) {
  constexpr std::string_view endless =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry f()\n{\n .reg .b32 %r<1>;\n mov.b32 %r0, 0;\n"
      "L: add.u32 %r0, %r0, 1;\n bra L;\n}\n";
  const Outcome outcome = call({}, endless, {.goes_on = [] { return false; }});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.err.find("[interrupted]"), std::string::npos) << outcome.err;
}

TEST(Run, BuffersGoToFilesAndBack) {
  const fs::path folder = fs::temp_directory_path() / cat("ptx_run_", ::testing::UnitTest::GetInstance()->random_seed());
  fs::create_directories(folder);
  for (const std::string name : {"y.npy", "y.bin"}) {
    const std::string file = (folder / name).generic_string();
    ASSERT_EQ(call(with_arguments({"f32[3]=10,20,30", "f32[3]=1", "2", "3"}, {"--block", "3", "--save", "Y=" + file})).err, "");
    EXPECT_EQ(call(with_arguments({"f32[]=@" + file, "f32[3]=0", "1", "3"}, {"--block", "3"})).out,
              "saxpy: 1 block, 18 warp instructions\nY f32[3]: 21 41 61\n");
    EXPECT_NE(
        error(2, with_arguments({"f32[4]=@" + file, "1", "1", "1"})).find("holds 12 bytes of elements; 4 of type f32 take 16"),
        std::string::npos);
  }
  EXPECT_NE(error(2, with_arguments({"f64[]=@" + (folder / "y.npy").generic_string(), "1", "1", "1"}))
                .find("its elements are `<f4`, and f64 is `<f8`"),
            std::string::npos);
  const fs::path cut = folder / "cut.npy";
  fs::copy_file(folder / "y.npy", cut);
  fs::resize_file(cut, fs::file_size(cut) - 4);
  EXPECT_NE(error(2, with_arguments({"f32[]=@" + cut.generic_string(), "1", "1", "1"}))
                .find("its header says 3 elements, and it holds 8 bytes of f32"),
            std::string::npos);
  fs::remove_all(folder);
}

// ---- elements --------------------------------------------------------------------------------------------------------------

std::string there_and_back(Type type, std::string_view text) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(isa::bits(type)) / 8);
  const auto read = read_element(type, text, bytes);
  return read ? show_element(type, bytes) : read.error().message;
}

TEST(Elements, AreReadAndShown) {
  EXPECT_EQ(there_and_back(Type::s8, "-128"), "-128");
  EXPECT_EQ(there_and_back(Type::s8, "128"), "`128` is beyond the type s8");
  EXPECT_EQ(there_and_back(Type::s8, "-129"), "`-129` is beyond the type s8");
  EXPECT_EQ(there_and_back(Type::s8, "0xff"), "-1");
  EXPECT_EQ(there_and_back(Type::u8, "255"), "255");
  EXPECT_EQ(there_and_back(Type::u8, "-0"), "0");
  EXPECT_EQ(there_and_back(Type::b16, "-1"), "0xffff");
  EXPECT_EQ(there_and_back(Type::b16, "65535"), "0xffff");
  EXPECT_EQ(there_and_back(Type::u64, "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(there_and_back(Type::u64, "18446744073709551616"), "`18446744073709551616` is beyond the type u64");
  EXPECT_EQ(there_and_back(Type::s64, "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(there_and_back(Type::f16, "65504"), "65504");
  EXPECT_EQ(there_and_back(Type::f16, "65520"), "`65520` is beyond the type f16");
  EXPECT_EQ(there_and_back(Type::bf16, "1.5"), "1.5");
  EXPECT_EQ(there_and_back(Type::f32, "-0"), "-0");
  EXPECT_EQ(there_and_back(Type::f32, "+0.1"), "0.1");
  EXPECT_EQ(there_and_back(Type::f64, "nan"), "nan");
  EXPECT_EQ(there_and_back(Type::f64, "-inf"), "-inf");
  for (const std::string_view text : {"", "x", "1x", "0x", "1.5", "--1"})
    EXPECT_EQ(there_and_back(Type::u32, text), cat("`", text, "` is no number of type u32"));
}

TEST(Elements, RandomOnesAreTheSameEverywhere) {
  std::uint64_t state = 7;
  std::vector<std::byte> bytes(4);
  std::string all;
  for (int i = 0; i < 3; ++i) {
    random_element(Type::f32, state, bytes);
    all += show_element(Type::f32, bytes) + ' ';
  }
  EXPECT_EQ(all, "-0.22034061 -0.9664235 0.8015213 ");
}

}  // namespace
}  // namespace ptx::tool
