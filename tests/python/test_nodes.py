"""Autograd nodes in C++: what torch does with nodes, and how they are made. That they give the gradients that those in Python
give is in test_known_gradients.py."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from pyptx import cache, cli, errors, executor, kernels  # noqa: E402
from pyptx.kernels import _torch_launch, _tuned  # noqa: E402
from pyptx.torch_support import nodes  # noqa: E402

functional = torch.nn.functional


@pytest.fixture(autouse=True)
def made(request: pytest.FixtureRequest) -> Iterator[None]:
    if "tmp_path" in request.fixturenames:  # how they are made
        yield
        return
    nodes.build()
    _tuned.forget_plans()
    with executor.checking() as findings:
        yield
    _tuned.forget_plans()
    assert not findings


def leaf(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).requires_grad_()


def known(x: Any, w: Any) -> Any:
    """The result of a call that has a node in C++."""
    for _ in range(3):
        y = kernels.rms_norm(x, w)
    assert "CppFunction" in repr(y.grad_fn)
    return y


def expected_of(x: Any, w: Any, dy: Any) -> Any:
    return torch.autograd.grad(functional.rms_norm(x, (x.shape[-1],), w, 1e-6), (x, w), dy)


def test_hooks_are_called() -> None:
    x, w = leaf(4, 64), leaf(64, seed=1)
    y, met = known(x, w), []
    y.register_hook(lambda g: met.append("result") or 2 * g)
    y.grad_fn.register_hook(lambda inputs, outputs: met.append("node"))
    x.register_hook(lambda g: met.append("leaf"))
    y.sum().backward()
    assert met == ["result", "node", "leaf"] or met == ["result", "leaf", "node"]
    for found, one in zip((x.grad, w.grad), expected_of(x, w, torch.full((4, 64), 2.0)), strict=True):
        torch.testing.assert_close(found, one, rtol=1e-4, atol=2e-5)
    assert y.grad_fn.next_functions[0][0].variable is x and y.grad_fn.next_functions[1][0].variable is w


def test_what_is_saved_may_be_packed_and_made_anew() -> None:
    x, w, packed = leaf(4, 64), leaf(64, seed=1), []
    known(x, w)

    def pack(tensor: Any) -> Any:
        packed.append(tuple(tensor.shape))
        return tensor.numpy().copy() if not tensor.requires_grad else tensor.detach().numpy().copy()

    with torch.autograd.graph.saved_tensors_hooks(pack, torch.from_numpy):
        y = kernels.rms_norm(x, w)
    dy = torch.randn(4, 64)
    for found, one in zip(torch.autograd.grad(y, (x, w), dy), expected_of(x, w, dy), strict=True):
        torch.testing.assert_close(found, one, rtol=1e-4, atol=2e-5)
    assert packed[:2] == [(4, 64), (64,)]
    y = torch.utils.checkpoint.checkpoint(lambda x: kernels.rms_norm(x * 2, w), x, use_reentrant=False)
    (found,) = torch.autograd.grad(y, x, dy)
    torch.testing.assert_close(found, 2 * expected_of(2 * x, w, dy)[0], rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("language", ["C++", "Python"])
def test_what_is_saved_may_come_back_in_one_piece(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a product took it with gaps between rows."""
    if language == "Python":
        monkeypatch.setattr(nodes, "module", lambda: None)
    wide, b = torch.randn(6, 64).bfloat16(), torch.randn(24, 32).bfloat16().requires_grad_()
    dy, packed = torch.randn(6, 24).bfloat16(), []
    (expected,) = torch.autograd.grad(wide[:, 16:48] @ b.mT, b, dy)

    def pack(tensor: Any) -> Any:
        packed.append(tensor.dtype)
        return tensor.clone(memory_format=torch.contiguous_format).detach()

    for _ in range(5):
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
            y = kernels.matmul(wide[:, 16:48], b.mT)
        (found,) = torch.autograd.grad(y, b, dy)
        torch.testing.assert_close(found, expected, rtol=2e-2, atol=2e-1)
    assert set(packed) == {torch.bfloat16}  # what the node is of is not a user's to pack


