// What the parser does at its limits: many faults, deep nesting, any bytes, endless statements, other encodings, parts.
#include <gtest/gtest.h>

#include "ptx/text/text.hpp"
#include "tests/support/header.hpp"

namespace ptx::text {
namespace {

using testing::header;

TEST(Limits, AHundredFindingsAndThenOneLine) {
  std::string text(header);
  for (int i = 0; i < 1000; ++i) text += "nonsense;\n";
  const Parsed p = parse(text);
  ASSERT_EQ(p.findings.size(), 101u);
  EXPECT_EQ(p.findings[100].severity, Severity::note);
  EXPECT_EQ(p.syntax_errors, 1000u);
  EXPECT_EQ(restore(p), text);
}

TEST(Limits, BlocksNestToAPoint) {
  std::string text = cat(header, ".entry k() {");
  text.append(5000, '{').append(5000, '}').append("ret; }\n.entry l() { ret; }\n");
  const Parsed p = parse(text);
  ASSERT_EQ(p.findings.size(), 1u);
  ASSERT_EQ(p.module.functions.size(), 2u);
  EXPECT_EQ(p.module.functions[1].body.size(), 1u);
  EXPECT_EQ(restore(p), text);
}

TEST(Limits, AnythingAtAll) {
  const std::string all =
      cat(header, ".entry k(.param .u64 x) { .reg .b32 a; L: @a mov.b32 a, {1, [x+4]}; bra L; } .global .u32 g[2] = {1, 2};");
  for (std::size_t n = 0; n <= all.size(); ++n) EXPECT_EQ(restore(parse(all.substr(0, n))), all.substr(0, n));
  for (std::size_t n = 0; n < all.size(); ++n)
    for (const char c : {'\0', '\xFF', '{', '}', ';', '"', '/', '.', '%', '('}) {
      std::string broken = all;
      broken[n] = c;
      EXPECT_EQ(restore(parse(broken)), broken);
    }
  std::string bytes;
  for (int i = 0; i < 65536; ++i) bytes += static_cast<char>(i * 2654435761u >> 13);
  EXPECT_EQ(restore(parse(bytes)), bytes);
  EXPECT_TRUE(parse(bytes).broken());
}

// What is endless is read in one pass: a time that grew with the square of it would end no test.
TEST(Parse, TakesWhatIsEndless) {
  const auto repeated = [](std::string_view piece, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += piece;
    return all;
  };
  const Parsed modifiers = parse(cat(header, ".entry k() { add", repeated(".u32", 300000), " %r1, %r2, %r3; ret; }\n"));
  ASSERT_FALSE(modifiers.findings.empty());
  EXPECT_EQ(modifiers.findings[0].kind, Kind::unknown_modifier) << render(modifiers.findings[0]).substr(0, 400);
  for (const int depth : {255, 256, 257, 1663})
    EXPECT_TRUE(parse(cat(header, ".entry k() ", repeated("{", depth), " ret; ", repeated("}", depth))).findings.empty())
        << depth;
  EXPECT_FALSE(has_errors(parse(".version 9.0\n.target compute_90\n.address_size 64\n.entry k() { ret; }\n").findings));
}

TEST(Encoding, AByteOrderMarkIsOneError) {
  const std::string text = cat("\xEF\xBB\xBF", header, ".entry k() { ret; }\n");
  const Parsed p = parse(text);
  ASSERT_EQ(p.findings.size(), 1u);
  EXPECT_TRUE(p.broken());
  EXPECT_EQ(render(p.findings[0]),
            "error: the text begins with a byte order mark, the bytes EF BB BF  [syntax]\n  --> <ptx>:1:1\n"
            "  = hint: PTX is ASCII: save the file as UTF-8 without a byte order mark");
  EXPECT_EQ(p.module.functions.size(), 1u);
  EXPECT_EQ(restore(p), text);
  for (const std::string& wide : {std::string("\xFF\xFE.\0v\0", 6), std::string("\xFE\xFF\0.\0v", 6)}) {
    const Parsed utf16 = parse(wide);
    ASSERT_EQ(utf16.findings.size(), 1u);
    EXPECT_EQ(utf16.findings[0].message, "the text is UTF-16: it begins with that encoding's byte order mark");
    EXPECT_EQ(restore(utf16), wide);
  }
  const Parsed inside = parse(cat(header, "\xEF\xBB\xBF.entry k() { ret; }\n"));
  ASSERT_FALSE(inside.findings.empty());
  EXPECT_TRUE(inside.findings[0].message.ends_with("and a byte order mark (U+FEFF) is here")) << inside.findings[0].message;
}

TEST(ParsePart, HasNoHeaderOfItsOwn) {
  const auto part = [](std::string text) { return parse_part(std::move(text), Target::sm_90a, {8, 5}, "part"); };
  const Parsed p = part(".global .u32 a;\n.func f() { ret; }");
  EXPECT_TRUE(p.findings.empty());
  EXPECT_EQ(p.module.target, Target::sm_90a);
  EXPECT_EQ(p.module.variables.size() + p.module.functions.size(), 2u);
  EXPECT_TRUE(part("").findings.empty());
  EXPECT_TRUE(part("// alone").findings.empty());
  for (const char* word : {".version 8.5", ".target sm_90a, debug", ".address_size 64"}) {
    const Parsed twice = part(cat(".global .u32 a;\n", word, "\n.global .u32 b;"));
    ASSERT_EQ(twice.findings.size(), 1u) << word;
    EXPECT_EQ(twice.findings[0].where.line, 2u);
    EXPECT_EQ(twice.module.variables.size(), 2u);
  }
}

}  // namespace
}  // namespace ptx::text
