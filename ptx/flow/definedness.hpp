// Registers that some path reads before it writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ptx/flow/graph.hpp"

namespace ptx::flow {

/// What the instructions of a function do with registers: a number for each register, as the caller likes, below 2^31.
class Uses {
 public:
  void reserve(std::size_t instructions, std::size_t mentions);
  /// One more instruction, behind the others. Its registers follow.
  void add(std::uint32_t item, bool guarded) {
    instructions_.push_back({item, static_cast<std::uint32_t>(mentions_.size()), guarded});
  }
  void read(std::uint32_t reg) { mentions_.push_back(reg << 1); }
  void write(std::uint32_t reg) { mentions_.push_back(reg << 1 | 1); }

  /// How many instructions.
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(instructions_.size()); }
  [[nodiscard]] std::uint32_t item(std::uint32_t instruction) const { return instructions_[instruction].item; }
  [[nodiscard]] bool is_guarded(std::uint32_t instruction) const { return instructions_[instruction].guarded; }
  /// The instruction of that item, or the first one behind it.
  [[nodiscard]] std::uint32_t at(std::uint32_t item) const;
  template <class Use>
  void each_read(std::uint32_t instruction, Use use) const {
    for (const std::uint32_t mention : mentions(instruction))
      if ((mention & 1) == 0) use(mention >> 1);
  }
  template <class Use>
  void each_write(std::uint32_t instruction, Use use) const {
    for (const std::uint32_t mention : mentions(instruction))
      if ((mention & 1) != 0) use(mention >> 1);
  }

 private:
  struct Instruction {
    std::uint32_t item, first;
    bool guarded;
  };
  [[nodiscard]] std::span<const std::uint32_t> mentions(std::uint32_t instruction) const {
    const std::size_t first = instructions_[instruction].first;
    const std::size_t end = instruction + 1 < size() ? instructions_[instruction + 1].first : mentions_.size();
    return std::span(mentions_).subspan(first, end - first);
  }
  std::vector<Instruction> instructions_;
  std::vector<std::uint32_t> mentions_;
};

/// A read that some path reaches without a write of the register before it. A guarded write defines nothing for sure.
struct MaybeUndefined {
  std::uint32_t instruction = 0;  ///< number in Uses
  std::uint32_t reg = 0;
};
/// In the order of the instructions; those that nothing reaches are left out. `registers`: the numbers lie below.
std::vector<MaybeUndefined> find_maybe_undefined(const Graph& graph, const Uses& uses, std::size_t registers);

}  // namespace ptx::flow
