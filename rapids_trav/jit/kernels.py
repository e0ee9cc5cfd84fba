"""Compilation of CPU code and its execution on threads: Numba without interpreter lock, cached on disk.

Kernels take a range `begin, end` and are plain loops; `Threads` runs ranges on several Python threads.
This replaces Numba's own `parallel=True`: it compiles several times faster, costs a narrow BFS level nothing,
and any number of Python threads may call the engine at the same time.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from itertools import pairwise
from typing import Self, TypeVar

import numpy as np

from rapids_trav.errors import TravError, first_line
from rapids_trav.jit.launches import launched

try:
    import numba

    from rapids_trav.jit.interrupts import WATCHING, keep_interrupts
    from rapids_trav.jit.kernel_cache import KernelCache
except ValueError as error:  # NUMBA_NUM_THREADS=0, for example
    raise TravError(
        f"Numba cannot be imported ({first_line(error)}): check the environment variables that begin with "
        "NUMBA_."
    ) from error

Result = TypeVar("Result")

PIECES_PER_THREAD = 8
SHORT = 1 << 24  # edges and vertices that may be read before the calling thread leaves them to others
ENDING = 0.5  # seconds in which threads that were told to stop do so, unless they compile
_most: ContextVar[int | None] = ContextVar("rapids_trav_threads", default=None)


def kernel(function: Callable) -> Callable:
    """Compile `function` at its first call; later processes load it from Numba's cache folder."""
    require_compiler()
    dispatcher = keep_interrupts(numba.njit(nogil=True, error_model="numpy")(function))
    # Perhaps neither the package's folder nor the user's cache folder is writable.
    with contextlib.suppress(RuntimeError):
        dispatcher._cache = KernelCache(function)
    return dispatcher


def aside(work: int, function: Callable[..., Result], *arguments: object) -> Result:
    """Call a sequential kernel so that a signal ends it; its last argument is a word that is then not 0.

    Short `work`, counted in edges and vertices, is done by the calling thread.
    """
    stop = np.zeros(1, np.int64)
    if work <= SHORT:
        with undisguised():
            return function(*arguments, stop)
    return Threads(1).run_aside(lambda begin, end: function(*arguments, stop), 1, stop)[0]


@contextmanager
def undisguised() -> Iterator[None]:
    """Raise an interrupt that came while a kernel handed over arrays, which Python calls a SystemError."""
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def keeps() -> bool:
    """Return whether there is a folder in which compiled kernels can be cached."""
    with contextlib.suppress(RuntimeError):
        KernelCache(keeps)
        return True
    return False


def require_compiler() -> None:
    """Raise an error if Numba has been told not to compile: some kernels cannot run as plain Python."""
    if numba.config.DISABLE_JIT:
        raise TravError(
            "The CPU engine compiles its searches with Numba, but NUMBA_DISABLE_JIT forbids it: unset it."
        )


