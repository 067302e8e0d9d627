#include "ptx/tool/tool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/json.hpp"
#include "ptx/tool/style.hpp"
#include "ptx/version.hpp"

namespace ptx::tool {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view good =
    ".version 8.5\n.target sm_90a\n.address_size 64\n\n.visible .entry f()\n{\n\t.reg .b32 %r<2>; mov.u32 %r0, 7;\n\tadd.u32 "
    "%r1, %r0, "
    "1;\n\tret;\n}\n";

// A folder of its own for each test, with files in it.
class Commands : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / cat("ptx_tool_", test->name(), '_', ::testing::UnitTest::GetInstance()->random_seed());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path.generic_string();
  }
  static Outcome call(const std::vector<std::string>& arguments, std::string_view input = "") {
    std::istringstream in{std::string(input)};
    return run(arguments, {.in = &in});
  }
  // The good kernel with another statement in place of its add.
  static std::string with(std::string_view statement) {
    std::string text(good);
    return text.replace(text.find("add.u32 %r1, %r0, 1;"), 20, statement);
  }

  fs::path folder_;
};

Diagnostic finding(std::uint32_t line, std::uint32_t column) {
  Diagnostic d{.kind = Kind::syntax, .message = "expected `;`"};
  d.where = {intern_file("k.ptx"), line, column};
  return d;
}

// ---- findings on a terminal -----------------------------------------------------------------------------------------

TEST(Render, ShowsTheLineWithACaretBelowTheWord) {
  EXPECT_EQ(render(finding(2, 3).hint("one\ntwo"), "first\n  ld.shared::cta.u32 %r1\nthird\n", false),
            "error: expected `;`  [syntax]\n"
            " --> k.ptx:2:3\n"
            "2 |   ld.shared::cta.u32 %r1\n"
            "  |   ^~~~~~~~~~~~~~~~~~\n"
            "  = hint: one\n"
            "    two\n");
}

TEST(Render, TabsAndLettersOfSeveralBytesKeepTheCaretInPlace) {
  EXPECT_EQ(render(finding(1, 2), "\tret", false), "error: expected `;`  [syntax]\n --> k.ptx:1:2\n1 |     ret\n  |     ^~~\n");
  // a comment of three letters and six bytes, then the place
  EXPECT_EQ(render(finding(1, 12), "/*\xc3\xa4\xc3\xb6\xc3\xbc*/ ret", false),
            "error: expected `;`  [syntax]\n --> k.ptx:1:12\n1 | /*\xc3\xa4\xc3\xb6\xc3\xbc*/ ret\n  |         ^~~\n");
}

TEST(Render, AMarginAsWideAsTheNumber) {
  const std::string source = std::string(99, '\n') + "ret\n";
  EXPECT_EQ(render(finding(100, 1), source, false), "error: expected `;`  [syntax]\n   --> k.ptx:100:1\n100 | ret\n    | ^~~\n");
}

TEST(Render, APlaceBehindTheLineOrTheTextIsStillShown) {
  EXPECT_EQ(render(finding(1, 4), "ret", false), "error: expected `;`  [syntax]\n --> k.ptx:1:4\n1 | ret\n  |    ^\n");
  EXPECT_EQ(render(finding(1, 400), "ret", false), "error: expected `;`  [syntax]\n --> k.ptx:1:400\n1 | ret\n  |    ^\n");
  EXPECT_EQ(render(finding(9, 1), "ret", false), "error: expected `;`  [syntax]\n --> k.ptx:9:1\n");
}

TEST(Render, WithoutAColumnTheFirstWordIsMeantAndWithoutAPlaceNoLine) {
  EXPECT_EQ(render(finding(1, 0), "\tret;", false), "error: expected `;`  [syntax]\n --> k.ptx:1\n1 |     ret;\n  |     ^~~\n");
  EXPECT_EQ(render({.kind = Kind::syntax, .severity = Severity::warning, .message = "m"}, "ret", false),
            "warning: m  [syntax]\n");
}

TEST(Render, LongLinesAreCutAroundThePlace) {
  const std::string source = std::string(500, ' ') + "ret;" + std::string(500, 'x');
  const std::string shown = render(finding(1, 501), source, false);
  EXPECT_NE(shown.find("ret;"), std::string::npos);
  std::istringstream lines(shown);
  std::string line, source_line, caret_line;
  while (std::getline(lines, line)) {
    EXPECT_LT(width(line), 140u);
    if (line.starts_with("1 | ")) source_line = line;
    if (line.starts_with("  | ")) caret_line = line;
  }
  EXPECT_EQ(width(source_line.substr(0, source_line.find("ret;"))), caret_line.find('^'));
}

