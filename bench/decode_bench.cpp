// Decoding for the executor: kernels that are long, that branch often, that loop deep. The cost of an instruction should not
// depend on how many there are.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace {

using namespace ptx;

std::string kernel(const std::string& body) {
  return cat(
      ".version 8.5\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 X)\n{\n.reg .pred %p<2>;\n.reg .b32 "
      "%r<100>;\n"
      ".reg .b64 %rd<4>;\nld.param.u64 %rd0, [X];\nmov.u32 %r0, 1;\nsetp.eq.u32 %p0, %r0, 1;\n",
      body, "ret;\n}\n");
}

// a and b of the line before, over a hundred registers, with a load now and then
std::string straight(std::int64_t n) {
  std::string body;
  for (std::int64_t i = 1; i <= n; ++i)
    body += i % 10 == 0 ? cat("ld.global.u32 %r", i % 100, ", [%rd0+", 4 * (i % 64), "];\n")
                        : cat("add.u32 %r", i % 100, ", %r", (i + 99) % 100, ", ", i % 7, ";\n");
  return kernel(body);
}
std::string branches(std::int64_t n) {
  std::string body;
  for (std::int64_t i = 1; i <= n; ++i)
    body += cat("@%p0 bra L", i, ";\nadd.u32 %r", i % 100, ", %r", (i + 99) % 100, ", 1;\nL", i, ":\n");
  return kernel(body);
}
// every branch to one place behind the others, and a register of its own for each
std::string exits(std::int64_t n) {
  std::string body = cat(".reg .b32 %x<", n + 1, ">;\nmov.u32 %x0, 1;\n");
  for (std::int64_t i = 1; i <= n; ++i) body += cat("@%p0 bra DONE;\nadd.u32 %x", i, ", %x", i - 1, ", 1;\n");
  return kernel(body + "DONE:\n");
}
std::string loops(std::int64_t n) {
  std::string body;
  for (std::int64_t i = 1; i <= n; ++i) body += cat("L", i, ":\nadd.u32 %r", i % 100, ", %r", (i + 99) % 100, ", 1;\n");
  for (std::int64_t i = n; i >= 1; --i) body += cat("@%p0 bra L", i, ";\n");
  return kernel(body);
}

template <std::string (*text)(std::int64_t)>
void decode(benchmark::State& state) {
  text::Parsed parsed = text::parse(text(state.range(0)), "bench.ptx");
  const double instructions = static_cast<double>(parsed.module.functions[0].body.size());
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return state.SkipWithError(render(accepted.error()).c_str());
  for ([[maybe_unused]] const auto _ : state) {
    const auto program = vgpu::Program::make(*accepted, nullptr, "k");
    if (!program) return state.SkipWithError(render(program.error()).c_str());
    benchmark::DoNotOptimize(program);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  state.counters["time/instruction"] =
      benchmark::Counter(instructions, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["peak MB"] = static_cast<double>(used.ru_maxrss) / 1024;
}

BENCHMARK(decode<straight>)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK(decode<branches>)->Arg(1000)->Arg(20'000)->Unit(benchmark::kMillisecond);
BENCHMARK(decode<loops>)->Arg(1000)->Arg(8000)->Unit(benchmark::kMillisecond);
BENCHMARK(decode<exits>)->Arg(1000)->Arg(20'000)->Unit(benchmark::kMillisecond);

}  // namespace
