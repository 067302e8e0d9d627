// Runs whatever check accepts, and holds the executor to the buffers that it was given: they lie in the middle of larger ones,
// whose other bytes are poisoned where an address sanitizer watches, and are compared where none does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/vgpu/vgpu.hpp"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PTX_HAS_ASAN 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define PTX_HAS_ASAN 1
#endif
#ifdef PTX_HAS_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace ptx::fuzz {

/// Memory for a kernel between two guard zones.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t bytes) : bytes_(bytes), memory_(bytes + 2 * guard, pattern) {
    std::fill_n(memory_.begin() + guard, bytes_, std::uint8_t{0});
    poison(true);
  }
  ~GuardedBuffer() { poison(false); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  [[nodiscard]] vgpu::Region region(std::string name, bool writable = true, bool initialised = true) {
    return {.data = reinterpret_cast<std::byte*>(memory_.data() + guard),
            .bytes = bytes_,
            .writable = writable,
            .initialised = initialised,
            .name = std::move(name)};
  }
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(memory_.data() + guard); }
  /// Whether the guard zones are as they were.
  [[nodiscard]] bool intact() {
    poison(false);
    const auto is_pattern = [](std::uint8_t byte) { return byte == pattern; };
    const auto begin = memory_.begin();
    const bool whole = std::all_of(begin, begin + guard, is_pattern) &&
                       std::all_of(begin + static_cast<std::ptrdiff_t>(guard + bytes_), memory_.end(), is_pattern);
    poison(true);
    return whole;
  }

 private:
  static constexpr std::size_t guard = 4096;
  static constexpr std::uint8_t pattern = 0xA5;
  void poison([[maybe_unused]] bool on) {
#ifdef PTX_HAS_ASAN
    for (std::uint8_t* zone : {memory_.data(), memory_.data() + guard + bytes_}) {
      if (on)
        ASAN_POISON_MEMORY_REGION(zone, guard);
      else
        ASAN_UNPOISON_MEMORY_REGION(zone, guard);
    }
#endif
  }

  std::size_t bytes_;
  std::vector<std::uint8_t> memory_;
};

/// What became of a module.
struct Outcome {
  bool accepted = false;
  std::size_t runs = 0;  ///< launches, ended by a fault or not
  bool contained = true;
  std::vector<Diagnostic> errors;  ///< of check, decoding and runs
};

/// How a kernel is launched; any number is tried.
struct Launching {
  std::uint32_t threads = 32, blocks = 2;
  std::size_t dynamic_smem = 0;
  bool check_initialised = true;
  unsigned workers = 1;
  std::uint64_t max_instructions = 5'000;
  std::uint32_t cluster = 1;  ///< blocks of one; `blocks` is a multiple
  vgpu::Completion completion = vgpu::Completion::eager;
  vgpu::Threads order = vgpu::Threads::in_turn;
  vgpu::Checks checks = vgpu::Checks::cheap;
  vgpu::Numerics numerics = vgpu::Numerics::exact;
};

/// Accepts a module, and runs each of its kernels twice: 64-bit parameters are buffers in turn, others small numbers.
inline Outcome run_contained(ir::Module module, const Launching& how) {
  Outcome outcome;
  const auto note = [&](Diagnostic error) { outcome.errors.push_back(std::move(error)); };
  auto listing = std::make_shared<const ir::Listing>(text::list(module));
  auto accepted = check::accept(std::move(module));
  if (!accepted) return note(std::move(accepted).error()), outcome;
  outcome.accepted = true;
  // Sparse memory is the system's to give; under a sanitizer it is not sparse.
  std::uint64_t declared = 0;
  const auto count = [&](const std::vector<ir::Variable>& variables) {
    for (const ir::Variable& v : variables)
      if (v.space == ir::StateSpace::global) declared = add_sizes(declared, add_sizes(v.bytes(), v.alignment()));
  };
  count(accepted->module().variables);
  for (const ir::Function& f : accepted->module().functions) count(f.variables);
  if (declared > std::uint64_t{1} << 24) return outcome;
  auto instance = vgpu::Instance::make(*accepted);
  if (!instance) return note(std::move(instance).error()), outcome;

  GuardedBuffer input(509), output(512), tiny(1);
  const vgpu::Region regions[] = {input.region("input", false), output.region("output", true, false), tiny.region("tiny")};
  const std::uint64_t addresses[] = {input.address(), output.address(), tiny.address()};
  for (const ir::Function& entry : accepted->module().functions) {
    if (!entry.is_entry || !entry.has_body) continue;
    auto program = vgpu::Program::make(*instance, listing, accepted->module().str(entry.name));
    if (!program) {
      note(std::move(program).error());
      continue;
    }
    const std::vector<std::uint64_t> offsets = ir::param_offsets(entry.params);
    std::vector<std::byte> block(offsets.back());
    for (std::size_t i = 0, pointers = 0; i < entry.params.size(); ++i) {
      const bool pointer = entry.params[i].bytes() == 8 && !entry.params[i].elements;
      const std::uint64_t value = pointer ? addresses[1 + pointers++ % 2] : i + 1;
      if (entry.params[i].bytes() <= 8) std::memcpy(block.data() + offsets[i], &value, entry.params[i].bytes());
    }
    vgpu::LaunchConfig config{.grid = {how.blocks, 1, 1}, .block = {how.threads, 1, 1}, .dynamic_smem_bytes = how.dynamic_smem};
    for (const ir::Directive& directive : entry.directives) {
      if (directive.name != "reqntid") continue;
      config.block = {1, 1, 1};
      std::copy_n(directive.values.begin(), std::min<std::size_t>(3, directive.values.size()), config.block.begin());
    }
    vgpu::Options options;
    options.workers = how.workers;
    options.max_instructions = how.max_instructions;
    options.check_initialised = how.check_initialised;
    options.completion = how.completion;
    options.threads = how.order;
    options.checks = how.checks;
    options.numerics = how.numerics;
    options.print = [](std::string_view) {};
    config.cluster = {how.cluster, 1, 1};
    for (int launch = 0; launch < 2; ++launch) {
      auto report = (*program)->run(config, block, regions, options);
      if (!report) note(std::move(report).error());
      ++outcome.runs;
    }
  }
  outcome.contained = input.intact() && output.intact() && tiny.intact();
  return outcome;
}

/// The same of a text; one that is not PTX runs nothing.
inline Outcome run_contained(std::string text, const Launching& how) {
  text::Parsed parsed = text::parse(std::move(text), "fuzz.ptx");
  for (Diagnostic& finding : parsed.findings) {
    if (finding.severity != Severity::error) continue;
    Outcome outcome;
    outcome.errors.push_back(std::move(finding));
    return outcome;
  }
  return run_contained(std::move(parsed.module), how);
}

}  // namespace ptx::fuzz
