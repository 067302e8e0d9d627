// The text that was parsed, put together again from its pieces: what the module still says stands as it was written, what it says
// differently is printed, and all that lies between stays.
#include <algorithm>
#include <array>

#include "ptx/text/print.hpp"
#include "ptx/text/trivia.hpp"

namespace ptx::text {
namespace {

class Restoration {
 public:
  explicit Restoration(const Parsed& parsed)
      : module_(parsed.module), trivia_(parsed.trivia), pieces_(parsed.trivia.pieces), source_(parsed.module.source->text) {}

  std::string run() && {
    out_.reserve(source_.size() + source_.size() / 16);
    const std::vector<ir::ModuleItem> items = items_in_order(module_);
    for (std::size_t i = 0; i < items.size();) {
      const std::size_t piece = piece_of(items[i].where, next_, pieces_.size());
      header(piece);
      if (items[i].kind == ir::ModuleItemKind::function) {
        function(module_.functions[items[i].payload], items[i], piece);
        ++i;
        continue;
      }
      // things of one statement, `.global .u32 a, b;`, share its piece
      std::size_t end = i + 1;
      while (piece != none && end < items.size() && items[end].kind != ir::ModuleItemKind::function &&
             piece_of(items[end].where, piece, pieces_.size()) == piece)
        ++end;
      Fingerprint fingerprint(module_);
      for (std::size_t k = i; k < end; ++k) fingerprint.add(items[k]);
      put(piece, fingerprint.value(), i, end, [&](Printer& printer, std::size_t k) { printer.item(items[k]); });
      i = end;
    }
    header(none);
    drop(pieces_.size());
    out_ += source_.substr(at_);
    return std::move(out_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  // The piece in which something stands, among those of [first, last); `none` when it is from elsewhere.
  std::size_t piece_of(ir::WhereId where, std::size_t first, std::size_t last) const {
    const auto offset = ir::Module::offset(where);
    if (!offset) return none;
    const auto holds = [&](std::size_t i) {
      return i < last && pieces_[i].span.begin <= *offset && *offset < pieces_[i].span.end;
    };
    if (holds(first)) return first;
    const auto begin = pieces_.begin() + static_cast<std::ptrdiff_t>(first),
               end = pieces_.begin() + static_cast<std::ptrdiff_t>(last);
    const auto behind =
        std::upper_bound(begin, end, *offset, [](std::uint32_t o, const Trivia::Piece& p) { return o < p.span.begin; });
    const auto found = static_cast<std::size_t>(behind - pieces_.begin());
    return found > first && holds(found - 1) ? found - 1 : none;
  }

  // ---- the output -----------------------------------------------------------------------------------------------------

  void copy(std::uint32_t to) {
    out_ += source_.substr(at_, to - at_);
    at_ = to;
  }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

  // The pieces before `to` say nothing any more. A line that held nothing else goes with them.
  void drop(std::size_t to) {
    while (next_ < to) {
      std::size_t last = next_;
      if (pieces_[next_].opens != 0) last = closing(next_);  // all of a function, its comments too
      copy(pieces_[next_].span.begin);
      at_ = pieces_[last].span.end;
      next_ = last + 1;
      std::size_t line = out_.size();
      while (line != 0 && is_blank(out_[line - 1])) --line;
      std::size_t rest = at_;
      while (rest < source_.size() && is_blank(source_[rest])) ++rest;
      if ((line != 0 && out_[line - 1] != '\n') || rest == source_.size() || source_[rest] != '\n') continue;
      out_.resize(line);
      at_ = static_cast<std::uint32_t>(rest + 1);
    }
  }

  // The `}` of the function whose head is that piece.
  [[nodiscard]] std::size_t closing(std::size_t head) const {
    std::size_t i = head;
    while (i + 1 < pieces_.size() && pieces_[i].closes == 0) ++i;
    return i;
  }

  // Goes on to a piece: what lies before it is copied.
  void reach(std::size_t piece) {
    drop(piece);
    copy(pieces_[piece].span.begin);
  }
  void keep(std::size_t piece) {
    reach(piece);
    copy(pieces_[piece].span.end);
    next_ = piece + 1;
  }
  void replace(std::size_t piece, std::string_view text) {
    reach(piece);
    out_ += indented(text, indentation());
    at_ = pieces_[piece].span.end;
    next_ = piece + 1;
  }

  // The blanks at the beginning of the line that is being written.
  [[nodiscard]] std::string indentation() const {
    const std::size_t line = out_.rfind('\n') + 1;  // npos + 1 is 0
    std::size_t end = line;
    while (end < out_.size() && is_blank(out_[end])) ++end;
    return out_.substr(line, end - line);
  }
  static std::string indented(std::string_view text, std::string_view indentation) {
    std::string out;
    for (const char c : text) {
      out += c;
      if (c == '\n') out += indentation;
    }
    return out;
  }

  // Writes something that the source does not have, on a line of its own behind what was written last.
  void insert(std::string_view text, bool deeper) {
    std::string indent = indentation();
    if (deeper) indent += '\t';
    const std::size_t limit = next_ < pieces_.size() ? pieces_[next_].span.begin : source_.size();
    copy(line_end(limit));
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    out_ += indent;
    out_ += indented(text, indent);
    if (at_ < source_.size() && source_[at_] != '\n' && source_[at_] != '\r') out_ += '\n', out_ += indent;
  }
  // The end of the line up to `limit`, the comments at its end included; or where it is now, when more stands on the line.
  [[nodiscard]] std::uint32_t line_end(std::size_t limit) const {
    for (std::size_t i = at_; i < limit; ++i) {
      if (source_[i] == '\n') return static_cast<std::uint32_t>(i != at_ && source_[i - 1] == '\r' ? i - 1 : i);
      if (source_.substr(i).starts_with("//")) {
        const std::size_t end = source_.find('\n', i);
        return static_cast<std::uint32_t>(std::min(end, limit));
      }
      if (!is_blank(source_[i])) return at_;
    }
    return limit == source_.size() ? static_cast<std::uint32_t>(limit) : at_;
  }

  // Things [begin, end) that share a piece, or that have none.
  template <class Print>
  void put(std::size_t piece, std::uint32_t fingerprint, std::size_t begin, std::size_t end, Print print, bool deeper = false) {
    if (piece != none && piece >= next_ && fingerprint == pieces_[piece].fingerprint) return keep(piece);
    Printer printer(module_);
    for (std::size_t i = begin; i < end; ++i) {
      if (i != begin) printer.text() += '\n';
      print(printer, i);
    }
    if (piece != none && piece >= next_)
      replace(piece, printer.text());
    else
      insert(printer.text(), deeper);
  }

  // ---- what stands where ------------------------------------------------------------------------------------------------

  // The lines of the header that stand before a piece, in the order of the source. What the source does not have, and the module
  // has as it is without it, is not put in.
  void header(std::size_t before) {
    struct Line {
      std::int32_t index;
      bool wanted;
      std::uint32_t fingerprint;
      void (Printer::*print)();
      std::int32_t order = -1;
    };
    const ir::Module plain;
    const bool has_target = module_.target != plain.target || !module_.target_options.empty();
    std::array lines = {
        Line{trivia_.version, trivia_.version >= 0 || module_.version != plain.version,
             Fingerprint(module_).add(module_.version).value(), &Printer::version},
        Line{trivia_.target, trivia_.target >= 0 || has_target, Fingerprint(module_).add_target().value(), &Printer::target},
        Line{trivia_.address_size, module_.address_size != 0, Fingerprint(module_).add_address_size().value(),
             &Printer::address_size}};
    // a line that is new stands behind the one that the printer puts before it
    for (std::size_t i = 0; i < lines.size(); ++i)
      lines[i].order = lines[i].index >= 0 || i == 0 ? lines[i].index : lines[i - 1].order;
    std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.order < b.order; });
    for (; header_lines_ < lines.size(); ++header_lines_) {
      const Line& line = lines[header_lines_];
      if (line.index >= 0 && static_cast<std::size_t>(line.index) > before) return;
      if (line.wanted)
        put(line.index < 0 ? none : static_cast<std::size_t>(line.index), line.fingerprint, 0, 1,
            [&](Printer& printer, std::size_t) { (printer.*line.print)(); });
    }
  }

