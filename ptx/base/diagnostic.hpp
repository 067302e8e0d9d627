// One type for everything that can go wrong, and the one list of kinds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
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

/// Of what the executor finds: which instruction of which thread it is, and what memory that asked for.
struct ExecutionPoint {
  struct Access {
    bool is_store = false;
    std::uint64_t address = 0, bytes = 0;
    std::string space;         ///< of the address: "global", "generic", "shared", …
    std::string region;        ///< what the message calls the memory there, or the nearest; empty where there is none
    std::string element = {};  ///< of a region whose shape is known, or a .shared variable: "x[3, 17]", "tile + 0x10"
    std::string proxy = {};    ///< "generic" or "async" (manual: "Proxies"); empty where nobody looked
  };
  std::string rule;  ///< that was broken: "P-01" (ptx/vgpu/findings/rules.hpp); empty where none was
  std::string kernel;
  std::string instruction;     ///< its opcode: "ld.global.v4.b32"
  std::uint32_t ptx_line = 0;  ///< of the listing or of the text that was read; 0: not known
  std::array<std::uint32_t, 3> block{}, thread{};
  std::uint32_t warp = 0, lane = 0;
  std::uint32_t lanes = 0;                           ///< a bit for each lane that did it together; 0: `lane` alone
  std::optional<std::uint32_t> rank = std::nullopt;  ///< of the block in its cluster, where that has several
  SourceLocation where = {};                         ///< the author's line
  std::uint64_t times = 1;                           ///< how often a finding was met
  std::uint64_t pairs = 1;                           ///< of instructions of the same two lines of the author's that it stands for
  std::optional<Access> access = std::nullopt;
};

/// A finding: what happened, the value seen, where in the author's code, what would fit.
/// Messages are lower case, without a full stop, code in backticks; hints go last, as notes.
struct Diagnostic {
  Kind kind{};
  Severity severity = Severity::error;
  std::string message;
  SourceLocation where;     ///< the author's line, when known
  std::vector<Note> notes;  ///< printed as "  = …" lines
  /// Of a kernel that ran: what broke the rule; and of a finding the access before it, which it is not ordered with. Else none.
  std::vector<ExecutionPoint> execution = {};

  Diagnostic& note(std::string_view text) &;
  Diagnostic& hint(std::string_view text) &;
  Diagnostic& form(std::string_view text) &;
  Diagnostic& manual(std::string_view text) &;
  Diagnostic& ptx(std::string_view text) &;
  /// A second place, and what it is to the finding.
  Diagnostic& place(std::string_view role, const SourceLocation& at) &;
  Diagnostic& add(NoteKind kind, std::string_view text, const SourceLocation& at = {});

  Diagnostic&& note(std::string_view text) && { return std::move(note(text)); }
  Diagnostic&& hint(std::string_view text) && { return std::move(hint(text)); }
  Diagnostic&& form(std::string_view text) && { return std::move(form(text)); }
  Diagnostic&& manual(std::string_view text) && { return std::move(manual(text)); }
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
