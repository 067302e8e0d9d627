// What each instruction does with undefined values (undefined.hpp), told from its row.
#include "ptx/isa/isa.hpp"
#include "ptx/vgpu/decoder.hpp"

namespace ptx::vgpu {
namespace {

Passes passes_of(const Decoding& in) {
  const isa::Form& form = in.form();
  if (in.tracks_undefined) return Passes::by_handler;
  if (in.step.collective != nullptr) return form.row->effects.waits == isa::Event::barrier ? Passes::updated : Passes::exchanged;
  if (form.traits.has_any(isa::Trait::load | isa::Trait::load_uniform)) return Passes::loaded;
  if (form.traits.has(isa::Trait::atomic)) return Passes::updated;
  if (form.traits.has(isa::Trait::store)) return Passes::stored;
  if (!form.row->effects.is_pure()) return Passes::nowhere;
  if (form.traits.has(isa::Trait::select)) return Passes::chosen;
  if (form.traits.has(isa::Trait::bitwise_and)) return Passes::and_;
  if (form.traits.has(isa::Trait::bitwise_or)) return Passes::or_;
  return Passes::on;
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
    default:
      return true;
  }
}

}  // namespace

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
  if (trace.passes == Passes::and_ || trace.passes == Passes::or_ || trace.passes == Passes::stored) {
    const Type type = in.type("type");
    trace.bits = static_cast<std::uint8_t>(type == Type::pred ? 1 : isa::bits(type));
  }
  if (trace.passes == Passes::on && in.form().traits.has(isa::Trait::move) && values.size() == results.size())
    trace.passes = Passes::each;
  trace.needs = static_cast<std::uint16_t>(needs.size());
  trace.values = static_cast<std::uint16_t>(values.size());
  trace.results = static_cast<std::uint16_t>(results.size());
  for (const auto* part : {&needs, &values, &results}) code_.traced.insert(code_.traced.end(), part->begin(), part->end());
  code_.traces[item] = trace;
}

}  // namespace ptx::vgpu
