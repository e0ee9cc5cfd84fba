"""The graphs of the benchmarks, by name, and the roots of the searches.

Names: `rmat<scale>` (edge factor 16, or `rmat<scale>x<edge factor>`), `grid<side>`, `path<n>`, `star<n>`,
`geometric<log2 n>`, `lattice<side>`, `chains<log2 n>`, and the data sets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from rapids_trav import datasets, generators
from rapids_trav.csr.adjacency import Adjacency

Array = Any
NAME = re.compile(r"(grid|path|star|geometric|lattice|chains)(\d+)")
RMAT = re.compile(r"rmat(\d+)(?:x([1-9]\d*))?")
CHUNK = 1 << 26  # edges processed at once
CORE_SHARE, CORE_FACTOR = 3, 8  # of `chains`: an eighth of the vertices, with so many edges each
FRAME_ROWS = 2**31 - 1  # largest number of rows of a cuDF frame
PART_ROWS = 1 << 30  # rows per frame, where there are several frames


def load(name: str, library: str = "cudf") -> Any:
    """Return the edge frame of that name, with int32 columns `src` and `dst`, or a list of frames.

    There are several frames if the rows exceed one.
    """
    if rmat := of_rmat(name):
        scale, factor = rmat
        if factor << scale <= FRAME_ROWS:
            return generators.rmat(scale, factor, library=library)
        return list(generators.rmat_frames(scale, factor, library=library, rows=PART_ROWS))
    if not (match := NAME.fullmatch(name)):
        return datasets.load(name, library=library)
    kind, size = match[1], int(match[2])
    if kind == "grid":
        return generators.grid(size, size, library=library)
    if kind in ("path", "star"):
        return getattr(generators, kind)(size, library=library)
    xp = import_module("cupy" if library == "cudf" else "numpy")
    if kind == "chains":
        core = generators.rmat(max(size - CORE_SHARE, 0), CORE_FACTOR, library=library)
        src, dst = chains(1 << size, xp.asarray(core["src"]), xp.asarray(core["dst"]), xp=xp)
    else:
        src, dst = geometric(1 << size, xp=xp) if kind == "geometric" else lattice(size, xp=xp)
    return import_module(library).DataFrame({"src": src, "dst": dst})


def of_rmat(name: str) -> tuple[int, int] | None:
    """Return scale and edge factor if the name is that of an R-MAT graph, else None."""
    match = RMAT.fullmatch(name)
    return match and (int(match[1]), int(match[2] or 16))


def made(name: str, library: str = "cudf") -> tuple[Callable[[], Iterable[Any]], int]:
    """Return a function that returns the frames of that name at each call, and the number of their rows.

    Frames of R-MAT are generated on demand and not stored.
    """
    if rmat := of_rmat(name):
        scale, factor = rmat
        return partial(generators.rmat_frames, scale, factor, library=library), factor << scale
    edges = load(name, library)
    return lambda: parts(edges), n_rows(edges)


def parts(edges: Any) -> list[Any]:
    """Return the frames of an edge list as a list."""
    return edges if isinstance(edges, list) else [edges]


def n_rows(edges: Any) -> int:
    return sum(map(len, parts(edges)))


def check_name(name: str) -> str | None:
    """Return what is wrong with a name, or None."""
    if NAME.fullmatch(name) or of_rmat(name) or name in datasets.names():
        return None
    known = ", ".join(datasets.names())
    return (
        f"no graph is called {name!r}: there are rmat20, rmat20x8, grid4096, path1000000, geometric20, "
        f"lattice4096, chains20 (with other numbers too), {known}"
    )


def is_directed(name: str) -> bool:
    if (match := NAME.fullmatch(name)) and match[1] == "chains":
        return True
    return datasets.DIRECTED.get(name, False)


def geometric(n: int, *, degree: float = 9.0, seed: int = 1, xp: Any = np) -> tuple[Array, Array]:
    """Generate a random geometric graph: points of the unit square, joined within the radius for `degree`.

    Points are sorted by the cells of a grid, which are as wide as the radius, so a neighbour is in the same
    cell or in one of the eight around it.  To find each pair once, a point is compared with the points that
    follow in its cell and in the cell to the right, and with three cells of the row below: two ranges of
    points.
    """
    radius = math.sqrt(degree / (math.pi * n))
    side = max(1, int(1 / radius))
    x, y = (xp.asarray(c) for c in np.random.default_rng(seed).random((2, n)))
    column, row = (xp.minimum((c * side).astype(np.int64), side - 1) for c in (x, y))
    order = xp.argsort(row * side + column)
    x, y, column, cell = x[order], y[order], column[order], (row * side + column)[order]
    starts = xp.searchsorted(cell, xp.arange(side * side + 1))

    def start_of(cell: Array) -> Array:
        return starts[xp.minimum(cell, side * side)]

    left, right = (column > 0).astype(np.int64), (column < side - 1).astype(np.int64)
    ranges = (
        (xp.arange(1, n + 1), start_of(cell + right + 1)),
        (start_of(cell + side - left), start_of(cell + side + right + 1)),
    )
    src, dst = [], []
    for begin, end in ranges:
        ends = xp.cumsum(end - begin)
        pair = xp.arange(int(ends[-1]))
        i = xp.searchsorted(ends, pair, side="right")
        j = pair - ends[i] + end[i]
        near = (x[i] - x[j]) ** 2 + (y[i] - y[j]) ** 2 <= radius**2
        src.append(order[i[near]])
        dst.append(order[j[near]])
    return xp.concatenate(src).astype(np.int32), xp.concatenate(dst).astype(np.int32)


def lattice(side: int, *, blocked: float = 0.35, seed: int = 1, xp: Any = np) -> tuple[Array, Array]:
    """Generate a grid of `side * side` cells, a share blocked at random, the others joined to neighbours.

    It resembles roads: degree four at most, and long ways around the obstacles.  Above 41 % blocked cells it
    is disconnected.
    """
    free = xp.asarray(np.random.default_rng(seed).random((side, side), dtype=np.float32) >= blocked)
    vertex = xp.arange(side * side, dtype=np.int32).reshape(side, side)
    across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    src = xp.concatenate([vertex[:, :-1][across], vertex[:-1][down]])
    dst = xp.concatenate([vertex[:, 1:][across], vertex[1:][down]])
    return src, dst


def chains(
    n: int, src: Array, dst: Array, *, length: int = 14, seed: int = 1, xp: Any = np
) -> tuple[Array, Array]:
    """Add one-way chains of `length` vertices to a core of directed edges, up to `n` vertices in all.

    Each chain leads from a random vertex of the core to another, as roads with few crossings or chains of
    redirected pages do.
    """
    first = int(max(src.max(), dst.max())) + 1 if len(src) else 1
    n_chains = (n - first) // length
    drawn = np.random.default_rng(seed).integers(0, first, (2, n_chains), dtype=np.int32)
    begin, end = xp.asarray(drawn)
    vertex = xp.arange(first, first + n_chains * length, dtype=np.int32).reshape(n_chains, length)
    along = xp.concatenate([begin[:, None], vertex, end[:, None]], axis=1)
    return (
        xp.concatenate([src.astype(np.int32), along[:, :-1].ravel()]),
        xp.concatenate([dst.astype(np.int32), along[:, 1:].ravel()]),
    )


def with_neighbor(
    src: Array | Sequence[Array], dst: Array | Sequence[Array], directed: bool = False, xp: Any = np
) -> Array:
    """Return ids with an edge to another vertex, ascending; in a directed graph, with such an out-edge."""
    found = xp.zeros(n_labels(src, dst), dtype=bool)
    for sources, targets in zip(parts(src), parts(dst), strict=True):
        for begin in range(0, len(sources), CHUNK):
            u, v = sources[begin : begin + CHUNK], targets[begin : begin + CHUNK]
            apart = u != v
            found[u[apart]] = True
            if not directed:
                found[v[apart]] = True
    return xp.flatnonzero(found)


def n_labels(src: Array | Sequence[Array], dst: Array | Sequence[Array]) -> int:
    """Return one more than the greatest id."""
    return max(int(end.max()) for end in (*parts(src), *parts(dst))) + 1


def n_ids(name: str, src: Array, dst: Array) -> int:
    """Return the number of ids that the graph of that name may have: 2^scale for R-MAT, else largest + 1."""
    rmat = of_rmat(name)
    return 1 << rmat[0] if rmat else n_labels(src, dst)


def draw(candidates: Array, count: int, seed: int, xp: Any = np) -> list[int]:
    """Draw up to `count` different candidates at random; the same for the same seed."""
    chosen = np.random.default_rng(seed).choice(len(candidates), min(count, len(candidates)), replace=False)
    return candidates[xp.asarray(chosen)].tolist()


@dataclass(frozen=True)
class OneAdjacency:
    """A view (`engines.interface.View`) of an undirected graph's rows."""

    out: Adjacency

    @property
    def into(self) -> Adjacency:
        return self.out

    @property
    def n_vertices(self) -> int:
        return self.out.n_vertices
