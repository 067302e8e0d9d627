// Registers that are read although nothing can have written them, and registers that hold one constant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ptx/check/access.hpp"
#include "ptx/check/report.hpp"
#include "ptx/flow/flow.hpp"

namespace ptx::check {

/// Follows the registers of a body, item by item in the order of the text.
class Registers {
 public:
  explicit Registers(const ir::Function& function);

  /// Takes in an instruction, the item of that number, by the registers that it mentions.
  void touch(std::uint32_t item, const ir::Inst& inst, std::span<const Mention> mentions, Access access, bool is_move);
  /// Reports reads that no path leads to from a write, once for each instruction. A `mov` between registers hands on what was
  /// never written: its result counts as unwritten, and who reads that is told. Linear: a read is certain to come first when it
  /// stands before every write and no loop leads back to it from behind one.
  void report_unwritten(Report& report, const flow::Graph& graph);
  /// The constant that an operand is: an immediate, or a register that one `mov` of an immediate writes and nothing else.
  [[nodiscard]] std::optional<std::int64_t> constant(const ir::Operand& operand) const;

 private:
  static constexpr std::uint32_t never = 0xFFFFFFFFu, before_all = 0;
  struct Seen {
    std::uint32_t write = never, read = never;  // 1 + the first item that does
    bool again = false;                         // written more than once
  };
  void read(std::uint32_t item, std::uint32_t reg) {
    Seen& seen = seen_[reg];
    // An instruction that writes the register reads it first.
    if ((seen.write == never || seen.write == item) && seen.read == never) seen.read = item;
  }

  struct Handed {
    std::uint32_t item, to, from;
  };
  void settle_handed();
  void report(Report& report, std::uint32_t item, const std::vector<std::uint32_t>& registers) const;

  const ir::Function& function_;
  std::vector<Seen> seen_;
  std::vector<Handed> handed_;  // `mov to, from` of registers that nothing had written so far
};

}  // namespace ptx::check
