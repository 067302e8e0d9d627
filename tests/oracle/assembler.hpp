// What ptxas says of each line of a PTX text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::oracle {

class Assembler {
 public:
  /// Errors: no_tool.
  static Expected<Assembler> find();
  /// "13.0": the release that ptxas calls itself.
  [[nodiscard]] const std::string& release() const { return release_; }
  /// The first complaint about each line that has one; line 0 is about the whole text. ptxas only parses unless `whole` is true;
  /// `relocatable`: it makes code of functions that nobody calls, too. Errors: tool_failed.
  [[nodiscard]] Expected<std::map<std::uint32_t, std::string>> complaints(std::string_view ptx, std::string_view target,
                                                                          bool whole, bool relocatable = false) const;

 private:
  std::string program_, release_;
};

}  // namespace ptx::oracle
