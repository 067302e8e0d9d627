// A launch record from anywhere: it is refused, or reads back as the bytes it was.
#include <cstdlib>

#include "ptx/launch/launch.hpp"
#include "tests/fuzz/starts.hpp"

std::vector<std::string> ptx::fuzz::starts() {
  using namespace ptx::launch;
  LaunchSpec spec;
  spec.entry = "k";
  const std::string plain = spec.serialise();
  spec.inputs = spec.outputs = 1;
  spec.aliases = {{.input = 0, .output = 0}};
  spec.params = {{}, {.kind = Param::Kind::scalar, .size_bytes = 4, .align_bytes = 4, .bits = 7}, {.arg = 1}};
  return {plain, spec.serialise()};
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto spec = ptx::launch::LaunchSpec::parse(bytes);
  if (spec && spec->serialise() != bytes) std::abort();
  return 0;
}