def test_nodes_are_taken_behind_transforms() -> None:
    x, w = leaf(4, 64), leaf(64, seed=1)
    torch.func.grad(lambda x: kernels.rms_norm(x, w.detach()).sum())(x.detach())
    known(x, w)


def test_of_two_results_one_may_be_used() -> None:
    x, r, w = leaf(4, 64), leaf(4, 64, seed=2), leaf(64, seed=1)
    for _ in range(3):
        y, total = kernels.rms_norm(x, w, residual=r)
    assert "CppFunction" in repr(y.grad_fn)
    dy = torch.randn(4, 64)
    found = torch.autograd.grad(y, (x, r, w), dy, retain_graph=True)
    for each, one in zip(found, torch.autograd.grad(functional.rms_norm(x + r, (64,), w, 1e-6), (x, r, w), dy), strict=True):
        torch.testing.assert_close(each, one, rtol=1e-4, atol=2e-5)
    assert torch.equal(torch.autograd.grad(total, x, dy)[0], dy)


def test_a_mode_sees_every_launch() -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    met: list[str] = []

    class Watching(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            met.append(str(function))
            return function(*args, **(kwargs or {}))

    x, w = leaf(4, 64), leaf(64, seed=1)
    y = known(x, w)
    with Watching():
        watched = kernels.rms_norm(x, w)
        forward = sum("pyptx" in name for name in met)
        torch.autograd.grad(y, (x, w), torch.ones_like(y))
    assert forward == 1 and sum("pyptx" in name for name in met) == 3, met
    assert torch.equal(watched, y)


def test_a_backward_that_torch_compiles() -> None:
    compiled_autograd = pytest.importorskip("torch._dynamo.compiled_autograd")
    x, w = leaf(4, 64), leaf(64, seed=1)
    known(x, w)
    expected = expected_of(x, w, torch.ones(4, 64))
    for _ in range(2):
        x.grad = w.grad = None
        y = kernels.rms_norm(x, w)
        with compiled_autograd._enable(torch.compile(backend="eager")):
            y.sum().backward()
        for found, one in zip((x.grad, w.grad), expected, strict=True):
            torch.testing.assert_close(found, one, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_without_a_gradient_they_launch_alone(reduction: str) -> None:
    logits, target = torch.randn(6, 96), torch.tensor([3, 1, -100, 95, 0, 7])
    expected = functional.cross_entropy(logits, target, reduction=reduction)
    for _ in range(4):
        found = kernels.cross_entropy(logits, target, reduction=reduction)
        assert found.shape == () and found.grad_fn is None
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-5)
    (call,) = _torch_launch._calls.values()
    assert torch.equal(call.again(logits, target), found)
    with torch.inference_mode():
        found = kernels.cross_entropy(logits, target, reduction=reduction)
        assert found.is_inference()
        torch.testing.assert_close(kernels.cross_entropy(logits.clone(), target, reduction=reduction), expected)
    x = logits.clone().requires_grad_()
    with torch.no_grad():
        assert not kernels.cross_entropy(x, target, reduction=reduction).requires_grad
    total = kernels.cross_entropy(x, target, reduction=reduction)
    (found,) = torch.autograd.grad(total, x)
    (wanted,) = torch.autograd.grad(functional.cross_entropy(x, target, reduction=reduction), x)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)


