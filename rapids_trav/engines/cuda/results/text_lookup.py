"""The look-up of a few strings, in one launch and one wait; see `kernels/text_lookup.cu`."""

from __future__ import annotations

from collections.abc import Sequence

import cupy
import numpy as np

from rapids_trav.engines.cuda.results.columns import HostNumbers
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.ids.maps import TextTable, vertex_dtype


def locate_texts(given: Sequence[bytes], table: TextTable, n: int) -> np.ndarray:
    """Return the internal ids of strings in UTF-8 on the host, -1 for unknown ones."""
    offsets = np.zeros(len(given) + 1, np.int64)
    np.cumsum([len(text) for text in given], out=offsets[1:])
    text = b"".join(given)
    both = cupy.asarray(np.frombuffer(offsets.tobytes() + text, np.uint8))
    vertex = vertex_dtype(n)
    kernels = loader.load(
        "text_lookup.cu", vertex_bits=8 * vertex.itemsize, OFFSET_BITS=8 * table.offset_bytes
    )
    with HostNumbers.empty(len(given), vertex) as found:
        kernels.launch(
            "locate_texts", len(given), both[offsets.nbytes :], both, len(given), table.bytes, table.offsets,
            n, table.rank, found.argument,
        )  # fmt: skip
    return found.on_host
