"""Keyword arguments have second names, those of programs that were written for pyptx 0.1.1: both write the same."""

import re
from collections.abc import Callable
from functools import reduce as fold

import pytest

from pyptx import _ptx, ptx, reg, smem
from pyptx.types import b32, b64, bf16, f32, pred, u16, u32, u64


class Things:
    """What the calls below are made with."""

    def __init__(self) -> None:
        self.tile, self.bars = smem.wgmma_tile(bf16, (64, 64)), smem.mbarrier(2)
        self.slots = ptx.mbarrier.array(smem.base(self.tile.name), byte_offset=64, count=2)
        self.n, self.word, self.x = reg.scalar(u32, init=1), reg.scalar(u64), reg.scalar(f32, init=0.5)
        self.p, self.taddr = reg.scalar(pred), reg.scalar(b32, init=0)
        self.d, self.from_global = reg.array(b32, 4), reg.scalar(b64)


# By function: a call with keywords of theirs, and what it writes with ours.
CALLS: dict[str, tuple[Callable[..., object], dict[str, Callable[[Things], object]]]] = {
    "mbarrier.init": (ptx.mbarrier.init, {"mbar": lambda t: t.bars[0], "count": lambda t: 1}),
    "mbarrier.inval": (ptx.mbarrier.inval, {"mbar": lambda t: t.bars[1]}),
    "mbarrier.arrive": (ptx.mbarrier.arrive, {"mbar": lambda t: t.bars[0]}),
    "mbarrier.arrive_expect_tx": (ptx.mbarrier.arrive_expect_tx, {"mbar": lambda t: t.bars[0], "tx_count": lambda t: 64}),
    "mbarrier.expect_tx": (ptx.mbarrier.expect_tx, {"mbar": lambda t: t.bars[0], "tx_count": lambda t: 64}),
    "mbarrier.try_wait": (ptx.mbarrier.try_wait, {"mbar": lambda t: t.bars[0], "phase": lambda t: t.n}),
    "mbarrier.wait": (ptx.mbarrier.wait, {"mbar": lambda t: t.bars[0], "phase": lambda t: t.n}),
    "mbarrier.array": (
        ptx.mbarrier.array, {"smem_base": lambda t: t.n, "byte_offset": lambda t: 8, "count": lambda t: 2},
    ),
    "bar.sync": (ptx.bar.sync, {"barrier_id": lambda t: 1, "count": lambda t: 64}),
    "named_barrier": (ptx.named_barrier, {"barrier_id": lambda t: 1}),
    "cluster.rank": (ptx.cluster.rank, {"cta_id": lambda t: 1}),
    "cluster.map_shared_u32": (ptx.cluster.map_shared_u32, {"smem_addr": lambda t: t.tile, "cta_id": lambda t: t.n}),
    "cluster.arrive_remote": (ptx.cluster.arrive_remote, {"bar_addr": lambda t: t.bars[0], "cta_id": lambda t: 1}),
    "cluster.arrive_multicast": (ptx.cluster.arrive_multicast, {"bar_addr": lambda t: t.bars[0], "mask": lambda t: 3}),
    "CpAsync.cg": (
        ptx.cp.async_.cg,
        {"smem_dst": lambda t: t.tile, "global_src": lambda t: ptx.addr(t.from_global), "byte_count": lambda t: 16},
    ),
    "CpAsync.ca": (
        ptx.cp.async_.ca,
        {"smem_dst": lambda t: t.tile, "global_src": lambda t: ptx.addr(t.from_global), "byte_count": lambda t: 8},
    ),
    "smem.load": (smem.load, {"dtype": lambda t: f32, "addr": lambda t: t.tile}),
    "smem.store": (smem.store, {"dtype": lambda t: f32, "addr": lambda t: t.tile, "val": lambda t: t.x}),
    "smem.apply_swizzle": (smem.apply_swizzle, {"logical_offset": lambda t: t.n, "swizzle": lambda t: "64B"}),
    "warp.reduce_sum": (ptx.warp.reduce_sum, {"v": lambda t: t.x}),
    "warp.reduce_max": (ptx.warp.reduce_max, {"val": lambda t: t.x, "width": lambda t: 4}),
    "warp.reduce_min": (ptx.warp.reduce_min, {"val": lambda t: t.x}),
    "wgmma.make_descriptor": (
        ptx.wgmma.make_descriptor,
        {"smem_base": lambda t: t.tile, "leading_byte_offset": lambda t: 16, "stride_byte_offset": lambda t: 1024},
    ),
    "wgmma.auto_descriptor": (
        ptx.wgmma.auto_descriptor,
        {"smem_base": lambda t: t.tile, "dtype": lambda t: bf16, "shape": lambda t: (64, 64), "major": lambda t: "K"},
    ),
    "wgmma.masked_descriptor": (ptx.wgmma.masked_descriptor, {"smem_addr": lambda t: t.n}),
    "tcgen05.alloc": (ptx.tcgen05.alloc, {"smem_addr": lambda t: t.tile, "ncols": lambda t: 64}),
    "tcgen05.dealloc": (ptx.tcgen05.dealloc, {"tmem_addr": lambda t: t.taddr, "ncols": lambda t: 64}),
    "tcgen05.mma": (
        ptx.tcgen05.mma,
        {"d_tmem": lambda t: t.taddr, "a_desc": lambda t: t.word, "b_desc": lambda t: t.word, "idesc": lambda t: t.n},
    ),
    "tcgen05.ld": (
        ptx.tcgen05.ld,
        {"dst_regs": lambda t: t.d, "tmem_addr": lambda t: t.taddr, "shape": lambda t: "32x32b", "count": lambda t: 4},
    ),
    "tcgen05.st": (
        ptx.tcgen05.st,
        {"tmem_addr": lambda t: t.taddr, "src_regs": lambda t: t.d, "shape": lambda t: "32x32b", "count": lambda t: 4},
    ),
    "tcgen05.cp": (ptx.tcgen05.cp, {"tmem_addr": lambda t: t.taddr, "smem_addr": lambda t: t.word}),
    "tcgen05.shift": (ptx.tcgen05.shift, {"tmem_addr": lambda t: t.taddr}),
    "tcgen05.descriptor": (ptx.tcgen05.descriptor, {"smem_addr": lambda t: t.n, "stride_bytes": lambda t: 1024}),
    "tcgen05.masked_descriptor": (ptx.tcgen05.masked_descriptor, {"smem_addr": lambda t: t.n}),
    "bra": (ptx.bra, {"label_name": lambda t: "L"}),
    "label": (ptx.label, {"label_name": lambda t: "L"}),
    "mov": (ptx.mov, {"dtype": lambda t: u32, "dst": lambda t: t.n, "src": lambda t: 3}),
    "not_": (ptx.not_, {"dtype": lambda t: b32, "dst": lambda t: t.n, "src": lambda t: t.n}),
    "mad": (
        ptx.mad,
        {"dtype": lambda t: u32, "dst": lambda t: t.n, "a": lambda t: t.n, "b": lambda t: 2, "c": lambda t: t.n},
    ),
    "setp": (
        ptx.setp, {"cmp": lambda t: "lt", "dtype": lambda t: u32, "dst": lambda t: t.p, "a": lambda t: t.n, "b": lambda t: 2},
    ),
    "selp": (
        ptx.selp,
        {"dtype": lambda t: b32, "dst": lambda t: t.n, "tv": lambda t: 1, "fv": lambda t: 2, "pred_reg": lambda t: t.p},
    ),
    "cvt": (
        ptx.cvt,
        {"dst_dtype": lambda t: u64, "src_dtype": lambda t: u32, "dst": lambda t: t.word, "src": lambda t: t.n},
    ),
    "ld": (
        ptx.ld,
        {"dtype": lambda t: u32, "dst": lambda t: t.n, "addr": lambda t: t.from_global, "state_space": lambda t: "global"},
    ),
    "st": (
        ptx.st,
        {"dtype": lambda t: u32, "addr": lambda t: t.from_global, "val": lambda t: t.n, "state_space": lambda t: "global"},
    ),
    "var": (ptx.var, {"state_space": lambda t: "shared", "dtype": lambda t: u16, "name": lambda t: "v", "size": lambda t: 4}),
    **{
        name: (
            getattr(ptx, name), {"dtype": lambda t: u32, "dst": lambda t: t.n, "a": lambda t: t.n, "b": lambda t: 1},
        )
        for name in ("add", "sub", "shr")
    },
    "mul": (
        ptx.mul,
        {"dtype": lambda t: u32, "dst": lambda t: t.n, "a": lambda t: t.n, "b": lambda t: 3, "mode": lambda t: "lo"},
    ),
    **{
        name: (
            getattr(ptx, name), {"dtype": lambda t: b32, "dst": lambda t: t.n, "a": lambda t: t.n, "b": lambda t: 1},
        )
        for name in ("shl", "and_", "or_", "xor_")
    },
}  # fmt: skip
ELSEWHERE = {
    "if_", "loop", "BarrierSlot.arrive_expect_tx", "BarrierSlot.arrive_remote", "BarrierArray.arrive_remote_all",
}  # fmt: skip


