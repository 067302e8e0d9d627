#include "tests/oracle/disagreements.hpp"

#include <fstream>

namespace ptx::oracle {
namespace {

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  pattern.remove_prefix(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (matches(pattern, text.substr(at))) return true;
  return false;
}

Expected<Disagreements> Disagreements::read(const std::string& path) {
  std::ifstream file(path);
  const auto bad = [&](std::size_t line, std::string_view why) {
    return Unexpected{{.kind = Kind::tool_failed, .message = cat(path, ':', line, ": ", why)}};
  };
  if (!file) return bad(0, "cannot be read");
  Disagreements all;
  std::string text;
  bool random = false;
  for (std::size_t line = 1; std::getline(file, text); ++line) {
    random = random || text.starts_with("# Random");
    if (trim(text).empty() || text.starts_with('#')) continue;
    std::vector<std::string> fields;
    for (std::string_view rest = text; fields.size() < 4;) {
      const std::size_t bar = fields.size() < 3 ? rest.find(" | ") : std::string_view::npos;
      fields.emplace_back(trim(rest.substr(0, bar)));
      if (bar == std::string_view::npos) break;
      rest.remove_prefix(bar + 3);
    }
    if (fields.size() != 4 || fields[3].empty())
      return bad(line, "expected `we accept|we refuse | instruction | targets | reason`");
    if (fields[0] != "we accept" && fields[0] != "we refuse") return bad(line, "expected `we accept` or `we refuse`");
    all.entries_.push_back({fields[0] == "we accept", fields[1], fields[2], fields[3], line, random});
  }
  return all;
}

bool Disagreements::known(bool we_accept, std::string_view instruction, std::string_view target) const {
  bool found = false;
  for (const Entry& entry : entries_)
    if (entry.we_accept == we_accept && matches(entry.instruction, instruction) && matches(entry.targets, target)) {
      ++entry.seen;
      found = true;
    }
  return found;
}

}  // namespace ptx::oracle
