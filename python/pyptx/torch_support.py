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

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import sys
import threading
import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from . import _inductor, _ptx, jax_support, types
from ._own_words import speak_in_own_words
from .errors import PtxError
from .kernel import Kernel, kernel_by_number

if TYPE_CHECKING:
    from ._ptx import Image, Plan, Tile

Dims3 = tuple[int, int, int]
_ONE: Dims3 = (1, 1, 1)
_Outputs = Sequence[tuple[tuple[int, ...], str]]  # shape and numpy's dtype name

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


def is_torch_tensor(obj: Any) -> bool:
    """Whether it is a torch.Tensor. False, without importing torch, when nobody has imported it."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(obj, torch.Tensor)


def any_torch_tensors(inputs: Sequence[Any]) -> bool:
    """Whether any of them is a torch.Tensor."""
    return any(map(is_torch_tensor, inputs))


def extract_input_shapes(inputs: Sequence[Any]) -> list[tuple[int, ...]]:
    """The tensors' shapes."""
    return [tuple(x.shape) for x in inputs]


# -- eager, by handle


def _outputs(out_specs: Sequence[Tile], env: dict[str, int]) -> _Outputs:
    return [(tile.resolve_shape(env), jax_support.numpy_dtype(tile.dtype).name) for tile in out_specs]


def _empty(outputs: _Outputs, device: Any) -> list[Any]:
    torch: Any = import_module("torch")
    return [torch.empty(shape, dtype=getattr(torch, dtype), device=device) for shape, dtype in outputs]


def _one_or_all(tensors: Sequence[Any]) -> Any:
    return tensors[0] if len(tensors) == 1 else tuple(tensors)


def _run(image: Image, outputs: _Outputs, inputs: Sequence[Any]) -> list[Any]:
    """Runs the image on real tensors, on their device's current stream. ValueError when they are not contiguous or on several
    devices."""
    if not inputs:
        raise ValueError("a call needs at least one tensor, which says where the kernel runs")
    _check_call(image, inputs, outputs)
    results = _empty(outputs, inputs[0].device)
    image.launch(inputs, results)
    return results


