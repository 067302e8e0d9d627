"""PTX's types: ``from pyptx.types import bf16, f32, u32``."""

from __future__ import annotations

from ._ptx import PtxType
from ._ptx import type_from_name as from_name

pred = from_name("pred")
b8 = from_name("b8")
b16 = from_name("b16")
b32 = from_name("b32")
b64 = from_name("b64")
b128 = from_name("b128")
u8 = from_name("u8")
u16 = from_name("u16")
u32 = from_name("u32")
u64 = from_name("u64")
s8 = from_name("s8")
s16 = from_name("s16")
s32 = from_name("s32")
s64 = from_name("s64")
f16 = from_name("f16")
bf16 = from_name("bf16")
tf32 = from_name("tf32")
f32 = from_name("f32")
f64 = from_name("f64")

# Packed pairs and quads, and the narrow formats: they live in untyped registers of their width.
f16x2 = from_name("f16x2")
bf16x2 = from_name("bf16x2")
f32x2 = from_name("f32x2")
u16x2 = from_name("u16x2")
s16x2 = from_name("s16x2")
u8x4 = from_name("u8x4")
s8x4 = from_name("s8x4")
e4m3 = from_name("e4m3")
e5m2 = from_name("e5m2")
e2m3 = from_name("e2m3")
e3m2 = from_name("e3m2")
e2m1 = from_name("e2m1")
ue8m0 = from_name("ue8m0")
ue4m3 = from_name("ue4m3")
e4m3x2 = from_name("e4m3x2")
e5m2x2 = from_name("e5m2x2")
e2m3x2 = from_name("e2m3x2")
e3m2x2 = from_name("e3m2x2")
e2m1x2 = from_name("e2m1x2")
ue8m0x2 = from_name("ue8m0x2")
e4m3x4 = from_name("e4m3x4")
e5m2x4 = from_name("e5m2x4")
e2m3x4 = from_name("e2m3x4")
e3m2x4 = from_name("e3m2x4")
e2m1x4 = from_name("e2m1x4")
u4 = from_name("u4")
s4 = from_name("s4")
b1 = from_name("b1")

# Handles of textures, samplers and surfaces: of variables alone, no register holds one.
texref = from_name("texref")
samplerref = from_name("samplerref")
surfref = from_name("surfref")

__all__ = ["PtxType", "from_name"]  # and every type by its name
__all__ += [name for name, value in list(globals().items()) if isinstance(value, PtxType)]
