#include "ptx/base/base.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <mutex>
#include <numeric>
#include <set>
#include <tuple>

namespace ptx {
namespace {

struct KindEntry {
  std::string_view name, summary;
};
constexpr KindEntry kind_table[] = {
#define PTX_KIND(name, summary) {#name, summary},
#include "ptx/base/kinds.def"
#undef PTX_KIND
};
constexpr Kind kind_list[] = {
#define PTX_KIND(name, summary) Kind::name,
#include "ptx/base/kinds.def"
#undef PTX_KIND
};

std::string digits_of(std::uint64_t value, int digits, const char* alphabet) {
  std::string out;
  do {
    out += alphabet[value & 15];
    value >>= 4;
  } while (value != 0);
  while (out.size() < static_cast<std::size_t>(digits)) out += '0';
  std::reverse(out.begin(), out.end());
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0u);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string_view name(Kind kind) { return kind_table[static_cast<std::size_t>(kind)].name; }
std::string_view summary(Kind kind) { return kind_table[static_cast<std::size_t>(kind)].summary; }
std::span<const Kind> all_kinds() { return kind_list; }

namespace detail {
std::string join(const Part* first, std::size_t count) {
  const std::span parts(first, count);
  std::array<char, 24> buffer;  // the digits of one number
  const auto text = [&buffer](const Part& part) {
    if (part.characters != nullptr) return std::string_view(part.characters, part.value);
    char* const from = buffer.data();
    char* const to = from + buffer.size();
    const auto end =
        part.negative ? std::to_chars(from, to, static_cast<std::int64_t>(part.value)) : std::to_chars(from, to, part.value);
    return std::string_view(from, end.ptr);
  };
  std::size_t size = 0;
  for (const Part& part : parts) size += text(part).size();
  std::string out;
  out.reserve(size);  // what fits into the string itself is not allocated
  for (const Part& part : parts) out += text(part);
  return out;
}

namespace {
[[noreturn]] void end(const std::string& message) {
  std::fflush(stdout);  // what the program said before stays in front
  std::fputs(message.c_str(), stderr);
  std::fflush(stderr);
  std::abort();
}
}  // namespace

void end_without_value(const Diagnostic& error) {
  end(cat("ptx: a value was asked for, and there is an error instead (has_value() tells before):\n", render(error), '\n'));
}
void end_without_error() { end("ptx: an error was asked for, and there is none: the call succeeded\n"); }
}  // namespace detail

Unexpected::Unexpected(Diagnostic error) : error_(new Diagnostic(std::move(error))) {}
Unexpected::Unexpected(const Unexpected& other) : error_(other.error_ == nullptr ? nullptr : new Diagnostic(*other.error_)) {}
void Unexpected::end(Diagnostic* error) { delete error; }
void Unexpected::gone() { detail::end("ptx: an error was asked for that was moved away\n"); }
Unexpected refuse(Kind kind, std::string message) {
  return {{.kind = kind, .severity = Severity::error, .message = std::move(message), .where = {}, .notes = {}}};
}

Diagnostic& Diagnostic::note(std::string_view text) & { return add(NoteKind::plain, text); }
Diagnostic& Diagnostic::hint(std::string_view text) & { return add(NoteKind::hint, text); }
Diagnostic& Diagnostic::form(std::string_view text) & { return add(NoteKind::form, text); }
Diagnostic& Diagnostic::manual(std::string_view text) & { return add(NoteKind::manual, text); }
Diagnostic& Diagnostic::ptx(std::string_view text) & { return add(NoteKind::ptx, text); }
Diagnostic& Diagnostic::place(std::string_view role, const SourceLocation& at) & { return add(NoteKind::place, role, at); }
Diagnostic& Diagnostic::add(NoteKind what, std::string_view text, const SourceLocation& at) {
  notes.push_back({what, std::string(text), at});
  return *this;
}

std::string to_string(const SourceLocation& where) {
  if (!where.known()) return {};
  if (const std::string_view call = where.file; call.ends_with(text_mark)) {
    const std::string column = where.column == 0 ? std::string() : cat(", column ", where.column);
    return cat(call.substr(0, call.size() - text_mark.size()), " (line ", where.line, column, " of the text)");
  }
  return where.column == 0 ? cat(where.file, ':', where.line) : cat(where.file, ':', where.line, ':', where.column);
}

const char* intern_file(std::string_view file) {
  static std::mutex mutex;
  static auto& names = *new std::set<std::string, std::less<>>;  // never destroyed: diagnostics may outlive statics
  const std::lock_guard lock(mutex);
  auto it = names.find(file);
  if (it == names.end()) it = names.emplace(file).first;
  return it->c_str();
}

const CallSite* intern_call(const SourceLocation& at, std::string_view function) {
  const auto order = [](const CallSite& a, const CallSite& b) {
    const auto key = [](const CallSite& c) { return std::tuple(c.at.file, c.at.line, c.at.column, c.at.from, c.function); };
    return std::less<>()(key(a), key(b));
  };
  static std::mutex mutex;
  static auto& sites = *new std::set<CallSite, decltype(order)>(order);
  const CallSite site{at, intern_file(function)};
  const std::lock_guard lock(mutex);
  return &*sites.insert(site).first;
}

std::string to_string(const Note& note) {
  constexpr std::string_view words[] = {"", "hint: ", "form: ", "manual: ", "ptx: "};
  if (note.kind == NoteKind::place) return cat(note.text, ": ", to_string(note.where));
  return cat(words[static_cast<std::size_t>(note.kind)], note.text);
}
std::vector<std::string> notes_of(const Diagnostic& d) {
  std::vector<std::string> all;
  for (const Note& note : d.notes) all.push_back(to_string(note));
  return all;
}

std::string_view name(Severity severity) {
  constexpr std::string_view names[] = {"error", "warning", "note"};
  return names[static_cast<std::size_t>(severity)];
}

std::string render(const Diagnostic& d) {
  std::string out = cat(name(d.severity), ": ", d.message, "  [", name(d.kind), ']');
  if (d.where.known()) out += cat("\n  --> ", to_string(d.where));
  for (const CallSite* site = d.where.from; site != nullptr; site = site->at.from)
    out += cat("\n  in `", site->function, "`, called from ", to_string(site->at));
  for (const Note& note : d.notes) {
    out += "\n  = ";
    for (const char c : to_string(note)) out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  }
  return out;
}

bool has_errors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string list_choices(std::span<const std::string> words, std::size_t most) {
  std::string out;
  const std::size_t shown = std::min(words.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += cat('`', words[i], '`');
  }
  if (shown < words.size()) out += ", …";
  return out;
}

std::string nearest(std::string_view word, std::span<const std::string> words) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;  // a third of the letters may differ
  for (const std::string& candidate : words) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least && distance < word.size()) least = distance, best = candidate;  // of one letter, nothing may differ
  }
  return best;
}

std::string hex(std::uint64_t value, int digits) { return digits_of(value, digits, "0123456789abcdef"); }
std::string hex_upper(std::uint64_t value, int digits) { return digits_of(value, digits, "0123456789ABCDEF"); }

}  // namespace ptx
