// ptx::kernels: norms, softmax, gated products, matrix products and losses that are ready to use, as functions over pointers,
// distances between rows and a place to run. What a C++ program includes for them, beside <ptx/ptx.hpp> or alone.
//     #include <ptx/kernels.hpp>
//     if (auto done = ptx::kernels::rms_norm(ptx::gpu(0, stream), ptx::bf16, {x, rows, n}, weight, {y, rows, n}); !done) …
#pragma once

#include "ptx/kernels/run.hpp"
