"""An engine on several GPUs of one process, which search a graph together.

The first search in a direction deals the edges to the GPUs; `one_launch` describes how they search.  Work
that needs the values of all vertices, such as making answers, runs on the current device.  So does work that
ranks do not support, such as other variants, filters and vertex programs; it reads a second copy of the
edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.cuda.device_memory import device_memory
from rapids_trav.engines.interface import (
    BfsOptions,
    Chunks,
    Engine,
    Ordered,
    Replica,
    Search,
    SearchStream,
    SpreadRows,
    SpreadView,
    View,
)
from rapids_trav.engines.searches import one_by_one
from rapids_trav.errors import TravError, written
from rapids_trav.memory.model.search import QueryBytes
from rapids_trav.memory.model.spread import deal_bytes, dealt_bytes, layout_that_fits
from rapids_trav.tuning import Layout

# Graphs that one GPU searches faster than several, if it holds them: of few entries, since each level has a
# meeting of the GPUs, and of few entries a vertex, which have many levels with little work.  By the device's
# clock R-MAT 24 (2^29 entries) takes two H100s 0.206 ms and one 0.171 ms, R-MAT 26 (2^31) 0.472 and 0.554 ms;
# `python -m benchmarks gpu devices` measures it.
FEW_ENTRIES = 1 << 30
FEW_A_VERTEX = 8


class DevicesEngine(CudaEngine):
    """Searches on several GPUs, and everything else on the current one of them.

    Parameters
    ----------
    devices : sequence of int
        The GPU of each rank.
    base : CudaEngine
        Engine whose settings to use.
    layout : {"both", "lean"}, optional
        Layout of the rows of each rank; by default the one that fits.
    always : bool
        Whether to spread graphs that one GPU would search faster as well.

    Raises a `TravError` if there is no such GPU, or two of them cannot access each other's memory.
    """

    bfs_stream: SearchStream | None = None  # type: ignore[assignment]  # each search has all GPUs

    def __init__(
        self,
        devices: Sequence[int],
        base: CudaEngine,
        *,
        layout: Layout | None = None,
        always: bool = False,
    ) -> None:
        super().__init__(base.private_capacity, base.least_pull, base.bitmaps)
        from rapids_trav.engines.multigpu.one_launch.peers import reach_each_other

        self.devices, self._layout = tuple(devices), layout
        self._always = always or layout is not None
        here, last = self._here(), self.xp.cuda.runtime.getDeviceCount() - 1
        if max(self.devices) > last:
            raise TravError(
                f"devices={list(self.devices)} names GPU {max(self.devices)}, but this process sees GPUs 0 "
                f"to {last}: choose from these."
            )
        if here not in self.devices:
            raise TravError(
                f"devices={list(self.devices)} leaves out GPU {here}, the current one, which makes the "
                f"answers: add it, or make another one current with cupy.cuda.Device."
            )
        reach_each_other(self.devices)

    def gains(self, n_vertices: int, n_entries: int) -> bool:
        """Return whether several GPUs search a graph faster than one that holds it."""
        return self._always or (n_entries >= FEW_ENTRIES and n_entries >= FEW_A_VERTEX * n_vertices)

    def spread(
        self, chunks: Chunks, n_vertices: int, *, n_edges: int, symmetric: bool, transpose: bool
    ) -> SpreadRows:
        """Deal the edges to the GPUs; see `one_launch.deal_edges`."""
        from rapids_trav.engines.multigpu.one_launch.spread import DealtRows

        layout, n_entries = self._layout, 2 * n_edges if symmetric else n_edges
        if layout is None:
            layout = layout_that_fits(n_vertices, n_entries, self._free_of_ranks(), symmetric=symmetric)
        if layout == "lean" and not symmetric:
            raise TravError(
                "layout='lean' is for searches that follow each edge both ways: leave it out, or make the "
                "graph undirected."
            )
        needed = deal_bytes(n_vertices, n_entries, len(self.devices), layout)
        with device_memory("building the rows of a GPU", needed):
            return DealtRows.of(
                chunks,
                n_vertices,
                self.devices,
                symmetric=symmetric,
                transpose=transpose,
                lean=layout == "lean",
                least_pull=self.least_pull,
            )

    def search(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from all `sources` jointly: "auto" on all GPUs, other variants on the current one."""
        rows = _rows_of(view) if options.variant == "auto" else None
        if rows is None:
            return super().search(view, sources, options)
        with device_memory("the search", self._bytes_of_ranks(rows, view, options)):
            return rows.search(sources, options)

    def search_each(self, view: View, sources: Array, options: BfsOptions) -> Search:
        """Search from each of k `sources`: with copies of the graph on all GPUs, a part on each of them.

        A graph that does not fit each GPU is searched by all of them, from one source after another.
        """
        if options.variant != "auto" or not view.n_vertices:
            return super().search_each(view, sources, options)
        if not (replicas := cast(SpreadView, view).replicas()):
            if (rows := _rows_of(view)) is None:
                return super().search_each(view, sources, options)
            with device_memory(f"{len(sources)} searches", self._bytes_of_ranks(rows, view, options)):
                return one_by_one(self.search, view, sources, options, self.xp)
        from rapids_trav.engines.multigpu.replicas import search_on_each

        search = partial(CudaEngine.search_each, self, options=options)
        with device_memory(f"{len(sources)} searches", self._search_bytes(view, len(sources), options)):
            return search_on_each(replicas, sources, search)

    def smallest_predecessors(self, view: View, distance: Array, ordered: Ordered | None = None) -> Array:
        """Return each vertex's smallest neighbour one level closer (as `ordered`, if given), or -1."""
        rows = None if ordered is None else _rows_of(view)
        if rows is None or ordered is None:
            return super().smallest_predecessors(view, distance, ordered)
        with device_memory("the predecessors", 3 * distance.nbytes):
            found = [rows.smallest_predecessors(one, ordered.order) for one in self.xp.atleast_2d(distance)]
            return self.xp.stack(found).reshape(distance.shape)

    def replicated(self, view: View) -> Sequence[Replica]:
        """Return `view` and copies of it on the other GPUs; none if these lack the memory."""
        from rapids_trav.engines.multigpu.replicas import WORD, Copy

        n_bytes = view.out.nbytes + (0 if view.into is view.out else view.into.nbytes)
        vertex = view.out.column_indices.dtype.itemsize
        needed = n_bytes + QueryBytes(False, view.n_vertices, vertex).searches(WORD)
        here = self._here()
        others = [device for device in dict.fromkeys(self.devices) if device != here]
        for device in others:
            with self.xp.cuda.Device(device):
                if needed > self.free_bytes():
                    return ()
        with device_memory("copies of the graph on other GPUs", n_bytes):
            return [Copy.of(view, device) for device in (here, *others)]

    def _free_of_ranks(self) -> list[int]:
        """Return the free bytes of each rank's GPU, divided among the ranks there."""
        found = []
        for device in self.devices:
            with self.xp.cuda.Device(device):
                found.append(self.free_bytes() // self.devices.count(device))
        return found

    def _here(self) -> int:
        return int(self.xp.cuda.runtime.getDevice())

    def _bytes_of_ranks(self, rows: SpreadRows, view: View, options: BfsOptions) -> int:
        return dealt_bytes(
            view.n_vertices, len(self.devices), predecessors=options.predecessors, layout=rows.layout
        )


def _rows_of(view: View) -> SpreadRows | None:
    """Return the edges of a view as they are dealt to the GPUs, or None if they are not."""
    return cast(SpreadView, view).spread() if view.n_vertices else None


def spread_over(
    engine: Engine, given: str | Sequence[int], *, shared: bool = False, layout: Layout | None = None
) -> Engine:
    """Return an engine on several GPUs, "all" or those named; `engine` itself if there is one GPU only.

    With `shared`, a GPU may be named several times; `layout` is that of each GPU's rows, if it is chosen.
    """
    if engine.place != "device":
        raise TravError(
            f"devices={written(given)} is for GPUs, but the graph is on the {engine.name} engine: give a "
            f"cuDF frame or engine='cuda', or leave devices out."
        )
    if not isinstance(engine, CudaEngine):
        raise TravError(
            f"devices={written(given)} needs the engine of this package, not {written(engine)}: leave out "
            f"engine."
        )
    runtime = engine.xp.cuda.runtime
    devices = list(map(int, range(runtime.getDeviceCount()) if isinstance(given, str) else given))
    if len(set(devices)) < len(devices) and not shared:
        raise TravError(f"devices={devices} names a GPU twice: give each of them once.")
    return (
        engine
        if devices == [runtime.getDevice()]
        else DevicesEngine(devices, engine, layout=layout, always=shared)
    )
