// Memory and addresses beyond ld and st (manual: "Data Movement and Conversion Instructions"): memory-mapped devices, ldu,
// prefetches, cache policies, questions to addresses, packs of mov, prmt, and the stack.
#pragma once

#include "ptx/isa/row.hpp"

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
inline constexpr Row memory[] = {
  row("ld.mmio.relaxed.sys{.ss}.type  d:=.type+, [a:.ss] ; .ss = { .global }" PTX_MMIO_TYPES,
      since(8,2), on(sm_70), Effect::reads_memory | Effect::sync | Effect::volatile_, not_executed("the executor has no memory-mapped devices"),
      doc("data-movement-and-conversion-instructions-ld", "d = memory of a device at a, read exactly once.")),
  row("st.mmio.relaxed.sys{.ss}.type  [a:.ss], b:.type+ ; .ss = { .global }" PTX_MMIO_TYPES,
      since(8,2), on(sm_70), Effect::writes_memory | Effect::sync | Effect::volatile_, not_executed("the executor has no memory-mapped devices"),
      doc("data-movement-and-conversion-instructions-st", "memory of a device at a = b, written exactly once.")),
  row("ldu{.ss}{.vec}.type  d:=.vec.type+, [a:.ss] ;"
      " .ss = { .global } .vec = { .v2, .v4 } .type = { .b8, .b16, .b32, .u8, .u16, .u32, .s8, .s16, .s32, .f32 }",
      since(2,0), on(sm_20), Effect::reads_memory, not_executed("the executor does not run ldu yet"),
      doc("data-movement-and-conversion-instructions-ldu", "d = read-only memory at a, the same for the whole warp.")),
  row("ldu{.ss}{.vec}.type  d:=.vec.type+, [a:.ss] ; .ss = { .global } .vec = { .v2 } .type = { .b64, .u64, .s64, .f64 }",
      since(2,0), on(sm_20), Effect::reads_memory, not_executed("the executor does not run ldu yet"),
      doc("data-movement-and-conversion-instructions-ldu", "d = read-only memory at a, the same for the whole warp.")),
  row("ldu{.ss}.b128  d:=.b128, [a:.ss] ; .ss = { .global }",
      since(8,3), on(sm_70), Effect::reads_memory, not_executed("the executor does not run ldu yet"),
      doc("data-movement-and-conversion-instructions-ldu", "d = 16 bytes of read-only memory at a, the same for the whole warp.")),

  // ---- caches
  row("prefetch{.space}.level  [a:.space] ; .space = { .global, .local } .level = { .L1, .L2 }",
      since(2,0), on(sm_20), Effect::volatile_, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into a cache.")),
  row("prefetch{.space}.level  [a:.space] ; .space = { .global } .level = { .L2::evict_last, .L2::evict_normal }",
      since(7,4), on(sm_80), Effect::volatile_, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into the L2 cache with an eviction priority.")),
  row("prefetch{.space}.tensormap  [a:.space] ; .space = { .const, .param }",
      since(8,0), on(sm_90), Effect::volatile_, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the tensor map at a into the cache that tensor copies read it from.")),
  row("prefetchu.L1  [a] ;",
      since(2,0), on(sm_20), Effect::volatile_, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-prefetch-prefetchu", "bring the line at a into the uniform cache.")),
  row("applypriority{.space}.L2::evict_normal  [a:.space], size:#.u32 ; .space = { .global }",
      since(7,4), on(sm_80), Effect::volatile_, not_executed("the executor has no caches"), rule("size_128"),
      doc("data-movement-and-conversion-instructions-applypriority", "give the 128 bytes at a the normal eviction priority again.")),
  row("discard{.space}.L2  [a:.space], size:#.u32 ; .space = { .global }",
      since(7,4), on(sm_80), Effect::writes_memory | Effect::volatile_, not_executed("the executor has no caches"), rule("size_128"),
      doc("data-movement-and-conversion-instructions-discard", "destroy the 128 bytes at a in the cache without writing them back.")),
  row("createpolicy.range{.space}.primary{.secondary}.b64  policy:=.u64, [a:.space], primary_size:.u32, total_size:.u32 ;"
      " .space = { .global }" PTX_POLICY_PRIORITIES,
      since(7,4), on(sm_80), Effect::pure, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-createpolicy", "a cache policy for the first primary_size bytes at a, and another for the rest.")),
  row("createpolicy.fractional.primary{.secondary}.b64  policy:=.u64 {, fraction:.f32} ;" PTX_POLICY_PRIORITIES,
      since(7,4), on(sm_80), Effect::pure, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-createpolicy", "a cache policy for a fraction of all addresses, and another for the rest.")),
  row("createpolicy.cvt.L2.b64  policy:=.u64, property:.u64 ;",
      since(7,4), on(sm_80), Effect::pure, not_executed("the executor has no caches"),
      doc("data-movement-and-conversion-instructions-createpolicy", "the cache policy that an access property of the CUDA API stands for.")),

  // ---- addresses
  row("isspacep.space  p:=.pred, a:.u64 ;" PTX_WINDOWS,
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run isspacep yet"),
      doc("data-movement-and-conversion-instructions-isspacep", "p = does the generic address a lie in the space's window.")),
  row("isspacep.space  p:=.pred, a:.u32 ;" PTX_WINDOWS,
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run isspacep yet"),
      doc("data-movement-and-conversion-instructions-isspacep", "p = does the generic address a lie in the space's window.")),
  row("cvta.space.size  d:=.size, a:symbol ;" PTX_WINDOWS " .size = { .u32, .u64 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not take the generic address of a variable yet"),
      doc("data-movement-and-conversion-instructions-cvta", "the generic address of a variable in a space.")),
  row("mapa.type  d:=.type, a:.type, b:.u32 ; .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("data-movement-and-conversion-instructions-mapa", "the generic address of a shared variable in another CTA of the cluster.")),
  row("mapa{.space}.type  d:=.type, a:symbol, b:.u32 ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("data-movement-and-conversion-instructions-mapa", "the address of a shared variable in another CTA of the cluster.")),
  row("getctarank{.space}.type  d:=.u32, a:.type ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("data-movement-and-conversion-instructions-getctarank", "the rank of the CTA whose shared memory a points to.")),
  row("getctarank{.space}.type  d:=.u32, a:symbol ; .space = { .shared::cluster } .type = { .u32, .u64 }",
      since(7,8), on(sm_90), Effect::pure, not_executed("the executor has no clusters yet"),
      doc("data-movement-and-conversion-instructions-getctarank", "the rank of the CTA whose shared variable a is.")),

  // ---- registers
  row("mov.b128  d:=.b128, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, not_executed("the executor does not move 128 bits yet"),
      doc("data-movement-and-conversion-instructions-mov", "d = a.")),
  row("mov.b16  d:=.b16, a:.v2.b8 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not pack bytes yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = two bytes, the first lowest.")),
  row("mov.b32  d:=.b32, a:.v4.b8 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not pack bytes yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = four bytes, the first lowest.")),
  row("mov.b128  d:=.b128, a:.v2.b64 ;",
      since(8,3), on(sm_70), Effect::pure, not_executed("the executor does not move 128 bits yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = two double words, the first lowest.")),
  row("mov.b128  d:=.b128, a:.v4.b32 ;",
      since(8,3), on(sm_70), Effect::pure, not_executed("the executor does not move 128 bits yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "d = four words, the first lowest.")),
  row("mov.b16  d:=.v2.b8, a:.b16 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not unpack bytes yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "the two bytes of a, lowest first.")),
  row("mov.b32  d:=.v4.b8, a:.b32 ;",
      since(1,0), on(sm_10), Effect::pure, not_executed("the executor does not unpack bytes yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "the four bytes of a, lowest first.")),
  row("mov.b128  d:=.v2.b64, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, not_executed("the executor does not move 128 bits yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "the two double words of a, lowest first.")),
  row("mov.b128  d:=.v4.b32, a:.b128 ;",
      since(8,3), on(sm_70), Effect::pure, not_executed("the executor does not move 128 bits yet"),
      doc("data-movement-and-conversion-instructions-mov-2", "the four words of a, lowest first.")),
  row("prmt.b32{.mode}  d:=.b32, a:.b32, b:.b32, c:.b32 ; .mode = { .f4e, .b4e, .rc8, .ecl, .ecr, .rc16 }",
      since(2,0), on(sm_20), Effect::pure, not_executed("the executor does not run prmt yet"),
      doc("data-movement-and-conversion-instructions-prmt", "d = four bytes picked from those of a and b by c.")),

  // ---- the stack (manual: "Stack Manipulation Instructions")
  row("stacksave.type  d:=.type ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, not_executed("the executor has no stack yet"),
      doc("stack-manipulation-instructions-stacksave", "d = the stack pointer.")),
  row("stackrestore.type  a:%.type ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, not_executed("the executor has no stack yet"),
      doc("stack-manipulation-instructions-stackrestore", "the stack pointer = a.")),
  row("alloca.type  ptr:=.type, size:.type {, align:#.u32} ; .type = { .u32, .u64 }",
      since(7,3), on(sm_52), Effect::volatile_, not_executed("the executor has no stack yet"), rule("alloca_align"),
      doc("stack-manipulation-instructions-alloca", "the address in local memory of size fresh bytes of the stack.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_MMIO_TYPES
#undef PTX_POLICY_PRIORITIES
#undef PTX_WINDOWS
