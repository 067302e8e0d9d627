#include "ptx/vgpu/decode/register_file.hpp"

#include <cassert>
#include <cstring>
#include <new>

namespace ptx::vgpu {
namespace {

constexpr std::uint32_t max_register_bytes = 1u << 31;

}  // namespace

std::uint32_t slot_bytes(Type type) {
  if (type == Type::pred) return sizeof(Mask);
  const int bits = isa::bits(isa::register_type(type));
  return bits <= 32 ? 128 : bits == 64 ? 256 : 512;
}

RegisterFile::RegisterFile() {
  const Mask always = all_lanes;
  const std::uint32_t first = take(64);
  put(first, &always, sizeof always);
  [[maybe_unused]] const std::uint32_t discard = take(256), zero = take(256);
  assert(first == always_offset && discard == discard_offset && zero == zero_offset);
}

std::uint32_t RegisterFile::take(std::uint32_t bytes) {
  const std::uint32_t offset = end_;
  const std::uint32_t whole = (bytes + 63) / 64 * 64;
  if (end_ > max_register_bytes - whole) throw std::bad_alloc();  // offsets have 32 bits
  end_ += whole;
  lines_.resize(end_ / 64);
  return offset;
}

void RegisterFile::put(std::uint32_t offset, const void* from, std::size_t bytes) {
  std::memcpy(reinterpret_cast<std::byte*>(lines_.data()) + offset, from, bytes);
}

std::uint32_t RegisterFile::allocate(Type type) {
  if (type == Type::pred) {
    if (small_ == small_end_) {
      small_ = take(64);
      small_end_ = small_ + 64;
    }
    const std::uint32_t offset = small_;
    small_ += sizeof(Mask);
    return offset;
  }
  return take(slot_bytes(type));
}

std::uint32_t RegisterFile::constant32(std::uint32_t value) {
  const auto [it, is_new] = constants32_.try_emplace(value, 0);
  if (is_new) {
    std::array<std::uint32_t, lane_count> lanes;
    lanes.fill(value);
    it->second = lane_constant(lanes);
  }
  return it->second;
}

std::uint32_t RegisterFile::constant64(std::uint64_t value) {
  const auto [it, is_new] = constants64_.try_emplace(value, 0);
  if (is_new) it->second = variable64(value);
  return it->second;
}

std::uint32_t RegisterFile::variable64(std::uint64_t value) {
  std::array<std::uint64_t, lane_count> lanes;
  lanes.fill(value);
  const std::uint32_t offset = take(sizeof lanes);
  put(offset, lanes.data(), sizeof lanes);
  return offset;
}

std::uint32_t RegisterFile::lane_constant(const std::array<std::uint32_t, lane_count>& values) {
  const std::uint32_t offset = take(sizeof values);
  put(offset, values.data(), sizeof values);
  return offset;
}

std::vector<RegisterLine> RegisterFile::image() const { return lines_; }

}  // namespace ptx::vgpu
