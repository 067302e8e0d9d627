// Places in memory as Python's helpers are given them.
#pragma once

#include <optional>

#include "ptx/write/place.hpp"
#include "python/binding/authoring/operands.hpp"

namespace ptx::python {

/// True for what names shared memory by itself: an allocation, a stage of one, an mbarrier, a barrier's slot, the name of one of
/// these.
bool is_shared_handle(nb::handle object);

/// What `.name` of such a handle is: the symbol, as a `str` that remembers the handle where that lies behind the symbol's start,
/// so that the text in place of the handle is the same address.
nb::object symbol_name(nb::handle handle, const std::string& symbol, std::int64_t byte_offset);

/// The place of such a handle, nothing for any other object. In a kernel whose shared memory is dynamic it writes the
/// instructions of write::shared_place. `operands` holds what the place views.
std::optional<write::Place> shared_handle_place(Trace& trace, Operands& operands, nb::handle object);

/// The place that an argument names: a register, an address of `ptx.addr`, a symbol's name, or a handle of shared memory as
/// above. `what` is the helper's name, for the error of anything else.
write::Place place_argument(Trace& trace, Operands& operands, nb::handle object, const char* what);

/// The same as a .u32 register that holds the address: see write::address_register.
write::Reg address_argument(Trace& trace, Operands& operands, nb::handle object, const char* what);

/// The allocation behind an allocation or a stage of one, for its layout; nullptr for any other object.
const SharedAlloc* allocation_of(nb::handle object);

}  // namespace ptx::python
