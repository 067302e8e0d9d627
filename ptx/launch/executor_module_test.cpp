// A text on the executor: parameters of any order, grid and block at the launch, one decoding, places of the source.
#include "ptx/launch/executor_module.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

namespace ptx::launch {
namespace {

// out[i] = k * x[i] for i < n; the parameters are mixed. The load is from inlined code, as LLVM says it in a comment.
constexpr std::string_view scale = R"(.version 8.5
.target sm_80
.address_size 64
.file 1 "/src/kernels.py"
.file 2 "/lib/standard.py"
.visible .entry scale(.param .u32 n, .param .u64 x, .param .f32 k, .param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %d<4>;
  .reg .f32 %f<3>;
  .reg .pred %p;
  ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0;
  @%p bra DONE;
  ld.param.u64 %d0, [x];
  mul.wide.u32 %d1, %r1, 4;
  add.u64 %d0, %d0, %d1;
  .loc 2 3 5 // standard.py:3:5 @[ standard.py:7:2 @[ kernels.py:20:9 ] ]
  ld.global.f32 %f0, [%d0];
  .loc 1 21 1 // kernels.py:21:1
  ld.param.f32 %f1, [k];
  mul.f32 %f0, %f0, %f1;
  ld.param.u64 %d2, [out];
  add.u64 %d2, %d2, %d1;
  st.global.f32 [%d2], %f0;
DONE:
  ret;
}
)";

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
vgpu::Region region(std::vector<T>& data, std::string name) {
  return {.data = reinterpret_cast<std::byte*>(data.data()), .bytes = data.size() * sizeof(T), .name = std::move(name)};
}

class Scale {
 public:
  std::shared_ptr<const ExecutorModule> module = ExecutorModule::make(std::string(scale), "scale.ptx").value();
  std::vector<float> x = std::vector<float>(40), out = std::vector<float>(40);

  Expected<vgpu::Report> run(std::uint32_t n, float k, std::array<std::uint32_t, 3> grid) {
    std::iota(x.begin(), x.end(), 0.0f);
    const float *from = x.data(), *to = out.data();
    const std::array values{bytes_of(n), bytes_of(from), bytes_of(k), bytes_of(to)};
    const auto block = module->parameter_block("scale", values).value();
    const std::array regions{region(x, "x"), region(out, "out")};
    return module->run("scale", {.grid = grid, .block = {16, 1, 1}}, block, regions);
  }
};

TEST(ExecutorModule, TakesParametersInAnyOrder) {
  Scale s;
  EXPECT_EQ(s.module->entries(), std::vector<std::string>{"scale"});
  const auto parameters = s.module->parameters("scale").value();
  ASSERT_EQ(parameters.size(), 4u);
  EXPECT_EQ(parameters[2].name, "k");
  EXPECT_EQ(parameters[2].type, Type::f32);
  EXPECT_EQ(parameters[2].offset, 16u);
  EXPECT_EQ(parameters[3].offset, 24u);
  const auto report = s.run(40, 2.0f, {3, 1, 1});
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_EQ(report->ctas, 3u);
  for (std::size_t i = 0; i < 40; ++i) EXPECT_EQ(s.out[i], 2.0f * static_cast<float>(i));
}

TEST(ExecutorModule, DecodesAKernelOnce) {
  Scale s;
  const auto first = s.module->kernel("scale").value();
  ASSERT_TRUE(s.run(16, 1.0f, {1, 1, 1}));
  ASSERT_TRUE(s.run(40, 3.0f, {3, 1, 1}));
  EXPECT_EQ(s.out[39], 117.0f);
  EXPECT_EQ(s.module->kernel("scale").value(), first);
}

TEST(ExecutorModule, SaysWhereInTheSource) {
  Scale s;
  const auto report = s.run(41, 1.0f, {3, 1, 1});
  ASSERT_FALSE(report);
  const Diagnostic& d = report.error();
  EXPECT_EQ(d.kind, Kind::out_of_bounds);
  const std::vector<std::string> notes = notes_of(d);
  const auto source = std::find(notes.begin(), notes.end(), "source: /lib/standard.py:3:5");
  ASSERT_LT(notes.end() - source, static_cast<std::ptrdiff_t>(notes.size())) << render(d);
  ASSERT_GE(notes.end() - source, 3);
  EXPECT_EQ(source[1], "called at: /lib/standard.py:7:2");
  EXPECT_EQ(source[2], "called at: /src/kernels.py:20:9");
  ASSERT_EQ(d.execution.size(), 1u);
  EXPECT_EQ(d.execution[0].kernel, "scale");
  EXPECT_EQ(d.execution[0].instruction, "ld.global.f32");
  EXPECT_EQ(d.execution[0].ptx_line, 23u);
  EXPECT_EQ(d.execution[0].block, (std::array<std::uint32_t, 3>{2, 0, 0}));
  EXPECT_EQ(d.execution[0].thread, (std::array<std::uint32_t, 3>{8, 0, 0}));
  ASSERT_TRUE(d.execution[0].access);
  EXPECT_EQ(d.execution[0].access->region, "x");
  EXPECT_EQ(d.execution[0].access->address, reinterpret_cast<std::uintptr_t>(s.x.data() + 40));
  EXPECT_EQ(d.execution[0].access->bytes, 4u);
  EXPECT_FALSE(d.execution[0].access->is_store);
}

TEST(ExecutorModule, RefusesWhatDoesNotFit) {
  const Scale s;
  const std::uint32_t n = 1;
  const std::uint64_t wide = 1;
  EXPECT_EQ(s.module->parameters("none").error().kind, Kind::unknown_kernel);
  const std::array one{bytes_of(n)};
  EXPECT_EQ(s.module->parameter_block("scale", one).error().kind, Kind::argument_count);
  const std::array four{bytes_of(wide), bytes_of(wide), bytes_of(n), bytes_of(wide)};
  EXPECT_EQ(s.module->parameter_block("scale", four).error().message,
            "parameter `n` of kernel `scale` has 4 bytes, 8 were given");
  EXPECT_EQ(s.module->variable("x").error().kind, Kind::undefined_symbol);
  const auto broken = ExecutorModule::make(".version 8.5\n.target sm_80\n.entry k() { add.u33 %a, %b; }", "k.ptx");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().where.line, 3u);
}