TEST(Render, ControlCharactersAndBrokenUtf8DoNotReachTheTerminal) {
  const std::string shown = render(finding(1, 1), "a\x1b[31m\xff\x80 b", false);
  EXPECT_NE(shown.find("1 | a?[31m? b\n"), std::string::npos) << shown;
}

TEST(Render, ColoursOnlyWhereTheyAreShown) {
  EXPECT_EQ(render(finding(1, 1), "ret", false).find('\x1b'), std::string::npos);
  EXPECT_NE(render(finding(1, 1), "ret", true).find("\x1b[1;31merror\x1b[0m"), std::string::npos);
}

TEST(Wrap, BreaksBetweenWords) {
  EXPECT_EQ(wrap("aa bb cc dd", 5, "  "), "aa bb\n  cc dd");
  EXPECT_EQ(wrap("longer_than_it b", 4, ""), "longer_than_it\nb");
  EXPECT_EQ(wrap("", 4, ""), "");
}

// ---- JSON -----------------------------------------------------------------------------------------------------------

TEST(JsonText, EscapesWhatMustBe) {
  EXPECT_EQ(quote("a \"b\" \\ \n\t\x01\x7f"), R"("a \"b\" \\ \n\t\u0001\u007f")");
  EXPECT_EQ(quote("\xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x99\x82"), "\"\xc3\xa4 \xe2\x80\xa6 \xf0\x9f\x99\x82\"");
}

TEST(JsonText, WhatIsNotUtf8BecomesTheReplacementCharacter) {
  EXPECT_EQ(quote("\xff"), R"("\ufffd")");
  EXPECT_EQ(quote("\xc3"), R"("\ufffd")");                                // cut off
  EXPECT_EQ(quote("\xc0\xaf"), R"("\ufffd\ufffd")");                      // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");            // a surrogate
  EXPECT_EQ(quote("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond U+10FFFF
}

TEST(JsonText, CommasComeByThemselves) {
  Json json;
  json.open('{').key("a").open('[').value(1).value("x").open('{').close('}').close(']').key("b").value(2).close('}');
  EXPECT_EQ(std::move(json).finish(), "{\"a\": [1, \"x\", {}], \"b\": 2}\n");
}

// ---- the commands ---------------------------------------------------------------------------------------------------

TEST_F(Commands, CheckSaysNothingOfAGoodFile) {
  const Outcome outcome = call({"check", file("good.ptx", good)});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "no findings in 1 file\n");
  EXPECT_EQ(outcome.err, "");
}

TEST_F(Commands, CheckShowsAnErrorAtItsPlace) {
  const std::string path = file("bad.ptx", with("add.u32 %r1, %r0;"));
  const Outcome outcome = call({"check", path});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find(cat("--> ", path, ":8:2")), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("8 |     add.u32 %r1, %r0;\n  |     ^~~~~~~\n"), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("1 error in 1 file\n")) << outcome.out;
}

TEST_F(Commands, CheckReadsTheStandardInput) {
  EXPECT_EQ(call({"check", "-"}, good).status, 0);
  const Outcome outcome = call({"check", "-"}, with("add.u32 %r1, %r0;"));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("--> <stdin>:8:2"), std::string::npos) << outcome.out;
}

