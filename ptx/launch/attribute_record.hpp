// Launch attributes in a launch record.
#pragma once

#include <span>
#include <string>

#include "ptx/base/base.hpp"
#include "ptx/cuda/cuda.hpp"
#include "ptx/tile/tile.hpp"

namespace ptx::launch {

/// The attributes of the record's first version are a word each, in its geometry.
inline constexpr std::size_t attributes_in_geometry = 2;

/// Those of later versions stand behind everything else, by name, and only where one is set: records without them are what they
/// have always been.
void put_attributes(std::string& out, const LaunchAttributes& attributes, std::span<const LaunchAttribute> rows);
/// Reads them, if there are any. Kind bad_image for one that is not among the rows.
Expected<void> get_attributes(cuda::ByteReader& in, LaunchAttributes& attributes, std::span<const LaunchAttribute> rows);

}  // namespace ptx::launch
