#include "ptx/write/builder.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <thread>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/operators.hpp"
#include "tests/write/written.hpp"

namespace ptx::write {
namespace {

using write_test::declared;
using write_test::here;
using write_test::Lines;
using write_test::written;

struct BuilderTest : ::testing::Test {
  Builder b{{.name = "k"}};

  Reg reg(Type type, std::string_view name = {}) { return *b.reg(type, name, here); }
  // Emits and, when refused, returns the diagnostic.
  std::optional<Diagnostic> emit(std::string_view dots, std::vector<Value> operands, Guard guard = {}) {
    auto done = b.emit(dots, operands, guard, here);
    if (done) return std::nullopt;
    EXPECT_EQ(done.error().where, here);
    return done.error();
  }
  std::string last() { return written(b.module()).back(); }
  std::string one(std::string_view dots, std::vector<Value> operands, Guard guard = {}) {
    const auto d = emit(dots, std::move(operands), guard);
    return d ? render(*d) : last();
  }
  Kind refused(std::string_view dots, std::vector<Value> operands, Guard guard = {}) {
    const std::size_t before = b.size(), constants = b.function().constants.size(),
                      operands_before = b.function().operands.size();
    const auto d = emit(dots, std::move(operands), guard);
    EXPECT_TRUE(d) << last();
    // whole or absent
    EXPECT_EQ(b.size(), before);
    EXPECT_EQ(b.function().constants.size(), constants);
    EXPECT_EQ(b.function().operands.size(), operands_before);
    return d ? d->kind : Kind::internal;
  }
};

// ---- names and families

TEST_F(BuilderTest, FamiliesByType) {
  const std::vector<std::pair<Type, std::string>> expected = {
      {Type::pred, "%p0"},    {Type::b16, "%rs0"},  {Type::u16, "%rs1"}, {Type::b32, "%r0"},    {Type::u32, "%r1"},
      {Type::s32, "%r2"},     {Type::u8, "%r3"},    {Type::tf32, "%r4"}, {Type::b64, "%rd0"},   {Type::s64, "%rd1"},
      {Type::f32, "%f0"},     {Type::f64, "%fd0"},  {Type::f16, "%h0"},  {Type::bf16, "%h1"},   {Type::f16x2, "%hh0"},
      {Type::bf16x2, "%hh1"}, {Type::b128, "%rq0"}, {Type::e4m3, "%b0"}, {Type::e4m3x2, "%b1"}, {Type::u8x4, "%r5"},
      {Type::f32x2, "%rd2"}};
  for (const auto& [type, name] : expected) {
    const Reg r = reg(type);
    EXPECT_EQ(b.name(r), name) << isa::name(type);
    EXPECT_EQ(r.type, type);
  }
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(declared(*module), (Lines{".pred %p<1>", ".b16 %rs<2>", ".b32 %r<6>", ".b64 %rd<3>", ".f32 %f<1>", ".f64 %fd<1>",
                                      ".b16 %h<2>", ".b32 %hh<2>", ".b128 %rq<1>", ".b16 %b<2>"}));
}

TEST_F(BuilderTest, UnusedFamiliesAreNotDeclaredAndIdsFollow) {
  const Reg f = reg(Type::f32);
  (void)b.array(Type::f32, 4, {}, here);
  ASSERT_FALSE(emit("mov.f32", {Value::of(f), Value::of_integer(1)}));
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(declared(*module), (Lines{".f32 %f<2>", ".f32 %farr0_<4>"}));
  EXPECT_EQ(written(*module), (Lines{"mov.f32 %f0, 0f3F800000;"}));
}

TEST_F(BuilderTest, FirstArrayOfAFamilyTakesItsName) {
  const RegArray first = *b.array(Type::b64, 4);
  EXPECT_EQ(b.name(b.at(first, 0)), "%rd0");
  EXPECT_EQ(b.name(b.at(first, 3)), "%rd3");
  EXPECT_EQ(b.name(reg(Type::u64)), "%rd4");
  const RegArray second = *b.array(Type::b64, 2);
  EXPECT_EQ(b.name(b.at(second, 1)), "%rdarr0_1");
  EXPECT_EQ(b.name(reg(Type::u64)), "%rd6");  // the second array counted as %rd5
}

TEST_F(BuilderTest, NamesAreTakenOnce) {
  EXPECT_EQ(b.name(reg(Type::u32, "acc")), "acc");
  EXPECT_EQ(b.reg(Type::u32, "acc", here).error().kind, Kind::duplicate_symbol);
  ASSERT_TRUE(b.array(Type::f32, 12, "a"));
  EXPECT_EQ(b.reg(Type::u32, "a11", here).error().kind, Kind::duplicate_symbol);
  EXPECT_TRUE(b.reg(Type::u32, "a12", here));
  EXPECT_EQ(b.array(Type::f32, 3, "a1", here).error().kind, Kind::duplicate_symbol);  // a1 + 0 is a's a10
  EXPECT_EQ(b.variable({}, "acc", here).error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.param({}, "k", here).error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.reg(Type::u32, "2x", here).error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.reg(Type::u4, {}, here).error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.array(Type::f32, 0, {}, here).error().kind, Kind::bad_declaration);
}

TEST_F(BuilderTest, NamesOfTheFamiliesTakeTheirPlace) {
  EXPECT_EQ(b.name(reg(Type::u32, "%r4")), "%r4");
  EXPECT_EQ(b.name(reg(Type::u32)), "%r5");
  EXPECT_EQ(b.reg(Type::u32, "%r2", here).error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.reg(Type::f32, "%r9", here).error().kind, Kind::bad_declaration);
  EXPECT_TRUE(b.array(Type::f32, 3, "%f", here));
  EXPECT_EQ(b.name(reg(Type::f32)), "%f3");
  EXPECT_EQ(b.array(Type::b32, 3, "%r", here).error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.array(Type::b32, 3, "%f", here).error().kind, Kind::bad_declaration);
}

// A family that has no registers yet gives its name to those that the author calls so, and takes another one.
TEST_F(BuilderTest, NamesOfUnusedFamiliesAreFree) {
  ASSERT_TRUE(b.array(Type::b32, 3, "%fd", here));
  EXPECT_EQ(b.name(reg(Type::f64)), "%fdx0");
  EXPECT_EQ(b.name(reg(Type::u32, "%b7")), "%b7");
  EXPECT_EQ(b.name(reg(Type::e4m3)), "%bx0");
  EXPECT_EQ(b.reg(Type::u32, "%fdx0", here).error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.reg(Type::f64, "%fd1", here).error().kind, Kind::duplicate_symbol);
}

// ptxas reads the name of a special register as that, however it is declared.
TEST_F(BuilderTest, NamesOfSpecialRegistersAreTaken) {
  for (const std::string_view name : {"%laneid", "%clock64", "%pm3"})
    EXPECT_EQ(b.reg(Type::u32, name, here).error().kind, Kind::bad_declaration) << name;
  EXPECT_EQ(b.array(Type::u32, 40, "%envreg", here).error().kind, Kind::bad_declaration);
  EXPECT_EQ(b.name(reg(Type::u32, "%laneid_")), "%laneid_");
}

// ---- numbers

TEST_F(BuilderTest, FloatsAreEncodedByTheOperandsType) {
  const Reg f = reg(Type::f32), d = reg(Type::f64), r = reg(Type::b32), rd = reg(Type::b64);
  const double inf = std::numeric_limits<double>::infinity();
  const auto f32 = [&](double x) { return one("mov.f32", {Value::of(f), Value::of_floating(x)}); };
  EXPECT_EQ(f32(1.5), "mov.f32 %f0, 0f3FC00000;");
  EXPECT_EQ(f32(-0.0), "mov.f32 %f0, 0f80000000;");
  EXPECT_EQ(f32(inf), "mov.f32 %f0, 0f7F800000;");
  EXPECT_EQ(f32(-inf), "mov.f32 %f0, 0fFF800000;");
  EXPECT_EQ(f32(std::numeric_limits<double>::quiet_NaN()), "mov.f32 %f0, 0f7FC00000;");
  EXPECT_EQ(f32(0.1), "mov.f32 %f0, 0f3DCCCCCD;");
  EXPECT_EQ(f32(std::numeric_limits<float>::denorm_min()), "mov.f32 %f0, 0f00000001;");
  EXPECT_EQ(one("mov.f64", {Value::of(d), Value::of_floating(0.1)}), "mov.f64 %fd0, 0d3FB999999999999A;");
  EXPECT_EQ(one("mov.f64", {Value::of(d), Value::of_floating(-0.0)}), "mov.f64 %fd0, 0d8000000000000000;");
  EXPECT_EQ(one("mov.b32", {Value::of(r), Value::of_floating(1)}), "mov.b32 %r0, 0f3F800000;");
  EXPECT_EQ(one("mov.b64", {Value::of(rd), Value::of_floating(1)}), "mov.b64 %rd0, 0d3FF0000000000000;");
  // an integer where a float is due
  EXPECT_EQ(one("add.f32", {Value::of(f), Value::of(f), Value::of_integer(1)}), "add.f32 %f0, %f0, 0f3F800000;");
  EXPECT_EQ(one("mov.f64", {Value::of(d), Value::of_integer(-3)}), "mov.f64 %fd0, 0dC008000000000000;");
}

TEST_F(BuilderTest, NumbersThatDoNotFitAreRefused) {
  const Reg f = reg(Type::f32), r = reg(Type::u32), h = reg(Type::f16), s = reg(Type::u16);
  for (int again = 0; again < 2; ++again) {  // the second time the instruction is remembered
    EXPECT_EQ(refused("mov.f32", {Value::of(f), Value::of_floating(1e300)}), Kind::immediate_range);
    EXPECT_EQ(refused("mov.u32", {Value::of(r), Value::of_integer(1LL << 32)}), Kind::immediate_range);
    EXPECT_EQ(refused("add.u16", {Value::of(s), Value::of(s), Value::of_integer(65536)}), Kind::immediate_range);
    ASSERT_FALSE(emit("mov.f32", {Value::of(f), Value::of_floating(1)}));
    ASSERT_FALSE(emit("mov.u32", {Value::of(r), Value::of_integer(0xFFFFFFFF)}));
    ASSERT_FALSE(emit("mov.u32", {Value::of(r), Value::of_integer(-1)}));
    ASSERT_FALSE(emit("add.u16", {Value::of(s), Value::of(s), Value::of_integer(65535)}));
  }
  EXPECT_EQ(refused("add.u32", {Value::of(r), Value::of(r), Value::of_floating(1.5)}), Kind::operand_mismatch);
  EXPECT_EQ(refused("cvt.rn.f16.f32", {Value::of(h), Value::of_floating(1e39)}), Kind::immediate_range);
}

// ---- operands

// An instruction whose integers decide is remembered by them, and none of them is taken for a further operand.
TEST_F(BuilderTest, IntegersThatDecideAreJudgedEachTime) {
  const auto sync = [&](std::vector<std::int64_t> numbers) {
    std::vector<Value> operands;
    for (const std::int64_t number : numbers) operands.push_back(Value::of_integer(number));
    return operands;
  };
  for (std::int64_t word = 0; word < 16; ++word) EXPECT_EQ(one("bar.sync", sync({word})), cat("bar.sync ", word, ";"));
  EXPECT_EQ(one("bar.sync", sync({1, 64})), "bar.sync 1, 64;");
  EXPECT_EQ(refused("bar.sync", sync({1, 33})), Kind::immediate_range);
  EXPECT_EQ(refused("bar.sync", sync({16})), Kind::immediate_range);
  EXPECT_EQ(one("bar.sync", sync({1, 64})), "bar.sync 1, 64;");
}

TEST_F(BuilderTest, Addresses) {
  const Reg p = reg(Type::b64), x = reg(Type::f32), i = reg(Type::u32);
  std::vector<Value> parts = {Value::of(p)};
  EXPECT_EQ(one("ld.global.f32", {Value::of(x), Value::address_of(parts)}), "ld.global.f32 %f0, [%rd0];");
  parts.push_back(Value::of_integer(-8));
  EXPECT_EQ(one("ld.global.f32", {Value::of(x), Value::address_of(parts)}), "ld.global.f32 %f0, [%rd0+-8];");
  parts[1] = Value::of_integer(0);
  EXPECT_EQ(one("ld.global.f32", {Value::of(x), Value::address_of(parts)}), "ld.global.f32 %f0, [%rd0];");
  parts[1] = Value::of_integer(1LL << 31);
  EXPECT_EQ(refused("ld.global.f32", {Value::of(x), Value::address_of(parts)}), Kind::immediate_range);
  parts[1] = Value::of(i);
  EXPECT_EQ(refused("ld.global.f32", {Value::of(x), Value::address_of(parts)}), Kind::operand_mismatch);
  parts = {Value::of(i)};
  EXPECT_EQ(refused("ld.global.f32", {Value::of(x), Value::address_of(parts)}), Kind::operand_mismatch);
  EXPECT_EQ(one("ld.shared.f32", {Value::of(x), Value::address_of(parts)}), "ld.shared.f32 %f0, [%r0];");
  parts = {Value::of_symbol("smem"), Value::of_integer(16)};
  EXPECT_EQ(one("ld.shared.f32", {Value::of(x), Value::address_of(parts)}), "ld.shared.f32 %f0, [smem+16];");
  parts = {Value::of_integer(75), Value::of_integer(19)};
  EXPECT_EQ(one("prefetch.local.L2", {Value::address_of(parts)}), "prefetch.local.L2 [94];");
  EXPECT_EQ(refused("ld.global.f32", {Value::of(x), Value::of(p)}), Kind::operand_mismatch);  // no brackets
}

TEST_F(BuilderTest, VectorsTensorsPipesAndSinks) {
  const Reg p = reg(Type::b64), r = reg(Type::u32), pr = reg(Type::pred);
  const RegArray v = *b.array(Type::f32, 4);
  const std::vector<Value> four = {Value::of(b.at(v, 0)), Value::of(b.at(v, 1)), Value::of(b.at(v, 2)), Value::of(b.at(v, 3))};
  const std::vector<Value> base = {Value::of(p)};
  EXPECT_EQ(one("ld.global.v4.f32", {Value::vector_of(four), Value::address_of(base)}),
            "ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd0];");
  EXPECT_EQ(refused("ld.global.v2.f32", {Value::vector_of(four), Value::address_of(base)}), Kind::operand_mismatch);
  Value second = Value::of(pr);
  second.piped = true;
  EXPECT_EQ(one("elect.sync", {Value(), second, Value::of_integer(-1)}), "elect.sync _|%p0, -1;");
  const std::vector<Value> coords = {Value::of(r), Value::of_integer(0)};
  const std::vector<Value> tensor = {Value::of(p), Value::vector_of(coords)}, smem = {Value::of(r)};
  EXPECT_EQ(one("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
                {Value::address_of(smem), Value::tensor_of(tensor), Value::address_of(smem)}),
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r0], [%rd0, {%r0, 0}], [%r0];");
}

TEST_F(BuilderTest, SpecialRegistersWhereRowsAllow) {
  const Reg r = reg(Type::u32);
  const Value tid = Value::of_special(*isa::special_from_name("%tid.x")),
              rank = Value::of_special(*isa::special_from_name("%cluster_ctarank"));
  EXPECT_EQ(one("mov.u32", {Value::of(r), tid}), "mov.u32 %r0, %tid.x;");
  EXPECT_EQ(refused("add.u32", {Value::of(r), Value::of(r), tid}), Kind::operand_mismatch);
  EXPECT_EQ(one("mov.u32", {Value::of(r), rank}), "mov.u32 %r0, %cluster_ctarank;");
  Builder old({.name = "k", .target = Target::sm_80});
  const Reg o = *old.reg(Type::u32);
  const std::vector<Value> operands = {Value::of(o), rank};
  EXPECT_EQ(old.emit("mov.u32", operands, {}, here).error().kind, Kind::target_lacks);
}

TEST_F(BuilderTest, Guards) {
  const Reg p = reg(Type::pred), r = reg(Type::u32);
  EXPECT_EQ(one("mov.u32", {Value::of(r), Value::of_integer(1)}, {p, false}), "@%p0 mov.u32 %r0, 1;");
  EXPECT_EQ(one("ret", {}, {p, true}), "@!%p0 ret;");
  EXPECT_EQ(refused("ret", {}, {r, false}), Kind::bad_guard);
}

TEST_F(BuilderTest, WrongInstructions) {
  const Reg f = reg(Type::f32), r = reg(Type::u32), rd = reg(Type::u64);
  EXPECT_EQ(refused("addd.u32", {}), Kind::unknown_opcode);
  EXPECT_EQ(refused("ld.v4.global.f32", {}), Kind::unknown_modifier);
  EXPECT_EQ(refused("fma.f32", {}), Kind::unknown_modifier);
  EXPECT_EQ(refused("fma.rn", {Value::of(f), Value::of(f), Value::of(f), Value::of(f)}), Kind::missing_modifier);
  EXPECT_EQ(refused("fma.rn.f32", {Value::of(f), Value::of(f), Value::of(f)}), Kind::operand_count);
  const auto wide = emit("add.u32", {Value::of(r), Value::of(r), Value::of(rd)});
  ASSERT_TRUE(wide);
  EXPECT_EQ(wide->kind, Kind::operand_mismatch);
  EXPECT_NE(wide->message.find("a .u64 register `%rd0`"), std::string::npos) << wide->message;
  const auto integer = emit("fma.rn.f32", {Value::of(f), Value::of(f), Value::of(r), Value::of(f)});
  ASSERT_TRUE(integer);
  EXPECT_NE(integer->message.find("a .u32 register `%r0`"), std::string::npos) << integer->message;
}

TEST_F(BuilderTest, WhatTheTargetOrVersionLacksIsRefusedAtOnce) {
  Builder old({.name = "k", .target = Target::sm_70, .version = Version{6, 3}});
  const Reg r = *old.reg(Type::u32), p = *old.reg(Type::b64), x = *old.reg(Type::f32);
  const auto kind = [&](std::string_view dots, std::vector<Value> operands) {
    const auto done = old.emit(dots, operands, {}, here);
    return done ? std::nullopt : std::optional(done.error().kind);
  };
  const std::vector<Value> base = {Value::of(p)};
  EXPECT_EQ(kind("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", {}), Kind::operand_count);  // operands come first
  EXPECT_EQ(kind("redux.sync.add.u32", {Value::of(r), Value::of(r), Value::of_integer(-1)}), Kind::target_lacks);
  EXPECT_EQ(kind("ld.global.L1::evict_first.f32", {Value::of(x), Value::address_of(base)}), Kind::version_lacks);
  EXPECT_EQ(kind("ld.global.f32", {Value::of(x), Value::address_of(base)}), std::nullopt);
  EXPECT_EQ(b.emit("wgmma.fence.sync.aligned", {}, {}, here).has_value(), true);
  Builder blackwell({.name = "k", .target = Target::sm_100a});
  const auto refused = blackwell.emit("wgmma.fence.sync.aligned", {}, {}, here);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::target_lacks);
  EXPECT_EQ(refused.error().message, "`wgmma.fence.sync.aligned` needs `sm_90a`; this kernel targets `sm_100a`");
}

// What the rule of a row says is said at the author's line, and by the numbers as they will be written.
TEST(Builder, RulesOfRowsAreApplied) {
  Builder b({.name = "k", .target = Target::sm_90a, .version = Version{8, 0}});
  const Reg policy = *b.reg(Type::b64), address = *b.reg(Type::b64), x = *b.reg(Type::b64);
  const auto fraction = [&](Value value) {
    const std::vector<Value> operands = {Value::of(policy), std::move(value)};
    return b.emit("createpolicy.fractional.L2::evict_last.b64", operands, {}, here);
  };
  EXPECT_TRUE(fraction(Value::of_floating(0.5)));
  EXPECT_TRUE(fraction(Value::of_integer(1)));
  const auto refused = fraction(Value::of_floating(1.5));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Kind::immediate_range);
  EXPECT_EQ(refused.error().message, "the fraction of `createpolicy.fractional` is above 0.0 and at most 1.0; `1.5` was given");
  EXPECT_EQ(refused.error().where.line, here.line);
  EXPECT_FALSE(fraction(Value::of_integer(0)));
  EXPECT_TRUE(fraction(Value::of_floating(0.25))) << "one refusal is not remembered for other numbers";
  const std::vector<Value> base = {Value::of(address)}, four(4, Value::of(x));
  const std::vector<Value> wide = {Value::vector_of(four), Value::address_of(base)};
  EXPECT_FALSE(b.emit("ld.volatile.global.v4.b64", wide, {}, here));
}

