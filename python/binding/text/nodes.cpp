#include "python/binding/text/nodes.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "ptx/text/cursor.hpp"
#include "python/binding/text/statement.hpp"
#include "python/binding/text/tokens.hpp"

namespace nb = nanobind;

namespace ptx::python {
namespace {

nb::object number_or_none(const std::optional<std::uint64_t>& value) { return value ? nb::cast(*value) : nb::none(); }
nb::object number_unless(std::uint64_t value, std::uint64_t none) { return value == none ? nb::none() : nb::cast(value); }

class Maker {
 public:
  Maker(const text::Parsed& parsed, nb::handle classes)
      : module_(parsed.module),
        trivia_(parsed.trivia),
        source_(parsed.module.source->text),
        classes_(nb::borrow(classes)),
        statements_(source_, classes) {}

  nb::tuple run() {
    const std::uint32_t header = header_end();
    at_ = header;
    nb::list directives;
    lists_ = {directives};
    for (const ir::ModuleItem& item : module_.items) {
      if (!enter(item.where)) {  // a further name of the statement before
        directives.append(module_item(item, nb::none()));
        continue;
      }
      const text::Span span = piece();
      at_ = span.end;
      if (item.kind == ir::ModuleItemKind::function) {
        function(module_.functions[item.payload]);
      } else {
        directives.append(module_item(item, trailing(span)));
      }
    }
    gap(static_cast<std::uint32_t>(source_.size()));
    nb::list targets;
    if (trivia_.target >= 0) targets.append(isa::name(module_.target));
    for (const std::string& option : module_.target_options) targets.append(option);
    const nb::object size = module_.address_size == 0 ? nb::none() : nb::object(make("AddressSize", module_.address_size));
    return nb::make_tuple(make("Version", unsigned{module_.version.major}, unsigned{module_.version.minor}),
                          make("Target", nb::tuple(targets)), size, directives, source_.substr(0, header));
  }

 private:
  template <class... Args>
  nb::object make(const char* name, Args&&... args) {
    return classes_.attr(name)(std::forward<Args>(args)...);
  }
  [[nodiscard]] std::string_view str(std::uint32_t id) const { return module_.str(ir::StringId(id)); }
  [[nodiscard]] text::Span piece() const { return trivia_.pieces[piece_].span; }
  [[nodiscard]] std::string text_of(text::Span span) const { return source_.substr(span.begin, span.end - span.begin); }

  // The end of the lines that the header fills before anything else.
  [[nodiscard]] std::uint32_t header_end() const {
    std::int32_t n = 0;
    const auto is_header = [&](std::int32_t i) {
      return i == trivia_.version || i == trivia_.target || i == trivia_.address_size;
    };
    while (static_cast<std::size_t>(n) < trivia_.pieces.size() && is_header(n)) ++n;
    if (n == 0) return 0;
    const auto next = static_cast<std::size_t>(n);
    const std::uint32_t end = trivia_.pieces[next - 1].span.end;
    const std::uint32_t limit =
        next < trivia_.pieces.size() ? trivia_.pieces[next].span.begin : static_cast<std::uint32_t>(source_.size());
    return behind_line(end, limit);
  }
  // Behind the comments that stand on the line on which `from` is, and its newline.
  [[nodiscard]] std::uint32_t behind_line(std::uint32_t from, std::uint32_t limit) const {
    const std::string text = source_.substr(from, limit - from);
    for (const Token& token : tokenize(text))
      if (token.kind == '\n') return from + token.end;
    return limit;
  }

  // Goes to the piece that begins at a place, past the comments and empty lines before it; false when it is the piece in hand.
  bool enter(ir::WhereId where) {
    const std::uint32_t offset = ir::Module::offset(where).value_or(at_);
    if (entered_ && piece().begin == offset) return false;
    while (piece_ < trivia_.pieces.size() && (piece().begin < offset || (entered_ && piece().begin < at_))) ++piece_;
    entered_ = true;
    gap(offset);
    return true;
  }

  // Comments and empty lines from the end of what was read last to `to`.
  void gap(std::uint32_t to) {
    if (to <= at_) return;
    const std::string text = source_.substr(at_, to - at_);
    bool in_line = at_ != 0 && source_[at_ - 1] != '\n';
    for (const Token& token : tokenize(text)) {
      if (token.kind == 'c') {
        lists_.back().append(make("Comment", comment(text.substr(token.begin, token.end - token.begin))));
        in_line = true;
      } else if (token.kind == '\n') {
        if (!in_line) lists_.back().append(make("BlankLine"));
        in_line = false;
      }
    }
    at_ = to;
  }

