"""Asynchronous copies: `ptx.cp`, `ptx.tma`, and coordinates in `ptx.addr`."""

from pathlib import Path

import pytest

from pyptx import Layout, _ptx, kernel, ptx, reg, smem
from pyptx._ptx import TensorMap
from pyptx.specs import Tile
from pyptx.types import b16, b64, bf16, f16, f32, s32, u32

GOLDEN = Path(__file__).parents[1] / "golden" / "write" / "copies.ptx"  # also what ptx/write/door/copies_test.cpp writes


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


class Here:
    """A trace with what copies need."""

    def __init__(self, arch: str = "sm_90a", **options) -> None:
        self.trace = _ptx.Trace("test", arch=arch, **options)

    def __enter__(self):
        self.ctx = self.trace.__enter__()
        self.map, self.smem, self.x = reg.scalar(b64), reg.scalar(u32), reg.scalar(u32)
        self.p = self.x == 0
        self.before = len(self.ctx.statements)
        return self

    def __exit__(self, *exception) -> None:
        self.trace.__exit__(*exception)

    @property
    def written(self) -> list[str]:
        return lines(self.ctx)[self.before :]


def test_twin_of_the_cpp_program(ptxas) -> None:
    @kernel(in_specs=(Tile(64, 64, bf16),), out_specs=(Tile(64, 64, bf16),), arch="sm_100a")
    def copies(X, Y):
        tile = smem.alloc(bf16, (2, 64, 64))
        full = smem.mbarrier(2)
        x, y = ptx.global_ptrs(X, Y)
        tid = reg.from_(ptx.special.tid.x(), u32)
        mask = reg.scalar(b16, init=3)
        policy = reg.scalar(b64, init=0)
        first = tid == 0
        base = smem.base("smem_0")

        ptx.cp.async_.cg(base, ptx.addr(x, 16), 16)
        ptx.cp.async_.ca(ptx.addr(base, 32), x, 8, tid, cache_hint=policy, pred=~first)
        ptx.cp.async_.commit_group()
        ptx.cp.async_.wait_group(1)
        ptx.cp.async_.wait_all(pred=first)

        bulk = ptx.cp.async_.bulk
        bulk(dst=tile, src=x, size=4096, mbar=full[0], multicast_mask=mask, cache_hint=policy, pred=first)
        bulk.shared_cta_global(dst=tile[1], src=x, size=4096, mbar=full[1])
        bulk.shared_cluster_shared_cta(dst=base, src=tile[1], size=4096, mbar=base)
        bulk.store(dst=y, src=tile, size=4096, cache_hint=policy, byte_mask=mask)
        bulk.prefetch(src=x, size=4096)
        ptx.cp.reduce.async_.bulk("add", bf16, dst=y, src=tile, size=4096)
        ptx.cp.reduce.async_.bulk("min", s32, dst=base, src=tile, size=4096, mbar=base)
        ptx.cp.async_bulk.commit_group()
        bulk.wait_group(1, read=True)
        bulk.wait_group(0)

        bulk.tensor_1d(dst=tile, src=x, coord=(0,), mbar=full[0])
        bulk.tensor_2d(dst=tile[1], src=x, coord=(tid, 64), mbar=full[1], cta_group=2, multicast_mask=3, pred=~first)
        bulk.tensor_3d.store(dst=y, src=tile[1], coord=(0, tid, -1), cache_hint=policy)
        bulk.tensor_4d.shared_cta_global_tile(dst=tile, src=x, coord=(0, 0, 0, 0), mbar=full[0], cta_group=2)
        bulk.tensor_5d.prefetch(src=x, coord=(0, 1, 2, 3, 4))
        bulk.tensor.tile_2d(tile, x, (0, tid), mbar=full[0], cache_hint=policy, multicast_mask=mask)
        bulk.tensor.im2col_4d(tile, x, (0, 1, 2, 3), mbar=full[0])
        bulk.tensor.im2col_5d(tile, x, (0, 1, 2, 3, 4), (0, mask, 2), mbar=full[0])
        bulk.tensor.gather4_2d(tile, x, (0, 4, 5, 6, 7), mbar=full[0])
        bulk.tensor.scatter4_2d(y, tile, (0, 4, 5, 6, 7))
        bulk.tensor.store_3d(y, tile, (0, 1, 2), cache_hint=policy)
        bulk.tensor.prefetch_im2col_3d(x, (0, 1, 2))
        bulk.tensor.prefetch_gather4_2d(x, (0, 4, 5, 6, 7), cache_hint=policy)
        ptx.cp.reduce.async_.bulk.tensor_2d("max", dst=y, src=tile, coord=(0, tid))

        ptx.tma.load_3d(tile, x, tid, 128, full[0])
        ptx.tma.load_3d(tile, x, 0, tid, full[0], pred=first)
        ptx.tma.load_3d_multicast(tile, x, 0, tid, full[0], mask, issuer=1)
        ptx.tma.load_3d_multicast(tile, x, None, None, full[0], 3, coords=(1, 2, tid), issuer=~first)
        ptx.tma.store_3d(y, tile[1], tid, -64)
        ptx.ret()

    text = copies.ptx()
    assert text == GOLDEN.read_text()
    ptxas(text, "sm_100a")


