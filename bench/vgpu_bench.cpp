// The executor: warp instructions a second in loops of one kind of instruction, all lanes active. items_per_second counts them.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/vgpu.hpp"
#include "tests/support/script.hpp"

namespace {

using namespace ptx;

// A loop around the body; %rd0 points at 16 bytes of global memory of each thread, %r11 at 16 of shared memory; %rd2 and %r12
// at 4.
std::vector<std::string> loop(const std::vector<std::string>& body, int trips) {
  std::vector<std::string> lines = {".visible .entry k",
                                    ".param .u64 memory",
                                    ".shared .align 16 .b8 tile[16384]",
                                    "ld.param.u64 %rd0, [memory]",
                                    "mov.u32 %r0, %tid.x",
                                    "mul.wide.u32 %rd1, %r0, 16",
                                    "add.u64 %rd0, %rd0, %rd1",
                                    "mov.u32 %r11, tile",
                                    "mad.lo.u32 %r11, %r0, 16, %r11",
                                    "mov.u32 %r12, tile",
                                    "mad.lo.u32 %r12, %r0, 4, %r12",
                                    "ld.param.u64 %rd2, [memory]",
                                    "mul.wide.u32 %rd1, %r0, 4",
                                    "add.u64 %rd2, %rd2, %rd1"};
  for (int i = 0; i < 20; ++i) lines.push_back(cat("mov.f32 %f", i, ", 0f3F800001"));
  for (int i = 20; i < 66; ++i) lines.push_back(cat("mov.u32 %r", i, ", ", i));
  lines.insert(lines.end(), {"st.shared.v4.f32 [%r11], {%f1, %f2, %f3, %f4}", "bar.sync 0", "mov.u32 %r1, 0", "LOOP:"});
  lines.insert(lines.end(), body.begin(), body.end());
  lines.insert(lines.end(), {"add.u32 %r1, %r1, 1", cat("setp.lt.u32 %p0, %r1, ", trips), "@%p0 bra LOOP", "ret"});
  return lines;
}

void run(benchmark::State& state, const std::vector<std::string>& body) {
  auto accepted = check::accept(ptx::testing::Script::module(loop(body, 1000)));
  if (!accepted) return state.SkipWithError(render(accepted.error()).c_str());
  auto program = vgpu::Program::make(*accepted, nullptr, "k");
  if (!program) return state.SkipWithError(render(program.error()).c_str());
  std::vector<float> memory(16384, 1.0f);
  const vgpu::Region region{reinterpret_cast<std::byte*>(memory.data()), memory.size() * sizeof(float), true, true, "memory"};
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  std::vector<std::byte> params(sizeof address);
  std::memcpy(params.data(), &address, sizeof address);
  vgpu::LaunchConfig config;
  config.block = {256, 1, 1};
  std::uint64_t instructions = 0;
  for ([[maybe_unused]] const auto _ : state) {
    auto report = (*program)->run(config, params, {&region, 1});
    if (!report) return state.SkipWithError(render(report.error()).c_str());
    instructions += report->warp_instructions;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(instructions));
}

std::vector<std::string> sixteen(const std::vector<std::string>& pattern) {
  std::vector<std::string> body;
  for (int i = 0; i < 16; ++i) {
    std::string line = pattern[static_cast<std::size_t>(i) % pattern.size()];
    for (std::size_t at; (at = line.find('#')) != std::string::npos;) line.replace(at, 1, std::to_string(i));
    body.push_back(std::move(line));
  }
  return body;
}

void fma(benchmark::State& state) { run(state, sixteen({"fma.rn.f32 %f#, %f1, %f2, %f#"})); }
void fma_ftz(benchmark::State& state) { run(state, sixteen({"fma.rn.ftz.f32 %f#, %f1, %f2, %f#"})); }
void fma_rz(benchmark::State& state) { run(state, sixteen({"fma.rz.f32 %f#, %f1, %f2, %f#"})); }
void integer_mix(benchmark::State& state) {
  run(state, sixteen({"mad.lo.u32 %r5#, %r21, %r22, %r31", "add.u32 %r5#, %r22, %r23", "shl.b32 %r5#, %r23, 3",
                      "xor.b32 %r5#, %r21, %r32"}));
}
void half_masked(benchmark::State& state) {
  auto body = sixteen({"@%p1 fma.rn.f32 %f#, %f1, %f2, %f#"});
  body.insert(body.begin(), {"and.b32 %r2, %r0, 1", "setp.eq.u32 %p1, %r2, 0"});
  run(state, body);
}
void ld_shared(benchmark::State& state) { run(state, sixteen({"ld.shared.f32 %f#, [%r12]", "fma.rn.f32 %f1, %f#, %f2, %f1"})); }
void ld_shared_v4(benchmark::State& state) { run(state, sixteen({"ld.shared.v4.f32 {%f4, %f5, %f6, %f7}, [%r11]"})); }
void ld_global(benchmark::State& state) { run(state, sixteen({"ld.global.f32 %f#, [%rd2]", "fma.rn.f32 %f1, %f#, %f2, %f1"})); }
void ld_global_strided(benchmark::State& state) {
  run(state, sixteen({"ld.global.f32 %f#, [%rd0]", "fma.rn.f32 %f1, %f#, %f2, %f1"}));
}
void ld_global_v4(benchmark::State& state) { run(state, sixteen({"ld.global.v4.f32 {%f4, %f5, %f6, %f7}, [%rd0]"})); }
void st_global_v4(benchmark::State& state) { run(state, sixteen({"st.global.v4.f32 [%rd0], {%f4, %f5, %f6, %f7}"})); }
void shuffle(benchmark::State& state) {
  run(state, sixteen({"shfl.sync.bfly.b32 %r20, %r21, 4, 31, -1", "add.u32 %r21, %r21, %r20"}));
}
void rsqrt(benchmark::State& state) { run(state, sixteen({"rsqrt.approx.f32 %f#, %f#"})); }
void ex2(benchmark::State& state) { run(state, sixteen({"ex2.approx.f32 %f#, %f#"})); }

// What a call costs before the first instruction: 16 blocks of one warp that return at once.
void launch(benchmark::State& state) {
  auto accepted = check::accept(ptx::testing::Script::module({"ret"}));
  if (!accepted) return state.SkipWithError(render(accepted.error()).c_str());
  auto program = vgpu::Program::make(*accepted, nullptr, "k");
  if (!program) return state.SkipWithError(render(program.error()).c_str());
  vgpu::LaunchConfig config;
  config.grid = {16, 1, 1};
  config.block = {32, 1, 1};
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize((*program)->run(config, {}, {}));
}
// Decoding; items are instructions.
void decode(benchmark::State& state) {
  std::vector<std::string> body;
  for (int i = 0; i < 500; ++i)
    for (std::string& line : sixteen({"fma.rn.f32 %f#, %f1, %f2, %f#", "ld.shared.f32 %f#, [%r12]"}))
      body.push_back(std::move(line));
  const auto accepted = check::accept(ptx::testing::Script::module(loop(body, 1)));
  if (!accepted) return state.SkipWithError(render(accepted.error()).c_str());
  for ([[maybe_unused]] const auto _ : state) benchmark::DoNotOptimize(vgpu::Program::make(*accepted, nullptr, "k"));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * body.size()));
}
BENCHMARK(launch);
BENCHMARK(decode);
BENCHMARK(fma);
BENCHMARK(fma_ftz);
BENCHMARK(fma_rz);
BENCHMARK(integer_mix);
BENCHMARK(half_masked);
BENCHMARK(ld_shared);
BENCHMARK(ld_shared_v4);
BENCHMARK(ld_global);
BENCHMARK(ld_global_strided);
BENCHMARK(ld_global_v4);
BENCHMARK(st_global_v4);
BENCHMARK(shuffle);
BENCHMARK(rsqrt);
BENCHMARK(ex2);

}  // namespace
