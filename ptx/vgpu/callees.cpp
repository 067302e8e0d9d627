#include "ptx/vgpu/callees.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "ptx/flow/flow.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::vgpu {

Callees::Callees(const ir::Module& module) : module_(module), has_address_(module.functions.size()) {
  std::unordered_set<ir::StringId> named_somewhere;
  const auto look_at = [&](const std::vector<ir::Variable>& variables) {
    for (const ir::Variable& variable : variables)
      for (const ir::Init& init : variable.initialiser)
        if (init.symbol.valid()) named_somewhere.insert(init.symbol);
  };
  look_at(module.variables);
  for (const ir::Function& f : module.functions) {
    look_at(f.variables);
    for (const ir::Inst& item : f.body)
      if (item.kind == ir::ItemKind::inst && !isa::form(item.form).traits.has(isa::Trait::call))
        for (const ir::Operand& operand : f.operands_of(item))
          if (operand.kind == ir::OperandKind::symbol) named_somewhere.insert(ir::StringId(operand.payload));
  }
  for (const ir::StringId name : named_somewhere)
    if (const auto function = named(name)) has_address_[*function] = true;
}

std::optional<std::size_t> Callees::named(ir::StringId name) const {
  std::string_view wanted = module_.str(name);
  for (const ir::ModuleItem& item : module_.items) {
    if (item.kind != ir::ModuleItemKind::alias) continue;
    const std::string_view said = module_.str(ir::StringId(item.payload));
    const std::size_t comma = said.find(',');
    if (comma == std::string_view::npos || said.substr(0, said.find_last_not_of(" \t", comma - 1) + 1) != wanted) continue;
    wanted = said.substr(std::min(said.find_first_not_of(" \t", comma + 1), said.size()));
    break;
  }
  for (std::size_t i = 0; i < module_.functions.size(); ++i)
    if (module_.functions[i].has_body && !module_.functions[i].is_entry && module_.str(module_.functions[i].name) == wanted)
      return i;
  return std::nullopt;
}

bool Callees::is_recursive(std::size_t function) const {
  std::vector<bool> seen(module_.functions.size());
  std::vector<std::size_t> left{function};
  while (!left.empty()) {
    const ir::Function& f = module_.functions[left.back()];
    left.pop_back();
    for (const ir::Inst& item : f.body) {
      if (item.kind != ir::ItemKind::inst || !isa::form(item.form).traits.has(isa::Trait::call)) continue;
      for (const ir::Operand& operand : f.operands_of(item)) {
        if (operand.kind != ir::OperandKind::symbol) continue;
        const auto callee = named(ir::StringId(operand.payload));
        if (!callee) continue;
        if (*callee == function) return true;
        if (!seen[*callee]) seen[*callee] = true, left.push_back(*callee);
      }
    }
  }
  return false;
}

std::optional<HostFunction> Callees::of_driver(ir::StringId name) const {
  constexpr struct {
    std::string_view name;
    HostFunction function;
    std::size_t returns;
    std::array<int, 5> bits;  // of the parameters; 0 where there is none
  } known[] = {{"vprintf", HostFunction::print, 1, {64, 64}},
               {"__assertfail", HostFunction::fail_assertion, 0, {64, 64, 32, 64, 64}},
               {"malloc", HostFunction::allocate, 1, {64}},
               {"free", HostFunction::release, 0, {64}}};
  const auto declared = std::find_if(module_.functions.begin(), module_.functions.end(),
                                     [&](const ir::Function& f) { return f.name == name && !f.is_entry; });
  if (declared == module_.functions.end()) return std::nullopt;
  for (const auto& k : known) {
    if (module_.str(name) != k.name || declared->returns.size() != k.returns) continue;
    std::array<int, 5> bits{};
    if (declared->params.size() > bits.size()) continue;
    for (std::size_t i = 0; i < declared->params.size(); ++i) bits[i] = isa::bits(declared->params[i].type);
    if (bits == k.bits) return k.function;
  }
  return std::nullopt;
}

std::vector<std::size_t> Callees::of_call(const ir::Function& caller, const ir::Inst& call,
                                          std::span<const std::size_t> running) const {
  const ir::Operand& label = caller.operands_of(call).back();
  const ir::Inst* list = label.kind == ir::OperandKind::label ? flow::labelled_list(caller, ir::LabelId(label.payload)) : nullptr;
  std::vector<std::size_t> found;
  if (list != nullptr && list->kind == ir::ItemKind::call_targets) {
    for (const ir::Operand& target : caller.target_lists[list->payload])
      if (target.kind == ir::OperandKind::symbol)
        if (const auto f = named(ir::StringId(target.payload))) found.push_back(*f);
  } else if (list != nullptr && list->kind == ir::ItemKind::prototype) {
    const auto alike = [](const std::vector<ir::Param>& a, const std::vector<ir::Param>& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ir::Param& x, const ir::Param& y) {
        return x.in_register == y.in_register && isa::bits(x.type) == isa::bits(y.type) && x.elements == y.elements;
      });
    };
    const ir::Prototype& wanted = caller.prototypes[list->payload];
    for (std::size_t i = 0; i < module_.functions.size(); ++i) {
      const ir::Function& f = module_.functions[i];
      if (has_address_[i] && f.has_body && !f.is_entry && alike(f.params, wanted.params) && alike(f.returns, wanted.returns) &&
          std::find(running.begin(), running.end(), i) == running.end())
        found.push_back(i);
    }
  }
  return found;
}

}  // namespace ptx::vgpu
