"""The device, the contenders and the clock.

Both sides allocate from one RMM pool, take sources as device arrays, and return device arrays (or frames).
"""

from __future__ import annotations

import gc
import math
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks import graphs
from benchmarks.gpu.libraries import rival_name
from benchmarks.harness import collector_off
from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.interface import BfsOptions
from rapids_trav.graph import Graph
from rapids_trav.graph500 import validation
from rapids_trav.tuning import Layout

DEFAULT = BfsOptions()
AT_ONCE = ("auto", "fused")  # variants that are launched without waiting for the device
SLOW_SECONDS = 2.0
HELD_BYTES = 16 << 30  # bytes of results held until they are checked
COPY_BYTES = 4 << 30
MOST_COPIES = 1 << 10  # copies of half as many bytes, before the queued searches begin


@dataclass(frozen=True)
class Contender:
    """A timed search, `run(prepare(root), depth_limit)`; the preparation is not timed."""

    name: str
    prepare: Callable[[int], Any]
    run: Callable[..., Any]
    result_bytes: int = 0
    waits: bool = False  # whether the host waits for the device within a search

    @property
    def most_held(self) -> int:
        """Number of results that may be held until they are checked."""
        return max(1, HELD_BYTES // max(self.result_bytes, 1))


class Lab:
    """One GPU with cuGraph.

    Parameters
    ----------
    roots : int
        Searches of each contender.
    seed : int, optional
        Seed of the roots; drawn at random if None.
    pool : int
        RMM pool in GiB.
    slow : bool
        Also run measurements that take minutes.
    """

    library = "cudf"
    variants = ("auto", "direction", "private", "frontier", "edge", "pull", "push")
    selected = ("*",)  # rows of "schedules" to measure, as patterns of graph/order/program/name
    sweep_seconds = 20.0  # after so long a sweep of "schedules" is stopped
    pooled = True  # whether GPUs that join get a pool
    end = math.inf  # when "schedules" begins no more rows
    slow_seconds = SLOW_SECONDS  # after this time no more roots are searched, if a few were

    def __init__(self, roots: int = 64, seed: int | None = None, pool: int = 60, slow: bool = False) -> None:
        import cupy
        import pylibcugraph
        import rmm
        from rmm.allocators.cupy import rmm_cupy_allocator

        rmm.reinitialize(pool_allocator=True, initial_pool_size=pool << 30)
        cupy.cuda.set_allocator(rmm_cupy_allocator)
        self._handle = pylibcugraph.ResourceHandle()
        self.xp = cupy
        self.device = validation.functions_of("cuda")
        self.n_roots = roots
        self.seed = secrets.randbelow(1 << 31) if seed is None else seed
        self.slow = slow

    # Graphs

    def load(self, name: str) -> Any:
        """Return the edge frame of that name, after everything unreachable has been freed."""
        gc.collect()
        return graphs.load(name, self.library)

    def ends(self, edges: Any) -> tuple[Any, Any]:
        """Return both columns as device arrays, not copied; lists of arrays if there are several frames."""
        if isinstance(edges, list):
            return tuple([self.xp.asarray(part[end]) for part in edges] for end in ("src", "dst"))
        return self.xp.asarray(edges["src"]), self.xp.asarray(edges["dst"])

    def every_id(self, n: int) -> Any:
        """Return the ids 0 to n - 1 as a column."""
        return import_module(self.library).Series(self.xp.arange(n, dtype="int32"))

    def roots(self, edges: Any, directed: bool = False) -> list[int]:
        """Draw different random vertices with an edge to another one, in the ids of the frame."""
        return graphs.draw(
            graphs.with_neighbor(*self.ends(edges), directed, self.xp), self.n_roots, self.seed, self.xp
        )

    def graph(self, edges: Any, **how: Any) -> Graph:
        """Build this package's graph, with the structures that are otherwise built at the first search."""
        graph = Graph.from_edges(edges, "src", "dst", **how)
        view = graph.storage.view("out")
        _ = view.out, view.into
        return graph

    def cugraph(self, edges: Any, directed: bool = False) -> Any:
        """Build cuGraph's graph of the same edges."""
        import cugraph

        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(edges, source="src", destination="dst")
        return graph

    def engine(self, bitmaps: bool) -> Any:
        """Return a CUDA engine with or without bitmaps."""
        from rapids_trav.engines.cuda import CudaEngine

        return CudaEngine(bitmaps=bitmaps)

    @property
    def n_devices(self) -> int:
        """Return the number of GPUs."""
        return self.xp.cuda.runtime.getDeviceCount()

    def let_go(self) -> None:
        """Allocate without a pool from now on, for graphs that take whole cards."""
        import rmm

        self.pooled = False
        for device in range(self.n_devices):
            with self.xp.cuda.Device(device):
                rmm.mr.set_per_device_resource(device, rmm.mr.CudaMemoryResource())

    def several(self, count: int, layout: Layout | None = None) -> Any:
        """Return an engine on the first `count` GPUs together, each with a pool of RMM until `let_go`."""
        import rmm

        from rapids_trav.engines.cuda import CudaEngine
        from rapids_trav.engines.multigpu.devices import DevicesEngine

        for device in range(1, count if self.pooled else 1):
            if type(rmm.mr.get_per_device_resource(device)) is rmm.mr.CudaMemoryResource:
                with self.xp.cuda.Device(device):
                    pool = rmm.mr.PoolMemoryResource(rmm.mr.CudaMemoryResource(), initial_pool_size=1 << 30)
                    rmm.mr.set_per_device_resource(device, pool)
        return DevicesEngine(range(count), CudaEngine(), layout=layout, always=True)

    def adjacency(self, row_offsets: Any, column_indices: Any) -> Adjacency:
        """Return rows as a CUDA engine searches them."""
        from rapids_trav.engines.cuda.build import in_memory

        return in_memory.with_first_neighbors(row_offsets, column_indices)

    # Contenders

    def ours(
        self,
        graph: Graph,
        options: BfsOptions = DEFAULT,
        *,
        name: str = "rapids_trav",
        engine: Any = None,
        view: Any = None,
    ) -> Contender:
        """Return this package's search, from an internal id to the arrays of distances and predecessors.

        It searches `view` if that is given, in place of the graph's own adjacency.
        """
        view, encode = view or graph.storage.view("out"), graph.ids.encoder()
        runner = engine or graph.engine
        vertex, label = view.out.column_indices.dtype, graph.ids.dtypes[0]

        def prepare(root: int) -> Any:
            return encode([self.xp.asarray([root], dtype=label)]).astype(vertex)

        def run(source: Any, depth_limit: int | None = None) -> Any:
            asked = options if depth_limit is None else replace(options, depth_limit=depth_limit)
            return runner.search(view, source, asked)

        n_bytes = graph.n_vertices * (4 + vertex.itemsize)
        return Contender(name, prepare, run, n_bytes, waits=options.variant not in AT_ONCE)

    def rival(self, graph: Graph, *, optimizing: bool, renumber: bool = False) -> Contender:
        """Return pylibcugraph's search of the same adjacency, unchanged or renumbered in its own order.

        It has one width for vertices and edges, so 2^31 edges make the vertices 64 bits wide as well.  It may
        overwrite its sources, so they are made for each search.
        """
        import pylibcugraph

        out = graph.storage.view("out").out
        vertex = np.result_type(out.row_offsets.dtype, out.column_indices.dtype)
        if renumber:
            edges = graph.engine.expand_rows(out)
            first, second = edges.src, edges.dst
        else:
            first, second = out.row_offsets, out.column_indices
        theirs = pylibcugraph.SGGraph(
            self._handle,
            pylibcugraph.GraphProperties(is_symmetric=not graph.directed, is_multigraph=True),
            first.astype(vertex, copy=False), second.astype(vertex, copy=False),
            store_transposed=False, renumber=renumber, do_expensive_check=False,
            input_array_format="COO" if renumber else "CSR", weight_array=None,
        )  # fmt: skip
        encode = self.ours(graph).prepare

        def prepare(root: int) -> Any:
            return encode(root).astype(vertex)

        def run(source: Any, depth_limit: int | None = None) -> Any:
            limit = -1 if depth_limit is None else depth_limit
            return pylibcugraph.bfs(self._handle, theirs, source, optimizing, limit, True, False)

        return Contender(
            rival_name(optimizing, renumber), prepare, run, 3 * graph.n_vertices * vertex.itemsize
        )

    def whole_call(self, graph: Graph) -> Contender:
        """Return `graph.bfs`, from an id to the frame of the answer."""
        return Contender("graph.bfs", int, lambda root, limit=None: graph.bfs(root, depth_limit=limit))

    def cugraph_call(self, graph: Any) -> Contender:
        """Return `cugraph.bfs`, from an id to the frame of the answer."""
        import cugraph

        return Contender("cugraph.bfs", int, lambda root, limit=None: cugraph.bfs(graph, root, limit))

    # The clock

    def synchronize(self) -> None:
        self.xp.cuda.Device().synchronize()

    def timed(self, call: Callable[[], Any]) -> tuple[Any, float]:
        """Return the result and wall-clock seconds of a call, with the device idle before and after."""
        self.synchronize()
        start = time.perf_counter()
        result = call()
        self.synchronize()
        return result, time.perf_counter() - start

    def timings(
        self,
        contender: Contender,
        roots: Sequence[int],
        *,
        check: Callable[[int, Any], None] | None = None,
        least: int = 3,
        warm_depth: int | None = None,
    ) -> list[float]:
        """Return the milliseconds from each root, one search after another.

        An untimed search runs first, to compile and to fill the pool; `warm_depth` limits its depth.  Stops
        after `slow_seconds` and `least` roots.  `check(root, result)` gets each timed result, after the clock
        has stopped.
        """
        contender.run(contender.prepare(roots[0]), warm_depth)
        sources = [contender.prepare(root) for root in roots]
        ms: list[float] = []
        held: list[tuple[int, Any]] = []

        def check_held() -> None:
            for root, result in held:
                check(root, result)
            held.clear()

        with collector_off():
            for root, source in zip(roots, sources, strict=True):
                result, seconds = self.timed(lambda source=source: contender.run(source))
                ms.append(1e3 * seconds)
                if check:
                    held.append((root, result))
                del result
                if len(held) == contender.most_held:
                    check_held()
                if sum(ms) > 1e3 * self.slow_seconds and len(ms) >= least:
                    break
        check_held()
        return ms

    def device_timings(
        self, contender: Contender, roots: Sequence[int], check: Callable[[int, Any], None]
    ) -> list[float]:
        """Return the device's milliseconds of searches that wait for each other but not for the host.

        A contender whose host `waits` within a search cannot be queued in advance: its time is from the start
        of its first kernel to the end of its last, including waits, and slow ones get fewer roots.
        """
        if contender.waits:
            return self._one_by_one(contender, roots, check)
        ms: list[float] = []
        for first in range(0, len(roots), contender.most_held):
            some = roots[first : first + contender.most_held]
            found = self._queued(contender, [contender.prepare(root) for root in some])
            for root, (result, milliseconds) in zip(some, found, strict=True):
                check(root, result)
                ms.append(milliseconds)
            del found
        return ms

    def _one_by_one(
        self, contender: Contender, roots: Sequence[int], check: Callable[[int, Any], None], least: int = 3
    ) -> list[float]:
        """Return the milliseconds between events around each search, on a device that was idle."""
        event = self.xp.cuda.Event
        contender.run(contender.prepare(roots[0]))
        ms: list[float] = []
        for root in roots:
            source, before, after = contender.prepare(root), event(), event()
            with collector_off():
                self.synchronize()
                before.record()
                result = contender.run(source)
                after.record()
                self.synchronize()
            ms.append(self.xp.cuda.get_elapsed_time(before, after))
            check(root, result)
            del result
            if sum(ms) > 1e3 * self.slow_seconds and len(ms) >= least:
                break
        return ms

    def _queued(self, contender: Contender, sources: Sequence[Any]) -> list[tuple[Any, float]]:
        """Return results and milliseconds of searches that are all queued before the first of them begins."""
        event, busy = self.xp.cuda.Event, self.xp.empty(COPY_BYTES // 2, np.uint8)
        half, n_copies = len(busy) // 2, 1
        while True:
            self.synchronize()
            for _ in range(n_copies):
                self.xp.copyto(busy[:half], busy[half:])
            marks = [(event(), event()) for _ in sources]
            results = []
            with collector_off():
                for (before, after), source in zip(marks, sources, strict=True):
                    before.record()
                    results.append(contender.run(source))
                    after.record()
            late = marks[0][0].done
            self.synchronize()
            if not late:
                elapsed = self.xp.cuda.get_elapsed_time
                return list(zip(results, [elapsed(*pair) for pair in marks], strict=True))
            if n_copies == MOST_COPIES:
                raise RuntimeError(f"{contender.name} waits for the device, so it cannot be queued")
            n_copies *= 2
            del results

    def peak_bytes(self, call: Callable[[], Any]) -> tuple[Any, float, int]:
        """Return the result, the seconds, and the peak bytes of RMM beyond those held before."""
        import rmm.statistics

        gc.collect()
        with rmm.statistics.statistics():
            result, seconds = self.timed(call)
            peak = rmm.statistics.get_statistics().peak_bytes
        return result, seconds, peak
