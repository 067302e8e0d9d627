// Shared memory in C++: the program that tests/python/test_smem.py writes too, static and dynamic, and errors at the author's
// lines.
#include "ptx/write/door/smem.hpp"

#include "ptx/write/write.hpp"
#include "tests/write/golden.hpp"
#include "tests/write/written.hpp"

namespace ptx {
namespace {

using write_test::Lines;
using write_test::written;

void write_program(Kernel& k) {
  auto x = k.param<u32>("n");
  auto tile = k.smem.alloc<f32>({4, 32});
  auto half = k.smem.alloc<bf16>(64, {.align = 16, .name = "half"});
  auto bytes = k.smem.alloc<b8>({2, 8});
  auto a = k.smem.wgmma_tile<bf16>({64, 64});
  auto full = k.smem.mbarrier(4);

  auto v = tile.load(1, x);
  tile.store(x, 2, v);
  v = tile.load(2, 3);
  tile.store(0, x, v);
  tile.store(x, tid_x, v);
  auto byte = bytes.load(1, x);
  bytes.store(x, x, byte);

  k << inst.ld.shared.f32(v, addr(tile[2], 4));
  k << inst.st.shared.f32(addr(tile), v);
  k << inst.mbarrier.init.shared__cta.b64(addr(full[3]), 1);
  auto h = k.smem.load<bf16>(half);
  k.smem.store(addr(half, 2), h);
  auto there = k.smem.apply_swizzle(x, a.swizzle());
  k.smem.apply_swizzle(there, "32B");
  k.smem.apply_swizzle(there, "64B");
  k.smem.apply_swizzle(there, "NONE");
  k << inst.ret();
}

TEST(SmemDoor, WritesWhatPythonWrites) {
  Kernel k({.name = "shared", .raw_params = {{"n", u32}}});
  write_program(k);
  write_test::expect_golden(k, "smem");
}

TEST(SmemDoor, WritesWhatPythonWritesInDynamicMemory) {
  Kernel k({.name = "shared", .raw_params = {{"n", u32}}, .smem = 50000});
  write_program(k);
  write_test::expect_golden(k, "smem_dynamic");
  EXPECT_EQ(k.boundary().smem, 50000u);
}

TEST(SmemDoor, AHandleKnowsWhatItIs) {
  Kernel k({.name = "shared"});
  auto tile = k.smem.alloc<f32>({4, 32}, {.swizzle = "64B"});
  EXPECT_EQ(tile.shape(), (std::vector<std::int64_t>{4, 32}));
  EXPECT_EQ(tile.name(), "smem_0");
  EXPECT_EQ(tile.swizzle(), "64B");
  EXPECT_FALSE(tile.gmma_layout());
  EXPECT_EQ(tile[3].byte_offset(), 3 * 128);
  auto b = k.smem.wgmma_tile<bf16>({64, 256}, layout::Major::mn, {.name = "b"});
  EXPECT_EQ(b.gmma_layout(), *layout::pick_gmma_layout(2, 256, 64, layout::Major::mn));
  EXPECT_EQ(b[1].gmma_layout(), b.gmma_layout());
  EXPECT_EQ(b.gmma_major(), layout::Major::mn);
  EXPECT_EQ(b.swizzle(), "128B");
  EXPECT_TRUE(k.smem.wgmma_tile<bf16>({64, 8}).swizzle().empty());
  EXPECT_EQ(k.smem.mbarrier(2, "full")[1].byte_offset(), 8);
  EXPECT_TRUE(k.module());
}

// Rows of all dimensions but the last lie behind one another: element [1][2][3] of 2 x 4 x 8 is number (1 * 4 + 2) * 8 + 3.
TEST(SmemDoor, ElementsOfAnyNumberOfDimensions) {
  Kernel k({.name = "shared"});
  auto a = k.smem.alloc<f32>({2, 4, 8});
  const auto x = a.load({1, 2, 3});
  a.store({1, 2, 3}, x);
  EXPECT_EQ(written(k.builder().module()),
            (Lines{"mov.u32 %r0, 51;", "shl.b32 %r1, %r0, 2;", "mov.b32 %r2, smem_0;", "add.u32 %r2, %r2, %r1;",
                   "ld.shared.f32 %f0, [%r2];", "mov.u32 %r3, 51;", "shl.b32 %r4, %r3, 2;", "mov.b32 %r5, smem_0;",
                   "add.u32 %r5, %r5, %r4;", "st.shared.f32 [%r5], %f0;"}));
  (void)a.load({1, 2});
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, "an element of `smem_0` has an index for each of 3 dimensions; 2 are given");
}

// The author's line is that of the call.
TEST(SmemDoor, ErrorsAreAtTheAuthorsLine) {
  const auto error_of = [](auto write, std::uint32_t smem = 0) {
    Kernel k({.name = "shared", .smem = smem});
    write(k);
    const auto module = k.module();
    EXPECT_FALSE(module);
    return module ? Diagnostic{} : module.error();
  };
  const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
  const Diagnostic d = error_of([](Kernel& k) { k.smem.alloc<f32>({4, 0}); });
  EXPECT_EQ(d.kind, Kind::bad_declaration);
  EXPECT_EQ(d.where.line, line);
  EXPECT_TRUE(std::string_view(d.where.file).ends_with("smem_test.cpp"));

  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>({4, 8})[4]; }).kind, Kind::bad_operator);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>(32).load(0, 0); }).kind, Kind::bad_operator);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>({4, 8}).load(0, 8); }).message,
            "the column is 8, and the allocation has 8 of them");
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>({4, 8}).load(k.scalar<u64>(), 0); }).kind, Kind::bad_operator);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.mbarrier(2)[2]; }).kind, Kind::bad_operator);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.mbarrier(0); }).kind, Kind::bad_declaration);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.wgmma_tile<bf16>({63, 64}); }).kind, Kind::bad_tile);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.wgmma_tile<bf16>(64); }).kind, Kind::bad_tile);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>(1, {.swizzle = "16B"}); }).kind, Kind::bad_tile);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.apply_swizzle(k.scalar<u32>(0), "96B"); }).kind, Kind::bad_tile);
  EXPECT_EQ(error_of([](Kernel& k) { (void)k.smem.alloc<f32>(1, {.align = 24}); }).kind, Kind::bad_declaration);

  // a handle of another kernel
  Kernel other({.name = "other"});
  auto foreign = other.smem.alloc<f32>(32);
  EXPECT_EQ(error_of([&](Kernel& k) { (void)k.smem.load<f32>(foreign); }).kind, Kind::undefined_symbol);
}

