// `ptx.ldmatrix`, `ptx.stmatrix`, `ptx.mma`.
#include "bindings.hpp"
#include "helpers.hpp"
#include "ptx/write/door/matrix_helpers.hpp"

namespace ptx::python {
namespace {
struct MmaSpace {};  // a namespace of Python: a class with static methods alone
}  // namespace

void bind_matrix(nb::module_& m) {
  helpers::bind_all<As::function>(m, write::declare::matrix_helpers);
  Class<MmaSpace> mma(m, "mma", "Matrix products of one warp.");
  helpers::bind_all<As::function>(mma, write::declare::mma_helpers);
}

}  // namespace ptx::python
