// What the parser's parts share: findings, recovery, small things.
#include "ptx/text/parser.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace ptx::text {
namespace {

constexpr std::array<std::string_view, 24> statement_directives = {
    "address_size", "alias",  "align",   "branchtargets", "callprototype", "calltargets", "common",  "const",
    "entry",        "extern", "file",    "func",          "global",        "loc",         "local",   "param",
    "pragma",       "reg",    "section", "shared",        "target",        "version",     "visible", "weak"};

std::shared_ptr<const ir::Source> make_source(std::string text, std::string_view file) {
  auto source = std::make_shared<ir::Source>();
  source->file = intern_file(file);
  source->text = std::move(text);
  const std::string& s = source->text;
  source->line_starts.reserve(s.size() / 24 + 16);  // a line of PTX has some 30 bytes
  source->line_starts.push_back(0);
  const char* const begin = s.data();
  const char* const end = begin + s.size();
  for (const char* p = begin; p != end;) {
    p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
    if (p == nullptr) break;
    source->line_starts.push_back(static_cast<std::uint32_t>(++p - begin));
  }
  return source;
}

}  // namespace

bool is_statement_directive(std::string_view word) {
  return std::find(statement_directives.begin(), statement_directives.end(), word) != statement_directives.end();
}

Parser::Parser(std::shared_ptr<const ir::Source> source, std::size_t max_findings)
    : source_(std::move(source)), max_findings_(max_findings), module_(parsed_.module), c_(source_->text), names_(module_) {
  module_.source = source_;
  module_.address_size = 0;
}

void Parser::make_part_of(Target target, Version version) {
  is_part_ = seen_version_ = seen_target_ = true;
  module_.target = target;
  module_.version = version;
  module_.address_size = 64;
}

Parsed Parser::run() && {
  // A line of PTX has some 30 bytes. Memory that is reserved and not used costs nothing.
  parsed_.trivia.pieces.reserve(source_->text.size() / 28 + 16);
  module();
  if (c_.open_comment != nullptr) syntax(c_.open_comment, "a comment `/*` is not closed");
  return std::move(parsed_);
}

// ---- findings ---------------------------------------------------------------------------------------------------------

bool Parser::listed(Kind kind) {
  parsed_.syntax_errors += kind == Kind::syntax;
  return parsed_.findings.size() <= max_findings_;
}

void Parser::list(Diagnostic diagnostic, const char* at) {
  if (parsed_.findings.size() == max_findings_)
    diagnostic = {.kind = diagnostic.kind, .severity = Severity::note, .message = "there are more findings from here on"};
  diagnostic.where = source_->where(c_.offset(at));
  parsed_.findings.push_back(std::move(diagnostic));
}

void Parser::hint(std::string_view text) {
  if (parsed_.findings.size() <= max_findings_) parsed_.findings.back().hint(cat(text));
}

std::string Parser::seen(const char* at) const {
  if (at == c_.end) return "the text ends";
  const auto byte = static_cast<unsigned char>(*at);
  if (byte < ' ' || byte == 0x7F) return cat("the byte 0x", hex(byte, 2), " is");
  if (Cursor::between(at, c_.end).starts_with(byte_order_mark)) return "a byte order mark (U+FEFF) is";  // it shows nowhere
  if (byte >= 0x80) {
    const char* to = at + 1;
    while (to - at < 4 && (static_cast<unsigned char>(*to) & 0xC0) == 0x80) ++to;
    const bool whole = to - at >= 2 && byte >= 0xC2;
    return whole ? cat('`', Cursor::between(at, to), "` is") : cat("the byte 0x", hex(byte, 2), " is");
  }
  const char* to = at + 1;
  if (*at == '.' || is(*at, start_class | digit_class))
    while (to - at < 40 && (is(*to, follow_class) || (*at == '.' && *to == ':' && to[1] == ':'))) to += *to == ':' ? 2 : 1;
  return cat('`', Cursor::between(at, to), "` is");
}

bool Parser::expected(std::string_view what) {
  if (listed(Kind::syntax)) {
    const std::string found = seen(c_.at);
    list({.kind = Kind::syntax, .message = cat(what, " is expected, and ", found, " here")}, c_.at);
  }
  return false;
}

bool Parser::on_new_line() const { return std::find(c_.last, c_.at, '\n') != c_.at; }

bool Parser::end_statement() {
  if (c_.eat(';')) return true;
  if (!c_.done() && !on_new_line() && !c_.is_at('}')) return expected("`;`");
  syntax(c_.last, "`;` is missing at the end of the statement");
  return true;
}

