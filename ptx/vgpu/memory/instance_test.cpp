// Variables of a module: what they start with, that they outlive a launch, and who shares them.
#include <bit>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu {
namespace {

using testing::Buffer;
using testing::params;

check::Accepted accepted(const std::string& body) {
  text::Parsed parsed = text::parse(cat(".version 8.5\n.target sm_90a\n.address_size 64\n", body), "module.ptx");
  for (const Diagnostic& d : parsed.findings) ADD_FAILURE() << render(d);
  auto made = check::accept(std::move(parsed.module));
  if (!made) {
    ADD_FAILURE() << render(made.error());
    return check::accept({}).value();
  }
  return std::move(*made);
}

std::shared_ptr<Instance> instance(const std::string& body) {
  auto made = Instance::make(accepted(body));
  EXPECT_TRUE(made) << render(made.error());
  return made ? *made : nullptr;
}

template <class T>
std::vector<T> values(const Instance& instance, std::string_view name) {
  const auto bytes = instance.variable(name);
  EXPECT_TRUE(bytes) << name;
  if (!bytes) return {};
  EXPECT_EQ(bytes->size() % sizeof(T), 0u);
  std::vector<T> out(bytes->size() / sizeof(T));
  std::memcpy(out.data(), bytes->data(), bytes->size());
  return out;
}
std::uint64_t address(const Instance& instance, std::string_view name) {
  return reinterpret_cast<std::uintptr_t>(instance.variable(name)->data());
}

TEST(Instance, StartsWithNumbersOfEveryType) {
  const auto made = instance(R"(
.global .u8 a = 255;
.global .s8 b[4] = {-1, 2, -128};
.global .u16 c[3] = {1, 0xFFFF, 65537};
.global .b32 g[2] = {11, 22};
.global .s64 e = -9223372036854775808;
.const .u64 f[2] = {18446744073709551615, 1 << 40};
.global .f32 h[3] = {1.5, 0f40490FDB, -0.0};
.global .f64 i[2] = {1.5, 0f3F800000};
.global .b32 j[2] = {1.5, 0x10};
.global .b8 text[6] = {104, 101, 108, 108, 111, 0};
.global .u32 zeros[3];
.global .b32 counted[] = {7, 8, 9};
)");
  EXPECT_EQ(values<std::uint8_t>(*made, "a"), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(values<std::int8_t>(*made, "b"), (std::vector<std::int8_t>{-1, 2, -128, 0}));
  EXPECT_EQ(values<std::uint16_t>(*made, "c"), (std::vector<std::uint16_t>{1, 65535, 1}));
  EXPECT_EQ(values<std::uint32_t>(*made, "g"), (std::vector<std::uint32_t>{11, 22}));
  EXPECT_EQ(values<std::int64_t>(*made, "e"), (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()}));
  EXPECT_EQ(values<std::uint64_t>(*made, "f"), (std::vector<std::uint64_t>{~std::uint64_t{0}, std::uint64_t{1} << 40}));
  EXPECT_EQ(values<std::uint32_t>(*made, "h"), (std::vector<std::uint32_t>{0x3FC00000, 0x40490FDB, 0x80000000}));
  EXPECT_EQ(values<double>(*made, "i"), (std::vector<double>{1.5, 1.0}));
  EXPECT_EQ(values<std::uint32_t>(*made, "j"), (std::vector<std::uint32_t>{0x3FC00000, 16}));
  EXPECT_EQ(values<char>(*made, "text"), (std::vector<char>{'h', 'e', 'l', 'l', 'o', '\0'}));
  EXPECT_EQ(values<std::uint32_t>(*made, "zeros"), (std::vector<std::uint32_t>{0, 0, 0}));
  EXPECT_EQ(values<std::uint32_t>(*made, "counted"), (std::vector<std::uint32_t>{7, 8, 9}));
  EXPECT_FALSE(made->variable("nobody"));
}

TEST(Instance, FillsDimensionsAndVectorsWhereTheirBracesAre) {
  const auto made = instance(R"(
.global .s32 offset[][2] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};
.global .u8 kernel[3][3] = {{1}, {4, 5}, {}};
.global .u32 deep[2][2][2] = {{{1, 2}, {3}}, {{4}}};
.global .v4 .f32 vectors[2] = {{1.0, 2.0, 3.0, 4.0}, {5.0, 6.0, 7.0, 8.0}};
.global .v2 .u16 pair = {3, 4};
)");
  EXPECT_EQ(values<std::int32_t>(*made, "offset"), (std::vector<std::int32_t>{-1, 0, 0, -1, 1, 0, 0, 1}));
  EXPECT_EQ(values<std::uint8_t>(*made, "kernel"), (std::vector<std::uint8_t>{1, 0, 0, 4, 5, 0, 0, 0, 0}));
  EXPECT_EQ(values<std::uint32_t>(*made, "deep"), (std::vector<std::uint32_t>{1, 2, 3, 0, 4, 0, 0, 0}));
  EXPECT_EQ(values<float>(*made, "vectors"), (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(values<std::uint16_t>(*made, "pair"), (std::vector<std::uint16_t>{3, 4}));
  EXPECT_EQ(address(*made, "vectors") % 16, 0u) << "a vector is aligned as a whole";
}

TEST(Instance, KnowsAddressesInInitialValues) {
  const auto made = instance(R"(
.func f() { ret; }
.global .align 8 .b32 x[4] = {1, 2, 3, 4};
.const .b32 c = 5;
.global .u64 plain = x;
.global .u64 second = generic(x)+8;
.global .u64 table[3] = {x+4, c, generic(c)};
.global .u8 bytes[8] = {0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0xFF00000000(x), 0xFF0000000000(x), 0xFF000000000000(x), 0xFF00000000000000(x)};
.global .u32 low = x;
.global .u64 function = f;
)");
  const std::uint64_t x = address(*made, "x"), c = address(*made, "c");
  EXPECT_EQ(values<std::uint64_t>(*made, "plain"), (std::vector<std::uint64_t>{x}));
  EXPECT_EQ(values<std::uint64_t>(*made, "second"), (std::vector<std::uint64_t>{x + 8}));
  EXPECT_EQ(values<std::uint64_t>(*made, "table"), (std::vector<std::uint64_t>{x + 4, c, c}));
  EXPECT_EQ(values<std::uint64_t>(*made, "bytes"), (std::vector<std::uint64_t>{x}));
  EXPECT_EQ(values<std::uint32_t>(*made, "low"), (std::vector<std::uint32_t>{static_cast<std::uint32_t>(x)}));
  EXPECT_NE(values<std::uint64_t>(*made, "function")[0], 0u);
}

// Two kernels of one module: `add` adds to `g[1]` in every thread of lane 0, `get` copies what is there.
constexpr std::string_view shared_state = R"(
.global .b32 g[2] = {11, 22};
.const .b32 c = 5;
.visible .entry add()
{
  .reg .b32 %r<3>;
  .reg .pred %p;
  mov.u32 %r0, %tid.x;
  setp.ne.u32 %p, %r0, 0;
  @%p ret;
  ld.global.u32 %r1, [g+4];
  ld.const.u32 %r2, [c];
  add.u32 %r1, %r1, %r2;
  st.global.u32 [g+4], %r1;
  ret;
}
.visible .entry get(.param .u64 out)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [out];
  mov.u64 %rd1, g;
  ld.global.u32 %r0, [%rd1];
  ld.global.u32 %r1, [%rd1+4];
  st.global.v2.u32 [%rd0], {%r0, %r1};
  ret;
}
)";

