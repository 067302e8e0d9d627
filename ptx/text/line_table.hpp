// The author's lines as PTX wants to know them: files by number, helper functions as strings of a debug section. Internal to the
// room.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::text {

class LineTable {
 public:
  /// `.loc 1 12 0`, `.loc 2 8 0, function_name $L__info_string0, inlined_at 1 12 0` (several levels: one `.loc` for each call
  /// site, outermost first, as the manual's inlined_at refers to the last `.loc` of that place); nothing when the place is
  /// unknown or that of the call before.
  std::vector<std::string> enter(const SourceLocation& where);
  /// A function's body begins: the next place is said anew.
  void restart() { last_ = {}; }

  /// `.file 1 "kernel.py"`, in order, and the names of the helpers as a `.section .debug_str`.
  [[nodiscard]] std::vector<std::string> directives() const;

 private:
  std::uint32_t file(const char* name);
  std::uint32_t function(const char* name);
  void chain(const SourceLocation& where, std::vector<std::string>& lines);

  SourceLocation last_;
  std::map<std::string, std::uint32_t, std::less<>> file_ids_, function_ids_;
  std::vector<std::string> files_, functions_;
};

}  // namespace ptx::text
