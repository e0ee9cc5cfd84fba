"""Which vertices are searched from: unique ones, at random, the same wherever the benchmark runs."""

from __future__ import annotations

import numpy as np

from rapids_trav.errors import TravError


def choose(n_candidates: int, roots: int, seed: int) -> np.ndarray:
    """Return which of the candidates, the vertices with an edge to another, are roots: all if they are few.

    Raises
    ------
    TravError
        If there is no candidate.
    """
    if n_candidates == 0:
        raise TravError(f"With seed={seed} no edge joins two different vertices: choose a larger scale.")
    return np.random.default_rng(seed).choice(n_candidates, min(roots, n_candidates), replace=False)
