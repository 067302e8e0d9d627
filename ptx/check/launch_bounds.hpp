// What the launch bounds of an entry leave of an SM's registers, as ptxas 13.0 reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ptx/ir/ir.hpp"

namespace ptx::check {

/// The most registers a thread can have, and what ptxas counts with where nothing bounds them.
inline constexpr std::uint32_t unbounded_registers = 256;

struct LaunchBounds {
  Target target{};
  std::optional<std::uint64_t> threads;  ///< of a CTA: .reqntid, or at most: .maxntid
  std::uint32_t ctas_per_sm = 1;         ///< .minnctapersm, where an SM holds as many
  bool says_ctas = false;                ///< .minnctapersm counts
  std::optional<std::uint32_t> maxnreg;

  /// Registers of a thread when the kernel starts, at most.
  [[nodiscard]] std::uint32_t registers() const;
  /// True when ptxas knows how many registers a thread starts with, which `setmaxnreg` needs: .maxnreg, .minnctapersm with
  /// .maxntid or .reqntid, or when an SM holds one CTA alone: too many threads for two, or one instruction whose `needed`
  /// registers two CTAs do not leave.
  [[nodiscard]] bool fixes_registers(std::uint32_t needed) const;

 private:
  [[nodiscard]] std::uint32_t registers_for(std::uint64_t ctas) const;
};
LaunchBounds launch_bounds(const ir::Function& function, Target target);

/// The threads of `.maxntid 16, 8, 4`.
std::uint64_t thread_count(const std::vector<std::uint32_t>& values);

}  // namespace ptx::check
