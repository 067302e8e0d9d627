// What writing a kernel in C++ costs: an unrolled kernel written through the typed layer, checked and printed, per instruction.
#include <benchmark/benchmark.h>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/write/write.hpp"

namespace {

using namespace ptx;

// A row's sum of squares, unrolled: loads of four, multiply-adds, an address now and then.
ir::Module unrolled(std::int64_t instructions) {
  Kernel k({.name = "unrolled", .in_specs = {{"X", {1 << 20}, f32}}, .out_specs = {{"Y", {1 << 20}, f32}}});
  auto [x, y] = k.global_ptrs("X", "Y");
  const auto sum = k.scalar<f32>(0.0f);
  const auto v = k.vec<f32, 4>();
  for (std::int64_t written = 0; written < instructions; written += 6) {
    k << inst.ld.global_.v4.f32(v, x[16 * (written % 4096)]);
    for (std::size_t i = 0; i < 4; ++i) k << inst.fma.rn.f32(sum, v[i], v[i], sum);
    x += 16;
  }
  k << inst.st.global_.f32(y[0], sum);
  k << inst.ret();
  return *k.module();
}

void write_check_print(benchmark::State& state) {
  std::size_t items = 0;
  for (auto _ : state) {
    const Expected<check::Accepted> accepted = check::accept(unrolled(state.range(0)));
    if (!accepted) {
      state.SkipWithError(render(accepted.error()).c_str());
      break;
    }
    items += accepted->module().functions[0].body.size();
    benchmark::DoNotOptimize(text::list(accepted->module()).text.size());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["us_per_instruction"] =
      benchmark::Counter(static_cast<double>(items) * 1e-6, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(write_check_print)->Arg(1'000)->Arg(7'000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void write_alone(benchmark::State& state) {
  std::size_t items = 0;
  for (auto _ : state) items += unrolled(state.range(0)).functions[0].body.size();
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}
BENCHMARK(write_alone)->Arg(7'000)->Unit(benchmark::kMillisecond);

/// One step on a kernel that is written already: `step` gives something that depends on all of it.
template <class Step>
void alone(benchmark::State& state, Step step) {
  const ir::Module module = unrolled(state.range(0));
  std::size_t items = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(step(module));
    items += module.functions[0].body.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}
void check_alone(benchmark::State& state) {
  alone(state, [](const ir::Module& module) { return check::check(module).size(); });
}
BENCHMARK(check_alone)->Arg(7'000)->Unit(benchmark::kMillisecond);
void print_alone(benchmark::State& state) {
  alone(state, [](const ir::Module& module) { return text::list(module).text.size(); });
}
BENCHMARK(print_alone)->Arg(7'000)->Unit(benchmark::kMillisecond);

}  // namespace
