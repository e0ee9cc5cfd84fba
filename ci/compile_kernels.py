"""Compile the kernels for every supported architecture with NVRTC; needs no GPU.

    python ci/compile_kernels.py                            # all files
    python ci/compile_kernels.py --arch 90 bfs_fused.cu     # all specialisations of some, for some
    python ci/compile_kernels.py --all                      # all of everything, in six times the time
    python ci/compile_kernels.py --new                      # as CI: texts that are new since the commit in
                                                            # ci/turn.toml, and a sixth of the others

The specialisations of bfs_fused.cu, which take most of the time, are compiled for one architecture each; the
architectures take turns.  Those of every other file are compiled for sm_90, for which the kernels are tuned,
and for one of the other architectures: each compiles every file, but of a file with few specialisations only
some.  Of the sources only a warp's sum in bfs_fused.cu depends on the architecture, and all architectures
have the same registers for a block and more shared memory than is requested.

Prints a table with a row for each file, types and architecture: registers of the kernel that uses most, bytes
spilled (stored and loaded) by all of the file.  Exits with 1 if any gives an error or a warning.  NVRTC comes
with the cu12 and cu13 extras.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from cuda.bindings import nvrtc

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for a test that loads this file by its path
from choose_tests import ROOT, Turn

sys.path.insert(0, os.environ.get("KERNELS_OF", str(ROOT)))

from rapids_trav.engines.cuda.bfs import fused
from rapids_trav.engines.cuda.programs import link
from rapids_trav.engines.cuda.runtime import loader, modules
from rapids_trav.engines.multigpu import local_cuda
from rapids_trav.engines.multigpu.one_launch import launch as one_launch
from rapids_trav.graph500 import cuda as graph500

SHARES = 6  # of what has not changed, which take turns
ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
TUNED_FOR = 90
LONGEST = fused.FILE
SPECIALISATIONS = (
    *loader.SPECIALISATIONS,
    *fused.SPECIALISATIONS,
    *graph500.SPECIALISATIONS,
    *link.SPECIALISATIONS,
    *local_cuda.SPECIALISATIONS,
    *one_launch.SPECIALISATIONS,
)
_INFORMATION = re.compile(r"^ptxas info|bytes stack frame|^\s*$")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes spill (?:stores|loads)")


@dataclass(frozen=True)
class Compiled:
    """Result of NVRTC for one file and one architecture."""

    file: str
    defines: loader.Defines
    architecture: int
    registers: int
    spilled: int
    complaints: list[str]

    def row(self) -> str:
        defines = " ".join(f"{name}={value}" for name, value in self.defines)
        state = "failed" if self.complaints else "ok"
        numbers = f"sm_{self.architecture:<4} {self.registers:9} {self.spilled:8}"
        return f"{self.file:18} {numbers}  {state:6}  {defines}"


def compile_one(file: str, defines: loader.Defines, architecture: int) -> Compiled:
    """Compile one file to machine code, as a call will."""
    text = loader.source(file, defines).encode()
    program = _checked(nvrtc.nvrtcCreateProgram(text, file.encode(), 0, [], []))
    options = [f"-arch=sm_{architecture}".encode(), *map(str.encode, modules.OPTIONS), b"--ptxas-options=-v"]
    if file in link.FILES:  # the functions of a vertex program are linked in later
        options.append(b"-rdc=true")
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * (
        1 + _checked(nvrtc.nvrtcGetProgramLogSize(program))
    )  # one byte alone would be a shared object
    _checked(nvrtc.nvrtcGetProgramLog(program, log))
    _checked(nvrtc.nvrtcDestroyProgram(program))
    lines = log.decode().rstrip("\0 ").splitlines()
    complaints = [line for line in lines if not _INFORMATION.search(line)]
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS and not complaints:
        complaints = [str(status)]
    registers = max((int(count) for count in _REGISTERS.findall("\n".join(lines))), default=0)
    spilled = sum(int(count) for count in _SPILLS.findall("\n".join(lines)))
    return Compiled(file, defines, architecture, registers, spilled, complaints)


def jobs(wanted: Sequence[int], everything: bool) -> list[tuple[str, loader.Defines, int]]:
    """Return files, defines and architectures, the longest compilations first."""
    tuned = TUNED_FOR if TUNED_FOR in wanted else wanted[0]
    others = [architecture for architecture in wanted if architecture != tuned]
    found: list[tuple[str, loader.Defines, int]] = []
    for file, group in groupby(sorted(SPECIALISATIONS, key=_file), key=_file):
        entries = list(group)
        if everything:
            found += [(*entry, architecture) for entry in entries for architecture in wanted]
            continue
        if file != LONGEST:
            found += [(*entry, tuned) for entry in entries]
        if in_turn := wanted if file == LONGEST else others:
            # Few specialisations begin again, until each of the architectures has one.
            n = max(len(entries), len(in_turn))
            found += [(*entries[i % len(entries)], _in_turn(in_turn, i)) for i in range(n)]
    return sorted(found, key=lambda job: _file(job) != LONGEST)


def new_jobs(chosen: list[tuple[str, loader.Defines, int]]) -> list[tuple[str, loader.Defines, int]]:
    """Return the jobs whose text has changed since the commit in ci/turn.toml, and a share of the others."""
    turn = Turn.read()
    if turn is None:
        return chosen
    before = digests_at(turn.since)
    new = [digest(job) not in before for job in chosen]
    print(
        f"{sum(new)} texts are new since {turn.since[:8]}; of the rest share {turn.turn % SHARES} of {SHARES}"
    )
    return [job for i, job in enumerate(chosen) if new[i] or i % SHARES == turn.turn % SHARES]


def digest(job: tuple[str, loader.Defines, int]) -> str:
    """Return a digest of what NVRTC is given."""
    file, defines, architecture = job
    return hashlib.sha256(f"{architecture} {loader.source(file, defines)}".encode()).hexdigest()


def digests_at(commit: str) -> set[str]:
    """Return the digests of all jobs at a commit; none if this script cannot read its kernels."""
    with tempfile.TemporaryDirectory() as folder:
        tree = subprocess.run(
            ["git", "archive", commit, "rapids_trav", "kernels"], cwd=ROOT, capture_output=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=tree.stdout, check=True)
        command = [sys.executable, __file__, "--digests"]
        done = subprocess.run(
            command, env=os.environ | {"KERNELS_OF": folder}, capture_output=True, text=True
        )
    return set(done.stdout.split()) if done.returncode == 0 else set()


def _file(job: tuple) -> str:
    return job[0]


def _in_turn(architectures: Sequence[int], i: int) -> int:
    """Return one in turn, each round from another on, so that none gets every second of the defines."""
    return architectures[(i + i // len(architectures)) % len(architectures)]


def _checked(result: tuple):
    status, *values = result
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC says {status}")
    return values[0] if values else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="kernel files, by default all")
    parser.add_argument("--arch", type=int, action="append", help="compute capability such as 90; repeatable")
    parser.add_argument("--all", action="store_true", help="share nothing out, as with --arch")
    parser.add_argument("--new", action="store_true", help="what has changed, and a share of the others")
    parser.add_argument(
        "--digests", action="store_true", help="print digests of the texts and compile nothing"
    )
    arguments = parser.parse_args()

    supported = set(_checked(nvrtc.nvrtcGetSupportedArchs()))
    wanted = arguments.arch or ARCHITECTURES
    known = [architecture for architecture in wanted if architecture in supported]
    chosen = [
        job
        for job in jobs(known, arguments.all or arguments.arch is not None)
        if not arguments.files or job[0] in arguments.files
    ]
    if arguments.digests:
        print(*map(digest, chosen), sep="\n")
        return 0
    if arguments.new:
        chosen = new_jobs(chosen)
    print(f"{'file':18} {'arch':7} {'registers':>9} {'spilled':>8}  {'':6}  defines")
    failures = 0
    with ThreadPoolExecutor() as pool:
        for compiled in pool.map(lambda job: compile_one(*job), chosen):
            print(compiled.row(), flush=True)
            for line in compiled.complaints:
                print(f"    {line}")
            failures += bool(compiled.complaints)
    version = ".".join(str(part) for part in nvrtc.nvrtcVersion()[1:])
    skipped = sorted(set(wanted) - supported)
    print(f"{len(chosen)} compiled with NVRTC {version}, {failures} failed", end="")
    print(f"; it does not know {skipped}" if skipped else "")
    return 1 if failures or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