def traced(write: Callable[[Things], object]) -> list[str]:
    with _ptx.Trace("test", "sm_100a", (8, 8)) as trace:
        write(Things())
        return trace.statements


def test_the_table_names_what_is_there() -> None:
    table = _ptx.keyword_synonyms()
    assert table.keys() == CALLS.keys() | ELSEWHERE and len(table) >= 45
    for path, names in table.items():
        function = fold(getattr, path.split("."), _ptx)
        signature = function.__nb_signature__[0][0]
        parameters = set(re.findall(r"(\w+)(?=[:=,)])", signature))
        variadic = "**named" in signature
        for theirs, ours in names.items():
            assert variadic or (ours in parameters and theirs not in parameters), (path, theirs, ours)


@pytest.mark.parametrize("path", CALLS)
def test_both_names_write_the_same(path) -> None:
    function, arguments = CALLS[path]
    names = _ptx.keyword_synonyms()[path]
    theirs = traced(lambda t: function(**{name: make(t) for name, make in arguments.items()}))
    ours = traced(lambda t: function(**{names.get(name, name): make(t) for name, make in arguments.items()}))
    assert theirs == ours and (len(ours) > len(traced(lambda t: None)) or path in ("named_barrier", "mbarrier.array", "var"))
    # mixed, too: one by our name, the others by theirs
    for name in names:
        if name in arguments:
            mixed = traced(lambda t, name=name: function(**{names[n] if n == name else n: f(t) for n, f in arguments.items()}))
            assert mixed == ours


