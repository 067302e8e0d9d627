#include "ptx/tool/kernel_run.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "ptx/text/text.hpp"
#include "ptx/tool/files.hpp"
#include "ptx/tool/style.hpp"

namespace ptx::tool {

namespace {

// "4", "4,2" or "4,2,1"; the rest is 1.
std::optional<std::array<std::uint32_t, 3>> sizes(std::string_view text) {
  std::array<std::uint32_t, 3> made{1, 1, 1};
  const char *at = text.data(), *end = text.data() + text.size();
  for (std::uint32_t& size : made) {
    const auto [behind, error] = std::from_chars(at, end, size);
    if (error != std::errc()) return std::nullopt;
    if (behind == end) return made;
    if (*behind != ',') return std::nullopt;
    at = behind + 1;
  }
  return std::nullopt;
}

}  // namespace

Number number(const Arguments& arguments, std::string_view name, std::uint64_t otherwise) {
  const std::string_view text = arguments.last(name);
  if (text.empty()) return {.value = otherwise, .wrong = {}};
  Number read;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read.value);
  if (error != std::errc() || end != text.data() + text.size())
    read.wrong = cat("`", name, "` takes a number, `", text, "` was given");
  return read;
}

Expected<std::size_t> find_entry(const ir::Module& module, std::string_view wanted) {
  std::vector<std::string> names;
  std::size_t found = module.functions.size(), last = found;
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    const ir::Function& function = module.functions[i];
    if (!function.is_entry) continue;
    last = i;
    names.emplace_back(module.str(function.name));
    if (names.back() == wanted) found = i;
  }
  if (names.empty()) return refuse(Kind::unknown_kernel, "the file has no kernel (`.entry`)");
  if (wanted.empty() && names.size() == 1) return last;
  if (found != module.functions.size()) return found;
  return refuse(Kind::unknown_kernel, wanted.empty()
                                          ? cat("the file has several kernels; `--entry` takes ", list_choices(names))
                                          : cat("the file has no kernel `", wanted, "`; it has ", list_choices(names)));
}

std::array<std::uint32_t, 3> required_block(const ir::Function& entry) {
  for (const ir::Directive& directive : entry.directives)
    if (directive.name == "reqntid") return directive.dims();
  return {1, 1, 1};
}

Expected<void> read_sizes(const Arguments& arguments, vgpu::LaunchConfig& config) {
  for (const auto& [name, to] :
       {std::pair("--grid", &config.grid), std::pair("--block", &config.block), std::pair("--cluster", &config.cluster)}) {
    const std::string_view text = arguments.last(name);
    if (text.empty()) continue;
    const auto read = sizes(text);
    if (!read) return refuse(Kind::launch_config, cat("`", name, "` takes one to three numbers, `", text, "` was given"));
    *to = *read;
  }
  return {};
}

void read_manner(const Arguments& arguments, vgpu::Options& options) {
  options.numerics = vgpu::numerics_from_name(arguments.last("--numerics")).value_or(vgpu::Numerics::exact);
  const auto schedule = vgpu::completion_from_name(arguments.last("--schedule")).value_or(vgpu::Completion::eager);
  options.completion = vgpu::completion_from_name(arguments.last("--completion")).value_or(schedule);
  options.threads = vgpu::threads_of(schedule);
}

Outcome failed(const Diagnostic& error, std::string_view source, const Caller& caller) {
  return {.status = 1, .out = {}, .err = cat(render(error, source, caller.colour_of_errors), '\n')};
}

namespace {

// "" or what is wrong with the options.
std::string read_launch(const Arguments& arguments, vgpu::LaunchConfig& config, vgpu::Options& options, bool& has_block) {
  if (auto read = read_sizes(arguments, config); !read) return read.error().message;
  has_block = !arguments.last("--block").empty();
  const Number smem = number(arguments, "--smem", 0), seed = number(arguments, "--seed", 0);
  for (const Number* read : {&smem, &seed})
    if (!read->wrong.empty()) return read->wrong;
  config.dynamic_smem_bytes = smem.value;
  options.seed = seed.value;
  read_manner(arguments, options);
  options.checks = vgpu::checks_from_name(arguments.last("--checks")).value_or(vgpu::Checks::cheap);
  return {};
}

}  // namespace

Loading load_kernel(const Arguments& arguments, const Caller& caller) {
  const auto fail = [](Outcome outcome) { return Loading{.kernel = std::nullopt, .failure = std::move(outcome)}; };
  const std::string& path = arguments.files.front();
  Read read = read_file(path, caller);
  if (!read.failure.empty()) return fail(refuse(caller, read.failure, read.hint));
  text::Parsed parsed = text::parse(read.text, display_name(path));
  for (const Diagnostic& finding : parsed.findings)
    if (finding.severity == Severity::error) return fail(failed(finding, read.text, caller));
  auto accepted = check::accept(std::move(parsed.module));
  if (!accepted) return fail(failed(accepted.error(), read.text, caller));
  const ir::Module& module = accepted->module();
  const auto entry = find_entry(module, arguments.last("--entry"));
  if (!entry) return fail(refuse(caller, entry.error().message));
  const ir::Function& function = module.functions[*entry];
  auto given = read_kernel_arguments(module, function, arguments.all("--arg"));
  if (!given) return fail(refuse(caller, given.error().message));
  auto variables = vgpu::Instance::make(*accepted);
  if (!variables) return fail(failed(variables.error(), read.text, caller));
  const std::string name(module.str(function.name));
  auto program = vgpu::Program::make(*variables, nullptr, name);
  if (!program) return fail(failed(program.error(), read.text, caller));
  return {.kernel = LoadedKernel{.file = display_name(path),
                                 .name = name,
                                 .source = std::move(read.text),
                                 .accepted = std::move(*accepted),
                                 .entry = *entry,
                                 .variables = std::move(*variables),
                                 .program = std::move(*program),
                                 .given = std::move(*given)}};
}

PreparedRun prepare_run(const Arguments& arguments, const Caller& caller) {
  vgpu::LaunchConfig config;
  vgpu::Options options;
  bool has_block = false;
  if (const std::string wrong = read_launch(arguments, config, options, has_block); !wrong.empty())
    return {.run = std::nullopt, .failure = refuse(caller, wrong)};
  Loading loading = load_kernel(arguments, caller);
  if (!loading.kernel) return {.run = std::nullopt, .failure = std::move(loading.failure)};
  if (!has_block) config.block = required_block(loading.kernel->function());
  return {.run = KernelRun{.kernel = std::move(*loading.kernel), .config = config, .options = std::move(options)}};
}

}  // namespace ptx::tool
