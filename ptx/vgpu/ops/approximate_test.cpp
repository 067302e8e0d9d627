// Approximations on request: rounded, and perturbed by a seed. (As hardware gives them: floating_test.cpp, num/approx_test.cpp.)
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::f32;

// The instruction's result for each `a`, with b = 3.
std::vector<float> results_of(const std::string& instruction, const std::vector<float>& a, const Options& options) {
  const auto made = testing::program(testing::rows_kernel(instruction, {"f32", "f32", "f32", ""}));
  if (made == nullptr) return std::vector<float>(a.size());
  testing::Buffer<testing::Operands> table{"rows", {}};
  for (const float x : a) table.data.push_back({0, std::bit_cast<std::uint32_t>(x), std::bit_cast<std::uint32_t>(3.0f), 0});
  testing::run(made, testing::block(static_cast<std::uint32_t>(a.size())),
               testing::params({table.address(), a.size(), 0xFFFFFFFF}), {table.region()}, options);
  std::vector<float> results;
  for (const auto& row : table.data) results.push_back(f32(row.d));
  return results;
}
std::vector<float> arguments() {
  std::vector<float> a;
  for (int i = 0; i < 128; ++i) a.push_back(0.25f + 0.0371f * static_cast<float>(i));
  return a;
}

struct Case {
  const char* instruction;
  double (*value)(double);
  double relative, absolute;  // the manual's bounds
};
const Case cases[] = {
    {"rcp.approx.f32 %vd, %va", [](double a) { return 1 / a; }, 0x1p-23, 0},
    {"rsqrt.approx.ftz.f32 %vd, %va", [](double a) { return 1 / std::sqrt(a); }, 0x1.13p-23, 0},
    {"sqrt.approx.f32 %vd, %va", [](double a) { return std::sqrt(a); }, 0x1p-23, 0},
    {"ex2.approx.ftz.f32 %vd, %va", [](double a) { return std::exp2(a); }, 0x1p-22, 0},
    {"lg2.approx.f32 %vd, %va", [](double a) { return std::log2(a); }, 0, 0x1p-22},
    {"sin.approx.f32 %vd, %va", [](double a) { return std::sin(a); }, 0, 0x1.6bp-21},
    {"cos.approx.ftz.f32 %vd, %va", [](double a) { return std::cos(a); }, 0, 0x1.6bp-21},
    {"tanh.approx.f32 %vd, %va", [](double a) { return std::tanh(a); }, 0x1p-11, 0},
    {"div.approx.f32 %vd, %va, %vb", [](double a) { return a / 3; }, 0x1p-22, 0},
    {"div.full.ftz.f32 %vd, %va, %vb", [](double a) { return a / 3; }, 0x1p-22, 0},
};

TEST(Approximate, RoundsOnRequest) {
  Options rounded;
  rounded.approximations = Approximations::rounded;
  for (const Case& c : cases) {
    const auto a = arguments(), got = results_of(c.instruction, a, rounded);
    for (std::size_t i = 0; i < a.size(); ++i)
      EXPECT_EQ(got[i], static_cast<float>(c.value(static_cast<double>(a[i])))) << c.instruction << " of " << a[i];
  }
  const float inf = INFINITY;
  const auto edges = results_of("rcp.approx.ftz.f32 %vd, %va", {0x1p-140f, -0.0f, inf, 0x1p127f}, rounded);
  EXPECT_EQ(edges[0], inf) << ".ftz flushes the operand";
  EXPECT_EQ(edges[1], -inf);
  EXPECT_EQ(edges[2], 0.0f);
  EXPECT_EQ(edges[3], 0.0f) << ".ftz flushes the result";
  EXPECT_EQ(std::bit_cast<std::uint32_t>(results_of("rsqrt.approx.f32 %vd, %va", {-1.0f}, rounded)[0]), 0x7FFFFFFFu);
}

TEST(Approximate, PerturbsWithinTheManualsBoundsByTheSeed) {
  Options perturbed;
  perturbed.approximations = Approximations::perturbed;
  for (const Case& c : cases) {
    const auto a = arguments();
    std::set<std::vector<float>> different;
    for (perturbed.seed = 0; perturbed.seed < 8; ++perturbed.seed) {
      const auto got = results_of(c.instruction, a, perturbed);
      EXPECT_EQ(got, results_of(c.instruction, a, perturbed)) << c.instruction << ": the same seed";
      different.insert(got);
      for (std::size_t i = 0; i < a.size(); ++i) {
        const double want = c.value(static_cast<double>(a[i]));
        const double last_place = std::ldexp(1.0, std::ilogb(static_cast<float>(want)) - 24);
        EXPECT_LE(std::fabs(static_cast<double>(got[i]) - want), c.relative * std::fabs(want) + c.absolute + last_place)
            << c.instruction << " of " << a[i];
      }
    }
    EXPECT_EQ(different.size(), 8u) << c.instruction << ": another seed";
  }
}

// "within a bound: rcp.approx.f32: …" of every note.
std::vector<std::string> fidelity_of(const std::string& instruction, const testing::Header& header, const Options& options = {}) {
  const auto made = testing::program(testing::rows_kernel(instruction, {"f32", "f32", "f32", ""}, header));
  std::vector<std::string> said;
  if (made != nullptr)
    for (const FidelityNote& note : made->fidelity(options))
      said.push_back(cat(name(note.fidelity), ": ", note.instruction, ": ", note.why));
  return said;
}

TEST(Fidelity, NamesWhatIsNotKnownToBeAGpusBits) {
  const std::string ex2 = "ex2.approx.ftz.f32 %vd, %va";
  using Said = std::vector<std::string>;
  EXPECT_EQ(fidelity_of("add.f32 %vd, %va, %vb", {".target sm_80"}), Said{});
  EXPECT_EQ(fidelity_of(ex2, {".target sm_90a"}), Said{}) << "an H200 has been asked";
  EXPECT_EQ(
      fidelity_of(ex2, {".target sm_80"}),
      Said{"within a bound: ex2.approx.ftz.f32: the bits of an H200; a GPU of sm_80 may give others within the manual's bound"});
  Options options;
  options.approximations = Approximations::rounded;
  EXPECT_EQ(fidelity_of(ex2, {".target sm_90a"}, options),
            Said{"within a bound: ex2.approx.ftz.f32: rounded to nearest, on request"});
  options.approximations = Approximations::perturbed;
  EXPECT_EQ(fidelity_of("div.full.f32 %vd, %va, %vb", {".target sm_90a"}, options),
            Said{"within a bound: div.full.f32: perturbed within the manual's bound, on request"});
  EXPECT_EQ(fidelity_of("min.f32 %vd, %va, %vb, %va", {".version 8.8", ".target sm_100a"}),
            Said{"unverified: min.f32: as the manual says; no GPU has been asked"});
  EXPECT_EQ(words_of_approximations()[static_cast<std::size_t>(Approximations::perturbed)], "perturb");
  EXPECT_EQ(approximations_from_name("rounded"), Approximations::rounded);
  EXPECT_EQ(numerics_from_name("fast"), Numerics::fast);
  EXPECT_EQ(numerics_from_name("quick"), std::nullopt);
}

}  // namespace
}  // namespace ptx::vgpu
