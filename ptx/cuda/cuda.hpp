// cuda (floor 4): GPUs through the CUDA driver, found at run time. Takes PTX text or a cubin and never sees the IR.
//     driver -> device -> compile (cache, ptxas) -> LoadedKernel (text or cubin) -> LaunchTemplate -> launch;  assemble and
//     disassemble with NVIDIA's tools; TensorMaps: the descriptors of tensor copies, on each GPU.
// Nothing here needs a GPU, a driver or a toolkit to build.
#pragma once

#include "ptx/cuda/compile.hpp"
#include "ptx/cuda/device.hpp"
#include "ptx/cuda/disk_cache.hpp"
#include "ptx/cuda/driver.hpp"
#include "ptx/cuda/files.hpp"
#include "ptx/cuda/launch.hpp"
#include "ptx/cuda/library.hpp"
#include "ptx/cuda/memory.hpp"
#include "ptx/cuda/sections.hpp"
#include "ptx/cuda/target.hpp"
#include "ptx/cuda/tensor_map.hpp"
#include "ptx/cuda/tools.hpp"
