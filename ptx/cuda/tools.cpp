#include "ptx/cuda/tools.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "ptx/cuda/disk_cache.hpp"
#include "ptx/cuda/environment.hpp"
#include "ptx/cuda/subprocess.hpp"

namespace ptx::cuda {
namespace {

struct ToolEntry {
  std::string_view name;
  const char* variable;
  std::string_view wheel;
  std::array<std::string_view, 3> folders;  // of the wheels that carry it, below a site-packages folder
};
constexpr std::array<ToolEntry, 3> tool_table = {{
    {"ptxas", "PYPTX_PTXAS", "nvidia-cuda-nvcc", {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin", "triton/backends/nvidia/bin"}},
    {"nvdisasm",
     "PYPTX_NVDISASM",
     "nvidia-cuda-nvdisasm",
     {"nvidia/cu13/bin", "nvidia/cuda_nvdisasm/bin", "triton/backends/nvidia/bin"}},
    {"cuobjdump",
     "PYPTX_CUOBJDUMP",
     "nvidia-cuda-cuobjdump",
     {"nvidia/cu13/bin", "nvidia/cuda_cuobjdump/bin", "triton/backends/nvidia/bin"}},
}};
const ToolEntry& entry(Tool tool) { return tool_table[static_cast<std::size_t>(tool)]; }

bool can_run(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

std::vector<std::string> folders_to_search(const ToolEntry& tool, const std::vector<std::string>& roots) {
  std::vector<std::string> folders;
  const auto add = [&folders](std::string folder) {
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
  };
  for (std::size_t i = 0; i < tool.folders.size(); ++i) {  // a wheel of NVIDIA's in any root goes before triton's copy
    for (const std::string& root : roots) add(cat(root, '/', tool.folders[i]));
  }
  if (const auto home = environment("CUDA_HOME")) add(cat(*home, "/bin"));
  const std::string path(environment("PATH").value_or(""));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) add(path.substr(begin, end - begin));
    begin = end + 1;
  }
  add("/usr/local/cuda/bin");
  return folders;
}

std::string log_note(std::string_view output) {
  const std::size_t end = output.find_last_not_of(" \t\r\n");
  return end == std::string_view::npos ? std::string("it printed nothing") : cat("it printed: ", output.substr(0, end + 1));
}

/// $PYPTX_PTXAS_SECONDS, or the default.
Expected<ProcessLimits> ptxas_limits() {
  ProcessLimits limits;
  const auto chosen = environment("PYPTX_PTXAS_SECONDS");
  if (!chosen) return limits;
  std::uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(chosen->data(), chosen->data() + chosen->size(), seconds);
  if (error != std::errc() || end != chosen->data() + chosen->size() || seconds == 0) {
    return Unexpected{{.kind = Kind::bad_setting,
                       .message = cat("PYPTX_PTXAS_SECONDS is `", *chosen, "`; what fits is a number of seconds, from 1 on")}};
  }
  limits.time = std::chrono::seconds(seconds);
  return limits;
}

/// Messages name the temporary file; the reader knows no such file.
void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string_view name(Tool tool) { return entry(tool).name; }

Expected<std::vector<std::string>> find_tools(Tool tool, const std::vector<std::string>& roots) {
  const ToolEntry& wanted = entry(tool);
  std::vector<std::string> found;
  if (const auto set = environment(wanted.variable)) {
    std::string chosen(*set);
    if (!can_run(chosen)) {
      return Unexpected{
          {.kind = Kind::no_tool, .message = cat(wanted.variable, " is `", chosen, "`, which is not a program that can be run")}};
    }
    return std::vector<std::string>{std::move(chosen)};
  }
  const std::vector<std::string> folders = folders_to_search(wanted, roots);
  for (const std::string& folder : folders) {
    std::string path = cat(folder, '/', wanted.name);
    if (can_run(path)) found.push_back(std::move(path));
  }
  if (!found.empty()) return found;
  std::string searched;
  for (const std::string& folder : folders) searched += cat(searched.empty() ? "" : ", ", folder);
  return Unexpected{Diagnostic{.kind = Kind::no_tool, .message = cat('`', wanted.name, "` is not found")}
                        .note(cat("searched: ", searched))
                        .hint(cat("`pip install ", wanted.wheel, "`, install a CUDA toolkit, or set ", wanted.variable))};
}

Expected<std::string> find_tool(Tool tool, const std::vector<std::string>& roots) {
  auto found = find_tools(tool, roots);
  if (!found) return Unexpected{std::move(found).error()};
  if (tool != Tool::ptxas || found->size() == 1) return std::move(found->front());
  return std::move(newest_first(std::move(*found), DiskCache::from_environment()).front().path);
}

Release release_of(std::string_view version) {
  constexpr std::string_view marker = "release ";
  std::size_t at = version.find(marker);
  if (at == std::string_view::npos) return {};
  const auto number = [&](std::size_t from) {
    int value = 0;
    if (from < version.size()) std::from_chars(version.data() + from, version.data() + version.size(), value);
    return value;
  };
  const auto behind_dot = [&] {
    at = version.find_first_not_of("0123456789", at);
    return at != std::string_view::npos && version[at] == '.' ? number(++at) : 0;
  };
  Release release;
  release.major = number(at += marker.size());
  release.minor = behind_dot();
  // "V13.0.88" says the same once more, and the patch.
  at = version.find(cat('V', release.major, '.', release.minor, '.'), at);
  if (at == std::string_view::npos) return release;
  release.patch = number(version.find('.', version.find('.', at) + 1) + 1);
  return release;
}

std::vector<FoundTool> newest_first(std::vector<std::string> paths, const DiskCache& cache) {
  std::vector<FoundTool> found;
  found.reserve(paths.size());
  for (std::string& path : paths) {
    auto version = cache.version_of(path);
    found.push_back({std::move(path), version ? std::optional(std::move(*version)) : std::nullopt});
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundTool& a, const FoundTool& b) {
    return release_of(a.version.value_or("")) > release_of(b.version.value_or(""));
  });
  return found;
}

Expected<Cubin> assemble_with(const std::string& ptxas, std::string_view text, std::string_view target,
                              const AssembleOptions& options, Attempt& attempt) {
  attempt = {};
  auto folder = TemporaryFolder::make();
  if (!folder) return Unexpected{std::move(folder).error()};
  const std::string source = folder->file("kernel.ptx");
  const std::string image = folder->file("kernel.cubin");
  if (auto ok = write_file(source, text); !ok) return Unexpected{std::move(ok).error()};

  std::vector<std::string> arguments{"-v", cat("-arch=", target)};
  if (options.line_info) arguments.emplace_back("-lineinfo");
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  arguments.insert(arguments.end(), {"-o", image, source});
  auto limits = ptxas_limits();
  if (!limits) return Unexpected{std::move(limits).error()};
  auto ended = run_process(ptxas, arguments, *limits);
  if (!ended) return Unexpected{std::move(ended).error()};

  Cubin cubin{.target = std::string(target), .log = std::move(ended->output)};
  replace_all(cubin.log, source, "kernel.ptx");
  cubin.report = parse_ptxas_log(cubin.log, options.where);
  attempt = {.outcome = Outcome::crashed, .log = cubin.log};
  if (!ended->ok()) {
    const bool refused = ended->signal == 0 && has_error(cubin.report);
    if (!refused) {
      return Unexpected{Diagnostic{.kind = Kind::tool_failed, .message = cat('`', ptxas, "` ", describe_end(*ended))}.note(
          log_note(cubin.log))};
    }
    attempt.outcome = is_too_old(cubin.report) ? Outcome::too_old : Outcome::refused;
    Diagnostic error = compile_error("ptxas", cubin.log, text, options.where);
    error.note(cat("assembled for `", target, "` by ", ptxas));
    if (attempt.outcome == Outcome::too_old)
      error.hint("a newer ptxas may take it: set PYPTX_PTXAS, or `pip install -U nvidia-cuda-nvcc`");
    return Unexpected{std::move(error)};
  }
  auto bytes = read_file(image);
  if (!bytes || !is_cubin(*bytes)) {
    return Unexpected{Diagnostic{.kind = Kind::tool_failed,
                                 .message = cat('`', ptxas, "` ended well and left ",
                                                !bytes           ? std::string("no cubin")
                                                : bytes->empty() ? std::string("an empty cubin")
                                                                 : cat(bytes->size(), " bytes that are not a cubin"))}
                          .note(log_note(cubin.log))};
  }
  cubin.bytes = std::move(*bytes);
  attempt.outcome = Outcome::assembled;
  return cubin;
}

Expected<std::string> version_of(const std::string& tool) {
  // A tool that has nothing to say in this time says nothing.
  auto ended = run_process(tool, {"--version"}, {.time = std::chrono::seconds(30)});
  if (!ended) return Unexpected{std::move(ended).error()};
  if (!ended->ok()) {
    return Unexpected{Diagnostic{.kind = Kind::tool_failed, .message = cat('`', tool, " --version` ", describe_end(*ended))}.note(
        log_note(ended->output))};
  }
  return std::move(ended->output);
}

Expected<Cubin> assemble(std::string_view ptx_text, std::string_view target, const AssembleOptions& options) {
  auto tools = find_tools(Tool::ptxas, options.roots);
  if (!tools) return Unexpected{std::move(tools).error()};
  Attempt attempt;
  if (tools->size() == 1) return assemble_with(tools->front(), ptx_text, target, options, attempt);
  const std::vector<FoundTool> ordered = newest_first(std::move(*tools), DiskCache::from_environment());
  auto result = assemble_with(ordered.front().path, ptx_text, target, options, attempt);
  for (std::size_t i = 1; i < ordered.size() && attempt.outcome == Outcome::too_old; ++i) {
    result = assemble_with(ordered[i].path, ptx_text, target, options, attempt);
  }
  return result;
}

Expected<std::string> disassemble(std::string_view cubin, const std::vector<std::string>& roots) {
  auto tool = find_tool(Tool::nvdisasm, roots);
  std::string option = "-c";  // the code alone
  if (!tool && !environment(entry(Tool::nvdisasm).variable)) {
    auto other = find_tool(Tool::cuobjdump, roots);
    if (!other) return Unexpected{std::move(tool).error()};  // nvdisasm is the one to install
    tool = std::move(other);
    option = "-sass";
  }
  if (!tool) return Unexpected{std::move(tool).error()};
  auto folder = TemporaryFolder::make();
  if (!folder) return Unexpected{std::move(folder).error()};
  const std::string image = folder->file("kernel.cubin");
  if (auto ok = write_file(image, cubin); !ok) return Unexpected{std::move(ok).error()};
  auto ended = run_process(*tool, {option, image});
  if (!ended) return Unexpected{std::move(ended).error()};
  replace_all(ended->output, image, "kernel.cubin");
  if (!ended->ok()) {
    return Unexpected{Diagnostic{.kind = Kind::tool_failed, .message = cat('`', *tool, "` ", describe_end(*ended))}.note(
        log_note(ended->output))};
  }
  return std::move(ended->output);
}

}  // namespace ptx::cuda
