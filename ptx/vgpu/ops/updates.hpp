// What atomics and reductions make of a value in memory: one element, bit for bit (facts.md: H200).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "ptx/num/num.hpp"
#include "ptx/vgpu/decode/decoding.hpp"

namespace ptx::vgpu {

enum class Update : std::uint8_t {
  and_,
  or_,
  xor_,
  exchange,
  compare,
  add,
  increment,
  decrement,
  least,
  greatest,
  least_signed,
  greatest_signed,
  add_float,
  // of halves, each of its own
  add_f16,
  least_f16,
  greatest_f16,
  add_bf16,
  least_bf16,
  greatest_bf16,
};

// ---- what memory holds afterwards

// In global memory subnormal operands and results are flushed; shared memory is a loop with add.f32 (facts.md: H200).
inline std::uint32_t add_floats(std::uint32_t memory, std::uint32_t b, bool in_shared) {
  return num::sum_f32(memory, b, !in_shared);
}

// In shared memory a NaN is made quiet, the one in memory first (facts.md: H200).
inline std::uint64_t add_floats(std::uint64_t memory, std::uint64_t b, bool in_shared) {
  constexpr std::uint64_t quiet = std::uint64_t{1} << 51;
  if (in_shared && num::f64_format.is_nan(memory)) return memory | quiet;
  if (in_shared && num::f64_format.is_nan(b)) return b | quiet;
  return num::sum_f64(memory, b);
}

inline std::uint16_t update_half(Update what, std::uint16_t memory, std::uint16_t b) {
  const bool bf16 = what >= Update::add_bf16;
  if (what == Update::add_f16 || what == Update::add_bf16) return num::sum_half(memory, b, bf16);
  return num::order_half(memory, b, bf16, what == Update::greatest_f16 || what == Update::greatest_bf16);
}

template <class T>
T updated(Update what, T memory, T b, T c, bool in_shared) {
  using Signed = std::make_signed_t<T>;
  switch (what) {
    case Update::and_:
      return static_cast<T>(memory & b);
    case Update::or_:
      return static_cast<T>(memory | b);
    case Update::xor_:
      return static_cast<T>(memory ^ b);
    case Update::exchange:
      return b;
    case Update::compare:
      return memory == b ? c : memory;
    case Update::add:
      return static_cast<T>(memory + b);
    case Update::increment:
      return memory >= b ? T{0} : static_cast<T>(memory + 1);
    case Update::decrement:
      return memory == 0 || memory > b ? b : static_cast<T>(memory - 1);
    case Update::least:
      return b < memory ? b : memory;
    case Update::greatest:
      return b > memory ? b : memory;
    case Update::least_signed:
      return static_cast<Signed>(b) < static_cast<Signed>(memory) ? b : memory;
    case Update::greatest_signed:
      return static_cast<Signed>(b) > static_cast<Signed>(memory) ? b : memory;
    case Update::add_float:
      if constexpr (sizeof(T) >= 4) return add_floats(memory, b, in_shared);
      return memory;
    default: {
      T result = 0;
      for (std::size_t shift = 0; shift < 8 * sizeof(T); shift += 16)
        result = static_cast<T>(
            result |
            static_cast<T>(update_half(what, static_cast<std::uint16_t>(memory >> shift), static_cast<std::uint16_t>(b >> shift)))
                << shift);
      return result;
    }
  }
}

/// What an instruction's modifiers say; of one without a choice of them, to add.
Update update_of(const Decoding& in, Type type);

}  // namespace ptx::vgpu
