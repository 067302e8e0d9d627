#include "python/binding/authoring/raw_text.hpp"

#include <utility>

#include "ptx/author/raw.hpp"
#include "python/binding/authoring/checks.hpp"
#include "python/binding/base/errors.hpp"

namespace ptx::python {

void write_text(Trace& trace, std::string_view text) {
  auto kept = author::write_text(trace.builder(), text, "ptx.raw", is_strict(), trace.where());
  for (author::KeptText& one : unwrap(std::move(kept))) {
    if (one.why.kind == Kind::unknown_opcode || one.why.kind == Kind::unknown_modifier) warn_unheard_of(one.why);
    trace.issues.push_back({std::move(one.statement), std::move(one.why)});
  }
}

}  // namespace ptx::python
