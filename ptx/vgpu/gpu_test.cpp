// The executor beside a GPU: the same kernel over the same operands must give the same bits, and approximations the same within
// their bounds. Skips with the driver's own reason where there is no GPU.
#include <cmath>

#include "ptx/cuda/cuda.hpp"
#include "ptx/vgpu/testing/values.hpp"

namespace ptx::vgpu {
namespace {

using testing::Operands;

class Gpu : public ::testing::Test {
 protected:
  void SetUp() override {
    auto found = cuda::device(0);
    if (!found) GTEST_SKIP() << render(found.error());
    device_ = *found;
    if (device_->capability() != cuda::ComputeCapability{9, 0}) GTEST_SKIP() << "the kernels are for compute capability 9.0";
  }

  // %vd of every row, as the GPU computes it.
  std::vector<std::uint64_t> on_gpu(const std::string& instruction, const std::array<std::string, 4>& types,
                                    const std::vector<Operands>& rows) {
    std::vector<Operands> table = rows;
    const auto done = cuda::in_context(*device_, [&]() -> Expected<void> {
      auto kernel = cuda::LoadedKernel::make(
          device_->driver(),
          {.image = text::print(ptx::testing::Script::module(testing::rows_kernel(instruction, types))), .entry = "k"});
      if (!kernel) return Unexpected{kernel.error()};
      auto function = (*kernel)->prepare(*device_);
      if (!function) return Unexpected{function.error()};
      auto memory = cuda::DeviceBuffer::copy_of(*device_, std::span<const Operands>(table));
      if (!memory) return Unexpected{memory.error()};
      const auto threads = static_cast<std::uint32_t>(rows.size());
      std::uint64_t address = memory->addr(), count = threads, lanes = 0xFFFFFFFF;
      std::array<void*, 3> params{&address, &count, &lanes};
      const cuda::LaunchTemplate config(
          {.grid = {(threads + testing::rows_of_block - 1) / testing::rows_of_block}, .block = {testing::rows_of_block}});
      if (auto ok = cuda::launch(device_->driver(), *function, config, nullptr, params.data()); !ok) return ok;
      if (auto ok = cuda::synchronize(*device_); !ok) return ok;
      if (auto ok = memory->copy_to(std::as_writable_bytes(std::span(table))); !ok) return ok;
      return (*kernel)->unload();
    });
    EXPECT_TRUE(done) << instruction << '\n' << render(done.error());
    std::vector<std::uint64_t> results;
    for (const Operands& row : table) results.push_back(row.d);
    return results;
  }

  // Every row must agree; says how many do not, and shows the first few.
  void expect_same(const std::string& instruction, const std::array<std::string, 4>& types, const std::vector<Operands>& rows) {
    const auto ours = testing::run_rows(instruction, types, rows), theirs = on_gpu(instruction, types, rows);
    std::size_t wrong = 0;
    std::string shown;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (ours[i] == theirs[i]) continue;
      if (++wrong <= 8)
        shown += cat("\n  a=0x", hex(rows[i].a), " b=0x", hex(rows[i].b), " c=0x", hex(rows[i].c), ": executor 0x", hex(ours[i]),
                     ", GPU 0x", hex(theirs[i]));
    }
    EXPECT_EQ(wrong, 0u) << instruction << ": " << wrong << " of " << rows.size() << " rows differ" << shown;
    ++instructions_;
  }
  void expect_all(const std::vector<std::string>& instructions, const std::array<std::string, 4>& types,
                  const std::vector<Operands>& rows) {
    for (const std::string& instruction : instructions) expect_same(instruction, types, rows);
  }
  void TearDown() override { RecordProperty("instructions", static_cast<int>(instructions_)); }