TEST(ExecutorModule, FindsAllThatIsNotExecuted) {
  // one that no executor of today's has, and one that it has
  const std::string text = R"(.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 %r<5>;
  .reg .b64 %d<3>;
  .reg .f32 %f<5>;
  .loc 1 4 2
  ld.param.u64 %d0, [out];
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d0, {%r1}];
  mov.b32 %r2, 1;
  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%d0, {%r2}];
  ret;
}
.file 1 "a.py"
)";
  const auto module = ExecutorModule::make(text);
  ASSERT_TRUE(module) << render(module.error());
  const auto found = (*module)->find_unsupported("k");
  ASSERT_TRUE(found) << render(found.error());
  ASSERT_EQ(found->size(), 2u);
  for (const Diagnostic& d : *found) EXPECT_EQ(d.kind, Kind::not_executed);
  EXPECT_EQ((*found)[0].execution[0].ptx_line, 11u);
  EXPECT_EQ((*found)[1].execution[0].ptx_line, 13u);
  EXPECT_EQ((*found)[1].execution[0].instruction, "tex.1d.v4.f32.s32");
  EXPECT_EQ((*module)->kernel("k").error().message, (*found)[0].message);
  EXPECT_TRUE(Scale().module->find_unsupported("scale").value().empty());
}

TEST(ExecutorModule, FollowsInlinedAt) {
  std::string text(scale);
  const std::string comment = " // standard.py:3:5 @[ standard.py:7:2 @[ kernels.py:20:9 ] ]";
  text.replace(text.find(".loc 2 3 5" + comment), 10 + comment.size(),
               ".loc 1 20 9\n.loc 2 7 2, function_name f, inlined_at 1 20 9\n.loc 2 3 5, function_name g, inlined_at 2 7 2");
  text += ".section .debug_str\n{\nf:\n.b8 102, 0\ng:\n.b8 103, 0\n}\n";
  const auto made = ExecutorModule::make(text).value();
  const ir::Module& module = made->module();
  const ir::Function& entry = *module.find("scale");
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < entry.body.size() && shown.empty(); ++i)
    if (entry.body[i].kind == ir::ItemKind::inst && ir::spell(module, entry, entry.body[i]).starts_with("ld.global"))
      for (const SourceLocation& place : ir::debug_places(module, entry, i)) shown.push_back(to_string(place));
  EXPECT_EQ(shown, (std::vector<std::string>{"/lib/standard.py:3:5", "/lib/standard.py:7:2", "/src/kernels.py:20:9"}));
}

}  // namespace
}  // namespace ptx::launch
