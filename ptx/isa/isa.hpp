// isa (floor 1): the instruction table. One row per PTX syntax line; everything that knows an instruction asks here: the dots of
// both languages, the printer, the parser, the checker, the executor's dispatch, the stubs and the documentation.
#pragma once

#include "ptx/base/base.hpp"
#include "ptx/isa/brief.hpp"
#include "ptx/isa/describe.hpp"
#include "ptx/isa/dots.hpp"
#include "ptx/isa/fit.hpp"
#include "ptx/isa/form.hpp"
#include "ptx/isa/implied.hpp"
#include "ptx/isa/operand.hpp"
#include "ptx/isa/ptxas/leniency.hpp"
#include "ptx/isa/ptxas/modifier_order.hpp"
#include "ptx/isa/ptxas/quirk.hpp"
#include "ptx/isa/row.hpp"
#include "ptx/isa/rules.hpp"
#include "ptx/isa/special.hpp"
#include "ptx/isa/target.hpp"
#include "ptx/isa/trait.hpp"
#include "ptx/isa/type.hpp"
