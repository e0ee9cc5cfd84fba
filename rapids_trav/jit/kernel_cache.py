"""Numba's cache on disk, valid for any checkout with the same sources and shared by any number of processes.

Numba's own cache looks at the file of a function only, so a function inlined from another file stays as it
was; two processes that compile different signatures at once may confuse their files; and any error that a
damaged file raises reaches the caller.  Here a compiled function is identified by the digest of its file and
of all files of the package that this one imports, each signature has a file of its own, and a damaged or
unreadable file counts as missing and is written again.

The folder is the one that NUMBA_CACHE_DIR names, else `__pycache__` beside the sources, else the user's.
Under NUMBA_CACHE_DIR the path of a file depends on the digest and on Numba's version, not on the checkout.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import ClassVar

import numba
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    InTreeCacheLocator,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)

PACKAGE = Path(__file__).resolve().parents[1]
_IMPORT = re.compile(rf"^from ({PACKAGE.name}(?:\.\w+)+) import (\([^)]*\)|.*)", re.MULTILINE)


class KernelCache(FunctionCache):
    """The cache of one function; Numba raises a RuntimeError if there is no folder for it."""

    def __init__(self, function: Callable) -> None:
        super().__init__(function)
        self._cache_file = _FileForEachKey(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def load_overload(self, signature: object, target_context: object) -> object:
        try:
            return super().load_overload(signature, target_context)
        except Exception:  # damaged data may raise any error; the function is then compiled
            return None

    def save_overload(self, signature: object, data: object) -> None:
        # A full disk, or code that an interrupt lost, costs the next process a compilation.
        with contextlib.suppress(OSError, RuntimeError):
            super().save_overload(signature, data)


class _FileForEachKey:
    """An index and a data file for each key, so that processes that write at once cannot mix them."""

    def __init__(self, folder: str, base: str, stamp: object) -> None:
        self._folder = folder
        self._base = base
        self._stamp = stamp

    def _file(self, key: tuple) -> _CacheFile:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return _CacheFile(self._folder, f"{self._base}-{name}", self._stamp)

    def load(self, key: tuple) -> object:
        return self._file(key).load(key)

    def save(self, key: tuple, data: object) -> None:
        self._file(key).save(key, data)


class _CacheFile(IndexDataCacheFile):
    """The cache files of one signature of one function."""

    def _load_index(self) -> dict:
        try:
            return super()._load_index()
        except Exception:
            return {}


class _StampedByImports:
    """Locator whose stamp is the digest of a file and of what it imports from the package."""

    _py_file: str

    def get_source_stamp(self) -> str:
        return source_digest(Path(self._py_file).resolve())


class _Named(_StampedByImports, UserProvidedCacheLocator):
    def get_cache_path(self) -> str:
        folder = f"{PACKAGE.name}-numba{numba.__version__}"
        return str(Path(numba.config.CACHE_DIR, folder, self.get_source_stamp()))


class _BesideSources(_StampedByImports, InTreeCacheLocator):
    pass


class _UserWide(_StampedByImports, UserWideCacheLocator):
    pass


class _Implementation(CompileResultCacheImpl):
    _locator_classes: ClassVar = [_Named, _BesideSources, _UserWide]


KernelCache._impl_class = _Implementation


@functools.cache
def source_digest(path: Path) -> str:
    """Return a digest of a file and of all files of the package that it imports, directly or not."""
    found, new = {path}, [path]
    while new:
        more = set(_imported(new.pop())) - found
        found |= more
        new += more
    parts = sorted((*file.parts[len(PACKAGE.parts) :], _text(file)) for file in found)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


@functools.cache
def _imported(path: Path) -> tuple[Path, ...]:
    """Return the files of the package that a file imports at its top level."""
    return tuple(file for module, names in _IMPORT.findall(_text(path)) for file in _files(module, names))


def _files(module: str, names: str) -> Iterator[Path]:
    place = PACKAGE.parent.joinpath(*module.split("."))
    inside = (place / f"{name}.py" for name in re.findall(r"\w+", names))
    return (file for file in (place.with_suffix(".py"), place / "__init__.py", *inside) if file.exists())


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
