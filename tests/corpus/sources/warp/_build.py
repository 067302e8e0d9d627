"""Compiles the kernels here with Warp's compiler, without a GPU: _build.py OUT writes OUT/*.ptx and OUT/index.tsv."""

import pathlib
import sys

import warp as wp

out = pathlib.Path(sys.argv[1])
wp.config.kernel_cache_dir = str(out.parent / "kernels-cache")
import kernels  # noqa: E402

# No line information: it names the folder that Warp is installed in.
lines = []
for label, options, target in [
    ("plain", {"enable_backward": False}, 75),
    ("backward", {"enable_backward": True}, 80),
    ("fast", {"enable_backward": False, "fast_math": True, "fuse_fp": False}, 90),
    ("rolled", {"enable_backward": False, "max_unroll": 2}, 86),
    ("unfused", {"enable_backward": True, "fuse_fp": False}, 120),
]:
    name = f"warp-{label}-sm_{target}.ptx"
    flags = ", ".join(f"{k}={v}" for k, v in options.items())
    try:
        wp.set_module_options(
            {"enable_backward": True, "fast_math": False, "fuse_fp": True, "mode": "release", "lineinfo": False, **options},
            module=kernels,
        )
        folder = out.parent / f"aot-{label}"
        files = wp.compile_aot_module(kernels, arch=target, device=None, module_dir=folder, use_ptx=True)
        found = sorted(folder.glob("*.ptx"))
        (out / name).write_bytes(found[0].read_bytes().rstrip(b"\0"))
        problem = ""
    except Exception as error:
        problem = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    lines.append("\t".join([name, wp.__version__, "kernels.py", flags, problem]))
    print(name, problem, flush=True)
(out / "index.tsv").write_text("\n".join(lines) + "\n")