TEST(DefaultVersion, KnowsTheTarget) {
  EXPECT_EQ(default_version(Target::sm_80), (Version{8, 5}));
  EXPECT_EQ(default_version(Target::sm_90a), (Version{8, 5}));
  EXPECT_EQ(default_version(Target::sm_100a), (Version{8, 8}));
  EXPECT_EQ(default_version(Target::sm_103a), (Version{8, 8}));
  EXPECT_EQ(default_version(Target::sm_110a), (Version{9, 0}));
  EXPECT_EQ(default_version(Target::sm_120a), (Version{8, 7}));
  EXPECT_EQ(default_version(Target::sm_121a), (Version{8, 8}));
  for (std::size_t i = 0; i < isa::target_count; ++i)
    EXPECT_GE(default_version(static_cast<Target>(i)), isa::info(static_cast<Target>(i)).since)
        << isa::detail::target_infos[i].name;
  Builder b({.name = "k", .target = Target::sm_100a, .version = Version{8, 0}});
  EXPECT_EQ(b.finish().error().kind, Kind::version_lacks);
}

// ---- labels and blocks

TEST_F(BuilderTest, LabelsMayBeUsedBeforeTheyAreDefined) {
  const Reg p = reg(Type::pred);
  ASSERT_FALSE(emit("bra", {Value::of_label("end")}, {p, false}));
  ASSERT_TRUE(b.label("end", here));
  ASSERT_FALSE(emit("bra", {Value::of_symbol("end")}));  // a name is a label where a label is due
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(written(*module), (Lines{"@%p0 bra end;", "end:", "bra end;"}));
  EXPECT_EQ(module->functions[0].labels.size(), 1u);
  EXPECT_EQ(module->functions[0].labels[0].item, 1u);
}

