// write (floor 3): authoring. `ptx::Kernel`, registers and their operators, the dots `ptx::inst…`, addresses, control flow,
// idioms.
#pragma once

#include "ptx/base/base.hpp"
#include "ptx/ir/ir.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/write/block.hpp"
#include "ptx/write/boundary.hpp"
#include "ptx/write/builder.hpp"
#include "ptx/write/control.hpp"
#include "ptx/write/idiom/warp.hpp"
#include "ptx/write/inst.hpp"  // generated from the table: the dots
#include "ptx/write/kernel.hpp"
#include "ptx/write/module.hpp"
#include "ptx/write/operators.hpp"
