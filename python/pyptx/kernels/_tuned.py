"""Which recipe a call takes: one that was measured on this machine (`pyptx.kernels.tune`) before the library's own choice.

An entry is a file of JSON in `<cache>/tuned`, whole or absent. It counts where the device, the library's version and the problem
are the ones that it was measured with.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from .. import _ptx
from ..cache import _replace, get_global_cache

Problem = tuple[Any, ...]
"""What decides the kernel: ("rows", operation, dtype, rows, columns, alignment, has) or ("product", dtype, out, (M, N, K, batch),
has)."""

EXACT_ROWS = 256  # of a product: numbers of rows up to here are problems of their own, of more there are 8 an octave
EVERY_RECIPE = 1 << 16


class Entry(NamedTuple):
    """A recipe that was faster on this machine than the library's choice, by rounds that took turns."""

    problem: Problem
    recipe: str
    default: str  # what the library chose
    ratio: float  # median of the default's time over the recipe's
    us: float  # median of the recipe
    device: str
    version: str


def like(rows: int) -> int:
    """A number of rows that stands for all with as many binary digits: those have one kernel."""
    return 1 << rows.bit_length() >> 1


def bucket(problem: Problem) -> Problem:
    """The problem that stands for all like this one: rows by their binary digits, M of products rounded up to one of 8 steps an
    octave."""
    if problem[0] != "product":
        kind, operation, dtype, rows, *rest = problem
        return kind, operation, dtype, like(rows), *rest
    kind, dtype, out, (m, n, k, batch), has = problem
    if m > EXACT_ROWS:
        step = 1 << (m - 1).bit_length() >> 4
        m = -(-m // step) * step
    return kind, dtype, out, (m, n, k, batch), has


def library_choice(problem: Problem) -> str:
    """ValueError or TypeError for types and lengths that no kernel takes."""
    return _ptx.choose_kernel(*bucket(problem)[1:]) if problem[0] == "rows" else _ptx.choose_product(*problem[1:])


def recipes_of(problem: Problem, most: int = EVERY_RECIPE) -> list[str]:
    """The recipes that serve it, those that the library expects most of first."""
    if problem[0] == "rows":
        found = _ptx.kernel_recipes(*bucket(problem)[1:])
    else:
        dtype, out, sizes, has = problem[1:]
        found = _ptx.product_recipes(dtype, out, sizes, has, most)
    return list(dict.fromkeys([library_choice(problem), *found]))[:most]


def cost_of(problem: Problem) -> tuple[int, int]:
    """Bytes moved at least, and operations."""
    return _ptx.kernel_cost(*problem[1:]) if problem[0] == "rows" else _ptx.product_cost(*problem[1:])


# -- what calls ask

plans: list[dict[Any, Any]] = []
"""Dicts in which callers keep what `recipe_for` answered: emptied when the answer changes."""
_asked: list[Problem] | None = None
_trial: dict[Problem, str] = {}
_entries: dict[Problem, Entry] | None = None
_answers: dict[Problem, str] = {}


def recipe_for(problem: Problem) -> str:
    """The recipe's name. ValueError or TypeError for types and lengths that no kernel takes."""
    if _asked is not None and problem not in _asked:
        _asked.append(problem)
    if (trial := _trial.get(problem)) is not None:
        return trial
    answer = _answers.get(problem)
    if answer is None:
        entry = entries().get(bucket(problem))
        fits = entry is not None and entry.recipe in recipes_of(problem)
        answer = _answers[problem] = entry.recipe if entry is not None and fits else library_choice(problem)
    return answer


def forget_plans() -> None:
    """What callers keep is asked for anew."""
    _answers.clear()
    for kept in plans:
        kept.clear()


@contextlib.contextmanager
def asking() -> Iterator[list[Problem]]:
    """The problems that calls in this block ask about."""
    global _asked
    before, _asked = _asked, []
    forget_plans()
    try:
        yield _asked
    finally:
        _asked = before


@contextlib.contextmanager
def trying(problem: Problem, recipe: str) -> Iterator[None]:
    """Calls in this block that have this problem take the recipe."""
    _trial[problem] = recipe
    forget_plans()
    try:
        yield
    finally:
        del _trial[problem]
        forget_plans()


# -- what is kept


def folder() -> Path | None:
    """Where entries are; None where nothing is kept on disk."""
    cache = get_global_cache()
    return cache.cache_dir / "tuned" if cache.enable_disk else None


def entries() -> dict[Problem, Entry]:
    """Those of this machine's device and of this version, by problem. Files that cannot be read count as absent."""
    global _entries
    if _entries is None:
        _entries = {}
        there = folder()
        for path in sorted(there.glob("*.json")) if there is not None and there.is_dir() else ():
            with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
                entry = _read(json.loads(path.read_bytes()))
                if entry.version == _ptx.version and entry.device == device():
                    _entries[bucket(entry.problem)] = entry
    return _entries


def device() -> str | None:
    """The GPU's name; None without one."""
    try:
        return _ptx.device_name()
    except RuntimeError:
        return None


def _read(found: dict[str, Any]) -> Entry:
    kind, *words = found.pop("problem")
    problem = (kind, *(tuple(word) if isinstance(word, list) else word for word in words))
    return Entry(problem=problem, **found)


def keep(entry: Entry) -> None:
    """Calls take it from now on, and those of later processes where the folder can be written."""
    entries()[bucket(entry.problem)] = entry
    forget_plans()
    there = folder()
    if there is None:
        return
    name = hashlib.sha256(json.dumps([entry.device, entry.version, bucket(entry.problem)]).encode()).hexdigest()[:32]
    with contextlib.suppress(OSError):
        there.mkdir(parents=True, exist_ok=True)
        _replace(there / f"{name}.json", json.dumps(entry._asdict(), indent=1).encode() + b"\n")


def drop(problem: Problem) -> None:
    """The library's choice holds again."""
    entry = entries().pop(bucket(problem), None)
    forget_plans()
    there = folder()
    if entry is None or there is None:
        return
    name = hashlib.sha256(json.dumps([entry.device, entry.version, bucket(problem)]).encode()).hexdigest()[:32]
    with contextlib.suppress(OSError):
        (there / f"{name}.json").unlink(missing_ok=True)


def reread() -> None:
    """Entries are read from the folder again."""
    global _entries
    _entries = None
    forget_plans()
