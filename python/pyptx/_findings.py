"""What runs on the executor have found, as a list that prints, and as JSON and SARIF; and what many runs of one call say."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from . import _ptx
from .errors import PtxError

__all__ = ["Finding", "Findings", "Sweep", "SweepRun", "finding_key", "merged"]

Finding = PtxError


def finding_key(error: PtxError) -> tuple[Any, ...]:
    """What makes two findings the same: the rule, and both instructions."""
    lines: list[int | None] = [access.ptx_line for access in error.accesses] or [error.ptx_line]
    return (error.kernel, error.rule or error.kind, error.where, *lines)


def _as_json(error: PtxError) -> dict[str, Any]:
    file, line = error.where or ("", 0)
    return {
        "rule": error.rule,
        "kind": error.kind,
        "severity": error.severity,
        "message": error.message,
        "kernel": error.kernel,
        "file": file,
        "line": line,
        "ptx_line": error.ptx_line or 0,
        "times": error.times,
        "accesses": [access.as_json() for access in error.accesses],
        "notes": list(error.notes),
    }


class Findings(list[PtxError]):
    """What was found, each rule and pair of instructions once: a list of errors and warnings (`severity`) in the order in which
    they were met. ``str()`` is the whole report."""

    suppressed: int = 0
    """How many more were found, and are not here because a suppression fits them."""
    left_out: int = 0
    """How many more were found beyond the limit."""
    unused_suppressions: Sequence[str] = ()
    """Suppressions that fitted nothing, as they were written."""

    @classmethod
    def of(cls, found: Iterable[PtxError], suppressed: int = 0, left_out: int = 0, unused: Sequence[str] = ()) -> Findings:
        made = cls(found)
        made._take(suppressed, left_out, unused)
        return made

    def _take(self, suppressed: int, left_out: int, unused: Sequence[str]) -> None:
        self.suppressed, self.left_out, self.unused_suppressions = suppressed, left_out, list(unused)

    @property
    def errors(self) -> list[PtxError]:
        """Those that are errors."""
        return [finding for finding in self if finding.severity == "error"]

    def summary(self) -> str:
        """One line: ``2 errors, 1 warning; 1 suppressed``."""
        warnings = len(self) - len(self.errors)
        said = ", ".join(
            f"{count} {word}{'' if count == 1 else 's'}"
            for count, word in ((len(self.errors), "error"), (warnings, "warning"))
            if count
        )
        parts = [said or "no findings"]
        if self.suppressed:
            parts.append(f"{self.suppressed} suppressed")
        if self.left_out:
            parts.append(f"{self.left_out} more beyond the limit")
        if self.unused_suppressions:
            parts.append("suppressions that fit nothing: " + ", ".join(self.unused_suppressions))
        return "; ".join(parts)

    def __str__(self) -> str:
        return "\n\n".join([*(str(finding).rstrip() for finding in self), self.summary()])

    def __rich__(self) -> Any:
        from rich.table import Table

        table = Table(title=self.summary(), title_justify="left")
        for column in ("rule", "where", "PTX", "what", "times"):
            table.add_column(column, justify="right" if column == "times" else "left")
        for finding in self:
            place = f"{Path(finding.where[0]).name}:{finding.where[1]}" if finding.where else ""
            table.add_row(finding.rule or finding.kind, place, str(finding.ptx_line or ""), finding.message, str(finding.times))
        return table

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(finding.rule or finding.kind)}</td><td>{escape(finding.severity)}</td>"
            f"<td><details><summary>{escape(finding.message)}</summary><pre>{escape(str(finding))}</pre></details></td></tr>"
            for finding in self
        )
        return f"<p>{escape(self.summary())}</p>" + (f"<table>{rows}</table>" if rows else "")

    def to_json(self) -> str:
        """One object: findings, each with rule, both accesses and notes; counts. `pyptx run --format json` has the same."""
        return json.dumps(
            {
                "findings": [_as_json(finding) for finding in self],
                "suppressed": self.suppressed,
                "left_out": self.left_out,
                "unused_suppressions": list(self.unused_suppressions),
            }
        )

    def to_sarif(self) -> str:
        """SARIF 2.1.0, which code hosts and editors show beside the author's lines."""
        rows = {row[0]: row for row in _ptx.executor_rules()}
        ids = list(dict.fromkeys(finding.rule or finding.kind for finding in self))
        rules = [
            {"id": rule, "shortDescription": {"text": rows[rule][3]}, "help": {"text": rows[rule][4]}}
            if rule in rows
            else {"id": rule}
            for rule in ids
        ]
        results = []
        for finding in self:
            rule = finding.rule or finding.kind
            result: dict[str, Any] = {
                "ruleId": rule,
                "ruleIndex": ids.index(rule),
                "level": finding.severity,
                "message": {"text": "\n".join([finding.message, *finding.notes])},
                "locations": [_location(*finding.where)] if finding.where else [],
            }
            if finding.places:
                result["relatedLocations"] = [
                    {**_location(file, line), "message": {"text": role}} for role, file, line in finding.places
                ]
            results.append(result)
        driver = {"name": "pyptx", "version": _ptx.version, "rules": rules}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        return json.dumps({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def _location(file: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}


def merged(all_findings: Iterable[tuple[SweepRun, Findings]]) -> Findings:
    """The findings of several runs, each once, with a note of the run that first showed it, and in how many it was seen."""
    first: dict[tuple[Any, ...], tuple[SweepRun, PtxError]] = {}
    seen: dict[tuple[Any, ...], int] = {}
    suppressed = left_out = 0
    unused: list[str] | None = None
    for run, findings in all_findings:
        for finding in findings:
            key = finding_key(finding)
            first.setdefault(key, (run, finding))
            seen[key] = seen.get(key, 0) + 1
        suppressed, left_out = max(suppressed, findings.suppressed), max(left_out, findings.left_out)
        named = findings.unused_suppressions
        unused = list(named) if unused is None else [one for one in unused if one in named]
    for key, (run, finding) in first.items():
        note = f"first shown by: {run.how}; seen in {seen[key]} runs"
        finding.notes.append(note)
        finding.args = (f"{str(finding).rstrip()}\n  = {note}", *finding.args[1:])
    return Findings.of((finding for _, finding in first.values()), suppressed, left_out, unused or [])


class SweepRun(NamedTuple):
    """One run of a sweep."""

    schedule: str
    """When asynchronous operations were performed: ``eager``, ``lazy``, ``random``."""
    seed: int
    """Of a random run."""
    findings: int
    """How many it had."""
    outputs_differ: bool
    """Whether its outputs differ from those of the first run in any bit."""
    fault: str | None
    """What ended the run, a word of `PtxError.kind`; None: it went to its end."""

    @property
    def how(self) -> str:
        """As keywords of `simulate`, which replay it."""
        return f'schedule="{self.schedule}"' + (f", seed={self.seed}" if self.schedule == "random" else "")


class Sweep(NamedTuple):
    """What many runs of one call say."""

    runs: Sequence[SweepRun]
    findings: Findings
    """Of all runs, each rule and pair of instructions once, with the run that showed it first."""
    interrupted: bool
    """Whether Ctrl-C ended it before all runs were done."""

    @property
    def outputs_differ(self) -> bool:
        """Whether any run's outputs differ from those of the first in any bit."""
        return any(run.outputs_differ for run in self.runs)

    def __str__(self) -> str:
        lines = [f"{'schedule':<12}{'seed':>6}{'findings':>10}  outputs"]
        for run in self.runs:
            seed = str(run.seed) if run.schedule == "random" else ""
            said = run.fault or ("differ" if run.outputs_differ else "the same")
            lines.append(f"{run.schedule:<12}{seed:>6}{run.findings:>10}  {said}")
        if self.interrupted:
            lines.append("ended by Ctrl-C")
        return "\n".join([*lines, "", str(self.findings)])

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        table = Table(title=f"{len(self.runs)} runs" + (", ended by Ctrl-C" if self.interrupted else ""), title_justify="left")
        for column in ("schedule", "seed", "findings", "outputs"):
            table.add_column(column)
        for run in self.runs:
            seed = str(run.seed) if run.schedule == "random" else ""
            table.add_row(run.schedule, seed, str(run.findings), run.fault or ("differ" if run.outputs_differ else "the same"))
        return Group(table, self.findings)

    def to_json(self) -> str:
        """One object: the runs, whether outputs differ, and what `Findings.to_json` has."""
        found = json.loads(self.findings.to_json())
        runs = [run._asdict() for run in self.runs]
        return json.dumps({"runs": runs, "outputs_differ": self.outputs_differ, "interrupted": self.interrupted, **found})


def schedules(seeds: int) -> list[tuple[str, int]]:
    """Completion and seed of each run of a sweep: eager, lazy, and random with each seed from 0."""
    return [("eager", 0), ("lazy", 0), *(("random", seed) for seed in range(seeds))]


def fresh(value: Any) -> Any:
    """A copy of an array or a tensor with its own memory; anything else as it is."""
    if hasattr(value, "untyped_storage"):  # torch's
        return value.detach().clone()
    copy = getattr(value, "copy", None)
    return copy() if copy is not None and hasattr(value, "__array_interface__") else value


def bits_of(outputs: Any) -> list[bytes]:
    """The bytes of an output, or of each of several."""
    import numpy as np

    found = []
    for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
        if hasattr(output, "untyped_storage"):
            import torch

            output = output.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy()
        found.append(np.ascontiguousarray(np.asarray(output)).tobytes())
    return found


class Progress:
    """A line on a terminal's standard error that says how far a sweep is, once it takes longer than half a second."""

    def __init__(self, total: int):
        self.total, self.began, self.shown = total, time.monotonic(), False
        self.wanted = sys.stderr.isatty() and os.environ.get("PYPTX_PROGRESS") != "off" and os.environ.get("TERM") != "dumb"

    def __call__(self, done: int, findings: int) -> None:
        if self.wanted and time.monotonic() - self.began > 0.5:
            self.shown = True
            print(f"\rsweep: run {done} of {self.total}, {findings} findings\033[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def run_all(simulate: Callable[[str, int], tuple[Any, Findings]], seeds: int, inputs_after: Callable[[], list[bytes]]) -> Sweep:
    """Runs `simulate(schedule, seed)` with each schedule; `inputs_after()` is what the arrays hold behind it."""
    runs: list[SweepRun] = []
    found: list[tuple[SweepRun, Findings]] = []
    first: list[bytes] | None = None
    interrupted = False
    all_schedules = schedules(seeds)
    progress = Progress(len(all_schedules))
    try:
        for done, (schedule, seed) in enumerate(all_schedules):
            progress(done, sum(run.findings for run in runs))
            fault, differs = None, False
            try:
                outputs, findings = simulate(schedule, seed)
            except PtxError as error:
                if error.kind == "interrupted":
                    interrupted = True
                    break
                if error.kernel is None:  # not of the run: of its arguments
                    raise
                fault, findings = error.kind, Findings([error])
            else:
                now = bits_of(outputs) + inputs_after()
                first = now if first is None else first
                differs = now != first
            run = SweepRun(schedule, seed, len(findings), differs, fault)
            runs.append(run)
            found.append((run, findings))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        progress.close()
    return Sweep(runs, merged(found), interrupted)
