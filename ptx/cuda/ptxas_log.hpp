// What ptxas said, as data: messages with their PTX lines, and each function's registers and spills. The driver's compiler
// speaks the same way.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::cuda {

/// The author's place for a line (from 1) of the PTX text; unknown places are fine.
using LineMap = std::function<SourceLocation(std::uint32_t ptx_line)>;

struct PtxasMessage {
  Severity severity = Severity::error;  ///< the C75xx performance notices count as warnings, whatever ptxas calls them
  std::uint32_t line = 0;               ///< of the PTX text, from 1; 0 when ptxas names none
  std::string code;                     ///< "C7510" or empty
  std::string text;
  SourceLocation where;  ///< the author's line, through the LineMap
};

/// What `ptxas -v` tells of one function.
struct FunctionReport {
  std::string name;
  std::string target;  ///< empty for a function that is no kernel
  std::uint32_t registers = 0;
  std::uint32_t barriers = 0;
  std::uint32_t stack_frame_bytes = 0;
  std::uint32_t spill_store_bytes = 0;
  std::uint32_t spill_load_bytes = 0;
  std::uint32_t smem_bytes = 0;  ///< static shared memory
};

struct Report {
  std::vector<PtxasMessage> messages;  ///< errors, warnings and performance notices, in ptxas's order
  std::vector<FunctionReport> functions;
};

/// Reads a log line by line; lines of no known shape are passed over.
Report parse_ptxas_log(std::string_view log, const LineMap& where = {});

/// The compile_error diagnostic for a log that refuses `ptx_text`. `compiler` is how the message names it: "ptxas".
/// Its place is that of the first error; the notes quote each error's PTX line.
Diagnostic compile_error(std::string_view compiler, std::string_view log, std::string_view ptx_text, const LineMap& where);

/// True when ptxas reported at least one error.
bool has_error(const Report& report);
/// True when the log says that this compiler is too old for the text or the target: a newer one may do.
bool is_too_old(const Report& report);

/// What a log that made a cubin says that the kernel's author should know, as warnings: of kind setmaxnreg_ignored or
/// wgmma_pipeline for what ptxas drops or serialises, register_spill, compiler_warning for the rest. Where ptxas names no line,
/// the place is that of the first instruction of the sort. Other kernels' spills are left out.
Diagnostics performance_warnings(const Report& report, std::string_view kernel, std::string_view ptx_text, const LineMap& where);

}  // namespace ptx::cuda
