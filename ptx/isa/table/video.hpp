// Video arithmetic: 33-bit sums of bytes, halves and words, and the same on two halves or four bytes at once (manual: "Scalar
// Video Instructions", "SIMD Video Instructions"). On current targets they are emulated.
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_VIDEO_TYPES " .dtype = { .u32, .s32 } .atype = { .u32, .s32 } .btype = { .u32, .s32 }"
#define PTX_VIDEO_SHIFT_TYPES " .dtype = { .u32, .s32 } .atype = { .u32, .s32 } .btype = { .u32 }"
#define PTX_VIDEO_OPS " .op2 = { .add, .min, .max }"
#define PTX_SCALAR_VIDEO "scalar-video-instructions-"
#define PTX_SIMD_VIDEO "simd-video-instructions-"

// d = a op b; then, with op2, combined with c; or put into a byte or half of c
#define PTX_VIDEO_ROWS(name, anchor, sentence)                                                                                   \
  row(name ".dtype.atype.btype{.sat}  d:=.dtype~lane, a:.atype~lane, b:.btype~lane {, c:.dtype} ;" PTX_VIDEO_TYPES, since(2, 0), \
      on(sm_20), Effect::pure, exec("video"), doc(PTX_SCALAR_VIDEO anchor, sentence ".")),                                       \
      row(name                                                                                                                   \
          ".dtype.atype.btype{.sat}.op2  d:=.dtype, a:.atype~lane, b:.btype~lane, c:.dtype ;" PTX_VIDEO_TYPES PTX_VIDEO_OPS,     \
          since(2, 0), on(sm_20), Effect::pure, exec("video"), doc(PTX_SCALAR_VIDEO anchor, sentence ", combined with c."))

#define PTX_VIDEO_SHIFT_ROWS(name, anchor, sentence)                                                                          \
  row(name ".dtype.atype.btype{.sat}.mode  d:=.dtype~lane, a:.atype~lane, b:.btype~lane {, c:.dtype} ;" PTX_VIDEO_SHIFT_TYPES \
           " .mode = { .clamp, .wrap }",                                                                                      \
      since(2, 0), on(sm_20), Effect::pure, exec("video"), doc(PTX_SCALAR_VIDEO anchor, sentence ".")),                       \
      row(name ".dtype.atype.btype{.sat}.mode.op2  d:=.dtype, a:.atype~lane, b:.btype~lane, c:.dtype ;" PTX_VIDEO_SHIFT_TYPES \
               " .mode = { .clamp, .wrap }" PTX_VIDEO_OPS,                                                                    \
          since(2, 0), on(sm_20), Effect::pure, exec("video"), doc(PTX_SCALAR_VIDEO anchor, sentence ", combined with c."))

// in each of two halves or four bytes: d = a op b, put over those of c; or, with .add, summed into c
#define PTX_SIMD_VIDEO_ROWS(name, n, anchor, sentence)                                                                 \
  row(name ".dtype.atype.btype{.sat}  d:=.dtype~mask" n ", a:%.atype~select" n ", b:%.btype~select" n                  \
           ", c:%.dtype ;" PTX_VIDEO_TYPES,                                                                            \
      since(3, 0), on(sm_30), Effect::pure, exec("video_simd"), doc(PTX_SIMD_VIDEO anchor, sentence ", put over c.")), \
      row(name ".dtype.atype.btype.add  d:=.dtype~mask" n ", a:%.atype~select" n ", b:%.btype~select" n                \
               ", c:%.dtype ;" PTX_VIDEO_TYPES,                                                                        \
          since(3, 0), on(sm_30), Effect::pure, exec("video_simd"), doc(PTX_SIMD_VIDEO anchor, sentence ", summed into c."))

