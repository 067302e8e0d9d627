#!/usr/bin/env python3
"""Makes the corpus: compiles sources/, collects hand/, asks ptxas about each file, packs corpus.tar.xz.

    python3 tests/corpus/make.py                  everything, incremental
    python3 tests/corpus/make.py --only nvcc      one producer; the archive is then not written
    python3 tests/corpus/make.py --verify         the archive against the manifest; with ptxas on PATH, each file too

Needs nvcc and ptxas 13.0 on PATH for `nvcc`, clang-16 for `llvm`, and for the rest a Python (--python) with the packages
that requirements.txt names, for `jax` one of its own (--python-jax). Compilers run in --scratch, since debug sections and
messages carry the folder's name; what they made is kept there, so that a second run is quick.
What a producer cannot make here, or ptxas refuses, is left out and said in skipped.tsv.
"""

import argparse
import concurrent.futures
import hashlib
import io
import lzma
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass

here = pathlib.Path(__file__).resolve().parent
sources = here / "sources"
python_producers = ("triton", "numba", "nvrtc", "warp", "jax")
columns = ("name", "producer", "version", "source", "flags", "target", "ptxas_flags", "sha256", "bytes")


@dataclass
class Item:
    """One file of the corpus and where it came from."""

    name: str
    producer: str
    version: str
    source: str
    flags: str
    text: bytes
    target: str = ""
    ptxas_flags: str = ""

    def row(self):
        digest = hashlib.sha256(self.text).hexdigest()
        return (
            self.name,
            self.producer,
            self.version,
            self.source,
            self.flags,
            self.target,
            self.ptxas_flags,
            digest,
            str(len(self.text)),
        )


