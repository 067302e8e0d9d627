#include "ptx/write/door/matrix.hpp"

#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/words.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write {
namespace {

using idiom::Words;

std::vector<Value> values_of(const Registers& registers) {
  std::vector<Value> values;
  for (const Reg& reg : registers.regs) values.push_back(Value::of(reg));
  return values;
}

// Which matrices `ldmatrix` and `stmatrix` move: `m8n8.x4.trans`, in parts.
struct MatrixShape {
  /// "x4", "m8n8.x4", "x4.trans": number, and if they are there shape and `trans`.
  std::string_view layout = "x4";
  bool trans = false;
  std::string_view shape = {};  ///< where the layout names none: m8n8
};

// ---- ldmatrix, stmatrix ---------------------------------------------------------------------------------------------

// The layout's parts followed in the table behind "ldmatrix.sync.aligned"; `space` and the words behind it come last.
Expected<void> follow(Words& words, const MatrixShape& given, std::string_view space, std::string_view format) {
  std::string_view shape = given.shape, number;
  bool trans = given.trans;
  for (std::string_view rest = given.layout; !rest.empty();) {
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view part = rest.substr(0, dot);
    rest.remove_prefix(std::min(dot + 1, rest.size()));
    if (part == "trans")
      trans = true;
    else if (part.starts_with('x'))
      number = part;
    else
      shape = part;
  }
  if (shape.empty()) shape = "m8n8";
  if (auto e = words.follow(shape, "the shape"); !e) return e;
  if (auto e = words.follow(number.empty() ? given.layout : number, "the layout"); !e) return e;
  if (trans)
    if (auto e = words.follow("trans", "the layout"); !e) return e;
  if (auto e = words.follow(space, "the space"); !e) return e;
  if (!format.empty()) {
    if (auto e = words.follow("b8x16", "the type"); !e) return e;
    return words.follow(format, "the source format");
  }
  for (const std::string_view type : {"b16", "b8"})
    if (words.can_follow(type)) return words.follow(type, "the type");
  return words.follow("b16", "the type");
}

// How many registers the vector operand of these dots has, in all of its forms alike.
int vector_length(const isa::ModifierTree& dots, std::string_view operand) {
  for (const isa::ModifierTree::State& state : dots.complete()) {
    const isa::Form& form = isa::form(state.form);
    for (const isa::OperandSpec& spec : form.operands)
      if (spec.name == operand) return form.count(spec.count, state.choices);
  }
  return 0;
}

Expected<void> check_length(const isa::ModifierTree& dots, std::string_view operand, std::span<const Value> registers,
                            std::string_view helper, std::string_view called, SourceLocation where) {
  const int wanted = vector_length(dots, operand);
  if (wanted == 0 || static_cast<std::size_t>(wanted) == registers.size()) return {};
  return refuse(Kind::operand_mismatch,
                cat(called, " of `", helper, "` has ", registers.size(), registers.size() == 1 ? " register" : " registers",
                    "; what fits `", dots.path(), "` is ", wanted),
                where);
}

// ---- mma.sync -------------------------------------------------------------------------------------------------------

constexpr std::string_view warp_mma = "ptx.mma.sync";

std::string shape_word(const std::array<std::int64_t, 3>& shape) { return cat('m', shape[0], 'n', shape[1], 'k', shape[2]); }

struct MmaWord {
  std::string_view word, what;
};
std::array<MmaWord, 6> words_behind_shape(const MmaOperands& mma) {
  return {MmaWord{mma.a_layout, "`a_layout`"},          MmaWord{mma.b_layout, "`b_layout`"},
          MmaWord{isa::name(mma.dtype_d), "`dtype_d`"}, MmaWord{isa::name(mma.dtype_a), "`dtype_a`"},
          MmaWord{isa::name(mma.dtype_b), "`dtype_b`"}, MmaWord{isa::name(mma.dtype_c), "`dtype_c`"}};
}

// The shapes that the table has with these layouts and types.
std::vector<std::string> shapes_of(const MmaOperands& mma, const isa::ModifierTree& before_shape) {
  std::vector<std::string> shapes;
  for (const std::string& shape : before_shape.next_words()) {
    const isa::ModifierTree* node = before_shape.follow(shape);
    for (const MmaWord& next : words_behind_shape(mma))
      if (node != nullptr) node = node->follow(next.word);
    if (node != nullptr && !node->complete().empty()) shapes.push_back(shape);
  }
  return shapes;
}

Expected<void> follow(Words& words, const MmaOperands& mma, SourceLocation where) {
  for (const auto& [layout, what] : {MmaWord{mma.a_layout, "`a_layout`"}, MmaWord{mma.b_layout, "`b_layout`"}})
    if (layout != "row" && layout != "col")
      return refuse(Kind::operand_mismatch, cat(what, " of `", warp_mma, "` is `", layout, "`; what fits is `row` or `col`"),
                    where);
  const isa::ModifierTree& before_shape = words.dots();
  Expected<void> done = words.follow(shape_word(mma.shape), "the shape");
  for (const MmaWord& next : words_behind_shape(mma))
    if (done) done = words.follow(next.word, next.what);
  if (done) return done;
  Diagnostic d = std::move(done).error();
  if (const std::vector<std::string> shapes = shapes_of(mma, before_shape); !shapes.empty())
    d.hint(cat("with these layouts and types the shapes are ", list_choices(shapes, shapes.size())));
  else if (mma.a_layout != "row" || mma.b_layout != "col")
    d.hint("nearly all take `a` in rows and `b` in columns: `a_layout=\"row\", b_layout=\"col\"`");
  return Unexpected{std::move(d)};
}

// ---- the store of accumulators --------------------------------------------------------------------------------------

constexpr std::size_t group_size = 8, pack_size = 4;  // accumulators and packed registers of one stmatrix.x4

// The registers given, or as many fresh ones.
Expected<std::vector<Reg>> temporaries(Builder& builder, std::span<const Reg> given, Type type, std::size_t count,
                                       SourceLocation where) {
  if (!given.empty()) return std::vector<Reg>(given.begin(), given.end());
  const Expected<RegArray> made = builder.array(type, static_cast<std::uint32_t>(count), {}, where);
  if (!made) return Unexpected{made.error()};
  std::vector<Reg> regs;
  for (std::uint32_t i = 0; i < made->count; ++i) regs.push_back(builder.at(*made, i));
  return regs;
}

Expected<void> check(const Builder& builder, const AccumulatorStoreOperands& store, SourceLocation where) {
  constexpr std::string_view helper = "ptx.stmatrix_x4_trans_f32_bf16";
  if (store.frag.regs.empty() || store.frag.regs.size() % group_size != 0)
    return refuse(
        Kind::operand_mismatch,
        cat("the fragment of `", helper, "` has ", store.frag.regs.size(), " registers; what fits is a multiple of ", group_size),
        where);
  for (const Reg& reg : store.frag.regs)
    if (reg.type != Type::f32)
      return refuse(Kind::operand_mismatch,
                    cat("the fragment of `", helper, "` holds the .", isa::name(reg.type), " register `", builder.name(reg),
                        "`; what fits is .f32"),
                    where);
  const auto too_few = [&](std::string_view name, std::span<const Reg> given, std::size_t wanted) {
    return refuse(Kind::operand_mismatch,
                  cat("`", name, "` of `", helper, "` has ", given.size(), " registers; what fits is ", wanted), where);
  };
  if (!store.tmp_bf16.regs.empty() && store.tmp_bf16.regs.size() < group_size)
    return too_few("tmp_bf16", store.tmp_bf16.regs, group_size);
  if (!store.tmp_pack.regs.empty() && store.tmp_pack.regs.size() < pack_size)
    return too_few("tmp_pack", store.tmp_pack.regs, pack_size);
  if (store.row_stride <= 0 || store.row_stride % 8 != 0)
    return refuse(Kind::immediate_range,
                  cat("`row_stride` of `", helper, "` is ", store.row_stride, " elements; what fits is a multiple of 8"), where,
                  "stmatrix writes rows of 16 bytes, at addresses that 16 divides");
  return {};
}

// Registers, and the first error of what was computed with them.
class Arithmetic {
 public:
  Arithmetic(Builder& builder, SourceLocation where) : builder_(builder), where_(where) {}

