// Which rows of the table have run in this process: what tools/check_rows.py holds the tests of the executor to. On when
// PTX_ROWS_RUN names a folder; at the end of the process its counts lie there, one line for each row that the executor runs.
#pragma once

#include <cstdint>

namespace ptx::vgpu::rows_run {

/// True when rows are noted: each instruction is then decoded with a step before it that notes its row.
bool noting();
/// The instruction with this place among isa::rows() runs.
void note(std::uint32_t row);

}  // namespace ptx::vgpu::rows_run
