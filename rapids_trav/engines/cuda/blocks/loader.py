"""Copies of blocks to the GPU, on a stream of their own, while its kernels work on other blocks.

After a block's edges, the stream also copies the number of blocks so far.  A running kernel reads this number
and ends, so that the host can give the block its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.loading import Landed
from rapids_trav.engines.blocks.timeline import Timeline
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.buffers import to_device


class CopyingLoader:
    """An `engines.blocks.loading.Loading` to the memory of the GPU.

    Edges in pinned memory are copied from there; edges in files first go into pinned buffers, which a helper
    thread fills.  Several blocks are under way, so that the link is busy while the host does something else.

    Parameters
    ----------
    stored : sequence of arrays
        The columns of all edges and, if there are any, their weights.
    held : sequence of device arrays
        The memory for the same parts of the blocks that are on the device.

    Attributes
    ----------
    reached : list of device arrays or None
        The stored parts as kernels read them; None if they cannot.
    n_landed : int
        Blocks that have been copied.
    landed_word : uint32 device array, (1,)
        The number of blocks copied, as kernels see it.
    """

    most = 4

    def __init__(
        self, stored: Sequence[Array], held: Sequence[Array], cut: Cut, timeline: Timeline | None
    ) -> None:
        self._stored, self._held = tuple(map(np.asarray, stored)), tuple(held)
        self._cut, self._timeline = cut, timeline
        reached = [view for array in self._stored if (view := over_host(array)) is not None]
        self.reached = reached if len(reached) == len(self._stored) else None
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self.n_landed = 0
        self.landed_word = cupy.zeros(1, np.uint32)
        self._n_begun = 0
        self._numbers = empty_pinned(self.most, np.uint32)
        self._coming: deque[tuple[Landed, float, Future[cupy.cuda.Event]]] = deque()
        self._pool: ThreadPoolExecutor | None = None
        self._buffers: list[tuple[np.ndarray, ...]] = []
        if self.reached is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="rapids_trav_loader")
            self._buffers = [
                tuple(empty_pinned(1 << cut.shift, array.dtype) for array in self._stored)
                for _ in range(self.most)
            ]
        self._device = cupy.cuda.Device().id
        # The memory may have been used before, by work that the current stream still has to do.
        self._stream.wait_event(cupy.cuda.get_current_stream().record())

    @property
    def n_coming(self) -> int:
        return len(self._coming)

    def begin(self, block: int, place: int) -> None:
        """Start to copy a block; everything that reads its place must have ended."""
        n_bytes = int(self._cut.n_edges[block]) * sum(array.itemsize for array in self._stored)
        begin = self._timeline.now() if self._timeline else 0.0
        self._n_begun += 1
        copied: Future[cupy.cuda.Event]
        if self._pool is None:
            copied = Future()
            copied.set_result(self._copy(block, place, self._n_begun))
        else:
            copied = self._pool.submit(self._copy, block, place, self._n_begun)
        self._coming.append((Landed(block, place, n_bytes), begin, copied))

    def landed(self, wait: bool = False) -> Landed | None:
        if not self._coming:
            return None
        landed, begin, copied = self._coming[0]
        if not wait and not (copied.done() and copied.result().done):
            return None
        self._coming.popleft()
        copied.result().synchronize()
        self.n_landed += 1
        if self._timeline:
            self._timeline.loaded(landed.block, begin)
        return landed

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self._coming.clear()
        self._stream.synchronize()

    def _copy(self, block: int, place: int, number: int) -> cupy.cuda.Event:
        """Copy the edges of a block, which is load `number`, and the number; return the event after them."""
        shift, n_edges, turn = self._cut.shift, int(self._cut.n_edges[block]), number % self.most
        with cupy.cuda.Device(self._device):
            for i, (stored, held) in enumerate(zip(self._stored, self._held, strict=True)):
                source = stored[block << shift : (block << shift) + n_edges]
                if self._buffers:
                    buffer = self._buffers[turn][i][:n_edges]
                    np.copyto(buffer, source)
                    source = buffer
                to_device(held[place << shift : (place << shift) + n_edges], source, self._stream)
            self._numbers[turn] = number
            to_device(self.landed_word, self._numbers[turn : turn + 1], self._stream)
            event = cupy.cuda.Event(disable_timing=True)
            event.record(self._stream)
            return event
