#include "ptx/layout/tensor_memory.hpp"

namespace ptx::layout {

bool is_zero_column(std::uint64_t descriptor, int m, int n, int width) {
  if ((descriptor >> 39 & 1) == 0) return false;
  const int parts = m == 32 ? 4 : m == 64 ? 2 : 1;
  const int part = n / (width / parts);
  const auto field = [&](int at, unsigned mask) { return static_cast<int>(descriptor >> at & mask); };
  // Spans of columns that are skipped, the mask's ones, and of columns that are used take turns; of the first span, which is one
  // of those that are skipped where its bit is set, some columns are left out. (Which length is whose the manual's table says the
  // other way round than its examples do.)
  const int skipped = field(40, 0xFF) + 1, used = field(48, 0xFF) + 1;
  const bool skips_first = field(32 + part, 1) != 0;
  const int at = (n % (width / parts) + field(8 * part, 0xFF)) % (used + skipped);
  return skips_first == (at < (skips_first ? skipped : used));
}

}  // namespace ptx::layout
