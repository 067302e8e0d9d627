"""Barriers, fences, clusters, pipelines, and the descriptors that a kernel takes."""

from pathlib import Path

import pytest

from pyptx import PtxError, Tile, _ptx, kernel, ptx, reg, smem
from pyptx.kernel import Kernel, TensorSpec, TmaDescriptorHandle
from pyptx.types import b32, b64, bf16, f32, pred, u32

GOLDEN = Path(__file__).parents[1] / "golden" / "write"  # also what ptx/write/door/sync_test.cpp writes


def lines(ctx) -> list[str]:
    return [line.rstrip(";") for line in ctx.statements]


@pytest.fixture
def here():
    """A trace with a register and a predicate, of which nothing is written."""
    with _ptx.Trace("test", version=(8, 6)) as ctx:
        ctx_r, ctx_p = reg.scalar(u32), reg.scalar(pred)
        yield ctx, ctx_r, ctx_p


def test_twin_of_the_cpp_program(ptxas) -> None:
    @kernel(
        in_specs=(Tile(64, 64, bf16),),
        out_specs=(Tile(64, 64, bf16),),
        raw_params=[("u32", "n")],
        smem=65536,
        version=(8, 6),
        extern_smem="tiles",
        raw_directives=[("maxntid", (256,)), ("minnctapersm", (1,))],
    )
    def synchronise(X, Y):
        n = ptx.param(u32, "n")
        first = n == 0
        full = smem.mbarrier(2)

        ptx.mbarrier.init(full[0], 1)
        ptx.mbarrier.init(full[1], n, pred=first)
        ptx.fence.mbarrier_init()
        with ptx.if_(first):
            y = Y.tma_desc()
        with ptx.scope():
            X.tma_desc()
        assert Y.tma_desc() is y
        state = ptx.mbarrier.arrive(full[0])
        ptx.mbarrier.try_wait(full[0], state, parity=False)
        ptx.mbarrier.try_wait(full[0], 1)
        ptx.mbarrier.arrive_expect_tx(full[1], 4096, pred=~first)
        ptx.mbarrier.expect_tx(full[1], n)
        ptx.mbarrier.wait(full[0], 0)
        ptx.mbarrier.wait(full[1], n, pred=first)
        ptx.mbarrier.wait(full[1], n, pred=~first)
        ptx.mbarrier.inval(full[1])

        base = smem.base()
        ring = ptx.mbarrier.array(base, 64, 3)
        ring.init_all(1)
        pipe = ptx.pipeline(3)
        stage, phase = pipe.advance()
        slot = ring.at(stage)
        with ptx.if_(first):
            slot.arrive_expect_tx(64)
        slot.wait(phase)
        slot.arrive()
        ring[1].init(2)
        ring[1].wait(0, pred=first)
        slot.arrive_remote(1, 2, pred=~first)
        ring[0].arrive_remote(n)
        ring.arrive_remote_all(0)
        slot.addr_reg()
        ring[2].addr_reg()
        ptx.inst.mbarrier.init.shared__cta.b64(ring[2].address_operand(), 7)
        by_name = ptx.mbarrier.array("tiles", 0, 2)
        by_name[1].init(1)
        by_name.at(stage).init(1)

        ptx.fence.proxy_async()
        ptx.fence.proxy_async(pred=first)
        ptx.fence.proxy_async_shared_cta()
        ptx.fence.proxy_async_generic_acquire_shared_cluster(pred=~first)
        ptx.cluster.arrive()
        ptx.cluster.wait(aligned=True)
        ptx.cluster.sync()
        ptx.cluster.rank(1)
        ptx.cluster.map_shared_u32(base, 1)
        ptx.cluster.map_shared_u32(full[0], n)
        ptx.cluster.arrive_remote(full[1], 1)
        ptx.cluster.arrive_multicast(base, 0b101)

        ptx.bar.sync()
        ptx.bar.sync(1, 64)
        ptx.named_barrier(3, count=128).sync()
        ptx.named_barrier(n).sync()
        ptx.setmaxnreg(40, inc=False)
        ptx.setmaxnreg_inc(232)
        lane, chosen = reg.scalar(b32), reg.scalar(pred)
        ptx.elect_sync(lane, chosen, 0xFFFFFFFF)
        ptx.ret()

    text = synchronise.ptx()
    assert text == (GOLDEN / "sync.ptx").read_text()
    assert synchronise.traced().tma_tensors == ("Y", "X")
    ptxas(text)


