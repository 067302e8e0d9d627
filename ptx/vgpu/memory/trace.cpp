// What each instruction does with undefined values (undefined.hpp), told from its row.
#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decode/decoder.hpp"

namespace ptx::vgpu {
namespace {

Passes passes_of(const Decoding& in) {
  const isa::Form& form = in.form();
  if (in.tracks_undefined) return Passes::by_handler;
  if (in.step.collective != nullptr) return form.row->effects.waits == isa::Event::barrier ? Passes::reduced : Passes::exchanged;
  if (form.traits.has_any(isa::Trait::load | isa::Trait::load_uniform)) return Passes::loaded;
  if (form.traits.has(isa::Trait::atomic)) return Passes::updated;
  if (form.traits.has(isa::Trait::store)) return Passes::stored;
  if (!form.row->effects.is_pure()) return Passes::nowhere;
  if (form.traits.has(isa::Trait::select)) return Passes::chosen;
  if (in.moves_bits || form.traits.has_any(isa::Trait::bitwise | isa::Trait::moves_bits | isa::Trait::merges_bits))
    return Passes::bits;
  return Passes::on;
}

// Of how many values the bits are handed on; the others say where they go.
std::uint8_t data_values_of(isa::Traits traits) {
  if (traits.has_any(isa::Trait::bitwise | isa::Trait::move)) return 0xFF;
  return traits.has(isa::Trait::merges_bits) ? 2 : 1;
}

// 2 of f16x2, 0 of a type that is not packed.
std::uint8_t parts_of_packed(Type type) {
  if (isa::kind(type) != isa::TypeKind::packed) return 0;
  return isa::name(type).ends_with("x2") ? 2 : isa::name(type).ends_with("x4") ? 4 : 0;
}

// Of these operands the value is handed on; of others, such as a membermask or a policy, it decides something.
bool is_value(Passes passes, std::string_view operand) {
  switch (passes) {
    case Passes::nowhere:
    case Passes::loaded:
    case Passes::updated:
      return false;
    case Passes::stored:
      return operand == "b";
    case Passes::exchanged:
      return operand == "a";
    case Passes::reduced:
      return operand == "c";
    default:
      return true;
  }
}

}  // namespace

// Whether the parts of packed registers go their own ways: `add.f16x2`, and `cvt.rn.f16x2.f32 d, a, b`, whose a is the high part.
void Decoder::find_parts(const Decoding& in, Trace& trace) const {
  const auto& [needs, values, results] = register_lists_;
  if (results.size() != 1 || values.empty() || !in.before_.empty() || !in.after_.empty()) return;
  std::uint8_t parts = 0;
  std::size_t read = 0, packed = 0;
  for (const std::uint8_t spec : in.specs_) {
    const isa::OperandSpec& operand = in.form().operands[spec];
    const std::uint8_t of_operand = parts_of_packed(in.operand_type(operand.name));
    if (operand.access == isa::Access::write) {
      parts = of_operand;
    } else {
      ++read;
      packed += of_operand != 0 && of_operand == parts ? 1 : 0;
    }
  }
  if (parts == 0 || read != values.size()) return;
  trace.parts = parts;
  if (packed == read)
    trace.passes = Passes::packed;
  else if (packed == 0 && read == parts && in.form().traits.has(isa::Trait::convert))
    trace.passes = Passes::paired;
}

void Decoder::add_trace(const Decoding& in, std::uint32_t item) {
  const ir::Function& f = *code_.function;
  Trace trace;
  trace.passes = passes_of(in);
  trace.first = static_cast<std::uint32_t>(code_.traced.size());
  auto& [needs, values, results] = register_lists_;
  for (auto* kept : {&needs, &values, &results}) kept->clear();
  // An element without a register, such as `_` or a number, keeps its place.
  const auto list = [&](const ir::Operand& operand, std::vector<std::uint32_t>& into, auto&& self) -> void {
    switch (operand.kind) {
      case ir::OperandKind::list:
        if (in.host_call() == nullptr || !is_of_driver(in.host_call()->function)) return;
        [[fallthrough]];
      case ir::OperandKind::vector:
      case ir::OperandKind::address:
      case ir::OperandKind::tensor:
      case ir::OperandKind::element:
        for (const ir::Operand& part : f.parts(operand)) self(part, into, self);
        return;
      default: {
        const Scalars scalars = scalars_of(code_, operand);
        for (std::uint32_t i = scalars.first; i < scalars.end; ++i) into.push_back(i);
        if (scalars.size() == 0) into.push_back(no_scalar);
      }
    }
  };
  for (std::size_t i = 0; i < in.specs_.size(); ++i) {
    const isa::OperandSpec& spec = in.form().operands[in.specs_[i]];
    const ir::Operand& operand = f.operands[in.inst_.payload + i];
    const bool address = operand.kind == ir::OperandKind::address || operand.kind == ir::OperandKind::tensor ||
                         (operand.kind == ir::OperandKind::element && spec.role == isa::Role::address);
    if (spec.access != isa::Access::read && !address) list(operand, results, list);
    if (spec.access == isa::Access::write && !address) continue;
    list(operand, !address && is_value(trace.passes, spec.name) ? values : needs, list);
  }
  if (in.form().traits.has(isa::Trait::carry_in)) values.push_back(code_.carry_scalar());
  if (isa::writes_carry(in.form(), in.choices())) results.push_back(code_.carry_scalar());
  std::erase(needs, no_scalar);
  if (in.form().traits.has_any(isa::Trait::bitwise_xor | isa::Trait::subtract) && values.size() == 2 && values[0] == values[1] &&
      !isa::is_float(in.type("type")))
    values.clear();  // zero, whatever the register holds
  if (trace.passes == Passes::stored) trace.bits = static_cast<std::uint8_t>(isa::bits(in.type("type")));
  if (trace.passes == Passes::loaded) trace.extends_sign = isa::kind(in.type("type")) == isa::TypeKind::sint;
  if (trace.passes == Passes::bits) {
    trace.data = data_values_of(in.form().traits);
    trace.bitwise = in.form().traits.has(isa::Trait::bitwise);
    // a predicate beside the result is made of all its bits, and helpers around the step are no part of a trial
    const bool by_itself = in.before_.empty() && in.after_.empty();
    if (in.form().traits.has(isa::Trait::move) && values.size() == results.size())
      trace.passes = Passes::each;
    else if (!by_itself || (results.size() != 1 && !in.form().traits.has(isa::Trait::move)))
      trace.passes = Passes::on;
  } else if (trace.passes == Passes::on) {
    find_parts(in, trace);
  }
  trace.needs = static_cast<std::uint16_t>(needs.size());
  trace.values = static_cast<std::uint16_t>(values.size());
  trace.results = static_cast<std::uint16_t>(results.size());
  for (const auto* part : {&needs, &values, &results}) code_.traced.insert(code_.traced.end(), part->begin(), part->end());
  code_.traces[item] = trace;
}

}  // namespace ptx::vgpu