TEST_F(Commands, CheckTakesATargetInPlaceOfTheModulesOwn) {
  const std::string path = file("k.ptx", with("setmaxnreg.inc.sync.aligned.u32 64;"));
  EXPECT_EQ(call({"check", path}).status, 0) << call({"check", path}).out;
  const Outcome older = call({"check", path, "--target", "sm_80"});
  EXPECT_EQ(older.status, 1);
  EXPECT_NE(older.out.find("[target_lacks]"), std::string::npos) << older.out;
  const Outcome unknown = call({"check", path, "--target=sm_99"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.err.find("`sm_99` is not a target of PTX"), std::string::npos);
  EXPECT_NE(unknown.err.find("did you mean `sm_"), std::string::npos) << unknown.err;
}

TEST_F(Commands, ABrokenTextIsASyntaxErrorAndNothingElse) {
  const Outcome outcome = call({"check", file("broken.ptx", "not valid ptx")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.out.find("[syntax]"), std::string::npos) << outcome.out;
}

TEST_F(Commands, CheckCountsOverFilesAndGoesOnBehindOneItCannotRead) {
  const std::string bad = file("bad.ptx", with("add.u32 %r1, %r0;"));
  const Outcome outcome = call({"check", bad, (folder_ / "absent.ptx").generic_string(), file("good.ptx", good)});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.out.ends_with("1 error in 2 files\n")) << outcome.out;
  EXPECT_NE(outcome.err.find("absent.ptx`: no such file"), std::string::npos) << outcome.err;
}

TEST_F(Commands, FindingsBeyondTheMostAreCounted) {
  const std::string path = file("bad.ptx", with("add.u32 %r1, %r0;\n\tadd.u32 %r1, %r0;\n\tadd.u32 %r1, %r0;"));
  const Outcome outcome = call({"check", path, "--max", "1"});
  EXPECT_NE(outcome.out.find("… and 2 more findings in "), std::string::npos) << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("3 errors in 1 file\n")) << outcome.out;
  EXPECT_EQ(call({"check", path, "--max", "0"}).out.find("more finding"), std::string::npos);
}

TEST_F(Commands, FilesThatAreNoTextSayWhatTheyAre) {
  using namespace std::string_view_literals;
  const std::pair<std::string, std::string_view> cases[] = {
      {"\x7f"
       "ELF\x02\x01",
       "it is an ELF file, not PTX\n  = hint: `cuobjdump -ptx`"},
      {std::string("a\0b", 3), "it is not text: byte 1 is zero"},
      {"PK\x03\x04zip", "it is a zip archive, not PTX"},
      {"\xff\xfe.v", "it is UTF-16 text, not PTX"},
      {cat("\xef\xbb\xbf", good), "it starts with a byte order mark, and PTX is ASCII\n  = hint: save it as UTF-8 without one"},
  };
  for (const auto& [content, said] : cases) {
    const Outcome outcome = call({"check", file("junk", content)});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Commands, CheckReadsTheFilesOfAFolder) {
  fs::create_directories(folder_ / "kernels" / "deep");
  file("kernels/b.ptx", with("add.u32 %r1, %r0;"));
  file("kernels/deep/a.ptx", good);
  file("kernels/notes.txt", "not PTX");
  const Outcome outcome = call({"check", (folder_ / "kernels").generic_string()});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.out.ends_with("1 error in 2 files\n")) << outcome.out;
  fs::create_directories(folder_ / "empty");
  const Outcome empty = call({"check", (folder_ / "empty").generic_string()});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("holds no file that ends in `.ptx`\n  = hint: "), std::string::npos) << empty.err;
}

TEST_F(Commands, FoldersAndAbsentFilesAreSaidToBeThat) {
  const Outcome folder = call({"print", folder_.generic_string()});
  EXPECT_EQ(folder.status, 2);
  EXPECT_NE(folder.err.find("it is a folder\n  = hint: name a file"), std::string::npos) << folder.err;
  for (const std::string command : {"check", "print"})
    EXPECT_NE(call({command, (folder_ / "no.ptx").generic_string()}).err.find("no such file"), std::string::npos);
}

TEST_F(Commands, WordsComeFromAFile) {
  const std::string bad = file("b a d.ptx", with("add.u32 %r1, %r0;"));
  const std::string inner = file("inner", "--max\t1 ");
  const std::string words = file("words", cat("check\n'", bad, "' \"", file("it's.ptx", good), "\" @", inner, "\n"));
  const Outcome outcome = call({cat('@', words)});
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_TRUE(outcome.out.ends_with("1 error in 2 files\n")) << outcome.out;
  EXPECT_EQ(call({"check", "--", "@words"}).err.find("error: cannot read `@words`: no such file"), 8u);
  const std::pair<std::string, std::string_view> cases[] = {
      {"absent", "error: cannot read `"},
      {file("loop", cat("check @", (folder_ / "loop").generic_string())), "names itself"},
      {file("open", "check 'x.ptx"), "ends inside a quotation"},
  };
  for (const auto& [name, said] : cases) {
    const Outcome refused = call({cat('@', name)});
    EXPECT_EQ(refused.status, 2);
    EXPECT_NE(refused.err.find(said), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("  = hint: a file whose own name starts with `@`"), std::string::npos) << refused.err;
  }
}

