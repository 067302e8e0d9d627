// What a C++ kernel is written with: typed registers and their operators, arrays, addresses, labels. Handles: a copy names the
// same register. They belong to the kernel that made them and must not outlive it. The operators write the instructions of
// operators.hpp, at the author's line.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/write/builder.hpp"
#include "ptx/write/operators.hpp"

namespace ptx {

template <Type T>
class Reg;

/// A special register, read by `mov` and `cvt` alone: `tid_x`, `special.tid.x()`.
template <Type T>
struct Special {
  isa::SpecialId id;
};

namespace write {

/// A C++ integer that may stand for a number in PTX: any but bool.
template <class I>
concept Number = std::integral<I> && !std::same_as<I, bool>;

/// Types that `+`, `<<`, `&` … exist for: integers and untyped bits of 32 or 64 bits.
constexpr bool is_word(Type type) {
  return (isa::bits(type) == 32 || isa::bits(type) == 64) && (isa::is_integer(type) || isa::kind(type) == isa::TypeKind::bits);
}

/// Whether a handle is the result of a call that wrote it, still without a name. A copy has been named: it is not fresh, and what
/// a call takes by value from a variable is a copy. That is how `inst.add.u32(d, a * 4, b * 8)` tells its operands, which are put
/// in the order in which they are written there (arrange.cpp), from registers made by statements before, which stay where they
/// are.
class Fresh {
 public:
  constexpr Fresh() = default;
  constexpr explicit Fresh(bool is) : is_(is) {}
  constexpr Fresh(const Fresh&) noexcept {}
  constexpr Fresh(Fresh&& other) noexcept : is_(other.is_) {}
  constexpr Fresh& operator=(const Fresh&) noexcept { return *this = Fresh(false); }
  constexpr Fresh& operator=(Fresh&& other) noexcept {
    is_ = other.is_;
    return *this;
  }
  ~Fresh() = default;
  constexpr explicit operator bool() const { return is_; }

