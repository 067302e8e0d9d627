#include "tests/oracle/verdicts.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

namespace ptx::oracle {
namespace {

class Judge {
 public:
  Judge(const Assembler& assembler, const Asked& asked, Target target, bool whole)
      : assembler_(assembler), asked_(asked), target_(target), whole_(whole), why_(asked.start.size()) {}

  Expected<std::vector<std::string>> run() && {
    std::vector<std::size_t> all(asked_.start.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    if (auto fault = judge(asked_.text, all)) return Unexpected{*std::move(fault)};
    return std::move(why_);
  }

 private:
  void blank(std::string& text, std::size_t i) const {
    const auto at = text.begin() + static_cast<std::ptrdiff_t>(asked_.start[i]);
    std::fill(at, at + static_cast<std::ptrdiff_t>(asked_.length[i]), ' ');
  }

  // `text` holds the wanted statements and no others.
  std::optional<Diagnostic> judge(std::string text, std::span<const std::size_t> wanted) {
    for (bool whole = false;;) {
      const auto complaints = assembler_.complaints(text, isa::name(target_), whole);
      if (!complaints) return complaints.error();
      if (complaints->empty()) {
        if (whole || !whole_) return std::nullopt;
        whole = true;
        continue;
      }
      bool told = false;
      for (const auto& [line, why] : *complaints)
        if (const auto it = asked_.at_line.find(line); it != asked_.at_line.end() && why_[it->second].empty()) {
          why_[it->second] = why;
          blank(text, it->second);
          told = true;
        }
      if (told) continue;
      const std::string& why = complaints->begin()->second;
      if (wanted.empty())
        return Diagnostic{.kind = Kind::tool_failed, .message = cat("ptxas complains of a text without cases: ", why)};
      if (wanted.size() == 1) {
        why_[wanted.front()] = why;
        return std::nullopt;
      }
      std::string first = text;
      const std::span before = wanted.first(wanted.size() / 2), after = wanted.subspan(wanted.size() / 2);
      for (const std::size_t i : before) blank(text, i);
      for (const std::size_t i : after) blank(first, i);
      if (auto fault = judge(std::move(first), before)) return fault;
      return judge(std::move(text), after);
    }
  }

  const Assembler& assembler_;
  const Asked& asked_;
  Target target_;
  bool whole_;
  std::vector<std::string> why_;
};

}  // namespace

Asked::Asked(std::string whole, const std::vector<std::uint32_t>& lines)
    : text(std::move(whole)), start(lines.size()), length(lines.size()) {
  for (std::size_t i = 0; i < lines.size(); ++i) at_line[lines[i]] = i;
  std::size_t at = 0;
  for (std::uint32_t line = 1; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (const auto it = at_line.find(line); it != at_line.end()) {
      while (at < end && text[at] == '\t') ++at;
      start[it->second] = at;
      length[it->second] = end - at;
    }
    at = end + 1;
  }
}

Asked Asked::alone(std::size_t i) const {
  Asked one = *this;
  for (std::size_t other = 0; other < start.size(); ++other)
    if (other != i) one.text.replace(start[other], length[other], length[other], ' ');
  return one;
}

void Asked::replace(std::size_t i, std::string_view statement) {
  text.replace(start[i], length[i], statement);
  for (std::size_t& at : start)
    if (at > start[i]) at = at + statement.size() - length[i];
  length[i] = statement.size();
}

Expected<std::vector<std::string>> verdicts(const Assembler& assembler, const Asked& asked, Target target, bool whole) {
  return Judge(assembler, asked, target, whole).run();
}

}  // namespace ptx::oracle
