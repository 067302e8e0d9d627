"""The names of jax_support that need no JAX."""

import subprocess
import sys
from pathlib import Path

import pytest

import pyptx
from pyptx import Tile, _ptx, jax_support
from pyptx.jax_support import CubinRecord, CubinRegistry
from pyptx.types import b128, bf16, f32

PTX = ".version 8.5\n.target sm_90a\n.address_size 64\n\n.visible .entry mine()\n{\n\tret;\n}\n"
no_gpu = pytest.mark.skipif(_ptx.why_no_gpu() is None, reason="this machine has a GPU")


def test_importing_the_support_modules_imports_no_framework():
    package = Path(pyptx.__file__).parents[1]
    program = (
        f"import sys; sys.path.insert(0, {str(package)!r}); import pyptx.jax_support, pyptx.torch_support;"
        "assert pyptx.torch_support.is_torch_tensor(1) is False;"
        "assert not {'jax', 'torch', 'numpy', 'ml_dtypes'} & set(sys.modules), sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_records_are_found_by_a_handle_of_their_content():
    registry, other = CubinRegistry(), CubinRegistry()
    handle = registry.register(PTX, "mine", smem_bytes=64, grid=(2, 1, 1), block=(32, 1, 1))
    assert 0 < handle < 2**63
    assert other.register(PTX, "mine", smem_bytes=64, grid=(2, 1, 1), block=(32, 1, 1)) == handle
    assert registry.register(PTX, "mine", smem_bytes=65, grid=(2, 1, 1), block=(32, 1, 1)) != handle
    assert registry.register(PTX + " ", "mine") != registry.register(PTX, "mine")
    record = registry.get(handle)
    assert record == CubinRecord(handle, PTX, "mine", 64, (2, 1, 1), (32, 1, 1))
    assert record.cu_function is None and record.module is None and record.cubin_bytes is None
    assert len(registry) == 4 and registry.get(1) is None
    registry.clear()
    assert len(registry) == 0 and registry.get(handle) is None
    assert jax_support.get_cubin_registry() is jax_support.get_cubin_registry()


def test_launch_configurations_belong_to_records():
    with pytest.raises(RuntimeError, match="no kernel with handle 7 is registered"):
        jax_support.register_launch_config(7, 0, (1, 1, 1), (1, 1, 1))
    with pytest.raises(RuntimeError, match="handle 7 has no launch configuration yet"):
        jax_support.add_scalar_param_to_shim(7, value_bits=1, size_bytes=4)
    handle = jax_support.get_cubin_registry().register(PTX + "\n", "mine")
    jax_support.register_launch_config(handle, 0x1234, (3, 1, 1), (64, 1, 1), (3, 1, 1), 128)
    jax_support.add_scalar_param_to_shim(handle, value_bits=5, size_bytes=4)
    jax_support.add_scalar_param_to_shim(handle, value_bits=6, size_bytes=8)
    image = jax_support.image_of_handle(handle, 1, 1, (3, 1, 1), (64, 1, 1))
    assert (image.grid, image.block, image.cluster, image.smem) == ((3, 1, 1), (64, 1, 1), (3, 1, 1), 128)
    assert not image.has_module and image.entry == "mine"
    assert image.meta.endswith(b"\x05" + bytes(7) + b"\x01\0\0\0\0\0\0\0\x08\0\0\0\x08\0\0\0\x06" + bytes(7))
    assert jax_support.get_cubin_registry().get(handle).cu_function == 0x1234


@no_gpu
def test_without_a_gpu_nothing_is_compiled():
    assert jax_support.compile_ptx_to_cubin(PTX, "sm_90a") is None


def test_what_cannot_be_compiled_says_why():
    with pytest.raises(RuntimeError, match=r"no `\.entry`"):
        jax_support.compile_ptx_to_cubin(".target sm_90a", "sm_90a")
    with pytest.raises(RuntimeError, match="`mine` targets sm_90a; it is to be compiled for sm_100a"):
        jax_support.compile_ptx_to_cubin(PTX, "sm_100a")


@no_gpu
def test_without_a_gpu_no_descriptor_is_encoded():
    for call in (
        lambda: jax_support.synthesize_tma_descriptor((64, 64), f32, pyptx.Layout.ROW),
        lambda: jax_support.synthesize_tma_descriptor_3d(64, 64, bf16, 64, 64),
    ):
        with pytest.raises(RuntimeError) as raised:
            call()
        assert raised.value.kind in ("no_driver", "no_device")


def test_descriptors_are_checked_before_they_are_encoded():
    with pytest.raises(ValueError, match="a tensor map needs a multiple of 16"):
        jax_support.synthesize_tma_descriptor((64, 9), f32, pyptx.Layout.ROW)
    with pytest.raises(ValueError, match="not a whole number of slabs"):
        jax_support.synthesize_tma_descriptor_3d(64, 96, bf16, 64, 64)
    with pytest.raises(ValueError, match="swizzle 128B takes at most 128"):
        jax_support.synthesize_tma_descriptor_3d(64, 128, bf16, 64, 64, padding=True)
    with pytest.raises(ValueError, match="no descriptor lies at 0x1000"):
        jax_support.add_tma_spec_to_shim(1, 0, 0x1000, 0)


def test_the_native_launcher_is_always_there():
    assert jax_support.shim_is_available() is True
    assert jax_support.shim_load_error() is None
    assert jax_support._load_shim() is _ptx


def test_the_mock_callback_is_what_is_launched():
    with pytest.raises(RuntimeError, match="no mock callback"):
        jax_support._pyptx_launch(1)
    jax_support.set_mock_ffi_callback(lambda *args, **kwargs: (args, kwargs))
    try:
        assert jax_support._pyptx_launch(1, grid=2) == ((1,), {"grid": 2})
    finally:
        jax_support.set_mock_ffi_callback(None)


def test_dtypes_that_no_tensor_has():
    pytest.importorskip("numpy")
    with pytest.raises(TypeError, match="no tensor has elements of type"):
        jax_support.numpy_dtype(b128)
    with pytest.raises(ValueError, match="no tensor has elements of type `b128`"):
        _ptx.Plan("k", [], [Tile(1, b128)], ["Y"], lambda env: None)
