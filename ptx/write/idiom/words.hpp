// ModifierTree that an author gives in parts: a shape, a type, an operation. They are followed in the table, so that what fits is
// asked of the table too. Internal to the room.
#pragma once

#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "ptx/isa/isa.hpp"

namespace ptx::write::idiom {

/// The dots of an instruction, a word at a time.
class Words {
 public:
  /// `known` are words of the table: "mma.sync.aligned". `helper` is what the author called, for the errors.
  Words(std::string_view known, std::string_view helper, SourceLocation where);

  /// The next word, as the author gave it for `what` ("the shape"). Kind operand_mismatch, with the words that may stand here.
  Expected<void> follow(std::string_view word, std::string_view what);
  /// True when the word may stand next.
  [[nodiscard]] bool can_follow(std::string_view word) const { return node_->follow(word) != nullptr; }

  [[nodiscard]] const isa::ModifierTree& dots() const { return *node_; }

 private:
  const isa::ModifierTree* node_;
  std::string helper_;
  SourceLocation where_;
};

}  // namespace ptx::write::idiom
