#include "ptx/launch/alignment.hpp"

#include "ptx/isa/isa.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>

namespace ptx::launch {
namespace {

using ir::Operand;
using ir::OperandKind;

constexpr std::uint32_t max_aligned = 128;  // bytes: more than any access needs
constexpr int no_param = -1;

/// What is known of a register wherever it is read: `residue` more than a multiple of `modulus`, from a parameter's address on.
struct Value {
  bool set = false;  // somewhere in the body
  int param = no_param;
  std::uint32_t modulus = 1, residue = 0;
  friend bool operator==(const Value&, const Value&) = default;
};
constexpr Value anything{.set = true};

std::uint32_t power_of_two_in(std::uint64_t number) {
  return number == 0 ? max_aligned : static_cast<std::uint32_t>(std::min<std::uint64_t>(max_aligned, number & ~(number - 1)));
}
Value constant(std::int64_t number) {
  return {.set = true,
          .modulus = max_aligned,
          .residue = static_cast<std::uint32_t>(static_cast<std::uint64_t>(number) % max_aligned)};
}
Value known(int param, std::uint32_t modulus, std::uint64_t residue) {
  return {.set = true, .param = param, .modulus = modulus, .residue = static_cast<std::uint32_t>(residue % modulus)};
}
Value sum(const Value& a, const Value& b) {
  if (a.param != no_param && b.param != no_param) return anything;
  return known(std::max(a.param, b.param), std::min(a.modulus, b.modulus), std::uint64_t{a.residue} + b.residue);
}
Value difference(const Value& a, const Value& b) {
  if (b.param != no_param) return anything;
  const std::uint32_t modulus = std::min(a.modulus, b.modulus);
  return known(a.param, modulus, std::uint64_t{a.residue} + modulus - b.residue % modulus);
}
Value product(const Value& a, const Value& b) {
  if (a.param != no_param || b.param != no_param) return anything;
  const auto times = [](std::uint32_t x, std::uint32_t y) { return power_of_two_in(std::uint64_t{x} * y); };
  return known(no_param, std::min({times(a.residue, b.modulus), times(b.residue, a.modulus), times(a.modulus, b.modulus)}),
               std::uint64_t{a.residue} * b.residue);
}
/// What holds of both.
Value either(const Value& a, const Value& b) {
  if (!a.set || !b.set) return a.set ? a : b;
  if (a.param != b.param) return anything;
  const std::uint32_t apart = a.residue > b.residue ? a.residue - b.residue : b.residue - a.residue;
  return known(a.param, std::min({a.modulus, b.modulus, power_of_two_in(apart)}), a.residue);
}

class Search {
 public:
  Search(const ir::Module& module, const ir::Function& entry)
      : module_(module),
        entry_(entry),
        registers_(entry.regs.size()),
        found_(entry.params.size()),
        looked_(entry.params.size()) {}

  std::vector<Alignment> run() {
    // A register's modulus only ever shrinks, so this ends; one that moves in a loop needs a few rounds.
    constexpr int max_rounds = 64;
    for (int round = 0; changed_; ++round) {
      if (round == max_rounds) return std::vector<Alignment>(found_.size());
      changed_ = false;
      for (const ir::Inst& inst : entry_.body)
        if (inst.kind == ir::ItemKind::inst) follow(inst);
    }
    for (const ir::Inst& inst : entry_.body)
      if (inst.kind == ir::ItemKind::inst) look_at(inst);
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (looked_[i]) found_[i] = {};
    return std::move(found_);
  }

 private:
  [[nodiscard]] Value value(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::reg:
        return registers_[operand.payload].set ? registers_[operand.payload] : anything;
      case OperandKind::integer:
      case OperandKind::expression:
        return constant(entry_.integer(operand));
      default:
        return anything;
    }
  }

  void define(const Operand& operand, const Value& value) {
    if (operand.kind == OperandKind::vector) {
      for (const Operand& part : entry_.parts(operand)) define(part, anything);
      return;
    }
    if (operand.kind != OperandKind::reg) return;
    Value& known = registers_[operand.payload];
    const Value joined = either(known, value);
    changed_ = changed_ || joined != known;
    known = joined;
  }

