"""Closeness of a sample of vertices, and betweenness from a sample, against NetworKit and cuGraph.

Whole calls, from the graph to the frame, by the wall clock.  NetworKit searches from the same vertices, one
search for each thread at a time, and its time is that of the searches alone; for betweenness it draws as many
sources itself.  Closeness is checked against whole searches, betweenness against this package's on the CPU,
and so is cuGraph's: in 26.10 it leaves out the last of 256 sources at R-MAT scale 20, but not of 255.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks import graphs
from benchmarks.cpu.inputs import Data, simple
from benchmarks.cpu.rivals import Networkit
from benchmarks.harness import REFUSALS, Row, of_times, ratio, reason
from rapids_trav.frames.columns import move

if TYPE_CHECKING:
    from benchmarks.gpu.lab import Lab
    from rapids_trav.graph import Graph

GRAPHS = ("rmat18", "rmat20")
SOURCES = {"closeness": 1024, "betweenness": 256}
CHECKED = 8
REPEATS = 3
COLUMNS = (
    "graph", "question", "sources", "name", "median_ms", "min_ms", "max_ms", "over_ours", "checked", "wrong",
    "note",
)  # fmt: skip
TABLES = {"centrality": COLUMNS}


def measure(lab: Lab, name: str) -> Iterator[tuple[str, Row]]:
    edges = lab.load(name)
    graph = lab.graph(edges, directed=False)
    candidates = graphs.with_neighbor(*lab.ends(edges), False, lab.xp)
    src, dst = (move(end, np) for end in lab.ends(edges))
    data = simple(Data(name, int(max(src.max(), dst.max())) + 1, src, dst))
    for question, count in SOURCES.items():
        sources = graphs.draw(candidates, count, lab.seed, lab.xp)
        for row in QUESTIONS[question](lab, graph, edges, data, sources):
            yield "centrality", {"question": question, "sources": len(sources), **row}


def closeness(lab: Lab, graph: Graph, edges: Any, data: Data, sources: list[int]) -> Iterator[Row]:
    ms, answer = times(lab, lambda: graph.closeness(sources))
    found = dict(zip(values(answer, "vertex"), values(answer, "closeness"), strict=True))
    wrong = sum(not np.isclose(found[root], by_search(graph, root)) for root in sources[:CHECKED])
    yield {"name": "trav", **of_times(ms), "checked": CHECKED, "wrong": wrong}
    yield rival("NetworKit", ms, lambda: searches_of_networkit(data, sources))[0]


def betweenness(lab: Lab, graph: Graph, edges: Any, data: Data, sources: list[int]) -> Iterator[Row]:
    src, dst = (move(end, np) for end in lab.ends(edges))
    on_cpu = pd.DataFrame({"src": src, "dst": dst}).trav.graph(engine="cpu")
    on_cpu = on_cpu.betweenness(sources=sources, normalized=False)
    wanted = dict(zip(on_cpu["vertex"], on_cpu["betweenness"], strict=True))
    ms, answer = times(lab, lambda: graph.betweenness(sources=sources, normalized=False))
    found = dict(zip(values(answer, "vertex"), values(answer, "betweenness"), strict=True))
    yield {"name": "trav", **of_times(ms), **compared(found, wanted)}
    theirs, scores = rival("cuGraph", ms, lambda: betweenness_of_cugraph(lab, edges, sources))
    yield theirs | ({} if scores is None else compared(scores, wanted))
    yield rival("NetworKit", ms, lambda: betweenness_of_networkit(data, len(sources)))[0]


QUESTIONS = {"closeness": closeness, "betweenness": betweenness}


def compared(found: dict[int, float], wanted: dict[int, float]) -> Row:
    """Return how many scores were compared, and how many are not proportional to those wanted.

    The scales of libraries differ; cuGraph adds up in float32.
    """
    of_found, of_wanted = np.array([(found[vertex], score) for vertex, score in wanted.items()]).T
    scale = (of_found @ of_wanted) / (of_wanted @ of_wanted)
    tolerance = 1e-7 * of_found.max()
    n_wrong = int((~np.isclose(of_found, scale * of_wanted, rtol=1e-4, atol=tolerance)).sum())
    return {"checked": len(wanted), "wrong": n_wrong}


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
        answer, seconds = lab.timed(call)
        ms.append(1e3 * seconds)
    return ms, answer


def rival(
    name: str, ours: Sequence[float], measured: Callable[[], tuple[list[float], Any]]
) -> tuple[Row, Any]:
    """Return the row of a library that may be missing, and its answer or None."""
    try:
        ms, answer = measured()
    except (ImportError, *REFUSALS) as error:
        return {"name": name, "note": f"not measured, {reason(error)}"}, None
    return {"name": name, **of_times(ms), "over_ours": ratio(np.median(ms), np.median(ours))}, answer


def betweenness_of_cugraph(lab: Lab, edges: Any, sources: list[int]) -> tuple[list[float], dict[int, float]]:
    """Return the milliseconds of cuGraph's calls, and its scores by vertex."""
    import cugraph

    graph = lab.cugraph(edges)
    ms, answer = times(lab, lambda: cugraph.betweenness_centrality(graph, k=sources, normalized=False))
    scores = zip(values(answer, "vertex"), values(answer, "betweenness_centrality"), strict=True)
    return ms, dict(scores)


def searches_of_networkit(data: Data, sources: Sequence[int]) -> tuple[list[float], None]:
    """Return the milliseconds of a search from each source, on as many threads as there are cores."""
    import networkit

    graph = Networkit().graph(data)

    def search(source: int) -> None:
        networkit.distance.BFS(graph, source, False, False).run()

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        start = time.perf_counter()
        list(threads.map(search, sources))
        return [1e3 * (time.perf_counter() - start)], None


def betweenness_of_networkit(data: Data, n_sources: int) -> tuple[list[float], None]:
    """Return the milliseconds of betweenness from as many sources, on all cores."""
    import networkit

    graph = Networkit().graph(data)
    start = time.perf_counter()
    networkit.centrality.EstimateBetweenness(graph, n_sources, False, True).run()
    return [1e3 * (time.perf_counter() - start)], None
