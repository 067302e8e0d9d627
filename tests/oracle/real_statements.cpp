#include "tests/oracle/real_statements.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

namespace ptx::oracle {
namespace {

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

// Comments become spaces, so that places stay.
std::string without_comments(std::string_view text) {
  std::string out(text);
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (; from < to; ++from)
      if (out[from] != '\n') out[from] = ' ';
  };
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (out[i] == '"') {
      i = std::min(out.find('"', i + 1), out.size());
    } else if (out[i] == '/' && out[i + 1] == '/') {
      const std::size_t end = std::min(out.find('\n', i), out.size());
      blank(i, end);
    } else if (out[i] == '/' && out[i + 1] == '*') {
      const std::size_t end = std::min(out.find("*/", i + 2), out.size() - 2) + 2;
      blank(i, end);
    }
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    while (i < text.size() && (is_name_char(text[i]) || text[i] == '.' || text[i] == ':')) ++i;
    if (i == begin) {
      if (std::string_view("<>[](),={}").find(text[i]) != std::string_view::npos) words.emplace_back(1, text[i]);
      ++i;
    } else {
      words.emplace_back(text.substr(begin, i - begin));
    }
  }
  return words;
}

class Reader {
 public:
  explicit Reader(std::string_view ptx) : text_(without_comments(ptx)) {}

