// An instruction as a C++ value, and how the generated dots (inst.hpp) check its operands while compiling. The check is
// isa::rules, the same that Python's dots and the checker use at run time.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "ptx/isa/isa.hpp"
#include "ptx/write/registers.hpp"

namespace ptx {

namespace write {

/// The operands of an instruction: first the operands themselves, behind them the parts of vectors and addresses. Most
/// instructions have few and need no memory of their own.
class Operands {
 public:
  Operands(std::size_t operands, std::size_t parts) : count_(operands), next_part_(operands), size_(operands + parts) {
    if (size_ > few) many_ = std::make_unique_for_overwrite<std::byte[]>(size_ * sizeof(Value));
  }
  Operands(Operands&& other) noexcept
      : count_(other.count_),
        next_(other.next_),
        next_part_(other.next_part_),
        size_(other.size_),
        builder_(other.builder_),
        mixed_(other.mixed_),
        many_(std::move(other.many_)),
        kept_(std::move(other.kept_)) {
    if (many_) return;
    const Value* const there = other.begin();
    for (std::size_t i = 0; i < next_part_; ++i) {
      if (i >= next_ && i < count_) continue;
      Value value = there[i];
      if (!value.parts.empty()) value.parts = {begin() + (value.parts.data() - there), value.parts.size()};
      std::construct_at(begin() + i, value);
    }
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  Operands& operator=(Operands&&) = delete;
  ~Operands() = default;

  void add(const Value& operand) { std::construct_at(begin() + next_++, operand); }
  /// Parts of one operand; those of a part come first.
  template <std::same_as<Value>... Part>
  std::span<const Value> parts(const Part&... part) {
    return place(sizeof...(Part), [&](Value* at) { (std::construct_at(at++, part), ...); });
  }
  /// `count` of them, which `make(i)` gives.
  template <std::invocable<std::size_t> Make>
  std::span<const Value> parts(std::size_t count, Make make) {
    return place(count, [&](Value* at) {
      for (std::size_t i = 0; i < count; ++i) std::construct_at(at + i, make(i));
    });
  }
  /// A name that lives as long as these.
  std::string_view keep(std::string name) { return kept_.emplace_front(std::move(name)); }
  /// Registers of this kernel are among the operands; nullptr is none.
  void registers_of(const Builder* builder) {
    if (builder == nullptr) return;
    if (builder_ != nullptr && builder_ != builder) mixed_ = true;
    builder_ = builder;
  }
  [[nodiscard]] std::span<const Value> all() const { return {begin(), count_}; }
  /// True when every register belongs to that kernel.
  [[nodiscard]] bool belong_to(const Builder& builder) const { return !mixed_ && (builder_ == nullptr || builder_ == &builder); }

 private:
  static constexpr std::size_t few = 10;
  static_assert(std::is_trivially_destructible_v<Value> && std::is_trivially_copyable_v<Value>);
  static_assert(alignof(Value) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  template <std::invocable<Value*> Fill>
  std::span<const Value> place(std::size_t count, Fill fill) {
    assert(next_part_ + count <= size_);
    Value* const first = begin() + next_part_;
    fill(first);
    next_part_ += count;
    return {first, count};
  }
  Value* begin() { return std::launder(reinterpret_cast<Value*>(many_ ? many_.get() : few_.data())); }
  [[nodiscard]] const Value* begin() const {
    return std::launder(reinterpret_cast<const Value*>(many_ ? many_.get() : few_.data()));
  }

  std::size_t count_, next_ = 0, next_part_, size_;
  const Builder* builder_ = nullptr;
  bool mixed_ = false;
  std::unique_ptr<std::byte[]> many_;
  std::forward_list<std::string> kept_;                            // where a move leaves them
  alignas(Value) std::array<std::byte, few * sizeof(Value)> few_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
};

}  // namespace write

/// One instruction, whole but for its place: `k << inst.fma.rn.f32(d, a, b, c)` appends it. Names and labels among its operands
/// must live until then.
class [[nodiscard("an instruction does nothing until it is put in a kernel: k << inst…")]] Inst {
 public:
  /// `fill` puts in the operands, as many as said.
  template <std::invocable<write::Operands&> Fill>
  Inst(isa::FormId form, const isa::Choices& choices, std::size_t operands, std::size_t parts, Fill fill, Where at)
      : form_(form), choices_(choices), operands_(operands, parts), at_(at) {
    fill(operands_);
  }

  /// `@p` in front: only threads whose predicate is true execute it.
  Inst on(const Reg<Type::pred>& p) && { return std::move(*this).guarded(p, false); }
  Inst on(const NegatedPred& p) && { return std::move(*this).guarded(p.reg, true); }
  /// `@!p` in front.
  Inst unless(const Reg<Type::pred>& p) && { return std::move(*this).guarded(p, true); }

