"""pyptx.types: one object per PTX type."""

import copy
import pickle

import pytest

import pyptx
from pyptx import _ptx, types
from pyptx.types import PtxType, bf16, f32, from_name, pred, u32, u64


def test_attributes() -> None:
    assert (f32.name, f32.bits, f32.ptx, repr(f32)) == ("f32", 32, ".f32", "f32")
    assert (bf16.bits, u64.bits, pred.bits) == (16, 64, 1)


def test_every_type_of_the_core_has_a_name_here_and_no_other() -> None:
    named = {name: value for name, value in vars(types).items() if isinstance(value, PtxType)}
    assert named == {each.name: each for each in _ptx.TYPES}
    assert all(name == each.name for name, each in named.items())


def test_from_name_takes_both_spellings_and_gives_the_one_object() -> None:
    assert from_name("f32") is f32
    assert from_name(".u32") is u32


def test_from_name_refuses_what_is_no_type() -> None:
    with pytest.raises(ValueError, match=r"`fp32` is not a PTX type") as raised:
        from_name("fp32")
    assert "did you mean `f32`?" in str(raised.value)


def test_equality_and_hash_go_by_name() -> None:
    made = PtxType("f32", 32)
    assert made == f32 and hash(made) == hash(f32) and made != u32 and f32 != "f32"
    with pytest.raises(ValueError, match="has 32 bits, not 64"):
        PtxType("f32", 64)


@pytest.mark.parametrize("through", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_are_equal(through) -> None:
    assert through(bf16) == bf16


def test_the_top_level_has_the_modules_and_the_version() -> None:
    assert pyptx.types is types
    assert pyptx.__version__.count(".") == 2
