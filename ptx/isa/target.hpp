// PTX targets as a lattice (manual: ".target"): base nodes, family nodes `f`, exact nodes `a`. Never a number: sm_90a code does
// not run on sm_100, and sm_103f code runs on sm_103a but not on sm_100a.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ptx {

/// A node of the target lattice. The list is targets.def.
enum class Target : std::uint8_t {
#define PTX_TARGET(name, base, variant, family, since_major, since_minor) name,
#include "ptx/isa/targets.def"
#undef PTX_TARGET
};

/// A PTX ISA version, `.version major.minor`.
struct Version {
  std::uint8_t major = 1, minor = 0;
  friend constexpr auto operator<=>(Version, Version) = default;
};
std::string to_string(Version version);

namespace isa {

/// A set of lattice nodes, one bit each: "any of these".
using TargetSet = std::uint64_t;

struct TargetInfo {
  std::string_view name;  ///< "sm_90a"
  std::uint16_t base;     ///< 90
  char variant;           ///< ' ' base, 'f' family, 'a' exact
  std::uint16_t family;   ///< base of the family's first member, 0 when the target has no family
  Version since;          ///< the first PTX version that knows it
};

namespace detail {
inline constexpr TargetInfo target_infos[] = {
#define PTX_TARGET(name, base, variant, family, since_major, since_minor) \
  {#name, base, variant, family, {since_major, since_minor}},
#include "ptx/isa/targets.def"
#undef PTX_TARGET
};
}  // namespace detail

inline constexpr std::size_t target_count = std::size(detail::target_infos);
static_assert(target_count <= 64, "TargetSet is one 64-bit word");

constexpr const TargetInfo& info(Target target) { return detail::target_infos[static_cast<std::size_t>(target)]; }
constexpr std::string_view name(Target target) { return info(target).name; }
constexpr TargetSet node(Target target) { return TargetSet{1} << static_cast<unsigned>(target); }

constexpr std::optional<Target> target_from_name(std::string_view word) {
  for (std::size_t i = 0; i < target_count; ++i)
    if (detail::target_infos[i].name == word) return static_cast<Target>(i);
  return std::nullopt;
}

/// The most shared memory in bytes that one block can have on a target's machines, dynamic included (CUDA C++ programming guide,
/// "Technical Specifications per Compute Capability"; the reserved kilobyte taken off).
constexpr std::uint32_t max_shared_bytes(Target target) {
  const unsigned base = info(target).base;
  const unsigned kib = base < 70                  ? 48
                       : base < 75                ? 96
                       : base < 80                ? 64
                       : base == 80 || base == 87 ? 163
                       : base < 90                ? 99
                       : base < 120               ? 227
                                                  : 99;
  return kib * 1024;
}

/// What an SM of a target holds at most (the same table; sm_110, which was sm_101, as ptxas 13.0 counts).
struct SmLimits {
  std::uint32_t ctas, warps;
  std::uint32_t shared_kib;      ///< shared memory
  std::uint32_t reserved_bytes;  ///< of it, for each CTA
  [[nodiscard]] constexpr std::uint32_t threads() const { return 32 * warps; }
};
constexpr SmLimits sm_limits(Target target) {
  const unsigned base = info(target).base;
  if (base < 70) return {32, 64, 64, 0};
  if (base < 75) return {32, 64, 96, 0};
  if (base < 80) return {16, 32, 64, 0};
  if (base == 80) return {32, 64, 164, 1024};
  if (base == 87) return {16, 48, 164, 1024};
  if (base == 89) return {24, 48, 100, 1024};
  if (base < 90) return {16, 48, 100, 1024};
  if (base < 101 || base == 103) return {32, 64, 228, 1024};
  if (base < 120) return {24, 48, 228, 1024};
  return {24, 48, 100, 1024};
}

/// "sm_100a, sm_100f or sm_110a".
std::string list_targets(TargetSet set);

}  // namespace isa

// The targets by name, as authors write them: `{.arch = sm_90a}`.
#define PTX_TARGET(name, base, variant, family, since_major, since_minor) inline constexpr Target name = Target::name;
#include "ptx/isa/targets.def"
#undef PTX_TARGET

}  // namespace ptx
