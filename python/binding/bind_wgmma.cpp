// `ptx.wgmma` and `pyptx.wgmma_layout`.
#include "ptx/write/idiom/wgmma.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <array>
#include <utility>

#include "author.hpp"
#include "bindings.hpp"
#include "checks.hpp"
#include "errors.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "tensor_core.hpp"

namespace ptx::python {
namespace {

using layout::GmmaLayout;
using layout::LayoutType;
using layout::Major;
using write::Value;
using write::idiom::WgmmaFactor;

struct WgmmaSpace {};

// ---- pyptx.wgmma_layout -----------------------------------------------------------------------------------------------------

Major major_argument(nb::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr())) {
    const auto text = nb::cast<std::string_view>(object);
    if (text == "K") return Major::k;
    if (text == "MN") return Major::mn;
  } else if (!PyBool_Check(object.ptr()) && PyIndex_Check(object.ptr())) {
    if (object.equal(nb::int_(0))) return Major::k;
    if (object.equal(nb::int_(1))) return Major::mn;
  }
  raise(Kind::bad_tile, cat("the major of `", what, "` is ", describe(object), "; what fits is \"K\" or \"MN\""), authors_line());
}

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
  nb::class_<GmmaLayout>(m, "GmmaLayout", "How a factor of wgmma lies in shared memory. Compared by value.")
      .def(
          "__init__",
          [](GmmaLayout* self, LayoutType type, std::int64_t leading, std::int64_t stride, std::optional<std::string_view> tma,
             std::optional<std::string_view> smem) { new (self) GmmaLayout(make_layout(type, leading, stride, tma, smem)); },
          nb::arg("layout_type"), nb::arg("leading_byte_offset"), nb::arg("stride_byte_offset"),
          nb::arg("tma_swizzle").none() = nb::none(), nb::arg("smem_swizzle").none() = nb::none(),
          nb::sig(
              "def __init__(self, layout_type: LayoutType, leading_byte_offset: int, stride_byte_offset: int, tma_swizzle: str | "
              "None = None, smem_swizzle: str | None = None) -> None"))
      .def_ro("layout_type", &GmmaLayout::layout_type)
      .def_ro("leading_byte_offset", &GmmaLayout::leading_byte_offset)
      .def_ro("stride_byte_offset", &GmmaLayout::stride_byte_offset)
      .def_prop_ro(
          "tma_swizzle", [](const GmmaLayout& l) { return layout::tma_swizzle_name(l.layout_type); },
          "What a tensor map calls the swizzle: NONE, 32B, 64B or 128B.")
      .def_prop_ro("smem_swizzle", smem_swizzle, "The same, None for no swizzle.")
      .def_prop_ro("swizzle_code", &GmmaLayout::swizzle_code, "The value of `layout_type`, as a descriptor holds it.")
      .def(
          "__eq__",
          [](const GmmaLayout& a, nb::handle b) { return nb::isinstance<GmmaLayout>(b) && a == nb::cast<GmmaLayout>(b); },
          nb::arg("other").none(), nb::sig("def __eq__(self, other: object) -> bool"))
      .def("__hash__",
           [](const GmmaLayout& l) {
             return nb::hash(nb::make_tuple(l.swizzle_code(), l.leading_byte_offset, l.stride_byte_offset));
           })
      .def("__repr__", layout_shown);
  m.def(
      "pick_gmma_layout",
      [](std::int64_t elem_bytes, std::int64_t m_or_n, std::int64_t k, nb::handle major) {
        return pick(elem_bytes, m_or_n, k, major_argument(major, "pick_gmma_layout"));
      },
      nb::kw_only(), nb::arg("elem_bytes"), nb::arg("m_or_n"), nb::arg("k"), nb::arg("major").none(),
      nb::sig("def pick_gmma_layout(*, elem_bytes: int, m_or_n: int, k: int, major: Major | str) -> GmmaLayout"),
      "The layout of a tile by the bytes of its contiguous dimension: 16 without a swizzle, 32, 64, and 128 or more with "
      "theirs.");
  m.def(
      "layout_for_a",
      [](nb::handle dtype, std::int64_t rows, std::int64_t k) {
        return pick(element_bytes(dtype, "layout_for_a"), rows, k, Major::k);
      },
      nb::kw_only(), nb::arg("dtype").none(), nb::arg("m"), nb::arg("k"),
      nb::sig("def layout_for_a(*, dtype: PtxType, m: int, k: int) -> GmmaLayout"), "The layout of a K-major M x K tile.");
  m.def(
      "layout_for_b",
      [](nb::handle dtype, std::int64_t k, std::int64_t n) {
        return pick(element_bytes(dtype, "layout_for_b"), n, k, Major::mn);
      },
      nb::kw_only(), nb::arg("dtype").none(), nb::arg("k"), nb::arg("n"),
      nb::sig("def layout_for_b(*, dtype: PtxType, k: int, n: int) -> GmmaLayout"), "The layout of an N-major K x N tile.");
}

