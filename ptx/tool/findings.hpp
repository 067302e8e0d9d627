// What runs have found, as `run` tells it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/tool/commands.hpp"
#include "ptx/tool/json.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {

/// The keys "findings", "suppressed", "left_out" and "unused_suppressions" of an object that is open. pyptx's Findings.to_json
/// has the same.
void add_findings(Json& json, const vgpu::Report& report);

/// The command line that finds it again: that of `arguments`, with the time of asynchronous operations as the run had it.
std::string replay_line(const Arguments& arguments, const Caller& caller, const vgpu::Options& options);
/// The finding with that line as its note.
Diagnostic with_replay(Diagnostic finding, const std::string& line);

/// "2 errors, 1 warning; 1 suppressed", or "no findings".
std::string summary_of(const vgpu::Report& report);

/// One run of a sweep.
struct SweepRun {
  std::uint64_t order = 0;  ///< of --systematic: which of its runs, from 1; 0: completion and seed say which
  vgpu::Completion completion{};
  std::uint64_t seed = 0;
  std::size_t findings = 0;
  bool outputs_differ = false;  ///< from those of the first run, in any bit
  std::string fault = {};       ///< what ended the run; empty: it went to its end
};
/// The findings of many runs, each once, with the run that showed it first; of two accesses that nothing orders whichever comes
/// first.
class Gathered {
 public:
  void add(const SweepRun& run, const vgpu::Report& report);
  [[nodiscard]] vgpu::Report report() const;

 private:
  struct One {
    Diagnostic finding;
    std::string shown_by;
    std::size_t runs = 0;
    std::size_t last_run = 0;   // that showed it
    std::string other_order{};  // a run in which the second access came first
  };
  std::vector<One> all_;
  vgpu::Report counts_;
  std::size_t runs_ = 0;
};
/// What --systematic has run.
struct Explored {
  std::uint64_t runs = 0, redundant = 0;
  bool exhausted = false, diverged = false;
};
/// A line for each run; of --systematic for those that gave something else than the first.
std::string table_of(std::span<const SweepRun> runs);
std::string table_of(const Explored& explored, std::span<const SweepRun> runs);
void add_runs(Json& json, std::span<const SweepRun> runs);

}  // namespace ptx::tool
