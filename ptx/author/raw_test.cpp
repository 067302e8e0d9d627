#include "ptx/author/raw.hpp"

#include <gtest/gtest.h>

#include "ptx/author/author.hpp"
#include "ptx/text/text.hpp"

namespace ptx {
namespace {

Diagnostic error_of(Kernel& k) {
  auto module = k.module();
  EXPECT_FALSE(module);
  return module ? Diagnostic{} : module.error();
}

TEST(Raw, statements_become_instructions_like_any_others) {
  Kernel k({.name = "k", .out_specs = {{"Y", {1}, u32}}, .grid = 1});
  auto [y] = k.global_ptrs("Y");
  auto x = k.scalar<u32>(5);
  raw(k,
      cat("{ .reg .pred %q; setp.gt.u32 %q, ", x.name(), ", 3; // more }\n  @%q add.u32 ", x.name(), ", ", x.name(), ", 2; }"));
  k << inst.st.global_.u32(addr(y), x);
  k << inst.ret();
  const auto kernel = compile(std::move(k));
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<std::uint32_t> out(1);
  ASSERT_TRUE(kernel->run(cpu(), {}, {out}));
  EXPECT_EQ(out[0], 7u);
}

TEST(Raw, what_is_wrong_is_an_error_at_the_authors_line) {
  const auto error_in = [](std::string_view text, SourceLocation at = SourceLocation::current()) {
    Kernel k({.name = "k"});
    (void)k.scalar<u32>(0);
    raw(k, text, at);
    k << inst.ret();
    return error_of(k);
  };
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  const Diagnostic d = error_in("add.u32 %r0, %r0, 1;\nadd.f32 %r0, %r0;");
  EXPECT_EQ(d.where.line, line);
  EXPECT_TRUE(d.message.starts_with("line 2, column ")) << d.message;
  EXPECT_EQ(d.notes[0].text, "text: add.f32 %r0, %r0;");
  EXPECT_EQ(error_in("add.u32 %r0, %r9, 1;").kind, Kind::undefined_symbol);
  EXPECT_EQ(error_in("add.u32 %r0, %r0, 1").kind, Kind::syntax);
  EXPECT_EQ(error_in("{ add.u32 %r0, %r0, 1;").message, "the text of `raw` does not close a block that it opens");
  EXPECT_EQ(error_in("} ret; {").message, "the text of `raw` closes a block that it did not open");
  EXPECT_EQ(error_in("wgmma.fence.sync.aligned; .reg .b32 %r0;").kind, Kind::duplicate_symbol);
  Kernel old({.name = "k", .arch = sm_80});
  raw(old, "wgmma.fence.sync.aligned;");
  EXPECT_EQ(error_of(old).kind, Kind::target_lacks);
}

TEST(Raw, an_opcode_that_the_table_lacks_stays_text_and_is_warned_of) {
  static std::vector<Diagnostic> heard;
  heard.clear();
  const auto before = set_warning_handler([](const Diagnostic& warning) { heard.push_back(warning); });
  Kernel k({.name = "k"});
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  raw(k, "frobnicate.sync %r1;");
  k << inst.ret();
  set_warning_handler(before);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].kind, Kind::unknown_opcode);
  EXPECT_EQ(heard[0].where.line, line);
  const auto module = k.module();
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_NE(text::print(*module).find("frobnicate.sync %r1;"), std::string::npos);
}

TEST(RawOfAModule, is_checked_where_it_is_given) {
  const auto error_in = [](std::string_view text, SourceLocation at = SourceLocation::current()) {
    Module m({.arch = sm_90a});
    raw(m, text, at);
    Kernel k(m, {.name = "k"});
    k << inst.ret();
    return error_of(k);
  };
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  const Diagnostic d = error_in(".global .u32 a;\n  .target sm_80");
  EXPECT_EQ(d.message, "the text is part of a module whose `.target` is sm_90a already");
  EXPECT_EQ(to_string(d.where), cat(__FILE__, ':', line, " (line 2, column 3 of the text)"));
  EXPECT_EQ(text::in_source(d.where).line, line);
  EXPECT_EQ(d.notes[0].text, "text: .target sm_80");
  EXPECT_EQ(error_in(".func f() { mov.b32 %r1, 1; }").kind, Kind::undefined_symbol);
  EXPECT_EQ(error_in(".section .debug_str { .b8 300 }").kind, Kind::bad_declaration);
  EXPECT_EQ(error_in(".version 9.0").kind, Kind::syntax);
}

TEST(RawOfAModule, a_function_of_it_runs_and_a_fault_is_at_its_line) {
  Module m({.arch = sm_90a});
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  raw(m, ".func f(.reg .u64 p)\n{\n\t.reg .b32 r;\n\tld.global.u32 r, [p];\n\tst.global.u32 [p], r;\n\tret;\n}");
  Kernel k(m, {.name = "k", .out_specs = {{"Y", {1}, u32}}, .grid = 1});
  auto [y] = k.global_ptrs("Y");
  raw(k, cat("add.u64 ", y.name(), ", ", y.name(), ", 4096;\ncall f, (", y.name(), ");"));
  k << inst.ret();
  const auto kernel = compile(std::move(k));
  ASSERT_TRUE(kernel) << render(kernel.error());
  std::vector<std::uint32_t> out(1);
  const auto ran = kernel->run(cpu(), {}, {out});
  ASSERT_FALSE(ran);
  EXPECT_EQ(to_string(ran.error().where), cat(__FILE__, ':', line, " (line 4, column 2 of the text)"));
}

TEST(RawOfAModule, the_lines_of_a_section_are_checked) {
  Module m({.arch = sm_90a});
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  m.section("debug_str", ".b8 1\n.b8 300");
  Kernel k(m, {.name = "k"});
  k << inst.ret();
  const auto kernel = compile(std::move(k));
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().message, "in the section `.debug_str`: `300` does not fit .b8");
  EXPECT_EQ(kernel.error().where.line, line);
}

TEST(Raw, braces_of_comments_and_texts_do_not_count) {
  for (const char* text : {"// {\n", "/* { { */", ".pragma \"{\";", "{ /* } */ }"}) {
    Kernel k({.name = "k"});
    raw(k, text);
    k << inst.ret();
    const auto module = k.module();
    EXPECT_TRUE(module) << text << render(module ? Diagnostic{} : module.error());
  }
}

}  // namespace
}  // namespace ptx
