// Which GPU a PTX target runs on. PTX manual: "PTX module directives: .target".
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "ptx/base/base.hpp"

namespace ptx::cuda {

/// A GPU's compute capability: 9.0 is an H100 or H200.
struct ComputeCapability {
  int major = 0, minor = 0;
  friend auto operator<=>(ComputeCapability, ComputeCapability) = default;
};
std::string to_string(ComputeCapability capability);

/// What a `.target` names: an architecture and how widely its code runs.
struct Target {
  enum class Reach : char {
    forward = 0,         ///< sm_90: on this architecture and, as text, on every later one
    family = 'f',        ///< sm_100f: on later members of the same family
    architecture = 'a',  ///< sm_90a: on this architecture alone
  };
  ComputeCapability capability;
  Reach reach = Reach::forward;
  friend bool operator==(Target, Target) = default;
};
std::string to_string(Target target);

/// Reads "sm_90a". Errors: unknown_target.
Expected<Target> parse_target(std::string_view word);
/// Reads the `.target` directive of a PTX text. Errors: unknown_target.
Expected<Target> target_of(std::string_view ptx_text);

enum class ImageKind { text, cubin };

/// Whether code for `target` runs on a GPU of `capability`. Text goes forward through a compiler; a cubin of a plain target
/// runs only on the same major version, from its minor version on. (The family rule agrees with ptxas 13.0: a 100f text
/// assembles for 100 and 103 and not for 110, a 120f text for 120 and 121.)
bool runs_on(Target target, ComputeCapability capability, ImageKind image = ImageKind::text);

/// "sm_90a": the target with every feature of a GPU of this capability; plain "sm_80" where there is no such variant.
std::string target_name(ComputeCapability capability);

/// What ptxas should assemble text of `target` for, given a GPU that it runs on: the GPU's own architecture, with the text's
/// own reach (plain sm_80 text on 9.0: sm_90; sm_100f text on 10.3: sm_103f; sm_90a: sm_90a).
std::string assembly_target(Target target, ComputeCapability capability);

}  // namespace ptx::cuda
