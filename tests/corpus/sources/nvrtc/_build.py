"""Compiles the programs here with NVRTC, the compiler as a library: _build.py OUT writes OUT/*.ptx and OUT/index.tsv."""

import pathlib
import re
import shlex
import sys

from cuda.bindings import nvrtc

out = pathlib.Path(sys.argv[1])
version = ".".join(map(str, nvrtc.nvrtcVersion()[1:]))
lines = []


def check(result, program=None):
    if result[0] != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = b""
        if program is not None:
            size = nvrtc.nvrtcGetProgramLogSize(program)[1]
            log = b" " * size
            nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"{result[0].name} {log.decode(errors='replace')}")
    return result[1] if len(result) > 1 else None


for path in sorted(pathlib.Path().glob("*.cu")):
    text = path.read_text()
    for line in re.findall(r"^// corpus: (.*)$", text, re.M):
        target, *flags = shlex.split(line)
        slug = re.sub(r"[^A-Za-z0-9_.]+", "_", " ".join(flags)).strip("_")
        name = f"nvrtc-{path.stem}-{target}{'-' + slug if slug else ''}.ptx"
        try:
            program = check(nvrtc.nvrtcCreateProgram(text.encode(), path.name.encode(), 0, [], []))
            options = [f"--gpu-architecture={target}".encode(), b"--std=c++17", *(flag.encode() for flag in flags)]
            names = re.findall(r"^// name: (.*)$", text, re.M)
            for expression in names:
                check(nvrtc.nvrtcAddNameExpression(program, expression.encode()))
            check(nvrtc.nvrtcCompileProgram(program, len(options), options), program)
            ptx = b" " * check(nvrtc.nvrtcGetPTXSize(program))
            check(nvrtc.nvrtcGetPTX(program, ptx))
            (out / name).write_bytes(ptx.rstrip(b"\0"))
            problem = ""
        except Exception as error:
            problem = re.sub(r"\s+", " ", str(error))[:200]
        lines.append("\t".join([name, version, path.name, " ".join(flags), problem]))
        print(name, problem, flush=True)
(out / "index.tsv").write_text("\n".join(lines) + "\n")
