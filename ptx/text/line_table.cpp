#include "ptx/text/line_table.hpp"

#include <algorithm>

#include "ptx/text/text.hpp"

namespace ptx::text {
namespace {

// A text as the bytes of a string, `.b8 112,116,120,0`: `per_line` of them on a line.
void add_bytes(std::string_view text, std::vector<std::string>& lines) {
  constexpr std::size_t per_line = 24;
  std::string line;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    line += cat(line.empty() ? ".b8 " : ",", i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[i])) : 0u);
    if ((i + 1) % per_line != 0 && i < text.size()) continue;
    lines.push_back(std::move(line));
    line.clear();
  }
}

// A name between quotation marks. ptxas takes ASCII alone there, and neither an escaped quotation mark nor a control character:
// what a path has of others is written as `?`.
std::string in_quotes(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '\\') out += '\\';
    out += c >= ' ' && c < '\x7f' && c != '"' ? c : '?';
  }
  return out += '"';
}

std::uint32_t number_of(std::string_view name, std::map<std::string, std::uint32_t, std::less<>>& ids,
                        std::vector<std::string>& names) {
  const auto it = ids.find(name);
  if (it != ids.end()) return it->second;
  const auto id = static_cast<std::uint32_t>(names.size());
  names.emplace_back(name);
  ids.emplace(name, id);
  return id;
}

}  // namespace

std::uint32_t LineTable::file(const char* name) { return number_of(name, file_ids_, files_) + 1; }
std::uint32_t LineTable::function(const char* name) { return number_of(name, function_ids_, functions_); }

// One place, behind those that it was reached through, as far as they are not said yet.
void LineTable::chain(const SourceLocation& where, std::vector<std::string>& lines) {
  const CallSite* site = where.from;
  if (site != nullptr && site != last_.from) chain(site->at, lines);
  std::string line = cat(".loc ", file(where.file), ' ', where.line, ' ', where.column);
  if (site != nullptr)
    line += cat(", function_name $L__info_string", function(site->function), ", inlined_at ", file(site->at.file), ' ',
                site->at.line, ' ', site->at.column);
  lines.push_back(std::move(line));
  last_ = where;
}

std::vector<std::string> LineTable::enter(const SourceLocation& place) {
  std::vector<std::string> lines;
  const SourceLocation where = in_source(place);
  if (where.known() && !(where == last_)) chain(where, lines);
  return lines;
}

std::vector<std::string> LineTable::directives() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < files_.size(); ++i) lines.push_back(cat(".file ", i + 1, ' ', in_quotes(files_[i])));
  if (functions_.empty()) return lines;
  lines.insert(lines.end(), {".section .debug_str", "{"});
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    lines.push_back(cat("$L__info_string", i, ':'));
    add_bytes(functions_[i], lines);
  }
  lines.emplace_back("}");
  return lines;
}

}  // namespace ptx::text
