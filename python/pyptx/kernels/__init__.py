"""Kernels that are ready to use: norms, softmax, gated products, matrix products, for numpy arrays, torch tensors, JAX arrays.

They run where their arguments are: on a GPU, or for arrays in host memory on the executor. f32, f16 and bf16; between load and
store everything is f32. Rows are the last dimension, of 1 to 262,144 elements; leading dimensions are taken together. A torch
tensor whose rows lie apart is read where it lies, also one whose rows lie in groups that do, as `logits[:, :-1]`, as long as a
row's elements lie side by side; torch.compile copies it. In a graph of torch.compile with dynamic shapes the leading dimensions
may change; for another row's length it is compiled once more, and torch.export and jax.export take constant sizes.
All are differentiable with torch, torch.func and JAX, products with scales in what their docstring says. Unsupported arguments
raise; nothing falls back to another library.
"""

# From the top down: _for_torch; _torch and _torch_loss, with _differentiated, gradients also inside torch.func, and _known, those
# of calls like earlier ones; _torch_launch, how they launch; _arrays, of numpy and JAX, with _jax, the rules of gradients; _runs;
# _library, recipes; _tuned, which is taken, with _tune and _tuning; _checks. Matrix products: _torch_matmul, _matmul with
# _jax_matmul, the same for _scaled and _grouped; _torch_factors, how torch's lie, _product_runs; _products, recipes and shapes.
# Losses: _torch_linear, _linear with _jax_linear, _linear_runs; _mean, _loss.

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from .. import _ptx
from . import _checks
from ._loss import loss_of
from ._tune import explain, tune, tuned

