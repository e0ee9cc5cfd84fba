"""Supply of pages in pinned memory, from which the GPU copies them.

Edges that already are in pinned memory are copied from there.  Edges in files go through pinned buffers,
which threads fill in advance.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.build.host_rows import over_host
from rapids_trav.engines.cuda.runtime.memory import host_address
from rapids_trav.engines.cuda.runtime.pinned import empty_pinned
from rapids_trav.engines.cuda.stream.plan import StreamPlan, aligned


class Task(NamedTuple):
    """A page and how its edges are read: after a "copy", by a "read" in place, or from a "kept" copy."""

    page: int
    action: str


class Ready(NamedTuple):
    """A task whose edges can be copied: columns, packed or not, and weights if there are any.

    Attributes
    ----------
    parts : tuple of (int, int)
        Address and bytes of each part.
    n_bytes : int
        Bytes of all parts.
    copied : Event or None
        Recorded after the copy, so that their buffer can be used again; None if they have none.
    """

    task: Task
    parts: tuple[tuple[int, int], ...] = ()
    n_bytes: int = 0
    copied: cupy.cuda.Event | None = None

    @classmethod
    def of(cls, task: Task, parts: Iterable[np.ndarray], copied: cupy.cuda.Event | None = None) -> Ready:
        """Return a task and the parts to copy; the caller holds their memory."""
        places = tuple((host_address(part), part.nbytes) for part in parts)
        return cls(task, places, sum(n_bytes for _, n_bytes in places), copied)


class Feed:
    """The pages of an adjacency.

    Attributes
    ----------
    reachable : bool
        Whether kernels can read the edges where they are stored.
    """

    def __init__(self, columns: Array, weights: Array | None, plan: StreamPlan) -> None:
        arrays = (columns,) if weights is None else (columns, weights)
        self._arrays = tuple(map(np.asarray, arrays))
        self._plan = plan
        self._copied_parts: dict[int, Ready] = {}  # of pages that are copied from where they are stored
        reachable = [over_host(array) is not None for array in self._arrays]
        self.reachable = all(reachable)
        self._pool: ThreadPoolExecutor | None = None
        if not (self.reachable if plan.packed is None else all(reachable[1:])):
            n = plan.n_slots
            self._pool = ThreadPoolExecutor(n, thread_name_prefix="rapids_trav pages")
            self._buffers = [empty_pinned(plan.slot_bytes, np.uint8) for _ in range(n)]
            self._copied = [cupy.cuda.Event(disable_timing=True) for _ in range(n)]

    @property
    def addresses(self) -> tuple[int, int | None]:
        """Addresses at which kernels read the columns and the weights, if they can."""
        columns, *weights = (array.ctypes.data for array in self._arrays)
        return columns, weights[0] if weights else None

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def ahead(self, tasks: Iterable[Task]) -> Iterator[Ready]:
        """Yield the tasks in order, reading ahead as many as there are buffers."""
        if self._pool is None:
            yield from map(self._stored, tasks)
            return
        reading: deque = deque()
        turn = 0
        for task in tasks:
            reading.append((task, turn, self._pool.submit(self._read, task, turn)))
            turn = (turn + 1) % len(self._buffers)
            if len(reading) == len(self._buffers):
                yield self._first_of(reading)
        while reading:
            yield self._first_of(reading)

    def _first_of(self, reading: deque) -> Ready:
        task, turn, future = reading.popleft()
        return Ready.of(task, future.result(), self._copied[turn])

    def _stored(self, task: Task) -> Ready:
        """Return a task with the parts of its page where they are stored."""
        if task.action != "copy":
            return Ready(task)
        if task.page not in self._copied_parts:
            self._copied_parts[task.page] = Ready.of(task, self._slices(task))
        return self._copied_parts[task.page]

    def _slices(self, task: Task) -> tuple[np.ndarray, ...]:
        if task.action != "copy":
            return ()
        first, last = self._plan.edges(task.page)
        columns, *weights = self._arrays
        packed = self._plan.packed
        own = (columns[first:last],) if packed is None else packed.page(first, last)
        return (*own, *(array[first:last] for array in weights))

    def _read(self, task: Task, turn: int) -> tuple[np.ndarray, ...]:
        """Read the parts of a page into a pinned buffer whose previous copy has finished."""
        parts = []
        self._copied[turn].synchronize()
        begin = 0
        for source in self._slices(task):
            part = self._buffers[turn][begin : begin + source.nbytes].view(source.dtype)
            np.copyto(part, source)
            parts.append(part)
            begin += aligned(source.nbytes)
        return tuple(parts)
