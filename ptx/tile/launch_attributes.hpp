// Ways of launching a kernel besides its sizes: the lines of launch_attributes.inc as a type, and as data.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ptx {

struct LaunchAttributes {
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) bool name = false;
#include "ptx/tile/launch_attributes.inc"
  friend bool operator==(const LaunchAttributes&, const LaunchAttributes&) = default;
};

/// What is known of one: that is how images carry it, saved kernels keep it, the driver is told, and Python knows it.
struct LaunchAttribute {
  std::string_view name;  ///< as authors write it
  bool LaunchAttributes::* value;
  std::uint32_t number;    ///< the driver's
  std::string_view says;   ///< "whether " this
  std::string_view guide;  ///< what it means, for its users
};
inline constexpr std::array launch_attributes = {
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) LaunchAttribute{#name, &LaunchAttributes::name, number, says, guide},
#include "ptx/tile/launch_attributes.inc"
};

/// Those of what authors write, which has a field for each.
template <class Spec>
constexpr LaunchAttributes attributes_of(const Spec& spec) {
  LaunchAttributes attributes;
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) attributes.name = spec.name;
#include "ptx/tile/launch_attributes.inc"
  return attributes;
}
/// The reverse.
template <class Spec>
constexpr void set_attributes(Spec& spec, const LaunchAttributes& attributes) {
#define PTX_LAUNCH_ATTRIBUTE(name, number, says, guide) spec.name = attributes.name;
#include "ptx/tile/launch_attributes.inc"
}

}  // namespace ptx
