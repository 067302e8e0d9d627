// JSON's strings.
#pragma once

#include <string>
#include <string_view>

namespace ptx {

/// The text as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, so that the document is always valid.
std::string quote(std::string_view text);

}  // namespace ptx