TEST(SmemDoor, MoreThan48KiBHasToBeDynamic) {
  Kernel fits({.name = "shared"});
  (void)fits.smem.alloc<b8>(48 * 1024);
  EXPECT_TRUE(fits.module());

  Kernel k({.name = "shared"});
  (void)k.smem.alloc<b8>(48 * 1024);
  (void)k.smem.mbarrier(1);
  const auto module = k.module();
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().kind, Kind::shared_memory_size);
  EXPECT_EQ(module.error().message, "kernel `shared` allocates 49160 bytes of shared memory; more than 49152 have to be dynamic");
  EXPECT_EQ(notes_of(module.error()), Lines{"hint: say so in the kernel's specification: `.smem = 49160`"});

  // the launch has as much as is allocated
  Kernel dynamic({.name = "shared", .smem = 49160});
  (void)dynamic.smem.alloc<b8>(60000);
  EXPECT_TRUE(dynamic.module());
  EXPECT_EQ(dynamic.boundary().smem, 60000u);
}

TEST(SmemDoor, TheTargetsMemoryIsTheMost) {
  for (const auto& [target, kib] :
       {std::pair(sm_80, 163), {sm_86, 99}, {sm_89, 99}, {sm_90a, 227}, {sm_100a, 227}, {sm_120, 99}}) {
    Kernel k({.name = "shared", .smem = 49160, .arch = target});
    (void)k.smem.alloc<b8>(static_cast<std::int64_t>(kib) * 1024 - 8);
    (void)k.smem.mbarrier(1);
    EXPECT_TRUE(k.module());
    Kernel more({.name = "shared", .smem = 49160, .arch = target});
    (void)more.smem.alloc<b8>(static_cast<std::int64_t>(kib) * 1024 - 8);
    const auto line = static_cast<std::uint32_t>(__LINE__) + 1;
    (void)more.smem.mbarrier(2);
    const auto module = more.module();
    ASSERT_FALSE(module);
    EXPECT_EQ(module.error().kind, Kind::shared_memory_size);
    EXPECT_EQ(module.error().where.line, line);
  }
}

TEST(SmemDoor, TheAuthorsOwnArray) {
  Kernel k({.name = "shared", .smem = 65536, .extern_smem = "tiles"});
  k.smem.base();
  k.smem.base("other");
  EXPECT_EQ(written(k.builder().module()), (Lines{"mov.u32 %r0, tiles;", "mov.u32 %r1, other;"}));
  EXPECT_EQ(k.builder().module().variables.size(), 1u);
  (void)k.smem.alloc<f32>(32);
  ASSERT_EQ(k.builder().module().variables.size(), 2u);  // and the dynamic array, which the allocation is in
  EXPECT_EQ(k.builder().module().str(k.builder().module().variables[1].name), "dyn_smem");

  Kernel none({.name = "shared"});
  none.smem.base();
  none.smem.base(none.smem.mbarrier(2)[1]);
  EXPECT_EQ(written(none.builder().module()), (Lines{"mov.u32 %r0, smem;", "mov.u32 %r1, mbar_0;", "add.u32 %r2, %r1, 8;"}));
}

TEST(SmemDoor, IndicesAreJudgedByWhatTheyCount) {
  const auto refused = [](auto write) {
    Kernel k({.name = "k"});
    write(k);
    const auto module = k.module();
    return module ? std::string() : render(module.error());
  };
  EXPECT_NE(refused([](Kernel& k) { (void)k.smem.alloc<f32>({4, 8})[4]; }).find("index 4 of an array of 4 stages"),
            std::string::npos);
  EXPECT_NE(refused([](Kernel& k) { (void)k.smem.mbarrier(2)[2]; }).find("index 2 of an array of 2 barriers"), std::string::npos);
}

}  // namespace
}  // namespace ptx
