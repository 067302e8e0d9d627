// The lattice of targets as a relation: which features code for a target may use.
#pragma once

#include <array>

#include "ptx/isa/target.hpp"

namespace ptx::isa {

namespace detail {
// What code for each node may use: every base node not above it; a family node also the family nodes of its family not above it;
// an exact node also its own base's family node.
constexpr auto implied_sets = [] {
  std::array<TargetSet, target_count> sets{};
  for (std::size_t i = 0; i < target_count; ++i) {
    const TargetInfo& t = target_infos[i];
    for (std::size_t j = 0; j < target_count; ++j) {
      const TargetInfo& u = target_infos[j];
      const bool base = u.variant == ' ' && u.base <= t.base;
      const bool family = t.variant != ' ' && u.variant == 'f' && u.family != 0 && u.family == t.family && u.base <= t.base;
      if (i == j || base || family) sets[i] |= TargetSet{1} << j;
    }
  }
  return sets;
}();
}  // namespace detail

/// The nodes whose features a kernel for `target` may use, itself included.
constexpr TargetSet implied(Target target) { return detail::implied_sets[static_cast<std::size_t>(target)]; }
/// True when code for `target` may use something that needs any node of `needs`.
constexpr bool allows(Target target, TargetSet needs) { return (implied(target) & needs) != 0; }

static_assert(allows(Target::sm_103a, node(Target::sm_100f)) && !allows(Target::sm_103a, node(Target::sm_100a)));
static_assert(!allows(Target::sm_120f, node(Target::sm_100f)) && !allows(Target::sm_100a, node(Target::sm_90a)));
static_assert(allows(Target::sm_120, node(Target::sm_90)) && !allows(Target::sm_90, node(Target::sm_90a)));

}  // namespace ptx::isa
