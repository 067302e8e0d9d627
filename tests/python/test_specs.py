"""pyptx.specs: Tile, Layout, unify_envs."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyptx import Layout, Tile
from pyptx.specs import unify_envs
from pyptx.types import bf16, f16, f32, pred, u32

SIZES = st.integers(1, 1 << 20)
NAMES = st.sampled_from(["M", "N", "K", "B"])


def test_kinds_of_items_may_come_in_any_order() -> None:
    tile = Tile("M", 512, f32)
    assert (tile.shape, tile.dtype, tile.layout, tile.rank, tile.symbolic_dims) == (("M", 512), f32, Layout.ROW, 2, ("M",))
    assert Tile(f32, "M", Layout.COL, 512) == Tile("M", 512, dtype=f32, layout=Layout.COL)


def test_layouts_have_the_names_of_the_specification() -> None:
    assert [(each.name, each.value) for each in Layout] == [
        ("ROW", "row"), ("COL", "col"), ("TMA_128B", "tma_128b"), ("TMA_64B", "tma_64b"), ("TMA_32B", "tma_32b"),
        ("INTERLEAVED", "interleaved"),
    ]  # fmt: skip
    assert Layout("tma_64b") is Layout.TMA_64B


def test_tma_fields() -> None:
    tile = Tile("M", "K", bf16, Layout.TMA_128B, tma_box=(64, "K"), tma_rank=3, tma_padding=True)
    assert (tile.tma_box, tile.tma_rank, tile.tma_padding) == ((64, "K"), 3, True)
    assert (Tile(8, f32).tma_box, Tile(8, f32).tma_rank, Tile(8, f32).tma_padding) == (None, 2, False)
    assert repr(tile) == "Tile('M', 'K', bf16, Layout.TMA_128B, tma_box=(64, 'K'), tma_rank=3, tma_padding=True)"


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: Tile("M"), ValueError, "dtype"),
        (lambda: Tile(f32), ValueError, "at least one dimension"),
        (lambda: Tile(0, f32), ValueError, "a positive size or a name"),
        (lambda: Tile(8, f32, dtype=u32), ValueError, "two dtypes that differ"),
        (lambda: Tile(8, f32, Layout.ROW, layout=Layout.COL), ValueError, "two layouts that differ"),
        (lambda: Tile(8, f32, tma_box=(8, 8)), ValueError, "rank"),
        (lambda: Tile(8, f32, tma_rank=6), ValueError, "rank 1 to 5"),
        (lambda: Tile(8.0, f32), TypeError, r"the float `8\.0`"),
        (lambda: Tile(True, f32), TypeError, "the bool `True`"),
        (lambda: Tile(None, f32), TypeError, "`None`"),
        (lambda: Tile(8, dtype="f32"), TypeError, "the str `'f32'`"),
        (lambda: Tile(8, f32, layout="row"), TypeError, "what fits is a `Layout`"),
    ],
)
def test_malformed_tiles(make, error, text) -> None:
    with pytest.raises(error, match=text):
        make()


def test_a_dtype_given_twice_may_agree() -> None:
    assert Tile(8, f32, dtype=f32) == Tile(8, f32)


def test_tiles_are_values() -> None:
    tile = Tile("M", 4, bf16, Layout.COL, tma_box=(2, 2))
    assert pickle.loads(pickle.dumps(tile)) == tile
    assert len({tile, Tile("M", 4, bf16, Layout.COL, tma_box=(2, 2)), Tile("M", 4, bf16)}) == 2
    assert tile != "tile"
    with pytest.raises(AttributeError):
        tile.dtype = f32


def test_resolve_shape() -> None:
    assert Tile("M", 4, "N", f32).resolve_shape({"M": 2, "N": 3, "K": 9}) == (2, 4, 3)
    with pytest.raises(KeyError, match="`N`"):
        Tile("M", "N", f32).resolve_shape({"M": 2})


def test_extract_env() -> None:
    assert Tile("M", 4, "N", f32).extract_env((2, 4, 3)) == {"M": 2, "N": 3}
    with pytest.raises(ValueError, match="rank"):
        Tile("M", 4, f32).extract_env((2, 4, 3))
    with pytest.raises(ValueError, match="is 5, Tile\\(M, 4, f32\\) has 4"):
        Tile("M", 4, f32).extract_env((2, 5))
    with pytest.raises(ValueError, match="conflicting"):
        Tile("M", "M", f32).extract_env((2, 5))


@pytest.mark.parametrize(
    ("tile", "shape", "dtype", "fits"),
    [
        (Tile("M", 4, f32), (9, 4), "float32", True),
        (Tile("M", 4, f32), (9, 4), "f32", True),
        (Tile("M", 4, f32), (9, 5), "float32", False),
        (Tile("M", 4, f32), (9,), "float32", False),
        (Tile("M", f32), (9,), "float64", False),
        (Tile("M", bf16), (9,), "bfloat16", True),
        (Tile("M", f16), (9,), "float16", True),
        (Tile("M", pred), (9,), "bool", True),
        (Tile("M", u32), (9,), "int32", True),
        (Tile("M", u32), (9,), "float32", False),
    ],
)
def test_matches(tile, shape, dtype, fits) -> None:
    assert tile.matches(shape, dtype) is fits


@pytest.mark.parametrize(
    ("k", "layout"),
    [
        (8, Layout.ROW),
        (16, Layout.TMA_32B),
        (32, Layout.TMA_64B),
        (64, Layout.TMA_128B),
        (256, Layout.TMA_128B),
        ("K", Layout.ROW),
    ],
)
def test_wgmma_operands_take_their_layout_from_the_width_of_a_load(k, layout) -> None:
    assert Tile.wgmma_a(64, k, bf16) == Tile(64, k, bf16, layout)
    assert Tile.wgmma_b(64, k, bf16) == Tile(64, k, bf16, layout)


def test_wgmma_operands_with_boxes() -> None:
    assert Tile.wgmma_a(2048, 64, bf16, tile_m=64, tile_k=16) == Tile(2048, 64, bf16, Layout.TMA_32B, tma_box=(64, 16))
    assert Tile.wgmma_a(64, 64, bf16, tile_k=16).tma_box == (64, 16)
    assert Tile.wgmma_b(64, 256, bf16, tile_n=128) == Tile(64, 256, bf16, Layout.TMA_128B, tma_box=(64, 128))
    with pytest.raises(ValueError):
        Tile.wgmma_a(64, 24, bf16)


def test_unify_envs() -> None:
    assert unify_envs([{"M": 1, "K": 2}, {"K": 2, "N": 3}, {}]) == {"M": 1, "K": 2, "N": 3}
    with pytest.raises(ValueError, match="conflicting"):
        unify_envs([{"K": 2}, {"K": 3}])


@given(st.lists(SIZES | NAMES, min_size=1, max_size=5), st.dictionaries(NAMES, SIZES))
def test_a_resolved_shape_gives_its_bindings_back(dims, env) -> None:
    tile = Tile(*dims, f32)
    names = {dim for dim in dims if isinstance(dim, str)}
    if names <= env.keys():
        shape = tile.resolve_shape(env)
        assert len(shape) == tile.rank
        assert tile.extract_env(shape) == {name: env[name] for name in names}
        assert tile.matches(shape, "float32")
    else:
        with pytest.raises(KeyError):
            tile.resolve_shape(env)


@given(st.lists(st.dictionaries(NAMES, SIZES), max_size=4))
def test_unify_is_the_union_when_there_is_one(envs) -> None:
    union = {name: size for env in envs for name, size in env.items()}
    if all(union[name] == size for env in envs for name, size in env.items()):
        assert unify_envs(envs) == union
    else:
        with pytest.raises(ValueError, match="conflicting"):
            unify_envs(envs)
