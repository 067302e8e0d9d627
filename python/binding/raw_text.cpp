// write does not see text (its floor), so the joining is done here, above both: the parser reads the statements in the body of an
// entry of its own, in front of which stand the registers that the trace has declared so far; Builder::splice then takes the
// instructions over as IR.
#include "raw_text.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "checks.hpp"
#include "errors.hpp"
#include "ptx/text/text.hpp"
#include "tokens.hpp"

namespace ptx::python {
namespace {

class Reader {
 public:
  Reader(Trace& trace, std::string_view text) : trace_(trace), text_(text), where_(trace.where()) {}

  void run() {
    check_braces();
    declared_ = trace_.builder().visible_registers();
    text::Parsed parsed = text::parse(cat(head(), text_, "\n}\n"), "<text>");
    for (const Diagnostic& finding : parsed.findings) judge(finding);
    ir::Function& function = parsed.module.functions.front();
    // the declarations of the trace itself
    function.body.erase(function.body.begin(), function.body.begin() + static_cast<std::ptrdiff_t>(declared_.size()));
    for (ir::Inst& item : function.body)
      if (item.kind == ir::ItemKind::inst) judge(parsed.module, function, item);
    Expected<void> written = trace_.builder().splice(parsed.module, function, declared_, where_);
    unwrap(written);
    for (Trace::Issue& issue : issues_) trace_.issues.push_back(std::move(issue));
  }

 private:
  std::string head() const {
    const ir::Module& module = trace_.builder().module();
    std::string out =
        cat(".version ", to_string(module.version), " .target ", isa::name(module.target), " .address_size 64 .entry text() { ");
    for (const ir::RegDeclId id : declared_) {
      const ir::RegDecl& decl = trace_.builder().function().reg_decls[id.index];
      const std::string vector = decl.vector == 1 ? std::string() : cat(".v", int{decl.vector}, ' ');
      out += cat(".reg ", vector, '.', isa::name(decl.type), ' ', module.str(decl.base),
                 decl.count ? cat('<', *decl.count, '>') : std::string(), "; ");
    }
    return out += '\n';  // the text begins on line 2
  }

  // What the text opens it closes, and nothing else: it is to stay inside of the entry that it is read in.
  void check_braces() const {
    int depth = 0;
    for (const Token& token : tokenize(std::string(text_))) {
      depth += token.kind == '{' ? 1 : token.kind == '}' ? -1 : 0;
      if (depth < 0) break;
    }
    if (depth == 0) return;
    Diagnostic d;
    d.kind = Kind::syntax;
    d.message =
        cat("the text of `ptx.raw` ", depth < 0 ? "closes a block that it did not open" : "does not close a block that it opens");
    d.where = where_;
    raise(d);
  }
  // A place of the parser, which counts the head as line 1, in the text; what is missing at its end is missed behind it.
  [[nodiscard]] Where in_text(Where place) const {
    const auto lines = static_cast<std::uint32_t>(1 + std::count(text_.begin(), text_.end(), '\n'));
    if (place.line - 1 <= lines) return {place.file, place.line - 1, place.column};
    return {place.file, lines, static_cast<std::uint32_t>(text_.size() - (text_.rfind('\n') + 1) + 1)};
  }
  [[nodiscard]] std::string line_at(Where place) const {
    std::size_t begin = 0;
    for (std::uint32_t line = 1; line < place.line; ++line) begin = text_.find('\n', begin) + 1;
    const std::string_view line = text_.substr(begin, text_.find('\n', begin) - begin);
    return std::string(line.substr(std::min(line.find_first_not_of(" \t"), line.size())));
  }
  [[noreturn]] void refuse(Diagnostic why, Where place) const {
    place = in_text(place);
    why.message = cat("line ", place.line, ", column ", place.column, " of the text: ", why.message);
    why.notes.insert(why.notes.begin(), cat("text: ", line_at(place)));
    why.where = where_;
    raise(why);
  }

  // What the parser found.
  void judge(const Diagnostic& finding) {
    if (finding.severity != Severity::error) return;
    const bool unknown = finding.kind == Kind::unknown_opcode || finding.kind == Kind::unknown_modifier;
    if (finding.kind == Kind::syntax || (is_strict() && !unknown)) refuse(finding, finding.where);
    issue(line_at(in_text(finding.where)), finding);
  }
  // What does not fit the table; without its checks such an instruction stays as text.
  void judge(ir::Module& module, const ir::Function& function, ir::Inst& inst) {
    const Expected<void> accepted = trace_.builder().accepts(module, function, inst);
    if (accepted) return;
    if (is_strict()) refuse(accepted.error(), module.where(inst));
    std::string statement = ir::spell(module, function, inst);
    issue(statement, accepted.error());
    ir::Inst raw;
    raw.kind = ir::ItemKind::raw;
    raw.payload = module.intern(statement).index;
    inst = raw;
  }
  void issue(std::string statement, Diagnostic why) {
    why.where = where_;
    if (why.kind == Kind::unknown_opcode) why.severity = Severity::warning;
    issues_.push_back({std::move(statement), std::move(why)});
  }

  Trace& trace_;
  std::string_view text_;
  Where where_;
  std::vector<ir::RegDeclId> declared_;
  std::vector<Trace::Issue> issues_;
};

}  // namespace

void write_text(Trace& trace, std::string_view text) { Reader(trace, text).run(); }

}  // namespace ptx::python
