// sources/cutlass_convolution.cu against loops. Tensors lie as images, rows, columns, channels.
#include "tests/producers/numbers.hpp"

namespace ptx::producers {
namespace {

struct Convolution {
  std::string name;
  int images = 1, height = 0, width = 0, channels = 0, filters = 0, tall = 3, wide = 3;  ///< of the input, and of a filter
  int pad_rows = 1, pad_columns = 1, stride_rows = 1, stride_columns = 1, dilation_rows = 1, dilation_columns = 1;
  bool turned = false;  ///< the filter, by half a turn

  [[nodiscard]] int output_rows() const { return (height + 2 * pad_rows - tall * dilation_rows) / stride_rows + 1; }
  [[nodiscard]] int output_columns() const { return (width + 2 * pad_columns - wide * dilation_columns) / stride_columns + 1; }
  [[nodiscard]] std::size_t input(int image, int row, int column, int channel) const {
    return static_cast<std::size_t>(((image * height + row) * width + column) * channels + channel);
  }
  [[nodiscard]] std::size_t filter(int number, int row, int column, int channel) const {
    return static_cast<std::size_t>(((number * tall + row) * wide + column) * channels + channel);
  }
  [[nodiscard]] std::size_t output(int image, int row, int column, int number) const {
    return static_cast<std::size_t>(((image * output_rows() + row) * output_columns() + column) * filters + number);
  }
  /// visit(place in the input, place in the filters, place in the output), for all that are multiplied with each other.
  template <class Visit>
  void each(Visit visit) const {
    for (int image = 0; image < images; ++image)
      for (int p = 0; p < output_rows(); ++p)
        for (int q = 0; q < output_columns(); ++q)
          for (int r = 0; r < tall; ++r)
            for (int s = 0; s < wide; ++s) {
              const int row = p * stride_rows - pad_rows + (turned ? tall - 1 - r : r) * dilation_rows;
              const int column = q * stride_columns - pad_columns + (turned ? wide - 1 - s : s) * dilation_columns;
              if (row < 0 || row >= height || column < 0 || column >= width) continue;
              for (int k = 0; k < filters; ++k)
                for (int c = 0; c < channels; ++c)
                  visit(input(image, row, column, c), filter(k, r, s, c), output(image, p, q, k));
            }
  }
};

enum class Way : std::uint8_t { forward, to_input, to_filters };

// All numbers are small and whole: sums are exact.
void expect_convolution(const Played& run, const Convolution& one, Way way) {
  const auto a = as_doubles(run, one.name + "_a", "f16", true), b = as_doubles(run, one.name + "_b", "f16", true);
  auto sums = as_doubles(run, one.name + "_c", "f32", true);
  one.each([&](std::size_t input, std::size_t filter, std::size_t output) {
    if (way == Way::forward) sums.at(output) += a.at(input) * b.at(filter);
    if (way == Way::to_input) sums.at(input) += a.at(output) * b.at(filter);
    if (way == Way::to_filters) sums.at(filter) += a.at(output) * b.at(input);
  });
  expect_made(run, one.name + "_d", std::vector<float>(sums.begin(), sums.end()));
}

TEST(CutlassConvolution, Forward) {
  for (const Played& run : played("cutlass_convolution")) {
    expect_convolution(run, {.name = "forward", .images = 2, .height = 9, .width = 7, .channels = 16, .filters = 24},
                       Way::forward);
    expect_convolution(run,
                       {.name = "strided",
                        .height = 11,
                        .width = 13,
                        .channels = 8,
                        .filters = 8,
                        .wide = 2,
                        .pad_rows = 2,
                        .stride_rows = 2,
                        .stride_columns = 3,
                        .dilation_rows = 2},
                       Way::forward);
    expect_convolution(run, {.name = "turned", .height = 6, .width = 6, .channels = 8, .filters = 8, .turned = true},
                       Way::forward);
    expect_convolution(run, {.name = "few_channels", .height = 8, .width = 8, .channels = 2, .filters = 16}, Way::forward);
  }
}

TEST(CutlassConvolution, Back) {
  for (const Played& run : played("cutlass_convolution")) {
    expect_convolution(
        run, {.name = "to_input", .height = 10, .width = 9, .channels = 16, .filters = 8, .stride_rows = 2, .stride_columns = 2},
        Way::to_input);
    expect_convolution(run, {.name = "to_filters", .images = 2, .height = 8, .width = 6, .channels = 8, .filters = 16},
                       Way::to_filters);
  }
}

}  // namespace
}  // namespace ptx::producers
