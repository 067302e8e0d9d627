// Tensor memory and the tensor cores of Blackwell (api.md 10). A place in tensor memory is a 32-bit register, perhaps with a
// number of columns behind it. Each function writes one instruction but where it says more.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ptx/write/builder.hpp"
#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// `tcgen05.alloc.cta_group::G.sync.aligned.shared::cta.b32 [slot], columns`
Expected<void> tcgen05_alloc(Builder& builder, const Place& slot, const Value& columns, std::int64_t cta_group,
                             const Guard& guard, Where where);
/// `tcgen05.dealloc.cta_group::G.sync.aligned.b32 taddr, columns`
Expected<void> tcgen05_dealloc(Builder& builder, const Value& taddr, const Value& columns, std::int64_t cta_group,
                               const Guard& guard, Where where);
/// `tcgen05.relinquish_alloc_permit.cta_group::G.sync.aligned`
Expected<void> tcgen05_relinquish_alloc_permit(Builder& builder, std::int64_t cta_group, const Guard& guard, Where where);

/// `tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster[.multicast::cluster].b64 [mbar][, mask]`; a mask that is a
/// number first `mov.b16 m, mask`. `space` is "cluster" or "cta", which are the same here. Kind operand_mismatch for `multicast`
/// without a mask.
struct Tcgen05Commit {
  Place mbar;
  std::int64_t cta_group = 1;
  bool multicast = false;
  std::optional<Value> multicast_mask = {};  ///< bit i stands for the CTA of rank i; implies `multicast`
  std::string_view space = "cluster";
};
Expected<void> tcgen05_commit(Builder& builder, const Tcgen05Commit& commit, const Guard& guard, Where where);

/// `tcgen05.fence::before_thread_sync` or `::after_thread_sync`
Expected<void> tcgen05_fence(Builder& builder, bool after, const Guard& guard, Where where);
/// `tcgen05.wait::ld.sync.aligned` or `::st`
Expected<void> tcgen05_wait(Builder& builder, bool stores, const Guard& guard, Where where);

/// `tcgen05.ld.sync.aligned.<shape>.x<count>[.pack::16b].<dtype> {registers}, [taddr][, half_split_offset]`, or
/// `tcgen05.st.sync.aligned.<shape>.x<count>[.unpack::16b].<dtype> [taddr], [half_split_offset, ]{registers}`
struct Tcgen05Transfer {
  Place taddr;
  std::span<const Reg> registers;
  std::string_view shape = "16x128b";
  std::int64_t count = 1;
  std::string_view dtype = "b32";
  bool pack = false;                                   ///< two 16-bit elements a register
  std::optional<std::int64_t> half_split_offset = {};  ///< of 16x32bx2
};
Expected<void> tcgen05_ld(Builder& builder, const Tcgen05Transfer& load, const Guard& guard, Where where);
Expected<void> tcgen05_st(Builder& builder, const Tcgen05Transfer& store, const Guard& guard, Where where);

/// `tcgen05.cp.cta_group::G.<size> [taddr], descriptor`; `size` with what stands behind it, "64x128b.warpx2::02_13".
Expected<void> tcgen05_cp(Builder& builder, const Place& taddr, Reg descriptor, std::string_view size, std::int64_t cta_group,
                          const Guard& guard, Where where);
/// `tcgen05.shift.cta_group::G.down [taddr]`
Expected<void> tcgen05_shift(Builder& builder, const Place& taddr, std::int64_t cta_group, const Guard& guard, Where where);

/// `tcgen05.mma[.sp].cta_group::G.kind::K[.block_scale[.<scale_size>]][.ashift][.collector::a::C] [d], a|[a], b[, [metadata]],
/// idesc[, {disable…}][, [scale_a], [scale_b]], p[, scale_c]`. Before it what makes the predicate `p` of `enable`
/// (enable_predicate); and from PTX 8.8 on, for a dense product without scales, `mov.u32 z, 0` and z 4 or 8 times (cta_group 1 or
/// 2) as the disable-output-lane vector, unless one is given.
struct Tcgen05Mma {
  Place d;
  Value a_descriptor;                ///< a 64-bit register
  std::optional<Place> a_tmem = {};  ///< in its stead
  Value b_descriptor, idesc;
  Value enable;  ///< whether d is added
  std::string_view enable_name = "enable_input_d";
  std::int64_t cta_group = 1;
  std::string_view kind = "f16";
  bool ashift = false;
  std::string_view collector_a = {};  ///< fill, use, lastuse, discard; empty: none
  bool sparse = false;
  std::optional<Place> sparse_metadata = {};
  std::optional<std::int64_t> scale_c = {};  ///< d is divided by 2^scale_c first
  std::span<const Reg> disable_output_lane = {};
  std::optional<Place> scale_a = {}, scale_b = {};  ///< kinds mx…: the scales in tensor memory
  std::string_view scale_size = {};                 ///< kinds mx…: block16, block32, scale_vec::1X …; empty: the kind's own
};
Expected<void> tcgen05_mma(Builder& builder, const Tcgen05Mma& mma, const Guard& guard, Where where);

}  // namespace ptx::write::idiom
