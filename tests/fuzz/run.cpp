// Whatever check accepts runs in the memory that it was given: texts as they come, kernels authored at random, kernels made to
// reach beyond, and kernels of whole instructions of any form. The first byte of an input that is no text says which, and how it
// is launched.
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/fuzz/authoring.hpp"
#include "tests/fuzz/contained.hpp"
#include "tests/fuzz/forms.hpp"
#include "tests/fuzz/hostile.hpp"
#include "tests/fuzz/mutations.hpp"

extern "C" std::size_t LLVMFuzzerMutate(unsigned char* data, std::size_t size, std::size_t most);

namespace {

using namespace ptx;

fuzz::Launching launching(unsigned choice) {
  constexpr std::uint32_t threads[] = {32, 1, 33, 64};
  return {.threads = threads[choice % 4],
          .blocks = 1 + choice / 4 % 3,
          .dynamic_smem = choice / 12 % 4 * 100,
          .check_initialised = choice % 5 != 0,
          .workers = 1 + choice / 7 % 2};
}

// Of whole warps and warpgroups, alone and in pairs of blocks, in any order, with everything checked or little.
fuzz::Launching launching_together(fuzz::Bytes& in) {
  constexpr std::uint32_t threads[] = {128, 128, 32, 256, 64, 1};
  fuzz::Launching how{
      .threads = in.pick(threads), .check_initialised = in.below(6) == 0, .workers = 1 + static_cast<unsigned>(in.below(2))};
  how.max_instructions = 30'000;
  how.cluster = in.below(3) == 0 ? 2 : 1;
  how.completion = static_cast<vgpu::Completion>(in.below(3));
  how.order = static_cast<vgpu::Threads>(in.below(2));
  how.checks = static_cast<vgpu::Checks>(in.below(3));
  how.numerics = static_cast<vgpu::Numerics>(in.below(2));
  return how;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (size > 1u << 16) return 0;
  fuzz::Outcome outcome;
  if (fuzz::is_text(input)) {
    outcome = fuzz::run_contained(std::string(input), launching(size == 0 ? 0 : data[size - 1]));
  } else {
    fuzz::Bytes in(data, size);
    const unsigned choice = in.next();
    if (choice % 4 == 0) {
      auto module = fuzz::author(in);
      if (!module) return 0;
      outcome = fuzz::run_contained(std::move(*module), launching(choice / 2));
    } else if (choice % 4 != 1) {
      const fuzz::Launching how = launching_together(in);
      auto text = fuzz::Forms(in).module();
      if (!text) return 0;
      if (std::getenv("PTX_FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", text->c_str());
      outcome = fuzz::run_contained(std::move(*text), how);
    } else {
      std::string text = fuzz::Hostile(in).module();
      if (std::getenv("PTX_FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", text.c_str());
      outcome = fuzz::run_contained(std::move(text), launching(choice / 2));
    }
  }
  for (const Diagnostic& error : outcome.errors) {
    const std::string shown = render(error);
    if (std::getenv("PTX_FUZZ_SHOW") != nullptr) std::fprintf(stderr, "%s\n", shown.c_str());
    if (error.kind == Kind::internal) std::fprintf(stderr, "%s\n", shown.c_str()), std::abort();
  }
  if (!outcome.contained) std::fprintf(stderr, "a guard zone was written to\n"), std::abort();
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(unsigned char* data, std::size_t size, std::size_t most, unsigned int seed) {
  std::minstd_rand random(seed);
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (!fuzz::is_text(text) || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string other = fuzz::mutated(text, random);
  for (auto more = random() % 3; more > 0; --more) other = fuzz::mutated(other, random);
  if (other.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, other.data(), other.size());
  return other.size();
}