  const cuda::Device* device_ = nullptr;
  std::size_t instructions_ = 0;
};

std::vector<Operands> integers() {
  return testing::make_rows(testing::integer_edges(), testing::integer_edges(), 64, 4000, false);
}
std::vector<Operands> f32_rows() {
  auto rows = testing::make_rows(testing::f32_edges(), testing::f32_edges(), 32, 20000, true);
  // results about the smallest normal number, where flushing is decided
  for (std::uint64_t a = 0x007FFFF8; a < 0x00800008; ++a)
    for (std::uint64_t b = 0x3F7FFFF8; b < 0x3F800008; ++b)
      for (const std::uint64_t c : {0x00000000u, 0x00800000u, 0x80800000u}) rows.push_back({0, a, b, c});
  for (const std::uint64_t a : {0x00800000u, 0x80800000u})
    for (std::uint64_t b = 0x20000000; b < 0x3F800000; b += 0x00800000)
      for (const std::uint64_t c : {0x00800000u, 0x80800000u, 0x00800001u}) rows.push_back({0, a, b, c});
  return rows;
}
std::vector<Operands> f64_rows() { return testing::make_rows(testing::f64_edges(), testing::f64_edges(), 64, 20000, true); }
std::string reg_of(std::string_view type) { return cat('b', std::max(16, std::atoi(std::string(type.substr(1)).c_str()))); }

TEST_F(Gpu, IntegerArithmetic) {
  const auto rows = integers();
  for (const std::string t : {"u16", "u32", "u64", "s16", "s32", "s64"}) {
    const std::string r = reg_of(t);
    for (const std::string op : {"add", "sub", "mul.lo", "mul.hi", "min", "max", "div", "rem"})
      expect_same(cat(op, '.', t, " %vd, %va, %vb"), {r, r, r, ""}, rows);
    for (const std::string op : {"mad.lo", "mad.hi"}) expect_same(cat(op, '.', t, " %vd, %va, %vb, %vc"), {r, r, r, r}, rows);
    if (t[0] == 's')
      for (const std::string op : {"abs", "neg"}) expect_same(cat(op, '.', t, " %vd, %va"), {r, r, "", ""}, rows);
    expect_same(cat("shr.", t, " %vd, %va, %vb"), {r, r, "b32", ""}, rows);
    if (r == "b64") continue;
    const std::string w = r == "b16" ? "b32" : "b64";
    expect_same(cat("mul.wide.", t, " %vd, %va, %vb"), {w, r, r, ""}, rows);
    expect_same(cat("mad.wide.", t, " %vd, %va, %vb, %vc"), {w, r, r, w}, rows);
  }
  expect_all({"add.sat.s32 %vd, %va, %vb", "sub.sat.s32 %vd, %va, %vb"}, {"b32", "b32", "b32", ""}, rows);
  for (const std::string r : {"b16", "b32", "b64"}) {
    for (const std::string op : {"and", "or", "xor"}) expect_same(cat(op, '.', r, " %vd, %va, %vb"), {r, r, r, ""}, rows);
    expect_same(cat("not.", r, " %vd, %va"), {r, r, "", ""}, rows);
    expect_all({cat("shl.", r, " %vd, %va, %vb"), cat("shr.", r, " %vd, %va, %vb")}, {r, r, "b32", ""}, rows);
  }
}

TEST_F(Gpu, FloatingArithmetic) {
  const auto rows = f32_rows();
  for (const std::string rnd : {".rn", ".rz", ".rm", ".rp"})
    for (const std::string ftz : {"", ".ftz"}) {
      for (const std::string sat : {"", ".sat"}) {
        for (const std::string op : {"add", "sub", "mul"})
          expect_same(cat(op, rnd, ftz, sat, ".f32 %vd, %va, %vb"), {"f32", "f32", "f32", ""}, rows);
        expect_same(cat("fma", rnd, ftz, sat, ".f32 %vd, %va, %vb, %vc"), {"f32", "f32", "f32", "f32"}, rows);
      }
      expect_same(cat("div", rnd, ftz, ".f32 %vd, %va, %vb"), {"f32", "f32", "f32", ""}, rows);
      for (const std::string op : {"rcp", "sqrt"}) expect_same(cat(op, rnd, ftz, ".f32 %vd, %va"), {"f32", "f32", "", ""}, rows);
    }
  for (const std::string ftz : {"", ".ftz"}) {
    for (const std::string op : {"min", "max"})
      for (const std::string nan : {"", ".NaN"})
        expect_same(cat(op, ftz, nan, ".f32 %vd, %va, %vb"), {"f32", "f32", "f32", ""}, rows);
  }
}

// The rows' guard stands before the instruction, so ptxas folds a change of sign into FSEL, which leaves a NaN's other bits as
// they are; with .ftz, and without a guard, it is an addition, whose NaN is 0x7fffffff, as the executor has it.
TEST_F(Gpu, ChangesOfSign) {
  const auto is_nan = [](const Operands& row) { return (row.a & 0x7FFFFFFF) > 0x7F800000; };
  auto numbers = f32_rows();
  std::erase_if(numbers, is_nan);
  auto nans = f32_rows();
  std::erase_if(nans, [&](const Operands& row) { return !is_nan(row); });
  ASSERT_FALSE(nans.empty());
  for (const std::string op : {"abs", "neg"}) {
    const std::array<std::string, 4> types = {"f32", "f32", "", ""};
    expect_same(op + ".f32 %vd, %va", types, numbers);
    expect_same(op + ".ftz.f32 %vd, %va", types, f32_rows());
    const auto guarded = on_gpu(op + ".f32 %vd, %va", types, nans), ours = testing::run_rows(op + ".f32 %vd, %va", types, nans);
    for (std::size_t i = 0; i < nans.size(); ++i) {
      const std::uint64_t sign = 0x80000000, bits = nans[i].a & 0xFFFFFFFF;
      ASSERT_EQ(guarded[i], op == "abs" ? bits & ~sign : bits ^ sign) << op << " of 0x" << hex(bits);
      ASSERT_EQ(ours[i], 0x7FFFFFFFu) << op << " of 0x" << hex(bits);
    }
  }
}

TEST_F(Gpu, DoubleArithmetic) {
  auto rows = f64_rows();
  const std::uint64_t operands[] = {
      0x3FF0000000000000, 0x7FF0000000000001, 0xFFF0000000000002, 0x7FF8000000000003, 0xFFF8000000000004, 0x7FF0000000000000, 0};
  for (const std::uint64_t a : operands)  // which NaN of several is handed on
    for (const std::uint64_t b : operands)
      for (const std::uint64_t c : operands) rows.push_back({0, a, b, c});
  for (const std::string rnd : {".rn", ".rz", ".rm", ".rp"}) {
    for (const std::string op : {"add", "sub", "mul"})
      expect_same(cat(op, rnd, ".f64 %vd, %va, %vb"), {"f64", "f64", "f64", ""}, rows);
    expect_same(cat("fma", rnd, ".f64 %vd, %va, %vb, %vc"), {"f64", "f64", "f64", "f64"}, rows);
  }
}

TEST_F(Gpu, Comparisons) {
  for (const std::string t : {"u16", "u32", "u64", "s16", "s32", "s64"}) {
    const std::string r = reg_of(t);
    for (const std::string cmp : {"eq", "ne", "lt", "le", "gt", "ge"})
      expect_same(cat("setp.", cmp, '.', t, " %vd, %va, %vb"), {"pred", r, r, ""}, integers());
  }
  for (const std::string cmp : {"eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"}) {
    for (const std::string ftz : {"", ".ftz"})
      expect_same(cat("setp.", cmp, ftz, ".f32 %vd, %va, %vb"), {"pred", "f32", "f32", ""}, f32_rows());
    expect_same(cat("setp.", cmp, ".f64 %vd, %va, %vb"), {"pred", "f64", "f64", ""}, f64_rows());
  }
}

TEST_F(Gpu, Conversions) {
  const std::vector<std::string> types = {"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64"};
  for (const std::string& d : types) {
    for (const std::string& a : types)
      expect_same(cat("cvt.", d, '.', a, " %vd, %va"), {reg_of(d), reg_of(a), "", ""}, integers());
    for (const std::string rnd : {"rni", "rzi", "rmi", "rpi"}) {
      for (const std::string ftz : {"", ".ftz"})
        expect_same(cat("cvt.", rnd, ftz, '.', d, ".f32 %vd, %va"), {reg_of(d), "f32", "", ""}, f32_rows());
      expect_same(cat("cvt.", rnd, '.', d, ".f64 %vd, %va"), {reg_of(d), "f64", "", ""}, f64_rows());
    }
    for (const std::string rnd : {"rn", "rz", "rm", "rp"})
      for (const std::string sat : {"", ".sat"})
        for (const std::string f : {"f32", "f64"})
          expect_same(cat("cvt.", rnd, sat, '.', f, '.', d, " %vd, %va"), {f, reg_of(d), "", ""}, integers());
  }
  expect_all({"cvt.sat.s32.u64 %vd, %va", "cvt.sat.u32.s64 %vd, %va"}, {"b32", "b64", "", ""}, integers());
  expect_all({"cvt.sat.s8.s32 %vd, %va", "cvt.sat.u8.s32 %vd, %va", "cvt.sat.u16.s32 %vd, %va"}, {"b16", "b32", "", ""},
             integers());
  for (const std::string m : {"", ".ftz", ".sat", ".ftz.sat"}) {
    expect_same(cat("cvt", m, ".f64.f32 %vd, %va"), {"f64", "f32", "", ""}, f32_rows());
    expect_all({cat("cvt.rni", m, ".f32.f32 %vd, %va"), cat("cvt.rzi", m, ".f32.f32 %vd, %va"),
                cat("cvt.rmi", m, ".f32.f32 %vd, %va"), cat("cvt.rpi", m, ".f32.f32 %vd, %va")},
               {"f32", "f32", "", ""}, f32_rows());
    for (const std::string rnd : {"rn", "rz", "rm", "rp"}) {
      expect_same(cat("cvt.", rnd, m, ".f32.f64 %vd, %va"), {"f32", "f64", "", ""}, f64_rows());
      expect_same(cat("cvt.", rnd, m, ".f16.f32 %vd, %va"), {"b16", "f32", "", ""}, f32_rows());
    }
    expect_same(cat("cvt", m, ".f32.f16 %vd, %va"), {"f32", "b16", "", ""}, integers());
  }
  expect_all({"cvt.ftz.f32.f32 %vd, %va", "cvt.sat.f32.f32 %vd, %va"}, {"f32", "f32", "", ""}, f32_rows());
  expect_all({"cvt.f32.bf16 %vd, %va", "cvt.ftz.f32.bf16 %vd, %va"}, {"f32", "b16", "", ""}, integers());
  for (const std::string rnd : {"rn", "rz"})
    for (const std::string m : {"", ".relu", ".satfinite", ".relu.satfinite"}) {
      expect_same(cat("cvt.", rnd, m, ".bf16.f32 %vd, %va"), {"b16", "f32", "", ""}, f32_rows());
      expect_all({cat("cvt.", rnd, m, ".f16x2.f32 %vd, %va, %vb"), cat("cvt.", rnd, m, ".bf16x2.f32 %vd, %va, %vb")},
                 {"b32", "f32", "f32", ""}, f32_rows());
    }
}

TEST_F(Gpu, WarpExchange) {
  auto rows = testing::make_rows({1, 2, 3, 4}, {0, 1, 2, 5, 9, 16, 31, 40}, 64, 0, false);
  std::mt19937_64 random(1);
  while (rows.size() < 4096) rows.push_back({0, random(), random() % 64, 0});
  constexpr std::uint64_t cs[] = {31, 0, 0x1C1F, 0x181F, 0x1E1F, 0x0F0F, 7, 0x1C03};
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].c = cs[i / 32 % std::size(cs)];
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    expect_same(cat("shfl.sync.", mode, ".b32 %vd, %va, %vb, %vc, -1"), {"b32", "b32", "b32", "b32"}, rows);
    expect_same(cat("shfl.sync.", mode, ".b32 %r9|%vd, %va, %vb, %vc, -1"), {"pred", "b32", "b32", "b32"}, rows);
  }
  for (Operands& row : rows) row.a = random() % 4 != 0 ? random() : 0;
  for (const std::string op : {"add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"})
    expect_same(cat("redux.sync.", op, " %vd, %va, -1"), {"b32", "b32", "", ""}, rows);
  for (const std::string op : {"all", "any", "uni"})
    expect_same(cat("vote.sync.", op, ".pred %vd, %va, -1"), {"pred", "pred", "", ""}, rows);
  expect_same("vote.sync.ballot.b32 %vd, !%va, -1", {"b32", "pred", "", ""}, rows);
  expect_same("elect.sync %vd|%p2, -1", {"b32", "", "", ""}, rows);
}

