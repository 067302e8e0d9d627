#include "ptx/vgpu/async/reduction.hpp"

#include <atomic>
#include <cstring>

#include "ptx/num/num.hpp"

namespace ptx::vgpu::async {
namespace {

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
      if constexpr (sizeof(Bits) == 2) return num::sum_half(memory, value, r.type == Type::bf16);
      if constexpr (sizeof(Bits) == 4)
        if (r.type == Type::f32) return num::sum_f32(memory, value, r.flushes);
      if constexpr (sizeof(Bits) == 8)
        if (r.type == Type::f64) return num::sum_f64(memory, value);
      return static_cast<Bits>(memory + value);
    case ReductionOp::min:
    case ReductionOp::max:
      if constexpr (sizeof(Bits) == 2) return num::order_half(memory, value, r.type == Type::bf16, r.op == ReductionOp::max);
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
