// kernels (floor 7): kernels that are ready to use, written with the library itself. Each is made of a Recipe by pure functions:
//     recipes(problem)  the ways that are worth trying
//     choose(problem)   the best of them
//     kernel(recipe)    the PTX
//     cost(problem)     bytes and operations
//     rms_norm(place, dtype, x, weight, y) …   all of it: chosen, compiled, run (run.hpp)
// Matrix products are made in the same way, with recipes of their own (product.hpp).
// Files: row.hpp what they share; norm, softmax, gated … one kind of operation each; choose.cpp which recipe; tuned.hpp which of
// them was measured on this machine.
#pragma once

#include "ptx/kernels/product.hpp"
#include "ptx/kernels/recipe.hpp"
#include "ptx/kernels/run.hpp"
