// What names mean while a body is read: registers, what hides them, and labels, each in the innermost block that declares it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ir/ir.hpp"
#include "ptx/text/cursor.hpp"

namespace ptx::text {

class Names {
 public:
  explicit Names(ir::Module& module) : module_(module) {}

  /// Begins a function; what the last one declared is forgotten. `slots` bounds the memory for elements of register families.
  void enter(ir::Function& function, std::size_t slots);
  void open();
  /// Ends a block: uses of its labels are bound. Those of other labels go to the block around it.
  void close();
  [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

  /// Declares what a RegDecl says: one register or a family. Returns the register, of one that is no family.
  ir::RegId declare(ir::RegDeclId decl);
  /// A variable or parameter: it hides registers of the blocks around.
  void declare_symbol(ir::StringId name);
  /// The label of that name defined here. One name twice in a block is two labels.
  ir::LabelId define_label(ir::StringId name, std::uint32_t item);
  /// An operand, by its index, that names a label if one of that name is in sight at the end of the block.
  void use_label(std::uint32_t operand, std::uint32_t item) { uses_.push_back({operand, item}); }
  /// The same, of an entry of Function::target_lists.
  void use_label_in_list(std::uint32_t list, std::uint32_t index) { uses_.push_back({list, index | list_bit}); }

  /// The register of that name, or nothing.
  std::optional<ir::RegId> find_register(std::string_view name);

  /// A use of a label that no block defines.
  struct Unbound {
    std::uint32_t operand, item;
  };
  /// Ends the function: the outermost block is closed. The uses that no label answers.
  std::vector<Unbound> leave();

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFFu;
  static constexpr std::uint32_t list_bit = 0x80000000u;

  struct Name {
    std::uint32_t binding = none;  // of the name itself
    std::uint32_t family = none;   // of the families that it is the base of
    std::uint32_t label = none;    // while its block is being closed
    bool numbered = false;         // the base of a single name: `%r7` may be declared alone
  };
  enum class Meaning : std::uint8_t { symbol, reg, family };
  struct Binding {
    ir::StringId name;
    Meaning meaning;
    std::uint32_t payload;   // RegId or index into families_
    std::uint32_t previous;  // binding that this one hides
    std::uint32_t depth;
  };
  struct Family {
    ir::RegDeclId decl;
    std::uint32_t count;
    Type type;
    bool grows = true;                   // no longer, once an element is in sparse_
    std::uint32_t slots = 0;             // elements below are in `dense`, the others in sparse_
    std::vector<std::uint32_t> dense{};  // element -> RegId
  };
  struct Scope {
    std::size_t bindings, uses, labels;
  };
  struct Use {
    std::uint32_t operand, item;
  };

  Name& name(ir::StringId id);
  [[nodiscard]] const Name* known(std::string_view text) const;
  void bind(ir::StringId id, Meaning meaning, std::uint32_t payload);
  ir::RegId element(std::uint32_t family, std::uint32_t index);
  ir::RegId make(ir::RegDeclId decl, std::uint32_t index, Type type);
  ir::Operand& operand_of(const Use& use);

  ir::Module& module_;
  ir::Function* function_ = nullptr;
  std::vector<Name> names_;  // by StringId
  std::vector<Binding> bindings_;
  std::vector<Family> families_;
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;  // family << 32 | element
  std::vector<Scope> scopes_;
  std::vector<Use> uses_;
  std::vector<std::uint32_t> labels_;  // defined in the open blocks, innermost last
  std::size_t slots_left_ = 0;
};

}  // namespace ptx::text
