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
from ._arguments import fail, short
from .errors import Access, PtxError

__all__ = ["Findings", "Rule", "Sweep", "SweepRun", "explain", "rules"]


class Rule(NamedTuple):
    """A rule that kernels are held to; the errors of what breaks it have its `id` as their `rule`."""

    id: str
    kind: str
    """Of its errors."""
    severity: str
    summary: str
    """What goes wrong."""
    mend: str
    """What would be right."""
    section: str
    """Of the PTX manual."""
    checks: str
    """How closely a run is looked at for it to be found: ``off``, ``cheap`` or ``full``."""


def rules() -> list[Rule]:
    """All rules, in their order."""
    return [Rule(*row) for row in _ptx.executor_rules()]


def explain(rule: str) -> str:
    """What a rule is about: what goes wrong, the smallest kernel that shows it with its mend, the manual's section.

    print(executor.explain("P-01"))
    """
    if not isinstance(rule, str):
        fail("argument_kind", f"the rule is {short(rule)}; what fits is its name, such as 'P-01'")
    return _ptx.executor_rule_example(rule)[3]


def page(rule: str) -> str:
    """A rule's page, from the root of the repository on: ``docs/rules/P-01.md``."""
    return f"docs/rules/{rule}.md"


def page_address(rule: str) -> str | None:
    """The page's address, where ``PYPTX_DOCS`` says where the documentation stands (``https://example.org/pyptx``)."""
    base = os.environ.get("PYPTX_DOCS", "").rstrip("/")
    return f"{base}/rules/{rule}.html" if base else None


def _author_line(of: Access | PtxError) -> tuple[str, int]:
    """Where it stands; where the author's line is not known, in the PTX text."""
    return of.where or ("", of.ptx_line or 0)


def finding_key(error: PtxError) -> tuple[Any, ...]:
    """What makes two findings the same: the rule, and the author's lines of both instructions, of which an unrolled one has many.
    Of two accesses that nothing orders either may come first: those are one finding, though the rule goes by which is."""
    sides: Sequence[Access | PtxError] = error.accesses or [error]
    lines = [_author_line(side) for side in sides]
    if error.kind in ("race", "race_of_lanes"):
        return (error.kernel, error.kind, *sorted(lines))
    return (error.kernel, error.rule or error.kind, *lines)


