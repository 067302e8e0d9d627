// The part of launch that a C++ program uses: a kernel compiled, run, saved and loaded. launch.hpp has what is below it, which
// Python, torch and XLA call.
#pragma once

#include "ptx/launch/image.hpp"
#include "ptx/launch/memory.hpp"
#include "ptx/launch/options.hpp"
#include "ptx/launch/place.hpp"
#include "ptx/launch/resources.hpp"
#include "ptx/launch/run.hpp"
#include "ptx/launch/warnings.hpp"
