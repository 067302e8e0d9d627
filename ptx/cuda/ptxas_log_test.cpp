#include "ptx/cuda/ptxas_log.hpp"

#include <gtest/gtest.h>

namespace ptx::cuda {
namespace {

// Lines that ptxas 13.0 printed.
constexpr std::string_view refused_log =
    "ptxas kernel.ptx, line 10; error   : Arguments mismatch for instruction 'add'\n"
    "ptxas kernel.ptx, line 12; error   : Not a name of any known instruction: 'foo'\n"
    "ptxas fatal   : Ptx assembly aborted due to errors\n";

constexpr std::string_view accepted_log =
    "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable to determine register count at entry.\n"
    "ptxas info    : (C7519) warpgroup.arrive is injected in around line 12 by compiler to allow use of registers in GMMA in "
    "function 'w'\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'w' for 'sm_90a'\n"
    "ptxas info    : Function properties for w\n"
    "    48 bytes stack frame, 128 bytes spill stores, 132 bytes spill loads\n"
    "ptxas info    : Used 34 registers, used 1 barriers, 48 bytes cumulative stack size, 1024 bytes smem\n"
    "ptxas info    : Compile time = 2.753 ms\n"
    "ptxas info    : Compiling entry function 'v' for 'sm_90a'\n"
    "ptxas info    : Function properties for v\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 4 registers, used 0 barriers\n";

TEST(PtxasLog, errors_have_line_severity_and_text) {
  const Report report = parse_ptxas_log(refused_log, [](std::uint32_t line) { return SourceLocation{"rms.py", line + 100}; });
  ASSERT_EQ(report.messages.size(), 3u);
  EXPECT_EQ(report.messages[0].line, 10u);
  EXPECT_EQ(report.messages[0].severity, Severity::error);
  EXPECT_EQ(report.messages[0].text, "Arguments mismatch for instruction 'add'");
  EXPECT_EQ(report.messages[0].where, (SourceLocation{"rms.py", 110}));
  EXPECT_EQ(report.messages[1].text, "Not a name of any known instruction: 'foo'");
  EXPECT_EQ(report.messages[2].line, 0u);
  EXPECT_FALSE(report.messages[2].where.known());
  EXPECT_TRUE(has_error(report));
}

TEST(PtxasLog, performance_notices_are_warnings_with_their_code) {
  const Report report = parse_ptxas_log(accepted_log);
  ASSERT_EQ(report.messages.size(), 2u);
  EXPECT_EQ(report.messages[0].severity, Severity::warning);
  EXPECT_EQ(report.messages[0].code, "C7508");
  EXPECT_TRUE(report.messages[0].text.starts_with("Potential Performance Loss: 'setmaxnreg' ignored"));
  EXPECT_EQ(report.messages[1].code, "C7519");
  EXPECT_FALSE(has_error(report));
}

TEST(PtxasLog, functions_have_registers_and_spills) {
  const Report report = parse_ptxas_log(accepted_log);
  ASSERT_EQ(report.functions.size(), 2u);
  const FunctionReport& w = report.functions[0];
  EXPECT_EQ(w.name, "w");
  EXPECT_EQ(w.target, "sm_90a");
  EXPECT_EQ(w.registers, 34u);
  EXPECT_EQ(w.barriers, 1u);
  EXPECT_EQ(w.stack_frame_bytes, 48u);
  EXPECT_EQ(w.spill_store_bytes, 128u);
  EXPECT_EQ(w.spill_load_bytes, 132u);
  EXPECT_EQ(w.smem_bytes, 1024u);
  EXPECT_EQ(report.functions[1].name, "v");
  EXPECT_EQ(report.functions[1].registers, 4u);
}

TEST(PtxasLog, other_lines_are_passed_over) {
  for (const char* log :
       {"", "\n\n", "ptxas", "ptxas ", "ptxas x", "ptxas , line ; error", "hello: world\n", "ptxas info    : (C", "Used 4"}) {
    const Report report = parse_ptxas_log(log);
    EXPECT_TRUE(report.functions.empty()) << log;
  }
  EXPECT_EQ(parse_ptxas_log("ptxas warning : something; else").messages.at(0).text, "something; else");
  EXPECT_EQ(parse_ptxas_log("ptxas a, line 3, line 4; warning : w").messages.at(0).line, 4u);
}

TEST(PtxasLog, the_diagnostic_quotes_the_lines_and_stands_at_the_authors) {
  const std::string text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n  add.f32 %f1, %rd1;\n11\nfoo.f32 %f1;\n";
  const auto where = [](std::uint32_t line) { return line == 10 ? SourceLocation{"rms.py", 31} : SourceLocation{}; };
  const Diagnostic error = compile_error("ptxas", refused_log, text, where);
  EXPECT_EQ(error.kind, Kind::compile_error);
  EXPECT_EQ(render(error),
            "error: ptxas refused the PTX: Arguments mismatch for instruction 'add' (and 1 more error)  [compile_error]\n"
            "  --> rms.py:31\n"
            "  = ptx line 10: `add.f32 %f1, %rd1;`: Arguments mismatch for instruction 'add' (rms.py:31)\n"
            "  = ptx line 12: `foo.f32 %f1;`: Not a name of any known instruction: 'foo'");
}

TEST(PtxasLog, a_refusal_of_no_known_shape_shows_the_log) {
  EXPECT_EQ(compile_error("ptxas", "boom\n", "", {}).notes.at(0).text, "its log: boom\n");
  EXPECT_EQ(compile_error("ptxas", "", "", {}).notes.at(0).text, "its log: (empty)");
  std::string many;
  for (int i = 1; i <= 20; ++i) many += cat("ptxas k.ptx, line ", i, "; error   : e\n");
  const Diagnostic error = compile_error("ptxas", many, "", {});
  EXPECT_EQ(error.notes.size(), 9u);
  EXPECT_EQ(error.notes.back().text, "… and 12 more");
}

TEST(PtxasLog, knows_when_a_newer_ptxas_would_do) {
  const auto too_old = [](std::string_view log) { return is_too_old(parse_ptxas_log(log)); };
  EXPECT_TRUE(too_old("ptxas v.ptx, line 1; fatal   : Unsupported .version 9.9; current version is '9.0'\n"));
  EXPECT_TRUE(too_old("ptxas fatal   : Value 'sm_999a' is not defined for option 'gpu-name'\n"));
  EXPECT_FALSE(too_old(refused_log));
}

}  // namespace
}  // namespace ptx::cuda
