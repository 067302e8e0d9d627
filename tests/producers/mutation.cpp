#include "tests/producers/mutation.hpp"

#include <algorithm>
#include <sstream>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

std::string rule_of(const Diagnostic& d) {
  const bool has_rule = !d.execution.empty() && !d.execution.front().rule.empty();
  return has_rule ? d.execution.front().rule : std::string(name(d.kind));
}

}  // namespace

const std::vector<Mutation>& mutations() {
  const auto of = [](const std::string& pattern) { return std::regex(R"(^(\s*(?:@!?%\w+\s+)?))" + pattern); };
  static const std::vector<Mutation> all = {
      {"without a barrier", of(R"((bar|barrier)(\.cta|\.cluster)?(\.warp)?\.(sync|arrive|wait|red)\b.*)"), ""},
      {"without a fence", of(R"((fence|membar)\b.*)"), ""},
      {"without a group", of(R"((cp\.async(\.bulk)?|wgmma)\.commit_group.*)"), ""},
      {"without a wait", of(R"((cp\.async(\.bulk)?\.wait|wgmma\.wait|tcgen05\.wait).*)"), ""},
      {"without a fence of registers", of(R"((wgmma\.fence|tcgen05\.fence).*)"), ""},
      {"without an arrival", of(R"((mbarrier\.arrive|mbarrier\.expect|cp\.async\.mbarrier|tcgen05\.commit).*)"), ""},
      {"a wait that does not wait", of(R"(mbarrier\.(?:try|test)_wait\S* (%\w+)\s*,.*)"), "$1setp.eq.u32 $2, 0, 0;"},
      {"a group more is left", of(R"((\S*wait_group\S*\s+)(\d)\s*;.*)"), "$1$2 1$3;"},
      {"fewer bytes are expected", of(R"((mbarrier\.(?:arrive\.)?expect_tx\S* .*), (\d+)\s*;.*)"), "$1$2, 16;"},
      {"one arrival more is counted", of(R"((mbarrier\.init\S* .*), (\d+)\s*;.*)"), "$1$2, 1$3;"},
      {"relaxed, not release", of(R"(((?:st|red|atom|mbarrier\.arrive|barrier\.cluster\.arrive)\S*)\.release(\S*.*))"),
       "$1$2.relaxed$3"},
      {"relaxed, not acq_rel", of(R"(((?:st|red|atom)\S*)\.acq_rel(\S*.*))"), "$1$2.relaxed$3"},
      {"relaxed, not acquire", of(R"(((?:ld|atom|mbarrier\S*wait)\S*)\.acquire(\S*.*))"), "$1$2.relaxed$3"},
      {"scope cta, not gpu", of(R"(((?:st|ld|red|atom|fence)\S*)\.(?:gpu|sys)(\S*.*))"), "$1$2.cta$3"},
  };
  return all;
}

std::optional<Program> Program::read(const std::filesystem::path& recording) {
  auto steps = read_recording(testing::read_file(recording));
  if (!steps) return std::nullopt;
  Program program;
  program.steps_ = std::move(*steps);
  program.folder_ = recording.parent_path();
  program.name_ = recording.stem();
  return program;
}

Run Program::play(const std::string& file, const std::string& text, const std::string& entry, std::uint64_t most) const {
  Run run;
  auto device = Device::make();
  if (!device) return run;
  (*device)->options.max_instructions = most;
  for (const Step& step : steps_)
    if (const auto failed = take(**device, step, file, text, entry, run)) {
      run.said = render(*failed);
      run.broken = rule_of(*failed);
      return run;
    }
  run.ended = true;
  for (const Diagnostic& finding : (*device)->findings) {
    std::string key = rule_of(finding);
    for (const ExecutionPoint& point : finding.execution) key += cat(' ', point.ptx_line);
    run.findings.insert(std::move(key));
  }
  for (const Allocation& one : (*device)->allocations()) run.contents.emplace_back(one.memory().begin(), one.memory().end());
  return run;
}

std::set<std::string> Program::files() const {
  std::set<std::string> all;
  for (const Step& step : steps_)
    if (const auto* const load = std::get_if<LoadStep>(&step)) all.insert(load->file);
  return all;
}

bool Program::launches(const std::string& entry) const {
  return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    const auto* const launch = std::get_if<LaunchStep>(&step);
    return launch != nullptr && launch->entry == entry;
  });
}

std::string Program::text_of(const std::string& file) const { return testing::read_file(folder_ / file); }

std::optional<Diagnostic> Program::take(Device& device, const Step& step, const std::string& file, const std::string& text,
                                        const std::string& entry, Run& run) const {
  if (const auto* const load = std::get_if<LoadStep>(&step)) {
    auto loaded = device.load(load->file, load->file == file ? text : text_of(load->file));
    if (!loaded) return loaded.error();
  } else if (const auto* const launch = std::get_if<LaunchStep>(&step)) {
    if (!entry.empty() && launch->entry != entry) {  // as if it had run
      for (Allocation& one : device.allocations()) one.initialised = true;
      return std::nullopt;
    }
    auto report = device.launch(*launch);
    if (!report) return report.error();
    run.instructions += report->warp_instructions;
  } else if (auto taken = device.take(step); !taken) {
    return taken.error();
  }
  return std::nullopt;
}

Lines::Lines(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines_.push_back(line);
}

std::string Lines::text_with(std::size_t at, const std::string& instead) const {
  std::string text;
  for (std::size_t i = 0; i < lines_.size(); ++i) text += (i == at ? instead : lines_[i]) + '\n';
  return text;
}

std::multiset<std::string> said_by_checker(const std::string& text) {
  text::Parsed parsed = text::parse(text, "mutant");
  std::multiset<std::string> said;
  for (const Diagnostic& d : parsed.findings) said.insert(std::string(name(d.kind)));
  for (const Diagnostic& d : check::check(parsed.module)) said.insert(std::string(name(d.kind)));
  return said;
}

}  // namespace ptx::producers
