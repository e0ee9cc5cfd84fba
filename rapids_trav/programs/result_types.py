"""Checks of the result types of a vertex program's functions, as Numba infers them.

Every engine converts a result to the program's dtype, and conversion to an integer would silently drop the
fraction of a float.
"""

from __future__ import annotations

from numba import types

from rapids_trav.programs.definition import Program


def wrong_result(program: Program, name: str, result: types.Type) -> str | None:
    """Return what is wrong with a `result` of this type from function `name`; None if nothing is."""
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
