"""Copies of a graph on several GPUs of one process, each of which runs a part of many searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import cupy

from rapids_trav.csr.adjacency import Adjacency, Array, EdgeList
from rapids_trav.engines.cuda.build.in_memory import expand_rows
from rapids_trav.engines.interface import Replica, Search, View
from rapids_trav.engines.multigpu.one_launch.peers import copied_to

WORD = 64  # searches that run together cost about as much as one


@dataclass(frozen=True)
class Copy:
    """The edges of a view on a GPU; implements `engines.interface.Replica`."""

    n_vertices: int
    device: int
    out: Adjacency
    into: Adjacency

    @classmethod
    def of(cls, view: View, device: int) -> Copy:
        """Copy the edges to a GPU, unless they are there."""
        out = _on_device(view.out, device)
        return cls(
            view.n_vertices, device, out, out if view.into is view.out else _on_device(view.into, device)
        )

    @property
    def coo(self) -> EdgeList:
        return expand_rows(self.out)

    @property
    def stored(self) -> Adjacency:
        return self.out


def _on_device(adjacency: Adjacency, device: int) -> Adjacency:
    if adjacency.row_offsets.data.device_id == device:
        return adjacency
    first = adjacency.first_neighbors
    return replace(
        adjacency,
        row_offsets=copied_to(device, adjacency.row_offsets),
        column_indices=copied_to(device, adjacency.column_indices),
        first_neighbors=None if first is None else copied_to(device, first),
    )


def search_on_each(
    replicas: Sequence[Replica], sources: Array, search: Callable[[View, Array], Search]
) -> Search:
    """Search from each of the sources, a part of them on each GPU; the first is the current one.

    A part consists of whole words of searches that run together.
    """
    step = WORD * -(-len(sources) // (WORD * len(replicas)))
    parts = [sources[first : first + step] for first in range(0, len(sources), step)]
    if len(parts) == 1:
        return search(replicas[0], sources)
    given = [copied_to(one.device, part) for one, part in zip(replicas, parts, strict=False)]

    def run(replica: Replica, part: Array) -> Search:
        with cupy.cuda.Device(replica.device):
            found = search(replica, part)
            cupy.cuda.get_current_stream().synchronize()
        return found

    with ThreadPoolExecutor(len(parts)) as pool:
        found = list(pool.map(run, replicas, given))
    here = replicas[0].device
    distance = cupy.concatenate([copied_to(here, one.distance) for one in found])
    led = [copied_to(here, one.predecessor) for one in found if one.predecessor is not None]
    trace = [level for one in found for level in one.trace]
    return Search(distance, cupy.concatenate(led) if led else None, trace)