void Parser::recover(const char* from) {
  c_.at = c_.last = from;
  for (int depth = 0; !c_.done();) {
    switch (c_.peek()) {
      case ';':
        c_.take(c_.at + 1);
        return;
      case '{':
        ++depth;
        break;
      case '}':
        if (depth == 0 && c_.at != from) return;
        --depth;
        break;
      case '"':
        if (const char* end = c_.string_end(); end != nullptr) {
          c_.take(end);
          continue;
        }
        break;
      case '.':
        if (c_.at != from && on_new_line() && is_statement_directive(c_.peek_directive())) return;
        break;
      default:
        break;
    }
    const char* to = is(c_.peek(), start_class) ? c_.name_end() : c_.at + 1;
    c_.take(to);
  }
}

// ---- small things -------------------------------------------------------------------------------------------------------

bool Parser::name(ir::StringId& id, std::string_view what) {
  const char* end = c_.name_end();
  if (end == c_.at || Cursor::between(c_.at, end) == "WARP_SZ") return expected(what);
  id = module_.intern(Cursor::between(c_.at, end));
  c_.take(end);
  return true;
}

bool Parser::number(std::uint64_t& value, std::uint64_t most, std::string_view what) {
  const char* at = c_.at;
  if (c_.eat_word("WARP_SZ")) {
    value = 32;
    return true;
  }
  if (!is(c_.peek(), digit_class)) return expected(what);
  Constant v;
  ConstantError why;
  if (!read_number(c_, v, why)) return constant_error(why);
  if (!v.is_integer()) return syntax(at, what, " is expected, and a floating-point number is here");
  if (v.wrapped) return syntax(at, '`', Cursor::between(at, c_.last), "` does not fit 64 bits");
  if (v.bits > most) return syntax(at, what, " is at most ", most, "; ", v.bits, " is here");
  value = v.bits;
  return true;
}
bool Parser::number(std::uint32_t& value, std::string_view what) {
  std::uint64_t wide = 0;
  if (!number(wide, std::numeric_limits<std::uint32_t>::max(), what)) return false;
  value = static_cast<std::uint32_t>(wide);
  return true;
}

bool Parser::string(std::string_view& literal, std::string_view what) {
  if (!c_.is_at('"')) return expected(what);
  const char* end = c_.string_end();
  if (end == nullptr) end = c_.string_end_on_another_line();
  if (end == nullptr) return syntax(c_.at, "a string does not end on its line");
  literal = Cursor::between(c_.at, end);
  c_.take(end);
  return true;
}

bool Parser::constant(Constant& value) {
  const char* at = c_.at;
  ConstantError why;
  if (!read_constant(c_, value, why)) return constant_error(why);
  if (value.wrapped && listed(Kind::immediate_range)) {
    list({.kind = Kind::immediate_range,
          .severity = Severity::warning,
          .message = cat("a number in `", Cursor::between(at, c_.last), "` does not fit 64 bits")},
         at);
    hint("ptxas takes the low bits and says nothing");
  }
  return true;
}

std::optional<ir::StateSpace> Parser::space_of(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(ir::StateSpace::tex); ++i)
    if (const auto space = static_cast<ir::StateSpace>(i); ir::name(space) == word) return space;
  return std::nullopt;
}

ir::Linkage Parser::linkage_of(std::string_view word) {
  for (int i = 1; i <= static_cast<int>(ir::Linkage::common); ++i)
    if (const auto linkage = static_cast<ir::Linkage>(i); ir::name(linkage) == word) return linkage;
  return ir::Linkage::none;
}

void Parser::piece(const char* from, const Fingerprint& fingerprint) {
  parsed_.trivia.pieces.push_back({{c_.offset(from), c_.offset(c_.last)}, fingerprint.value()});
}

// ---- the front door -----------------------------------------------------------------------------------------------------

namespace {

constexpr std::size_t max_bytes = 0x7FFFFFFF;  // places in the source have 31 bits

Parsed too_long(std::string source, std::string_view file) {
  Parsed parsed;
  parsed.syntax_errors = 1;
  parsed.findings.push_back({.kind = Kind::syntax,
                             .message = cat("the text has ", source.size(), " bytes; at most ", max_bytes, " can be read"),
                             .where = {intern_file(file), 1, 1}});
  auto kept = std::make_shared<ir::Source>();
  kept->file = intern_file(file);
  kept->text = std::move(source);
  kept->line_starts = {0};
  parsed.module.source = std::move(kept);
  return parsed;
}

}  // namespace

Parsed parse(std::string source, std::string_view file, std::size_t max_findings) {
  if (source.size() > max_bytes) return too_long(std::move(source), file);
  return Parser(make_source(std::move(source), file), max_findings).run();
}

Parsed parse_part(std::string source, Target target, Version version, std::string_view file) {
  constexpr std::size_t max_findings = 100;
  if (source.size() > max_bytes) return too_long(std::move(source), file);
  Parser parser(make_source(std::move(source), file), max_findings);
  parser.make_part_of(target, version);
  return std::move(parser).run();
}

}  // namespace ptx::text
