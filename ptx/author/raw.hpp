// Statements that an author gives as PTX text, read and checked where they stand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/write/write.hpp"

namespace ptx {

/// Writes the statements of a text: instructions, labels, blocks and declarations, that become ones like any others. Registers of
/// the kernel are known by their names, and operands, target and version are checked at once. An opcode or modifier that the
/// table does not have stays text, whole, and is warned of (set_warning_handler). What is wrong is an error of the kernel at this
/// line, which says line and column in the text; nothing of the text is written then.
///     raw(k, cat("add.f32 ", x.name(), ", ", x.name(), ", 0f3F800000;"));
void raw(Body& k, std::string_view text, SourceLocation at = SourceLocation::current());

/// What a text declares besides a module's header, in the module: functions, variables, directives, sections. It is checked as
/// statements are; what is wrong is an error of the module, at this line and the one in the text.
void raw(Module& m, std::string_view text, SourceLocation at = SourceLocation::current());

namespace author {

/// A statement that does not fit the table, and why: it stays text.
struct KeptText {
  std::string statement;
  Diagnostic why;
};
/// `raw` for a builder, which gives what stayed text. Without `strict`, every statement that does not fit the table does.
/// `caller` is how messages call it: "ptx.raw". Kinds: those of the parser and of Builder::emit, all at `where`.
Expected<std::vector<KeptText>> write_text(write::Builder& builder, std::string_view text, std::string_view caller, bool strict,
                                           SourceLocation where);

/// Why a statement that the table does not know stays text, as a warning.
Diagnostic as_unheard_of(Diagnostic why);

/// `raw` for what stands between functions; gives what is to be warned of. Without `strict`, every statement that is PTX is
/// taken.
Expected<Diagnostics> declare_text(write::ModuleBuilder& module, std::string_view text, bool strict, SourceLocation where);
/// The first section of a module whose lines are none of PTX, as its author's error.
std::optional<Diagnostic> wrong_section(const ir::Module& module);

}  // namespace author
}  // namespace ptx
