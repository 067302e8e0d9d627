// Tensor cores' sums: against what eight GPUs have recorded, and against a model in wide integers that takes the bits apart in
// another way.
#include "ptx/num/dot.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "ptx/num/rounding.hpp"

namespace ptx::num {
namespace {

struct Factors {
  std::vector<float> values;
  std::vector<std::int32_t> exponents;
  bool finite = true;
};
Factors decoded(DotFormat format, const std::vector<std::uint32_t>& raw) {
  Factors f{std::vector<float>(raw.size()), std::vector<std::int32_t>(raw.size())};
  f.finite = decode_factors(format, raw, f.values.data(), f.exponents.data());
  return f;
}

std::uint32_t one_dot(const DotUnit& unit, const Factors& a, const Factors& b, float c) {
  float d = c;
  const std::size_t depth = a.values.size();
  for (std::size_t from = 0; from < depth; from += unit.block) {
    const std::size_t count = std::min<std::size_t>(unit.block, depth - from);
    d = dot_block(unit, std::span(a.values).subspan(from, count), std::span(a.exponents).subspan(from, count),
                  std::span(b.values).subspan(from, count), std::span(b.exponents).subspan(from, count), d);
  }
  return bits_of(d);
}

// ---- what GPUs have recorded

struct Recorded {
  std::string format;
  std::size_t depth = 0;
  std::vector<std::string> columns;  // "c.f32.H200", "d.f16.H200"
  struct Row {
    std::vector<std::uint32_t> a, b, values;
  };
  std::vector<Row> rows;
};
std::vector<std::uint32_t> numbers(const std::string& digits, std::size_t count) {
  std::vector<std::uint32_t> out;
  const std::size_t width = digits.size() / count;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(static_cast<std::uint32_t>(std::stoul(digits.substr(i * width, width), nullptr, 16)));
  return out;
}
Recorded read_recorded(const std::filesystem::path& path) {
  Recorded r;
  const std::string stem = path.stem().string();
  r.format = stem.substr(0, stem.find('_'));
  r.depth = std::stoul(stem.substr(stem.find('_') + 1));
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with('#')) {
      if (!line.starts_with("# " + r.format + ":")) continue;
      while (words >> word)
        if (word.starts_with("c.") || word.starts_with("d.")) r.columns.push_back(word);
      continue;
    }
    Recorded::Row row;
    words >> word;
    row.a = numbers(word, r.depth);
    words >> word;
    row.b = numbers(word, r.depth);
    while (words >> word) row.values.push_back(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16)));
    r.rows.push_back(std::move(row));
  }
  return r;
}

DotFormat format_of(const std::string& name) {
  const std::map<std::string, DotFormat> formats = {{"f16", DotFormat::f16},
                                                    {"bf16", DotFormat::bf16},
                                                    {"tf32", DotFormat::tf32},
                                                    {"e4m3", DotFormat::e4m3},
                                                    {"e5m2", DotFormat::e5m2}};
  return formats.at(name);
}

std::uint32_t cut_to_f16(float c) {  // what a program that gives c as f16 has rounded
  return bits_of(dot_result(DotResult::f16, c));
}

// On Hopper, and on datacentre Blackwell, mma of 8-bit floats is two of f16, over the lower and the upper half of each register,
// and an addition.
std::uint32_t in_two_steps(DotResult result, const Factors& a, const Factors& b, float c) {
  const DotUnit unit{16, 25, result};
  std::uint32_t d = 0;
  for (const std::size_t part : {0u, 2u}) {
    Factors pa, pb;
    for (std::size_t k = 0; k < a.values.size(); ++k) {
      if ((k & 2) != part) continue;
      pa.values.push_back(a.values[k]), pa.exponents.push_back(a.exponents[k]);
      pb.values.push_back(b.values[k]), pb.exponents.push_back(b.exponents[k]);
    }
    d = one_dot(unit, pa, pb, std::bit_cast<float>(d));
  }
  const float sum = c + std::bit_cast<float>(d);
  return result == DotResult::f16 ? cut_to_f16(sum) : bits_of(sum);
}

