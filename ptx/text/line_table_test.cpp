// `.loc` and `.file`: where each instruction was written, and through which helpers.
#include "ptx/text/line_table.hpp"

#include <gtest/gtest.h>

#include "ptx/text/text.hpp"

namespace ptx::text {
namespace {

using Lines = std::vector<std::string>;

TEST(LineTable, says_a_place_when_it_changes) {
  LineTable table;
  EXPECT_EQ(table.enter({"a.py", 3}), Lines{".loc 1 3 0"});
  EXPECT_EQ(table.enter({"a.py", 3}), Lines{});
  EXPECT_EQ(table.enter({"b.py", 4, 7}), Lines{".loc 2 4 7"});
  EXPECT_EQ(table.enter({}), Lines{});
  EXPECT_EQ(table.enter({"a.py", 3}), Lines{".loc 1 3 0"});
  table.restart();
  EXPECT_EQ(table.enter({"a.py", 3}), Lines{".loc 1 3 0"});
  EXPECT_EQ(table.directives(), (Lines{".file 1 \"a.py\"", ".file 2 \"b.py\""}));
}

TEST(LineTable, names_of_files_are_ascii) {
  LineTable table;
  (void)table.enter({"r\xC3\xA9/\"a\"\\b.py", 3});
  EXPECT_EQ(table.directives(), Lines{R"(.file 1 "r??/?a?\\b.py")"});
}

TEST(LineTable, helpers_say_where_they_were_called) {
  const SourceLocation outer{"k.py", 10};
  const SourceLocation middle{"h.py", 20, 0, intern_call(outer, "load")};
  const SourceLocation inner{"h.py", 30, 0, intern_call(middle, "swizzle")};
  LineTable table;
  EXPECT_EQ(table.enter(inner), (Lines{".loc 1 10 0", ".loc 2 20 0, function_name $L__info_string0, inlined_at 1 10 0",
                                       ".loc 2 30 0, function_name $L__info_string1, inlined_at 2 20 0"}));
  const SourceLocation next{"h.py", 31, 0, inner.from};
  EXPECT_EQ(table.enter(next), Lines{".loc 2 31 0, function_name $L__info_string1, inlined_at 2 20 0"});
  EXPECT_EQ(table.enter(outer), Lines{".loc 1 10 0"});
  EXPECT_EQ(table.directives(), (Lines{".file 1 \"k.py\"", ".file 2 \"h.py\"", ".section .debug_str", "{", "$L__info_string0:",
                                       ".b8 108,111,97,100,0", "$L__info_string1:", ".b8 115,119,105,122,122,108,101,0", "}"}));
}

TEST(LineTable, call_sites_are_one_object) {
  EXPECT_EQ(intern_call({"k.py", 10}, "load"), intern_call({"k.py", 10}, "load"));
  EXPECT_NE(intern_call({"k.py", 10}, "load"), intern_call({"k.py", 11}, "load"));
  EXPECT_NE(intern_call({"k.py", 10}, "load"), intern_call({"k.py", 10}, "store"));
}

TEST(LineTable, file_names_with_quotation_marks) {
  LineTable table;
  (void)table.enter({"a\"b\\c.py", 1});
  EXPECT_EQ(table.directives(), Lines{R"(.file 1 "a?b\\c.py")"});
}

TEST(SourceLines, a_text_keeps_its_own) {
  const std::string source =
      ".version 8.5\n.target sm_90a\n.address_size 64\n.file 1 \"own.cu\"\n\n.entry k()\n{\n\t.loc 1 2 3\n\tret;\n}\n";
  const Parsed parsed = parse(source, "k.ptx");
  ASSERT_TRUE(parsed.findings.empty());
  EXPECT_EQ(list(parsed.module, SourceLines::loc).text, print(parsed.module));
}

TEST(SourceLines, a_text_without_gets_those_of_the_text) {
  const Parsed parsed = parse(".version 8.5\n.target sm_90a\n.address_size 64\n.entry k()\n{\n  ret;\n}\n", "k.ptx");
  const ir::Listing listing = list(parsed.module, SourceLines::loc);
  EXPECT_NE(listing.text.find("{\n\t.loc 1 6 3\n\tret;\n}\n\n.file 1 \"k.ptx\"\n"), std::string::npos) << listing.text;
  EXPECT_EQ(listing.line(listing.line_of.at(0).at(0)), "ret;");
}

}  // namespace
}  // namespace ptx::text
