"""The plans of kernels by the keys that torch's graphs have for them."""

from __future__ import annotations

import hashlib
import itertools
import re
from typing import TYPE_CHECKING

from .. import _ptx
from . import state
from .export import plan_of_payload
from .tensors import aliases_of

if TYPE_CHECKING:
    from .._ptx import Plan

_plans: dict[str, Plan] = {}  # by key, for good: a graph may name it at any time
_keys: dict[int, str] = {}  # the key of a plan, by its id


def _add(key: str, plan: Plan) -> None:
    _ptx.add_torch_kernel(key, plan, aliases_of(plan))
    _plans[key] = plan
    _keys[id(plan)] = key


def key_of(plan: Plan) -> str:
    """What graphs call a plan: a hash of what is known of the kernel, so that torch's caches know it again in another process,
    and of a number where two kernels of this process would have one name."""
    with state.lock:
        known = _keys.get(id(plan))
        if known is not None:
            return known
        describe = getattr(plan.specialise, "content", None)
        content = describe() if describe is not None else repr((plan.name, plan.inputs, plan.outputs, sorted(plan.dims.items())))
        content = re.sub(r" at 0x[0-9a-f]+", "", content)
        for number in itertools.count():
            key = hashlib.sha256(f"{content}#{number}".encode()).hexdigest()
            if key not in _plans:
                _add(key, plan)
                return key
    raise AssertionError("unreachable")


def plan_of(key: str) -> Plan:
    """The plan of a key, which compiled code calls. ValueError for one that no kernel of this process has."""
    return plan_for(key, "")


def plan_for(key: str, payload: str) -> Plan:
    """The plan of a key, made of the payload where it is not known."""
    if key not in _plans:
        if not payload:
            _ptx.raise_error(
                "unknown_kernel",
                f"no kernel of this process has the key `{key}`",
                "the graph was traced in another process, and carries no kernel; `torch.export` makes one that does",
            )
        adopt(key, payload)
    return _plans[key]


def adopt(key: str, payload: str) -> None:
    """Adds the kernel of a payload under its key. ValueError when it is none that this version reads. The operators in C++ call
    this too."""
    plan = plan_of_payload(key, payload)
    with state.lock:
        if key not in _plans:
            _add(key, plan)
