#include "ptx/layout/shared_matrix.hpp"

#include "ptx/base/base.hpp"

namespace ptx::layout {

Expected<SharedMatrix> read_tcgen05_descriptor(std::uint64_t bits) {
  const auto wrong = [&](std::string_view what) -> Expected<SharedMatrix> {
    return Unexpected{{.kind = Kind::bad_descriptor, .message = cat("the matrix descriptor 0x", hex(bits, 16), ' ', what)}};
  };
  if ((bits >> 46 & 7) != 1) return wrong(cat("has ", bits >> 46 & 7, " in bits 46 to 48; what fits is 1"));
  if ((bits >> 53 & 0xFF) != 0) return wrong(cat("has 0x", hex(bits >> 53 & 0xFF), " in bits 53 to 60; what fits is 0"));
  SharedMatrix matrix = detail::matrix_fields(bits);
  matrix.goes_on_elsewhere = (bits >> 52 & 1) != 0;
  switch (bits >> 61) {
    case 0:
      break;
    case 1:
      matrix.width = 8, matrix.rows = 4, matrix.double_atoms = true;
      break;
    case 2:
      matrix.width = 8;
      break;
    case 4:
      matrix.width = 4;
      break;
    case 6:
      matrix.width = 2;
      break;
    default:
      return wrong(cat("has swizzle mode ", bits >> 61, "; what fits is 0, 1, 2, 4 or 6"));
  }
  return matrix;
}

}  // namespace ptx::layout
