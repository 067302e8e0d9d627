// Tensor memory and the tensor cores of Blackwell: `k.tcgen05`, which is Python's `ptx.tcgen05`. Each helper writes one
// instruction but where it says more.
#pragma once

#include "ptx/write/door/wgmma.hpp"

namespace ptx::write {

struct Tcgen05Options {
  std::int64_t cta_group = 1;
  Pred pred = {};
};
struct Tcgen05CommitOptions {
  std::int64_t cta_group = 1;
  bool multicast = false;
  std::optional<Source> multicast_mask = {};  ///< a 16-bit number or register; implies `multicast`
  std::string_view space = "cluster";
  Pred pred = {};
};
struct Tcgen05LoadOptions {
  std::string_view shape = "16x128b";
  std::int64_t count = 1;
  std::string_view dtype = "b32";
  bool pack = false;
  std::optional<std::int64_t> half_split_offset = {};
  Pred pred = {};
};
struct Tcgen05StoreOptions {
  std::string_view shape = "16x128b";
  std::int64_t count = 1;
  std::string_view dtype = "b32";
  bool unpack = false;
  std::optional<std::int64_t> half_split_offset = {};
  Pred pred = {};
};
struct Tcgen05CopyOptions {
  std::int64_t cta_group = 1;
  std::string_view size = "128x256b";
  std::optional<bool> src_is_addr = {};  ///< true is refused: PTX copies from where a descriptor says
  Pred pred = {};
};
struct Tcgen05MmaOptions {
  std::int64_t cta_group = 1;
  std::string_view kind = "f16";
  Enable enable_input_d = true;
  std::optional<Enable> scale_d = {};  ///< in place of enable_input_d
  bool sparse = false, ashift = false;
  std::string_view collector_a = {};  ///< fill, use, lastuse, discard; empty: none
  bool a_is_tmem = false;
  std::optional<TmemArg> sparse_metadata = {};
  std::optional<Enable> pred_operand = {};   ///< in place of both
  std::optional<std::int64_t> scale_c = {};  ///< d is divided by 2^scale_c first
  Registers disable_output_lane = {};
  std::optional<TmemArg> scale_a = {}, scale_b = {};  ///< kinds mx…: the scales in tensor memory
  std::string_view scale_size = {};                   ///< kinds mx…: block16, block32, scale_vec::1X …; empty: the kind's own
  Pred pred = {};
};
struct Tcgen05DescriptorFields {
  Bytes byte_offset = 0;
  std::int64_t stride_bytes = 0, leading_bytes = 16;
  std::optional<std::string_view> swizzle = "128B";  ///< nothing: NONE
  std::int64_t version = 1, base_offset = 0, lbo_mode = 0;
};
struct Tcgen05MaskedDescriptor {
  Bytes byte_offset = 0;
  std::int64_t mask = 0x3FFF0;
  std::uint64_t const_bits = 0x4000404000010000;
};
struct InstrDescF16Bf16F32 {
  std::int64_t m = 128, n = 256;
  std::string_view ab_dtype = "bf16", a_major = "K", b_major = "K";
  std::int64_t scale_a = 1, scale_b = 1;
  bool saturate = false, sparse = false;
  std::int64_t max_shift = 0, sparsity_selector = 0;
};

/// The number that make_instr_desc_f16bf16_f32 gives.
Expected<std::uint32_t> instruction_descriptor(const InstrDescF16Bf16F32& descriptor);

/// Places in tensor memory are 32-bit registers, or `addr(register, columns)`.
class Tcgen05 : public Door {
 public:
  using Door::Door;

  /// `tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [slot], columns`
  void alloc(const PlaceArg& slot, const Source& ncols, const Tcgen05Options& options = {});
  /// `tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, columns`
  void dealloc(const TmemColumns& taddr, const Source& ncols, const Tcgen05Options& options = {});
  /// `tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned`
  void relinquish_alloc_permit(const Tcgen05Options& options = {}, SourceLocation at = SourceLocation::current());

