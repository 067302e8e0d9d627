// `ptx.wgmma` and `pyptx.wgmma_layout`.
#include <nanobind/stl/string.h>

#include <array>

#include "ptx/layout/layout.hpp"
#include "ptx/write/door/wgmma_helpers.hpp"
#include "python/binding/authoring/helpers.hpp"
#include "python/binding/bindings.hpp"

namespace ptx::python {
namespace {

using layout::GmmaLayout;
using layout::LayoutType;
using layout::Major;

// ---- pyptx.wgmma_layout -----------------------------------------------------------------------------------------------------

GmmaLayout pick(std::int64_t elem_bytes, std::int64_t m_or_n, std::int64_t k, Major major) {
  return unwrap_at(authors_line(), layout::pick_gmma_layout(elem_bytes, m_or_n, k, major));
}

std::int64_t element_bytes(nb::handle dtype, const char* what) { return isa::bits(type_argument(dtype, what)) / 8; }

std::optional<std::string_view> smem_swizzle(const GmmaLayout& layout) {
  if (layout.layout_type == LayoutType::interleave) return std::nullopt;
  return layout::tma_swizzle_name(layout.layout_type);
}

// The two names follow from the type; one that says something else is a mistake.
GmmaLayout make_layout(LayoutType type, std::int64_t leading, std::int64_t stride, std::optional<std::string_view> tma,
                       std::optional<std::string_view> smem) {
  const std::string_view name = layout::tma_swizzle_name(type);
  for (const auto& given : {tma, smem})
    if (given && *given != name)
      raise(Kind::bad_tile, cat("a GmmaLayout of swizzle ", name, " is called `", *given, "`"), authors_line());
  return {type, leading, stride};
}

std::string layout_shown(const GmmaLayout& layout) {
  constexpr std::array names = {"INTERLEAVE", "B128", "B64", "B32"};
  return cat("GmmaLayout(layout_type=LayoutType.", names[static_cast<std::size_t>(layout.layout_type)],
             ", leading_byte_offset=", layout.leading_byte_offset, ", stride_byte_offset=", layout.stride_byte_offset, ')');
}

void bind_layouts(nb::module_& m) {
  nb::enum_<LayoutType>(m, "LayoutType", nb::is_arithmetic(), "The swizzle field of wgmma's matrix descriptor.")
      .value("INTERLEAVE", LayoutType::interleave)
      .value("B128", LayoutType::b128)
      .value("B64", LayoutType::b64)
      .value("B32", LayoutType::b32);
  nb::enum_<Major>(m, "Major", nb::is_arithmetic(), "Which dimension of a factor is contiguous: K, or M of a and N of b.")
      .value("K", Major::k)
      .value("MN", Major::mn);
  Class<GmmaLayout>(m, "GmmaLayout", "How a factor of wgmma lies in shared memory. Compared by value.")
      .constructor(
          "(layout_type: LayoutType, leading_byte_offset: int, stride_byte_offset: int, tma_swizzle: str | None = None, "
          "smem_swizzle: str | None = None)",
          [](GmmaLayout* self, LayoutType type, std::int64_t leading, std::int64_t stride, std::optional<std::string_view> tma,
             std::optional<std::string_view> smem) { new (self) GmmaLayout(make_layout(type, leading, stride, tma, smem)); })
      .field<&GmmaLayout::layout_type>("layout_type -> LayoutType")
      .field<&GmmaLayout::leading_byte_offset>("leading_byte_offset -> int")
      .field<&GmmaLayout::stride_byte_offset>("stride_byte_offset -> int")
      .value("tma_swizzle -> str", "What a tensor map calls the swizzle: NONE, 32B, 64B or 128B.",
             [](const GmmaLayout& l) { return layout::tma_swizzle_name(l.layout_type); })
      .value("smem_swizzle -> str | None", "The same, None for no swizzle.", smem_swizzle)
      .field<&GmmaLayout::swizzle_code>("swizzle_code -> int", "The value of `layout_type`, as a descriptor holds it.")
      .dunder("__eq__(self, other: object) -> bool",
              [](const GmmaLayout& a, nb::handle b) { return nb::isinstance<GmmaLayout>(b) && a == nb::cast<GmmaLayout>(b); })
      .dunder("__hash__(self) -> int",
              [](const GmmaLayout& l) {
                return nb::hash(nb::make_tuple(l.swizzle_code(), l.leading_byte_offset, l.stride_byte_offset));
              })
      .dunder("__repr__(self) -> str", layout_shown);
  function(
      m, "pick_gmma_layout(*, elem_bytes: int, m_or_n: int, k: int, major: Major | str) -> GmmaLayout",
      "The layout of a tile by the bytes of its contiguous dimension: 16 without a swizzle, 32, 64, and 128 or more with theirs.",
      [](std::int64_t elem_bytes, std::int64_t m_or_n, std::int64_t k, nb::handle major) {
        return pick(elem_bytes, m_or_n, k, major_argument(major, "pick_gmma_layout", authors_line()));
      });
  function(m, "layout_for_a(*, dtype: PtxType, m: int, k: int) -> GmmaLayout", "The layout of a K-major M x K tile.",
           [](nb::handle dtype, std::int64_t rows, std::int64_t k) {
             return pick(element_bytes(dtype, "layout_for_a"), rows, k, Major::k);
           });
  function(m, "layout_for_b(*, dtype: PtxType, k: int, n: int) -> GmmaLayout", "The layout of an N-major K x N tile.",
           [](nb::handle dtype, std::int64_t k, std::int64_t n) {
             return pick(element_bytes(dtype, "layout_for_b"), n, k, Major::mn);
           });
}

}  // namespace

void bind_wgmma(nb::module_& m) {
  bind_layouts(m);
  const nb::object wgmma = space(m, "wgmma", "Matrix products of a warpgroup (sm_90a).");
  helpers::bind_all<As::function>(wgmma, write::declare::wgmma_helpers);
  wgmma.attr("SWIZZLE_NONE") = write::Wgmma::SWIZZLE_NONE;
  wgmma.attr("SWIZZLE_128B") = write::Wgmma::SWIZZLE_128B;
  wgmma.attr("SWIZZLE_64B") = write::Wgmma::SWIZZLE_64B;
  wgmma.attr("SWIZZLE_32B") = write::Wgmma::SWIZZLE_32B;
  wgmma.attr("MASKED_DESC_B128") = write::Wgmma::MASKED_DESC_B128;
}

}  // namespace ptx::python