TEST_F(Commands, AParameterOfAFileIsNotReadForWords) {
  const std::string bytes = file("bytes", "it's");
  const Outcome outcome = call({"run", file("k.ptx", good), "--arg", cat('@', bytes)});
  EXPECT_EQ(outcome.err.find("ends inside a quotation"), std::string::npos) << outcome.err;
}

// A module has no place for a target that does not exist: what is printed would name another one.
TEST_F(Commands, PrintRefusesATargetThatItDoesNotKnow) {
  const Outcome outcome = call({"print", file("k.ptx", ".version 8.5\n.target sm_999\n.address_size 64\n")});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("`sm_999` is neither a target"), std::string::npos) << outcome.err;
}

TEST_F(Commands, PrintGivesCanonicalText) {
  std::string untidy(good);
  untidy.replace(untidy.find("\tadd.u32 %r1, %r0, 1;"), 21, "  add.u32   %r1,%r0 ,1 ; // next");
  const Outcome outcome = call({"print", "-"}, untidy);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\n\tadd.u32 %r1, %r0, 1;\n"), std::string::npos) << outcome.out;
  EXPECT_EQ(call({"print", "-"}, outcome.out).out, outcome.out) << "canonical text prints as itself";
}

TEST_F(Commands, PrintWritesAFile) {
  const std::string to = (folder_ / "out.ptx").generic_string();
  const Outcome outcome = call({"print", file("k.ptx", good), "-o", to});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  std::ifstream written(to, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), call({"print", "-"}, good).out);
  const Outcome nowhere = call({"print", "-", "-o", (folder_ / "no" / "x.ptx").generic_string()}, good);
  EXPECT_EQ(nowhere.status, 2);
  EXPECT_NE(nowhere.err.find("its folder is not there"), std::string::npos) << nowhere.err;
  EXPECT_NE(call({"print", "-", "-o", folder_.generic_string()}, good).err.find("it is a folder"), std::string::npos);
}

TEST_F(Commands, AnOutputFileIsReplacedWholeOrStays) {
  const std::string to = file("out.ptx", "before");
  fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink(to, folder_ / "link.ptx");
  EXPECT_EQ(call({"print", "-", "-o", (folder_ / "link.ptx").generic_string()}, good).status, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.ptx"));
  EXPECT_EQ(fs::status(to).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  std::ifstream written(to, std::ios::binary);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(written), {}), call({"print", "-"}, good).out);
  // Of a text that is refused, nothing is written, and nothing is left beside.
  EXPECT_EQ(call({"print", "-", "-o", to}, "not valid ptx").status, 1);
  EXPECT_EQ(fs::file_size(to), call({"print", "-"}, good).out.size());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const Outcome full = call({"print", "-", "-o", "/dev/full"}, good);
  EXPECT_EQ(full.status, 2);
  EXPECT_NE(full.err.find("cannot write `/dev/full`: No space left"), std::string::npos) << full.err;
  EXPECT_TRUE(fs::is_character_file("/dev/full"));
}

TEST_F(Commands, ColoursGoToTheStreamThatShowsThem) {
  std::istringstream in("not valid ptx");
  const std::vector<std::string> print = {"print", "-"}, check = {"check", "-"};
  EXPECT_EQ(run(print, {.in = &in, .colour = true}).err.find('\x1b'), std::string::npos);
  in = std::istringstream("not valid ptx");
  EXPECT_NE(run(print, {.in = &in, .colour_of_errors = true}).err.find('\x1b'), std::string::npos);
  in = std::istringstream("not valid ptx");
  EXPECT_EQ(run(check, {.in = &in, .colour_of_errors = true}).out.find('\x1b'), std::string::npos);
  in = std::istringstream("not valid ptx");
  EXPECT_NE(run(check, {.in = &in, .colour = true}).out.find('\x1b'), std::string::npos);
}

