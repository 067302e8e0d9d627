// author (floor 6): a C++ author's kernel on its way to a run: what joins writing (write) with reading text (text) and with
// launching (launch), which do not know each other.
//     compile     a ptx::Kernel, or a specification and a body, becomes a ptx::Compiled
//     specialise  a body that is written anew for each set of sizes
//     raw         statements as PTX text, checked where they stand
#pragma once

#include "ptx/author/compile.hpp"
#include "ptx/author/raw.hpp"
#include "ptx/author/specialise.hpp"
