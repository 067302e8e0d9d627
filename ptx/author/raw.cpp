// write does not see text (its floor), so the joining is done here, above both: the parser reads the statements in the body of an
// entry of its own, in front of which stand the registers that the kernel has declared so far; Builder::inline_parsed then takes
// the instructions over as IR.
#include "ptx/author/raw.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ptx/ir/ir.hpp"
#include "ptx/launch/launch.hpp"
#include "ptx/text/text.hpp"

namespace ptx {
namespace author {
namespace {

/// What a text leaves open. Braces of strings and comments do not count.
struct Open {
  int blocks = 0;                     ///< below 0 when it closes one that it did not open
  std::optional<std::size_t> quoted;  ///< where a string or comment begins that goes on to the end
};
Open left_open(std::string_view text) {
  Open open;
  for (std::size_t i = 0; i < text.size() && open.blocks >= 0; ++i) {
    const std::string_view rest = text.substr(i);
    const std::string_view end = rest.front() == '"' ? "\"" : rest.starts_with("//") ? "\n" : rest.starts_with("/*") ? "*/" : "";
    if (end.empty()) {
      open.blocks += rest.front() == '{' ? 1 : rest.front() == '}' ? -1 : 0;
      continue;
    }
    const std::size_t found = text.find(end, i + (end == "*/" ? 2 : 1));
    if (found == std::string_view::npos && end != "\n") open.quoted = i;
    i = found == std::string_view::npos ? text.size() : found + end.size() - 1;
  }
  return open;
}

// A line of the text, from 1, without the blanks in front.
std::string line_of(std::string_view text, std::uint32_t number) {
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < number; ++line) begin = text.find('\n', begin) + 1;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return std::string(line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
}

// What a PTX newer than the table may have.
bool is_unknown(Kind kind) { return kind == Kind::unknown_opcode || kind == Kind::unknown_modifier; }

class Reader {
 public:
  Reader(write::Builder& builder, std::string_view text, std::string_view caller, bool strict, SourceLocation where)
      : builder_(builder), text_(text), caller_(caller), strict_(strict), where_(where) {}

  Expected<std::vector<KeptText>> run() {
    if (auto closed = check_closed(); !closed) return Unexpected{std::move(closed).error()};
    declared_ = builder_.visible_registers();
    text::Parsed parsed = text::parse(cat(head(), text_, "\n}\n"), "<text>");
    for (const Diagnostic& finding : parsed.findings)
      if (auto fits = judge(finding); !fits) return Unexpected{std::move(fits).error()};
    ir::Function& function = parsed.module.functions.front();
    // the declarations of the kernel itself
    function.body.erase(function.body.begin(), function.body.begin() + static_cast<std::ptrdiff_t>(declared_.size()));
    for (ir::Inst& item : function.body) {
      if (item.kind != ir::ItemKind::inst) continue;
      if (auto fits = judge(parsed.module, function, item); !fits) return Unexpected{std::move(fits).error()};
    }
    if (auto written = builder_.inline_parsed(parsed.module, function, declared_, where_); !written)
      return Unexpected{std::move(written).error()};
    return std::move(kept_);
  }

 private:
  [[nodiscard]] std::string head() const {
    const ir::Module& module = builder_.module();
    std::string out =
        cat(".version ", to_string(module.version), " .target ", isa::name(module.target), " .address_size 64 .entry text() { ");
    for (const ir::RegDeclId id : declared_) {
      const ir::RegDecl& decl = builder_.function().reg_decls[id.index];
      const std::string vector = decl.vector == 1 ? std::string() : cat(".v", int{decl.vector}, ' ');
      out += cat(".reg ", vector, '.', isa::name(decl.type), ' ', module.str(decl.base),
                 decl.count ? cat('<', *decl.count, '>') : std::string(), "; ");
    }
    return out += '\n';  // the text begins on line 2
  }