TEST_F(BuilderTest, UndefinedAndDuplicateLabels) {
  ASSERT_TRUE(b.label("loop", {"kernel.py", 3}));
  const auto twice = b.label("loop", here);
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, Kind::duplicate_label);
  EXPECT_EQ(notes_of(twice.error())[0], "first: kernel.py:3");
  ASSERT_TRUE(b.emit("bra", std::vector{Value::of_label("lop")}, {}, here));
  const auto module = b.finish();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::undefined_label);
  EXPECT_EQ(module.error().where, here);
  EXPECT_EQ(notes_of(module.error())[0], "hint: did you mean `loop`?");
}

TEST_F(BuilderTest, LabelsBelongToTheirBlock) {
  const auto go = [&](std::string_view label) { ASSERT_FALSE(emit("bra", {Value::of_label(label)})); };
  go("L");  // the outer one, defined last
  b.open_block(here);
  go("L");  // this block's
  ASSERT_TRUE(b.label("L", here));
  ASSERT_TRUE(b.close_block(here));
  b.open_block(here);
  go("L");  // not defined here: the outer one
  b.open_block(here);
  go("L");
  go("M");
  ASSERT_TRUE(b.close_block(here));
  ASSERT_TRUE(b.close_block(here));
  ASSERT_TRUE(b.label("M", here));
  ASSERT_TRUE(b.label("L", here));
  const auto module = b.finish();
  ASSERT_TRUE(module);
  const ir::Function& f = module->functions[0];
  ASSERT_EQ(f.labels.size(), 3u);
  std::vector<std::uint32_t> targets;
  for (const ir::Inst& item : f.body)
    if (item.kind == ir::ItemKind::inst) targets.push_back(f.labels[f.operands[item.payload].payload].item);
  EXPECT_EQ(targets, (std::vector<std::uint32_t>{13, 3, 13, 13, 12}));
  for (std::uint32_t i = 0; i < f.labels.size(); ++i) EXPECT_EQ(f.body[f.labels[i].item].payload, i);
}