# ---- cp.async


def test_async_copies() -> None:
    with Here() as here:
        ptx.cp.async_.cg(ptx.addr(here.smem), ptx.addr(here.map, -16), 16)
        ptx.cp.async_.ca(here.smem, here.map, 4)
        ptx.cp.async_.ca(here.smem, here.map, 8, pred=here.p)
        ptx.cp.async_.commit_group(pred=~here.p)
        ptx.cp.async_.wait_group(2)
        ptx.cp.async_.wait_all()
    assert here.written == [
        "cp.async.cg.shared.global [%r0], [%rd0+-16], 16",
        "cp.async.ca.shared.global [%r0], [%rd0], 4",
        "@%p0 cp.async.ca.shared.global [%r0], [%rd0], 8",
        "@!%p0 cp.async.commit_group",
        "cp.async.wait_group 2",
        "cp.async.wait_all",
    ]


@pytest.mark.parametrize(("caches", "size"), [("cg", 8), ("cg", 4), ("cg", 32), ("ca", 12), ("ca", 32), ("ca", 0)])
def test_sizes_that_async_copies_do_not_have(caches, size) -> None:
    with Here() as here, pytest.raises(ValueError, match=f"is {size}; what fits is"):
        getattr(ptx.cp.async_, caches)(here.smem, here.map, size)
    assert here.written == []


def test_alias() -> None:
    assert ptx.cp.async_bulk is ptx.cp.async_.bulk


# ---- tensor copies


@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_tensor_copies_of_every_rank(rank) -> None:
    coord = tuple(range(rank))
    text = ", ".join(map(str, coord))
    name = f"cp.async.bulk.tensor.{rank}d"
    bulk = ptx.cp.async_.bulk
    with Here("sm_100a") as here:
        for space in bulk, bulk.tensor:
            copy = getattr(space, f"tensor_{rank}d")
            copy(dst=here.smem, src=here.map, coord=coord, mbar=here.x)
            copy(dst=here.smem, src=here.map, coord=list(coord), mbar=ptx.addr(here.x, 8), multicast_mask=5, pred=~here.p)
            copy.store(dst=here.map, src=ptx.addr(here.smem, 1024), coord=coord, pred=here.p)
            copy.shared_cta_global_tile(dst=here.smem, src=here.map, coord=coord, mbar=here.x, cta_group=2)
        getattr(bulk.tensor, f"tile_{rank}d")(here.smem, here.map, coord, mbar=here.x)
        getattr(bulk.tensor, f"store_{rank}d")(here.map, here.smem, coord)
        getattr(bulk.tensor, f"prefetch_{rank}d")(here.map, coord)
    load = f"{name}.shared::cluster.global.mbarrier::complete_tx::bytes"
    tensor = f"[%rd0, {{{text}}}]"
    copies = [
        f"{load} [%r0], {tensor}, [%r1]",
        f"@!%p0 {load}.multicast::cluster [%r0], {tensor}, [%r1+8], 5",
        f"@%p0 {name}.global.shared::cta.bulk_group {tensor}, [%r0+1024]",
        f"{name}.shared::cta.global.tile.mbarrier::complete_tx::bytes.cta_group::2 [%r0], {tensor}, [%r1]",
    ]
    assert here.written == [
        *copies,
        *copies,
        f"{load} [%r0], {tensor}, [%r1]",
        f"{name}.global.shared::cta.bulk_group {tensor}, [%r0]",
        f"cp.async.bulk.prefetch.tensor.{rank}d.L2.global {tensor}",
    ]


