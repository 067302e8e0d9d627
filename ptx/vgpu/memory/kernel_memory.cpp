#include "ptx/vgpu/memory/kernel_memory.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace ptx::vgpu {
namespace {

// What check lets by is far below; this holds whatever check does.
constexpr std::uint64_t max_local_bytes = 512 * 1024;
constexpr std::uint64_t max_shared_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t max_param_bytes = 64 * 1024;

Unexpected too_much(const Code& code, std::string_view space, std::uint64_t bytes, std::uint64_t most) {
  return Unexpected{{.kind = Kind::not_executed,
                     .message = cat("kernel `", code.name, "` takes ", bytes, " bytes of .", space,
                                    " memory; the executor gives ", most, " at most"),
                     .where = code.module->where(code.function->where)}};
}

}  // namespace

KernelMemory::KernelMemory(Code& code, const Instance& instance, const Expanded* calls)
    : code_(code),
      instance_(instance),
      calls_(calls),
      meaning_(code.function->operands.size()),
      used_(code.module->variables.size()),
      of_module_(code.module->variables.size()),
      of_function_(code.function->variables.size()),
      of_params_(code.function->params.size()) {}

Expected<KernelMemory> KernelMemory::make(Code& code, const Instance& instance, const Expanded* calls) {
  KernelMemory memory(code, instance, calls);
  memory.resolve();
  if (auto placed = memory.place(); !placed) return Unexpected{std::move(placed).error()};
  return memory;
}

// Walks the body as its scopes open and close: a name means the innermost variable that is declared before it.
void KernelMemory::resolve() {
  const ir::Function& f = *code_.function;
  using Names = std::unordered_map<ir::StringId, Meaning>;
  Names of_module;
  using Of = Meaning::Of;
  for (std::uint32_t i = 0; i < code_.module->functions.size(); ++i)
    of_module.try_emplace(code_.module->functions[i].name, Meaning{Of::code, i});
  for (std::uint32_t i = 0; i < code_.module->variables.size(); ++i) of_module[code_.module->variables[i].name] = {Of::module, i};
  Names names = of_module;
  for (std::uint32_t i = 0; i < f.params.size(); ++i) names[f.params[i].name] = {Of::param, i};
  for (const std::uint32_t i : ir::leading_declarations(*code_.module, f).variables)
    if (is_own(i)) names[f.variables[i].name] = {Of::function, i};
  std::vector<std::pair<ir::StringId, Meaning>> hidden;  // what a closing brace brings back
  struct Open {
    std::size_t hidden;
    std::optional<Names> names;  // of the caller, around the body of a call
  };
  std::vector<Open> open;
  for (const ir::Inst& item : f.body) {
    switch (item.kind) {
      case ir::ItemKind::open:
        open.push_back({hidden.size(), std::nullopt});
        if (calls_ == nullptr || item.payload == 0) break;
        open.back().names = std::exchange(names, of_module);
        for (const std::uint32_t i : calls_->frames[item.payload - 1].variables) names[f.variables[i].name] = {Of::function, i};
        for (const auto& [name, i] : calls_->frames[item.payload - 1].bindings) names[name] = {Of::function, i};
        break;
      case ir::ItemKind::close:
        if (open.empty()) break;
        for (; hidden.size() > open.back().hidden; hidden.pop_back()) names[hidden.back().first] = hidden.back().second;
        if (open.back().names) names = std::move(*open.back().names);
        open.pop_back();
        break;
      case ir::ItemKind::variable: {
        Meaning& meaning = names[f.variables[item.payload].name];
        hidden.emplace_back(f.variables[item.payload].name, meaning);
        meaning = {Of::function, item.payload};
        break;
      }
      case ir::ItemKind::inst:
        for (const ir::Operand& operand : f.operands_of(item)) resolve(operand, names);
        break;
      default:
        break;
    }
  }
}

// False for a variable of a function that the kernel calls.
bool KernelMemory::is_own(std::uint32_t variable) const {
  return calls_ == nullptr || (calls_->variables[variable].function == code_.function_index &&
                               variable < code_.module->functions[code_.function_index].variables.size());
}

void KernelMemory::resolve(const ir::Operand& operand, const std::unordered_map<ir::StringId, Meaning>& names) {
  if (ir::has_parts(operand.kind))
    for (const ir::Operand& part : code_.function->parts(operand)) resolve(part, names);
  if (operand.kind != ir::OperandKind::symbol) return;
  const auto found = names.find(ir::StringId(operand.payload));
  if (found == names.end()) return;
  meaning_[static_cast<std::size_t>(&operand - code_.function->operands.data())] = found->second;
  if (found->second.of == Meaning::Of::module) used_[found->second.index] = true;
}

// The memory of a .global or .const variable.
std::span<std::byte> KernelMemory::memory_of(const ir::Function* function, std::size_t variable) const {
  if (function == nullptr || calls_ == nullptr) return instance_.memory(function, variable);
  const Expanded::Origin origin = calls_->variables[variable];
  return instance_.memory(&code_.module->functions[origin.function], origin.index);
}

