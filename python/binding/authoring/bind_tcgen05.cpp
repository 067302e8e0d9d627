// `ptx.tcgen05`.
#include "ptx/write/door/tcgen05_helpers.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {

void bind_tcgen05(nb::module_& m) {
  const nb::object tcgen05 = space(m, "tcgen05", "Tensor memory and the tensor cores of Blackwell (sm_100a).");
  helpers::bind_all<As::function>(tcgen05, write::declare::tcgen05_helpers);
  tcgen05.attr("BLACKWELL_MASKED_DESC_B128") = write::Tcgen05MaskedDescriptor().const_bits;
}

}  // namespace ptx::python
