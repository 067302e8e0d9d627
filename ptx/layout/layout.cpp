#include "ptx/layout/layout.hpp"

#include <algorithm>
#include <cassert>

#include "ptx/base/base.hpp"

namespace ptx::layout {
namespace {

Unexpected bad_tile(std::string message) { return {{.kind = Kind::bad_tile, .message = std::move(message)}}; }

std::optional<LayoutType> type_for_width(std::int64_t bytes) {
  switch (bytes) {
    case 16:
      return LayoutType::interleave;
    case 32:
      return LayoutType::b32;
    case 64:
      return LayoutType::b64;
    default:
      return bytes >= 128 ? std::optional(LayoutType::b128) : std::nullopt;
  }
}

}  // namespace

Expected<Swizzle> swizzle_for_width(std::int64_t bytes) {
  if (const auto type = type_for_width(bytes)) return swizzle_of(*type);
  return bad_tile(cat("a row of ", bytes, " bytes has no tensor copy layout; what fits is 16, 32, 64, or 128 bytes or more"));
}

std::string_view tma_swizzle_name(LayoutType type) {
  constexpr std::string_view names[] = {"NONE", "128B", "64B", "32B"};
  return names[static_cast<std::size_t>(type)];
}

Expected<GmmaLayout> pick_gmma_layout(std::int64_t element_bytes, std::int64_t m_or_n, std::int64_t k, Major major) {
  if (element_bytes <= 0 || m_or_n <= 0 || k <= 0)
    return bad_tile(
        cat("a matrix tile needs positive sizes; elements of ", element_bytes, " bytes, ", m_or_n, " by ", k, " were given"));
  const bool k_major = major == Major::k;
  const std::int64_t width = (k_major ? k : m_or_n) * element_bytes;
  const auto type = type_for_width(width);
  if (!type)
    return bad_tile(cat("a row of ", width, " bytes (", k_major ? k : m_or_n, " elements of ", element_bytes,
                        ") is not one of the canonical widths 16, 32, 64, or 128 bytes or more"));
  if (k_major && m_or_n % 8 != 0)
    return bad_tile(cat("a K-major tile needs M divisible by 8 (N for the B operand); it is ", m_or_n));
  if (!k_major && k % 8 != 0) return bad_tile(cat("an MN-major tile needs K divisible by 8; it is ", k));

  const std::int64_t eight_rows = 8 * width;
  if (width > 128) return GmmaLayout{*type, (k_major ? m_or_n : k) * 128, 1024};
  if (!k_major && *type == LayoutType::interleave) return GmmaLayout{*type, eight_rows, 16};  // the two roles are exchanged here
  return GmmaLayout{*type, 16, eight_rows};
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t next = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = next;
    next = multiply_dims(next, std::max<std::int64_t>(shape[i], 1));
  }
  return strides;
}

bool is_row_major(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  assert(shape.size() == strides.size());
  bool contiguous = true;
  std::int64_t next = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    contiguous = contiguous && strides[i] == next;
    next = multiply_dims(next, shape[i]);
  }
  return contiguous;
}

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) return std::nullopt;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return std::nullopt;
  return count;
}

}  // namespace ptx::layout
