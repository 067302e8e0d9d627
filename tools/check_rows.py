#!/usr/bin/env python3
"""Every row of the instruction table that the executor runs has run in a test: coverage that only grows.

    PTX_ROWS_RUN=FOLDER ctest …; PTX_ROWS_RUN=FOLDER pytest …; tools/check_rows.py FOLDER

Each process of the tests leaves a file of lines `37 ran popc.type  d:=.u32, a:.type` in the folder
(ptx/vgpu/machine/rows_run.hpp), one
for each row that says `exec`, by its place in the table: rows that share their opcode, or all of their text, are told apart.
"""

import sys
from pathlib import Path


def read(folder: Path) -> tuple[dict[int, str], set[int]]:
    """The rows that the executor runs, by their place in the table, and those that ran in some process."""
    forms: dict[int, str] = {}
    ran: set[int] = set()
    for path in sorted(folder.glob("*.rows")):
        for line in path.read_text().splitlines():
            place, verdict, form = line.split(" ", 2)
            if forms.setdefault(int(place), form) != form:
                raise SystemExit(f"coverage: {path} is of another table than the other files: run all tests again")
            if verdict == "ran":
                ran.add(int(place))
    return forms, ran


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    forms, ran = read(Path(arguments[0]))
    if not forms:
        print(f"coverage: no test has left its rows in {arguments[0]}")
        return 1
    for place, form in sorted(forms.items()):
        if place not in ran:
            print(f"coverage: row {place}, `{form.split(';')[0].strip()}`, ran in no test of the executor")
    print(f"{len(ran)} of {len(forms)} executed rows ran in a test of the executor")
    return 0 if len(ran) == len(forms) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
