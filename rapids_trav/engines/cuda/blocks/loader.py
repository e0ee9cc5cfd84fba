"""Copies of blocks to the GPU, on a stream of their own, while its kernels work on other blocks.

After a block's edges, the stream also copies the number of blocks so far.  A running kernel reads this number
and ends, so that the host can give the block its place.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.cut import Cut
from rapids_trav.engines.blocks.loading import Landed
from rapids_trav.engines.blocks.timeline import Timeline
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.buffers import bytes_to_device


class _Load(NamedTuple):
    """A block under way: `number` counts the loads, `begin` is the time when it was begun."""

    landed: Landed
    number: int
    begin: float
    filled: Future[None] | None  # done when a helper thread has begun to copy; None without one


class CopyingLoader:
    """An `engines.blocks.loading.Loading` to the memory of the GPU.

    Edges in pinned memory are copied from there; edges in files first go into pinned buffers, which a helper
    thread fills.  Several blocks are under way, so that the link is busy while the host does something else.
    Blocks that were begun are copied from the next `start` or `landed` on.

    Parameters
    ----------
    stored : sequence of arrays
        The columns of all edges and, if there are any, their weights.

    Attributes
    ----------
    held : pair of device arrays
        The columns and the weights of the blocks that are on the device; None if there are no weights.
    reached : pair of device arrays, or None
        The same of all edges, as kernels read them in host memory; None if they cannot.
    n_landed : int
        Blocks that have been copied.
    landed_word : uint32 device array, (1,)
        The number of blocks copied, as kernels see it.
    """

    most = 4

    def __init__(self, stored: Sequence[Array], cut: Cut, timeline: Timeline | None) -> None:
        self._stored = tuple(map(np.asarray, stored))
        self._cut, self._timeline = cut, timeline
        parts = tuple(cupy.empty(cut.room, array.dtype) for array in self._stored)
        self.held: tuple[Array | None, ...] = _pair(parts)
        seen = tuple(view for array in self._stored if (view := over_host(array)) is not None)
        self.reached: tuple[Array | None, ...] | None = (
            _pair(seen) if len(seen) == len(self._stored) else None
        )
        # Addresses, since a view of an array takes the host as long as the copy.
        self._targets = [array.data.ptr for array in parts]
        self._block_bytes = [array.itemsize << cut.shift for array in self._stored]
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._copied = [cupy.cuda.Event(disable_timing=True) for _ in range(self.most)]
        self.n_landed = 0
        self.landed_word = cupy.zeros(1, np.uint32)
        self._n_begun = 0
        self._numbers = cupyx.empty_pinned(self.most, np.uint32)
        self._waiting: deque[_Load] = deque()  # for `start`
        self._coming: deque[_Load] = deque()
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
        return len(self._waiting) + len(self._coming)

    def begin(self, block: int, place: int) -> None:
        """Ask for a block; from the next launch on nothing reads its place."""
        n_bytes = int(self._cut.n_edges[block]) * sum(array.itemsize for array in self._stored)
        begin = self._timeline.now() if self._timeline else 0.0
        self._n_begun += 1
        self._waiting.append(_Load(Landed(block, place, n_bytes), self._n_begun, begin, None))

    def start(self) -> None:
        """Start to copy the blocks asked for; what reads their places must have ended."""
        while self._waiting:
            load = self._waiting.popleft()
            if self._pool is None:
                self._copy(load)
            else:
                load = load._replace(filled=self._pool.submit(self._fill, load))
            self._coming.append(load)

    def landed(self, wait: bool = False) -> Landed | None:
        self.start()
        if not self._coming:
            return None
        load = self._coming[0]
        copied = self._copied[load.number % self.most]
        if not wait and not ((load.filled is None or load.filled.done()) and copied.done):
            return None
        self._coming.popleft()
        if load.filled is not None:
            load.filled.result()
        copied.synchronize()
        self.n_landed += 1
        if self._timeline:
            self._timeline.loaded(load.landed.block, load.begin)
        return load.landed

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown()
        self._waiting.clear()
        self._coming.clear()
        self._stream.synchronize()

    def _fill(self, load: _Load) -> None:
        """Bring the edges of a block into pinned memory, and start to copy them."""
        first, n_edges = load.landed.block << self._cut.shift, int(self._cut.n_edges[load.landed.block])
        for stored, buffer in zip(self._stored, self._buffers[load.number % self.most], strict=True):
            np.copyto(buffer[:n_edges], stored[first : first + n_edges])
        with cupy.cuda.Device(self._device):
            self._copy(load)

    def _copy(self, load: _Load) -> None:
        """Copy the edges of a block, and then its number."""
        (block, place, _), turn = load.landed, load.number % self.most
        n_edges = int(self._cut.n_edges[block])
        for i, stored in enumerate(self._stored):
            size = self._block_bytes[i]
            source = (
                self._buffers[turn][i].ctypes.data if self._buffers else stored.ctypes.data + block * size
            )
            bytes_to_device(self._targets[i] + place * size, source, n_edges * stored.itemsize, self._stream)
        self._numbers[turn] = load.number
        number = self._numbers.ctypes.data + turn * self._numbers.itemsize
        bytes_to_device(self.landed_word.data.ptr, number, self._numbers.itemsize, self._stream)
        self._copied[turn].record(self._stream)


def _pair(parts: tuple[Array, ...]) -> tuple[Array | None, ...]:
    """Return columns and weights; the weights are None if there are none."""
    return (*parts, None)[:2]
