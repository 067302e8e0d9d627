#include "ptx/tool/response.hpp"

#include <algorithm>
#include <filesystem>

#include "ptx/cuda/cuda.hpp"

namespace ptx::tool {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The words of a text; false when it ends inside a quotation.
bool split(std::string_view text, std::vector<std::string>& words) {
  std::string word;
  bool in_word = false;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
      in_word = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (is_space(c)) {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return quote == '\0';
}

Unexpected refused(std::string message) {
  Diagnostic d{.kind = Kind::file_error, .message = std::move(message), .where = {}, .notes = {}};
  return Unexpected{std::move(d).hint("a file whose own name starts with `@` is written `./@…`")};
}

class Expansion {
 public:
  Expected<void> add(std::span<const std::string> words) {
    for (const std::string& word : words) {
      if (word == "--") only_files_ = true;
      const bool is_value = !all_.empty() && all_.back() == "--arg";  // `--arg @FILE`: the file's bytes, not its words
      if (only_files_ || is_value || word.size() < 2 || word[0] != '@') {
        all_.push_back(word);
        continue;
      }
      if (auto done = add_file(word.substr(1)); !done) return done;
    }
    return {};
  }
  std::vector<std::string> take() && { return std::move(all_); }

 private:
  Expected<void> add_file(const std::string& path) {
    std::error_code error;
    const std::string name = std::filesystem::weakly_canonical(path, error).string();
    if (std::find(open_.begin(), open_.end(), name) != open_.end()) return refused(cat("`@", path, "` names itself"));
    const auto text = cuda::read_file(path);
    if (!text) return refused(text.error().message);
    std::vector<std::string> words;
    if (!split(*text, words)) return refused(cat("`@", path, "` ends inside a quotation"));
    open_.push_back(name);
    auto done = add(words);
    open_.pop_back();
    return done;
  }

  std::vector<std::string> all_, open_;
  bool only_files_ = false;
};

}  // namespace

Expected<std::vector<std::string>> expand_responses(std::span<const std::string> words) {
  Expansion expansion;
  if (auto done = expansion.add(words); !done) return Unexpected{std::move(done).error()};
  return std::move(expansion).take();
}

}  // namespace ptx::tool
