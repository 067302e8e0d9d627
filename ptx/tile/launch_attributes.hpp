// Ways of launching a kernel besides its sizes. A new one is written here; the compiler and
// tests/python/test_launch_attributes.py then name the places where authors must be able to say it. The executor runs kernels the
// same with and without.
#pragma once

#include <array>
#include <string_view>

namespace ptx {

struct LaunchAttributes {
  bool cooperative = false;
  bool programmatic = false;
  friend bool operator==(const LaunchAttributes&, const LaunchAttributes&) = default;
};

/// What is known of one: that is how images carry it, saved kernels keep it, and Python knows it.
struct LaunchAttribute {
  std::string_view name;  ///< as authors write it
  bool LaunchAttributes::* value;
  std::string_view doc;  ///< "whether " this
};
inline constexpr std::array<LaunchAttribute, 2> launch_attributes = {{
    {"cooperative", &LaunchAttributes::cooperative, "all blocks are resident at once"},
    {"programmatic", &LaunchAttributes::programmatic, "it may start while the kernel before it on the stream still runs"},
}};
static_assert(sizeof(LaunchAttributes) == launch_attributes.size() * sizeof(bool), "every attribute has its row");

/// Those of what authors write, which has a field for each.
template <class Spec>
constexpr LaunchAttributes attributes_of(const Spec& spec) {
  return {.cooperative = spec.cooperative, .programmatic = spec.programmatic};
}
/// The reverse.
template <class Spec>
constexpr void set_attributes(Spec& spec, const LaunchAttributes& attributes) {
  spec.cooperative = attributes.cooperative;
  spec.programmatic = attributes.programmatic;
}

}  // namespace ptx
