"""Compiles every kernel of the modules here with Triton, without a GPU: _build.py OUT writes OUT/*.ptx and OUT/index.tsv.

A module's list `plans` has entries (label, kernel, signature, constants, options, targets); a target is 80, 90, 100 or 120.
"""

import importlib
import os
import pathlib
import re
import shutil
import sys

# The installed ptxas, not the one that Triton ships: it fixes the newest .version.
for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
    os.environ.setdefault(name, shutil.which("ptxas") or "")

import triton  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

out = pathlib.Path(sys.argv[1])
lines = []
for path in sorted(pathlib.Path().glob("[a-z]*.py")):
    module = importlib.import_module(path.stem)
    for label, kernel, signature, constants, options, targets in module.plans:
        types = dict(zip(kernel.arg_names, signature.split(), strict=False))
        types.update({key: "constexpr" for key in constants})
        pointers = [i for i, name in enumerate(kernel.arg_names) if types.get(name, "").startswith("*")]
        attributes = {} if options.get("unaligned") else {(i,): [["tt.divisibility", 16]] for i in pointers}
        for target in targets:
            name = f"triton-{label}-sm_{target}.ptx"
            flags = ", ".join([signature, *(f"{k}={v}" for k, v in {**constants, **options}.items())])
            settings = {k: v for k, v in options.items() if k != "unaligned"}
            settings.setdefault("ptx_version", 90)
            try:
                source = ASTSource(kernel, types, constexprs=constants, attrs=attributes)
                text = triton.compile(source, target=GPUTarget("cuda", target, 32), options=settings).asm["ptx"]
                (out / name).write_text(text)
                problem = ""
            except Exception as error:
                problem = " ".join(re.sub(r"\s+", " ", f"{type(error).__name__}: {error}").split())[:200] or "failed"
            lines.append("\t".join([name, triton.__version__, path.name, flags, problem]))
            print(name, problem, flush=True)
(out / "index.tsv").write_text("\n".join(lines) + "\n")
