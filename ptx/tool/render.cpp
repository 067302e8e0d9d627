// Findings for a person: the message, the place, the line with a caret.
#include <algorithm>

#include "ptx/tool/style.hpp"
#include "ptx/tool/tool.hpp"

namespace ptx::tool {

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string wrap(std::string_view text, std::size_t width, std::string_view indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t w = tool::width(word);
    if (used != 0 && used + 1 + w > width) {
      out += cat('\n', indent);
      used = 0;
    } else if (used != 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += w;
  }
  return out;
}

SourceLines::SourceLines(std::string_view source) : source_(source) {
  begins_.push_back(0);
  for (std::size_t end = source.find('\n'); end != std::string_view::npos; end = source.find('\n', end + 1))
    begins_.push_back(end + 1);
}

std::string_view SourceLines::operator[](std::uint32_t number) const {
  if (number == 0 || number > begins_.size()) return {};
  const std::string_view rest = source_.substr(begins_[number - 1]);
  std::string_view line = rest.substr(0, rest.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

namespace {

constexpr std::size_t tab = 4;
constexpr std::size_t widest = 120;  // columns of a source line; longer ones are cut around the place

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%' ||
         c == '.' || c == ':';
}

}  // namespace

std::size_t word_end(std::string_view line, std::size_t place) {
  std::size_t last = place;
  while (last < line.size() && in_word(line[last])) ++last;
  if (last > place && line[last - 1] == ':' && last - 1 > place) --last;  // of a label
  return std::max(last, place + 1);
}

namespace {

// One source line as it is shown: a cell for every column, and which cells the word at the place covers.
struct Shown {
  std::vector<std::string> cells;
  std::size_t begin = 0, end = 0;  // of the word, in cells
};

Shown show(std::string_view line, std::size_t place) {
  const std::size_t last = word_end(line, place);
  Shown shown;
  for (std::size_t i = 0; i < line.size();) {
    if (i == place) shown.begin = shown.cells.size();
    if (i == last) shown.end = shown.cells.size();
    const auto c = static_cast<unsigned char>(line[i]);
    std::size_t n = 1;
    if (c == '\t') {
      do shown.cells.emplace_back(" ");
      while (shown.cells.size() % tab != 0);
    } else if (c < 0x20 || c == 0x7f) {
      shown.cells.emplace_back("?");
    } else if (c < 0x80) {
      shown.cells.emplace_back(1, line[i]);
    } else {
      const std::size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
      while (n < length && i + n < line.size() && continues(line[i + n])) ++n;
      shown.cells.emplace_back(n == length && length > 1 ? std::string(line.substr(i, n)) : std::string("?"));
    }
    i += n;
  }
  if (place >= line.size()) shown.begin = shown.cells.size();
  if (last >= line.size()) shown.end = shown.cells.size();
  shown.end = std::max(shown.end, shown.begin + 1);
  return shown;
}

std::string join(const std::vector<std::string>& cells, std::size_t from, std::size_t to) {
  std::string out;
  for (std::size_t i = from; i < std::min(to, cells.size()); ++i) out += cells[i];
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

}  // namespace

std::string render(const Diagnostic& finding, std::string_view source, bool colour) {
  return render(finding, SourceLines(source), colour);
}

std::string render(const Diagnostic& finding, const SourceLines& source, bool colour) {
  const Style style(colour);
  constexpr Colour colours[] = {Colour::red, Colour::yellow, Colour::blue};
  const auto severity = static_cast<std::size_t>(finding.severity);
  std::string out = cat(style(colours[severity], name(finding.severity)), style(Colour::bold, cat(": ", finding.message)), "  ",
                        style(Colour::dim, cat('[', name(finding.kind), ']')), '\n');
  const std::string number = finding.where.known() ? cat(finding.where.line) : std::string();
  const std::string margin(number.size() + 1, ' ');
  if (finding.where.known()) out += cat(margin.substr(1), style(Colour::blue, "--> "), to_string(finding.where), '\n');
  const std::string_view line = finding.where.known() ? source[finding.where.line] : std::string_view();
  if (!line.empty()) {
    const std::size_t place = finding.where.column == 0 ? line.find_first_not_of(" \t") : finding.where.column - 1u;
    const Shown shown = show(line, std::min(place, line.size()));
    const std::size_t from = shown.begin + 20 > widest ? shown.begin - widest / 2 : 0;
    const bool cut = shown.cells.size() > from + widest;
    const std::size_t to = cut ? from + widest : shown.cells.size();
    const std::string_view dots = from > 0 ? "…" : "";
    out += cat(style(Colour::blue, cat(number, " | ")), dots, join(shown.cells, from, to), cut ? "…" : "", '\n');
    const std::string caret = cat('^', std::string(std::min(shown.end, std::max(to, shown.begin + 1)) - shown.begin - 1, '~'));
    out += cat(style(Colour::blue, cat(margin, "| ")), std::string(shown.begin - from + width(dots), ' '),
               style(colours[severity], caret), '\n');
  }
  for (const std::string& note : notes_of(finding)) {
    out += cat(margin, style(Colour::blue, "= "));
    for (const char c : note) out += c == '\n' ? cat('\n', margin, "  ") : std::string(1, c);
    out += '\n';
  }
  return out;
}

}  // namespace ptx::tool
