"""Variables of a module: `Var`, their names, and what is declared of them, checked and taken over once."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn

from . import _ptx
from ._arguments import fail, is_int, short

if TYPE_CHECKING:
    from ._ptx import Address, PtxType

_MOST_ELEMENTS = (1 << 63) - 1
_MOST_OF_AN_ITERATOR = 1 << 22  # when nothing else says how many elements a variable has
_DEEPEST = 32  # of nested sequences
_SPACES = ("global", "const", "shared")
_LINKAGES = ("visible", "extern", "weak", "common")


class Var(str):
    """A variable of a module: its name, which stands wherever an operand may name a symbol: ``ptx.addr(table, 4)``.

    ``table + 4`` is that address, too. The elements are in memory that a kernel reads, so it has no ``table[1]`` and no length.
    """

    dtype: PtxType
    shape: tuple[int, ...]
    space: str

    def __new__(cls, name: str, dtype: PtxType, shape: tuple[int, ...], space: str) -> Var:
        made = str.__new__(cls, name)
        made.dtype, made.shape, made.space = dtype, shape, space
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.dtype, self.shape, self.space)

    def __add__(self, offset: Any) -> Any:  # a name that is made longer is a str
        return str(self) + str(offset) if isinstance(offset, str) else self._address(offset, "+", 1)

    def __radd__(self, offset: Any) -> Any:
        return str(offset) + str(self) if isinstance(offset, str) else self._address(offset, "+", 1)

    def __sub__(self, offset: Any) -> Address:
        return self._address(offset, "-", -1)

    def _address(self, offset: Any, sign: str, factor: int) -> Address:
        if not is_int(offset):
            fail(
                "bad_operator",
                f"`{self} {sign} {short(offset)}`: the variable `{self}` is a symbol, to which PTX adds constants alone, bytes: "
                f"`ptx.addr({self}, 4)`",
                f"`reg.from_({self}, u64) + …` adds a register to its address",
            )
        return _ptx.addr(self, factor * operator.index(offset))

    def __getitem__(self, index: Any) -> NoReturn:
        at = operator.index(index) * self._step() if is_int(index) else 4
        self._no_sequence(f"{self}[{short(index)}]", at)

    def __len__(self) -> int:
        self._no_sequence(f"len({self})", 4)

    def __iter__(self) -> NoReturn:
        self._no_sequence(f"iter({self})", 4)

    def __mul__(self, other: Any) -> NoReturn:
        self._no_sequence(f"{self} * {short(other)}", 4)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return True

    def _step(self) -> int:
        """Bytes from one index to the next."""
        step = self.dtype.bits // 8
        for size in self.shape[1:]:
            step *= size
        return step

    def _no_sequence(self, seen: str, at: int) -> NoReturn:
        fail(
            "bad_operator",
            f"`{seen}`: the variable `{self}` is a symbol; its elements are in memory, where instructions reach them: "
            f"`ptx.addr({self}, {at})` is an address, by bytes",
            f"its sizes are `{self}.shape`",
        )


def declared(
    name: Any, dtype: Any, shape: Any, space: Any, init: Any, align: Any, vector: Any, linkage: Any, attributes: Any
) -> tuple[Any, ...]:
    """What is declared of a variable, as the core takes it."""
    name = name_of(name, "variable", "table")
    what = f"the variable `{name}`"
    type_of(dtype, f"the dtype of {what[4:]}")
    sizes = _sizes(shape, what)
    space = _word(space, _SPACES, f"{what} lies in the space")
    linkage = "" if linkage is None or linkage == "" else _word(linkage, _LINKAGES, f"{what} has the linkage")
    if not is_int(align) or not 0 <= align < 1 << 32 or align & (operator.index(align) - 1):
        _refuse(
            align, f"{what} is aligned to {short(align)} bytes; what fits is a power of two below 2^32, or 0 for the type's own"
        )
    if not is_int(vector) or vector not in (1, 2, 4):
        _refuse(vector, f"{what} is a vector of {short(vector)}; what fits is 2 or 4, or 1 for none")
    vector = operator.index(vector)
    if init is not None:
        count = vector
        for size in sizes:
            count *= size
        if type(init) is str and dtype.bits == 8 and "(" not in init:
            fail(
                "bad_initialiser",
                f"the initial value of {what[4:]} is the text `{short(init)}`; a text names a variable or function, whose "
                f"address does not fit in .{dtype}",
                f"letters are bytes: `init=b{short(init)}`",
            )
        init = _taken(init, what, count or _MOST_OF_AN_ITERATOR, 0)
    return name, dtype, sizes, space, init, operator.index(align), vector, linkage, _attributes(attributes, what)


def name_of(name: Any, what: str, example: str) -> str:
    """The name of something that is declared."""
    if not isinstance(name, str):
        fail("argument_kind", f"the name of a {what} is `{short(name)}`; what fits is a text, such as '{example}'")
    if not name:
        fail("bad_declaration", f"the name of a {what} is empty; what fits is a name of PTX, such as '{example}'")
    return str(name)


def text_of(text: Any, what: str, example: str) -> str:
    """A text that is declared as it stands."""
    if not isinstance(text, str):
        fail("argument_kind", f"{what} is `{short(text)}`; what fits is a text, such as {example}")
    return str(text)


def type_of(dtype: Any, what: str) -> PtxType:
    """A type of PTX."""
    if not isinstance(dtype, _ptx.PtxType):
        fail("argument_kind", f"{what} is `{short(dtype)}`; what fits is a type of `pyptx.types`, such as `f32`")
    return dtype


def types_of(given: Any, what: str) -> tuple[PtxType, ...]:
    """One type, several, or none."""
    if given is None:
        return ()
    several = given if isinstance(given, (tuple, list)) else (given,)
    return tuple(type_of(dtype, what if several is not given else f"{what}, number {i},") for i, dtype in enumerate(several))


def _refuse(value: Any, message: str) -> NoReturn:
    fail("bad_declaration" if is_int(value) else "argument_kind", message)


def _sizes(shape: Any, what: str) -> tuple[int, ...]:
    is_list = isinstance(shape, Iterable) and not isinstance(shape, (str, bytes, Mapping, set, frozenset))
    sizes = (shape,) if is_int(shape) else tuple(islice(shape, 64)) if is_list else None
    if sizes is None or not all(map(is_int, sizes)):
        fail(
            "argument_kind",
            f"the shape of {what[4:]} is `{short(shape)}`; what fits is an int, or a tuple of ints, such as `(4, 8)`; `()` is "
            "one element",
        )
    count = 1
    for size in map(operator.index, sizes):
        count *= max(1, size)
        if size < 0 or count > _MOST_ELEMENTS:
            fail(
                "bad_declaration",
                f"the shape of {what[4:]} is `{short(shape)}`; what fits are sizes from 1 on, the first alone may be 0, which "
                "leaves it open, and fewer than 2^63 elements",
            )
    return tuple(map(operator.index, sizes))


def _word(value: Any, words: Sequence[str], what: str) -> str:
    word = str(value).removeprefix(".") if isinstance(value, str) else ""
    if word not in words:
        kind = "bad_declaration" if isinstance(value, str) else "argument_kind"
        fail(kind, f"{what} `{short(value)}`; there are {', '.join(f'`{known}`' for known in words)}")
    return word


def _attributes(given: Any, what: str) -> list[str]:
    several = [given] if isinstance(given, str) else list(given) if isinstance(given, (tuple, list)) else [None]
    if not all(isinstance(attribute, str) for attribute in several):
        fail(
            "argument_kind",
            f"the attributes of {what[4:]} are `{short(given)}`; what fits is a text, or a list of texts, such as 'managed'",
        )
    return [str(attribute).removeprefix(".") for attribute in several]


def _taken(value: Any, what: str, most: int, depth: int) -> Any:
    """An initial value, taken over: what the author changes later, or what can be walked through only once, is a list."""
    if isinstance(value, (str, bytes, int, float)) or hasattr(value, "symbol"):
        return value
    if isinstance(value, (set, frozenset, Mapping)):
        fail(
            "bad_initialiser",
            f"the initial value of {what[4:]} has the {type(value).__name__} `{short(value)}`, whose order is not that of "
            "elements; what fits is a number, bytes, the name of a variable or function, or a sequence of them",
        )
    if depth == _DEEPEST:
        fail("bad_initialiser", f"the initial value of {what[4:]} is nested more than {_DEEPEST} deep, or holds itself")
    if hasattr(value, "tolist"):  # arrays and scalars of numpy and its like
        held = value.tolist()
        return _taken(held, what, most, depth + 1) if type(held) is not type(value) else value
    if not isinstance(value, Iterable) and not hasattr(value, "__getitem__"):
        return value
    items = list(islice(value, most + 1)) if hasattr(value, "__next__") else list(value)
    if len(items) > most:
        fail("bad_initialiser", f"the initial value of {what[4:]} has more elements than the {most} that fit")
    return [_taken(item, what, most, depth + 1) for item in items]
