// Vector registers: whole, by element, and elements of what has none.
#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::block;
using testing::Buffer;
using testing::params;

// %a is the thread's own `stride` bytes of `x`, %c those of `y`.
std::string at_thread(int stride, std::string_view body) {
  return cat(".reg .b64 %a, %b, %c; .reg .b32 %t;\nld.param.u64 %a, [x];\nld.param.u64 %c, [y];\nmov.u32 %t, %tid.x;\n",
             "mul.wide.u32 %b, %t, ", stride, ";\nadd.u64 %a, %a, %b;\nadd.u64 %c, %c, %b;\n", body, "\nret;");
}
constexpr std::string_view two_pointers = ".param .u64 x, .param .u64 y";

// x and y as `count` words a thread; what `body` makes of them.
std::vector<std::uint32_t> run(std::string_view body, std::uint32_t count, std::uint32_t threads = 64) {
  Buffer<std::uint32_t> x{"x", {}}, y{"y", std::vector<std::uint32_t>(threads * count)};
  for (std::uint32_t i = 0; i < threads * count; ++i) x.data.push_back(i * 2654435761u);
  const auto program = testing::text_program(two_pointers, at_thread(static_cast<int>(4 * count), body));
  testing::run(program, block(threads), params({x.address(), y.address()}), {x.region(), y.region()});
  return y.data;
}

TEST(VectorRegisters, AreLoadedAndStoredWhole) {
  for (const std::uint32_t n : {2u, 4u}) {
    const auto y = run(cat(".reg .v", n, " .b32 %w;\nld.global.v", n, ".b32 %w, [%a];\nst.global.v", n, ".b32 [%c], %w;"), n);
    for (std::uint32_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], i * 2654435761u) << i;
  }
}

TEST(VectorRegisters, OfEveryWidth) {
  const struct {
    int elements;
    std::string_view reg, type;
  } cases[] = {{2, "b16", "b16"}, {4, "b16", "u16"}, {2, "b32", "f32"}, {4, "f32", "f32"}, {2, "b64", "u64"},
               {2, "f64", "f64"}, {4, "b16", "u8"},  {4, "b32", "s8"},  {2, "b64", "s32"}};
  for (const auto& c : cases) {
    const std::string access = cat(".global.v", c.elements, '.', c.type);
    const auto y = run(cat(".reg .v", c.elements, " .", c.reg, " %w;\nld", access, " %w, [%a];\nst", access, " [%c], %w;"), 4);
    const auto bytes = static_cast<std::uint32_t>(c.elements) * (c.type.ends_with("8")    ? 1
                                                                 : c.type.ends_with("16") ? 2
                                                                 : c.type.ends_with("32") ? 4
                                                                                          : 8);
    for (std::uint32_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(y[i], i % 4 < bytes / 4 ? i * 2654435761u : 0u) << c.reg << ' ' << access << ' ' << i;
  }
}

TEST(VectorRegisters, ElementsAreSourcesAndDestinationsWhereScalarsAre) {
  // every element by each of its two names, reversed; a guard's instruction and a selected value among them
  const auto y = run(R"(
    .reg .v4 .b32 %v; .reg .v4 .u32 %w; .reg .v2 .b64 %at; .reg .pred %p;
    ld.global.v4.b32 {%v.x, %v.g, %v.z, %v.a}, [%a];
    mov.b32 %w.w, %v.r;
    add.u32 %w.b, %v.y, 1;
    setp.lt.u32 %p, %v.z, %v.w;
    selp.b32 %w.y, %v.z, %v.w, %p;
    @%p mov.u32 %w.x, 7;
    @!%p add.u32 %w.x, %v.w, %v.w;
    mov.b64 %at.y, %c;
    cvt.u64.u32 %at.x, %w.w;
    mov.b64 %b, %at.y;
    st.global.v2.b32 [%b], {%w.x, %w.y};
    add.u64 %at.x, %at.y, 8;
    mov.b64 %b, %at.x;
    st.global.v2.b32 [%b], {%w.z, %w.w};)",
                     4);
  for (std::uint32_t t = 0; t < y.size(); t += 4) {
    const auto x = [&](std::uint32_t i) { return (t + i) * 2654435761u; };
    const bool less = x(2) < x(3);
    ASSERT_EQ(y[t], less ? 7 : 2 * x(3));
    ASSERT_EQ(y[t + 1], less ? x(2) : x(3));
    ASSERT_EQ(y[t + 2], x(1) + 1);
    ASSERT_EQ(y[t + 3], x(0));
  }
}

