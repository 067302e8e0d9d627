// Second names of keyword arguments: those by which programs written for pyptx 0.1.1 call the helpers.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace ptx::python {

/// A second name of an argument; `function` is its place in this module.
void add_synonym(std::string function, std::string_view ours, std::string_view theirs);

/// Has the helpers that are bound so far take the second names, too; `keyword_synonyms()` lists them for whoever asks.
void bind_keyword_synonyms(nanobind::module_& m);

}  // namespace ptx::python
