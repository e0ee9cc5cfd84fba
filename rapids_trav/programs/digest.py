"""Digest of the code that a vertex program compiles to, the same in every process.

Compiled programs are stored on disk under it, so two programs must never share one.  It covers the functions'
bytecode and constants and, by name, the globals and closures that they use.  A program that refers to
anything that does not reduce to plain values (an object, a module of the user's, a function compiled by
Numba) has no digest and is compiled again in each process.
"""

from __future__ import annotations

import builtins
import hashlib
import inspect
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType

import numpy as np

from rapids_trav.programs.definition import ARGUMENTS, Program

KNOWN_MODULES = ("math", "cmath", "operator", "numpy", "numba", "builtins")  # their contents do not vary
# The flags of code that affect its meaning; others depend on where it was written, as within a function
# (CO_NESTED) or under an import of __future__.
MEANING = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS | inspect.CO_GENERATOR
MEANING |= inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR
PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype)


class _NotPlainError(Exception):
    """A referenced object does not reduce to plain values."""


def program_digest(program: Program) -> str | None:
    """Return the hexadecimal digest of the compiled program; None if it has none."""
    try:
        parts = [program.dtype, program.reducer, str(program.tolerance is None)]
        for name in ARGUMENTS:
            function = getattr(program, name)
            parts += [name, "-" if function is None else "".join(_function(function, {}))]
        parts += [] if program.start is None else ["start", repr(program.start)]
    except _NotPlainError:
        return None
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _function(function: Callable, seen: dict[int, int]) -> Iterator[str]:
    if id(function) in seen:
        yield f"function {seen[id(function)]}"
        return
    seen[id(function)] = len(seen)
    if not isinstance(function, FunctionType):
        raise _NotPlainError
    try:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a variable of the enclosing function that has no value yet
        raise _NotPlainError from None
    for value in (function.__defaults__, function.__kwdefaults__, *cells):
        yield from _value(value, seen)
    yield from _code(function.__code__, function.__globals__, seen)


def _code(code: CodeType, names: dict[str, object], seen: dict[int, int]) -> Iterator[str]:
    flags = code.co_flags & MEANING
    yield f"code({code.co_argcount},{flags},{code.co_code.hex()},{code.co_names},{code.co_varnames}"
    yield f"{code.co_freevars},{code.co_cellvars},{code.co_exceptiontable.hex()}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, names, seen)
        else:
            yield from _value(constant, seen)
    for name in code.co_names:
        if name in names:
            yield f"global {name}="
            yield from _value(names[name], seen)
    yield ")"


def _value(value: object, seen: dict[int, int]) -> Iterator[str]:
    if isinstance(value, ModuleType):
        if value.__name__.partition(".")[0] not in KNOWN_MODULES:
            raise _NotPlainError
        yield f"module({value.__name__})"
    elif isinstance(value, PLAIN):
        yield f"{type(value).__name__}({value!r})"
    elif isinstance(value, (tuple, list)):
        yield f"{type(value).__name__}["
        for item in value:
            yield from _value(item, seen)
            yield ","
        yield "]"
    elif isinstance(value, (frozenset, set)):
        yield f"set{sorted(''.join(_value(item, seen)) for item in value)}"
    elif isinstance(value, dict):
        yield from _value(list(value.items()), seen)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        yield f"array({value.dtype},{value.shape},{hashlib.sha256(value.tobytes()).hexdigest()})"
    elif isinstance(value, FunctionType):
        yield from _function(value, seen)
    elif isinstance(value, (BuiltinFunctionType, type, np.ufunc)) and _is_known(value):
        yield f"{value.__module__}.{value.__name__}"
    else:
        raise _NotPlainError


def _is_known(value: BuiltinFunctionType | type | np.ufunc) -> bool:
    """Return whether this is a function or type of a known module, which its name identifies."""
    module = getattr(value, "__module__", None) or "numpy"
    if isinstance(value, np.ufunc):
        return getattr(np, value.__name__, None) is value
    if module.partition(".")[0] not in KNOWN_MODULES:
        return False
    return getattr(builtins, value.__name__, value) is value


class ProgramKey:
    """A program as a key; two keys are equal if their programs compile to the same code."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.digest = program_digest(program)
        self._key: object = self.digest or program

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProgramKey) and self._key == other._key
