"""Copies of blocks to the GPU, on a stream of their own, while its kernels work on other blocks.

After a block's edges, the stream also copies the number of blocks copied so far.  A running kernel reads this
number and ends when half of the blocks under way have arrived, so that the host can assign their places while
the link brings the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import NamedTuple

import cupy
import cupyx
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.blocks.residency import Landed
from rapids_trav.engines.blocks.schedule import Timeline
from rapids_trav.engines.cuda.blocks.parts import Part
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.memory import Staging, aligned, bytes_to_device


class _Load(NamedTuple):
    """A block under way: `number` counts the loads, `begin` is the time when it was begun."""

    landed: Landed
    number: int
    begin: float
    filled: Future[None] | None  # done when a helper thread has begun to copy; None without one


class CopyingLoader:
    """An `engines.blocks.residency.Loading` to the memory of the GPU.

    Arrays in pinned memory are copied from there; edges in files first go into pinned buffers, which a helper
    thread fills.  Several blocks are under way, so that the link is busy while the host does something else.
    Blocks that were begun are copied from the next `start` or `landed` on.
    """

    most = 4

    def __init__(self, parts: Sequence[Part], n_places: int, timeline: Timeline | None) -> None:
        self._parts, self._timeline = parts, timeline
        places = [cupy.empty(n_places * part.size, part.source.dtype) for part in parts]
        # The places' entries of each part, by its name.
        self.held: dict[str, Array | None] = {
            part.name: array for part, array in zip(parts, places, strict=True)
        }
        self.place_words = sum(part.size for part in parts if part.name == "words")  # 0: columns are plain
        # Addresses and sizes, since a view of an array takes the host as long as the copy.
        self._targets = [array.data.ptr for array in places]
        self._sources = [part.addresses() for part in parts]
        self._sizes = [np.diff(addresses).tolist() for addresses in self._sources]
        self._n_bytes = np.sum(self._sizes, axis=0).tolist()
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._copied = [cupy.cuda.Event(disable_timing=True) for _ in range(self.most)]
        self._n_landed = 0  # blocks that have been copied
        self.landed_word = cupy.zeros(1, np.uint32)  # their number, as kernels see it
        self._n_begun = 0
        self._numbers = cupyx.empty_pinned(self.most, np.uint32)
        self._numbers_at = self._numbers.ctypes.data
        self._waiting: deque[_Load] = deque()  # for `start`
        self._coming: deque[_Load] = deque()
        self._staging: Staging | None = None
        if any(over_host(part.source) is None for part in parts):
            _, n_bytes = aligned(part.place_bytes for part in parts)
            self._staging = Staging(self.most, n_bytes, 1, "loader")
        self._device = cupy.cuda.Device().id
        # The memory may have been used before, by work that the current stream still has to do.
        self._stream.wait_event(cupy.cuda.get_current_stream().record())

    @property
    def n_coming(self) -> int:
        return len(self._waiting) + len(self._coming)

    @property
    def enough_landed(self) -> int:
        """Return the number of blocks copied with which a kernel is to end."""
        return self._n_landed + max(self.n_coming // 2, 1)

    def begin(self, block: int, place: int) -> None:
        """Ask for a block; from the next launch on nothing reads its place."""
        begin = self._timeline.now() if self._timeline else 0.0
        self._n_begun += 1
        self._waiting.append(_Load(Landed(block, place, self._n_bytes[block]), self._n_begun, begin, None))

    def start(self) -> None:
        """Start to copy the blocks asked for; what reads their places must have ended."""
        while self._waiting:
            load = self._waiting.popleft()
            if self._staging is None:
                self._copy(load, [addresses[load.landed.block] for addresses in self._sources])
            else:
                load = load._replace(filled=self._staging.submit(self._fill, load, self._staging))
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
        self._n_landed += 1
        if self._timeline:
            self._timeline.loaded(load.landed.block, load.begin)
        return load.landed

    def close(self) -> None:
        if self._staging is not None:
            self._staging.close()
        self._waiting.clear()
        self._coming.clear()
        self._stream.synchronize()

    def _fill(self, load: _Load, staging: Staging) -> None:
        """Bring the edges of a block into pinned memory, and start to copy them."""
        entries = [part.of(load.landed.block) for part in self._parts]
        filled = staging.filled(load.number % self.most, entries)
        with cupy.cuda.Device(self._device):
            self._copy(load, [part.ctypes.data for part in filled])

    def _copy(self, load: _Load, sources: Sequence[int]) -> None:
        """Copy the edges of a block from pinned memory at these addresses, and then its number."""
        (block, place, _), turn = load.landed, load.number % self.most
        for i, (part, source) in enumerate(zip(self._parts, sources, strict=True)):
            target = self._targets[i] + place * part.place_bytes
            bytes_to_device(target, source, self._sizes[i][block], self._stream)
        self._numbers[turn] = load.number
        number = self._numbers_at + turn * self._numbers.itemsize
        bytes_to_device(self.landed_word.data.ptr, number, self._numbers.itemsize, self._stream)
        self._copied[turn].record(self._stream)
