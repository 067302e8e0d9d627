#include "ptx/tool/findings.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx/tool/style.hpp"

namespace ptx::tool {
namespace {

void add_triple(Json& json, std::string_view key, const std::array<std::uint32_t, 3>& triple) {
  json.key(key).open('[');
  for (const std::uint32_t one : triple) json.value(one);
  json.close(']');
}

void add_access(Json& json, const ExecutionPoint& point) {
  const ExecutionPoint::Access& access = *point.access;
  json.open('{').key("stores").literal(access.is_store ? "true" : "false").key("instruction").value(point.instruction);
  json.key("ptx_line").value(point.ptx_line).key("file").value(point.where.file).key("line").value(point.where.line);
  add_triple(json, "block", point.block);
  add_triple(json, "thread", point.thread);
  json.key("warp").value(point.warp).key("lane").value(point.lane).key("rank");
  point.rank ? json.value(*point.rank) : json.literal("null");
  json.key("proxy").value(access.proxy).key("space").value(access.space).key("region").value(access.region);
  json.key("element").value(access.element).key("address").value(access.address).key("bytes").value(access.bytes).close('}');
}

void add_finding(Json& json, const Diagnostic& d) {
  const ExecutionPoint point = d.execution.empty() ? ExecutionPoint{} : d.execution.front();
  json.open('{').key("rule");
  point.rule.empty() ? json.literal("null") : json.value(point.rule);
  const auto rule = vgpu::rule_from_id(point.rule);
  json.key("page");
  rule ? json.value(vgpu::page(*rule)) : json.literal("null");
  json.key("kind").value(name(d.kind)).key("severity").value(name(d.severity)).key("message").value(d.message);
  json.key("kernel").value(point.kernel).key("file").value(d.where.file).key("line").value(d.where.line);
  json.key("ptx_line")
      .value(point.ptx_line)
      .key("times")
      .value(point.times)
      .key("pairs")
      .value(point.pairs)
      .key("accesses")
      .open('[');
  for (const ExecutionPoint& one : d.execution)
    if (one.access) add_access(json, one);
  json.close(']').key("notes").open('[');
  for (const std::string& note : notes_of(d)) json.value(note);
  json.close(']').close('}');
}

// A word of a command line, as a shell takes it.
std::string in_shell_quotes(std::string_view word) {
  constexpr std::string_view special = " \t\n'\"\\$&|;<>()[]{}*?~#`!=";
  if (word.find_first_of(special) == std::string_view::npos && !word.empty()) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + '\'';
}

bool is_flag(std::string_view option) {
  const auto run =
      std::find_if(commands().begin(), commands().end(), [](const Command& command) { return command.name == "run"; });
  return std::any_of(run->options.begin(), run->options.end(),
                     [&](const Option& known) { return known.name == option && known.value.empty(); });
}

std::string how(const SweepRun& run) {
  if (run.order != 0) return cat("run ", run.order, " of --systematic");
  const std::string_view word = vgpu::words_of_completion()[static_cast<std::size_t>(run.completion)];
  return run.completion == vgpu::Completion::random ? cat("--schedule ", word, " --seed ", run.seed) : cat("--schedule ", word);
}

// Of two accesses that nothing orders either may come first: it is one finding, though its rule goes by which is.
bool same(const Diagnostic& a, const Diagnostic& b) {
  const auto is_race = [](const Diagnostic& d) { return d.kind == Kind::race || d.kind == Kind::race_of_lanes; };
  const auto key = [&](const Diagnostic& d) {
    std::vector<std::pair<std::string, std::uint32_t>> places;
    for (const ExecutionPoint& point : d.execution)
      places.emplace_back(cat(is_race(d) ? std::string() : point.rule, '@', point.kernel, '@', point.where.file), point.ptx_line);
    if (is_race(d)) std::sort(places.begin(), places.end());
    places.emplace_back(std::string(name(d.kind)), 0);
    return places;
  };
  return key(a) == key(b);
}

std::string_view rule_of(const Diagnostic& d) { return d.execution.empty() ? std::string_view() : d.execution.front().rule; }
std::uint32_t line_of(const Diagnostic& d) { return d.execution.empty() ? 0 : d.execution.front().ptx_line; }

}  // namespace

void add_findings(Json& json, const vgpu::Report& report) {
  json.key("findings").open('[');
  for (const Diagnostic& finding : report.findings) add_finding(json, finding);
  json.close(']').key("suppressed").value(report.suppressed).key("left_out").value(report.left_out);
  json.key("unused_suppressions").open('[');
  for (const std::string& one : report.unused_suppressions) json.value(one);
  json.close(']');
}

std::string replay_line(const Arguments& arguments, const Caller& caller, const vgpu::Options& options) {
  constexpr std::string_view replaced[] = {"--seeds", "--systematic", "--runs", "--schedule", "--completion", "--seed", "--save"};
  const bool explores = options.exploration != nullptr;  // the finding is that of one of its runs
  std::string line = cat(caller.program, " run");
  for (const std::string& file : arguments.files) line += cat(' ', in_shell_quotes(file));
  for (const auto& [option, value] : arguments.others)
    if (std::find(std::begin(replaced), std::end(replaced), option) == std::end(replaced) ||
        (explores && (option == "--systematic" || option == "--runs")))
      line += cat(' ', option, is_flag(option) ? std::string() : cat(' ', in_shell_quotes(value)));
  if (explores) return line;
  const bool random = options.threads == vgpu::Threads::random;
  if (random) line += " --schedule random";
  if (options.completion != (random ? vgpu::Completion::random : vgpu::Completion::eager))
    line += cat(" --completion ", vgpu::words_of_completion()[static_cast<std::size_t>(options.completion)]);
  if (random || options.completion == vgpu::Completion::random || options.approximations == vgpu::Approximations::perturbed)
    line += cat(" --seed ", options.seed);
  return line;
}

Diagnostic with_replay(Diagnostic finding, const std::string& line) {
  for (Note& note : finding.notes)
    if (note.text.starts_with("replay: ")) note.text = cat("replay: ", line);
  return finding;
}

std::string summary_of(const vgpu::Report& report) {
  const auto errors = static_cast<std::size_t>(std::count_if(report.findings.begin(), report.findings.end(),
                                                             [](const Diagnostic& d) { return d.severity == Severity::error; }));
  const std::size_t warnings = report.findings.size() - errors;
  std::string said = errors != 0 ? plural(errors, "error") : std::string();
  if (warnings != 0) said += cat(said.empty() ? "" : ", ", plural(warnings, "warning"));
  if (said.empty()) said = "no findings";
  if (report.suppressed != 0) said += cat("; ", report.suppressed, " suppressed");
  if (report.left_out != 0) said += cat("; ", report.left_out, " more beyond the limit");
  for (std::size_t i = 0; i < report.unused_suppressions.size(); ++i)
    said += cat(i == 0 ? "; suppressions that fit nothing: " : ", ", report.unused_suppressions[i]);
  return said;
}

void Gathered::add(const SweepRun& run, const vgpu::Report& report) {
  for (const Diagnostic& finding : report.findings) {
    const auto known = std::find_if(all_.begin(), all_.end(), [&](const One& one) { return same(one.finding, finding); });
    if (known == all_.end()) {
      all_.push_back({finding, how(run), 1, runs_ + 1});
      continue;
    }
    if (known->last_run != runs_ + 1) ++known->runs;
    known->last_run = runs_ + 1;
    if (known->other_order.empty() && line_of(known->finding) != line_of(finding))
      known->other_order = cat("in the other order, too: ", rule_of(finding), ", by ", how(run));
  }
  counts_.suppressed = std::max(counts_.suppressed, report.suppressed);
  counts_.left_out = std::max(counts_.left_out, report.left_out);
  const auto& unused = report.unused_suppressions;
  if (runs_++ == 0) counts_.unused_suppressions = unused;
  std::erase_if(counts_.unused_suppressions,
                [&](const std::string& one) { return std::find(unused.begin(), unused.end(), one) == unused.end(); });
}

vgpu::Report Gathered::report() const {
  vgpu::Report report = counts_;
  for (const One& one : all_) {
    report.findings.push_back(one.finding);
    if (!one.other_order.empty()) report.findings.back().note(one.other_order);
    report.findings.back().note(cat("first shown by: ", one.shown_by, "; seen in ", plural(one.runs, "run"), " of ", runs_));
  }
  return report;
}

std::string table_of(std::span<const SweepRun> runs) {
  const auto cell = [](const std::string& text, std::size_t size) {
    return cat(std::string(text.size() < size ? size - text.size() : 0, ' '), text);
  };
  std::string out = cat(cell("schedule", 10), cell("seed", 6), cell("findings", 10), "  outputs\n");
  for (const SweepRun& run : runs) {
    const bool random = run.completion == vgpu::Completion::random;
    out += cat(cell(std::string(vgpu::words_of_completion()[static_cast<std::size_t>(run.completion)]), 10),
               cell(random ? cat(run.seed) : std::string(), 6), cell(cat(run.findings), 10), "  ",
               !run.fault.empty()   ? run.fault
               : run.outputs_differ ? "differ"
                                    : "the same",
               '\n');
  }
  return out;
}

std::string table_of(const Explored& explored, std::span<const SweepRun> runs) {
  std::string out =
      cat(plural(explored.runs, "run"), explored.redundant == 0 ? "" : cat(", ", explored.redundant, " of them redundant"),
          explored.exhausted  ? "; these are all orders"
          : explored.diverged ? "; ended, since a run did not repeat what the one before it did"
                              : "; there are more orders",
          '\n');
  const auto count = [&](auto is_so) { return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), is_so)); };
  const auto say = [&](std::size_t how_many, std::string_view what) {
    if (how_many != 0) out += cat("in ", how_many, " of them ", what, '\n');
  };
  say(count([](const SweepRun& run) { return run.outputs_differ; }), "outputs differ from those of the first");
  say(count([](const SweepRun& run) { return !run.fault.empty(); }), "a fault ends the run");
  say(count([](const SweepRun& run) { return run.fault.empty() && run.findings != 0; }), "something is found");
  return out;
}

void add_runs(Json& json, std::span<const SweepRun> runs) {
  json.key("runs").open('[');
  for (const SweepRun& run : runs) {
    json.open('{').key("schedule");
    json.value(run.order != 0 ? "systematic" : vgpu::words_of_completion()[static_cast<std::size_t>(run.completion)]);
    json.key("seed").value(run.order != 0 ? run.order : run.seed).key("findings").value(run.findings).key("outputs_differ");
    json.literal(run.outputs_differ ? "true" : "false").key("fault");
    run.fault.empty() ? json.literal("null") : json.value(run.fault);
    json.close('}');
  }
  json.close(']');
}

}  // namespace ptx::tool
