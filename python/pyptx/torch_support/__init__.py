"""PyTorch: kernels on CPU and CUDA tensors, eager, under `torch.compile`, in exported programs, and with gradients.

The eager path is not here: a kernel's plan takes torch tensors in C++. This module has what torch must be told in its own terms:
two operators that stand for every kernel in a graph, and `torch.autograd`. Kernels do not take part in `torch.autocast`: a tensor
has the element type that the kernel declares, or the call is a TypeError.

Graphs hold a kernel's call as `pyptx::launch(key, payload, inputs, scalars)`, or `pyptx::launch_`, which writes tensors that are
there. The key names the kernel's plan in this process; whoever runs a graph that torch cached has traced the kernel first, so the
key is known then, and sizes may differ from call to call. In an exported program the key is a hash of the payload, which has the
kernel for the sizes at hand. Import torch, then this module, before such a program is loaded; or call `register_operators`.

torch is imported when it is first needed, not by importing this module.
"""

# From the top down: dynamo, handles; calls, autograd; operators, with what inductor makes of them; plans; export; refusals,
# tensors; state. A kernel that Dynamo sees calls dynamo, C++ calls `call_plan` and `_adopt`, code that Inductor compiled calls
# `plan_of`.

from __future__ import annotations

import sys

from .._own_words import show_as_of, speak_in_own_words
from .autograd import differentiable_kernel
from .calls import call_plan as call_plan
from .handles import call_kernel_via_torch, call_kernel_via_torch_compile, get_or_register_torch_op
from .operators import register_operators
from .plans import adopt as _adopt  # noqa: F401
from .plans import plan_of as plan_of
from .tensors import any_torch_tensors, extract_input_shapes, is_torch_tensor

__all__ = [
    "any_torch_tensors",
    "call_kernel_via_torch",
    "call_kernel_via_torch_compile",
    "differentiable_kernel",
    "extract_input_shapes",
    "get_or_register_torch_op",
    "is_torch_tensor",
    "register_operators",
]

show_as_of(__name__, *(globals()[name] for name in __all__))
speak_in_own_words(globals(), "any_torch_tensors", "extract_input_shapes", "call_kernel_via_torch")

if "torch" in sys.modules:
    register_operators()
