// NVIDIA's command-line tools: found where toolkits and wheels put them, run on temporary files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/cuda/ptxas_log.hpp"

namespace ptx::cuda {

enum class Tool { ptxas, nvdisasm, cuobjdump };
std::string_view name(Tool tool);

/// Every place where the tool is, best first: $PYPTX_PTXAS ($PYPTX_NVDISASM, $PYPTX_CUOBJDUMP); below each of `roots`
/// (Python gives its site-packages folders) NVIDIA's wheels, then triton; $CUDA_HOME/bin; PATH; /usr/local/cuda/bin.
/// Errors: no_tool, also when the variable names something that cannot be run: it is then not passed over.
Expected<std::vector<std::string>> find_tools(Tool tool, const std::vector<std::string>& roots = {});
/// The best of them.
Expected<std::string> find_tool(Tool tool, const std::vector<std::string>& roots = {});

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

/// Assembles PTX text with ptxas for `target` ("sm_90a"). When the first ptxas found is too old for the text or the target,
/// the next one is tried. Depends on its arguments and the tool alone, so a cache can stand in front of it.
/// Errors: no_tool, tool_failed (it crashed), file_error (no room on the disk), compile_error with every error's PTX line and
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
