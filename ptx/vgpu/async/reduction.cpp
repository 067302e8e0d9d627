#include "ptx/vgpu/async/reduction.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "ptx/num/num.hpp"

namespace ptx::vgpu::async {
namespace {

// ---- floating point, as docs/facts.md says: an H200's bits

std::uint32_t add_f32(std::uint32_t memory, std::uint32_t value, bool flushes) {
  auto a = std::bit_cast<float>(memory), b = std::bit_cast<float>(value);
  if (flushes) a = num::flush(a), b = num::flush(b);
  const float sum = num::canonical(a + b);
  return std::bit_cast<std::uint32_t>(flushes ? num::flush(sum) : sum);  // a subnormal sum is exact
}

// A NaN is handed on as it is, that of the copy before that in memory.
std::uint64_t add_f64(std::uint64_t memory, std::uint64_t value) {
  const auto a = std::bit_cast<double>(memory), b = std::bit_cast<double>(value);
  if (b != b) return value;
  if (a != a) return memory;
  const double sum = a + b;
  return sum != sum ? num::nan64 : std::bit_cast<std::uint64_t>(sum);
}

// The sum in f32, rounded once more, is the sum rounded once: f32 has more than twice the digits and two.
std::uint16_t add_half(std::uint16_t memory, std::uint16_t value, bool bf16) {
  const float a = bf16 ? num::from_bf16(memory) : num::from_f16(memory);
  const float b = bf16 ? num::from_bf16(value) : num::from_f16(value);
  return static_cast<std::uint16_t>(num::narrowed(a + b, bf16 ? num::bf16_format : num::f16_format, {}));
}

// -0 is less than +0; a NaN gives way to a number.
std::uint16_t order_half(std::uint16_t memory, std::uint16_t value, bool bf16, bool greater) {
  const std::uint64_t infinity = (bf16 ? num::bf16_format : num::f16_format).infinity();
  const bool memory_nan = (memory & 0x7FFFu) > infinity, value_nan = (value & 0x7FFFu) > infinity;
  if (memory_nan && value_nan) return num::nan16;
  if (memory_nan || value_nan) return memory_nan ? value : memory;
  const auto rank = [](std::uint16_t x) { return (x & 0x8000u) != 0 ? 0x7FFF - static_cast<int>(x) : static_cast<int>(x) + 1; };
  return (rank(memory) < rank(value)) == greater ? value : memory;
}

// ---- one element

template <class Bits>
Bits ordered(Bits memory, Bits value, bool is_signed, bool greater) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  const Bits flip = is_signed ? sign : Bits{0};
  return ((memory ^ flip) < (value ^ flip)) == greater ? value : memory;
}

template <class Bits>
Bits combine(const Reduction& r, Bits memory, Bits value) {
  switch (r.op) {
    case ReductionOp::add:
      if constexpr (sizeof(Bits) == 2) return add_half(memory, value, r.type == Type::bf16);
      if constexpr (sizeof(Bits) == 4)
        if (r.type == Type::f32) return add_f32(memory, value, r.flushes);
      if constexpr (sizeof(Bits) == 8)
        if (r.type == Type::f64) return add_f64(memory, value);
      return static_cast<Bits>(memory + value);
    case ReductionOp::min:
    case ReductionOp::max:
      if constexpr (sizeof(Bits) == 2) return order_half(memory, value, r.type == Type::bf16, r.op == ReductionOp::max);
      return ordered<Bits>(memory, value, isa::kind(r.type) == isa::TypeKind::sint, r.op == ReductionOp::max);
    case ReductionOp::inc:
      return memory >= value ? Bits{0} : static_cast<Bits>(memory + 1);
    case ReductionOp::dec:
      return memory == 0 || memory > value ? value : static_cast<Bits>(memory - 1);
    case ReductionOp::bit_and:
      return memory & value;
    case ReductionOp::bit_or:
      return memory | value;
    case ReductionOp::bit_xor:
      return memory ^ value;
  }
  return memory;
}

template <class Bits>
void reduce_all(const Reduction& r, std::byte* memory, const std::byte* values, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at + sizeof(Bits) <= bytes; at += sizeof(Bits)) {
    Bits value;
    std::memcpy(&value, values + at, sizeof value);
    const std::atomic_ref<Bits> place(*reinterpret_cast<Bits*>(memory + at));
    Bits was = place.load(std::memory_order_relaxed);
    while (!place.compare_exchange_weak(was, combine<Bits>(r, was, value), std::memory_order_relaxed)) {
    }
  }
}

}  // namespace

bool exists(const Reduction& r) {
  const isa::TypeKind kind = isa::kind(r.type);
  const int bits = isa::bits(r.type);
  const bool integer = (kind == isa::TypeKind::sint || kind == isa::TypeKind::uint || kind == isa::TypeKind::bits) && bits >= 32;
  const bool s64 = r.type == Type::s64;  // has min and max alone: others are illegal instructions of a tensor map's copy
  const bool half = r.type == Type::f16 || r.type == Type::bf16;
  switch (r.op) {
    case ReductionOp::add:
      return (integer && !s64) || half || r.type == Type::f32 || r.type == Type::f64;
    case ReductionOp::min:
    case ReductionOp::max:
      return integer || half;
    case ReductionOp::inc:
    case ReductionOp::dec:
      return r.type == Type::u32;
    default:
      return integer && !s64;
  }
}

void reduce(const Reduction& r, std::byte* memory, const std::byte* values, std::uint64_t bytes) {
  switch (isa::bits(r.type)) {
    case 16:
      return reduce_all<std::uint16_t>(r, memory, values, bytes);
    case 32:
      return reduce_all<std::uint32_t>(r, memory, values, bytes);
    default:
      return reduce_all<std::uint64_t>(r, memory, values, bytes);
  }
}

}  // namespace ptx::vgpu::async
