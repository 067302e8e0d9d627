"""Writes CUDA programs that call every function of cuda::ptx: the signatures are read from the installed headers.

Each function is called in a kernel of its own, with each choice of its template arguments (`.sem`, `.scope`, `.kind`…). A file
holds one family of headers at one target; functions that need a newer or another target are left out of it.
"""

import itertools
import pathlib
import re
import sys

nvcc, out = sys.argv[1:3]
for base in (pathlib.Path(nvcc).resolve().parent.parent, pathlib.Path("/usr/local/cuda")):
    headers = base / "include/cccl/cuda/__ptx/instructions/generated"
    if headers.exists():
        break

# Family of programs: the headers and the targets with nvcc's flags.
plans = {
    "mbarrier": ("mbarrier_.*|fence.*|barrier_cluster|getctarank|exit|trap", ["sm_80", "sm_90", "sm_100a -lineinfo"]),
    "bulk": (
        "cp_async_bulk|cp_async_bulk_(commit|wait)_group|cp_async_bulk_multicast|cp_async_mbarrier.*|cp_reduce_async_bulk|cp_reduce_async_bulk_b?f16",
        ["sm_80", "sm_90", "sm_100a"],
    ),
    "tensor_copies": ("cp_async_bulk_tensor.*|cp_reduce_async_bulk_tensor|tensormap.*", ["sm_90a", "sm_100a", "sm_120"]),
    "multimem": ("multimem.*", ["sm_90", "sm_100a -lineinfo"]),
    "remote": ("red_async|st_async|st_bulk|clusterlaunchcontrol", ["sm_90", "sm_100a", "sm_120"]),
    "registers": ("get_sreg|bfind|bmsk|prmt|sh[lr]", ["sm_75", "sm_90 -G", "sm_100a"]),
    "loads": ("ld", ["sm_75", "sm_100"]),
    "stores": ("st", ["sm_80", "sm_100a"]),
    "tcgen05_memory": ("tcgen05_(alloc|commit|cp|fence|shift|wait)", ["sm_100a -G"]),
    "tcgen05_ld": ("tcgen05_ld", ["sm_100a"]),
    "tcgen05_st": ("tcgen05_st", ["sm_100a -lineinfo"]),
    "tcgen05_mma": ("tcgen05_mma", ["sm_100a"]),
    "tcgen05_mma_ws": ("tcgen05_mma_ws", ["sm_100a"]),
}
enums = {
    "dot_sem": "sem",
    "dot_scope": "scope",
    "dot_op": "op",
    "dot_space": "space",
    "dot_kind": "kind",
    "dot_cta_group": "cta_group",
}
sized = {
    "B8": "unsigned char",
    "B16": "unsigned short",
    "B32": "unsigned",
    "B64": "unsigned long long",
    "B128": "longlong2",
    "B256": "bytes32",
}


def functions(header):
    for comment in re.findall(r"/\*\n(// .*?)\*/", header.read_text(), re.S):
        flat = " ".join(re.sub(r"^//", "", line).strip() for line in comment.splitlines())
        found = re.search(r"template <(.*?)> __device__ static inline (.*?) (\w+)\((.*?)\);", flat)
        if found:
            yield flat[: found.start()], *found.groups()


def runs_on(head, target):
    needs = re.findall(r"SM_(\d+)([af]?)", head)
    name = re.fullmatch(r"sm_(\d+)([af]?)", target)
    if not needs:
        return True
    return any((int(number) <= int(name[1]) if not letter else (number, letter) == name.groups()) for number, letter in needs)


def choices(head, parameter):
    """The values that a template parameter may take, as {name: spelling}."""
    kind = parameter[0]
    if kind == "int":
        # Each instruction takes its own range of constants.
        ranges = {"st.bulk": ["0"], "tensormap.replace": ["0", "1"], "tensormap": ["128"], "fence": ["128"]}
        return next((values for word, values in ranges.items() if word in head), ["0", "11"])
    listed = re.search(rf"\.{enums[kind.removeprefix('cuda::ptx::')]}\s*= \{{ (.*?) \}}", head)
    values = [word.strip().lstrip(".") for word in listed[1].split(",")] if listed else []
    spelled = {"shared::cta": "shared", "shared::cluster": "cluster", "and": "and_op", "or": "or_op", "xor": "xor_op"}
    values = [spelled.get(value, value.removeprefix("kind::").replace("cta_group::", "cta_group_")) for value in values]
    return [f"{kind}::{value}" for value in values]


