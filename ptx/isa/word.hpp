// What a modifier means, for those who would otherwise ask how it is spelled. table/words.hpp says it.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/isa/effect.hpp"

namespace ptx::isa {

enum class Word : std::uint8_t {
  other,

  // rounding that is not to the nearest
  to_zero,
  down,
  up,

  high_half,  ///< of a product
  carry_out,  ///< the flag CC.CF is written

  aligned,  ///< all threads of the warp come together

  // how an access, a fence or an operation on a barrier orders what stands around it
  relaxed,
  acquire,
  release,
  acquire_release,

  // questions about a texture
  of_sampler,          ///< asked of a sampler
  of_texture_sampler,  ///< asked of a sampler where samplers stand for themselves, otherwise of the texture that has one
};

/// What a word chosen at a slot means, without its dot.
Word meaning_of(std::string_view word);
/// The scope that a word names: "cta", "gl"; none for another word.
Scope scope_of(std::string_view word);

/// As a sentence says them: "async", "cluster".
std::string_view name(Proxy proxy);
std::string_view name(Scope scope);

}  // namespace ptx::isa
