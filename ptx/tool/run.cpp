// run: a kernel of a PTX file in the executor, on buffers that the command line describes.
#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "ptx/check/check.hpp"
#include "ptx/text/text.hpp"
#include "ptx/tool/commands.hpp"
#include "ptx/tool/files.hpp"
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
  std::vector<Save> saves;
};
Expected<Wanted> read_options(const Arguments& arguments) {
  Wanted wanted;
  for (const auto& [name, to] : {std::pair("--grid", &wanted.config.grid), std::pair("--block", &wanted.config.block),
                                 std::pair("--cluster", &wanted.config.cluster)}) {
    const std::string_view text = arguments.last(name);
    if (text.empty()) continue;
    const auto read = sizes(text);
    if (!read) return refuse(Kind::launch_config, cat("`", name, "` takes one to three numbers, `", text, "` was given"));
    *to = *read;
  }
  wanted.has_block = !arguments.last("--block").empty();
  const Number smem = number(arguments, "--smem", 0), shown = number(arguments, "--print", 8),
               workers = number(arguments, "--workers", std::max(1u, std::thread::hardware_concurrency())),
               seed = number(arguments, "--seed", 0), most = number(arguments, "--limit", 0);
  for (const Number* read : {&smem, &shown, &workers, &seed, &most})
    if (!read->wrong.empty()) return refuse(Kind::bad_setting, read->wrong);
  if (workers.value == 0 || workers.value > 1024)
    return refuse(Kind::bad_setting, cat("`--workers` takes 1 to 1024, ", workers.value, " was given"));
  wanted.config.dynamic_smem_bytes = smem.value;
  wanted.shown = shown.value;
  wanted.options.workers = static_cast<unsigned>(workers.value);
  wanted.options.seed = seed.value;
  wanted.options.max_instructions = most.value;
  wanted.options.numerics = vgpu::numerics_from_name(arguments.last("--numerics")).value_or(vgpu::Numerics::exact);
  wanted.options.approximations =
      vgpu::approximations_from_name(arguments.last("--approx")).value_or(vgpu::Approximations::hardware);
  wanted.options.completion = vgpu::completion_from_name(arguments.last("--completion")).value_or(vgpu::Completion::eager);
  wanted.options.checks = vgpu::checks_from_name(arguments.last("--checks")).value_or(vgpu::Checks::off);
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

std::string to_json(const std::string& kernel, const vgpu::Report& report, const std::vector<vgpu::FidelityNote>& fidelity,
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
  json.close(']').close('}');
  return std::move(json).finish();
}

Outcome failed(const Diagnostic& error, std::string_view source, const Caller& caller) {
  return {.status = 1, .out = {}, .err = cat(render(error, source, caller.colour_of_errors), '\n')};
}

// "" or what could not be written.
std::string save(const Buffer& buffer, const std::string& file) {
  const auto bytes = buffer.array.bytes();
  return write_file(file, file.ends_with(".npy") ? to_npy(buffer.array)
                                                 : std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace

Outcome run_kernel(const Arguments& arguments, const Caller& caller) {
  if (arguments.files.size() != 1)
    return refuse(caller, cat("`run` takes one file, ", arguments.files.size(), " were given"), "`-` reads the standard input");
  auto wanted = read_options(arguments);
  if (!wanted) return refuse(caller, wanted.error().message);
  const bool profiles = !arguments.last("--profile").empty();
  if (profiles && arguments.format == "json")
    return refuse(caller, "`--profile` is a table for people; with `--format json`, `--trace` has what a run did");
  const std::string& path = arguments.files.front();
  Read read = read_file(path, caller);
  if (!read.failure.empty()) return refuse(caller, read.failure, read.hint);
  text::Parsed parsed = text::parse(read.text, display_name(path));
  for (const Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return failed(finding, read.text, caller);
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return failed(accepted.error(), read.text, caller);
  const ir::Module& module = accepted->module();
  const auto entry = find_entry(module, arguments.last("--entry"));
  if (!entry) return refuse(caller, entry.error().message);
  const ir::Function& function = module.functions[*entry];
  const std::string kernel(module.str(function.name));
  if (!wanted->has_block) wanted->config.block = required_block(function);
  auto given = read_kernel_arguments(module, function, arguments.all("--arg"));
  if (!given) return refuse(caller, given.error().message);
  std::vector<const Buffer*> saved;
  for (const Save& one : wanted->saves) {
    const auto buffer =
        std::find_if(given->buffers.begin(), given->buffers.end(), [&](const Buffer& b) { return b.name == one.name; });
    if (buffer == given->buffers.end())
      return refuse(caller, cat("`--save ", one.name, "`: no parameter of that name has a buffer"));
    saved.push_back(&*buffer);
  }
  const auto program = vgpu::Program::make(*accepted, nullptr, kernel);
  if (!program) return failed(program.error(), read.text, caller);
  vgpu::Options options = wanted->options;
  if (caller.goes_on) options.watch = [&](const vgpu::RunProgress&) { return caller.goes_on(); };
  std::optional<vgpu::Timeline> timeline;
  const std::string trace(arguments.last("--trace"));
  if (profiles || !trace.empty()) options.observer = &timeline.emplace();
  const auto report = (*program)->run(wanted->config, given->block, given->regions(), options);
  // Of a run that went wrong, too: where everybody stood then.
  if (const std::string failure = trace.empty() ? "" : write_file(trace, timeline->trace()); !failure.empty())
    return refuse(caller, failure);
  if (!report)
    return report.error().kind == Kind::launch_config ? refuse(caller, report.error().message)
                                                      : failed(report.error(), read.text, caller);
  for (std::size_t i = 0; i < saved.size(); ++i)
    if (const std::string failure = save(*saved[i], wanted->saves[i].file); !failure.empty()) return refuse(caller, failure);
  const auto fidelity = (*program)->fidelity(options);
  if (arguments.format == "json") return {.status = 0, .out = to_json(kernel, *report, fidelity, given->buffers), .err = {}};
  Outcome outcome{
      .out = cat(kernel, ": ", plural(report->ctas, "block"), ", ", plural(report->warp_instructions, "warp instruction"), '\n')};
  std::size_t shown = 0;
  for (const Buffer& buffer : given->buffers)
    if (changed(buffer)) {
      outcome.out += show(buffer, wanted->shown, caller.colour);
      ++shown;
    }
  if (shown == 0 && !given->buffers.empty()) outcome.out += "no buffer changed\n";
  for (const vgpu::FidelityNote& note : fidelity)
    outcome.out += cat(name(note.fidelity), ": `", note.instruction, "`: ", note.why, '\n');
  if (profiles) outcome.out += cat('\n', timeline->profile().table());
  for (const Diagnostic& finding : report->findings)
    outcome.err += cat(render(finding, read.text, caller.colour_of_errors), '\n');
  outcome.status = has_errors(report->findings) ? 1 : 0;
  return outcome;
}

}  // namespace ptx::tool