def test_both_ctas_of_a_pair() -> None:
    with Here("sm_100a") as here:
        ptx.cp.async_.bulk.tensor_2d(dst=here.smem, src=here.map, coord=(0, 0), mbar=here.x, cta_group=2)
    assert here.written == [
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.cta_group::2 [%r0], [%rd0, {0, 0}], [%r1]"
    ]


def test_places_of_shared_memory() -> None:
    with Here() as here:
        tile, full = smem.alloc(bf16, (4, 64, 64)), smem.mbarrier(4)
        load = ptx.cp.async_.bulk.tensor_2d
        load(dst=tile, src="map", coord=(here.x, 0), mbar=full[0])
        load(dst=tile[3], src=ptx.addr(here.map), coord=(here.x, 0), mbar=full[2])
    name = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    assert here.written == [
        f"{name} [smem_0], [map, {{%r1, 0}}], [mbar_0]",
        f"{name} [smem_0+24576], [%rd0, {{%r1, 0}}], [mbar_0+16]",
    ]


def test_places_of_dynamic_shared_memory() -> None:
    with Here(dynamic_smem=True) as here:
        tile, full = smem.alloc(bf16, (2, 64)), smem.mbarrier(2)
        ptx.cp.async_.bulk.tensor_1d(dst=tile[1], src=here.map, coord=(0,), mbar=full[1], pred=here.p)
    assert here.written == [
        "mov.b32 %r2, dyn_smem",
        "add.s32 %r2, %r2, 128",
        "mov.b32 %r3, dyn_smem",
        "add.s32 %r3, %r3, 264",
        "@%p0 cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd0, {0}], [%r3]",
    ]


def test_a_tensor_stands_for_its_map(ptxas) -> None:
    @kernel(in_specs=(Tile(64, 64, bf16),), out_specs=(Tile(64, 64, bf16),))
    def copy(X, Y):
        tile, full = smem.alloc(bf16, (64, 64)), smem.mbarrier(1)
        ptx.cp.async_.bulk.tensor_2d(dst=tile, src=X, coord=(0, 0), mbar=full[0])
        ptx.cp.async_.bulk.tensor_2d.store(dst=Y.tma_desc(), src=tile, coord=(0, 0))
        ptx.ret()

    text = copy.ptx()
    assert "complete_tx::bytes [smem_0], [%rd0, {0, 0}], [mbar_0];" in text
    assert "bulk_group [%rd1, {0, 0}], [smem_0];" in text
    ptxas(text)


# ptxas refuses coordinates beside shared memory, stores without `.bulk_group`, and `.gather4` without `.tile`.
def test_positional_forms_are_valid_ptx() -> None:
    tensor = ptx.cp.async_.bulk.tensor
    with Here("sm_100a") as here:
        policy, rows = here.map, (0, 1, 2, 3, here.x)
        tensor.tile_2d(here.smem, here.map, (1, 2), mbar=here.x, cta_group=2, cache_hint=policy, multicast_mask=3)
        tensor.im2col_3d(here.smem, here.map, (1, 2, 3), mbar=here.x)
        tensor.im2col_4d(here.smem, here.map, (1, 2, 3, 4), (5, 6), mbar=here.x, multicast_mask=3)
        tensor.gather4_2d(here.smem, here.map, rows, mbar=here.x, multicast_mask=3, cache_hint=policy)
        tensor.scatter4_2d(here.map, here.smem, rows, pred=here.p)
        tensor.store_2d(here.map, here.smem, (1, 2), cache_hint=policy)
    load = "shared::cluster.global"
    assert here.written == [
        f"cp.async.bulk.tensor.2d.{load}.mbarrier::complete_tx::bytes.multicast::cluster.cta_group::2.L2::cache_hint"
        " [%r0], [%rd0, {1, 2}], [%r1], 3, %rd0",
        f"cp.async.bulk.tensor.3d.{load}.im2col.mbarrier::complete_tx::bytes [%r0], [%rd0, {{1, 2, 3}}], [%r1], {{0}}",
        f"cp.async.bulk.tensor.4d.{load}.im2col.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%r0], [%rd0, {1, 2, 3, 4}], [%r1], {5, 6}, 3",
        f"cp.async.bulk.tensor.2d.{load}.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint"
        " [%r0], [%rd0, {0, 1, 2, 3, %r1}], [%r1], 3, %rd0",
        "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%rd0, {0, 1, 2, 3, %r1}], [%r0]",
        "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group.L2::cache_hint [%rd0, {1, 2}], [%r0], %rd0",
    ]


