// What helpers of barriers in shared memory do in several instructions (door/sync.hpp; api.md 6.1).
#pragma once

#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

/// `mbarrier.try_wait.parity.shared.b64 p, [m], phase;` into a fresh predicate; without `.parity`, `phase` is an arrival's state.
Expected<Reg> mbarrier_try_wait(Builder& builder, const Place& m, const Value& phase, bool parity, const Guard& guard,
                                SourceLocation where);
/// Waits for the phase of that parity: `$_mbar_wait_n: <try_wait>; @!p bra $_mbar_wait_n;`. A guard that is false skips all of
/// it:
/// `@!guard bra $_mbar_go_k;` in front and `$_mbar_go_k:` behind.
Expected<void> mbarrier_wait(Builder& builder, const Place& m, const Value& phase, const Guard& guard, SourceLocation where);

/// The address of barrier `stage` of those that start at `first`, 8 bytes apart: `shl.b32 t, stage, 3; add.u32 t, t, offset;`
/// (not for 0) `add.u32 a, base, t;`, a symbol moved into a register first.
Expected<Reg> mbarrier_address(Builder& builder, const Place& first, const Value& stage, SourceLocation where);

/// Checks barriers `byte_offset` bytes behind a base, which is to be a multiple of 8, and their number. Kind bad_declaration.
Expected<void> check_barrier_array(std::int64_t byte_offset, std::int64_t count, SourceLocation where);

/// An arrival at the barrier that lies at the same place of another block of the cluster: `{ .reg .b32 remAddr32;
/// mapa.shared::cluster.u32 remAddr32, address, cta; mbarrier.arrive.shared::cluster.b64 _, [remAddr32], count; }`; a place that
/// is no register alone is put in one first.
Expected<void> mbarrier_arrive_remote(Builder& builder, const Place& m, const Value& cta, const Value& count, const Guard& guard,
                                      SourceLocation where);
/// One of those for each of the blocks whose bit is set. Kind immediate_range: no bit of the lower 16, or others.
Expected<void> mbarrier_arrive_multicast(Builder& builder, const Place& m, std::int64_t mask, const Value& count,
                                         const Guard& guard, SourceLocation where);

}  // namespace ptx::write::idiom
