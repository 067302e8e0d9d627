// `@FILE` in a command line.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::tool {

/// The words with every `@FILE` replaced by the words in that file, also by those of files named there; behind `--` nothing is.
/// In a file, words are separated by white space, '…' and "…" keep it, and a backslash keeps the character behind it, outside
/// '…'. Kind file_error: a file that cannot be read, that includes itself, or that ends inside a quotation.
Expected<std::vector<std::string>> expand_responses(std::span<const std::string> words);

}  // namespace ptx::tool
