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
from rapids_trav.engines.multigpu.one_launch.peers import copied_to, open_to
from rapids_trav.ids.maps import vertex_dtype


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
