"""What `pyptx.kernels` calls for torch tensors, in one place: the first tensor imports it, unless torch is there before."""

from ._torch import gated, gated_e4m3, norm, norm_e4m3, softmax
from ._torch_grouped import grouped_matmul
from ._torch_linear import linear_cross_entropy
from ._torch_loss import cross_entropy, cross_entropy_and_gradient
from ._torch_matmul import matmul
from ._torch_scaled import scaled_matmul

__all__ = [
    "cross_entropy", "cross_entropy_and_gradient", "gated", "gated_e4m3", "grouped_matmul", "linear_cross_entropy", "matmul",
    "norm", "norm_e4m3", "scaled_matmul", "softmax",
]  # fmt: skip
