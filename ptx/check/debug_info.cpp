#include "ptx/check/debug_info.hpp"

#include <algorithm>
#include <charconv>

namespace ptx::check {
namespace {

// A place as one number; files and columns beyond 16 bits share theirs with others, which only lets a mistake pass.
std::uint64_t key(std::uint32_t file, std::uint32_t line, std::uint32_t column) {
  return std::uint64_t{file & 0xFFFFu} << 48 | std::uint64_t{column & 0xFFFFu} << 32 | line;
}

// Calls `each` with the labels of a section's lines: `$L__info_string0:` and what may stand behind it.
template <class Each>
void each_label(std::string_view lines, const Each& each) {
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      std::string_view name = line.substr(0, colon);
      while (!name.empty() && (name.front() == ' ' || name.front() == '\t')) name.remove_prefix(1);
      while (!name.empty() && (name.back() == ' ' || name.back() == '\t')) name.remove_suffix(1);
      if (!name.empty() && name.find_first_of(" \t\"") == std::string_view::npos) each(name);
    }
    lines = end == std::string_view::npos ? std::string_view() : lines.substr(end + 1);
  }
}

}  // namespace

DebugInfo::DebugInfo(Report& report) : report_(report) {
  const ir::Module& module = report.module();
  for (const ir::ModuleItem& item : module.items) {
    if (item.kind != ir::ModuleItemKind::section || item.payload >= module.sections.size()) continue;
    each_label(module.sections[item.payload].lines, [&](std::string_view label) {
      if (!labels_.insert(label).second)
        report.error(item.where, Kind::duplicate_label, cat("the label `", label, "` of a section is defined twice"));
    });
  }
  for (const ir::Function& f : module.functions)
    inlines_ = inlines_ || std::any_of(f.locs.begin(), f.locs.end(), [](const ir::Loc& l) { return l.function_name.valid(); });
}

void DebugInfo::file(std::string_view text, ir::WhereId where) {
  std::uint32_t number = 0;
  while (text.starts_with(' ')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return;
  if (!files_.insert(number).second)
    report_.error(where, Kind::bad_declaration, cat("the file number ", number, " is declared twice"));
}

void DebugInfo::loc(const ir::Function& function, const ir::Inst& item) {
  if (!inlines_ || item.payload >= function.locs.size()) return;
  const ir::Loc& loc = function.locs[item.payload];
  const auto bad = [&](Kind kind, std::string why) { report_.error(function, item, kind, std::move(why)); };
  if (loc.function_name.valid()) {
    const std::string_view label = report_.module().str(loc.function_name);
    if (!labels_.contains(label))
      bad(Kind::undefined_label,
          cat("no section of the module defines the label `", label, "`, the name of an inlined function"));
    if (!places_.contains(key(loc.inlined_file, loc.inlined_line, loc.inlined_column)))
      bad(Kind::bad_declaration, cat("no `.loc` before this one is at file ", loc.inlined_file, ", line ", loc.inlined_line,
                                     ", column ", loc.inlined_column, ", where it says that it is inlined"));
  }
  places_.insert(key(loc.file, loc.line, loc.column));
}

}  // namespace ptx::check
