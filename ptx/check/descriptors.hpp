// Descriptors whose value is known: a bit that cannot be set is a mistake that no tool reports before the wrong result.
#pragma once

#include "ptx/check/dataflow.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// Checks the descriptors of a wgmma.mma_async or tcgen05.mma that are constants (manual: "Matrix Descriptor Format", "Shared
/// Memory Descriptor", "Instruction Descriptor").
void check_descriptors(Report& report, const ir::Function& function, const ir::Inst& inst, const Registers& registers);

}  // namespace ptx::check
