#include "ptx/vgpu/tensor/scaled_product.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace ptx::vgpu {
namespace {

constexpr int group_of_packed = 16;
constexpr num::DotUnit unit_of_bytes{32, 25, num::DotResult::f32}, unit_of_packed{64, 35, num::DotResult::f32};

// A scale as a number, and the exponent that the alignment goes by.
num::DotTerm scale_of(std::uint8_t raw, bool ue4m3) {
  if (!ue4m3) {
    if (raw == 0xFF) return {std::numeric_limits<double>::quiet_NaN(), 0};
    return {std::ldexp(1.0, raw - 127), raw - 127};
  }
  float value = 0;
  std::int32_t exponent = 0;
  const std::uint32_t word = raw & 0x7F;  // without a sign
  num::decode_factors(num::DotFormat::e4m3, {&word, 1}, &value, &exponent);
  return {value, exponent};
}

}  // namespace

void multiply_scaled(const Product& p, bool packed, bool ue4m3, int scales, const RawMatrices& matrices,
                     std::span<const std::uint8_t> a_scales, std::span<const std::uint8_t> b_scales) {
  const auto stored = static_cast<std::size_t>(p.stored()), n = std::size_t{p.n};
  std::vector<float> a(matrices.a.size()), b(matrices.b.size());
  std::vector<std::int32_t> a_exponents(a.size()), b_exponents(b.size());
  num::decode_factors(p.a_format, matrices.a, a.data(), a_exponents.data());
  num::decode_factors(p.b_format, matrices.b, b.data(), b_exponents.data());
  std::array<num::DotTerm, 64> terms;
  const std::size_t per_scale = stored / index_of(scales);
  for (std::size_t i = 0; i < p.m; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      std::size_t count = 0;
      for (std::size_t s = 0; s < stored; ++s) {
        const std::size_t k = matrices.columns.empty() ? s : matrices.columns[i * stored + s];
        const double product = static_cast<double>(a[i * stored + s]) * b[k * n + j];  // exact
        if (packed && s % group_of_packed != 0) {
          terms[count - 1].value += product;
          continue;
        }
        terms[count++] = {product, packed ? 0 : a_exponents[i * stored + s] + b_exponents[k * n + j]};
      }
      for (std::size_t t = 0; t < count; ++t) {
        const std::size_t scale = t * (stored / count) / per_scale;
        const auto x = scale_of(a_scales[i * index_of(scales) + scale], ue4m3);
        const auto y = scale_of(b_scales[j * index_of(scales) + scale], ue4m3);
        terms[t].value *= x.value * y.value;
        terms[t].exponent += x.exponent + y.exponent;
      }
      std::uint32_t& raw = matrices.d[i * n + j];
      raw = num::bits_of(
          num::dot_terms(packed ? unit_of_packed : unit_of_bytes, std::span(terms).first(count), std::bit_cast<float>(raw)));
    }
}

}  // namespace ptx::vgpu
