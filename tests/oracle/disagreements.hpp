// The disagreements with ptxas that we know, each with its reason. The list only shrinks: an entry that no longer happens is a
// failure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::oracle {

/// A known disagreement: `we accept | <instruction> | <targets> | <reason>`. In instruction and targets `*` stands for anything.
struct Entry {
  bool we_accept = false;
  std::string instruction, targets, reason;
  std::size_t line = 0;
  bool random = false;  ///< behind a heading that begins `# Random`: a sweep need not meet it
  mutable std::size_t seen = 0;
};

class Disagreements {
 public:
  /// Reads the file; empty lines and those that start with `#` mean nothing, but for the heading of the random ones.
  static Expected<Disagreements> read(const std::string& path);
  /// True when a disagreement about this instruction is known; counts it.
  [[nodiscard]] bool known(bool we_accept, std::string_view instruction, std::string_view target) const;
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

/// True when `text` is `pattern`, in which each `*` stands for any text.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace ptx::oracle
