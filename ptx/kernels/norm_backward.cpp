#include "ptx/kernels/row.hpp"

namespace ptx::kernels {
Expected<Kernel> write_norm_backward(const Recipe&) { return Unexpected{{.kind = Kind::internal, .message = "later"}}; }
Expected<Kernel> write_cross_entropy(const Recipe&) { return Unexpected{{.kind = Kind::internal, .message = "later"}}; }
}  // namespace ptx::kernels
