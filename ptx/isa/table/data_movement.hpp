// Data movement: mov, ld and st, addresses, caches and cache policies, the stack (manual: "Data Movement and Conversion
// Instructions", "Stack Manipulation Instructions"), without cvt and the asynchronous copies.
#pragma once

#include "ptx/isa/row.hpp"

// Slots that many rows of ld and st share.
#define PTX_MEMORY_TYPES \
  " .type = { .b8, .b16, .b32, .b64, .b128 @8.3 @sm_70, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }"
#define PTX_L1_EVICT                                                                                                         \
  " .l1 = { .L1::evict_normal @7.4 @sm_70, .L1::evict_unchanged @7.4 @sm_70, .L1::evict_first @7.4 @sm_70, .L1::evict_last " \
  "@7.4 @sm_70,"                                                                                                             \
  " .L1::no_allocate @7.4 @sm_70 }"
#define PTX_L2_EVICT " .l2_evict = { .L2::evict_normal, .L2::evict_first, .L2::evict_last }"
#define PTX_LD_ORDER " .sem = { .relaxed, .acquire } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys } .ss = { .global }"
#define PTX_ST_ORDER " .sem = { .relaxed, .release } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys } .ss = { .global }"
#define PTX_L2_HINT " .l2 = { .L2::cache_hint @7.4 @sm_80 }"
#define PTX_PREFETCH " .prefetch = { .L2::64B @7.4 @sm_75, .L2::128B @7.4 @sm_75, .L2::256B @7.4 @sm_80 }"
// Slots that several rows share.
#define PTX_MMIO_TYPES " .type = { .b8, .b16, .b32, .b64, .b128 @8.4, .u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f32, .f64 }"
#define PTX_POLICY_PRIORITIES                                                                  \
  " .primary = { .L2::evict_last, .L2::evict_normal, .L2::evict_first, .L2::evict_unchanged }" \
  " .secondary = { .L2::evict_first, .L2::evict_unchanged }"