// Results of a machine that differ from the model's.
std::size_t count_different(const Recorded& recorded, const std::string& machine, bool half, bool c_is_zero, const auto& model) {
  std::size_t c_at = 0, d_at = 0;
  for (std::size_t i = 0; i < recorded.columns.size(); ++i) {
    if (recorded.columns[i] == "c.f32." + machine) c_at = i + 1;
    if (recorded.columns[i] == (half ? "d.f16." : "d.f32.") + machine) d_at = i + 1;
  }
  if (c_at == 0 || d_at == 0) return recorded.rows.size();
  std::size_t different = 0;
  for (const Recorded::Row& row : recorded.rows) {
    const Factors a = decoded(format_of(recorded.format), row.a), b = decoded(format_of(recorded.format), row.b);
    float c = c_is_zero ? 0.0f : std::bit_cast<float>(row.values[c_at - 1]);
    if (half) c = std::bit_cast<float>(cut_to_f16(c));
    different += model(a, b, c) != row.values[d_at - 1];
  }
  return different;
}

struct Machine {
  const char* name;
  const char* file;
  DotUnit unit;
  bool half = false, c_is_zero = false;
};

TEST(TensorCores, ComputeWhatEightGpusRecorded) {
  const char* other = std::getenv("PTX_TENSOR_CORE_GOLDEN");  // a folder with more rows: tools/tensor_core_golden.py
  const std::filesystem::path folder = other != nullptr ? other : "tests/golden/tensor_core";
  constexpr auto f32 = DotResult::f32, f32_short = DotResult::f32_short, f16 = DotResult::f16;
  std::vector<Machine> machines = {{"V100", "f16_4", {4, 23, f32}}};
  for (const char* name : {"A100", "A2", "Ada", "L40S"}) {
    machines.push_back({name, "f16_8", {8, 24, f32}});
    machines.push_back({name, "f16_8", {8, 24, f16, -21}, true});
    machines.push_back({name, "bf16_8", {8, 24, f32}});
    machines.push_back({name, "tf32_4", {4, 24, f32}});
  }
  for (const char* name : {"Ada", "L40S"})
    for (const char* file : {"e4m3_32", "e5m2_32"}) {
      machines.push_back({name, file, {16, 13, f32_short}});
      if (name[0] == 'A') machines.push_back({name, file, {16, 13, f16}, true});  // none recorded of L40S
    }
  for (const char* name : {"H100", "H200", "B200"}) {
    machines.push_back({name, "f16_16", {16, 25, f32}});
    machines.push_back({name, "f16_16", {16, 25, f16, -21}, true});
    machines.push_back({name, "bf16_16", {16, 25, f32}});
    machines.push_back({name, "tf32_4", {8, 25, f32}});
  }
  for (const char* name : {"H100", "H200"})
    for (const char* file : {"e4m3_32", "e5m2_32"}) machines.push_back({name, file, {32, 13, f32_short}, false, true});
  std::map<std::string, Recorded> files;
  std::size_t sets = 0, rows = 0;
  const auto file = [&](const std::string& name) -> const Recorded& {
    auto [it, is_new] = files.try_emplace(name);
    if (is_new) it->second = read_recorded(folder / (name + ".txt"));
    return it->second;
  };
  for (const Machine& m : machines) {
    const Recorded& recorded = file(m.file);
    ASSERT_GT(recorded.rows.size(), 100u) << m.file;
    const auto model = [&](const Factors& a, const Factors& b, float c) { return one_dot(m.unit, a, b, c); };
    EXPECT_EQ(count_different(recorded, m.name, m.half, m.c_is_zero, model), 0u)
        << m.name << ' ' << m.file << (m.half ? " to f16" : "") << ", of " << recorded.rows.size();
    ++sets, rows += recorded.rows.size();
  }
  // mma.sync of 8-bit floats where it is made of other instructions: to f16 on Hopper, both on B200
  for (const char* name : {"H100", "H200", "B200"})
    for (const char* of : {"e4m3_32", "e5m2_32"})
      for (const bool half : {true, false}) {
        if (!half && std::string(name) != "B200") continue;
        const Recorded& recorded = file(of);
        const auto model = [&](const Factors& a, const Factors& b, float c) { return in_two_steps(half ? f16 : f32, a, b, c); };
        EXPECT_EQ(count_different(recorded, name, half, false, model), 0u) << name << ' ' << of << (half ? " to f16" : "");
        ++sets, rows += recorded.rows.size();
      }
  RecordProperty("sets", static_cast<int>(sets));
  RecordProperty("rows", static_cast<int>(rows));
}

