"""Compiles the functions here with XLA for GPUs that are not there: _build.py OUT writes OUT/*.ptx and OUT/index.tsv.

XLA cuts a program into modules and dumps the PTX of each; a module is a file.
"""

import os
import pathlib
import re
import sys

out = pathlib.Path(sys.argv[1]).resolve()
dump = out.parent / "dump"
dump.mkdir()
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["MOSAIC_GPU_DUMP_PTX"] = "1"
os.environ["MOSAIC_GPU_DUMP_TO"] = str(dump)
os.environ["XLA_FLAGS"] = (
    f"--xla_dump_to={dump} --xla_gpu_cuda_data_dir={os.environ.get('CUDA_HOME', '/usr/local/cuda')} "
    "--xla_gpu_autotune_level=0 --xla_gpu_deterministic_ops=true"
)

import functions  # noqa: E402
import jax  # noqa: E402
from jax.experimental import topologies  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

device = """gpu_device_info {{ threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152
shared_memory_per_core: {shared} threads_per_core_limit: 2048 core_count: 108 fpus_per_core: 64 block_dim_limit_x: 2147483647
block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 2000000000000 l2_cache_size: 41943040 clock_rate_ghz: 1.4
device_memory_size: 40000000000 shared_memory_per_block_optin: {optin} cuda_compute_capability {{ major: {major} minor: {minor} }}
registers_per_core_limit: 65536 registers_per_block_limit: 65536 }}
platform_name: "CUDA" dnn_version_info {{ major: 9 minor: 8 }} device_description_str: "sm_{major}{minor}" """

lines = []
for major, minor, shared in ((8, 0, 167936), (9, 0, 233472), (10, 0, 233472)):
    topology = topologies.get_topology_desc(
        platform="cuda",
        topology_name=f"sm_{major}{minor}",
        topology="1x1x1",
        target_config=device.format(major=major, minor=minor, shared=shared, optin=shared - 1024),
    )
    place = NamedSharding(Mesh(topology.devices[:1], ("x",)), PartitionSpec())
    for label, function, shapes, majors in functions.plans:
        if major not in majors:
            continue
        for old in dump.iterdir():
            old.unlink()
        arguments = [jax.ShapeDtypeStruct(shape, kind) for kind, shape in shapes]
        flags = ", ".join(f"{kind.__name__}{list(shape)}" for kind, shape in shapes)
        base = f"jax-{label}-sm_{major}{minor}"
        try:
            jax.jit(function, in_shardings=place, out_shardings=place).trace(*arguments).lower(
                lowering_platforms=("cuda",)
            ).compile()
            found = [path for path in sorted(dump.glob("*.ptx")) if ".entry" in path.read_text()]
            problem = "" if found else "no PTX was dumped"
        except Exception as error:
            found, problem = [], re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
        for i, path in enumerate(found):
            name = f"{base}-{i}.ptx"
            (out / name).write_bytes(path.read_bytes())
            lines.append("\t".join([name, jax.__version__, "functions.py", flags, ""]))
        if problem:
            lines.append("\t".join([base, jax.__version__, "functions.py", flags, problem]))
        print(base, len(found), problem, flush=True)
(out / "index.tsv").write_text("\n".join(lines) + "\n")
