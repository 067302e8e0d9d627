// Where an instruction was written: a file and a line of the author's own source, C++ or Python.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ptx {

struct CallSite;

/// A place in the author's source. `file` points at storage that outlives the process (a string literal or an interned
/// name, see `intern_file`), so a Where is a cheap value.
struct SourceLocation {
  const char* file = "";
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< from 1, in bytes; 0: not known (authored code has lines alone)
  const CallSite* from =
      nullptr;  ///< the author's helper that this place lies in was called there; nullptr: in the kernel itself

  /// The place of the call, when used as a default argument. std::source_location would do the same, but its size and
  /// its support in clang 16 with default member initialisers do not.
  static constexpr SourceLocation current(const char* f = __builtin_FILE(), std::uint32_t l = __builtin_LINE()) {
    return {f, l, 0};
  }

  [[nodiscard]] constexpr bool known() const { return line != 0; }
  friend bool operator==(const SourceLocation& a, const SourceLocation& b) {
    return a.line == b.line && a.column == b.column && a.from == b.from && std::string_view(a.file) == std::string_view(b.file);
  }
};

/// `function`, one of the author's helpers, was called at `at`. Interned: equal sites are one object, which lives as long as the
/// process.
struct CallSite {
  SourceLocation at;
  const char* function;
};

/// Returns a pointer that stays valid for the life of the process; equal names give equal pointers. Thread-safe.
const char* intern_file(std::string_view file);
/// The call site of these; `at` and its own call sites are interned already. Thread-safe.
const CallSite* intern_call(const SourceLocation& at, std::string_view function);

/// How the name of a text ends that a call was given: its places are lines of the text.
inline constexpr std::string_view text_mark = " (text)";

/// "file.py:12", "file.ptx:12:5" when the column is known, or "" when the place is not known.
std::string to_string(const SourceLocation& where);

}  // namespace ptx
