#include "ptx/write/control.hpp"

#include <exception>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write {

namespace {

// `@!p bra label;`
Expected<void> branch_unless(Builder& builder, std::string_view what, const Value& predicate, std::string_view label,
                             SourceLocation where) {
  if (predicate.kind != Value::Kind::reg)
    return refuse(Kind::bad_guard, cat('`', what, "` takes a predicate register"), where,
                  "`setp` makes a predicate, and so do the comparison operators");
  return branch(builder, label, {predicate.reg, !predicate.negated}, where);
}

}  // namespace

Expected<If> begin_if(Builder& builder, const Value& predicate, SourceLocation where) {
  If open{builder.fresh_label("else"), builder.fresh_label("endif")};
  if (auto e = branch_unless(builder, "if_", predicate, open.else_label, where); !e) return Unexpected{std::move(e).error()};
  return open;
}

Expected<void> end_if(Builder& builder, const If& open, SourceLocation where) {
  if (auto e = branch(builder, open.endif_label, {}, where); !e) return e;
  if (auto e = builder.label(open.else_label, where); !e) return e;
  if (auto e = builder.label(open.endif_label, where); !e) return e;
  builder.end_if_with(open.endif_label);
  return {};
}

Expected<If> begin_else(Builder& builder, SourceLocation where) {
  auto label = builder.reopen_if();
  if (!label)
    return refuse(Kind::bad_control_flow, "`else_` does not follow the block of an `if_`", where,
                  "nothing may stand between the end of the `if_` block and `else_`");
  return If{{}, std::move(*label)};
}

Expected<If> begin_elif(Builder& builder, SourceLocation where) {
  auto label = builder.reopen_if(true);
  if (!label)
    return refuse(Kind::bad_control_flow, "`elif_` does not follow the block of an `if_`", where,
                  "nothing may stand between the end of the `if_` block and `elif_` but its own condition, which writes fresh "
                  "registers alone; a function can write more: `elif_(lambda: …)`");
  return If{builder.fresh_label("else"), std::move(*label)};
}

Expected<void> test_elif(Builder& builder, If& open, const Value& predicate, SourceLocation where) {
  return branch_unless(builder, "elif_", predicate, open.else_label, where);
}

Expected<While> begin_while(Builder& builder, SourceLocation where) {
  While open{builder.fresh_label("while"), builder.fresh_label("endwhile")};
  if (auto e = builder.label(open.head_label, where); !e) return Unexpected{std::move(e).error()};
  return open;
}

Expected<void> test_while(Builder& builder, const While& open, const Value& predicate, SourceLocation where) {
  return branch_unless(builder, "while_", predicate, open.end_label, where);
}

Expected<void> end_while(Builder& builder, const While& open, SourceLocation where) {
  if (auto e = branch(builder, open.head_label, {}, where); !e) return e;
  return builder.label(open.end_label, where);
}

Expected<void> end_else(Builder& builder, const If& open, SourceLocation where) { return builder.label(open.endif_label, where); }

Expected<void> begin_loop(Builder& builder, std::string_view label, SourceLocation where) { return builder.label(label, where); }

Expected<void> end_loop(Builder& builder, std::string_view label, const Guard& guard, SourceLocation where) {
  if (guard.predicate) return branch(builder, label, guard, where);
  return emit(builder, "bra.uni", {}, where, Value::of_label(label));
}

namespace {

// The number that ends a loop over numbers: the first one that is not below (above) `stop`.
std::optional<std::int64_t> counts_to(const Value& start, const Value& stop, const Value& step) {
  for (const Value* number : {&start, &stop, &step})
    if (number->kind != Value::Kind::integer) return std::nullopt;
  const std::int64_t by = step.integer, way = stop.integer - start.integer;
  const std::int64_t passes = (way < 0) != (by < 0) ? 0 : (way + by + (by < 0 ? 1 : -1)) / by;
  return start.integer + passes * by;
}

}  // namespace

Expected<Range> begin_range(Builder& builder, const Value& start, const Value& stop, const Value& step, SourceLocation where) {
  const bool downwards = step.kind == Value::Kind::integer && step.integer < 0;
  if (step.kind == Value::Kind::integer && step.integer == 0)
    return refuse(Kind::bad_control_flow, "`range_` with a step of 0 never ends", where, "give a step above or below 0");
  for (const Value* number : {&start, &stop, &step})
    if (number->kind == Value::Kind::integer && !std::in_range<std::int32_t>(number->integer))
      return refuse(Kind::immediate_range, cat("`range_` counts in a .s32 register, and ", number->integer, " is none"), where,
                    "what fits is -2147483648 to 2147483647; `while_` counts in a register of your own");
  if (const auto after = counts_to(start, stop, step); after && !std::in_range<std::int32_t>(*after))
    return refuse(Kind::immediate_range,
                  cat("`range_` counts in a .s32 register, and behind its last number comes ", *after, ", which is none"), where,
                  "a `stop` that lies a step from the end, or `while_` with a register of your own");
  const Expected<Value> last = readable(builder, stop, where);
  if (!last) return Unexpected{last.error()};
  const Expected<Value> by = readable(builder, step, where);
  if (!by) return Unexpected{by.error()};
  Range open{builder.loop_counter(), *by, builder.fresh_label("range"), builder.fresh_label("endrange")};
  if (auto e = emit(builder, "mov.s32", {}, where, Value::of(open.counter), start); !e) return Unexpected{std::move(e).error()};
  if (auto e = builder.label(open.head_label, where); !e) return Unexpected{std::move(e).error()};
  const Expected<Reg> done = builder.reg(Type::pred);
  if (!done) return Unexpected{done.error()};
  if (auto e =
          emit(builder, downwards ? "setp.le.s32" : "setp.ge.s32", {}, where, Value::of(*done), Value::of(open.counter), *last);
      !e)
    return Unexpected{std::move(e).error()};
  if (auto e = branch(builder, open.end_label, {*done, false}, where); !e) return Unexpected{std::move(e).error()};
  return open;
}

Expected<void> end_range(Builder& builder, const Range& open, SourceLocation where) {
  if (auto e = emit(builder, "add.s32", {}, where, Value::of(open.counter), Value::of(open.counter), open.step); !e) return e;
  if (auto e = branch(builder, open.head_label, {}, where); !e) return e;
  return builder.label(open.end_label, where);
}

Expected<void> branch(Builder& builder, std::string_view label, const Guard& guard, SourceLocation where) {
  return emit(builder, "bra", guard, where, Value::of_label(label));
}

Expected<void> ret(Builder& builder, const Guard& guard, SourceLocation where) { return emit(builder, "ret", guard, where); }

RunningBody::RunningBody(Builder& builder, std::string_view construct, SourceLocation at)
    : builder_(builder), construct_(construct), at_(at), exceptions_(std::uncaught_exceptions()) {}
RunningBody::~RunningBody() {
  if (std::uncaught_exceptions() == exceptions_) return;
  Diagnostic error;
  error.kind = Kind::bad_control_flow;
  error.message = cat("an exception left the body of `", construct_, "`, which has no end now");
  error.where = at_;
  builder_.fail(std::move(error));
}

}  // namespace ptx::write
