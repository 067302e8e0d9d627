// Expected: a value or the diagnostic that says why there is none. Stands in for C++23's std::expected.
#pragma once

#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "ptx/base/diagnostic.hpp"

namespace ptx {

/// Wraps an error so that `return Unexpected{diagnostic}` converts to any Expected<T>.
struct Unexpected {
  Diagnostic error;
};

/// Either a T or a Diagnostic. No exception crosses a room's front door, so functions that can fail return this.
template <class T>
class [[nodiscard]] Expected {
 public:
  // NOLINTBEGIN(google-explicit-constructor): implicit on purpose, a function returns the value or the error
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Expected(Unexpected e) : state_(std::in_place_index<1>, std::move(e.error)) {}
  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& value() & { return assert(has_value()), *std::get_if<0>(&state_); }
  const T& value() const& { return assert(has_value()), *std::get_if<0>(&state_); }
  T&& value() && { return assert(has_value()), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Diagnostic& error() const& { return assert(!has_value()), *std::get_if<1>(&state_); }
  Diagnostic&& error() && { return assert(!has_value()), std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Diagnostic> state_;
};

/// Success, or the diagnostic that says what failed.
template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Unexpected e) : error_(std::move(e.error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  const Diagnostic& error() const& { return assert(error_), *error_; }
  Diagnostic&& error() && { return assert(error_), std::move(*error_); }

 private:
  std::optional<Diagnostic> error_;
};

}  // namespace ptx
