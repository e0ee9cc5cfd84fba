"""Predecessors, found after the last level, since the fold does not carry them (docs/systems.md, K12).

`resolve` finds any valid predecessor.  A rank that claims a vertex keeps the predecessor from which it
reached the vertex, and the owner keeps the number of the finder, the rank that reported the vertex first.  A
rank claims a vertex once, so the finder claimed it in the level in which it reported it, and the predecessor
that it kept is one level nearer.  One request and one reply within each fold group bring the predecessor to
the owner: the request is a list or a bitmap, whichever is shorter, and the reply is in ascending order of the
vertices requested.

`smallest` finds the smallest predecessor.  Each rank gathers the levels of both ends of its edges and takes,
for each vertex, the smallest neighbour that is one level nearer; the owner takes the smallest of the
neighbours that the ranks send it.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.follow import Sweep, origin
from rapids_trav.engines.multigpu.local_work import Array, LocalWork
from rapids_trav.engines.multigpu.partition import Part
from rapids_trav.engines.multigpu.records import pack, unpack


def resolve(
    communicator: Communicator, part: Part, sweeps: list[Sweep], finder: Array, exchange: str
) -> Array:
    """Return the predecessors of this rank's vertices from the finder of each; -1 where that is -1."""
    work, xp, block = part.work, part.work.xp, part.grid.block
    predecessor = xp.full(block, -1, part.grid.vertex_dtype)
    for sweep in sweeps:
        wanted = [
            xp.flatnonzero(finder == sweep.base + place).astype(np.int32)
            for place in range(len(sweep.fold_group))
        ]
        own = sweep.fold_group.index(part.rank)  # a rank need not pack what it asks itself
        requests = [
            offsets if place == own else pack(work, offsets, block, exchange)
            for place, offsets in enumerate(wanted)
        ]
        received = communicator.exchange(sweep.fold_group, requests)
        asked = [m if place == own else _ascending(work, m) for place, m in enumerate(received)]
        answers = [_kept(sweep, offsets + np.int32(place * block)) for place, offsets in enumerate(asked)]
        received = communicator.exchange(
            sweep.fold_group, answers, [(np.dtype(np.int32), len(offsets)) for offsets in wanted]
        )
        for rank, offsets, local in zip(sweep.fold_group, wanted, received, strict=True):
            predecessor[offsets] = origin(part, sweep, rank, local)
    return predecessor


def smallest(
    communicator: Communicator,
    part: Part,
    sweeps: list[Sweep],
    distance: Array,
    place: Array | None = None,
) -> Array:
    """Return the smallest predecessors of this rank's vertices, from the distances of its whole block.

    With `place`, also for the whole block, the smallest predecessor is the one with the smallest place;
    places are then sent as well.
    """
    xp = part.work.xp
    least = None
    predecessor = xp.full(part.grid.block, -1, part.grid.vertex_dtype)
    for sweep in sweeps:
        from_level, to_level = (
            xp.concatenate(communicator.all_gather(group, distance))
            for group in (sweep.expand_group, sweep.fold_group)
        )
        from_place = order = None
        if place is not None:
            from_place = xp.concatenate(communicator.all_gather(sweep.expand_group, place))
            order = xp.argsort(from_place).astype(np.int32)
        best = part.work.smallest_before(sweep.edges, from_level, to_level, order)
        best = best.reshape(len(sweep.fold_group), -1)
        received = communicator.exchange(sweep.fold_group, list(best))
        vertices = [
            origin(part, sweep, rank, of) for rank, of in zip(sweep.fold_group, received, strict=True)
        ]
        keys = vertices
        if from_place is not None:
            keys = communicator.exchange(sweep.fold_group, list(from_place[best]))
        least = xp.full(len(predecessor), -1, keys[0].dtype) if least is None else least
        for local, vertex, key in zip(received, vertices, keys, strict=True):
            better = (local >= 0) & ((predecessor < 0) | (key < least))
            predecessor[better] = vertex[better]
            least[better] = key[better]
    return predecessor


def _ascending(work: LocalWork, message: Array) -> Array:
    offsets = unpack(work, message)
    if len(offsets):
        offsets.sort()
    return offsets


def _kept(sweep: Sweep, vertices: Array) -> Array:
    """Return the vertices from which this rank found the given ones."""
    assert sweep.reach.predecessor is not None
    return sweep.reach.predecessor[vertices]
