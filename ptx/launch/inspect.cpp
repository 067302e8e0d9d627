#include "ptx/launch/inspect.hpp"

namespace ptx::launch {

Expected<cuda::Cubin> assemble(const CompilerText& text) {
  auto target = cuda::target_of(text.text);
  if (!target) return Unexpected{std::move(target).error()};
  return cuda::assemble(text.text, to_string(*target), {.roots = cuda::tool_roots(), .where = text.where});
}

Expected<std::string> sass(const CompilerText& text) {
  auto cubin = assemble(text);
  if (!cubin) return Unexpected{std::move(cubin).error()};
  return cuda::disassemble(cubin->bytes, cuda::tool_roots());
}

Expected<Resources> resources(const CompilerText& text, std::string_view entry) {
  auto cubin = assemble(text);
  if (!cubin) return Unexpected{std::move(cubin).error()};
  for (const cuda::FunctionReport& function : cubin->report.functions) {
    if (function.name != entry) continue;
    return Resources{.registers = function.registers,
                     .barriers = function.barriers,
                     .stack_frame = function.stack_frame_bytes,
                     .spill_stores = function.spill_store_bytes,
                     .spill_loads = function.spill_load_bytes,
                     .smem = function.smem_bytes};
  }
  return Unexpected{{.kind = Kind::unknown_kernel, .message = cat("ptxas says nothing of a kernel `", entry, '`')}};
}

}  // namespace ptx::launch
