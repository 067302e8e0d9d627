// The parts of the extension module, one function a file.
#pragma once

#include <nanobind/nanobind.h>

namespace ptx::python {

void bind_types(nanobind::module_& m);      ///< PtxType, TYPES
void bind_registers(nanobind::module_& m);  ///< Reg, RegArray, NegPred, PipeRef
void bind_isa(nanobind::module_& m);        ///< inst, opcodes
void bind_tile(nanobind::module_& m);       ///< Tile, Layout, unify_envs
void bind_trace(nanobind::module_& m);      ///< Trace, Module, TensorSpec
void bind_write(nanobind::module_& m);      ///< the functions of reg, smem and ptx
void bind_special(nanobind::module_& m);    ///< special, sreg
void bind_control(nanobind::module_& m);    ///< if_, else_, loop, range_, scope, bra, label, ret
void bind_launch(nanobind::module_& m);     ///< Image, Plan, sass, the machine's GPUs
void bind_text(nanobind::module_& m);       ///< nodes and tokens of a text, the command line

}  // namespace ptx::python
