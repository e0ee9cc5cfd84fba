"""Rows of edges in NumPy arrays, and the components of SciPy that engines must find along them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from rapids_trav.csr.adjacency import Adjacency


def adjacency(src, dst, n, dtype, both=False):
    """Return compressed rows, with each edge at both its ends if `both`."""
    if both:
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    order = np.lexsort((dst, src))
    offsets = np.concatenate([[0], np.cumsum(np.bincount(src, minlength=n))]).astype(np.int64)
    return Adjacency(offsets, dst[order].astype(dtype))


def smallest(src, dst, n, places=None):
    """Return the smallest place in the component of each vertex."""
    matrix = csr_matrix((np.ones(len(src), np.int8), (src, dst)), (n, n))
    _, label = connected_components(matrix, directed=False)
    return pd.Series(np.arange(n) if places is None else places).groupby(label).transform("min").to_numpy()