  static std::string comment(std::string text) {
    if (text.starts_with("//")) text.erase(0, text.starts_with("// ") ? 3 : 2);
    while (!text.empty() && text::is(text.back(), text::space_class)) text.pop_back();
    return text;
  }

  // The comments behind a statement on its line, as a FormattingInfo; they belong to it, and `at_` goes behind them.
  nb::object trailing(text::Span span) {
    const std::uint32_t limit =
        piece_ + 1 < trivia_.pieces.size() ? trivia_.pieces[piece_ + 1].span.begin : static_cast<std::uint32_t>(source_.size());
    const char* next = source_.data() + at_;
    while (*next == ' ' || *next == '\t') ++next;
    if (*next != '/') return nb::none();
    const std::string text = source_.substr(at_, limit - at_);
    std::string comments;
    std::uint32_t end = 0;
    for (const Token& token : tokenize(text)) {
      if (token.kind != 'c') {
        if (token.kind == 'e' && limit != source_.size())
          return nb::none();  // another statement on the line: they may be its own
        break;
      }
      comments += cat(comments.empty() ? "" : " ", std::string_view(text).substr(token.begin, token.end - token.begin));
      end = token.end;
    }
    at_ += end;
    while (!comments.empty() && text::is(comments.back(), text::space_class)) comments.pop_back();
    const std::size_t newline = source_.rfind('\n', span.begin);
    const std::size_t line = newline == std::string::npos ? 0 : newline + 1;
    std::string indent = source_.substr(line, span.begin - line);
    if (indent.find_first_not_of(" \t") != std::string::npos) indent.clear();
    return make("FormattingInfo", indent, comments, 0, nb::make_tuple(), text_of(span));
  }

  // ---- the module -----------------------------------------------------------------------------------------------------

  nb::object module_item(const ir::ModuleItem& item, const nb::object& formatting) {
    switch (item.kind) {
      case ir::ModuleItemKind::variable:
        return variable(module_.variables[item.payload], formatting);
      case ir::ModuleItemKind::pragma:
        return make("PragmaDirective", str(item.payload).substr(1, str(item.payload).size() - 2), formatting);
      default:
        return make("RawLine", text_of(piece()));
    }
  }

  void function(const ir::Function& function) {
    nb::list results, params, directives, attributes;
    for (const std::string& attribute : function.attributes) attributes.append(attribute);
    for (const ir::Param& p : function.returns) results.append(param(p));
    for (const ir::Param& p : function.params) params.append(param(p));
    for (const ir::Directive& d : function.directives) {
      nb::list values;
      for (const std::uint32_t value : d.values) values.append(value);
      if (!d.text.empty()) values.append(d.text);
      directives.append(make("FunctionDirective", d.name, nb::tuple(values)));
    }
    nb::object body = nb::none();
    if (function.has_body) {
      nb::list statements;
      lists_.push_back(statements);
      for (const ir::Inst& item : function.body) statement(function, item);
      while (piece_ + 1 < trivia_.pieces.size() && trivia_.pieces[piece_].closes == 0) ++piece_;
      gap(piece().begin);
      at_ = piece().end;
      lists_.pop_back();
      body = nb::tuple(statements);
    }
    const nb::object returns = function.returns.empty() ? nb::none() : nb::object(nb::tuple(results));
    lists_.back().append(make("Function", function.is_entry, module_.str(function.name), nb::tuple(params), returns, body,
                              linking(function.linkage), nb::tuple(directives), nb::none(), nb::tuple(attributes)));
  }

  // ---- statements -----------------------------------------------------------------------------------------------------

  void statement(const ir::Function& function, const ir::Inst& item) {
    ir::WhereId where;
    where.index = item.where;
    nb::object formatting = nb::none();
    const bool entered = enter(where);
    if (item.kind == ir::ItemKind::open) {
      at_ = piece().end;
      lists_.emplace_back(nb::list());
      return;
    }
    if (item.kind == ir::ItemKind::close) {
      const nb::list body = lists_.back();
      lists_.pop_back();
      at_ = piece().end;
      lists_.back().append(make("Block", nb::tuple(body), trailing(piece())));
      return;
    }
    if (entered) {
      at_ = piece().end;
      formatting = trailing(piece());
    }
    lists_.back().append(statement_node(function, item, formatting));
  }

