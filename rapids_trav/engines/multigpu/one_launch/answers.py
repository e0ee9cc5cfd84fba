"""Collection of the answers of all ranks on one device, in the order of internal ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime.loader import load
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import Search
from rapids_trav.engines.multigpu.one_launch.dealing import Dealing
from rapids_trav.engines.multigpu.one_launch.peers import copied_to
from rapids_trav.ids.maps import vertex_dtype


def whole_answer(found: Sequence[Search], dealing: Dealing) -> Search:
    """Return the search of all vertices, on the current device, from those of the ranks."""
    n, vertex = dealing.n_vertices, np.dtype(vertex_dtype(dealing.n_vertices))
    led = found[0].predecessor is not None
    distance, predecessor = together((n, np.int32), (n if led else 0, dealing.vertex_dtype))
    for rank, of_rank in enumerate(found):
        deal_back(of_rank.distance, of_rank.predecessor, dealing, rank, distance, predecessor)
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
    distance: Array | None,
    predecessor: Array | None,
    dealing: Dealing,
    rank: int,
    distances: Array | None,
    predecessors: Array | None,
) -> None:
    """Write a rank's distances and predecessors, either of which may be None, to the vertices' places."""
    kernels = load("dealt.cu", vertex_bits=8 * dealing.vertex_dtype.itemsize)
    here = [None if part is None else _here(part) for part in (distance, predecessor)]
    kernels.launch(
        "deal_back",
        dealing.each,
        *here,
        dealing.each,
        dealing.n_ranks,
        rank,
        dealing.n_vertices,
        distances,
        predecessors,
    )


def by_id(values: Array, dealing: Dealing) -> Array:
    """Return values of vertices, given by place, in the order of ids; ids without a vertex have -1."""
    padded = cupy.full(dealing.n_ids, -1, values.dtype)
    padded[: dealing.n_vertices] = values
    return cupy.ascontiguousarray(padded.reshape(dealing.each, dealing.n_ranks).T).reshape(-1)


def _here(array: Array) -> Array:
    device = cupy.cuda.runtime.getDevice()
    return array if array.data.device_id == device else copied_to(device, array)
