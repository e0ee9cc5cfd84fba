"""The state of a vertex program between two iterations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
    policy : mapping of str to float
        What an engine has measured or decided so far, and would have to measure again: see `policy` of its
        executors.  It has no influence on the values, and an engine passes over names of other engines.
    """

    values: Array
    active: Array
    iteration: int = 0
    total: float = 0.0
    residual: float = float("nan")
    policy: Mapping[str, float] = field(default_factory=dict)
