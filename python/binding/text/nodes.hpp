// A parsed module as the nodes of pyptx.ir.
#pragma once

#include <nanobind/nanobind.h>

#include "ptx/text/text.hpp"

namespace ptx::python {

/// (version, target, address size or None, list of the module's things with its comments and empty lines, text of the header).
/// `classes` is the module pyptx.ir.nodes. The text has no syntax error.
nanobind::tuple make_nodes(const text::Parsed& parsed, nanobind::handle classes);

}  // namespace ptx::python
