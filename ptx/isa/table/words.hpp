// What modifiers mean, where somebody asks (word.hpp).
#pragma once

#include <string_view>
#include <utility>

#include "ptx/isa/word.hpp"

namespace ptx::isa::table {

inline constexpr std::pair<std::string_view, Word> words[] = {
    {"rz", Word::to_zero},
    {"rzi", Word::to_zero},
    {"rm", Word::down},
    {"rmi", Word::down},
    {"rp", Word::up},
    {"rpi", Word::up},

    {"hi", Word::high_half},
    {"cc", Word::carry_out},
    {"aligned", Word::aligned},

    {"relaxed", Word::relaxed},
    {"acquire", Word::acquire},
    {"release", Word::release},
    {"fence::before_thread_sync", Word::release},
    {"fence::after_thread_sync", Word::acquire},
    {"acq_rel", Word::acquire_release},
    {"sc", Word::acquire_release},

    {"force_unnormalized_coords", Word::of_sampler},
    {"filter_mode", Word::of_texture_sampler},
    {"addr_mode_0", Word::of_texture_sampler},
    {"addr_mode_1", Word::of_texture_sampler},
    {"addr_mode_2", Word::of_texture_sampler},
};

inline constexpr std::pair<std::string_view, Scope> scopes[] = {
    {"cta", Scope::cta}, {"cluster", Scope::cluster}, {"gpu", Scope::gpu}, {"gl", Scope::gpu}, {"sys", Scope::system},
};

// In the order of their enumerators.
inline constexpr std::string_view proxy_names[] = {"generic", "alias", "async", "tensormap", "texture", "fabric"};
inline constexpr std::string_view scope_names[] = {"", "thread", "warp", "warpgroup", "CTA", "cluster", "GPU", "system"};

}  // namespace ptx::isa::table
