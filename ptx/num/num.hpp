// num (floor 1): what PTX's arithmetic computes, bit for bit: number formats, rounding, conversions. No lanes, no registers, no
// IR: functions of numbers, to be tested by themselves.
#pragma once

#include "ptx/num/approx.hpp"
#include "ptx/num/chain.hpp"
#include "ptx/num/convert.hpp"
#include "ptx/num/dot.hpp"
#include "ptx/num/exact.hpp"
#include "ptx/num/format.hpp"
#include "ptx/num/half.hpp"
#include "ptx/num/rounding.hpp"
#include "ptx/num/tiles.hpp"
#include "ptx/num/update.hpp"
