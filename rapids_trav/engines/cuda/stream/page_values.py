"""The values that pages of an asynchronous run have computed, on their way to a checkpoint.

docs/systems.md, G18, has the requirement.

The copy of a page's values follows its computation on the stream of its slot.  The host records them once the
slot is free, and before another page is launched on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.buffers import Slot, to_host
from rapids_trav.engines.cuda.stream.plan import StreamPlan

Record = Callable[[int, Array], None]  # as `RunOptions.record_page`


class PageValues:
    """The values of pages in progress on their way to `record`.

    Parameters
    ----------
    plan : StreamPlan
    values : array, (n,)
        On the device; a page writes those of its own rows.
    """

    def __init__(self, record: Record, plan: StreamPlan, values: Array) -> None:
        self._record, self._plan, self._values = record, plan, values
        self._on_host: np.ndarray = empty_pinned(len(values), values.dtype)
        self._coming: deque[tuple[int, cupy.cuda.Event]] = deque()

    def send(self, page: int, slot: Slot) -> None:
        """Copy what a page has computed, on the stream of its slot."""
        rows = slice(*self._plan.rows(page))
        to_host(self._on_host[rows], self._values[rows], slot.stream)

    def launched(self, page: int, slot: Slot) -> None:
        """Note a page whose copy ends when its slot is free, and record the one that takes the next slot."""
        self._coming.append((page, slot.free))
        self.record_until(self._plan.n_slots - 1)

    def record_until(self, n_left: int) -> None:
        """Wait for pages, and record them, until `n_left` are in progress."""
        while len(self._coming) > n_left:
            page, copied = self._coming.popleft()
            copied.synchronize()
            first, after = self._plan.rows(page)
            self._record(first, self._on_host[first:after])
