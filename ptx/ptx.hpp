// ptx: write GPU kernels as real PTX, check them, run them on the host's executor or on a GPU. What a C++ program includes.
//     ptx::Kernel, ptx::inst, ptx::Reg…      write a kernel (write)
//     ptx::compile, ptx::cpu, ptx::gpu       run it (author, launch)
//     ptx::text::print, ptx::check::check    its text, and what is wrong with it
#pragma once

#include "ptx/author/author.hpp"
#include "ptx/base/base.hpp"
#include "ptx/check/check.hpp"
#include "ptx/cuda/brief.hpp"
#include "ptx/launch/brief.hpp"
#include "ptx/text/text.hpp"
#include "ptx/tile/tile.hpp"
#include "ptx/version.hpp"
#include "ptx/vgpu/vgpu.hpp"
#include "ptx/write/write.hpp"
