// Fences, barriers of the block and the cluster, pipelines, registers of a warp (api.md 4.9, 6.2 to 6.4).
#pragma once

#include "ptx/write/place.hpp"

namespace ptx::write::idiom {

// -- the block
/// `bar.sync n;`, `bar.sync n, count;`
Expected<void> bar_sync(Builder& builder, const Value& n, const std::optional<Value>& count, const Guard& guard,
                        SourceLocation where);
// -- the cluster
/// `mov.u32 r, %cluster_ctarank; setp.eq.u32 p, r, n;` into fresh registers: whether this is block n of its cluster.
Expected<Reg> cluster_rank(Builder& builder, const Value& n, SourceLocation where);
/// `mapa.shared::cluster.u32 r, address, cta;` into a fresh .b32 register; a number is moved first, `mov.u32 c, cta;`.
Expected<Reg> map_shared(Builder& builder, const Place& place, const Value& cta, const Guard& guard, SourceLocation where);

// -- pipelines
/// A ring of stages: `cursor` is the next stage, `phase` the parity that flips each time round.
struct Pipeline {
  std::int64_t stages = 0;
  Reg cursor, phase;
};
/// `mov.u32 cursor, 0;` and `mov.u32 phase, 0;` for those that are not given. Kind immediate_range: no stages.
Expected<Pipeline> make_pipeline(Builder& builder, std::int64_t stages, const std::optional<Reg>& cursor,
                                 const std::optional<Reg>& phase, SourceLocation where);
/// Goes on to the next stage, and gives it, a fresh .u32 register: `setp.eq.u32 p, cursor, stages; selp.u32 f, 1, 0, p; xor.b32
/// phase, phase, f; selp.u32 stage, 0, cursor, p; add.s32 cursor, stage, 1;`
Expected<Reg> advance(Builder& builder, const Pipeline& pipeline, SourceLocation where);

}  // namespace ptx::write::idiom
