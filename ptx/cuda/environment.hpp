// A variable of the environment, as every setting of this room is read.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

namespace ptx::cuda {

/// The variable's value; nothing when it is unset or empty. It lasts until somebody sets the variable.
inline std::optional<std::string_view> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

}  // namespace ptx::cuda