  Value operator()(const Value& a, Operator op, const Value& b) {
    if (error_) return a;
    Expected<Reg> result = binary(builder_, op, a, b, where_);
    if (!result) return keep(std::move(result).error(), a);
    return Value::of(*result);
  }
  void add_to(const Value& a, const Value& b) {
    if (error_) return;
    if (Expected<Reg> result = in_place(builder_, Operator::add, a.reg, b, where_); !result) keep(std::move(result).error(), a);
  }
  [[nodiscard]] std::optional<Diagnostic>& error() { return error_; }

 private:
  Value keep(Diagnostic error, const Value& instead) {
    error_ = std::move(error);
    return instead;
  }
  Builder& builder_;
  SourceLocation where_;
  std::optional<Diagnostic> error_;
};

// The address of the lane's row.
Expected<Reg> row_address(Builder& builder, const Place& smem_base, const AccumulatorStoreOperands& store, SourceLocation where) {
  const auto number = [](std::int64_t n) { return Value::of_integer(n); };
  Value lane = store.lane.value;
  if (lane.kind == Value::Kind::special) {
    const Expected<Reg> copy = move_to_fresh(builder, Type::u32, lane, where);
    if (!copy) return copy;
    lane = Value::of(*copy);
  }
  Arithmetic compute(builder, where);
  const Value lane32 = compute(lane, Operator::and_, number(31));
  const Value warp = compute(lane, Operator::shr, number(5));
  const Value offset = compute(warp, Operator::mul, number(16));
  compute.add_to(offset, compute(compute(lane32, Operator::and_, number(7)), Operator::mul, number(store.row_stride)));
  const Value upper = compute(compute(lane32, Operator::shr, number(4)), Operator::mul, number(8));
  compute.add_to(offset, compute(upper, Operator::mul, number(store.row_stride)));
  compute.add_to(offset, compute(lane32, Operator::and_, number(8)));
  const Value bytes = compute(offset, Operator::mul, number(2));
  if (compute.error()) return Unexpected{*std::move(compute.error())};
  const Expected<Reg> base = address_register(builder, smem_base, where);
  if (!base) return base;
  return binary(builder, Operator::add, Value::of(*base), bytes, where);
}

Expected<void> load_matrix(Builder& builder, std::span<const Value> dst, const Place& src, const MatrixShape& shape,
                           std::string_view source_format, const Guard& guard, SourceLocation where) {
  Words words("ldmatrix.sync.aligned", "ptx.ldmatrix", where);
  if (auto e = follow(words, shape, "shared", source_format); !e) return e;
  if (auto e = check_length(words.dots(), "r", dst, "ptx.ldmatrix", "the destination", where); !e) return e;
  const std::array operands = {Value::vector_of(dst), src.address()};
  return builder.emit(words.dots(), operands, guard, where);
}

Expected<void> store_matrix(Builder& builder, const Place& dst, std::span<const Value> regs, const MatrixShape& shape,
                            const Guard& guard, SourceLocation where) {
  Words words("stmatrix.sync.aligned", "ptx.stmatrix", where);
  if (auto e = follow(words, shape, "shared::cta", {}); !e) return e;
  if (auto e = check_length(words.dots(), "r", regs, "ptx.stmatrix", "`regs`", where); !e) return e;
  const std::array operands = {dst.address(), Value::vector_of(regs)};
  return builder.emit(words.dots(), operands, guard, where);
}

Expected<void> store_accumulators(Builder& builder, const Place& base, const AccumulatorStoreOperands& store, const Guard& guard,
                                  SourceLocation where) {
  if (auto e = check(builder, store, where); !e) return e;
  const Expected<Reg> address = row_address(builder, base, store, where);
  if (!address) return Unexpected{address.error()};
  const Expected<std::vector<Reg>> halves = temporaries(builder, store.tmp_bf16.regs, Type::b16, group_size, where);
  if (!halves) return Unexpected{halves.error()};
  const Expected<std::vector<Reg>> packs = temporaries(builder, store.tmp_pack.regs, Type::b32, pack_size, where);
  if (!packs) return Unexpected{packs.error()};
  std::array<Value, pack_size> packed;
  for (std::size_t i = 0; i < pack_size; ++i) packed[i] = Value::of((*packs)[i]);
  for (std::size_t group = 0; group < store.frag.regs.size() / group_size; ++group) {
    for (std::size_t i = 0; i < group_size; ++i)
      if (auto e = emit(builder, "cvt.rn.bf16.f32", guard, where, Value::of((*halves)[i]),
                        Value::of(store.frag.regs[group * group_size + i]));
          !e)
        return e;
    for (std::size_t i = 0; i < pack_size; ++i) {
      const std::array pair = {Value::of((*halves)[2 * i]), Value::of((*halves)[2 * i + 1])};
      if (auto e = emit(builder, "mov.b32", guard, where, packed[i], Value::vector_of(pair)); !e) return e;
    }
    const Place place(Value::of(*address), static_cast<std::int64_t>(group) * store.row_stride * 32);
    if (auto e = store_matrix(builder, place, packed, {.layout = "x4", .trans = true}, guard, where); !e) return e;
  }
  return {};
}

Expected<void> warp_product(Builder& builder, const MmaOperands& mma, SourceLocation where) {
  Words words("mma.sync.aligned", warp_mma, where);
  if (auto e = follow(words, mma, where); !e) return e;
  const std::array fragments = {values_of(mma.d), values_of(mma.a), values_of(mma.b), values_of(mma.c)};
  constexpr std::array<std::string_view, 4> names = {"d", "a", "b", "c"};
  std::array<Value, 4> operands;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    if (auto e = check_length(words.dots(), names[i], fragments[i], warp_mma, cat("the fragment `", names[i], '`'), where); !e)
      return e;
    operands[i] = Value::vector_of(fragments[i]);
  }
  return builder.emit(words.dots(), operands, mma.pred.guard, where);
}

}  // namespace

