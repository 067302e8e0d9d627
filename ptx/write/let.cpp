#include "ptx/write/let.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/operators.hpp"

namespace ptx::write {
namespace {

// The destinations as operands. Their elements live in `parts`.
void add_operands(const std::vector<LetResult>& fresh, std::deque<std::vector<Value>>& parts, std::vector<Value>& operands) {
  for (const LetResult& one : fresh) {
    std::vector<Value> elements;
    for (const Reg reg : one.regs) elements.push_back(Value::of(reg));
    Value operand = elements.front();
    if (one.shape.is_vector) operand = Value::vector_of(parts.emplace_back(std::move(elements)));
    operand.piped = one.shape.piped;
    operands.push_back(operand);
  }
}

void release(Builder& builder, const std::vector<LetResult>& fresh) {
  for (auto one = fresh.rbegin(); one != fresh.rend(); ++one)
    for (auto reg = one->regs.rbegin(); reg != one->regs.rend(); ++reg) builder.release(*reg);
}

Expected<std::vector<LetResult>> make(Builder& builder, std::vector<Destination> shapes, std::optional<Type> dtype,
                                      SourceLocation where) {
  std::vector<LetResult> fresh;
  if (dtype) shapes.front().type = *dtype;
  for (const Destination& shape : shapes) {
    LetResult& one = fresh.emplace_back(LetResult{shape, {}});
    for (int i = 0; i < shape.count; ++i) {
      const Expected<Reg> reg = builder.reg(shape.type, {}, where);
      if (!reg) {
        release(builder, fresh);
        return Unexpected{reg.error()};
      }
      one.regs.push_back(*reg);
    }
  }
  return fresh;
}

// `other` in every register of the destination.
Expected<void> preset(Builder& builder, const std::vector<LetResult>& fresh, const LetOptions& options, SourceLocation where) {
  if (!options.other) return {};
  if (!options.guard.predicate)
    return refuse(Kind::bad_guard, "`other` is given without `pred`: it is for threads that do not execute the instruction",
                  where, "give the predicate too, or leave `other` out");
  for (const LetResult& one : fresh)
    for (const Reg reg : one.regs)
      if (auto moved = move_into(builder, reg, *options.other, where); !moved) return Unexpected{moved.error()};
  return {};
}

Expected<std::vector<LetResult>> attempt(Builder& builder, const isa::ModifierTree& dots, const std::vector<Destination>& shapes,
                                         std::span<const Value> sources, const LetOptions& options, SourceLocation where) {
  Expected<std::vector<LetResult>> fresh = make(builder, shapes, options.dtype, where);
  if (!fresh) return fresh;
  std::deque<std::vector<Value>> parts;
  std::vector<Value> operands;
  add_operands(*fresh, parts, operands);
  operands.insert(operands.end(), sources.begin(), sources.end());
  // whole or absent: what is moved in front is written only when the instruction can be
  if (options.other) {
    if (auto fits = builder.can_emit(dots, operands, options.guard, where); !fits) {
      release(builder, *fresh);
      return Unexpected{fits.error()};
    }
    if (auto done = preset(builder, *fresh, options, where); !done) {
      release(builder, *fresh);
      return Unexpected{done.error()};
    }
  }
  if (auto written = builder.emit(dots, operands, options.guard, where); !written) {
    release(builder, *fresh);
    return Unexpected{std::move(written).error()};
  }
  return fresh;
}

}  // namespace

std::vector<Destination> destinations_of(const isa::Form& form, const isa::Choices& choices) {
  std::vector<Destination> found;
  for (const isa::OperandSpec& operand : form.operands) {
    if (!isa::is_result(operand)) break;
    Destination shape;
    shape.type = form.type(operand.type, choices);
    shape.count = form.count(operand.count, choices);
    shape.is_vector = !operand.count.empty() && (shape.count > 1 || form.slot(operand.count) < 0);
    shape.piped = operand.piped;
    if (shape.type == Type::none || shape.count < 1) break;
    found.push_back(shape);
  }
  return found;
}

Expected<std::vector<LetResult>> let(Builder& builder, const isa::ModifierTree& dots, std::span<const Value> sources,
                                     const LetOptions& options, SourceLocation where) {
  const auto at_where = [&where](Diagnostic d) {
    d.where = where;
    return Unexpected{std::move(d)};
  };
  if (dots.complete().empty()) return at_where(dots.explain_incomplete());
  std::vector<std::vector<Destination>> tried;
  std::optional<Diagnostic> first;
  for (const isa::ModifierTree::State& state : dots.complete()) {
    std::vector<Destination> shapes = destinations_of(isa::form(state.form), state.choices);
    if (shapes.empty() || std::find(tried.begin(), tried.end(), shapes) != tried.end()) continue;
    Expected<std::vector<LetResult>> made = attempt(builder, dots, shapes, sources, options, where);
    if (made) return made;
    tried.push_back(std::move(shapes));
    if (!first) first = made.error();
  }
  if (first && first->kind == Kind::operand_count)
    first->hint("the destination is counted too, which `let` adds to the operands given");
  if (first) return at_where(std::move(*first));
  return refuse(Kind::operand_mismatch, cat("`", dots.path(), "` has no result that a fresh register could take"), where,
                "`ptx.inst` writes it, without a result");
}

}  // namespace ptx::write
