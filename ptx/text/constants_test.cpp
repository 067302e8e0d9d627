// Constant expressions come to what ptxas makes of them: a recorded list, and random ones beside ptxas itself.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>

#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/ptxas.hpp"

namespace ptx::text {
namespace {

std::string module_of(std::string_view type, std::size_t count, std::string_view values) {
  return cat(".version 8.0\n.target sm_75\n.address_size 64\n.visible .global .align 8 .", type, " g[", count, "] = {\n", values,
             "\n};\n.visible .entry k() { ret; }\n");
}

// What the parser makes of one expression; nothing when it refuses it.
std::optional<std::uint64_t> value_of(std::string_view type, const std::string& expression) {
  const Parsed parsed = parse(module_of(type, 1, expression));
  if (parsed.syntax_errors != 0 || has_errors(parsed.findings) || parsed.module.variables.size() != 1) return std::nullopt;
  const std::vector<ir::Init>& initialiser = parsed.module.variables[0].initialiser;
  const ir::InitKind wanted = type == "f64" ? ir::InitKind::floating : ir::InitKind::integer;
  if (initialiser.size() != 3 || initialiser[1].kind != wanted) return std::nullopt;
  return initialiser[1].value;
}

std::string shown(const std::optional<std::uint64_t>& value) { return value ? cat("0x", hex(*value)) : "refused"; }

TEST(Constants, AreWhatPtxasMakesOfThem) {
  int seen = 0;
  for (std::string line : testing::lines_of(testing::read_file("tests/golden/text/constants.txt"))) {
    if (line.empty() || line.starts_with("# ")) continue;
    const std::string_view type = line.starts_with("f64 ") ? "f64" : "u64";
    if (type == "f64") line.erase(0, 4);
    const std::size_t equals = line.find(" = ");
    ASSERT_NE(equals, std::string::npos) << line;
    const std::string expression = line.substr(equals + 3);
    EXPECT_EQ(shown(value_of(type, expression)), line.substr(0, equals)) << expression;
    ++seen;
  }
  EXPECT_GT(seen, 300);
}

// ---- beside ptxas -----------------------------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(std::uint32_t seed) : random_(seed) {}

