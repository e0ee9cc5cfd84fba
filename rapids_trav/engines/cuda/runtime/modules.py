"""Machine code of kernels: compiled by NVRTC, kept on disk, and loaded on each device that runs it.

The name of a file on disk is a hash of all its inputs: the text of the kernels, the architecture, options and
versions of the compilers and, for a linked program, its digest (`program_digest`).  The directory is
`RAPIDS_TRAV_CACHE_DIR` or, if that is not set, `rapids_trav` in the user's cache directory; if it cannot be
written, nothing is kept.

NVRTC takes up to three seconds.  CuPy holds the interpreter's lock meanwhile, so that Ctrl-C waits for it.
Here another thread compiles without the lock, and what an interrupted call began is kept as well.

The texts are in `rapids_trav/kernels` in a wheel and in `kernels` beside the package in a checkout.  Includes
are inlined here, because machine code is kept on disk by the text that it is compiled from.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import signal
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from rapids_trav.jit.interrupts import compile_aside

if TYPE_CHECKING:
    from cupy.cuda.function import Function, Module

Defines = tuple[tuple[str, int], ...]

_INCLUDE = re.compile(r'^#include "([\w.]+)"\n', re.MULTILINE)
_ONCE = re.compile(r"^#pragma once\n", re.MULTILINE)
OPTIONS = ("-std=c++17", "-default-device")  # the latter for lambdas in kernels
COMPILERS = ("numba-cuda", "numba", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-nvvm", "nvidia-nvjitlink")
_ELF = b"\x7fELF"
_DIGEST_BYTES = 32


def kernel_directory() -> Path:
    """Return the directory of the CUDA sources."""
    package = Path(__file__).resolve().parents[3]
    installed = package / "kernels"
    return installed if installed.is_dir() else package.parent / "kernels"


def source(file: str, defines: Defines = ()) -> str:
    """Return the text of `file` after its defines, with each include inlined once."""
    preamble = "".join(f"#define {name} {value}\n" for name, value in defines)
    return preamble + _inlined(file, seen=set())


def _inlined(file: str, seen: set[str]) -> str:
    if file in seen:
        return ""
    seen.add(file)
    text = _ONCE.sub("", (kernel_directory() / file).read_text(encoding="utf-8"))
    return _INCLUDE.sub(lambda include: _inlined(include[1], seen), text)


class Modules:
    """The kernels of one text, loaded on a device when one of them is first asked for there.

    `code` returns the machine code for an architecture, such as 90.
    """

    def __init__(self, code: Callable[[int], bytes]) -> None:
        from cupy.cuda import runtime

        self._code, self._device = code, runtime.getDevice
        self._modules: dict[int, Module] = {}
        self._functions: dict[tuple[int, str], Function] = {}

    def get_function(self, name: str) -> Function:
        """Return a kernel for the current device."""
        device = self._device()
        if (device, name) not in self._functions:
            if device not in self._modules:
                self._modules[device] = self._load()
            self._functions[device, name] = self._modules[device].get_function(name)
        return self._functions[device, name]

    def _load(self) -> Module:
        import cupy
        from cupy.cuda.function import Module

        module = Module()
        module.load(self._code(int(cupy.cuda.Device().compute_capability)))
        return module


def compile_text(text: str, name: str, architecture: int, linkable: bool = False) -> bytes:
    """Return the machine code of kernels, or their LTO-IR if something is linked with them."""
    from cuda.bindings import nvrtc

    def checked(result: tuple):
        status, *values = result
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"NVRTC reports {status} for {name}: {_log()}")
        return values[0] if values else None

    def _log() -> str:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * (size + 1)  # one byte alone would be a shared object
        nvrtc.nvrtcGetProgramLog(program, log)
        return log.decode().rstrip("\0 \n")

    program = checked(nvrtc.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    options = [f"-arch=sm_{architecture}", *OPTIONS, *(("-dlto", "-rdc=true") if linkable else ())]
    try:
        checked(nvrtc.nvrtcCompileProgram(program, len(options), list(map(str.encode, options))))
    finally:  # NVRTC lets system calls go on after an interrupt
        signal.siginterrupt(signal.SIGINT, True)
    size, read = (
        (nvrtc.nvrtcGetLTOIRSize, nvrtc.nvrtcGetLTOIR)
        if linkable
        else (nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN)
    )
    code = b" " * checked(size(program))
    checked(read(program, code))
    checked(nvrtc.nvrtcDestroyProgram(program))
    return code


def folder() -> Path:
    """Return the directory of machine code."""
    chosen = os.environ.get("RAPIDS_TRAV_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "rapids_trav"


def kept(parts: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
    """Return the result of `make` for `parts`, from disk if it has been made before."""
    name = hashlib.sha256("\0".join((*parts, *OPTIONS, *map(_version, COMPILERS))).encode()).hexdigest()
    path = folder() / f"{name[:40]}.cubin"
    with contextlib.suppress(OSError):
        if (code := _checked(path.read_bytes())) is not None:
            return code

    def made() -> bytes:
        code = make()
        with contextlib.suppress(OSError):
            _write(path, code)
        return code

    return compile_aside(made)


def _checked(data: bytes) -> bytes | None:
    """Return the code in a file, or None if its checksum is wrong."""
    digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
    return code if code.startswith(_ELF) and hashlib.sha256(code).digest() == digest else None


def _write(path: Path, code: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(code).digest() + code)
        Path(unfinished).replace(path)  # readers see the whole file or none
    except OSError:
        Path(unfinished).unlink(missing_ok=True)
        raise


@functools.cache
def _version(package: str) -> str:
    for name in (package, f"{package}-cu12", f"{package}-cu13"):
        with contextlib.suppress(PackageNotFoundError):
            return f"{name} {version(name)}"
    return package