def calls(head, template, result, name, arguments, count):
    parameters = [
        tuple(part.split(" = ")[0].rsplit(" ", 1)) for part in re.findall(r"(?:cuda::ptx::dot_\w+|int|typename) \w+", template)
    ]
    types = {n: sized.get(n, "unsigned") for k, n in parameters if k == "typename"}
    free = [p for p in parameters if p[0] != "typename"]
    for values in itertools.product(*(choices(head, p) for p in free)):
        chosen = dict(zip((n for _, n in free), values, strict=True))
        passed, taken, after = [], [], []
        for i, argument in enumerate(part for part in re.split(r", (?![^<]*>)", arguments) if part):
            for key, value in {**chosen, **types}.items():
                argument = re.sub(rf"\b{key}\b", value, argument)
            array = re.fullmatch(r"(const )?(.*?) \(&(\w+)\)\[(\d+)\]", argument)
            if array:
                taken.append(f"{array[2]} *a{i}")
                passed.append((f"{array[2]} v{i}[{array[4]}]; for (int i = 0; i < {array[4]}; ++i) v{i}[i] = a{i}[i];", f"v{i}"))
                if not array[1]:
                    after.append(f"for (int i = 0; i < {array[4]}; ++i) a{i}[i] = v{i}[i];")
            elif re.search(r"_t(<.*>)?( \w+)?$", argument) and "cuda::ptx::" in argument:
                passed.append(("", re.sub(r"(_t(<.*>)?) \w+$", r"\1", argument) + "{}"))
            elif argument.startswith("const uint64_t&"):
                # From memory: ptxas 13.0 crashes on an mbarrier's state that is a kernel's parameter (sm_80 to sm_89).
                taken.append(f"const uint64_t *a{i}")
                passed.append(("", f"*a{i}"))
            else:
                plain = re.sub(r"&", "", argument).rsplit(" ", 1)
                if plain[1].startswith("*"):
                    plain = [plain[0] + " *", plain[1].lstrip("*")]
                taken.append(f"{plain[0]} a{i}" if plain[0].endswith("*") else f"{plain[0].replace('const ', '')} a{i}")
                passed.append(("", f"a{i}"))
        result_type = types.get(result, result)
        result_type = re.sub(r"\b(B\d+)\b", lambda m: sized[m[1]], result_type)
        if result_type != "void":
            taken.insert(0, f"{result_type} *result")
        # Functions with a type that no argument shows take it in writing.
        written = ""
        if any(n not in arguments for n in types):
            written = "<" + ", ".join(value for n, value in types.items() if n not in arguments) + ">"
        call = f"cuda::ptx::{name}{written}({', '.join(value for _, value in passed)});"
        body = " ".join(
            [*(setup for setup, _ in passed if setup), ("*result = " if result_type != "void" else "") + call, *after]
        )
        yield f"__global__ void {name}_{next(count)}({', '.join(taken)}) {{ {body} }}\n"


for family, (pattern, variants) in plans.items():
    for variant in variants:
        target = variant.split()[0]
        count = itertools.count()
        lines = [f"// Calls of cuda::ptx, written by _cuda_ptx_calls.py.\n// corpus: {variant}\n"]
        lines.append("#include <cuda/ptx>\n#include <cstdint>\nstruct alignas(32) bytes32 { longlong4 v; };\n")
        for header in sorted(headers.glob("*.h")):
            if re.fullmatch(pattern, header.stem):
                for head, *rest in functions(header):
                    if runs_on(head, target):
                        lines.extend(calls(head, *rest, count))
        pathlib.Path(out, f"cuda_ptx_{family}_{target}.cu").write_text("".join(lines))