Expected<void> KernelMemory::place() {
  const ir::Function& f = *code_.function;
  const std::vector<std::uint64_t> offsets = ir::param_offsets(f.params);
  code_.param_bytes = offsets.back();
  if (code_.param_bytes > max_param_bytes) return too_much(code_, "param", code_.param_bytes, max_param_bytes);
  for (std::size_t i = 0; i < f.params.size(); ++i) of_params_[i] = {Space::param, static_cast<std::int64_t>(offsets[i])};

  // Of the module's shared variables those that the kernel names take room, of its own all (ptxas does the same).
  std::vector<const ir::Variable*> unsized;
  const auto place_all = [&](const ir::Function* function, const std::vector<ir::Variable>& variables,
                             std::vector<std::optional<Symbol>>& symbols) -> Expected<void> {
    for (std::size_t i = 0; i < variables.size(); ++i) {
      const ir::Variable& v = variables[i];
      if (function == nullptr && !used_[i]) continue;
      if (v.space == ir::StateSpace::global || v.space == ir::StateSpace::const_) {
        const std::span<std::byte> memory = memory_of(function, i);
        symbols[i] = {Space::global, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(memory.data()))};
      } else if (v.space == ir::StateSpace::shared || v.space == ir::StateSpace::local) {
        if (auto placed = place(v, unsized, symbols[i].emplace()); !placed) return placed;
      }
    }
    return {};
  };
  if (auto placed = place_all(nullptr, code_.module->variables, of_module_); !placed) return placed;
  if (auto placed = place_all(code_.function, f.variables, of_function_); !placed) return placed;
  // Every `extern .shared x[]` names the same place: where the dynamic part starts (manual: "Variables: extern").
  std::uint64_t align = 16;
  for (const ir::Variable* v : unsized) align = std::max(align, v->alignment());
  code_.dynamic_smem_offset = align_size(code_.static_smem, align);
  if (code_.dynamic_smem_offset > max_shared_bytes) return too_much(code_, "shared", code_.dynamic_smem_offset, max_shared_bytes);
  const Symbol dynamic{Space::shared, static_cast<std::int64_t>(shared_base + code_.dynamic_smem_offset)};
  for (std::size_t i = 0; i < of_module_.size(); ++i)
    if (of_module_[i] && code_.module->variables[i].space == ir::StateSpace::shared && code_.module->variables[i].unsized)
      of_module_[i] = dynamic;
  const auto note = [&](const std::vector<ir::Variable>& variables, const std::vector<std::optional<Symbol>>& symbols) {
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (symbols[i] && symbols[i]->space == Space::shared)
        code_.shared_variables.push_back({std::string(code_.module->str(variables[i].name)),
                                          static_cast<std::uint64_t>(symbols[i]->address) - shared_base,
                                          variables[i].unsized ? 0 : variables[i].bytes()});
  };
  note(code_.module->variables, of_module_);
  note(f.variables, of_function_);
  return {};
}

Expected<void> KernelMemory::place(const ir::Variable& v, std::vector<const ir::Variable*>& unsized, Symbol& symbol) {
  const bool shared = v.space == ir::StateSpace::shared;
  if (shared && v.unsized) {
    unsized.push_back(&v);
    return {};
  }
  std::uint64_t& size = shared ? code_.static_smem : code_.local_bytes;
  const std::uint64_t most = shared ? max_shared_bytes : max_local_bytes;
  const std::uint64_t begin = align_size(size, v.alignment());
  size = add_sizes(begin, v.bytes());
  if (size > most) return too_much(code_, ir::name(v.space), size, most);
  symbol = {shared ? Space::shared : Space::local, static_cast<std::int64_t>((shared ? shared_base : local_base) + begin)};
  return {};
}

std::optional<Symbol> KernelMemory::symbol(const ir::Function& function, const ir::Operand& operand) const {
  const Meaning meaning = meaning_[static_cast<std::size_t>(&operand - function.operands.data())];
  const auto of_type = [](std::optional<Symbol> symbol, Type type) {
    if (symbol) symbol->scalar_bytes = static_cast<std::uint32_t>((isa::bits(type) + 7) / 8);
    return symbol;
  };
  switch (meaning.of) {
    case Meaning::Of::module:
      return of_type(of_module_[meaning.index], code_.module->variables[meaning.index].type);
    case Meaning::Of::function:
      return of_type(of_function_[meaning.index], function.variables[meaning.index].type);
    case Meaning::Of::param:
      return of_type(of_params_[meaning.index], function.params[meaning.index].type);
    case Meaning::Of::code:
      return Symbol{
          .space = Space::global,
          .address = static_cast<std::int64_t>(function_address(*code_.module, code_.module->functions[meaning.index].name)),
          .scalar_bytes = 1};
    case Meaning::Of::nothing:
      break;
  }
  return std::nullopt;
}

}  // namespace ptx::vgpu
