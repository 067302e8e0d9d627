// What checks of a run find, as whoever runs a kernel is told of it.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "ptx/author/author.hpp"

namespace ptx {
namespace {

// Each thread reads what another one has written to shared memory, with or without a barrier between.
Kernel swapped(bool waits) {
  Kernel k({.name = "swapped", .in_specs = {{"X", {64}, u32}}, .out_specs = {{"Y", {64}, u32}}, .grid = 1, .block = 64});
  auto [x, y] = k.global_ptrs("X", "Y");
  auto thread = k.from_<u32>(special.tid.x());
  auto line = k.smem.alloc<u32>({1, 64});
  auto value = k.let(inst.ld.global_.u32, addr(x + thread * 4));
  line.store(0, thread, value);
  k.bar.sync(0);
  line.store(0, thread, value + value);
  if (waits) k.bar.sync(0);
  k << inst.st.global_.u32(addr(y + thread * 4), line.load(0, thread ^ 33));
  k << inst.ret();
  return k;
}

TEST(Checks, what_they_find_is_the_error_of_a_run) {
  std::vector<std::uint32_t> x(64), y(64);
  std::iota(x.begin(), x.end(), 1u);
  const auto racy = compile(swapped(false)), right = compile(swapped(true));
  ASSERT_TRUE(racy && right);
  EXPECT_TRUE(racy->run(cpu({}), {x}, {y}));
  const auto ran = racy->run(cpu({.checks = vgpu::Checks::full}), {x}, {y});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, Kind::race) << render(ran.error());
  EXPECT_TRUE(right->run(cpu({.checks = vgpu::Checks::full}), {x}, {y}));
}

TEST(Checks, or_is_in_the_report_for_who_asks) {
  std::vector<std::uint32_t> x(64), y(64);
  std::iota(x.begin(), x.end(), 1u);
  const auto racy = compile(swapped(false));
  ASSERT_TRUE(racy);
  void* const tensors[] = {x.data(), y.data()};
  const std::size_t bytes[] = {256, 256};
  const launch::Cpu place{.options = {.checks = vgpu::Checks::full}, .findings_are_errors = false};
  const auto report = racy->image().launch(place, tensors, bytes);
  ASSERT_TRUE(report) << render(report.error());
  EXPECT_FALSE(report->findings.empty());
}

}  // namespace
}  // namespace ptx
