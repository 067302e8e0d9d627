// Which instructions have a trait (trait.hpp), by their leading words; a new row of theirs has it by itself.
#pragma once

#include "ptx/isa/given.hpp"

namespace ptx::isa::table {

inline constexpr Given<Trait> traits[] = {
    {"bra", Trait::branch},
    {"brx", Trait::branch_list},
    {"call", Trait::call},
    {"ret", Trait::return_},

    {"ld", Trait::load},
    {"ldu", Trait::load_uniform | Trait::load_read_only},
    {"ld", Trait::load_read_only, "nc"},
    {"st", Trait::store},
    {"atom", Trait::atomic},
    {"red", Trait::reduction},
    {"prefetch", Trait::cache_line},
    {"prefetchu", Trait::cache_line},
    {"discard", Trait::cache_line},
    {"applypriority", Trait::cache_line},
    {"multimem", Trait::store_to_all, "st"},

    {"cvta", Trait::generic_address},
    {"mapa", Trait::shared_address},
    {"getctarank", Trait::shared_address},
    {"txq", Trait::texture_handle},
    {"suq", Trait::surface_handle},

    {"mov", Trait::move | Trait::moves_bits},
    {"cvt", Trait::convert | Trait::looks_at_bits},
    {"add", Trait::add},
    {"sub", Trait::subtract},
    {"mul", Trait::multiply},
    {"mad", Trait::multiply_add},
    {"add", Trait::carry_out, "cc"},
    {"sub", Trait::carry_out, "cc"},
    {"mad", Trait::carry_out, "cc"},
    {"addc", Trait::carry_in | Trait::carry_out},
    {"subc", Trait::carry_in | Trait::carry_out},
    {"madc", Trait::carry_in | Trait::carry_out},
    {"shl", Trait::shift_left | Trait::moves_bits},
    {"shr", Trait::looks_at_bits | Trait::moves_bits},
    {"and", Trait::bitwise_and | Trait::bitwise | Trait::looks_at_bits},
    {"or", Trait::bitwise | Trait::looks_at_bits},
    {"xor", Trait::bitwise_xor | Trait::bitwise | Trait::looks_at_bits},
    {"not", Trait::bitwise | Trait::looks_at_bits},
    {"rem", Trait::looks_at_bits},
    {"div", Trait::looks_at_bits},
    {"bfe", Trait::looks_at_bits | Trait::moves_bits},
    {"lop3", Trait::bitwise | Trait::looks_at_bits},
    {"prmt", Trait::looks_at_bits | Trait::merges_bits},
    {"bfi", Trait::merges_bits},
    {"shf", Trait::merges_bits},
    {"brev", Trait::moves_bits},
    {"szext", Trait::moves_bits},
    {"selp", Trait::select},

    {"tcgen05", Trait::tcgen05},
    {"tcgen05.mma", Trait::tcgen05_mma},

    {"fence", Trait::fence_of_mbarriers, "mbarrier_init"},
    {"setmaxnreg", Trait::set_registers},
};

}  // namespace ptx::isa::table
