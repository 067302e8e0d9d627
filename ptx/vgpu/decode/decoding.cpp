#include "ptx/vgpu/decode/decoding.hpp"

#include <algorithm>
#include <bit>

#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoder.hpp"
#include "ptx/vgpu/decode/helper_steps.hpp"

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

// A number: written as such, or a constant expression that comes to one.
bool is_integer(const ir::Operand& operand) {
  return operand.kind == ir::OperandKind::integer || operand.kind == ir::OperandKind::expression;
}

// The element that `.x` to `.w`, or `.r` to `.a`, picks; -1 for other parts, such as a video instruction's `.b0`.
int element_of(std::string_view part) {
  if (part.starts_with('.')) part.remove_prefix(1);
  if (part.size() != 1) return -1;
  if (const auto at = std::string_view("xyzw").find(part[0]); at != std::string_view::npos) return static_cast<int>(at);
  if (const auto at = std::string_view("rgba").find(part[0]); at != std::string_view::npos) return static_cast<int>(at);
  return -1;
}

// `.b0`, `.h10`, `.b7654`: bytes or halves of a scalar register, as video instructions name them.
bool is_lane_selector(std::string_view part) {
  if (part.starts_with('.')) part.remove_prefix(1);
  if (part.size() < 2 || (part[0] != 'b' && part[0] != 'h')) return false;
  return std::all_of(part.begin() + 1, part.end(), [](char c) { return c >= '0' && c <= '7'; });
}

}  // namespace

Scalars scalars_of(const Code& code, const ir::Operand& operand) {
  const ir::Function& f = *code.function;
  if (operand.kind == ir::OperandKind::reg)
    return {code.first_scalar[operand.payload], code.first_scalar[operand.payload + 1], f.reg(ir::RegId(operand.payload)).type};
  if (operand.kind != ir::OperandKind::part) return {};
  const ir::Operand& base = f.operands[operand.payload];
  const ir::Operand& selector = f.operands[operand.payload + 1];
  if (base.kind != ir::OperandKind::reg || selector.kind != ir::OperandKind::text) return {};
  const std::string_view word = code.module->str(ir::StringId(selector.payload));
  const int element = element_of(word);
  const int elements = f.reg(ir::RegId(base.payload)).vector;
  if (elements == 1 && is_lane_selector(word)) return scalars_of(code, base);
  if (element < 0 || elements == 1 || element >= elements) return {};
  const std::uint32_t at = code.first_scalar[base.payload] + static_cast<std::uint32_t>(element);
  return {at, at + 1, f.reg(ir::RegId(base.payload)).type};
}

Decoding::Decoding(Decoder& decoder, const ir::Inst& inst, std::uint32_t item, std::span<const std::uint8_t> specs)
    : decoder_(decoder), inst_(inst), form_(isa::form(inst.form)), choices_(inst.choices), specs_(specs) {
  step.item = item;
}

bool Decoding::wrote(std::string_view word) const {
  for (std::size_t i = 0; i < form_.slots.size(); ++i)
    if (form_.chosen(choices_, static_cast<int>(i)) == word) return true;
  return false;
}

num::Rounding Decoding::rounding(std::string_view slot) const {
  switch (isa::meaning_of(chosen(slot))) {
    case isa::Word::to_zero:
      return num::Rounding::rz;
    case isa::Word::down:
      return num::Rounding::rm;
    case isa::Word::up:
      return num::Rounding::rp;
    default:
      return num::Rounding::rn;
  }
}

Type Decoding::operand_type(std::string_view name) const {
  for (const std::uint8_t number : specs_)
    if (form_.operands[number].name == name) return type(form_.operands[number].type);
  return Type::none;
}

const ir::Operand* Decoding::find(std::string_view name) const {
  for (std::size_t i = 0; i < specs_.size(); ++i)
    if (form_.operands[specs_[i]].name == name) return &decoder_.code().function->operands[inst_.payload + i];
  return nullptr;
}

Handler Decoding::refuse(std::string why) {
  if (refusal_.empty()) refusal_ = std::move(why);
  return nullptr;
}