class Threads:
    """The threads for one piece of work, started when a step is first wide enough to share.

    The size is `NUMBA_NUM_THREADS`, by default the number of cores that the process may use, unless one is
    given or the calling thread is `limited`.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size or _most.get() or numba.config.NUMBA_NUM_THREADS
        self._pool: ThreadPoolExecutor | None = None

    @staticmethod
    @contextmanager
    def limited(size: int) -> Iterator[None]:
        """Give this size to the teams that this thread creates inside the block."""
        token = _most.set(size)
        try:
            yield
        finally:
            _most.reset(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def run(self, function: Callable, n_items: int, *arguments: object, grain: int) -> list:
        """Call `function(*arguments, begin, end)` for ranges that cover `n_items`; results come in any order.

        No range is shorter than `grain` items unless it is the only one.  A thread takes the next range when
        it has finished one, which balances unequal ranges.
        """
        launched(function.__name__)
        pieces = min(PIECES_PER_THREAD * self.size, n_items // grain)
        if pieces <= 1 or self.size == 1:
            return [function(*arguments, 0, n_items)]
        ranges = deque((n_items * i // pieces, n_items * (i + 1) // pieces) for i in range(pieces))
        results: list = []

        def work() -> None:
            while True:
                try:
                    begin, end = ranges.popleft()
                except IndexError:
                    return
                results.append(function(*arguments, begin, end))

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, thread_name_prefix="rapids_trav")
        helpers = []
        try:
            with suppress(RuntimeError):  # no more threads can start: the existing ones do all
                for _ in range(min(self.size, pieces) - 1):
                    helpers.append(self._pool.submit(work))
            work()
            for helper in helpers:
                if not helper.cancel():
                    helper.result()
        except BaseException:  # an error, or an interrupt: each of the others ends with its range
            ranges.clear()
            raise
        return results

    def run_together(
        self, function: Callable[..., Result], n_parts: int, *arguments: object, abandon: Callable[[], None]
    ) -> Result | None:
        """Call `function(*arguments, part)` for each part, all at the same time; return what part 0 returns.

        The parts may wait for each other.  If one of them raises an error, or no thread can be started for
        it, `abandon` is called, after which the others must end by themselves.  Without a thread for each of
        the parts, at most `size`, the result is None.
        """
        launched(function.__name__)
        if n_parts == 1:
            return function(*arguments, 0)
        given_up = False

        def work(part: int) -> Result | None:
            if given_up:
                return None
            try:
                return function(*arguments, part)
            except BaseException:
                abandon()
                raise

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, thread_name_prefix="rapids_trav")
        others: list[Future[Result | None]] = []
        try:
            for part in range(1, n_parts):
                others.append(self._pool.submit(work, part))
        except RuntimeError:  # no more threads can start
            given_up = True
            abandon()
        try:
            result = work(0)
        finally:
            wait(others)
        for other in others:
            other.result()  # raises the error of the part
        return result

    def run_parts(
        self, function: Callable[[int, int], Result], n_items: int, at_once: int | None = None
    ) -> list[Result]:
        """Call `function(begin, end)` for equal parts of the items, one for each thread; results in order.

        There are at most `at_once` parts, if given.  Without items `function` is called once.
        """
        n_parts = max(min(self.size, n_items, self.size if at_once is None else at_once), 1)
        results: dict[int, Result] = {}

        def run_some(begin: int, end: int) -> None:
            for part in range(begin, end):
                results[part] = function(n_items * part // n_parts, n_items * (part + 1) // n_parts)

        self.run(run_some, n_parts, grain=1)
        return [results[part] for part in range(n_parts)]

    def run_aside(
        self,
        function: Callable[[int, int], Result],
        n_items: int,
        stop: np.ndarray,
        at_once: int | None = None,
        meanwhile: Callable[[], None] = lambda: None,
        n_parts: int | None = None,
    ) -> list[Result]:
        """Do as `run_parts`, for work of seconds: the calling thread only waits, so that signals reach it.

        Python handles signals between two steps of its main thread, and a kernel is one step.  `function`
        ends soon after `stop[0]` is no longer 0 and works on arrays of its own, `meanwhile` is called every
        now and then, and there are `n_parts`, by default one for each thread.
        """
        size = max(min(self.size, n_items, self.size if at_once is None else at_once), 1)
        n_parts = size if n_parts is None else n_parts
        cuts = [n_items * part // n_parts for part in range(n_parts + 1)]
        parts: list[Future[Result]] = []
        pool = ThreadPoolExecutor(size, thread_name_prefix="rapids_trav")
        try:
            try:
                for begin, end in pairwise(cuts):
                    parts.append(pool.submit(function, begin, end))
            except RuntimeError:  # no more threads can start
                if not parts:
                    return [function(0, n_items)]
                begin = cuts[len(parts)]
                return [*(part.result() for part in parts), function(begin, n_items)]
            while wait(parts, WATCHING, FIRST_EXCEPTION).not_done:
                for part in parts:
                    if part.done():
                        part.result()  # raises its error
                meanwhile()
            meanwhile()
            return [part.result() for part in parts]
        except BaseException:
            stop[0] = 1
            for part in parts:
                part.cancel()
            wait(parts, ENDING)  # a thread may be compiling, which cannot be stopped
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