def call_kernel_via_torch(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """Calls a kernel by its handle with torch tensors, on their device and its current stream. One output comes back as a
    tensor, several as a tuple. ValueError without inputs or for another grid or block than the handle's; KeyError for an
    unknown handle."""
    image = jax_support.image_of_handle(cubin_handle, len(inputs), len(out_specs), grid, block, cluster, smem_bytes)
    return _one_or_all(_run(image, _outputs(out_specs, out_shape_env), inputs))


def _check_call(image: Image, inputs: Sequence[Any], outputs: _Outputs) -> None:
    """Checks tensors, which may be fake, against the kernel that the handle stands for."""
    specs = [(tuple(_hint(size) for size in x.shape), _dtype_name(x)) for x in inputs]
    if not any(None in shape for shape, _ in specs):
        jax_support.check_tensors(image, [(tuple(size or 0 for size in shape), dtype) for shape, dtype in specs], outputs)


# -- operators by handle

_lock = threading.RLock()
_torch: Any = None  # torch, once the operators are registered with it
_library: Any = None
_ops: set[str] = set()


def _op_for(image: Image, outputs: _Outputs) -> str:
    """The name of the operator `pyptx::kernel_<handle>_<outputs>(Tensor[] inputs) -> Tensor[]` of an image. torch's caches know
    an operator by its name alone: hashes of the kernel and of what it returns make the name mean the same in every process."""
    name = f"kernel_{image.handle}_{hashlib.sha256(repr(tuple(outputs)).encode()).hexdigest()[:8]}"
    if name in _ops:
        return name
    register_operators()
    torch = _torch
    with _lock:
        if name in _ops:
            return name
        _library.define(f"{name}(Tensor[] inputs) -> Tensor[]")

        def run(inputs: list[Any]) -> list[Any]:
            # The compiler chooses the strides of what it computes; the kernel takes row-major.
            return _run(image, outputs, [x.contiguous() for x in inputs])

        def fake(inputs: list[Any]) -> list[Any]:
            _check_call(image, inputs, outputs)
            return _empty(outputs, inputs[0].device)

        for backend in ("CPU", "CUDA"):
            _library.impl(name, run, backend)
        torch.library.register_fake(f"pyptx::{name}", fake, lib=_library)
        _ops.add(name)
        return name


def get_or_register_torch_op(
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3,
    smem_bytes: int,
    *,
    num_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of the input tensors that calls the operator of a handle: it survives Dynamo. A handle of
    `CubinRegistry.register` learns from its first call, or from `num_inputs`, how many inputs there are. KeyError for an unknown
    handle."""
    register_operators()
    outputs = tuple((tuple(shape), dtype) for shape, dtype in _outputs(out_specs, out_shape_env))
    launch = (tuple(grid), tuple(block), tuple(cluster), smem_bytes)
    image = _ptx.find_image(cubin_handle)
    if image is not None or num_inputs is not None:
        _name_of_op(cubin_handle, outputs, launch, num_inputs if image is None else image.inputs)
    elif jax_support.get_cubin_registry().get(cubin_handle) is None:
        raise KeyError(f"no kernel with handle {cubin_handle} is registered in this process")

    def call(*inputs: Any) -> Any:
        return _call_op(cubin_handle, outputs, launch, inputs)

    return call


def _name_of_op(handle: int, outputs: Any, launch: tuple[Any, ...], num_inputs: Any) -> str:
    """The operator of a handle, made where there is none. Dynamo runs this, and takes the result for constant."""
    try:
        image = jax_support.image_of_handle(handle, num_inputs, len(outputs), *launch)
        return _op_for(image, outputs)
    except (PtxError, KeyError, ValueError) as error:
        if _torch.compiler.is_dynamo_compiling():
            _raise_to_dynamo(error)
        raise


def _call_op(handle: int, outputs: Any, launch: tuple[Any, ...], inputs: Sequence[Any]) -> Any:
    """Dynamo traces this."""
    name = _name_of_op(handle, outputs, launch, len(inputs))
    return _one_or_all(getattr(_torch.ops.pyptx, name).default(list(inputs)))


_tiles: dict[int, Any] = {}  # by id, for good: the number never means another object


def _outputs_of_ids(ids: tuple[int, ...], env: tuple[tuple[str, int], ...]) -> Any:
    """Shapes and dtypes of tiles that Dynamo knows by their ids, which it guards; it runs this, and takes the result for
    constant."""
    import ctypes

    for number in ids:
        if number not in _tiles:
            _tiles[number] = ctypes.cast(number, ctypes.py_object).value  # alive: the function that is compiled holds it
    return tuple((tuple(shape), dtype) for shape, dtype in _outputs([_tiles[number] for number in ids], dict(env)))


def call_kernel_via_torch_compile(
    *inputs: Any,
    cubin_handle: int,
    out_specs: Sequence[Tile],
    out_shape_env: dict[str, int],
    grid: Dims3,
    block: Dims3,
    cluster: Dims3 = _ONE,
    smem_bytes: int = 0,
) -> Any:
    """As `call_kernel_via_torch`, through the kernel's operator."""
    register_operators()
    outputs = _outputs_of_ids(tuple([id(tile) for tile in out_specs]), tuple(out_shape_env.items()))
    return _call_op(cubin_handle, outputs, (tuple(grid), tuple(block), tuple(cluster), smem_bytes), inputs)


# -- the operators of all kernels

_launch: Any = None  # torch.ops.pyptx.launch.default
_launch_into: Any = None  # torch.ops.pyptx.launch_.default
_exported: Any = None  # torch.ops.pyptx.exported.default
_exported_into: Any = None  # torch.ops.pyptx.exported_.default
_why_in_python: str | None = None  # why this torch cannot have the operators in C++
_plans: dict[str, Plan] = {}  # by key, for good: a graph may name it at any time
_keys: dict[int, str] = {}  # the key of a plan, by its id


def register_operators() -> None:
    """Makes `pyptx::launch` and `pyptx::launch_` known to torch. Importing this module does it when torch is imported already,
    and so does the first kernel that torch traces; a program that was exported needs it before it is loaded."""
    global _torch, _library, _launch, _launch_into, _exported, _exported_into, _why_in_python
    if _launch_into is not None:
        return
    with _lock:
        if _launch_into is not None:
            return
        _torch = import_module("torch")
        _library = _torch.library.Library("pyptx", "FRAGMENT")
        # Compilers keep the strides that the kernel's inputs have in the graph; the operators copy what comes otherwise.
        strides = getattr(_torch.Tag, "needs_exact_strides", _torch.Tag.needs_fixed_stride_order)
        for schema in _ptx.torch_schemas:
            _library.define(schema, tags=(_torch.Tag.pt2_compliant_tag, strides))
        _why_in_python = _ptx.register_torch_operators()
        if _why_in_python is not None:
            for backend in ("CPU", "CUDA"):
                for name in ("launch", "exported"):
                    _library.impl(name, _launch_in_python, backend)
                    _library.impl(f"{name}_", _launch_into_in_python, backend)
        for name in ("launch", "exported"):
            _torch.library.register_fake(f"pyptx::{name}", _fake_launch, lib=_library)
            _torch.library.register_fake(f"pyptx::{name}_", _fake_launch_into, lib=_library)
        _exported = _torch.ops.pyptx.exported.default
        _exported_into = _torch.ops.pyptx.exported_.default
        _library.impl("exported", _autograd_exported, "Autograd")
        _library.impl("exported_", _autograd_exported_into, "Autograd")
        _launch = _torch.ops.pyptx.launch.default
        _launch_into = _torch.ops.pyptx.launch_.default


def _aliases(plan: Plan) -> tuple[tuple[int, int], ...]:
    """Which inputs are outputs too: numbers of both."""
    kernel = getattr(plan.specialise, "kernel", None)
    return tuple(sorted((getattr(kernel, "input_output_aliases", None) or {}).items()))


def _add(key: str, plan: Plan) -> None:
    _ptx.add_torch_kernel(key, plan, _aliases(plan))
    _plans[key] = plan
    _keys[id(plan)] = key


def _key_of(plan: Plan) -> str:
    """What graphs call a plan: a hash of what is known of the kernel, so that torch's caches know it again in another process,
    and of a number where two kernels of this process would have one name."""
    with _lock:
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
    return _plan_of(key, "")


def _plan_of(key: str, payload: str) -> Plan:
    """The plan of a key, made of the payload where it is not known."""
    if key not in _plans:
        if not payload:
            _ptx.raise_error(
                "unknown_kernel",
                f"no kernel of this process has the key `{key}`",
                "the graph was traced in another process, and carries no kernel; `torch.export` makes one that does",
            )
        _adopt(key, payload)
    return _plans[key]


# A dimension of an output: its size, the input and dimension that have it, or nothing when no input has.
_Dim = int | tuple[int, int] | None


def _output_dims(plan: Plan) -> tuple[tuple[tuple[_Dim, ...], str], ...]:
    """Of each output, where its sizes come from, and its dtype's name."""
    where: dict[str, _Dim] = {}
    for number, tile in enumerate(plan.inputs):
        for axis, dim in enumerate(tile.shape):
            if isinstance(dim, str):
                where.setdefault(dim, (number, axis))
    where.update(plan.dims)
    return tuple(
        (tuple(dim if isinstance(dim, int) else where.get(dim) for dim in tile.shape), _ptx.numpy_name(tile.dtype))
        for tile in plan.outputs
    )


def _new_outputs(dims: Sequence[tuple[Sequence[_Dim], str]], inputs: Sequence[Any]) -> list[Any]:
    """Tensors for the outputs. Sizes may be symbols; Dynamo traces this."""
    made = []
    for sizes, dtype in dims:
        shape = [size if isinstance(size, int) else inputs[size[0]].shape[size[1]] for size in sizes]  # type: ignore[index]
        made.append(_torch.empty(shape, dtype=getattr(_torch, dtype), device=inputs[0].device))
    return made


def _dtype_name(x: Any) -> str:
    return str(x.dtype).removeprefix("torch.")


def _hint(size: Any) -> int | None:
    """A size, or for a symbol the size that it stands for while torch traces; None when there is none."""
    if isinstance(size, int):
        return size
    node = size.node
    hint = node.hint if node.has_hint() else None
    return hint if isinstance(hint, int) else None


def _check(plan: Plan, inputs: Sequence[Any]) -> None:
    """Checks tensors that may be fake against the plan, as a launch would. What is found to hold of symbols becomes a guard."""
    specs = [(tuple(_hint(size) for size in x.shape), _dtype_name(x)) for x in inputs]
    if len(specs) != len(plan.inputs) or not any(None in shape for shape, _ in specs):
        plan.bind([(tuple(size or 0 for size in shape), dtype) for shape, dtype in specs])
    for number, x in enumerate(inputs):
        if x.device != inputs[0].device:
            _ptx.raise_error(
                "argument_device",
                f"the tensors of one call to kernel `{plan.name}` are on different devices: argument 0 on {inputs[0].device}, "
                f"argument {number} on {x.device}",
                "move them to one device, as with `.to(…)`",
            )
    env: dict[str, Any] = dict(plan.dims)
    for number, (x, tile) in enumerate(zip(inputs, plan.inputs, strict=True)):
        for axis, dim in enumerate(tile.shape):
            size = x.shape[axis]
            wanted = dim if isinstance(dim, int) else env.setdefault(dim, size)
            if wanted is not size:
                _torch._check(
                    size == wanted,
                    lambda n=number, a=axis, d=dim: f"argument {n} of kernel `{plan.name}`: dimension {a} is not `{d}`",
                )


_inductor_knows = False


def _teach_inductor() -> None:
    """Has Inductor call plans. It is imported by the time that a graph is on its way to it, and the operator's fake runs then."""
    global _inductor_knows
    if not _inductor_knows:
        _inductor_knows = _inductor.teach(_launch, _unpack)


def _fake_launch(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    _teach_inductor()
    plan = _plan_of(key, payload)
    _check(plan, inputs)
    return _new_outputs(_output_dims(plan), inputs)


def _fake_launch_into(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = _plan_of(key, payload)
    inputs = _with_aliased(plan, inputs, outputs)
    _check(plan, inputs)
    _check_outputs(plan, inputs, outputs)


def _check_outputs(plan: Plan, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    dims = _output_dims(plan)
    if len(outputs) != len(dims):
        _ptx.raise_error(
            "argument_count", f"kernel `{plan.name}` gives {len(dims)} tensors; the call has {len(outputs)} to put them in"
        )
    for number, (out, (sizes, dtype)) in enumerate(zip(outputs, dims, strict=True)):
        if _dtype_name(out) != dtype and not _ptx.dtype_matches(plan.outputs[number].dtype, _dtype_name(out)):
            _ptx.raise_error(
                "argument_dtype",
                f"output {number} of kernel `{plan.name}` is {dtype}; the tensor for it is {_dtype_name(out)}",
            )
        if out.dim() != len(sizes):
            _ptx.raise_error(
                "argument_rank",
                f"output {number} of kernel `{plan.name}` has {len(sizes)} dimensions; the tensor for it has {out.dim()}",
            )
        for axis, size in enumerate(sizes):
            wanted = size if isinstance(size, int) else inputs[size[0]].shape[size[1]]  # type: ignore[index]
            seen = out.shape[axis]
            if isinstance(wanted, int) and isinstance(seen, int) and wanted != seen:
                _ptx.raise_error(
                    "argument_dim",
                    f"output {number} of kernel `{plan.name}`: dimension {axis} is {wanted}; the tensor for it has {seen}",
                )
            _torch._check(seen == wanted)


def _with_aliased(plan: Plan, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[Any]:
    """All inputs: those that are outputs too stand among the outputs alone."""
    aliases = _aliases(plan)
    everything = [] if len(aliases) == len(plan.inputs) and len(inputs) == 1 else list(inputs)  # that one stands in for none
    for number, output in aliases:
        everything[number:number] = outputs[output : output + 1]
    return everything


_NO_SCALARS = (0,)


def _pack(scalars: Sequence[int | None]) -> tuple[int, ...]:
    """As the operators take them: how many, and of each whether it is given, and its bits as a signed number."""
    pairs = [(0, 0) if bits is None else (1, bits - (bits >> 63 << 64)) for bits in scalars]
    return (len(pairs), *(number for pair in pairs for number in pair))


def _unpack(scalars: Sequence[int]) -> tuple[int | None, ...]:
    if scalars and len(scalars) != 2 * scalars[0] + 1:
        _ptx.raise_error("argument_count", f"`scalars` are a count and two numbers for each; the call has {len(scalars)} numbers")
    return tuple(bits & (1 << 64) - 1 if given else None for given, bits in zip(scalars[1::2], scalars[2::2], strict=True))


def _launch_in_python(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    plan = _plan_of(key, payload)
    if aliases := _aliases(plan):
        _ptx.raise_error(
            "argument_memory",
            f"kernel `{plan.name}` writes its argument {aliases[0][0]}; `pyptx::launch_` is the operator that does",
        )
    with _torch.no_grad():
        results = plan(*(x.contiguous() for x in inputs), scalars=_unpack(scalars))
    return list(results) if isinstance(results, tuple) else [results]


def _launch_into_in_python(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = _plan_of(key, payload)
    with _torch.no_grad():
        _check_outputs(plan, _with_aliased(plan, inputs, outputs), outputs)
        all_inputs = _with_aliased(plan, [x.contiguous() for x in inputs], outputs)
        results = plan(*all_inputs, scalars=_unpack(scalars))
        for out, result in zip(outputs, results if isinstance(results, tuple) else (results,), strict=True):
            if out is not result:
                out.copy_(result.view(out.dtype))  # of one width, and not converted


# -- gradients that an exported program is asked for. In other graphs Dynamo has seen which tensors require one.


def _has_tangent(x: Any) -> bool:
    """Whether the tensor has a tangent of forward-mode differentiation."""
    forward = _torch.autograd.forward_ad
    return forward._current_level >= 0 and forward.unpack_dual(x).tangent is not None


def _refuse_gradients(name: str, inputs: Sequence[Any], outputs: Sequence[Any] = ()) -> None:
    for number, x in enumerate(inputs):
        if _has_tangent(x):
            _refuse_argument(name, number, "tangent")
        if _torch.is_grad_enabled() and x.requires_grad:
            _refuse_argument(name, number, "gradient")
    if _torch.is_grad_enabled() and any(x.requires_grad or _has_tangent(x) for x in outputs):
        _refuse_argument(name, 0, "gradient of out")


def _autograd_exported(key: str, payload: str, inputs: list[Any], scalars: list[int]) -> list[Any]:
    _refuse_gradients(_plan_of(key, payload).name, inputs)
    with _torch._C._AutoDispatchBelowAutograd():
        results: list[Any] = _exported(key, payload, inputs, scalars)
    return results


def _autograd_exported_into(key: str, payload: str, inputs: list[Any], outputs: list[Any], scalars: list[int]) -> None:
    plan = _plan_of(key, payload)
    _refuse_gradients(plan.name, _with_aliased(plan, inputs, outputs), outputs)
    with _torch._C._AutoDispatchBelowAutograd():
        _exported_into(key, payload, inputs, outputs, scalars)


# -- kernels in exported programs

_PAYLOAD_VERSION = 1


def _export(plan: Plan, specs: Sequence[tuple[tuple[int, ...], str]], scalars: Sequence[int | None]) -> tuple[str, str]:
    """Key and payload of the kernel for these sizes: all that another process needs to launch it."""
    image, outputs = plan.bind(specs, tuple(scalars))
    if image is None:
        _ptx.raise_error(
            "argument_dim", f"the outputs of kernel `{plan.name}` have no elements for these sizes: nothing to export"
        )
    record = {
        "version": _PAYLOAD_VERSION,
        "abi": _ptx.launch_abi,
        "name": plan.name,
        "inputs": [[*shape, tile.dtype.name] for (shape, _), tile in zip(specs, plan.inputs, strict=True)],
        "outputs": [[*shape, tile.dtype.name] for (shape, _), tile in zip(outputs, plan.outputs, strict=True)],
        "arguments": plan.arguments,
        "aliases": _aliases(plan),
        "meta": base64.b64encode(image.meta).decode(),
        "ptx": image.ptx,
    }
    payload = base64.b64encode(zlib.compress(json.dumps(record).encode(), 9)).decode()
    return hashlib.sha256(payload.encode()).hexdigest(), payload


class _Unpacked:
    """Makes the one image of a plan that came in a payload."""

    def __init__(self, image: Image, aliases: dict[int, int]) -> None:
        self.image, self.input_output_aliases = image, aliases
        self.kernel = self

    def __call__(self, env: dict[str, int]) -> Image:
        return self.image


def _adopt(key: str, payload: str) -> None:
    """Adds the kernel of a payload under its key. ValueError when it is none that this version reads."""
    try:
        record = json.loads(zlib.decompress(base64.b64decode(payload, validate=True)))
        version = record["version"], record["abi"]
    except (ValueError, zlib.error, KeyError, TypeError) as error:
        _ptx.raise_error("bad_image", f"the payload of `pyptx::launch` is not a kernel: {error}")
    if version != (_PAYLOAD_VERSION, _ptx.launch_abi):
        _ptx.raise_error(
            "bad_image",
            f"the exported program has a kernel of version {version}; this process reads {(_PAYLOAD_VERSION, _ptx.launch_abi)}",
            "export the program again with this version of pyptx",
        )
    if hashlib.sha256(payload.encode()).hexdigest() != key:
        _ptx.raise_error("bad_image", f"the payload of `pyptx::launch` holds another kernel than `{key}`")
    inputs, outputs = (
        [_ptx.Tile(*shape, types.from_name(dtype)) for *shape, dtype in record[which]] for which in ("inputs", "outputs")
    )
    image = _ptx.Image.from_record(record["ptx"], base64.b64decode(record["meta"]))
    make = _Unpacked(image, {first: second for first, second in record["aliases"]})
    plan = _ptx.Plan(record["name"], inputs, outputs, record["arguments"], make)
    with _lock:
        if key not in _plans:
            _add(key, plan)


def _static(plan: Plan, inputs: Sequence[Any]) -> list[tuple[tuple[int, ...], str]]:
    """Shapes and dtypes, which an exported program has as constants."""
    for number, x in enumerate(inputs):
        for axis, size in enumerate(x.shape):
            if isinstance(size, _torch.SymInt) and size.node.maybe_as_int() is None:
                _ptx.raise_error(
                    "argument_dim",
                    f"dimension {axis} of argument {number} of kernel `{plan.name}` is dynamic (`{size}`); in an exported "
                    "program a kernel has constant sizes",
                    "export without `dynamic_shapes` for it; `torch.compile` takes any size",
                )
    return [(tuple(int(size) for size in x.shape), _dtype_name(x)) for x in inputs]


# -- what torch must see: modes, wrappers, Dynamo


def _call(
    key: str, payload: str, inputs: Sequence[Any], outputs: Sequence[Any] | None, aliases: Any, scalars: Sequence[int]
) -> Any:
    """The operator's call: to new tensors, or to `outputs`. Dynamo traces this."""
    if outputs is None:
        launch = _exported if payload else _launch
        return _one_or_all(launch(key, payload, list(inputs), list(scalars)))
    aliased = [pair[0] for pair in aliases]
    others = [x for number, x in enumerate(inputs) if number not in aliased]
    if not others and payload:  # AOTInductor cannot pass an empty list
        others = [_torch.empty(0, device=inputs[0].device)]
    launch = _exported_into if payload else _launch_into
    launch(key, payload, others, list(outputs), list(scalars))
    return _one_or_all(outputs)


def _outputs_of_call(dims: Any, aliases: Any, inputs: Sequence[Any], out: Any) -> Sequence[Any] | None:
    """The tensors that a call writes; None when the operator makes them. Dynamo traces this."""
    if out is not None:
        outputs = list(out) if isinstance(out, (tuple, list)) else [out]
    elif len(aliases) == 0:
        return None
    else:
        outputs = _new_outputs(dims, inputs)
    for first, second in aliases:
        outputs[second] = inputs[first]
    return outputs


def call_plan(plan: Plan, inputs: tuple[Any, ...], scalars: tuple[int | None, ...] = (), out: Any = None) -> Any:
    """A kernel's call that torch has to see: fake tensors, tensors inside torch.func, a dispatch mode. Goes through the
    operators. `out`: a tensor for the output, or a tuple of tensors."""
    register_operators()
    for x in inputs:
        if _torch._C._functorch.is_batchedtensor(x):
            _refuse_vmap(f"kernel `{plan.name}`")
    _refuse_gradients(plan.name, inputs, out or ())
    if _exporting():
        _check(plan, inputs)
        key, payload = _export(plan, _static(plan, inputs), scalars)
        scalars = ()
    else:
        key, payload = _key_of(plan), ""
    aliases = _aliases(plan)
    outputs = _outputs_of_call(_output_dims(plan), aliases, inputs, out)
    for first, second in aliases:
        if out is not None and out[second] is not inputs[first]:
            _refuse_argument(plan.name, first, "another out")
    try:
        results = _call(key, payload, inputs, outputs, aliases, _pack(scalars))
    except RuntimeError as error:
        if isinstance(error.__cause__, (PtxError, KeyboardInterrupt)):  # torch passes a C++ operator's error on as a RuntimeError
            raise error.__cause__ from None
        raise
    if outputs is not None:  # what autograd saved of them is no longer what it was
        _torch.autograd.graph.increment_version([x for x in outputs if not x.is_inference()])
    return results


def _refuse_vmap(what: str) -> NoReturn:
    _ptx.raise_error(
        "argument_kind",
        f"{what} is called with a tensor of `torch.vmap`, and kernels have no batching rule",
        "call the kernel in a loop, or write one with a dimension more",
    )


def _exporting() -> bool:
    """Whether `torch.export` traces. A constant for Dynamo, which in torch 2.11 takes torch's own function for true."""
    return hasattr(_torch.compiler, "is_exporting") and bool(_torch.compiler.is_exporting())


def _in_forward_mode() -> bool:
    """Whether forward-mode differentiation is under way."""
    return bool(_torch.autograd.forward_ad._current_level >= 0)


def _raise_to_dynamo(error: Exception) -> NoReturn:
    """As errors of operators under Dynamo look, which otherwise speaks of a fault of its own."""
    raise import_module("torch._dynamo.exc").TorchRuntimeError(str(error)) from error


def _numbers(value: Any) -> Any:
    """Dynamo makes constants of what stands in a slice: numbers that it would keep as symbols become part of the kernel."""
    return slice(value) if isinstance(value, (int, float)) else value


def _number(value: Any) -> Any:
    return value.stop if isinstance(value, slice) else value


def _plan_under_dynamo(number: str, names: tuple[str, ...], values: Sequence[Any]) -> tuple[Plan, tuple[int | None, ...]]:
    return kernel_by_number(number)._bind({name: _number(value) for name, value in zip(names, values, strict=True)})


def _constants(number: str, names: tuple[str, ...], *values: Any) -> tuple[Any, ...]:
    """What a call with these keyword arguments has in every graph. Dynamo runs this, and takes the result for constant."""
    try:
        plan, scalars = _plan_under_dynamo(number, names, values)
        return _key_of(plan), _pack(scalars), _aliases(plan), _output_dims(plan)
    except PtxError as error:
        _raise_to_dynamo(error)


def _constants_of_export(number: str, names: tuple[str, ...], specs: Sequence[Any], *values: Any) -> tuple[str, str]:
    """Key and payload for these shapes and dtypes: rank, sizes and dtype of each tensor, one after the other."""
    try:
        plan, scalars = _plan_under_dynamo(number, names, values)
        items, tensors = iter(specs), []
        for rank in items:
            shape = tuple(int(_number(next(items))) for _ in range(rank))
            tensors.append((shape, str(next(items)).removeprefix("torch.")))
        return _export(plan, tensors, scalars)
    except PtxError as error:
        _raise_to_dynamo(error)


def _refuse(number: str, argument: int, why: str) -> None:
    """An argument that no call takes."""
    try:
        _refuse_argument(kernel_by_number(number).__name__, argument, why)
    except PtxError as error:
        _raise_to_dynamo(error)


def _refuse_argument(name: str, argument: int, why: str) -> None:
    if why == "gradient":
        _ptx.raise_error(
            "argument_gradient",
            f"argument {argument} of a call to kernel `{name}` requires a gradient; the kernel has no backward",
            "wrap the kernel and its backward with `pyptx.differentiable_kernel(forward, backward)`, or call it under "
            "`torch.no_grad()`",
        )
    if why == "tangent":
        _ptx.raise_error(
            "argument_gradient",
            f"argument {argument} of a call to kernel `{name}` has a tangent of forward-mode differentiation; kernels have no "
            "derivative of that mode",
            "take a gradient of `pyptx.differentiable_kernel(forward, backward)` by `.backward()` or `torch.func.grad`, or "
            "`.detach()` the tensor",
        )
    if why == "gradient of out":
        _ptx.raise_error("argument_gradient", f"`out` of kernel `{name}` requires a gradient, which a kernel does not compute")
    if why == "another out":
        _ptx.raise_error("argument_memory", f"kernel `{name}` writes to its argument {argument}; `out` is another tensor")
    _ptx.raise_error(
        "argument_kind", f"argument {argument} of kernel `{name}` is not a torch tensor, which `torch.compile` needs"
    )


def call_kernel_under_dynamo(kernel: Kernel, arrays: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A kernel's call while Dynamo traces it: this very function is traced, and comes down to one operator in the graph."""
    register_operators()
    out = None
    for argument, x in enumerate(arrays):
        if not isinstance(x, _torch.Tensor):
            _refuse(kernel._number, argument, "kind")
        if _torch.is_grad_enabled() and x.requires_grad:
            _refuse(kernel._number, argument, "gradient")
        # Read here, so that Dynamo guards it: the graph is not that of a call in forward mode. Which tensors have tangents then,
        # only torch sees.
        if _torch.autograd.forward_ad._current_level >= 0:
            _refuse(kernel._number, argument, "tangent")
    if kernel._out_is_free and "out" in kwargs:
        kwargs = dict(kwargs)
        out = kwargs.pop("out")
    names, values = tuple(kwargs), [_numbers(value) for value in kwargs.values()]
    key, scalars, aliases, dims = _constants(kernel._number, names, *values)
    for first, second in aliases:
        if out is not None and (out[second] if isinstance(out, (tuple, list)) else out) is not arrays[first]:
            _refuse(kernel._number, first, "another out")
    for position, x in enumerate(out if isinstance(out, (tuple, list)) else [] if out is None else [out]):
        if _torch.is_grad_enabled() and x.requires_grad:
            _refuse(kernel._number, position, "gradient of out")
    payload = ""
    if _exporting():
        specs: list[Any] = []
        for x in arrays:
            specs.append(len(x.shape))
            for size in x.shape:
                specs.append(_numbers(size))
            specs.append(x.dtype)
        key, payload = _constants_of_export(kernel._number, names, tuple(specs), *values)
        scalars = _NO_SCALARS
    return _call(key, payload, arrays, _outputs_of_call(dims, aliases, arrays, out), aliases, scalars)


# What `torch._dynamo.assume_constant_result` does: Dynamo runs these, and does not trace them. Importing it takes seconds, which
# calls that are not compiled should not cost.
_constant: Any
for _constant in (register_operators, _constants, _constants_of_export, _exporting, _refuse, _name_of_op, _outputs_of_ids):
    _constant._dynamo_marked_constant = True

if "torch" in sys.modules:
    register_operators()


# -- gradients


def differentiable_kernel(
    forward_kernel: Callable[..., Any],
    backward_kernel: Callable[..., Any],
    *,
    save_for_backward: Sequence[int] | None = None,
    num_grad_inputs: int | None = None,
) -> Callable[..., Any]:
    """A function of torch tensors with a gradient: `forward_kernel(*inputs)` forward, `backward_kernel(*saved, *grad_outputs)`
    backward, which gives one gradient for each of the first `num_grad_inputs` inputs (default: all). `save_for_backward`
    are the indices of the inputs to save (default: all). Gradients of gradients exist when the backward kernel is
    differentiable itself. IndexError for an index that no input has."""
    register_operators()
    torch: Any = _torch
    for kernel in (forward_kernel, backward_kernel):
        if getattr(kernel, "input_output_aliases", None):
            _ptx.raise_error(
                "argument_gradient",
                f"kernel `{kernel.__name__}` changes its inputs and cannot have a gradient: "
                "the inputs saved for the backward would change too",
                "write a kernel that gives a new tensor",
            )

    name = getattr(forward_kernel, "__name__", "kernel")

    def saved(inputs: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(inputs if save_for_backward is None else (inputs[i] for i in save_for_backward))

    def gradients_of(ctx: Any, *grad_outputs: Any) -> Any:
        # A gradient may come expanded, as from `.sum()`; kernels take row-major.
        gradients = backward_kernel(*ctx.saved_tensors, *(g.contiguous() for g in grad_outputs))
        gradients = gradients if isinstance(gradients, tuple) else (gradients,)
        count = len(ctx.needs_input_grad)
        wanted = count if num_grad_inputs is None else num_grad_inputs
        if len(gradients) < wanted:
            raise ValueError(f"the backward kernel gives {len(gradients)} gradients; {wanted} inputs need one")
        return (*gradients[:wanted], *(None,) * (count - wanted))

    class Once(torch.autograd.Function):  # type: ignore[misc]
        """Gives the first `count` tensors back as results of all of them, which have no gradients."""

        @staticmethod
        def forward(count: int, *tensors: Any) -> Any:
            return tuple(x.view_as(x) for x in tensors[:count])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            _ptx.raise_error(
                "argument_gradient",
                f"a gradient of a gradient is asked for: kernel `{backward_kernel.__name__}`, which is a backward, has none",
                "make it differentiable too, with `pyptx.differentiable_kernel(backward, its_backward)`",
            )

    def backward_of(ctx: Any, *grad_outputs: Any) -> Any:
        if not isinstance(backward_kernel, Kernel) or torch.compiler.is_dynamo_compiling() or not torch.is_grad_enabled():
            return gradients_of(ctx, *grad_outputs)
        # A plain kernel. A second derivative is an error where it is asked for, not where the first is. torch's
        # `once_differentiable` would leave this part out of `torch.autograd.grad` without a word.
        with torch.no_grad():
            gradients = gradients_of(ctx, *grad_outputs)
        tensors = [x for x in gradients if x is not None]
        results = iter(Once.apply(len(tensors), *tensors, *ctx.saved_tensors, *grad_outputs))
        return tuple(None if x is None else next(results) for x in gradients)

    def refuse_tangents(tangents: Sequence[Any]) -> None:
        number = next((i for i, tangent in enumerate(tangents) if tangent is not None), 0)
        _refuse_argument(name, number, "tangent")

    class KernelFunction(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            ctx.save_for_backward(*saved(inputs))
            return forward_kernel(*inputs)

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            return backward_of(ctx, *grad_outputs)

    class KernelFunctionOfTransforms(torch.autograd.Function):  # type: ignore[misc]
        """The form that torch.func differentiates; a call costs more."""

        @staticmethod
        def forward(*inputs: Any) -> Any:
            return forward_kernel(*inputs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*saved(inputs))

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            return backward_of(ctx, *grad_outputs)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            refuse_tangents(tangents)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *inputs: Any) -> Any:
            _refuse_vmap(f"kernel `{name}`")

    def differentiable(*inputs: Any) -> Any:
        if not torch.compiler.is_dynamo_compiling() and _in_forward_mode():
            for number, x in enumerate(inputs):
                if isinstance(x, torch.Tensor) and _has_tangent(x):
                    _refuse_argument(name, number, "tangent")
        if not torch.compiler.is_dynamo_compiling() and torch._C._are_functorch_transforms_active():
            return KernelFunctionOfTransforms.apply(*inputs)
        # The function costs more than the kernel's launch: only those who ask for gradients pay for it.
        if torch.is_grad_enabled() and any(getattr(x, "requires_grad", False) for x in inputs):
            return KernelFunction.apply(*inputs)
        return forward_kernel(*inputs)

    vars(differentiable).update(forward_kernel=forward_kernel, backward_kernel=backward_kernel)
    return differentiable


speak_in_own_words(globals(), "any_torch_tensors", "extract_input_shapes", "call_kernel_via_torch")
