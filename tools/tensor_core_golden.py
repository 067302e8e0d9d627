#!/usr/bin/env python3
"""Makes tests/golden/tensor_core of what tensor cores have computed.

    tools/tensor_core_golden.py RECORDED FOLDER [ROWS]

RECORDED is the folder `model_validation` of MATLAB-tensor-core (F. A. Khattak and M. Mikaitis, BSD 2-Clause): for each machine
and format a row of factors a, of factors b, an accumulator c and the results d, as text. FOLDER gets a file for each format and
depth, of ROWS rows out of 5000 (200 when nothing is said).
"""

import sys
from pathlib import Path

ORIGIN = "# Recorded by F. A. Khattak and M. Mikaitis (MATLAB-tensor-core), BSD 2-Clause: README.md beside this file\n"

MACHINES = ("V100", "A100", "A2", "Ada", "L40S", "H100", "H200", "B200")
FORMATS = {
    "fp16": ("f16", 5, 10),
    "bf16": ("bf16", 8, 7),
    "tf32": ("tf32", 8, 23),
    "E4M3": ("e4m3", 4, 3),
    "E5M2": ("e5m2", 5, 2),
}


def narrow(bits: int, exponent_bits: int, mantissa: int) -> int:
    """An f32's pattern in a format that has the value."""
    sign, exponent, fraction = bits >> 31, bits >> 23 & 255, bits & 0x7FFFFF
    if exponent_bits == 8:
        assert fraction % (1 << (23 - mantissa)) == 0
        return bits >> (23 - mantissa)
    bias = (1 << (exponent_bits - 1)) - 1
    if bits & 0x7FFFFFFF == 0:
        return sign << (exponent_bits + mantissa)
    field, significand = exponent - 127 + bias, fraction | 1 << 23
    if field < 1:
        shift = 23 - mantissa + 1 - field
        assert significand % (1 << shift) == 0
        return sign << (exponent_bits + mantissa) | significand >> shift
    assert fraction % (1 << (23 - mantissa)) == 0 and field < 1 << exponent_bits
    return (sign << exponent_bits | field) << mantissa | fraction >> (23 - mantissa)


def rows_of(path: Path, base: int) -> list[list[int]]:
    return [[int(word, base) for word in line.split()] for line in path.read_text().splitlines() if line.strip()]


def main(arguments: list[str]) -> int:
    if len(arguments) not in (2, 3):
        print(__doc__)
        return 2
    recorded, folder = Path(arguments[0]), Path(arguments[1])
    count = int(arguments[2]) if len(arguments) == 3 else 200
    groups: dict[tuple[str, int], list[str]] = {}
    factors: dict[tuple[str, int], tuple[list[list[int]], list[list[int]]]] = {}
    for machine in MACHINES:
        for name in FORMATS:
            if not (recorded / machine / name).is_dir():
                continue
            a, b = (rows_of(recorded / machine / name / f"{x}_{machine}_{name}.txt", 16) for x in "ab")
            key = (name, len(a[0])) if machine != "V100" else ("fp16", 4)
            assert factors.setdefault(key, (a, b)) == (a, b)
            groups.setdefault(key, []).append(machine)
    for (name, depth), machines in groups.items():
        format_name, exponent_bits, mantissa = FORMATS[name]
        digits = (1 + exponent_bits + mantissa + 3) // 4
        columns, titles = [], []
        for machine in machines:
            for what in ("c_{}_fp32", "d_{}_fp32", "d_{}_fp16"):
                path = recorded / machine / name / f"{what.format(machine)}.txt"
                if path.exists():
                    columns.append([row[0] for row in rows_of(path, 2)])
                    titles.append(f"{what[0]}.{'f16' if 'fp16' in what else 'f32'}.{machine}")
        a, b = factors[name, depth]
        step = max(1, len(a) // count)
        lines = [ORIGIN + f"# {format_name}: {depth} factors a, {depth} factors b, " + " ".join(titles)]
        for i in range(0, len(a), step):
            words = ["".join(f"{narrow(x, exponent_bits, mantissa):0{digits}x}" for x in row[i]) for row in (a, b)]
            words += [f"{column[i]:08x}" for column in columns]
            lines.append(" ".join(words))
        (folder / f"{format_name}_{depth}.txt").write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
