// A recording: what a program of nvcc had a device do, as a text that a test plays again. One line is one step:
//   module FILE                          loads the PTX of a file beside the recording
//   allocate BYTES NAME                  memory; addresses follow from the order
//   write NUMBER HEX                     all bytes of allocation NUMBER, as the host wrote them
//   variable FILE NAME HEX               the bytes of a module's variable
//   launch FILE ENTRY GRID BLOCK CLUSTER SMEM COOPERATIVE HEX   sizes as 4,2,1; 0 or 1; the parameter block
// Bytes of HEX that repeat are written as `HH*COUNT,`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ptx/base/base.hpp"

namespace ptx::producers {

using Sizes3 = std::array<std::uint32_t, 3>;

struct LoadStep {
  std::string file;
};
struct AllocateStep {
  std::size_t bytes = 0;
  std::string name;
};
struct WriteStep {
  std::size_t allocation = 0;
  std::vector<std::byte> bytes;
};
struct VariableStep {
  std::string file, name;
  std::vector<std::byte> bytes;
};
struct LaunchStep {
  std::string file, entry;
  Sizes3 grid{1, 1, 1}, block{1, 1, 1}, cluster{1, 1, 1};
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  std::vector<std::byte> params;
};
using Step = std::variant<LoadStep, AllocateStep, WriteStep, VariableStep, LaunchStep>;

std::string to_line(const Step& step);
/// Kind syntax: a line that is none.
Expected<std::vector<Step>> read_recording(std::string_view text);

}  // namespace ptx::producers