class Maker:
    def __init__(self, options):
        self.scratch = pathlib.Path(options.scratch)
        self.python = {name: self.neutral("python", options.python) for name in python_producers}
        self.python["jax"] = self.neutral("python-jax", options.python_jax or options.python)
        self.jobs = options.jobs
        self.cache = self.scratch / ".cache"
        self.cache.mkdir(parents=True, exist_ok=True)
        self.skipped = []
        version = ["ptxas", "--version"]
        self.ptxas = subprocess.run(version, capture_output=True, check=True).stdout if shutil.which("ptxas") else b""

    def neutral(self, name, python):
        """The same Python under a folder of the scratch place: its packages' paths get into debug sections."""
        environment = pathlib.Path(python).absolute().parent.parent
        if not (environment / "pyvenv.cfg").exists():
            return python
        link = self.scratch / name
        link.unlink(missing_ok=True)
        link.symlink_to(environment)
        return str(link / "bin" / "python")

    def skip(self, name, reason):
        reason = " ".join(reason.split())[:300]
        self.skipped.append((name, reason))
        print(f"skipped {name}: {reason}", flush=True)

    def run(self, command, key, where, timeout=900):
        """The output file of a command that writes {out}; kept under a digest of the command and what it reads."""
        kept = self.cache / key
        if kept.exists():
            return kept.read_bytes(), ""
        out = self.cache / (key + ".new")
        command = [str(out) if word == "{out}" else word for word in command]
        try:
            done = subprocess.run(
                command, cwd=where, capture_output=True, text=True, errors="replace", timeout=timeout, check=False
            )
        except subprocess.TimeoutExpired:
            return None, f"no end after {timeout} s"
        if done.returncode != 0 or not out.exists():
            out.unlink(missing_ok=True)
            said = [
                line for line in (done.stderr + done.stdout).splitlines() if "error" in line.lower() or "fatal" in line.lower()
            ]
            return None, (said or (done.stderr + done.stdout).splitlines() or ["no output"])[0]
        out.rename(kept)
        return kept.read_bytes(), ""

    def all(self, function, work):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return [result for result in pool.map(lambda one: function(*one), work) if result is not None]

    # Compilers that read one file a time: the first lines of a source name its variants, `// corpus: TARGET FLAGS`.

    def variants(self, folder):
        for source in sorted(folder.iterdir()):
            if source.name.startswith("_") or not source.is_file():
                continue
            text = source.read_text()
            for line in re.findall(r"^(?://|;|#) corpus: (.*)$", text, re.M):
                target, *flags = shlex.split(line)
                yield source, text, target, flags

    def nvcc(self):
        version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"V([\d.]+)", version)[1]
        folder = self.copied("cuda")
        subprocess.run([sys.executable, "_cuda_ptx_calls.py", shutil.which("nvcc"), "."], cwd=folder, check=True)

        def one(source, text, target, flags):
            name = f"nvcc-{source.stem}-{target}{slug(flags)}.ptx"
            command = ["nvcc", "-ptx", "-w", "-std=c++17", f"-arch={target}", *flags, source.name, "-o", "{out}"]
            return self.compiled(name, "nvcc", version, f"cuda/{source.name}", command, text, folder)

        return self.all(one, list(self.variants(folder)))

    def llvm(self):
        version = subprocess.run(["clang-16", "--version"], capture_output=True, text=True, check=True).stdout
        version = re.search(r"version ([\d.]+)", version)[1]
        folder = self.copied("llvm")

        def one(source, text, target, flags):
            name = f"llvm-{source.stem}-{target}{slug(flags)}.ptx"
            if source.suffix == ".cu":
                to = ["-x", "cuda", "--cuda-device-only", "-nocudainc", "-nocudalib", f"--cuda-gpu-arch={target}"]
            else:
                to = ["--target=nvptx64-nvidia-" + ("nvcl" if source.suffix == ".cl" else "cuda"), f"-march={target}"]
            command = [
                "clang-16",
                "-S",
                "-w",
                *to,
                "-Xclang",
                "-target-feature",
                "-Xclang",
                "+ptx78",
                *flags,
                source.name,
                "-o",
                "{out}",
            ]
            return self.compiled(name, "llvm", version, f"llvm/{source.name}", command, text, folder)

        return self.all(one, list(self.variants(folder)))

    def copied(self, name):
        folder = self.scratch / name
        if folder.exists():
            shutil.rmtree(folder)
        shutil.copytree(sources / name, folder, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def compiled(self, name, producer, version, source, command, text, folder):
        key = hashlib.sha256("\0".join([*command, version, text]).encode()).hexdigest()
        start = time.monotonic()
        out, problem = self.run(command, key, folder)
        took = time.monotonic() - start
        if out is None:
            return self.skip(name, problem)
        if took > 20:
            print(f"{name}: {took:.0f} s", flush=True)
        flags = " ".join(shlex.quote(word) for word in command[1:-3])
        return Item(name, producer, version, source, flags, out)

    # Producers that are Python packages: sources/NAME/_build.py writes NAME.ptx files and an index.

    def from_python(self, producer):
        folder = self.copied(producer)
        listed = "import importlib.metadata as m; print(sorted((d.metadata['Name'], d.version) for d in m.distributions()))"
        installed = subprocess.run([self.python[producer], "-c", listed], capture_output=True, check=True).stdout
        digest = hashlib.sha256(installed + self.python[producer].encode())
        for source in sorted(folder.iterdir()):
            digest.update(source.read_bytes() if source.is_file() else b"")
        kept = self.cache / f"{producer}-{digest.hexdigest()}"
        if not kept.exists():
            out = folder / "out"
            out.mkdir()
            done = subprocess.run([self.python[producer], "_build.py", str(out)], cwd=folder, check=False)
            if done.returncode != 0:
                self.skip(producer, f"_build.py ended with {done.returncode}")
                return []
            out.rename(kept)
        items = []
        for line in (kept / "index.tsv").read_text().splitlines():
            name, version, source, flags, problem = line.split("\t")
            if problem:
                self.skip(name, problem)
            else:
                items.append(Item(name, producer, version, f"{producer}/{source}", flags, (kept / name).read_bytes()))
        return items

    def hand(self):
        for path in sorted((here / "hand").glob("*.ptx")):
            yield Item(f"hand-{path.name}", "hand", "", f"../hand/{path.name}", "", path.read_bytes())

    def accepted(self, item):
        """Ask ptxas; some files need -c since they leave names to a linker. The head of a hand-written one may name flags."""
        target = re.search(rb"\.target\s+(\w+)", without_comments(item.text))
        if not target:
            return self.skip(item.name, "no .target")
        item.target = target[1].decode()
        asked = re.search(rb"^// ptxas: (.*)$", item.text, re.M)
        choices = [asked[1].decode().strip()] if asked else ["", "-c"]
        problem = ""
        for flags in choices:
            command = ["ptxas", f"-arch={item.target}", *shlex.split(flags)]
            key = hashlib.sha256("\0".join(command).encode() + self.ptxas + item.text).hexdigest() + ".cubin"
            verdict = self.cache / (key + ".ok")
            if verdict.exists():
                item.ptxas_flags = flags
                return item
            source = self.cache / (key + ".ptx")
            source.write_bytes(item.text)
            cubin, said = self.run([*command, str(source), "-o", "{out}"], key, self.scratch)
            source.unlink()
            if cubin is not None:
                (self.cache / key).unlink()
                verdict.write_text("")
                item.ptxas_flags = flags
                return item
            problem = problem or re.sub(r"ptxas \S+\.ptx, ", "", said)
        return self.skip(item.name, "ptxas: " + problem)

    def distinct(self, items):
        """Drop a file that differs from an earlier one in comments, spaces, .version or .target alone."""
        seen = {}
        for item in items:
            core = (
                re.sub(rb"\.(version|target)[^\n]*", b"", without_comments(item.text)) if item.producer != "hand" else item.text
            )
            core = hashlib.sha256(b" ".join(core.split())).digest()
            if core in seen:
                self.skip(item.name, f"same as {seen[core]}")
            else:
                seen[core] = item.name
                yield item


def slug(flags):
    words = re.sub(r"[^A-Za-z0-9_.]+", "_", " ".join(flags)).strip("_")
    return f"-{words}" if words else ""


def without_comments(text):
    return re.sub(rb"//[^\n]*|/\*.*?\*/", b" ", text, flags=re.S)


def opcodes(text):
    """The full opcodes of a file, `ld.global.nc.v2.f32`; a scan good enough for counting, no parser."""
    text = re.sub(rb'"[^"\n]*"', b'""', without_comments(text)).decode("utf-8", "replace")
    text = re.sub(r"\.section.*?\{.*?\}", " ", text, flags=re.S)
    text = re.sub(r"\.(loc|file|target)\s[^\n]*|\.(version|target|address_size)\s+\S+", " ; ", text)
    before = r"(?:[\s{}]|[\w$%]+\s*:(?!:))*(?:@\s*!?\s*[\w$%]+\s+)?"
    for statement in text.split(";"):
        # A function's head ends at its brace; what stands before it is no instruction.
        if re.search(r"\.(entry|func)\b", statement):
            statement = statement[statement.rfind("{") + 1 :]
        found = re.match(before + r"([a-z][a-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_]+)*)(?=\s|$|\()(?!\s*:)", statement)
        if found:
            yield found[1]


def pack(items, path):
    """A deterministic archive: sorted, no times, no owners."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for item in items:
            member = tarfile.TarInfo(f"corpus/{item.name}")
            member.size, member.mode, member.mtime = len(item.text), 0o644, 0
            archive.addfile(member, io.BytesIO(item.text))
    path.write_bytes(lzma.compress(raw.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    return len(raw.getvalue())


def counts(items):
    full = set()
    for item in items:
        full.update(opcodes(item.text))
    roots = {name.split(".")[0] for name in full}
    size = sum(len(item.text) for item in items)
    lines = [f"{len(items)} files, {size} bytes, {len(roots)} opcodes, {len(full)} full opcodes (with their modifiers)", ""]
    producers = sorted({item.producer for item in items})
    lines += ["| target | " + " | ".join(producers) + " | all |", "| --- |" + " ---: |" * (len(producers) + 1)]
    for target in [*sorted({item.target for item in items}, key=by_number), "all"]:
        here_all = [item for item in items if target in ("all", item.target)]
        cells = [sum(item.producer == producer for item in here_all) for producer in producers]
        lines.append(f"| {target} | " + " | ".join(str(cell or "") for cell in cells) + f" | {len(here_all)} |")
    return lines


def by_number(target):
    return int(re.search(r"\d+", target)[0]), target


def verify(options):
    rows = [line.split("\t") for line in (here / "manifest.tsv").read_text().splitlines()][1:]
    maker = Maker(options)
    wrong = 0
    with tarfile.open(here / "corpus.tar.xz") as archive:
        texts = {member.name.removeprefix("corpus/"): archive.extractfile(member).read() for member in archive}
    items = []
    for row in rows:
        entry = dict(zip(columns, row, strict=True))
        text = texts.pop(entry["name"], b"")
        if hashlib.sha256(text).hexdigest() != entry["sha256"]:
            print(f"{entry['name']}: not the bytes of the manifest")
            wrong += 1
        items.append(
            Item(entry["name"], entry["producer"], entry["version"], entry["source"], entry["flags"], text, entry["target"])
        )
    for name in texts:
        print(f"{name}: not in the manifest")
        wrong += 1
    if shutil.which("ptxas"):
        wrong += len(items) - len(maker.all(maker.accepted, [(item,) for item in items]))
    print(f"{len(items)} files, {wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", help="a producer: nvcc, llvm, hand, " + ", ".join(python_producers))
    parser.add_argument("--scratch", default="/src", help="where compilers run (default /src)")
    parser.add_argument("--python", default=sys.executable, help="a Python with the packages of requirements.txt")
    parser.add_argument("--python-jax", help="another Python for jax, whose packages ask for a newer compiler")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--flat", help="write the files, unpacked, to this folder too")
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    os.nice(10)
    if options.verify:
        return verify(options)
    maker = Maker(options)
    items = []
    for producer in options.only or ["hand", "nvcc", "llvm", *python_producers]:
        if producer in python_producers:
            made = maker.from_python(producer) if (sources / producer).exists() else []
        else:
            made = list(getattr(maker, producer)())
        print(f"{producer}: {len(made)} files made", flush=True)
        items += made
    items = list(maker.distinct(items))
    items = maker.all(maker.accepted, [(item,) for item in items])
    items.sort(key=lambda item: item.name)
    if options.flat:
        flat = pathlib.Path(options.flat)
        flat.mkdir(parents=True, exist_ok=True)
        names = {item.name for item in items}
        for old in flat.glob("*.ptx"):
            if old.name not in names and not options.only:
                old.unlink()
        for item in items:
            (flat / item.name).write_bytes(item.text)
    print("\n".join(counts(items)))
    if options.only:
        return 0
    unpacked = pack(items, here / "corpus.tar.xz")
    print(f"archive {(here / 'corpus.tar.xz').stat().st_size} bytes, unpacked {unpacked}")
    (here / "manifest.tsv").write_text("\n".join("\t".join(row) for row in [columns, *(item.row() for item in items)]) + "\n")
    (here / "skipped.tsv").write_text("".join(f"{name}\t{reason}\n" for name, reason in sorted(maker.skipped)))
    (here / "counts.md").write_text("\n".join(counts(items)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
