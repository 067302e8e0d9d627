// ptx_producers_mutants PROGRAM…: one synchronisation less, or weaker, in the programs that others have made: does the checker or
// a checked run say so? Each line that orders something is left out or altered in turn, and the launches of its kernel are
// played. What nobody has noticed is listed: `same` where the outputs stay what they were, `DIFFERENT` where they do not.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "tests/producers/device.hpp"
#include "tests/producers/recording.hpp"
#include "tests/support/golden.hpp"

namespace ptx::producers {
namespace {

struct Mutation {
  std::string name;
  std::regex of;
  std::string instead;
};

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

struct Run {
  bool ended = false;  ///< without a fault
  std::string said;
  std::set<std::string> findings;
  std::uint64_t instructions = 0;
  std::vector<std::vector<std::byte>> contents;
};

class Program {
 public:
  static std::optional<Program> read(const std::filesystem::path& recording) {
    auto steps = read_recording(testing::read_file(recording));
    if (!steps) return std::nullopt;
    Program program;
    program.steps_ = std::move(*steps);
    program.folder_ = recording.parent_path();
    program.name_ = recording.stem();
    return program;
  }

  // The launches of an entry, or all, with a file's text changed. `most`: instructions of a launch.
  Run play(const std::string& file, const std::string& text, const std::string& entry, std::uint64_t most) const {
    Run run;
    auto device = Device::make();
    if (!device) return run;
    (*device)->options.max_instructions = most;
    for (const Step& step : steps_)
      if (auto failed = take(**device, step, file, text, entry, run)) {
        run.said = std::move(*failed);
        return run;
      }
    run.ended = true;
    for (const Diagnostic& finding : (*device)->findings) run.findings.insert(key_of(finding));
    for (const Allocation& one : (*device)->allocations()) run.contents.emplace_back(one.memory().begin(), one.memory().end());
    return run;
  }

  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> all;
    for (const Step& step : steps_)
      if (const auto* const load = std::get_if<LoadStep>(&step)) all.insert(load->file);
    return all;
  }
  [[nodiscard]] bool launches(const std::string& entry) const {
    return std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
      const auto* const launch = std::get_if<LaunchStep>(&step);
      return launch != nullptr && launch->entry == entry;
    });
  }
  [[nodiscard]] std::string text_of(const std::string& file) const { return testing::read_file(folder_ / file); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  static std::string key_of(const Diagnostic& finding) {
    std::string key(ptx::name(finding.kind));
    for (const std::string& note : notes_of(finding))
      if (note.starts_with("ptx: ")) key += ' ' + note;
    return key;
  }

  std::optional<std::string> take(Device& device, const Step& step, const std::string& file, const std::string& text,
                                  const std::string& entry, Run& run) const {
    if (const auto* const load = std::get_if<LoadStep>(&step)) {
      auto loaded = device.load(load->file, load->file == file ? text : text_of(load->file));
      if (!loaded) return render(loaded.error());
    } else if (const auto* const launch = std::get_if<LaunchStep>(&step)) {
      if (!entry.empty() && launch->entry != entry) {  // as if it had run
        for (Allocation& one : device.allocations()) one.initialised = true;
        return std::nullopt;
      }
      auto report = device.launch(*launch);
      if (!report) return render(report.error());
      run.instructions += report->warp_instructions;
    } else if (auto taken = device.take(step); !taken) {
      return render(taken.error());
    }
    return std::nullopt;
  }

  std::vector<Step> steps_;
  std::filesystem::path folder_;
  std::string name_;
};

std::size_t warnings_of(const std::string& text) {
  text::Parsed parsed = text::parse(text, "mutant");
  return parsed.findings.size() + check::check(parsed.module).size();
}

struct Counts {
  std::size_t mutants = 0, refused = 0, stopped = 0, found = 0, same = 0, different = 0, never_run = 0;
};

void examine(const Program& program, const std::string& file, std::size_t every, Counts& counts) {
  std::vector<std::string> lines;
  std::istringstream in(program.text_of(file));
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto text_with = [&](std::size_t at, const std::string& instead) {
    std::string text;
    for (std::size_t i = 0; i < lines.size(); ++i) text += (i == at ? instead : lines[i]) + '\n';
    return text;
  };
  const std::size_t warnings = warnings_of(text_with(lines.size(), {}));
  static const std::regex entry_of(R"(\.entry\s+([\w$]+))");
  std::string entry, played;  // all launches where the entry's need what others leave behind
  std::optional<Run> right;
  std::size_t number = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (std::smatch match; std::regex_search(lines[i], match, entry_of)) entry = match[1], right.reset();
    if (!program.launches(entry)) continue;
    for (const Mutation& mutation : mutations()) {
      if (!std::regex_search(lines[i], mutation.of) || number++ % every != 0) continue;
      if (!right) {
        constexpr std::uint64_t enough = 100'000'000;
        right = program.play(file, text_with(lines.size(), {}), played = entry, enough);
        if (!right->ended) right = program.play(file, text_with(lines.size(), {}), played = {}, enough);
      }
      if (!right->ended) {
        std::cout << program.name() << ": " << right->said << std::endl;
        return;
      }
      const std::string instead = std::regex_replace(lines[i], mutation.of, mutation.instead);
      const std::string text = text_with(i, instead);
      ++counts.mutants;
      const auto says = [&](const char* what) {
        std::cout << program.name() << ':' << i + 1 << ": " << what << ": " << mutation.name << ": " << lines[i] << std::endl;
      };
      if (warnings_of(text) > warnings) {
        ++counts.refused;
        continue;
      }
      const Run run = program.play(file, text, played, 4 * right->instructions + 100'000);
      if (!run.ended) {
        ++counts.stopped;
      } else if (!std::includes(right->findings.begin(), right->findings.end(), run.findings.begin(), run.findings.end())) {
        ++counts.found;
      } else if (const Run trap = program.play(file, text_with(i, "trap;"), played, 0); trap.ended) {
        ++counts.never_run;
      } else if (run.contents == right->contents) {
        ++counts.same;
        says("same");
      } else {
        ++counts.different;
        says("DIFFERENT");
      }
    }
  }
}

}  // namespace
}  // namespace ptx::producers

int main(int argc, char** argv) {
  using namespace ptx::producers;
  std::size_t every = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string program = argv[i];
    if (program.starts_with("--every=")) {
      every = static_cast<std::size_t>(std::stoul(program.substr(8)));
      continue;
    }
    Counts counts;
    for (const std::string& file : ptx::testing::files_in(PTX_RECORDINGS, ".steps"))
      if (std::filesystem::path(file).filename().string().starts_with(program + "."))
        if (const auto read = Program::read(file))
          for (const std::string& text : read->files()) examine(*read, text, every, counts);
    std::cout << program << ": " << counts.mutants << " mutants; " << counts.refused << " the checker names, " << counts.stopped
              << " stop with a fault, " << counts.found << " a checked run finds; " << counts.never_run
              << " never run; unnoticed " << counts.same << " with the same outputs, " << counts.different << " with others"
              << std::endl;
  }
}