  // What the text opens it closes, and nothing else: it is to stay inside of the entry that it is read in.
  [[nodiscard]] Expected<void> check_closed() const {
    const Open open = left_open(text_);
    if (open.quoted) {
      const std::string_view before = text_.substr(0, *open.quoted);
      const auto line = static_cast<std::uint32_t>(2 + std::count(before.begin(), before.end(), '\n'));
      const auto column = static_cast<std::uint32_t>(before.size() - (before.rfind('\n') + 1) + 1);
      const bool is_comment = text_[*open.quoted] == '/';
      return refuse(
          {.kind = Kind::syntax, .message = is_comment ? "a comment `/*` is not closed" : "a string `\"` is not closed"},
          {"", line, column});
    }
    if (open.blocks == 0) return {};
    return Unexpected{
        {.kind = Kind::syntax,
         .message = cat("the text of `", caller_, "` ",
                        open.blocks < 0 ? "closes a block that it did not open" : "does not close a block that it opens"),
         .where = where_}};
  }
  // A place of the parser, which counts the head as line 1, in the text; what is missing at its end is missed behind it.
  [[nodiscard]] SourceLocation in_text(SourceLocation place) const {
    const auto lines = static_cast<std::uint32_t>(1 + std::count(text_.begin(), text_.end(), '\n'));
    if (place.line - 1 <= lines) return {place.file, place.line - 1, place.column};
    return {place.file, lines, static_cast<std::uint32_t>(text_.size() - (text_.rfind('\n') + 1) + 1)};
  }
  [[nodiscard]] std::string line_at(SourceLocation place) const { return line_of(text_, place.line); }
  [[nodiscard]] Unexpected refuse(Diagnostic why, SourceLocation place) const {
    place = in_text(place);
    why.message = cat("line ", place.line, ", column ", place.column, " of the text: ", why.message);
    why.notes.insert(why.notes.begin(), {NoteKind::plain, cat("text: ", line_at(place)), {}});
    why.where = where_;
    return {std::move(why)};
  }

  // What the parser found.
  [[nodiscard]] Expected<void> judge(const Diagnostic& finding) {
    if (finding.severity != Severity::error) return {};
    if (finding.kind == Kind::syntax || (strict_ && !is_unknown(finding.kind))) return refuse(finding, finding.where);
    keep(line_at(in_text(finding.where)), finding);
    return {};
  }
  // What does not fit the table; without its checks such an instruction stays as text.
  [[nodiscard]] Expected<void> judge(ir::Module& module, const ir::Function& function, ir::Inst& inst) {
    const Expected<void> accepted = builder_.accepts(module, function, inst);
    if (accepted) return {};
    if (strict_) return refuse(accepted.error(), module.where(inst));
    std::string statement = ir::spell(module, function, inst);
    keep(statement, accepted.error());
    ir::Inst raw;
    raw.kind = ir::ItemKind::raw;
    raw.payload = module.intern(statement).index;
    inst = raw;
    return {};
  }
  void keep(std::string statement, Diagnostic why) {
    why.where = where_;
    if (why.kind == Kind::unknown_opcode) why.severity = Severity::warning;
    kept_.push_back({std::move(statement), std::move(why)});
  }

  write::Builder& builder_;
  std::string_view text_, caller_;
  bool strict_;
  SourceLocation where_;
  std::vector<ir::RegDeclId> declared_;
  std::vector<KeptText> kept_;
};

}  // namespace

Expected<std::vector<KeptText>> write_text(write::Builder& builder, std::string_view text, std::string_view caller, bool strict,
                                           SourceLocation where) {
  return Reader(builder, text, caller, strict, where).run();
}

Diagnostic as_unheard_of(Diagnostic why) {
  why.severity = Severity::warning;
  why.hint("it is written as it is, for ptxas to judge; the executor does not run it");
  return why;
}

Expected<Diagnostics> declare_text(write::ModuleBuilder& module, std::string_view text, bool strict, SourceLocation where) {
  text::Parsed parsed = text::parse_part(std::string(text), module.target(), module.version(), text::text_given_at(where));
  Diagnostics warnings;
  for (Diagnostic& finding : parsed.findings) {
    if (finding.severity == Severity::error) {
      finding.notes.insert(finding.notes.begin(), {NoteKind::plain, cat("text: ", line_of(text, finding.where.line)), {}});
      if (finding.kind == Kind::syntax || (strict && !is_unknown(finding.kind))) return Unexpected{std::move(finding)};
      finding.severity = Severity::warning;
    }
    warnings.push_back(is_unknown(finding.kind) ? as_unheard_of(std::move(finding)) : std::move(finding));
  }
  if (auto added = module.append(parsed.module, where); !added) return Unexpected{std::move(added).error()};
  return warnings;
}

std::optional<Diagnostic> wrong_section(const ir::Module& module) {
  for (const ir::ModuleItem& item : module.items)
    if (item.kind == ir::ModuleItemKind::section)
      if (auto wrong = text::section_error(module.sections[item.payload], module.where(item.where))) return wrong;
  return std::nullopt;
}

}  // namespace author

void raw(Module& m, std::string_view text, SourceLocation at) {
  auto warnings = author::declare_text(m.parts(), text, true, at);
  if (!warnings) return m.fail(std::move(warnings).error());
  launch::warn(*warnings);
}

void raw(Body& k, std::string_view text, SourceLocation at) {
  auto kept = author::write_text(k.builder(), text, "raw", true, at);
  if (!kept) return k.builder().fail(std::move(kept).error());
  Diagnostics warnings;
  for (author::KeptText& one : *kept) {
    one.why.severity = Severity::warning;
    warnings.push_back(std::move(one.why));
  }
  launch::warn(warnings);
}

}  // namespace ptx