TEST_F(BuilderTest, NamedRegistersOfABlockAreItsOwn) {
  b.open_block(here);
  const Reg inner = reg(Type::u32, "x");
  EXPECT_EQ(b.name(reg(Type::u32)), "%r0");  // a family's register is declared at the top
  ASSERT_FALSE(emit("mov.u32", {Value::of(inner), Value::of_integer(5)}));
  ASSERT_TRUE(b.close_block(here));
  EXPECT_EQ(refused("mov.u32", {Value::of(inner), Value::of_integer(5)}), Kind::undefined_symbol);
  b.open_block(here);
  EXPECT_TRUE(b.reg(Type::f32, "x", here));
  ASSERT_TRUE(b.close_block(here));
  EXPECT_EQ(b.close_block(here).error().kind, Kind::bad_control_flow);
  reg(Type::u32, "y");
  b.open_block(here);
  EXPECT_EQ(b.reg(Type::u32, "y", here).error().kind, Kind::duplicate_symbol);
  EXPECT_EQ(b.finish().error().kind, Kind::bad_control_flow);  // the block is open
  ASSERT_TRUE(b.close_block(here));
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(written(*module), (Lines{"{", ".reg .b32 x;", "mov.u32 x, 5;", "}", "{", ".reg .f32 x;", "}", "{", "}"}));
  EXPECT_EQ(declared(*module), (Lines{".b32 %r<1>", ".b32 y"}));
}