  /// Appends it to a kernel's builder; an error is kept there.
  void put_into(write::Builder& builder) const;

 private:
  Inst guarded(const Reg<Type::pred>& p, bool negated) && {
    operands_.registers_of(&p.builder());
    guard_ = {p.untyped(), negated};
    return std::move(*this);
  }

  isa::FormId form_;
  isa::Choices choices_;
  write::Operands operands_;
  write::Guard guard_;
  Where at_;
};

namespace dots {

// ---- the generated tables -----------------------------------------------------------------------------------------

/// The notation of a form, and the spelling of a modifier by the number that inst.hpp gives it.
template <isa::FormId F>
inline constexpr std::string_view form_text;
template <std::uint16_t W>
inline constexpr std::string_view word_text;
template <>
inline constexpr std::string_view word_text<0> = {};

/// The modifiers written so far, by number: what a state of the tree carries along.
struct Words {
  std::array<std::uint16_t, isa::max_slots> at{};
  [[nodiscard]] constexpr Words then(std::uint16_t word) const {
    Words more = *this;
    for (std::uint16_t& slot : more.at)
      if (slot == 0) {
        slot = word;
        break;
      }
    return more;
  }
};

template <isa::FormId F>
inline constexpr isa::ParsedForm parsed = isa::parse_form(form_text<F>);

/// The choices at F's slots that the words spell. Words fill slots in order, each the first that has it, as isa::Dots fills them.
template <isa::FormId F, Words W>
inline constexpr isa::Choices choices = [] {
  const std::array texts = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, sizeof...(I)>{word_text<W.at[I]>...};
  }(std::make_index_sequence<isa::max_slots>());
  isa::Choices result{};
  std::size_t slot = 0;
  for (const std::string_view text : texts) {
    if (text.empty()) break;
    for (bool found = false; !found; ++slot)
      for (std::size_t c = 0; c < parsed<F>.slots[slot].choices.size() && !found; ++c)
        if (parsed<F>.slots[slot].choices[c].word == text) {
          result[slot] = static_cast<std::uint8_t>(c + 1);
          found = true;
        }
  }
  return result;
}();

// ---- arguments ------------------------------------------------------------------------------------------------------

using write::Operands;
using write::Value;

/// How a C++ type stands as an operand: `arg`, what isa::rules sees; `parts`, how many values lie behind it; value(x, operands).
template <class X>
struct As;

template <Type T>
struct As<Reg<T>> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::reg, .type = T};
  static constexpr std::size_t parts = 0;
  static Value value(const Reg<T>& x, Operands& c) {
    c.registers_of(&x.builder());
    return x.value();
  }
};
template <>
struct As<NegatedPred> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::reg, .type = Type::pred, .negated = true};
  static constexpr std::size_t parts = 0;
  static Value value(const NegatedPred& x, Operands& c) {
    Value v = As<Reg<Type::pred>>::value(x.reg, c);
    v.negated = true;
    return v;
  }
};
template <Type T>
struct As<Special<T>> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::special, .type = T};
  static constexpr std::size_t parts = 0;
  static Value value(Special<T> x, Operands&) { return Value::of_special(x.id); }
};
template <write::Number I>
struct As<I> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::integer, .authored = true};
  static constexpr std::size_t parts = 0;
  static Value value(I x, Operands&) { return Value::of_number(x); }
};
template <std::floating_point F>
struct As<F> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::floating};
  static constexpr std::size_t parts = 0;
  static Value value(F x, Operands&) { return Value::of_floating(static_cast<double>(x)); }
};
template <class S>
  requires(std::convertible_to<const S&, std::string_view>)
