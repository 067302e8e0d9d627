// Functions of the driver, which modules declare and the executor runs on the host: vprintf, __assertfail, malloc and free.
#pragma once

#include "ptx/vgpu/decode/decoding.hpp"

namespace ptx::vgpu {

/// Of x[0], a call of a function that runs already, and of x[0], a function that calls itself (recursion.cpp).
Handler enter_function();
Handler return_from_function();

/// The handler of such a call, or of one that finds out what it calls.
Handler call_host(Decoding& in, const HostCall& call);

}  // namespace ptx::vgpu
