"""Streams and events."""

from __future__ import annotations

import threading
import weakref
from time import perf_counter

from cupy._counting import count
from cupy._devices import current_device
from cupy._queues import DEVICE, Queue, Work

_CURRENT = threading.local()


class Event:
    """Mark a place in the work of a stream."""

    def __init__(self, block: bool = False, disable_timing: bool = False, interprocess: bool = False) -> None:
        self.timed = not disable_timing
        self.time: float | None = None
        self._queue: Queue | None = None
        self._after = 0  # the number of the work after it

    def record(self, stream: Stream | None = None) -> None:
        queue = (stream or get_current_stream()).queue
        self.time = None

        def reached() -> None:
            self.time = perf_counter()

        with DEVICE.lock:
            self._queue, self._after = queue, DEVICE.enqueue(queue, reached) + 1

    @property
    def done(self) -> bool:
        if self._queue is None:
            return True
        with DEVICE.lock:
            if self._queue.n_run < self._after:
                self._queue.run_some()
            return self._queue.n_run >= self._after

    def synchronize(self) -> None:
        count("waits")
        if self._queue is not None:
            DEVICE.run_before(self._queue, self._after)

    def hold(self, queue: Queue) -> None:
        """Have a queue wait for the place at which the event was recorded last."""
        if self._queue is not None:
            with DEVICE.lock:
                DEVICE.wait(queue, self._queue, self._after)


class Stream:
    """A stream of the device; use it as a context to launch on it."""

    null: Stream

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self.device = None if null else current_device()
        self.queue = DEVICE.default if null else DEVICE.open(blocking=not non_blocking)
        if not null:
            weakref.finalize(self, setattr, self.queue, "in_use", False)

    @property
    def ptr(self) -> int:
        return self.queue.ptr

    @property
    def done(self) -> bool:
        with DEVICE.lock:
            self.queue.run_some()
            return self.queue.n_run == self.queue.end

    def enqueue(self, work: Work) -> None:
        if self.device not in (None, current_device()):
            raise RuntimeError(f"a stream of device {self.device} is used on device {current_device()}")
        DEVICE.enqueue(self.queue, work)

    def synchronize(self) -> None:
        count("waits")
        self.drain()

    def drain(self) -> None:
        """Run the work of the stream, for the stand-in itself."""
        DEVICE.synchronize(self.queue)

    def record(self, event: Event | None = None) -> Event:
        event = event or Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        event.hold(self.queue)

    def __enter__(self) -> Stream:
        _stack().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _stack().pop()

    def use(self) -> Stream:
        _stack()[-1] = self
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.ptr == other.ptr

    def __hash__(self) -> int:
        return hash(self.ptr)


Stream.null = Stream(null=True)


def _stack() -> list[Stream]:
    """Return the streams that this thread has entered on the current device."""
    if not hasattr(_CURRENT, "stacks"):
        _CURRENT.stacks = {}
    return _CURRENT.stacks.setdefault(current_device(), [Stream.null])


def get_current_stream() -> Stream:
    return _stack()[-1]


def get_elapsed_time(begin: Event, end: Event) -> float:
    """Return the milliseconds between two events that have been reached."""
    if begin.time is None or end.time is None or not (begin.timed and end.timed):
        raise RuntimeError("an event was not reached, or takes no time")
    return 1e3 * (end.time - begin.time)
