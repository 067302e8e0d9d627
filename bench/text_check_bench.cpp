// How fast a module is printed (bytes/s) and checked (instructions/s): one long, clean kernel of the instructions that kernels
// are made of.
#include <benchmark/benchmark.h>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/script.hpp"

namespace {

ptx::ir::Module long_kernel(std::size_t repetitions) {
  std::vector<std::string> lines = {".visible .entry long_kernel", ".param .u64 x", ".shared .align 16 .b8 tile[4096]",
                                    "ld.param.u64 %rd0, [x]"};
  for (std::size_t i = 0; i < 200; ++i) lines.push_back(ptx::cat("mov.f32 %f", i, ", 0f00000000"));
  for (std::size_t i = 1; i < 4; ++i) lines.push_back(ptx::cat("mov.u32 %r", i, ", 0"));
  for (std::size_t i = 0; i < repetitions; ++i) {
    const auto f = [i](std::size_t k) { return ptx::cat("%f", (7 * i + k) % 200); };
    lines.push_back(ptx::cat("ld.global.v4.f32 {", f(0), ", ", f(1), ", ", f(2), ", ", f(3), "}, [%rd0+", 16 * (i % 4096), "]"));
    for (std::size_t k = 0; k < 4; ++k) lines.push_back(ptx::cat("fma.rn.f32 ", f(5), ", ", f(k), ", ", f(k), ", ", f(5)));
    lines.push_back(ptx::cat("mul.f32 ", f(4), ", ", f(5), ", 0f3F000000"));
    lines.push_back(ptx::cat("add.u32 %r1, %r2, ", i));
    lines.push_back("setp.lt.u32 %p0, %r1, %r2");
    lines.push_back(ptx::cat("@%p0 st.shared.f32 [tile+", 4 * (i % 1024), "], ", f(4)));
    lines.push_back(ptx::cat("shfl.sync.bfly.b32 %r3, %r1, ", i % 32, ", 31, -1"));
  }
  lines.emplace_back("ret");
  return ptx::testing::Script::module(lines, "long_kernel");
}

void print_module(benchmark::State& state) {
  const ptx::ir::Module module = long_kernel(static_cast<std::size_t>(state.range(0)));
  std::size_t bytes = 0;
  for (auto _ : state) bytes += ptx::text::list(module).text.size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(print_module)->Arg(20)->Arg(10000);

void check_module(benchmark::State& state) {
  const ptx::ir::Module module = long_kernel(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const ptx::Diagnostics findings = ptx::check::check(module);
    if (!findings.empty()) state.SkipWithError(ptx::render(findings[0]).c_str());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(module.functions[0].body.size()));
}
BENCHMARK(check_module)->Arg(20)->Arg(10000);

}  // namespace
