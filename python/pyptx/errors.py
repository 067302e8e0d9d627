"""What can go wrong, as exceptions. A `PtxError` is also the built-in exception that fits: `except ValueError` works as ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Access(NamedTuple):
    """One of two accesses that nothing orders, or the one that went wrong."""

    stores: bool
    instruction: str
    """Its opcode: ``st.shared.u32``."""
    ptx_line: int
    """Its line of the PTX text; 0: not known."""
    where: tuple[str, int] | None
    """File and line of the author's code, when known."""
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    warp: int
    lane: int
    rank: int | None
    """Of the block in its cluster, where that has several."""
    proxy: str
    """``generic``, or ``async`` of what TMA, wgmma and tcgen05 do; empty of an access that ended the run."""
    space: str
    region: str
    """What the message calls the memory."""
    element: str
    """``x[3, 17]`` of a tensor whose shape is known, ``tile + 0x10`` of a ``.shared`` variable, or empty."""
    address: int
    """In shared memory the address there; in global memory of a finding the offset in its region, of a fault the address."""
    bytes: int

    def as_json(self) -> dict[str, Any]:
        """Its fields, as JSON has them."""
        file, line = self.where or ("", 0)
        known = self._asdict()
        del known["where"]
        return {**known, "file": file, "line": line}


class PtxError(Exception):
    """An error with its kind, the author's line and hints. Its text is the whole report."""

    kind: str
    """A word for it, such as ``operand_mismatch``."""
    message: str
    """What happened, the value seen, what would fit: one line."""
    where: tuple[str, int] | None
    """File and line of the author's code, when known."""
    notes: list[str]
    """The syntax, the manual's section, hints, as they are shown: ``hint: …``."""
    places: Sequence[tuple[str, str, int]] = ()
    """Second places, each with what it is, its file and its line: ``("first", "kernels.py", 12)`` of a name defined twice."""

    severity: str = "error"
    """``warning`` of some findings of `pyptx.executor.checking`."""
    rule: str | None = None
    """Of what the executor found in a kernel: the rule that was broken, ``P-01``; `pyptx.explain` says more of it."""
    accesses: Sequence[Access] = ()
    """Of a finding of `pyptx.executor.checking`: the access that was found, and the one before it that it is not ordered with."""
    times: int = 1
    """How often such a finding was met."""
    pairs: int = 1
    """How many pairs of instructions it stands for: those of an unrolled line are one finding."""

    kernel: str | None = None
    """Of what the executor found in a kernel: its name. The next six are of such errors, too."""
    instruction: str | None = None
    """The instruction's opcode: ``ld.global.v4.b32``."""
    ptx_line: int | None = None
    """The instruction's line of the PTX text."""
    block: tuple[int, int, int] | None = None
    """The block that did it."""
    thread: tuple[int, int, int] | None = None
    """The thread in its block."""
    address: int | None = None
    """Of an access that went wrong: its address."""
    access_bytes: int | None = None
    """How many bytes it asked for."""
    region: str | None = None
    """The memory there, or the nearest, as the message calls it."""

    @property
    def hints(self) -> list[str]:
        """Of the notes, what would fit or what to do."""
        return [note.removeprefix("hint: ") for note in self.notes if note.startswith("hint: ")]

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class PtxValueError(PtxError, ValueError):
    """A value, an operand or a size that does not fit."""


class PtxTypeError(PtxError, TypeError):
    """An argument or an operator of the wrong kind."""


class PtxAttributeError(PtxError, AttributeError):
    """A word that cannot stand at this place of an instruction."""


class PtxKeyError(PtxError, KeyError):
    """A name that has no value."""


class PtxOSError(PtxError, OSError):
    """A file that cannot be read or written. `errno` and `filename` are not set: the text says both."""


class PtxRuntimeError(PtxError, RuntimeError):
    """Something that went wrong while tracing, compiling, launching or executing."""


class PtxNotImplementedError(PtxValueError, NotImplementedError):
    """A call of a kernel whose declaration does not make it one to be called."""


class PtxWarning(UserWarning):
    """What the checker found short of an error."""


_CLASSES: dict[str, type[PtxError]] = {
    "ValueError": PtxValueError,
    "TypeError": PtxTypeError,
    "AttributeError": PtxAttributeError,
    "KeyError": PtxKeyError,
    "OSError": PtxOSError,
    "RuntimeError": PtxRuntimeError,
}
for _class in (PtxError, PtxWarning, PtxNotImplementedError, *_CLASSES.values()):
    _class.__module__ = "pyptx"


def from_diagnostic(
    kind: str,
    builtin: str,
    message: str,
    file: str,
    line: int,
    notes: list[str],
    text: str,
    places: Sequence[tuple[str, str, int]] = (),
    execution: Mapping[str, Any] | None = None,
    severity: str = "error",
) -> PtxError:
    """The exception of a diagnostic. Called by the core."""
    error = _CLASSES[builtin](text)
    error.kind = kind
    error.message = message
    error.where = (file, line) if line else None
    error.notes, error.places, error.severity = notes, places, severity
    for name, value in (execution or {}).items():
        setattr(error, name, tuple(Access(**access) for access in value) if name == "accesses" else value)
    return error


def not_implemented(error: PtxError) -> PtxNotImplementedError:
    """The same error, as one that `except NotImplementedError` catches too."""
    made = PtxNotImplementedError(str(error))
    made.kind, made.message, made.where = error.kind, error.message, error.where
    made.notes, made.places = error.notes, error.places
    return made
