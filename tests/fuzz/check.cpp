// Any text: what the parser makes of it, whole or broken, the checker checks to an end.
#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const ptx::text::Parsed parsed = ptx::text::parse(std::string(reinterpret_cast<const char*>(data), size), "fuzz.ptx");
  for (const ptx::Diagnostic& d : ptx::check::check(parsed.module)) (void)ptx::render(d);
  return 0;
}
