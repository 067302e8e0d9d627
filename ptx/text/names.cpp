#include "ptx/text/names.hpp"

#include <algorithm>

namespace ptx::text {
namespace {

// "%r12" is the base "%r" and the element 12. Without digits, or with a number that no family can have: nothing.
struct Numbered {
  std::string_view base;
  std::uint32_t index = 0;
};
std::optional<Numbered> split(std::string_view name) {
  std::size_t n = name.size();
  while (n != 0 && is(name[n - 1], digit_class)) --n;
  if (n == name.size() || n == 0) return std::nullopt;
  std::uint64_t index = 0;
  for (std::size_t i = n; i < name.size(); ++i) {
    index = 10 * index + static_cast<unsigned>(name[i] - '0');
    if (index > 0xFFFFFFFEu) return std::nullopt;
  }
  return Numbered{name.substr(0, n), static_cast<std::uint32_t>(index)};
}

}  // namespace

Names::Name& Names::name(ir::StringId id) {
  if (id.index >= names_.size()) names_.resize(std::max<std::size_t>(module_.string_count(), 2 * names_.size()));
  return names_[id.index];
}

const Names::Name* Names::known(std::string_view text) const {
  const ir::StringId id = module_.interned(text);
  return id.valid() && id.index < names_.size() ? &names_[id.index] : nullptr;
}

void Names::enter(ir::Function& function, std::size_t slots) {
  function_ = &function;
  slots_left_ = slots;
  families_.clear();
  sparse_.clear();
  uses_.clear();
  labels_.clear();
  open();
}

void Names::open() { scopes_.push_back({bindings_.size(), uses_.size(), labels_.size()}); }

ir::Operand& Names::operand_of(const Use& use) {
  return (use.item & list_bit) != 0 ? function_->target_lists[use.operand][use.item & ~list_bit]
                                    : function_->operands[use.operand];
}

void Names::close() {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (labels_.size() > scope.labels) {
    // the first of a name counts
    for (std::size_t i = labels_.size(); i-- > scope.labels;) name(function_->labels[labels_[i]].name).label = labels_[i];
    std::size_t kept = scope.uses;
    for (std::size_t i = scope.uses; i < uses_.size(); ++i) {
      ir::Operand& operand = operand_of(uses_[i]);
      if (const std::uint32_t label = name(ir::StringId(operand.payload)).label; label != none) {
        operand.kind = ir::OperandKind::label;
        operand.payload = label;
      } else {
        uses_[kept++] = uses_[i];
      }
    }
    uses_.resize(kept);
    for (std::size_t i = scope.labels; i < labels_.size(); ++i) name(function_->labels[labels_[i]].name).label = none;
    labels_.resize(scope.labels);
  }
  while (bindings_.size() > scope.bindings) {
    const Binding& binding = bindings_.back();
    Name& of = names_[binding.name.index];
    (binding.meaning == Meaning::family ? of.family : of.binding) = binding.previous;
    bindings_.pop_back();
  }
}

std::vector<Names::Unbound> Names::leave() {
  while (!scopes_.empty()) close();
  std::vector<Unbound> unbound;
  for (const Use& use : uses_)
    if ((use.item & list_bit) == 0) unbound.push_back({use.operand, use.item});
  uses_.clear();
  return unbound;
}

void Names::bind(ir::StringId id, Meaning meaning, std::uint32_t payload) {
  Name& of = name(id);
  std::uint32_t& head = meaning == Meaning::family ? of.family : of.binding;
  const auto depth = static_cast<std::uint32_t>(scopes_.size());
  // A second one in the same block takes the place of the first, so that chains are no longer than blocks are deep.
  const std::uint32_t previous = head != none && bindings_[head].depth == depth ? bindings_[head].previous : head;
  bindings_.push_back({id, meaning, payload, previous, depth});
  head = static_cast<std::uint32_t>(bindings_.size() - 1);
  if (meaning == Meaning::family) return;
  if (const auto numbered = split(module_.str(id))) name(module_.intern(numbered->base)).numbered = true;
}

ir::RegId Names::make(ir::RegDeclId decl, std::uint32_t index, Type type) {
  function_->regs.push_back({decl, index, type, function_->reg_decls[decl.index].vector});
  return ir::RegId(function_->regs.size() - 1);
}

ir::RegId Names::declare(ir::RegDeclId id) {
  const ir::RegDecl& decl = function_->reg_decls[id.index];
  if (!decl.count) {
    const ir::RegId reg = make(id, 0, decl.type);
    bind(decl.base, Meaning::reg, reg.index);
    return reg;
  }
  families_.push_back({id, *decl.count, decl.type});
  bind(decl.base, Meaning::family, static_cast<std::uint32_t>(families_.size() - 1));
  return {};
}

void Names::declare_symbol(ir::StringId id) { bind(id, Meaning::symbol, 0); }

ir::LabelId Names::define_label(ir::StringId id, std::uint32_t item) {
  function_->labels.push_back({id, item});
  labels_.push_back(static_cast<std::uint32_t>(function_->labels.size() - 1));
  return ir::LabelId(function_->labels.size() - 1);
}

ir::RegId Names::element(std::uint32_t family_index, std::uint32_t index) {
  Family& family = families_[family_index];
  if (index >= family.slots) {
    // Twice as many as before, while there is room: `%r<4000000000>` is a line that anyone can write.
    const std::size_t wanted = std::min<std::size_t>(std::max<std::size_t>(2 * std::size_t{index} + 8, 16), family.count);
    if (!family.grows || wanted - family.slots > slots_left_) {
      family.grows = false;
      const auto [found, is_new] = sparse_.try_emplace(std::uint64_t{family_index} << 32 | index, none);
      if (is_new) found->second = make(family.decl, index, family.type).index;
      return ir::RegId(found->second);
    }
    slots_left_ -= wanted - family.slots;
    family.slots = static_cast<std::uint32_t>(wanted);
    family.dense.resize(wanted, none);
  }
  std::uint32_t& reg = family.dense[index];
  if (reg == none) reg = make(family.decl, index, family.type).index;
  return ir::RegId(reg);
}

std::optional<ir::RegId> Names::find_register(std::string_view text) {
  const Binding* found = nullptr;
  std::uint32_t index = 0;
  if (const auto numbered = split(text)) {
    const Name* base = known(numbered->base);
    if (base != nullptr) {
      for (std::uint32_t b = base->family; b != none && found == nullptr; b = bindings_[b].previous)
        if (numbered->index < families_[bindings_[b].payload].count) found = &bindings_[b];
      index = numbered->index;
      if (found != nullptr && !base->numbered) return element(found->payload, index);
    }
  }
  if (const Name* whole = known(text); whole != nullptr && whole->binding != none)
    if (const Binding& binding = bindings_[whole->binding]; found == nullptr || binding.depth >= found->depth) found = &binding;
  if (found == nullptr || found->meaning == Meaning::symbol) return std::nullopt;
  return found->meaning == Meaning::family ? element(found->payload, index) : ir::RegId(found->payload);
}

}  // namespace ptx::text
