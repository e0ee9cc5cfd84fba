"""Vertex programs for the CPU: Numba compiles their functions, which the emulated kernels then call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from rapids_trav.engines.cuda.programs.link import defines_of_program, function_types
from rapids_trav.engines.cuda.runtime.loader import source
from rapids_trav.programs.definition import ARGUMENTS, Program

if TYPE_CHECKING:
    from cupy._kernels import Library

    from rapids_trav.programs.digest import ProgramKey


@functools.cache
def _functions(program: Program, weight: str | None) -> dict[str, Any]:
    """Return a program's functions, compiled, by their names in `kernels/gas.cuh`."""
    from numba import cfunc

    made = {}
    for name in ARGUMENTS:
        if (function := getattr(program, name)) is not None:
            taken, result = function_types(program, name, weight)
            made[f"trav_{name}"] = cfunc(result(*taken), error_model="numpy")(function)
    return made


def compiled(
    program: ProgramKey,
    file: str,
    weight: str | None,
    vertex_bits: int,
    edge_bits: int,
    architecture: int,
    **tunables: int,
) -> Callable[[], Library]:
    """Return a function that makes the library of a program's kernels, for `link._compiled`."""
    from cupy._kernels import Library

    one = program.program
    text = source(file, defines_of_program(one, file, weight, vertex_bits, edge_bits, **tunables))
    functions = _functions(one, weight)
    return lambda: Library(text, functions={name: made.address for name, made in functions.items()})