__all__ = [
    "build_nodes", "cross_entropy", "cross_entropy_and_gradient", "explain", "gated_matmul", "geglu", "grouped_matmul",
    "layer_norm", "linear_cross_entropy", "log_softmax", "matmul", "rms_norm", "scaled_matmul", "softmax", "swiglu", "tune",
    "tuned",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def _is_torch(x: Any) -> bool:
    return hasattr(x, "requires_grad")  # not by its class: Dynamo traces this


def build_nodes() -> None:
    """Makes the autograd nodes of these functions in C++, for the torch of this process: calls that torch differentiates cost the
    host less then, small ones by a fifth to a quarter. They do the same as the nodes in Python that are taken otherwise.

    Takes some 20 seconds, once: they are kept in the disk cache, where later processes of the same torch and Python find them,
    and `pyptx kernels nodes` says whether they are there. RuntimeError where nothing compiles C++, or the compiler fails: what it
    says.
    """
    from ..torch_support import nodes
    from ._tuned import forget_plans

    nodes.build()
    forget_plans()  # calls that are known have nodes in Python


# No default is a float: Dynamo takes a float of a signature for one that changes, and where torch's cache is cold compiles what
# uses it twice under `dynamic=True`.

# The first tensor imports what is for torch. A global that held it would change under the first graph's guards, and the call
# after that would be compiled once more.


def _torch_functions() -> Any:
    """The functions for torch tensors."""
    if _known_functions is not None:
        return _known_functions
    import pyptx.kernels._for_torch as module

    return module


def rms_norm(
    x: Any, weight: Any = None, *, eps: float | None = None, residual: Any = None, offset: float = 0, out_dtype: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    """``x / sqrt(mean(x**2) + eps) * (weight + offset)`` over the last dimension, as `torch.nn.functional.rms_norm`.

    ``weight`` is of the last dimension's size and of ``x``'s element type; ``eps`` is 1e-6 by default. With ``residual``, like
    ``x``, ``x + residual`` is rounded to the element type and normalised: the result is the pair of the norm and that sum. With
    ``out_dtype`` float8_e4m3fn the norm is two arrays, without gradients: e4m3 numbers, and f32 scales [.., 1], one a row, of
    which they are multiples, as `scaled_matmul` takes them; with ``scale`` too, an f32 array of one number, it is the e4m3
    numbers alone, multiples of that one, and what is beyond 448 of it becomes 448. Squares are added up in f32: a row whose sum
    of them is beyond f32 (from about 1e18 on) becomes 0, as in torch. TypeError for another element type, ValueError for shapes
    that do not fit together.
    """
    eps = 1e-6 if eps is None else _checks.number("rms_norm", "eps", eps)
    offset = _checks.number("rms_norm", "offset", offset)
    if out_dtype is not None or scale is not None:
        return _e4m3_norm("rms_norm", x, weight, None, residual, eps, offset, out_dtype, scale)
    if _is_torch(x):
        return _torch_functions().norm("rms_norm", x, weight, None, residual, eps, offset)
    from . import _arrays

    return _arrays.norm("rms_norm", x, weight, None, residual, eps, offset)


def _e4m3_norm(
    operation: str, x: Any, weight: Any, bias: Any, residual: Any, eps: float, offset: float, out_dtype: Any, scale: Any
) -> Any:
    _require_e4m3(operation, out_dtype)
    if _is_torch(x):
        return _torch_functions().norm_e4m3(operation, x, weight, bias, residual, eps, offset, scale)
    from . import _arrays

    return _arrays.norm_e4m3(operation, x, weight, bias, residual, eps, offset, scale)


def _require_e4m3(operation: str, out_dtype: Any) -> None:
    name = str(getattr(out_dtype, "name", None) or getattr(out_dtype, "__name__", out_dtype)).removeprefix("torch.")
    if name != "float8_e4m3fn":
        hint = "what fits is float8_e4m3fn, or neither `out_dtype` nor `scale`: then the result has the input's element type"
        _ptx.raise_error("argument_dtype", f"`{operation}` to {name}", hint)


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, *, eps: float | None = None, residual: Any = None, out_dtype: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    """``(x - mean) / sqrt(variance + eps) * weight + bias`` over the last dimension, as `torch.nn.functional.layer_norm`.

    ``weight`` and ``bias`` are of the last dimension's size and of ``x``'s element type; ``eps`` is 1e-5 by default.
    ``residual``, ``out_dtype`` and ``scale`` as in `rms_norm`. The mean is subtracted before squares are taken, so numbers far
    from 0 keep their digits. Both sums are f32's: a row whose sum is beyond f32 becomes NaN, as in torch, and one whose sum of
    squares about its mean is (from about 1e18 on), 0, where torch has NaN.
    """
    eps = 1e-5 if eps is None else _checks.number("layer_norm", "eps", eps)
    if out_dtype is not None or scale is not None:
        return _e4m3_norm("layer_norm", x, weight, bias, residual, eps, 0.0, out_dtype, scale)
    if _is_torch(x):
        return _torch_functions().norm("layer_norm", x, weight, bias, residual, eps, 0.0)
    from . import _arrays

    return _arrays.norm("layer_norm", x, weight, bias, residual, eps, 0.0)


def softmax(x: Any, dim: int = -1) -> Any:
    """``exp(x - max) / sum(exp(x - max))`` over the last dimension, as `torch.softmax`. ``dim`` is the last one.

    Results below 2**-126 are 0. A row that has a NaN or +infinity, or nothing but -infinity, becomes NaN, as in torch.
    """
    if dim == -1 and _is_torch(x):
        return _torch_functions().softmax("softmax", x)
    return _softmax("softmax", x, dim)


def log_softmax(x: Any, dim: int = -1) -> Any:
    """``x - max - log(sum(exp(x - max)))`` over the last dimension, as `torch.log_softmax`, of infinities and NaN too."""
    if dim == -1 and _is_torch(x):
        return _torch_functions().softmax("log_softmax", x)
    return _softmax("log_softmax", x, dim)


def _softmax(operation: str, x: Any, dim: int) -> Any:
    _checks.require_arrays(operation, x=x)
    if dim not in (-1, x.ndim - 1):
        _ptx.raise_error(
            "argument_dim",
            f"`{operation}` over dimension {dim} of {x.ndim}; what fits is the last one",
            "move it there, as with `x.movedim(dim, -1)`",
        )
    if _is_torch(x):
        return _torch_functions().softmax(operation, x)
    from . import _arrays

    return _arrays.softmax(operation, x)


def swiglu(gate: Any, up: Any = None, *, out_dtype: Any = None, scale: Any = None) -> Any:
    """``silu(gate) * up``, element by element. Without ``up`` the last dimension of ``gate`` has both, the gate first.

    With ``out_dtype`` float8_e4m3fn e4m3 numbers and their f32 scales [.., 1], with ``scale`` e4m3 numbers, as in `rms_norm`.
    """
    return _gated("swiglu", gate, up, out_dtype, scale)


def geglu(gate: Any, up: Any = None, *, out_dtype: Any = None, scale: Any = None) -> Any:
    """``gelu(gate) * up`` with GELU by tanh, as torch's ``gelu(gate, approximate="tanh") * up``; the rest as in `swiglu`."""
    return _gated("geglu", gate, up, out_dtype, scale)


def _gated(operation: str, gate: Any, up: Any, out_dtype: Any, scale: Any) -> Any:
    if out_dtype is not None or scale is not None:
        _require_e4m3(operation, out_dtype)
        if _is_torch(gate):
            return _torch_functions().gated_e4m3(operation, gate, up, scale)
        from . import _arrays

        return _arrays.gated_e4m3(operation, gate, up, scale)
    if _is_torch(gate):
        return _torch_functions().gated(operation, gate, up)
    from . import _arrays

    return _arrays.gated(operation, gate, up)


def cross_entropy(
    logits: Any,
    target: Any,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0,
    z_loss: float = 0,
    reduction: str = "mean",
) -> Any:
    """Cross-entropy over the last dimension, as torch's of logits [.., classes] and int64 or int32 targets [..].

    ``reduction`` is "mean" (over the rows that count), "sum" or "none"; rows whose target is ``ignore_index`` do not count. The
    loss is f32. A target that is no class makes its loss NaN. ``z_loss`` times the square of each row's logsumexp is added to its
    loss. Differentiable in the logits: the backward reads them once more, and nothing of their size is kept.
    """
    if _is_torch(logits):
        return _torch_functions().cross_entropy(logits, target, ignore_index, label_smoothing, z_loss, reduction)
    from . import _arrays

    return _arrays.cross_entropy(logits, target, loss_of("cross_entropy", ignore_index, label_smoothing, z_loss), reduction)


def cross_entropy_and_gradient(
    logits: Any,
    target: Any,
    *,
    ignore_index: int = -100,
    label_smoothing: float = 0,
    z_loss: float = 0,
    reduction: str = "mean",
) -> Any:
    """`cross_entropy`, and its gradient in the logits, of their shape and type, in one launch: they are read once.

    For a training step that knows that it wants both; with reduction "none" the gradient is that of the sum.
    """
    loss = loss_of("cross_entropy_and_gradient", ignore_index, label_smoothing, z_loss)
    if _is_torch(logits):
        return _torch_functions().cross_entropy_and_gradient(logits, target, loss, reduction)
    from . import _arrays

    return _arrays.cross_entropy_and_gradient(logits, target, loss, reduction)


def linear_cross_entropy(
    x: Any,
    weight: Any,
    target: Any,
    *,
    bias: Any = None,
    chunk: int | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0,
    z_loss: float = 0,
    reduction: str = "mean",
) -> Any:
    """`cross_entropy` of the logits ``x @ weight.mT + bias``, which are never in memory all at once.

    ``x`` is [.., K], ``weight`` [classes, K] and ``bias`` [classes], bf16 or f16, ``target`` [..]. Logits are those of ``chunk``
    rows at a time, rounded to the element type: by default of as many rows as have 1 GiB of them. Without gradients nothing else
    is done. With "mean" and "sum" the gradients of ``x``, ``weight`` and ``bias`` are computed with the loss, where the logits of
    a chunk lie, and kept for the backward, which multiplies them by what it is given; with "none" the backward makes the logits
    once more. Sums over chunks are f32, and are rounded once. Otherwise as `cross_entropy` and `matmul`: a Hopper GPU (sm_90a),
    or the executor.
    """
    if _is_torch(x):
        return _torch_functions().linear_cross_entropy(
            x, weight, bias, target, (ignore_index, label_smoothing, z_loss), reduction, chunk
        )
    from ._linear import linear_cross_entropy

    loss = loss_of("linear_cross_entropy", ignore_index, label_smoothing, z_loss)
    return linear_cross_entropy(x, weight, bias, target, loss, reduction, chunk)


def matmul(
    a: Any, b: Any, *, bias: Any = None, activation: str | None = None, residual: Any = None, alpha: float = 1,
    out_dtype: Any = None, out: Any = None,
) -> Any:  # fmt: skip
    """``activation(alpha * (a @ b) + bias) + residual`` of a [.., M, K] and b [K, N] or [.., K, N], as `torch.matmul`.

    bf16 or f16, the result of the same type or, by ``out_dtype``, f32; sums are f32, and rounded once. ``bias`` is [N],
    ``residual`` of the result's shape, both of ``a``'s type; ``activation`` is relu, silu, gelu or gelu_tanh, ``alpha`` a number.
    Matrices may lie transposed, as weights do in ``x @ weight.mT``: they are read where they lie. So are torch tensors whose
    rows, or matrices, lie apart, as ``x[:, :4096]`` of a wider one or ``qkv[:, :, 0]``, but for torch.compile, which copies them.
    Copied first is what TMA cannot read: elements of a row apart, rows or matrices at distances that are no multiple of 16 bytes,
    or that begin at such addresses, and a batch of two dimensions whose matrices are not at equal distances. ``out`` is a torch
    tensor that the result is written to, and returned; it is none of the factors, which are read again when parts of the result
    are there. Of K = 0 the sums are 0. Needs a Hopper GPU (sm_90a), or the executor. Differentiable with torch and JAX: ``a`` and
    ``b`` are kept, and an activation is then torch's or JAX's own. TypeError for another element type, ValueError for shapes that
    do not fit together.
    """
    if _is_torch(a):
        return _torch_functions().matmul(a, b, bias, activation, residual, out_dtype, False, alpha, out)
    _checks.require_arrays("matmul", a=a, b=b, bias=bias, residual=residual)
    from . import _matmul
    from ._products import require_alpha

    if out is not None:
        _ptx.raise_error("argument_kind", "`matmul`: `out` beside arrays that are no torch tensors", "what fits is no `out`")
    return _matmul.matmul(a, b, bias, activation, residual, out_dtype, False, require_alpha(alpha))


def gated_matmul(a: Any, gate_up: Any, *, activation: str | None = "silu", out_dtype: Any = None) -> Any:
    """``activation(a @ gate) * (a @ up)`` of ``gate_up`` = [gate | up], [.., K, 2 N], in one product: [.., M, N].

    What `swiglu` of ``a @ gate_up`` is, without its 2 N columns in memory; both sums are f32 and their product is rounded once.
    With gradients the columns are kept, and the activation is a kernel of its own. Otherwise as `matmul`.
    """
    if _is_torch(a):
        return _torch_functions().matmul(a, gate_up, None, activation, None, out_dtype, True)
    _checks.require_arrays("gated_matmul", a=a, gate_up=gate_up)
    from . import _matmul

    return _matmul.matmul(a, gate_up, None, activation, None, out_dtype, True)


def scaled_matmul(
    a: Any,
    b: Any,
    scale_a: Any,
    scale_b: Any,
    *,
    bias: Any = None,
    activation: str | None = None,
    residual: Any = None,
    out_dtype: Any = None,
    fast_accumulation: bool = True,
) -> Any:
    """``activation((a * scale_a) @ (b * scale_b) + bias) + residual`` of f8 e4m3 a [.., M, K] and b [K, N], to bf16, f16 or f32.

    f32 scales, whose shapes say the kind of scaling: one number each; [M, 1] and [1, N], one a row and a column; or
    [M, K / 128] and [K / 128, N / 128], rounded up, one for 128 elements of a row of ``a`` and for 128 x 128 elements of ``b``.
    Scales of blocks of ``a`` that lie as `torch._scaled_mm` wants them, those of 128 along K side by side, are read where they
    lie, and copied with the factors, if M is a multiple of 4: the faster way.
    ``b`` is best given as ``weight.mT``, and is copied otherwise. The hardware adds up products of 8-bit elements with about 14
    bits; without ``fast_accumulation``, and always with blocks, sums of 128 products are added up in f32. ``bias`` [N] and
    ``residual`` are of the result's type, or bf16 for f32. With torch differentiable in ``bias``, ``residual`` and in
    scales that are not of blocks, not in ``a`` and ``b``. Needs a Hopper GPU (sm_90a), or the executor.
    """
    if _is_torch(a):
        function = _torch_functions().scaled_matmul
    else:
        from ._scaled import scaled_matmul as function
    return function(a, b, scale_a, scale_b, bias, activation, residual, out_dtype, fast_accumulation)


def grouped_matmul(a: Any, b: Any, offsets: Any, *, activation: str | None = None, out_dtype: Any = None) -> Any:
    """Rows of a [M, K] in groups, each times its own matrix of b [G, K, N]: [M, N], as ``torch._grouped_mm(a, b, offs=offsets)``.

    ``offsets`` [G], int32, are the ends of the groups, in ascending order; they are read where the kernel runs, and no size of a
    group needs to be known before. Groups may be empty. Rows behind the last end are not written. ``b`` may lie transposed, as
    weights [G, N, K] do in ``weights.mT``. Otherwise as `matmul`. Differentiable in ``a`` and ``b`` with torch and JAX:
    rows of ``a`` behind the last end have the gradient 0, and so has a matrix of ``b`` without rows.
    """
    if _is_torch(a):
        function = _torch_functions().grouped_matmul
    else:
        from ._grouped_matmul import grouped_matmul as function
    return function(a, b, offsets, activation, out_dtype)


# Where torch is there already, its functions are found now and not by each call.
_known_functions: Any = None
if hasattr(sys.modules.get("torch"), "Tensor"):
    _known_functions = importlib.import_module("._for_torch", __name__)

if os.environ.get("PYPTX_TUNE") == "1":
    from ._tuning import tuning

    for _name in set(__all__) - {"build_nodes", "explain", "tune", "tuned"}:
        globals()[_name] = tuning(globals()[_name])
