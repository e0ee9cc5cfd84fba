"""Validation of breadth-first trees by the rules of Graph500, checked against the edges of the graph.

1. Exactly the sources have distance 0, and they have no predecessor.
2. Exactly the other reached vertices have a predecessor.
3. The distance of a predecessor is one less than that of its vertex.
4. An edge leads from a predecessor to its vertex.
5. No edge leads from a reached vertex to one that is more than one level further, or unreached.

Together they prove every distance: by rules 3 and 4 a path of that length exists, and by rule 5 none is
shorter.

Reference: Graph500 benchmark specification, section "Validation".
"""

from __future__ import annotations

import numpy as np

from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import answered, on_engine, resolve, unique, vertices
from rapids_trav.csr.adjacency import BLOCK, Array, edge_blocks
from rapids_trav.engines.interface import Engine, View
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame, id_names, move
from rapids_trav.memory.budget import Budget, holding
from rapids_trav.memory.model.build import CHECKED_BYTES
from rapids_trav.memory.model.search import MARK_BYTES, TREE_BYTES
from rapids_trav.storage.block_sizes import FEWEST_IN_HAND, reading
from rapids_trav.storage.filters import Filter

MOST_BLOCKS = 1 << 10  # however small the limit: on a GPU each block takes several launches

SOURCES = "rule 1: not exactly the sources have distance 0"
ROOTS = "rule 1: a source has a predecessor"
REACHED = "rule 2: not exactly the reached vertices other than the sources have a predecessor"
UP = "rule 3: a predecessor is not one level up"
EDGE = "rule 4: a predecessor is not joined to its vertex by an edge"
LEVEL = "rule 5: an edge leads too far down"


class TreeError(TravError):
    """A tree that breaks a rule."""


def check_tree(
    graph: TraversableGraph,
    result: Frame,
    sources: object,
    *,
    direction: str = "out",
    where: Filter = None,
    depth_limit: int | None = None,
) -> None:
    """Check that a frame is a correct answer of ``graph.bfs(sources, ...)``.

    Parameters
    ----------
    result : DataFrame
        Columns `vertex`, `distance` and, if the search computed predecessors, `predecessor`.  Unreached
        vertices may be left out.
    sources, direction, where
        The arguments of the search.
    depth_limit : int, optional
        Deepest level that was searched: the limit of the search, or the level at which targets ended it.

    Raises
    ------
    TreeError
        If the tree breaks a rule; the message names each broken rule and a vertex that breaks it.
    """
    n = graph.n_vertices

    def check(graph: TraversableGraph, sources: object) -> None:
        block = CHECKED_BYTES * _fewest(max(2 * graph.n_edges, n))
        with holding(graph.budget, TREE_BYTES * n, "a tree to check", lambda: MARK_BYTES * n + block):
            distance, predecessor = _tree(graph, result)
            roots = unique(graph, vertices(graph, "sources", sources))
            view = graph.storage.view(direction, resolve(graph, where))
            broken = broken_rules(graph.engine, view, roots, distance, predecessor, depth_limit, graph.budget)
        if broken:
            raise TreeError("; ".join(broken) + ".")

    answered(graph, "check_tree", check, sources)


def _tree(graph: TraversableGraph, result: Frame) -> tuple[Array, Array | None]:
    """Return the distance and, if there is one, the predecessor of each vertex, by internal ids."""
    xp, library = graph.engine.xp, graph.rows.source.library
    names = id_names("vertex", graph.ids.width)
    vertex = on_engine(graph, vertices(graph, "result", result[names]))
    distance = graph.values.filled(-1, np.int32)
    distance[vertex] = move(library.array(result["distance"].fillna(-1).astype("int32")), xp)

    predecessor = None
    names = [name.replace("vertex", "predecessor") for name in names]
    if names[0] in result.columns:
        predecessor = graph.values.filled(-1, vertex.dtype)
        given = result[names].dropna()
        if len(given):
            rows = move(library.array(result[names[0]].notna()), xp)
            given = given.astype(dict(zip(names, graph.ids.dtypes, strict=True)))
            predecessor[vertex[rows]] = on_engine(graph, vertices(graph, "result", given))
    return distance, predecessor


def _fewest(n_edges: int) -> int:
    """Return the size of the smallest block, in edges, for checking `n_edges` edges."""
    return max(n_edges // MOST_BLOCKS, FEWEST_IN_HAND)


def broken_rules(
    engine: Engine,
    view: View,
    sources: Array,
    distance: Array,
    predecessor: Array | None = None,
    depth_limit: int | None = None,
    budget: Budget | None = None,
) -> list[str]:
    """Return the rules that the arrays of a joint search break, each with an internal vertex that breaks it.

    Vertices and edges are read in blocks, so the edges may be in memory or outside it.  Besides the arrays,
    this takes two bytes per vertex and `CHECKED_BYTES` per edge of a block, which is as large as the budget
    allows.  Without predecessors only the rules on distances (1 and 5) are checked, so distances may be too
    short.
    """
    xp, n = engine.xp, view.n_vertices
    edges = view.stored
    most = max(edges.n_edges, n)
    with reading(budget, most, CHECKED_BYTES, BLOCK, fewest=_fewest(most), fixed=MARK_BYTES * n) as block:
        is_source, joined = xp.zeros(n, dtype=bool), xp.zeros(n, dtype=bool)
        is_source[sources] = True
        broken = _Broken()
        for first in range(0, n, block):
            among = slice(first, first + block)
            source, depth = is_source[among], distance[among]
            broken.note(SOURCES, source != (depth == 0), first)
            if predecessor is not None:
                parent = predecessor[among]
                led = parent >= 0
                broken.note(ROOTS, source & led, first)
                broken.note(REACHED, ~source & ((depth > 0) != led), first)
                above = distance[xp.where(led, parent, 0)]
                broken.note(UP, led & (above + 1 != depth), first)
        searched_to = np.iinfo(np.int32).max if depth_limit is None else depth_limit
        for part in edge_blocks(edges, xp, block=block):
            if predecessor is not None:
                joined[part.dst[predecessor[part.dst] == part.src]] = True
            near, far = distance[part.src], distance[part.dst]
            wrong = (near >= 0) & (near < searched_to) & ((far < 0) | (far > near + 1))
            broken.note(LEVEL, wrong, part.dst)
        if predecessor is not None:
            for first in range(0, n, block):
                among = slice(first, first + block)
                broken.note(EDGE, (predecessor[among] >= 0) & ~joined[among], first)
    return broken.sentences()


class _Broken:
    """Record of the first vertex that breaks each rule."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}

    def note(self, rule: str, wrong: Array, vertex: Array | int) -> None:
        """Record the first vertex of a block that breaks a rule.

        `vertex` has the vertices of the block or, if they are consecutive, the first of them.
        """
        if rule not in self._found and bool(wrong.any()):
            at = int(wrong.argmax())
            self._found[rule] = vertex + at if isinstance(vertex, int) else int(vertex[at])

    def sentences(self) -> list[str]:
        order = (SOURCES, ROOTS, REACHED, UP, EDGE, LEVEL)
        return [f"{rule} (internal vertex {self._found[rule]})" for rule in order if rule in self._found]