struct TwoKernels {
  explicit TwoKernels(const std::shared_ptr<Instance>& instance)
      : add(Program::make(instance, nullptr, "add").value()), get(Program::make(instance, nullptr, "get").value()) {}
  std::vector<std::uint32_t> now() const {
    Buffer<std::uint32_t> out{"out", std::vector<std::uint32_t>(2), true, false};
    testing::run(get, {}, params({out.address()}), {out.region()});
    return out.data;
  }
  std::shared_ptr<const Program> add, get;
};

TEST(Instance, KernelsOfOneInstanceShareItsVariablesAcrossLaunches) {
  const auto made = instance(std::string(shared_state));
  const TwoKernels kernels(made);
  EXPECT_EQ(kernels.now(), (std::vector<std::uint32_t>{11, 22}));
  testing::run(kernels.add, {}, {}, {});
  testing::run(kernels.add, {}, {}, {});
  EXPECT_EQ(kernels.now(), (std::vector<std::uint32_t>{11, 32}));
  // from outside: both directions, constants too
  EXPECT_EQ(values<std::uint32_t>(*made, "g"), (std::vector<std::uint32_t>{11, 32}));
  const std::uint32_t hundred = 100;
  std::memcpy(made->variable("c")->data(), &hundred, 4);
  testing::run(kernels.add, {}, {}, {});
  EXPECT_EQ(kernels.now(), (std::vector<std::uint32_t>{11, 132}));
  made->reset();
  EXPECT_EQ(kernels.now(), (std::vector<std::uint32_t>{11, 22}));
  EXPECT_EQ(values<std::uint32_t>(*made, "c"), (std::vector<std::uint32_t>{5}));
}

TEST(Instance, AnotherInstanceHasItsOwn) {
  const check::Accepted module = accepted(std::string(shared_state));
  const auto one = Instance::make(module).value(), other = Instance::make(module).value();
  const TwoKernels first(one), second(other);
  testing::run(first.add, {}, {}, {});
  EXPECT_EQ(first.now(), (std::vector<std::uint32_t>{11, 27}));
  EXPECT_EQ(second.now(), (std::vector<std::uint32_t>{11, 22}));
}

TEST(Instance, ADeclarationAndItsDefinitionAreOneVariable) {
  const auto made = instance(R"(
.extern .global .b32 g[2];
.global .u64 before = g;
.visible .global .b32 g[2] = {1, 2};
.extern .global .b32 g[2];
.global .u64 behind = g;
.extern .global .b32 alone;
)");
  EXPECT_EQ(values<std::uint32_t>(*made, "g"), (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(values<std::uint64_t>(*made, "before")[0], address(*made, "g"));
  EXPECT_EQ(values<std::uint64_t>(*made, "behind")[0], address(*made, "g"));
  EXPECT_EQ(values<std::uint32_t>(*made, "alone"), (std::vector<std::uint32_t>{0})) << "as ptxas takes it";
}

TEST(Instance, VariablesOfABodyKeepTheirValues) {
  const auto made = instance(R"(
.visible .entry k(.param .u64 out)
{
  .global .b32 counter[2] = {40, 1};
  .const .b32 step = 2;
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [out];
  ld.global.u32 %r0, [counter];
  ld.const.u32 %r1, [step];
  add.u32 %r0, %r0, %r1;
  st.global.u32 [counter], %r0;
  st.global.u32 [%rd0], %r0;
  ret;
})");
  const auto program = Program::make(made, nullptr, "k").value();
  Buffer<std::uint32_t> out{"out", {0}};
  for (const std::uint32_t expected : {42u, 44u, 46u}) {
    testing::run(program, {}, params({out.address()}), {out.region()});
    EXPECT_EQ(out.data[0], expected);
  }
  EXPECT_FALSE(made->variable("counter")) << "only variables of the module have a name outside";
}

}  // namespace
}  // namespace ptx::vgpu