def test_positions_and_second_names() -> None:
    def write(t: Things) -> None:
        ptx.mbarrier.arrive_expect_tx(t.bars[0], tx_count=64, pred=t.p)
        t.slots[0].arrive_expect_tx(tx_count=64)
        t.slots[1].arrive_remote(cta_id=1)
        t.slots.arrive_remote_all(cta_id=t.n, count=2)
        with ptx.if_(pred_reg=t.p):
            ptx.bar.sync(barrier_id=2)
        with ptx.loop(label_name="again", pred=t.p):
            ptx.mov(u32, t.n, src=1)

    def same(t: Things) -> None:
        ptx.mbarrier.arrive_expect_tx(t.bars[0], 64, pred=t.p)
        t.slots[0].arrive_expect_tx(64)
        t.slots[1].arrive_remote(1)
        t.slots.arrive_remote_all(t.n, 2)
        with ptx.if_(t.p):
            ptx.bar.sync(2)
        with ptx.loop("again", pred=t.p):
            ptx.mov(u32, t.n, 1)

    assert traced(write) == traced(same)


def test_two_names_of_one_argument_are_one_too_many(trace) -> None:
    bars = smem.mbarrier(1)
    for call in (
        lambda: ptx.mbarrier.init(m=bars[0], mbar=bars[0], count=1),
        lambda: ptx.mbarrier.init(mbar=bars[0], m=bars[0], count=1),
        lambda: ptx.warp.reduce_sum(v=reg.scalar(f32), val=reg.scalar(f32)),
    ):
        with pytest.raises(TypeError, match="two names of one argument"):
            call()
    with pytest.raises(TypeError):
        ptx.mbarrier.init(bars[0], mbar=bars[0], count=1)
    with pytest.raises(TypeError):
        ptx.mbarrier.init(bar=bars[0], count=1)
    assert trace.statements == []
