// Any bytes at all: they are read to their end, restored byte for byte, and what was read prints to a text that says the same.
#include <cstdio>
#include <cstdlib>

#include "ptx/text/text.hpp"

namespace {

[[noreturn]] void fail(const char* what, const std::string& detail) {
  std::fprintf(stderr, "%s\n%s\n", what, detail.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace ptx;
  const std::string source(reinterpret_cast<const char*>(data), size);
  const text::Parsed parsed = text::parse(source, "fuzz.ptx");
  if (text::restore(parsed) != source) fail("restored with differences", text::restore(parsed));
  if (parsed.findings.size() > 101) fail("too many findings", "");
  for (const Diagnostic& d : parsed.findings)
    if (!d.where.known() || d.where.column == 0) fail("a finding without a place", render(d));
  const std::string printed = text::print(parsed.module);
  if (parsed.broken()) return 0;
  const text::Parsed again = text::parse(printed, "printed.ptx");
  if (again.broken()) fail("what was printed is no PTX", cat(render(again.findings.front()), "\n", printed));
  if (const std::string difference = ir::difference(parsed.module, again.module); !difference.empty())
    fail("printed and read again it says something else", cat(difference, "\n", printed));
  if (text::print(again.module) != printed) fail("printed twice it differs", text::print(again.module));
  return 0;
}
