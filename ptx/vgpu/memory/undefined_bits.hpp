// Which bits of a value are undefined, in registers of a traced warp (undefined.hpp) and as the marks of memory. A register's
// lane is defined, undefined as a whole, which costs a bit of a mask, or undefined in part: only then its bits are kept.
#pragma once

#include <span>

#include "ptx/vgpu/decode/code.hpp"

namespace ptx::vgpu {

/// The low `count` bits, up to 128.
constexpr RegisterBits low_bits(std::uint32_t count) {
  const auto ones = [](std::uint32_t n) { return n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; };
  return {ones(count), count <= 64 ? 0 : ones(count - 64)};
}
constexpr std::uint8_t byte_of(RegisterBits bits, std::size_t i) {
  return static_cast<std::uint8_t>((i < 8 ? bits.low : bits.high) >> (8 * (i % 8)));
}
/// The bits of `byte` at the place of byte i.
constexpr RegisterBits bits_at(std::uint8_t byte, std::size_t i) {
  const std::uint64_t moved = std::uint64_t{byte} << (8 * (i % 8));
  return i < 8 ? RegisterBits{moved, 0} : RegisterBits{0, moved};
}

// ---- marks of memory

/// The bits of a byte that its mark says are defined.
constexpr std::uint8_t defined_bits(std::uint8_t mark) { return mark == undefined_mark || mark == gap_mark ? 0 : mark; }
/// The mark of a byte that was stored with these bits undefined. Two patterns are taken: of each the lowest bit counts as
/// undefined.
constexpr std::uint8_t mark_of(std::uint8_t undefined, bool gap) {
  const auto defined = static_cast<std::uint8_t>(~undefined);
  if (defined == 0) return gap ? gap_mark : undefined_mark;
  return defined == undefined_mark || defined == gap_mark ? static_cast<std::uint8_t>(defined & (defined - 1)) : defined;
}
/// What the marks of up to 16 bytes say.
constexpr RegisterBits undefined_bits_of(std::span<const std::uint8_t> marks) {
  RegisterBits bits;
  for (std::size_t i = 0; i < marks.size() && i < 16; ++i)
    bits = bits | bits_at(static_cast<std::uint8_t>(~defined_bits(marks[i])), i);
  return bits;
}

// ---- registers

/// Of a scalar register in one lane, those of the register's width.
RegisterBits undefined_bits(const Warp& warp, std::uint32_t scalar, int lane);
void set_undefined_bits(Warp& warp, std::uint32_t scalar, int lane, RegisterBits bits);

/// Sources of undefined values (Warp::undefined_source) are instructions, by their items, then registers, then the same
/// instructions where they have loaded the gap of a structure.
bool is_gap(const Code& code, std::uint32_t source);
std::uint32_t source_of_gap(const Code& code, std::uint32_t item);
/// The same source of a value that was computed: no gap any more.
std::uint32_t without_gap(const Code& code, std::uint32_t source);

/// Runs a step of Passes::bits on trial, with zeros and with ones for the bits of `data` that are undefined in lanes of the mask:
/// bits of the results that differ are undefined. Afterwards all registers hold what they held. `bitwise`: the operands' bits
/// meet at their places, so that one is tried with all of the others'.
std::vector<std::array<RegisterBits, lane_count>> try_bits(Warp& warp, const Step& step, Mask mask,
                                                           std::span<const std::uint32_t> data,
                                                           std::span<const std::uint32_t> results, bool bitwise);

}  // namespace ptx::vgpu
