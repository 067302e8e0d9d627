// The brief door of base: what headers need that authors compile often. A room enters another through its front door, base.hpp,
// or through this one; it brings no heavy header of the standard library.
#pragma once

#include "ptx/base/diagnostic.hpp"
#include "ptx/base/expected.hpp"
#include "ptx/base/function.hpp"
#include "ptx/base/ids.hpp"
#include "ptx/base/launch_geometry.hpp"
#include "ptx/base/owned.hpp"
#include "ptx/base/sizes.hpp"
#include "ptx/base/source_location.hpp"
