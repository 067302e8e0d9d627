"""Linear and cross-entropy of numpy's or JAX's arrays, a chunk of rows at a time."""

from __future__ import annotations

from typing import Any

from ._loss import Loss
from ._product_runs import module_of, name_of, product
from ._products import shape_of
from ._runs import run_losses


def _logits(x: Any, weight: Any, bias: Any) -> Any:
    across = weight.swapaxes(0, 1)
    return product(shape_of(x.shape, across.shape), x, across, bias, None, None, name_of(x.dtype))


def losses_of(loss: Loss, chunk: int, x: Any, weight: Any, bias: Any, target: Any) -> Any:
    """The loss of each row."""
    found = [
        run_losses(loss, _logits(x[at : at + chunk], weight, bias), target[at : at + chunk]) for at in range(0, x.shape[0], chunk)
    ]
    return module_of(x).concatenate([*found, module_of(x).zeros(0, "float32")])


def gradients_of(loss: Loss, chunk: int, x: Any, weight: Any, bias: Any, target: Any, scale: Any) -> tuple[Any, Any, Any, Any]:
    """The loss of each row, and the gradients of x, weight and bias, those of the losses being `scale`; all of them f32, as they
    are to be multiplied."""
    numpy = module_of(x)
    losses, of_x = [numpy.zeros(0, "float32")], [numpy.zeros((0, x.shape[1]), "float32")]
    of_weight, of_bias = None, None if bias is None else numpy.zeros(bias.shape, "float32")
    for at in range(0, x.shape[0], chunk):
        rows = x[at : at + chunk]
        each, logits = run_losses(
            loss, _logits(rows, weight, bias), target[at : at + chunk], scale[at : at + chunk], in_place=True
        )
        losses.append(each)
        of_x.append(product(shape_of(logits.shape, weight.shape), logits, weight, None, None, None, "float32"))
        across = logits.swapaxes(0, 1)
        of_weight = product(shape_of(across.shape, rows.shape), across, rows, None, None, of_weight, "float32")
        if of_bias is not None:
            of_bias = of_bias + logits.astype("float32").sum(0)
    if of_weight is None:
        of_weight = numpy.zeros(weight.shape, "float32")
    return numpy.concatenate(losses), numpy.concatenate(of_x), of_weight, of_bias
