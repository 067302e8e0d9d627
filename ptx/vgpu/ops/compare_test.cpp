#include <cmath>
#include <functional>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Operands;

template <class T>
using Comparison = std::pair<std::string, bool (*)(T, T)>;

template <class T>
T as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
void expect_like(
    const std::string& type, const std::string& reg, const std::vector<Operands>& rows,
    const std::vector<Comparison<T>>& comparisons, T (*prepare)(T) = [](T x) { return x; }) {
  for (const auto& [name, holds] : comparisons)
    for (const std::uint32_t mask : {0xFFFFFFFFu, 0x0F0F3355u}) {
      const auto both = testing::run_rows(cat("setp.", name, '.', type, " %vd, %va, %vb"), {"pred", reg, reg, ""}, rows, mask);
      const auto opposite =
          testing::run_rows(cat("setp.", name, '.', type, " _|%vd, %va, %vb"), {"pred", reg, reg, ""}, rows, mask);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool expected = holds(prepare(as<T>(rows[i].a)), prepare(as<T>(rows[i].b)));
        const bool active = (mask >> (i % 32) & 1) != 0;
        ASSERT_EQ(both[i], active ? expected : true)
            << name << '.' << type << " a=0x" << hex(rows[i].a) << " b=0x" << hex(rows[i].b);
        ASSERT_EQ(opposite[i], active ? !expected : true)
            << name << '.' << type << " q of a=0x" << hex(rows[i].a) << " b=0x" << hex(rows[i].b);
      }
    }
}

template <class T>
void expect_integers(const std::string& type, bool unsigned_names) {
  const auto rows = testing::make_rows(testing::integer_edges(), testing::integer_edges(), 64, 500, false);
  const std::string reg = cat('b', 8 * sizeof(T));
  std::vector<Comparison<T>> all = {{"eq", [](T a, T b) { return a == b; }}, {"ne", [](T a, T b) { return a != b; }},
                                    {"lt", [](T a, T b) { return a < b; }},  {"le", [](T a, T b) { return a <= b; }},
                                    {"gt", [](T a, T b) { return a > b; }},  {"ge", [](T a, T b) { return a >= b; }}};
  if (unsigned_names)
    all.insert(all.end(), {{"lo", [](T a, T b) { return a < b; }},
                           {"ls", [](T a, T b) { return a <= b; }},
                           {"hi", [](T a, T b) { return a > b; }},
                           {"hs", [](T a, T b) { return a >= b; }}});
  expect_like<T>(type, reg, rows, all);
}

TEST(Setp, ComparesIntegers) {
  expect_integers<std::uint16_t>("u16", true);
  expect_integers<std::uint32_t>("u32", true);
  expect_integers<std::uint64_t>("u64", true);
  expect_integers<std::int16_t>("s16", false);
  expect_integers<std::int32_t>("s32", false);
  expect_integers<std::int64_t>("s64", false);
}

template <class T>
std::vector<Comparison<T>> floating() {
  using std::isnan;
  return {{"eq", [](T a, T b) { return !std::isunordered(a, b) && a == b; }},
          {"ne", [](T a, T b) { return !std::isunordered(a, b) && a != b; }},
          {"lt", [](T a, T b) { return std::isless(a, b); }},
          {"le", [](T a, T b) { return std::islessequal(a, b); }},
          {"gt", [](T a, T b) { return std::isgreater(a, b); }},
          {"ge", [](T a, T b) { return std::isgreaterequal(a, b); }},
          {"equ", [](T a, T b) { return std::isunordered(a, b) || a == b; }},
          {"neu", [](T a, T b) { return std::isunordered(a, b) || a != b; }},
          {"ltu", [](T a, T b) { return std::isunordered(a, b) || a < b; }},
          {"leu", [](T a, T b) { return std::isunordered(a, b) || a <= b; }},
          {"gtu", [](T a, T b) { return std::isunordered(a, b) || a > b; }},
          {"geu", [](T a, T b) { return std::isunordered(a, b) || a >= b; }},
          {"num", [](T a, T b) { return !isnan(a) && !isnan(b); }},
          {"nan", [](T a, T b) { return isnan(a) || isnan(b); }}};
}

TEST(Setp, ComparesFloats) {
  expect_like<float>("f32", "b32", testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 500, true),
                     floating<float>());
  expect_like<double>("f64", "b64", testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 500, true),
                      floating<double>());
}

TEST(Setp, FlushesSubnormalsWhenAsked) {
  std::vector<Comparison<float>> all;
  for (const auto& [name, holds] : floating<float>()) all.emplace_back(cat(name, ".ftz"), holds);
  expect_like<float>("f32", "b32", testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 500, true), all,
                     [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; });
}

TEST(Selp, TakesNegatedAndConstantPredicates) {
  const std::vector<Operands> rows = {{0, 11, 22, 0}, {0, 11, 22, 1}};
  const auto run = [&](const char* c) {
    return testing::run_rows(cat("selp.b32 %vd, %va, %vb, ", c), {"b32", "b32", "b32", "pred"}, rows);
  };
  EXPECT_EQ(run("%vc"), (std::vector<std::uint64_t>{22, 11}));
  EXPECT_EQ(run("!%vc"), (std::vector<std::uint64_t>{11, 22}));
  EXPECT_EQ(run("1"), (std::vector<std::uint64_t>{11, 11}));
  EXPECT_EQ(run("0"), (std::vector<std::uint64_t>{22, 22}));
}

TEST(Selp, SelectsByLane) {
  const auto rows = testing::make_rows(testing::integer_edges(), testing::integer_edges(), 64, 100, false);
  for (const int width : {16, 32, 64}) {
    const std::string reg = cat('b', width);
    const std::uint64_t bits = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    const auto results = testing::run_rows(cat("selp.", reg, " %vd, %va, %vb, %vc"), {reg, reg, reg, "pred"}, rows);
    for (std::size_t i = 0; i < rows.size(); ++i)
      ASSERT_EQ(results[i], (static_cast<std::uint32_t>(rows[i].c) != 0 ? rows[i].a : rows[i].b) & bits) << "row " << i;
  }
}

}  // namespace
}  // namespace ptx::vgpu