@pytest.mark.parametrize("coord", [(), (0,), (0, 0, 0), 5, "x"])
def test_wrong_coordinates(coord) -> None:
    with Here() as here, pytest.raises(ValueError, match=r"coordinates"):
        ptx.cp.async_.bulk.tensor_2d(dst=here.smem, src=here.map, coord=coord, mbar=here.x)
    with Here("sm_100a") as here, pytest.raises(ValueError, match=r"column, then four rows"):
        ptx.cp.async_.bulk.tensor.gather4_2d(here.smem, here.map, (0, 1), mbar=here.x)
    assert here.written == []


def test_what_tensor_copies_refuse() -> None:
    bulk = ptx.cp.async_.bulk
    with Here() as here:
        good = {"dst": here.smem, "src": here.map, "coord": (0, 0), "mbar": here.x}
        with pytest.raises(ValueError, match=r"`cta_group` .* is 3; what fits is 1 or 2"):
            bulk.tensor_2d(**good, cta_group=3)
        with pytest.raises(ValueError, match=r"this kernel targets `sm_90a`"):
            bulk.tensor_2d(**good, cta_group=2)
        with pytest.raises(TypeError, match=r"no mbarrier"):
            bulk.tensor_2d(**{**good, "mbar": None})
        with pytest.raises(TypeError, match=r"no mbarrier"):
            bulk.tensor.tile_2d(here.smem, here.map, (0, 0))
        with pytest.raises(ValueError, match=r"takes no mbarrier, but is given"):
            bulk.tensor.scatter4_2d(here.map, here.smem, (0, 1, 2, 3, 4), mbar=here.x)
        with pytest.raises(ValueError, match=r"a \.u32 register `%r1`; what fits is a \.u16 register"):
            bulk.tensor_2d(**good, multicast_mask=here.x)
        with pytest.raises(ValueError, match=r"tensor map of `.*tensor_2d`: the int `5`"):
            bulk.tensor_2d(**{**good, "src": 5})
        with pytest.raises(TypeError, match=r"guard"):
            bulk.tensor_2d(**good, pred=here.x)
    assert here.written == []


# ---- bulk copies and reductions


@pytest.mark.parametrize("op", ["add", "min", "max", "inc", "dec", "and", "or", "xor"])
def test_tensor_reductions(op) -> None:
    with Here() as here:
        copy = ptx.cp.reduce.async_.bulk.tensor_3d
        copy(op, dst=here.map, src=here.smem, coord=(here.x, 1, 2), cache_hint=here.map, pred=~here.p)
        copy(op, dst=here.map, src=here.smem, coord=(here.x, 1, 2))
    name = f"cp.reduce.async.bulk.tensor.3d.global.shared::cta.{op}.bulk_group"
    assert here.written == [
        f"@!%p0 {name}.L2::cache_hint [%rd0, {{%r1, 1, 2}}], [%r0], %rd0",
        f"{name} [%rd0, {{%r1, 1, 2}}], [%r0]",
    ]


def test_reductions() -> None:
    reduce = ptx.cp.reduce.async_.bulk
    with Here() as here:
        for op, dtype in (("add", f32), ("add", f16), ("max", bf16), ("min", s32)):
            reduce(op, dtype, dst=here.map, src=here.smem, size=64)
        reduce("add", u32, dst=here.smem, src=here.smem, size=here.x, mbar=here.x)
        with pytest.raises(ValueError, match=r"the operation of .* is `mul`; what fits .* `add`"):
            reduce("mul", f32, dst=here.map, src=here.smem, size=64)
        with pytest.raises(ValueError, match=r"the type of .* is `f32`; what fits .* `bf16`"):
            reduce("min", f32, dst=here.map, src=here.smem, size=64)
        with pytest.raises(ValueError, match=r"the operation of .* is `mul`"):
            reduce.tensor_2d("mul", dst=here.map, src=here.smem, coord=(0, 0))
    to_global = "cp.reduce.async.bulk.global.shared::cta.bulk_group"
    assert here.written == [
        f"{to_global}.add.f32 [%rd0], [%r0], 64",
        f"{to_global}.add.noftz.f16 [%rd0], [%r0], 64",
        f"{to_global}.max.bf16 [%rd0], [%r0], 64",
        f"{to_global}.min.s32 [%rd0], [%r0], 64",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r0], [%r0], %r1, [%r1]",
    ]


