#include "ptx/vgpu/decoding.hpp"

#include <bit>
#include <deque>

#include "ptx/vgpu/decoder.hpp"
#include "ptx/vgpu/helper_steps.hpp"

namespace ptx::vgpu {
namespace {

// What a literal is in the width of the type that reads it: PTX's floating literals are f64 unless written 0f.
std::uint64_t floating_bits(const ir::Operand& operand, std::uint64_t constant, Type type) {
  if (isa::bits(type) == 64)
    return operand.count == 64
               ? constant
               : std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(constant))));
  return operand.count == 64 ? std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(constant))) : constant;
}

ir::RegId reg_id(const ir::Operand& operand) {
  ir::RegId id;
  id.index = operand.payload;
  return id;
}

}  // namespace

Decoding::Decoding(Decoder& decoder, const ir::Inst& inst, std::uint32_t item)
    : decoder_(decoder), inst_(inst), form_(isa::form(inst.form)), choices_(inst.choices) {
  const Code& code = decoder.code();
  std::deque<std::vector<isa::Arg>> scratch;
  std::vector<isa::Arg> args;
  const auto operands = code.function->operands_of(inst);
  for (const ir::Operand& operand : operands) args.push_back(ir::arg_of(*code.module, *code.function, operand, scratch));
  const auto fit = isa::fit(form_, choices_, args);
  if (!fit) {
    refuse(fit.error().message);
    return;
  }
  for (std::size_t i = 0; i < operands.size(); ++i)
    operands_.emplace_back(&form_.operands[fit.value().operand_of[i]], &operands[i]);
  step.item = item;
}

bool Decoding::wrote(std::string_view word) const {
  for (std::size_t i = 0; i < form_.slots.size(); ++i)
    if (form_.chosen(choices_, static_cast<int>(i)) == word) return true;
  return false;
}

const ir::Operand* Decoding::find(std::string_view name) const {
  for (const auto& [spec, operand] : operands_)
    if (spec->name == name) return operand;
  return nullptr;
}

Handler Decoding::refuse(std::string why) {
  if (refusal_.empty()) refusal_ = std::move(why);
  return nullptr;
}

std::uint32_t Decoding::read_operand(const ir::Operand& operand, Type type) {
  const int width = isa::bits(type);
  const ir::Function& f = *decoder_.code().function;
  switch (operand.kind) {
    case ir::OperandKind::reg: {
      const std::uint32_t slot = decoder_.slot_of(reg_id(operand));
      const int have = isa::bits(f.reg(reg_id(operand)).type);
      return have <= 32 || width > 32 ? slot : low_half(slot);
    }
    case ir::OperandKind::integer: {
      const auto value = static_cast<std::uint64_t>(f.integer(operand));
      return width > 32 ? decoder_.file().constant64(value) : decoder_.file().constant32(static_cast<std::uint32_t>(value));
    }
    case ir::OperandKind::floating: {
      const std::uint64_t bits = floating_bits(operand, f.constants[operand.payload], type);
      return width > 32 ? decoder_.file().constant64(bits) : decoder_.file().constant32(static_cast<std::uint32_t>(bits));
    }
    case ir::OperandKind::text:
      refuse("the executor does not compute constant expressions");
      return zero_offset;
    default:
      refuse("an operand of this kind is not executed");
      return zero_offset;
  }
}

// The low 32 bits of a 64-bit slot, in a slot of their own.
std::uint32_t Decoding::low_half(std::uint32_t slot) {
  Step narrow;
  narrow.run = helper::narrow();
  narrow.x[0] = decoder_.file().allocate(Type::b32);
  narrow.x[1] = slot;
  before_.push_back(narrow);
  return narrow.x[0];
}

std::uint32_t Decoding::write_operand(const ir::Operand& operand, Type type) {
  if (operand.kind == ir::OperandKind::sink) return discard_offset;
  const std::uint32_t slot = decoder_.slot_of(reg_id(operand));
  if (isa::bits(decoder_.code().function->reg(reg_id(operand)).type) <= 32 || isa::bits(type) > 32) return slot;
  Step widen;
  widen.run = helper::widen(isa::kind(type) == isa::TypeKind::sint);
  widen.x[0] = slot;
  widen.x[1] = decoder_.file().allocate(Type::b32);
  after_.push_back(widen);
  return widen.x[1];
}

std::uint32_t Decoding::read(std::string_view name, Type type) { return read_operand(*find(name), type); }
std::uint32_t Decoding::write(std::string_view name, Type type) { return write_operand(*find(name), type); }