TEST_F(BuilderTest, CommentsRawTextAndVariables) {
  b.comment("note");
  b.raw(".pragma \"nounroll\";", here);
  ir::Variable v;
  v.space = ir::StateSpace::shared;
  v.elements = 4096;
  EXPECT_EQ(*b.variable(v, "smem_0", here), "smem_0");
  EXPECT_EQ(*b.module_variable(v, "dyn_smem", here), "dyn_smem");
  ASSERT_TRUE(b.param({}, "n", here));
  const auto module = b.finish();
  ASSERT_TRUE(module);
  EXPECT_EQ(written(*module), (Lines{"note", ".pragma \"nounroll\";"}));
  EXPECT_EQ(module->str(module->functions[0].variables[0].name), "smem_0");
  EXPECT_EQ(module->str(module->variables[0].name), "dyn_smem");
  EXPECT_EQ(module->str(module->functions[0].params[0].name), "n");
}

// ---- redirect, ends, threads

TEST_F(BuilderTest, RedirectOnlyATemporaryOfTheLastInstruction) {
  const Reg slot = reg(Type::u32), x = reg(Type::u32);
  const Reg sum = *binary(b, Operator::add, Value::of(x), Value::of_integer(5), here);
  EXPECT_TRUE(b.redirect(sum, slot));
  EXPECT_EQ(last(), "add.u32 %r0, %r1, 5;");
  EXPECT_EQ(b.name(reg(Type::u32)), "%r2");  // the temporary was given back
  const Reg old = reg(Type::u32), fresh = reg(Type::u32);
  ASSERT_FALSE(emit("mov.u32", {Value::of(fresh), Value::of(x)}));
  ASSERT_FALSE(emit("add.u32", {Value::of(fresh), Value::of(fresh), Value::of_integer(1)}));
  EXPECT_FALSE(b.redirect(fresh, old));  // an earlier instruction names it, and so does the last
  EXPECT_FALSE(b.redirect(old, slot));   // not the newest
  EXPECT_EQ(last(), "add.u32 %r4, %r4, 1;");
}

