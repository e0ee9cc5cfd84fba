"""Work of the device, which runs late and in random order.

A queue, one for each stream, holds what it is given until somebody waits for it or, now and then, runs a part
of it.  The order is random as far as streams and events allow, so that a missing wait gives a wrong answer
under some seed; EMULATED_SEED chooses it.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
import time
from collections import deque
from collections.abc import Callable

from cupy._errors import CUDARuntimeError

Work = Callable[[], object]


OPENED: dict[int, object] = {}  # memory of other processes by its address, one piece for each rank there


class Joint:
    """Work that waits for its like in other queues, so that all of it has to run at the same time.

    One thread enqueues all of it before it waits for any.  Several threads enqueue a part each, so those that
    are not the main one have patience until the whole number is there, unless a part never comes.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._patient_until: float | None = None

    def is_ready(self, n_there: int) -> bool:
        """Return whether to run, if so many pieces of the work are there."""
        if n_there + len(OPENED) >= self.number or threading.current_thread() is threading.main_thread():
            return True
        if self._patient_until is None:
            self._patient_until = time.monotonic() + _PATIENCE
        return time.monotonic() > self._patient_until

    def run_with(self, others: list[Joint]) -> None:
        raise NotImplementedError


RANDOM = random.Random()
_RUN_SOME = 0.3  # how often a launch runs some work of a random queue
_MOST_AT_ONCE = 4
_PATIENCE = 5.0  # seconds
_FIRST_POINTER = 3  # those below are CUDA's own streams


def seed_order(name: str) -> None:
    """Let the order of what follows depend only on EMULATED_SEED and a name, such as that of a test."""
    RANDOM.seed(f"{os.environ.get('EMULATED_SEED', '0')} {name}")


seed_order("")


class Queue:
    """The work of a stream in its order; the first `n_run` pieces have run.

    A blocking queue and the default queue wait for each other, as CUDA's streams do.
    """

    def __init__(self, ptr: int, blocking: bool) -> None:
        self.ptr, self.blocking = ptr, blocking
        self.in_use = True
        self.n_run = 0
        self._waiting: deque[Work | Joint] = deque()

    @property
    def end(self) -> int:
        """Return the number that the next piece of work gets."""
        return self.n_run + len(self._waiting)

    @property
    def joint(self) -> int | None:
        """Return the number of the next joint work, if there is any."""
        places = (i for i, work in enumerate(self._waiting) if isinstance(work, Joint))
        place = next(places, None)
        return None if place is None else self.n_run + place

    def append(self, work: Work | Joint) -> int:
        self._waiting.append(work)
        return self.end - 1

    def run_before(self, number: int) -> None:
        """Run the pieces of work with a smaller number."""
        while self.n_run < number:
            work = self.take()
            if isinstance(work, Joint):
                work.run_with(DEVICE.like(self))
            else:
                work()

    def take(self) -> Work | Joint:
        """Return the next work, which the caller runs."""
        self.n_run += 1
        return self._waiting.popleft()

    def run_some(self, joint: bool = True) -> None:
        """Run a random part; without `joint`, only up to work that may wait for what is not there yet."""
        place = self.joint
        if place is not None and joint:
            work = self._waiting[place - self.n_run]
            assert isinstance(work, Joint)
            joint = work.is_ready(DEVICE.n_joint())
        most = self.end if joint or place is None else place
        self.run_before(min(most, self.n_run + RANDOM.randint(1, _MOST_AT_ONCE)))


class Device:
    """The queues of the device."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.default = Queue(0, blocking=False)
        self._queues = {0: self.default}
        self._pointers = itertools.count(_FIRST_POINTER)
        self._released: deque[tuple[Queue, Work]] = deque()
        self._kept: list[object] = []
        self._error: str | None = None

    def open(self, blocking: bool) -> Queue:
        with self.lock:
            for queue in list(self._queues.values()):
                if not queue.in_use and queue.n_run == queue.end:
                    del self._queues[queue.ptr]
            queue = Queue(next(self._pointers), blocking)
            self._queues[queue.ptr] = queue
            return queue

    def queue_of(self, ptr: int) -> Queue:
        return self._queues[ptr]

    def like(self, queue: Queue) -> list[Joint]:
        """Take the next joint work of each other queue, which runs up to there."""
        found = []
        for other in list(self._queues.values()):
            if other is not queue and other.joint is not None:
                other.run_before(other.joint)
                found.append(other.take())
        return found

    def n_joint(self) -> int:
        """Return the number of queues with joint work."""
        return sum(queue.joint is not None for queue in self._queues.values())

    def enqueue(self, queue: Queue, work: Work | Joint) -> int:
        """Add work to a queue, perhaps run some of any queue, and return the number of the work."""
        with self.lock:
            self._take_released()
            for other in self._before(queue):
                self.wait(queue, other, other.end)
            number = queue.append(work)
            if RANDOM.random() < _RUN_SOME:
                RANDOM.choice(list(self._queues.values())).run_some(joint=False)
            return number

    def _before(self, queue: Queue) -> list[Queue]:
        """Return the queues whose earlier work comes first without any event."""
        if queue is self.default:
            return [other for other in self._queues.values() if other.blocking]
        return [self.default] if queue.blocking else []

    @staticmethod
    def wait(queue: Queue, other: Queue, number: int) -> None:
        """Have a queue wait until another one has run the work before a number."""
        if other.n_run < number:
            queue.append(lambda: other.run_before(number))

    def release(self, queue: Queue, work: Work) -> None:
        """Add work that frees memory; finalizers call this at any time, and take no lock."""
        self._released.append((queue, work))

    def keep(self, memory: object) -> None:
        """Keep freed memory until the device is idle, since work that does not wait may still use it."""
        self._kept.append(memory)

    def _take_released(self) -> None:
        while self._released:
            queue, work = self._released.popleft()
            queue.append(work)

    def run_before(self, queue: Queue, number: int) -> None:
        """Run a queue up to a number, with the work of others for which it waits."""
        with self.lock:
            self._take_released()
            queue.run_before(number)
            self.check()

    def synchronize(self, queue: Queue) -> None:
        """Run a queue, and those with which it waits for each other, to their end."""
        with self.lock:
            self._run_all([*self._before(queue), queue])

    def synchronize_all(self) -> None:
        with self.lock:
            self._run_all(list(self._queues.values()))

    def _run_all(self, queues: list[Queue]) -> None:
        self._take_released()
        while any(queue.n_run < queue.end for queue in queues):
            for queue in queues:
                queue.run_before(queue.end)
            self._take_released()  # what ran may have been the last to hold some memory
        if all(queue.n_run == queue.end for queue in self._queues.values()):
            self._kept.clear()
        self.check()

    def fail(self, reason: str) -> None:
        """Keep an error until somebody waits, since the code that runs now is not to blame."""
        self._error = self._error or reason

    def check(self) -> None:
        error, self._error = self._error, None
        if error is not None:
            raise CUDARuntimeError(error)


DEVICE = Device()
