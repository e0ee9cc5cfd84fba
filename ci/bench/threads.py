"""(m) Queries per second of 1, 2, 4 and 8 threads on one graph.

The queries are small, so that the host's part is a large share of each: Python runs in one thread at a time,
and the searches of all threads follow each other on one stream.  Each round has a number of queries of one
kind, which threads take as they become free; rounds of different numbers of threads alternate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from . import graphs
from .pictures import bars
from .rows import Row, ratio, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from rapids_trav.graph import Graph

    from .lab import Lab

GRAPHS = ("facebook",)
THREADS = (1, 2, 4, 8)
ROUNDS = 5
LEAST_SECONDS = 0.2  # seconds of a round with one thread
MOST_QUESTIONS = 512
COLUMNS = (
    "graph", "name", "threads", "questions", "questions_a_second", "least", "most", "over_one_thread",
    "median_ms",
)  # fmt: skip
TABLES = {"threads": COLUMNS}

Ask = Callable[[int], Any]


def questions(graph: Graph, roots: Sequence[int]) -> dict[str, Ask]:
    """Return small queries by name, each a function of a root."""
    return {
        "bfs": lambda root: graph.bfs(root),
        "levels": lambda root: graph.levels(root),
        "paths": lambda root: graph.paths(root, list(roots[:3])),
        "khop": lambda root: graph.khop(root, 1),
    }


def measure(lab: Lab, names: Sequence[str]) -> Iterator[Row]:
    for name in names:
        edges = lab.load(name)
        graph = lab.graph(edges, directed=graphs.is_directed(name))
        roots = lab.roots(edges, graph.directed)
        for row in compare(graph, roots, graph.engine.synchronize):
            yield {"benchmark": "threads", "table": "threads", "graph": name, "seed": lab.seed, **row}


def compare(graph: Graph, roots: Sequence[int], settle: Callable[[], None]) -> Iterator[Row]:
    """Yield rows of each query by number of threads; `settle` waits for the device at the end of a round."""
    for name, ask in questions(graph, roots).items():
        seconds: dict[int, list[float]] = {n: [] for n in THREADS}
        n_questions = _enough(ask, roots, settle)
        for i in range(ROUNDS):
            for n in THREADS if i % 2 else reversed(THREADS):
                seconds[n].append(_round(ask, roots, n, n_questions, settle))
        alone = float(np.median(seconds[1]))
        for n in THREADS:
            median = float(np.median(seconds[n]))
            yield {
                "name": name, "threads": n, "questions": n_questions, "rounds": ROUNDS,
                "questions_a_second": short(n_questions / median),
                "least": short(n_questions / max(seconds[n])), "most": short(n_questions / min(seconds[n])),
                "over_one_thread": ratio(alone, median), "median_ms": short(1e3 * median / n_questions),
            }  # fmt: skip


def _enough(ask: Ask, roots: Sequence[int], settle: Callable[[], None]) -> int:
    """Return the number of queries for a round that is long enough to be timed, after a warm-up."""
    _round(ask, roots, max(THREADS), 2 * max(THREADS), settle)
    n = 8
    while n < MOST_QUESTIONS and _round(ask, roots, 1, n, settle) < LEAST_SECONDS:
        n *= 2
    return n


def _round(
    ask: Ask, roots: Sequence[int], threads: int, n_questions: int, settle: Callable[[], None]
) -> float:
    """Return the seconds in which `threads` threads answer `n_questions` questions."""
    asked = [roots[i % len(roots)] for i in range(n_questions)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: time.sleep(0.001), range(threads)))  # starts the threads
        begin = time.perf_counter()
        for _ in pool.map(ask, asked):
            pass
        settle()
        return time.perf_counter() - begin


def draw(axes: Axes, rows: Sequence[Row]) -> None:
    labelled = [{**row, "name": f"{row['name']}, {row['threads']} threads"} for row in rows]
    bars(axes, labelled, "questions_a_second", "questions a second")
