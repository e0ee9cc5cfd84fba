"""Searches from one source after another, queued ahead on a CUDA stream of their own.

A search may take the GPU less time than the host takes to launch it and to make a frame of its answer.  So
several searches are launched before the first of them is read: the GPU goes from one to the next while the
host, and kernels that the caller launches, process answers.  The searches share one working memory, which
each of them clears at its start (`bfs_fused.cu`), and differ only in their source and in the arrays they
write.

Invariants.  All memory is allocated, and therefore freed and reused, in the order of the caller's stream.
A search waits for all work launched on that stream before it (`ready`), since such work may still use the
memory that the search writes, or write its source.  The caller's stream waits for a search (`written`) before
its arrays are handed out; when the stream of searches ends, the host waits for those that were not read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial

import cupy
import numpy as np

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.bfs.fused import FusedSearch, Outputs, Workspace
from rapids_trav.engines.cuda.bfs.fused_view import bitmap_of
from rapids_trav.engines.cuda.runtime.streams import StreamKey, current_key
from rapids_trav.engines.interface import BfsOptions, Search, View


def search_stream(
    view: View,
    sources: Iterator[Array],
    options: BfsOptions,
    ahead: int,
    least_pull: int,
    allocating: Callable[[], AbstractContextManager[None]],
) -> Generator[Search, None, None]:
    """Yield a search from each of `sources`, (1,) each, of which -1 counts as none; else as `FusedVariant`.

    At most `ahead` searches are queued behind the one that is yielded, fewer if there is no memory for so
    many.  `allocating` returns a context for the allocations of a search.
    """
    queue = _Queue(view, options, least_pull, allocating)
    # The source of a search for which there was no memory, on the host: the caller may change the stream.
    refused: np.ndarray | None = None
    try:
        while True:
            while len(queue) <= ahead:
                source = next(sources, None) if refused is None else refused
                if source is None:
                    break
                try:
                    queue.put(source)
                    refused = None
                except MemoryError:
                    if not len(queue):
                        raise
                    refused, ahead = cupy.asnumpy(source), len(queue) - 1
            if not len(queue):
                return
            yield queue.take()
    finally:
        queue.close()


@dataclass(frozen=True)
class _Queued:
    """A search that the GPU has been given."""

    source: Array  # kept until the search has read it
    found: Search  # the arrays that it writes
    written: cupy.cuda.Event
    key: StreamKey  # the stream in whose order the arrays are allocated


class _Queue:
    """The stream of the searches, which all have the same targets, and those that have not been read."""

    def __init__(
        self,
        view: View,
        options: BfsOptions,
        least_pull: int,
        allocating: Callable[[], AbstractContextManager[None]],
    ) -> None:
        with allocating():
            self._fused = FusedSearch(view, 1, options, Workspace(), least_pull)
            self._targets = bitmap_of(options.targets, view.n_vertices)
        self._vertex, self._allocating = view.out.column_indices.dtype, allocating
        self._outputs = partial(Outputs, view.n_vertices, self._vertex, options.predecessors)
        self._stream = cupy.cuda.Stream(non_blocking=True)  # a blocking one would wait for the default stream
        self._queued: deque[_Queued] = deque()

    def __len__(self) -> int:
        return len(self._queued)

    def put(self, source: Array) -> None:
        """Launch a search from a source, which may be in host memory."""
        with self._allocating():
            outputs = self._outputs()
            source = cupy.asarray(source).astype(self._vertex, copy=False)
        ready, written = _event(), _event()
        ready.record()
        self._stream.wait_event(ready)
        with self._stream:
            self._fused.launch(source, outputs, self._targets)
            written.record()
        self._queued.append(_Queued(source, outputs.search(), written, current_key()))

    def take(self) -> Search:
        """Return the next search, with its arrays in the order of the current stream."""
        first = self._queued.popleft()
        if first.key == current_key():
            cupy.cuda.get_current_stream().wait_event(first.written)
            return first.found
        # The arrays may be overwritten in the order of another stream, so this one gets its own.
        first.written.synchronize()
        with self._allocating():
            found = _copied(first.found)
        cupy.cuda.get_current_stream().synchronize()
        return found

    def close(self) -> None:
        """Wait for all searches, so that their memory can be freed."""
        self._stream.synchronize()
        self._queued.clear()


def _event() -> cupy.cuda.Event:
    return cupy.cuda.Event(disable_timing=True)


def _copied(found: Search) -> Search:
    predecessor, n_unreached = (
        None if array is None else array.copy() for array in (found.predecessor, found.n_unreached)
    )
    return Search(found.distance.copy(), predecessor, n_unreached=n_unreached)
