// How findings are written down: the author's place and the instruction's own text belong to every one of them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::check {

class Report {
 public:
  Report(const ir::Module& module, Diagnostics& findings) : module_(module), findings_(findings) {}

  /// A finding on the module or a declaration; authored declarations have no place of their own.
  Diagnostic& error(ir::WhereId where, Kind kind, std::string message) {
    return findings_.emplace_back(Diagnostic{kind, Severity::error, std::move(message), module_.where(where), {}});
  }
  Diagnostic& warning(ir::WhereId where, Kind kind, std::string message) {
    return findings_.emplace_back(Diagnostic{kind, Severity::warning, std::move(message), module_.where(where), {}});
  }
  /// A finding on an item of a body, at the author's line; on an instruction with its text.
  Diagnostic& error(const ir::Function& function, const ir::Inst& item, Kind kind, std::string message) {
    return add(function, item, Diagnostic{kind, Severity::error, std::move(message), {}, {}});
  }
  Diagnostic& warning(const ir::Function& function, const ir::Inst& item, Kind kind, std::string message) {
    return add(function, item, Diagnostic{kind, Severity::warning, std::move(message), {}, {}});
  }
  Diagnostic& add(const ir::Function& function, const ir::Inst& item, Diagnostic finding) {
    finding.where = module_.where(item);
    if (item.kind == ir::ItemKind::inst)
      finding.notes.insert(finding.notes.begin(), {NoteKind::ptx, ir::spell(module_, function, item), {}});
    return findings_.emplace_back(std::move(finding));
  }

  [[nodiscard]] const ir::Module& module() const { return module_; }
  [[nodiscard]] std::size_t size() const { return findings_.size(); }

 private:
  const ir::Module& module_;
  Diagnostics& findings_;
};

}  // namespace ptx::check