  /// `tcgen05.mma[.sp].cta_group::G.kind::K[.block_scale[.<scale_size>]][.ashift][.collector::a::C] [d], a|[a], b[, [metadata]],
  /// idesc[, {disable…}][, [scale_a], [scale_b]], p[, scale_c]`. Before it what makes the predicate `p`
  /// (idiom::enable_predicate); and from PTX 8.8 on, for a dense product without scales, `mov.u32 z, 0` and z 4 or 8 times
  /// (cta_group 1 or 2) as the disable-output-lane vector, unless one is given. `a_desc` and `b_desc` are descriptors in 64-bit
  /// registers; with `a_is_tmem`, `a_desc` is a place in tensor memory.
  void mma(const TmemArg& d, const PlaceArg& a_desc, const PlaceArg& b_desc, const Source& idesc,
           const Tcgen05MmaOptions& options = {});
  /// `tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster[.multicast::cluster].b64 [mbar][, mask]`; a mask that is
  /// a number first `mov.b16 m, mask`. `space` is "cluster" or "cta", which are the same here. Kind operand_mismatch for
  /// `multicast` without a mask.
  void commit(const PlaceArg& mbar, const Tcgen05CommitOptions& options = {});
  void fence_before_thread_sync(const Pred& pred = {}, SourceLocation at = SourceLocation::current());
  void fence_after_thread_sync(const Pred& pred = {}, SourceLocation at = SourceLocation::current());
  void wait_ld(const Pred& pred = {}, SourceLocation at = SourceLocation::current());
  void wait_st(const Pred& pred = {}, SourceLocation at = SourceLocation::current());

  /// `tcgen05.ld.sync.aligned.<shape>.x<count>[.pack::16b].<dtype> {dst}, [taddr][, half_split_offset]`, and
  /// `tcgen05.st.sync.aligned.<shape>.x<count>[.unpack::16b].<dtype> [taddr], [half_split_offset, ]{src}`
  void ld(const Registers& dst, const TmemArg& taddr, const Tcgen05LoadOptions& options = {});
  void st(const TmemArg& taddr, const Registers& src, const Tcgen05StoreOptions& options = {});
  /// `tcgen05.cp.cta_group::G.<size> [taddr], descriptor`; `size` with what stands behind it, "64x128b.warpx2::02_13".
  void cp(const TmemArg& taddr, const MatrixDescriptor& src, const Tcgen05CopyOptions& options = {});
  /// `tcgen05.shift.cta_group::G.down [taddr]`
  void shift(const TmemArg& taddr, const Tcgen05Options& options = {});

  ptx::Reg<Type::b64> descriptor(const PlaceArg& addr, const Tcgen05DescriptorFields& fields);
  ptx::Reg<Type::b64> masked_descriptor(const PlaceArg& addr, const Tcgen05MaskedDescriptor& descriptor = {});

  // Numbers; an error is kept in the kernel, and 0 given back.
  std::uint32_t make_instr_desc_f16bf16_f32(const InstrDescF16Bf16F32& descriptor = {},
                                            SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_f16(const layout::InstructionDescriptor& descriptor = {},
                                    SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_tf32(const layout::InstructionDescriptor& descriptor = {},
                                     SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_f8f6f4(const layout::InstructionDescriptor& descriptor = {},
                                       SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_i8(const layout::InstructionDescriptor& descriptor = {},
                                   SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_mxf8f6f4(const layout::ScaledInstructionDescriptor& descriptor = {},
                                         SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_mxf4(const layout::ScaledInstructionDescriptor& descriptor = {},
                                     SourceLocation at = SourceLocation::current());
  std::uint32_t make_instr_desc_mxf4nvf4(const layout::ScaledInstructionDescriptor& descriptor = {},
                                         SourceLocation at = SourceLocation::current());

 private:
  std::uint32_t number(Expected<std::uint32_t> made, SourceLocation at);
};

}  // namespace ptx::write