#define PTX_WINDOWS                                                                                                         \
  " .space = { .const @3.1, .global, .local, .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .param @7.7 @sm_70," \
  " .param::entry @8.3 @sm_70 }"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row data_movement[] = {
  row("mov.type  d:=.type, a:!.type ;"
      " .type = { .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64, .pred }",
      since(1,0), on(sm_10), Effect::pure, exec("mov"), doc("data-movement-and-conversion-instructions-mov", "d = a.")),
  row("mov.type  d:=.type, a:special.type ; .type = { .u32, .s32, .b32, .u64, .s64, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_special"), doc("data-movement-and-conversion-instructions-mov", "d = a special register.")),
  row("mov.type  d:=.type, a:special.u32 ; .type = { .u16, .s16, .b16 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_special_low"), rule("special_in_16_bits"),
      doc("data-movement-and-conversion-instructions-mov", "d = the low 16 bits of %tid, %ntid, %ctaid or %nctaid, as before PTX 2.0.")),
  row("mov.pred  d:=.pred, a:special.pred ;",
      since(7,8), on(sm_90), Effect::pure, exec("mov_special_pred"),
      doc("data-movement-and-conversion-instructions-mov", "d = a special register that is a predicate.")),
  row("mov.vec.type  d:=?.vec.type, a:.vec.type ; .vec = { .v2, .v4 } .type = { .b16, .b32, .u16, .u32, .s16, .s32, .f32 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_vector"),
      doc("data-movement-and-conversion-instructions-mov", "d = a, element by element.")),
  row("mov.vec.type  d:=?.vec.type, a:.vec.type ; .vec = { .v2 } .type = { .b64, .u64, .s64, .f64 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_vector"),
      doc("data-movement-and-conversion-instructions-mov", "d = a, element by element.")),
  row("mov.vec.type  d:=?.vec.type, a:special.b128 ; .vec = { .v4 } .type = { .b32, .u32, .s32 }",
      since(2,0), on(sm_20), Effect::pure, exec("mov_special_vector"),
      doc("data-movement-and-conversion-instructions-mov", "d = a special register of four elements.")),
  row("mov.b128  d:=.b128, a:special.b128 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_special_vector"),
      doc("data-movement-and-conversion-instructions-mov", "d = a special register of four elements.")),
  row("mov.type  d:=.type, a:symbol ; .type = { .u16, .s16, .b16, .b128 @8.3 @sm_70 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_symbol_narrow_or_wide"),
      doc("data-movement-and-conversion-instructions-mov", "d = the low bits of a variable's address, or all of them and zeros.")),
  row("mov.type  d:=.type, a:symbol ; .type = { .u32, .s32, .b32, .u64, .s64, .b64 }",
      since(1,0), on(sm_10), Effect::pure, exec("mov_symbol"),
      doc("data-movement-and-conversion-instructions-mov", "d = the address of a variable in its state space, or of a kernel parameter.")),
  row("mov.b32  d:=.b32, a:.v2.b16 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_pack"), doc("data-movement-and-conversion-instructions-mov-2", "d = two halves, the first lowest.")),
  row("mov.b64  d:=.b64, a:.v2.b32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_pack"), doc("data-movement-and-conversion-instructions-mov-2", "d = two words, the first lowest.")),
  row("mov.b64  d:=.b64, a:.v4.b16 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_pack"), doc("data-movement-and-conversion-instructions-mov-2", "d = four halves, the first lowest.")),
  row("mov.b32  d:=.v2.b16, a:.b32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_unpack"), doc("data-movement-and-conversion-instructions-mov-2", "the two halves of a, lowest first.")),
  row("mov.b64  d:=.v2.b32, a:.b64 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_unpack"), doc("data-movement-and-conversion-instructions-mov-2", "the two words of a, lowest first.")),
  row("mov.b64  d:=.v4.b16, a:.b64 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_unpack"), doc("data-movement-and-conversion-instructions-mov-2", "the four halves of a, lowest first.")),
  // ld and st: in global memory and through generic addresses with a cache operator, or with an eviction priority; 32 bytes at once; in the
  // other spaces. The 32-byte rows come first where the others spell the same, since the first row that fits is taken.
  row("ld{.weak}{.ss}{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.ss] {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v8 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,8), on(sm_100), reads("a"), exec("ld"), doc("data-movement-and-conversion-instructions-ld", "d = 32 bytes of memory at a.")),
  row("ld{.weak}{.ss}{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.ss] {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v4 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,8), on(sm_100), reads("a"), exec("ld"), doc("data-movement-and-conversion-instructions-ld", "d = 32 bytes of memory at a.")),
  row("ld{.weak}{.ss}{.cop}{.l2}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.ss] {, policy:.u64 @.l2} ;"
      " .ss = { .global } .cop = { .ca, .cg, .cs, .lu, .cv }" PTX_L2_HINT PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,0), on(sm_10), reads("a"), exec("ld"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-ld", "d = memory at a.")),
  row("ld{.weak}{.ss}.l1{.l2}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.ss] {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(7,4), on(sm_70), reads("a"), exec("ld"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-ld", "d = memory at a, kept in cache as told.")),
  row("ld{.weak}.ss{.cop}{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .local, .param, .param::entry @8.3, .param::func @8.3, .const }"
      " .cop = { .ca, .cg, .cs, .lu, .cv } .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,0), on(sm_10), reads("a"), exec("ld"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-ld", "d = memory at a.")),
  row("ld.volatile{.ss}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .ss = { .global }" PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,1), on(sm_10), reads("a"), Effect::volatile_, exec("ld"), rule("vector_bytes"),
      doc("data-movement-and-conversion-instructions-ld", "d = memory at a, read as often as written.")),
  row("ld.volatile.ss{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .local @9.1 } .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,1), on(sm_10), reads("a"), Effect::volatile_, exec("ld"), rule("vector_bytes"),
      doc("data-movement-and-conversion-instructions-ld", "d = memory at a, read as often as written.")),
  row("ld.sem.scope{.ss}{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.ss] {, policy:.u64 @.l2} ;"
      PTX_LD_ORDER PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v8 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,8), on(sm_100), reads("a"), syncs(Sync::access), exec("ld"), doc("data-movement-and-conversion-instructions-ld", "d = 32 bytes of memory at a, ordered.")),
  row("ld.sem.scope{.ss}{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.ss] {, policy:.u64 @.l2} ;"
      PTX_LD_ORDER PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v4 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,8), on(sm_100), reads("a"), syncs(Sync::access), exec("ld"), doc("data-movement-and-conversion-instructions-ld", "d = 32 bytes of memory at a, ordered.")),
  row("ld.sem.scope{.ss}{.l1}{.l2}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.ss] {, policy:.u64 @.l2} ;"
      PTX_LD_ORDER PTX_L1_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(6,0), on(sm_70), reads("a"), syncs(Sync::access), exec("ld"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-ld", "d = memory at a, ordered.")),
  row("ld.sem.scope.ss{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .sem = { .relaxed, .acquire } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys } .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90 }"
      " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(6,0), on(sm_70), reads("a"), syncs(Sync::access), exec("ld"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-ld", "d = memory at a, ordered.")),
  row("ld.global.nc{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.global] {, policy:.u64 @.l2} ;"
      PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v8 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,8), on(sm_100), reads("a"), exec("ld"),
      doc("data-movement-and-conversion-instructions-ld-global-nc", "d = 32 bytes of global memory that no thread writes while the kernel runs.")),
  row("ld.global.nc{.l1}{.l2_evict}{.l2}{.prefetch}.vec.type  d:=?.vec.type, [a:.global] {, policy:.u64 @.l2} ;"
      PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v4 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,8), on(sm_100), reads("a"), exec("ld"),
      doc("data-movement-and-conversion-instructions-ld-global-nc", "d = 32 bytes of global memory that no thread writes while the kernel runs.")),
  row("ld.global{.cop}.nc{.l2}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.global] {, policy:.u64 @.l2} ;"
      " .cop = { .ca, .cg, .cs }" PTX_L2_HINT PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(3,1), on(sm_32), reads("a"), exec("ld"), rule("vector_bytes"),
      doc("data-movement-and-conversion-instructions-ld-global-nc", "d = global memory that no thread writes while the kernel runs.")),
  row("ld.global.nc.l1{.l2}{.prefetch}{.vec}.type  d:=.vec.type+, [a:.global] {, policy:.u64 @.l2} ;"
      PTX_L1_EVICT PTX_L2_HINT PTX_PREFETCH " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(7,4), on(sm_70), reads("a"), exec("ld"), rule("vector_bytes"),
      doc("data-movement-and-conversion-instructions-ld-global-nc", "d = global memory that no thread writes while the kernel runs.")),
  row("st{.weak}{.ss}{.l1}{.l2_evict}{.l2}.vec.type  [a:.ss], b:?.vec.type {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT " .vec = { .v8 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,8), on(sm_100), writes("a"), exec("st"), doc("data-movement-and-conversion-instructions-st", "32 bytes of memory at a = b.")),
  row("st{.weak}{.ss}{.l1}{.l2_evict}{.l2}.vec.type  [a:.ss], b:?.vec.type {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT " .vec = { .v4 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,8), on(sm_100), writes("a"), exec("st"), doc("data-movement-and-conversion-instructions-st", "32 bytes of memory at a = b.")),
  row("st{.weak}{.ss}{.cop}{.l2}{.vec}.type  [a:.ss], b:.vec.type+ {, policy:.u64 @.l2} ;"
      " .ss = { .global } .cop = { .wb, .cg, .cs, .wt }" PTX_L2_HINT " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,0), on(sm_10), writes("a"), exec("st"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-st", "memory at a = b.")),
  row("st{.weak}{.ss}.l1{.l2}{.vec}.type  [a:.ss], b:.vec.type+ {, policy:.u64 @.l2} ;"
      " .ss = { .global }" PTX_L1_EVICT PTX_L2_HINT " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(7,4), on(sm_70), writes("a"), exec("st"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-st", "memory at a = b, kept in cache as told.")),
  row("st{.weak}.ss{.cop}{.vec}.type  [a:.ss], b:.vec.type+ ;"
      " .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .local, .param, .param::func @8.3 }"
      " .cop = { .wb, .cg, .cs, .wt } .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,0), on(sm_10), writes("a"), exec("st"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-st", "memory at a = b.")),
  row("st.volatile{.ss}{.vec}.type  [a:.ss], b:.vec.type+ ;"
      " .ss = { .global, .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .local @9.1 } .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(1,1), on(sm_10), writes("a"), Effect::volatile_, exec("st"), rule("vector_bytes"),
      doc("data-movement-and-conversion-instructions-st", "memory at a = b, written as often as written.")),
  row("st.sem.scope{.ss}{.l1}{.l2_evict}{.l2}.vec.type  [a:.ss], b:?.vec.type {, policy:.u64 @.l2} ;"
      PTX_ST_ORDER PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT " .vec = { .v8 } .type = { .b32, .u32, .s32, .f32 }",
      since(8,8), on(sm_100), writes("a"), syncs(Sync::access), exec("st"), doc("data-movement-and-conversion-instructions-st", "32 bytes of memory at a = b, ordered.")),
  row("st.sem.scope{.ss}{.l1}{.l2_evict}{.l2}.vec.type  [a:.ss], b:?.vec.type {, policy:.u64 @.l2} ;"
      PTX_ST_ORDER PTX_L1_EVICT PTX_L2_EVICT PTX_L2_HINT " .vec = { .v4 } .type = { .b64, .u64, .s64, .f64 }",
      since(8,8), on(sm_100), writes("a"), syncs(Sync::access), exec("st"), doc("data-movement-and-conversion-instructions-st", "32 bytes of memory at a = b, ordered.")),
  row("st.sem.scope{.ss}{.l1}{.l2}{.vec}.type  [a:.ss], b:.vec.type+ {, policy:.u64 @.l2} ;"
      PTX_ST_ORDER PTX_L1_EVICT PTX_L2_HINT " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(6,0), on(sm_70), writes("a"), syncs(Sync::access), exec("st"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-st", "memory at a = b, ordered.")),
  row("st.sem.scope.ss{.vec}.type  [a:.ss], b:.vec.type+ ;"
      " .sem = { .relaxed, .release } .scope = { .cta, .cluster @7.8 @sm_90, .gpu, .sys } .ss = { .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90 }"
      " .vec = { .v2, .v4, .v8 }" PTX_MEMORY_TYPES,
      since(6,0), on(sm_70), writes("a"), syncs(Sync::access), exec("st"), rule("vector_bytes"), doc("data-movement-and-conversion-instructions-st", "memory at a = b, ordered.")),
  // .u32 belongs to 32-bit addressing, which ptxas no longer assembles.
  row("cvta.space.size  d:=.size, a:.size ;"
      " .space = { .const @3.1, .global, .local, .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .param @7.7 @sm_70, .param::entry @8.3 @sm_70 }"
      " .size = { .u64 }",
      since(2,0), on(sm_20), Effect::pure, exec("cvta"), doc("data-movement-and-conversion-instructions-cvta", "the generic address of an address in a space.")),
  row("cvta.to.space.size  d:=.size, a:.size ;"
      " .space = { .const @3.1, .global, .local, .shared, .shared::cta @7.8, .shared::cluster @7.8 @sm_90, .param @7.7 @sm_70, .param::entry @8.3 @sm_70 }"
      " .size = { .u64 }",
      since(2,0), on(sm_20), Effect::pure, exec("cvta_to"), doc("data-movement-and-conversion-instructions-cvta", "the address in a space of a generic address.")),
  row("mapa.shared::cluster.type  d:=.type, a:.type, b:.u32 ; .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("mapa"),
      doc("data-movement-and-conversion-instructions-mapa", "the address of a shared variable in another CTA of the cluster.")),

  row("ld.mmio.relaxed.sys{.ss}.type  d:=.type+, [a:.ss] ; .ss = { .global }" PTX_MMIO_TYPES,
      since(8,2), on(sm_70), reads("a"), syncs(Sync::access), Effect::volatile_, exec("ld_mmio"),
      doc("data-movement-and-conversion-instructions-ld", "d = memory of a device at a, read exactly once.")),
  row("st.mmio.relaxed.sys{.ss}.type  [a:.ss], b:.type+ ; .ss = { .global }" PTX_MMIO_TYPES,
      since(8,2), on(sm_70), writes("a"), syncs(Sync::access), Effect::volatile_, exec("st_mmio"),
      doc("data-movement-and-conversion-instructions-st", "memory of a device at a = b, written exactly once.")),
  row("ldu{.ss}{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .b8, .b16, .b32, .u8, .u16, .u32, .s8, .s16, .s32, .f32 }",
      since(2,0), on(sm_20), reads("a"), exec("ldu"),
      doc("data-movement-and-conversion-instructions-ldu", "d = read-only memory at a, the same for the whole warp.")),
  row("ldu{.ss}{.vec}.type  d:=.vec.type+, [a:.ss] ; .ss = { .global } .vec = { .v2 } .type = { .b64, .u64, .s64, .f64 }",
      since(2,0), on(sm_20), reads("a"), exec("ldu"),
      doc("data-movement-and-conversion-instructions-ldu", "d = read-only memory at a, the same for the whole warp.")),
  row("ldu{.ss}.b128  d:=.b128, [a:.ss] ; .ss = { .global }",
      since(8,3), on(sm_70), reads("a"), exec("ldu"),
      doc("data-movement-and-conversion-instructions-ldu", "d = 16 bytes of read-only memory at a, the same for the whole warp.")),

  // ---- caches
  row("prefetch{.space}.level  [a:.space] ; .space = { .global, .local } .level = { .L1, .L2 }",
      since(2,0), on(sm_20), Effect::volatile_, exec("cache_hint"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into a cache.")),
  row("prefetch{.space}.level  [a:.space] ; .space = { .global } .level = { .L2::evict_last, .L2::evict_normal }",
      since(7,4), on(sm_80), Effect::volatile_, exec("cache_hint"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into the L2 cache with an eviction priority.")),
  row("prefetch{.space}.tensormap  [a:.space] ; .space = { .const, .param }",
      since(8,0), on(sm_90), Effect::volatile_, exec("cache_hint"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the tensor map at a into the cache that tensor copies read it from.")),
  row("prefetchu.L1  [a] ;",
      since(2,0), on(sm_20), Effect::volatile_, exec("cache_hint"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into the uniform cache.")),
  row("applypriority{.space}.L2::evict_normal  [a:.space], size:#.u32=128 ; .space = { .global }",
      since(7,4), on(sm_80), Effect::volatile_, exec("apply_priority"),
      doc("data-movement-and-conversion-instructions-applypriority", "give the 128 bytes at a the normal eviction priority again.")),
  row("discard{.space}.L2  [a:.space], size:#.u32=128 ; .space = { .global }",
      since(7,4), on(sm_80), writes("a"), Effect::volatile_, exec("discard"),
      doc("data-movement-and-conversion-instructions-discard", "destroy the 128 bytes at a in the cache without writing them back.")),
  row("createpolicy.range{.space}.primary{.secondary}.b64  policy:=.u64, [a:.space], primary_size:.u32, total_size:.u32 ;"
      " .space = { .global }" PTX_POLICY_PRIORITIES,
      since(7,4), on(sm_80), Effect::pure, exec("createpolicy"), rule("policy_range"),
      doc("data-movement-and-conversion-instructions-createpolicy", "a cache policy for the first primary_size bytes at a, and another for the rest.")),
  row("createpolicy.fractional.primary{.secondary}.b64  policy:=.u64 {, fraction:.f32} ;" PTX_POLICY_PRIORITIES,
      since(7,4), on(sm_80), Effect::pure, exec("createpolicy"), rule("policy_fraction"),
      doc("data-movement-and-conversion-instructions-createpolicy", "a cache policy for a fraction of all addresses, and another for the rest.")),
  row("createpolicy.cvt.L2.b64  policy:=.u64, property:.u64 ;",
      since(7,4), on(sm_80), Effect::pure, exec("createpolicy"),
      doc("data-movement-and-conversion-instructions-createpolicy", "the cache policy that an access property of the CUDA API stands for.")),

  // ---- addresses
  row("isspacep.space  p:=.pred, a:.u64 ;" PTX_WINDOWS,
      since(2,0), on(sm_20), Effect::pure, exec("isspacep"),
      doc("data-movement-and-conversion-instructions-isspacep", "p = does the generic address a lie in the space's window.")),
  row("isspacep.space  p:=.pred, a:.u32 ;" PTX_WINDOWS,
      since(2,0), on(sm_20), Effect::pure, exec("isspacep"),
      doc("data-movement-and-conversion-instructions-isspacep", "p = does the generic address a lie in the space's window.")),
  row("cvta.space.size  d:=.size, a:symbol.space ;" PTX_WINDOWS " .size = { .u32, .u64 }",
      since(2,0), on(sm_20), Effect::pure, exec("cvta_symbol"),
      doc("data-movement-and-conversion-instructions-cvta", "the generic address of a variable in a space.")),
  row("mapa.type  d:=.type, a:.type, b:.u32 ; .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("mapa"),
      doc("data-movement-and-conversion-instructions-mapa", "the generic address of a shared variable in another CTA of the cluster.")),
  row("mapa{.space}.type  d:=.type, a:symbol.shared, b:.u32 ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("mapa"),
      doc("data-movement-and-conversion-instructions-mapa", "the address of a shared variable in another CTA of the cluster.")),
  row("getctarank{.space}.type  d:=.u32, a:.type ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("getctarank"),
      doc("data-movement-and-conversion-instructions-getctarank", "the rank of the CTA whose shared memory a points to.")),
  row("getctarank{.space}.type  d:=.u32, a:symbol.shared ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, exec("getctarank"),
      doc("data-movement-and-conversion-instructions-getctarank", "the rank of the CTA whose shared variable a is.")),

  // ---- registers
  row("mov.b128  d:=.b128, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_b128"),
      doc("data-movement-and-conversion-instructions-mov", "d = a.")),
  row("mov.b16  d:=.b16, a:.v2.b8 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_pack"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = two bytes, the first lowest.")),
  row("mov.b32  d:=.b32, a:.v4.b8 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_pack"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = four bytes, the first lowest.")),
  row("mov.b128  d:=.b128, a:.v2.b64 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_pack"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = two double words, the first lowest.")),
  row("mov.b128  d:=.b128, a:.v4.b32 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_pack"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = four words, the first lowest.")),
  row("mov.b16  d:=.v2.b8, a:.b16 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_unpack"),
      doc("data-movement-and-conversion-instructions-mov-2", "the two bytes of a, lowest first.")),
  row("mov.b32  d:=.v4.b8, a:.b32 ;",
      since(1,0), on(sm_10), Effect::pure, exec("mov_unpack"),
      doc("data-movement-and-conversion-instructions-mov-2", "the four bytes of a, lowest first.")),
  row("mov.b128  d:=.v2.b64, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_unpack"),
      doc("data-movement-and-conversion-instructions-mov-2", "the two double words of a, lowest first.")),
  row("mov.b128  d:=.v4.b32, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, exec("mov_unpack"),
      doc("data-movement-and-conversion-instructions-mov-2", "the four words of a, lowest first.")),
  row("prmt.b32{.mode}  d:=.b32, a:.b32, b:.b32, c:.b32 ; .mode = { .f4e, .b4e, .rc8, .ecl, .ecr, .rc16 }",
      since(2,0), on(sm_20), Effect::pure, exec("prmt"),
      doc("data-movement-and-conversion-instructions-prmt", "d = four bytes picked from those of a and b by c.")),

  // ---- the stack (manual: "Stack Manipulation Instructions")
  row("stacksave.type  d:=.type ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, exec("stacksave"),
      doc("stack-manipulation-instructions-stacksave", "d = the stack pointer.")),
  row("stackrestore.type  a:%.type ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, exec("stackrestore"),
      doc("stack-manipulation-instructions-stackrestore", "the stack pointer = a.")),
  row("alloca.type  ptr:=.type, size:.type {, align:#.u32=1..8388608*2} ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, exec("allocate_on_stack"),
      doc("stack-manipulation-instructions-alloca", "the address in local memory of size fresh bytes of the stack.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_MEMORY_TYPES
#undef PTX_L1_EVICT
#undef PTX_L2_EVICT
#undef PTX_LD_ORDER
#undef PTX_ST_ORDER
#undef PTX_L2_HINT
#undef PTX_PREFETCH
#undef PTX_MMIO_TYPES
#undef PTX_POLICY_PRIORITIES
#undef PTX_WINDOWS
