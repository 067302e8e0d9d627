#include "ptx/vgpu/memory/undefined_bits.hpp"

#include <algorithm>
#include <cstring>

namespace ptx::vgpu {
namespace {

std::uint32_t bytes_of_slot(const ScalarSlot& slot) {
  return slot.bits == 1 ? sizeof(Mask) : slot.bits <= 32 ? 128 : slot.bits == 64 ? 256 : 512;
}

RegisterBits read_lane_bits(const Warp& warp, const ScalarSlot& slot, std::size_t l) {
  if (slot.bits == 1) return {warp.pred(slot.offset) >> l & 1u, 0};
  if (slot.bits <= 32) return {warp.slot<std::uint32_t>(slot.offset)[l], 0};
  const auto* words = warp.slot<std::uint64_t>(slot.offset);
  return {words[l], slot.bits == 128 ? words[lane_count + l] : 0};
}

void write_lane_bits(Warp& warp, const ScalarSlot& slot, std::size_t l, RegisterBits value) {
  if (slot.bits == 1) {
    Mask& p = warp.pred(slot.offset);
    p = (p & ~(Mask{1} << l)) | static_cast<Mask>(value.low & 1) << l;
  } else if (slot.bits <= 32) {
    warp.slot<std::uint32_t>(slot.offset)[l] = static_cast<std::uint32_t>(value.low);
  } else {
    auto* words = warp.slot<std::uint64_t>(slot.offset);
    words[l] = value.low;
    if (slot.bits == 128) words[lane_count + l] = value.high;
  }
}

// The registers that a trial changes, as they were.
class KeptRegisters {
 public:
  KeptRegisters(Warp& warp, std::span<const std::uint32_t> scalars) : warp_(warp) {
    for (const std::uint32_t scalar : scalars) {
      if (scalar == no_scalar) continue;
      const ScalarSlot& slot = warp.cta->launch->code.scalar_slots[scalar];
      if (slot.offset == no_slot) continue;
      const std::byte* const from = warp.slot<std::byte>(slot.offset);
      slots_.push_back(slot);
      bytes_.insert(bytes_.end(), from, from + bytes_of_slot(slot));
    }
  }
  void put_back() {
    const std::byte* from = bytes_.data();
    for (const ScalarSlot& slot : slots_) {
      std::memcpy(warp_.slot<std::byte>(slot.offset), from, bytes_of_slot(slot));
      from += bytes_of_slot(slot);
    }
  }

 private:
  Warp& warp_;
  std::vector<ScalarSlot> slots_;
  std::vector<std::byte> bytes_;
};

// Every bit of the register that is undefined in lanes of the mask.
void fill_undefined(Warp& warp, Mask mask, std::uint32_t scalar, bool ones) {
  const ScalarSlot& slot = warp.cta->launch->code.scalar_slots[scalar];
  if (slot.offset == no_slot) return;
  for (Mask left = warp.undefined[scalar] & mask; left != 0; left &= left - 1) {
    const int lane = lowest_lane(left);
    const auto l = static_cast<std::size_t>(lane);
    const RegisterBits unknown = undefined_bits(warp, scalar, lane);
    write_lane_bits(warp, slot, l, (read_lane_bits(warp, slot, l) & ~unknown) | (ones ? unknown : RegisterBits{}));
  }
}

}  // namespace

RegisterBits undefined_bits(const Warp& warp, std::uint32_t scalar, int lane) {
  if (!has_lane(warp.undefined[scalar], lane)) return {};
  if (has_lane(warp.partly[scalar], lane)) return warp.undefined_bits.at(scalar)[static_cast<std::size_t>(lane)];
  return low_bits(warp.cta->launch->code.scalar_slots[scalar].bits);
}

void set_undefined_bits(Warp& warp, std::uint32_t scalar, int lane, RegisterBits bits) {
  const RegisterBits all = low_bits(warp.cta->launch->code.scalar_slots[scalar].bits);
  bits = bits & all;
  const Mask bit = Mask{1} << lane;
  warp.undefined[scalar] = (warp.undefined[scalar] & ~bit) | (bits.any() ? bit : 0);
  warp.partly[scalar] &= ~bit;
  if (!bits.any() || bits == all) return;
  warp.partly[scalar] |= bit;
  warp.undefined_bits[scalar][static_cast<std::size_t>(lane)] = bits;
}

bool is_gap(const Code& code, std::uint32_t source) { return source >= code.function->body.size() + code.scalar_count(); }

std::uint32_t source_of_gap(const Code& code, std::uint32_t item) {
  return static_cast<std::uint32_t>(code.function->body.size()) + code.scalar_count() + item;
}

std::uint32_t without_gap(const Code& code, std::uint32_t source) {
  return is_gap(code, source) ? source - source_of_gap(code, 0) : source;
}

std::vector<std::array<RegisterBits, lane_count>> try_bits(Warp& warp, const Step& step, Mask mask,
                                                           std::span<const std::uint32_t> data,
                                                           std::span<const std::uint32_t> results, bool bitwise) {
  std::vector<std::uint32_t> unknown, changed(results.begin(), results.end());
  for (const std::uint32_t scalar : data) {
    if (scalar == no_scalar || (warp.undefined[scalar] & mask) == 0) continue;
    if (std::find(unknown.begin(), unknown.end(), scalar) == unknown.end()) unknown.push_back(scalar);
  }
  changed.insert(changed.end(), unknown.begin(), unknown.end());
  KeptRegisters kept(warp, changed);
  std::vector<std::array<RegisterBits, lane_count>> differ(results.size()), first(results.size());
  const std::uint32_t trials = bitwise ? 1u << unknown.size() : 2;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    for (std::size_t i = 0; i < unknown.size(); ++i)
      fill_undefined(warp, mask, unknown[i], bitwise ? (trial >> i & 1) != 0 : trial != 0);
    step.run(warp, step, mask);  // moves and logic end in no other way than by going on
    for (std::size_t r = 0; r < results.size(); ++r) {
      if (results[r] == no_scalar) continue;
      const ScalarSlot& slot = warp.cta->launch->code.scalar_slots[results[r]];
      if (slot.offset == no_slot) continue;
      for (std::size_t l = 0; l < lane_count; ++l) {
        const RegisterBits result = read_lane_bits(warp, slot, l);
        if (trial == 0)
          first[r][l] = result;
        else if (has_lane(mask, static_cast<int>(l)))
          differ[r][l] = differ[r][l] | (result ^ first[r][l]);
      }
    }
    kept.put_back();
  }
  return differ;
}

}  // namespace ptx::vgpu
