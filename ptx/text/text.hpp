// text (floor 3): PTX as text. The parser, the printer, and what a text holds besides its meaning. Everything below this floor
// speaks text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"

namespace ptx::text {

// ---- printing -------------------------------------------------------------------------------------------------------

/// Whether the text says which of the author's lines each instruction is from: `.loc` in front of it wherever that changes,
/// helpers with `inlined_at` where they were called, and `.file` behind the functions (manual: "Debugging Directives").
enum class SourceLines : std::uint8_t { none, loc };

/// The module as canonical PTX, with the line of every item. Deterministic: equal modules give equal bytes in any process.
ir::Listing list(const ir::Module& module, SourceLines lines = SourceLines::none);
/// The text alone.
std::string print(const ir::Module& module);
/// One item of a function's body as it prints, without indentation and newline: `fma.rn.f32 %f2, %f1, %f1, %f2;`.
std::string print(const ir::Module& module, const ir::Function& function, const ir::Inst& item);

// ---- parsing --------------------------------------------------------------------------------------------------------

/// A piece of Module::source, in bytes: [begin, end).
struct Span {
  std::uint32_t begin = 0, end = 0;
  friend bool operator==(Span, Span) = default;
};

/// What a text holds besides its meaning, kept beside the IR: which piece of the source each thing of the module was. What lies
/// between the pieces is space, comments, and what could not be read. Things are known by their place in the source, so the IR
/// may be changed freely.
struct Trivia {
  struct Piece {
    Span span;
    /// Of what the piece says, as parsed: restore() prints anew what has changed since.
    std::uint32_t fingerprint : 30 = 0;
    std::uint32_t opens : 1 = 0;   ///< a function's head with its `{`
    std::uint32_t closes : 1 = 0;  ///< the `}` of a function
  };
  std::vector<Piece> pieces;  ///< ascending and apart from each other
  /// Index of the piece of each line of the header; none: -1.
  std::int32_t version = -1, target = -1, address_size = -1;
};

/// What a text says.
struct Parsed {
  ir::Module module;  ///< as far as the text is PTX
  Trivia trivia;
  Diagnostics findings;  ///< in the order of the text, with file, line and column
  std::size_t syntax_errors = 0;
  /// True when the text is not PTX at some place (Kind::syntax). Words that the table does not know are findings too, of other
  /// kinds, and their statements are whole in the module as `raw`.
  [[nodiscard]] bool broken() const { return syntax_errors != 0; }
};

/// Reads a module. Never fails: what cannot be read is in `findings`, and reading goes on behind it. Time and memory are linear
/// in the size of the text; at most 12 bytes for each byte of it. `file` is how places are named. Of more than `max_findings`
/// the first are listed, and a last one that says so.
Parsed parse(std::string source, std::string_view file = "<ptx>", std::size_t max_findings = 100);

/// Reads what a module declares besides its header: functions, variables, directives. A `.version`, a `.target` or an
/// `.address_size` in it is an error.
Parsed parse_part(std::string source, Target target, Version version, std::string_view file = "<ptx>");

/// Why a line of a `.section` is none of PTX, at `where`; nothing when all are.
std::optional<Diagnostic> section_error(const ir::Section& section, const SourceLocation& where);

/// The name of a text that an author gave to a call, for parse and parse_part: its places are shown as ones of that call,
/// "kernels.py:80 (line 5, column 4 of the text)".
const char* text_given_at(const SourceLocation& call);
/// The line of the author's own source for a place: where it is in a text that was given, the call that gave it.
SourceLocation in_source(const SourceLocation& place);

/// The text that was parsed, byte for byte, with what was changed, added or removed in the module since printed canonically.
std::string restore(const Parsed& parsed);

}  // namespace ptx::text
