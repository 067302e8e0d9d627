// Recipes that `pyptx.kernels.tune` measured on this machine: what is called from C++ takes them too. An entry is a file of the
// disk cache, `tuned/<32 hex digits>.json`, named by the hash of the device's name, this library's version and the problem.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ptx/kernels/product.hpp"
#include "ptx/kernels/recipe.hpp"
#include "ptx/launch/launch.hpp"

namespace ptx::kernels {

/// The problem that stands for all like this one, as JSON: `["rows", "softmax", "float32", 4, 1000, 16, []]`.
std::string tuning_key(const Problem& problem);
/// `["product", "bfloat16", "bfloat16", [64, 4096, 4096, 1], ["b_transposed"]]`
std::string tuning_key(const product::Problem& problem);
/// The name of the recipe that is kept for it; nothing where there is none, or no disk cache. Files are read once in a process.
std::optional<std::string> tuned_recipe(std::string_view device, const std::string& key);

/// What recipes of a place may be made for: of a GPU its compute capability, 90 for 9.0; the executor runs all that sm_90 has.
int architecture_of(const Place& place);
/// What a call at this place takes: the tuned recipe of its GPU, or the library's choice. Kinds: those of `choose`.
Expected<Recipe> chosen(const Place& place, Problem problem);
Expected<product::Recipe> chosen(const Place& place, const product::Problem& problem);

}  // namespace ptx::kernels