 private:
  bool is_ = false;
};

/// The right side of an operator: an integer register of `least` to `most` bits, a special register, or an integer; with the
/// author's line, which an operator could not take by itself.
template <int least, int most, bool numbers = true>
struct RightSide {
  Value value;
  SourceLocation at;
  // NOLINTBEGIN(google-explicit-constructor): implicit on purpose, the conversion takes note of the line
  template <Number I>
    requires(numbers)
  RightSide(I number, SourceLocation where = SourceLocation::current()) : value(Value::of_number(number)), at(where) {}
  template <Type T>
    requires(is_word(T) && isa::bits(T) >= least && isa::bits(T) <= most)
  RightSide(ptx::Reg<T> reg, SourceLocation where = SourceLocation::current()) : value(reg.value()), at(where) {}
  template <Type T>
    requires(isa::bits(T) >= least && isa::bits(T) <= most)
  RightSide(Special<T> special, SourceLocation where = SourceLocation::current())
      : value(Value::of_special(special.id)), at(where) {}
  // NOLINTEND(google-explicit-constructor)
};
/// A number left of an operator.
using LeftNumber = RightSide<0, 0>;

/// One side of a comparison, or the source of a `mov`: any register, special register or number.
struct Source {
  Value value;
  SourceLocation at;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Number I>
  Source(I number, SourceLocation where = SourceLocation::current()) : value(Value::of_number(number)), at(where) {}
  template <std::floating_point F>
  Source(F number, SourceLocation where = SourceLocation::current())
      : value(Value::of_floating(static_cast<double>(number))), at(where) {}
  template <Type T>
  Source(ptx::Reg<T> reg, SourceLocation where = SourceLocation::current()) : value(reg.value()), at(where) {}
  template <Type T>
  Source(Special<T> special, SourceLocation where = SourceLocation::current())
      : value(Value::of_special(special.id)), at(where) {}
  // NOLINTEND(google-explicit-constructor)
};

/// Floats that operators compute in.
constexpr bool is_computed_float(Type type) {
  return type == Type::f32 || type == Type::f64 || type == Type::f16 || type == Type::bf16 || type == Type::f16x2 ||
         type == Type::bf16x2;
}
/// The right side of an operator on floats of type T: a register of it, or a number where PTX has literals of it.
template <Type T, bool registers = true>
struct FloatSide {
  static constexpr bool literals = T == Type::f32 || T == Type::f64;
  Value value;
  SourceLocation at;
  // NOLINTBEGIN(google-explicit-constructor)
  template <Number I>
    requires(literals)
  FloatSide(I number, SourceLocation where = SourceLocation::current()) : value(Value::of_number(number)), at(where) {}
  template <std::floating_point F>
    requires(literals)
  FloatSide(F number, SourceLocation where = SourceLocation::current())
      : value(Value::of_floating(static_cast<double>(number))), at(where) {}
  template <Type R>
    requires(registers && R == T)
  FloatSide(ptx::Reg<R> reg, SourceLocation where = SourceLocation::current()) : value(reg.value()), at(where) {}
  // NOLINTEND(google-explicit-constructor)
};

/// A name in the kernel, with the author's line. The text must live until the call returns.
struct Name {
  std::string_view text;
  SourceLocation at;
  // NOLINTBEGIN(google-explicit-constructor)
  Name(const char* name, SourceLocation where = SourceLocation::current()) : text(name), at(where) {}
  Name(std::string_view name, SourceLocation where = SourceLocation::current()) : text(name), at(where) {}
  Name(const std::string& name, SourceLocation where = SourceLocation::current()) : text(name), at(where) {}
  // NOLINTEND(google-explicit-constructor)
};

/// An index, with the author's line.
struct Index {
  std::int64_t value;
  SourceLocation at;
  template <Number I>
  Index(I index, SourceLocation where = SourceLocation::current())  // NOLINT(google-explicit-constructor)
      : value(static_cast<std::int64_t>(index)), at(where) {}
};

// The operators of operators.hpp for typed callers: an error goes into the kernel and comes out of its module(), and a fresh
// register stands in for the result, so that what follows is still checked.
Reg write_binary(Builder& builder, Operator op, const Value& a, const Value& b, Type result, SourceLocation at);
void write_in_place(Builder& builder, Operator op, Reg a, const Value& b, SourceLocation at);
Reg write_comparison(Builder& builder, Comparison cmp, const Value& a, const Value& b, SourceLocation at);
Reg write_negated(Builder& builder, const Value& a, Type result, SourceLocation at);
Reg write_absolute(Builder& builder, const Value& a, Type result, SourceLocation at);
Reg write_view(Builder& builder, Reg reg, Type type, SourceLocation at);
/// `expected`'s register; or, its error kept in the kernel, another one of `type`.
Reg keep_error(Builder& builder, Expected<Reg> expected, Type type);
/// Element `index` of `count`; kept as an error in the kernel, and element 0, when there is no such element. `what` they are.
std::size_t checked_index(Builder& builder, const Index& index, std::size_t count, std::string_view what = "registers");

}  // namespace write

/// `[base]`, `[base+offset]`; Type::none stands for a base that is a name. Made by addr(…) and by `base[offset]`.
template <Type Base>
struct Addr {
  write::Value base;
  std::int64_t offset = 0;  ///< bytes
  const write::Builder* builder = nullptr;
  write::Fresh fresh{};  ///< so is its base
  friend Addr operator+(Addr address, std::int64_t bytes) {
    address.offset += bytes;
    return address;
  }
};

/// A register of type T of one kernel.
template <Type T>
class Reg {
  using Right = write::RightSide<0, isa::bits(T) == 64 ? 64 : 32>;
  using SameWidth = write::RightSide<isa::bits(T), isa::bits(T)>;
  using Amount = write::RightSide<0, 32>;
  using Float = write::FloatSide<T>;
  using FloatNumber = write::FloatSide<T, false>;
  static constexpr bool word = write::is_word(T), narrow = word && isa::bits(T) == 32;
  static constexpr bool floating = write::is_computed_float(T), divides = T == Type::f32 || T == Type::f64;
  static constexpr bool compares = word || T == Type::f32 || T == Type::f64 ||
                                   (isa::bits(T) == 16 && !isa::is_float(T) && isa::kind(T) != isa::TypeKind::packed);

 public:
  static constexpr Type type = T;