// ---- ptx.wgmma
// ------------------------------------------------------------------------------------------------------------------

std::array<std::int64_t, 3> shape_argument(Trace& trace, nb::handle shape) {
  std::array<std::int64_t, 3> sizes{};
  if ((PyTuple_Check(shape.ptr()) || PyList_Check(shape.ptr())) && nb::len(shape) == 3 && nb::try_cast(shape[0], sizes[0]) &&
      nb::try_cast(shape[1], sizes[1]) && nb::try_cast(shape[2], sizes[2]))
    return sizes;
  raise(Kind::argument_kind,
        cat("the shape of `ptx.wgmma.mma_async` is ", describe(shape), "; what fits is three ints, (M, N, K)"), trace.where());
}

// A descriptor, a tile that knows its layout, or for a four registers, which `registers` then holds.
WgmmaFactor factor_argument(Trace& trace, Operands& operands, nb::handle object, nb::handle k_offset,
                            std::vector<write::Reg>& registers, const char* what) {
  WgmmaFactor factor;
  if (const SharedAlloc* alloc = allocation_of(object)) {
    if (!alloc->gmma_layout) {
      Diagnostic d;
      d.kind = Kind::operand_mismatch;
      d.message = cat(what, " is `", alloc->name, "`, shared memory without a layout of wgmma");
      d.where = trace.where();
      d.hint("allocate it by `smem.wgmma_tile`, or build its descriptor by `ptx.wgmma.make_descriptor`");
      raise(d);
    }
    factor = WgmmaFactor::of(matrix_place(trace, operands, object, what), *alloc->gmma_layout);
  } else if (const Reg* reg = as<Reg>(object)) {
    if (isa::bits(reg->type) != 64)
      raise(Kind::operand_mismatch,
            cat(what, " is the .", isa::name(reg->type), " register `", reg->name, "`; a descriptor has 64 bits"), trace.where());
    factor = WgmmaFactor::of(register_of(trace, *reg));
  } else if (as<RegArray>(object) != nullptr || PyList_Check(object.ptr()) || PyTuple_Check(object.ptr())) {
    registers = registers_argument(trace, object, what);
    factor = WgmmaFactor::of(registers);
  } else {
    raise(Kind::argument_kind,
          cat(what, " is ", describe(object), "; what fits is a descriptor in a 64-bit register or a tile of `smem.wgmma_tile`"),
          trace.where());
  }
  factor.k_offset = bytes_argument(trace, operands, k_offset, "the K offset of `ptx.wgmma.mma_async`");
  return factor;
}

void mma_async(nb::handle shape, nb::handle dtype_d, nb::handle dtype_a, nb::handle dtype_b, nb::handle d, nb::handle a,
               nb::handle b, nb::handle scale_d, std::int64_t scale_a, std::int64_t scale_b, std::int64_t trans_a,
               std::int64_t trans_b, nb::handle a_k_offset, nb::handle b_k_offset, bool satfinite, nb::handle sparse_metadata,
               std::int64_t sparsity_selector, nb::handle pred) {
  constexpr const char* what = "ptx.wgmma.mma_async";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  std::vector<write::Reg> a_registers, b_registers;
  const std::vector<write::Reg> accumulator = registers_argument(trace, d, "`d` of `ptx.wgmma.mma_async`");
  write::idiom::MmaAsync mma;
  mma.shape = shape_argument(trace, shape);
  mma.d_type = type_argument(dtype_d, what);
  mma.a_type = type_argument(dtype_a, what);
  mma.b_type = type_argument(dtype_b, what);
  mma.d = accumulator;
  mma.a = factor_argument(trace, operands, a, a_k_offset, a_registers, "`a` of `ptx.wgmma.mma_async`");
  mma.b = factor_argument(trace, operands, b, b_k_offset, b_registers, "`b` of `ptx.wgmma.mma_async`");
  mma.scale_d = enable_argument(trace, operands, scale_d, "`scale_d` of `ptx.wgmma.mma_async`");
  mma.scale_a = scale_a;
  mma.scale_b = scale_b;
  mma.trans_a = trans_a;
  mma.trans_b = trans_b;
  mma.satfinite = satfinite;
  if (!sparse_metadata.is_none()) mma.sparse_metadata = Value::of(register_argument(trace, sparse_metadata, what));
  mma.sparsity_selector = sparsity_selector;
  const auto [m, n, k] = mma.shape;
  const std::string path = cat("wgmma.mma_async", mma.sparse_metadata ? ".sp" : "", ".sync.aligned.m", m, 'n', n, 'k', k, '.',
                               isa::name(mma.d_type), '.', isa::name(mma.a_type), '.', isa::name(mma.b_type));
  unwrap_validated(path, write::idiom::wgmma_mma_async(trace.builder(), mma, guard_argument(trace, pred), trace.where()));
}