// ---- another model

__extension__ typedef __int128 Wide;  // ISO C++ has no such type, which -Wpedantic says of an alias

// A number as an integer times 2^(exponent - bits): taken from the patterns by division, not by masks.
struct Taken {
  Wide significand = 0;
  int exponent = 0, bits = 0;
};
Taken taken(double value, int least_exponent, int bits) {
  if (value == 0) return {0, -100000, bits};
  int e = 0;
  std::frexp(value, &e);
  const int exponent = std::max(e - 1, least_exponent);
  return {static_cast<Wide>(std::ldexp(value, bits - exponent)), exponent, bits};
}
Wide shifted_to_zero(Wide value, int left) {
  const Wide magnitude = value < 0 ? -value : value;
  const Wide moved = left >= 0 ? magnitude << left : left < -120 ? 0 : magnitude >> -left;
  return value < 0 ? -moved : moved;
}

struct FormatFacts {
  int mantissa, least;
};
FormatFacts facts(DotFormat format) {
  switch (format) {
    case DotFormat::f16:
      return {10, -14};
    case DotFormat::bf16:
      return {7, -126};
    case DotFormat::tf32:
      return {10, -126};
    case DotFormat::e4m3:
      return {3, -6};
    case DotFormat::e5m2:
      return {2, -14};
    case DotFormat::e3m2:
      return {2, -2};
    case DotFormat::e2m3:
      return {3, 0};
    case DotFormat::e2m1:
      return {1, 0};
  }
  return {};
}

float expected_block(const DotUnit& unit, DotFormat fa, DotFormat fb, const float* a, const float* b, std::size_t count,
                     float c) {
  bool nan = std::isnan(c), plus = c == INFINITY, minus = c == -INFINITY;
  int largest = unit.least_exponent;
  std::vector<Taken> products;
  for (std::size_t k = 0; k < count; ++k) {
    if (!std::isfinite(a[k]) || !std::isfinite(b[k])) {
      nan |= std::isnan(a[k]) || std::isnan(b[k]) || a[k] == 0 || b[k] == 0;
      (std::signbit(a[k]) != std::signbit(b[k]) ? minus : plus) = true;
      continue;
    }
    const Taken x = taken(a[k], facts(fa).least, facts(fa).mantissa), y = taken(b[k], facts(fb).least, facts(fb).mantissa);
    products.push_back({x.significand * y.significand, x.exponent + y.exponent, x.bits + y.bits});
    if (products.back().significand != 0) largest = std::max(largest, products.back().exponent);
  }
  if (nan || (plus && minus)) return std::bit_cast<float>(nan32);
  if (plus || minus) return plus ? INFINITY : -INFINITY;
  const Taken z = taken(c, -126, 23);
  if (z.significand != 0) {
    largest = std::max(largest, z.exponent);
    products.push_back(z);
  }
  Wide sum = 0;
  for (const Taken& p : products)
    if (p.significand != 0) sum += shifted_to_zero(p.significand, unit.fraction - p.bits + p.exponent - largest);
  // |sum| 2^(largest - fraction), rounded by counting through the quanta
  if (sum == 0) return 0.0f;
  const long double exact = std::ldexp(static_cast<long double>(sum), largest - unit.fraction);
  int e = 0;
  std::frexp(exact, &e);
  const int mantissa = unit.result == DotResult::f16 ? 10 : unit.result == DotResult::f32 ? 23 : 13;
  const int quantum = std::max(e - 1, unit.result == DotResult::f16 ? -14 : -126) - mantissa;
  const long double scaled = std::ldexp(exact, -quantum);
  const long double whole = unit.result == DotResult::f16 ? std::nearbyint(scaled) : std::trunc(scaled);
  const long double value = std::ldexp(whole, quantum);
  const long double most = unit.result == DotResult::f16 ? 65504.0L : std::ldexp(2.0L - std::ldexp(1.0L, -mantissa), 127);
  if (std::fabs(value) > most) return std::copysign(INFINITY, static_cast<float>(value));
  if (whole == 0) return exact < 0 && unit.result != DotResult::f16 ? -0.0f : 0.0f;
  return static_cast<float>(value);
}

