#include <charconv>
#include <optional>

#include "ptx/ir/ir.hpp"

namespace ptx::ir {
namespace {

// "…/a.py" of `.file 1 "…/a.py"`.
std::string_view path_of(std::string_view file) {
  const std::size_t begin = file.find('"'), end = file.find('"', begin + 1);
  return end == std::string_view::npos ? std::string_view() : file.substr(begin + 1, end - begin - 1);
}

// The number at the end of a text, and the text without it and its colon.
std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint32_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || at != end) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

class Places {
 public:
  Places(const Module& module, const Function& function) : module_(module), function_(function) {}

  // Those of the .loc before an item that `fits`.
  template <class Fits>
  const Loc* before(std::size_t& item, Fits fits) const {
    while (item-- > 0) {
      const Inst& line = function_.body[item];
      if (line.kind == ItemKind::loc && fits(function_.locs[line.payload])) return &function_.locs[line.payload];
    }
    return nullptr;
  }

  std::vector<SourceLocation> of(std::size_t item) {
    if (function_.locs.empty()) return {};  // a body may be long
    const Loc* loc = before(item, [](const Loc&) { return true; });
    if (loc == nullptr) return {};
    add(file(loc->file), loc->line, loc->column);
    if (loc->callers.valid()) {
      add_callers(module_.str(loc->callers));
      return std::move(places_);
    }
    // inlined_at is the place of a call, whose own .loc stands before
    while (loc != nullptr && loc->inlined_line != 0) {
      const Loc call{.file = loc->inlined_file, .line = loc->inlined_line, .column = loc->inlined_column};
      add(file(call.file), call.line, call.column);
      loc = before(item, [&](const Loc& other) {
        return other.file == call.file && other.line == call.line && other.column == call.column;
      });
    }
    return std::move(places_);
  }

 private:
  [[nodiscard]] std::string_view file(std::uint32_t number) const {
    const std::string begin = cat(number, ' ');
    for (const ModuleItem& item : module_.items)
      if (item.kind == ModuleItemKind::file)
        if (const std::string_view text = module_.str(StringId(item.payload)); text.starts_with(begin)) return path_of(text);
    return {};
  }
  // LLVM names callers by the last part of their path.
  [[nodiscard]] std::string_view file_ending(std::string_view name) const {
    for (const ModuleItem& item : module_.items) {
      if (item.kind != ModuleItemKind::file) continue;
      const std::string_view path = path_of(module_.str(StringId(item.payload)));
      if (path == name || (path.ends_with(name) && path[path.size() - name.size() - 1] == '/')) return path;
    }
    return name;
  }
  void add(std::string_view file, std::uint32_t line, std::uint32_t column) {
    if (line != 0 && !file.empty()) places_.push_back({intern_file(file), line, column});
  }
  // " @[ b.py:7:1 @[ c.py:9:2 ] ]"; a place without a column has no second number.
  void add_callers(std::string_view text) {
    constexpr std::string_view mark = "@[ ";
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      std::string_view place = text.substr(at + mark.size());
      place = place.substr(0, place.find(' '));
      const auto last = take_number(place);
      if (!last) continue;
      const auto first = take_number(place);
      add(file_ending(place), first.value_or(*last), first ? *last : 0);
    }
  }

  const Module& module_;
  const Function& function_;
  std::vector<SourceLocation> places_;
};

}  // namespace

std::vector<SourceLocation> debug_places(const Module& module, const Function& function, std::size_t item) {
  return Places(module, function).of(item);
}

}  // namespace ptx::ir
