#include "ptx/cuda/compile.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>

#include "ptx/cuda/environment.hpp"
#include "ptx/cuda/sections.hpp"
#include "ptx/cuda/tools.hpp"

namespace ptx::cuda {
namespace {

constexpr std::string_view key_version = "pyptx cubin 1";
constexpr std::string_view key_arguments = "-v -lineinfo";

Expected<bool> read_switch(const char* name) {
  const std::string_view value = environment(name).value_or("");
  if (value.empty() || value == "0") return false;
  if (value == "1") return true;
  return Unexpected{{.kind = Kind::bad_setting, .message = cat(name, " is `", value, "`; what fits is `1` or `0`")}};
}

struct Roots {
  std::mutex mutex;
  std::vector<std::string> folders;
  static Roots& process() {
    static auto& roots = *new Roots;  // never destroyed: threads may outlive our statics
    return roots;
  }
};

using Candidate = FoundTool;  // one that does not say its version is not cached

class Compilation {
 public:
  Compilation(const CompileRequest& request, const CompileSettings& settings) : request_(request), settings_(settings) {}

  Expected<CompiledCode> run() {
    if (settings_.jit == Jit::driver) {
      if (settings_.no_compile) return Unexpected{needed("PYPTX_JIT=driver compiles in each process")};
      return CompiledCode{};
    }
    auto tools = find();
    if (!tools && !settings_.ptxas && environment("PYPTX_PTXAS"))
      return Unexpected{std::move(tools).error()};  // named, so not passed over
    if (tools) {
      std::vector<Candidate> candidates = ordered(*tools);
      if (auto found = cached(candidates)) return accept(std::move(*found), true);
      if (!settings_.no_compile) return assembled(candidates);
    }
    // Whatever was made of this text elsewhere is as good when nothing can be made here.
    for (const std::string& version : settings_.cache.known_versions()) {
      auto found = settings_.cache.find(cache_key(request_.text, request_.target, version));
      if (found && !found->cubin.empty()) return accept(std::move(*found), true);
    }
    if (settings_.no_compile) return Unexpected{needed("")};
    return without_ptxas(std::move(tools).error());
  }

 private:
  Expected<std::vector<std::string>> find() const {
    if (!settings_.ptxas) return find_tools(Tool::ptxas, settings_.roots);
    if (!settings_.ptxas->empty()) return *settings_.ptxas;
    return Unexpected{{.kind = Kind::no_tool, .message = "`ptxas` is not given"}};
  }

  std::vector<Candidate> ordered(std::vector<std::string>& tools) const {
    std::vector<Candidate> candidates = newest_first(std::move(tools), settings_.cache);
    // A driver loads cubins of its own major version and older ones for sure.
    const int driver_major = request_.driver_version / 1000;
    if (driver_major != 0) {
      std::stable_partition(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return release_of(candidate.version.value_or("")).major <= driver_major;
      });
    }
    return candidates;
  }

  /// The cubin that the first ptxas new enough would make, when it has made it before. Forgets those that are too old.
  std::optional<DiskCache::Entry> cached(std::vector<Candidate>& candidates) {
    while (!candidates.empty()) {
      if (!candidates.front().version) return std::nullopt;
      auto found = settings_.cache.find(cache_key(request_.text, request_.target, *candidates.front().version));
      if (!found || !found->cubin.empty()) return found;
      too_old_ = compile_error("ptxas", found->log, request_.text, request_.where);
      too_old_->note(cat("assembled for `", request_.target, "` by ", candidates.front().path));
      candidates.erase(candidates.begin());
    }
    return std::nullopt;
  }

  Expected<CompiledCode> assembled(const std::vector<Candidate>& candidates) {
    std::optional<Diagnostic> not_run;
    for (const Candidate& candidate : candidates) {
      Attempt attempt;
      auto cubin =
          assemble_with(candidate.path, request_.text, request_.target, {.line_info = true, .where = request_.where}, attempt);
      switch (attempt.outcome) {
        case Outcome::assembled: {
          DiskCache::Entry entry{.cubin = std::move(cubin->bytes), .log = std::move(cubin->log)};
          keep(candidate, entry);
          return accept(std::move(entry), false);
        }
        case Outcome::too_old:
          too_old_ = std::move(cubin).error();
          keep(candidate, {.cubin = {}, .log = std::move(attempt.log)});
          break;
        case Outcome::not_run:
          not_run = std::move(cubin).error();
          break;
        case Outcome::refused:
        case Outcome::crashed:
          return Unexpected{std::move(cubin).error()};
      }
    }
    // A full disk or a ptxas that does not start says nothing of the text.
    if (not_run) return without_ptxas(std::move(*not_run));
    return without_ptxas(std::move(*too_old_));
  }

  Expected<CompiledCode> without_ptxas(Diagnostic why) {
    if (settings_.jit == Jit::ptxas) return Unexpected{std::move(why).note("PYPTX_JIT=ptxas, so the driver is not asked")};
    CompiledCode code;
    if (why.kind != Kind::no_tool && why.kind != Kind::compile_error) {
      code.warnings.push_back(
          {.kind = Kind::compiler_warning,
           .severity = Severity::warning,
           .message = cat("kernel `", request_.entry, "` is compiled by the driver, since ptxas cannot run: ", why.message)});
    }
    if (auto ok = check_strict(code.warnings, settings_.strict); !ok) return Unexpected{std::move(ok).error()};
    code.no_cubin = std::move(why);
    return code;
  }

