// NVIDIA's command-line tools: found where toolkits and wheels put them, run on temporary files.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/ptxas_log.hpp"

namespace ptx::cuda {

enum class Tool { ptxas, nvdisasm, cuobjdump };
std::string_view name(Tool tool);

/// Every place where the tool is, in the order of looking: $PYPTX_PTXAS ($PYPTX_NVDISASM, $PYPTX_CUOBJDUMP) alone; below each of
/// `roots` (Python gives its site-packages folders) NVIDIA's wheels, then triton; $CUDA_HOME/bin; PATH; /usr/local/cuda/bin.
/// Errors: no_tool, also when the variable names something that cannot be run: it is then not passed over.
Expected<std::vector<std::string>> find_tools(Tool tool, const std::vector<std::string>& roots = {});
/// Of ptxas the newest of them, of the others the first.
Expected<std::string> find_tool(Tool tool, const std::vector<std::string>& roots = {});

/// What NVIDIA's tools say of themselves: "…release 13.0, V13.0.88…" is 13.0.88; zeros where they do not.
struct Release {
  int major = 0, minor = 0, patch = 0;
  friend auto operator<=>(const Release&, const Release&) = default;
};
Release release_of(std::string_view version);

struct FoundTool {
  std::string path;
  std::optional<std::string> version;  ///< what `--version` prints; nothing: it does not say
};
class DiskCache;
/// The newest first, and of one release the one that stands first; those that do not say last. Each is asked once by all the
/// processes that share the cache.
std::vector<FoundTool> newest_first(std::vector<std::string> paths, const DiskCache& cache);

/// Machine code for one GPU architecture.
struct Cubin {
  std::string bytes;
  std::string target;  ///< what it was assembled for
  std::string log;     ///< all that ptxas printed
  Report report;       ///< the log, read
};

struct AssembleOptions {
  std::vector<std::string> roots;      ///< see find_tools
  std::vector<std::string> arguments;  ///< more for ptxas, such as "-O1" or "--maxrregcount=128"
  bool line_info = false;              ///< keep `.loc` places for profilers
  LineMap where;                       ///< the author's places, for diagnostics and the report
};

/// Whether these bytes are machine code as ptxas makes it: ELF.
inline bool is_cubin(std::string_view bytes) {
  return bytes.starts_with(
      "\x7f"
      "ELF");
}

/// Assembles PTX text with the newest ptxas for `target` ("sm_90a"). When it is too old for the text or the target, the next one
/// is tried. Depends on its arguments and the tool alone, so a cache can stand in front of it.
/// A ptxas that runs for more than $PYPTX_PTXAS_SECONDS (600) is ended. Errors: no_tool, tool_failed (it crashed, was ended or
/// left no machine code), bad_setting, file_error (no room on the disk), compile_error with every error's PTX line and
/// author's line.
Expected<Cubin> assemble(std::string_view ptx_text, std::string_view target, const AssembleOptions& options = {});

/// How one try with one ptxas ended.
enum class Outcome {
  assembled,
  refused,  ///< its verdict on the text (compile_error)
  too_old,  ///< for the text's version or for the target (compile_error): another may do
  crashed,  ///< tool_failed
  not_run,  ///< it could not be started (tool_failed), or its files not be written (file_error): nothing is known about the text
};
struct Attempt {
  Outcome outcome = Outcome::not_run;
  std::string log;  ///< all that ptxas printed
};
/// The same with the ptxas at this path.
Expected<Cubin> assemble_with(const std::string& ptxas, std::string_view ptx_text, std::string_view target,
                              const AssembleOptions& options, Attempt& attempt);

/// What `tool --version` prints. Runs it. Errors: tool_failed.
Expected<std::string> version_of(const std::string& tool);

/// The SASS of a cubin: `nvdisasm -c`, or else `cuobjdump -sass`. Errors: no_tool, tool_failed, file_error.
Expected<std::string> disassemble(std::string_view cubin, const std::vector<std::string>& roots = {});

}  // namespace ptx::cuda