TEST_F(Commands, HelpCompletionAndTheManualKnowEveryCommandAndOption) {
  const std::string manual = call({"man"}).out;
  EXPECT_TRUE(manual.starts_with(".TH PTXKIT 1 ")) << manual.substr(0, 40);
  for (const Command& command : commands()) {
    const std::string name(command.name);
    const Outcome help = call({"help", name});
    EXPECT_EQ(help.status, 0);
    EXPECT_TRUE(help.out.starts_with(cat("usage: ptxkit ", name))) << help.out;
    EXPECT_NE(help.out.find("exit status:\n  0  all is well"), std::string::npos) << help.out;
    EXPECT_EQ(help.out.find("PROGRAM"), std::string::npos) << help.out;
    EXPECT_NE(call({"help"}).out.find(cat("\n  ptxkit ", name)), std::string::npos);
    for (const std::string shell : {"bash", "zsh", "fish"}) {
      const std::string script = call({"completion", shell}).out;
      EXPECT_NE(script.find(name), std::string::npos) << shell;
      EXPECT_NE(script.find("sm_90a"), std::string::npos) << shell;
      EXPECT_NE(script.find(" fma "), std::string::npos) << shell;
      for (const Option& option : command.options) {
        const std::size_t dashes = shell == "fish" ? option.name.find_first_not_of('-') : 0;
        EXPECT_NE(script.find(option.name.substr(dashes)), std::string::npos) << shell << ' ' << option.name;
        EXPECT_NE(help.out.find(option.name), std::string::npos);
      }
    }
  }
  EXPECT_EQ(call({"completion", "tcsh"}).status, 2);
  EXPECT_EQ(call({"help", "chek"}).status, 2);
}

TEST_F(Commands, PrintRefusesABrokenText) {
  const Outcome outcome = call({"print", "-"}, "not valid ptx");
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("[syntax]"), std::string::npos);
  EXPECT_NE(outcome.err.find("nothing is printed"), std::string::npos);
}