  std::vector<std::string> read() && {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '{' || c == '}' || c == ';')
        ++at_;
      else if (c == '.')
        directive();
      else if (c == '#' || text_.compare(at_, 2, "@@") == 0)
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        statement();
    }
    return std::move(found_);
  }

 private:
  void directive() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    for (const std::string_view line : {".loc", ".file", ".version", ".target", ".address_size"})
      if (rest.starts_with(line)) {
        at_ = std::min(text_.find('\n', at_), text_.size());
        return;
      }
    std::size_t end = text_.find_first_of(";{", at_);
    if (end != std::string::npos && text_[end] == '{' && text_.substr(at_, end - at_).find('=') != std::string::npos)
      end = text_.find(';', end);
    end = std::min(end, text_.size());
    const std::vector<std::string> words = words_of(rest.substr(0, end - at_));
    at_ = end + 1;
    if (words.empty()) return;
    const bool function = std::any_of(words.begin(), words.end(), [](const auto& w) { return w == ".func" || w == ".entry"; });
    if (words[0] == ".section") at_ = std::min(text_.find('}', end), text_.size());
    if (function) registers_.clear();
    declare(words, function);
  }

  // Every declaration in the words of a directive: `.reg .v2 .f32 a, %f<3>`, `.param .u64 p`.
  void declare(const std::vector<std::string>& words, bool function) {
    std::string space, type, vector;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string& w = words[i];
      if (w == ".reg" || w == ".param" || w == ".global" || w == ".shared" || w == ".const" || w == ".local") {
        space = function && w == ".param" ? "entry" : w.substr(1);
        type = vector = {};
      } else if (w == ".texref" || w == ".surfref" || w == ".samplerref") {
        space = type = w.substr(1);
      } else if (w == ".align") {
        ++i;
      } else if (w == "=") {
        return;
      } else if (w == ".v2" || w == ".v4") {
        vector = w.substr(1);
      } else if (w[0] == '.') {
        type = w.substr(1);
      } else if (w == "[") {
        while (i < words.size() && words[i] != "]") ++i;
      } else if (is_name_char(w[0]) && !space.empty()) {
        if (space == "reg") {
          const bool family = i + 1 < words.size() && words[i + 1] == "<";
          (family ? families_ : registers_)[w] = vector + type;
          if (family) i += 3;
        } else if (!type.empty()) {
          variables_[w] = space;
        }
      }
    }
  }

  void statement() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    std::size_t colon = at_;
    while (colon < text_.size() && text_[colon] == ' ') ++colon;
    if (at_ != begin && colon < text_.size() && text_[colon] == ':' && text_[colon + 1] != ':') {
      at_ = colon + 1;  // a label
      return;
    }
    const std::size_t end = std::min(text_.find(';', begin), text_.size());
    if (auto renamed = rename(std::string_view(text_).substr(begin, end - begin))) found_.push_back(*std::move(renamed));
    at_ = end + 1;
  }

  std::optional<std::string> type_of(const std::string& name) const {
    if (const auto it = registers_.find(name); it != registers_.end()) return it->second;
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits < name.size())
      if (const auto it = families_.find(name.substr(0, digits)); it != families_.end()) return it->second;
    return std::nullopt;
  }

  // The statement with our names; nothing for a call, and for what we have no name for.
  std::optional<std::string> rename(std::string_view statement) {
    std::string out;
    std::map<std::string, std::string> ours;
    std::map<std::string, int> used;
    bool operands = false;
    for (std::size_t i = 0; i < statement.size();) {
      const char c = statement[i];
      if (c == '\n' || c == '\t' || c == '\r' || c == ' ') {
        if (!out.empty() && out.back() != ' ' && out.back() != '[' && out.back() != '{') out += ' ';
        operands |= !out.empty() && out[0] != '@';
        if (!out.empty() && out[0] == '@' && std::count(out.begin(), out.end(), ' ') > 1) operands = true;
        ++i;
        continue;
      }
      const bool begins_name = is_name_char(c) && (c < '0' || c > '9');
      if (!begins_name) {
        const std::size_t begin = i++;
        if (c >= '0' && c <= '9')
          while (i < statement.size() && (is_name_char(statement[i]) || statement[i] == '.')) ++i;
        out += statement.substr(begin, i - begin);
        continue;
      }
      const std::size_t begin = i;
      while (i < statement.size() && is_name_char(statement[i])) ++i;
      const std::string name(statement.substr(begin, i - begin));
      const bool guard = !out.empty() && out.find_first_not_of("@! ") == std::string::npos && out[0] == '@';
      if (!operands && !guard) {
        // the opcode and its modifiers, up to a space
        while (i < statement.size() && statement[i] != ' ' && statement[i] != '\t' && statement[i] != '\n') ++i;
        if (name == "call" || name == "brx") return std::nullopt;
        out += statement.substr(begin, i - begin);
        continue;
      }
      const bool modifier = !out.empty() && (out.back() == '.' || out.back() == ':');
      if (modifier || name == "_" || name == "WARP_SZ") {
        out += name;
      } else if (const auto it = ours.find(name); it != ours.end()) {
        out += it->second;
      } else if (const auto type = type_of(name)) {
        out += ours[name] = "%" + *type + "_" + std::to_string(used[*type]++);
      } else if (name[0] == '%') {
        out += name;  // a special register
      } else if (const auto variable = variables_.find(name); variable != variables_.end()) {
        out += variable->second + "_array";
      } else {
        out += "$end";
      }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    if (out[0] == '@') out.erase(0, out.find(' ') + 1);  // guards are a mutation's business
    const bool branch = out.starts_with("bra");
    if (out.empty() || out[0] < 'a' || out[0] > 'z' || (!branch && out.find("$end") != std::string::npos)) return std::nullopt;
    return out + ';';
  }

  std::string text_;
  std::size_t at_ = 0;
  std::map<std::string, std::string> registers_, families_;  // name -> type, "v4f32" for a vector
  std::map<std::string, std::string> variables_;             // name -> space
  std::vector<std::string> found_;
};

// Statements that differ in their numbers alone are one.
std::string shape_of(std::string_view statement) {
  std::string shape;
  bool name = false, number = false;
  for (const char c : statement) {
    number = !name && ((number && is_name_char(c)) || (c >= '0' && c <= '9'));
    if (number) {
      if (shape.empty() || shape.back() != '#') shape += '#';
      continue;
    }
    shape += c;
    name = is_name_char(c) || c == '.' || c == ':';
  }
  return shape;
}

}  // namespace

std::vector<std::string> statements_of(std::string_view ptx) { return Reader(ptx).read(); }

std::vector<std::string> statements_below(std::span<const std::string> folders) {
  std::set<std::filesystem::path> files;
  for (const std::string& folder : folders)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".ptx") files.insert(entry.path());
  std::map<std::string, std::string> by_shape;
  for (const std::filesystem::path& path : files) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    for (std::string& statement : statements_of(text.str())) by_shape.try_emplace(shape_of(statement), std::move(statement));
  }
  std::vector<std::string> all;
  for (auto& [shape, statement] : by_shape) all.push_back(std::move(statement));
  return all;
}

}  // namespace ptx::oracle
