// When asynchronous operations are performed: kernels that wait give the same each time, those that forget to are found out.
#include <numeric>

#include "ptx/vgpu/testing/texts.hpp"

namespace ptx::vgpu::completion {
namespace {

using testing::body_program;
using testing::Buffer;
using testing::params;

constexpr std::string_view in_and_out = ".param .u64 in, .param .u64 out";
// %rd0 = in, %rd1 = out, %r0 = tid, %r1 = tile, %r2 = this thread's word of the tile, %rd2 and %rd3 its words of in and out
constexpr std::string_view start =
    ".shared .align 128 .b8 tile[8192];\n.shared .align 8 .b64 bar;\nld.param.u64 %rd0, [in];\nld.param.u64 %rd1, [out];\n"
    "mov.u32 %r0, %tid.x;\nmov.u32 %r1, tile;\nshl.b32 %r3, %r0, 2;\nadd.u32 %r2, %r1, %r3;\ncvt.u64.u32 %rd4, %r3;\n"
    "add.u64 %rd2, %rd0, %rd4;\nadd.u64 %rd3, %rd1, %rd4;\n";

struct Launched {
  std::vector<std::uint32_t> out;
  std::optional<Diagnostic> fault;
};

// The body of one warp; `in` holds 100, 101, … and `out` nines.
Launched launch(std::string_view body, const Options& options) {
  const auto program = body_program(in_and_out, cat(start, body));
  std::vector<std::uint32_t> numbers(2048);
  std::iota(numbers.begin(), numbers.end(), 100u);
  Buffer<std::uint32_t> in{"in", numbers, false}, out{"out", std::vector<std::uint32_t>(2048, 9)};
  const std::vector<Region> regions{in.region(), out.region()};
  const auto report = program->run(testing::block(32), params({in.address(), out.address()}), regions, options);
  return {out.data, report ? std::nullopt : std::optional(report.error())};
}

Options with(Completion completion, std::uint64_t seed = 0) {
  Options options;
  options.completion = completion;
  options.seed = seed;
  return options;
}
Options unchecked(Completion completion) {
  Options options = with(completion);
  options.check_initialised = false;
  return options;
}

// The first words of `out`, whenever operations are performed.
void expect_always(std::string_view body, const std::vector<std::uint32_t>& expected) {
  std::vector<Options> all{with(Completion::eager), with(Completion::lazy)};
  for (std::uint64_t seed = 0; seed < 16; ++seed) all.push_back(with(Completion::random, seed));
  for (const Options& options : all) {
    const Launched done = launch(body, options);
    ASSERT_FALSE(done.fault) << render(*done.fault);
    EXPECT_EQ(std::vector(done.out.begin(), done.out.begin() + static_cast<std::ptrdiff_t>(expected.size())), expected)
        << words_of_completion()[static_cast<std::size_t>(options.completion)] << ", seed " << options.seed;
  }
}

std::vector<std::uint32_t> counting(std::uint32_t first, std::size_t count = 32) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

constexpr std::string_view copy = "cp.async.ca.shared.global [%r2], [%rd2], 4;\n";
constexpr std::string_view store = "ld.shared.u32 %r5, [%r2];\nst.global.u32 [%rd3], %r5;\n";

TEST(Completion, CopiesThatAreWaitedFor) {
  expect_always(cat(copy, "cp.async.commit_group;\ncp.async.wait_group 0;\n", store), counting(100));
  expect_always(cat(copy, "cp.async.wait_all;\n", store), counting(100));
}

TEST(Completion, CopiesThatNobodyWaitsFor) {
  for (const std::string_view forgot :
       {"", "cp.async.commit_group;\n", "cp.async.commit_group;\ncp.async.wait_group 1;\n", "cp.async.wait_group 0;\n",
        "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"}) {
    const std::string body = cat(copy, forgot, store);
    EXPECT_EQ(launch(body, with(Completion::eager)).out[31], 131u) << forgot;
    const Launched late = launch(body, with(Completion::lazy));
    ASSERT_TRUE(late.fault) << forgot;
    EXPECT_EQ(late.fault->kind, Kind::uninitialised);
    EXPECT_EQ(launch(body, unchecked(Completion::lazy)).out[31], 0u) << forgot;  // what was there before
  }
}

TEST(Completion, RandomOrdersDiffer) {
  std::size_t found = 0;
  constexpr std::uint64_t seeds = 32;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const Launched done = launch(cat(copy, store), with(Completion::random, seed));
    const Launched again = launch(cat(copy, store), with(Completion::random, seed));
    EXPECT_EQ(done.fault.has_value(), again.fault.has_value()) << "one seed, one order";
    found += done.fault ? 1 : 0;
  }
  EXPECT_GT(found, seeds / 2);
}

TEST(Completion, OlderGroupsComeFirst) {
  // the second group overwrites the first one's words; after wait_group 1 only the first is there
  const std::string two = cat(copy, "cp.async.commit_group;\ncp.async.ca.shared.global [%r2], [%rd2+128], 4;\n",
                              "cp.async.commit_group;\ncp.async.wait_group 1;\n", store);
  EXPECT_EQ(launch(two, with(Completion::eager)).out[0], 132u);
  EXPECT_EQ(launch(two, with(Completion::lazy)).out[0], 100u);
}

TEST(Completion, ArrivalsBehindCopies) {
  expect_always(cat("setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\n", copy,
                    "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\nL:\n"
                    "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n",
                    "xor.b32 %r4, %r3, 4;\nadd.u32 %r2, %r1, %r4;\n", store),
                [] {
                  std::vector<std::uint32_t> swapped = counting(100);
                  for (std::size_t i = 0; i < swapped.size(); i += 2) std::swap(swapped[i], swapped[i + 1]);
                  return swapped;
                }());
}

// Without .noinc the phase lacks one arrival more from then on, whatever else arrives meanwhile.
TEST(Completion, ArrivalsBehindCopiesCountThemselvesAtOnce) {
  expect_always(cat("setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 32;\nbar.sync 0;\n", copy,
                    "cp.async.mbarrier.arrive.shared.b64 [bar];\nmbarrier.arrive.shared.b64 _, [bar];\nL:\n"
                    "mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n",
                    store),
                counting(100));
}

constexpr std::string_view bulk_load =
    "setp.eq.u32 %p0, %r0, 0;\n@%p0 mbarrier.init.shared.b64 [bar], 1;\nbar.sync 0;\n"
    "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
    "@%p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%rd0], 128, [bar];\n";

TEST(Completion, BulkCopiesTellAnMbarrier) {
  expect_always(cat(bulk_load, "L:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\n", store), counting(100));
  const std::string forgets = cat(bulk_load, store);
  EXPECT_EQ(launch(forgets, with(Completion::eager)).out[0], 100u);
  const Launched late = launch(forgets, with(Completion::lazy));
  ASSERT_TRUE(late.fault);
  EXPECT_EQ(late.fault->kind, Kind::uninitialised);
}

// Stores the tile, waits as `wait` says, writes over the tile, waits for all.
std::string bulk_store(std::string_view wait) {
  return cat(
      "st.shared.u32 [%r2], %r0;\nbar.sync 0;\nsetp.eq.u32 %p0, %r0, 0;\n"
      "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;\n@%p0 cp.async.bulk.commit_group;\n",
      wait, "bar.sync 0;\nst.shared.u32 [%r2], 77;\nbar.sync 0;\n@%p0 cp.async.bulk.wait_group 0;\n");
}
TEST(Completion, BulkStoresReadTheirSourceLate) {
  expect_always(bulk_store("@%p0 cp.async.bulk.wait_group.read 0;\n"), counting(0));
  EXPECT_EQ(launch(bulk_store(""), with(Completion::eager)).out[5], 5u);
  EXPECT_EQ(launch(bulk_store(""), with(Completion::lazy)).out[5], 77u);
}

TEST(Completion, AllIsPerformedAtTheEnd) {
  expect_always(
      "st.shared.u32 [%r2], %r0;\nbar.sync 0;\nsetp.eq.u32 %p0, %r0, 0;\n"
      "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;\n",
      counting(0));
}

TEST(Completion, WhoPollsMemoryWaitsNotForEver) {
  expect_always(
      "mov.u32 %r4, 1;\nst.shared.v4.u32 [%r1], {%r4, %r4, %r4, %r4};\nst.global.u32 [%rd1], 0;\nbar.sync 0;\n"
      "setp.eq.u32 %p0, %r0, 0;\n@%p0 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 16;\nL:\n"
      "ld.relaxed.gpu.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p1, %r5, 1;\n@%p1 bra L;\nst.global.u32 [%rd3+256], %r5;\n",
      {1, 1, 1, 1, 9});
}

TEST(Completion, FaultsAreTheirs) {
  const Launched late =
      launch(cat("add.u64 %rd2, %rd2, 65536;\n", copy, "add.u32 %r6, %r0, 1;\ncp.async.wait_all;\n"), with(Completion::lazy));
  ASSERT_TRUE(late.fault);
  EXPECT_EQ(late.fault->kind, Kind::out_of_bounds);
  EXPECT_NE(render(*late.fault).find("cp.async.ca"), std::string::npos) << render(*late.fault);
}

}  // namespace
}  // namespace ptx::vgpu::completion
