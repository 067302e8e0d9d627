#include "ptx/tile/size.hpp"

#include <algorithm>
#include <limits>

#include "ptx/base/base.hpp"

namespace ptx {
namespace {}  // namespace

Size dim(std::string name) {
  Size size;
  size.terms_ = {{.op = Size::Op::dim, .name = std::move(name)}};
  return size;
}

Size::Size(Op op, const Size& a, const Size& b) : terms_(a.terms_) {
  if (!a.is_open() && !b.is_open()) {
    if (const auto folded = apply(op, a.terms_[0].number, b.terms_[0].number); folded && a.terms_.size() + b.terms_.size() == 2) {
      terms_[0].number = *folded;
      return;
    }
  }
  terms_.insert(terms_.end(), b.terms_.begin(), b.terms_.end());
  terms_.push_back({.op = op});
}

bool Size::is_open() const {
  return std::any_of(terms_.begin(), terms_.end(), [](const Term& term) { return term.op == Op::dim; });
}

std::vector<std::string> Size::dims() const {
  std::vector<std::string> names;
  for (const Term& term : terms_)
    if (term.op == Op::dim) names.push_back(term.name);
  return names;
}

Expected<std::int64_t> Size::apply(Op op, std::int64_t a, std::int64_t b) {
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const bool divides = op == Op::divide || op == Op::remainder || op == Op::ceil_div;
  if (divides && b == 0) return refuse(Kind::launch_config, cat(a, " is divided by 0"));
  std::int64_t result = 0;
  bool too_large = divides && a == least && b == -1;
  switch (op) {
    case Op::add:
      too_large = __builtin_add_overflow(a, b, &result);
      break;
    case Op::subtract:
      too_large = __builtin_sub_overflow(a, b, &result);
      break;
    case Op::multiply:
      too_large = __builtin_mul_overflow(a, b, &result);
      break;
    case Op::divide:
      if (!too_large) result = a / b;
      break;
    case Op::remainder:
      if (!too_large) result = a % b;
      break;
    case Op::ceil_div:
      if (!too_large) result = a / b + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0);
      break;
    case Op::min:
      result = std::min(a, b);
      break;
    case Op::max:
      result = std::max(a, b);
      break;
    case Op::number:
    case Op::dim:
      break;
  }
  if (too_large) return refuse(Kind::launch_config, "a number is beyond 64 bits");
  return result;
}

Expected<std::int64_t> Size::resolve(const tile::Env& sizes) const {
  std::vector<std::int64_t> stack;
  for (const Term& term : terms_) {
    if (term.op == Op::number) {
      stack.push_back(term.number);
    } else if (term.op == Op::dim) {
      const auto at = sizes.find(term.name);
      if (at == sizes.end()) return refuse(Kind::dim_unbound, cat("the dimension `", term.name, "` has no size"));
      stack.push_back(at->second);
    } else {
      const std::int64_t b = stack.back();
      stack.pop_back();
      auto result = apply(term.op, stack.back(), b);
      if (!result) return refuse(result.error().kind, cat("`", to_string(), "`: ", result.error().message));
      stack.back() = *result;
    }
  }
  return stack.back();
}

std::string Size::to_string() const {
  struct Part {
    std::string text;
    int strength = 2;  // 0: a sum, 1: a product, 2: whole
  };
  std::vector<Part> stack;
  for (const Term& term : terms_) {
    if (term.op == Op::number || term.op == Op::dim) {
      stack.push_back({term.op == Op::dim ? term.name : cat(term.number)});
      continue;
    }
    const Part b = std::move(stack.back());
    stack.pop_back();
    Part& a = stack.back();
    const auto join = [&](std::string_view sign, int strength) {
      const auto held = [](const Part& part, bool whole) { return whole ? part.text : cat('(', part.text, ')'); };
      a = {cat(held(a, a.strength >= strength), ' ', sign, ' ', held(b, b.strength > strength)), strength};
    };
    const auto call = [&](std::string_view name) { a = {cat(name, '(', a.text, ", ", b.text, ')')}; };
    switch (term.op) {
      case Op::add:
        join("+", 0);
        break;
      case Op::subtract:
        join("-", 0);
        break;
      case Op::multiply:
        join("*", 1);
        break;
      case Op::divide:
        join("/", 1);
        break;
      case Op::remainder:
        join("%", 1);
        break;
      case Op::ceil_div:
        call("ceil_div");
        break;
      case Op::min:
        call("min");
        break;
      default:
        call("max");
        break;
    }
  }
  return stack.back().text;
}

Expected<LaunchDims> Extent::resolve(const tile::Env& sizes, std::string_view what) const {
  LaunchDims numbers{1, 1, 1};
  for (std::size_t i = 0; i < 3; ++i) {
    auto size = sizes_[i].resolve(sizes);
    if (!size) return refuse(size.error().kind, cat("the ", what, ": ", size.error().message));
    if (*size < 1 || *size > std::numeric_limits<std::int32_t>::max()) {
      const std::string from = sizes_[i].is_open() ? cat(" (`", sizes_[i].to_string(), "`)") : std::string();
      return Unexpected{
          Diagnostic{.kind = Kind::launch_config, .message = cat("the ", what, " has ", *size, from, " in ", "xyz"[i])}.hint(
              "a size is at least 1")};
    }
    numbers[i] = static_cast<std::uint32_t>(*size);
  }
  return numbers;
}

}  // namespace ptx
