"""Host memory that the GPU can access, and adjacencies stored there in the form that kernels read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, Resident
from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import readable

_OF_HOST = 1  # cudaMemoryTypeHost
UPLOAD_ROWS = 1 << 20  # offsets that are converted at a time
FEWEST_ROWS = 1 << 10  # rows for which FIXED_BYTES of the plan has room


def place_edges(
    rows: Array,
    columns: Array,
    weights: Array | None,
    both: bool,
    first: int,
    after: int,
    begin: int,
    free: Array,
    placed: Array,
    placed_weights: Array | None,
) -> None:
    """Place edges as `places.place_plainly` does, on the GPU and without temporary arrays."""
    import cupy

    from rapids_trav.engines.cuda.runtime import loader
    from rapids_trav.engines.cuda.runtime.arguments import arguments_of

    rows, columns = (cupy.ascontiguousarray(end, placed.dtype) for end in (rows, columns))
    weight_bytes = 0
    if weights is not None and placed_weights is not None:
        weights = cupy.ascontiguousarray(weights, placed_weights.dtype)
        weight_bytes = weights.dtype.itemsize
    arguments = arguments_of("external.cu", "PlaceArguments")(
        rows=rows,
        columns=columns,
        weights=weights,
        weight_bytes=weight_bytes,
        n_edges=len(rows),
        both=both,
        first=first,
        after=after,
        begin=begin,
        n_places=len(placed),
        free=free,
        placed=placed,
        placed_weights=placed_weights,
    )
    kernels = loader.load("external.cu", vertex_bits=8 * placed.dtype.itemsize)
    kernels.launch("place_edges", len(rows), arguments)


def over_host(array: Array) -> Array | None:
    """Return the GPU's view of an array from `empty_pinned`, or of a slice of one; None for other arrays."""
    import cupy

    if array.nbytes == 0:
        return cupy.empty(0, array.dtype)
    pointer, runtime = np.asarray(array).ctypes.data, cupy.cuda.runtime
    if runtime.pointerGetAttributes(pointer).type != _OF_HOST:
        return None
    memory = cupy.cuda.UnownedMemory(pointer, array.nbytes, array, runtime.getDevice())
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


def lies_outside(array: Array) -> bool:
    """Return whether an array that the GPU can access is in host memory."""
    import cupy

    return array.size > 0 and cupy.cuda.runtime.pointerGetAttributes(array.data.ptr).type == _OF_HOST


def reached(adjacency: Adjacency, head: int, begin: int) -> Adjacency:
    """Return an adjacency of host arrays in the form that kernels read.

    Offsets and first neighbours are on the device; columns stay where they are.  The device also has a copy
    of the edges before `head` and from `begin` on.
    """
    import cupy

    from rapids_trav.engines.cuda.build import in_memory

    columns = over_host(adjacency.column_indices)
    if columns is None:
        raise TravMemoryError(
            f"The edges, {readable(adjacency.column_indices.nbytes)}, are in a file, which searches on a GPU "
            f"cannot read, because too little host memory was free for them: free some and build the graph "
            f"again, or search with engine='cpu'."
        )
    found = in_memory.with_first_neighbors(_offsets(adjacency), columns)
    first, last = adjacency.column_indices[:head], adjacency.column_indices[begin:]
    kept = cupy.empty(head + len(last), first.dtype)
    kept[:head].set(first)
    kept[head:].set(last)
    return replace(found, resident=Resident(head, begin, kept) if len(kept) else None)


def on_device(adjacency: Adjacency) -> Adjacency:
    """Copy an adjacency of host arrays to the device."""
    import cupy

    from rapids_trav.engines.cuda.build import in_memory

    found = in_memory.with_first_neighbors(_offsets(adjacency), cupy.asarray(adjacency.column_indices))
    weights = None if adjacency.weights is None else cupy.asarray(adjacency.weights)
    return replace(found, weights=weights)


def _offsets(adjacency: Adjacency) -> Array:
    """Return the row offsets on the device, converted on the host: a build has no room for both dtypes."""
    import cupy

    from rapids_trav.engines.cuda.build import in_memory

    return cupy.asarray(adjacency.row_offsets.astype(in_memory.edge_type(adjacency.n_edges), copy=False))


def offsets_on_device(adjacency: Adjacency, free_bytes: int) -> Array:
    """Return the row offsets, converted block by block within the memory that pages will use later."""
    import cupy

    from rapids_trav.engines.cuda.build import in_memory

    source = adjacency.row_offsets
    offsets = cupy.empty(len(source), in_memory.edge_type(adjacency.n_edges))
    block = max(min(UPLOAD_ROWS, free_bytes // source.itemsize), FEWEST_ROWS)
    for begin in range(0, len(source), block):
        offsets[begin : begin + block] = cupy.asarray(source[begin : begin + block])
    return offsets
