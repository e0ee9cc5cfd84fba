"""Calls that take long: an interrupt ends each and leaves the graph usable, and each tells its progress."""

from __future__ import annotations

import signal
import threading
import time
from functools import cached_property, partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import rapids_trav
from rapids_trav import Graph, TravError, generators, graph500, programs
from rapids_trav.jit.interrupts import compile_aside


class Graphs:
    """Graphs of the same edges, and how often to repeat what one call does in no time."""

    def __init__(self, scale: int, times: int) -> None:
        self.edges = generators.rmat(scale, seed=1).assign(w=1.0)
        self.words = self.edges[["src", "dst"]].astype(str)
        self.plain = self.edges.trav.graph()
        self.directed = self.edges.trav.graph(directed=True, weight="w")
        self.ids = self.edges["src"].unique()
        self.times = times
        self.scale = scale

    @cached_property
    def limited(self) -> Graph:
        return self.edges.trav.graph(directed=True, memory_limit=6 * len(self.edges) + 200_000)

    @cached_property
    def networkx(self) -> nx.DiGraph:
        return nx.from_pandas_edgelist(
            self.edges, "src", "dst", ["w"], create_using=nx.DiGraph, backend="trav"
        )


LARGE, SMALL = Graphs(15, 200), Graphs(8, 2)
CALLS = {
    "betweenness": lambda on, **told: on.plain.betweenness(**told),
    "betweenness of edges": lambda on, **told: on.plain.betweenness(of="edges", **told),
    "closeness": lambda on, **told: on.plain.closeness(**told),
    "harmonic": lambda on, **told: on.directed.harmonic(**told),
    "eccentricity": lambda on, **told: on.directed.eccentricity(**told),
    "diameter": lambda on, **told: on.directed.diameter(**told),
    "distances": lambda on, **told: on.plain.distances(
        (np.tile(on.ids, on.times), np.repeat(on.ids, on.times)), **told
    ),
    "bfs": lambda on, **told: on.plain.bfs(on.ids, mode="each", **told),
    "levels": lambda on, **told: on.plain.levels(on.ids, mode="each", **told),
    "paths": lambda on, **told: on.directed.paths(on.ids, on.ids[:9], mode="each", weighted=True, **told),
    "bfs_stream": lambda on, **told: list(on.plain.bfs_stream(on.ids, **told)),
    "pagerank": lambda on, **told: [on.directed.pagerank(tol=1e-9, **told) for _ in range(5 * on.times)],
    "pages": lambda on, **told: [on.limited.pagerank(tol=1e-9, **told) for _ in range(on.times)],
    "bfs of pages": lambda on, **told: on.limited.bfs(on.ids, mode="each", where="w > 0", **told),
    "build": lambda on, **told: Graph.from_edges([on.edges] * on.times, **told),
    "build of strings": lambda on, **told: Graph.from_edges([on.words] * on.times, **told),
    "rmat": lambda on, **told: generators.rmat(on.scale + 8, **told),
    "rmat_frames": lambda on, **told: list(generators.rmat_frames(on.scale + 8, rows=1 << 20, **told)),
    "graph500": lambda on, **told: graph500.run(on.scale, roots=50 * on.times, engine="cpu", **told),
}
OF_NETWORKX = {
    "nx.betweenness_centrality": lambda on: nx.betweenness_centrality(on.networkx),
    "nx.closeness_centrality": lambda on: nx.closeness_centrality(on.networkx),
    "nx.all_pairs_dijkstra": lambda on: list(nx.all_pairs_dijkstra_path_length(on.networkx, weight="w")),
}
SHORT = {
    "bfs of one source": lambda on, **told: on.plain.bfs(on.ids[0], **told),
    "khop": lambda on, **told: on.plain.khop(on.ids[0], 2, **told),
    "components": lambda on, **told: on.plain.components(**told),
    "sssp": lambda on, **told: on.directed.sssp(on.ids[0], **told),
    "eccentricity by bounds": lambda on, **told: on.plain.eccentricity(**told),
    "run": lambda on, **told: on.plain.run(programs.breadth_first(), initial={on.ids[0]: 0}, **told),
    "path_layout": lambda on, **told: on.edges.trav.graph().path_layout(**told),
    "annotate": lambda on, **told: on.plain.annotate(on.edges, on.plain.degrees(), **told),
    "to_networkx": lambda on, **told: on.plain.to_networkx(**told),
    "to_scipy": lambda on, **told: on.directed.to_scipy(**told),
    "accessor": lambda on, **told: on.edges.trav.closeness(**told),
    "grid": lambda on, **told: generators.grid(5, 5, **told),
    "path": lambda on, **told: generators.path(5, **told),
    "star": lambda on, **told: generators.star(5, **told),
}  # fmt: skip


