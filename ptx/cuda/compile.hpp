// From PTX text to what a GPU loads: a cubin out of the cache, a cubin of ptxas, or the text for the driver's own compiler.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/disk_cache.hpp"
#include "ptx/cuda/ptxas_log.hpp"

namespace ptx::cuda {

/// Who compiles.
enum class Jit {
  automatic,  ///< the newest ptxas that the driver is for; the driver when there is no ptxas, or none that is new enough
  ptxas,      ///< ptxas alone
  driver,     ///< the driver alone: no cache of ours, no warnings
};

struct CompileSettings {
  Jit jit = Jit::automatic;        ///< $PYPTX_JIT: `ptxas` or `driver`
  bool no_compile = false;         ///< $PYPTX_NO_COMPILE=1: what is in no cache is an error (compile_needed)
  bool strict = false;             ///< $PYPTX_STRICT=1: what would be a warning is an error
  DiskCache cache;                 ///< $PYPTX_CACHE_DIR, see there; $PYPTX_CACHE_MIB limits it
  std::vector<std::string> roots;  ///< folders for find_tools: tool_roots()
  /// These instead of what find_tools finds.
  std::optional<std::vector<std::string>> ptxas;

  /// As the environment says now. Errors: bad_setting, for a value that is none of these.
  static Expected<CompileSettings> from_environment();
};

/// Folders below which NVIDIA's wheels may lie, for the whole process: Python says here what it knows. Any thread.
void set_tool_roots(std::vector<std::string> roots);
std::vector<std::string> tool_roots();

struct CompileRequest {
  std::string_view text;    ///< PTX; all of it counts for the cache, `.loc` and `.file` too
  std::string_view entry;   ///< the kernel's name, for messages
  std::string_view target;  ///< what to assemble it for: see assembly_target
  LineMap where;            ///< the author's places
  int driver_version = 0;   ///< 13000 for CUDA 13.0: a ptxas of a later major version comes last; 0: not known
};

struct CompiledCode {
  std::string cubin;  ///< empty: the driver is to compile the text
  std::string log;    ///< all that ptxas printed, also when the cubin is from the cache
  Report report;      ///< the log, read
  /// What the author should know: of kinds setmaxnreg_ignored, wgmma_pipeline, register_spill, compiler_warning, and
  /// cache_unusable once in a process. Given again when the cubin is from the cache.
  Diagnostics warnings;
  bool from_cache = false;
  /// Why the driver is to compile, when it was not asked for: no_tool, or compile_error of a ptxas that is too old.
  std::optional<Diagnostic> no_cubin;
};

/// Compiles, or finds what was compiled before. With a warm cache no program is started. `-lineinfo` is always given.
/// Errors: compile_error (with the author's lines), compile_needed, no_tool, tool_failed, and with `strict` the warnings' kinds.
Expected<CompiledCode> compile(const CompileRequest& request, const CompileSettings& settings);

/// With `strict`, the first of the warnings as an error, which tells the others too.
Expected<void> check_strict(const Diagnostics& warnings, bool strict);

/// The name of a cache entry: sha256 of text, target, the ptxas's version, its arguments and the version of all this.
Digest cache_key(std::string_view text, std::string_view target, std::string_view ptxas_version);

/// The CUDA version that came with a PTX version: (9, 0) is "13.0"; "" for one that is not known.
std::string cuda_of_ptx(int major, int minor);

}  // namespace ptx::cuda
