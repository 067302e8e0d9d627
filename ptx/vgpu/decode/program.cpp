#include <algorithm>
#include <array>
#include <new>

#include "ptx/vgpu/decode/code.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::vgpu {

struct Program::Code : vgpu::Code {};

Program::Program(std::unique_ptr<const Code> code) : code_(std::move(code)) {}
Program::~Program() = default;

Expected<std::shared_ptr<const Program>> Program::make(const check::Accepted& accepted,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  auto instance = Instance::make(accepted);
  if (!instance) return Unexpected{std::move(instance).error()};
  return make(std::move(*instance), std::move(listing), entry);
}

Expected<std::shared_ptr<const Program>> Program::make(std::shared_ptr<const Instance> instance,
                                                       std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  try {
    auto code = decode(std::move(instance), std::move(listing), entry);
    if (!code) return Unexpected{std::move(code).error()};
    auto owned = std::make_unique<const Code>(Code{std::move(**code)});
    return std::shared_ptr<const Program>(new Program(std::move(owned)));
  } catch (const std::bad_alloc&) {
    return Unexpected{{.kind = Kind::out_of_memory,
                       .message = cat("kernel `", entry, "` is too large for this machine's memory to be decoded")}};
  }
}

Expected<Diagnostics> Program::find_unsupported(std::shared_ptr<const Instance> instance,
                                                std::shared_ptr<const ir::Listing> listing, std::string_view entry) {
  Diagnostics found;
  if (auto code = decode(std::move(instance), std::move(listing), entry, &found); !code) {
    if (code.error().kind != Kind::not_executed) return Unexpected{std::move(code).error()};
    found.push_back(std::move(code).error());
  }
  return found;
}

Expected<Report> Program::run(const LaunchConfig& config, std::span<const std::byte> params, std::span<const Region> regions,
                              const Options& options) const {
  return run_grid(*code_, config, params, regions, options);
}

namespace {
constexpr std::array<std::string_view, 2> numerics_words{"exact", "fast"};
constexpr std::array<std::string_view, 3> approximations_words{"hardware", "rounded", "perturb"};
constexpr std::array<std::string_view, 3> completion_words{"eager", "lazy", "random"};
constexpr std::array<std::string_view, 2> threads_words{"in_turn", "random"};
constexpr std::array<std::string_view, 3> checks_words{"off", "cheap", "full"};

template <class Choice, std::size_t count>
std::optional<Choice> choice_of(const std::array<std::string_view, count>& words, std::string_view word) {
  const auto* const at = std::find(words.begin(), words.end(), word);
  if (at == words.end()) return std::nullopt;
  return static_cast<Choice>(at - words.begin());
}
}  // namespace

std::span<const std::string_view> words_of_numerics() { return numerics_words; }
std::span<const std::string_view> words_of_checks() { return checks_words; }
std::optional<Checks> checks_from_name(std::string_view word) { return choice_of<Checks>(checks_words, word); }
std::span<const std::string_view> words_of_completion() { return completion_words; }
std::optional<Completion> completion_from_name(std::string_view word) { return choice_of<Completion>(completion_words, word); }
std::span<const std::string_view> words_of_threads() { return threads_words; }
std::optional<Threads> threads_from_name(std::string_view word) { return choice_of<Threads>(threads_words, word); }
std::span<const std::string_view> words_of_approximations() { return approximations_words; }
std::optional<Numerics> numerics_from_name(std::string_view word) { return choice_of<Numerics>(numerics_words, word); }
std::optional<Approximations> approximations_from_name(std::string_view word) {
  return choice_of<Approximations>(approximations_words, word);
}

std::string_view name(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::bounded:
      return "within a bound";
    case Fidelity::unverified:
      return "unverified";
  }
  return "";
}

std::vector<FidelityNote> Program::fidelity(const Options& options) const {
  constexpr unsigned asked = 90;  // whose special function unit the tables are of
  const unsigned base = isa::info(code_->module->target).base;
  std::vector<FidelityNote> notes;
  for (const Doubt& doubt : code_->doubts) {
    if (doubt.why == Doubt::Why::product) {
      if (options.numerics == Numerics::fast)
        notes.push_back({Fidelity::bounded, doubt.instruction, "added up by f32 fused multiply-adds, on request"});
    } else if (doubt.why == Doubt::Why::never_run)
      notes.push_back({Fidelity::unverified, doubt.instruction,
                       doubt.inferred.empty() ? "as the manual says; no GPU has been asked" : std::string(doubt.inferred)});
    else if (doubt.why == Doubt::Why::devices)
      notes.push_back({Fidelity::unverified, doubt.instruction,
                       "of one replica exact; several are reduced in their order, which no GPUs have been asked for"});
    else if (options.approximations == Approximations::rounded)
      notes.push_back({Fidelity::bounded, doubt.instruction, "rounded to nearest, on request"});
    else if (options.approximations == Approximations::perturbed)
      notes.push_back({Fidelity::bounded, doubt.instruction, "perturbed within the manual's bound, on request"});
    else if (base != asked)
      notes.push_back({Fidelity::bounded, doubt.instruction,
                       cat("the bits of an H200; a GPU of ", isa::name(code_->module->target),
                           " may give others within the manual's bound")});
  }
  return notes;
}

std::string_view Program::name() const { return code_->name; }
const std::shared_ptr<const Instance>& Program::instance() const { return code_->instance; }

}  // namespace ptx::vgpu
