#include "ptx/write/idiom/block.hpp"

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write::idiom {
namespace {

constexpr std::int64_t lanes = 32;

Value special(std::string_view name) { return Value::of_special(*isa::special_from_name(name)); }

// `mad.lo.u32 r, a, b, c`, special registers copied first.
Expected<Reg> multiply_add(Builder& builder, const Value& a, const Value& b, const Value& c, SourceLocation where) {
  std::array<Value, 3> values = {a, b, c};
  for (Value& value : values) {
    const Expected<Value> read = readable(builder, value, where);
    if (!read) return Unexpected{read.error()};
    value = *read;
  }
  return emit_fresh(builder, Type::u32, "mad.lo.u32", {}, where, values[0], values[1], values[2]);
}

// The thread's number in its block, x fastest.
Expected<Reg> thread_number(Builder& builder, SourceLocation where) {
  const Expected<Reg> rows = multiply_add(builder, special("%tid.z"), special("%ntid.y"), special("%tid.y"), where);
  if (!rows) return rows;
  return multiply_add(builder, Value::of(*rows), special("%ntid.x"), special("%tid.x"), where);
}

// The address of word `index` of the shared array.
Expected<Reg> word(Builder& builder, Reg base, Reg index, SourceLocation where) {
  return emit_fresh(builder, Type::u32, "mad.lo.u32", {}, where, Value::of(index), Value::of_integer(4), Value::of(base));
}

// What the first error of a chain of steps is.
class Steps {
 public:
  Steps(Builder& builder, SourceLocation where) : builder_(builder), where_(where) {}
  Reg keep(const Expected<Reg>& made) {
    if (made) return *made;
    if (!error_) error_ = made.error();
    return {};
  }
  template <class... V>
  Reg fresh(Type type, std::string_view dots, const V&... operands) {
    return error_ ? Reg{} : keep(emit_fresh(builder_, type, dots, {}, where_, operands...));
  }
  template <class... V>
  void put(std::string_view dots, const Guard& guard, const V&... operands) {
    if (!error_) keep(write::emit(builder_, dots, guard, where_, operands...));
  }
  void keep(Expected<void> done) {
    if (!done && !error_) error_ = std::move(done).error();
  }
  [[nodiscard]] Expected<void> end() const { return error_ ? Expected<void>(Unexpected{*error_}) : Expected<void>(); }
  [[nodiscard]] bool failed() const { return error_.has_value(); }

 private:
  Builder& builder_;
  SourceLocation where_;
  std::optional<Diagnostic> error_;
};

}  // namespace

Expected<void> block_reduce(Builder& builder, Reduction op, Reg value, std::int64_t threads, SourceLocation where) {
  if (threads < lanes || threads > 1024 || threads % lanes != 0)
    return refuse(Kind::operand_mismatch,
                  cat("a block reduction over ", threads, " threads; what fits is a multiple of 32 up to 1024"), where,
                  "it is the size of the kernel's block");
  if (const std::uint64_t block = builder.block_threads(); block != 0 && block != static_cast<std::uint64_t>(threads))
    return refuse(Kind::operand_mismatch,
                  cat("a block reduction over ", threads, " threads, in a kernel whose block has ", block), where,
                  block % lanes == 0 && block <= 1024
                      ? cat("all threads of the block take part: give ", block, ", or reduce within each warp (`warp.reduce_…`)")
                      : "all threads of the block take part: launch it with a multiple of 32, up to 1024");
  if (auto within = warp_reduce(builder, op, value, static_cast<int>(lanes), where); !within || threads == lanes) return within;
  const auto warps = static_cast<std::uint64_t>(threads / lanes);
  const Expected<SharedRegion> region = builder.allocate_shared({.type = Type::b32, .elements = warps, .align = 4}, where);
  if (!region) return Unexpected{region.error()};
  Steps steps(builder, where);
  const Reg symbol = steps.keep(move_to_fresh(builder, Type::u32, Value::of_symbol(region->symbol), where));
  if (steps.failed()) return steps.end();
  const Reg base = region->byte_offset == 0
                       ? symbol
                       : steps.fresh(Type::u32, "add.u32", Value::of(symbol), Value::of_integer(region->byte_offset));
  const Reg thread = steps.keep(thread_number(builder, where));
  const Reg lane = steps.fresh(Type::u32, "and.b32", Value::of(thread), Value::of_integer(lanes - 1));
  const Reg warp = steps.fresh(Type::u32, "shr.u32", Value::of(thread), Value::of_integer(5));
  const Reg first = steps.fresh(Type::pred, "setp.eq.u32", Value::of(lane), Value::of_integer(0));
  const Reg reads = steps.fresh(Type::pred, "setp.lt.u32", Value::of(lane), Value::of_integer(static_cast<std::int64_t>(warps)));
  if (steps.failed()) return steps.end();
  const Reg mine = steps.keep(word(builder, base, warp, where)), theirs = steps.keep(word(builder, base, lane, where));
  const Value to = Value::of(mine), from = Value::of(theirs), bits = Value::of(value);
  steps.put("st.shared.b32", {first, false}, Value::address_of({&to, 1}), bits);
  steps.put("bar.sync", {}, Value::of_integer(0));
  // a lane without a warp's result has what changes nothing: 0, or its own warp's result once more
  if (op == Reduction::sum && !steps.failed()) steps.keep(move_into(builder, value, Value::of_integer(0), where));
  steps.put("ld.shared.b32", {reads, false}, bits, Value::address_of({&from, 1}));
  if (steps.failed()) return steps.end();
  steps.keep(warp_reduce(builder, op, value, static_cast<int>(lanes), where));
  steps.put("bar.sync", {}, Value::of_integer(0));  // before the array is written again, in a loop
  return steps.end();
}

Expected<Reg> global_index(Builder& builder, char axis, const std::optional<Value>& limit, SourceLocation where) {
  if (axis != 'x' && axis != 'y' && axis != 'z')
    return refuse(Kind::argument_kind, cat("the axis of a global index is `", axis, "`; what fits is x, y or z"), where);
  const auto of = [axis](std::string_view name) { return special(cat('%', name, '.', axis)); };
  const Expected<Reg> index = multiply_add(builder, of("ctaid"), of("ntid"), of("tid"), where);
  if (!index || !limit) return index;
  const Expected<Reg> beyond = compare(builder, Comparison::ge, Value::of(*index), *limit, where);
  if (!beyond) return beyond;
  // in a function `ret` would go back to the caller
  const std::string_view leave = builder.function().is_entry ? "ret" : "exit";
  if (auto left = emit(builder, leave, {*beyond, false}, where); !left) return Unexpected{left.error()};
  return index;
}

}  // namespace ptx::write::idiom
