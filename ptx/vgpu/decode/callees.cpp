#include "ptx/vgpu/decode/callees.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "ptx/flow/flow.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::vgpu {

namespace {

// A function on a way through the calls, and which of its calls is next.
struct Visit {
  std::size_t function, edge;
};

}  // namespace

bool is_call(const ir::Inst& item) {
  return item.kind == ir::ItemKind::inst && isa::form(item.form).traits.has(isa::Trait::call);
}

Callees::Callees(const ir::Module& module)
    : module_(module),
      has_address_(module.functions.size()),
      recursive_(module.functions.size()),
      edges_(module.functions.size()) {
  for (std::size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].has_body && !module.functions[i].is_entry) bodies_.emplace(module.str(module.functions[i].name), i);
  for (const ir::ModuleItem& item : module.items) {  // .alias a, b;
    if (item.kind != ir::ModuleItemKind::alias) continue;
    const std::string_view said = module.str(ir::StringId(item.payload));
    const std::size_t comma = said.find(',');
    if (comma == std::string_view::npos) continue;
    aliases_.emplace(said.substr(0, said.find_last_not_of(" \t", comma - 1) + 1),
                     said.substr(std::min(said.find_first_not_of(" \t", comma + 1), said.size())));
  }
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
      if (item.kind == ir::ItemKind::inst && !is_call(item))
        for (const ir::Operand& operand : f.operands_of(item))
          if (operand.kind == ir::OperandKind::symbol) named_somewhere.insert(ir::StringId(operand.payload));
  }
  for (const ir::StringId name : named_somewhere)
    if (const auto function = named(name)) has_address_[*function] = true;
  find_edges();
  find_recursive();
}

std::optional<std::size_t> Callees::named(ir::StringId name) const {
  std::string_view wanted = module_.str(name);
  if (const auto alias = aliases_.find(wanted); alias != aliases_.end()) wanted = alias->second;
  const auto found = bodies_.find(wanted);
  return found == bodies_.end() ? std::nullopt : std::optional(found->second);
}

void Callees::find_edges() {
  for (std::size_t i = 0; i < module_.functions.size(); ++i) {
    const ir::Function& f = module_.functions[i];
    for (const ir::Inst& item : f.body) {
      if (!is_call(item)) continue;
      bool by_name = false;
      for (const ir::Operand& operand : f.operands_of(item)) {
        if (operand.kind != ir::OperandKind::symbol) continue;
        by_name = true;
        if (const auto callee = named(ir::StringId(operand.payload))) edges_[i].push_back({*callee, false});
      }
      if (!by_name)
        for (const std::size_t callee : of_call(f, item)) edges_[i].push_back({callee, true});
    }
  }
}

// Functions that reach themselves by calls of their names: those of a strongly connected part of more than one, found as R.
// Tarjan does, and those that call themselves.
void Callees::find_recursive() {
  const std::size_t count = edges_.size();
  constexpr std::size_t unseen = 0;
  std::vector<std::size_t> number(count), lowest(count), part;
  std::vector<bool> in_part(count);
  std::size_t next = 1;
  for (std::size_t root = 0; root < count; ++root) {
    if (number[root] != unseen) continue;
    std::vector<Visit> path;
    const auto enter = [&](std::size_t function) {
      number[function] = lowest[function] = next++;
      part.push_back(function);
      in_part[function] = true;
      path.push_back({function, 0});
    };
    enter(root);
    while (!path.empty()) {
      Visit& visit = path.back();
      const std::size_t function = visit.function;
      if (visit.edge < edges_[function].size()) {
        const Edge edge = edges_[function][visit.edge++];
        if (edge.by_address) continue;
        if (edge.callee == function) recursive_[function] = true;
        if (number[edge.callee] == unseen)
          enter(edge.callee);
        else if (in_part[edge.callee])
          lowest[function] = std::min(lowest[function], number[edge.callee]);
        continue;
      }
      path.pop_back();
      if (!path.empty()) lowest[path.back().function] = std::min(lowest[path.back().function], lowest[function]);
      if (lowest[function] != number[function]) continue;
      const bool several = part.back() != function;
      for (bool last = false; !last;) {
        const std::size_t member = part.back();
        part.pop_back();
        in_part[member] = false;
        if (several) recursive_[member] = true;
        last = member == function;
      }
    }
  }
}

bool Callees::need_one_body(std::size_t kernel, std::size_t most) const {
  // of each function what its body takes with its callees' in their places, once that is known
  std::vector<std::size_t> size(edges_.size());
  std::vector<bool> running(edges_.size());
  std::vector<Visit> path;
  const auto enter = [&](std::size_t function) {
    running[function] = true;
    size[function] = module_.functions[function].body.size() + 1;
    path.push_back({function, 0});
  };
  enter(kernel);
  while (!path.empty()) {
    Visit& visit = path.back();
    const std::size_t function = visit.function;
    if (visit.edge < edges_[function].size()) {
      const Edge edge = edges_[function][visit.edge];
      if (running[edge.callee]) {
        if (edge.by_address) return true;
        ++visit.edge;
      } else if (size[edge.callee] == 0) {
        enter(edge.callee);  // and then it is looked at again
      } else {
        size[function] += size[edge.callee];
        ++visit.edge;
      }
      if (size[function] > most) return true;
      continue;
    }
    running[function] = false;
    path.pop_back();
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

std::vector<std::size_t> Callees::of_call(const ir::Function& caller, const ir::Inst& call) const {
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
      if (has_address_[i] && f.has_body && !f.is_entry && alike(f.params, wanted.params) && alike(f.returns, wanted.returns))
        found.push_back(i);
    }
  }
  return found;
}

}  // namespace ptx::vgpu
