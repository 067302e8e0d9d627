// Which forms have a quirk, by their leading words.
#include "ptx/isa/given.hpp"

namespace ptx::isa {
namespace {

constexpr Given<Quirk> all_quirks[] = {
    {"redux", Quirk::judges_closely | Quirk::is_lowered},
    {"nanosleep", Quirk::judges_closely},
    {"cp", Quirk::judges_closely},
    {"bar", Quirk::judges_closely_if_read | Quirk::is_lowered},
    {"barrier", Quirk::judges_closely_if_read | Quirk::is_lowered},
    {"match", Quirk::is_lowered | Quirk::needs_a_result},
    {"setp", Quirk::needs_a_result},
    {"shfl", Quirk::is_lowered},
    {"sqrt", Quirk::is_lowered},
    {"vote", Quirk::is_lowered},
    {"div", Quirk::is_lowered_if_wide},
    {"rem", Quirk::is_lowered_if_wide},
    {"red", Quirk::is_lowered | Quirk::is_a_call_for_floats, "async", "completion"},
    {"st", Quirk::is_lowered, "async", "completion"},
    {"createpolicy", Quirk::no_names_with_offset},
    {"istypep", Quirk::no_names_with_offset},
    {"tcgen05", Quirk::no_names_with_offset},
    {"wgmma", Quirk::no_names_with_offset | Quirk::predicate_is_0_or_1},
    {"tld4", Quirk::no_function_names | Quirk::float_coordinates},
    {"mov", Quirk::gridid_in_short},
    {"cvt", Quirk::wide_floats_for_floats, "f32 f64"},
    {"vadd4", Quirk::is_made_of_dp4a, "add"},
    {"vsub4", Quirk::is_made_of_dp4a, "add"},

    {"atom", Quirk::no_numbers_for_halves | Quirk::sink_for_vector},
    {"red", Quirk::no_numbers_for_halves},
    {"multimem", Quirk::no_numbers_for_halves},
    {"multimem", Quirk::is_made_of_red, "red"},
    {"st", Quirk::no_float_for_byte},
    {"sust", Quirk::no_float_for_byte},
    {"tcgen05", Quirk::numbers_of_32_bits | Quirk::no_sinks | Quirk::no_narrow_address},
    {"tex", Quirk::no_sinks_for_halves},
    {"mma", Quirk::registers_agree | Quirk::one_register_is_bits},
    {"wmma", Quirk::registers_agree | Quirk::factor_of_one_type | Quirk::no_lone_sink},
    {"wmma", Quirk::no_sinks, "tf32 mma"},
    {"wgmma", Quirk::factor_called_halves, "bf16"},
    {"wgmma", Quirk::factor_called_halves, "tf32"},
    {"wmma", Quirk::no_doubles_for_halves, "store"},

    {"mov", Quirk::takes_elements},
    {"cvta", Quirk::takes_elements},
    {"mapa", Quirk::takes_elements},
    {"ld", Quirk::takes_elements, "", "async bulk"},
    {"ldu", Quirk::takes_elements, "", "async bulk"},
    {"st", Quirk::takes_elements, "", "async bulk"},
    {"prefetchu", Quirk::no_names_in_shared},
    {"mbarrier", Quirk::shared_names_only},
    {"fence", Quirk::any_tensor_map},
    {"st", Quirk::address_by_register, "bulk"},
    {"cp", Quirk::no_name_for_mask, "multicast", "tensor"},

    // It takes a module for a program of 32-bit addresses where the instruction reads or writes memory by itself.
    {"ld", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"ldu", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"st", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"atom", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"red", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"mbarrier", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"prefetch", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"prefetchu", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"discard", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"applypriority", Quirk::no_words_for_address, "", "async bulk tensormap"},
    {"multimem", Quirk::no_words_for_address, "", "async bulk tensormap"},
    // Of st.async and red.async the address of the data, not that of the mbarrier.
    {"st", Quirk::no_halves_for_first_address, "async"},
    {"st", Quirk::no_halves_for_first_address, "bulk"},
    {"red", Quirk::no_halves_for_first_address, "async"},
    {"wmma", Quirk::no_halves_for_address},
    {"createpolicy", Quirk::no_halves_for_address},
    {"tensormap", Quirk::no_halves_for_address, "", "cp_fenceproxy"},
    {"prefetch", Quirk::no_halves_for_address, "tensormap"},
    {"cp", Quirk::no_halves_for_address, "mbarrier arrive"},
    {"ldmatrix", Quirk::no_halves_for_generic_address},
    {"stmatrix", Quirk::no_halves_for_generic_address},
};

}  // namespace

std::span<const Given<Quirk>> given_quirks() { return all_quirks; }

}  // namespace ptx::isa
