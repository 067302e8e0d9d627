// For tests of instructions on matrices: one warp, its registers filled lane by lane, the instruction, and its results.
#pragma once

#include <cfenv>
#include <cmath>
#include <map>
#include <random>

#include "ptx/vgpu/testing/kernel.hpp"

namespace ptx::vgpu::testing {

struct Shape {
  int m = 0, n = 0, k = 0;
};
inline Shape shape_of(const std::string& word) {
  Shape s;
  std::sscanf(word.c_str(), "m%dn%dk%d", &s.m, &s.n, &s.k);
  return s;
}

/// a * b + c in a rounding mode: by the C library.
inline double fused(double a, double b, double c, const std::string& rounding) {
  const int mode = rounding == ".rz"   ? FE_TOWARDZERO
                   : rounding == ".rm" ? FE_DOWNWARD
                   : rounding == ".rp" ? FE_UPWARD
                                       : FE_TONEAREST;
  const int before = std::fegetround();
  std::fesetround(mode);
  volatile double x = a, y = b, z = c;
  volatile double result = std::fma(x, y, z);
  std::fesetround(before);
  return result;
}

/// `spelling d, a, b, c, more` run by one warp: operands a, b, c and others are set, results expected, as elements of registers.
class Fragments {
 public:
  Fragments(std::string spelling, std::string target, int register_bits, std::string more = "")
      : spelling_(std::move(spelling)), target_(std::move(target)), more_(std::move(more)), register_bits_(register_bits) {}
  using Element = std::function<std::uint64_t(int lane, int i)>;

  /// `count` elements of `bits` in each lane.
  void set(const std::string& name, int count, int bits, const Element& element) {
    const int registers = std::max(1, count * bits / register_bits_);
    auto& values = operands_[name];
    values.assign(static_cast<std::size_t>(registers * 32), 0);
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < count; ++i) {
        const int at = i * bits / register_bits_, shift = i * bits % register_bits_;
        values[static_cast<std::size_t>(at * 32 + lane)] |= element(lane, i) << shift;
      }
  }
  void expect(const std::string& name, int count, int bits, const Element& element) {
    set(name, count, bits, element);
    expected_ = operands_[name];
    operands_.erase(name);
    result_ = name;
  }
  /// Runs it and compares.
  void check() {
    std::string body = ".reg .b64 %x<4>;\n.reg .b32 %y<2>;\n";
    const auto list = [&](const std::string& name, std::size_t registers) {
      std::string out = "{";
      for (std::size_t r = 0; r < registers; ++r) out += cat(r == 0 ? "" : ", ", '%', name, r);
      return out + "}";
    };
    body += "ld.param.u64 %x0, [in]; ld.param.u64 %x1, [out]; mov.u32 %y0, %tid.x;\n";
    body += cat("mul.wide.u32 %x2, %y0, 8; add.u64 %x0, %x0, %x2; add.u64 %x1, %x1, %x2;\n");
    std::vector<std::uint64_t> in;
    for (const auto& [name, values] : operands_) {
      body += cat(".reg .b", register_bits_, " %", name, '<', values.size() / 32, ">;\n");
      for (std::size_t r = 0; r < values.size() / 32; ++r)
        body += cat("ld.global.b", register_bits_, " %", name, r, ", [%x0+", in.size() * 8 + r * 256, "];\n");
      in.insert(in.end(), values.begin(), values.end());
    }
    body += cat(".reg .b", register_bits_, " %", result_, '<', expected_.size() / 32, ">;\n");
    body += cat(spelling_, ' ', list(result_, expected_.size() / 32));
    for (const char* name : {"a", "b", "c"})
      if (operands_.contains(name)) body += cat(", ", list(name, operands_[name].size() / 32));
    body += cat(more_, ";\n");
    for (std::size_t r = 0; r < expected_.size() / 32; ++r)
      body += cat("st.global.b", register_bits_, " [%x1+", r * 256, "], %", result_, r, ";\n");
    auto made =
        make_from_text(cat(".version 9.1\n.target ", target_,
                           "\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n", body, "ret;\n}\n"));
    if (!made) {
      ADD_FAILURE() << spelling_ << '\n' << render(made.error());
      return;
    }
    Buffer<std::uint64_t> source{"in", in}, to{"out", std::vector<std::uint64_t>(expected_.size(), 0x5A5A5A5A5A5A5A5A)};
    run(*made, block(32), params({source.address(), to.address()}), {source.region(), to.region()});
    int reported = 0;
    for (std::size_t i = 0; i < expected_.size() && reported < 3; ++i) {
      const std::uint64_t value = register_bits_ == 32 ? to.data[i] & 0xFFFFFFFF : to.data[i];
      if (value == expected_[i]) continue;
      ++reported;
      ADD_FAILURE() << spelling_ << " (" << target_ << ") register " << i / 32 << " lane " << i % 32 << ": 0x" << hex(value)
                    << ", expected 0x" << hex(expected_[i]);
    }
  }

 private:
  std::string spelling_, target_, more_;
  int register_bits_;
  std::map<std::string, std::vector<std::uint64_t>> operands_;
  std::vector<std::uint64_t> expected_;
  std::string result_;
};

}  // namespace ptx::vgpu::testing
