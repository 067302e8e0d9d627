// What files of functions over pointers share.
#pragma once

#include <vector>

#include "ptx/author/author.hpp"
#include "ptx/kernels/recipe.hpp"

namespace ptx::kernels {

/// The kernel of a recipe, with its scalars, once it is written. Thread-safe.
Expected<Compiled> compiled(const Recipe& recipe, const std::vector<launch::Scalar>& scalars);

}  // namespace ptx::kernels
