"""Edges dealt to ranks: each rank gets those that lead to its vertices.

`deal_among` takes the edges of ranks in a grid, which numbers vertices as `dealing` does.  A rank sends its
edges in rounds, as it does when the grid is built; here the grid has a single column, so that each edge goes
to the owner of its destination.

`deal_edges` takes edges of one process, in internal ids, which are places in the order by degree.  Ranks are
built one after another, so that only the edges of one rank at a time exist twice in addition to those given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from operator import add

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.build.in_memory import count_ids
from rapids_trav.engines.interface import Chunks
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.grid import LOCAL_IDS, Grid
from rapids_trav.engines.multigpu.local_work import MASK, SHIFT
from rapids_trav.engines.multigpu.one_launch.dealing import MOST_RANKS, Dealing
from rapids_trav.engines.multigpu.one_launch.peers import copied_to, synchronize
from rapids_trav.engines.multigpu.one_launch.rows import RankRows, lean_rows, rows_of
from rapids_trav.engines.multigpu.partition import Part, send_edges
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.memory.model.spread import deal_bytes, layout_that_fits, spread_bytes
from rapids_trav.tuning import Layout
from rapids_trav.utilities.sizes import readable

KEY_BYTES = 8  # of an edge, while lean rows are built from it


def layout_for(communicator: Communicator, part: Part, n_vertices: int, direction: str) -> Layout:
    """Return the layout of rows that fits the GPU of every rank; every rank calls it.

    Raises a `TravError` on all ranks alike, if there is none; its message is a reason, in lower case.
    """
    n_ranks, symmetric = communicator.size, is_symmetric(part, direction)
    if n_ranks > MOST_RANKS:
        raise TravError(f"a search in one launch takes {MOST_RANKS} ranks at most, and there are {n_ranks}")
    if part.grid.size * part.grid.block >= LOCAL_IDS:
        raise TravError(f"{n_vertices} vertices are more than ranks can send to each other")
    own = part.work.xp.asarray(np.array([part.n_edges, part.work.free_bytes()], np.int64))
    forms = [(own.dtype, 2)] * n_ranks
    gathered = np.stack([move(of, np) for of in communicator.all_gather(communicator.everyone, own, forms)])
    n_entries = int(gathered[:, 0].sum()) * (2 if part.directed and direction == "both" else 1)
    free = gathered[:, 1].tolist()
    layout = layout_that_fits(n_vertices, n_entries, free, symmetric=symmetric)
    needed = spread_bytes(n_vertices, n_entries, n_ranks, layout)
    if layout == "lean":
        keys = KEY_BYTES * -(-n_entries // n_ranks)
        needed = max(needed, keys + deal_bytes(n_vertices, n_entries, n_ranks, layout))
    if needed > min(free):
        raise TravError(
            f"rank {free.index(min(free))} has {readable(min(free))} free on its GPU, and rows for one "
            f"launch take {readable(needed)}"
        )
    return layout


def deal_among(
    communicator: Communicator, part: Part, dealing: Dealing, direction: str, layout: Layout, round_edges: int
) -> RankRows:
    """Build the rows of this rank from the edges of all, in the grid; every rank calls it.

    In a round a rank sends and receives `round_edges` edges at most.
    """
    owners = Grid(communicator.size, 1, dealing.n_ids)
    edges = _edges(part, direction, round_edges)
    keys, _, _ = send_edges(communicator, owners, edges, part.work, directed=True, round_edges=round_edges)
    rank, symmetric = communicator.rank, is_symmetric(part, direction)
    if layout == "lean":
        here = cupy.cuda.runtime.getDevice()
        return lean_rows(dealing, rank, here, lambda: (_ends(of, dealing) for of in keys))
    rows = rows_of(dealing, rank, list(_emptied(keys, dealing)))
    if symmetric:
        return rows
    counts = cupy.diff(rows.out.row_offsets).astype(np.int64)
    sent = list(counts.reshape(dealing.n_ranks, dealing.each))
    forms = [(np.dtype(np.int64), dealing.each)] * dealing.n_ranks
    degrees = communicator.exchange(communicator.everyone, sent, forms)
    return rows.with_degrees(reduce(add, degrees))


def is_symmetric(part: Part, direction: str) -> bool:
    """Return whether each edge that a search follows has its reverse."""
    return not part.directed or direction == "both"


def _edges(part: Part, direction: str, at_once: int) -> Iterator[tuple[Array, Array]]:
    """Yield the ids of both ends of this rank's edges, in the direction in which they are followed."""
    row, column = part.grid.place(part.rank)
    offsets, targets = part.by_source.offsets[1:], part.by_source.targets
    for begin in range(0, len(targets), at_once):
        entries = cupy.arange(begin, min(begin + at_once, len(targets)), dtype=offsets.dtype)
        local = cupy.searchsorted(offsets, entries, side="right").astype(np.int32)
        source = part.grid.source(column, local)
        destination = part.grid.destination(row, targets[begin : begin + at_once])
        if not part.directed or direction != "in":
            yield source, destination
        if part.directed and direction != "out":
            back = source != destination if direction == "both" else slice(None)
            yield destination[back], source[back]


