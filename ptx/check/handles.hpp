// Textures, samplers and surfaces as operands: by name they are handles, not memory.
#pragma once

#include "ptx/check/names.hpp"
#include "ptx/check/report.hpp"

namespace ptx::check {

/// The names that stand for textures, samplers and surfaces name such, and nothing else accesses them (manual: "Texture Sampler
/// and Surface Types", "Texturing modes").
void check_handles(Report& report, const Names& names, const ir::Function& function, const ir::Inst& inst);

}  // namespace ptx::check
