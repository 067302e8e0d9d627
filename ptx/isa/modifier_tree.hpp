// The modifier tree: what may be written after the dots so far. Python's attribute access, the parser and "did you mean" walk it;
// the C++ dots are the same tree, generated.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/isa/form.hpp"

namespace ptx::isa {

/// A node of the tree: the dots so far and every form they can still become. Nodes are made once, on first use, and live as long
/// as the process; following is thread-safe.
class ModifierTree {
 public:
  struct State {
    FormId form;
    std::uint8_t next_slot;  ///< the first slot that a further word may fill
    Choices choices;
  };

  /// The root: nothing written yet; opcodes come next.
  static const ModifierTree& root();

  /// The node after one more word as PTX spells it ("shared::cta"), or nullptr when the word cannot stand here.
  [[nodiscard]] const ModifierTree* follow(std::string_view word) const;
  /// The words that may come next, each once, in table order.
  [[nodiscard]] std::vector<std::string> next_words() const;
  /// The forms that these dots spell whole: no required modifier is missing.
  [[nodiscard]] const std::vector<State>& complete() const { return complete_; }
  /// Every form that these dots may still become.
  [[nodiscard]] const std::vector<State>& states() const { return states_; }
  /// "ld.global.v4"; "" at the root.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Why `word` cannot come next: kind unknown_opcode or unknown_modifier, with what may and the nearest word.
  [[nodiscard]] Diagnostic explain(std::string_view word) const;
  /// Why an instruction cannot end here: kind missing_modifier, with the modifiers that are missing.
  [[nodiscard]] Diagnostic explain_incomplete() const;

  ModifierTree(std::string path, std::vector<State> states);
  ~ModifierTree();
  ModifierTree(const ModifierTree&) = delete;
  ModifierTree& operator=(const ModifierTree&) = delete;

 private:
  struct Children;
  std::string path_;
  std::vector<State> states_, complete_;
  std::unique_ptr<Children> children_;  // opaque, so that its mutex and map stay out of this header
};

}  // namespace ptx::isa
