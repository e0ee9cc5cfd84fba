"""Identity and state of CUDA streams."""

from __future__ import annotations

import threading
from typing import NamedTuple

import cupy

_NOT_READY = 600  # cudaErrorNotReady


class StreamKey(NamedTuple):
    """A stream of a device; work of equal keys runs in the order in which it is launched."""

    device: int
    ptr: int
    thread: int


def current_key() -> StreamKey:
    """Return the key of CuPy's current stream in this thread."""
    ptr = cupy.cuda.get_current_stream().ptr
    # The per-thread default stream has a single number but is a separate stream in each thread.
    thread = threading.get_ident() if ptr == cupy.cuda.runtime.streamPerThread else 0
    return StreamKey(cupy.cuda.runtime.getDevice(), ptr, thread)


def has_ended(stream: cupy.cuda.Stream) -> bool:
    """Return whether all work on a stream has ended; raise the error of a kernel that failed.

    After an error, CuPy's `Stream.done` is False for ever.
    """
    status = cupy.cuda.runtime.streamQuery(stream.ptr)
    if status not in (0, _NOT_READY):
        stream.synchronize()  # raises the error
    return bool(status == 0)
