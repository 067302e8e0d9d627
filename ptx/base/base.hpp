// base (floor 0): what every room stands on. Values, errors, places, names. Includes nothing of ours.
#pragma once

#include "ptx/base/brief.hpp"
#include "ptx/base/diagnostic.hpp"
#include "ptx/base/expected.hpp"
#include "ptx/base/ids.hpp"
#include "ptx/base/key_map.hpp"
#include "ptx/base/launch_geometry.hpp"
#include "ptx/base/quote.hpp"
#include "ptx/base/sha256.hpp"
#include "ptx/base/sizes.hpp"
#include "ptx/base/source_location.hpp"
#include "ptx/base/store.hpp"
#include "ptx/base/strings.hpp"
#include "ptx/base/text_buffer.hpp"