# -- mbarrier


def test_what_each_method_writes(here) -> None:
    ctx, r, _p = here
    m = smem.mbarrier(2)
    ptx.mbarrier.init(m[0], 4)
    ptx.mbarrier.inval(m[1])
    assert ptx.mbarrier.arrive(m[0]).dtype is b64
    assert ptx.mbarrier.arrive_expect_tx(r, 128).dtype is b64
    ptx.mbarrier.expect_tx(ptx.addr(r, 8), 128)
    assert ptx.mbarrier.try_wait(m[1], 0).dtype is pred
    ptx.mbarrier.try_wait("mbar_0", reg.scalar(b64), parity=False)
    assert lines(ctx) == [
        "mbarrier.init.shared::cta.b64 [mbar_0], 4", "mbarrier.inval.shared.b64 [mbar_0+8]",
        "mbarrier.arrive.shared.b64 %rd0, [mbar_0]", "mbarrier.arrive.expect_tx.shared::cta.b64 %rd1, [%r0], 128",
        "mbarrier.expect_tx.shared.b64 [%r0+8], 128", "mbarrier.try_wait.parity.shared.b64 %p1, [mbar_0+8], 0",
        "mbarrier.try_wait.shared.b64 %p2, [mbar_0], %rd2",
    ]  # fmt: skip


def test_wait_spins(here) -> None:
    ctx, r, _ = here
    m = smem.mbarrier(1)
    ptx.mbarrier.wait(m[0], r)
    label = lines(ctx)[0].rstrip(":")
    assert label.startswith("$_mbar_wait_")
    assert lines(ctx) == [f"{label}:", "mbarrier.try_wait.parity.shared.b64 %p1, [mbar_0], %r0", f"@!%p1 bra {label}"]


@pytest.mark.parametrize(("negated", "skip"), [(False, "@!%p0"), (True, "@%p0")])
def test_a_false_guard_skips_the_whole_wait(here, negated, skip) -> None:
    ctx, r, p = here
    ptx.mbarrier.wait(r, 0, pred=~p if negated else p)
    skipping, label, try_wait, again, behind = lines(ctx)
    assert skipping.startswith(f"{skip} bra ") and behind == skipping.split()[-1] + ":"
    assert try_wait.startswith("mbarrier.try_wait") and again == f"@!%p1 bra {label.rstrip(':')}"


def test_the_address_of_a_wait_is_computed_in_front_of_its_loop() -> None:
    with _ptx.Trace("test", dynamic_smem=True) as ctx:
        smem.alloc(f32, 32)
        ptx.mbarrier.wait(smem.mbarrier(1)[0], 0)
    assert lines(ctx)[:2] == ["mov.b32 %r0, dyn_smem", "add.s32 %r0, %r0, 128"] and lines(ctx)[2].startswith("$_mbar_wait")


def test_guards(here) -> None:
    ctx, r, p = here
    ptx.mbarrier.init(r, 1, pred=p)
    ptx.mbarrier.inval(r, pred=~p)
    ptx.mbarrier.arrive(r, pred=p)
    ptx.mbarrier.arrive_expect_tx(r, 8, pred=~p)
    ptx.mbarrier.expect_tx(r, 8, pred=p)
    ptx.mbarrier.try_wait(r, 0, pred=~p)
    assert [line.split()[0] for line in ctx.statements] == ["@%p0", "@!%p0"] * 3
    for wrong in (
        lambda: ptx.mbarrier.init(r, 1, pred=r), lambda: ptx.mbarrier.wait(r, 0, pred=True), lambda: ptx.mbarrier.init(1.5, 1),
        lambda: ptx.mbarrier.init(None, 1),
    ):  # fmt: skip
        with pytest.raises(TypeError):
            wrong()
    for wrong in (lambda: ptx.mbarrier.wait(r, 2), lambda: ptx.mbarrier.array(r, 4, 1), lambda: ptx.mbarrier.array(r, 0, 0)):
        with pytest.raises(ValueError):
            wrong()


# -- arrays of barriers


