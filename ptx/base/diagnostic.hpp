// One type for everything that can go wrong, and the one list of kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/where.hpp"

namespace ptx {

/// What went wrong, as a word that tests, tools and documentation can name. The list is kinds.def, once.
enum class Kind : std::uint8_t {
#define PTX_KIND(name, summary) name,
#include "ptx/base/kinds.def"
#undef PTX_KIND
};

/// The kind's spelling, `operand_mismatch`.
std::string_view name(Kind kind);
/// One sentence that says what the kind means.
std::string_view summary(Kind kind);
/// Every kind, in the order of kinds.def. The coverage test walks it.
std::span<const Kind> all_kinds();

enum class Severity : std::uint8_t { error, warning, note };

/// A finding: what happened, the value seen, where in the author's code, what would fit.
/// Messages are lower case, without a full stop, code in backticks; hints go last, as notes.
struct Diagnostic {
  Kind kind{};
  Severity severity = Severity::error;
  std::string message;
  Where where;                     ///< the author's line, when known
  std::vector<std::string> notes;  ///< "ptx: …", "manual: …", "hint: …": printed as "  = …" lines

  Diagnostic& note(std::string text) & {
    notes.push_back(std::move(text));
    return *this;
  }
  Diagnostic&& note(std::string text) && {
    notes.push_back(std::move(text));
    return std::move(*this);
  }
};

/// The whole diagnostic as a person reads it:
///     error: `fma` needs a rounding mode: `.rn`, `.rz`, `.rm` or `.rp`  [missing_modifier]
///       --> rms.py:31
///       = form: fma.rnd{.ftz}{.sat}.f32  d, a, b, c
std::string render(const Diagnostic& diagnostic);

using Diagnostics = std::vector<Diagnostic>;

/// True when any of them is an error (not a warning or a note).
bool has_errors(const Diagnostics& diagnostics);

/// "`a`", "`a` or `b`", "`a`, `b` or `c`": how a message lists what would fit; more than `most` are cut with "…".
std::string list_choices(std::span<const std::string> words, std::size_t most = 12);
/// The word of `words` nearest to `word` by edit distance, or "" when none is near: "did you mean …".
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace ptx
