// The author's line: where in the author's Python a call into the core was made.
#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::python {

/// Says where the package's own Python lies: its frames are never the author's.
void set_package_folder(std::string_view folder);

/// Says where a library lies, a folder or a file, that calls the package for the author, as JAX does: its frames are no author's
/// where there are others.
void pass_over(std::string_view library);

/// The line of the nearest Python frame outside the package and of what is passed over; unknown when there is none.
SourceLocation authors_line();

/// The same, remembering what it found for as long as a trace lasts: finding a line walks the function's line table from its
/// start, which would be most of the cost of an instruction.
class LineCache {
 public:
  LineCache() = default;
  ~LineCache();
  LineCache(const LineCache&) = delete;
  LineCache& operator=(const LineCache&) = delete;

  /// The line of the nearest frame outside the package, and through which calls of the author's it was reached from the frame
  /// that `begin` was called in.
  SourceLocation authors_line();
  /// The frames from here outwards are not the kernel's: the innermost one that is the package's own is where the body is called.
  void begin();

 private:
  struct Entry {
    PyCodeObject* code = nullptr;  // kept alive by codes_: an address is not taken for another code's
    int inst = -1;
    bool ours = false;  // a frame of the package
    SourceLocation where;
  };
  const Entry& look_up(PyFrameObject* frame);
  const CallSite* call_site(const SourceLocation& at, PyCodeObject* called);

  struct Call {
    PyCodeObject* called = nullptr;
    const CallSite* site = nullptr;
  };
  struct Frame {
    SourceLocation where;
    PyCodeObject* code;
  };
  std::vector<Frame> frames_;  // of the line that is found, innermost first
  std::array<Entry, 512> entries_{};
  std::array<Call, 256> calls_{};
  std::vector<PyCodeObject*> codes_;
  PyFrameObject* outermost_ = nullptr;  // borrowed, and only compared: it is on the stack for as long as the trace is made
  bool outermost_is_ours_ = false;
};

/// Raises the diagnostic with the author's line, which the core does not know; a Python error that is set already goes first.
[[noreturn]] void raise_here(Diagnostic error);

/// The value, or the error raised with the author's line.
template <class T>
T unwrap_here(Expected<T> expected) {
  if (!expected) raise_here(std::move(expected).error());
  return std::move(*expected);
}
inline void unwrap_here(Expected<void> expected) {
  if (!expected) raise_here(std::move(expected).error());
}

}  // namespace ptx::python
