// Turns a kernel's body into steps: variables and registers get their places, blocks their order, instructions their handlers.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ptx/vgpu/decoding.hpp"
#include "ptx/vgpu/flow.hpp"
#include "ptx/vgpu/register_file.hpp"

namespace ptx::vgpu {

class Decoder {
 public:
  explicit Decoder(Code& code);
  /// Kinds: not_executed.
  Expected<void> run();

  // -- what Decoding asks for
  [[nodiscard]] const Code& code() const { return code_; }
  RegisterFile& file() { return file_; }
  [[nodiscard]] std::uint32_t slot_of(ir::RegId reg);
  std::uint32_t slot_of(isa::SpecialId special);
  struct Symbol {
    Space space;
    std::int64_t address;
  };
  [[nodiscard]] std::optional<Symbol> symbol(ir::StringId name) const;
  std::uint32_t new_site() { return code_.sites++; }

 private:
  void place_params();
  void place_variables();
  void place(const ir::Variable& variable, std::vector<const ir::Variable*>& unsized);
  void read_directives();
  std::optional<Diagnostic> read_body();
  void read_flow(const ir::Inst& inst, std::uint32_t item, const Decoding& decoding);
  std::optional<Diagnostic> emit();
  std::optional<Diagnostic> emit(std::uint32_t inst);
  void add(Step step, const ir::Inst& inst, std::uint32_t item);
  Diagnostic not_executed(std::uint32_t item, std::string_view why) const;

  Code& code_;
  RegisterFile file_;
  std::unordered_map<ir::StringId, Symbol> symbols_;
  std::vector<std::optional<std::uint32_t>> reg_slots_;
  std::unordered_map<isa::SpecialId, std::uint32_t> special_slots_;
  std::vector<FlowInst> flow_;
  std::vector<Block> blocks_;
  std::vector<std::optional<std::uint32_t>> tracked_;  ///< by register: the slot of its defined lanes, if some read needs it
  std::vector<std::vector<std::uint32_t>> checks_;     ///< by instruction: registers to check before it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_;  ///< step, and the block it goes to
  std::uint32_t ordinal_ = 0;
  std::map<std::pair<isa::FormId, isa::Choices>, std::uint32_t> signatures_;
};

}  // namespace ptx::vgpu