def test_static_slots(here) -> None:
    ctx, r, _ = here
    ring = ptx.mbarrier.array(r, 64, 2)
    assert (len(ring), ring.byte_offset, [slot.byte_offset for slot in ring]) == (2, 64, [64, 72])
    ring.init_all(3)
    assert lines(ctx) == ["mbarrier.init.shared::cta.b64 [%r0+64], 3", "mbarrier.init.shared::cta.b64 [%r0+72], 3"]
    for index in (-1, 2):
        with pytest.raises(IndexError):
            ring[index]
        with pytest.raises(IndexError):
            ring.at(index)
    ring.at(1).arrive()
    assert lines(ctx)[-1] == "mbarrier.arrive.shared.b64 %rd0, [%r0+72]"
    assert ring[1].addr_reg().dtype is u32 and lines(ctx)[-1] == "add.u32 %r1, %r0, 72"
    with pytest.raises(TypeError):
        ring.at("stage")


def test_the_address_of_a_dynamic_slot_is_there_for_all_its_uses(here) -> None:
    ctx, r, p = here
    stage = reg.scalar(u32)
    slot = ptx.mbarrier.array(r, 16, 4).at(stage)
    with ptx.if_(p):
        slot.arrive()
    slot.wait(0)
    assert lines(ctx)[:3] == ["shl.b32 %r2, %r1, 3", "add.u32 %r2, %r2, 16", "add.u32 %r3, %r0, %r2"]
    assert sum("shl" in line for line in lines(ctx)) == 1 and sum("[%r3]" in line for line in lines(ctx)) == 2
    assert slot.addr_reg() is slot.addr_reg()


def test_slots_are_operands(here) -> None:
    ctx, r, _ = here
    slot = ptx.mbarrier.array(r, 0, 2)[1]
    ptx.inst.mbarrier.init.shared__cta.b64(ptx.addr(slot), 1)
    ptx.inst.mbarrier.init.shared__cta.b64(slot.address_operand(), 1)
    ptx.mbarrier.init(slot, 1)
    assert lines(ctx) == ["mbarrier.init.shared::cta.b64 [%r0+8], 1"] * 3


def test_arrivals_at_other_blocks(here) -> None:
    ctx, r, p = here
    smem.mbarrier(1)
    ptx.mbarrier.array(r, 0, 1)[0].arrive_remote(1, pred=p)
    assert lines(ctx) == [
        "{", ".reg .b32 remAddr32", "@%p0 mapa.shared::cluster.u32 remAddr32, %r0, 1",
        "@%p0 mbarrier.arrive.shared::cluster.b64 _, [remAddr32], 1", "}",
    ]  # fmt: skip
    before = len(ctx.statements)
    ptx.cluster.arrive_multicast(r, 0b1001, 2)
    assert [line for line in lines(ctx)[before:] if "mapa" in line] == [
        f"mapa.shared::cluster.u32 remAddr32, %r0, {cta}" for cta in (0, 3)
    ]
    with pytest.raises(NotImplementedError, match="arrive_remote"):
        ptx.cluster.arrive_multicast(r, r)
    for mask in (0, -1, 1 << 16):
        with pytest.raises(ValueError):
            ptx.cluster.arrive_multicast(r, mask)


# -- the rest


def test_pipelines(here) -> None:
    ctx, r, _ = here
    pipe = ptx.pipeline(4)
    assert (pipe.n_stages, pipe.cursor.dtype, pipe.phase.dtype) == (4, u32, u32)
    stage, phase = pipe.advance()
    assert phase is pipe.phase and stage.dtype is u32
    assert lines(ctx) == [
        "mov.u32 %r1, 0", "mov.u32 %r2, 0", "setp.eq.u32 %p1, %r1, 4", "selp.u32 %r3, 1, 0, %p1", "xor.b32 %r2, %r2, %r3",
        "selp.u32 %r4, 0, %r1, %p1", "add.s32 %r1, %r4, 1",
    ]  # fmt: skip
    given = ptx.pipeline(2, cursor=r, phase=stage)
    assert given.cursor is r and given.phase is stage and len(ctx.statements) == 7
    with pytest.raises(ValueError):
        ptx.pipeline(0)
    with pytest.raises(TypeError):
        ptx.pipeline(2, cursor=0)


