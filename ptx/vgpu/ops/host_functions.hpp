// Functions of the driver, which modules declare and the executor runs on the host: vprintf and __assertfail.
#pragma once

#include "ptx/vgpu/decoding.hpp"

namespace ptx::vgpu {

/// The handler of such a call, or of one that finds out what it calls.
Handler call_host(Decoding& in, const HostCall& call);

}  // namespace ptx::vgpu
