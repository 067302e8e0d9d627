// sources/cutlass_kinds.cu against loops: numbers that are no plain floats.
#include "tests/producers/products.hpp"

namespace ptx::producers {
namespace {

TEST(CutlassKinds, Sparse) {
  const std::size_t m = 64, n = 64, k = 128;
  for (const Played& run : played("cutlass_kinds")) {
    const auto kept = as_doubles(run, "sparse_a", "f16", true), b = as_doubles(run, "sparse_b", "f16", true);
    const auto c = as_doubles(run, "sparse_c", "f32", true);
    const auto places = run.given<std::uint8_t>("sparse_plain_e");
    std::vector<float> expected;
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = c[i * n + j];
        for (std::size_t l = 0; l < k / 2; ++l) {
          const std::size_t at = i * (k / 2) + l, place = places[at / 4] >> at % 4 * 2 & 3;
          sum += kept[at] * b[j * k + l / 2 * 4 + place];
        }
        expected.push_back(static_cast<float>(sum));
      }
    expect_made(run, "sparse_d", expected);
  }
}

// D = C + A B, of whole numbers whose product is `of(a, b)`.
template <class Element, class Of>
void expect_words(const Played& run, const std::string& name, std::size_t m, std::size_t n, std::size_t k, Element element,
                  Of of) {
  const auto a = run.given<std::uint8_t>(name + "_a"), b = run.given<std::uint8_t>(name + "_b");
  auto expected = run.given<std::int32_t>(name + "_c");
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t l = 0; l < k; ++l) expected[i * n + j] += of(element(a, i * k + l), element(b, j * k + l));
  expect_made(run, name + "_d", expected);
}

TEST(CutlassKinds, FourBitsAndOne) {
  const auto nibble = [](const std::vector<std::uint8_t>& bytes, std::size_t i) {
    return ((bytes[i / 2] >> i % 2 * 4 & 15) ^ 8) - 8;
  };
  const auto bit = [](const std::vector<std::uint8_t>& bytes, std::size_t i) { return bytes[i / 8] >> i % 8 & 1; };
  for (const Played& run : played("cutlass_kinds")) {
    expect_words(run, "s4", 72, 40, 224, nibble, [](int a, int b) { return a * b; });
    expect_words(run, "b1", 64, 40, 640, bit, [](int a, int b) { return a ^ b; });
  }
}

TEST(CutlassKinds, ComplexNumbers) {
  const std::size_t m = 33, n = 20, k = 19;
  for (const Played& run : played("cutlass_kinds")) {
    const auto a = run.given<double>("complex_a"), b = run.given<double>("complex_b");
    std::vector<double> expected;
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double real = 0, imaginary = 0;
        for (std::size_t l = 0; l < k; ++l) {
          const double* const x = &a[2 * (i * k + l)];
          const double* const y = &b[2 * (j * k + l)];  // conjugated
          real += x[0] * y[0] + x[1] * y[1];
          imaginary += x[1] * y[0] - x[0] * y[1];
        }
        expected.push_back(real - 2 * imaginary);  // times 1 + 2 i
        expected.push_back(imaginary + 2 * real);
      }
    expect_made(run, "complex_d", expected);
  }
}

// Three products of tf32 leave out the product of the two remainders, and round the remainders: some 2^-21 of each product.
TEST(CutlassKinds, ThreeProductsForOne) {
  const std::size_t m = 64, n = 60, k = 44;
  for (const Played& run : played("cutlass_kinds")) {
    const auto a = run.given<float>("three_a"), b = run.given<float>("three_b"), d = run.made<float>("three_d");
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::size_t l = 0; l < k; ++l) {
          const double product = static_cast<double>(a[i * k + l]) * b[l * n + j];
          sum += product;
          magnitude += std::abs(product);
        }
        ASSERT_NEAR(d[i * n + j], sum, magnitude * 0x1p-20) << run.name << ": (" << i << ", " << j << ')';
      }
  }
}

}  // namespace
}  // namespace ptx::producers
