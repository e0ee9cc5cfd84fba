"""Compiles every kernel for every supported architecture with NVRTC; needs no GPU.

    python ci/compile_kernels.py                       # all of them
    python ci/compile_kernels.py --arch 90 bfs_push.cu

Prints a table with a row for each file, types and architecture: registers of the kernel that uses most, bytes
spilled (stored and loaded) by all of the file.  Exits with 1 if any gives an error or a warning.  NVRTC comes
with the cu12 and cu13 extras.
"""

from __future__ import annotations

import argparse
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cuda.bindings import nvrtc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rapids_trav.engines.cuda import fused, link, loader
from rapids_trav.graph500 import cuda as graph500

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
_INFORMATION = re.compile(r"^ptxas info|bytes stack frame|^\s*$")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLS = re.compile(r"(\d+) bytes spill (?:stores|loads)")


@dataclass(frozen=True)
class Compiled:
    """What NVRTC said of one file for one architecture."""

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
    """Compiles one file to machine code, as CuPy will."""
    text = loader.source(file, defines).encode()
    program = _checked(nvrtc.nvrtcCreateProgram(text, file.encode(), 0, [], []))
    options = [f"-arch=sm_{architecture}".encode(), b"-std=c++17", b"-ftz=true", b"--ptxas-options=-v"]
    if file in link.FILES:  # a vertex program's functions are linked in later
        options.append(b"-rdc=true")
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    log = b" " * _checked(nvrtc.nvrtcGetProgramLogSize(program))
    _checked(nvrtc.nvrtcGetProgramLog(program, log))
    _checked(nvrtc.nvrtcDestroyProgram(program))
    lines = log.decode().rstrip("\0").splitlines()
    complaints = [line for line in lines if not _INFORMATION.search(line)]
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS and not complaints:
        complaints = [str(status)]
    registers = max((int(count) for count in _REGISTERS.findall("\n".join(lines))), default=0)
    spilled = sum(int(count) for count in _SPILLS.findall("\n".join(lines)))
    return Compiled(file, defines, architecture, registers, spilled, complaints)


def _checked(result: tuple):
    status, *values = result
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise RuntimeError(f"NVRTC says {status}")
    return values[0] if values else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", help="kernel files, by default all")
    parser.add_argument("--arch", type=int, action="append", help="compute capability such as 90; repeatable")
    arguments = parser.parse_args()

    supported = set(_checked(nvrtc.nvrtcGetSupportedArchs()))
    wanted = arguments.arch or ARCHITECTURES
    specialisations = (
        *loader.SPECIALISATIONS,
        *fused.SPECIALISATIONS,
        *graph500.SPECIALISATIONS,
        *link.SPECIALISATIONS,
    )
    jobs = [
        (file, defines, architecture)
        for file, defines in specialisations
        for architecture in wanted
        if architecture in supported and (not arguments.files or file in arguments.files)
    ]
    print(f"{'file':18} {'arch':7} {'registers':>9} {'spilled':>8}  {'':6}  defines")
    failures = 0
    with ThreadPoolExecutor() as pool:
        for compiled in pool.map(lambda job: compile_one(*job), jobs):
            print(compiled.row(), flush=True)
            for line in compiled.complaints:
                print(f"    {line}")
            failures += bool(compiled.complaints)
    version = ".".join(str(part) for part in nvrtc.nvrtcVersion()[1:])
    skipped = sorted(set(wanted) - supported)
    print(f"{len(jobs)} compiled with NVRTC {version}, {failures} failed", end="")
    print(f"; it does not know {skipped}" if skipped else "")
    return 1 if failures or not jobs else 0


if __name__ == "__main__":
    sys.exit(main())
