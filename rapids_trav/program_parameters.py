"""Whether a run gives as many parameters as the program's `apply` reads.

A GPU reads past their end without a word, so it is told beforehand, from Numba's reading of the function: for
indices that are constants, in it or around it.  An index that is computed is known in the run alone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .errors import TravError
from .program import ARGUMENTS, Program, n_arguments

PARAMETERS = ARGUMENTS["apply"].index("parameters")


def check_parameters(program: Program, given: int) -> None:
    """Refuse a run with fewer parameters than `apply` reads."""
    if program.apply is None or n_arguments(program.apply) <= PARAMETERS:
        return
    if given == 0:
        raise TravError(
            f"apply of program {program.name!r} takes parameters, and parameters has 0 numbers: give them "
            f"with parameters=, or leave out the argument."
        )
    read = constant_indices(program.apply)
    if read and min(read) < 0:
        raise TravError(
            f"apply of program {program.name!r} reads parameters[{min(read)}]: count them from the front, "
            f"from parameters[0] on."
        )
    if read and max(read) >= given:
        raise TravError(
            f"apply of program {program.name!r} reads parameters[{max(read)}], and parameters has {given} "
            f"number{'s' if given > 1 else ''}: give at least {max(read) + 1} with parameters=."
        )


def constant_indices(apply: Callable) -> set[int]:
    """The places at which `apply` reads its parameters, as far as they stand in the program."""
    from numba.core import ir
    from numba.core.compiler import run_frontend
    from numba.core.ir_utils import find_const, get_definition, guard

    try:
        code = run_frontend(apply)
    except Exception:  # the engine's compiler says what it cannot read, and why
        return set()
    found = set()
    for block in code.blocks.values():
        for expression in block.find_exprs(op="getitem"):
            container = guard(get_definition, code, expression.value)
            if isinstance(container, ir.Arg) and container.index == PARAMETERS:
                index = guard(find_const, code, expression.index)
                if isinstance(index, (int, np.integer)):
                    found.add(int(index))
    return found
