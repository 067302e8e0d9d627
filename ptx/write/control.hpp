// Control flow: what `if_`, `else_`, `loop` and `range_` write. Each construct has a begin and an end, with the body's
// instructions between them, so that Python's `with` and C++'s lambdas write the same. Braced scopes are Builder::open_block and
// close_block.
#pragma once

#include <string>
#include <string_view>

#include "ptx/write/builder.hpp"

namespace ptx::write {

/// An open `if_` or `else_` block.
struct If {
  std::string else_label, endif_label;
};

/// `@!p bra $_else_K;` (`@p` for a negated predicate). Kind bad_guard for anything but a predicate register.
Expected<If> begin_if(Builder& builder, const Value& predicate, SourceLocation where);
/// `bra $_endif_L; $_else_K: $_endif_L:`
Expected<void> end_if(Builder& builder, const If& open, SourceLocation where);
/// Goes on behind `$_else_K:` of the `if_` block that has just ended. Kind bad_control_flow when something was written since, or
/// no `if_` ended here.
Expected<If> begin_else(Builder& builder, SourceLocation where);
/// Goes on behind `$_else_K:` like begin_else, with another condition to come: `test_elif` follows, then the body, then end_if.
/// What a condition wrote since the `if_` ended (comparisons into fresh registers) is taken along.
Expected<If> begin_elif(Builder& builder, SourceLocation where);
/// `@!p bra $_else_M;`
Expected<void> test_elif(Builder& builder, If& open, const Value& predicate, SourceLocation where);
/// `$_endif_L:`
Expected<void> end_else(Builder& builder, const If& open, SourceLocation where);

/// `label:`
Expected<void> begin_loop(Builder& builder, std::string_view label, SourceLocation where);
/// `@p bra label;`, or `bra.uni label;` without a guard: the body runs at least once.
Expected<void> end_loop(Builder& builder, std::string_view label, const Guard& guard, SourceLocation where);

/// An open `while_` loop; `end_label` is where a break goes, `head_label` where the next pass begins.
struct While {
  std::string head_label, end_label;
};
/// `$_while_K:`; the condition follows, then test_while, then the body.
Expected<While> begin_while(Builder& builder, SourceLocation where);
/// `@!p bra $_endwhile_L;`
Expected<void> test_while(Builder& builder, const While& open, const Value& predicate, SourceLocation where);
/// `bra $_while_K; $_endwhile_L:`
Expected<void> end_while(Builder& builder, const While& open, SourceLocation where);

/// An open `range_` loop. `step` is a number or a register.
struct Range {
  Reg counter;
  Value step;
  std::string head_label, end_label;
};

/// `mov.s32 k, start; head: setp.ge.s32 p, k, stop; @p bra end;` with k of the family `%ri`; `setp.le` when `step` is a negative
/// number. Kinds: bad_control_flow (a step of 0), and what Builder::emit says.
Expected<Range> begin_range(Builder& builder, const Value& start, const Value& stop, const Value& step, SourceLocation where);
/// `add.s32 k, k, step; bra head; end:`
Expected<void> end_range(Builder& builder, const Range& open, SourceLocation where);

/// While the C++ function of a body runs. Where an exception leaves it, the construct has no end, and the kernel's error says so.
class RunningBody {
 public:
  RunningBody(Builder& builder, std::string_view construct, SourceLocation at);
  RunningBody(const RunningBody&) = delete;
  RunningBody& operator=(const RunningBody&) = delete;
  ~RunningBody();

 private:
  Builder& builder_;
  std::string_view construct_;
  SourceLocation at_;
  int exceptions_;  // under way when it began
};

/// `bra label;`
Expected<void> branch(Builder& builder, std::string_view label, const Guard& guard, SourceLocation where);
/// `ret;`
Expected<void> ret(Builder& builder, const Guard& guard, SourceLocation where);

}  // namespace ptx::write
