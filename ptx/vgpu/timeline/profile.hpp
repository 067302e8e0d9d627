// What each instruction of a run did, summed up: for tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::vgpu {

/// Of one instruction, or, in Profile::by_line, of all those of one line.
struct ProfileRow {
  std::string kernel;
  std::string instruction;     ///< "ld.shared.f32"; of several: how many
  std::uint32_t ptx_line = 0;  ///< in the listing; 0: not known
  SourceLocation where;        ///< the author's line

  std::uint64_t executions = 0;                         ///< by warps; of a loop that polls as often as the schedule had it ask
  std::uint64_t lanes = 0;                              ///< active in all of these together: 32 for each at most
  std::uint64_t cycles = 0;                             ///< of issuing it, in the timeline's model
  std::uint64_t stalls = 0;                             ///< cycles waited for registers that it reads, or for others
  std::uint64_t wavefronts = 0, needed_wavefronts = 0;  ///< accesses of shared memory, and the least for its bytes
  std::uint64_t sectors = 0, needed_sectors = 0;        ///< of 32 bytes, of accesses of global memory
  std::uint64_t copied_bytes = 0;                       ///< by asynchronous operations that it began

  [[nodiscard]] std::uint64_t bank_conflicts() const { return wavefronts - needed_wavefronts; }
  [[nodiscard]] std::uint64_t spare_sectors() const { return sectors - needed_sectors; }
  void add(const ProfileRow& other);
};

struct Profile {
  /// Of each launch, kernel by kernel, the instructions that ran, in the order of the text.
  std::vector<ProfileRow> rows;
  std::uint64_t cycles = 0;  ///< of the model, from the first instruction to the last

  /// The rows of each of the author's lines together, those that cost most first; where a line is not known, instruction by
  /// instruction.
  [[nodiscard]] std::vector<ProfileRow> by_line() const;
  /// A table for a terminal, `most` lines of it (0: all), of by_line().
  [[nodiscard]] std::string table(std::size_t most = 10) const;
};

}  // namespace ptx::vgpu