def _ends(keys: Array, dealing: Dealing) -> tuple[Array, Array]:
    """Return the places of the sources, and the numbers of the own destinations, of edges."""
    place = dealing.place(keys >> SHIFT)
    return place.astype(dealing.vertex_dtype), (keys & MASK).astype(dealing.vertex_dtype)


def _emptied(keys: list[Array], dealing: Dealing) -> Iterator[tuple[Array, Array]]:
    """Yield the ends of edges, and let go of their keys."""
    while keys:
        yield _ends(keys.pop(), dealing)


_AT_ONCE = 1 << 24  # edges of which a rank's are chosen together, so that temporary arrays stay small


def deal_edges(
    chunks: Chunks,
    dealing: Dealing,
    devices: Sequence[int],
    *,
    symmetric: bool = False,
    transpose: bool = False,
    lean: bool = False,
) -> list[RankRows]:
    """Build the rows of each rank on its device, from edges on the current one.

    Each call of `chunks` yields all edges u -> v as pairs of arrays.  Searches follow them both ways if
    `symmetric`, from v to u if `transpose`.  With `lean`, only if `symmetric`, ranks have the rows of their
    own vertices alone.
    """
    degrees = None if symmetric else _out_degrees(chunks, dealing, transpose)
    rows = []
    for rank, device in enumerate(devices):
        of_this = partial(_on_device, device, chunks, dealing, rank, symmetric, transpose)
        if lean:
            rows.append(lean_rows(dealing, rank, device, of_this))
            synchronize(device)
            continue
        edges = list(of_this())
        of_rank = None if degrees is None else copied_to(device, degrees[rank])
        with cupy.cuda.Device(device):
            rows.append(rows_of(dealing, rank, edges, of_rank))
        synchronize(device)
        del edges
    return rows


def _on_device(
    device: int, chunks: Chunks, dealing: Dealing, rank: int, symmetric: bool, transpose: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the edges of a rank as `_of_rank` does, on its device."""
    for place, own in _of_rank(chunks, dealing, rank, symmetric, transpose):
        yield copied_to(device, place), copied_to(device, own)


def _of_rank(
    chunks: Chunks, dealing: Dealing, rank: int, symmetric: bool, transpose: bool
) -> Iterator[tuple[Array, Array]]:
    """Yield the places of the sources, and the numbers of the destinations, of a rank's edges."""
    n_ranks = dealing.n_ranks
    for u, v in chunks():
        if transpose:
            u, v = v, u
        for first in range(0, len(u), _AT_ONCE):
            source, destination = u[first : first + _AT_ONCE], v[first : first + _AT_ONCE]
            mine = destination % n_ranks == rank
            yield source[mine], destination[mine] // n_ranks
            if symmetric:  # a self-loop leads back to its vertex once
                mine = (source % n_ranks == rank) & (source != destination)
                yield destination[mine], source[mine] // n_ranks


def _out_degrees(chunks: Chunks, dealing: Dealing, transpose: bool) -> Array:
    """Count the edges that leave each vertex, by rank and number."""
    degree = cupy.zeros(dealing.n_ids, np.int64)
    for u, v in chunks():
        count_ids(v if transpose else u, degree)
    return cupy.ascontiguousarray(degree.reshape(dealing.each, dealing.n_ranks).T)
