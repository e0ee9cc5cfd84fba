"""Compilation of vertex programs, inlined in kernels cached on disk, and the errors of those that fail.

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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError

from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.errors import TravError
from rapids_trav.jit.interrupts import keep_interrupts
from rapids_trav.jit.kernel_cache import KernelCache
from rapids_trav.jit.kernels import require_compiler
from rapids_trav.programs.definition import ARGUMENTS, Program, n_arguments
from rapids_trav.programs.parameters import wrong_result

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
INLINED = {"forceinline": True, "no_cpython_wrapper": True, **OPTIONS}  # never called from Python


class ProgramCompiler:
    """Compiler of the functions of one program, cached on disk by its `digest`, if it has one."""

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


@contextmanager
def explained(program: Program, view: GatherView, options: RunOptions) -> Iterator[None]:
    """Replace an error of the compiler by one that says which function it is about.

    An error that is raised in the run keeps its type, and a note names the program.
    """
    try:
        yield
    except NumbaError as error:
        raise TravError(_reason(program, view, options) or _sentence(program.name, str(error))) from error
    except TravError:
        raise
    except Exception as error:
        if isinstance(error, IndexError) and "tuple" in str(error):  # kernels themselves have only arrays
            raise TravError(_past_the_end(program, len(options.parameters))) from error
        error.add_note(f"Raised in a run of program {program.name!r}.")
        raise


def _past_the_end(program: Program, given: int) -> str:
    if program.apply is None or n_arguments(program.apply) < len(ARGUMENTS["apply"]):
        return (
            f"A function of program {program.name!r} reads past the end of a tuple: keep its index within it."
        )
    return (
        f"apply of program {program.name!r} reads past the end of its parameters, of which there "
        f"{'is' if given == 1 else 'are'} {given} (or of a tuple around it): give with parameters= as many "
        f"as it reads."
    )


def _reason(program: Program, view: GatherView, options: RunOptions) -> str | None:
    value = numba.from_dtype(np.dtype(program.dtype))
    weight = value if view.weights is None else numba.from_dtype(view.weights.dtype)
    known = dict.fromkeys(("value", "message", "gathered", "new"), value)
    known |= {"weight": weight, "degree": numba.from_dtype(view.degrees.dtype), "total": types.float64}
    known["parameters"] = types.UniTuple(types.float64, len(options.parameters))
    for name, arguments in ARGUMENTS.items():
        function = getattr(program, name)
        if function is None:
            continue
        given = tuple(known[argument] for argument in arguments[: n_arguments(function)])
        compiled = numba.njit(function)
        what = f"{name} of program {program.name!r}"
        try:
            compiled.compile(given)
        except NumbaError as error:
            if "parameters" in arguments[: len(given)]:
                what += f", where parameters has {len(options.parameters)} numbers,"
            return _sentence(what, str(error))
        if sentence := wrong_result(program, name, compiled.overloads[given].signature.return_type):
            return sentence
    return None


def _sentence(what: str, why: str) -> str:
    """Return a message with the most informative of the compiler's many lines."""
    lines = [line.strip() for line in why.splitlines()]
    informative = [
        line for line in lines if line and not line.startswith(("Failed in", "During", "File", "There"))
    ]
    reason = (informative or lines)[0].rstrip(".:")
    return (
        f"{what} cannot be compiled ({reason}): it may use numbers, arithmetic, comparisons, conditions and "
        f"the math module."
    )
