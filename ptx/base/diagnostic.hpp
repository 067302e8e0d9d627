// One type for everything that can go wrong, and the one list of kinds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/source_location.hpp"

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
/// "error", "warning", "note".
std::string_view name(Severity severity);

/// What a note is, for those who show findings in their own way. Its word stands in front of the note's text.
enum class NoteKind : std::uint8_t {
  plain,   ///< a sentence, perhaps with a word of its own in front: "given: …"
  hint,    ///< what would fit, what to do
  form,    ///< the syntax
  manual,  ///< the section of the manual
  ptx,     ///< the statement that the finding speaks of, as it prints
  place,   ///< a second place, `where`, which is `text` to the finding: "first", where the name was defined before
};

/// One thing more that is known of a finding.
struct Note {
  NoteKind kind = NoteKind::plain;
  std::string text;
  SourceLocation where = {};
};
/// The note as it is shown: "hint: …", "first: kernel.py:3".
std::string to_string(const Note& note);

/// A finding: what happened, the value seen, where in the author's code, what would fit.
/// Messages are lower case, without a full stop, code in backticks; hints go last, as notes.
struct Diagnostic {
  Kind kind{};
  Severity severity = Severity::error;
  std::string message;
  SourceLocation where;     ///< the author's line, when known
  std::vector<Note> notes;  ///< printed as "  = …" lines

  Diagnostic& add(Note note) & {
    notes.push_back(std::move(note));
    return *this;
  }
  Diagnostic& note(std::string text) & { return add({NoteKind::plain, std::move(text), {}}); }
  Diagnostic& hint(std::string text) & { return add({NoteKind::hint, std::move(text), {}}); }
  Diagnostic& form(std::string text) & { return add({NoteKind::form, std::move(text), {}}); }
  Diagnostic& manual(std::string text) & { return add({NoteKind::manual, std::move(text), {}}); }
  Diagnostic& ptx(std::string text) & { return add({NoteKind::ptx, std::move(text), {}}); }
  /// A second place, and what it is to the finding.
  Diagnostic& place(std::string role, const SourceLocation& at) & { return add({NoteKind::place, std::move(role), at}); }

  Diagnostic&& note(std::string text) && { return std::move(note(std::move(text))); }
  Diagnostic&& hint(std::string text) && { return std::move(hint(std::move(text))); }
  Diagnostic&& form(std::string text) && { return std::move(form(std::move(text))); }
  Diagnostic&& manual(std::string text) && { return std::move(manual(std::move(text))); }
};

/// The whole diagnostic as a person reads it:
///     error: `fma` needs a rounding mode: `.rn`, `.rz`, `.rm` or `.rp`  [missing_modifier]
///       --> rms.py:31
///       = form: fma.rnd{.ftz}{.sat}.f32  d, a, b, c
std::string render(const Diagnostic& diagnostic);

using Diagnostics = std::vector<Diagnostic>;

/// Its notes as they are shown.
std::vector<std::string> notes_of(const Diagnostic& diagnostic);

/// True when any of them is an error (not a warning or a note).
bool has_errors(const Diagnostics& diagnostics);

/// "`a`", "`a` or `b`", "`a`, `b` or `c`": how a message lists what would fit; more than `most` are cut with "…".
std::string list_choices(std::span<const std::string> words, std::size_t most = 12);
/// The word of `words` nearest to `word` by edit distance, or "" when none is near: "did you mean …".
std::string nearest(std::string_view word, std::span<const std::string> words);

}  // namespace ptx