  Expected<CompiledCode> accept(DiskCache::Entry entry, bool from_cache) {
    CompiledCode code{.cubin = std::move(entry.cubin), .log = std::move(entry.log), .from_cache = from_cache};
    code.report = parse_ptxas_log(code.log, request_.where);
    code.warnings = performance_warnings(code.report, request_.entry, request_.text, request_.where);
    if (auto ok = check_strict(code.warnings, settings_.strict); !ok) return Unexpected{std::move(ok).error()};
    if (cache_trouble_) code.warnings.push_back(std::move(*cache_trouble_));
    return code;
  }

  void keep(const Candidate& candidate, const DiskCache::Entry& entry) {
    static std::atomic<bool> said = false;
    if (!candidate.version) return;
    auto kept = settings_.cache.keep(cache_key(request_.text, request_.target, *candidate.version), entry);
    if (kept || said.exchange(true)) return;
    cache_trouble_ = Diagnostic{.kind = Kind::cache_unusable,
                                .severity = Severity::warning,
                                .message = cat("compiled kernels are not kept: ", kept.error().message)};
    cache_trouble_->hint("set PYPTX_CACHE_DIR to a folder that can be written, or to `off`");
  }

  [[nodiscard]] Diagnostic needed(std::string_view why) const {
    const DiskCache& cache = settings_.cache;
    Diagnostic error{.kind = Kind::compile_needed,
                     .message = cat("kernel `", request_.entry, "` would have to be compiled for `", request_.target,
                                    "`, and PYPTX_NO_COMPILE=1 forbids it")};
    error.note(cache.on() ? cat("the cache is ", cache.folder()) : std::string("the cache is off"));
    if (!why.empty()) error.note(std::string(why));
    return std::move(error).hint("run it once without PYPTX_NO_COMPILE and keep the cache, or load a saved kernel");
  }

  const CompileRequest& request_;
  const CompileSettings& settings_;
  std::optional<Diagnostic> too_old_, cache_trouble_;
};

}  // namespace

Expected<CompileSettings> CompileSettings::from_environment() {
  CompileSettings settings{.cache = DiskCache::from_environment(), .roots = tool_roots()};
  if (const std::string_view jit = environment("PYPTX_JIT").value_or(""); jit == "ptxas") {
    settings.jit = Jit::ptxas;
  } else if (jit == "driver") {
    settings.jit = Jit::driver;
  } else if (!jit.empty()) {
    return Unexpected{{.kind = Kind::bad_setting, .message = cat("PYPTX_JIT is `", jit, "`; what fits is `ptxas` or `driver`")}};
  }
  if (const auto limit = environment("PYPTX_CACHE_MIB")) {
    std::uint32_t mebibytes = 0;
    const auto [end, error] = std::from_chars(limit->data(), limit->data() + limit->size(), mebibytes);
    if (error != std::errc() || end != limit->data() + limit->size() || mebibytes == 0) {
      return Unexpected{{.kind = Kind::bad_setting,
                         .message = cat("PYPTX_CACHE_MIB is `", *limit, "`; what fits is a number of mebibytes, from 1 on")}};
    }
    settings.cache = settings.cache.limited_to(std::uint64_t{mebibytes} << 20);
  }
  auto no_compile = read_switch("PYPTX_NO_COMPILE");
  if (!no_compile) return Unexpected{std::move(no_compile).error()};
  settings.no_compile = *no_compile;
  auto strict = read_switch("PYPTX_STRICT");
  if (!strict) return Unexpected{std::move(strict).error()};
  settings.strict = *strict;
  return settings;
}

void set_tool_roots(std::vector<std::string> roots) {
  Roots& process = Roots::process();
  const std::lock_guard lock(process.mutex);
  process.folders = std::move(roots);
}

std::vector<std::string> tool_roots() {
  Roots& process = Roots::process();
  const std::lock_guard lock(process.mutex);
  return process.folders;
}

Digest cache_key(std::string_view text, std::string_view target, std::string_view ptxas_version) {
  Sha256 hash;
  // Each with its length in front, so that no two lists of parts are one string.
  for (const std::string_view part : {key_version, text, target, ptxas_version, key_arguments}) {
    std::string length;
    put64(length, part.size());
    hash.add(length).add(part);
  }
  return hash.finish();
}

Expected<CompiledCode> compile(const CompileRequest& request, const CompileSettings& settings) {
  return Compilation(request, settings).run();
}

Expected<void> check_strict(const Diagnostics& warnings, bool strict) {
  if (!strict || warnings.empty()) return {};
  Diagnostic error = warnings.front();
  error.severity = Severity::error;
  for (std::size_t i = 1; i < warnings.size(); ++i) error.note(cat("also: ", warnings[i].message));
  return Unexpected{std::move(error).note("PYPTX_STRICT=1 makes it an error")};
}

std::string cuda_of_ptx(int major, int minor) {
  // PTX manual: "Release Notes". Minor versions go their own ways between 12.5 and 12.9.
  if (major == 6) {
    constexpr std::array<std::string_view, 6> of_six{"9.0", "9.1", "9.2", "10.0", "10.1", "10.2"};
    return minor < 6 ? std::string(of_six[static_cast<std::size_t>(minor)]) : std::string();
  }
  if (major == 7) return cat("11.", minor);
  if (major == 8) {
    constexpr std::array<int, 4> of_late{5, 7, 8, 9};  // 8.5 … 8.8
    if (minor > 8) return {};
    return cat("12.", minor < 5 ? minor : of_late[static_cast<std::size_t>(minor) - 5]);
  }
  return major == 9 ? cat("13.", minor) : std::string();
}

}  // namespace ptx::cuda