  Reg(write::Builder& builder, write::Reg reg, write::Fresh fresh = {})
      : builder_(&builder), reg_(reg), fresh_(std::move(fresh)) {
    assert(reg.type == T);
  }
  /// The register as the untyped layer has it.
  [[nodiscard]] write::Reg untyped() const { return reg_; }
  /// The same as an operand.
  [[nodiscard]] write::Value value() const {
    write::Value value = write::Value::of(reg_);
    value.fresh = static_cast<bool>(fresh_);
    return value;
  }
  [[nodiscard]] write::Builder& builder() const { return *builder_; }
  /// "%r3"
  [[nodiscard]] std::string name() const { return builder_->name(reg_); }

  /// The same register as another type of its width: `r.as<s32>()`. What the register is declared with has to allow it: a .f32
  /// one is no .u32 for instructions that compute with integers.
  template <Type To>
    requires(isa::bits(isa::register_type(To)) == isa::bits(isa::register_type(T)) || isa::bits(To) == 8)
  [[nodiscard]] Reg<To> as(SourceLocation at = SourceLocation::current()) const& {
    return {*builder_, write::write_view(*builder_, reg_, To, at)};
  }
  template <Type To>
    requires(isa::bits(isa::register_type(To)) == isa::bits(isa::register_type(T)) || isa::bits(To) == 8)
  [[nodiscard]] Reg<To> as(SourceLocation at = SourceLocation::current()) && {
    return {*builder_, write::write_view(*builder_, reg_, To, at), std::move(fresh_)};
  }
  /// The address `offset` bytes behind this one: `ld.global_.f32(x, p[16])`.
  Addr<T> operator[](std::int64_t offset) const&
    requires(word)
  {
    return {write::Value::of(reg_), offset, builder_};
  }
  Addr<T> operator[](std::int64_t offset) &&
    requires(word)
  {
    return {write::Value::of(reg_), offset, builder_, std::move(fresh_)};
  }

  // clang-format off
  Reg& operator+=(Right b) requires(word) { return in_place(write::Operator::add, b); }
  Reg& operator-=(Right b) requires(word) { return in_place(write::Operator::sub, b); }
  Reg& operator*=(Right b) requires(word) { return in_place(write::Operator::mul, b); }
  Reg& operator<<=(Amount b) requires(word) { return in_place(write::Operator::shl, b); }
  Reg& operator>>=(Amount b) requires(word) { return in_place(write::Operator::shr, b); }
  Reg& operator&=(SameWidth b) requires(word) { return in_place(write::Operator::and_, b); }
  Reg& operator|=(SameWidth b) requires(word) { return in_place(write::Operator::or_, b); }
  Reg& operator^=(SameWidth b) requires(word) { return in_place(write::Operator::xor_, b); }

