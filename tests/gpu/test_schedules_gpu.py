"""Programs under every schedule on a GPU, with little memory and random delays, against the CPU engine.

Copies, launches and the CPU's share are delayed at random.  The answers must be those of the CPU engine in
memory, PageRank within a sum of 1e-6; a run that ends early or waits for ever would show.
"""

from __future__ import annotations

import functools
import re
import time

import numpy as np
import pandas as pd
import pytest
from pairs import pairs

from rapids_trav import generators
from rapids_trav.errors import TravMemoryError
from rapids_trav.graph import Graph
from rapids_trav.published.largegraph.lending import Lending
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.sizes import parse_bytes

from .program_cases import labelled

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

SWEEP, PATHS, TOGETHER = {"schedule": "sweep"}, {"schedule": "paths"}, {"processor": "hybrid"}
WAYS = {
    "sweep of all": {**SWEEP, "mode": "pull", "asynchronous": True},
    "sweep of active rows": {**SWEEP, "mode": "notify"},
    "sweep with the CPU": SWEEP | TOGETHER,
    "paths": PATHS,
    "paths with the CPU": PATHS | TOGETHER,
    "auto": {},
}
RANKS = {"sweep": SWEEP, "asynchronous": {"asynchronous": True}, "with the CPU": TOGETHER, "auto": {}}
ASKED = {"sssp": WAYS, "components": WAYS, "pagerank": RANKS}
EXACT = 1e-6  # largest sum of the differences of ranks
SHARES = {"5 %": 20, "a quarter": 4}
PAUSES = (0, 0, 0, 0.001, 0.004)


def chains(rng):
    """Return one-way chains of 20 vertices between those of a core, and a grid that they do not lead to."""
    along = np.column_stack(
        [rng.integers(0, 40, 60), np.arange(100, 1300).reshape(60, 20), rng.integers(0, 40, 60)]
    )
    apart = generators.grid(6, 6) + 5000
    ends = pd.DataFrame({"src": along[:, :-1].ravel(), "dst": along[:, 1:].ravel()})
    return pd.concat([ends, apart], ignore_index=True)


SHAPES = {
    "grid": lambda rng: generators.grid(40, 40),
    "rmat": lambda rng: generators.rmat(9, 8),
    "chains": chains,
}


def ask(graph, program, source, how):
    """Return the column of the answer as a NumPy array."""
    if program == "sssp":
        found = graph.sssp(source, predecessors=False, **how)["distance"]
        return found.to_numpy(dtype=np.float64, na_value=np.inf)
    if program == "components":
        return labelled(graph, **{"asynchronous": None} | how)["value"].to_numpy()
    return graph.pagerank(weighted=False, tol=1e-8, max_iter=500, **how)["pagerank"].to_numpy()


@pytest.fixture(scope="module")
def cases(engine):
    """Return a function of a shape: the graph outside the memory, a source, and the CPU engine's answers."""

    @functools.cache
    def made(shape):
        rng = np.random.default_rng(11)
        edges = SHAPES[shape](rng).astype("int32")
        edges["w"] = rng.integers(0, 100, len(edges)).astype("float32")
        how = {"directed": shape == "chains", "weight": "w"}
        whole = Graph.from_edges(edges, engine="cpu", **how)
        source = int(edges["src"].mode()[0])
        answers = {program: ask(whole, program, source, {}) for program in ASKED}
        graph = Graph.from_edges(edges, engine=engine, memory_limit=20 * len(edges) + 80_000, **how)
        assert isinstance(graph.storage, Paged)
        return graph, source, answers

    return made


@pytest.fixture
def delays(monkeypatch):
    """Begin copies and launches, and return what the CPU has done, after random times."""
    from rapids_trav.engines.cuda.blocks.executor import BlocksExecutor
    from rapids_trav.engines.cuda.blocks.loader import CopyingLoader
    from rapids_trav.engines.cuda.stream.streamed import StreamedExecutor
    from rapids_trav.published.garaph.hybrid import HostSide

    rng, delayed = np.random.default_rng(3), set()

    def late(kind, name):
        function = getattr(kind, name)

        def called(*given, **options):
            time.sleep(rng.choice(PAUSES))
            delayed.add((kind, name))
            return function(*given, **options)

        monkeypatch.setattr(kind, name, called)

    late(CopyingLoader, "_copy")
    late(BlocksExecutor, "_launch_kernel")
    late(StreamedExecutor, "_copy")
    late(StreamedExecutor, "launch")
    late(Lending, "_offers")
    late(HostSide, "gather")
    return delayed


def within(graph, part, call):
    """Return an answer with memory for what is beside the edges, and for a part of them."""
    graph.budget.limit = 1
    while True:
        try:
            return call()
        except TravMemoryError as error:
            needed = parse_bytes(re.search(r"memory_limit at least (.*)\.$", str(error))[1])
            assert needed > graph.budget.limit
            graph.budget.limit = needed + part


@pairs(
    program=ASKED,
    way=WAYS | RANKS,
    shape=SHAPES,
    share=SHARES,
    allowed=lambda program, way, shape, share: way in ASKED[program],
)
def test_answers_are_those_in_memory(cases, delays, program, way, shape, share):
    graph, source, answers = cases(shape)
    n_bytes = graph.storage.view("out").stored.n_edges * (8 if program == "sssp" else 4)
    budget, how = graph.budget, ASKED[program][way]
    budget._peak = budget.used
    found = within(graph, n_bytes // SHARES[share], lambda: ask(graph, program, source, how))
    assert budget.peak <= budget.limit
    if program == "pagerank":
        assert np.abs(found - answers[program]).sum() < EXACT
    else:
        assert np.array_equal(found, answers[program])
    if way.startswith("paths"):
        assert any(kind.__name__ == "BlocksExecutor" for kind, _ in delays)
    elif way.startswith("sweep"):
        assert any(kind.__name__ == "StreamedExecutor" for kind, _ in delays)
