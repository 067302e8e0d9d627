// Instructions at the entry's start, whatever block asks for them first: they come before all uses.
#include <algorithm>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/write/emit.hpp"
#include "ptx/write/state.hpp"

namespace ptx::write {

void Builder::State::move_to_prologue() {
  Store<ir::Inst>& body = entry().body;
  const auto begin = body.begin() + static_cast<std::ptrdiff_t>(prologue);
  std::rotate(begin, body.end() - 1, body.end());
  for (ir::Label& label : entry().labels)
    if (label.item != ir::Label{}.item && label.item >= prologue) ++label.item;
  if (ended_if) ++ended_if->items;
  ++prologue;
}

Expected<Reg> Builder::tma_desc(std::string_view tensor, SourceLocation where) {
  State& s = *state_;
  if (const auto it = s.tma_descriptors.find(tensor); it != s.tma_descriptors.end()) return it->second;
  const std::string name = cat(tensor, ir::descriptor_suffix);
  const bool by_value = s.tma_by_value;
  ir::Param passed;
  passed.type = by_value ? Type::b8 : Type::u64;
  if (by_value) {
    passed.align = ir::descriptor_bytes;
    passed.elements = ir::descriptor_bytes;
  }
  passed.describes = s.module.intern(tensor);
  if (auto added = param(passed, name, where); !added) return Unexpected{std::move(added).error()};
  const Value symbol = Value::of_symbol(name);
  const Expected<Reg> reg = by_value ? emit_fresh(*this, Type::u64, "mov.b64", {}, where, symbol)
                                     : emit_fresh(*this, Type::u64, "ld.param.u64", {}, where, Value::address_of({&symbol, 1}));
  if (!reg) return reg;
  s.move_to_prologue();
  if (by_value) {
    // Tensor copies take a generic address, and a parameter's is one in the space of parameters.
    auto converted = write::emit(*this, "cvta.param.u64", {}, where, Value::of(*reg), Value::of(*reg));
    if (!converted) return Unexpected{std::move(converted).error()};
    s.move_to_prologue();
  }
  s.tma_descriptors.emplace(tensor, *reg);
  s.tma_tensors.emplace_back(tensor);
  return reg;
}

void Builder::set_box_bytes(std::string_view tensor, std::uint64_t bytes) {
  state_->box_bytes.insert_or_assign(std::string(tensor), bytes);
}

std::optional<std::uint64_t> Builder::box_bytes(const Value& map) const {
  for (const auto& [tensor, bytes] : state_->box_bytes) {
    const auto reg = state_->tma_descriptors.find(tensor);
    if (map.kind == Value::Kind::reg && reg != state_->tma_descriptors.end() && reg->second.id == map.reg.id) return bytes;
    if (map.kind == Value::Kind::symbol && map.text == cat(tensor, ir::descriptor_suffix)) return bytes;
  }
  return std::nullopt;
}

std::uint32_t Builder::prologue_items() const { return static_cast<std::uint32_t>(state_->prologue); }

std::span<const std::string> Builder::tma_tensors() const { return state_->tma_tensors; }

}  // namespace ptx::write