def lateness(call) -> float:
    """Return the seconds from an interrupt to the end of a call."""
    sent = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    timer = threading.Timer(0.2, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        try:
            call()
        finally:
            timer.cancel()
    return time.perf_counter() - sent[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CALLS, *OF_NETWORKX])
def test_an_interrupt_ends_a_call_before_its_work_is_done(name, interruptible, record_property):
    told = []
    if name in CALLS:
        call = partial(CALLS[name], progress=lambda *done: told.append(done))
    else:
        call = OF_NETWORKX[name]
    call(SMALL)
    told.clear()
    record_property("seconds from the interrupt to the end", lateness(lambda: call(LARGE)))
    done, total, unit = told[-1] if told else (0, 1, "sources")
    assert unit not in ("sources", "pairs") or done < total
    answer = LARGE.plain.bfs(LARGE.ids[0])
    assert len(answer) == LARGE.plain.n_vertices and answer["distance"].min() == 0
    pd.testing.assert_frame_equal(SMALL.limited.pagerank(), SMALL.directed.pagerank())


@pytest.mark.parametrize("name", [*CALLS, *SHORT])
def test_progress_is_told_of_what_is_done_of_how_much(name):
    told = []
    {**CALLS, **SHORT}[name](SMALL, progress=lambda done, total, unit: told.append((done, total, unit)))
    assert told and all(type(done) is int and done >= 0 for done, _, _ in told)
    assert all(total is None or done <= total for done, total, _ in told)
    done, total, unit = told[-1]
    assert unit.islower() and (unit in ("iterations", "pages") or done == total)


def test_progress_of_files(tmp_path):
    SMALL.edges.to_csv(tmp_path / "x.csv", index=False)
    told: list[tuple] = []
    read = rapids_trav.read_edges(tmp_path / "x.csv", progress=lambda *done: told.append(done))
    pd.testing.assert_frame_equal(read, SMALL.edges, check_dtype=False)
    n_bytes = (tmp_path / "x.csv").stat().st_size
    assert told[-2:] == [(n_bytes, n_bytes, "bytes"), (1, 1, "files")]
    for call in (
        lambda progress: SMALL.directed.save(tmp_path / "x", progress=progress),
        lambda progress: Graph.open(tmp_path / "x", engine="cpu", progress=progress),
    ):
        told.clear()
        call(lambda *done: told.append(done))
        assert told[-1][0] == told[-1][1] >= 8 * len(SMALL.edges) and told[-1][2] == "bytes"


def test_a_function_that_is_told_of_progress_may_end_the_call(tmp_path):
    def refuse(done: int, total: int | None, unit: str) -> None:
        raise LookupError(unit)

    for call in CALLS.values():
        with pytest.raises(LookupError):
            call(SMALL, progress=refuse)
        with pytest.raises(TravError, match="progress='yes' is neither True nor False"):
            call(SMALL, progress="yes")
    SMALL.edges.to_csv(tmp_path / "x.csv", index=False)
    with pytest.raises(LookupError):
        rapids_trav.read_edges(tmp_path / "x.csv", progress=refuse)
    assert SMALL.plain.bfs(SMALL.ids[0])["distance"].min() == 0


class Slow:
    """A module whose kernels take until `done` to compile."""

    def __init__(self) -> None:
        self.done, self.made = threading.Event(), threading.Event()

    def get_function(self, name: str) -> str:
        assert self.done.wait(60)
        self.made.set()
        return name


def test_an_interrupt_does_not_end_a_compilation(interruptible):
    module = Slow()
    lateness(lambda: compile_aside(lambda: module.get_function("push")))
    assert not module.made.is_set()
    module.done.set()
    assert module.made.wait(60)
    with pytest.raises(ZeroDivisionError):
        compile_aside(lambda: 1 / 0)
