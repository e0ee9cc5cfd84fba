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

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav.errors import TravError
from rapids_trav.frames import move
from rapids_trav.structures import Array, View

from .question import on_engine, unique, vertices

if TYPE_CHECKING:
    from rapids_trav.graph import Graph


class TreeError(TravError):
    """A tree that breaks a rule."""


def check_tree(
    graph: Graph,
    result: Any,
    sources: Any,
    *,
    direction: str = "out",
    where: Hashable | None = None,
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
    xp, library = graph.engine.xp, graph.rows.source.library
    width = graph.ids.width
    names = ["vertex"] if width == 1 else [f"vertex_{i}" for i in range(width)]
    vertex = on_engine(graph, vertices(graph, "result", result[names]))
    distance = xp.full(graph.n_vertices, -1, dtype=np.int32)
    distance[vertex] = move(library.array(result["distance"].fillna(-1).astype("int32")), xp)

    predecessor = None
    names = [name.replace("vertex", "predecessor") for name in names]
    if names[0] in result.columns:
        predecessor = xp.full(graph.n_vertices, -1, dtype=vertex.dtype)
        given = result[names].dropna()
        if len(given):
            rows = move(library.array(result[names[0]].notna()), xp)
            given = given.astype(dict(zip(names, graph.ids.dtypes, strict=True)))
            predecessor[vertex[rows]] = on_engine(graph, vertices(graph, "result", given))
    roots = unique(graph, vertices(graph, "sources", sources))
    view = graph.storage.view(direction, where)
    if broken := broken_rules(graph.engine, view, roots, distance, predecessor, depth_limit):
        raise TreeError("; ".join(broken) + ".")


def broken_rules(
    engine: Any,
    view: View,
    sources: Array,
    distance: Array,
    predecessor: Array | None = None,
    depth_limit: int | None = None,
) -> list[str]:
    """The rules that a joint search's arrays break, each with one internal vertex that breaks it.

    Parameters
    ----------
    sources : vertex array
    distance : int array, (n,)
    predecessor : vertex array, (n,), optional
        Without it only rules 1 and 5 are checked, so distances may be too short.
    """
    xp = engine.xp
    n = view.n_vertices
    edges = engine.expand_rows(view.out)
    is_source = xp.zeros(n, dtype=bool)
    is_source[sources] = True
    broken = []

    def rule(sentence: str, wrong: Array, vertex: Array | None = None) -> None:
        if bool(wrong.any()):
            at = int(wrong.argmax())
            broken.append(f"{sentence} (internal vertex {at if vertex is None else int(vertex[at])})")

    rule("rule 1: not exactly the sources have distance 0", is_source != (distance == 0))
    if predecessor is not None:
        rule("rule 1: a source has a predecessor", is_source & (predecessor >= 0))
        rule(
            "rule 2: not exactly the reached vertices beside the sources have a predecessor",
            ~is_source & ((distance > 0) != (predecessor >= 0)),
        )
        child = xp.flatnonzero(predecessor >= 0)
        parent = predecessor[child]
        rule("rule 3: a predecessor is not one level up", distance[parent] + 1 != distance[child], child)
        keys = edges.src.astype(np.int64) * n + edges.dst  # ascending, as rows and their columns are
        wanted = parent.astype(np.int64) * n + child
        if len(keys):
            found = keys[xp.minimum(xp.searchsorted(keys, wanted), len(keys) - 1)] == wanted
        else:
            found = xp.zeros(len(wanted), dtype=bool)
        rule("rule 4: a predecessor is not joined to its vertex by an edge", ~found, child)
    near, far = distance[edges.src], distance[edges.dst]
    searched = near >= 0 if depth_limit is None else (near >= 0) & (near < depth_limit)
    rule("rule 5: an edge leads too far down", searched & ((far < 0) | (far > near + 1)), edges.dst)
    return broken