def test_bulk_copies() -> None:
    bulk = ptx.cp.async_.bulk
    with Here() as here:
        bulk(dst=here.smem, src=here.map, size=here.x, mbar=here.x)
        bulk(dst=here.smem, src=here.map, size=16, mbar=here.x, multicast_mask=3, pred=~here.p)
        bulk.store(dst=here.map, src=here.smem, size=16)
        with pytest.raises(ValueError, match=r"is 24; what fits is .* steps of 16"):
            bulk(dst=here.smem, src=here.map, size=24, mbar=here.x)
        with pytest.raises(TypeError, match=r"no mbarrier"):
            bulk(dst=here.smem, src=here.map, size=32)
        bulk.commit_group(pred=here.p)
        bulk.wait_group(1)
        bulk.wait_group(0, read=True)
    load = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
    assert here.written == [
        f"{load} [%r0], [%rd0], %r1, [%r1]",
        f"@!%p0 {load}.multicast::cluster [%r0], [%rd0], 16, [%r1], 3",
        "cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r0], 16",
        "@%p0 cp.async.bulk.commit_group",
        "cp.async.bulk.wait_group 1",
        "cp.async.bulk.wait_group.read 0",
    ]


# ---- ptx.tma


def test_slabs_of_64_columns() -> None:
    load = "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    with Here() as here:
        row = reg.scalar(u32)
        ptx.tma.load_3d(here.smem, here.map, row, 192, here.x)
        ptx.tma.load_3d(here.smem, here.map, row=row, col=here.x, mbar=here.x, pred=~here.p)
        ptx.tma.load_3d(here.smem, here.map, mbar=here.x, coords=(1, row, here.x))
        ptx.tma.load_3d_multicast(here.smem, here.map, row, 64, here.x, 3)
        ptx.tma.load_3d_multicast(here.smem, here.map, row, 64, here.x, 3, pred=here.p)
        ptx.tma.load_3d_multicast(here.smem, here.map, row, 64, here.x, 3, issuer=~here.p)
        ptx.tma.load_3d_multicast(here.smem, here.map, row, 64, here.x, 3, issuer=2)
        ptx.tma.store_3d(here.map, here.smem, 8, 128, pred=here.p)
        ptx.tma.store_3d(here.map, here.smem, coords=(0, 1, 2))
    multicast = f"{load}.multicast::cluster [%r0], [%rd0, {{0, %r2, 1}}], [%r1], 3"
    store = "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group"
    assert here.written == [
        f"{load} [%r0], [%rd0, {{0, %r2, 3}}], [%r1]",
        "shr.u32 %r3, %r1, 6",
        f"@!%p0 {load} [%r0], [%rd0, {{0, %r2, %r3}}], [%r1]",
        f"{load} [%r0], [%rd0, {{1, %r2, %r1}}], [%r1]",
        multicast,
        f"@%p0 {multicast}",
        f"@!%p0 {multicast}",
        "mov.u32 %r4, %cluster_ctarank",
        "setp.eq.u32 %p1, %r4, 2",
        f"@%p1 {multicast}",
        f"@%p0 {store} [%rd0, {{0, 8, 2}}], [%r0]",
        f"{store} [%rd0, {{0, 1, 2}}], [%r0]",
    ]


def test_what_slabs_refuse() -> None:
    with Here() as here:
        with pytest.raises(TypeError, match=r"no place in the matrix"):
            ptx.tma.load_3d(here.smem, here.map, mbar=here.x)
        with pytest.raises(TypeError, match=r"no column"):
            ptx.tma.store_3d(here.map, here.smem, 0)
        with pytest.raises(TypeError, match=r"no mbarrier"):
            ptx.tma.load_3d(here.smem, here.map, 0, here.x)
        with pytest.raises(ValueError, match=r"`issuer` and `pred`"):
            ptx.tma.load_3d_multicast(here.smem, here.map, 0, 0, here.x, 3, issuer=1, pred=here.p)
        with pytest.raises(ValueError, match=r"2 coordinates; what fits is 3"):
            ptx.tma.load_3d(here.smem, here.map, mbar=here.x, coords=(0, 1))
    assert here.written == []


# ---- ptx.addr


def test_coordinates_as_text() -> None:
    copy = ptx.inst.cp.async_.bulk.tensor._2d.shared__cluster.global_.mbarrier__complete_tx__bytes
    with Here() as here:
        for text in (f", {{{here.x.name}, 64}}", f",{{ {here.x.name} ,64 }}"):
            copy(ptx.addr(here.smem), ptx.addr(here.map, text), ptx.addr(here.x))
        copy(ptx.addr(here.smem), ptx.addr("map", ", {-8, 16}"), ptx.addr(here.x, -8))
    name = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
    assert here.written == [f"{name} [%r0], [%rd0, {{%r1, 64}}], [%r1]"] * 2 + [f"{name} [%r0], [map, {{-8, 16}}], [%r1+-8]"]


