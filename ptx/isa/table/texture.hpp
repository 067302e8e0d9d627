// Textures and surfaces (manual: "Texture Instructions", "Surface Instructions"), in unified mode or through handles in
// registers.
#pragma once

#include "ptx/isa/row.hpp"

#define PTX_TEX "texture-instructions-tex"

namespace ptx::isa::table {

// clang-format off
inline constexpr Row texture[] = {
  // ---- tex: of the whole texture, or (base) of its finest mipmap. An array's coordinates begin with an index.
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32, .f32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .ctype = { .s32, .f32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .ctype = { .f32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] ;"
      " .geom = { .2dms @3.2 @sm_30, .a2dms @3.2 @sm_30 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(1,0), on(sm_10), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  row("tex{.base}.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype] ;"
      " .geom = { .2dms @3.2 @sm_30, .a2dms @3.2 @sm_30 } .ctype = { .s32 } .base = { .base @3.1 @sm_20 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c.")),
  // ---- tex.level: of the mipmap level lod
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .ctype = { .s32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .s32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32, .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .ctype = { .s32, .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], lod:.ctype {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  row("tex.level.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], lod:.ctype {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what level lod of the texture a holds at c.")),
  // ---- tex.grad: of the mipmap level that the gradients call for
  row("tex.grad.geom.v4.dtype.ctype"
      "  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype"
      "  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .1d, .2d } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype"
      "  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype"
      "  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .1d, .2d } .ctype = { .s32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype"
      "  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype"
      "  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype"
      "  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype"
      "  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .a1d @2.3 @sm_20, .a2d @2.3 @sm_20 } .ctype = { .s32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype"
      "  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .s32, .f32 }",
      since(3,1), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype"
      "  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, offset:.tex_offset.s32} ;"
      " .geom = { .3d } .ctype = { .s32, .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(4,3), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.ctype], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, compare:.f32} ;"
      " .geom = { .cube @3.0 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v4.dtype.ctype  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .dtype = { .u32, .s32, .f32, .f16 @4.2 @sm_53 } .ctype = { .f32 }",
      since(4,3), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),
  row("tex.grad.geom.v2.f16x2.ctype  d:=.x2.f16x2{|p:=.pred}, [a:.texture, c:.tex_coords.b32], dPdx:.tex_gradient.f32, dPdy:.tex_gradient.f32 {, compare:.f32} ;"
      " .geom = { .acube @3.0 @sm_20 } .ctype = { .f32 }",
      since(4,2), on(sm_53), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc(PTX_TEX, "d = what the texture a holds at c, on the level that the gradients call for.")),

  // ---- tld4: one component of the four texels that a filter would mix
  row("tld4.component.geom.v4.dtype.f32  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.f32] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .component = { .r, .g, .b, .a } .geom = { .2d } .dtype = { .u32, .s32, .f32 }",
      since(2,2), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-tld4", "d = one component of the four texels around c.")),
  row("tld4.component.geom.v4.dtype.f32  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, offset:.tex_offset.s32} {, compare:.f32} ;"
      " .component = { .r, .g, .b, .a } .geom = { .a2d @4.3 } .dtype = { .u32, .s32, .f32 }",
      since(2,2), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-tld4", "d = one component of the four texels around c.")),
  row("tld4.component.geom.v4.dtype.f32  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.f32] {, compare:.f32} ;"
      " .component = { .r, .g, .b, .a } .geom = { .cube @4.3 } .dtype = { .u32, .s32, .f32 }",
      since(2,2), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-tld4", "d = one component of the four texels around c.")),
  row("tld4.component.geom.v4.dtype.f32  d:=.x4.dtype{|p:=.pred}, [a:.texture, c:.tex_coords.b32] {, compare:.f32} ;"
      " .component = { .r, .g, .b, .a } .geom = { .acube @4.3 } .dtype = { .u32, .s32, .f32 }",
      since(2,2), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-tld4", "d = one component of the four texels around c.")),

  // ---- questions to textures, samplers and surfaces
  row("txq.query.b32  d:=.b32, [a] ;"
      " .query = { .width, .height, .depth, .channel_data_type, .channel_order, .normalized_coords, .array_size @4.1, .num_mipmap_levels @4.1,"
      " .num_samples @4.1 }",
      since(1,5), on(sm_10), Effect::pure, not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-txq", "d = a property of the texture a.")),
  row("txq.level.query.b32  d:=.b32, [a], lod:.u32 ; .query = { .width, .height, .depth }",
      since(4,3), on(sm_30), Effect::pure, not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-txq", "d = a length of level lod of the texture a.")),
  row("txq.query.b32  d:=.b32, [a] ; .query = { .force_unnormalized_coords, .filter_mode, .addr_mode_0, .addr_mode_1, .addr_mode_2 }",
      since(1,5), on(sm_10), Effect::pure, not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-txq", "d = a property of the sampler a.")),
  row("suq.query.b32  d:=.b32, [a] ;"
      " .query = { .width, .height, .depth, .channel_data_type, .channel_order, .array_size @4.1, .memory_layout @4.2 }",
      since(1,5), on(sm_10), Effect::pure, not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-suq", "d = a property of the surface a.")),
  row("istypep.type  p:=.pred, a:.u64 ; .type = { .texref, .samplerref, .surfref }",
      since(4,0), on(sm_30), Effect::pure, not_executed("a texture is made by the host, in formats and with filters that PTX does not describe"),
      doc("texture-instructions-istypep", "p = does a name a texture, a sampler or a surface.")),

  // ---- surfaces. An array's coordinates begin with an index.
  row("suld.b.geom{.cop}{.vec}.type.mode  d:=.vec.type+, [a:.surface, c:.tex_coords.s32] ;"
      " .geom = { .1d, .2d, .3d, .a1d @3.0 @sm_20, .a2d @3.0 @sm_20 } .cop = { .ca, .cg, .cs, .cv }"
      " .vec = { .v2, .v4 } .type = { .b8, .b16, .b32 } .mode = { .trap, .clamp, .zero }",
      since(1,5), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-suld", "d = the bytes of the surface a at c.")),
  row("suld.b.geom{.cop}{.vec}.type.mode  d:=.vec.type+, [a:.surface, c:.tex_coords.s32] ;"
      " .geom = { .1d, .2d, .3d, .a1d @3.0 @sm_20, .a2d @3.0 @sm_20 } .cop = { .ca, .cg, .cs, .cv }"
      " .vec = { .v2 } .type = { .b64 } .mode = { .trap, .clamp, .zero }",
      since(1,5), on(sm_20), reads("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-suld", "d = the bytes of the surface a at c.")),
  row("sust.b.geom{.cop}{.vec}.type.mode  [a:.surface, c:.tex_coords.s32], b:.vec.type+ ;"
      " .geom = { .1d, .2d, .3d, .a1d @3.0 @sm_20, .a2d @3.0 @sm_20 } .cop = { .wb, .cg, .cs, .wt }"
      " .vec = { .v2, .v4 } .type = { .b8, .b16, .b32 } .mode = { .trap, .clamp, .zero }",
      since(1,5), on(sm_20), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sust", "the bytes of the surface a at c = b.")),
  row("sust.b.geom{.cop}{.vec}.type.mode  [a:.surface, c:.tex_coords.s32], b:.vec.type+ ;"
      " .geom = { .1d, .2d, .3d, .a1d @3.0 @sm_20, .a2d @3.0 @sm_20 } .cop = { .wb, .cg, .cs, .wt }"
      " .vec = { .v2 } .type = { .b64 } .mode = { .trap, .clamp, .zero }",
      since(1,5), on(sm_20), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sust", "the bytes of the surface a at c = b.")),
  row("sust.p.geom{.cop}{.vec}.b32.mode  [a:.surface, c:.tex_coords.s32], b:.vec.b32+ ;"
      " .geom = { .1d, .2d, .3d, .a1d @3.0 @sm_20, .a2d @3.0 @sm_20 } .cop = { .wb, .cg, .cs, .wt } .vec = { .v2, .v4 } .mode = { .trap, .clamp, .zero }",
      since(1,5), on(sm_20), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sust", "the sample of the surface a at c = b, in the surface's own format.")),
  row("sured.b.op.geom.type.mode  [a:.surface, c:.tex_coords.s32], b:.type+ ;"
      " .op = { .add } .geom = { .1d, .2d, .3d } .type = { .u32, .s32, .u64 } .mode = { .trap, .clamp, .zero }",
      since(2,0), on(sm_20), reads("a"), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sured", "add b to the bytes of the surface a at c.")),
  row("sured.b.op.geom.type.mode  [a:.surface, c:.tex_coords.s32], b:.type+ ;"
      " .op = { .min, .max } .geom = { .1d, .2d, .3d } .type = { .u32, .s32, .u64 @8.1 @sm_50, .s64 @8.1 @sm_50 } .mode = { .trap, .clamp, .zero }",
      since(2,0), on(sm_20), reads("a"), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sured", "make the bytes of the surface a at c the lesser or greater of them and b.")),
  row("sured.b.op.geom.b32.mode  [a:.surface, c:.tex_coords.s32], b:.b32+ ;"
      " .op = { .and, .or } .geom = { .1d, .2d, .3d } .mode = { .trap, .clamp, .zero }",
      since(2,0), on(sm_20), reads("a"), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sured", "reduce the bytes of the surface a at c with b, bit by bit.")),
  row("sured.p.op.geom.b32.mode  [a:.surface, c:.tex_coords.s32], b:.b32+ ;"
      " .op = { .add, .min, .max, .and, .or } .geom = { .1d, .2d, .3d } .mode = { .trap, .clamp, .zero }",
      since(2,0), on(sm_20), reads("a"), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sured", "reduce the sample of the surface a at c with b.")),
  row("sured.p.op.geom.b64.mode  [a:.surface, c:.tex_coords.s32], b:.b64+ ;"
      " .op = { .min, .max } .geom = { .1d, .2d, .3d } .mode = { .trap, .clamp, .zero }",
      since(8,1), on(sm_50), reads("a"), writes("a"), through(Proxy::texture), not_executed("a surface is made by the host, in formats that PTX does not describe"),
      doc("surface-instructions-sured", "reduce the sample of the surface a at c with b.")),
};
// clang-format on

}  // namespace ptx::isa::table

#undef PTX_TEX
