// Authoring calls at random, through the whole house: what the builder takes, the printer prints and the parser reads back the
// same, the checker accepts, and the executor runs to an end or to a diagnostic.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/vgpu.hpp"
#include "tests/fuzz/authoring.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace ptx;
  fuzz::Bytes in(data, size);
  auto module = fuzz::author(in);
  if (!module) return 0;
  auto listing = std::make_shared<const ir::Listing>(text::list(*module));
  auto accepted = check::accept(std::move(*module));
  if (!accepted) {
    // What fits a form, both must say alike. Flow, what names stand for, and the rules that rows name are the checker's alone.
    const Diagnostic& error = accepted.error();
    const bool of_a_form =
        std::any_of(error.notes.begin(), error.notes.end(), [](const Note& note) { return note.kind == NoteKind::form; });
    const bool of_a_name = error.message.find(" is the name `") != std::string::npos;
    if ((error.kind == Kind::operand_mismatch && of_a_form && !of_a_name) || error.kind == Kind::operand_count ||
        error.kind == Kind::target_lacks || error.kind == Kind::version_lacks) {
      std::fprintf(stderr, "%s\n%s\n", render(accepted.error()).c_str(), listing->text.c_str());
      std::abort();
    }
    return 0;
  }
  const text::Parsed parsed = text::parse(listing->text, "printed.ptx");
  const std::string different = ir::difference(accepted->module(), parsed.module);
  if (!parsed.findings.empty() || !different.empty()) {
    std::fprintf(stderr, "%s\n%s\n%s\n", parsed.findings.empty() ? "" : render(parsed.findings.front()).c_str(),
                 different.c_str(), listing->text.c_str());
    std::abort();
  }
  const auto program = vgpu::Program::make(*accepted, listing, "k");
  if (!program) return 0;
  std::array<std::byte, 512> memory{};
  const vgpu::Region region{.data = memory.data(), .bytes = memory.size(), .name = "X"};
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  (void)(*program)->run({.block = {64, 1, 1}}, std::as_bytes(std::span(&address, 1)), {&region, 1}, {.max_instructions = 20'000});
  return 0;
}
