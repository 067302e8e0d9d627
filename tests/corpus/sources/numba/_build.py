"""Compiles every function of the modules here with numba-cuda, without a GPU: _build.py OUT writes OUT/*.ptx and OUT/index.tsv.

A module's list `plans` has entries (label, function, signature, options, targets); a target is (8, 0) and so on.
"""

import importlib
import pathlib
import re
import sys
import warnings

import numba_cuda
from numba import cuda

warnings.simplefilter("ignore")
out = pathlib.Path(sys.argv[1])
lines = []
for path in sorted(pathlib.Path().glob("[a-z]*.py")):
    module = importlib.import_module(path.stem)
    for label, function, signature, options, targets in module.plans:
        for target in targets:
            name = f"numba-{label}-sm_{target[0]}{target[1]}.ptx"
            flags = ", ".join([str(signature), *(f"{k}={v}" for k, v in options.items())])
            try:
                text, _ = cuda.compile_ptx(function, signature, cc=target, **options)
                (out / name).write_text(text)
                problem = ""
            except Exception as error:
                problem = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:200]
            lines.append("\t".join([name, numba_cuda.__version__, path.name, re.sub(r"\s+", " ", flags), problem]))
            print(name, problem, flush=True)
(out / "index.tsv").write_text("\n".join(lines) + "\n")
