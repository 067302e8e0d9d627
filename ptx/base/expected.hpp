// Expected: a value or the diagnostic that says why there is none. Stands in for C++23's std::expected.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "ptx/base/diagnostic.hpp"

namespace ptx {

/// An error on its way out: the diagnostic, held apart, so that what can fail is hardly larger than its value and a return
/// compiles to little. `return Unexpected{diagnostic}` converts to any Expected<T>.
class Unexpected {
 public:
  Unexpected(Diagnostic error);  // NOLINT(google-explicit-constructor): `return {{.kind = …}}` says it
  Unexpected(Unexpected&& other) noexcept : error_(other.error_) { other.error_ = nullptr; }
  Unexpected(const Unexpected& other);
  Unexpected& operator=(Unexpected&& other) noexcept {
    std::swap(error_, other.error_);
    return *this;
  }
  Unexpected& operator=(const Unexpected& other) { return *this = Unexpected(other); }
  ~Unexpected() {
    if (error_ != nullptr) end(error_);
  }

  /// The diagnostic, unless it was moved away: then the program ends.
  Diagnostic& error() const {
    if (error_ == nullptr) gone();
    return *error_;
  }

 private:
  static void end(Diagnostic* error);
  [[noreturn]] static void gone();
  Diagnostic* error_;  ///< owned
};

/// An error without a place: whoever knows it puts it in on the way out.
Unexpected refuse(Kind kind, std::string message);

namespace detail {
/// A value was asked for where there is an error, or the reverse: says so on the standard error stream, and ends the program.
/// Built with or without optimisation, with or without exceptions.
[[noreturn]] void end_without_value(const Diagnostic& error);
[[noreturn]] void end_without_error();
}  // namespace detail

/// Either a T or a Diagnostic. No exception crosses a room's front door, so functions that can fail return this.
template <class T>
class [[nodiscard]] Expected {
 public:
  // NOLINTBEGIN(google-explicit-constructor): implicit on purpose, a function returns the value or the error
  Expected(T value) : has_value_(true), value_(std::move(value)) {}
  Expected(Unexpected e) : has_value_(false), error_(std::move(e)) {}
  // NOLINTEND(google-explicit-constructor)

  Expected(Expected&& other) noexcept(std::is_nothrow_move_constructible_v<T>) : has_value_(other.has_value_) {
    take(std::move(other));
  }
  Expected(const Expected& other)
    requires(std::is_copy_constructible_v<T>)
      : has_value_(other.has_value_) {
    take(other);
  }
  Expected& operator=(Expected&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (this == &other) return *this;
    end();
    has_value_ = other.has_value_;
    take(std::move(other));
    return *this;
  }
  Expected& operator=(const Expected& other)
    requires(std::is_copy_constructible_v<T>)
  {
    return *this = Expected(other);
  }
  ~Expected() { end(); }

  [[nodiscard]] bool has_value() const { return has_value_; }
  explicit operator bool() const { return has_value(); }

  /// The value. Asked for where there is none, it shows the error and ends the program: who can go on asks has_value() first.
  T& value() & { return require_value(), value_; }
  const T& value() const& { return require_value(), value_; }
  T&& value() && { return require_value(), std::move(value_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  /// The error. Where there is none, the program ends.
  const Diagnostic& error() const& { return require_error(), error_.error(); }
  Diagnostic&& error() && { return require_error(), std::move(error_.error()); }

 private:
  void require_value() const {
    if (!has_value_) detail::end_without_value(error_.error());
  }
  void require_error() const {
    if (has_value_) detail::end_without_error();
  }
  template <class Other>
  void take(Other&& other) {
    if (has_value_)
      ::new (static_cast<void*>(&value_)) T(std::forward<Other>(other).value_);
    else
      ::new (static_cast<void*>(&error_)) Unexpected(std::forward<Other>(other).error_);
  }
  void end() {
    if (has_value_)
      value_.~T();
    else
      error_.~Unexpected();
  }

  bool has_value_;
  union {  // a std::variant of the two takes compilers several times as long
    T value_;
    Unexpected error_;
  };
};

/// Success, or the diagnostic that says what failed.
template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Unexpected e) : error_(std::move(e)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool has_value() const { return !error_; }
  explicit operator bool() const { return has_value(); }
  /// Shows the error, if there is one, and ends the program.
  void value() const {
    if (error_) detail::end_without_value(error_->error());
  }
  /// The error. Where there is none, the program ends.
  const Diagnostic& error() const& { return require_error(), error_->error(); }
  Diagnostic&& error() && { return require_error(), std::move(error_->error()); }

 private:
  void require_error() const {
    if (!error_) detail::end_without_error();
  }
  std::optional<Unexpected> error_;
};

/// The same; an error without a place is now at this one.
template <class T>
Expected<T> placed(Expected<T> result, const SourceLocation& at) {
  if (result || result.error().where.known()) return result;
  Diagnostic error = std::move(result).error();
  error.where = at;
  return Unexpected{std::move(error)};
}

}  // namespace ptx
