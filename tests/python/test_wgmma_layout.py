"""`pyptx.wgmma_layout`: canonical layouts of wgmma's factors in shared memory."""

import enum
import pickle

import pytest

from pyptx import PtxError
from pyptx.types import bf16, e4m3, f32
from pyptx.wgmma_layout import GmmaLayout, LayoutType, Major, layout_for_a, layout_for_b, pick_gmma_layout


def test_the_enumerations_are_numbers() -> None:
    assert issubclass(LayoutType, enum.IntEnum) and issubclass(Major, enum.IntEnum)
    assert {t.name: int(t) for t in LayoutType} == {"INTERLEAVE": 0, "B128": 1, "B64": 2, "B32": 3}
    assert {m.name: int(m) for m in Major} == {"K": 0, "MN": 1}
    assert Major.MN == 1 and pickle.loads(pickle.dumps(LayoutType.B64)) is LayoutType.B64


@pytest.mark.parametrize(
    ("elem_bytes", "m_or_n", "k", "major", "layout_type", "leading", "stride", "name"),
    [
        (2, 64, 8, Major.K, LayoutType.INTERLEAVE, 16, 128, "NONE"),
        (2, 64, 16, Major.K, LayoutType.B32, 16, 256, "32B"),
        (2, 64, 32, Major.K, LayoutType.B64, 16, 512, "64B"),
        (2, 64, 64, Major.K, LayoutType.B128, 16, 1024, "128B"),
        (2, 64, 128, Major.K, LayoutType.B128, 64 * 128, 1024, "128B"),
        (1, 128, 64, Major.K, LayoutType.B64, 16, 512, "64B"),
        (2, 8, 16, Major.MN, LayoutType.INTERLEAVE, 128, 16, "NONE"),
        (2, 16, 16, Major.MN, LayoutType.B32, 16, 256, "32B"),
        (2, 32, 16, Major.MN, LayoutType.B64, 16, 512, "64B"),
        (2, 64, 16, Major.MN, LayoutType.B128, 16, 1024, "128B"),
        (2, 256, 64, Major.MN, LayoutType.B128, 64 * 128, 1024, "128B"),
    ],
)
def test_layouts_by_width(elem_bytes, m_or_n, k, major, layout_type, leading, stride, name) -> None:
    layout = pick_gmma_layout(elem_bytes=elem_bytes, m_or_n=m_or_n, k=k, major=major)
    assert (layout.layout_type, layout.leading_byte_offset, layout.stride_byte_offset) == (layout_type, leading, stride)
    assert isinstance(layout.layout_type, LayoutType)
    assert layout.tma_swizzle == name and layout.smem_swizzle == (None if name == "NONE" else name)
    assert layout.swizzle_code == int(layout_type)
    assert pick_gmma_layout(elem_bytes=elem_bytes, m_or_n=m_or_n, k=k, major=major.name) == layout
    assert pick_gmma_layout(elem_bytes=elem_bytes, m_or_n=m_or_n, k=k, major=int(major)) == layout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"m_or_n": 64, "k": 24, "major": Major.K}, "not one of the canonical"),
        ({"m_or_n": 60, "k": 64, "major": Major.K}, "M divisible by 8"),
        ({"m_or_n": 48, "k": 16, "major": Major.MN}, "not one of the canonical"),  # was a KeyError
        ({"m_or_n": 4, "k": 16, "major": Major.MN}, "not one of the canonical"),
        ({"m_or_n": 64, "k": 12, "major": Major.MN}, "K divisible by 8"),
        ({"m_or_n": 0, "k": 64, "major": Major.K}, "positive"),
        ({"m_or_n": 64, "k": -8, "major": Major.MN}, "positive"),
        ({"m_or_n": 64, "k": 64, "major": "M"}, "what fits is"),
        ({"m_or_n": 64, "k": 64, "major": None}, "what fits is"),
        ({"m_or_n": 64, "k": 64, "major": True}, "what fits is"),
    ],
)
def test_tiles_that_have_none(arguments, words) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        pick_gmma_layout(elem_bytes=2, **arguments)
    assert isinstance(raised.value, PtxError) and raised.value.where[0] == __file__


def test_layouts_of_the_two_factors() -> None:
    assert layout_for_a(dtype=bf16, m=64, k=64) == pick_gmma_layout(elem_bytes=2, m_or_n=64, k=64, major=Major.K)
    assert layout_for_b(dtype=f32, k=16, n=32) == pick_gmma_layout(elem_bytes=4, m_or_n=32, k=16, major=Major.MN)
    assert layout_for_a(dtype=e4m3, m=64, k=128).layout_type is LayoutType.B128
    with pytest.raises(TypeError):
        layout_for_a(dtype="bf16x", m=64, k=64)


def test_a_layout_is_a_value() -> None:
    layout = pick_gmma_layout(elem_bytes=2, m_or_n=64, k=64, major=Major.K)
    same = GmmaLayout(LayoutType.B128, 16, 1024, "128B", "128B")
    assert layout == same and hash(layout) == hash(same) and layout != GmmaLayout(LayoutType.B128, 32, 1024)
    assert layout != "128B"
    assert GmmaLayout(LayoutType.INTERLEAVE, 16, 128, "NONE", None).smem_swizzle is None
    assert repr(layout) == "GmmaLayout(layout_type=LayoutType.B128, leading_byte_offset=16, stride_byte_offset=1024)"
    with pytest.raises(AttributeError):
        layout.leading_byte_offset = 32
    with pytest.raises(ValueError, match="swizzle 128B is called `64B`"):
        GmmaLayout(LayoutType.B128, 16, 1024, "64B")