std::uint32_t random_raw(DotFormat format, std::mt19937_64& random, int style) {
  const std::uint64_t r = random();
  const bool wide = format == DotFormat::tf32;
  const int bits = wide                                                     ? 32
                   : format == DotFormat::f16 || format == DotFormat::bf16  ? 16
                   : format == DotFormat::e2m1                              ? 4
                   : format == DotFormat::e3m2 || format == DotFormat::e2m3 ? 6
                                                                            : 8;
  const auto any = static_cast<std::uint32_t>(r & ((std::uint64_t{1} << bits) - 1));
  if (style == 0 || bits < 16) return r >> 60 == 0 ? 0 : any;
  const int mantissa = wide ? 23 : facts(format).mantissa, exponent_bits = bits - 1 - mantissa,
            bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t sign = static_cast<std::uint32_t>(r >> 40 & 1) << (bits - 1);
  const std::uint32_t fraction = any & ((1u << mantissa) - 1);
  if (style == 3) return sign | fraction;  // subnormal
  const int spread = style == 1 ? 6 : exponent_bits == 8 ? 60 : 12;
  const auto field = static_cast<std::uint32_t>(bias + static_cast<int>(r >> 48) % (2 * spread) - spread);
  return sign | field << mantissa | fraction;
}

TEST(TensorCores, AgreeWithAnotherModelInEveryFormat) {
  std::mt19937_64 random(7);
  const DotFormat all[] = {DotFormat::f16,  DotFormat::bf16, DotFormat::tf32, DotFormat::e4m3,
                           DotFormat::e5m2, DotFormat::e3m2, DotFormat::e2m3, DotFormat::e2m1};
  constexpr std::size_t n = 16;
  for (const DotFormat fa : all)
    for (const DotFormat fb : all) {
      const bool bytes = fa >= DotFormat::e4m3 && fb >= DotFormat::e4m3;
      if (fa != fb && !bytes) continue;
      for (const DotUnit& unit :
           {DotUnit{16, 25, DotResult::f32}, DotUnit{8, 24, DotResult::f16, -21}, DotUnit{32, 13, DotResult::f32_short},
            DotUnit{64, 35, DotResult::f32}, DotUnit{4, 23, DotResult::f32}})
        for (int round = 0; round < 40; ++round) {
          const std::size_t depth = round % 2 == 0 ? 32 : 16;
          const int style = round % 4;
          std::vector<std::uint32_t> raw_a(depth), raw_b(depth * n);
          for (auto& x : raw_a) x = random_raw(fa, random, style);
          for (auto& x : raw_b) x = random_raw(fb, random, style);
          const Factors a = decoded(fa, raw_a), b = decoded(fb, raw_b);
          std::vector<const float*> rows;
          std::vector<const std::int32_t*> exponents;
          for (std::size_t k = 0; k < depth; ++k) rows.push_back(&b.values[k * n]), exponents.push_back(&b.exponents[k * n]);
          std::vector<float> c(n);
          for (float& x : c) {
            const std::uint64_t r = random();
            const auto ordinary = static_cast<std::uint32_t>((r & 0x807FFFFF) | (117 + (r >> 40) % 20) << 23);
            x = std::bit_cast<float>(r >> 62 == 0 ? static_cast<std::uint32_t>(r) : r >> 61 == 2 ? 0 : ordinary);
            if (unit.result == DotResult::f16) x = dot_result(DotResult::f16, x);
          }
          std::vector<float> fast = c, slow = c;
          const DotRow row{a.values, a.exponents, rows, exponents, a.finite && b.finite};
          add_products(unit, row, fast);
          add_products_one_by_one(unit, row, slow);
          for (std::size_t j = 0; j < n; ++j) {
            float expected = c[j];
            for (std::size_t from = 0; from < depth; from += unit.block) {
              const std::size_t count = std::min<std::size_t>(unit.block, depth - from);
              std::vector<float> column;
              for (std::size_t k = from; k < from + count; ++k) column.push_back(rows[k][j]);
              expected = expected_block(unit, fa, fb, &a.values[from], column.data(), count, expected);
            }
            ASSERT_EQ(bits_of(fast[j]), bits_of(expected)) << int(fa) << ' ' << int(fb) << " block " << int(unit.block);
            ASSERT_EQ(bits_of(slow[j]), bits_of(expected)) << int(fa) << ' ' << int(fb) << " block " << int(unit.block);
          }
        }
    }
}

