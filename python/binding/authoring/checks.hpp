// Whether instructions are held to the table, and what becomes of those that are not (docs/decisions/0008).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"
#include "python/binding/authoring/handles.hpp"

namespace ptx::python {

/// True when an instruction that the table refuses is an error. PYPTX_CHECK=off and `pyptx.spec.set_strict(False)` say otherwise,
/// `pyptx.spec.strict(…)` for a thread.
bool is_strict();

/// An instruction that the table refused, as PTX spells it: "@%p0 foo.bar %r1, [%rd0+16];". `path` is the opcode with its
/// modifiers.
std::string spell_unchecked(Trace& trace, std::string_view path, std::span<const write::Value> operands,
                            const write::Guard& guard);

/// Warns of a statement that the table does not know, at the author's line; a filter of Python's warnings may make an error of
/// it.
void warn_unheard_of(Diagnostic why);

/// Writes such an instruction as text, and notes with the trace why it was refused.
void write_unchecked(Trace& trace, std::string_view path, std::span<const write::Value> operands, const write::Guard& guard,
                     Diagnostic why);

/// Raises pyptx.spec.PtxValidationError: what the typed wrappers say of an instruction that the table refuses.
[[noreturn]] void raise_validation(std::string_view path, const Diagnostic& why);

/// The same for a helper that writes `path`: raises a PtxValidationError where the table refuses it, any other error as it is.
void unwrap_validated(std::string_view path, const Expected<void>& written);

void bind_checks(nb::module_& m);

}  // namespace ptx::python