#define PTX_VADD2 "vadd2-vsub2-vavrg2-vabsdiff2-vmin2-vmax2"
#define PTX_VADD4 "vadd4-vsub4-vavrg4-vabsdiff4-vmin4-vmax4"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row video[] = {
  PTX_VIDEO_ROWS("vadd", "vadd-vsub-vabsdiff-vmin-vmax", "d = a + b"),
  PTX_VIDEO_ROWS("vsub", "vadd-vsub-vabsdiff-vmin-vmax", "d = a - b"),
  PTX_VIDEO_ROWS("vabsdiff", "vadd-vsub-vabsdiff-vmin-vmax", "d = |a - b|"),
  PTX_VIDEO_ROWS("vmin", "vadd-vsub-vabsdiff-vmin-vmax", "the smaller of a and b"),
  PTX_VIDEO_ROWS("vmax", "vadd-vsub-vabsdiff-vmin-vmax", "the larger of a and b"),
  PTX_VIDEO_SHIFT_ROWS("vshl", "vshl-vshr", "d = a << b"),
  PTX_VIDEO_SHIFT_ROWS("vshr", "vshl-vshr", "d = a >> b"),
  row("vmad.dtype.atype.btype{.po}{.sat}{.scale}  d:=.dtype, a:-.atype~lane, b:-.btype~lane, c:-.dtype ;" PTX_VIDEO_TYPES " .scale = { .shr7, .shr15 }",
      since(2,0), on(sm_20), Effect::pure, exec("vmad"), rule("vmad_negation"),
      doc(PTX_SCALAR_VIDEO "vmad", "d = a * b + c, with .po plus 1, shifted right by scale.")),
  row("vset.atype.btype.cmp  d:=.u32~lane, a:.atype~lane, b:.btype~lane {, c:.u32} ;"
      " .atype = { .u32, .s32 } .btype = { .u32, .s32 } .cmp = { .eq, .ne, .lt, .le, .gt, .ge }",
      since(2,0), on(sm_20), Effect::pure, exec("video"),
      doc(PTX_SCALAR_VIDEO "vset", "d = a compared with b, 1 or 0.")),
  row("vset.atype.btype.cmp.op2  d:=.u32, a:.atype~lane, b:.btype~lane, c:.u32 ;"
      " .atype = { .u32, .s32 } .btype = { .u32, .s32 } .cmp = { .eq, .ne, .lt, .le, .gt, .ge }" PTX_VIDEO_OPS,
      since(2,0), on(sm_20), Effect::pure, exec("video"),
      doc(PTX_SCALAR_VIDEO "vset", "d = a compared with b, 1 or 0, combined with c.")),

  PTX_SIMD_VIDEO_ROWS("vadd2", "2", PTX_VADD2, "a + b in two halves"),
  PTX_SIMD_VIDEO_ROWS("vsub2", "2", PTX_VADD2, "a - b in two halves"),
  PTX_SIMD_VIDEO_ROWS("vavrg2", "2", PTX_VADD2, "the mean of a and b in two halves"),
  PTX_SIMD_VIDEO_ROWS("vabsdiff2", "2", PTX_VADD2, "|a - b| in two halves"),
  PTX_SIMD_VIDEO_ROWS("vmin2", "2", PTX_VADD2, "the smaller of a and b in two halves"),
  PTX_SIMD_VIDEO_ROWS("vmax2", "2", PTX_VADD2, "the larger of a and b in two halves"),
  row("vset2.atype.btype.cmp{.add}  d:=.u32~mask2, a:%.atype~select2, b:%.btype~select2, c:%.u32 ;"
      " .atype = { .u32, .s32 } .btype = { .u32, .s32 } .cmp = { .eq, .ne, .lt, .le, .gt, .ge }",
      since(3,0), on(sm_30), Effect::pure, exec("video_simd"),
      doc(PTX_SIMD_VIDEO "vset2", "a compared with b in two halves, 1 or 0, put over c or summed into it.")),
  PTX_SIMD_VIDEO_ROWS("vadd4", "4", PTX_VADD4, "a + b in four bytes"),
  PTX_SIMD_VIDEO_ROWS("vsub4", "4", PTX_VADD4, "a - b in four bytes"),
  PTX_SIMD_VIDEO_ROWS("vavrg4", "4", PTX_VADD4, "the mean of a and b in four bytes"),
  PTX_SIMD_VIDEO_ROWS("vabsdiff4", "4", PTX_VADD4, "|a - b| in four bytes"),
  PTX_SIMD_VIDEO_ROWS("vmin4", "4", PTX_VADD4, "the smaller of a and b in four bytes"),
  PTX_SIMD_VIDEO_ROWS("vmax4", "4", PTX_VADD4, "the larger of a and b in four bytes"),
  row("vset4.atype.btype.cmp{.add}  d:=.u32~mask4, a:%.atype~select4, b:%.btype~select4, c:%.u32 ;"
      " .atype = { .u32, .s32 } .btype = { .u32, .s32 } .cmp = { .eq, .ne, .lt, .le, .gt, .ge }",
      since(3,0), on(sm_30), Effect::pure, exec("video_simd"),
      doc(PTX_SIMD_VIDEO "vset4", "a compared with b in four bytes, 1 or 0, put over c or summed into it.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_VIDEO_TYPES
#undef PTX_VIDEO_SHIFT_TYPES
#undef PTX_VIDEO_OPS
#undef PTX_SCALAR_VIDEO
#undef PTX_SIMD_VIDEO
#undef PTX_VIDEO_ROWS
#undef PTX_VIDEO_SHIFT_ROWS
#undef PTX_SIMD_VIDEO_ROWS
#undef PTX_VADD2
#undef PTX_VADD4