std::vector<std::uint32_t> Decoding::read_all(std::string_view name, Type type) {
  const ir::Operand& operand = *find(name);
  if (operand.kind != ir::OperandKind::vector) return {read_operand(operand, type)};
  std::vector<std::uint32_t> slots;
  for (const ir::Operand& part : decoder_.code().function->parts(operand)) slots.push_back(read_operand(part, type));
  return slots;
}

std::vector<std::uint32_t> Decoding::write_all(std::string_view name, Type type) {
  const ir::Operand& operand = *find(name);
  if (operand.kind != ir::OperandKind::vector) return {write_operand(operand, type)};
  std::vector<std::uint32_t> slots;
  for (const ir::Operand& part : decoder_.code().function->parts(operand)) slots.push_back(write_operand(part, type));
  return slots;
}

Decoding::Pred Decoding::read_pred(std::string_view name) {
  const ir::Operand& operand = *find(name);
  const Mask negated = operand.negated ? all_lanes : 0;
  if (operand.kind == ir::OperandKind::integer)
    return {always_offset, decoder_.code().function->integer(operand) != 0 ? negated : ~negated};
  if (operand.kind == ir::OperandKind::reg) return {decoder_.slot_of(reg_id(operand)), negated};
  refuse("a predicate of this kind is not executed");
  return {};
}

std::uint32_t Decoding::write_pred(std::string_view name) {
  const ir::Operand* operand = find(name);
  return operand == nullptr || operand->kind == ir::OperandKind::sink ? discard_offset : decoder_.slot_of(reg_id(*operand));
}

Decoding::Address Decoding::read_address(std::string_view name) {
  const ir::Function& f = *decoder_.code().function;
  const auto parts = f.parts(*find(name));
  Address address;
  const ir::Operand& base = parts[0];
  switch (base.kind) {
    case ir::OperandKind::reg:
      address.base = decoder_.slot_of(reg_id(base));
      address.narrow = isa::bits(f.reg(reg_id(base)).type) <= 32;
      break;
    case ir::OperandKind::integer:
      address.offset = f.integer(base);
      break;
    case ir::OperandKind::symbol: {
      ir::StringId id;
      id.index = base.payload;
      if (const auto symbol = decoder_.symbol(id)) {
        address.offset = symbol->address;
        // a generic access to a named variable goes through its window
        if (space(name) == Space::generic) address.offset += static_cast<std::int64_t>(window_of(symbol->space));
      } else {
        refuse(cat("`", decoder_.code().module->str(id), "` has no memory in the executor"));
      }
      break;
    }
    default:
      refuse("an address of this kind is not executed");
      return address;
  }
  if (parts.size() > 1) {
    if (parts[1].kind == ir::OperandKind::integer)
      address.offset += f.integer(parts[1]);
    else
      refuse("the executor adds only constants to addresses");
  }
  return address;
}

Space Decoding::space(std::string_view name) const {
  for (const auto& [spec, operand] : operands_) {
    if (spec->name != name) continue;
    const std::string_view word = form_.space(*spec, choices_);
    if (word.starts_with("global") || word.starts_with("const")) return Space::global;
    if (word.starts_with("shared")) return Space::shared;
    if (word.starts_with("local")) return Space::local;
    if (word.starts_with("param")) return Space::param;
  }
  return Space::generic;
}

std::int64_t Decoding::read_symbol(std::string_view name) {
  ir::StringId id;
  id.index = find(name)->payload;
  if (const auto symbol = decoder_.symbol(id)) return symbol->address;
  refuse(cat("`", decoder_.code().module->str(id), "` has no memory in the executor"));
  return 0;
}

isa::SpecialId Decoding::special(std::string_view name) const { return static_cast<isa::SpecialId>(find(name)->payload); }
std::uint32_t Decoding::read_special(isa::SpecialId id, Type type) {
  const std::uint32_t slot = decoder_.slot_of(id);
  return isa::bits(isa::specials()[id].type) == 64 && isa::bits(type) <= 32 ? low_half(slot) : slot;
}
std::uint32_t Decoding::lane_constant(const std::array<std::uint32_t, lane_count>& values) {
  return decoder_.file().lane_constant(values);
}
std::uint32_t Decoding::new_site() { return decoder_.new_site(); }

std::optional<std::int64_t> Decoding::immediate(std::string_view name) const {
  const ir::Operand* operand = find(name);
  if (operand == nullptr || operand->kind != ir::OperandKind::integer) return std::nullopt;
  return decoder_.code().function->integer(*operand);
}

}  // namespace ptx::vgpu
