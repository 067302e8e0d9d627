// The part of cuda that a C++ program uses by itself: GPUs, their memory and their streams. cuda.hpp has the rest, which
// compiles, loads and launches.
#pragma once

#include "ptx/cuda/device.hpp"
#include "ptx/cuda/driver.hpp"
#include "ptx/cuda/memory.hpp"
#include "ptx/cuda/target.hpp"
