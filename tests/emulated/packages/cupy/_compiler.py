"""Shared libraries from C++, compiled by g++ and kept on disk.

The environment variable EMULATED_CACHE names the folder, EMULATED_FLAGS more flags, such as "-g".
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from cupy._errors import CUDARuntimeError

SOURCES = Path(__file__).resolve().parents[2] / "cpp"
COMPILER = "g++"
# Warnings are nvcc's business.  Every library has variables of its own (-fno-gnu-unique), longjmp() changes
# stacks (-U_FORTIFY_SOURCE), and products and sums are not contracted, as on the GPU.
FLAGS = (
    "-O1", "-std=c++17", "-w", "-fPIC", "-pthread", "-fno-gnu-unique", "-fno-strict-aliasing",
    "-ffp-contract=off", "-U_FORTIFY_SOURCE", *os.environ.get("EMULATED_FLAGS", "").split(),
)  # fmt: skip


def cache() -> Path:
    named = os.environ.get("EMULATED_CACHE")
    user = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else user / "rapids_trav" / "emulated"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@functools.cache
def _tools() -> str:
    """Return the version of the compiler, the flags and all headers: what a library depends on."""
    try:
        version = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=True).stdout
    except FileNotFoundError as error:
        raise CUDARuntimeError(f"the emulation needs the C++ compiler {COMPILER}") from error
    return "\0".join((version, *FLAGS, *(path.read_text() for path in sorted(SOURCES.glob("*.hpp")))))


def compiled(text: str, *options: str) -> Path:
    """Return the library of a C++ text, compiled unless it has been before."""
    return _kept("{}.so", text, ("-shared", *options))


def compiled_kernels(text: str) -> Path:
    """Return the library of kernels, for which `cuda.hpp` is compiled once."""
    header = _kept("{}/cuda.hpp.gch", (SOURCES / "cuda.hpp").read_text(), ("-xc++-header",))
    return _kept("{}.so", text, ("-shared", "-include", "cuda.hpp"), header.parent)


def _kept(name: str, text: str, options: tuple[str, ...], *folders: Path) -> Path:
    digest = hashlib.sha256("\0".join((_tools(), *options, text)).encode()).hexdigest()[:32]
    made = cache() / name.format(digest)
    if made.exists():
        return made
    with Path(cache(), f"{digest}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be compiling it
        if not made.exists():
            made.parent.mkdir(exist_ok=True)
            _compile(text, (*options, *(f"-I{folder}" for folder in (*folders, SOURCES))), made)
    return made


def _compile(text: str, options: tuple[str, ...], made: Path) -> None:
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        source, output = Path(folder, "source.cpp"), Path(folder, "output")
        source.write_text(text)
        command = [COMPILER, *FLAGS, *options, str(source), "-o", str(output)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise CUDARuntimeError(f"the kernels do not compile:\n{done.stderr[:4000]}")
        output.rename(made)
