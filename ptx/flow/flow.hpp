// flow (floor 3): where control goes in a function. The graph of its blocks, their orders, loops, dominators, and which registers
// may be read before they are written. check makes one graph for each function and hands it on in check::Accepted; the executor
// takes it from there.
#pragma once

#include "ptx/flow/definedness.hpp"
#include "ptx/flow/dominators.hpp"
#include "ptx/flow/graph.hpp"
#include "ptx/flow/order.hpp"