def test_threads_go_backwards_at_once() -> None:
    x, w = leaf(8, 96), leaf(96, seed=1)
    known(x, w)
    dy = torch.randn(8, 96)
    expected, wrong = expected_of(x, w, dy), []

    def work() -> None:
        for _ in range(20):
            found = torch.autograd.grad(kernels.rms_norm(x, w), (x, w), dy)
            if not all(torch.allclose(each, one, rtol=1e-4, atol=2e-5) for each, one in zip(found, expected, strict=True)):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_nodes_are_freed_with_what_they_are_of() -> None:
    x, w = leaf(4, 72), leaf(72, seed=1)
    y = known(x, w)
    (call,) = [each for key, each in _torch_launch._calls.items() if each.forward.inputs == 2]
    gone = weakref.ref(call.otherwise)
    del call
    _tuned.forget_plans()
    gc.collect()
    assert gone() is not None  # y's node has it
    dy = torch.randn(4, 72)
    for found, one in zip(torch.autograd.grad(y, (x, w), dy), expected_of(x, w, dy), strict=True):
        torch.testing.assert_close(found, one, rtol=1e-4, atol=2e-5)
    del y
    gc.collect()
    assert gone() is None


def test_a_process_may_end_with_nodes() -> None:
    code = (
        "import torch\nfrom pyptx import kernels\nx = torch.randn(4, 64, requires_grad=True)\n"
        "for _ in range(3): y = kernels.softmax(x); y.sum().backward(retain_graph=True)\nprint(y.grad_fn)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "CppFunction" in done.stdout, done.stderr


# -- how they are made


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, which has no nodes; the process's are back behind the test."""
    monkeypatch.setattr(nodes, "get_global_cache", lambda: cache.CubinCache(tmp_path))
    monkeypatch.setattr(nodes, "_module", None)
    monkeypatch.setattr(nodes, "_is_known", False)
    return tmp_path


def test_without_them_python_s_are_taken(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert nodes.module() is None and cli.main(["kernels", "nodes"]) == 1
    assert "nodes in Python are taken; --build makes" in capsys.readouterr().err


def test_without_a_cache_there_are_none(
    monkeypatch: pytest.MonkeyPatch, elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(nodes, "get_global_cache", lambda: cache.CubinCache(elsewhere, enable_disk=False))
    assert cli.main(["kernels", "nodes"]) == 1 and "the disk cache, which is off" in capsys.readouterr().err
    (elsewhere / "file").write_text("")
    monkeypatch.setattr(nodes, "get_global_cache", lambda: cache.CubinCache(elsewhere / "file"))
    assert cli.main(["kernels", "nodes", "--build"]) == 2 and "`PYPTX_CACHE_DIR` names" in capsys.readouterr().err


def test_what_they_cannot_be_made_with(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = os.environ["PATH"]
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("PATH", str(elsewhere))
    with pytest.raises(errors.PtxError, match=r"nothing here compiles C\+\+: `no-such-compiler` is not there"):
        nodes.build()
    broken = elsewhere / "broken"
    broken.write_text("#!/bin/sh\necho 'torch/header.h: no such file' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CXX", str(broken))
    monkeypatch.setenv("PATH", path)
    with pytest.raises(errors.PtxError, match=r"(?s)cannot compile .* for torch .*header.h: no such file"):
        nodes.build()
    assert not list((elsewhere / "nodes").iterdir())  # nothing half made
    assert cli.main(["kernels", "nodes", "--build"]) == 2 and "no such file" in capsys.readouterr().err
    monkeypatch.setattr(nodes, "get_global_cache", lambda: cache.CubinCache(elsewhere, enable_disk=False))
    with pytest.raises(errors.PtxError, match="disk cache, which is off"):
        nodes.build()


def test_a_file_that_is_no_library(elsewhere: Path) -> None:
    path = nodes.path_of(torch)
    path.parent.mkdir()
    path.write_bytes(b"not a library")
    with pytest.warns(UserWarning, match="autograd nodes in Python are taken"):
        assert nodes.module() is None
    assert nodes.module() is None  # told once
    assert nodes.build() == path and nodes.module() is not None


def test_the_command_line_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["kernels", "nodes", "--help"]) == 0 and "nodes [--build]" in capsys.readouterr().out
    assert cli.main(["kernels", "nodes", "--bild"]) == 2 and "usage" in capsys.readouterr().err


def test_making_them_says_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    kernels.build_nodes()
    assert nodes.module() is not None
    assert cli.main(["kernels", "nodes"]) == 0 and capsys.readouterr().out.strip() == str(nodes.path_of(torch))
