#include "tests/producers/played.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <variant>

#include "tests/producers/device.hpp"
#include "tests/producers/recording.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

Expected<void> take(Device& device, const std::filesystem::path& folder, const Step& step) {
  if (const auto* const load = std::get_if<LoadStep>(&step))
    return device.load(load->file, testing::read_file(folder / load->file));
  if (const auto* const allocate = std::get_if<AllocateStep>(&step)) {
    if (device.allocate(allocate->bytes) == 0) return refuse(Kind::out_of_memory, "the device's memory is full");
    device.allocations().back().name = allocate->name;
    return {};
  }
  if (const auto* const write = std::get_if<WriteStep>(&step)) {
    if (write->allocation >= device.allocations().size() || device.allocations()[write->allocation].bytes != write->bytes.size())
      return refuse(Kind::syntax, cat("allocation ", write->allocation, " has not ", write->bytes.size(), " bytes"));
    Allocation& one = device.allocations()[write->allocation];
    std::memcpy(one.memory().data(), write->bytes.data(), write->bytes.size());
    one.initialised = true;
    return {};
  }
  if (const auto* const variable = std::get_if<VariableStep>(&step)) {
    const auto bytes = device.variable(variable->file, variable->name);
    if (bytes.size() != variable->bytes.size()) return refuse(Kind::syntax, cat("no variable ", variable->name, " of that size"));
    std::memcpy(bytes.data(), variable->bytes.data(), bytes.size());
    return {};
  }
  auto report = device.launch(std::get<LaunchStep>(step));
  if (!report) return Unexpected{std::move(report).error()};
  return {};
}

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
    if (auto taken = take(**device, file.parent_path(), step); !taken) return Unexpected{std::move(taken).error()};
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