def _as_json(error: PtxError) -> dict[str, Any]:
    file, line = error.where or ("", 0)
    return {
        "rule": error.rule,
        "page": page(error.rule) if error.rule else None,
        "kind": error.kind,
        "severity": error.severity,
        "message": error.message,
        "kernel": error.kernel,
        "file": file,
        "line": line,
        "ptx_line": error.ptx_line or 0,
        "times": error.times,
        "pairs": error.pairs,
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
    _runs: int = 0

    @classmethod
    def of(cls, found: Iterable[PtxError], suppressed: int = 0, left_out: int = 0, unused: Sequence[str] = ()) -> Findings:
        made = cls(found)
        made.suppressed, made.left_out, made.unused_suppressions = suppressed, left_out, list(unused)
        return made

    def _add(self, found: Iterable[PtxError], runs: int, suppressed: int, left_out: int, unused: Sequence[str]) -> None:
        """What further runs have found."""
        known = {finding_key(finding) for finding in self}
        self.extend(finding for finding in found if finding_key(finding) not in known)
        self.suppressed, self.left_out = self.suppressed + suppressed, self.left_out + left_out
        if runs or not self._runs:
            self.unused_suppressions = [each for each in unused if not self._runs or each in self.unused_suppressions]
        self._runs += runs

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
        known = {rule.id: rule for rule in rules()}
        ids = list(dict.fromkeys(finding.rule or finding.kind for finding in self))
        broken: list[dict[str, Any]] = []
        for rule in ids:
            told: dict[str, Any] = {"id": rule}
            if rule in known:
                told |= {"shortDescription": {"text": known[rule].summary}, "help": {"text": explain(rule)}}
                if (address := page_address(rule)) is not None:
                    told["helpUri"] = address
            broken.append(told)
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
        driver = {"name": "pyptx", "version": _ptx.version, "rules": broken}
        run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
        return json.dumps({"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]})


def _location(file: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}


def add_note(finding: PtxError, note: str) -> None:
    """Adds a note to a finding, and to the text of it."""
    finding.notes.append(note)
    finding.args = (f"{str(finding).rstrip()}\n  = {note}", *finding.args[1:])


def merged(all_findings: Iterable[tuple[SweepRun, Findings]]) -> Findings:
    """The findings of several runs, each once, with a note of the run that first showed it, and in how many it was seen."""
    first: dict[tuple[Any, ...], tuple[SweepRun, PtxError]] = {}
    seen: dict[tuple[Any, ...], set[int]] = {}
    other_order: dict[tuple[Any, ...], str] = {}
    suppressed = left_out = 0
    unused: list[str] | None = None
    for number, (run, findings) in enumerate(all_findings):
        for finding in findings:
            key = finding_key(finding)
            known = first.setdefault(key, (run, finding))[1]
            seen.setdefault(key, set()).add(number)
            if known.rule != finding.rule or _author_line(known) != _author_line(finding):
                other_order.setdefault(key, f"in the other order, too: {finding.rule}, by {run.how}")
        suppressed, left_out = max(suppressed, findings.suppressed), max(left_out, findings.left_out)
        named = findings.unused_suppressions
        unused = list(named) if unused is None else [one for one in unused if one in named]
    for key, (run, finding) in first.items():
        if key in other_order:
            add_note(finding, other_order[key])
        add_note(finding, f"first shown by: {run.how}; seen in {len(seen[key])} runs")
    return Findings.of((finding for _, finding in first.values()), suppressed, left_out, unused or [])


class SweepRun(NamedTuple):
    """One run of a sweep."""

    schedule: str
    """When asynchronous operations were performed: ``eager``, ``lazy``, ``random``; or ``systematic``."""
    seed: int
    """Of a random run; of a systematic one its number, from 1."""
    findings: int
    """How many it had."""
    outputs_differ: bool
    """Whether its outputs differ from those of the first run in any bit."""
    fault: str | None
    """What ended the run, a word of `PtxError.kind`; None: it went to its end."""

    @property
    def how(self) -> str:
        """As keywords of `simulate`, which replay it; of a systematic run, which takes those before it, those of `sweep`."""
        if self.schedule == "systematic":
            return f"systematic=True, runs={self.seed}"
        return f'schedule="{self.schedule}"' + (f", seed={self.seed}" if self.schedule == "random" else "")


class Sweep(NamedTuple):
    """What many runs of one call say."""

    runs: Sequence[SweepRun]
    findings: Findings
    """Of all runs, each rule and pair of instructions once, with the run that showed it first."""
    interrupted: bool
    """Whether Ctrl-C ended it before all runs were done."""
    exhausted: bool | None = None
    """Of a systematic sweep: whether these were all orders."""
    redundant: int = 0
    """Of a systematic sweep: runs that gave nothing new."""

    @property
    def outputs_differ(self) -> bool:
        """Whether any run's outputs differ from those of the first in any bit."""
        return any(run.outputs_differ for run in self.runs)

    def __str__(self) -> str:
        if self.exhausted is not None:
            return f"{self._say_orders()}\n\n{self.findings}"
        lines = [f"{'schedule':<12}{'seed':>6}{'findings':>10}  outputs"]
        for run in self.runs:
            seed = str(run.seed) if run.schedule == "random" else ""
            said = run.fault or ("differ" if run.outputs_differ else "the same")
            lines.append(f"{run.schedule:<12}{seed:>6}{run.findings:>10}  {said}")
        if self.interrupted:
            lines.append("ended by Ctrl-C")
        return "\n".join([*lines, "", str(self.findings)])

    def _say_orders(self) -> str:
        """What a systematic sweep has run: a line, and one for each way in which runs differ."""
        redundant = f", {self.redundant} of them redundant" if self.redundant else ""
        ended = "ended by Ctrl-C" if self.interrupted else "these are all orders" if self.exhausted else "there are more orders"
        lines = [f"{len(self.runs)} runs{redundant}; {ended}"]
        for count, what in (
            (sum(run.outputs_differ for run in self.runs), "outputs differ from those of the first"),
            (sum(run.fault is not None for run in self.runs), "a fault ends the run"),
            (sum(run.fault is None and run.findings > 0 for run in self.runs), "something is found"),
        ):
            if count:
                lines.append(f"in {count} of them {what}")
        return "\n".join(lines)

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        if self.exhausted is not None:
            return Group(self._say_orders(), self.findings)
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
        told = {"runs": runs, "outputs_differ": self.outputs_differ, "interrupted": self.interrupted}
        if self.exhausted is not None:
            told["exhausted"] = self.exhausted
        return json.dumps({**told, **found})


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


class _Runs:
    """The runs of a sweep, as they are made."""

    def __init__(self, simulate: Callable[[str, int], tuple[Any, Findings]], inputs_after: Callable[[], list[bytes]], total: int):
        self.simulate, self.inputs_after = simulate, inputs_after
        self.progress = Progress(total)
        self.runs: list[SweepRun] = []
        self.found: list[tuple[SweepRun, Findings]] = []
        self.first: list[bytes] | None = None

    def add(self, schedule: str, seed: int) -> bool:
        """One more. False: Ctrl-C ended it."""
        self.progress(len(self.runs), sum(run.findings for run in self.runs))
        fault, differs = None, False
        try:
            outputs, findings = self.simulate(schedule, seed)
        except PtxError as error:
            if error.kind == "interrupted":
                return False
            if error.kernel is None:  # not of the run: of its arguments
                raise
            fault, findings = error.kind, Findings([error])
        else:
            now = bits_of(outputs) + self.inputs_after()
            self.first = now if self.first is None else self.first
            differs = now != self.first
        run = SweepRun(schedule, seed, len(findings), differs, fault)
        self.runs.append(run)
        self.found.append((run, findings))
        return True


def run_all(simulate: Callable[[str, int], tuple[Any, Findings]], seeds: int, inputs_after: Callable[[], list[bytes]]) -> Sweep:
    """Runs `simulate(schedule, seed)` with each schedule; `inputs_after()` is what the arrays hold behind it."""
    all_schedules = schedules(seeds)
    made = _Runs(simulate, inputs_after, len(all_schedules))
    interrupted = False
    try:
        interrupted = not all(made.add(schedule, seed) for schedule, seed in all_schedules)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        made.progress.close()
    return Sweep(made.runs, merged(made.found), interrupted)


def run_orders(simulate: Callable[[str, int], tuple[Any, Findings]], most: int, inputs_after: Callable[[], list[bytes]]) -> Sweep:
    """Runs `simulate("systematic", number)` in each order of the threads that makes a difference, at most `most` (0: all)."""
    exploration = _ptx.Exploration.make(most)
    made = _Runs(simulate, inputs_after, most)
    interrupted = False
    try:
        while not interrupted and exploration.begin_run():
            try:
                interrupted = not made.add("systematic", len(made.runs) + 1)
            finally:
                exploration.end_run()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        made.progress.close()
    if exploration.diverged():
        fail(
            "bad_setting",
            "a run did not repeat what the one before it did with the same order of threads; what fits is a call whose launches "
            "go by its arrays alone, not by a clock or by numbers that it draws",
        )
    return Sweep(made.runs, merged(made.found), interrupted, exploration.exhausted(), exploration.redundant())
