"""Is a breadth-first tree right?  The rules by which Graph500 validates one, read off the graph itself.

1. Exactly the sources have distance 0, and they have no predecessor.
2. Exactly the other reached vertices have a predecessor.
3. A predecessor is one level up.
4. A predecessor leads to its vertex by an edge.
5. No edge leads from a reached vertex to one that is more than one level further, or unreached.

Together they prove every distance: rules 3 and 4 that a path of that length exists, rule 5 that none is
shorter.

Reference: Graph500 benchmark specification, section "Validation".
"""

from __future__ import annotations

from contextlib import nullcontext
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from rapids_trav.algorithms.guard import question
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.request import on_engine, unique, vertices
from rapids_trav.csr.adjacency import Array
from rapids_trav.csr.blocks import BLOCK, edge_blocks
from rapids_trav.engines.interface import Engine, View
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame, id_names, move
from rapids_trav.memory.model.build import CHECKED_BYTES
from rapids_trav.memory.model.search import MARK_BYTES, TREE_BYTES
from rapids_trav.storage.block_sizes import FEWEST_IN_HAND, reading
from rapids_trav.storage.filters import Filter

if TYPE_CHECKING:
    from rapids_trav.memory.budget import Budget


SOURCES = "rule 1: not exactly the sources have distance 0"
ROOTS = "rule 1: a source has a predecessor"
REACHED = "rule 2: not exactly the reached vertices beside the sources have a predecessor"
UP = "rule 3: a predecessor is not one level up"
EDGE = "rule 4: a predecessor is not joined to its vertex by an edge"
LEVEL = "rule 5: an edge leads too far down"


class TreeError(TravError):
    """A tree that breaks a rule."""


@question
def check_tree(
    graph: TraversableGraph,
    result: Frame,
    sources: object,
    *,
    direction: str = "out",
    where: Filter = None,
    depth_limit: int | None = None,
) -> None:
    """Refuse a frame that is not a right answer of ``graph.bfs(sources, ...)``.

    Parameters
    ----------
    result : DataFrame
        With `vertex`, `distance` and, unless predecessors were not asked for, `predecessor`; unreached
        vertices may be left out.
    sources, direction, where
        As they were asked.
    depth_limit : int, optional
        Deepest level that was searched: the limit that was asked for, or the level at which targets ended it.

    Raises
    ------
    TreeError
        With the rules that are broken, each with a vertex that breaks it.
    """
    n = graph.n_vertices
    beside = MARK_BYTES * n + CHECKED_BYTES * FEWEST_IN_HAND
    with graph.storage.room(TREE_BYTES * n, "a tree to check", beside):
        _check_tree(graph, result, sources, direction, where, depth_limit)


def _check_tree(
    graph: TraversableGraph,
    result: Frame,
    sources: object,
    direction: str,
    where: Filter,
    depth_limit: int | None,
) -> None:
    """Refuse what `check_tree` refuses."""
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
    roots = unique(graph, vertices(graph, "sources", sources))
    view = graph.storage.view(direction, graph.rows.resolve(where))
    if broken := broken_rules(graph.engine, view, roots, distance, predecessor, depth_limit, graph.budget):
        raise TreeError("; ".join(broken) + ".")


def broken_rules(
    engine: Engine,
    view: View,
    sources: Array,
    distance: Array,
    predecessor: Array | None = None,
    depth_limit: int | None = None,
    budget: Budget | None = None,
) -> list[str]:
    """Return the rules that a joint search's arrays break, each with one internal vertex that breaks it.

    Reads vertices and edges in blocks, wherever the edges lie: beside the arrays it takes two bytes a vertex
    and `CHECKED_BYTES` for each edge of a block, which is as long as the budget allows.

    Parameters
    ----------
    sources : vertex array
    distance : int array, (n,)
    predecessor : vertex array, (n,), optional
        Without it only rules 1 and 5 are checked, so distances may be too short.
    budget : Budget, optional
        Of the engine's memory, where the edges are kept outside it.
    """
    xp, n = engine.xp, view.n_vertices
    edges = view.stored
    held = nullcontext() if budget is None else budget.hold(MARK_BYTES * n, "the check of a tree")
    with held, reading(budget, max(edges.n_edges, n), CHECKED_BYTES, BLOCK) as block:
        is_source, joined = xp.zeros(n, dtype=bool), xp.zeros(n, dtype=bool)
        is_source[sources] = True
        broken = _Broken()
        for first in range(0, n, block):
            among = slice(first, first + block)
            _check_vertices(broken, first, among, is_source, distance, predecessor, xp)
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
    """The first vertex that breaks each rule."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}

    def note(self, rule: str, wrong: Array, vertex: Array | int) -> None:
        """Note where a block breaks a rule, given its vertices or the first of consecutive ones."""
        if rule not in self._found and bool(wrong.any()):
            at = int(wrong.argmax())
            self._found[rule] = vertex + at if isinstance(vertex, int) else int(vertex[at])

    def sentences(self) -> list[str]:
        order = (SOURCES, ROOTS, REACHED, UP, EDGE, LEVEL)
        return [f"{rule} (internal vertex {self._found[rule]})" for rule in order if rule in self._found]


def _check_vertices(
    broken: _Broken,
    first: int,
    among: slice,
    is_source: Array,
    distance: Array,
    predecessor: Array | None,
    xp: ModuleType,
) -> None:
    """Rules 1 to 3 for a block of vertices, whose first is given."""
    source, depth = is_source[among], distance[among]
    broken.note(SOURCES, source != (depth == 0), first)
    if predecessor is None:
        return
    parent = predecessor[among]
    led = parent >= 0
    broken.note(ROOTS, source & led, first)
    broken.note(REACHED, ~source & ((depth > 0) != led), first)
    above = distance[xp.where(led, parent, 0)]
    broken.note(UP, led & (above + 1 != depth), first)
