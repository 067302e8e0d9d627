#include "ptx/ir/ir.hpp"

#include <gtest/gtest.h>

namespace ptx::ir {
namespace {

TEST(Module, InternsStringsOnceAndKeepsViews) {
  Module module;
  const StringId first = module.intern("smem_0");
  const std::string_view view = module.str(first);
  for (int i = 0; i < 1000; ++i) module.intern(cat("name", i));
  EXPECT_EQ(module.intern("smem_0"), first);
  EXPECT_EQ(view, "smem_0");
  const Module moved = std::move(module);
  EXPECT_EQ(moved.str(first).data(), view.data()) << "moving a module must not move its strings";
}

TEST(Module, NeighboursShareAPlace) {
  Module module;
  const char* file = intern_file("k.py");
  const WhereId a = module.add({file, 3});
  EXPECT_EQ(module.add({file, 3}), a);
  EXPECT_NE(module.add({file, 4}), a);
  EXPECT_FALSE(module.add({}).valid());
  EXPECT_EQ(module.where(a).line, 3u);
}

TEST(Registers, AreNamedByTheirDeclaration) {
  Module module;
  Function function;
  function.reg_decls = {{module.intern("%f"), Type::f32, 8, false}, {module.intern("%ok"), Type::pred, std::nullopt, false}};
  function.regs = {{RegDeclId(0), 5, Type::f32}, {RegDeclId(1), 0, Type::pred}};
  EXPECT_EQ(module.reg_name(function, RegId(0)), "%f5");
  EXPECT_EQ(module.reg_name(function, RegId(1)), "%ok");
}

TEST(Params, KnowTheirBytesAndAlignment) {
  const Param scalar{.type = Type::u32};
  EXPECT_EQ(scalar.bytes(), 4u);
  EXPECT_EQ(scalar.alignment(), 4u);
  const Param map{.type = Type::b8, .align = 128, .elements = 128};
  EXPECT_EQ(map.bytes(), 128u);
  EXPECT_EQ(map.alignment(), 128u);
}

TEST(Listing, FindsLines) {
  const Listing listing{"first\n\tsecond;\n  third\n", {}};
  EXPECT_EQ(listing.line(1), "first");
  EXPECT_EQ(listing.line(2), "second;");
  EXPECT_EQ(listing.line(3), "third");
  EXPECT_EQ(listing.line(0), "");
  EXPECT_EQ(listing.line(9), "");
}

TEST(Operands, AreDescribedForTheTable) {
  Module module;
  Function function;
  function.reg_decls = {{module.intern("%rd"), Type::b64, 4, false}};
  function.regs = {{RegDeclId(0), 1, Type::b64}};
  function.constants = {static_cast<std::uint64_t>(-8)};
  function.operands = {{.kind = OperandKind::reg, .payload = 0}, {.kind = OperandKind::integer, .payload = 0}};
  const Operand address{.kind = OperandKind::address, .count = 2, .payload = 0};
  std::deque<std::vector<isa::Arg>> scratch;
  const isa::Arg arg = arg_of(module, function, address, scratch);
  ASSERT_EQ(arg.kind, isa::ArgKind::address);
  ASSERT_EQ(arg.elements.size(), 2u);
  EXPECT_EQ(arg.elements[0].type, Type::b64);
  EXPECT_EQ(arg.elements[1].integer, -8);
}

}  // namespace
}  // namespace ptx::ir