  std::string expression(int depth) {
    const unsigned kind = depth == 0 ? 0 : below(20);
    if (kind < 3) return literal();
    if (kind < 7) return cat(pick("-", "+", "~", "!"), nested(depth));
    if (kind < 8) return cat(pick("(.s64)", "(.u64)"), nested(depth));
    if (kind < 10) return cat(nested(depth), " ? ", expression(depth - 1), " : ", expression(depth - 1));
    const std::string_view op =
        pick("&&", "||", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>", "+", "-", "*", "/", "%");
    return cat(nested(depth), ' ', op, ' ', nested(depth));
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  template <class... Words>
  std::string_view pick(Words... words) {
    const std::array<std::string_view, sizeof...(Words)> all = {words...};
    return all[below(all.size())];
  }
  // With parentheses or, so that the ranks of operators are tried, without.
  std::string nested(int depth) { return below(4) == 0 ? expression(depth - 1) : cat('(', expression(depth - 1), ')'); }
  std::string literal() {
    const std::array<std::uint64_t, 12> edges = {
        0, 1, 2, 3, 7, 63, 64, 0x80000000u, 0xFFFFFFFFu, 0x7FFFFFFFFFFFFFFFu, 0x8000000000000000u, 0xFFFFFFFFFFFFFFFFu};
    const std::uint64_t value = below(2) == 0 ? edges[below(edges.size())] : random_() >> below(64);
    const std::string suffix = below(3) == 0 ? "U" : "";
    switch (below(8)) {
      case 0:
        return "WARP_SZ";
      case 1:
      case 2:
        return cat("0x", hex(value), suffix);
      default:
        return cat(value, suffix);
    }
  }

  std::mt19937_64 random_;
};

template <class Number>
Number read(const std::string& bytes, std::size_t at) {
  Number number{};
  if (at + sizeof number <= bytes.size()) std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

// A section of an ELF file of 64 bits; "" when it has none of that name.
std::string section(const std::string& elf, std::string_view wanted) {
  const auto table = static_cast<std::size_t>(read<std::uint64_t>(elf, 0x28));
  const std::size_t count = read<std::uint16_t>(elf, 0x3C), names = read<std::uint16_t>(elf, 0x3E);
  const auto field = [&](std::size_t index, std::size_t at) {
    return static_cast<std::size_t>(read<std::uint64_t>(elf, table + 64 * index + at));
  };
  const std::size_t strings = field(names, 0x18);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t name = strings + read<std::uint32_t>(elf, table + 64 * i);
    if (name < elf.size() && elf.compare(name, wanted.size() + 1, std::string(wanted) + '\0') == 0)
      return elf.substr(field(i, 0x18), field(i, 0x20));
  }
  return {};
}

TEST(Constants, OfAnyFormAreWhatPtxasMakesOfThem) {
  const auto ptxas = testing::Ptxas::find();
  if (!ptxas) GTEST_SKIP() << "no ptxas here: what it would make of constants is not known";
  Random random(12);
  std::vector<std::string> expressions;
  std::vector<std::uint64_t> ours;
  for (int tries = 0; expressions.size() < 1500 && tries < 10000; ++tries) {
    std::string expression = random.expression(1 + tries % 4);
    const auto value = value_of("u64", expression);
    if (!value) continue;  // a division by zero, which ptxas stops at
    expressions.push_back(std::move(expression));
    ours.push_back(*value);
  }
  ASSERT_EQ(expressions.size(), 1500u);
  std::string list;
  for (const std::string& e : expressions) list += cat(list.empty() ? "" : ",\n", e);
  const auto elf = ptxas->assemble(module_of("u64", expressions.size(), list), "sm_75");
  ASSERT_TRUE(elf.has_value()) << "ptxas refuses one of the expressions that are taken here";
  const std::string data = section(*elf, ".nv.global.init");
  ASSERT_EQ(data.size(), 8 * expressions.size());
  for (std::size_t i = 0; i < expressions.size(); ++i)
    EXPECT_EQ(shown(ours[i]), shown(read<std::uint64_t>(data, 8 * i))) << expressions[i];
}

// What nests is read without recursion, and what is endless ends in an error.
TEST(Constants, MayBeLong) {
  const auto repeated = [](std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  for (const int n : {100, 199, 200, 201, 1000, 2500}) {
    EXPECT_EQ(value_of("u64", cat(repeated("(", n), "7", repeated(")", n))), 7u) << n;
    EXPECT_EQ(value_of("u64", cat(repeated("-", n), "7")), n % 2 == 0 ? std::uint64_t{7} : ~std::uint64_t{6}) << n;
    EXPECT_EQ(value_of("u64", cat(repeated("1+", n), "1")), static_cast<std::uint64_t>(n) + 1) << n;
    EXPECT_EQ(value_of("u64", cat(repeated("(1+", n), "1", repeated(")", n))), static_cast<std::uint64_t>(n) + 1) << n;
    EXPECT_EQ(value_of("u64", cat(repeated("0?1:", n), "2")), 2u) << n;
  }
  for (const int n : {20000, 300000}) {
    EXPECT_EQ(value_of("u64", cat(repeated("1+", n), "1")), static_cast<std::uint64_t>(n) + 1) << n;
    EXPECT_EQ(value_of("u64", cat(repeated("(", n), "7", repeated(")", n))), std::nullopt) << n;
    EXPECT_EQ(value_of("u64", repeated("(", n)), std::nullopt) << n;
    EXPECT_EQ(value_of("u64", repeated("-", n)), std::nullopt) << n;
    EXPECT_EQ(value_of("u64", repeated("1?", n)), std::nullopt) << n;
  }
}

TEST(Constants, ThatDoNotFitAreCutWithAWarning) {
  const Parsed parsed = parse(module_of("u64", 1, "18446744073709551617"));
  EXPECT_EQ(value_of("u64", "18446744073709551617"), 1u);
  ASSERT_EQ(parsed.findings.size(), 1u);
  EXPECT_EQ(parsed.findings[0].severity, Severity::warning);
  EXPECT_NE(parsed.findings[0].message.find("`18446744073709551617` does not fit 64 bits"), std::string::npos);
}

}  // namespace
}  // namespace ptx::text