  void function(const ir::Function& f, const ir::ModuleItem& item, std::size_t piece) {
    const bool there = piece != none && piece >= next_ && f.has_body == (pieces_[piece].opens != 0);
    if (!there) {
      Printer printer(module_);
      printer.item(item);
      return insert("\n" + printer.text(), false);
    }
    put(piece, Fingerprint(module_).add_head(f).value(), 0, 1, [&](Printer& printer, std::size_t) { printer.head(f); });
    if (!f.has_body) return;
    const std::size_t last = closing(piece);
    const ir::Leading leading = leading_declarations(module_, f);
    for (const std::uint32_t i : leading.reg_decls)
      insert_line(piece, [&](Printer& printer) { printer.declare(f.reg_decls[i]); });
    for (const std::uint32_t i : leading.variables)
      insert_line(piece, [&](Printer& printer) { printer.declare(f.variables[i]); });
    for (std::size_t i = 0; i < f.body.size();) {
      const std::size_t of = piece_of(ir::WhereId(f.body[i].where), next_, last);
      std::size_t end = i + 1;
      while (of != none && end < f.body.size() && piece_of(ir::WhereId(f.body[end].where), of, last) == of) ++end;
      Fingerprint fingerprint(module_);
      for (std::size_t k = i; k < end; ++k) fingerprint.add(f, f.body[k]);
      put(
          of, fingerprint.value(), i, end, [&](Printer& printer, std::size_t k) { printer.statement(f, f.body[k]); },
          next_ == piece + 1);
      i = end;
    }
    keep(last);
  }
  template <class Print>
  void insert_line(std::size_t head, Print print) {
    Printer printer(module_);
    print(printer);
    insert(printer.text(), next_ == head + 1);
  }

  const ir::Module& module_;
  const Trivia& trivia_;
  const std::vector<Trivia::Piece>& pieces_;
  std::string_view source_;
  std::string out_;
  std::uint32_t at_ = 0;          // what lies before is written
  std::size_t next_ = 0;          // the first piece behind it
  std::size_t header_lines_ = 0;  // of the three, those that are written
};

}  // namespace

std::string restore(const Parsed& parsed) { return parsed.module.source ? Restoration(parsed).run() : print(parsed.module); }

}  // namespace ptx::text
