// What leads from code back to its source: .file, .loc and debug sections (manual: "Debugging Directives").
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "ptx/check/report.hpp"

namespace ptx::check {

class DebugInfo {
 public:
  /// Reads the labels of the module's sections; reports one that is there twice.
  explicit DebugInfo(Report& report);

  /// `.file`: what stands behind it, `1 "a.cu"`.
  void file(std::string_view text, ir::WhereId where);
  void loc(const ir::Function& function, const ir::Inst& item);

 private:
  Report& report_;
  std::unordered_set<std::uint32_t> files_;
  std::unordered_set<std::string_view> labels_;
  std::unordered_set<std::uint64_t> places_;  // of every .loc so far
  bool inlines_ = false;                      // some .loc of the module is inlined: the places count
};

}  // namespace ptx::check
