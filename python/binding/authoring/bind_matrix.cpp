// `ptx.ldmatrix`, `ptx.stmatrix`, `ptx.mma`.
#include "ptx/write/door/matrix_helpers.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {

void bind_matrix(nb::module_& m) {
  helpers::bind_all<As::function>(m, write::declare::matrix_helpers);
  helpers::bind_all<As::function>(space(m, "mma", "Matrix products of one warp."), write::declare::mma_helpers);
}

}  // namespace ptx::python
