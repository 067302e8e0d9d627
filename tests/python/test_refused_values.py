"""Values that were taken once, or refused in words that named neither the value nor what fits."""

import numpy as np
import pytest

from pyptx import Tile, kernel, ptx, reg
from pyptx.types import f32, u32

ONE = {"in_specs": (Tile("N", f32),), "out_specs": (Tile("N", f32),), "grid": 1, "block": 32}


def nothing(X, Y):
    ptx.ret()


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"cluster": "x"}, "the cluster is `'x'`; what fits is one to three ints"),
        ({"cluster": 1.5}, "the cluster is `1.5`; what fits"),
        ({"reqntid": "a"}, "the reqntid is `'a'`; what fits"),
        ({"block": (32, "y")}, "the block is `(32, 'y')`; what fits"),
        ({"smem": 1.5}, "`smem` is `1.5`; what fits is a number of bytes from 0 to 2^32 - 1"),
        ({"input_output_aliases": {True: 0}}, "`input_output_aliases` is `{True: 0}`; what fits is a dict"),
    ],
)
def test_an_option_of_another_type_is_a_type_error(option, message) -> None:
    with pytest.raises(TypeError) as error:
        kernel(**{**ONE, **option})(nothing)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"cluster": (1, 1, 1, 1)}, "the cluster is `(1, 1, 1, 1)`; what fits is one to three ints"),
        ({"smem": 1 << 40}, "`smem` is `1099511627776`; what fits is a number of bytes from 0 to 2^32 - 1"),
    ],
)
def test_an_option_beyond_its_limits_is_a_value_error(option, message) -> None:
    with pytest.raises(ValueError) as error:
        kernel(**{**ONE, **option})(nothing)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((2**70, f32), "a dimension is the int `1180591620717411303424`; what fits is 1 to 2^63 - 1, or a name"),
        (("N", f32, f32), "a Tile is given two dtypes, the same one twice; what fits is one"),
        (("1 N", f32), "dimension 0 is `1 N`; a name has letters, digits and `_`, and begins with no digit"),
        (("M", "7", f32), "dimension 1 is `7`; a name has"),
    ],
)
def test_a_tile_that_cannot_be_is_a_value_error(given, message) -> None:
    with pytest.raises(ValueError) as error:
        Tile(*given)
    assert message in str(error.value)


def test_names_of_other_alphabets_are_names() -> None:
    assert Tile("größe", "_n1", f32).symbolic_dims == ("größe", "_n1")


@pytest.mark.parametrize(
    ("dtype", "value", "message"),
    [
        ("s16", 40000, "parameter `value` of kernel `scaled`: 40000 does not fit in a `.s16`; what fits is -32768 to 32767"),
        ("u8", 256, "parameter `value` of kernel `scaled` is 256, which a `.u8` cannot hold"),
        ("f32", 1e300, "1e+300 is too large for a `.f32`; what fits is a number that rounds to a finite one, or infinity itself"),
        ("f16", 65520.0, "65520 is too large for a `.f16`"),
    ],
)
def test_a_parameter_does_not_take_what_it_cannot_hold(dtype, value, message) -> None:
    def scaled(X, Y):
        ptx.ret()

    made = kernel(**ONE, raw_params=[(dtype, "value")])(scaled)
    with pytest.raises(ValueError) as error:
        made(np.zeros(4, np.float32), value=value)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("dtype", "value"), [("s16", -32768), ("u16", -1), ("b16", 65535), ("f32", float("inf")), ("f16", 65519.9)]
)
def test_what_a_parameter_holds_is_taken(dtype, value) -> None:
    kernel(**ONE, raw_params=[(dtype, "value")])(nothing)(np.zeros(4, np.float32), value=value)


def test_a_text_without_the_sizes_that_its_body_reads_says_so() -> None:
    @kernel(**ONE)
    def unrolled(X, Y):
        for i in range(X.shape[0]):
            reg.scalar(u32, init=i, name=f"row{i}")
        ptx.ret()

    with pytest.raises(ValueError) as error:
        unrolled.ptx()
    assert "the body of kernel `unrolled` reads a tensor's shape, and the size of `N` is not given" in str(error.value)
    assert "`unrolled.ptx(N=…)`" in str(error.value)
    assert "row2" in unrolled.ptx(N=3)


def test_other_errors_of_a_body_stay_what_they_are() -> None:
    @kernel(**ONE)
    def wrong(X, Y):
        nothing = None
        nothing[0]  # type: ignore[index]

    with pytest.raises(TypeError, match="'NoneType' object is not subscriptable"):
        wrong.ptx()
