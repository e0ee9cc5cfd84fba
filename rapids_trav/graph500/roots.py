"""Choice of search roots: unique random vertices, the same on every device and cluster."""

from __future__ import annotations

import numpy as np

from rapids_trav.errors import TravError


def choose(n_candidates: int, roots: int, seed: int) -> np.ndarray:
    """Return the positions of the roots among the candidates, the vertices with an edge to another.

    If there are at most `roots` candidates, all of them are roots; without any, an error is raised.
    """
    if n_candidates == 0:
        raise TravError(f"With seed={seed} no edge joins two different vertices: choose a larger scale.")
    return np.random.default_rng(seed).choice(n_candidates, min(roots, n_candidates), replace=False)
