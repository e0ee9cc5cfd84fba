"""Linked programs on disk, so that a second process need not compile them.

The name of a file is a hash of all its inputs: the program's digest (`program_digest`), the text of the
kernels, the architecture and the versions of the compilers.  The directory is `RAPIDS_TRAV_CACHE_DIR` or, if
that is not set, `rapids_trav` in the user's cache directory; if it cannot be written, nothing is cached.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

COMPILERS = ("numba-cuda", "numba", "cuda-bindings", "nvidia-cuda-nvrtc", "nvidia-nvvm", "nvidia-nvjitlink")
_ELF = b"\x7fELF"
_DIGEST_BYTES = 32


def folder() -> Path:
    """Return the directory of linked programs."""
    chosen = os.environ.get("RAPIDS_TRAV_CACHE_DIR")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "rapids_trav"


def kept(parts: tuple[str, ...], make: Callable[[], bytes]) -> bytes:
    """Return the result of `make` for `parts`, from disk if it has been made before."""
    name = hashlib.sha256("\0".join((*parts, *map(_version, COMPILERS))).encode()).hexdigest()
    path = folder() / f"{name[:40]}.cubin"
    with contextlib.suppress(OSError):
        if (code := _checked(path.read_bytes())) is not None:
            return code
    code = make()
    with contextlib.suppress(OSError):
        _write(path, code)
    return code


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


def _version(package: str) -> str:
    for name in (package, f"{package}-cu12", f"{package}-cu13"):
        with contextlib.suppress(PackageNotFoundError):
            return f"{name} {version(name)}"
    return package
