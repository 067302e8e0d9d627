"""`@kernel`: a Python function whose calls of `reg`, `smem` and `ptx` write PTX becomes a kernel that arrays can be passed to."""

# What users know of it. Declarations are checked in `_declaration`, bodies run in `_tracing`, calls begin in `_launching`.

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from . import _module, _ptx
from ._arguments import fail, name_in_module, short
from ._declaration import Declaration, Grid, TensorMaps
from ._keywords import keywords_of, with_keywords
from ._launching import Launches, gpu_of, image_for, jax_scalars, memory_of
from ._ptx import TensorSpec, Tile, TmaDescriptorHandle
from ._registry import number_of
from ._sizes import Dims3
from ._tracing import Traces

if TYPE_CHECKING:
    from types import CodeType
    from typing import Unpack

    from . import executor, ir
    from ._ptx import LaunchAttributes, Module, ModuleBuilder, Plan, Trace

__all__ = ["Kernel", "TensorSpec", "TmaDescriptorHandle", "kernel"]


def _is_compiling_once_torch_is_there() -> bool:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "compiler"):
        return False
    global _is_compiling
    _is_compiling = torch.compiler.is_dynamo_compiling
    return bool(_is_compiling())


# Asked at every call, so it is one look-up and one call: torch's own function, once torch is imported.
_is_compiling: Callable[[], bool] = _is_compiling_once_torch_is_there


