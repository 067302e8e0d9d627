// What `debug` shows of a run that stands still: registers, shared memory, warps, barriers. Text, or what was asked for wrongly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/base/base.hpp"
#include "ptx/vgpu/vgpu.hpp"

namespace ptx::tool {

using Words = std::vector<std::string>;  // of a command, its name the first

/// "12", "0xc".
std::optional<std::uint64_t> number_of(std::string_view text);
std::string lanes_of(std::uint32_t lanes);                  ///< "lanes 0-15"
std::string triple(const std::array<std::uint32_t, 3>& v);  ///< "(0, 0, 0)"
/// An instruction, of a text that was read with its line.
std::string spelled(const std::string& instruction, std::uint32_t line);

Expected<std::string> shown_warps(vgpu::Session& session);
/// Those that `words` name behind the command, or all.
Expected<std::string> shown_registers(vgpu::Session& session, const Words& words);
/// "shared tile+0x10 bf16[8,64] 128B"; without more the block's variables.
Expected<std::string> shown_shared(vgpu::Session& session, const Words& words);
std::string shown_barriers(vgpu::Session& session);

}  // namespace ptx::tool
