"""The columns of a whole answer, and the look-up of one source, in one launch each, for integer ids.

Array expressions would take half a dozen launches for each, and most searches take less time than that.
"""

from __future__ import annotations

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import AnswerArguments
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, vertex_dtype

_MASK_WORDS = 16  # Arrow requires masks in multiples of 64 bytes


def columns(found: Search, table: IntegerTable, n_sources: int) -> dict[str, Array | BitMasked]:
    """Return `vertex`, `distance` and, if known, `predecessor`, in ascending order of the caller's ids.

    The host does not wait for the columns: the frame is created while they are written.  The search tells how
    many values are null; `null_count` waits for that.
    """
    distance, predecessor = found.distance, found.predecessor
    n, dtype = len(distance), table.dtype
    n_unreached: cupy.ndarray = found.n_unreached
    if n_unreached is None:
        n_unreached = cupy.count_nonzero(distance < 0).astype(np.uint64).reshape(1)
    count = cupyx.empty_pinned(1, np.uint64)
    n_unreached.get(out=count, blocking=False)
    counted = cupy.cuda.Event(disable_timing=True)
    counted.record()

    words = -(-n // (32 * _MASK_WORDS)) * _MASK_WORDS
    column, mask = (n, dtype), (words, np.uint32)
    led = led_bits = None
    if predecessor is None:
        vertex, out, bits = together(column, (n, np.int32), mask)
    else:
        vertex, out, bits, led, led_bits = together(column, (n, np.int32), mask, column, mask)
    arguments = AnswerArguments(
        rank=table.rank,
        order=table.order,
        labels=table.ids,
        names=table.names,
        first=_first(table),
        n=n,
        distance=distance,
        predecessor=predecessor,
        vertex_column=vertex,
        distance_column=out,
        distance_bits=bits,
        predecessor_column=led,
        predecessor_bits=led_bits,
    )
    _kernels(table, n).launch("answer", n, arguments)
    if cupy.cuda.get_current_stream().ptr:
        counted.record()  # cuDF uses the default stream, which would not wait for this one

    def n_null() -> int:
        counted.synchronize()
        return int(count[0])

    answer: dict[str, Array | BitMasked] = {"vertex": vertex, "distance": BitMasked(out, bits, n_null)}
    if led is not None:
        # Unreached vertices and sources have no predecessor.  No source is among the unreached ones.
        answer["predecessor"] = BitMasked(led, led_bits, lambda: min(n_null() + n_sources, n))
    return answer


def locate(label: int, table: IntegerTable, n: int) -> Array:
    """Return the internal id of one vertex, (1,), on the device; -1 if the vertex is unknown."""
    found = cupy.empty(1, vertex_dtype(n))
    label = table.dtype.type(label)
    _kernels(table, n).launch("locate", 1, label, table.rank, table.ids, _first(table), n, found)
    return found


def _kernels(table: IntegerTable, n: int) -> loader.Kernels:
    return loader.load(
        "answer.cu", vertex_bits=8 * vertex_dtype(n).itemsize, LABEL_BITS=8 * table.dtype.itemsize
    )


def _first(table: IntegerTable) -> np.int64:
    return np.uint64(table.first % 2**64).view(np.int64)  # unsigned ids keep their bits
