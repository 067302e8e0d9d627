// The head of a module, for tests that give what comes behind it.
#pragma once

#include <string_view>

namespace ptx::testing {

inline constexpr std::string_view header = ".version 9.0\n.target sm_90a\n.address_size 64\n";

}  // namespace ptx::testing
