#include "tests/oracle/file_mutants.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"

namespace ptx::oracle {
namespace {

constexpr std::size_t max_bytes = 40000;

bool is_word_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' ||
         c == ':';
}

struct Token {
  std::size_t at = 0, length = 0;
};

// Words with the point before them, strings, and other characters one by one; no comments.
std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const auto skip_past = [&](std::string_view end) {
      i = std::min(text.find(end, i + 1), text.size() - end.size()) + end.size();
    };
    if (text.substr(i, 2) == "//") {
      skip_past("\n");
    } else if (text.substr(i, 2) == "/*") {
      skip_past("*/");
    } else if (std::string_view(" \t\r\n").find(text[i]) != std::string_view::npos) {
      ++i;
    } else {
      if (text[i] == '"')
        skip_past("\"");
      else
        for (++i; (is_word_char(text[begin]) || text[begin] == '.') && i < text.size() && is_word_char(text[i]);) ++i;
      tokens.push_back({begin, i - begin});
    }
  }
  return tokens;
}

// Only what stands behind the header may go wrong: another target is another question.
std::size_t end_of_header(std::string_view text) {
  const std::size_t at = text.find(".address_size");
  return at == std::string_view::npos ? text.size() : std::min(text.find('\n', at), text.size());
}

std::string our_verdict(const std::string& text) {
  const text::Parsed parsed = text::parse(text, "mutant.ptx");
  for (const Diagnostics& findings : {parsed.findings, check::check(parsed.module)})
    for (const Diagnostic& d : findings)
      if (d.severity == Severity::error) return d.message;
  return {};
}

std::string line_at(std::string_view text, std::size_t at) {
  const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1, end = std::min(text.find('\n', at), text.size());
  std::string line(text.substr(begin, end - begin));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return cat(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1, ": ", line.substr(0, 160));
}

}  // namespace

FileMutator::FileMutator(std::span<const std::string> folders) {
  std::set<std::filesystem::path> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".ptx" && entry.file_size() <= max_bytes) paths.insert(entry.path());
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    const text::Parsed parsed = text::parse(text.str(), path.string());
    if (isa::info(parsed.module.target).base < 75 || end_of_header(text.view()) == text.view().size()) continue;
    files_.push_back({path.filename().string(), text.str(), parsed.module.target});
  }
}

std::pair<Target, Result> FileMutator::judge(const Assembler& assembler, std::uint64_t seed) const {
  Result result;
  if (files_.empty()) return {{}, std::move(result)};
  std::mt19937_64 random(seed);
  const File& file = files_[random() % files_.size()];
  std::vector<Token> tokens = tokens_of(file.text);
  const std::size_t header = end_of_header(file.text);
  std::erase_if(tokens, [&](const Token& t) { return t.at < header; });
  if (tokens.size() < 2) return {file.target, std::move(result)};
  const Token one = tokens[random() % (tokens.size() - 1)];
  // half of the time one that looks alike: a register for a register, a modifier for a modifier
  const bool alike = random() % 2 == 0;
  Token other = one;
  for (int i = 0; i < 50 && (other.at == one.at || (alike && file.text[other.at] != file.text[one.at])); ++i)
    other = tokens[random() % tokens.size()];
  const auto spelled = [&](const Token& t) { return file.text.substr(t.at, t.length); };
  std::string mutant = file.text, how;
  switch (random() % 5) {
    case 0:
      mutant.erase(one.at, one.length), how = cat("`", spelled(one), "` dropped");
      break;
    case 1:
      mutant.insert(one.at, spelled(one) + ' '), how = cat("`", spelled(one), "` doubled");
      break;
    case 2: {
      const Token next = *std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return t.at > one.at; });
      mutant.replace(next.at, next.length, spelled(one)).replace(one.at, one.length, spelled(next));
      how = cat("`", spelled(one), "` and the next token swapped");
      break;
    }
    default:
      mutant.replace(one.at, one.length, spelled(other)), how = cat("`", spelled(one), "` replaced by `", spelled(other), "`");
      break;
  }
  const auto complaints = assembler.complaints(mutant, isa::name(file.target), true);
  if (!complaints) {
    result.fault = complaints.error();
    return {file.target, std::move(result)};
  }
  const std::string ours = our_verdict(mutant), theirs = complaints->empty() ? "" : complaints->begin()->second;
  result.asked = 1;
  result.accepted = theirs.empty();
  if (ours.empty() == theirs.empty()) return {file.target, std::move(result)};
  if (!theirs.empty())  // a module that is to be linked says so of itself, whatever is done to it
    if (const auto before = assembler.complaints(file.text, isa::name(file.target), true); before && !before->empty())
      return {file.target, Result{}};
  if (is_crash(theirs))
    ++result.crashes;
  else
    result.found.push_back(
        {ours.empty(), cat(file.name, ':', line_at(mutant, one.at)), how, ours.empty() ? theirs : ours, file.target});
  return {file.target, std::move(result)};
}

}  // namespace ptx::oracle