  friend Reg operator+(Reg a, Right b) requires(word) { return a.binary(write::Operator::add, b); }
  friend Reg operator-(Reg a, Right b) requires(word) { return a.binary(write::Operator::sub, b); }
  friend Reg operator*(Reg a, Right b) requires(word) { return a.binary(write::Operator::mul, b); }
  friend Reg operator<<(Reg a, Amount b) requires(word) { return a.binary(write::Operator::shl, b); }
  friend Reg operator>>(Reg a, Amount b) requires(word) { return a.binary(write::Operator::shr, b); }
  friend Reg operator&(Reg a, SameWidth b) requires(word) { return a.binary(write::Operator::and_, b); }
  friend Reg operator|(Reg a, SameWidth b) requires(word) { return a.binary(write::Operator::or_, b); }
  friend Reg operator^(Reg a, SameWidth b) requires(word) { return a.binary(write::Operator::xor_, b); }
  friend Reg operator+(write::LeftNumber a, Reg b) requires(word) { return std::move(b) + Right(a.value.integer, a.at); }
  friend Reg operator*(write::LeftNumber a, Reg b) requires(word) { return std::move(b) * Right(a.value.integer, a.at); }
  friend Reg operator&(write::LeftNumber a, Reg b) requires(word) { return std::move(b) & SameWidth(a.value.integer, a.at); }
  friend Reg operator|(write::LeftNumber a, Reg b) requires(word) { return std::move(b) | SameWidth(a.value.integer, a.at); }
  friend Reg operator^(write::LeftNumber a, Reg b) requires(word) { return std::move(b) ^ SameWidth(a.value.integer, a.at); }
  /// A 32-bit left side is widened to meet a 64-bit register.
  friend Reg<Type::u64> operator+(Reg a, write::RightSide<64, 64, false> b) requires(narrow) {
    return {*a.builder_, write::write_binary(*a.builder_, write::Operator::add, a.value(), b.value, Type::u64, b.at), write::Fresh(true)};
  }
  /// The larger of the two (`max.u32`, `max.s32`, `max.f32`), and the smaller.
  [[nodiscard]] Reg max(Right b) const& requires(narrow) { return Reg(*this).binary(write::Operator::max, b); }
  [[nodiscard]] Reg max(Right b) && requires(narrow) { return binary(write::Operator::max, b); }
  [[nodiscard]] Reg min(Right b) const& requires(narrow) { return Reg(*this).binary(write::Operator::min, b); }
  [[nodiscard]] Reg min(Right b) && requires(narrow) { return binary(write::Operator::min, b); }
  [[nodiscard]] Reg max(Float b) const& requires(floating) { return Reg(*this).binary(write::Operator::max, b); }
  [[nodiscard]] Reg max(Float b) && requires(floating) { return binary(write::Operator::max, b); }
  [[nodiscard]] Reg min(Float b) const& requires(floating) { return Reg(*this).binary(write::Operator::min, b); }
  [[nodiscard]] Reg min(Float b) && requires(floating) { return binary(write::Operator::min, b); }
  /// `abs`: of signed integers and floats.
  [[nodiscard]] Reg abs(SourceLocation at = SourceLocation::current()) const& requires(floating || (word && isa::kind(T) == isa::TypeKind::sint)) {
    return Reg(*this).absolute(at);
  }
  [[nodiscard]] Reg abs(SourceLocation at = SourceLocation::current()) && requires(floating || (word && isa::kind(T) == isa::TypeKind::sint)) {
    return absolute(at);
  }

  // Integers are divided towards zero, as in C++.
  friend Reg operator/(Reg a, Right b) requires(word) { return a.binary(write::Operator::div, b); }
  friend Reg operator%(Reg a, Right b) requires(word) { return a.binary(write::Operator::rem, b); }
  Reg& operator/=(Right b) requires(word) { return in_place(write::Operator::div, b); }
  Reg& operator%=(Right b) requires(word) { return in_place(write::Operator::rem, b); }
  friend Reg operator-(write::LeftNumber a, Reg b) requires(word) { return b.number_left(write::Operator::sub, a); }
  friend Reg operator/(write::LeftNumber a, Reg b) requires(word) { return b.number_left(write::Operator::div, a); }
  friend Reg operator%(write::LeftNumber a, Reg b) requires(word) { return b.number_left(write::Operator::rem, a); }
  friend Reg operator<<(write::LeftNumber a, Reg b) requires(narrow) { return b.number_left(write::Operator::shl, a); }
  friend Reg operator>>(write::LeftNumber a, Reg b) requires(narrow) { return b.number_left(write::Operator::shr, a); }

  friend Reg operator+(Reg a, Float b) requires(floating) { return a.binary(write::Operator::add, b); }
  friend Reg operator-(Reg a, Float b) requires(floating) { return a.binary(write::Operator::sub, b); }
  friend Reg operator*(Reg a, Float b) requires(floating) { return a.binary(write::Operator::mul, b); }
  friend Reg operator/(Reg a, Float b) requires(divides) { return a.binary(write::Operator::div, b); }
  friend Reg operator+(FloatNumber a, Reg b) requires(divides) { return b.number_left(write::Operator::add, a); }
  friend Reg operator-(FloatNumber a, Reg b) requires(divides) { return b.number_left(write::Operator::sub, a); }
  friend Reg operator*(FloatNumber a, Reg b) requires(divides) { return b.number_left(write::Operator::mul, a); }
  friend Reg operator/(FloatNumber a, Reg b) requires(divides) { return b.number_left(write::Operator::div, a); }
  Reg& operator+=(Float b) requires(floating) { return in_place(write::Operator::add, b); }
  Reg& operator-=(Float b) requires(floating) { return in_place(write::Operator::sub, b); }
  Reg& operator*=(Float b) requires(floating) { return in_place(write::Operator::mul, b); }
  Reg& operator/=(Float b) requires(divides) { return in_place(write::Operator::div, b); }
  // clang-format on

