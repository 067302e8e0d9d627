#include "ptx/write/idiom/kloop.hpp"

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

// What is left over, from the pass `done` on: passes one in the other, each under its own test.
Expected<void> ladder(Builder& builder, const Value& left_over, std::int64_t done, std::int64_t most, Pass pass,
                      SourceLocation where) {
  if (done == most) return {};
  const Expected<Reg> more = compare(builder, Comparison::gt, left_over, Value::of_integer(done), where);
  if (!more) return Unexpected{more.error()};
  const Expected<If> open = begin_if(builder, Value::of(*more), where);
  if (!open) return Unexpected{open.error()};
  pass();
  if (auto e = ladder(builder, left_over, done + 1, most, pass, where); !e) return e;
  return end_if(builder, *open, where);
}

Expected<void> begin_label(Builder& builder, std::string& label, SourceLocation where) {
  if (!label.empty()) return builder.label(label, where);
  label = "kloop";
  if (builder.label(label, where)) return {};
  label = builder.fresh_label("kloop");  // this one is the second
  return builder.label(label, where);
}

Expected<void> unrolled(Builder& builder, const Value& total, std::int64_t unroll, Pass pass, std::string label,
                        SourceLocation where) {
  const Value step = Value::of_integer(unroll);
  const Expected<Reg> left_over = binary(builder, Operator::and_, total, Value::of_integer(unroll - 1), where);
  if (!left_over) return Unexpected{left_over.error()};
  const Expected<Reg> main = binary(builder, Operator::sub, total, Value::of(*left_over), where);
  if (!main) return Unexpected{main.error()};
  const Expected<Reg> enough = compare(builder, Comparison::ge, total, step, where);
  if (!enough) return Unexpected{enough.error()};
  const Expected<If> open = begin_if(builder, Value::of(*enough), where);
  if (!open) return Unexpected{open.error()};
  const Expected<Reg> counter = move_to_fresh(builder, main->type, Value::of(*main), where);
  if (!counter) return Unexpected{counter.error()};
  if (auto e = begin_label(builder, label, where); !e) return e;
  for (std::int64_t i = 0; i < unroll; ++i) pass();
  if (auto e = in_place(builder, Operator::sub, *counter, step, where); !e) return Unexpected{std::move(e).error()};
  const Expected<Reg> again = compare(builder, Comparison::ne, Value::of(*counter), Value::of_integer(0), where);
  if (!again) return Unexpected{again.error()};
  if (auto e = end_loop(builder, label, {*again, false}, where); !e) return e;
  if (auto e = end_if(builder, *open, where); !e) return e;
  return ladder(builder, Value::of(*left_over), 0, unroll - 1, pass, where);
}

}  // namespace

Expected<void> kloop(Builder& builder, const Value& total, std::int64_t unroll, Pass pass, std::string_view label,
                     SourceLocation where) {
  constexpr std::int64_t most = 1024;  // passes written out: more are a mistake, not a wish
  if (unroll < 1 || unroll > most || (unroll & (unroll - 1)) != 0)
    return refuse(Kind::immediate_range, cat("`kloop` is unrolled ", unroll, " times; what fits is a power of two up to ", most),
                  where);
  if (total.kind == Value::Kind::integer) {
    if (total.integer < 0) return refuse(Kind::immediate_range, cat("`kloop` has ", total.integer, " passes"), where);
    for (std::int64_t i = 0; i < total.integer; ++i) pass();
    return {};
  }
  if (total.kind == Value::Kind::reg) return unrolled(builder, total, unroll, pass, std::string(label), where);
  if (total.kind != Value::Kind::special)
    return refuse(Kind::argument_kind, "the number of passes of `kloop` is neither an integer nor an integer register", where);
  const Expected<Reg> copy = move_to_fresh(builder, isa::specials()[total.special].type, total, where);
  if (!copy) return Unexpected{copy.error()};
  return unrolled(builder, Value::of(*copy), unroll, pass, std::string(label), where);
}

}  // namespace ptx::write::idiom
