// What isagen writes from the instruction table. Each generator returns a whole file.
#pragma once

#include <string>

namespace ptx::isa::gen {

/// The executor's coverage, for whoever defines the macros it wants: PTX_OP(word) for every distinct word of a row's exec(…), in table order,
/// and PTX_FORM_OP(form id, word) for every row that has one.
std::string generate_ops();

/// The stubs of Python's `ptx.inst`: one class for each state of the modifier tree, with the syntax, availability and manual anchor of
/// every dot and every call.
std::string generate_pyi();

}  // namespace ptx::isa::gen