  /// What an instruction of these few gives; nothing for another.
  [[nodiscard]] std::optional<Value> result(const isa::Form& form, const ir::Inst& inst) const {
    const std::span<const Operand> in = entry_.operands_of(inst);
    if (in.size() < 2) return std::nullopt;
    using isa::Trait;
    const isa::Traits traits = form.traits;
    if (traits.has(Trait::move) && in.size() == 2) return value(in[1]);
    if (traits.has(Trait::generic_address)) return value(in[1]);
    if (traits.has(Trait::convert))
      return known(no_param, value(in[1]).param == no_param ? value(in[1]).modulus : 1, value(in[1]).residue);
    if (traits.has(Trait::load)) return from_param(inst);
    if (in.size() < 3) return std::nullopt;
    const Value a = value(in[1]), b = value(in[2]);
    if (traits.has(Trait::add)) return sum(a, b);
    if (traits.has(Trait::subtract)) return difference(a, b);
    if (traits.has_any(Trait::multiply | Trait::multiply_add)) {
      if (!isa::is_integer(form.type("type", inst.choices)) ||
          isa::meaning_of(form.chosen(inst.choices, "mode")) == isa::Word::high_half)
        return std::nullopt;
      if (traits.has(Trait::multiply)) return product(a, b);
      return in.size() > 3 ? sum(product(a, b), value(in[3])) : std::optional<Value>();
    }
    if (traits.has(Trait::shift_left) && in[2].kind == OperandKind::integer && entry_.integer(in[2]) < 64 &&
        entry_.integer(in[2]) >= 0)
      return product(a, constant(std::int64_t{1} << std::min<std::int64_t>(entry_.integer(in[2]), 7)));
    if (traits.has(Trait::bitwise_and) && in[2].kind == OperandKind::integer && a.param == no_param)
      return known(no_param, power_of_two_in(static_cast<std::uint64_t>(entry_.integer(in[2]))), 0);
    if (traits.has(Trait::select)) return either(a, b);
    return std::nullopt;
  }

  /// A tensor's address, loaded from its parameter.
  [[nodiscard]] std::optional<Value> from_param(const ir::Inst& inst) const {
    const std::span<const Operand> in = entry_.operands_of(inst);
    if (in.size() != 2 || in[0].kind != OperandKind::reg || in[1].kind != OperandKind::address) return std::nullopt;
    const std::span<const Operand> address = entry_.parts(in[1]);
    if (address[0].kind != OperandKind::symbol || (address.size() > 1 && value(address[1]) != constant(0))) return std::nullopt;
    for (std::size_t i = 0; i < entry_.params.size(); ++i)
      if (entry_.params[i].name.index == address[0].payload && entry_.params[i].bytes() == 8)
        return known(static_cast<int>(i), max_aligned, 0);
    return std::nullopt;
  }

  void follow(const ir::Inst& inst) {
    const isa::Form& form = isa::form(inst.form);
    const std::span<const Operand> operands = entry_.operands_of(inst);
    if (const auto made = result(form, inst)) {
      define(operands[0], *made);
      return;
    }
    for (std::size_t i = 0; i < operands.size() && i < form.operands.size(); ++i)
      if (form.operands[i].access != isa::Access::read) define(operands[i], anything);
  }

  void look_at(const ir::Inst& inst) {
    const isa::Form& form = isa::form(inst.form);
    const std::span<const Operand> operands = entry_.operands_of(inst);
    if (form.traits.has(isa::Trait::looks_at_bits)) {
      for (std::size_t i = 1; i < operands.size(); ++i)
        if (const Value seen = value(operands[i]); seen.param != no_param) looked_[static_cast<std::size_t>(seen.param)] = true;
      return;
    }
    using isa::Trait;
    if (form.row->effects.is_async()) return;
    if (!form.traits.has_any(Trait::load | Trait::load_uniform | Trait::store | Trait::atomic | Trait::reduction)) return;
    const std::string name = isa::spell(form, inst.choices);
    for (const isa::MemoryAccess& access : isa::memory_accesses(form, inst.choices))
      if ((!access.space.empty() && access.space != "global") || access.proxy != isa::Proxy::generic) return;
    const auto type = isa::type_from_name(std::string_view(name).substr(name.rfind('.') + 1));
    if (!type) return;
    std::uint32_t bytes = (static_cast<std::uint32_t>(isa::bits(*type)) + 7) / 8;
    for (const auto& [word, lanes] : {std::pair{".v2", 2u}, std::pair{".v4", 4u}, std::pair{".v8", 8u}})
      if (name.find(word) != std::string::npos) bytes *= lanes;
    if (!std::has_single_bit(bytes)) return;
    for (const Operand& operand : operands)
      if (operand.kind == OperandKind::address) need(operand, std::min(bytes, max_aligned), name, module_.where(inst));
  }

  void need(const Operand& operand, std::uint32_t bytes, const std::string& name, const SourceLocation& where) {
    const std::span<const Operand> parts = entry_.parts(operand);
    Value address = value(parts[0]);
    if (parts.size() > 1) address = sum(address, value(parts[1]));
    const std::uint32_t sure = std::min(bytes, address.modulus);
    if (address.param == no_param || address.residue % sure != 0) return;
    Alignment& known = found_[static_cast<std::size_t>(address.param)];
    if (sure > known.bytes) known = {.bytes = sure, .access = name, .where = where};
  }

  const ir::Module& module_;
  const ir::Function& entry_;
  std::vector<Value> registers_;
  std::vector<Alignment> found_;
  std::vector<bool> looked_;
  bool changed_ = true;
};

}  // namespace

std::vector<Alignment> alignments(const ir::Module& module, const ir::Function& entry) { return Search(module, entry).run(); }

}  // namespace ptx::launch
