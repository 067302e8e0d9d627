"""Steps: commands that run quietly into a log, one line each on the terminal, the log's tail when they fail."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

PROGRESS = re.compile(r"\[\d+/\d+\]")  # ninja's counter
TAIL = 80  # lines of a log that a failure shows
HEARTBEAT = 30.0  # seconds between signs of life when no terminal is there to redraw


class Failed(Exception):
    """A step that did not work: what to tell the person who ran it."""


def paint(code: str, text: str) -> str:
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def output(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What a command that takes no time prints, without a step of its own; its error output goes into the failure."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"`{' '.join(words)}` ended with {done.returncode}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return done.stdout


class Console:
    """Shows the steps that run and those that ran. Steps may run side by side in several threads."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._began = time.monotonic()
        self._running: dict[str, float] = {}
        self._took: dict[str, float] = {}
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.RLock()
        self._stopped = False
        self._drawn = False  # a status line stands on the terminal
        threading.Thread(target=self._redraw, daemon=True).start()

    def line(self, text: str) -> None:
        with self._lock:
            self._erase()
            print(text, flush=True)

    def step(
        self, title: str, *commands: Sequence[str | Path], env: Mapping[str, str] | None = None, fine: Sequence[int] = (0,)
    ) -> str:
        """Runs the commands one after another and returns what they printed. Raises Failed with the end of it when an exit
        status is not among the fine ones."""
        log = self._log(title)
        with self._shown(title), log.open("wb") as out:
            for command in commands:
                argv = [str(word) for word in command]
                out.write(f"$ {' '.join(argv)}\n".encode())
                out.flush()
                if (code := self._run(argv, out, env)) not in fine:
                    raise Failed(self._explain(title, log, argv[0], code))
        return log.read_text(errors="replace")

    def table(self) -> list[str]:
        """Where the time went: the steps that took longest. Those that ran side by side count each for itself."""
        longest = sorted(self._took.items(), key=lambda step: -step[1])
        rows = [f"  {title:<58} {seconds:7.0f} s" for title, seconds in longest if seconds >= 1]
        return ["seconds of each step:", *rows, f"  {'in all':<58} {time.monotonic() - self._began:7.0f} s"]

    def together(self, *jobs: Callable[[], object]) -> None:
        """Runs the jobs side by side; when one fails, the others' commands are ended and the failure is raised."""
        with ThreadPoolExecutor(len(jobs)) as pool:
            futures = [pool.submit(job) for job in jobs]
            done, _ = wait(futures, return_when=FIRST_EXCEPTION)
            failure = next((future.exception() for future in done if future.exception()), None)
            if failure:
                self._stop()
        self._stopped = False
        if failure:
            raise failure

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._processes:
                process.terminate()

    def _run(self, argv: Sequence[str], out: object, env: Mapping[str, str] | None) -> int:
        with self._lock:
            if self._stopped:
                raise Failed("")
            try:
                process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=env)  # type: ignore[call-overload]
            except OSError:
                return 127
            self._processes.add(process)
        code: int = process.wait()
        with self._lock:
            self._processes.discard(process)
            if code != 0 and self._stopped:
                raise Failed("")
        return code

    @staticmethod
    def _explain(title: str, log: Path, program: str, code: int) -> str:
        tail = log.read_text(errors="replace").splitlines()[-TAIL:]
        what = f"`{program}` is not there" if code == 127 else f"`{program}` ended with {code}"
        return "\n".join(["", *(f"    {line}" for line in tail), "", f"{title}: {what}. The whole log: {os.path.relpath(log)}"])

    def _log(self, title: str) -> Path:
        self.logs.mkdir(parents=True, exist_ok=True)
        return self.logs / (re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") + ".log")

    @contextlib.contextmanager
    def _shown(self, title: str) -> Iterator[None]:
        start = time.monotonic()
        with self._lock:
            self._running[title] = start
        mark = paint("32", "✓")
        try:
            yield
        except BaseException as failure:
            mark = paint("33", "–") if isinstance(failure, Failed) and not str(failure) else paint("31", "✗")
            raise
        finally:
            with self._lock:
                del self._running[title]
                self._took[title] = time.monotonic() - start
                self.line(f"  {mark} {title:<58} {self._took[title]:7.1f} s")

    def _status(self) -> str:
        now = time.monotonic()
        parts = []
        for title, start in self._running.items():
            counters = PROGRESS.findall(self._tail(self._log(title)))
            parts.append(f"{title} {counters[-1] if counters else ''} {now - start:.0f} s".replace("  ", " "))
        return "  … " + "   ·   ".join(parts) if parts else ""

    @staticmethod
    def _tail(log: Path) -> str:
        try:
            with log.open("rb") as file:
                file.seek(max(0, log.stat().st_size - 4096))
                return file.read().decode(errors="replace")
        except OSError:
            return ""

    def _erase(self) -> None:
        if self._drawn:
            print("\r\033[K", end="", flush=True)
            self._drawn = False

    def _redraw(self) -> None:
        last = time.monotonic()
        while True:
            time.sleep(0.2)
            with self._lock:
                status = self._status()
                if sys.stdout.isatty():
                    self._erase()
                    if status:
                        print(paint("2", status[: os.get_terminal_size().columns - 1]), end="", flush=True)
                        self._drawn = True
                elif status and time.monotonic() - max(last, *self._running.values()) > HEARTBEAT:
                    last = time.monotonic()
                    print(status, flush=True)
