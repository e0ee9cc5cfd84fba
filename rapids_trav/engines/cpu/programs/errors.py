"""Error messages for a vertex program that fails: which one, which of its functions, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import numpy as np
from numba import types
from numba.core.errors import NumbaError

from rapids_trav.engines.runs import GatherView, RunOptions
from rapids_trav.errors import TravError
from rapids_trav.programs.definition import ARGUMENTS, Program, n_arguments
from rapids_trav.programs.result_types import wrong_result


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
