// An instruction as a C++ value, and how the generated dots (inst.hpp) check its operands while compiling. The check is
// isa::rules, the same that Python's dots and the checker use at run time.
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ptx/isa/brief.hpp"
#include "ptx/write/registers.hpp"

namespace ptx {

namespace write {

/// The operands of an instruction: first the operands themselves, behind them the parts of vectors and addresses. Most
/// instructions have few and need no memory of their own.
class Operands {
 public:
  Operands(std::size_t operands, std::size_t parts) : count_(operands), next_part_(operands), size_(operands + parts) {
    if (size_ > few) many_.resize(size_ * sizeof(Value));
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
    if (!many_.empty()) return;
    const Value* const there = other.begin();
    for (std::size_t i = 0; i < next_part_; ++i) {
      if (i >= next_ && i < count_) continue;
      Value value = there[i];
      if (!value.parts.empty()) value.parts = {begin() + (value.parts.data() - there), value.parts.size()};
      put(begin() + i, value);
    }
  }
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;
  Operands& operator=(Operands&&) = delete;
  ~Operands() = default;

  void add(const Value& operand) { put(place(), operand); }
  /// Where the next operand is made: a value that is made elsewhere and copied is read again before it is stored.
  void* place() { return begin() + next_++; }
  /// Parts of one operand; those of a part come first.
  std::span<const Value> parts(const Value& first, const Value& second) {
    return parts(2, [&](std::size_t i) { return i == 0 ? first : second; });
  }
  /// `count` of them, which `make(i)` gives.
  template <class Make>
  std::span<const Value> parts(std::size_t count, const Make& make) {
    assert(next_part_ + count <= size_);
    Value* const first = begin() + next_part_;
    for (std::size_t i = 0; i < count; ++i) ::new (static_cast<void*>(first + i)) Value(make(i));
    next_part_ += count;
    return {first, count};
  }
  /// A name that lives as long as these.
  std::string_view keep(std::string_view name) {
    const std::vector<char>& kept = kept_.emplace_back(name.begin(), name.end());
    return {kept.data(), kept.size()};
  }
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
  static void put(void* at, const Value& value) { ::new (at) Value(value); }
  Value* begin() { return std::launder(reinterpret_cast<Value*>(many_.empty() ? few_.data() : many_.data())); }
  [[nodiscard]] const Value* begin() const {
    return std::launder(reinterpret_cast<const Value*>(many_.empty() ? few_.data() : many_.data()));
  }

  std::size_t count_, next_ = 0, next_part_, size_;
  const Builder* builder_ = nullptr;
  bool mixed_ = false;
  std::vector<std::byte> many_;
  std::vector<std::vector<char>> kept_;                            // where a move leaves them
  alignas(Value) std::array<std::byte, few * sizeof(Value)> few_;  // NOLINT(cppcoreguidelines-pro-type-member-init)
};

}  // namespace write

namespace dots {
template <class X>
struct Count;
}  // namespace dots

/// One instruction, whole but for its place: `k << inst.fma.rn.f32(d, a, b, c)` appends it. Names and labels among its operands
/// must live until then.
class [[nodiscard("an instruction does nothing until it is put in a kernel: k << inst…")]] Inst {
 public:
  /// Of the operands of the call: for the dots below.
  template <class... X>
  Inst(const write::Pattern& pattern, SourceLocation at, const X&... x)
      : pattern_(&pattern), operands_((dots::Count<X>::operands + ... + 0), (dots::Count<X>::parts + ... + 0)), at_(at) {
    (dots::Count<X>::put(x, operands_), ...);
  }

  /// `@p` in front: only threads whose predicate is true execute it.
  Inst on(const Reg<Type::pred>& p) && { return std::move(*this).guarded(p, false); }
  Inst on(const NegatedPred& p) && { return std::move(*this).guarded(p.reg, true); }
  /// `@!p` in front.
  Inst unless(const Reg<Type::pred>& p) && { return std::move(*this).guarded(p, true); }

  /// Appends it to a kernel's builder; an error is kept there.
  void emit_into(write::Builder& builder) const;

 private:
  Inst guarded(const Reg<Type::pred>& p, bool negated) && {
    operands_.registers_of(&p.builder());
    guard_ = {p.untyped(), negated};
    return std::move(*this);
  }

