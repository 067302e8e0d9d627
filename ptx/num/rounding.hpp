// Rounding modes, subnormals, NaN and saturation as PTX has them (manual: "Floating Point Instructions", "Rounding Modifiers").
#pragma once

#include <bit>
#include <cfenv>
#include <cstdint>

namespace ptx::num {

enum class Rounding : std::uint8_t { rn, rz, rm, rp };  ///< to nearest even, to zero, to minus infinity, to plus infinity

/// The host's floating-point arithmetic rounds this way while the scope lasts. The compiler keeps arithmetic inside only if its
/// operands are loaded from memory and its results stored to memory there, as handlers do.
class RoundingScope {
 public:
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

#if defined(__x86_64__)
  // The SSE unit's control register alone: std::fesetround also sets the x87's, which takes four times as long.
  // With `flushes`, subnormal operands and results become zeros of their signs (.ftz): a result is one when, rounded as if there
  // were smaller exponents, it lies below the normal numbers. Library functions may fail meanwhile.
  explicit RoundingScope(Rounding rounding, bool flushes = false) {
    constexpr std::uint32_t modes[] = {0x0000, 0x6000, 0x2000, 0x4000};
    asm volatile("stmxcsr %0" : "=m"(before_));
    const std::uint32_t now = (before_ & ~0x6000u) | modes[static_cast<std::size_t>(rounding)] | (flushes ? 0x8040u : 0u);
    asm volatile("ldmxcsr %0" : : "m"(now) : "memory");
  }
  ~RoundingScope() { asm volatile("ldmxcsr %0" : : "m"(before_) : "memory"); }

 private:
  std::uint32_t before_ = 0;
#else
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[static_cast<std::size_t>(rounding)]);
  }
  ~RoundingScope() { std::fesetround(before_); }

 private:
  int before_;
#endif
};

inline constexpr std::uint32_t nan32 = 0x7FFFFFFF;             ///< every f32 NaN that arithmetic makes
inline constexpr std::uint64_t nan64 = 0xFFF8'0000'0000'0000;  ///< the f64 NaN that an invalid operation makes
inline constexpr std::uint32_t nan16 = 0x7FFF;                 ///< of f16 and bf16

constexpr std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
constexpr std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }

/// A subnormal becomes a zero of its sign (.ftz).
[[gnu::always_inline]] constexpr float flush(float x) {
  const std::uint32_t b = bits_of(x);
  return std::bit_cast<float>((b & 0x7F800000u) == 0 ? b & 0x80000000u : b);
}
/// What .ftz makes of a result that is the smallest normal number in f32: it is flushed when the exact value, rounded to 24 bits
/// as if there were smaller exponents, lies below (facts.md: H200). `value` is the exact value, or that value cut (rn) or rounded
/// in `mode` to a double.
constexpr bool flushes_at_edge(double value, Rounding mode) {
  const double size = value < 0 ? -value : value;
  return mode == Rounding::rn ? size < 0x1p-126 - 0x1p-151 : size <= 0x1p-126 - 0x1p-150;
}
/// Any NaN becomes the canonical one.
[[gnu::always_inline]] constexpr float canonical(float x) { return x != x ? std::bit_cast<float>(nan32) : x; }
/// Clamped to [0, 1]; NaN becomes +0 (.sat).
[[gnu::always_inline]] constexpr float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
[[gnu::always_inline]] constexpr double saturate(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

}  // namespace ptx::num
