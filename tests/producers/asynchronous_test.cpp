// sources/asynchronous.cu against loops.
#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

TEST(Asynchronous, StagedCopies) {
  for (const Played& run : played("asynchronous")) {
    const auto in = run.given<float>("floats");
    std::vector<float> expected;
    for (std::size_t i = 0; i < in.size(); ++i) expected.push_back(2 * in[i] + in[i / 64 * 64 + (i + 1) % 64]);
    expect_made(run, "staged", expected);
  }
}

TEST(Asynchronous, ProducerAndConsumer) {
  for (const Played& run : played("asynchronous")) {
    const auto in = run.given<int>("ints");
    std::vector<int> expected;
    for (std::size_t i = 0; i < 7 * 32; ++i) expected.push_back(in[i ^ 31] * 3);
    expect_made(run, "divided", expected);
  }
}

TEST(Asynchronous, PipelineOfAThread) {
  for (const Played& run : played("asynchronous")) {
    const auto in = run.given<int>("ints");
    std::vector<int> expected;
    for (std::size_t i = 0; i < 256; ++i) expected.push_back(in[i ^ 3]);
    expect_made(run, "alone", expected);
  }
}

TEST(Asynchronous, PhasesOfABarrier) {
  for (const Played& run : played("asynchronous")) {
    auto x = run.given<int>("ints");
    x.resize(96);
    for (int round = 0; round < 5; ++round) {
      const auto before = x;
      for (std::size_t i = 0; i < 96; ++i) x[i] = (before[i] * 5 + before[(i + 33) % 96]) & 0xFFFFF;
    }
    expect_made(run, "phases", x);
  }
}

TEST(Asynchronous, CopyThatABarrierAwaits) {
  for (const Played& run : played("asynchronous")) {
    const auto in = run.given<double>("doubles");
    std::vector<double> expected;
    for (std::size_t i = 0; i < 64; ++i) expected.push_back(in[63 - i] + in[i]);
    expect_made(run, "copied", expected);
  }
}

TEST(Asynchronous, BlocksThatMeet) {
  for (const Played& run : played("asynchronous")) {
    const auto in = run.given<int>("ints");
    const int sum = in[0] + in[1] + in[2];
    expect_made<int>(run, "sum", {sum});
    expect_made<int>(run, "seen", {sum, sum, sum});
  }
}

}  // namespace
}  // namespace ptx::producers
