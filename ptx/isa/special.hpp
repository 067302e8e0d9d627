// Special registers (manual: "Special Registers"): the one list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ptx/isa/target.hpp"
#include "ptx/isa/type.hpp"

namespace ptx::isa {

/// Index into `specials()`.
using SpecialId = std::uint16_t;

struct Special {
  std::string_view name;  ///< with the percent sign: "%tid.x"
  Type type;
  Version since;
  TargetSet on;
  std::string_view doc;
};

std::span<const Special> specials();
std::optional<SpecialId> special_from_name(std::string_view name);

}  // namespace ptx::isa
