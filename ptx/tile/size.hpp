// Sizes that a kernel's launch works out from its dimensions: `dim("N") / 128`. What a grid is made of.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/brief.hpp"
#include "ptx/tile/env.hpp"

namespace ptx {

/// A number, or an expression of dimensions that is one at the call. 64 bits; `/` rounds towards zero, as in C++.
class Size {
 public:
  Size() : Size(1) {}
  template <std::integral I>
    requires(!std::same_as<I, bool>)
  Size(I number)  // NOLINT(google-explicit-constructor): any integer is a size
      : terms_{{.op = Op::number, .number = static_cast<std::int64_t>(number)}} {}

  /// Whether it has dimensions, so that only a call knows it.
  [[nodiscard]] bool is_open() const;
  /// The names of the dimensions in it.
  [[nodiscard]] std::vector<std::string> dims() const;
  /// Kinds: dim_unbound for a name without a size; launch_config for a division by zero, or a number beyond 64 bits.
  [[nodiscard]] Expected<std::int64_t> resolve(const tile::Env& sizes) const;
  /// "N / 128", "ceil_div(M, 64) * 2"
  [[nodiscard]] std::string to_string() const;

  friend Size dim(std::string name);
  friend Size operator+(const Size& a, const Size& b) { return {Op::add, a, b}; }
  friend Size operator-(const Size& a, const Size& b) { return {Op::subtract, a, b}; }
  friend Size operator*(const Size& a, const Size& b) { return {Op::multiply, a, b}; }
  friend Size operator/(const Size& a, const Size& b) { return {Op::divide, a, b}; }
  friend Size operator%(const Size& a, const Size& b) { return {Op::remainder, a, b}; }
  /// a / b, rounded up.
  friend Size ceil_div(const Size& a, const Size& b) { return {Op::ceil_div, a, b}; }
  friend Size min(const Size& a, const Size& b) { return {Op::min, a, b}; }
  friend Size max(const Size& a, const Size& b) { return {Op::max, a, b}; }
  friend bool operator==(const Size&, const Size&) = default;

 private:
  enum class Op : std::uint8_t { number, dim, add, subtract, multiply, divide, remainder, ceil_div, min, max };
  struct Term {
    Op op = Op::number;
    std::int64_t number = 0;
    std::string name{};
    friend bool operator==(const Term&, const Term&) = default;
  };
  Size(Op op, const Size& a, const Size& b);
  static Expected<std::int64_t> apply(Op op, std::int64_t a, std::int64_t b);

  std::vector<Term> terms_;  // operands before their operator
};

/// The size of a dimension, by the name that the tensors' shapes give it: `.grid = dim("N") / 128`.
Size dim(std::string name);

/// x, y, z: blocks of a grid or of a cluster, threads of a block.
class Extent {
 public:
  Extent() = default;
  /// Any integers, as a program has them, and sizes; what is no extent is an error of the kernel.
  template <std::convertible_to<Size> X, std::convertible_to<Size> Y = int, std::convertible_to<Size> Z = int>
  Extent(const X& x, const Y& y = 1, const Z& z = 1)  // NOLINT(google-explicit-constructor): `.block = 128`
      : sizes_{Size(x), Size(y), Size(z)}, given_(true) {}

  [[nodiscard]] const std::array<Size, 3>& sizes() const { return sizes_; }
  /// False for one that nobody gave, which is 1, 1, 1.
  [[nodiscard]] bool is_given() const { return given_; }
  [[nodiscard]] bool is_open() const { return sizes_[0].is_open() || sizes_[1].is_open() || sizes_[2].is_open(); }
  /// Three numbers of at least 1 and less than 2^31. `what` is how messages call it: "grid of kernel `k`". Kinds: dim_unbound,
  /// launch_config.
  [[nodiscard]] Expected<LaunchDims> resolve(const tile::Env& sizes, std::string_view what) const;

  friend bool operator==(const Extent& a, const Extent& b) { return a.sizes_ == b.sizes_; }

 private:
  std::array<Size, 3> sizes_{};
  bool given_ = false;
};

}  // namespace ptx
