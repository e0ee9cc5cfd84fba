"""The edges of a graph in one direction, dealt to the GPUs of one process, which search them together.

The answers of all ranks are collected on one device, in the order of internal ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.predecessors import first_predecessors
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import BfsOptions, Chunks, Search
from rapids_trav.engines.multigpu.one_launch.deal_among import deal_edges
from rapids_trav.engines.multigpu.one_launch.dealing import SHARED, Dealing
from rapids_trav.engines.multigpu.one_launch.group import LaunchGroup
from rapids_trav.engines.multigpu.one_launch.peers import copied_to, open_to
from rapids_trav.engines.multigpu.one_launch.trace import levels_together
from rapids_trav.frames.columns import move
from rapids_trav.ids.maps import vertex_dtype
from rapids_trav.tuning import Layout

ROWS, LEAN_ROWS = "rows by both ends", "rows by destination alone (lean)"


class DealtRows:
    """Implementation of `engines.interface.SpreadRows` by a launch on each GPU.

    Vertices have internal ids, which are their places in the order by degree.
    """

    def __init__(self, group: LaunchGroup) -> None:
        self.group = group

    @classmethod
    def of(
        cls,
        chunks: Chunks,
        n_vertices: int,
        devices: Sequence[int],
        *,
        symmetric: bool,
        transpose: bool,
        lean: bool,
        least_pull: int,
    ) -> DealtRows:
        """Deal edges, which are on the current GPU; see `deal_edges`."""
        dealing = Dealing(n_vertices, len(devices))
        rows = deal_edges(chunks, dealing, devices, symmetric=symmetric, transpose=transpose, lean=lean)
        return cls(LaunchGroup(rows, devices, least_pull=least_pull))

    @property
    def layout(self) -> Layout:
        return self.group.ranks[0].rows.layout

    def search(self, sources: Array, options: BfsOptions) -> Search:
        """Search from all `sources` jointly, on all GPUs; the answer is on the current one."""
        dealing = self.group.dealing
        if options.targets is not None:
            options = replace(options, targets=dealing.id(move(options.targets, np).astype(np.int64)))
        given = move(sources, np).astype(np.int64)
        known = given[given >= 0]  # a source that the graph does not have is -1
        found, levels = self.group.search(dealing.id(known), options)
        whole = whole_answer(found, dealing)
        cupy.cuda.get_current_stream().synchronize()  # before the ranks' answers are freed
        return replace(whole, trace=levels_together(levels, dealing)) if options.trace else whole

    def smallest_predecessors(self, distance: Array, order: Array) -> Array:
        """Return each vertex's neighbour one level nearer that is first in `order`, or -1."""
        dealing = self.group.dealing
        levels, keys = (
            by_id(distance, dealing),
            by_id(order.astype(dealing.vertex_dtype, copy=False), dealing),
        )
        found, owned = cupy.empty(dealing.n_vertices, dealing.vertex_dtype), []
        for rank in self.group.ranks:
            here = copied_to(rank.device, levels), copied_to(rank.device, keys)
            first = dealing.first(rank.rows.rank)
            with cupy.cuda.Device(rank.device):
                owned.append(first_predecessors(rank.rows.into, first, *here))
                cupy.cuda.get_current_stream().synchronize()
        deal_back([], owned, dealing, None, found)
        cupy.cuda.get_current_stream().synchronize()
        return found.astype(order.dtype, copy=False)

    def degrees(self) -> Array:
        """Return the number of edges that lead on from each vertex, int64 (n,)."""
        dealing, here = self.group.dealing, cupy.cuda.runtime.getDevice()
        degree = cupy.empty((dealing.each, dealing.n_ranks), np.int64)
        for rank in self.group.ranks:
            with cupy.cuda.Device(rank.device):
                own = cupy.diff(rank.rows.own_offsets).astype(np.int64)
            degree[:, rank.rows.rank] = copied_to(here, own)
        return degree.reshape(-1)[: dealing.n_vertices]

    def held(self) -> list[tuple[str, int, int]]:
        """Return the name, the bytes and the GPU of each structure."""
        rows = LEAN_ROWS if self.layout == "lean" else ROWS
        of_ranks = [((rows, rank.rows.nbytes), (SHARED, rank.layout.n_bytes)) for rank in self.group.ranks]
        return [
            (name, n_bytes, rank.device)
            for rank, held in zip(self.group.ranks, of_ranks, strict=True)
            for name, n_bytes in held
        ]

    def stop(self) -> None:
        """Stop the search that runs, if any."""
        self.group.stop()


def whole_answer(found: Sequence[Search], dealing: Dealing) -> Search:
    """Return the search of all vertices, on the current device, from those of the ranks."""
    n, vertex = dealing.n_vertices, np.dtype(vertex_dtype(dealing.n_vertices))
    led = [one.predecessor for one in found if one.predecessor is not None]
    distance, predecessor = together((n, np.int32), (n if led else 0, dealing.vertex_dtype))
    deal_back([one.distance for one in found], led, dealing, distance, predecessor)
    n_unreached = found[0].n_unreached
    whole = Search(
        distance,
        n_unreached=None if n_unreached is None else _here(n_unreached),
        device_seconds=max(one.device_seconds or 0.0 for one in found),
    )
    if not led:
        return whole
    return replace(whole, predecessor=predecessor.astype(vertex, copy=False))


def deal_back(
    of_distance: Sequence[Array],
    of_predecessor: Sequence[Array],
    dealing: Dealing,
    distance: Array | None,
    predecessor: Array | None,
) -> None:
    """Write the ranks' distances and predecessors, either of which may be empty, to the vertices' places.

    The work that made them has ended.  They may be on other devices, and are read over the link, so the
    caller keeps them until the current stream has read them.
    """
    here = cupy.cuda.runtime.getDevice()
    for array in (*of_distance, *of_predecessor):
        open_to(here, array)
    addresses = [
        np.array([array.data.ptr for array in part], np.uint64) for part in (of_distance, of_predecessor)
    ]
    kernels = load("dealt.cu", vertex_bits=8 * dealing.vertex_dtype.itemsize)
    kernels.launch(
        "deal_back",
        dealing.each,
        *map(cupy.asarray, addresses),
        dealing.each,
        dealing.n_ranks,
        dealing.n_vertices,
        distance if of_distance else None,
        predecessor if of_predecessor else None,
    )


def by_id(values: Array, dealing: Dealing) -> Array:
    """Return values of vertices, given by place, in the order of ids; ids without a vertex have -1."""
    padded = cupy.full(dealing.n_ids, -1, values.dtype)
    padded[: dealing.n_vertices] = values
    return cupy.ascontiguousarray(padded.reshape(dealing.each, dealing.n_ranks).T).reshape(-1)


def _here(array: Array) -> Array:
    device = cupy.cuda.runtime.getDevice()
    return array if array.data.device_id == device else copied_to(device, array)
