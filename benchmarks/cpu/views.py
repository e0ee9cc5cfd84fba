"""Searches of a directed graph with `where`, "in" or "both": the first one and later ones.

The first is the first query of a new graph; it builds the structures it needs, and they are timed with it.
SciPy gets its matrix of the forward edges beforehand and makes the other (of the chosen rows, transposed, or
added to its transpose) within the time; later searches reuse it.  Roots have several edges in each direction,
since from most other vertices a directed search ends at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from benchmarks import graphs
from benchmarks.cpu.answers import of_frame
from benchmarks.cpu.contest import Contest, Contestant
from benchmarks.cpu.inputs import Data, title
from benchmarks.cpu.rivals import Rival, depths
from rapids_trav import Graph

GRAPH = "rmat20"
LEAST_EDGES = 8
SHARE = 0.5  # share of the rows that a `where` keeps


def views(data: Data, count: int, seed: int, rivals: Sequence[Rival]) -> Iterator[Contest]:
    """Yield contests of whole calls that return frames."""
    kept = np.random.default_rng(seed).random(len(data.src)) < SHARE
    frame = data.frame.assign(kept=kept)
    vertices = np.arange(data.n, dtype=data.src.dtype)
    roots = inner_roots(data, kept, count, seed)

    def build() -> Graph:
        return Graph.from_edges(frame, directed=True, vertices=vertices)

    graph = build()

    def rows(root: int) -> Any:
        return Graph.from_edges(frame[kept], directed=True, vertices=vertices).bfs(root)

    asked: dict[str, dict[str, Any]] = {
        "where": {"where": "kept"}, "in": {"direction": "in"}, "both": {"direction": "both"},
    }  # fmt: skip
    matrices = scipy_matrices(data, kept) if any(rival.name == "scipy" for rival in rivals) else {}
    for name, how in asked.items():
        later = _ours(lambda root, how=how: graph.bfs(root, **how))
        first = _ours(lambda made, how=how: made[0].bfs(made[1], **how), lambda root: (build(), root))
        others = [Contestant("rapids_trav, a graph of the rows", rows, of_frame)] if name == "where" else []
        make = matrices.get(name)
        if make is not None:
            others.append(Contestant("scipy", lambda root, make=make: search(make(), root), depths))
        yield _contest(data, f"first {_label(name)}", roots, [first, *others])
        ready = [] if make is None else [_searching(make())]
        yield _contest(data, f"later {_label(name)}", roots, [later, *ready])


def inner_roots(data: Data, kept: np.ndarray, count: int, seed: int) -> list[int]:
    """Draw vertices with `LEAST_EDGES` in-edges and as many kept out-edges, or as many as any vertex has."""
    leaving, entering = np.bincount(data.src[kept], minlength=data.n), np.bincount(data.dst, minlength=data.n)
    both = np.minimum(leaving, entering)
    candidates = np.flatnonzero(both >= min(LEAST_EDGES, both.max()))
    return [int(root) for root in graphs.draw(candidates, count, seed, np)]


def _label(name: str) -> str:
    return "`where`" if name == "where" else f'`direction="{name}"`'


def _ours(run: Callable[[Any], Any], prepare: Callable[[Any], Any] | None = None) -> Contestant:
    return Contestant("rapids_trav", run, of_frame, "ours", prepare=prepare)


def _contest(data: Data, what: str, roots: Sequence[int], contestants: list[Contestant]) -> Contest:
    return Contest(f"{what}, {title(data.name)} directed", "views", data.name, contestants, roots)


def search(matrix: Any, root: int) -> Any:
    from scipy.sparse import csgraph

    return csgraph.breadth_first_order(matrix, root)


def _searching(matrix: Any) -> Contestant:
    return Contestant("scipy breadth_first_order", lambda root: search(matrix, root), depths)


def scipy_matrices(data: Data, kept: np.ndarray) -> dict[str, Callable[[], Any]]:
    """Return functions that make the matrices, by the name of the view."""
    from scipy.sparse import coo_array

    shape = (data.n, data.n)
    forward = coo_array((np.ones(len(data.src)), (data.src, data.dst)), shape).tocsr()
    return {
        "where": lambda: coo_array((np.ones(kept.sum()), (data.src[kept], data.dst[kept])), shape).tocsr(),
        "in": lambda: forward.T.tocsr(),
        "both": lambda: forward + forward.T,
    }