std::optional<Scalar> Decoding::scalar_of(const ir::Operand& operand) {
  const Scalars scalars = scalars_of(decoder_.code(), operand);
  const ir::Function& f = *decoder_.code().function;
  const bool is_lane = operand.kind == ir::OperandKind::part && f.operands[operand.payload].kind == ir::OperandKind::reg &&
                       f.reg(ir::RegId(f.operands[operand.payload].payload)).vector == 1;
  if (scalars.size() == 1 && !is_lane) return scalars[0];
  if (operand.kind == ir::OperandKind::part && f.operands[operand.payload].kind == ir::OperandKind::reg) {
    const ir::Module& module = *decoder_.code().module;
    const ir::Operand& base = f.operands[operand.payload];
    const int elements = f.reg(ir::RegId(base.payload)).vector;
    const ir::StringId part(f.operands[operand.payload + 1].payload);
    refuse(cat('`', module.reg_name(f, ir::RegId(base.payload)), "` has no part `", module.str(part),
               "` that the executor knows: it is a ",
               elements == 1 ? std::string("scalar register") : cat("vector of ", elements)));
  } else {
    refuse(scalars.size() == 0 ? "an operand of this kind is not executed"
                               : "a vector register is given where one value belongs");
  }
  return std::nullopt;
}

// Whatever check has let by, a handler reads and writes as many bytes of a slot as the type has that it asked for.
bool Decoding::holds(Scalar scalar, Type type) {
  const bool is_pred = scalar.type == Type::pred;
  if (is_pred == (type == Type::pred) && slot_bytes(scalar.type) >= slot_bytes(type)) return true;
  refuse(cat("a .", isa::name(scalar.type), " register is given where ",
             type == Type::pred ? std::string("a predicate belongs") : cat(isa::bits(type), " bits belong")));
  return false;
}

std::uint32_t Decoding::read_scalar(Scalar scalar, Type type) {
  if (!holds(scalar, type)) return zero_offset;
  const std::uint32_t slot = decoder_.slot_of(scalar);
  return isa::bits(scalar.type) <= 32 || isa::bits(type) > 32 ? slot : low_half(slot);
}

