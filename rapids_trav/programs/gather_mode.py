"""Which vertices gather: all, or those that an active vertex notifies (SYSTEMS G13, G14).

L. Ma et al., "Garaph", USENIX ATC 2017, section 5: to gather over all edges costs T; to notify along the
out-edges of the active vertices and to gather for the notified ones about 2 f T, where f is the active
vertices' share of the edges; and k times that where scattered pages come from storage.
"""

from __future__ import annotations

STORAGE_PENALTY = 10  # k: what a scattered read costs beside a sequential one


def gather_mode(active_edges: int, n_edges: int, paged: bool = False, penalty: int = STORAGE_PENALTY) -> str:
    """ "notify" if it is no dearer than "pull".

    Parameters
    ----------
    active_edges : int
        Out-edges of the active vertices.
    n_edges : int
        Edges of the graph, each direction of an undirected one.
    paged : bool
        Whether the edges come from storage.
    penalty : int
        The factor k of storage.
    """
    factor = 2 * penalty if paged else 2
    return "notify" if factor * active_edges <= n_edges else "pull"