class Kernel(_ptx.KernelCall):
    """A kernel: called with arrays it runs, ``.ptx()`` shows its text, ``.sass()`` what the hardware runs."""

    __name__: str
    __wrapped__: Callable[..., Any]

    @with_keywords({name: (False, "bool") for name in _ptx.launch_attributes})
    def __init__(
        self,
        fn: Callable[..., Any],
        arch: str = "sm_90a",
        version: tuple[int, int] | None = None,
        in_specs: Sequence[Tile] | None = None,
        out_specs: Sequence[Tile] | None = None,
        grid: Grid = None,
        block: Sequence[int] | int = (1, 1, 1),
        cluster: Sequence[int] | int = (1, 1, 1),
        smem: int = 0,
        raw_params: Sequence[tuple[str, str]] | None = None,
        extern_smem: bool | str = False,
        reqntid: Sequence[int] | None = None,
        raw_directives: Sequence[tuple[str, Sequence[int]]] | None = None,
        *,
        tma: str = "address",
        tensor_maps: Mapping[str, TensorMaps] | None = None,
        input_output_aliases: Mapping[int, int] | None = None,
        inputs_apart: Sequence[int] = (),
        module: _module.Module | None = None,
        **attributes: Unpack[LaunchAttributes],
    ) -> None:
        self._declared = Declaration(
            fn, arch, version, in_specs, out_specs, grid, block, cluster, smem, raw_params, extern_smem, reqntid, raw_directives,
            tma=tma, tensor_maps=tensor_maps, input_output_aliases=input_output_aliases, inputs_apart=inputs_apart,
            module=module, attributes=dict(attributes),
        )  # fmt: skip
        self.__name__ = fn.__name__
        self.__qualname__, self.__module__, self.__doc__, self.__wrapped__ = fn.__qualname__, fn.__module__, fn.__doc__, fn
        self._plan: Callable[..., Any] = self._first_call
        self._launches = Launches(Traces(self._declared))  # with what was traced
        self._out_is_free = "out" not in self._declared.names
        self._number = number_of(self)
        self._code: CodeType | None = None
        if module is not None:
            module._add_kernel(self)
        _is_compiling()  # so that it is torch's own by now: Dynamo compiles again when it changes

    # -- what it was made from

    @property
    def in_specs(self) -> tuple[Tile, ...]:
        """The inputs' tiles; () also of a kernel that was given none."""
        return self._declared.in_specs or ()

    @property
    def out_specs(self) -> tuple[Tile, ...]:
        """The outputs' tiles; () also of a kernel that was given none."""
        return self._declared.out_specs or ()

    @property
    def grid(self) -> Grid:
        """Blocks: a tuple, or a function of the symbolic dimensions."""
        return self._declared.grid

    @property
    def block(self) -> Dims3:
        """Threads of a block."""
        return self._declared.block

    @property
    def cluster(self) -> Dims3:
        """Blocks of a cluster."""
        return self._declared.cluster

    @property
    def smem(self) -> int:
        """Dynamic shared memory of a block, in bytes."""
        return self._declared.smem

    @property
    def inputs_apart(self) -> tuple[int, ...]:
        """Inputs that no output may be, by number."""
        return self._declared.inputs_apart

    @property
    def input_output_aliases(self) -> dict[int, int]:
        """Inputs that the kernel changes: the number of each, and of the output that is written there."""
        return dict(self._declared.aliases)

    @property
    def arch(self) -> str:
        """The target, such as ``sm_90a``."""
        return self._declared.arch

    @property
    def template_params(self) -> dict[str, Any]:
        """The keyword-only parameters and their defaults."""
        return dict(self._declared.template)

    def __repr__(self) -> str:
        return f"<kernel {self._declared}>"

    def __getattr__(self, name: str) -> Any:
        if name == "__signature__":  # asked for by `inspect.signature`, which would show the body's own: outputs are given back
            return self._declared.signature()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    # -- what it becomes

    def ptx(self, *, lineinfo: bool = False, **kwargs: Hashable) -> str:
        """The kernel's PTX. Template parameters and dimensions go by name; those not given keep their defaults, or stay open.

        ``lineinfo=True`` adds where each instruction was written (``.loc``), which profilers and debuggers show.
        """
        module = self.traced(**kwargs)
        return module.text_with_lines() if lineinfo else module.text

    def module(self, **kwargs: Hashable) -> ir.Module:
        """The traced module as nodes of `pyptx.ir`; `pyptx.emitter.emit` writes it. The same arguments give the same object."""
        nodes: ir.Module = self.traced(**kwargs).nodes()
        return nodes

    def traced(self, **kwargs: Any) -> Module:
        """The traced and checked module as the core has it: text, warnings, what it needs. The same arguments give the same
        object."""
        try:
            self._forget_if_changed()
            template, dims, _ = self._declared.split(kwargs)
            launches = self._launches
            try:
                return launches.traces.module(dims, template)
            finally:
                self._watch(launches)
        except BaseException as error:
            _ptx.drop_our_frames(error)
            raise

    def sass(self, **kwargs: Hashable) -> str:
        """What the hardware runs: the PTX assembled by ptxas and disassembled. Needs NVIDIA's command-line tools."""
        return _ptx.sass(self.traced(**kwargs))

    def resources(self, **kwargs: Hashable) -> dict[str, int]:
        """What ptxas makes of it: registers, spill stores and loads, shared memory."""
        return _ptx.resources(self.traced(**kwargs))

    def clear(self) -> None:
        """Forgets what was traced, so that the next call traces the body again.

        Calls see by themselves when globals, closures or helpers that the body reads have changed; this is for what they cannot
        see: a file that the body reads, a change in an installed package, in a large array or container.
        """
        self._launches = Launches(Traces(self._declared))
        self._plan, self._guards = self._first_call, None

    # -- what torch.compile asks. It keeps eight graphs of a code object, and calls what is no function by one of its own: all
    # such things would share eight. By these names it finds what a callable stands for: a function whose code is this kernel's.

    @property
    def _torchdynamo_wrapper_id(self) -> int:
        return id(self)

    @property
    def _torchdynamo_orig_callable(self) -> Callable[..., Any]:
        def call(*arrays: Any, **kwargs: Any) -> Any:
            return self(*arrays, **kwargs)

        if self._code is None:
            self._code = call.__code__.replace(co_name=self.__name__)
        call.__code__ = self._code
        return call

    # -- copies. A kernel is what its definition makes it, as a function is: copies are itself, and its pickle is its name.

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self

    def __reduce__(self) -> str:
        return name_in_module(self, f"kernel `{self.__qualname__}`")

    # -- what was made of it

    def _forget_if_changed(self) -> None:
        """Forgets what was traced when globals, closures or helpers that the body reads are no longer what they were."""
        traces = self._launches.traces
        known = traces.environment
        if known is None or known.holds():
            return
        if (now := known.again()).key != known.key:
            self.clear()
        else:
            traces.environment, self._guards = now, now.guards

    def _watch(self, launches: Launches) -> None:
        """Has the core look, before each call, at the places that the body read; not once another thread has cleared."""
        if launches is self._launches and launches.traces.environment is not None:
            self._guards = launches.traces.environment.guards

    def _trace_into(self, parts: ModuleBuilder) -> Trace:
        """The body, run with the defaults, for the text of a whole module."""
        return self._launches.traces.traced({}, self.template_params, False, parts)

    def _image(self, env: Mapping[str, int], template: Mapping[str, Any], raw: Mapping[str, Any]) -> Any:
        """The launchable image for these sizes."""
        launches = self._launches
        try:
            return launches.image(env, template, raw)
        finally:
            self._watch(launches)

    def _plan_for(self, kwargs: Mapping[str, Any]) -> Plan:
        """The launch plan for these keyword arguments."""
        self._declared.require_callable()
        return self._launches.plan_for(self, kwargs)

    def _bind(self, kwargs: Mapping[str, Any]) -> tuple[Plan, tuple[int | None, ...]]:
        """The launch plan for these keyword arguments, and the values of scalar parameters among them, which a launch takes."""
        self._declared.require_callable()
        self._forget_if_changed()
        raw_params = self._declared.raw_params
        given = {name: kwargs[name] for _, name in raw_params if name in kwargs}
        scalars = _ptx.pack_scalars(self.__name__, raw_params, given) if given else ()  # before a plan keeps them
        return self._plan_for(kwargs), scalars

    def _image_for(self, arrays: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return image_for(*self._bind(kwargs), self._declared, arrays, kwargs)

    def simulate(self, *arrays: Any, **kwargs: Any) -> executor.Simulation:
        """A call on arrays in host memory, on the executor, and what is wrong with it although its results may be right:

            outputs, findings = gemm.simulate(a, b)
            assert not findings

        Accesses that nothing orders are found (`pyptx.executor.checking` says which kinds), whatever order the threads happen to
        run in. `checks`, `schedule`, `completion`, `numerics`, `approx`, `seed`, `suppress`, `limit`, `stop`, `trace` and
        `profile` are those of `pyptx.executor.simulate`, all other keywords the call's.
        """
        from . import executor

        return executor.simulate(self, *arrays, **kwargs)

    def debug(self, *arrays: Any, **kwargs: Any) -> executor.Session:
        """A session that steps a call on copies of arrays in host memory, on the executor:

            with gemm.debug(a, b) as session:
                session.break_at(141)
                stop = session.run()

        `checks`, `schedule`, `completion`, `numerics` and `seed` are those of `pyptx.executor.debug`, all other keywords the
        call's.
        """
        from . import executor

        return executor.debug(self, *arrays, **kwargs)

    def sweep(self, *arrays: Any, seeds: int | None = None, systematic: bool = False, **kwargs: Any) -> executor.Sweep:
        """Simulates a call with many different orders of its threads and times at which asynchronous operations are performed, or
        with all of them (`systematic`), each on fresh copies of the arrays, and gives what was found and whether the outputs
        differed: see `pyptx.executor.sweep`.

            print(gemm.sweep(a, b, seeds=32))
        """
        from . import executor

        return executor.sweep(self, *arrays, seeds=seeds, systematic=systematic, **kwargs)

    # -- names that earlier programs ask for

    def _trace(self, **kwargs: Any) -> ir.Module:
        return self.module(**kwargs)

    def _resolve_grid(self, env: Mapping[str, Any]) -> Dims3:
        return self._declared.resolve_grid(env)

    @property
    def _fn(self) -> Callable[..., Any]:
        return self._declared.fn

    @property
    def _cubin_handles(self) -> dict[tuple[object, ...], int]:
        return self._launches.cubin_handles

    # -- calling

    def __call__(self, *arrays: Any, **kwargs: Any) -> Any:
        """Runs the kernel on numpy arrays, JAX arrays (also under jit) or torch tensors: its output, or a tuple of them.

        Keywords are template parameters, sizes of dimensions and values of scalar parameters; ``out=`` is a tensor, or a tuple of
        one for each output, that the outputs are written to (not for JAX arrays).
        """
        # Calls that need no more than the plan do not come here: see `call_through_plan` below.
        if _is_compiling():
            from .torch_support.dynamo import call_kernel_under_dynamo

            return call_kernel_under_dynamo(self, arrays, kwargs)
        out = kwargs.pop("out", None) if self._out_is_free else None
        self._forget_if_changed()
        if kwargs:
            if "jax" in sys.modules and (traced := jax_scalars(self._declared, arrays, kwargs)):
                if out is not None:
                    fail(
                        "argument_kind",
                        f"kernel `{self.__name__}` is called with values of JAX's and `out`; a JAX array is never written to",
                    )
                return self._call_with_jax_scalars(arrays, kwargs, traced)
            plan, scalars = self._bind(kwargs)
            return plan(*arrays, scalars=scalars, out=out)
        return self._plan(*arrays, out=out)

    def _call_with_jax_scalars(self, arrays: tuple[Any, ...], kwargs: dict[str, Any], traced: Sequence[str]) -> Any:
        from .jax_support.calls import call_with_traced_scalars

        plan = self._plan_for({**kwargs, **dict.fromkeys(traced, 0)})  # whose own values no launch takes
        scalars = [(dtype, name, kwargs.get(name)) for dtype, name in self._declared.raw_params]
        return call_with_traced_scalars(plan, self.__name__, arrays, scalars)

    def _first_call(self, *arrays: Any, out: Any = None) -> Any:
        launches, raw, inputs = self._launches, self._declared.raw_params, len(self.in_specs)
        if raw and inputs < len(arrays) <= inputs + len(raw) and self._declared.in_specs is not None:
            fail(
                "argument_count",
                f"kernel `{self.__name__}` takes {inputs} tensor{'s' if inputs != 1 else ''}; the call has {len(arrays)}",
                f"scalars go by name: `{raw[0][1]}={short(arrays[inputs])}`",
            )
        plan = self._plan_for({})
        if launches is self._launches:  # else another thread has cleared meanwhile
            self._plan = plan
        return plan(*arrays, out=out)

    def prepare(self, *arrays: Any, device: int | None = None, **kwargs: Hashable) -> None:
        """Compiles the kernel and loads it, so that the first call costs what every call does.

        For tensors like ``arrays``, of which only shapes, types and GPU count; or, without them, for the sizes given by name.
        ``device`` is the GPU, by default the tensors' or else every GPU.
        """
        if (image := self._image_for(arrays, kwargs)) is None:  # no elements: nothing is ever launched
            return
        on = {device} if device is not None else {gpu for gpu in map(gpu_of, arrays) if gpu is not None}
        for gpu in sorted(on or range(max(1, _ptx.device_count()))):
            image.prepare(gpu)

    def variable(self, name: str, *arrays: Any, **kwargs: Any) -> memoryview:
        """The bytes of a ``.global`` or ``.const`` variable, as launches on the executor read and leave them; it may be written.

        For tensors like ``arrays``, or for the sizes given by name, as in ``prepare``: each specialisation has variables of its
        own, and kernels of the same text, which are loaded once, have theirs in common, be they of one `Module` or of two. A
        variable keeps its value from launch to launch. ``numpy.frombuffer(k.variable(counts), numpy.uint32)`` shows one as an
        array. Not while a launch runs; a GPU has its own.
        """
        image = self._image_for(arrays, kwargs)
        if image is None:
            fail("argument_dim", f"kernel `{self.__name__}` has outputs without elements for these sizes: it is never launched")
        return memory_of(image, str(name))

    def save(self, path: str | os.PathLike[str], *arrays: Any, targets: Sequence[str] | None = None, **kwargs: Any) -> None:
        """Writes the kernel, compiled for ``targets`` (by default its own; an empty list: none), and how it is launched, into one
        file.

        A C++ program runs it with ``ptx::load(path)``, without Python and without compiling. For tensors like ``arrays``, or for
        the sizes given by name, as in ``prepare``.
        """
        if isinstance(targets, str) or not all(isinstance(target, str) for target in targets or ()):
            fail("argument_kind", f"`targets` is `{short(targets)}`; what fits is a list of targets, such as `['sm_90a']`")
        image = self._image_for(arrays, kwargs)
        if image is None:
            fail(
                "argument_dim", f"kernel `{self.__name__}` has outputs without elements for these sizes: there is nothing to save"
            )
        sizes = self._declared.sizes(arrays, kwargs)
        image.save(
            os.fspath(path),
            None if targets is None else list(targets),
            tiles=[Tile(*tile.resolve_shape(sizes), tile.dtype, tile.layout) for tile in (*self.in_specs, *self.out_specs)],
            scalar_types=[dtype for dtype, _ in self._declared.raw_params],
        )


_ptx.call_through_plan(Kernel)


@overload
def kernel(fn: Callable[..., Any], /) -> Kernel: ...
@overload
def kernel(
    *, arch: str = "sm_90a", version: tuple[int, int] | None = None,
    in_specs: Sequence[Tile] | None = None, out_specs: Sequence[Tile] | None = None,
    grid: Grid = None, block: Sequence[int] | int = (1, 1, 1), cluster: Sequence[int] | int = (1, 1, 1), smem: int = 0,
    raw_params: Sequence[tuple[str, str]] | None = None, extern_smem: bool | str = False,
    reqntid: Sequence[int] | None = None, raw_directives: Sequence[tuple[str, Sequence[int]]] | None = None,
    tma: str = "address", tensor_maps: Mapping[str, TensorMaps] | None = None,
    input_output_aliases: Mapping[int, int] | None = None, inputs_apart: Sequence[int] = (),
    module: _module.Module | None = None, **attributes: Unpack[LaunchAttributes],
) -> Callable[[Callable[..., Any]], Kernel]: ...  # fmt: skip
@with_keywords(keywords_of(Kernel.__init__, after="fn"))
def kernel(fn: Callable[..., Any] | None = None, **declared: Any) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Makes a kernel of a function. Positional parameters are tensors, inputs first; keyword-only ones are template parameters.

    ``@kernel(in_specs=(Tile("M", f32),), out_specs=(Tile("M", f32),), grid=lambda M: M // 128, block=128)``

    ``tma="value"`` passes TMA descriptors themselves, 128 bytes each, in place of their addresses: safe and free of copies to the
    GPU. ``tensor_maps`` are descriptors of tensors by name where those made of the tiles do not do (`TensorMap.tiled`,
    `TensorMap.im2col`). ``input_output_aliases`` (input number to output number) says which inputs the kernel changes in place.
    ``inputs_apart`` are numbers of inputs that no output may be, as the kernel reads them again when parts of its outputs are
    written: a call with such an ``out`` is refused.
    ``module`` is the `Module` that it is written into: its text has what that declares, and its body may call that module's
    functions.

    How it is launched: {attributes}.
    """

    def make(function: Callable[..., Any]) -> Kernel:
        return Kernel(function, **declared)

    return make if fn is None else make(fn)


if kernel.__doc__:
    attributes = "; ".join(f"``{name}``: {says}" for name, (says, _) in _ptx.launch_attributes.items())
    kernel.__doc__ = kernel.__doc__.format(attributes=attributes)
