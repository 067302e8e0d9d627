// The parts of the extension module, one function a file.
#pragma once

#include <nanobind/nanobind.h>

namespace ptx::python {

void bind_types(nanobind::module_& m);          ///< PtxType, TYPES
void bind_registers(nanobind::module_& m);      ///< Reg, RegArray, NegPred, PipeRef
void bind_isa(nanobind::module_& m);            ///< inst, opcodes
void bind_tile(nanobind::module_& m);           ///< Tile, Layout, unify_envs
void bind_trace(nanobind::module_& m);          ///< Trace, Module, TensorSpec
void bind_modules(nanobind::module_& m);        ///< ModuleBuilder, and calls of device functions
void bind_write(nanobind::module_& m);          ///< the functions of reg, smem and ptx
void bind_special(nanobind::module_& m);        ///< special, sreg
void bind_control(nanobind::module_& m);        ///< if_, else_, loop, range_, scope, bra, label, ret
void bind_launch(nanobind::module_& m);         ///< Image, Plan, sass, the machine's GPUs
void bind_executor(nanobind::module_& m);       ///< ExecutorModule, for pyptx.executor
void bind_session(nanobind::module_& m);        ///< Timeline and Session, for pyptx.executor
void bind_text(nanobind::module_& m);           ///< nodes and tokens of a text, the command line
void bind_node_launches(nanobind::module_& m);  ///< What autograd nodes in C++ launch, for pyptx.torch_support
void bind_kernels(nanobind::module_& m);        ///< Recipes of the kernel library, for pyptx.kernels
void bind_smem(nanobind::module_& m);         ///< `smem`: allocations of shared memory and what is read and written through them.
void bind_sync(nanobind::module_& m);         ///< `ptx.mbarrier`, `fence`, `cluster`, `pipeline`, `bar`, `setmaxnreg`.
void bind_copies(nanobind::module_& m);       ///< `ptx.cp.async_`, bulk and tensor copies, `ptx.tma`.
void bind_matrix(nanobind::module_& m);       ///< `ptx.ldmatrix`, `ptx.stmatrix`, `ptx.mma`.
void bind_wgmma(nanobind::module_& m);        ///< `ptx.wgmma` and `pyptx.wgmma_layout`.
void bind_tcgen05(nanobind::module_& m);      ///< `ptx.tcgen05`.
void bind_helper_list(nanobind::module_& m);  ///< What helpers are declared.
void bind_spec(nanobind::module_& m);         ///< What `pyptx.spec` says of the table.
void bind_scalar(
    nanobind::module_& m);  ///< The typed scalar wrappers: `ptx.mov`, `ptx.add` …, and `ptx.raw`, `ptx.var`, `ptx.kloop`.

}  // namespace ptx::python