  // converted, to take note of the line
  struct Signed {
    Reg reg;
    SourceLocation at;
    Signed(Reg r, SourceLocation where = SourceLocation::current())  // NOLINT(google-explicit-constructor)
      requires(word || floating)
        : reg(std::move(r)), at(where) {}
  };
  friend Reg operator-(Signed a) {
    return {a.reg.builder(), write::write_negated(a.reg.builder(), a.reg.value(), T, a.at), write::Fresh(true)};
  }

  // Both sides are converted, so that the compiler never prefers the reversed comparison.
  struct Left {
    Reg reg;
    Left(Reg r)  // NOLINT(google-explicit-constructor)
      requires(compares)
        : reg(std::move(r)) {}
  };
  friend Reg<Type::pred> operator==(Left a, write::Source b) { return a.reg.compare(write::Comparison::eq, b); }
  friend Reg<Type::pred> operator!=(Left a, write::Source b) { return a.reg.compare(write::Comparison::ne, b); }
  friend Reg<Type::pred> operator<(Left a, write::Source b) { return a.reg.compare(write::Comparison::lt, b); }
  friend Reg<Type::pred> operator<=(Left a, write::Source b) { return a.reg.compare(write::Comparison::le, b); }
  friend Reg<Type::pred> operator>(Left a, write::Source b) { return a.reg.compare(write::Comparison::gt, b); }
  friend Reg<Type::pred> operator>=(Left a, write::Source b) { return a.reg.compare(write::Comparison::ge, b); }
  // numbers on the left, mirrored
  friend Reg<Type::pred> operator==(write::LeftNumber a, Left b) { return std::move(b) == write::Source(a.value.integer, a.at); }
  friend Reg<Type::pred> operator!=(write::LeftNumber a, Left b) { return std::move(b) != write::Source(a.value.integer, a.at); }
  friend Reg<Type::pred> operator<(write::LeftNumber a, Left b) { return std::move(b) > write::Source(a.value.integer, a.at); }
  friend Reg<Type::pred> operator<=(write::LeftNumber a, Left b) { return std::move(b) >= write::Source(a.value.integer, a.at); }
  friend Reg<Type::pred> operator>(write::LeftNumber a, Left b) { return std::move(b) < write::Source(a.value.integer, a.at); }
  friend Reg<Type::pred> operator>=(write::LeftNumber a, Left b) { return std::move(b) <= write::Source(a.value.integer, a.at); }

 private:
  template <class Side>
  Reg binary(write::Operator op, const Side& b) const {
    return {*builder_, write::write_binary(*builder_, op, value(), b.value, T, b.at), write::Fresh(true)};
  }
  [[nodiscard]] Reg absolute(SourceLocation at) const {
    return {*builder_, write::write_absolute(*builder_, value(), T, at), write::Fresh(true)};
  }
  template <class Side>
  Reg& in_place(write::Operator op, const Side& b) {
    write::write_in_place(*builder_, op, reg_, b.value, b.at);
    return *this;
  }
  template <class Side>
  [[nodiscard]] Reg number_left(write::Operator op, const Side& a) const {
    return {*builder_, write::write_binary(*builder_, op, a.value, value(), T, a.at), write::Fresh(true)};
  }
  [[nodiscard]] Reg<Type::pred> compare(write::Comparison cmp, const write::Source& b) const {
    return {*builder_, write::write_comparison(*builder_, cmp, value(), b.value, b.at), write::Fresh(true)};
  }