std::uint32_t Decoding::read_operand(const ir::Operand& operand, Type type) {
  const int width = isa::bits(type);
  const ir::Function& f = *decoder_.code().function;
  if (operand.kind == ir::OperandKind::reg || operand.kind == ir::OperandKind::part) {
    const auto scalar = scalar_of(operand);
    return scalar ? read_scalar(*scalar, type) : zero_offset;
  }
  if (width > 64) return refuse("a constant of more than 64 bits is not executed"), zero_offset;
  switch (operand.kind) {
    case ir::OperandKind::integer:
    case ir::OperandKind::expression: {
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
  const auto scalar = scalar_of(operand);
  return scalar ? write_scalar(*scalar, type) : discard_offset;
}

std::uint32_t Decoding::write_scalar(Scalar scalar, Type type) {
  if (!holds(scalar, type)) return discard_offset;
  const std::uint32_t slot = decoder_.slot_of(scalar);
  if (isa::bits(scalar.type) <= 32 || isa::bits(type) > 32) return slot;
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
  std::vector<std::uint32_t> slots;
  if (operand.kind == ir::OperandKind::vector) {
    for (const ir::Operand& part : decoder_.code().function->parts(operand)) slots.push_back(read_operand(part, type));
  } else if (const auto scalars = scalars_of(decoder_.code(), operand); scalars.size() > 1) {
    for (std::uint32_t i = 0; i < scalars.size(); ++i) slots.push_back(read_scalar(scalars[i], type));
  } else {
    slots.push_back(read_operand(operand, type));
  }
  return slots;
}

std::vector<std::uint32_t> Decoding::write_all(std::string_view name, Type type) {
  const ir::Operand& operand = *find(name);
  std::vector<std::uint32_t> slots;
  if (operand.kind == ir::OperandKind::vector) {
    for (const ir::Operand& part : decoder_.code().function->parts(operand)) slots.push_back(write_operand(part, type));
  } else if (const auto scalars = scalars_of(decoder_.code(), operand); scalars.size() > 1) {
    for (std::uint32_t i = 0; i < scalars.size(); ++i) slots.push_back(write_scalar(scalars[i], type));
  } else {
    slots.push_back(write_operand(operand, type));
  }
  return slots;
}

bool Decoding::is_vector(std::string_view name) const {
  const ir::Operand& operand = *find(name);
  return operand.kind == ir::OperandKind::vector || scalars_of(decoder_.code(), operand).size() > 1;
}

Decoding::Pred Decoding::read_pred(std::string_view name) {
  const ir::Operand& operand = *find(name);
  const Mask negated = operand.negated ? all_lanes : 0;
  if (is_integer(operand)) return {always_offset, decoder_.code().function->integer(operand) != 0 ? negated : ~negated};
  const auto scalar = scalar_of(operand);
  return scalar && holds(*scalar, Type::pred) ? Pred{decoder_.slot_of(*scalar), negated} : Pred{};
}

std::uint32_t Decoding::write_pred(std::string_view name) {
  const ir::Operand* operand = find(name);
  if (operand == nullptr || operand->kind == ir::OperandKind::sink) return discard_offset;
  const auto scalar = scalar_of(*operand);
  return scalar && holds(*scalar, Type::pred) ? decoder_.slot_of(*scalar) : discard_offset;
}

std::uint32_t Decoding::scratch_pred() { return decoder_.file().allocate(Type::pred); }
std::uint32_t Decoding::carry() { return decoder_.slot_of(Scalar{decoder_.code().carry_scalar(), Type::pred}); }

Decoding::Part Decoding::part_of(const ir::Operand& operand, const ir::Operand*& whole) const {
  whole = &operand;
  Part part;
  part.negated = operand.negated;
  if (operand.kind != ir::OperandKind::part) return part;
  const ir::Function& f = *decoder_.code().function;
  const std::string_view word = decoder_.code().module->str(ir::StringId(f.operands[operand.payload + 1].payload));
  if (!is_lane_selector(word)) return part;
  whole = &f.operands[operand.payload];
  part.word = word.starts_with('.') ? word.substr(1) : word;
  return part;
}
Decoding::Part Decoding::read_part(std::string_view name, Type type) {
  const ir::Operand* whole = nullptr;
  Part part = part_of(*find(name), whole);
  part.offset = read_operand(*whole, type);
  return part;
}
Decoding::Part Decoding::write_part(std::string_view name, Type type) {
  const ir::Operand* whole = nullptr;
  Part part = part_of(*find(name), whole);
  part.offset = write_operand(*whole, type);
  return part;
}

// The base of an address: a register, a name, a number.
Decoding::Address Decoding::read_address(const ir::Operand& base, Space space) {
  const ir::Function& f = *decoder_.code().function;
  Address address;
  switch (base.kind) {
    case ir::OperandKind::reg:
    case ir::OperandKind::part:
      if (const auto scalar = scalar_of(base); scalar && holds(*scalar, scalar->type == Type::pred ? Type::b32 : scalar->type)) {
        address.base = decoder_.slot_of(*scalar);
        address.narrow = isa::bits(scalar->type) <= 32;
      }
      return address;
    case ir::OperandKind::integer:
    case ir::OperandKind::expression:
      address.offset = f.integer(base);
      return address;
    case ir::OperandKind::symbol:
    case ir::OperandKind::element: {
      const Symbol symbol = read_symbol(base);
      address.base = symbol.base;
      // a generic access to a named variable goes through its window
      const std::uint64_t window = space == Space::generic ? window_of(symbol.space) : 0;
      address.offset = static_cast<std::int64_t>(window + static_cast<std::uint64_t>(symbol.address));
      return address;
    }
    default:
      return refuse("an address of this kind is not executed"), address;
  }
}

Decoding::Address Decoding::read_address(std::string_view name) {
  const ir::Function& f = *decoder_.code().function;
  const ir::Operand& operand = *find(name);
  if (operand.kind != ir::OperandKind::address && operand.kind != ir::OperandKind::element)
    return refuse("an address of this kind is not executed"), Address{};
  if (operand.kind == ir::OperandKind::element) return read_address(operand, space(name));
  const auto parts = f.parts(operand);
  Address address = read_address(parts[0], space(name));
  if (parts.size() > 1) {
    if (is_integer(parts[1]))
      address.offset =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(address.offset) + static_cast<std::uint64_t>(f.integer(parts[1])));
    else
      refuse("the executor adds only constants to addresses");
  }
  return address;
}

std::uint32_t Decoding::full_address(const Address& address) {
  if (!address.narrow && address.offset == 0) return address.base;
  Step sum;
  sum.run = helper::full_address();
  sum.x[0] = decoder_.file().allocate(Type::b64);
  sum.x[1] = address.base;
  sum.x[2] = address.narrow ? 1 : 0;
  sum.imm = address.offset;
  before_.push_back(sum);
  return sum.x[0];
}

std::uint32_t Decoding::read_full_address(std::string_view name) { return full_address(read_address(name)); }

Decoding::Tensor Decoding::read_tensor(std::string_view name, Type type) {
  const ir::Function& f = *decoder_.code().function;
  const ir::Operand& operand = *find(name);
  if (operand.kind != ir::OperandKind::tensor) return refuse("an operand of this kind is not executed"), Tensor{};
  const auto parts = f.parts(operand);
  Tensor tensor{full_address(read_address(parts.front(), Space::generic)), {}};
  const ir::Operand& coordinates = parts.back();
  if (coordinates.kind == ir::OperandKind::vector) {
    for (const ir::Operand& part : f.parts(coordinates)) tensor.coordinates.push_back(read_operand(part, type));
  } else if (const auto scalars = scalars_of(decoder_.code(), coordinates); scalars.size() > 1) {
    for (std::uint32_t i = 0; i < scalars.size(); ++i) tensor.coordinates.push_back(read_scalar(scalars[i], type));
  } else {
    tensor.coordinates.push_back(read_operand(coordinates, type));
  }
  return tensor;
}

Space Decoding::space(std::string_view name) const {
  for (const std::uint8_t number : specs_) {
    const isa::OperandSpec& spec = form_.operands[number];
    if (spec.name != name) continue;
    const std::string_view word = form_.space(spec, choices_);
    if (word.starts_with("global") || word.starts_with("const")) return Space::global;
    if (word == "shared::cluster") return Space::cluster;
    if (word.starts_with("shared")) return Space::shared;
    if (word.starts_with("local")) return Space::local;
    if (word.starts_with("param")) return Space::param;
  }
  return Space::generic;
}

Decoding::Symbol Decoding::read_symbol(std::string_view name) { return read_symbol(*find(name)); }

bool Decoding::names_variable(std::string_view name) const {
  const ir::OperandKind kind = find(name)->kind;
  return kind == ir::OperandKind::symbol || kind == ir::OperandKind::element;
}

// x, g[1], g[%r1], g[%r1+1]
Decoding::Symbol Decoding::read_symbol(const ir::Operand& operand) {
  const ir::Function& f = *decoder_.code().function;
  const bool is_element = operand.kind == ir::OperandKind::element;
  const ir::Operand& name = is_element ? f.parts(operand)[0] : operand;
  if (name.kind != ir::OperandKind::symbol) return refuse("an operand of this kind is not executed"), Symbol{};
  const auto symbol = decoder_.symbol(name);
  if (!symbol) return refuse_symbol(name), Symbol{};
  Symbol result{zero_offset, symbol->address, symbol->space};
  if (const auto frame = decoder_.frame_pointer(); frame && symbol->space == Space::local) {
    result.base = *frame;
    if (is_element) refuse("elements of local arrays are not executed beside functions that call themselves");
  }
  if (symbol->space == Space::shared) result.base = decoder_.rank_base();
  if (!is_element) return result;
  const auto parts = f.parts(operand);
  if (parts[1].kind != ir::OperandKind::reg) {
    const auto bytes = static_cast<std::uint64_t>(f.integer(parts[1])) * symbol->scalar_bytes;
    result.address = static_cast<std::int64_t>(static_cast<std::uint64_t>(result.address) + bytes);
    return result;
  }
  Step element;
  element.run = helper::element();
  element.x[3] = result.base;
  element.x[0] = result.base = decoder_.file().allocate(Type::b64);
  element.x[1] = read_operand(parts[1], Type::u32);
  element.x[2] = symbol->scalar_bytes;
  element.imm = parts.size() > 2 ? f.integer(parts[2]) : 0;
  before_.push_back(element);
  return result;
}

void Decoding::refuse_symbol(const ir::Operand& operand) {
  ir::StringId id;
  id.index = operand.payload;
  refuse(cat("`", decoder_.code().module->str(id), "` has no memory in the executor"));
}

isa::SpecialId Decoding::special(std::string_view name) {
  const ir::Operand& operand = *find(name);
  if (operand.kind == ir::OperandKind::special) return static_cast<isa::SpecialId>(operand.payload);
  refuse("an operand of this kind is not executed");
  return {};
}
std::uint32_t Decoding::read_special(isa::SpecialId id, Type type) {
  const std::uint32_t slot = decoder_.slot_of(id);
  return isa::bits(isa::specials()[id].type) == 64 && isa::bits(type) <= 32 ? low_half(slot) : slot;
}
std::uint32_t Decoding::constant(std::uint32_t value) { return decoder_.file().constant32(value); }
std::uint32_t Decoding::lane_constant(const std::array<std::uint32_t, lane_count>& values) {
  return decoder_.file().lane_constant(values);
}
const HostCall* Decoding::host_call() const { return decoder_.host_call(step.item); }

std::uint32_t Decoding::predicate(ir::RegId reg) {
  return decoder_.slot_of({decoder_.code().first_scalar[reg.index], Type::pred});
}

std::uint32_t Decoding::recursive_call(const HostCall& call) {
  const Expanded::Recursive& function = decoder_.recursive(call);
  RecursiveCall made{call.recursive, {}, {}};
  const auto places = [&](std::string_view name, const std::vector<Expanded::Recursive::Place>& wanted) {
    std::vector<Type> types;
    for (const auto& place : wanted) {
      types.push_back(place.param.type);
      if (!place.in_memory && isa::bits(place.param.type) > 64)
        refuse("it passes 128 bits in a register to a function that calls itself");
    }
    std::vector<PassedPlace> all;
    const ir::Operand* list = find(name);
    const auto parts = list == nullptr ? std::span<const ir::Operand>() : decoder_.code().function->parts(*list);
    for (std::size_t i = 0; const Passed& p : passed(name, types)) {
      PassedPlace place{p.in_memory, p.at, 4, no_scalar};
      if (p.in_memory)
        place.bytes = static_cast<std::uint32_t>(wanted[i].param.bytes());
      else if (isa::bits(types[i]) == 64)
        place.bytes = 8;
      if (const Scalars scalars = scalars_of(decoder_.code(), parts[i]); scalars.size() == 1) place.scalar = scalars.first;
      all.push_back(place);
      ++i;
    }
    return all;
  };
  made.arguments = places("args", function.params);
  made.results = places("results", function.returns);
  return decoder_.add(std::move(made));
}

std::vector<Decoding::Passed> Decoding::passed(std::string_view name, std::span<const Type> types) {
  std::vector<Passed> all;
  const ir::Operand* list = find(name);
  const auto parts = list == nullptr ? std::span<const ir::Operand>() : decoder_.code().function->parts(*list);
  if (parts.size() != types.size()) return refuse("it is called with other parameters than it has"), all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Type type = types[i];
    if (parts[i].kind == ir::OperandKind::symbol) {
      const Symbol symbol = read_symbol(parts[i]);
      if (symbol.space != Space::local) return refuse("it is passed a name that is no parameter"), all;
      all.push_back({true, static_cast<std::uint32_t>(symbol.address)});
    } else {
      all.push_back({false, name == "results" ? write_operand(parts[i], type) : read_operand(parts[i], type)});
    }
  }
  return all;
}

std::uint32_t Decoding::stack_pointer() { return decoder_.stack_pointer(); }
std::uint32_t Decoding::add_operands(std::span<const std::uint32_t> slots) {
  const std::uint32_t begin = decoder_.add_operands(slots), first = step.operand_count;
  if (step.operand_count == 0) step.operands = begin;
  step.operand_count += static_cast<std::uint32_t>(slots.size());
  return first;
}
Target Decoding::target() const { return decoder_.code().module->target; }
std::uint32_t Decoding::new_site() { return decoder_.new_site(); }

std::optional<std::int64_t> Decoding::immediate(std::string_view name) const {
  const ir::Operand* operand = find(name);
  if (operand == nullptr || !is_integer(*operand)) return std::nullopt;
  return decoder_.code().function->integer(*operand);
}

}  // namespace ptx::vgpu
