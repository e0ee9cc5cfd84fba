"""Memory measurements of every question: graphs, questions, and the bytes allocated during a question."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
import tracemalloc
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rapids_trav import Program
from rapids_trav.algorithms.validation import check_tree
from rapids_trav.graph import Graph
from rapids_trav.graph.local import LocalGraph

N = 100_000
SLACK = 64_000  # bytes that do not grow with the graph: 0.64 for each vertex

largest = Program("largest", "int64", "max")
grown = Program("grown", "float64", "sum", apply=lambda value, gathered, total, parameters: value + gathered)


def shapes(n=N):
    """Return weighted edges of several shapes: a hub, ids with gaps, a path, a star, and strings."""
    random = np.random.default_rng(0)
    src = np.where(random.random(2 * n) < 0.2, 0, random.integers(0, n, 2 * n))
    hub = pd.DataFrame({"src": src, "dst": random.integers(0, n, 2 * n), "w": random.integers(1, 9, 2 * n)})
    return {
        "hub": hub,
        "gaps": hub.assign(src=hub["src"] * 1000, dst=hub["dst"] * 1000),
        "path": pd.DataFrame({"src": np.arange(n - 1), "dst": np.arange(1, n), "w": 1.5}),
        "star": pd.DataFrame({"src": 0, "dst": np.arange(1, n), "w": 1.0}),
    }


# The anonymous memory of a process is its own, without mapped files.  It is looked at by the clock and,
# however little time that thread gets, after each call of compiled code.
PEAK = """
import os, sys, threading

statm, page = os.open("/proc/self/statm", os.O_RDONLY), os.sysconf("SC_PAGE_SIZE")

def anonymous():
    _, resident, shared, *_ = os.pread(statm, 200, 0).split()
    return (int(resident) - int(shared)) * page

def with_peak(call):
    before, most, done = anonymous(), 0, threading.Event()

    def look(frame=None, event="c_return", called=None):
        nonlocal most
        if event == "c_return":
            most = max(most, anonymous())

    def watch():
        while not done.wait(0.0005):
            look()

    sys.setswitchinterval(0.0002)
    watching = threading.Thread(target=watch)
    watching.start()
    threading.setprofile(look)
    sys.setprofile(look)
    answer = call()
    sys.setprofile(None)
    threading.setprofile(None)
    done.set()
    watching.join()
    return answer, most - before
