// The module that the second hand asks in: a function with every kind of name that a statement may use, each statement behind a
// label of its own that can be reached, declarations in front.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/oracle/verdicts.hpp"

namespace ptx::oracle {

/// Registers of each type that the surroundings declare, `%b32_0` to `%b32_<most - 1>`.
inline constexpr std::string_view register_types[] = {"pred", "b8", "b16", "b32", "b64", "b128", "u8",    "u16", "u32",
                                                      "u64",  "s8", "s16", "s32", "s64", "f16",  "f16x2", "f32", "f64"};
/// Registers that are vectors: `%v4f32_0` and `%v4f32_1`.
inline constexpr std::string_view vector_types[] = {"v2b32", "v4b32", "v2f32", "v4f32", "v2u32", "v4u32",
                                                    "v2u16", "v4u16", "v2f64", "v2b64", "v4s32", "v2f16"};
/// Names of other things: variables, parameters, functions, labels, textures.
inline constexpr std::string_view other_names[] = {
    "global_array", "global_word",  "global_float",  "global_vector", "shared_array", "shared_word",   "shared_barrier",
    "shared_open",  "const_array",  "const_word",    "local_array",   "entry_array",  "entry_word",    "entry_pointer",
    "entry_map",    "entry_half",   "texref_array",  "surfref_array", "entry_texref", "entry_sampler", "entry_surfref",
    "param_array",  "param_word",   "sampler_array", "plain",         "with_result",  "kernel",        "$end",
    "table",        "targets_list", "prototype",     "extern_word",   "not_declared"};

struct Surroundings {
  std::string_view target;
  std::string_view version;
  bool independent = false;  ///< texmode_independent: textures need samplers
  bool in_function = false;  ///< the statements stand in a .func
};

/// A module with these declarations (module scope) and instructions (in the body), one a line: the declarations are asked about
/// first.
Asked surrounded(const Surroundings& where, std::span<const std::string> declarations, std::span<const std::string> instructions);

/// The statement between what gives its registers values that ptxas does not know and what stores them, all in one line: ptxas
/// takes some operands only while nobody reads the result, and crashes when somebody does.
std::string used(std::string_view statement);

}  // namespace ptx::oracle
