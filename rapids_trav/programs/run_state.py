"""The state of a vertex program between two iterations."""

from __future__ import annotations

from dataclasses import dataclass

from rapids_trav.csr.adjacency import Array


@dataclass(frozen=True)
class RunState:
    """State of a running vertex program, as a checkpoint stores it.

    Attributes
    ----------
    values : array of the program's dtype, (n,)
    active : bool array, (n,)
        The vertices whose last change their neighbours have not seen.
    iteration : int
        Number of completed iterations.
    total : float
        Sum of the program's `total` that the last iteration used; it is computed again from the values.
    residual : float
        Sum of the absolute changes in the last iteration if the program has a tolerance, else NaN.
    """

    values: Array
    active: Array
    iteration: int = 0
    total: float = 0.0
    residual: float = float("nan")