TEST_F(Commands, IsaShowsTheFormsOfAnOpcode) {
  const Outcome outcome = call({"isa", "fma.rn.f64"});
  EXPECT_EQ(outcome.status, 0);
  for (const std::string_view part :
       {"fma.rnd.f64 d, a, b, c", "available     PTX 1.4, sm_13 or newer", ".rnd          .rn (chosen)", "CPU executor  yes",
        "write         inst.fma.rn.f64(d, a, b, c)", "manual        #floating-point-instructions-fma"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in\n" << outcome.out;
  EXPECT_TRUE(outcome.out.ends_with("1 form\n")) << outcome.out;
}

TEST_F(Commands, IsaNarrowsByDotsInEitherSpelling) {
  const std::string global = call({"isa", "ld.global"}).out;
  EXPECT_EQ(call({"isa", "ld.global_"}).out, global);
  EXPECT_NE(global.find(".global (chosen)"), std::string::npos) << global;
  EXPECT_NE(global.find("must go on with "), std::string::npos) << global;
  EXPECT_NE(call({"isa", "ret"}).out.find("may go on with .uni"), std::string::npos);
  EXPECT_NE(call({"isa", "ld.shared__cta"}).out.find(".shared::cta (chosen)"), std::string::npos);
}

TEST_F(Commands, IsaNamesWhatIsNearAnUnknownWord) {
  const Outcome opcode = call({"isa", "fmaa"});
  EXPECT_EQ(opcode.status, 2);
  EXPECT_NE(opcode.err.find("`fma`"), std::string::npos) << opcode.err;
  const Outcome modifier = call({"isa", "ld.globl"});
  EXPECT_EQ(modifier.status, 2);
  EXPECT_NE(modifier.err.find("global"), std::string::npos) << modifier.err;
  const Outcome empty = call({"isa", ""});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("`isa` is given an empty instruction"), std::string::npos) << empty.err;
  EXPECT_NE(call({"isa", "ld", "global"}).err.find("`ptxkit isa ld.global`"), std::string::npos);
}

TEST_F(Commands, IsaAloneListsEveryOpcode) {
  const Outcome outcome = call({"isa"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("Floating Point Instructions\n"), std::string::npos);
  std::istringstream lines(outcome.out);
  std::vector<std::string> words;
  for (std::string word; lines >> word;) words.push_back(word);
  for (const isa::Form& form : isa::forms())
    EXPECT_NE(std::find(words.begin(), words.end(), std::string(form.opcode)), words.end()) << form.opcode;
}

TEST_F(Commands, TheCallItselfIsChecked) {
  EXPECT_EQ(call({}).status, 2);
  EXPECT_EQ(call({"help"}).status, 0);
  EXPECT_EQ(call({"check", "--help"}).out, call({"help", "check"}).out);
  EXPECT_NE(call({"check", "--help"}).out, call({"help"}).out);
  EXPECT_EQ(call({"--version"}).out, cat(version, '\n'));
  const std::pair<std::vector<std::string>, std::string_view> cases[] = {
      {{"chek"},
       "`chek` is not a command; there are `check`, `print`, `run`, `debug`, `explain`, `isa`, `completion` or `man`\n  = hint: "
       "did "
       "you mean `check`?"},
      {{"check"}, "`check` needs a file"},
      {{"check", "--fast", "x"}, "`check` takes no option `--fast`\n  = hint: usage: ptxkit check FILE|FOLDER…"},
      {{"check", "x", "--target"}, "`--target` needs a value"},
      {{"check", "x", "--json=yes"}, "`--json` takes no value"},
      {{"check", "x", "--max", "many"}, "`--max` takes a number, `many` was given"},
      {{"check", "x", "--format", "xml"}, "`--format` takes `text`, `json`, `sarif` or `github`, `xml` was given"},
      {{"print", "a", "b"}, "`print` takes one file, 2 were given"},
      {{"print", "--json", "x"}, "`print` takes no option `--json`"},
      {{"check", "--", "--json"}, "cannot read `--json`: no such file"},
  };
  for (const auto& [arguments, said] : cases) {
    const Outcome outcome = call(arguments);
    EXPECT_EQ(outcome.status, 2) << said;
    EXPECT_NE(outcome.err.find(said), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(Commands, TheProgramIsNamedAsItWasCalled) {
  const std::vector<std::string> arguments = {"chek"};
  EXPECT_TRUE(run(arguments, {.program = "pyptx"}).err.starts_with("pyptx: error: "));
}

TEST_F(Commands, JsonHoldsFilesFindingsAndCounts) {
  const std::string bad = file("b\"ad.ptx", with("add.u32 %r1, %r0;"));
  const Outcome outcome = call({"check", "--json", bad, file("good.ptx", good)});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.out.starts_with("{\"files\": [{\"file\": ")) << outcome.out;
  for (const std::string_view part :
       {"b\\\"ad.ptx\", \"errors\": 1, \"warnings\": 0}", "\"kind\": \"operand_count\", \"severity\": \"error\"",
        "\"line\": 8, \"column\": 2, \"notes\": [", "\"counts\": {\"files\": 2, \"errors\": 1, \"warnings\": 0}}\n"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << " in\n" << outcome.out;
}

TEST_F(Commands, FormatsForPrograms) {
  // a comment before the place: bytes are not characters
  const std::string bad = file("ba d,1.ptx", with("/* äö */ add.u32 %r1, %r0;"));
  EXPECT_EQ(call({"check", "--format=json", bad}).out, call({"check", "--json", bad}).out);
  EXPECT_EQ(call({"check", "--format", "text", bad}).out, call({"check", bad}).out);

  const Outcome sarif = call({"check", "--format", "sarif", bad, file("good.ptx", good)});
  EXPECT_EQ(sarif.status, 1);
  for (const std::string_view part :
       {"\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"ptxkit\", \"version\": ",
        "\"rules\": [{\"id\": \"operand_count\", \"shortDescription\": {\"text\": ",
        "{\"ruleId\": \"operand_count\", \"ruleIndex\": 0, \"level\": \"error\", \"message\": {\"text\": ",
        "ba%20d%2C1.ptx\"}, \"region\": {\"startLine\": 8, \"startColumn\": 11, \"endColumn\": 18}}}]}]}]}\n"})
    EXPECT_NE(sarif.out.find(part), std::string::npos) << part << " in\n" << sarif.out;

  const std::string twice = file("twice.ptx", with("L: L: ret;"));
  EXPECT_NE(call({"check", "--format", "sarif", twice}).out.find("\"relatedLocations\": [{\"message\": {\"text\": \"first\"}, "),
            std::string::npos);
  EXPECT_NE(call({"check", "--json", twice}).out.find("\"places\": [{\"role\": \"first\", \"file\": "), std::string::npos);

  const Outcome github = call({"check", "--format", "github", bad});
  EXPECT_TRUE(github.out.starts_with("::error file=")) << github.out;
  EXPECT_NE(github.out.find("ba d%2C1.ptx,line=8,col=11,title=operand_count::"), std::string::npos) << github.out;
  EXPECT_NE(github.out.find("%0Aform: "), std::string::npos) << github.out;
  EXPECT_EQ(std::count(github.out.begin(), github.out.end(), '\n'), 1) << github.out;
  EXPECT_EQ(call({"check", "--format", "github", file("good.ptx", good)}).out, "");
}

}  // namespace
}  // namespace ptx::tool
