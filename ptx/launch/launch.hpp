// launch (floor 5): from a checked kernel and tensors to a run, on the executor or on a GPU.
//     KernelImage   text + LaunchSpec (+ checked IR), named by the hash of its content; loads and decodes itself once
//     Registry      the process's images by key and handle
//     Plan          what a user calls: fits tensors to a Signature, specialises, remembers the last call's shapes
//     run(Call)     one call: outputs, changed inputs, apartness and loading; a library gives memory and a stream
//     ExecutorModule  a text on the executor alone: any parameters, any memory, grid and block at the launch
//     ptx::compile  all of it for a C++ program (run.hpp)
// Knows neither Python nor jax nor torch.
#pragma once

#include "ptx/launch/archive.hpp"
#include "ptx/launch/call.hpp"
#include "ptx/launch/executor_module.hpp"
#include "ptx/launch/image.hpp"
#include "ptx/launch/inspect.hpp"
#include "ptx/launch/loading.hpp"
#include "ptx/launch/memory.hpp"
#include "ptx/launch/options.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/launch/plan.hpp"
#include "ptx/launch/ready.hpp"
#include "ptx/launch/registry.hpp"
#include "ptx/launch/run.hpp"
#include "ptx/launch/scalars.hpp"
#include "ptx/launch/signature.hpp"
#include "ptx/launch/sized.hpp"
#include "ptx/launch/spec.hpp"
#include "ptx/launch/tensor.hpp"
#include "ptx/launch/warnings.hpp"
