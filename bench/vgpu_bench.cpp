// The executor: warp instructions a second in loops of one kind of instruction, all lanes active. items_per_second counts them.
#include <benchmark/benchmark.h>

#include <cstring>
#include <optional>
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

void run(benchmark::State& state, const std::vector<std::string>& body, bool observed = false) {
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
    vgpu::Options options;
    std::optional<vgpu::Timeline> timeline;
    if (observed) options.observer = &timeline.emplace();
    auto report = (*program)->run(config, params, {&region, 1}, options);
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
void fma_observed(benchmark::State& state) { run(state, sixteen({"fma.rn.f32 %f#, %f1, %f2, %f#"}), true); }
void ld_shared_observed(benchmark::State& state) {
  run(state, sixteen({"ld.shared.f32 %f#, [%r12]", "fma.rn.f32 %f1, %f#, %f2, %f1"}), true);
}
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
void division(benchmark::State& state) { run(state, sixteen({"div.approx.f32 %f4, %f1, %f2"})); }
void division_full(benchmark::State& state) { run(state, sixteen({"div.full.f32 %f4, %f1, %f2"})); }
void division_rounded(benchmark::State& state) { run(state, sixteen({"div.rn.f32 %f4, %f1, %f2"})); }
void cvt_f32_s32(benchmark::State& state) { run(state, sixteen({"cvt.rn.f32.s32 %f4, %r22"})); }
void cvt_s32_f32(benchmark::State& state) { run(state, sixteen({"cvt.rzi.s32.f32 %r30, %f1"})); }
void cvt_u64_u32(benchmark::State& state) { run(state, sixteen({"cvt.u64.u32 %rd1, %r22"})); }
void cvt_bf16x2_f32(benchmark::State& state) { run(state, sixteen({"cvt.rn.bf16x2.f32 %r30, %f1, %f2"})); }
void cvt_f16x2_f32(benchmark::State& state) { run(state, sixteen({"cvt.rn.f16x2.f32 %r30, %f1, %f2"})); }
void cvt_f16_f32(benchmark::State& state) { run(state, sixteen({"cvt.rn.f16.f32 %rs2, %f1"})); }
void cvt_f32_f16(benchmark::State& state) {
  auto body = sixteen({"cvt.f32.f16 %f#, %rs1"});
  body.insert(body.begin(), "cvt.rn.f16.f32 %rs1, %f1");
  run(state, body);
}
void setp(benchmark::State& state) { run(state, sixteen({"setp.lt.f32 %p1, %f#, %f1", "setp.ge.s32 %p1, %r22, %r21"})); }
void selp(benchmark::State& state) {
  auto body = sixteen({"selp.f32 %f#, %f1, %f2, %p1", "selp.b32 %r30, %r41, %r42, %p1"});
  body.insert(body.begin(), "setp.lt.u32 %p1, %r0, 77");
  run(state, body);
}
void ld_shared_broadcast(benchmark::State& state) { run(state, sixteen({"ld.shared.f32 %f#, [tile+4]"})); }
void ld_global_broadcast(benchmark::State& state) {
  auto body = sixteen({"ld.global.f32 %f#, [%rd3]"});
  body.insert(body.begin(), "ld.param.u64 %rd3, [memory]");
  run(state, body);
}
void ld_shared_broadcast_v4(benchmark::State& state) {
  run(state, sixteen({"ld.shared.v4.f32 {%f4, %f5, %f6, %f7}, [tile+16]"}));
}

// Products of a warpgroup, bf16 out of shared memory with rows of 128 bytes, m64n256k16. Items are floating-point operations.
void wgmma(benchmark::State& state, vgpu::Numerics numerics) {
  std::string accumulators;
  for (int i = 0; i < 128; ++i) accumulators += cat(i == 0 ? "%d" : ", %d", i);
  const std::string text = cat(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k() {
.shared .align 1024 .b8 tile[49152];
.reg .b32 %r<4>; .reg .f32 %d<128>; .reg .b64 %xa, %xb; .reg .pred %p;
mov.u32 %r0, %tid.x; mad.lo.u32 %r1, %r0, 4, 0; mov.u32 %r2, tile; add.u32 %r1, %r1, %r2; mov.u32 %r0, 0;
FILL:
st.shared.b32 [%r1], 0x3F803F80; add.u32 %r1, %r1, 512; add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 96;
@%p bra FILL;
bar.sync 0;
shr.u32 %r2, %r2, 4; cvt.u64.u32 %xa, %r2; add.u64 %xa, %xa, 0x4000004000010000; add.u64 %xb, %xa, 1024;
mov.u32 %r0, 0;
wgmma.fence.sync.aligned;
LOOP:
setp.ne.u32 %p, %r0, 0;
wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {)",
                               accumulators, R"(}, %xa, %xb, %p, 1, 1, 0, 0;
add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 100;
@%p bra LOOP;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ret; })");
  auto parsed = text::parse(text);
  if (!parsed.findings.empty()) return state.SkipWithError(render(parsed.findings.front()).c_str());
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return state.SkipWithError(render(accepted.error()).c_str());
  auto program = vgpu::Program::make(*accepted, nullptr, "k");
  if (!program) return state.SkipWithError(render(program.error()).c_str());
  vgpu::LaunchConfig config;
  config.block = {128, 1, 1};
  vgpu::Options options;
  options.numerics = numerics;
  for ([[maybe_unused]] const auto _ : state) {
    auto report = (*program)->run(config, {}, {}, options);
    if (!report) return state.SkipWithError(render(report.error()).c_str());
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 100 * 2 * 64 * 256 * 16);
}
BENCHMARK_CAPTURE(wgmma, exact, vgpu::Numerics::exact);
BENCHMARK_CAPTURE(wgmma, fast, vgpu::Numerics::fast);

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
BENCHMARK(fma_observed);
BENCHMARK(ld_shared_observed);
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
BENCHMARK(division);
BENCHMARK(division_full);
BENCHMARK(division_rounded);
BENCHMARK(cvt_f32_s32);
BENCHMARK(cvt_s32_f32);
BENCHMARK(cvt_u64_u32);
BENCHMARK(cvt_bf16x2_f32);
BENCHMARK(cvt_f16x2_f32);
BENCHMARK(cvt_f16_f32);
BENCHMARK(cvt_f32_f16);
BENCHMARK(setp);
BENCHMARK(selp);
BENCHMARK(ld_shared_broadcast);
BENCHMARK(ld_global_broadcast);
BENCHMARK(ld_shared_broadcast_v4);

}  // namespace