"""

QUESTIONS = {
    **{
        f"bfs {variant}": lambda asked, variant=variant: asked.graph.bfs(asked.root, variant=variant)
        for variant in ("auto", "push", "pull", "edge", "frontier", "direction")
    },
    "bfs deterministic": lambda asked: asked.graph.bfs(asked.root, deterministic=True),
    "bfs distances": lambda asked: asked.graph.bfs(asked.root, predecessors=False),
    "bfs reached": lambda asked: asked.graph.bfs(asked.root, reached_only=True),
    "bfs in": lambda asked: asked.graph.bfs(asked.root, direction="in"),
    "bfs both": lambda asked: asked.graph.bfs(asked.root, direction="both"),
    "bfs trace": lambda asked: asked.graph.bfs(asked.root, trace=True).result,
    "each": lambda asked: asked.graph.bfs(asked.some, mode="each"),
    "each push": lambda asked: asked.graph.bfs(asked.some, mode="each", variant="push"),
    "each reached": lambda asked: asked.graph.bfs(asked.some, mode="each", reached_only=True),
    "each repeated": lambda asked: asked.graph.bfs([*asked.some, *asked.some], mode="each"),
    "paths": lambda asked: asked.graph.paths(asked.root, asked.some),
    "paths each": lambda asked: asked.graph.paths(asked.some, asked.some, mode="each"),
    "paths weighted": lambda asked: asked.graph.paths(asked.root, asked.some, weighted=True),
    "bfs stream": lambda asked: tuple(frame for _, frame in asked.graph.bfs_stream(asked.some)),
    "khop": lambda asked: tuple(asked.graph.khop(asked.some[0], 1)),
    "levels": lambda asked: asked.graph.levels(asked.root),
    "levels each": lambda asked: asked.graph.levels(asked.some, mode="each"),
    "degrees": lambda asked: asked.graph.degrees(),
    "closeness": lambda asked: asked.graph.closeness(asked.some),
    "harmonic": lambda asked: asked.graph.harmonic(asked.some),
    "eccentricity": lambda asked: asked.graph.eccentricity(asked.some),
    "diameter": lambda asked: asked.graph.diameter(direction="both"),
    "betweenness": lambda asked: asked.graph.betweenness(sources=asked.some),
    "betweenness of edges": lambda asked: asked.graph.betweenness(of="edges", sources=asked.some),
    "distances": lambda asked: asked.graph.distances((asked.some, asked.some)),
    "components": lambda asked: asked.graph.components(),
    "sssp": lambda asked: asked.graph.sssp(asked.root),
    "sssp sync": lambda asked: asked.graph.sssp(asked.root, asynchronous=False),
    "sssp push": lambda asked: asked.graph.sssp(asked.root, mode="push"),
    "sssp push sync": lambda asked: asked.graph.sssp(asked.root, mode="push", asynchronous=False),
    "sssp paths": lambda asked: asked.graph.sssp(asked.root, schedule="paths"),
    "run paths": lambda asked: asked.graph.run(
        largest, initial=np.arange(asked.graph.n_vertices), asynchronous=True, schedule="paths"
    ),
    "sssp reached": lambda asked: asked.graph.sssp(asked.root, reached_only=True),
    "pagerank": lambda asked: asked.graph.pagerank(tol=0.01),
    "pagerank async": lambda asked: asked.graph.pagerank(tol=0.01, asynchronous=True),
    "pagerank unweighted": lambda asked: asked.graph.pagerank(tol=0.01, weighted=False),
    "run": lambda asked: asked.graph.run(largest, initial=1),
    "run one": lambda asked: asked.graph.run(largest, initial={asked.root: 5}),
    "run array": lambda asked: asked.graph.run(largest, initial=np.arange(asked.graph.n_vertices)),
    "run pull": lambda asked: asked.graph.run(
        largest, initial=np.arange(asked.graph.n_vertices), mode="pull"
    ),
    "run sum": lambda asked: asked.graph.run(grown, initial=1.0, parameters=(1.0,), max_iterations=3),
    "validate": lambda asked: check_tree(asked.graph, asked.tree, asked.root),
    "path layout": lambda asked: asked.layout_anew(0),
    "path layout relaxed": lambda asked: asked.layout_anew(8),
    "self-loops": lambda asked: asked.anew("n_self_loops"),
    "duplicates": lambda asked: asked.anew("n_duplicate_edges"),
}

BY_PATHS = ("sssp paths", "run paths")  # a schedule of the CPU engine

# On a path these take one iteration over all vertices or edges for each vertex.
LONG = ("bfs push", "bfs pull", "bfs edge", "each push")
LONG += (
    "sssp sync",
    "run",
    "run one",
    "run array",
    "run pull",
    "bfs trace",
    "levels each",
)


@dataclass
class Asked:
    """A graph with the arguments of the questions: a root, some vertices and a tree."""

    graph: Graph
    root: int
    some: list
    tree: pd.DataFrame

    @classmethod
    def of(cls, edges, **options):
        graph = edges.trav.graph(weight="w", **options)
        root = int(edges["src"][0])
        return cls(graph, root, edges["dst"].drop_duplicates()[:5].tolist(), graph.bfs(root))

    def anew(self, name):
        vars(self.graph).pop(name, None)
        return getattr(self.graph, name)

    def layout_anew(self, relaxed):
        self.graph.contents.storage._layouts.clear()
        return self.graph.path_layout(relaxed)


@dataclass
class Taken:
    """Bytes that a question allocated besides its answer, and bytes that it declared."""

    measured: int
    declared: int

    @property
    def undeclared(self):
        return self.measured - self.declared


def taken(asked, question, tries=6):
    """Measure a question that has been asked before, so that everything is compiled and built.

    The work of an iteration, and the kernels that it loads for the first time, may depend on which thread
    comes first; a cluster of other tests in this process allocates too.  A question that exceeds its
    declaration is therefore measured again, with the cluster held, and the smallest excess counts.
    """
    found = _taken(asked, question)
    while found.undeclared > SLACK and (tries := tries - 1):
        with event_loops_held():
            found = min(found, _taken(asked, question), key=lambda one: one.undeclared)
    return found


def loops_running():
    """Yield the event loops that run in the threads of this process."""
    for frame in sys._current_frames().values():
        while frame is not None:
            if frame.f_code is asyncio.BaseEventLoop.run_forever.__code__:
                yield frame.f_locals["self"]
            frame = frame.f_back


@contextmanager
def event_loops_held(seconds=60):
    """Keep the event loops of this process from running anything, for at most `seconds`."""
    running = list(loops_running())
    held, end = threading.Semaphore(0), threading.Event()

    def hold():
        held.release()
        end.wait(seconds)

    try:
        for loop in running:
            loop.call_soon_threadsafe(hold)
        for _ in running:
            assert held.acquire(timeout=seconds)
        yield len(running)
    finally:
        end.set()


def peak_of(call):
    """Return the peak of bytes allocated during a call, with the event loops of this process held."""
    with event_loops_held():
        tracemalloc.start()
        try:
            call()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()


def _taken(asked, question):
    """Measure a question once.

    The result is the larger of two peaks: the peak before the first column of the answer is made, and the
    overall peak less the answer, which belongs to the caller.
    """
    first = []

    def noting(method):
        def noted(*arguments, **options):
            if not first:
                first.append(tracemalloc.get_traced_memory()[1])
            return method(*arguments, **options)

        return noted

    budget, kept = asked.graph.budget, (LocalGraph.id_columns, LocalGraph.frame)
    gc.collect()
    at_rest = budget.used
    budget._peak = at_rest
    LocalGraph.id_columns, LocalGraph.frame = map(noting, kept)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        answer = question(asked)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        LocalGraph.id_columns, LocalGraph.frame = kept
    measured = max(peak - before - size_of(answer), first[0] - before if first else 0)
    assert budget.used == at_rest
    return Taken(measured, budget.peak - at_rest)


def size_of(answer):
    if isinstance(answer, tuple):
        return sum(map(size_of, answer))
    return int(answer.memory_usage(deep=True).sum()) if hasattr(answer, "memory_usage") else 0