def test_fences_take_a_negated_guard(here) -> None:
    ctx, _, p = here
    ptx.fence.proxy_async(pred=~p)
    ptx.fence.proxy_async_shared_cta(pred=p)
    ptx.fence.mbarrier_init(pred=~p)
    ptx.fence.proxy_async_generic_acquire_shared_cluster(pred=~p)
    assert lines(ctx) == [
        "@!%p0 fence.proxy.async", "@%p0 fence.proxy.async.shared::cta", "@!%p0 fence.mbarrier_init.release.cluster",
        "@!%p0 fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    ]  # fmt: skip


def test_special_registers_are_copied_first(here) -> None:
    ctx, r, _ = here
    rank = ptx.sreg("%cluster_ctarank")
    ptx.cluster.arrive_remote(r, rank)
    ptx.cluster.map_shared_u32(r, rank)
    ptx.named_barrier(rank).sync()
    assert lines(ctx)[0] == "mov.u32 %r1, %cluster_ctarank" and lines(ctx)[-1] == "bar.sync %r4"
    assert all("%cluster" not in line for line in lines(ctx) if not line.startswith("mov.u32"))


def test_registers_of_a_warpgroup(here) -> None:
    ctx, _, _ = here
    ptx.setmaxnreg(240)
    ptx.setmaxnreg(40, inc=False)
    ptx.setmaxnreg_inc(232)
    ptx.setmaxnreg_dec(24)
    assert lines(ctx) == [
        f"setmaxnreg.{how}.sync.aligned.u32 {n}" for how, n in (("inc", 240), ("dec", 40), ("inc", 232), ("dec", 24))
    ]
    with pytest.raises(ValueError):
        ptx.setmaxnreg(41)


# -- descriptors


def test_a_descriptor_is_loaded_in_front_of_everything(ptxas) -> None:
    @kernel(in_specs=(Tile(64, 64, bf16), Tile(64, 64, bf16)), out_specs=(Tile(64, 64, bf16),), raw_params=[("u32", "n")])
    def maps(A, B, C):
        p = ptx.param(u32, "n") == 0
        with ptx.if_(p), ptx.scope():
            b = B.tma_desc()
        with ptx.else_():
            assert B.tma_desc() is b
        again = reg.scalar(b64)
        ptx.inst.mov.b64(again, b)
        ptx.inst.mov.b64(again, A.tma_desc())
        ptx.ret()

    text = maps.ptx()
    params = [line.split()[-1].rstrip(",") for line in text.splitlines() if line.startswith("\t.param")]
    assert params == ["A", "B", "C", "n", "B_tma_desc", "A_tma_desc"]
    body = [line.strip() for line in text[text.index("{\n") + 2 :].splitlines() if ".reg" not in line]
    assert body[0].startswith("ld.param.u64") and body[0].endswith("[B_tma_desc];") and body[1].endswith("[A_tma_desc];")
    assert text.count("[B_tma_desc]") == 1
    ptxas(text)


def test_a_descriptor_between_if_and_else(ptxas) -> None:
    @kernel(in_specs=(Tile(64, 64, bf16),), out_specs=(Tile(64, 64, bf16),))
    def maps(A, C):
        p = reg.from_(ptx.special.tid.x(), u32) == 0
        with ptx.if_(p):
            ptx.bar.sync(1)
        A.tma_desc()
        with ptx.else_():
            ptx.bar.sync(2)
        ptx.ret()

    ptxas(maps.ptx())


def test_a_descriptor_outside_a_kernel_is_a_name() -> None:
    spec = TensorSpec("A")
    handle = spec.tma_desc()
    assert isinstance(handle, TmaDescriptorHandle) and (handle.tensor, handle.name) == (spec, "A_tma_desc")


def test_every_trace_has_its_own_descriptors() -> None:
    spec = TensorSpec("A")
    for _ in range(2):
        with _ptx.Trace("test") as ctx:
            assert spec.tma_desc().dtype.name == "u64"
        assert lines(ctx) == ["ld.param.u64 %rd0, [A_tma_desc]"]
    with _ptx.Trace("test", params=[("u64", "A_tma_desc")]), pytest.raises(PtxError):
        spec.tma_desc()


def test_without_specs_there_are_raw_parameters_and_descriptors_alone() -> None:
    def maps(A):
        A.tma_desc()

    assert [line.split()[-1] for line in Kernel(maps).ptx().splitlines() if "\t.param" in line] == ["A_tma_desc"]
