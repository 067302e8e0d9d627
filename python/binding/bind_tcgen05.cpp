// `ptx.tcgen05`.
#include "ptx/write/idiom/tcgen05.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include <utility>

#include "author.hpp"
#include "bindings.hpp"
#include "errors.hpp"
#include "ptx/layout/layout.hpp"
#include "ptx/write/idiom/descriptor.hpp"
#include "tensor_core.hpp"

namespace ptx::python {
namespace {

using write::Value;
namespace idiom = write::idiom;

struct Tcgen05Space {};

// A place in tensor memory: a 32-bit register, or `ptx.addr(register, columns)`.
write::Place tmem_argument(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  const write::Place place = place_argument(trace, operands, object, what);
  const Value& base = place.base();
  if (base.kind == Value::Kind::reg && isa::bits(base.reg.type) == 32) return place;
  raise(Kind::operand_mismatch,
        cat("`", what, "` is given ", describe(object), "; an address in tensor memory is a 32-bit register"), trace.where());
}

std::optional<write::Place> optional_tmem(Trace& trace, Operands& operands, nb::handle object, const char* what) {
  return object.is_none() ? std::nullopt : std::optional(tmem_argument(trace, operands, object, what));
}

// ---- allocation, order, completion
// ----------------------------------------------------------------------------------------------

void alloc(nb::handle slot, nb::handle ncols, std::int64_t cta_group, nb::handle pred) {
  constexpr const char* what = "ptx.tcgen05.alloc";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  unwrap(idiom::tcgen05_alloc(trace.builder(), place_argument(trace, operands, slot, what), operands.value(ncols), cta_group,
                              guard_argument(trace, pred), trace.where()));
}

void dealloc(nb::handle taddr, nb::handle ncols, std::int64_t cta_group, nb::handle pred) {
  Trace& trace = Trace::require("ptx.tcgen05.dealloc");
  Operands operands(trace);
  unwrap(idiom::tcgen05_dealloc(trace.builder(), Value::of(register_argument(trace, taddr, "ptx.tcgen05.dealloc")),
                                operands.value(ncols), cta_group, guard_argument(trace, pred), trace.where()));
}

void relinquish_alloc_permit(std::int64_t cta_group, nb::handle pred) {
  Trace& trace = Trace::require("ptx.tcgen05.relinquish_alloc_permit");
  unwrap(idiom::tcgen05_relinquish_alloc_permit(trace.builder(), cta_group, guard_argument(trace, pred), trace.where()));
}

void commit(nb::handle mbar, std::int64_t cta_group, bool multicast, nb::handle multicast_mask, std::string_view space,
            nb::handle pred) {
  constexpr const char* what = "ptx.tcgen05.commit";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  idiom::Tcgen05Commit commit;
  commit.mbar = place_argument(trace, operands, mbar, what);
  commit.cta_group = cta_group;
  commit.multicast = multicast;
  if (!multicast_mask.is_none()) commit.multicast_mask = operands.value(multicast_mask);
  commit.space = space;
  unwrap(idiom::tcgen05_commit(trace.builder(), commit, guard_argument(trace, pred), trace.where()));
}

template <bool after>
void fence(nb::handle pred) {
  Trace& trace = Trace::require("ptx.tcgen05.fence");
  unwrap(idiom::tcgen05_fence(trace.builder(), after, guard_argument(trace, pred), trace.where()));
}

template <bool stores>
void wait(nb::handle pred) {
  Trace& trace = Trace::require("ptx.tcgen05.wait");
  unwrap(idiom::tcgen05_wait(trace.builder(), stores, guard_argument(trace, pred), trace.where()));
}

// ---- moving data ------------------------------------------------------------------------------------------------------------

template <bool load>
void transfer(nb::handle registers, nb::handle taddr, std::string_view shape, std::int64_t count, nb::handle dtype, bool pack,
              std::optional<std::int64_t> half_split_offset, nb::handle pred) {
  constexpr const char* what = load ? "ptx.tcgen05.ld" : "ptx.tcgen05.st";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  std::vector<write::Reg> list;
  if (as<Reg>(registers) != nullptr)
    list.push_back(register_argument(trace, registers, what));
  else
    list = registers_argument(trace, registers, load ? "`dst` of `ptx.tcgen05.ld`" : "`src` of `ptx.tcgen05.st`");
  const std::string type = word_argument(trace, dtype, load ? "`dtype` of `ptx.tcgen05.ld`" : "`dtype` of `ptx.tcgen05.st`");
  idiom::Tcgen05Transfer transfer;
  transfer.taddr = tmem_argument(trace, operands, taddr, what);
  transfer.registers = list;
  transfer.shape = shape;
  transfer.count = count;
  transfer.dtype = type;
  transfer.pack = pack;
  transfer.half_split_offset = half_split_offset;
  const write::Guard guard = guard_argument(trace, pred);
  unwrap(load ? idiom::tcgen05_ld(trace.builder(), transfer, guard, trace.where())
              : idiom::tcgen05_st(trace.builder(), transfer, guard, trace.where()));
}

void store(nb::handle taddr, nb::handle src, std::string_view shape, std::int64_t count, nb::handle dtype, bool unpack,
           std::optional<std::int64_t> half_split_offset, nb::handle pred) {
  transfer<false>(src, taddr, shape, count, dtype, unpack, half_split_offset, pred);
}

void copy(nb::handle taddr, nb::handle src, std::int64_t cta_group, std::string_view size, nb::handle src_is_addr,
          nb::handle pred) {
  constexpr const char* what = "ptx.tcgen05.cp";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  const Reg* reg = as<Reg>(src);
  const bool as_address = !src_is_addr.is_none() && nb::cast<bool>(src_is_addr);
  if (reg == nullptr || as_address || isa::bits(reg->type) != 64) {
    Diagnostic d;
    d.kind = Kind::operand_mismatch;
    d.message = as_address
                    ? cat("`", what, "` is told that its source is an address; PTX takes a matrix descriptor")
                    : cat("`", what, "` is given ", describe(src), "; what fits is a matrix descriptor in a 64-bit register");
    d.where = trace.where();
    d.hint("build it by `ptx.tcgen05.descriptor` from the address in shared memory");
    raise(d);
  }
  unwrap(idiom::tcgen05_cp(trace.builder(), tmem_argument(trace, operands, taddr, what), register_of(trace, *reg), size,
                           cta_group, guard_argument(trace, pred), trace.where()));
}

void shift(nb::handle taddr, std::int64_t cta_group, nb::handle pred) {
  constexpr const char* what = "ptx.tcgen05.shift";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  unwrap(idiom::tcgen05_shift(trace.builder(), tmem_argument(trace, operands, taddr, what), cta_group,
                              guard_argument(trace, pred), trace.where()));
}

// ---- products ---------------------------------------------------------------------------------------------------------------

// Whether d is added: the first of the three that says so.
void set_enable(Trace& trace, Operands& operands, idiom::Tcgen05Mma& mma, nb::handle pred_operand, nb::handle scale_d,
                nb::handle enable_input_d) {
  const std::pair<const char*, nb::handle> given[] = {
      {"pred_operand", pred_operand}, {"scale_d", scale_d}, {"enable_input_d", enable_input_d}};
  for (const auto& [name, object] : given) {
    if (object.is_none()) continue;
    mma.enable_name = name;
    mma.enable = enable_argument(trace, operands, object, name);
    return;
  }
  raise(Kind::argument_kind, "`enable_input_d` of `ptx.tcgen05.mma` is None; what fits is a predicate, or True or False",
        trace.where());
}

void mma(nb::handle d, nb::handle a_desc, nb::handle b_desc, nb::handle idesc, std::int64_t cta_group, std::string_view kind,
         nb::handle enable_input_d, nb::handle scale_d, bool sparse, bool ashift, std::optional<std::string_view> collector_a,
         bool a_is_tmem, nb::handle sparse_metadata, nb::handle pred_operand, std::optional<std::int64_t> scale_c,
         nb::handle disable_output_lane, nb::handle scale_a, nb::handle scale_b, std::optional<std::string_view> scale_size,
         nb::handle pred) {
  constexpr const char* what = "ptx.tcgen05.mma";
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  idiom::Tcgen05Mma mma;
  mma.d = tmem_argument(trace, operands, d, what);
  if (a_is_tmem)
    mma.a_tmem = tmem_argument(trace, operands, a_desc, what);
  else
    mma.a_descriptor = Value::of(register_argument(trace, a_desc, what));
  mma.b_descriptor = Value::of(register_argument(trace, b_desc, what));
  mma.idesc = operands.value(idesc);
  set_enable(trace, operands, mma, pred_operand, scale_d, enable_input_d);
  mma.cta_group = cta_group;
  mma.kind = kind;
  mma.ashift = ashift;
  mma.collector_a = collector_a.value_or("");
  mma.sparse = sparse;
  mma.sparse_metadata = optional_tmem(trace, operands, sparse_metadata, what);
  mma.scale_c = scale_c;
  std::vector<write::Reg> lanes;
  if (!disable_output_lane.is_none())
    lanes = registers_argument(trace, disable_output_lane, "`disable_output_lane` of `ptx.tcgen05.mma`");
  mma.disable_output_lane = lanes;
  mma.scale_a = optional_tmem(trace, operands, scale_a, what);
  mma.scale_b = optional_tmem(trace, operands, scale_b, what);
  mma.scale_size = scale_size.value_or("");
  unwrap(idiom::tcgen05_mma(trace.builder(), mma, guard_argument(trace, pred), trace.where()));
}

// ---- descriptors --------------------------------------------------------------------------------------------------------------

constexpr std::int64_t address_mask = 0x3FFF0;

nb::object masked(nb::handle address, nb::handle byte_offset, std::int64_t mask, std::uint64_t bits, const char* what) {
  Trace& trace = Trace::require(what);
  Operands operands(trace);
  return make_reg(trace, unwrap(idiom::moved_masked_descriptor(trace.builder(), place_argument(trace, operands, address, what),
                                                               bytes_argument(trace, operands, byte_offset, what), mask, bits,
                                                               trace.where())));
}

nb::object masked_tcgen05_descriptor(nb::handle address, nb::handle byte_offset, std::int64_t mask, nb::handle const_bits) {
  constexpr const char* what = "ptx.tcgen05.masked_descriptor";
  return masked(address, byte_offset, mask, bits_argument(Trace::require(what), const_bits, what), what);
}

nb::object descriptor(nb::handle address, nb::handle byte_offset, std::int64_t stride_bytes, std::int64_t leading_bytes,
                      std::optional<std::string_view> swizzle, std::int64_t version, std::int64_t base_offset,
                      std::int64_t lbo_mode) {
  constexpr const char* what = "ptx.tcgen05.descriptor";
  Trace& trace = Trace::require(what);
  const std::uint64_t bits =
      unwrap_at(trace.where(), layout::descriptor_bits(layout::Tcgen05Descriptor{
                                   stride_bytes, leading_bytes, swizzle.value_or("NONE"), version, base_offset, lbo_mode}));
  return masked(address, byte_offset, address_mask, bits, what);
}

// What the Python functions make_instr_desc_… share.
struct InstructionArguments {
  std::int64_t m, n;
  nb::handle a_dtype, b_dtype, d_dtype;
  std::string_view a_major = "K", b_major = "K";
  std::int64_t scale_a = 1, scale_b = 1;
  bool saturate = false, sparse = false;
  std::int64_t max_shift = 0, sparsity_selector = 0;
};

// A format by its name or its type; these functions need no trace.
std::string format_argument(nb::handle object, const char* what) {
  if (const PtxType* type = as<PtxType>(object)) return std::string(isa::name(type->type));
  if (PyUnicode_Check(object.ptr())) return nb::cast<std::string>(object);
  raise(Kind::argument_kind, cat("`", what, "` is ", describe(object), "; what fits is a type or its name"), authors_line());
}

std::uint32_t instruction(layout::MmaKind kind, const InstructionArguments& given) {
  const std::string a = format_argument(given.a_dtype, "a_dtype"), b = format_argument(given.b_dtype, "b_dtype"),
                    d = format_argument(given.d_dtype, "d_dtype");
  return unwrap_at(authors_line(), layout::descriptor_bits(kind, {.m = given.m,
                                                                  .n = given.n,
                                                                  .d_dtype = d,
                                                                  .a_dtype = a,
                                                                  .b_dtype = b,
                                                                  .a_major = given.a_major,
                                                                  .b_major = given.b_major,
                                                                  .scale_a = given.scale_a,
                                                                  .scale_b = given.scale_b,
                                                                  .saturate = given.saturate,
                                                                  .sparse = given.sparse,
                                                                  .sparsity_selector = given.sparsity_selector,
                                                                  .max_shift = given.max_shift}));
}

std::uint32_t f16bf16_f32(std::int64_t m, std::int64_t n, nb::handle ab_dtype, std::string_view a_major, std::string_view b_major,
                          std::int64_t scale_a, std::int64_t scale_b, bool saturate, bool sparse, std::int64_t max_shift,
                          std::int64_t sparsity_selector) {
  const bool single = format_argument(ab_dtype, "ab_dtype") == "tf32";
  return instruction(single ? layout::MmaKind::tf32 : layout::MmaKind::f16,
                     {m, n, ab_dtype, ab_dtype, nb::str("f32"), a_major, b_major, scale_a, scale_b, saturate, sparse, max_shift,
                      sparsity_selector});
}

template <layout::MmaKind kind>
std::uint32_t any_kind(std::int64_t m, std::int64_t n, nb::handle a_dtype, nb::handle b_dtype, nb::handle d_dtype,
                       std::string_view a_major, std::string_view b_major, std::int64_t scale_a, std::int64_t scale_b,
                       bool saturate, bool sparse, std::int64_t max_shift, std::int64_t sparsity_selector) {
  return instruction(kind, {m, n, a_dtype, b_dtype, d_dtype, a_major, b_major, scale_a, scale_b, saturate, sparse, max_shift,
                            sparsity_selector});
}

template <layout::ScaledMmaKind kind>
std::uint32_t scaled_kind(std::int64_t m, std::int64_t n, nb::handle a_dtype, nb::handle b_dtype, nb::handle scale_dtype,
                          std::string_view a_major, std::string_view b_major, std::int64_t scale_a, std::int64_t scale_b,
                          bool sparse, std::int64_t a_scale_id, std::int64_t b_scale_id, bool k96) {
  const std::string a = format_argument(a_dtype, "a_dtype"), b = format_argument(b_dtype, "b_dtype"),
                    scale = format_argument(scale_dtype, "scale_dtype");
  return unwrap_at(authors_line(), layout::descriptor_bits(kind, {.m = m,
                                                                  .n = n,
                                                                  .a_dtype = a,
                                                                  .b_dtype = b,
                                                                  .scale_dtype = scale,
                                                                  .a_major = a_major,
                                                                  .b_major = b_major,
                                                                  .scale_a = scale_a,
                                                                  .scale_b = scale_b,
                                                                  .sparse = sparse,
                                                                  .a_scale_id = a_scale_id,
                                                                  .b_scale_id = b_scale_id,
                                                                  .k96 = k96}));
}

template <layout::MmaKind kind>
void def_any_kind(nb::class_<Tcgen05Space>& tcgen05, const char* name, const char* ab, const char* d, const char* doc) {
  const std::string signature = cat("def ", name, "(*, m: int = 128, n: int = 256, a_dtype: PtxType | str = '", ab,
                                    "', b_dtype: PtxType | str = '", ab, "', d_dtype: PtxType | str = '", d,
                                    "', a_major: str = 'K', b_major: str = 'K', scale_a: int = 1, scale_b: int = 1, saturate: "
                                    "bool = False, sparse: bool = False, "
                                    "max_shift: int = 0, sparsity_selector: int = 0) -> int");
  tcgen05.def_static(name, any_kind<kind>, nb::kw_only(), nb::arg("m") = 128, nb::arg("n") = 256, nb::arg("a_dtype").none() = ab,
                     nb::arg("b_dtype").none() = ab, nb::arg("d_dtype").none() = d, nb::arg("a_major") = "K",
                     nb::arg("b_major") = "K", nb::arg("scale_a") = 1, nb::arg("scale_b") = 1, nb::arg("saturate") = false,
                     nb::arg("sparse") = false, nb::arg("max_shift") = 0, nb::arg("sparsity_selector") = 0,
                     nb::sig(signature.c_str()), doc);
}

template <layout::ScaledMmaKind kind>
void def_scaled_kind(nb::class_<Tcgen05Space>& tcgen05, const char* name, const char* ab, const char* scale, const char* doc) {
  const std::string signature = cat(
      "def ", name, "(*, m: int = 128, n: int = 256, a_dtype: PtxType | str = '", ab, "', b_dtype: PtxType | str = '", ab,
      "', scale_dtype: PtxType | str = '", scale,
      "', a_major: str = 'K', b_major: str = 'K', scale_a: int = 1, scale_b: int = 1, sparse: bool = False, a_scale_id: int = 0, "
      "b_scale_id: int = 0, k96: bool = False) -> int");
  tcgen05.def_static(name, scaled_kind<kind>, nb::kw_only(), nb::arg("m") = 128, nb::arg("n") = 256,
                     nb::arg("a_dtype").none() = ab, nb::arg("b_dtype").none() = ab, nb::arg("scale_dtype").none() = scale,
                     nb::arg("a_major") = "K", nb::arg("b_major") = "K", nb::arg("scale_a") = 1, nb::arg("scale_b") = 1,
                     nb::arg("sparse") = false, nb::arg("a_scale_id") = 0, nb::arg("b_scale_id") = 0, nb::arg("k96") = false,
                     nb::sig(signature.c_str()), doc);
}

void bind_descriptors(nb::class_<Tcgen05Space>& tcgen05) {
  tcgen05
      .def_static("make_instr_desc_f16bf16_f32", f16bf16_f32, nb::kw_only(), nb::arg("m") = 128, nb::arg("n") = 256,
                  nb::arg("ab_dtype").none() = "bf16", nb::arg("a_major") = "K", nb::arg("b_major") = "K", nb::arg("scale_a") = 1,
                  nb::arg("scale_b") = 1, nb::arg("saturate") = false, nb::arg("sparse") = false, nb::arg("max_shift") = 0,
                  nb::arg("sparsity_selector") = 0,
                  nb::sig("def make_instr_desc_f16bf16_f32(*, m: int = 128, n: int = 256, ab_dtype: PtxType | str = 'bf16', "
                          "a_major: str = 'K', "
                          "b_major: str = 'K', scale_a: int = 1, scale_b: int = 1, saturate: bool = False, sparse: bool = False, "
                          "max_shift: int = "
                          "0, sparsity_selector: int = 0) -> int"),
                  "The instruction descriptor of a product of f16, bf16 or (kind tf32) tf32 factors into f32. `scale_a`, "
                  "`scale_b` of -1 negate; "
                  "majors are \"K\" or \"MN\". Writes no PTX.")
      .def_static("descriptor", descriptor, nb::arg("addr").none(), nb::kw_only(), nb::arg("byte_offset").none() = 0,
                  nb::arg("stride_bytes"), nb::arg("leading_bytes") = 16, nb::arg("swizzle").none() = "128B",
                  nb::arg("version") = 1, nb::arg("base_offset") = 0, nb::arg("lbo_mode") = 0,
                  nb::sig("def descriptor(addr: typing.Any, *, byte_offset: Reg | int = 0, stride_bytes: int, leading_bytes: int "
                          "= 16, swizzle: "
                          "str | None = '128B', version: int = 1, base_offset: int = 0, lbo_mode: int = 0) -> Reg"),
                  "A shared-memory descriptor in a fresh b64 register. Strides in bytes, multiples of 16; `swizzle` is \"NONE\", "
                  "\"32B\", \"64B\", "
                  "\"128B\" or \"128B_BASE32B\".")
      .def_static(
          "masked_descriptor", masked_tcgen05_descriptor, nb::arg("addr").none(), nb::kw_only(),
          nb::arg("byte_offset").none() = 0, nb::arg("mask") = address_mask,
          nb::arg("const_bits").none() = nb::int_(*layout::descriptor_bits(layout::Tcgen05Descriptor{.stride_bytes = 1024})),
          nb::sig("def masked_descriptor(addr: typing.Any, *, byte_offset: Reg | int = 0, mask: int = 0x3FFF0, const_bits: int = "
                  "0x4000404000010000) -> Reg"),
          "A shared-memory descriptor in a fresh b64 register: the masked address, and all other bits ready-made. The default is "
          "that of "
          "`descriptor(addr, stride_bytes=1024)`.");
  using layout::MmaKind;
  using layout::ScaledMmaKind;
  def_any_kind<MmaKind::f16>(tcgen05, "make_instr_desc_f16", "f16", "f16",
                             "The instruction descriptor of kind f16: f16 or bf16 factors into f16 or f32.");
  def_any_kind<MmaKind::tf32>(tcgen05, "make_instr_desc_tf32", "tf32", "f32", "The instruction descriptor of kind tf32.");
  def_any_kind<MmaKind::f8f6f4>(
      tcgen05, "make_instr_desc_f8f6f4", "e4m3", "f32",
      "The instruction descriptor of kind f8f6f4: e4m3, e5m2, e2m3, e3m2 or e2m1 factors into f16 or f32.");
  def_any_kind<MmaKind::i8>(
      tcgen05, "make_instr_desc_i8", "s8", "s32",
      "The instruction descriptor of kind i8: s8 or u8 factors into s32; it may saturate and does not negate.");
  def_scaled_kind<ScaledMmaKind::mxf8f6f4>(
      tcgen05, "make_instr_desc_mxf8f6f4", "e4m3", "ue8m0",
      "The instruction descriptor of kind mxf8f6f4: factors as for f8f6f4, scaled by ue8m0; the scale ids are 0 to 3.");
  def_scaled_kind<ScaledMmaKind::mxf4>(
      tcgen05, "make_instr_desc_mxf4", "e2m1", "ue8m0",
      "The instruction descriptor of kind mxf4: e2m1 scaled by ue8m0; the scale ids are 0 or 2.");
  def_scaled_kind<ScaledMmaKind::mxf4nvf4>(
      tcgen05, "make_instr_desc_mxf4nvf4", "e2m1", "ue4m3",
      "The instruction descriptor of kind mxf4nvf4: e2m1 scaled by ue4m3 or ue8m0; the scale ids are 0 or 2.");
}

}  // namespace

void bind_tcgen05(nb::module_& m) {
  nb::class_<Tcgen05Space> tcgen05(m, "tcgen05", "Tensor memory and the tensor cores of Blackwell (sm_100a).");
  tcgen05
      .def_static(
          "alloc", alloc, nb::arg("slot").none(), nb::arg("ncols").none(), nb::kw_only(), nb::arg("cta_group") = 1,
          nb::arg("pred") = nb::none(),
          nb::sig(
              "def alloc(slot: typing.Any, ncols: Reg | int, *, cta_group: int = 1, pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.alloc`: takes columns of tensor memory (a power of two from 32 to 512) and writes their address to `slot` in "
          "shared memory. One warp.")
      .def_static(
          "dealloc", dealloc, nb::arg("taddr").none(), nb::arg("ncols").none(), nb::kw_only(), nb::arg("cta_group") = 1,
          nb::arg("pred") = nb::none(),
          nb::sig("def dealloc(taddr: Reg, ncols: Reg | int, *, cta_group: int = 1, pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.dealloc`: gives columns of tensor memory back. One warp.")
      .def_static("relinquish_alloc_permit", relinquish_alloc_permit, nb::kw_only(), nb::arg("cta_group") = 1,
                  nb::arg("pred") = nb::none(),
                  nb::sig("def relinquish_alloc_permit(*, cta_group: int = 1, pred: Reg | NegPred | None = None) -> None"),
                  "`tcgen05.relinquish_alloc_permit`: this CTA will take no more tensor memory.")
      .def_static(
          "mma", mma, nb::arg("d").none(), nb::arg("a_desc").none(), nb::arg("b_desc").none(), nb::arg("idesc").none(),
          nb::kw_only(), nb::arg("cta_group") = 1, nb::arg("kind") = "f16", nb::arg("enable_input_d").none() = true,
          nb::arg("scale_d") = nb::none(), nb::arg("sparse") = false, nb::arg("ashift") = false,
          nb::arg("collector_a").none() = nb::none(), nb::arg("a_is_tmem") = false, nb::arg("sparse_metadata") = nb::none(),
          nb::arg("pred_operand") = nb::none(), nb::arg("scale_c").none() = nb::none(),
          nb::arg("disable_output_lane") = nb::none(), nb::arg("scale_a") = nb::none(), nb::arg("scale_b") = nb::none(),
          nb::arg("scale_size").none() = nb::none(), nb::arg("pred") = nb::none(),
          nb::sig(
              "def mma(d: Reg | Address, a_desc: Reg | Address, b_desc: Reg, idesc: Reg | int, *, cta_group: int = 1, kind: str "
              "= "
              "'f16', enable_input_d: Reg | NegPred | bool = True, scale_d: Reg | NegPred | bool | None = None, sparse: bool = "
              "False, "
              "ashift: bool = False, collector_a: str | None = None, a_is_tmem: bool = False, sparse_metadata: Reg | Address | "
              "None = "
              "None, pred_operand: Reg | NegPred | bool | int | None = None, scale_c: int | None = None, disable_output_lane: "
              "RegArray "
              "| typing.Sequence[Reg] | None = None, scale_a: Reg | Address | None = None, scale_b: Reg | Address | None = None, "
              "scale_size: str | None = None, pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.mma`: d = a * b, plus d where `pred_operand`, else `scale_d`, else `enable_input_d` is true. One thread for "
          "all.\n\n"
          "`d` is in tensor memory, `a_desc` and `b_desc` are shared-memory descriptors; with `a_is_tmem`, `a_desc` is an "
          "address in tensor "
          "memory. `kind` is f16, tf32, i8, f8f6f4, or with `scale_a` and `scale_b` (scales in tensor memory) mxf8f6f4, mxf4, "
          "mxf4nvf4. "
          "`collector_a` is fill, use, lastuse or discard. `scale_c` divides d by 2**scale_c before. No lane of d is left out "
          "unless "
          "`disable_output_lane` gives a mask of 4 registers (8 for two CTAs).")
      .def_static(
          "commit", commit, nb::arg("mbar").none(), nb::kw_only(), nb::arg("cta_group") = 1, nb::arg("multicast") = false,
          nb::arg("multicast_mask") = nb::none(), nb::arg("space") = "cluster", nb::arg("pred") = nb::none(),
          nb::sig(
              "def commit(mbar: typing.Any, *, cta_group: int = 1, multicast: bool = False, multicast_mask: Reg | int | None = "
              "None, space: str = 'cluster', pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.commit`: arrives on the mbarrier when all that the thread has begun is complete; with a mask of 16 bits on "
          "that "
          "of every CTA of the cluster whose bit is set.")
      .def_static(
          "fence_before_thread_sync", fence<false>, nb::kw_only(), nb::arg("pred") = nb::none(),
          nb::sig("def fence_before_thread_sync(*, pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.fence::before_thread_sync`: what was begun before comes before what follows a synchronisation of threads.")
      .def_static("fence_after_thread_sync", fence<true>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def fence_after_thread_sync(*, pred: Reg | NegPred | None = None) -> None"),
                  "`tcgen05.fence::after_thread_sync`: what follows comes after what precedes a synchronisation of threads.")
      .def_static("wait_ld", wait<false>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def wait_ld(*, pred: Reg | NegPred | None = None) -> None"),
                  "`tcgen05.wait::ld`: waits until the registers of the thread's loads hold their values.")
      .def_static("wait_st", wait<true>, nb::kw_only(), nb::arg("pred") = nb::none(),
                  nb::sig("def wait_st(*, pred: Reg | NegPred | None = None) -> None"),
                  "`tcgen05.wait::st`: waits for the thread's stores.")
      .def_static(
          "ld", transfer<true>, nb::arg("dst").none(), nb::arg("taddr").none(), nb::kw_only(), nb::arg("shape") = "16x128b",
          nb::arg("count") = 1, nb::arg("dtype").none() = "b32", nb::arg("pack") = false,
          nb::arg("half_split_offset").none() = nb::none(), nb::arg("pred") = nb::none(),
          nb::sig(
              "def ld(dst: RegArray | Reg | typing.Sequence[Reg], taddr: Reg | Address, *, shape: str = '16x128b', count: int = "
              "1, dtype: PtxType | str = 'b32', pack: bool = False, half_split_offset: int | None = None, pred: Reg | NegPred | "
              "None = None) -> None"),
          "`tcgen05.ld`: from tensor memory to registers; `wait_ld` before they are read. `pack` puts two 16-bit columns in one "
          "register.")
      .def_static(
          "st", store, nb::arg("taddr").none(), nb::arg("src").none(), nb::kw_only(), nb::arg("shape") = "16x128b",
          nb::arg("count") = 1, nb::arg("dtype").none() = "b32", nb::arg("unpack") = false,
          nb::arg("half_split_offset").none() = nb::none(), nb::arg("pred") = nb::none(),
          nb::sig(
              "def st(taddr: Reg | Address, src: RegArray | Reg | typing.Sequence[Reg], *, shape: str = '16x128b', count: int = "
              "1, dtype: PtxType | str = 'b32', unpack: bool = False, half_split_offset: int | None = None, pred: Reg | NegPred "
              "| None = None) -> None"),
          "`tcgen05.st`: from registers to tensor memory.")
      .def_static(
          "cp", copy, nb::arg("taddr").none(), nb::arg("src").none(), nb::kw_only(), nb::arg("cta_group") = 1,
          nb::arg("size") = "128x256b", nb::arg("src_is_addr") = nb::none(), nb::arg("pred") = nb::none(),
          nb::sig(
              "def cp(taddr: Reg | Address, src: Reg, *, cta_group: int = 1, size: str = '128x256b', src_is_addr: bool | None = "
              "None, pred: Reg | NegPred | None = None) -> None"),
          "`tcgen05.cp`: from shared memory, as the descriptor `src` says, to tensor memory. `size` with what follows it: "
          "\"64x128b.warpx2::02_13\".")
      .def_static("shift", shift, nb::arg("taddr").none(), nb::kw_only(), nb::arg("cta_group") = 1, nb::arg("pred") = nb::none(),
                  nb::sig("def shift(taddr: Reg | Address, *, cta_group: int = 1, pred: Reg | NegPred | None = None) -> None"),
                  "`tcgen05.shift`: moves rows of tensor memory down by one.");
  bind_descriptors(tcgen05);
  tcgen05.attr("BLACKWELL_MASKED_DESC_B128") = *layout::descriptor_bits(layout::Tcgen05Descriptor{.stride_bytes = 1024});
}

}  // namespace ptx::python
