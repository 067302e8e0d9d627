// What kind of instruction a form is, for those who would otherwise ask what it is called. table/traits.hpp says which forms have
// a trait; how ptxas treats a form is a quirk (ptxas/quirk.hpp). Both are bits of a Form.
#pragma once

#include <cstdint>

namespace ptx::isa {

/// A set of enumerators, a bit each. The last enumerator, `last`, only counts the others.
template <class Enum>
class Flags {
 public:
  static_assert(static_cast<unsigned>(Enum::last) <= 64);

  constexpr Flags() = default;
  constexpr Flags(Enum one) : bits_(std::uint64_t{1} << static_cast<unsigned>(one)) {}  // NOLINT(google-explicit-constructor)
  constexpr explicit Flags(std::uint64_t bits) : bits_(bits) {}
  [[nodiscard]] constexpr bool has(Enum one) const { return (bits_ & Flags(one).bits_) != 0; }
  [[nodiscard]] constexpr bool has_any(Flags others) const { return (bits_ & others.bits_) != 0; }
  [[nodiscard]] constexpr std::uint64_t bits() const { return bits_; }
  constexpr Flags& operator|=(Flags other) {
    bits_ |= other.bits_;
    return *this;
  }
  friend constexpr Flags operator|(Flags a, Flags b) { return Flags(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Flags, Flags) = default;

 private:
  std::uint64_t bits_ = 0;
};

/// What the manual says an instruction is.
enum class Trait : std::uint8_t {
  // the flow of control
  branch,       ///< goes to its label
  branch_list,  ///< goes to one of a list of labels
  call,
  return_,

  // memory
  load,
  load_uniform,    ///< from memory that nobody writes meanwhile, the same address in all threads
  load_read_only,  ///< from memory that nobody writes while the kernel runs, by a cache that sees no stores
  store,
  atomic,
  reduction,
  cache_line,    ///< says something of the memory around an address, and changes none
  store_to_all,  ///< to the same place in the memory of several devices

  // addresses
  generic_address,  ///< makes a generic address of one in a space, or the reverse
  shared_address,   ///< asks something of an address in shared memory
  texture_handle,   ///< its address is a texture's or a sampler's handle
  surface_handle,   ///< its address is a surface's handle

  // values: what is known of a result when something is known of the operands
  move,
  convert,
  add,
  subtract,
  multiply,
  multiply_add,
  shift_left,
  bitwise_and,
  bitwise_xor,
  select,
  carry_in,       ///< reads the flag CC.CF
  carry_out,      ///< may write it: isa::writes_carry
  looks_at_bits,  ///< the bits of an operand decide: an address is looked at, not handed on
  bitwise,        ///< each bit of the result is made of the operands' bits at its place
  moves_bits,     ///< the result's bits are bits of the first operand, elsewhere; the others say where. Or they are known
  merges_bits,    ///< the same of the first two operands

  // tensor cores
  tcgen05,
  tcgen05_mma,

  // threads
  fence_of_mbarriers,  ///< releases the initialisations of mbarriers alone
  set_registers,       ///< changes how many registers a thread has
  last
};
using Traits = Flags<Trait>;
constexpr Traits operator|(Trait a, Trait b) { return Traits(a) | Traits(b); }

}  // namespace ptx::isa