  const write::Pattern* pattern_;  // of the program, one for each combination of dots and of types
  write::Operands operands_;
  write::Guard guard_;
  SourceLocation at_;
};

namespace dots {

// ---- the generated tables -----------------------------------------------------------------------------------------

using isa::Access;
using isa::Role;

// Plain characters and numbers: compilers read them fast, and only what is written is looked at more closely.
struct SlotText {
  const char* name;
  const char* words = "";  ///< its choices, "rn rz rm rp"; "" when the name is the only one
};
struct OperandText {
  Role role;
  Access access;
  unsigned flags;  ///< bits of the values below
  const char* name;
  const char *type = "", *count = "", *space = "", *when_slot = "", *when_choices = "", *coords_count = "", *coords_type = "",
             *part = "";
  static constexpr unsigned optional = 1, conditional = 2, wider = 4, negatable = 8, minus = 16, sink = 32, piped = 64;
};
/// A row of the table with S slots and O operands, as isa::Form has it, without what the dots do not ask.
template <std::size_t S, std::size_t O>
struct FormText {
  std::uint64_t traits, quirks;  ///< bits of isa::Traits and isa::Quirks
  SlotText slots[S == 0 ? 1 : S];
  OperandText operands[O == 0 ? 1 : O];
};
template <isa::FormId F>
inline constexpr FormText<0, 0> form_text{};

/// The modifiers' spellings, each between spaces: word_texts<0>, in inst.hpp. One text, because compilers take long over hundreds
/// of variables.
template <int>
inline constexpr std::string_view word_texts;

/// The modifiers written so far, each by its place in word_texts; 0 is none. What a state of the tree carries along.
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

/// A form with its modifiers chosen: what isa::rules are asked about. A view, so that the rules are compiled for it once.
struct ChosenForm {
  /// The choices of a slot, of which this is the one that counts, whatever its index is.
  struct Chosen {
    std::string_view word;
    constexpr const Chosen& operator[](std::size_t) const { return *this; }
  };
  struct Slot {
    std::string_view name;
    Chosen choices;
  };
  isa::Traits traits;
  isa::Quirks quirks;
  std::span<const Slot> slots;
  std::span<const isa::OperandSpec> operands;
  isa::Choices choices;
};
/// What it looks at.
template <std::size_t S, std::size_t O>
struct ChosenParts {
  std::array<ChosenForm::Slot, S> slots{};
  std::array<isa::OperandSpec, O> operands{};
  isa::Choices choices{};
};

/// The place of a word among a slot's, from 1; 0 when it is not there.
constexpr std::uint8_t place_of(std::string_view word, std::string_view words) {
  for (std::uint8_t place = 1;; ++place) {
    const std::size_t end = words.find(' ');
    if (words.substr(0, end) == word) return place;
    if (end == std::string_view::npos) return 0;
    words.remove_prefix(end + 1);
  }
}

constexpr isa::OperandSpec operand_of(const OperandText& text) {
  isa::OperandSpec o;
  o.role = text.role, o.access = text.access;
  o.name = text.name, o.type = text.type, o.count = text.count, o.space = text.space;
  o.when_slot = text.when_slot, o.when_choices = text.when_choices;
  o.coords_count = text.coords_count, o.coords_type = text.coords_type, o.part = text.part;
  const auto has = [&](unsigned flag) { return (text.flags & flag) != 0; };
  o.optional = has(OperandText::optional), o.conditional = has(OperandText::conditional), o.wider = has(OperandText::wider);
  o.negatable = has(OperandText::negatable), o.minus = has(OperandText::minus), o.sink = has(OperandText::sink);
  o.piped = has(OperandText::piped);
  return o;
}

/// Words fill slots in order, each the first that has it, as isa::ModifierTree fills them.
template <std::size_t S, std::size_t O>
constexpr ChosenParts<S, O> choose(const FormText<S, O>& text, const Words& words, std::string_view texts) {
  ChosenParts<S, O> form;
  for (std::size_t i = 0; i < S; ++i) form.slots[i].name = text.slots[i].name;
  for (std::size_t i = 0; i < O; ++i) form.operands[i] = operand_of(text.operands[i]);
  std::size_t at = 0;
  for (const std::uint16_t place : words.at) {
    if (place == 0) break;
    const std::string_view word = texts.substr(place, texts.find(' ', place) - place);
    for (bool found = false; !found; ++at) {
      const std::string_view choices = text.slots[at].words;
      form.choices[at] = choices.empty() ? std::uint8_t{form.slots[at].name == word} : place_of(word, choices);
      found = form.choices[at] != 0;
      if (found) form.slots[at].choices.word = word;
    }
  }
  return form;
}

/// A form with the modifiers that the words choose.
template <isa::FormId F, Words W>
inline constexpr auto chosen_parts = choose(form_text<F>, W, word_texts<F * 0>);
template <isa::FormId F, Words W>
inline constexpr ChosenForm chosen{isa::Traits(form_text<F>.traits), isa::Quirks(form_text<F>.quirks), chosen_parts<F, W>.slots,
                                   chosen_parts<F, W>.operands, chosen_parts<F, W>.choices};

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
  static constexpr bool same_operands = As<X>::arg.kind != isa::ArgKind::special;  // which one decides where it is to be had
  static void put(const X& x, Operands& c) { ::new (c.place()) Value(As<X>::value(x, c)); }
};
template <class First, class Second>
struct Count<Pipe<First, Second>> {
  static constexpr std::size_t operands = 2, parts = 0;
  static constexpr bool same_operands = Count<First>::same_operands && Count<Second>::same_operands;
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
    return isa::rules::operand_fits(chosen<F, W>, chosen<F, W>.choices, chosen<F, W>.operands[I], As<X>::arg);
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
  constexpr const auto& form = chosen<F, W>;
  for (std::size_t i = 0; i < form.operands.size(); ++i)
    if (form.operands[i].conditional && isa::rules::present(form, form.operands[i], form.choices) != ((mask >> i & 1) != 0))
      return false;
  return true;
}();

template <isa::FormId F, Words W, class... X>
inline constexpr write::Pattern pattern{F, chosen<F, W>.choices, (... && Count<X>::same_operands)};

template <isa::FormId F, Words W, class... X>
Inst make(SourceLocation at, const X&... x) {
  return {pattern<F, W, X...>, at, x...};
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