// 2^-25 lies half way between two f16; what a term below the last place kept, 2^-46, adds to it is cut off.
TEST(TensorCores, HaveALeastExponentOfSumsInF16) {
  constexpr DotUnit unit{16, 25, DotResult::f16, -21};
  constexpr std::size_t n = 8;
  const Factors a = decoded(DotFormat::f16, {0x0C00, 0x0002});  // 2^-12, 2^-23
  std::vector<std::uint32_t> raw_b(2 * n, 0x0800);              // 2^-13
  for (std::size_t j = 0; j < n; ++j) raw_b[n + j] = 0x0001;    // 2^-24
  const Factors b = decoded(DotFormat::f16, raw_b);
  const std::vector<const float*> rows = {&b.values[0], &b.values[n]};
  const std::vector<const std::int32_t*> exponents = {&b.exponents[0], &b.exponents[n]};
  std::vector<float> fast(n), slow(n);
  const DotRow row{a.values, a.exponents, rows, exponents, true};
  add_products(unit, row, fast);
  add_products_one_by_one(unit, row, slow);
  EXPECT_EQ(slow, std::vector<float>(n, 0.0f));
  EXPECT_EQ(fast, slow);
}

TEST(TensorCores, KnowEveryPatternOfTheirFormats) {
  const struct {
    DotFormat format;
    int exponent_bits, mantissa;
  } all[] = {{DotFormat::f16, 5, 10}, {DotFormat::bf16, 8, 7}, {DotFormat::e4m3, 4, 3}, {DotFormat::e5m2, 5, 2},
             {DotFormat::e3m2, 3, 2}, {DotFormat::e2m3, 2, 3}, {DotFormat::e2m1, 2, 1}};
  for (const auto& f : all) {
    const int bits = 1 + f.exponent_bits + f.mantissa, bias = (1 << (f.exponent_bits - 1)) - 1;
    for (std::uint32_t raw = 0; raw < 1u << bits; ++raw) {
      const Factors x = decoded(f.format, {raw});
      const int field = static_cast<int>(raw >> f.mantissa) % (1 << f.exponent_bits),
                fraction = static_cast<int>(raw % (1u << f.mantissa));
      const bool top = field == (1 << f.exponent_bits) - 1;
      const bool ieee = f.format == DotFormat::f16 || f.format == DotFormat::bf16 || f.format == DotFormat::e5m2;
      const bool nan = ieee ? top && fraction != 0 : f.format == DotFormat::e4m3 && top && fraction == 7;
      ASSERT_EQ(std::isnan(x.values[0]), nan) << raw;
      if (nan) continue;
      const double magnitude =
          ieee && top ? INFINITY
                      : std::ldexp(fraction + (field != 0 ? 1 << f.mantissa : 0), std::max(field, 1) - bias - f.mantissa);
      ASSERT_EQ(x.values[0], raw >> (bits - 1) != 0 ? -magnitude : magnitude) << raw;
      ASSERT_EQ(x.finite, std::isfinite(magnitude)) << raw;
      if (x.finite) {
        ASSERT_EQ(x.exponents[0], magnitude == 0 ? zero_exponent : std::max(field, 1) - bias) << raw;
      }
    }
  }
}

}  // namespace
}  // namespace ptx::num
