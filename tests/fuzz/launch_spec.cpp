// A launch record from anywhere: it is refused, or reads back as the bytes it was.
#include <cstdlib>

#include "ptx/launch/launch.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto spec = ptx::launch::LaunchSpec::parse(bytes);
  if (spec && spec->serialise() != bytes) std::abort();
  return 0;
}
