// run: a kernel of a PTX file in the executor, on buffers that the command line describes.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "ptx/tool/commands.hpp"
#include "ptx/tool/files.hpp"
#include "ptx/tool/findings.hpp"
#include "ptx/tool/formats.hpp"
#include "ptx/tool/json.hpp"
#include "ptx/tool/kernel_arguments.hpp"
#include "ptx/tool/kernel_run.hpp"
#include "ptx/tool/style.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {
namespace {

struct Save {
  std::string name, file;
};

/// What a command line asks for.
struct Wanted {
  vgpu::LaunchConfig config;
  bool has_block = false;
  std::uint64_t shown = 8;
  vgpu::Options options;
  std::uint64_t seeds = 0, runs = 0;
  bool sweeps = false, explores = false;
  std::vector<Save> saves;
};

// Those of --suppress and of the files of --suppressions.
Expected<std::vector<vgpu::Suppression>> read_suppressions(const Arguments& arguments) {
  std::vector<vgpu::Suppression> all;
  for (const std::string& word : arguments.all("--suppress")) {
    auto one = vgpu::Suppression::read(word);
    if (!one) return Unexpected{std::move(one).error()};
    all.push_back(*std::move(one));
  }
  for (const std::string& file : arguments.all("--suppressions")) {
    const auto text = read_bytes(file);
    if (!text) return Unexpected{text.error()};
    auto more = vgpu::Suppression::read_all(*text, file);
    if (!more) return Unexpected{std::move(more).error()};
    all.insert(all.end(), more->begin(), more->end());
  }
  return all;
}

Expected<Wanted> read_options(const Arguments& arguments) {
  Wanted wanted;
  if (auto read = read_sizes(arguments, wanted.config); !read) return Unexpected{std::move(read).error()};
  wanted.has_block = !arguments.last("--block").empty();
  const Number smem = number(arguments, "--smem", 0), shown = number(arguments, "--print", 8),
               workers = number(arguments, "--workers", std::max(1u, std::thread::hardware_concurrency())),
               seed = number(arguments, "--seed", 0), most = number(arguments, "--limit", 0),
               seeds = number(arguments, "--seeds", 0), runs = number(arguments, "--runs", 10000);
  for (const Number* read : {&smem, &shown, &workers, &seed, &most, &seeds, &runs})
    if (!read->wrong.empty()) return refuse(Kind::bad_setting, read->wrong);
  if (workers.value == 0 || workers.value > 1024)
    return refuse(Kind::bad_setting, cat("`--workers` takes 1 to 1024, ", workers.value, " was given"));
  wanted.config.dynamic_smem_bytes = smem.value;
  wanted.shown = shown.value;
  wanted.options.workers = static_cast<unsigned>(workers.value);
  wanted.options.seed = seed.value;
  wanted.options.max_instructions = most.value;
  read_manner(arguments, wanted.options);
  wanted.options.approximations =
      vgpu::approximations_from_name(arguments.last("--approx")).value_or(vgpu::Approximations::hardware);
  wanted.seeds = seeds.value;
  wanted.runs = runs.value;
  wanted.explores = !arguments.last("--systematic").empty();
  wanted.sweeps = wanted.explores || !arguments.last("--seeds").empty();
  if (wanted.explores && !arguments.last("--seeds").empty())
    return refuse(Kind::bad_setting,
                  "`--seeds` has orders at random and `--systematic` all of them; what fits is one of the two");
  if (!wanted.explores && !arguments.last("--runs").empty())
    return refuse(Kind::bad_setting, "`--runs` says how many runs `--systematic` makes, which is not given");
  wanted.options.checks =
      vgpu::checks_from_name(arguments.last("--checks")).value_or(wanted.sweeps ? vgpu::Checks::full : vgpu::Checks::cheap);
  auto suppress = read_suppressions(arguments);
  if (!suppress) return Unexpected{std::move(suppress).error()};
  wanted.options.suppress = *std::move(suppress);
  wanted.options.max_findings = arguments.most_or(100);
  wanted.options.stop_at_first = !arguments.last("--stop").empty();
  for (const std::string& word : arguments.all("--save")) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      return refuse(Kind::bad_setting, cat("`--save` takes NAME=FILE, `", word, "` was given"));
    wanted.saves.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return wanted;
}

bool changed(const Buffer& buffer) {
  const auto now = buffer.array.bytes();
  return !buffer.initialised || std::memcmp(now.data(), buffer.before.data(), now.size()) != 0;
}

std::string show(const Buffer& buffer, std::uint64_t shown, bool colour) {
  const Style style(colour);
  const std::size_t count = buffer.array.count();
  const std::size_t head = shown == 0 || shown >= count ? count : (shown + 1) / 2;
  const std::size_t tail = head == count ? 0 : shown - head;
  std::string line = cat(style(Colour::blue, buffer.name), ' ', isa::name(buffer.array.type()), '[', count, "]:");
  for (std::size_t i = 0; i < head; ++i) line += ' ' + show_element(buffer.array.type(), buffer.array.element(i));
  if (head != count) line += " …";
  for (std::size_t i = count - tail; i < count; ++i) line += ' ' + show_element(buffer.array.type(), buffer.array.element(i));
  return line + '\n';
}

std::string to_json_of_run(const std::string& kernel, const vgpu::Report& report, const std::vector<vgpu::FidelityNote>& fidelity,
                           const std::vector<Buffer>& buffers) {
  Json json;
  json.open('{').key("kernel").value(kernel).key("blocks").value(report.ctas);
  json.key("warp_instructions").value(report.warp_instructions).key("fidelity").open('[');
  for (const vgpu::FidelityNote& note : fidelity) {
    json.open('{').key("fidelity").value(name(note.fidelity)).key("instruction").value(note.instruction);
    json.key("why").value(note.why).close('}');
  }
  json.close(']').key("buffers").open('[');
  for (const Buffer& buffer : buffers) {
    if (!changed(buffer)) continue;
    json.open('{').key("name").value(buffer.name).key("type").value(isa::name(buffer.array.type())).key("elements").open('[');
    for (std::size_t i = 0; i < buffer.array.count(); ++i)
      json.number(show_element(buffer.array.type(), buffer.array.element(i)));
    json.close(']').close('}');
  }
  json.close(']');
  add_findings(json, report);
  json.close('}');
  return std::move(json).finish();
}

// "" or what could not be written.
std::string save(const Buffer& buffer, const std::string& file) {
  const auto bytes = buffer.array.bytes();
  return write_file(file, file.ends_with(".npy") ? to_npy(buffer.array)
                                                 : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

// A kernel of a file, ready to be run again and again.
struct Runnable {
  const Arguments& arguments;
  const Caller& caller;
  const Wanted& wanted;
  const LoadedKernel& kernel;

  [[nodiscard]] Expected<vgpu::Report> run(KernelArguments& given, vgpu::Options options) const {
    if (caller.goes_on) options.watch = [this](const vgpu::RunProgress&) { return caller.goes_on(); };
    auto report = kernel.program->run(wanted.config, given.block, given.regions(), options);
    const std::string line = replay_line(arguments, caller, options);
    if (!report) return Unexpected{with_replay(std::move(report).error(), line)};
    for (Diagnostic& finding : report->findings) finding = with_replay(std::move(finding), line);
    return report;
  }
  [[nodiscard]] Outcome sarif(const vgpu::Report& report) const {
    const Checked checked{
        .file = kernel.file, .read = {.text = kernel.source, .failure = {}, .hint = {}}, .findings = report.findings};
    return {.status = has_errors(report.findings) ? 1 : 0, .out = to_sarif(std::span(&checked, 1)), .err = {}};
  }
  [[nodiscard]] std::string rendered(const Diagnostics& findings) const {
    std::string out;
    for (const Diagnostic& finding : findings) out += cat(render(finding, kernel.source, caller.colour_of_errors), '\n');
    return out;
  }
};

// What ended a run, in the form that was asked for.
Outcome tell_fault(const Runnable& runnable, const Diagnostic& fault) {
  if (fault.kind == Kind::launch_config) return refuse(runnable.caller, fault.message);
  Outcome outcome = failed(fault, runnable.kernel.source, runnable.caller);
  const vgpu::Report report{.findings = {fault}};
  if (runnable.arguments.format == "sarif") return runnable.sarif(report);
  if (runnable.arguments.format != "json") return outcome;
  Json json;
  json.open('{').key("kernel").value(runnable.kernel.name).key("fault").value(name(fault.kind));
  add_findings(json, report);
  json.close('}');
  outcome.out = std::move(json).finish();
  return outcome;
}

std::string bytes_of(const KernelArguments& given) {
  std::string all;
  for (const Buffer& buffer : given.buffers) {
    const auto bytes = buffer.array.bytes();
    all.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return all;
}

// Many runs, each on fresh buffers.
class Sweep {
 public:
  explicit Sweep(const Runnable& runnable) : runnable_(runnable) {}

  Outcome seeds() {
    if (!is_over()) add(vgpu::Completion::eager, 0);
    if (!is_over()) add(vgpu::Completion::lazy, 0);
    for (std::uint64_t seed = 0; seed < runnable_.wanted.seeds && !is_over(); ++seed) add(vgpu::Completion::random, seed);
    return tell({});
  }

  Outcome orders() {
    vgpu::Exploration exploration(runnable_.wanted.runs);
    while (!is_over() && exploration.begin_run()) {
      vgpu::Options options = runnable_.wanted.options;
      options.exploration = &exploration;
      add(std::move(options), {.order = exploration.runs() + 1});
      exploration.end_run();
    }
    Explored explored{.runs = exploration.runs(), .redundant = exploration.redundant(), .exhausted = exploration.exhausted()};
    explored.diverged = exploration.diverged();
    return tell(explored);
  }

 private:
  // Who calls may end it between two runs as well as inside of one: short ones do not ask.
  [[nodiscard]] bool is_over() {
    if (!interrupted_ && runnable_.caller.goes_on) interrupted_ = !runnable_.caller.goes_on();
    return interrupted_ || refused_;
  }

  void add(vgpu::Completion completion, std::uint64_t seed) {
    vgpu::Options options = runnable_.wanted.options;
    options.completion = completion;
    options.threads = vgpu::threads_of(completion);
    options.seed = seed;
    add(std::move(options), {.completion = completion, .seed = seed});
  }

  void add(vgpu::Options options, SweepRun run) {
    const LoadedKernel& kernel = runnable_.kernel;
    auto given = read_kernel_arguments(kernel.module(), kernel.function(), runnable_.arguments.all("--arg"));
    if (!given) {
      refused_ = refuse(runnable_.caller, given.error().message);
      return;
    }
    kernel.variables->reset();
    auto report = runnable_.run(*given, std::move(options));
    if (!report) {
      if (interrupted_ = report.error().kind == Kind::interrupted; interrupted_) return;
      if (report.error().kind == Kind::launch_config) {
        refused_ = refuse(runnable_.caller, report.error().message);
        return;
      }
      run.fault = name(report.error().kind);
      run.findings = 1;
      gathered_.add(run, vgpu::Report{.findings = {report.error()}});
    } else {
      std::string now = bytes_of(*given);
      run.outputs_differ = first_ && *first_ != now;
      if (!first_) first_ = std::move(now);
      run.findings = report->findings.size();
      gathered_.add(run, *report);
    }
    runs_.push_back(std::move(run));
  }

  Outcome tell(const std::optional<Explored>& explored) const {
    if (refused_) return *refused_;
    const vgpu::Report all = gathered_.report();
    if (runnable_.arguments.format == "sarif") return runnable_.sarif(all);
    Outcome outcome{.status = has_errors(all.findings) ? 1 : 0, .out = {}, .err = {}};
    const bool differ = std::any_of(runs_.begin(), runs_.end(), [](const SweepRun& run) { return run.outputs_differ; });
    if (runnable_.arguments.format == "json") {
      Json json;
      json.open('{').key("kernel").value(runnable_.kernel.name);
      add_runs(json, runs_);
      json.key("outputs_differ").literal(differ ? "true" : "false").key("interrupted").literal(interrupted_ ? "true" : "false");
      if (explored) json.key("exhausted").literal(explored->exhausted ? "true" : "false");
      add_findings(json, all);
      json.close('}');
      outcome.out = std::move(json).finish();
      return outcome;
    }
    outcome.out = cat(explored ? table_of(*explored, runs_) : table_of(runs_),
                      interrupted_ ? "stopped before all runs were done\n" : "", summary_of(all), '\n');
    outcome.err = runnable_.rendered(all.findings);
    return outcome;
  }

  const Runnable& runnable_;
  std::vector<SweepRun> runs_;
  Gathered gathered_;
  std::optional<std::string> first_;
  std::optional<Outcome> refused_;
  bool interrupted_ = false;
};

}  // namespace

Outcome run_kernel(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.size() != 1)
    return refuse(caller, cat("`run` takes one file, ", arguments.files.size(), " were given"), "`-` reads the standard input");
  auto wanted = read_options(arguments);
  if (!wanted) return refuse(caller, wanted.error().message);
  const bool profiles = !arguments.last("--profile").empty();
  if (profiles && arguments.format != "text" && !arguments.format.empty())
    return refuse(caller,
                  cat("`--profile` is a table for people; with `--format ", arguments.format, "`, `--trace` has what a run did"));
  Loading loading = load_kernel(arguments, caller);
  if (!loading.kernel) return loading.failure;
  LoadedKernel& kernel = *loading.kernel;
  KernelArguments& given = kernel.given;
  if (!wanted->has_block) wanted->config.block = required_block(kernel.function());
  std::vector<const Buffer*> saved;
  for (const Save& one : wanted->saves) {
    const auto buffer =
        std::find_if(given.buffers.begin(), given.buffers.end(), [&](const Buffer& b) { return b.name == one.name; });
    if (buffer == given.buffers.end())
      return refuse(caller, cat("`--save ", one.name, "`: no parameter of that name has a buffer"));
    saved.push_back(&*buffer);
  }
  const Runnable runnable{arguments, caller, *wanted, kernel};
  const std::string trace(arguments.last("--trace"));
  if (wanted->sweeps && (profiles || !trace.empty()))
    return refuse(caller,
                  "`--trace` and `--profile` show one run, and `--seeds` and `--systematic` make many; a run is chosen by "
                  "`--schedule` and `--seed`");
  if (trace == "-") return refuse(caller, "`--trace` takes the name of a file");
  // What can be said of the files before a run is not said behind it.
  std::string obstacle = trace.empty() ? "" : obstacle_to_writing(trace);
  for (const Save& one : wanted->saves)
    if (obstacle.empty()) obstacle = obstacle_to_writing(one.file);
  if (!obstacle.empty()) return refuse(caller, obstacle);
  if (wanted->explores) return Sweep(runnable).orders();
  if (wanted->sweeps) return Sweep(runnable).seeds();
  vgpu::Options options = wanted->options;
  std::optional<vgpu::Timeline> timeline;
  if (profiles || !trace.empty()) options.observer = &timeline.emplace();
  const auto report = runnable.run(given, options);
  // Of a run that went wrong, too: where everybody stood then.
  if (const std::string failure = trace.empty() ? "" : write_file(trace, timeline->trace()); !failure.empty())
    return refuse(caller, failure);
  if (!report) return tell_fault(runnable, report.error());
  for (std::size_t i = 0; i < saved.size(); ++i)
    if (const std::string failure = save(*saved[i], wanted->saves[i].file); !failure.empty()) return refuse(caller, failure);
  const auto fidelity = kernel.program->fidelity(options);
  if (arguments.format == "sarif") return runnable.sarif(*report);
  Outcome outcome{.status = has_errors(report->findings) ? 1 : 0, .out = {}, .err = {}};
  if (arguments.format == "json") {
    outcome.out = to_json_of_run(kernel.name, *report, fidelity, given.buffers);
    return outcome;
  }
  outcome.out =
      cat(kernel.name, ": ", plural(report->ctas, "block"), ", ", plural(report->warp_instructions, "warp instruction"), '\n');
  std::size_t shown = 0;
  for (const Buffer& buffer : given.buffers)
    if (changed(buffer)) {
      outcome.out += show(buffer, wanted->shown, caller.colour);
      ++shown;
    }
  if (shown == 0 && !given.buffers.empty()) outcome.out += "no buffer changed\n";
  for (const vgpu::FidelityNote& note : fidelity)
    outcome.out += cat(name(note.fidelity), ": `", note.instruction, "`: ", note.why, '\n');
  if (profiles) outcome.out += cat('\n', timeline->profile().table());
  if (options.checks == vgpu::Checks::full) outcome.out += cat(summary_of(*report), '\n');
  outcome.err = runnable.rendered(report->findings);
  return outcome;
}

}  // namespace ptx::tool
