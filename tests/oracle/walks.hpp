// Random instructions: walks through the table with random choices and operands, and mutations of what they spell.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ptx/isa/isa.hpp"
#include "tests/oracle/cases.hpp"
#include "tests/oracle/verdicts.hpp"

namespace ptx::oracle {

/// A module with `count` random statements, one a line: about half legal walks, half of them then mutated (a modifier dropped,
/// doubled, moved or taken from another form of the opcode; an operand dropped, doubled, moved or replaced). The same seed gives
/// the same text.
Asked random_text(std::uint64_t seed, std::size_t count, Target target, Version version);

/// A module with every modifier of the cases' instructions moved behind the next one, and to the end: ptxas takes many modifiers
/// in any order, and the parser takes those that ptxas takes.
Asked moved_text(std::span<const Case> cases, Target target, Version version);

/// A module with these statements, which may use the names that mutations use and `%b32_0` to `%b32_159` for every type.
Asked given_text(std::span<const std::string> statements, Target target, Version version);

}  // namespace ptx::oracle