  write::Builder* builder_;
  write::Reg reg_;
  write::Fresh fresh_;
};

namespace write {
/// The register that `make` gives, as a value that expressions are made of: what it writes, and before it what its fresh operands
/// wrote, is one piece, whichever order the compiler calls the pieces in.
template <Type T, std::invocable Make>
ptx::Reg<T> fresh_value(Builder& builder, std::initializer_list<Value> operands, Make make) {
  const Builder::Mark begin = builder.begin_value({operands.begin(), operands.size()});
  const Reg reg = keep_error(builder, make(), T);
  builder.end_value(begin, reg);
  return {builder, reg, Fresh(true)};
}
}  // namespace write

/// `!p`, where an instruction takes a negated predicate, and in `.on(!p)`.
struct NegatedPred {
  Reg<Type::pred> reg;
};
inline NegatedPred operator!(Reg<Type::pred> p) { return {std::move(p)}; }

namespace write {
/// A predicate, perhaps negated, right of `&` and `^`.
struct PredSide {
  Value value;
  SourceLocation at;
  // NOLINTBEGIN(google-explicit-constructor)
  PredSide(const ptx::Reg<Type::pred>& p, SourceLocation where = SourceLocation::current()) : value(p.value()), at(where) {}
  PredSide(const NegatedPred& p, SourceLocation where = SourceLocation::current()) : value(p.reg.value()), at(where) {
    value.negated = true;
  }
  // NOLINTEND(google-explicit-constructor)
};
}  // namespace write

/// `and.pred`, `xor.pred`; a negated side is made first, by `not.pred`. (`p | q` is a pair of destinations: `p |= q` is
/// `or.pred`.)
inline Reg<Type::pred> operator&(const Reg<Type::pred>& a, write::PredSide b) {
  write::Builder& builder = a.builder();
  return {builder, write::write_binary(builder, write::Operator::and_, a.value(), b.value, Type::pred, b.at), write::Fresh(true)};
}
inline Reg<Type::pred> operator^(const Reg<Type::pred>& a, write::PredSide b) {
  write::Builder& builder = a.builder();
  return {builder, write::write_binary(builder, write::Operator::xor_, a.value(), b.value, Type::pred, b.at), write::Fresh(true)};
}
inline Reg<Type::pred>& operator&=(Reg<Type::pred>& a, write::PredSide b) {
  write::write_in_place(a.builder(), write::Operator::and_, a.untyped(), b.value, b.at);
  return a;
}
inline Reg<Type::pred>& operator|=(Reg<Type::pred>& a, write::PredSide b) {
  write::write_in_place(a.builder(), write::Operator::or_, a.untyped(), b.value, b.at);
  return a;
}
inline Reg<Type::pred>& operator^=(Reg<Type::pred>& a, write::PredSide b) {
  write::write_in_place(a.builder(), write::Operator::xor_, a.untyped(), b.value, b.at);
  return a;
}

/// N registers as one operand, `{%f0, %f1, %f2, %f3}`: what a vector or matrix instruction takes.
template <Type T, std::size_t N>
class RegVec {
 public:
  static constexpr Type type = T;
  static constexpr std::size_t size() { return N; }

  RegVec(write::Builder& builder, const std::array<write::Reg, N>& regs, write::Fresh fresh = {})
      : builder_(&builder), regs_(regs), fresh_(std::move(fresh)) {}
  Reg<T> operator[](write::Index index) const { return {*builder_, regs_[write::checked_index(*builder_, index, N)]}; }
  [[nodiscard]] write::Builder& builder() const { return *builder_; }
  [[nodiscard]] const std::array<write::Reg, N>& untyped() const { return regs_; }
  /// Element `index` as an operand.
  [[nodiscard]] write::Value value(std::size_t index) const {
    write::Value value = write::Value::of(regs_[index]);
    value.fresh = static_cast<bool>(fresh_);
    return value;
  }

 private:
  write::Builder* builder_;
  std::array<write::Reg, N> regs_;
  write::Fresh fresh_;  // some of them may be
};

/// The registers given, as one operand.
template <Type T, std::same_as<Reg<T>>... More>
RegVec<T, 1 + sizeof...(More)> vec(Reg<T> first, More... more) {
  const std::array values = {first.value(), more.value()...};
  first.builder().arrange(values);
  return {
      first.builder(), {first.untyped(), more.untyped()...}, write::Fresh((first.value().fresh || ... || more.value().fresh))};
}

/// `count` registers of one type, numbered from 0.
template <Type T>
class RegArray {
 public:
  static constexpr Type type = T;