nb::object descriptor(Trace& trace, Operands& operands, nb::handle base, nb::handle more, const layout::WgmmaDescriptor& fields,
                      const char* what) {
  const std::uint64_t bits = unwrap_at(trace.where(), layout::descriptor_bits(fields));
  return make_reg(trace, unwrap(write::idiom::make_descriptor(trace.builder(), matrix_place(trace, operands, base, what),
                                                              bytes_argument(trace, operands, more, what), bits, trace.where())));
}

nb::object make_descriptor(nb::handle base, std::int64_t leading, std::int64_t stride, std::int64_t swizzle,
                           std::int64_t base_offset, nb::handle addr_byte_offset) {
  constexpr const char* what = "ptx.wgmma.make_descriptor";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  return descriptor(trace, operands, base, addr_byte_offset, {leading, stride, swizzle, base_offset}, what);
}

nb::object auto_descriptor(nb::handle base, nb::handle dtype, nb::handle shape, nb::handle major) {
  constexpr const char* what = "ptx.wgmma.auto_descriptor";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  const Major order = major_argument(major, what);
  std::array<std::int64_t, 2> sizes{};
  if ((!PyTuple_Check(shape.ptr()) && !PyList_Check(shape.ptr())) || nb::len(shape) != 2 || !nb::try_cast(shape[0], sizes[0]) ||
      !nb::try_cast(shape[1], sizes[1]))
    raise(Kind::argument_kind,
          cat("the shape of `", what, "` is ", describe(shape), "; what fits is two ints, (M or N, K) or (K, N)"), trace.where());
  const bool k_major = order == Major::k;
  const GmmaLayout layout = pick(element_bytes(dtype, what), sizes[k_major ? 0 : 1], sizes[k_major ? 1 : 0], order);
  return descriptor(trace, operands, base, nb::int_(0), layout::descriptor_of(layout), what);
}

const std::uint64_t masked_b128 = *layout::descriptor_bits(layout::WgmmaDescriptor{16, 1024, 1, 0});

nb::object masked_wgmma_descriptor(nb::handle address, nb::handle byte_offset, std::int64_t mask, nb::handle const_bits) {
  constexpr const char* what = "ptx.wgmma.masked_descriptor";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  return make_reg(trace, unwrap(write::idiom::masked_descriptor(trace.builder(), place_argument(trace, operands, address, what),
                                                                bytes_argument(trace, operands, byte_offset, what), mask,
                                                                bits_argument(trace, const_bits, what), trace.where())));
}

}  // namespace

