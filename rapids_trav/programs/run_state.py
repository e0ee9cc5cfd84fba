"""The state of a vertex program between two iterations.

Choice of the vertices that gather: all, or only notified ones (docs/systems.md, G13 and G14).

L. Ma et al., "Garaph", USENIX ATC 2017, section 5: gathering over all edges costs T.  Notifying along the
out-edges of the active vertices and gathering for the notified ones costs about 2 f T, where f is the active
vertices' share of the edges, and k times that where scattered pages come from storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rapids_trav.csr.adjacency import Array


@dataclass(frozen=True)
class RunState:
    """State of a running vertex program, as a checkpoint stores it."""

    values: Array  # of the program's dtype, (n,)
    active: Array  # bool, (n,): vertices whose last change their neighbours have not seen
    iteration: int = 0  # completed iterations
    total: float = 0.0  # of the program, in the last iteration; it is computed again from the values
    residual: float = float("nan")  # sum of the absolute changes in the last iteration, with a tolerance
    # What an engine has measured or decided so far, and would have to measure again: see `policy` of its
    # executors.  It has no influence on the values, and an engine passes over names of other engines.
    policy: Mapping[str, float] = field(default_factory=dict)


STORAGE_PENALTY = 10  # k: cost of a scattered read relative to a sequential one


def gather_mode(active_edges: int, n_edges: int, paged: bool = False, penalty: int = STORAGE_PENALTY) -> str:
    """Return "notify" if it costs no more than "pull", else "pull".

    An undirected edge counts once for each direction; `paged` edges come from storage, with the factor
    `penalty`.
    """
    factor = 2 * penalty if paged else 2
    return "notify" if factor * active_edges <= n_edges else "pull"
