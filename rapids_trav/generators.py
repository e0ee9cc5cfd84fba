"""Synthetic graphs, the same for the same seed in every frame library.

Random numbers are a hash of a counter (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number
Generators", OOPSLA 2014), so NumPy and CuPy give the same edges, in whatever pieces they compute them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

BLOCK = 1 << 22  # edges made at once, to bound the memory of intermediate arrays
A, B, C = 0.57, 0.19, 0.19


def rmat(scale: int, edge_factor: int = 16, *, seed: int = 1, library: str = "pandas") -> Any:
    """Graph500's Kronecker graph: `2**scale` possible vertices, `edge_factor * 2**scale` edges.

    Vertex labels are permuted.  The specification also shuffles the edges; they are drawn independently, so
    their order is random as it is.  Self-loops and duplicates are kept, and about a quarter to a half of the
    vertices have no edge, as in the specification.

    Parameters
    ----------
    scale : int
        At most 32.
    edge_factor : int
    seed : int
    library : {"pandas", "cudf"}

    Returns
    -------
    frame
        Columns `src` and `dst`, int32 (int64 from scale 32 on).

    References
    ----------
    Chakrabarti, Zhan and Faloutsos, "R-MAT: A Recursive Model for Graph Mining", SDM 2004;
    graph500.org, specification, section "Graph generation".
    """
    xp, n_vertices, n_edges = _arrays(library), 1 << scale, edge_factor << scale
    dtype = np.int32 if scale < 32 else np.int64
    stream = _mix(np, np.arange(seed, seed + 1, dtype=np.uint64))[0]
    label = xp.argsort(_mix(xp, xp.arange(n_vertices, dtype=xp.uint64) ^ stream)).astype(dtype)

    src, dst = xp.empty(n_edges, dtype), xp.empty(n_edges, dtype)
    to_lower = _threshold(A + B)
    to_right = (_threshold(A / (A + B)), _threshold(C / (1 - A - B)))
    for begin in range(0, n_edges, BLOCK):
        end = min(begin + BLOCK, n_edges)
        edge = xp.arange(begin, end, dtype=xp.uint64)
        u, v = xp.zeros(end - begin, xp.int64), xp.zeros(end - begin, xp.int64)
        for bit in range(scale):
            counter = edge * np.uint64(scale) + np.uint64(bit + n_vertices)
            draw = _mix(xp, counter ^ stream)  # two draws of 32 bits
            lower = (draw >> np.uint64(32)) > to_lower
            right = (draw & np.uint64(0xFFFFFFFF)) > xp.where(lower, to_right[1], to_right[0])
            u |= lower.astype(xp.int64) << bit
            v |= right.astype(xp.int64) << bit
        src[begin:end], dst[begin:end] = label[u], label[v]
    return _frame(library, src, dst)


def grid(rows: int, columns: int, *, library: str = "pandas") -> Any:
    """A grid of `rows * columns` vertices in row order, each joined to its right and its lower neighbour."""
    xp = _arrays(library)
    vertex = xp.arange(rows * columns, dtype=_dtype(rows * columns)).reshape(rows, columns)
    src = xp.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    dst = xp.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    return _frame(library, src, dst)


def path(n_vertices: int, *, library: str = "pandas") -> Any:
    """The path 0, 1, ..., n_vertices - 1."""
    vertex = _arrays(library).arange(n_vertices, dtype=_dtype(n_vertices))
    return _frame(library, vertex[:-1].copy(), vertex[1:].copy())


def star(n_vertices: int, *, library: str = "pandas") -> Any:
    """Vertex 0 joined to each of the n_vertices - 1 others."""
    xp = _arrays(library)
    leaf = xp.arange(1, n_vertices, dtype=_dtype(n_vertices))
    return _frame(library, xp.zeros_like(leaf), leaf)


def _mix(xp: Any, counter: Any) -> Any:
    """SplitMix64's finaliser: one-to-one on 64-bit words, so different counters never tie."""
    x = counter * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _threshold(probability: float) -> np.uint64:
    return np.uint64(probability * 2**32)


def _dtype(n_vertices: int) -> type:
    return np.int32 if n_vertices < 2**31 else np.int64


def _arrays(library: str) -> Any:
    if library == "cudf":
        import cupy

        return cupy
    return np


def _frame(library: str, src: Any, dst: Any) -> Any:
    if library == "cudf":
        import cudf

        return cudf.DataFrame({"src": src, "dst": dst})
    import pandas

    return pandas.DataFrame({"src": src, "dst": dst})
