"""The lines of a vertex program that raise errors, which compiled code keeps, and the function of a line.

Code that Numba compiles for the CPU adds to an error's traceback one frame: the file and the line of the
`raise` or `assert`.  The kernels that called the program's functions add none.
"""

from __future__ import annotations

import dis
from collections.abc import Iterator
from contextlib import suppress
from types import CodeType, FunctionType, TracebackType

from rapids_trav.programs.definition import ARGUMENTS, Program

_RAISE = dis.opmap["RAISE_VARARGS"]


def functions_that_raised(program: Program, error: BaseException) -> list[str]:
    """Return the names of the program's functions to which the line belongs where `error` was raised.

    There are several if they call the function of that line, or stand on one line themselves.
    """
    last: TracebackType | None = error.__traceback__
    if last is None:
        return []
    while last.tb_next is not None:
        last = last.tb_next
    place = last.tb_frame.f_code.co_filename, last.tb_lineno
    return [
        name
        for name in ARGUMENTS
        if any(
            place == (code.co_filename, line)
            for code in _code_of(getattr(program, name), set())
            for _, _, line in code.co_lines()
        )
    ]


def raising_lines(program: Program) -> str | None:
    """Return the places of the code that raises errors, in order; None if no function of the program does.

    Functions that differ only in their place compile to the same code unless they raise errors.
    """
    places = [
        f"{code.co_filename}:{code.co_firstlineno}:{code.co_linetable.hex()}"
        for name in ARGUMENTS
        for code in _code_of(getattr(program, name), set())
        if _RAISE in code.co_code[::2]  # instructions are at even positions, their arguments at odd ones
    ]
    return "\0".join(places) if places else None


def _code_of(function: object, seen: set[int]) -> Iterator[CodeType]:
    """Yield the code of a function, and of the Python functions that it calls by a variable's name."""
    function = getattr(function, "py_func", function)  # compiled by Numba
    if not isinstance(function, FunctionType) or id(function) in seen:
        return
    seen.add(id(function))
    codes = list(_with_inner(function.__code__))
    yield from codes
    named = [function.__globals__.get(name) for code in codes for name in code.co_names]
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # a variable of the enclosing function that has no value yet
            named.append(cell.cell_contents)
    for value in named:
        yield from _code_of(value, seen)


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """Yield code and the code of the functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _with_inner(constant)
