// Loops that are unrolled while they are written (api.md 4.5).
#pragma once

#include "ptx/write/builder.hpp"

namespace ptx::write::idiom {

/// What writes one pass of a loop. A view: the function lives at the caller's.
class Pass {
 public:
  template <class Function>
  explicit Pass(Function& write) : write_(&write), call_([](void* f) { (*static_cast<Function*>(f))(); }) {}
  void operator()() const { call_(write_); }

 private:
  void* write_;
  void (*call_)(void*);
};

/// `pass` `total` times. A number: written that many times, without a branch. A register of a 32- or 64-bit integer type:
///     and rem, total, unroll-1; sub main, total, rem; setp.ge p, total, unroll;
///     if_(p) { mov counter, main; label: pass × unroll; sub counter, counter, unroll; setp.ne p, counter, 0; @p bra label; }
///     setp.gt p, rem, 0; if_(p) { pass; setp.gt p, rem, 1; if_(p) { pass; … } }      unroll - 1 of them, one in the other
/// with the instructions of operators.hpp and control.hpp. `unroll` is a power of two. An empty label is `kloop`, or a fresh one
/// where that is taken. Kinds: immediate_range, argument_kind, duplicate_label.
Expected<void> kloop(Builder& builder, const Value& total, std::int64_t unroll, Pass pass, std::string_view label,
                     SourceLocation where);

}  // namespace ptx::write::idiom
