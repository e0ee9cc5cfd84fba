"""Compilation in advance of the code for first queries, into the caches that later processes load from.

Kernels are compiled for the types with which they are called, so this module runs every kind of query on
small graphs.  The caches are valid for one processor or GPU, one Python and one Numba, hence not in a wheel.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rapids_trav import generators, graph500
from rapids_trav.engines import select
from rapids_trav.frames.columns import Frame
from rapids_trav.graph import Graph
from rapids_trav.programs.shipped import connected_components

SCALE, EDGE_FACTOR = 13, 32  # levels wide enough to be shared by threads
SIDE = 64  # side of a grid, all of whose levels are narrow
CHAIN = 2048  # vertices of a path, along which searches prefetch rows
LIMIT = "1MB"  # memory limit below the size of the wide graph
WEIGHTS = ("float64", "int64", "float32", "int32")  # all weight types of the engines

Notify = Callable[[str, int, int], None]
Step = tuple[str, Callable[[], object]]


@dataclass(frozen=True)
class Warmed:
    """Result of compiling in advance."""

    engine: str
    seconds: float
    compiled: (
        int | None
    )  # functions compiled rather than loaded; None for the GPU, where they are not counted
    kept: bool  # whether later processes can load the compiled functions from disk

    def __str__(self) -> str:
        what = "everything" if self.compiled is None else f"{self.compiled} functions"
        summary = f"{self.engine}: compiled {what} in {self.seconds:.1f} s"
        if self.kept:
            return f"{summary}, kept on disk for later processes."
        return (
            f"{summary}, which later processes cannot use, as neither the package's folder nor the user's "
            f"cache can be written: set NUMBA_CACHE_DIR to a folder that can."
        )


def warm(engine: str = "cpu", notify: Notify | None = None) -> Warmed:
    """Run every kind of query once; `notify` takes the step, those done and the total before each."""
    start = time.perf_counter()
    with _compilations(engine) as compiled:
        steps = list(_steps(engine))
        for done, (what, ask) in enumerate(steps):
            if notify is not None:
                notify(f"{engine}: {what}", done, len(steps))
            ask()
    from rapids_trav.jit.kernels import keeps  # needs Numba, which may not start

    return Warmed(engine, time.perf_counter() - start, compiled(), engine != "cpu" or keeps())


def _steps(engine: str) -> Iterator[Step]:
    """Yield the name of each step, and the function that runs it."""
    library = "cudf" if engine == "cuda" else "pandas"
    wide = _with_columns(generators.rmat(SCALE, EDGE_FACTOR, library=library))
    narrow = _with_columns(generators.grid(SIDE, SIDE, library=library))
    hub = int(wide["src"].mode().iloc[0])

    for edges, name, source in ((wide, "wide", hub), (narrow, "narrow", 0)):
        built = Graph.from_edges(edges, engine=engine)
        yield f"searches, {name}", partial(_search, built, source)
        directed = Graph.from_edges(edges, directed=True, engine=engine)
        yield f"searches, {name} and directed", partial(_search, directed, source)
        yield f"programs, {name}", partial(_run, built)
        yield f"programs, {name} and directed", partial(_run, directed)
        for weight in WEIGHTS:
            weighted = Graph.from_edges(edges, weight=weight, engine=engine)
            yield f"{weight} weights, {name}", partial(_weigh, weighted, source)
    chain = _with_columns(generators.grid(CHAIN, 1, library=library))
    yield "searches, along a chain", partial(_search, Graph.from_edges(chain, engine=engine), 0)
    sorted_ = Graph.from_edges(wide, degree_sort=True, engine=engine)
    yield "order of degree", partial(_search, sorted_, hub)
    yield "components in order of degree", sorted_.components
    local = Graph.from_edges(narrow, order="locality", engine=engine)
    yield "order of locality", partial(_search, local, 0)
    yield "saved graphs", partial(_save, wide, engine, hub)
    if engine == "cpu":
        yield "graphs larger than memory", partial(_limit, wide, hub)
    yield "graph500", partial(graph500.run, SCALE, roots=2, engine=engine)


def _with_columns(edges: Frame) -> Frame:
    for dtype in WEIGHTS:
        edges[dtype] = (edges["src"] % 7 + edges["dst"] % 5 + 1).astype(dtype)
    edges["even"] = edges["src"] % 2 == 0
    return edges


def _search(graph: Graph, source: int) -> None:
    asked: list[dict[str, Any]] = [
        *({"variant": variant} for variant in select(graph.engine.name, "pandas").variants),
        *({"direction": direction} for direction in ("in", "both")),
        {"predecessors": False, "targets": [source], "depth_limit": 2},
        {"deterministic": True, "where": "even", "trace": True},
        {"variant": "direction", "tuning": {"policy": "beamer"}},
    ]
    for options in asked:
        graph.bfs(source, **options)
    graph.bfs([source, 1], mode="each")
    graph.bfs([source, 1], mode="each", deterministic=True, predecessors=True)
    graph.paths(source, [1, 2])
    graph.khop(source, 1)
    graph.levels(source)
    for relaxed in (0, 8):
        graph.path_layout(relaxed)


def _run(graph: Graph) -> None:
    initial = range(graph.n_vertices)
    for mode in ("auto", "pull", "notify", "push"):
        for asynchronous in (False, True):
            graph.run(
                connected_components(),
                initial=initial,
                direction="both",
                mode=mode,
                asynchronous=asynchronous,
            )
    graph.components()
    graph.pagerank()
    graph.pagerank(dtype="float32")


def _weigh(graph: Graph, source: int) -> None:
    by_weight = graph.engine.sorted_paths
    for _ in range(1 if by_weight is None else by_weight.pays_after + 1):  # the last one reads sorted rows
        graph.sssp(source)
    for mode in ("auto", "pull", "notify", "push"):
        graph.sssp(source, mode=mode)
        graph.sssp(source, mode=mode, asynchronous=False)
    graph.pagerank()
    for relaxed in (0, 8):
        graph.path_layout(relaxed)


def _save(edges: Frame, engine: str, source: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for weight in (None, *WEIGHTS):
            place = Path(folder, str(weight))
            built = Graph.from_edges(edges, weight=weight, engine=engine)
            built.path_layout()
            built.save(place)
            with Graph.open(place, engine=engine, verify=True) as graph:
                graph.bfs(source)


def _limit(edges: Frame, source: int) -> None:
    for weight in (None, *WEIGHTS):
        with Graph.from_edges(edges, weight=weight, engine="cpu", memory_limit=LIMIT) as graph:
            graph.bfs(source)
            graph.components()
            graph.pagerank()
            if weight is not None:
                graph.sssp(source)
                graph.sssp(source, schedule="paths")
            graph.run(
                connected_components(), initial=range(graph.n_vertices), direction="both", asynchronous=True,
                schedule="paths",
            )  # fmt: skip


@contextmanager
def _compilations(engine: str) -> Iterator[Callable[[], int | None]]:
    """Yield a function that counts the functions that Numba has compiled since."""
    if engine != "cpu":
        yield lambda: None
        return
    from numba.core import event

    with event.install_recorder("numba:compile") as recorder:
        yield lambda: sum(1 for _, record in recorder.buffer if record.is_start)