  RegArray(write::Builder& builder, const write::RegArray& array) : builder_(&builder), array_(array) {}
  [[nodiscard]] std::size_t size() const { return array_.count; }
  Reg<T> operator[](write::Index index) const {
    return {*builder_, builder_->at(array_, static_cast<std::uint32_t>(write::checked_index(*builder_, index, array_.count)))};
  }
  /// N registers from `first` on, as one operand.
  template <std::size_t N>
  [[nodiscard]] RegVec<T, N> vec(write::Index first) const {
    std::array<write::Reg, N> regs;
    for (std::size_t i = 0; i < N; ++i)
      regs[i] = (*this)[write::Index(first.value + static_cast<std::int64_t>(i), first.at)].untyped();
    return {*builder_, regs};
  }

  class Iterator {
   public:
    Iterator(const RegArray& array, std::size_t at) : array_(&array), at_(at) {}
    Reg<T> operator*() const { return (*array_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.at_ != b.at_; }

   private:
    const RegArray* array_;
    std::size_t at_;
  };
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

 private:
  write::Builder* builder_;
  write::RegArray array_;
};

/// `[reg]`, `[reg+offset]`; the offset in bytes.
template <Type T>
  requires(write::is_word(T))
Addr<T> addr(Reg<T> base, std::int64_t offset = 0) {
  return std::move(base)[offset];
}
/// `[name]`, `[name+offset]`: a variable or parameter. The text must live until the instruction is in its kernel.
inline Addr<Type::none> addr(std::string_view name, std::int64_t offset = 0) {
  return {write::Value::of_symbol(name), offset, nullptr};
}
/// The address, moved by `offset` bytes.
template <Type Base>
Addr<Base> addr(Addr<Base> base, std::int64_t offset = 0) {
  return std::move(base) + offset;
}

/// `[map, {c0, c1, …}]`: a tensor map and coordinates, innermost first; Type::none stands for a coordinate that is a number.
template <Type Map, Type... Coords>
struct TensorAddr {
  write::Value map;
  std::array<write::Value, sizeof...(Coords)> coords;
  const write::Builder* builder;
};
namespace write {
template <Type T>
constexpr Type coord_type(const ptx::Reg<T>*) {
  return T;
}
constexpr Type coord_type(const void*) { return Type::none; }
/// What an operand of a call wrote, if it is a register or an address and has just been made.
template <Type T>
Value operand_value(const ptx::Reg<T>& reg) {
  return reg.value();
}
template <Type Base>
Value operand_value(const Addr<Base>& address) {
  Value base = address.base;
  base.fresh = static_cast<bool>(address.fresh);
  return base;
}
template <class X>
Value operand_value(const X&) {
  return {};
}
template <Type T>
Value coord(const ptx::Reg<T>& reg) {
  return reg.value();
}
template <Number I>
Value coord(I number) {
  return Value::of_number(number);
}
}  // namespace write
template <Type T, class... Coords>
auto tensor_addr(Reg<T> map, Coords... coords) {
  const std::array values = {map.value(), write::coord(coords)...};
  map.builder().arrange(values);
  return TensorAddr<T, write::coord_type(static_cast<const Coords*>(nullptr))...>{
      map.value(), {write::coord(coords)...}, &map.builder()};
}

/// A place in the code: `k << top` defines it, `k << inst.bra(top).on(p)` goes there. The text must live until the kernel has it.
struct Label {
  std::string_view name;
};
namespace write {
/// A label where `k <<` defines it, with the author's line.
struct Definition {
  std::string_view name;
  SourceLocation at;
  Definition(const Label& label, SourceLocation where = SourceLocation::current())
      : name(label.name), at(where) {}  // NOLINT(google-explicit-constructor)
};
}  // namespace write

/// The sink `_`, for a result nobody wants.
struct Sink {};
inline constexpr Sink sink{};

/// `d|p`: two destinations joined, as setp, shfl.sync and elect.sync take them.
template <class First, class Second>
struct Pipe {
  First first;
  Second second;
};
template <Type T>
Pipe<Reg<T>, Reg<Type::pred>> operator|(const Reg<T>& first, const Reg<Type::pred>& second) {
  return {first, second};
}
inline Pipe<Sink, Reg<Type::pred>> operator|(Sink first, const Reg<Type::pred>& second) { return {first, second}; }
template <Type T>
Pipe<Reg<T>, Sink> operator|(const Reg<T>& first, Sink second) {
  return {first, second};
}

}  // namespace ptx
