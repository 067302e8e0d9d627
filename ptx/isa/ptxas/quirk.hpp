// How ptxas treats a form where it treats others otherwise: what rules.hpp and check hold operands to beyond the manual.
// quirks.cpp says which forms have a quirk. Seen with ptxas 13.0 (`ptx_oracle`).
#pragma once

#include "ptx/isa/trait.hpp"

namespace ptx::isa {

enum class Quirk : std::uint8_t {
  // what stands for a value
  judges_closely,          ///< operands of the instruction's own type as those of a fixed type
  judges_closely_if_read,  ///< those that it reads
  is_lowered,              ///< to a function or to other instructions, on some target at least: neither takes names
  is_lowered_if_wide,      ///< where its type has 64 bits or is a float
  is_a_call_for_floats,    ///< lowered to a call with integers
  no_names_with_offset,    ///< where a number stands
  no_function_names,
  predicate_is_0_or_1,     ///< and no other number
  gridid_in_short,         ///< %gridid is read in 16 and 32 bits
  wide_floats_for_floats,  ///< not while it flushes or clamps
  is_made_of_dp4a,         ///< where all types are unsigned
  needs_a_result,          ///< a sink for one of two results, not for both

  // vectors
  no_numbers_for_halves,
  no_float_for_byte,
  numbers_of_32_bits,    ///< among registers
  registers_agree,       ///< those of a matrix are of one sort
  one_register_is_bits,  ///< of a matrix that is one register wide
  factor_of_one_type,    ///< the registers of a tf32 factor
  factor_called_halves,  ///< whatever the floating-point factor in registers is
  no_lone_sink,          ///< for all of a matrix
  no_sinks,
  no_sinks_for_halves,
  sink_for_vector,  ///< one for all of it
  is_made_of_red,   ///< lowered to red, which takes no vector of one and no short address
  no_doubles_for_halves,

  // addresses
  takes_elements,      ///< g[1] for an address
  no_names_in_shared,  ///< for an address
  shared_names_only,   ///< for a generic address
  float_coordinates,   ///< numbers, whatever the type of the coordinates is
  any_tensor_map,      ///< overlooks where the tensor map is
  address_by_register,
  no_name_for_mask,       ///< of CTAs
  no_words_for_address,   ///< a 32-bit register for an address of 64 bits
  no_halves_for_address,  ///< a register of less than 32 bits
  no_halves_for_first_address,
  no_halves_for_generic_address,
  no_narrow_address,  ///< of tensor memory: ptxas extends none
  last
};
using Quirks = Flags<Quirk>;
constexpr Quirks operator|(Quirk a, Quirk b) { return Quirks(a) | Quirks(b); }

}  // namespace ptx::isa
