"""Compilation of vertex programs: their functions are inlined in kernels, which are cached on disk.

Numba's cache identifies a compiled function by the pickle of its closure, in which another compiled function
has a new name in each process.  Here the cache uses a digest of the program instead: a second process loads
what the first compiled, and no two programs share a file.

Kernels of two programs are compiled from the same lines, and code compiled in different processes may use the
same symbols for them.  A process that loads both would use the first for both.  So the program's digest is
part of the name of every function that is compiled for it.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

from rapids_trav.jit.interrupts import keep_interrupts
from rapids_trav.jit.kernel_cache import KernelCache
from rapids_trav.jit.kernels import require_compiler
from rapids_trav.programs.definition import n_arguments

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INLINED = {"forceinline": True, "no_cpython_wrapper": True, **OPTIONS}  # never called from Python


class ProgramCompiler:
    """Compiler of the functions of one program.

    Parameters
    ----------
    digest : str or None
        Identifies the program in the cache on disk; None: the program is not cached.
    """

    def __init__(self, digest: str | None) -> None:
        require_compiler()
        self._digest = digest
        self._tag = digest or uuid.uuid4().hex

    def inlined(self, function: Callable) -> Callable:
        """Compile a function that kernels call; it is inlined in them."""
        return numba.njit(**INLINED)(self._named(function))

    def widened(self, function: Callable, width: int) -> Callable:
        """Compile `function` to take `width` arguments, of which it ignores the last if it has fewer."""
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
        dispatcher = keep_interrupts(numba.njit(**OPTIONS)(function))
        if self._digest is not None:
            # without a writable directory it is compiled in each process
            with contextlib.suppress(RuntimeError):
                dispatcher._cache = _ProgramCache(function, self._digest)
        return dispatcher

    def _named(self, function: Callable) -> Callable:
        """Return a copy of the function with a name that no other program's function has."""
        assert isinstance(function, FunctionType)
        name = f"{function.__name__.strip('<>')}_{self._tag}"
        copy = FunctionType(
            function.__code__, function.__globals__, name, function.__defaults__, function.__closure__
        )
        copy.__qualname__ = name
        copy.__module__ = function.__module__
        return copy


class _ProgramCache(KernelCache):
    """Numba's cache of one kernel, identified by the digest of its program."""

    def __init__(self, function: Callable, digest: str) -> None:
        super().__init__(function)
        self._digest = digest

    def _index_key(self, signature: Any, codegen: Any) -> tuple:
        return signature, codegen.magic_tuple(), self._digest
