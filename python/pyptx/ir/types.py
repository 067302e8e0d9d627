"""The words of PTX declarations as enums. Each member has `.ptx`, its spelling with the dot, and each enum `from_ptx`."""

from __future__ import annotations

from enum import Enum
from typing import Self


class _Word(Enum):
    @property
    def ptx(self) -> str:
        """The word as PTX spells it, with its dot."""
        return f".{self.value}"

    @classmethod
    def from_ptx(cls, text: str) -> Self:
        """The member of that spelling, with or without the dot; ValueError for any other."""
        try:
            return cls(text.removeprefix("."))
        except ValueError:
            words = ", ".join(str(member.value) for member in cls)
            raise ValueError(f"`{text}` is not a {cls.__name__}; there are {words}") from None


class ScalarType(_Word):
    """The types of registers, variables and instructions; a test holds them to those of the instruction table."""

    PRED = "pred"
    B8 = "b8"
    B16 = "b16"
    B32 = "b32"
    B64 = "b64"
    B128 = "b128"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    S8 = "s8"
    S16 = "s16"
    S32 = "s32"
    S64 = "s64"
    F16 = "f16"
    BF16 = "bf16"
    TF32 = "tf32"
    F32 = "f32"
    F64 = "f64"
    F16X2 = "f16x2"
    BF16X2 = "bf16x2"
    F32X2 = "f32x2"
    U16X2 = "u16x2"
    S16X2 = "s16x2"
    U8X4 = "u8x4"
    S8X4 = "s8x4"
    E4M3 = "e4m3"
    E5M2 = "e5m2"
    E2M3 = "e2m3"
    E3M2 = "e3m2"
    E2M1 = "e2m1"
    UE8M0 = "ue8m0"
    UE4M3 = "ue4m3"
    E4M3X2 = "e4m3x2"
    E5M2X2 = "e5m2x2"
    E2M3X2 = "e2m3x2"
    E3M2X2 = "e3m2x2"
    E2M1X2 = "e2m1x2"
    UE8M0X2 = "ue8m0x2"
    E4M3X4 = "e4m3x4"
    E5M2X4 = "e5m2x4"
    E2M3X4 = "e2m3x4"
    E3M2X4 = "e3m2x4"
    E2M1X4 = "e2m1x4"
    U4 = "u4"
    S4 = "s4"
    B1 = "b1"
    TEXREF = "texref"
    SAMPLERREF = "samplerref"
    SURFREF = "surfref"


class StateSpace(_Word):
    """Where a variable lies."""

    REG = "reg"
    SREG = "sreg"
    CONST = "const"
    GLOBAL = "global"
    LOCAL = "local"
    PARAM = "param"
    SHARED = "shared"
    SHARED_CTA = "shared::cta"
    SHARED_CLUSTER = "shared::cluster"
    TEX = "tex"


class LinkingDirective(_Word):
    """Who else may see a name."""

    VISIBLE = "visible"
    EXTERN = "extern"
    WEAK = "weak"
    COMMON = "common"
