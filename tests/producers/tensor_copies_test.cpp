// sources/tensor_copies.cu against loops.
#include "tests/producers/played.hpp"

namespace ptx::producers {
namespace {

TEST(TensorCopies, Bulk) {
  for (const Played& run : played("tensor_copies")) {
    auto expected = run.given<int>("ints");
    for (int& x : expected) x = static_cast<int>(2 * static_cast<unsigned>(x));
    expect_made(run, "doubled", expected);
  }
}

TEST(TensorCopies, BoxesPartlyOutside) {
  const std::size_t rows = 45, columns = 76, wide = 48;
  for (const Played& run : played("tensor_copies")) {
    const auto matrix = run.given<int>("matrix");
    std::vector<int> expected(columns * wide);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j) expected[j * wide + i] = matrix[i * columns + j];
    expect_made(run, "turned", expected);
  }
}

TEST(TensorCopies, SumsByBulk) {
  for (const Played& run : played("tensor_copies")) {
    const auto floats = run.given<float>("floats");
    std::vector<float> sums(64);
    for (std::size_t i = 0; i < floats.size(); ++i) sums[i % 64] += floats[i];  // of eighths: exact
    expect_made(run, "sums", sums);
  }
}

TEST(TensorCopies, CountsInOthersMemory) {
  for (const Played& run : played("tensor_copies")) {
    std::vector<unsigned> bins(256);
    for (const unsigned x : run.given<unsigned>("values")) ++bins[x % 256];
    expect_made(run, "bins", bins);
  }
}

}  // namespace
}  // namespace ptx::producers
