#include "ptx/vgpu/machine/machine.hpp"

#include <unistd.h>

namespace ptx::vgpu {

bool baseline_only = false;

bool host_has_avx2() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return has && !baseline_only;
#else
  return false;
#endif
}

std::uint64_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::uint64_t{1} << 32;  // not told
  return multiply_sizes(static_cast<std::uint64_t>(pages), static_cast<std::uint64_t>(page));
}

Outcome Warp::fail(const Step& step, int lane, Kind kind, std::string message, std::vector<std::string> notes) {
  if (!fault) fault = Fault{kind, std::move(message), step.item, lane, std::move(notes)};
  return Outcome::fault;
}

Outcome Warp::fail(const Step& step, int lane, Rule rule, std::string message, std::vector<std::string> notes) {
  if (!fault) {
    fault = Fault{row(rule).kind, std::move(message), step.item, lane, std::move(notes)};
    fault->rule = rule;
  }
  return Outcome::fault;
}

}  // namespace ptx::vgpu
