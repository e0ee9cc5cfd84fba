"""(l) Closeness of a sample of vertices, and betweenness from a sample, against NetworKit and cuGraph.

Whole calls, from the graph to the frame, by the wall clock.  NetworKit searches from the same vertices, one
search for each thread at a time, and its time is that of the searches alone; for betweenness it draws as many
sources itself.  Closeness is checked against whole searches, betweenness against cuGraph's.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from rapids_trav.frames.columns import move

from . import graphs
from .libraries import REFUSALS, reason
from .pictures import bars
from .rows import Row, of_times, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = ("rmat18", "rmat20")
SOURCES = {"closeness": 1024, "betweenness": 256}
CHECKED = 8
REPEATS = 3
COLUMNS = (
    "graph", "question", "sources", "name", "median_ms", "min_ms", "max_ms", "over_ours", "checked", "wrong",
    "note",
)  # fmt: skip
TABLES = {"centrality": COLUMNS}


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        edges = lab.load(name)
        graph = lab.graph(edges, directed=False)
        candidates = graphs.with_neighbor(*lab.ends(edges), False, lab.xp)
        for question, count in SOURCES.items():
            sources = graphs.draw(candidates, count, lab.seed, lab.xp)
            facts = {"graph": name, "question": question, "sources": len(sources), "seed": lab.seed}
            for row in QUESTIONS[question](lab, graph, edges, sources):
                yield {"benchmark": "centrality", "table": "centrality", **facts, **row}


def closeness(lab: Lab, graph: Graph, edges: Any, sources: list[int]) -> Iterator[Row]:
    ms, answer = times(lab, lambda: graph.closeness(sources))
    found = dict(zip(values(answer, "vertex"), values(answer, "closeness"), strict=True))
    wrong = sum(not np.isclose(found[root], by_search(graph, root)) for root in sources[:CHECKED])
    yield {"name": "trav", **of_times(ms), "checked": CHECKED, "wrong": wrong}
    ours = float(np.median(ms))
    yield from rival("NetworKit", ours, lambda: searches_of_networkit(lab, edges, sources))


def betweenness(lab: Lab, graph: Graph, edges: Any, sources: list[int]) -> Iterator[Row]:
    ms, answer = times(lab, lambda: graph.betweenness(sources=sources, normalized=False))
    row, ours = {"name": "trav", **of_times(ms)}, float(np.median(ms))
    try:
        theirs_ms, other = betweenness_of_cugraph(lab, edges, sources)
    except (ImportError, *REFUSALS) as error:
        yield row
        yield {"name": "cuGraph", "note": f"not measured, {reason(error)}"}
    else:
        found = dict(zip(values(answer, "vertex"), values(answer, "betweenness"), strict=True))
        both = np.array([(found[vertex], score) for vertex, score in other.items()]).T
        n_wrong = int((~np.isclose(*(scores / scores.max() for scores in both), rtol=1e-4, atol=1e-7)).sum())
        yield row | {"checked": len(other), "wrong": n_wrong}
        yield {
            "name": "cuGraph",
            **of_times(theirs_ms),
            "over_ours": ratio(float(np.median(theirs_ms)), ours),
        }
    yield from rival("NetworKit", ours, lambda: betweenness_of_networkit(lab, edges, len(sources)))


QUESTIONS = {"closeness": closeness, "betweenness": betweenness}


def by_search(graph: Graph, root: int) -> float:
    """Return the closeness of a vertex of an undirected graph, with Wasserman and Faust's factor."""
    distances = values(graph.bfs(root, predecessors=False, reached_only=True), "distance")
    reached, total = len(distances) - 1, sum(distances)
    return reached / total * reached / (graph.n_vertices - 1) if total else 0.0


def values(frame: Any, name: str) -> list[Any]:
    """Return a column of a frame of either library as a list."""
    column = frame[name]
    return (column.to_pandas() if hasattr(column, "to_pandas") else column).tolist()


def times(lab: Lab, call: Callable[[], Any]) -> tuple[list[float], Any]:
    """Return the milliseconds of a few calls after one that is not timed, and the last answer."""
    ms, answer = [], call()
    for _ in range(REPEATS):
        lab.synchronize()
        start = time.perf_counter()
        answer = call()
        lab.synchronize()
        ms.append(1e3 * (time.perf_counter() - start))
    return ms, answer


def rival(name: str, ours: float, measured: Callable[[], list[float]]) -> Iterator[Row]:
    """Yield the row of a library that may be missing."""
    try:
        ms = measured()
    except (ImportError, *REFUSALS) as error:
        yield {"name": name, "note": f"not measured, {reason(error)}"}
    else:
        yield {"name": name, **of_times(ms), "over_ours": ratio(float(np.median(ms)), ours)}


def graph_of_networkit(lab: Lab, edges: Any) -> Any:
    """Return NetworKit's graph of the edges, without self-loops and repeated edges."""
    import networkit

    src, dst = (move(end, np).astype(np.int64) for end in lab.ends(edges))
    n = int(max(src.max(), dst.max())) + 1
    low, high = np.minimum(src, dst)[src != dst], np.maximum(src, dst)[src != dst]
    keys = np.unique(low * n + high)
    ends = tuple(end.astype(np.uint64) for end in np.divmod(keys, n))
    return networkit.GraphFromCoo(ends, n=n, directed=False)


def betweenness_of_cugraph(lab: Lab, edges: Any, sources: list[int]) -> tuple[list[float], dict[int, float]]:
    """Return the milliseconds of cuGraph's calls, and its scores by vertex."""
    import cugraph

    graph = lab.cugraph(edges)
    ms, answer = times(lab, lambda: cugraph.betweenness_centrality(graph, k=sources, normalized=False))
    scores = zip(values(answer, "vertex"), values(answer, "betweenness_centrality"), strict=True)
    return ms, dict(scores)


def searches_of_networkit(lab: Lab, edges: Any, sources: Sequence[int]) -> list[float]:
    """Return the milliseconds of a search from each source, on as many threads as there are cores."""
    import networkit

    graph = graph_of_networkit(lab, edges)

    def search(source: int) -> None:
        networkit.distance.BFS(graph, source, False, False).run()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        start = time.perf_counter()
        list(threads.map(search, sources))
        return [1e3 * (time.perf_counter() - start)]


def betweenness_of_networkit(lab: Lab, edges: Any, n_sources: int) -> list[float]:
    """Return the milliseconds of betweenness from as many sources, on all cores."""
    import networkit

    graph = graph_of_networkit(lab, edges)
    start = time.perf_counter()
    networkit.centrality.EstimateBetweenness(graph, n_sources, False, True).run()
    return [1e3 * (time.perf_counter() - start)]


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    bars(axes, rows, "median_ms", "milliseconds")
