// A fault as its reader sees it.
#pragma once

#include "ptx/vgpu/machine/machine.hpp"

namespace ptx::vgpu {

/// The diagnostic of a fault: the instruction and what it did, the author's line, the PTX line, the thread, and how to run it
/// again.
Diagnostic report(const Warp& warp, const Fault& fault);
/// The same of the fault that the warp has recorded.
Diagnostic report(const Warp& warp);

/// "x[3, 17]", "tile + 0x10": what the bytes at an address of shared or global memory (the offset in the block's shared memory,
/// or the address) are to their author; "" where nothing more is known than the region.
std::string element_of_shared(const Code& code, std::uint64_t offset);
std::string element_of(const MemoryRegion& region, std::uint64_t address);
/// The same of a shared address; "0x400" where nothing is known.
std::string name_of_shared(const Code& code, std::uint64_t address);

/// Where the author wrote an item: what the text's `.loc` says first, or where the item itself is from.
SourceLocation authors_place(const Code& code, std::uint32_t item);

/// Where the text that was read says an item is from (`.loc`), as notes.
void add_debug_places(const Code& code, std::uint32_t item, Diagnostic& to);

}  // namespace ptx::vgpu