// Approximations: special values must agree to the bit, the others within the bound in units of the last place or absolutely.
TEST_F(Gpu, Approximations) {
  struct Case {
    std::string opcode;
    int sources;
    double ulps, absolute;
    bool (*in_range)(float, float);
  };
  const auto always = [](float, float) { return true; };
  const Case cases[] = {{"rcp.approx", 1, 1.5, 0, always},
                        {"sqrt.approx", 1, 2.5, 0, always},
                        {"rsqrt.approx", 1, 2.5, 0, always},
                        {"lg2.approx", 1, 3, 0x1p-21, always},
                        {"ex2.approx", 1, 2.5, 0, always},
                        {"sin.approx", 1, 2, 0x1p-20, [](float a, float) { return !(std::fabs(a) > 6.2831853f); }},
                        {"cos.approx", 1, 2, 0x1p-20, [](float a, float) { return !(std::fabs(a) > 6.2831853f); }},
                        {"div.approx", 2, 2.5, 0, [](float, float b) { return !(std::fabs(b) < 0x1p-126f); }},
                        {"div.full", 2, 2.5, 0, always}};
  const auto rows = f32_rows();
  for (const Case& c : cases)
    for (const std::string ftz : {"", ".ftz"}) {
      const std::string instruction = cat(c.opcode, ftz, c.sources == 1 ? ".f32 %vd, %va" : ".f32 %vd, %va, %vb");
      const std::array<std::string, 4> types = {"f32", "f32", c.sources == 1 ? "" : "f32", ""};
      const auto ours = testing::run_rows(instruction, types, rows), theirs = on_gpu(instruction, types, rows);
      std::size_t wrong = 0, compared = 0;
      double worst = 0;
      std::string shown;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto a = std::bit_cast<float>(static_cast<std::uint32_t>(rows[i].a)),
                   b = std::bit_cast<float>(static_cast<std::uint32_t>(rows[i].b));
        if (!c.in_range(a, b)) continue;
        ++compared;
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(ours[i])),
                   y = std::bit_cast<float>(static_cast<std::uint32_t>(theirs[i]));
        bool close = ours[i] == theirs[i];
        if (!close && std::isfinite(x) && std::isfinite(y)) {
          const double ulp = std::nextafter(std::fabs(x), INFINITY) - std::fabs(x), error = std::fabs(static_cast<double>(x) - y);
          if (error > c.absolute) worst = std::max(worst, error / ulp);
          close = error <= c.absolute || error <= c.ulps * ulp;
        }
        if (!close && ++wrong <= 4)
          shown += cat("\n  a=0x", hex(rows[i].a, 8), " b=0x", hex(rows[i].b, 8), ": executor 0x", hex(ours[i], 8), ", GPU 0x",
                       hex(theirs[i], 8));
      }
      EXPECT_EQ(wrong, 0u) << instruction << ": " << wrong << " of " << compared
                           << " rows are too far apart; the others differ by at most " << worst << " ulp" << shown;
      ++instructions_;
    }
}

}  // namespace
}  // namespace ptx::vgpu
