// Asynchronous copies (manual: "Data Movement and Conversion Instructions: Asynchronous copy").
#pragma once

#include "ptx/isa/row.hpp"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row async[] = {
  // global -> shared::cluster
  row("cp.async.bulk.tensor.dim.dst.src{.tile}.completion{.multicast}{.cta_group}{.level}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared] {, ctaMask:.u16 @.multicast} {, policy:.u64 @.level} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .shared::cluster } .src = { .global } .tile = { .tile }"
      " .completion = { .mbarrier::complete_tx::bytes } .multicast = { .multicast::cluster }"
      " .cta_group = { .cta_group::1 @8.6 @sm_100f|sm_101f|sm_110f, .cta_group::2 @8.6 @sm_100f|sm_101f|sm_110f } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::async, not_executed("the executor has no tensor copies yet"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy a box of a tensor into shared memory.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.multicast}{.cta_group}{.level}"
      "  [dstMem:.dst], [tensorMap:.tensor, coords:.dim.s32], [mbar:.shared], offsets:.im2col.u16 {, ctaMask:.u16 @.multicast} {, policy:.u64 @.level} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .shared::cluster } .src = { .global } .load_mode = { .im2col }"
      " .completion = { .mbarrier::complete_tx::bytes } .multicast = { .multicast::cluster }"
      " .cta_group = { .cta_group::1 @8.6 @sm_100f|sm_101f|sm_110f, .cta_group::2 @8.6 @sm_100f|sm_101f|sm_110f } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::async, not_executed("the executor has no tensor copies yet"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy the pixels under a convolution's filter into shared memory.")),
  // shared::cta -> global
  row("cp.async.bulk.tensor.dim.dst.src{.load_mode}.completion{.level}"
      "  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.level} ;"
      " .dim = { .1d, .2d, .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .load_mode = { .tile }"
      " .completion = { .bulk_group } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::async, not_executed("the executor has no tensor copies yet"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy a box of shared memory into a tensor.")),
  row("cp.async.bulk.tensor.dim.dst.src.load_mode.completion{.level}"
      "  [tensorMap:.tensor, coords:.dim.s32], [srcMem:.src] {, policy:.u64 @.level} ;"
      " .dim = { .3d, .4d, .5d } .dst = { .global } .src = { .shared::cta } .load_mode = { .im2col_no_offs }"
      " .completion = { .bulk_group } .level = { .L2::cache_hint }",
      since(8,0), on(sm_90), Effect::reads_memory | Effect::writes_memory | Effect::async, not_executed("the executor has no tensor copies yet"),
      doc("data-movement-and-conversion-instructions-cp-async-bulk-tensor", "copy the pixels of a convolution's output into a tensor.")),
};
// clang-format on

}  // namespace ptx::isa::table
