// Kernels authored at random: any dots with any operands, as far as the builder takes them.
#pragma once

#include <cstdlib>
#include <deque>
#include <span>
#include <vector>

#include "ptx/ir/ir.hpp"
#include "ptx/isa/isa.hpp"
#include "ptx/write/builder.hpp"
#include "tests/fuzz/bytes.hpp"

namespace ptx::fuzz {

using write::Value;

inline constexpr Type types[] = {Type::pred, Type::b16, Type::u16, Type::b32, Type::u32, Type::s32, Type::b64,
                                 Type::u64,  Type::s64, Type::f16, Type::f32, Type::f64, Type::bf16};

/// ModifierTree that may be the start of an instruction, perhaps a whole one.
inline const isa::ModifierTree& dots(Bytes& in) {
  const isa::ModifierTree* node = &isa::ModifierTree::root();
  for (int depth = 0; depth < 12; ++depth) {
    const auto words = node->next_words();
    if (words.empty() || (!node->complete().empty() && in.below(3) == 0)) break;
    node = node->follow(words[in.below(words.size())]);
  }
  return *node;
}

/// Keeps the parts of operands alive while an instruction is written.
class Operands {
 public:
  Operands(Bytes& in, std::span<const write::Reg> regs) : in_(in), regs_(regs) {}
  Value any(int depth = 0) {
    switch (in_.below(depth == 0 ? 11 : 4)) {
      case 0:
      case 1:
      case 2:
        return Value::of(regs_[in_.below(regs_.size())]);
      case 3:
        return Value::of_integer(static_cast<std::int64_t>(in_.next()) - 128);
      case 4:
        return Value::of_floating(static_cast<double>(in_.next()) / 16 - 8);
      case 5:
        return Value::of_special(static_cast<isa::SpecialId>(in_.below(isa::specials().size())));
      case 6:
        return Value::of_symbol(in_.below(2) == 0 ? "tile" : "X");
      case 7:
        return Value::of_label(in_.below(2) == 0 ? "L0" : "L1");
      case 8:
        return Value{};
      case 9:
        return Value::address_of(some(1 + in_.below(2), 1));
      default:
        return Value::vector_of(some(1 + in_.below(8), 1));
    }
  }
  std::span<const Value> some(std::size_t count, int depth = 0) {
    std::vector<Value> values;
    for (std::size_t i = 0; i < count; ++i) values.push_back(any(depth));
    return kept_.emplace_back(std::move(values));
  }

 private:
  Bytes& in_;
  std::span<const write::Reg> regs_;
  std::deque<std::vector<Value>> kept_;
};

/// The kernel `k` that the input says, with a parameter `X` and 256 bytes of shared memory, `tile`.
inline Expected<ir::Module> author(Bytes& in) {
  write::Builder builder({.name = "k", .target = sm_90a, .version = Version{8, 5}});
  if (!builder.param({.type = Type::u64}, "X")) std::abort();
  if (!builder.variable({.space = ir::StateSpace::shared, .type = Type::b8, .align = 16, .elements = 256}, "tile")) std::abort();
  std::vector<write::Reg> regs;
  for (const Type type : types)
    for (int i = 0; i < 2; ++i) regs.push_back(builder.reg(type).value());

  for (int count = 0; count < 40 && !in.empty(); ++count) {
    if (in.below(8) == 0) {
      (void)builder.label(in.below(2) == 0 ? "L0" : "L1");  // the second time it is an error, and the label stays as it was
      continue;
    }
    const isa::ModifierTree& what = dots(in);
    Operands operands(in, regs);
    write::Guard guard;
    if (in.below(4) == 0) guard = {.predicate = regs[in.below(regs.size())], .negated = in.below(2) == 0};
    const std::size_t before = builder.size();
    const bool written = builder.emit(what, operands.some(in.below(6)), guard).has_value();
    if (builder.size() != before + (written ? 1 : 0)) std::abort();  // whole or absent
  }
  return builder.finish();
}

}  // namespace ptx::fuzz
