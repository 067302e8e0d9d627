#include "tests/producers/played.hpp"

#include <filesystem>
#include <variant>

#include "tests/producers/device.hpp"
#include "tests/producers/recording.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

Expected<Played> play(const std::filesystem::path& file, const vgpu::Options& options) {
  auto steps = read_recording(testing::read_file(file));
  if (!steps) return Unexpected{std::move(steps).error()};
  auto device = Device::make();
  if (!device) return Unexpected{std::move(device).error()};
  (*device)->options = options;
  Played run{.name = file.stem(), .printed = {}, .findings = {}, .contents = {}};
  for (const Step& step : *steps) {
    if (std::holds_alternative<LaunchStep>(step))
      for (const Allocation& one : (*device)->allocations())
        run.contents.try_emplace(one.name, Played::Content{.before = {one.memory().begin(), one.memory().end()}, .after = {}});
    const auto* const load = std::get_if<LoadStep>(&step);
    auto taken = load == nullptr ? (*device)->take(step)
                                 : (*device)->load(load->file, testing::read_file(file.parent_path() / load->file));
    if (!taken) return Unexpected{std::move(taken).error()};
  }
  for (const Allocation& one : (*device)->allocations())
    run.contents[one.name].after.assign(one.memory().begin(), one.memory().end());
  run.printed = std::move((*device)->printed);
  run.findings = std::move((*device)->findings);
  return run;
}

}  // namespace

const Played::Content& Played::find(std::string_view what) const {
  static const Content none;
  const auto found = contents.find(what);
  if (found == contents.end()) {
    ADD_FAILURE() << name << " has no allocation `" << what << '`';
    return none;
  }
  return found->second;
}

namespace {

std::vector<Played> play_all(const std::string& program, const vgpu::Options& options) {
  std::vector<Played> all;
  for (const std::string& file : testing::files_in(PTX_RECORDINGS, ".steps"))
    if (std::filesystem::path(file).filename().string().starts_with(program + ".")) {
      auto run = play(file, options);
      if (run)
        all.push_back(std::move(*run));
      else
        ADD_FAILURE() << file << ": " << render(run.error());
    }
  EXPECT_FALSE(all.empty()) << "no recording of " << program << " in " << PTX_RECORDINGS;
  return all;
}

}  // namespace

const std::vector<Played>& played(const std::string& program) {
  static std::map<std::string, std::vector<Played>> all;
  const auto [at, is_new] = all.try_emplace(program);
  if (is_new) at->second = play_all(program, {});
  return at->second;
}

std::vector<Played> played_at_random(const std::string& program, std::uint64_t seed) {
  vgpu::Options options;
  options.threads = vgpu::Threads::random;
  options.completion = vgpu::Completion::random;
  options.seed = seed;
  return play_all(program, options);
}

}  // namespace ptx::producers
