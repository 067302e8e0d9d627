// What ptxas says of every statement of a text, one statement a line.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/isa.hpp"
#include "tests/oracle/assembler.hpp"

namespace ptx::oracle {

/// A text and where in it the statements stand that are asked about, one a line.
struct Asked {
  std::string text;
  std::vector<std::size_t> start, length;        ///< of each statement, in bytes
  std::map<std::uint32_t, std::size_t> at_line;  ///< line of the text, from 1 -> statement

  /// `lines[i]` is the line of statement i; tabs before it do not belong to it.
  Asked(std::string text, const std::vector<std::uint32_t>& lines);
  [[nodiscard]] std::string statement(std::size_t i) const { return text.substr(start[i], length[i]); }
  /// The same text with all other statements blanked.
  [[nodiscard]] Asked alone(std::size_t i) const;
  /// Puts another statement, of any length, in its place.
  void replace(std::size_t i, std::string_view statement);
};

/// Why ptxas refuses each statement, "" where it accepts it. Every statement is judged with all that ptxas refuses blanked: some
/// complaints come only when others are gone. A complaint that names no statement's line is brought home by halving. `whole`:
/// also makes machine code of what is left. Errors: tool_failed.
Expected<std::vector<std::string>> verdicts(const Assembler& assembler, const Asked& asked, Target target, bool whole);

}  // namespace ptx::oracle