TEST_F(BuilderTest, RegistersOfAnotherKernelAreRefused) {
  const Reg r = reg(Type::u32);
  Reg foreign = r;
  foreign.id = ir::RegId(99u);
  EXPECT_EQ(refused("mov.u32", {Value::of(r), Value::of(foreign)}), Kind::undefined_symbol);
  EXPECT_EQ(b.name(foreign), "a register of another kernel");
}

TEST_F(BuilderTest, ASpentBuilderWritesNothing) {
  const Reg r = reg(Type::u32);
  ASSERT_TRUE(b.finish());
  EXPECT_EQ(refused("mov.u32", {Value::of(r), Value::of_integer(1)}), Kind::no_active_trace);
  EXPECT_EQ(b.finish().error().kind, Kind::no_active_trace);
}

TEST_F(BuilderTest, TheFirstErrorThatWasKeptComesOut) {
  Diagnostic first, second;
  first.kind = Kind::bad_operator;
  second.kind = Kind::bad_guard;
  b.fail(first);
  b.fail(second);
  EXPECT_EQ(b.finish().error().kind, Kind::bad_operator);
}

TEST(Tracing, NestsAndIsOfItsThread) {
  Builder outer({.name = "a"}), inner({.name = "b"});
  EXPECT_EQ(current(), nullptr);
  {
    const Tracing one(outer);
    EXPECT_EQ(current(), &outer);
    {
      const Tracing two(inner);
      EXPECT_EQ(current(), &inner);
      std::thread([] { EXPECT_EQ(current(), nullptr); }).join();
    }
    EXPECT_EQ(current(), &outer);
  }
  EXPECT_EQ(current(), nullptr);
}

TEST(Builder, KernelNamesAreIdentifiers) {
  EXPECT_EQ(Builder({.name = "my kernel"}).finish().error().kind, Kind::bad_declaration);
}

TEST_F(BuilderTest, EveryItemKnowsItsAuthorsLine) {
  const Reg r = reg(Type::u32);
  ASSERT_TRUE(b.emit("mov.u32", std::vector{Value::of(r), Value::of_integer(1)}, {}, {"a.py", 1}));
  ASSERT_TRUE(b.emit("mov.u32", std::vector{Value::of(r), Value::of_integer(2)}, {}, {"b.py", 2}));
  ASSERT_TRUE(b.label("x", {"b.py", 3}));
  const auto& body = b.function().body;
  EXPECT_EQ(b.module().where(body[0]), (SourceLocation{"a.py", 1}));
  EXPECT_EQ(b.module().where(body[1]), (SourceLocation{"b.py", 2}));
  EXPECT_EQ(b.module().where(body[2]), (SourceLocation{"b.py", 3}));
}

}  // namespace
}  // namespace ptx::write