def test_errors_are_at_the_authors_line() -> None:
    with Here() as here, pytest.raises(ValueError, match=r"test_copies\.py:\d+"):
        ptx.cp.async_.cg(here.smem, here.map, 8)


@pytest.mark.parametrize(("smem_bytes", "name"), [(0, "`smem_0`"), (64 * 1024, "an allocation of shared memory")])
def test_copies_larger_than_their_tile(smem_bytes, name) -> None:
    box = Tile("M", 64, bf16, Layout.TMA_128B, tma_box=(64, 64))

    def refused(write, spec=box, dims=None) -> str:
        @kernel(in_specs=(spec,), out_specs=(spec,), smem=smem_bytes)
        def k(X, Y):
            tile, _behind, full = smem.alloc(bf16, (2, 32, 64)), smem.alloc(bf16, (2, 32, 64)), smem.mbarrier(1)
            write(X, Y, tile, full)

        try:
            k.ptx(**(dims or {}))
        except ValueError as error:
            assert error.kind == "shared_memory_size"
            assert f"--> {__file__}:{write.__code__.co_firstlineno}\n" in str(error)
            return str(error).splitlines()[0]
        return "written"

    bulk = ptx.cp.async_.bulk
    assert refused(lambda X, Y, t, full: bulk(dst=t, src=ptx.global_ptrs(X)[0], size=8192, mbar=full[0])) == "written"
    assert refused(lambda X, Y, t, full: bulk(dst=t[1], src=ptx.global_ptrs(X)[0], size=4096, mbar=full[0])) == "written"
    words = refused(lambda X, Y, t, full: bulk(dst=t[1], src=ptx.global_ptrs(X)[0], size=4112, mbar=full[0]))
    assert f"`cp.async.bulk` copies 4112 bytes to {name}, of which 4096 bytes are left there" in words
    words = refused(lambda X, Y, t, full: bulk.store(dst=ptx.global_ptrs(Y)[0], src=t, size=8208))
    assert f"`cp.async.bulk` copies 8208 bytes from {name}, of which 8192 bytes are left there" in words
    for dims in ({}, {"M": 256}):
        load = refused(lambda X, Y, t, full: bulk.tensor_2d(dst=t, src=X.tma_desc(), coord=(0, 0), mbar=full[0]), dims=dims)
        assert load == "written"
        words = refused(lambda X, Y, t, full: bulk.tensor_2d.store(dst=Y.tma_desc(), src=t[1], coord=(0, 0)), dims=dims)
        assert f"copies a box of 8192 bytes from {name}, of which 4096 bytes are left there" in words
    slabs = Tile("M", "N", bf16, Layout.TMA_128B, tma_rank=3, tma_box=(64, 128))
    words = refused(lambda X, Y, t, full: ptx.tma.load_3d(dst=t, src=X.tma_desc(), row=0, col=0, mbar=full[0]), slabs)
    assert f"copies a box of 16384 bytes to {name}, of which 8192 bytes are left there" in words


def test_a_box_of_a_tensor_map_that_is_given() -> None:
    @kernel(
        in_specs=(Tile(256, 64, bf16, tma_box=(64, 64)),),
        out_specs=(),
        tensor_maps={"X": TensorMap.tiled((256, 64), bf16, (128, 64))},
    )
    def k(X):
        tile, full = smem.alloc(bf16, (64, 64)), smem.mbarrier(1)
        ptx.cp.async_.bulk.tensor_2d(dst=tile, src=X.tma_desc(), coord=(0, 0), mbar=full[0])

    with pytest.raises(ValueError, match=r"a box of 16384 bytes to `smem_0`, of which 8192 bytes are left there"):
        k.ptx()


def test_a_copy_is_called_what_the_author_calls_it() -> None:
    with Here() as here, pytest.raises(TypeError, match=r"`ptx\.cp\.async_\.bulk` is given the tuple") as raised:
        ptx.cp.async_.bulk(dst=here.smem, src=(here.x,), size=16, mbar=here.smem)
    assert "a tuple of one register is unpacked by `(x,) = …`" in str(raised.value)
