#include "ptx/check/launch_bounds.hpp"

#include <algorithm>
#include <limits>

namespace ptx::check {
namespace {

constexpr std::uint64_t warp = 32, warps_at_a_time = 4;  // one for each part of an SM
constexpr std::uint64_t registers_of_sm = 65536, granule = 8;

std::uint64_t warps_of(std::uint64_t threads) { return (threads + warp - 1) / warp; }

}  // namespace

std::uint64_t thread_count(const std::vector<std::uint32_t>& values) {
  std::uint64_t n = 1;
  for (const std::uint32_t v : values)
    n = n > std::numeric_limits<std::uint32_t>::max() ? n : n * v;  // three 32-bit values must not wrap around
  return n;
}

std::uint32_t LaunchBounds::registers_for(std::uint64_t ctas) const {
  if (!threads || *threads == 0) return unbounded_registers;
  const std::uint64_t warps = warps_of(*threads) * ctas;
  const std::uint64_t rounded = (warps + warps_at_a_time - 1) / warps_at_a_time * warps_at_a_time;
  const std::uint64_t each = registers_of_sm / (rounded * warp) / granule * granule;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(each, 24, unbounded_registers));
}

std::uint32_t LaunchBounds::registers() const {
  return maxnreg ? std::clamp(*maxnreg, 24u, unbounded_registers) : registers_for(ctas_per_sm);
}

bool LaunchBounds::fixes_registers(std::uint32_t needed) const {
  if (maxnreg) return true;
  if (!threads) return false;
  const std::uint64_t rounded = warps_of(*threads) * warp, most = isa::sm_limits(target).threads();
  if (rounded > most) return false;  // no CTA fits
  return says_ctas || 2 * rounded > most || needed > registers_for(2);
}

LaunchBounds launch_bounds(const ir::Function& function, Target target) {
  LaunchBounds bounds;
  bounds.target = target;
  std::optional<std::uint32_t> ctas;
  for (const ir::Directive& d : function.directives) {
    if (d.values.empty()) continue;
    if (d.name == "maxntid" || d.name == "reqntid") bounds.threads = thread_count(d.values);
    if (d.name == "minnctapersm") ctas = d.values[0];
    if (d.name == "maxnreg") bounds.maxnreg = d.values[0];
  }
  const isa::SmLimits sm = isa::sm_limits(target);
  bounds.says_ctas =
      bounds.threads && ctas && *ctas != 0 && *ctas <= sm.ctas && warps_of(*bounds.threads) * warp * *ctas <= sm.threads();
  if (bounds.says_ctas) bounds.ctas_per_sm = *ctas;
  return bounds;
}

}  // namespace ptx::check
