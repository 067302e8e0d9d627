// What isagen writes from the instruction table. Each generator returns a whole file.
#pragma once

#include <map>
#include <string>

namespace ptx::isa::gen {

/// Files by their names below a folder.
using Files = std::map<std::string, std::string>;

/// The C++ dots `ptx::inst` and the constants of the special registers: <ptx/inst.hpp>, <ptx/inst/OPCODE.hpp>, and all of them in
/// <ptx/write/inst.hpp>.
Files generate_cpp_dots();

/// The executor's coverage, for whoever defines the macros it wants: PTX_OP(word) for every distinct word of a row's exec(…), in
/// table order, and PTX_FORM_OP(form id, word) for every row that has one.
std::string generate_ops();

/// The stubs of Python's `ptx.inst`: one class for each state of the modifier tree, with the syntax, availability and manual
/// anchor of every dot and every call.
std::string generate_pyi();

/// The pages of docs/isa, written into `folder`: an index, and for each opcode its forms, choices, operands, availability and
/// where the tests name it. Runs in the repository's root, whose tests it reads; throws std::runtime_error when it cannot.
void write_docs(const std::string& folder);

}  // namespace ptx::isa::gen
