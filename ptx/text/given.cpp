// Texts that an author gives to a call, `m.raw("…")`: places in them lie at that call, too.
#include <charconv>

#include "ptx/text/text.hpp"

namespace ptx::text {

const char* text_given_at(const SourceLocation& call) {
  return intern_file(call.known() ? cat(call.file, ':', call.line, text_mark) : std::string("<text>"));
}

SourceLocation in_source(const SourceLocation& place) {
  std::string_view file = place.file;
  if (!file.ends_with(text_mark)) return place;
  file.remove_suffix(text_mark.size());
  const std::size_t colon = file.rfind(':');
  SourceLocation call{place.file, 0};
  if (colon == std::string_view::npos) return place;
  if (std::from_chars(file.data() + colon + 1, file.data() + file.size(), call.line).ec != std::errc()) return place;
  call.file = intern_file(file.substr(0, colon));
  return call;
}

std::optional<Diagnostic> section_error(const ir::Section& section, const SourceLocation& where) {
  const Parsed parsed = parse_part(cat(".section ", section.name, " {\n", section.lines, "}\n"), Target::sm_90a, Version{9, 0});
  for (const Diagnostic& finding : parsed.findings) {
    if (finding.severity != Severity::error) continue;
    Diagnostic d = finding;
    d.message = cat("in the section `", section.name, "`: ", d.message);
    d.where = where;
    return d;
  }
  return std::nullopt;
}

}  // namespace ptx::text
