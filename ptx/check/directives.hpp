// The directives of a function (manual: "Performance-Tuning Directives", "Cluster Dimension Directives", "Miscellaneous
// Directives"), pragmas, and what launch bounds leave of the register file.
#pragma once

#include <cstdint>
#include <optional>

#include "ptx/check/report.hpp"

namespace ptx::check {

void check_directives(Report& report, const ir::Function& function);
/// The directives of a .callprototype.
void check_directives(Report& report, const ir::Prototype& prototype, ir::WhereId where);

/// Where a pragma stands: some belong in a body alone, one in that of an entry.
enum class PragmaLevel : std::uint8_t { module, directive, func_body, entry_body };
/// The strings of a `.pragma`: `"nounroll", "x"`.
void check_pragma(Report& report, std::string_view strings, PragmaLevel level, ir::WhereId where);

/// What the launch bounds of an entry say about its registers, as ptxas 13.0 reads them.
struct LaunchBounds {
  std::optional<std::uint64_t> threads;  ///< of a CTA: .reqntid, or at most: .maxntid
  bool exact_threads = false;            ///< .reqntid
  std::uint32_t ctas_per_sm = 1;         ///< .minnctapersm
  std::optional<std::uint32_t> maxnreg;
  /// Registers of a thread when the kernel starts, at most; a multiple of 8.
  [[nodiscard]] std::uint32_t registers() const;
  /// True when `setmaxnreg` has something to start from: .maxnreg, or .minnctapersm with .maxntid or .reqntid.
  bool fixed_registers = false;
};
LaunchBounds launch_bounds(const ir::Function& function);

}  // namespace ptx::check
