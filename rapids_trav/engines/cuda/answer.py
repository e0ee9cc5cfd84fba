"""The columns of a whole answer in one launch, where the caller's ids are integers.

A column built by array expressions takes half a dozen launches, and for most searches they take longer than
the search.
"""

from __future__ import annotations

import cupy
import numpy as np

from rapids_trav.engines.cuda import loader
from rapids_trav.frames import BitMasked
from rapids_trav.ids import IntegerTable
from rapids_trav.structures import Array, Search

_MASK_WORDS = 16  # Arrow wants masks in multiples of 64 bytes


def columns(found: Search, table: IntegerTable) -> dict[str, Array | BitMasked]:
    """`vertex`, `distance` and, if there is one, `predecessor`, in ascending order of the caller's ids."""
    distance, predecessor = found.distance, found.predecessor
    n, dtype = len(distance), table.dtype
    words = -(-n // (32 * _MASK_WORDS)) * _MASK_WORDS
    # One allocation for what is read back, and one each for what the frame keeps.
    valid = cupy.zeros(2, np.uint64)
    vertex, out = cupy.empty(n, dtype), cupy.empty(n, np.int32)
    bits = cupy.empty(words, np.uint32)
    led = led_bits = None
    if predecessor is not None:
        led, led_bits = cupy.empty(n, dtype), cupy.empty(words, np.uint32)
    vertex_bits = 64 if predecessor is not None and predecessor.dtype.itemsize == 8 else 32
    kernels = loader.load("answer.cu", vertex_bits=vertex_bits, LABEL_BITS=8 * dtype.itemsize)
    first = np.uint64(table.first % 2**64).view(np.int64)  # unsigned ids keep their bits
    kernels.launch(
        "answer", n, table.rank, table.order, table.ids, first, n, distance, predecessor,
        vertex, out, bits, led, led_bits, valid,
    )  # fmt: skip
    reached, n_led = (int(count) for count in valid.get())
    answer: dict[str, Array | BitMasked] = {"vertex": vertex, "distance": BitMasked(out, bits, n - reached)}
    if led is not None:
        answer["predecessor"] = BitMasked(led, led_bits, n - n_led)
    return answer