void Ldmatrix::operator()(const LdmatrixOperands& operands, SourceLocation at) const {
  keep(then(operands.src.in(builder()), [&](const Place& src) {
    return load_matrix(builder(), values_of(operands.dst), src, {.layout = operands.layout, .trans = operands.trans},
                       operands.source_format, operands.pred.guard, at);
  }));
}

void Stmatrix::operator()(const StmatrixOperands& operands, SourceLocation at) const {
  keep(then(operands.smem.in(builder()), [&](const Place& smem) {
    return store_matrix(builder(), smem, values_of(operands.regs),
                        {.layout = operands.layout, .trans = operands.trans, .shape = operands.shape}, operands.pred.guard, at);
  }));
}

void StmatrixX4TransF32Bf16::operator()(const AccumulatorStoreOperands& operands, SourceLocation at) const {
  keep(then(operands.smem_base.in(builder()),
            [&](const Place& base) { return store_accumulators(builder(), base, operands, operands.pred.guard, at); }));
}

std::string MmaOperands::instruction() const {
  return cat("mma.sync.aligned.m", shape[0], 'n', shape[1], 'k', shape[2], '.', a_layout, '.', b_layout, '.', isa::name(dtype_d),
             '.', isa::name(dtype_a), '.', isa::name(dtype_b), '.', isa::name(dtype_c));
}

void Mma::sync(const MmaOperands& operands, SourceLocation at) const { keep(warp_product(builder(), operands, at)); }

}  // namespace ptx::write
