// What a C++ file includes that writes kernels and compiles often: the kernel, registers, control flow, without the dots of every
// instruction. Those that it uses come by opcode:
//     #include <ptx/kernel.hpp>
//     #include <ptx/inst/fma.hpp>
//     #include <ptx/inst/ld.hpp>
// Whoever compiles and runs kernels, takes their module(), or does not mind a second, includes <ptx/ptx.hpp>, which has
// everything.
#pragma once

#include "ptx/inst.hpp"  // generated from the table: the root of the dots
#include "ptx/version.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/kernel.hpp"
#include "ptx/write/operators.hpp"
