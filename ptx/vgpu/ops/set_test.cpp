// set, setp with a boolean operator and slct: every type, comparison, operator and result.
#include <cstring>

#include "ptx/vgpu/testing/integers.hpp"

namespace ptx::vgpu {
namespace {

template <class T>
T read_as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
bool compared(const std::string& cmp, T a, T b) {
  const bool less = a<b, more = a> b, same = a == b, unordered = !less && !more && !same;
  const std::string held = unordered ? "equ neu ltu leu gtu geu nan"
                           : less    ? "ne lt le lo ls neu ltu leu num"
                           : more    ? "ne gt ge hi hs neu gtu geu num"
                                     : "eq le ge ls hs equ leu geu num";
  return (" " + held + " ").find(" " + cmp + " ") != std::string::npos;
}
bool combined(const std::string& by, bool holds, bool c) {
  return by == "and" ? holds && c : by == "or" ? holds || c : by == "xor" ? holds != c : holds;
}

// setp with a boolean operator, and set: of every type, comparison, operator and result.
template <class T>
void expect_combined(const std::string& type, const std::vector<std::uint64_t>& special, const std::string& orders,
                     bool ftz = false) {
  using testing::Inputs;
  constexpr int width = 8 * sizeof(T);
  std::vector<testing::Piece> pieces;
  const auto value = [ftz](std::uint64_t bits) {
    T v = read_as<T>(bits);
    if constexpr (std::is_same_v<T, float>)
      if (ftz) v = testing::flushed(v);
    return v;
  };
  const std::string flush = ftz ? ".ftz" : "";
  // the operands in registers of their own width
  const std::string a = width == 16 ? "%h0" : "%a", b = width == 16 ? "%h1" : "%b";
  const std::string narrow = width == 16 ? ".reg .b16 %h<3>; cvt.u16.u32 %h0, %a; cvt.u16.u32 %h1, %b; " : "";
  const std::string flag = width == 64 ? "cvt.u32.u64 %n0, %e; and.b32 %n0, %n0, 1; setp.ne.u32 %z, %n0, 0; "
                                       : "and.b32 %n0, %e, 1; setp.ne.u32 %z, %n0, 0; ";
  const auto widened = [&](const std::string& from) {
    return width == 64 ? cat("cvt.u64.u32 %d, ", from, ';') : cat("mov.b32 %d, ", from, ';');
  };
  std::string left = orders;
  while (!left.empty()) {
    const std::string cmp = left.substr(0, left.find(' '));
    left.erase(0, cmp.size() + 1);
    for (const std::string by : {"", "and", "or", "xor"})
      for (const bool negated : {false, true}) {
        if (by.empty() && negated) continue;
        const auto holds = [=](const Inputs& in) { return compared<T>(cmp, value(in.a), value(in.b)); };
        const auto c = [=](const Inputs& in) { return (in.e & 1) != (negated ? 1u : 0u); };
        const std::string operands = cat(a, ", ", b, by.empty() ? "; " : negated ? ", !%z; " : ", %z; ");
        const std::string name = cat(cmp, by.empty() ? "" : ".", by, flush);
        if (!by.empty()) {
          pieces.push_back({cat("{ ", narrow, flag, "setp.", name, '.', type, " %p|%q, ", operands,
                                "selp.u32 %n0, 1, 0, %p; selp.u32 %n1, 2, 0, %q; or.b32 %n0, %n0, %n1; ", widened("%n0"), " }"),
                            [=](const Inputs& in) {
                              return (combined(by, holds(in), c(in)) ? 1u : 0u) + (combined(by, !holds(in), c(in)) ? 2u : 0u);
                            }});
        }
        for (const auto& [result, yes] :
             {std::pair<std::string, std::uint64_t>{"u32", 0xFFFFFFFF}, {"s32", 0xFFFFFFFF}, {"f32", 0x3F800000}})
          pieces.push_back(
              {cat("{ ", narrow, flag, "set.", name, '.', result, '.', type, " %n1, ", operands, widened("%n1"), " }"),
               [=, yes = yes](const Inputs& in) { return combined(by, holds(in), c(in)) ? yes : 0; }});
        pieces.push_back({cat("{ .reg .b16 %k; ", narrow, flag, "set.", name, ".f16.", type, " %k, ", operands,
                              "cvt.u32.u16 %n1, %k; ", widened("%n1"), " }"),
                          [=](const Inputs& in) { return combined(by, holds(in), c(in)) ? 0x3C00u : 0u; }});
      }
  }
  auto rows = testing::make_inputs(60, special);
  for (std::size_t i = 0; i < rows.size(); i += 5) rows[i].b = rows[i].a;
  testing::expect_pieces(pieces, rows, width == 64 ? 64 : 32);
}

const std::string equalities = "eq ne ", signed_orders = equalities + "lt le gt ge ",
                  unsigned_orders = signed_orders + "lo ls hi hs ",
                  float_orders = signed_orders + "equ neu ltu leu gtu geu num nan ";

TEST(Set, CombinesComparisonsOfIntegers) {
  const auto edges = testing::integer_edges();
  expect_combined<std::uint16_t>("b16", edges, equalities);
  expect_combined<std::uint32_t>("b32", edges, equalities);
  expect_combined<std::uint64_t>("b64", edges, equalities);
  expect_combined<std::int16_t>("s16", edges, signed_orders);
  expect_combined<std::int32_t>("s32", edges, signed_orders);
  expect_combined<std::int64_t>("s64", edges, signed_orders);
  expect_combined<std::uint16_t>("u16", edges, unsigned_orders);
  expect_combined<std::uint32_t>("u32", edges, unsigned_orders);
  expect_combined<std::uint64_t>("u64", edges, unsigned_orders);
}
TEST(Set, CombinesComparisonsOfFloats) {
  expect_combined<float>("f32", testing::f32_edges(), float_orders);
  expect_combined<float>("f32", testing::f32_edges(), float_orders, true);
  expect_combined<double>("f64", testing::f64_edges(), float_orders);
}

// The result may go where a source or the guard is.
TEST(Set, ReadsBeforeItWrites) {
  testing::expect_pieces(
      {{"setp.lt.u32 %p, %a, 100; mov.b32 %d, %c; @%p setp.lt.and.u32 %p|%q, %a, %b, %p; selp.u32 %d, 1, 0, %p;",
        [](const testing::Inputs& in) {
          const auto a = static_cast<std::uint32_t>(in.a), b = static_cast<std::uint32_t>(in.b);
          return std::uint64_t{a < 100 && a < b};
        }},
       {"setp.lt.u32 %p, %a, 100; mov.b32 %d, %b; @%p set.lt.or.u32.u32 %d, %a, %d, !%p;",
        [](const testing::Inputs& in) -> std::uint64_t {
          const auto a = static_cast<std::uint32_t>(in.a), b = static_cast<std::uint32_t>(in.b);
          return a >= 100 ? b : a < b ? 0xFFFFFFFF : 0;
        }}},
      testing::make_inputs(500), 32);
}

TEST(Slct, ChoosesBySign) {
  for (const std::string type : {"b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"}) {
    const int width = std::atoi(type.c_str() + 1);
    const std::string reg = cat(type[0] == 'f' ? "f" : "b", width);
    const std::uint64_t ones = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    auto rows = testing::make_rows(testing::integer_edges(), {1, 2, 3}, 64, 500, false);
    const auto of_float = testing::f32_edges();
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (i % 2 == 0) rows[i].c = of_float[i / 2 % of_float.size()];
    for (const std::string sign : {"s32", "f32", "ftz"}) {
      const std::string name = sign == "ftz" ? cat("slct.ftz.", type, ".f32") : cat("slct.", type, '.', sign);
      for (const std::uint32_t mask : {0xFFFFFFFFu, 0x0F0F3355u}) {
        const auto results =
            testing::run_rows(name + " %vd, %va, %vb, %vc", {reg, reg, reg, sign == "s32" ? "b32" : "f32"}, rows, mask);
        for (std::size_t i = 0; i < rows.size(); ++i) {
          const auto c = static_cast<std::uint32_t>(rows[i].c);
          const bool minus = (c >> 31) != 0, nan = (c & 0x7FFFFFFF) > 0x7F800000, zero = (c & 0x7FFFFFFF) == 0;
          const bool tiny = (c & 0x7F800000) == 0;
          const bool first = sign == "s32" ? !minus : !nan && (!minus || zero || (sign == "ftz" && tiny));
          const bool active = (mask >> (i % 32) & 1) != 0;
          ASSERT_EQ(results[i], (!active ? rows[i].d : first ? rows[i].a : rows[i].b) & ones) << name << " c=0x" << hex(c);
        }
      }
    }
  }
}

}  // namespace
}  // namespace ptx::vgpu
