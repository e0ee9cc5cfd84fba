"""One run of the benchmark, in the specification's steps.

1. Generate the edge tuples (untimed).  2. Draw the roots: unique, at random, each with an edge to another
vertex.  3. Kernel 1, timed: build the graph from the tuples, which also determine the vertices.  4. For each
root alone: kernel 2, timed: parents and levels; then, untimed, the tuples in its component, and validation.
5. Beyond the specification, which times each search apart: kernel 2 for all roots again, timed as a whole, if
the engine can queue searches so that one follows another without waiting for the host.

Kernels are compiled, and the memory pool filled, before the clock starts: before kernel 1 by a tiny run, and
before kernel 2 by searches of the same graph (one on the GPU, all on the CPU) whose results are dropped.

Reference: graph500.org, specification, sections "Overall benchmark" to "Output".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np
import pandas as pd

from rapids_trav import engines, generators
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, Engine, Search, SpreadEngine
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.libraries import library
from rapids_trav.graph.handle import Graph
from rapids_trav.graph500 import validation
from rapids_trav.graph500.report import Report, row_of
from rapids_trav.storage.build_options import BuildOptions
from rapids_trav.storage.on_devices import OnDevices
from rapids_trav.utilities.checks import flag, integer
from rapids_trav.utilities.machine import GPU_PACKAGES, find_driver, find_version
from rapids_trav.utilities.progress import ProgressOption, shown
from rapids_trav.utilities.progress import report as progress_of

MOST_SCALE = 30  # labels are 32-bit
MOST_EDGE_FACTOR = 2**20  # far beyond memory, and within the range of NumPy's integers
MOST_SEED = 2**63 - 1
FRAME_ROWS = 2**31 - 1  # tuples in a frame: cuDF's most
WARM_UP_SCALE = 6
QUEUED = 8  # searches that wait behind the one that runs, when they are timed as a whole

Notify = Callable[[str, int, int], None]


def run(
    scale: int,
    *,
    edge_factor: int = 16,
    roots: int = 64,
    seed: int = 1,
    engine: str | Engine = "auto",
    devices: str | Sequence[int] | None = None,
    validate: bool = True,
    notify: Notify | None = None,
    progress: ProgressOption = False,
) -> Report:
    """Run the Graph500 benchmark's breadth-first part.

    Parameters
    ----------
    scale : int
        Binary logarithm of the number of possible vertices, from 1 to 30.
    edge_factor : int
        Tuples per vertex: there are ``edge_factor * 2**scale``.
    roots : int
        Number of searches; fewer if fewer vertices have a neighbour.
    seed : int
        Seed of the graph and of the roots, which are the same on every engine.
    engine : {"auto", "cpu", "cuda"} or Engine
        "auto" uses the GPU if there is one with its packages.
    devices : "all" or sequence of int, optional
        GPUs that hold and search the graph together, as in `Graph.from_edges`; the current one generates the
        edges and validates.
    validate : bool, default True
        Check each search by the five rules (see `validation`); failures are reported, not raised.
    notify : callable, optional
        Called as ``notify(step, done, total)`` while it runs.
    progress : bool or callable, default False
        Show on a terminal or in a notebook what is done; or a function, called with what is done, of how much
        and the unit: "roots", after the "rows" and "edges" of the build.

    Returns
    -------
    Report

    Raises
    ------
    TravError
        If an argument is invalid, or the engine is not available.
    """
    scale, edge_factor, roots, seed = check(scale, edge_factor, roots, seed)
    flag("validate", validate)
    runner = engine_for(engine, devices)
    n_edges = edge_factor << scale
    device = validation.functions_of(runner.name)
    spread = runner.devices if isinstance(runner, SpreadEngine) else ()
    notify = notify or (lambda step, done, total: None)

    def report(step: str, done: int, total: int) -> None:
        notify(step, done, total)
        if step == "Searching":
            progress_of(done, total, "roots")

    with device.memory(spread), shown("graph500", progress):
        report("Generating the edges", 0, 1)
        edges, generation, _ = device.timed(
            lambda: list(
                generators.rmat_frames(scale, edge_factor, seed=seed, library=device.LIBRARY, rows=FRAME_ROWS)
            )
        )
        bench = _Bench(device, runner, edges, 1 << scale)
        drawn = draw_roots(bench.has_neighbor(), roots, seed)
        report("Constructing the graph", 0, 1)
        bench.warm_up()
        graph, construction, _ = device.timed(lambda: bench.construct(edges))
        rows = bench.searches(graph, drawn, validate, report)
        streamed = bench.streamed_seconds(graph, drawn)
    together = isinstance(graph.storage, OnDevices) and graph.storage.is_spread
    return Report(
        scale=scale,
        edge_factor=edge_factor,
        seed=seed,
        engine=runner.name,
        device=device.device_name(spread if together else ()),
        n_vertices=graph.n_vertices,
        n_edges=n_edges,
        generation_seconds=generation,
        construction_seconds=construction,
        searches=pd.DataFrame(rows).astype({"device_seconds": "float64", "valid": "boolean"}),
        streamed_seconds=streamed,
    )


def engine_for(engine: str | Engine, devices: str | Sequence[int] | None) -> Engine:
    """Return the engine on which `run` works, or refuse these arguments of it."""
    BuildOptions(devices=devices)  # refuses what does not name GPUs
    if isinstance(engine, str) and engine == "auto":
        engine = "cuda" if find_driver().gpus and all(map(find_version, GPU_PACKAGES)) else "cpu"
    runner = engines.select(engine, "pandas")
    if devices is None:
        return runner
    from rapids_trav.engines.multigpu.devices import spread_over

    return spread_over(runner, devices)


def check(scale: int, edge_factor: int, roots: int, seed: int) -> tuple[int, int, int, int]:
    """Return the arguments as integers of Python, or refuse them."""
    numbers = {}
    given = {"scale": scale, "edge_factor": edge_factor, "roots": roots, "seed": seed}
    for name, value in given.items():
        if (number := integer(value)) is None:
            raise TravError(f"{name}={written(value)} is not an integer: give one.")
        numbers[name] = number
    scale, edge_factor, roots, seed = numbers.values()
    if not 1 <= scale <= MOST_SCALE:
        raise TravError(f"scale={written(scale)} is out of range: choose 1 to {MOST_SCALE}.")
    for name, value in (("edge_factor", edge_factor), ("roots", roots)):
        if value < 1:
            raise TravError(f"{name}={written(value)} is too small: choose 1 or more.")
    if edge_factor > MOST_EDGE_FACTOR:
        raise TravError(
            f"edge_factor={written(edge_factor)} is too large: choose at most {MOST_EDGE_FACTOR}."
        )
    if not 0 <= seed <= MOST_SEED:
        raise TravError(
            f"seed={written(seed)} is {'negative' if seed < 0 else 'past 63 bits'}: choose 0 to {MOST_SEED}."
        )
    return scale, edge_factor, roots, seed


def choose(n_candidates: int, roots: int, seed: int) -> np.ndarray:
    """Return the positions of the roots among the candidates, the vertices with an edge to another.

    If there are at most `roots` candidates, all of them are roots; without any, an error is raised.
    """
    if n_candidates == 0:
        raise TravError(f"With seed={seed} no edge joins two different vertices: choose a larger scale.")
    return np.random.default_rng(seed).choice(n_candidates, min(roots, n_candidates), replace=False)


def draw_roots(has_neighbor: np.ndarray, roots: int, seed: int) -> np.ndarray:
    """Draw labels of unique random roots among vertices with an edge to another: `roots` of them, or all."""
    candidates = np.flatnonzero(has_neighbor)
    return candidates[choose(len(candidates), roots, seed)].astype(np.int32)


class _Bench:
    """The edge tuples, in columns `src` and `dst` of labels below `n_labels`, and the steps on one device.

    `device` is the module `graph500.cpu` or `graph500.cuda`.
    """

    def __init__(self, device: ModuleType, engine: Engine, edges: list[Frame], n_labels: int) -> None:
        self.device = device
        self.engine = engine
        array = library(device.LIBRARY).array
        self.src, self.dst = ([array(frame[end]) for frame in edges] for end in ("src", "dst"))
        self.n_labels = n_labels

    def warm_up(self) -> None:
        """Run a tiny benchmark, so that everything is compiled."""
        edges = generators.rmat(WARM_UP_SCALE, library=self.device.LIBRARY)
        self.search(self.construct([edges]), self.engine.xp.zeros(1, np.int32))

    def has_neighbor(self) -> np.ndarray:
        """Return whether each label has an edge to another one: bool (n,), in host memory."""
        parts = zip(self.src, self.dst, strict=True)
        return np.logical_or.reduce([self.device.has_neighbor(*part, self.n_labels) for part in parts])

    def construct(self, edges: list[Frame]) -> Graph:
        """Run kernel 1: find the vertices, renumber, and build the arrays that searches read."""
        graph = Graph.from_edges(edges, "src", "dst", engine=self.engine)
        view = graph.storage.view()
        if not isinstance(self.engine, SpreadEngine):  # which has its rows by now
            _ = view.out, view.into  # built at first access
        return graph

    def search(self, graph: Graph, source: Array) -> Search:
        """Run kernel 2: parents and levels in the graph's own numbering, with default options."""
        return self.engine.search(graph.storage.view(), source, BfsOptions())

    def searches(
        self, graph: Graph, roots: np.ndarray, validate: bool, report: Notify
    ) -> list[dict[str, object]]:
        """Search from one root after another; return a row for each."""
        xp = self.engine.xp
        labels = xp.asarray(graph.ids.decode(xp.arange(graph.n_vertices))[0])
        sources = self._sources(graph, roots)
        report("Warming up", 0, 1)
        for i, root in enumerate(roots[: self.device.WARM_UP].tolist()):
            found = self.search(graph, sources[i : i + 1])
            self.device.to_labels(labels, found.predecessor, root, self.n_labels)
            del found
        report("Searching", 0, len(roots))
        rows = []
        for i, root in enumerate(roots.tolist()):
            rows.append(self._row(graph, labels, sources[i : i + 1], root, validate))
            report("Searching", i + 1, len(roots))
        return rows

    def streamed_seconds(self, graph: Graph, roots: np.ndarray) -> float | None:
        """Return the seconds of kernel 2 for all roots, queued one after another; None if they cannot be."""
        queue = self.engine.bfs_stream
        if queue is None:
            return None
        view, sources = graph.storage.view(), self._sources(graph, roots)

        def search_all() -> None:
            one_by_one = (sources[i : i + 1] for i in range(len(sources)))
            for found in queue(view, one_by_one, BfsOptions(), QUEUED):
                del found

        search_all()  # fills the memory pool
        return self.device.timed(search_all)[1]

    def _sources(self, graph: Graph, roots: np.ndarray) -> Array:
        """Return the internal ids of the roots."""
        xp = self.engine.xp
        return xp.asarray(graph.ids.encoder()([xp.asarray(roots)]))

    def _row(
        self, graph: Graph, labels: Array, source: Array, root: int, validate: bool
    ) -> dict[str, object]:
        """Search from one root, convert, count and validate; only the row is kept."""
        device, n = self.device, self.n_labels
        found, seconds, between_events = device.timed(lambda: self.search(graph, source))
        parent, conversion, _ = device.timed(lambda: device.to_labels(labels, found.predecessor, root, n))
        edges = sum(device.component_edges(parent, part) for part in self.src)
        verdict, checking = None, np.nan
        if validate:
            level = self.engine.xp.full(n, -1, np.int32)
            level[labels] = found.distance
            verdict, checking, _ = device.timed(
                lambda: validation.validate(parent, root, self.src, self.dst, level)
            )
        return row_of(
            root,
            seconds,
            conversion,
            between_events if found.device_seconds is None else found.device_seconds,
            edges=edges,
            vertices=int((parent >= 0).sum()),
            depth=int(found.distance.max()),
            verdict=verdict,
            checking=checking,
        )