struct As<S> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::symbol};
  static constexpr std::size_t parts = 0;
  static Value value(const S& x, Operands& c) {
    if constexpr (std::same_as<S, std::string>) return Value::of_symbol(c.keep(x));  // a copy, of the call's own
    return Value::of_symbol(x);
  }
};
template <>
struct As<Label> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::symbol};
  static constexpr std::size_t parts = 0;
  static Value value(const Label& x, Operands&) { return Value::of_label(x.name); }
};
template <>
struct As<Sink> {
  static constexpr isa::Arg arg{.kind = isa::ArgKind::sink};
  static constexpr std::size_t parts = 0;
  static Value value(const Sink&, Operands&) { return {}; }
};
template <Type T, std::size_t N>
struct As<RegVec<T, N>> {
  static constexpr std::array<isa::Arg, N> elements = [] {
    std::array<isa::Arg, N> all;
    all.fill(As<Reg<T>>::arg);
    return all;
  }();
  static constexpr isa::Arg arg{.kind = isa::ArgKind::vector, .elements = elements};
  static constexpr std::size_t parts = N;
  static Value value(const RegVec<T, N>& x, Operands& c) {
    c.registers_of(&x.builder());
    return Value::vector_of(c.parts(N, [&](std::size_t i) { return x.value(i); }));
  }
};
template <Type T>
struct As<Addr<T>> {
  static constexpr std::array<isa::Arg, 2> elements = {
      isa::Arg{.kind = T == Type::none ? isa::ArgKind::symbol : isa::ArgKind::reg, .type = T},
      isa::Arg{.kind = isa::ArgKind::integer}};
  static constexpr isa::Arg arg{.kind = isa::ArgKind::address, .authored = true, .elements = elements};
  static constexpr std::size_t parts = 2;
  static Value value(const Addr<T>& x, Operands& c) {
    c.registers_of(x.builder);
    Value base = x.base;
    base.fresh = static_cast<bool>(x.fresh);
    return Value::address_of(c.parts(base, Value::of_integer(x.offset)));
  }
};
template <Type Map, Type... Coords>
struct As<TensorAddr<Map, Coords...>> {
  static constexpr std::array<isa::Arg, sizeof...(Coords)> coords = {
      isa::Arg{.kind = Coords == Type::none ? isa::ArgKind::integer : isa::ArgKind::reg, .type = Coords}...};
  static constexpr std::array<isa::Arg, 2> elements = {isa::Arg{.kind = isa::ArgKind::reg, .type = Map},
                                                       isa::Arg{.kind = isa::ArgKind::vector, .elements = coords}};
  static constexpr isa::Arg arg{.kind = isa::ArgKind::tensor, .elements = elements};
  static constexpr std::size_t parts = 2 + sizeof...(Coords);
  static Value value(const TensorAddr<Map, Coords...>& x, Operands& c) {
    c.registers_of(x.builder);
    const Value coordinates = Value::vector_of(c.parts(sizeof...(Coords), [&](std::size_t i) { return x.coords[i]; }));
    return Value::tensor_of(c.parts(x.map, coordinates));
  }
};

// An operand of the call is one operand of the instruction; `d|p` is two.
template <class X>
struct Count {
  static constexpr std::size_t operands = 1, parts = As<X>::parts;
  static void put(const X& x, Operands& c) { c.add(As<X>::value(x, c)); }
};
template <class First, class Second>
struct Count<Pipe<First, Second>> {
  static constexpr std::size_t operands = 2, parts = 0;
  static void put(const Pipe<First, Second>& x, Operands& c) {
    c.add(As<First>::value(x.first, c));
    Value second = As<Second>::value(x.second, c);
    second.piped = true;
    c.add(second);
  }
};

// ---- the check ------------------------------------------------------------------------------------------------------

template <isa::FormId F, Words W, std::size_t I, class X>
consteval bool operand_fits() {
  if constexpr (requires { As<X>::arg; })
    return isa::rules::operand_fits(parsed<F>, choices<F, W>, parsed<F>.operands[I], As<X>::arg);
  return false;
}
template <isa::FormId F, Words W, std::size_t I, std::size_t J, class X>
inline constexpr bool pipe_fits = false;
template <isa::FormId F, Words W, std::size_t I, std::size_t J, class First, class Second>
inline constexpr bool pipe_fits<F, W, I, J, Pipe<First, Second>> =
    operand_fits<F, W, I, First>() && operand_fits<F, W, J, Second>();

/// X fits operand I of form F with the modifiers W.
template <class X, isa::FormId F, Words W, std::size_t I>
concept Operand = operand_fits<F, W, I, X>();
/// X is `first|second`, and both fit.
template <class X, isa::FormId F, Words W, std::size_t I, std::size_t J>
concept Piped = pipe_fits<F, W, I, J, X>;

/// Of the operands that depend on a modifier, exactly those of the bits of `mask` are there.
template <isa::FormId F, Words W, unsigned mask>
concept With = [] {
  for (std::size_t i = 0; i < parsed<F>.operands.size(); ++i)
    if (parsed<F>.operands[i].conditional &&
        isa::rules::present(parsed<F>, parsed<F>.operands[i], choices<F, W>) != ((mask >> i & 1) != 0))
      return false;
  return true;
}();

template <isa::FormId F, Words W, class... X>
Inst make(Where at, const X&... x) {
  const auto fill = [&x...](Operands& operands) { (Count<X>::put(x, operands), ...); };
  return {F, choices<F, W>, (Count<X>::operands + ... + 0), (Count<X>::parts + ... + 0), fill, at};
}

/// What a state knows in which forms are whole: for `let` (typed_let.hpp).
template <Words W, isa::FormId... F>
struct Whole {
  static constexpr Words words = W;
  static constexpr std::array<isa::FormId, sizeof...(F)> forms{F...};
};

/// A state of the tree, reached through a reference so that only the dots that are written are instantiated.
template <class T>
inline constexpr T node{};
template <class...>
inline constexpr bool never = false;
/// Stands behind a static_assert that has failed: no program calls it.
Inst refused();

}  // namespace dots
}  // namespace ptx
