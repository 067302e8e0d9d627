// The module level: the header, and what stands between functions.
#include <algorithm>
#include <array>
#include <limits>

#include "ptx/text/parser.hpp"

namespace ptx::text {
namespace {

const std::vector<std::string>& module_directives() {
  static const std::vector<std::string>& words =
      *new std::vector<std::string>{"version", "target", "address_size", "entry",  "func",   "visible", "extern", "weak",
                                    "common",  "global", "const",        "shared", "pragma", "alias",   "file",   "section"};
  return words;
}

}  // namespace

// Some editors write a byte order mark in front of a text; ptxas takes no character that is not ASCII, not even in a comment.
void Parser::encoding() {
  if (c_.starts_with(byte_order_mark)) {
    syntax(c_.at, "the text begins with a byte order mark, the bytes EF BB BF");
    hint("PTX is ASCII: save the file as UTF-8 without a byte order mark");
    c_.take(c_.at + byte_order_mark.size());
  } else if (c_.starts_with("\xFF\xFE") || c_.starts_with("\xFE\xFF")) {
    syntax(c_.at, "the text is UTF-16: it begins with that encoding's byte order mark");
    hint("PTX is ASCII: save the file as UTF-8 without a byte order mark");
    c_.take(c_.end);
  }
}

void Parser::module() {
  encoding();
  while (!c_.done()) {
    const char* from = c_.at;
    if (!statement()) recover(from);
  }
  if (!seen_version_ && parsed_.syntax_errors == 0) syntax(c_.end, "a module begins with `.version`, and the text is empty");
}

void Parser::item(ir::ModuleItemKind kind, std::size_t payload, const char* from) {
  module_.items.push_back({kind, static_cast<std::uint32_t>(payload), ir::Module::at(c_.offset(from))});
}

bool Parser::statement() {
  const char* from = c_.at;
  if (c_.is_at('@')) return dwarf(from);
  const std::string_view word = c_.peek_directive();
  if (word.empty()) return expected("a directive such as `.entry`, `.func` or `.global`");
  if (word == "version" && !is_part_) return version(from);
  if (!seen_version_) {
    seen_version_ = true;  // once is enough
    syntax(from, "a module begins with `.version`, as in `.version 8.5`");
  }
  if (is_part_ && (word == "version" || word == "target" || word == "address_size")) return header_of_part(word, from);
  if (word == "target") return target(from);
  if (word == "address_size") return address_size(from);
  if (!seen_target_) {
    seen_target_ = true;
    syntax(from, "`.version` is followed by `.target`, as in `.target sm_90a`");
  }
  if (word == "file") return file(from);
  if (word == "section") return section(from);
  if (word == "alias") return alias(from);
  if (word == "pragma") return pragma(from);
  const ir::Linkage linkage = linkage_of(word);
  std::string_view next = word;
  if (linkage != ir::Linkage::none) {
    c_.take_directive(word);
    next = c_.peek_directive();
  }
  if (next == "entry" || next == "func") {
    c_.take_directive(next);
    return function(from, linkage, next == "entry");
  }
  if (space_of(next) || next == "align" || next == "attribute") return variables(from, linkage, false);
  if (linkage != ir::Linkage::none) return expected("`.entry`, `.func` or a state space");
  if (word == "loc" || word == "callprototype" || word == "branchtargets" || word == "calltargets")
    return syntax(from, "`.", word, "` belongs in the body of a function");
  syntax(from, "there is no directive `.", word, "` at this level");
  if (const std::string near = nearest(word, module_directives()); !near.empty()) hint(cat("did you mean `.", near, "`?"));
  // before `.entry` or `.global` it was to be a linkage: what follows is read
  c_.take_directive(word);
  next = c_.peek_directive();
  if (next != "entry" && next != "func") return next != "param" && space_of(next) && variables(from, linkage, false);
  c_.take_directive(next);
  return function(from, linkage, next == "entry");
}

bool Parser::header_of_part(std::string_view word, const char* from) {
  const std::string value = word == "version"  ? to_string(module_.version)
                            : word == "target" ? std::string(isa::name(module_.target))
                                               : cat(module_.address_size);
  syntax(from, "the text is part of a module whose `.", word, "` is ", value, " already");
  hint("leave the line out; the module is told its target and version where it is made");
  return false;
}

void Parser::place(const char* from, std::int32_t& header, const Fingerprint& fingerprint) {
  header = static_cast<std::int32_t>(parsed_.trivia.pieces.size());
  piece(from, fingerprint);
}

bool Parser::version(const char* from) {
  c_.take_directive("version");
  const char* at = c_.at;
  const char* p = at;
  std::array<unsigned, 2> parts{};
  bool fits = true;
  for (int i = 0; i < 2; ++i) {
    const char* digits = p;
    for (; is(*p, digit_class); ++p)
      if (parts[static_cast<std::size_t>(i)] < 1000)
        parts[static_cast<std::size_t>(i)] = 10 * parts[static_cast<std::size_t>(i)] + static_cast<unsigned>(*p - '0');
    fits = fits && p != digits && (i == 1 || *p == '.');
    if (i == 0 && *p == '.') ++p;
  }
  if (!fits || is(*p, follow_class)) return expected("a version such as `8.5`");
  if (parts[0] > 255 || parts[1] > 255) return syntax(at, "there is no version ", parts[0], '.', parts[1]);
  c_.take(p);
  if (seen_version_ && parsed_.trivia.version >= 0) return syntax(from, "a module has one `.version`");
  seen_version_ = true;
  module_.version = {static_cast<std::uint8_t>(parts[0]), static_cast<std::uint8_t>(parts[1])};
  place(from, parsed_.trivia.version, Fingerprint(module_).add(module_.version));
  return true;
}

namespace {

// sm_90a, and compute_90a for it
std::optional<Target> target_named(std::string_view word) {
  constexpr std::string_view prefix = "compute_";
  return isa::target_from_name(word.starts_with(prefix) ? cat("sm_", word.substr(prefix.size())) : std::string(word));
}

}  // namespace

// What ptxas takes and the manual does not have.
void Parser::unusual_target(const char* at, std::string_view word, bool is_second) {
  if (!listed(Kind::bad_declaration)) return;
  list({.kind = Kind::bad_declaration,
        .severity = Severity::warning,
        .message = is_second ? cat("`", word, "` is a second target; the last one counts")
                             : cat("`", word, "` is the name of a virtual architecture, not of a target")},
       at);
  hint(is_second ? "not in the manual; ptxas takes it"
                 : cat("write `sm_", word.substr(word.find('_') + 1), "`: ptxas takes it for that"));
}

bool Parser::target(const char* from) {
  c_.take_directive("target");
  const bool first = parsed_.trivia.target < 0;
  const auto is_option = [](std::string_view word) {
    return word == "texmode_unified" || word == "texmode_independent" || word == "debug" || word == "map_f64_to_f32";
  };
  std::vector<std::string> options;
  std::optional<Target> found;
  do {
    const char* at = c_.at;
    const char* end = c_.name_end();
    if (end == at) return expected("a target such as `sm_90a`");
    const std::string_view word = Cursor::between(at, end);
    c_.take(end);
    if (const auto target = target_named(word)) {
      if (found || word.starts_with("compute_")) unusual_target(at, word, found.has_value());
      found = target;
    } else if (is_option(word)) {
      if (first && !found)
        syntax(at, "`.target` begins with a target such as `sm_90a`; `", word, "` is an option that follows it");
      options.emplace_back(word);
    } else {
      error(Kind::unknown_target, at, '`', word, "` is neither a target that PTX knows nor an option of one");
      std::vector<std::string> names;
      for (const isa::TargetInfo& info : isa::detail::target_infos) names.emplace_back(info.name);
      if (const std::string near = nearest(word, names); !near.empty()) hint(cat("did you mean `", near, "`?"));
    }
  } while (c_.eat(','));
  seen_target_ = true;
  if (!first) {  // a later one changes nothing that ptxas would tell
    item(ir::ModuleItemKind::raw, module_.intern(one_line(Cursor::between(from, c_.last))).index, from);
    piece(from, Fingerprint(module_).add(module_.items.back()));
    return true;
  }
  if (found) module_.target = *found;
  module_.target_options = std::move(options);
  place(from, parsed_.trivia.target, Fingerprint(module_).add_target());
  return true;
}

bool Parser::address_size(const char* from) {
  c_.take_directive("address_size");
  const char* at = c_.at;
  std::uint64_t bits = 0;
  if (!number(bits, 64, "32 or 64")) return false;
  if (bits != 32 && bits != 64) return syntax(at, "an address has 32 or 64 bits; ", bits, " is here");
  if (parsed_.trivia.address_size >= 0) return syntax(from, "a module has one `.address_size`");
  module_.address_size = static_cast<unsigned>(bits);
  place(from, parsed_.trivia.address_size, Fingerprint(module_).add_address_size());
  return true;
}

bool Parser::file(const char* from) {
  c_.take_directive("file");
  std::uint32_t index = 0;
  if (!number(index, "the number of a file")) return false;
  std::string_view path;
  if (!string(path, "the name of a file in quotes")) return false;
  std::string text = cat(index, ' ', path);
  std::uint64_t extra = 0;  // time stamp and size
  for (int i = 0; i < 2 && c_.eat(','); ++i) {
    if (!number(extra, std::numeric_limits<std::uint64_t>::max(), "a number")) return false;
    text += cat(", ", extra);
  }
  item(ir::ModuleItemKind::file, module_.intern(text).index, from);
  piece(from, Fingerprint(module_).add(module_.items.back()));
  return true;
}

bool Parser::alias(const char* from) {
  c_.take_directive("alias");
  ir::StringId alias, aliased;
  if (!name(alias, "the name of a function")) return false;
  if (!c_.eat(',')) return expected("`,` and the function that the alias stands for");
  if (!name(aliased, "the name of a function")) return false;
  if (!end_statement()) return false;
  item(ir::ModuleItemKind::alias, module_.intern(cat(module_.str(alias), ", ", module_.str(aliased))).index, from);
  piece(from, Fingerprint(module_).add(module_.items.back()));
  return true;
}

// "a", "b": as they are, with their quotes.
bool Parser::strings(std::string& text) {
  do {
    std::string_view literal;
    if (!string(literal, "a string in quotes")) return false;
    text += cat(text.empty() ? "" : ", ", literal);
  } while (c_.eat(','));
  return true;
}

bool Parser::pragma(const char* from) {
  c_.take_directive("pragma");
  std::string text;
  if (!strings(text) || !end_statement()) return false;
  item(ir::ModuleItemKind::pragma, module_.intern(text).index, from);
  piece(from, Fingerprint(module_).add(module_.items.back()));
  return true;
}

// ptxas reads debug data of PTX 1.x no longer.
void Parser::dwarf_is_known(const char* from) {
  if (module_.version < Version{2, 0}) return;
  syntax(from, "`@@DWARF` was removed in PTX 2.0; this module says `.version ", to_string(module_.version), '`');
  hint("debug data belongs in a `.section .debug_…`");
}

// @@DWARF and the rest of its line: debug data of PTX 1.x.
bool Parser::dwarf(const char* from) {
  if (!c_.starts_with("@@DWARF")) return expected("a directive such as `.entry`, `.func` or `.global`");
  dwarf_is_known(from);
  const char* end = from;
  while (end != c_.end && *end != '\n') ++end;
  while (end != from && is(end[-1], space_class)) --end;
  c_.take(end);
  item(ir::ModuleItemKind::raw, module_.intern(one_line(Cursor::between(from, end))).index, from);
  piece(from, Fingerprint(module_).add(module_.items.back()));
  return true;
}

// ---- debug sections -------------------------------------------------------------------------------------------------------

// ptxas reads its own words as such where a section is named, and then no name is left.
bool Parser::names_section(const char* at, const char* end) {
  const std::string_view word = Cursor::between(at + 1, end);
  const std::vector<std::string>& directives = module_directives();
  const bool taken = word != "version" && std::find(directives.begin(), directives.end(), word) != directives.end();
  const bool vector = word == "v2" || word == "v4" || word == "v8";
  if (!taken && !vector && !isa::type_from_name(word) && !space_of(word)) return true;
  return syntax(at, "`.", word, "` is a word of PTX, which cannot name a section");
}

bool Parser::section(const char* from) {
  c_.take_directive("section");
  ir::Section section;
  if (!c_.is_at('.')) return expected("the name of a section, `.debug_info`");
  const char* at = c_.at;
  const char* end = at + 1;
  while (is(*end, follow_class) || *end == '.') ++end;
  if (!names_section(at, end)) return false;
  section.name = Cursor::between(at, end);
  c_.take(end);
  if (!c_.eat('{')) return expected("`{`");
  while (!c_.is_at('}')) {
    if (c_.done()) return syntax(from, "the section `", section.name, "` is not closed");
    const char* line = c_.at;
    if (section_line(section.lines)) continue;
    recover(line);
    if (c_.at == line) c_.take(line + 1);
  }
  c_.eat('}');
  module_.sections.push_back(std::move(section));
  item(ir::ModuleItemKind::section, module_.sections.size() - 1, from);
  piece(from, Fingerprint(module_).add(module_.items.back()));
  return true;
}

namespace {

// The end of a number from 0 to 255 in decimal, as debug data mostly has it, or `p`.
const char* byte_end(const char* p) {
  const char* const from = p;
  std::uint32_t number = 0;
  for (; is(*p, digit_class); ++p) {
    number = 10 * number + static_cast<std::uint32_t>(*p - '0');
    if (number > 255 || (p != from && *from == '0')) return from;
  }
  return p;
}

}  // namespace

// A label, or a directive with a list: `.b8 1, 2`, `.b32 label`, `.b64 label+4`, `.b32 end-begin`.
bool Parser::section_line(std::string& lines) {
  if (!c_.is_at('.')) {
    const char* end = c_.name_end();
    if (end == c_.at) return expected("a label or a directive such as `.b8`");
    const std::string_view label = Cursor::between(c_.at, end);
    c_.take(end);
    if (!c_.eat(':')) return expected("`:` after a label of a section");
    lines.append(label).append(":\n");
    return true;
  }
  const char* at = c_.at;
  if (at[1] == 'b' && at[2] == '8' && at[3] == ' ') {  // `.b8 12`: compilers write a byte a line
    const char* end = byte_end(at + 4);
    if (end != at + 4 && *end == '\n') {
      lines.append(at, end + 1);
      c_.take(end);
      return true;
    }
  }
  const std::string_view word = c_.peek_directive();
  if (word.empty()) return expected("a directive such as `.b8`");
  if (word != "b8" && word != "b16" && word != "b32" && word != "b64")
    return syntax(at, "`.", word, "` is not a type of debug data; what fits is `.b8`, `.b16`, `.b32` or `.b64`");
  const auto type = isa::type_from_name(word);
  c_.take_directive(word);
  lines.append(".").append(word).append(" ");
  for (;;) {
    bytes_of_a_row(lines);
    if (!section_value(*type, lines)) return false;
    if (!c_.eat(',')) break;
    lines += ", ";
  }
  lines += '\n';
  return true;
}

// Debug data is hardly anything else than `12,0,7`: what stands before the last comma of such a row.
void Parser::bytes_of_a_row(std::string& lines) {
  TextBuffer out(lines);
  const char* at = c_.at;
  for (const char* to = byte_end(at); to != at && *to == ','; to = byte_end(at)) {
    out.add(Cursor::between(at, to));
    out.add(", ");
    at = to + 1;
    while (*at == ' ') ++at;
  }
  if (at != c_.at) c_.take(at);
}

// A number; a label or the name of a section, where an offset has room, and what is added to it.
bool Parser::section_value(Type type, std::string& lines) {
  const char* from = c_.at;
  const auto put = [&](const char* end) {
    lines += Cursor::between(c_.at, end);
    c_.take(end);
  };
  if (const char* end = byte_end(from); end != from && (*end == ',' || *end == '\n')) {
    put(end);
    return true;
  }
  if (is(c_.peek(), digit_class) || c_.is_at('-')) {
    const bool negative = c_.is_at('-');
    if (negative) put(c_.at + 1);
    const char* digits = c_.at;
    Constant value;
    ConstantError why;
    if (!read_number(c_, value, why)) return constant_error(why);
    lines += Cursor::between(digits, c_.last);
    const std::uint64_t most = std::uint64_t{1} << isa::bits(type) % 64;  // what fits lies below it, of negative ones below half
    if (isa::bits(type) <= 16 && (negative ? value.bits > most / 2 : value.bits >= most))
      error(Kind::bad_declaration, from, "`", Cursor::between(from, c_.last), "` does not fit .", isa::name(type));
    return true;
  }
  for (bool more = true; more;) {
    const char* end = c_.at;
    if (is(*end, start_class))
      end = c_.name_end();
    else if (*end == '.' && is(end[1], start_class))  // the name of a section
    {
      for (++end; is(*end, follow_class);) ++end;
      if (!names_section(c_.at, end)) return false;
    } else if (c_.at != from)
      while (is(*end, follow_class)) ++end;
    if (end == c_.at) return expected("a number or a label");
    put(end);
    more = c_.is_at('-') || c_.is_at('+');
    if (more) put(c_.at + 1);
  }
  if (isa::bits(type) < 32)
    error(Kind::bad_declaration, from, "a label of debug data is .b32 or .b64; .", isa::name(type), " is here");
  return true;
}

}  // namespace ptx::text
