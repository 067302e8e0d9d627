// Turns a kernel's body into steps: variables and registers get their places, blocks their order, instructions their handlers.
#pragma once

#include <array>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ptx/flow/flow.hpp"
#include "ptx/vgpu/decode/calls.hpp"
#include "ptx/vgpu/decode/decoding.hpp"
#include "ptx/vgpu/decode/register_file.hpp"
#include "ptx/vgpu/memory/kernel_memory.hpp"

namespace ptx::vgpu {

class Decoder {
 public:
  /// `accepted`: what has the code's function. `graph`: of the code's function. `calls`: how that came to be, when it calls
  /// others; else nullptr. `unsupported`: takes what is not executed, all of it; nullptr: the first ends decoding.
  Decoder(Code& code, KernelMemory memory, const check::Accepted& accepted, const flow::Graph& graph,
          const Expanded* calls = nullptr, Diagnostics* unsupported = nullptr);
  /// Kinds: not_executed.
  Expected<void> run();

  // -- what Decoding asks for
  [[nodiscard]] const Code& code() const { return code_; }
  RegisterFile& file() { return file_; }
  [[nodiscard]] std::uint32_t slot_of(Scalar scalar);
  std::uint32_t slot_of(isa::SpecialId special);
  [[nodiscard]] std::optional<Symbol> symbol(const ir::Operand& operand) const {
    return memory_.symbol(*code_.function, operand);
  }
  std::uint32_t new_site() { return code_.sites++; }
  std::uint32_t stack_pointer();
  /// The slot of what is added to an offset in the block's shared memory to make its address: 64 bits.
  std::uint32_t rank_base();
  /// The slot of what is added to local addresses; nothing when no function calls itself.
  [[nodiscard]] std::optional<std::uint32_t> frame_pointer() const {
    return code_.most_frames == 0 ? std::nullopt : std::optional(code_.frame_pointer);
  }
  [[nodiscard]] const Expanded::Recursive& recursive(const HostCall& call) const { return calls_->recursive[call.recursive]; }
  std::uint32_t add(RecursiveCall call) {
    code_.recursive_calls.push_back(std::move(call));
    return static_cast<std::uint32_t>(code_.recursive_calls.size() - 1);
  }
  /// Behind those that are there; returns where they begin.
  std::uint32_t add_operands(std::span<const std::uint32_t> slots) {
    const auto begin = static_cast<std::uint32_t>(code_.operands.size());
    code_.operands.insert(code_.operands.end(), slots.begin(), slots.end());
    return begin;
  }
  [[nodiscard]] const HostCall* host_call(std::uint32_t item) const;

 private:
  void read_directives();
  std::optional<Diagnostic> read_body();
  std::optional<Diagnostic> refusal(const ir::Inst& inst, std::uint32_t item);
  std::optional<Diagnostic> find_specs(const ir::Inst& inst, std::uint32_t item);
  [[nodiscard]] std::span<const std::uint8_t> matched(const ir::Inst& inst, std::uint32_t item) const;
  [[nodiscard]] std::span<const std::uint8_t> specs_of(std::size_t number) const;
  void read_uses(const ir::Inst& inst, std::uint32_t item);
  std::optional<Diagnostic> emit();
  std::optional<Diagnostic> emit(std::uint32_t number);
  [[nodiscard]] Scalar guard_of(const ir::Inst& inst) const;
  std::uint32_t signature_of(const ir::Inst& inst);
  void prepare_recursion();
  void keep_slots();
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> list_of_labels(const ir::Inst& inst) const;
  void add_trace(const Decoding& decoding, std::uint32_t item);
  void find_parts(const Decoding& decoding, Trace& trace) const;
  void keep_scalar_slots();
  void add_doubt(const Decoding& decoding, std::uint32_t item);
  void add_definedness_steps(std::uint32_t number, const ir::Inst& inst, std::uint32_t item);
  void add(Step step, const ir::Inst& inst, std::uint32_t item);
  Diagnostic not_executed(std::uint32_t item, std::string_view why) const;

  Code& code_;
  const check::Accepted& accepted_;
  const flow::Graph& graph_;
  const Expanded* calls_;
  Diagnostics* unsupported_;
  KernelMemory memory_;
  RegisterFile file_;
  std::vector<std::optional<std::uint32_t>> scalar_slots_;
  std::unordered_map<isa::SpecialId, std::uint32_t> special_slots_;
  flow::Uses uses_;                                    ///< of scalars
  std::vector<std::uint8_t> specs_;                    ///< by operand, of all instructions: which of its form's operands it is
  std::vector<std::uint32_t> spec_begin_;              ///< by instruction
  std::vector<std::optional<std::uint32_t>> tracked_;  ///< by scalar: the slot of its defined lanes, if some read needs it
  std::vector<std::vector<std::uint32_t>> checks_;     ///< by instruction: scalars to check before it
  std::vector<std::pair<std::uint32_t, std::uint32_t>> jumps_;  ///< step, and the block it goes to
  std::array<std::vector<std::uint32_t>, 3> register_lists_;    ///< of one instruction: room that is used again
  std::optional<std::uint32_t> stack_pointer_;
  std::uint32_t ordinal_ = 0;
  Key signature_;
  KeyMap<std::uint32_t> signatures_;  ///< form and choices
  std::uint32_t signature_count_ = 0;
  std::uint32_t doubted_ = 0;  ///< signatures below it have been looked at
};

}  // namespace ptx::vgpu
