"""Checks of a program: of its parameters, and of the types of its functions' results, as Numba infers them.

Parameters are numbers, and as many as `apply` reads.  A GPU silently reads past their end, so they are
checked before the run, by Numba's analysis of the function.  This covers indices that are constants, in the
function or around it.  Computed indices are known only at run time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from numbers import Integral, Real
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.errors import TravError, written
from rapids_trav.programs.definition import ARGUMENTS, Program, n_arguments

if TYPE_CHECKING:
    from numba import types

PARAMETERS = ARGUMENTS["apply"].index("parameters")


def parameter_numbers(parameters: Iterable[object]) -> tuple[float, ...]:
    """Return the parameters in float64; refuse integers that it cannot hold exactly."""
    try:
        if isinstance(parameters, (str, bytes, Mapping)):
            raise TypeError
        given = tuple(parameters)
        numbers = [number for number in given if isinstance(number, Real) and not isinstance(number, bool)]
        if len(numbers) < len(given):
            raise TypeError
    except TypeError:
        raise TravError(
            f"parameters={written(parameters)} is not a sequence of numbers: give the numbers that the "
            f"program's apply reads."
        ) from None
    return tuple(map(_float64, numbers))


def _float64(number: Real) -> float:
    value = None
    with suppress(OverflowError):
        value = float(number)
    if value is None or (isinstance(number, Integral) and int(value) != int(number)):
        raise TravError(
            f"parameters holds {written(number)}, which float64 cannot hold exactly: give another number, or "
            f"round it with float()."
        )
    return value


def check_parameters(program: Program, given: int) -> None:
    """Refuse a run with fewer parameters than `apply` reads."""
    if program.apply is None or n_arguments(program.apply) <= PARAMETERS:
        return
    if given == 0:
        raise TravError(
            f"apply of program {program.name!r} takes parameters, but parameters has 0 numbers: give them "
            f"with parameters=, or remove the argument from apply."
        )
    read = constant_indices(program.apply)
    if read and min(read) < 0:
        raise TravError(
            f"apply of program {program.name!r} reads parameters[{min(read)}]: count them from the front, "
            f"from parameters[0] on."
        )
    if read and max(read) >= given:
        raise TravError(
            f"apply of program {program.name!r} reads parameters[{max(read)}], but parameters has {given} "
            f"number{'s' if given > 1 else ''}: give at least {max(read) + 1} with parameters=."
        )


def constant_indices(apply: Callable) -> frozenset[int]:
    """Return the constant indices at which `apply` reads its parameters."""
    code = getattr(apply, "__code__", None)
    if code is None or code.co_names or code.co_freevars:
        return _indices(apply)
    return _indices_of_code(code)


@functools.lru_cache(maxsize=128)
def _indices_of_code(code: CodeType) -> frozenset[int]:
    """Return the indices in a function that uses no outside names; cached, as the analysis takes 3 ms."""
    return _indices(FunctionType(code, {}))


def _indices(apply: Callable) -> frozenset[int]:
    from numba.core import ir
    from numba.core.compiler import run_frontend
    from numba.core.ir_utils import find_const, get_definition, guard

    try:
        code = run_frontend(apply)
    except Exception:  # the engine's compiler will report what it cannot compile
        return frozenset()
    found = set()
    for block in code.blocks.values():
        for expression in block.find_exprs(op="getitem"):
            container = guard(get_definition, code, expression.value)
            if isinstance(container, ir.Arg) and container.index == PARAMETERS:
                index = guard(find_const, code, expression.index)
                if isinstance(index, (int, np.integer)):
                    found.add(int(index))
    return frozenset(found)


def wrong_result(program: Program, name: str, result: types.Type) -> str | None:
    """Return what is wrong with a `result` of this type from function `name`; None if nothing is.

    Every engine converts a result to the program's dtype, and conversion to an integer would silently drop
    the fraction of a float.
    """
    from numba import types

    what = f"{name} of program {program.name!r}"
    if name == "active":
        if isinstance(result, (types.Boolean, types.Integer)):
            return None
        return f"{what} gives {result}, which is neither true nor false: return a comparison."
    if not isinstance(result, (types.Boolean, types.Integer, types.Float)):
        return f"{what} cannot be compiled (it gives {result}): return a real number on every path."
    if name != "total" and program.dtype.startswith("int") and isinstance(result, types.Float):
        return (
            f"{what} gives {result}, and the program's values are {program.dtype}: make it an integer there, "
            f"with int() or //, or give the program a dtype of floats."
        )
    return None
