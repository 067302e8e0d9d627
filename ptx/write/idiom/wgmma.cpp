#include "ptx/write/idiom/wgmma.hpp"

#include <algorithm>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "ptx/write/idiom/words.hpp"

namespace ptx::write::idiom {
namespace {

constexpr std::string_view mma_async_helper = "ptx.wgmma.mma_async";

// The shapes that the table has for these types.
std::vector<std::string> shapes_of(const isa::ModifierTree& before_shape, const MmaAsync& mma) {
  std::vector<std::string> shapes = before_shape.next_words();
  std::erase_if(shapes, [&](const std::string& shape) {
    const isa::ModifierTree* node = before_shape.follow(shape);
    for (const Type type : {mma.d_type, mma.a_type, mma.b_type})
      if (node != nullptr) node = node->follow(isa::name(type));
    return node == nullptr;
  });
  return shapes;
}

// The author's modifiers, followed in the table. A shape that is not one of these types' is said to be wrong, and not the types.
Expected<void> follow(Words& words, const MmaAsync& mma, SourceLocation where) {
  const auto& [m, n, k] = mma.shape;
  const std::string shape = cat('m', m, 'n', n, 'k', k);
  const std::vector<std::string> shapes = shapes_of(words.dots(), mma);
  if (!shapes.empty() && std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
    return refuse(Kind::operand_mismatch,
                  cat("the shape of `", mma_async_helper, "` is `", shape, "`; what fits .", isa::name(mma.a_type), " and .",
                      isa::name(mma.b_type), " is ", list_choices(shapes)),
                  where);
  if (auto e = words.follow(shape, "the shape"); !e) return e;
  if (auto e = words.follow(isa::name(mma.d_type), "`dtype_d`"); !e) return e;
  if (auto e = words.follow(isa::name(mma.a_type), "`dtype_a`"); !e) return e;
  if (auto e = words.follow(isa::name(mma.b_type), "`dtype_b`"); !e) return e;
  if (mma.a_type == Type::b1) {
    if (auto e = words.follow("and", "the operation"); !e) return e;
    if (auto e = words.follow("popc", "the operation"); !e) return e;
  }
  if (!mma.satfinite) return {};
  if (words.can_follow("satfinite")) return words.follow("satfinite", "`satfinite`");
  return refuse(Kind::operand_mismatch,
                cat("`satfinite` of `", mma_async_helper, "` is given, but `", words.dots().path(), "` does not saturate"), where,
                "products of 8-bit integers do");
}

const isa::OperandSpec* operand_named(const isa::Form& form, std::string_view name) {
  const auto it = std::find_if(form.operands.begin(), form.operands.end(), [&](const auto& o) { return o.name == name; });
  return it == form.operands.end() ? nullptr : &*it;
}

// The one of the forms that these dots spell whose a lies where the author's does.
struct Found {
  const isa::Form* form = nullptr;
  isa::Choices choices{};
};
Expected<Found> form_for(const isa::ModifierTree& dots, const MmaAsync& mma, SourceLocation where) {
  const bool registers = mma.a.kind == WgmmaFactor::Kind::registers;
  for (const isa::ModifierTree::State& state : dots.complete()) {
    const isa::Form& form = isa::form(state.form);
    const isa::OperandSpec* a = operand_named(form, "a");
    if (a != nullptr && (form.count(a->count, state.choices) > 1) == registers) return Found{&form, state.choices};
  }
  return refuse(Kind::operand_mismatch, cat("`", dots.path(), "` is not a complete instruction"), where);
}

// A number that is one of two, and only where the form has the operand.
Expected<void> check_option(const Found& found, std::string_view name, std::int64_t value, std::int64_t usual, std::int64_t other,
                            SourceLocation where) {
  if (value != usual && value != other)
    return refuse(Kind::immediate_range,
                  cat("`", name, "` of `", mma_async_helper, "` is ", value, "; what fits is ", usual, " or ", other), where);
  if (value == usual || operand_named(*found.form, name) != nullptr) return {};
  return refuse(Kind::operand_mismatch,
                cat("`", name, "` of `", mma_async_helper, "` is ", value, ", but `", isa::spell(*found.form, found.choices),
                    "` has no such operand",
                    name == "trans_a" && operand_named(*found.form, "trans_b") != nullptr ? " for an a in registers" : ""),
                where,
                name.starts_with("trans") ? "only f16 and bf16 factors in shared memory may be MN-major"
                                          : "integer products have no signs to choose");
}

Expected<void> check_registers(const Found& found, std::string_view name, std::span<const Reg> registers, SourceLocation where) {
  const int wanted = found.form->count(operand_named(*found.form, name)->count, found.choices);
  if (static_cast<std::size_t>(wanted) == registers.size()) return {};
  return refuse(
      Kind::operand_mismatch,
      cat("`", name, "` of `", mma_async_helper, "` has ", registers.size(), registers.size() == 1 ? " register" : " registers",
          "; `", isa::spell(*found.form, found.choices), "` takes ", wanted),
      where,
      name == "d" ? "a thread holds M*N/128 registers of f32 or s32, M*N/256 of f16 in pairs"
                  : "a thread holds 4 registers of a");
}

Expected<void> check_factor(const Found& found, std::string_view name, const WgmmaFactor& factor, SourceLocation where) {
  if (factor.kind == WgmmaFactor::Kind::registers) {
    if (name == "a") return check_registers(found, name, factor.registers, where);
    return refuse(Kind::operand_mismatch, cat("`b` of `", mma_async_helper, "` is registers; b lies in shared memory"), where);
  }
  const Value& offset = factor.k_offset;
  if (factor.kind == WgmmaFactor::Kind::tile) return {};
  if (offset.kind == Value::Kind::integer && offset.integer == 0) return {};
  return refuse(Kind::operand_mismatch,
                cat("`", name, "_k_offset` of `", mma_async_helper, "` is given with a descriptor that is built already"), where,
                "it belongs to a tile of shared memory; build the descriptor from the moved address");
}

Expected<Value> factor_value(Builder& builder, const WgmmaFactor& factor, std::vector<Value>& parts, SourceLocation where) {
  switch (factor.kind) {
    case WgmmaFactor::Kind::descriptor:
      return Value::of(factor.descriptor);
    case WgmmaFactor::Kind::registers:
      for (const Reg reg : factor.registers) parts.push_back(Value::of(reg));
      return Value::vector_of(parts);
    case WgmmaFactor::Kind::tile:
      break;
  }
  auto bits = layout::descriptor_bits(layout::descriptor_of(factor.layout));
  if (!bits) {
    Diagnostic d = std::move(bits).error();
    d.where = where;
    return Unexpected{std::move(d)};
  }
  const Expected<Reg> made = make_descriptor(builder, factor.tile, factor.k_offset, *bits, where);
  if (!made) return Unexpected{made.error()};
  return Value::of(*made);
}

}  // namespace

Expected<std::int64_t> wgmma_fragment_registers(std::int64_t rows, std::int64_t columns, SourceLocation where) {
  constexpr std::int64_t threads = 128;  // of a warpgroup, which holds the fragment together
  std::int64_t elements = 0;
  if (rows >= 1 && columns >= 1 && !__builtin_mul_overflow(rows, columns, &elements) && elements % threads == 0)
    return elements / threads;
  return Unexpected{
      {.kind = Kind::bad_declaration,
       .message = cat("a fragment of ", rows, " x ", columns, " does not divide among the ", threads, " threads of a warpgroup"),
       .where = where}};
}

Expected<void> wgmma_fence(Builder& builder, const Guard& guard, SourceLocation where) {
  return emit(builder, "wgmma.fence.sync.aligned", guard, where);
}
Expected<void> wgmma_commit_group(Builder& builder, const Guard& guard, SourceLocation where) {
  return emit(builder, "wgmma.commit_group.sync.aligned", guard, where);
}
Expected<void> wgmma_wait_group(Builder& builder, const Value& pending, const Guard& guard, SourceLocation where) {
  return emit(builder, "wgmma.wait_group.sync.aligned", guard, where, pending);
}

Expected<void> wgmma_mma_async(Builder& builder, const MmaAsync& mma, const Guard& guard, SourceLocation where) {
  const bool sparse = mma.sparse_metadata.has_value();
  Words words(sparse ? "wgmma.mma_async.sp.sync.aligned" : "wgmma.mma_async.sync.aligned", mma_async_helper, where);
  if (auto e = follow(words, mma, where); !e) return e;
  const Expected<Found> found = form_for(words.dots(), mma, where);
  if (!found) return Unexpected{found.error()};
  if (auto e = check_registers(*found, "d", mma.d, where); !e) return e;
  if (auto e = check_factor(*found, "a", mma.a, where); !e) return e;
  if (auto e = check_factor(*found, "b", mma.b, where); !e) return e;
  const struct {
    std::string_view name;
    std::int64_t value, usual, other;
  } options[] = {{"scale_a", mma.scale_a, 1, -1},
                 {"scale_b", mma.scale_b, 1, -1},
                 {"trans_a", mma.trans_a, 0, 1},
                 {"trans_b", mma.trans_b, 0, 1}};
  for (const auto& [name, value, usual, other] : options)
    if (auto e = check_option(*found, name, value, usual, other, where); !e) return e;

  std::vector<Value> d, a_parts, b_parts;
  for (const Reg reg : mma.d) d.push_back(Value::of(reg));
  const Expected<Value> a = factor_value(builder, mma.a, a_parts, where);
  if (!a) return Unexpected{a.error()};
  const Expected<Value> b = factor_value(builder, mma.b, b_parts, where);
  if (!b) return Unexpected{b.error()};
  const Expected<Value> scale_d = enable_predicate(builder, mma.scale_d, "scale_d", where);
  if (!scale_d) return Unexpected{scale_d.error()};

  std::vector<Value> operands = {Value::vector_of(d), *a, *b};
  if (sparse) {
    operands.push_back(*mma.sparse_metadata);
    operands.push_back(Value::of_integer(mma.sparsity_selector));
  }
  operands.push_back(*scale_d);
  for (const auto& option : options)
    if (operand_named(*found->form, option.name) != nullptr) operands.push_back(Value::of_integer(option.value));
  return builder.emit(words.dots(), operands, guard, where);
}

}  // namespace ptx::write::idiom