TEST(VectorRegisters, ArePackedUnpackedConvertedAndShuffled) {
  const auto y = run(R"(
    .reg .v2 .b32 %w; .reg .v4 .b16 %h; .reg .v2 .f32 %f; .reg .b64 %q;
    ld.global.b64 %q, [%a];
    mov.b64 %w, %q;
    mov.b64 %q, {%w.y, %w.x};
    mov.b64 %h, %q;
    mov.b64 %q, {%h.w, %h.z, %h.y, %h.x};
    mov.b64 %w, %q;
    cvt.rn.f32.u32 %f.y, 5;
    cvt.rzi.u32.f32 %w.x, %f.y;
    shfl.sync.bfly.b32 %w.y, %w.y, 1, 31, -1;
    st.global.v2.b32 [%c], %w;)",
                     2);
  const auto swapped = [](std::uint32_t x) { return x << 16 | x >> 16; };
  for (std::uint32_t t = 0; t < y.size() / 2; ++t) {
    ASSERT_EQ(y[2 * t], 5u);
    // words exchanged, then the four halves reversed: the words back in place, their halves exchanged
    ASSERT_EQ(y[2 * t + 1], swapped((2 * (t ^ 1) + 1) * 2654435761u)) << t;
  }
}

TEST(VectorRegisters, UninitialisedElementsAreNamed) {
  const auto program = testing::text_program(
      two_pointers, at_thread(4, ".reg .v4 .b32 %v;\nmov.b32 %v.x, 1;\nadd.u32 %t, %v.x, %v.z;\nst.global.b32 [%c], %t;"));
  Buffer<std::uint32_t> x{"x", std::vector<std::uint32_t>(32)};
  const Diagnostic d = testing::fault(program, block(1), params({x.address(), x.address()}), {x.region()});
  EXPECT_EQ(d.kind, Kind::uninitialised);
  EXPECT_NE(render(d).find("`%v.z`, which nothing has written"), std::string::npos) << render(d);
}

// Refused before it runs, by the checker or by the executor; never executed.
TEST(VectorRegisters, PartsThatARegisterDoesNotHaveAreRefused) {
  for (const std::string_view body :
       {"add.u32 %r3.x, %r0, 1;", "mov.u32 %r0, %r3.y;", "mov.b32 %w.z, %r0;", "mov.b32 %w.b0, %r0;", "mov.b32 %w, %r0;",
        "add.u32 %r0, %w, 1;", "@%p ld.global.b32 %r0.x, [%d0];", "ld.global.b32 %r0, [%r3.x];",
        "st.global.v2.b32 [%d0], {%r0.x, %r3};", "setp.eq.u32 %p.x, %r0, %r3;", "setp.eq.u32 %p|%p.y, %r0, %r3;",
        "mov.pred %p, %p.x;", "ld.global.v4.b32 %w, [%d0];", "ld.global.v2.b32 %r0, [%d0];",
        "shfl.sync.bfly.b32 %r0.x, %r3, 1, 31, -1;", "vote.sync.all.pred %p.x, %p, -1;", "bar.sync %r0.x;",
        "cvt.u64.u32 %d0.x, %r0;"}) {
    const auto made = testing::make_from_text(
        testing::text_kernel("", cat(".reg .b32 %r<4>; .reg .v2 .b32 %w; .reg .pred %p; .reg .b64 %d<2>;\n", body, "\nret;")));
    EXPECT_FALSE(made) << body;
  }
}

}  // namespace
}  // namespace ptx::vgpu
