"""The command line as its user calls it: `python -m pyptx`, exit codes, streams, JSON."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import pyptx
from pyptx import cli

GOOD = """.version 8.5
.target sm_90a
.address_size 64

.visible .entry f()
{
\tret;
}
"""
BAD = GOOD.replace("\tret;", "\t.reg .f32 %f<2>;\n\tfma.f32 %f1, %f0, %f0, %f0;\n\tret;")


def run(*words: object, text: str | bytes | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    variables = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1]), **environment}
    command = [sys.executable, "-m", "pyptx", *map(str, words)]
    data = text.encode() if isinstance(text, str) else text
    done = subprocess.run(command, input=data, capture_output=True, env=variables, check=False)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.ptx"
    path.write_text(GOOD)
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.ptx"
    path.write_text(BAD)
    return path


def test_check_of_a_good_file(good: Path) -> None:
    done = run("check", good)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no findings in 1 file\n", "")


def test_check_of_a_bad_file(bad: Path) -> None:
    done = run("check", bad)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("error: ") and lines[0].endswith("  [missing_modifier]")
    assert lines[1:4] == [f" --> {bad}:8:2", "8 |     fma.f32 %f1, %f0, %f0, %f0;", "  |     ^~~~~~~"]
    assert "error" in lines[-1] and "\x1b" not in done.stdout


def test_check_reads_the_standard_input() -> None:
    assert run("check", "-", text=GOOD).returncode == 0
    done = run("check", "-", text=BAD)
    assert done.returncode == 1 and "--> <stdin>:8:2" in done.stdout


def test_check_for_another_target(good: Path) -> None:
    assert run("check", good, "--target=sm_80").returncode == 0
    done = run("check", good, "--target", "sm_nine")
    assert (done.returncode, done.stdout) == (2, "") and "`sm_nine` is not a target of PTX" in done.stderr


def test_json(good: Path, bad: Path, tmp_path: Path) -> None:
    done = run("check", "--json", good, bad, tmp_path / "absent.ptx")
    assert done.returncode == 2 and "no such file" in done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"files", "findings", "counts"}
    assert [(file["file"], file["errors"] > 0) for file in document["files"]] == [
        (str(good), False), (str(bad), True), (str(tmp_path / "absent.ptx"), False),
    ]  # fmt: skip
    assert "no such file" in document["files"][2]["unreadable"]
    for finding in document["findings"]:
        assert set(finding) == {"kind", "severity", "message", "file", "line", "column", "notes", "places"}
        assert finding["severity"] in ("error", "warning", "note") and finding["file"] == str(bad)
    first = next(finding for finding in document["findings"] if finding["severity"] == "error")
    assert (first["kind"], first["line"], first["column"]) == ("missing_modifier", 8, 2)
    severities = [finding["severity"] for finding in document["findings"]]
    assert document["counts"] == {"files": 3, "errors": severities.count("error"), "warnings": severities.count("warning")}


def test_sarif_and_github(good: Path, bad: Path) -> None:
    done = run("check", "--format", "sarif", good, bad)
    (log,) = json.loads(done.stdout)["runs"]
    ids = [rule["id"] for rule in log["tool"]["driver"]["rules"]]
    for result in log["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"] and result["level"] in ("error", "warning", "note")
        (place,) = (location["physicalLocation"] for location in result["locations"])
        assert place["artifactLocation"]["uri"] == str(bad)
    first = next(result for result in log["results"] if result["level"] == "error")
    assert first["ruleId"] == "missing_modifier" and "\nform: fma.rnd" in first["message"]["text"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 8, "startColumn": 2, "endColumn": 9}

    lines = run("check", "--format", "github", good, bad).stdout.splitlines()
    assert len(lines) == len(log["results"])
    assert any(line.startswith(f"::error file={bad},line=8,col=2,title=missing_modifier::") for line in lines)
    assert run("check", "--format", "yaml", good).returncode == 2


def test_print(good: Path, tmp_path: Path) -> None:
    untidy = GOOD.replace("\tret;", "    ret  ; // é")
    assert run("print", "-", text=untidy).stdout == GOOD
    to = tmp_path / "out.ptx"
    assert run("print", good, "-o", to).stdout == "" and to.read_text() == GOOD
    done = run("print", "-", text="not valid ptx")
    assert (done.returncode, done.stdout) == (1, "") and "[syntax]" in done.stderr


def test_isa() -> None:
    assert "fma.rnd{.ftz}{.sat}.f32 d, a, b, c" in run("isa", "fma.rn.f32").stdout
    assert "Floating Point Instructions" in run("isa").stdout
    done = run("isa", "fmaa")
    assert done.returncode == 2 and "`fma`" in done.stderr


@pytest.mark.parametrize(
    ("content", "said"), [(b"\x7fELF\x02", "it is an ELF file, not PTX"), (b"a\x00", "byte 1 is zero"), (b"\xff\xfe.", "UTF-16")]
)
def test_what_is_no_text(content: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "junk"
    path.write_bytes(content)
    done = run("check", path)
    assert (done.returncode, done.stdout) == (2, "") and said in done.stderr


def test_folders_and_unreadable_files(good: Path, tmp_path: Path) -> None:
    assert run("check", tmp_path).stdout == "no findings in 1 file\n"
    assert "it is a folder" in run("print", tmp_path).stderr
    if os.geteuid() != 0:  # root reads everything
        good.chmod(0)
        done = run("check", good)
        good.chmod(stat.S_IRUSR | stat.S_IWUSR)
        assert done.returncode == 2 and "permission denied" in done.stderr


def test_bytes_that_are_not_utf8_are_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "latin1.ptx"
    path.write_bytes(GOOD.replace("ret;", "ret; // \xe9").encode("latin-1"))
    assert run("check", path).returncode == 0
    path.write_bytes(GOOD.encode() + b"\xff\xfe\n")
    done = run("check", "--json", path)
    assert done.returncode == 1 and json.loads(done.stdout)["counts"]["errors"] >= 1


def test_usage() -> None:
    assert run().returncode == 2
    for words in (("help",), ("--help",), ("check", "--help")):
        done = run(*words)
        assert done.returncode == 0 and "pyptx check FILE|FOLDER…" in done.stdout
    assert "--cmake-dir" in run("help").stdout
    assert "did you mean `check`?" in run("chek").stderr
    assert run("--version").stdout.strip() == pyptx.__version__


def test_colours_only_on_a_terminal(bad: Path) -> None:
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    variables = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1])}
    variables.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "pyptx", "check", str(bad)]
    subprocess.run(command, stdout=follower, env=variables, check=False)
    os.close(follower)
    assert b"\x1b[1;31merror\x1b[0m" in os.read(leader, 1 << 16)
    os.close(leader)


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1])}
    command = f"{sys.executable} -m pyptx isa | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert done.stderr == "" and done.stdout.count("\n") == 1


@pytest.mark.parametrize("words", ["isa ld", "help", "--cmake-dir", "kernels --help"])
@pytest.mark.parametrize(("stream", "why"), [("/dev/full", "No space left on device"), ("&-", "it is closed")])
def test_a_standard_output_that_takes_nothing_is_no_traceback(words: str, stream: str, why: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1])}
    command = f"{sys.executable} -m pyptx {words} >{stream}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    if words == "--cmake-dir" and "source tree" in done.stderr:
        return  # has nothing to print
    assert (done.returncode, done.stderr) == (2, f"pyptx: error: cannot write the standard output: {why}\n")


def test_names_of_files_are_bytes(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.ptx"
    Path(os.fsdecode(name)).write_text(GOOD)
    environment = {**os.environ, "PYTHONPATH": str(Path(pyptx.__file__).parents[1])}
    command = [os.fsencode(sys.executable), b"-m", b"pyptx", b"check", name]
    done = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"no findings in 1 file\n", b"")


def test_main_writes_to_the_streams_of_its_caller(capsys: pytest.CaptureFixture[str], bad: Path) -> None:
    assert cli.main(["check", str(bad)]) == 1
    out, err = capsys.readouterr()
    assert "[missing_modifier]" in out and err == ""