  nb::object statement_node(const ir::Function& function, const ir::Inst& item, const nb::object& formatting) {
    switch (item.kind) {
      case ir::ItemKind::inst:
      case ir::ItemKind::raw: {
        const std::vector<Token> tokens = tokenize_piece(source_, piece().begin, piece().end);
        if (auto node = statements_.instruction(tokens, formatting)) return *node;
        return make("RawLine", text_of(piece()));
      }
      case ir::ItemKind::label:
        return make("Label", module_.str(function.labels[item.payload].name), formatting);
      case ir::ItemKind::reg_decl: {
        const ir::RegDecl& decl = function.reg_decls[item.payload];
        const nb::object count = decl.count ? nb::cast(*decl.count) : nb::none();
        return make("RegDecl", type(decl.type), module_.str(decl.base), count, formatting, number_unless(decl.vector, 1));
      }
      case ir::ItemKind::variable:
        return variable(function.variables[item.payload], formatting);
      case ir::ItemKind::pragma:
        return make("PragmaDirective", str(item.payload), formatting);
      default:
        return make("RawLine", text_of(piece()));
    }
  }

  // ---- declarations ---------------------------------------------------------------------------------------------------

  nb::object type(Type type) {
    nb::object& known = types_[static_cast<std::size_t>(type)];
    if (!known.is_valid()) known = classes_.attr("ScalarType")(isa::name(type));
    return known;
  }
  nb::object space(ir::StateSpace space) { return classes_.attr("StateSpace")(name(space)); }
  nb::object linking(ir::Linkage linkage) {
    return linkage == ir::Linkage::none ? nb::none() : nb::object(classes_.attr("LinkingDirective")(name(linkage)));
  }

  nb::object variable(const ir::Variable& v, const nb::object& formatting) {
    nb::list inner, attributes;
    for (const std::uint64_t n : v.inner) inner.append(n);
    for (const std::string& attribute : v.attributes) attributes.append(attribute);
    nb::object initialiser = nb::none();
    if (!v.initialiser.empty()) initialiser = nb::cast(initialiser_text(v));
    nb::object unsized = nb::none();
    const bool assumed = v.linkage == ir::Linkage::extern_ && !v.elements;
    if (v.unsized != assumed) unsized = nb::cast(v.unsized);
    return make("VarDecl", space(v.space), type(v.type), module_.str(v.name), number_or_none(v.elements),
                number_unless(v.align, 0), initialiser, linking(v.linkage), formatting, number_unless(v.vector, 1),
                nb::tuple(inner), unsized, nb::tuple(attributes));
  }

  // What stands behind the `=` of a variable, whose place is that of its name.
  std::string initialiser_text(const ir::Variable& v) const {
    const std::uint32_t name = ir::Module::offset(v.where).value_or(piece().begin);
    std::uint32_t begin = 0, end = 0;
    int depth = 0;
    for (const Token& token : tokenize_piece(source_, name, piece().end)) {
      if (depth == 0 && (token.kind == ';' || token.kind == ',' || token.kind == 'e')) break;
      depth += token.kind == '{' || token.kind == '(' ? 1 : token.kind == '}' || token.kind == ')' ? -1 : 0;
      if (begin == 0 && token.kind == '=')
        begin = end = token.end;
      else if (begin != 0)
        end = token.end;
    }
    return text::one_line(std::string_view(source_).substr(begin, end - begin));
  }

  nb::object param(const ir::Param& p) {
    const nb::object ptr_space = p.ptr_space ? space(*p.ptr_space) : nb::none();
    nb::object is_ptr = nb::none();
    if (const bool assumed = p.ptr_space.has_value() || p.ptr_align != 0; p.is_ptr != assumed) is_ptr = nb::cast(p.is_ptr);
    return make("Param", space(p.in_register ? ir::StateSpace::reg : ir::StateSpace::param), type(p.type), module_.str(p.name),
                number_or_none(p.elements), number_unless(p.align, 0), ptr_space, number_unless(p.ptr_align, 0), is_ptr,
                number_unless(p.vector, 1), p.unsized);
  }

  const ir::Module& module_;
  const text::Trivia& trivia_;
  const std::string& source_;
  nb::object classes_;
  Statements statements_;
  std::size_t piece_ = 0;
  bool entered_ = false;         // `piece_` is the piece in hand
  std::uint32_t at_ = 0;         // behind what was read
  std::vector<nb::list> lists_;  // of the module, the body, its open blocks
  std::array<nb::object, 128> types_;
};

}  // namespace

nb::tuple make_nodes(const text::Parsed& parsed, nb::handle classes) { return Maker(parsed, classes).run(); }

}  // namespace ptx::python