void bind_wgmma(nb::module_& m) {
  bind_layouts(m);
  namespace idiom = write::idiom;
  nb::class_<WgmmaSpace> wgmma(m, "wgmma", "Matrix products of a warpgroup (sm_90a).");
  wgmma
      .def_static(
          "fence",
          [](nb::handle pred) {
            Trace& trace = Trace::require("ptx.wgmma.fence");
            unwrap(idiom::wgmma_fence(trace.builder(), guard_argument(trace, pred), trace.where()));
          },
          nb::kw_only(), nb::arg("pred") = nb::none(), nb::sig("def fence(*, pred: Reg | NegPred | None = None) -> None"),
          "`wgmma.fence.sync.aligned`: orders what the warpgroup did to registers and shared memory before its next `mma_async`.")
      .def_static(
          "commit_group",
          [](nb::handle pred) {
            Trace& trace = Trace::require("ptx.wgmma.commit_group");
            unwrap(idiom::wgmma_commit_group(trace.builder(), guard_argument(trace, pred), trace.where()));
          },
          nb::kw_only(), nb::arg("pred") = nb::none(), nb::sig("def commit_group(*, pred: Reg | NegPred | None = None) -> None"),
          "`wgmma.commit_group.sync.aligned`: closes the group of products begun so far.")
      .def_static(
          "wait_group",
          [](nb::handle n, nb::handle pred) {
            Trace& trace = Trace::require("ptx.wgmma.wait_group");
            Operands operands(trace);
            unwrap(idiom::wgmma_wait_group(trace.builder(), operands.value(n), guard_argument(trace, pred), trace.where()));
          },
          nb::arg("n") = 0, nb::kw_only(), nb::arg("pred") = nb::none(),
          nb::sig("def wait_group(n: int = 0, *, pred: Reg | NegPred | None = None) -> None"),
          "`wgmma.wait_group.sync.aligned n`: waits until at most `n` groups are under way.")
      .def_static(
          "mma_async", mma_async, nb::kw_only(), nb::arg("shape").none(), nb::arg("dtype_d").none(), nb::arg("dtype_a").none(),
          nb::arg("dtype_b").none(), nb::arg("d").none(), nb::arg("a").none(), nb::arg("b").none(),
          nb::arg("scale_d").none() = false, nb::arg("scale_a") = 1, nb::arg("scale_b") = 1, nb::arg("trans_a") = 0,
          nb::arg("trans_b") = 0, nb::arg("a_k_offset").none() = 0, nb::arg("b_k_offset").none() = 0,
          nb::arg("satfinite") = false, nb::arg("sparse_metadata") = nb::none(), nb::arg("sparsity_selector") = 0,
          nb::arg("pred") = nb::none(),
          nb::sig(
              "def mma_async(*, shape: tuple[int, int, int], dtype_d: PtxType, dtype_a: PtxType, dtype_b: PtxType, d: RegArray | "
              "typing.Sequence[Reg], a: Reg | SharedAlloc | SharedSlice | RegArray | typing.Sequence[Reg], b: Reg | SharedAlloc "
              "| "
              "SharedSlice, scale_d: Reg | NegPred | bool | int = False, scale_a: int = 1, scale_b: int = 1, trans_a: int = 0, "
              "trans_b: int = 0, a_k_offset: Reg | int = 0, b_k_offset: Reg | int = 0, satfinite: bool = False, sparse_metadata: "
              "Reg "
              "| None = None, sparsity_selector: int = 0, pred: Reg | NegPred | None = None) -> None"),
          "`wgmma.mma_async.sync.aligned.mMnNkK.<D>.<A>.<B>`: d = a * b, plus d where `scale_d` is true.\n\n"
          "`d` is the thread's part of the M x N accumulator. `a` and `b` are descriptors in 64-bit registers, or tiles of "
          "`smem.wgmma_tile`, whose descriptors are built here, `a_k_offset` and `b_k_offset` bytes after their start; `a` may "
          "be four "
          "registers. `scale_a`, `scale_b` are 1 or -1 for floats, `trans_a`, `trans_b` 1 for MN-major f16 and bf16; an operand "
          "that the "
          "types do not have is not written. With `sparse_metadata`, `a` is sparse.")
      .def_static(
          "make_descriptor", make_descriptor, nb::arg("base").none(), nb::kw_only(), nb::arg("leading_byte_offset"),
          nb::arg("stride_byte_offset"), nb::arg("swizzle") = 0, nb::arg("base_offset") = 0,
          nb::arg("addr_byte_offset").none() = 0,
          nb::sig("def make_descriptor(base: typing.Any, *, leading_byte_offset: int, stride_byte_offset: int, swizzle: int = 0, "
                  "base_offset: int = 0, addr_byte_offset: Reg | int = 0) -> Reg"),
          "A matrix descriptor in a fresh u64 register; offsets in bytes, `swizzle` one of the SWIZZLE constants.")
      .def_static(
          "auto_descriptor", auto_descriptor, nb::arg("base").none(), nb::kw_only(), nb::arg("dtype").none(),
          nb::arg("shape").none(), nb::arg("major").none(),
          nb::sig("def auto_descriptor(base: typing.Any, *, dtype: PtxType, shape: tuple[int, int], major: Major | str) -> Reg"),
          "The descriptor of a tile laid out as `pick_gmma_layout` says: (M or N, K) for major \"K\", (K, N) for \"MN\".")
      .def_static(
          "masked_descriptor", masked_wgmma_descriptor, nb::arg("addr").none(), nb::kw_only(), nb::arg("byte_offset").none() = 0,
          nb::arg("mask") = 0x3FF80, nb::arg("const_bits").none() = nb::int_(masked_b128),
          nb::sig("def masked_descriptor(addr: typing.Any, *, byte_offset: Reg | int = 0, mask: int = 0x3FF80, const_bits: int = "
                  "0x4000004000010000) -> Reg"),
          "A matrix descriptor in a fresh u64 register: the masked address, and all other bits ready-made. The default is a "
          "128-byte "
          "swizzle whose groups of 8 rows lie 1024 bytes apart.");
  wgmma.attr("SWIZZLE_NONE") = static_cast<int>(LayoutType::interleave);
  wgmma.attr("SWIZZLE_128B") = static_cast<int>(LayoutType::b128);
  wgmma.attr("SWIZZLE_64B") = static_cast<int>(LayoutType::b64);
  wgmma.attr("SWIZZLE_32B") = static_cast<int>(LayoutType::b32);
  wgmma.attr("MASKED_DESC_B128") = masked_b128;
}

}  // namespace ptx::python
