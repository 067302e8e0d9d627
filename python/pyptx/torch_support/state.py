"""What `register_operators` has made known to torch and to this package: torch itself, the operators, a lock for what is kept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

torch: Any = None  # once the operators are registered with it
library: Any = None
launch: Any = None  # torch.ops.pyptx.launch.default
launch_into: Any = None  # torch.ops.pyptx.launch_.default
exported: Any = None  # torch.ops.pyptx.exported.default
exported_into: Any = None  # torch.ops.pyptx.exported_.default
why_in_python: str | None = None  # why this torch cannot have the operators in C++

lock = threading.RLock()  # of what this package keeps: operators, plans

_Function = TypeVar("_Function", bound=Callable[..., Any])


def constant(function: _Function) -> _Function:
    """Has Dynamo run a function and take the result for constant, and not trace it: what `torch._dynamo.assume_constant_result`
    does. Importing that takes seconds, which calls that are not compiled should not cost."""
    vars(function)["_dynamo_marked_constant"] = True
    return function
