// The layout of a warp's register file, made while decoding: registers, constants and helper slots, each at a fixed offset.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// Bytes of a slot that holds values of this type in every lane; of a predicate those of a mask.
std::uint32_t slot_bytes(Type type);

class RegisterFile {
 public:
  RegisterFile();
  /// A slot for a register of this type: 4 bytes for a predicate, else 128, 256 or 512.
  std::uint32_t allocate(Type type);
  /// A slot that holds one value in every lane; equal values share it.
  std::uint32_t constant32(std::uint32_t value);
  std::uint32_t constant64(std::uint64_t value);
  /// A slot that begins with that value in every lane, and changes.
  std::uint32_t variable64(std::uint64_t value);
  /// A slot with a value for each lane.
  std::uint32_t lane_constant(const std::array<std::uint32_t, lane_count>& values);
  /// The file as a warp finds it.
  [[nodiscard]] std::vector<RegisterLine> image() const;

 private:
  std::uint32_t take(std::uint32_t bytes);
  void put(std::uint32_t offset, const void* from, std::size_t bytes);

  std::vector<RegisterLine> lines_;
  std::uint32_t end_ = 0;                    ///< of the whole lines in use
  std::uint32_t small_ = 0, small_end_ = 0;  ///< a line shared by predicates
  std::map<std::uint32_t, std::uint32_t> constants32_;
  std::map<std::uint64_t, std::uint32_t> constants64_;
};

}  // namespace ptx::vgpu
