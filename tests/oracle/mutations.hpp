// Statements as the world gets them wrong: mutations of operands, modifiers, guards and declarations.
#pragma once

#include <map>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptx::oracle {

/// A statement and what was done to it: "component", "guard", "modifier"; "" when it stands as it was.
struct Mutant {
  std::string statement;
  std::string how;
};

class Mutator {
 public:
  /// Learns the modifiers of each opcode from these statements.
  explicit Mutator(std::span<const std::string> statements);

  /// The statement with `changes` mutations.
  [[nodiscard]] Mutant mutate(std::string_view statement, int changes, std::mt19937_64& random) const;
  /// A declaration, directive or one-line function, about half of them mutated; `number` makes its names unique.
  [[nodiscard]] Mutant declaration(std::size_t number, std::mt19937_64& random) const;
  /// An operand of any kind.
  [[nodiscard]] static std::string operand(std::mt19937_64& random);

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> words_;  // by opcode, and "" for all
};

}  // namespace ptx::oracle
