// From the core's diagnostics to Python's exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::python {

/// Sets the Python error that fits the diagnostic's kind: a `pyptx.PtxError` that is also a ValueError, TypeError, … whose text
/// is the rendered diagnostic. For slots of C types, which return an error and do not throw.
void set_error(const Diagnostic& diagnostic);

/// The same exception, not raised.
nanobind::object error_of(const Diagnostic& diagnostic);

/// A Python warning at the author's line. Throws when a filter makes an error of it.
void warn(const Diagnostic& warning);

/// Python's exception that errors of this kind also are: "ValueError".
std::string_view exception_of(Kind kind);

/// The same as `set_error`, thrown: for functions that nanobind calls.
[[noreturn]] void raise(const Diagnostic& diagnostic);
[[noreturn]] void raise(Kind kind, std::string message, SourceLocation where = {}, std::string hint = {});
/// "did you mean `f32`?", where one of the names is near; or nothing.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// The value, or the error raised.
template <class T>
T unwrap(Expected<T> expected) {
  if (!expected) raise(expected.error());
  return std::move(*expected);
}
/// What the core refuses without a line of its own, at the author's.
template <class T>
T unwrap_at(SourceLocation where, Expected<T> expected) {
  if (expected) return std::move(*expected);
  Diagnostic d = std::move(expected).error();
  if (!d.where.known()) d.where = where;
  raise(d);
}
inline void unwrap(const Expected<void>& expected) {
  if (!expected) raise(expected.error());
}

/// "the str 'abc'", "the object None": what a message calls a Python value that does not fit; long ones are cut.
std::string describe(nanobind::handle value);

}  // namespace ptx::python
