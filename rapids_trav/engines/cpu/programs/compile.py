"""How a vertex program is compiled: its functions inlined in kernels of its own, kept on disk.

Numba keeps compiled functions by what it pickles of their closures, in which another compiled function has a
new name in each process.  Here they are kept by a digest of the program instead, each signature in a file of
its own: a second process loads what the first compiled, and no two programs share a file.

Kernels of two programs come of the same lines, and code that was compiled in different processes may have the
same symbols for them, of which a process that loads both would use the first for both.  So the program's
digest is part of the name of every function that is compiled for it.
"""

from __future__ import annotations

import contextlib
import hashlib
import uuid
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from rapids_trav.engines.cpu.runtime.compile import require_compiler
from rapids_trav.programs.definition import n_arguments
from rapids_trav.runtime.kernel_cache import CacheFile, KernelCache

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INLINED = {"forceinline": True, "no_cpython_wrapper": True, **OPTIONS}  # never called from Python


class ProgramCompiler:
    """Compiles the functions of one program.

    Parameters
    ----------
    digest : str or None
        What the program is kept on disk by; None: not at all.
    """

    def __init__(self, digest: str | None) -> None:
        require_compiler()
        self._digest = digest
        self._tag = digest or uuid.uuid4().hex

    def inlined(self, function: Callable) -> Callable:
        """Compile a function that kernels call; it becomes part of them."""
        return numba.njit(**INLINED)(self._named(function))

    def widened(self, function: Callable, width: int) -> Callable:
        """`function` compiled so that it takes `width` arguments and leaves out those at the end."""
        inner = self.inlined(function)
        given = n_arguments(function)
        if given == width:
            return inner
        takers = {
            1: lambda a, *_: inner(a),
            2: lambda a, b, *_: inner(a, b),
            3: lambda a, b, c, *_: inner(a, b, c),
        }
        return self.inlined(takers[given])

    def kernel(self, function: Callable) -> Callable:
        """Compile a function that the engine calls."""
        function = self._named(function)
        dispatcher = numba.njit(**OPTIONS)(function)
        if self._digest is not None:
            # without a folder that can be written it is compiled in each process
            with contextlib.suppress(RuntimeError):
                dispatcher._cache = _ProgramCache(function, self._digest)
        return dispatcher

    def _named(self, function: Callable) -> Callable:
        """A copy of the function with a name that no other program's has."""
        assert isinstance(function, FunctionType)
        name = f"{function.__name__.strip('<>')}_{self._tag}"
        copy = FunctionType(
            function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
        )
        copy.__qualname__ = name
        copy.__module__ = function.__module__
        return copy


class _ProgramCache(KernelCache):
    """Numba's cache of one kernel, by the digest of the program that it holds."""

    def __init__(self, function: Callable, digest: str) -> None:
        super().__init__(function)
        self._digest = digest
        self._cache_file = _FileForEachKey(
            self._cache_path, self._impl.filename_base, self._impl.locator.get_source_stamp()
        )

    def _index_key(self, signature: Any, codegen: Any) -> tuple:
        return signature, codegen.magic_tuple(), self._digest


class _FileForEachKey:
    """An index and a data file for each key, so that processes that write at once cannot mix them."""

    def __init__(self, folder: str, base: str, stamp: object) -> None:
        self._folder = folder
        self._base = base
        self._stamp = stamp

    def _file(self, key: tuple) -> CacheFile:
        name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]
        return CacheFile(self._folder, f"{self._base}-{name}", self._stamp)

    def load(self, key: tuple) -> object:
        return self._file(key).load(key)

    def save(self, key: tuple, data: object) -> None:
        self._file(key).save(key, data)
