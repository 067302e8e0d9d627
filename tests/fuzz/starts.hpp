// What a fuzzer may say about where to begin.
#pragma once

#include <string>
#include <vector>

namespace ptx::fuzz {

/// Inputs besides the texts of the corpus, for the driver without libFuzzer (steady/main.cpp) to begin with. A fuzzer that names
/// none leaves it to the driver, which has none either.
std::vector<std::string> starts();

}  // namespace ptx::fuzz
