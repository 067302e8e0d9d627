"""What a value is, for the question whether a kernel that was traced with one value is the kernel of another.

Python's `==` does not answer it: 1, 1.0 and True are equal, and so are 0.0 and -0.0 and tuples of them; NaN equals nothing; a
list cannot be hashed; an object may compare by less than it holds. `identity` makes a key of a value's whole content, type by
type. Keys are made of tuples, so they say what a value was when they were made: one that changes has another key.

`Environment` is the same question of all that a kernel's body reads without being given it: globals, closures, the helpers it
calls and what those read. It knows the few places to look at again, which the core does before each call (`_ptx.Guards`).
"""

from __future__ import annotations

import functools
import opcode
import os
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from typing import Any

from . import _ptx

Key = object
_Guard = tuple[str, Any, Any, Any]  # kind, owner, key, what was found there; see binding/guards.hpp
_Places = dict[tuple[str, int, Any], Any]  # their owners, which live as long

_ATOMS = frozenset({int, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented)})
_EXTENDED_ARG, _LOAD_GLOBAL = opcode.opmap["EXTENDED_ARG"], opcode.opmap["LOAD_GLOBAL"]
_LOADS = {number for name, number in opcode.opmap.items() if name in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")}
_MOST_PARTS = 100_000  # of one value
_MOST_ITEMS = 1024  # of a container that a body reads; a larger one counts by what it is, not by what it holds

_OWN = os.path.dirname(__file__) + os.sep  # noqa: PTH120 (pathlib takes its time to import)
_STANDARD = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120
_INSTALLED = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_BOOKKEEPING = frozenset({  # of a class, what says nothing of how its objects behave
    "__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__dict__", "__doc__",
    "__firstlineno__", "__match_args__", "__module__", "__orig_bases__", "__parameters__", "__qualname__", "__slots__",
    "__static_attributes__", "__weakref__", "_abc_impl",
})  # fmt: skip


class Unreadable(Exception):
    """A value that is no constant; the text says what it is."""


def _place(kind: str, owner: Any, key: Any) -> tuple[str, int, Any]:
    return kind, id(owner), key if isinstance(key, str) else None


class Same:
    """A key of an object that is only the same as itself."""

    __slots__ = ("of",)

    def __init__(self, of: object) -> None:
        self.of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.of is other.of

    def __hash__(self) -> int:
        return id(self.of)


def is_authors_file(file: str | None) -> bool:
    """Whether a file is the author's: not of Python, of this package, or of another that was installed, which do not change."""
    if file is None or file.startswith(("<frozen", _OWN)):
        return False
    return not file.startswith(_STANDARD) and not any(folder in file for folder in _INSTALLED)


def _is_authors_module(module: types.ModuleType | None) -> bool:
    if module is None or module.__name__ in sys.builtin_module_names:
        return False
    file = getattr(module, "__file__", None)
    return is_authors_file(file) if file is not None else module.__name__ == "__main__"


def _is_heap(kind: type) -> bool:
    """Whether a class was made while Python ran, as those are that are written in Python."""
    return bool(kind.__flags__ & 1 << 9)  # Py_TPFLAGS_HEAPTYPE


def _by_identity(kind: Any) -> bool:
    """Whether objects of a class equal only themselves."""
    return kind.__eq__ is object.__eq__


def _is_authors_class(kind: type) -> bool:
    name = getattr(kind, "__module__", None)
    if not isinstance(name, str) or name == "builtins" or not _is_heap(kind):
        return False
    return name not in sys.modules or _is_authors_module(sys.modules[name])


def _names_in(code: types.CodeType) -> Iterable[str]:
    """Names that a code may look up: of globals, of attributes, and texts that `getattr` may be given."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_in(constant)
        elif isinstance(constant, str) and constant.isidentifier():
            yield constant


def _globals_in(code: types.CodeType) -> set[str]:
    """Names that a code looks up among the globals, and in their want among Python's own."""
    names, raw, high = set[str](), code.co_code, 0
    for at in range(0, len(raw), 2):
        operation, number = raw[at], raw[at + 1] | high
        high = number << 8 if operation == _EXTENDED_ARG else 0
        if operation in _LOADS:
            names.add(code.co_names[number >> 1 if operation == _LOAD_GLOBAL else number])
    return names.union(*(_globals_in(each) for each in code.co_consts if isinstance(each, types.CodeType)))


def _array_kind(value: object) -> str | None:
    """Of whose library it is an array that may be on a GPU or be none yet."""
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and hasattr(torch, "Tensor") and isinstance(value, torch.Tensor):
        return "torch tensor"
    return "JAX array" if jax is not None and hasattr(jax, "Array") and isinstance(value, jax.Array) else None


class _Walk:
    """One walk through a value. With `guards`, it notes each place where a body might find something else the next time."""

    def __init__(self, names: frozenset[str], written: _Places | None = None) -> None:
        self.names = names  # the attributes of modules that count and, in an environment, of objects and classes
        self.written = written or {}  # places that do not count: bodies write there
        self.guards: list[_Guard] | None = None if written is None else []
        self._noted: set[tuple[str, int, Any]] = set()
        self.code_names: set[str] = set()
        self.opaque: list[object] = []  # what could be told from others only by being another object
        self._open: dict[int, int] = {}  # numbers of what the walk is inside of
        self._seen: dict[int, tuple[object, int]] = {}  # functions, classes and modules: each is walked once
        self._parts = 0

    # -- places

    def _at(self, kind: str, owner: Any, key: Any, found: Any) -> bool:
        """Notes a place; False for one that does not count."""
        if self.guards is None:
            return True
        place = _place(kind, owner, key)
        if place in self.written:
            return False
        is_ours = isinstance(found, types.ModuleType) and found.__name__.startswith("pyptx.")  # nobody names these anew
        if place not in self._noted and not is_ours:
            self._noted.add(place)
            self.guards.append((kind, owner, key, found))
        return True

    def _item(self, owner: dict[str, Any], name: str) -> Key:
        """What a namespace has by a name."""
        if name not in owner:
            self._at("missing", owner, name, None)
            return (name,)
        return (name, self.of(owner[name])) if self._at("item", owner, name, owner[name]) else (name, "written")

    # -- values

    def of(self, value: Any) -> Key:
        kind = type(value)
        if kind in _ATOMS:
            return kind, value
        if kind is float:
            return kind, value.hex()
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise Unreadable(f"has more than {_MOST_PARTS} parts")
        if isinstance(value, type):
            return self._once(value, self._class)
        if isinstance(value, types.FunctionType):
            return self._once(value, self._function)
        if isinstance(value, types.ModuleType):
            return self._once(value, self._module)
        if isinstance(value, Enum):
            return Same(value)
        inside = self._open.get(id(value))
        if inside is not None:
            return "inside", inside
        self._open[id(value)] = len(self._open)
        try:
            return self._content(value, kind)
        except RecursionError:
            raise Unreadable("is nested too deeply") from None
        finally:
            del self._open[id(value)]

    def _each(self, values: Iterable[Any]) -> tuple[Key, ...]:
        return tuple([self.of(each) for each in values])

    def _once(self, value: Any, walk: Callable[[Any], Key]) -> Key:
        known = self._seen.get(id(value))
        if known is not None:
            return "seen", known[1]
        self._seen[id(value)] = value, len(self._seen)
        return walk(value)

    def _content(self, value: Any, kind: type) -> Key:
        if kind is complex:
            return kind, value.real.hex(), value.imag.hex()
        if isinstance(value, (tuple, list)):
            whole = isinstance(value, tuple) or (self._is_small(value) and self._at("list", value, None, tuple(value)))
            return (kind, self._each(value), *self._state(value)) if whole else Same(value)
        if isinstance(value, dict):
            pairs = [part for pair in value.items() for part in pair]
            whole = self._is_small(value) and self._at("dict", value, None, tuple(pairs))
            made_by = getattr(value, "default_factory", None)
            return (kind, self._each(pairs), self.of(made_by), *self._state(value)) if whole else Same(value)
        if isinstance(value, (set, frozenset)):
            whole = isinstance(value, frozenset) or (self._is_small(value) and self._at("value", value, self.names, None))
            return (kind, frozenset(self._each(value)), *self._state(value)) if whole else Same(value)
        if isinstance(value, (int, float, str, bytes)) and not hasattr(value, "dtype"):
            plain: Any = next(base for base in (int, float, str, bytes) if isinstance(value, base))
            return (kind, self.of(plain.__getnewargs__(value)[0]), *self._state(value))
        if isinstance(value, types.MethodType):
            return kind, self.of(value.__func__), self.of(value.__self__)
        if isinstance(value, functools.partial):
            return (kind, self.of(value.func), self.of(value.args), self.of(value.keywords), *self._state(value))
        if isinstance(value, (staticmethod, classmethod)):
            return kind, self.of(value.__func__)
        if isinstance(value, property):
            return kind, self._each((value.fget, value.fset, value.fdel))
        if (array := _array_kind(value)) is not None:
            if self.guards is None and len(self._open) == 1:
                raise Unreadable(f"is a {array}")
            return Same(value), getattr(value, "_version", 0) if not getattr(value, "is_inference", bool)() else 0
        numpy = sys.modules.get("numpy")
        if numpy is not None and isinstance(value, (getattr(numpy, "ndarray", ()), getattr(numpy, "generic", ()))):
            return self._array(value, kind)
        return self._object(value, kind)

    def _is_small(self, container: Any) -> bool:
        return self.guards is None or len(container) <= _MOST_ITEMS

    def _array(self, value: Any, kind: type) -> Key:
        """A numpy array or scalar."""
        if value.ndim and value.size > _MOST_ITEMS and self.guards is not None:
            return Same(value)
        if value.ndim:
            self._at("value", value, self.names, None)
        if value.dtype.hasobject:
            return kind, str(value.dtype), value.shape, self.of(value.tolist())
        bits = "nan" if not value.ndim and value.dtype.kind == "f" and value != value else value.tobytes()
        return (kind, str(value.dtype), value.shape, bits, *self._state(value))

    def _state(self, value: Any) -> tuple[Key, ...]:
        """What a Python class keeps of its objects, and the class where that is the author's."""
        kind = type(value)
        if not _is_heap(kind):
            return ()
        own = getattr(value, "__dict__", None)
        parts: list[Key] = [self._class_of(kind)]
        limited = self.guards is not None and not hasattr(kind, "__dataclass_fields__")
        if isinstance(own, dict):
            names = [name for name in own if name in self.names] if limited else list(own)
            if not limited:
                self._at("dict", own, None, tuple(part for pair in own.items() for part in pair))
            parts.extend(self._item(own, name) for name in names)
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for slot in (slots,) if isinstance(slots, str) else slots:
                name = f"_{base.__name__.lstrip('_')}{slot}" if slot.startswith("__") and not slot.endswith("__") else slot
                if name in ("__dict__", "__weakref__") or (limited and name not in self.names) or not hasattr(value, name):
                    continue
                held = getattr(value, name)
                if self._at("attribute", value, name, held):
                    parts.append((name, self.of(held)))
        return tuple(parts)

    def _class_of(self, kind: type) -> Key:
        """The class of an object whose parts follow."""
        return self._once(kind, self._class) if _is_authors_class(kind) else ()

    def _object(self, value: Any, kind: type) -> Key:
        if kind is object or isinstance(value, _ptx.KernelCall):
            return Same(value)
        if str(kind.__module__).partition(".")[0] == _ptx.__name__.partition(".")[0]:
            return Same(value) if _by_identity(kind) or kind.__hash__ is None else (kind, value)
        if (
            not _is_authors_class(kind) and getattr(kind, "__reduce__", None) is not object.__reduce__
        ):  # its attributes may be what it caches
            return self._reduced(value, kind, ())
        state = self._state(value)
        is_python = _is_heap(kind) and all(_is_heap(base) for base in kind.__mro__ if base is not object)
        if is_python and len(state) > 1 and (self.guards is None or hasattr(kind, "__dataclass_fields__")):
            return kind, state
        if is_python and self.guards is not None:
            return Same(value), state
        return self._reduced(value, kind, state)

    def _reduced(self, value: Any, kind: type, state: tuple[Key, ...]) -> Key:
        """An object of a class written in C, by what it would be made again from; else by what it says itself of equality."""
        try:
            made = value.__reduce_ex__(4)
        except Exception:
            made = None
        if isinstance(made, str) or isinstance(value, types.BuiltinFunctionType):
            return Same(value)
        if isinstance(made, tuple) and not (made[0] is sys.modules["copyreg"].__newobj__ and made[2:3] in ((), (None,))):
            function, arguments, *rest = made
            if kind.__hash__ is None or _by_identity(kind):  # else it does not change
                self._at("value", value, self.names, None)
            parts = [list(part) if hasattr(part, "__next__") else part for part in rest]
            found = self._each((arguments, *parts)) if isinstance(function, type) else self._each((function, arguments, *parts))
            return kind, found, state
        if not _by_identity(kind) and kind.__hash__ is not None and not state:
            return kind, value
        if made is None:
            self.opaque.append(value)
        return Same(value), state

    # -- code

    def _function(self, function: types.FunctionType) -> Key:
        code = function.__code__
        if not is_authors_file(code.co_filename):
            return Same(function)
        found: Any
        for kind, found in (("code", code), ("defaults", function.__defaults__), ("kwdefaults", function.__kwdefaults__)):
            self._at(kind, function, None, found)
        self.code_names.update(_names_in(code))
        cells: list[Key] = []
        for cell in function.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:  # not bound yet
                cells.append(())
                continue
            cells.append(self.of(held) if self._at("cell", cell, None, held) else "written")
        keywords = self.of(function.__kwdefaults__)
        read = [self._item(function.__globals__, name) for name in sorted(_globals_in(code))]
        return (
            code,
            code.co_filename,
            self.of(function.__defaults__),
            keywords,
            tuple(cells),
            tuple(read),
            self._attributes(function),
        )

    def _attributes(self, function: types.FunctionType) -> Key:
        return self._each(part for pair in vars(function).items() for part in pair)

    def _class(self, kind: type) -> Key:
        if not _is_authors_class(kind) or issubclass(kind, Enum):
            return Same(kind)
        parts: list[Key] = [Same(kind)]
        opaque = len(self.opaque)
        for name, held in vars(kind).items():
            counts = self.guards is None or name in self.names or name.startswith("__")
            if counts and name not in _BOOKKEEPING and self._at("class", kind, name, held):
                parts.append((name, self.of(held)))
        del self.opaque[opaque:]  # what a class has of that kind are its descriptors
        parts.extend(self.of(base) for base in kind.__bases__ if base is not object)
        return tuple(parts)

    def _module(self, module: types.ModuleType) -> Key:
        if not _is_authors_module(module):
            return Same(module)
        return Same(module), tuple(self._item(vars(module), name) for name in sorted(self.names) if name in vars(module))


def identity(value: Any, names: frozenset[str] = frozenset()) -> tuple[Key, list[object]]:
    """The key of a value, and what in it could be told from others only by being another object, although it may change. Of
    modules, the attributes with these names count. Raises `Unreadable` for what is no constant."""
    walk = _Walk(names)
    return walk.of(value), walk.opaque


class Environment:
    """What the functions of a kernel read beyond their arguments, as it is when this is made."""

    def __init__(self, roots: Sequence[Any], written: _Places | None = None) -> None:
        self.roots, self.written = roots, written or {}
        names: frozenset[str] = frozenset()
        while True:  # an attribute that one function reads may be a function
            walk = _Walk(names, self.written)
            try:
                self.key: Key = tuple([walk.of(root) for root in roots])
            except Unreadable:  # more than can be looked at
                self.key, walk.guards = (), []
            if walk.code_names <= names:
                break
            names |= walk.code_names
        self.names = names
        self._places = [
            (kind, owner, key, _key_again(owner, key) if kind == "value" else found)
            for kind, owner, key, found in walk.guards or []
        ]
        self.guards = (_key_again, *(part for place in self._places for part in _as_guard(place)))

    def holds(self) -> bool:
        """Whether every place has what it had; quickly."""
        return _ptx.changed_guard(self.guards) is None

    def again(self) -> Environment:
        """As it is now."""
        return Environment(self.roots, self.written)

    def without_written(self) -> Environment:
        """As it is now, without the places that have changed: a body that ran in between wrote there."""
        written = dict(self.written)
        for place in self._places:
            if _ptx.changed_guard((_key_again, *_as_guard(place))) is not None:
                kind, owner, key, _ = place
                written[_place(kind, owner, key)] = owner
        return Environment(self.roots, written)


_NUMBERS = {kind: number for number, kind in enumerate(_ptx.guard_kinds)}


def _as_guard(place: _Guard) -> tuple[int, Any, Any, Any]:
    return _NUMBERS[place[0]], *place[1:]


def _key_again(value: Any, names: frozenset[str]) -> Key:
    """The key of a value whose parts the core cannot look at."""
    return _Walk(names, {}).of(value)


def stable_text(key: Key, code_of: Callable[[types.CodeType], Key]) -> str:
    """A key as text that is the same in every process. Raises `Unreadable` where there is none."""

    def text(part: Any) -> str:
        if isinstance(part, tuple):
            return f"({','.join(map(text, part))})"
        if isinstance(part, frozenset):
            return f"{{{','.join(sorted(map(text, part)))}}}"
        if isinstance(part, types.CodeType):
            return text(code_of(part))
        if isinstance(part, Same):
            part = part.of
            if isinstance(part, Enum):
                return f"{type(part).__module__}.{part}"
            name = getattr(part, "__qualname__", None) or (part.__name__ if isinstance(part, types.ModuleType) else "<")
            if not isinstance(name, str) or "<" in name:
                raise Unreadable("has no name")
            return f"{getattr(part, '__module__', '')}.{name}"
        if isinstance(part, type):
            return f"{part.__module__}.{part.__qualname__}"
        shown = repr(part)
        if " at 0x" in shown:
            raise Unreadable("has no text")
        return shown

    return text(key)
