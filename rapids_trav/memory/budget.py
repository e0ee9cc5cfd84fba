"""A memory budget: code asks it for bytes before it allocates them.

The budget counts the bytes that are declared to it, of GPU or host memory alike, so paging can be tested on
small graphs (docs/systems.md, X6).  Tests compare the declared bytes with the allocated ones.

Questions of several threads share one limit.  A question that finds too little room because others hold it
releases everything and waits in a queue until the room that it needs is free.  It then runs again with that
much reserved for it.  It holds nothing while it waits, so questions cannot deadlock.  A question that would
not fit alone is refused.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import parse_bytes, readable, readable_limit

SHOWN = 3  # holders that an error names; the rest are added up

T = TypeVar("T")
Beside = int | Callable[[], int]  # bytes, or a function that computes them when they are needed

__all__ = ["Budget", "parse_bytes"]


@dataclass(eq=False)
class _Claim:
    """Account of one running question, in bytes.

    Attributes
    ----------
    granted : int
        Bytes reserved for it.
    held : int
        Bytes that it holds now and releases when it ends.
    kept : int
        Bytes that it took for objects that outlive it.
    """

    granted: int = 0
    held: int = 0
    kept: int = 0

    @property
    def promised(self) -> int:
        """Reserved bytes that the question has not taken yet."""
        return max(self.granted - self.held - self.kept, 0)


class _RoomTaken(TravMemoryError):
    """A shortage that ends when other questions release their memory."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed


class Budget:
    """A limit on the bytes held at once, which any number of threads may share.

    Parameters
    ----------
    limit_bytes : int or str
        The limit, in a form that `parse_bytes` accepts.
    enough : callable(int) -> int, optional
        Takes the number of bytes needed and returns a limit that suffices for them; the default returns its
        argument.  The two differ if the memory that a graph holds depends on the limit.
    """

    def __init__(self, limit_bytes: int | str, enough: Callable[[int], int] = int) -> None:
        self.limit = parse_bytes(limit_bytes)
        self._enough = enough
        # Reentrant, since a finalizer may release bytes while its thread already holds the lock.
        self._changed = threading.Condition(threading.RLock())
        self._held: dict[str, int] = {}
        self._used = 0
        self._peak = 0
        self._lasting = 0  # bytes that belong to no question, of which ...
        self._spare = 0  # ... these can be freed on a shortage
        self._give_up: Callable[[], Callable[[], None] | None] = lambda: None
        self._claims: list[_Claim] = []
        self._waiting: deque[_Claim] = deque()
        self._own = threading.local()

    @property
    def used(self) -> int:
        """Bytes held now."""
        return self._used

    @property
    def free(self) -> int:
        """Bytes that this thread's question may still take, without those reserved for other questions."""
        with self._changed:
            return max(self.limit - self._used - self._promised_to_others(), 0)

    @property
    def peak(self) -> int:
        """Most bytes that were held at once; never above `limit`."""
        return self._peak

    def held(self) -> dict[str, int]:
        """Return the bytes held, by holder."""
        with self._changed:
            return dict(self._held)

    def ask(self, question: Callable[[], T]) -> T:
        """Call `question` and return its result; if others hold the room it needs, wait and call it again.

        The question must release everything that it took if it fails.  Within another question of the same
        thread, it is part of that question.
        """
        if self._claim is not None:
            return question()
        claim = _Claim()
        while True:
            with self._admitted(claim):
                try:
                    return question()
                except _RoomTaken as taken:
                    enough = taken.needed > claim.granted
                    needed = taken.needed if enough else self.limit - (self._lasting - self._spare)
            claim = _Claim(granted=needed)

    def on_shortage(self, give_up: Callable[[], None]) -> None:
        """Register the bound method that frees, on a shortage, the memory taken by `allocate_for`."""
        self._give_up = weakref.WeakMethod(give_up)

    @contextmanager
    def outlook(self, n_bytes: Beside) -> Iterator[None]:
        """Make every refusal in a block name a limit that suffices for `n_bytes` and the bytes held now.

        A question that knows its whole need announces it before the first allocation, so a caller who raises
        the limit has to do so only once.  Nothing is allocated.
        """
        held, outlooks = self._held_by_question(), self._outlooks

        def total() -> int:
            return held + (n_bytes if isinstance(n_bytes, int) else n_bytes())

        outlooks.append(total)
        try:
            yield
        finally:
            outlooks.remove(total)

    def allocate(self, n_bytes: int, what: str, beside: int = 0) -> None:
        """Take `n_bytes` for `what`.

        Raises
        ------
        TravMemoryError
            If fewer bytes are left; nothing is taken then.  The limit that the message names also suffices
            for `beside`, the bytes that will be asked for next.
        """
        if not self.try_allocate(n_bytes, what):
            self._free_spare()
            if not self.try_allocate(n_bytes, what):
                raise self.refusal(n_bytes, what, beside)

    def require(self, n_bytes: int, what: str) -> None:
        """Raise the error that `allocate` would raise, without taking anything."""
        if n_bytes > self.free:
            raise self.refusal(n_bytes, what)

    def fits(self, n_bytes: int, beside: int) -> bool:
        """Return whether `n_bytes` could be kept, with `beside` bytes left for each question that runs alone.

        The bytes that this thread's question holds now are part of `beside`, unless they are more.
        """
        with self._changed:
            held = 0 if self._claim is None else self._claim.held
            return n_bytes + max(beside, held) <= self.limit - (self._lasting - self._spare)

    def try_allocate(self, n_bytes: int, what: str) -> bool:
        """Take `n_bytes` for `what` if they are left; return whether they were."""
        n_bytes = int(n_bytes)
        with self._changed:
            if not self._take(n_bytes, what):
                return False
            if (claim := self._claim) is not None:
                claim.held += n_bytes
            else:
                self._lasting += n_bytes
            return True

    def release(self, n_bytes: int, what: str) -> None:
        """Release `n_bytes` that were taken for `what`."""
        n_bytes = int(n_bytes)
        with self._changed:
            self._give(n_bytes, what)
            if (claim := self._claim) is not None:
                claim.held -= n_bytes
            else:
                self._lasting -= n_bytes

    def allocate_for(self, owner: object, n_bytes: int, what: str) -> None:
        """Take `n_bytes` for `what` for the lifetime of `owner`, which a shortage may end."""
        self.allocate(n_bytes, what)
        self.keep_for(owner, n_bytes, what, spare=True)

    def keep_for(self, owner: object, n_bytes: int, what: str, spare: bool = False) -> None:
        """Keep `n_bytes` that this question took for `what` beyond its end, for the lifetime of `owner`.

        If they are `spare`, the method registered with `on_shortage` can free them.
        """
        spare_bytes, claim = n_bytes if spare else 0, self._claim
        with self._changed:
            if claim is not None:
                claim.held -= n_bytes
                claim.kept += n_bytes
                self._lasting += n_bytes
            self._spare += spare_bytes
        weakref.finalize(owner, self._end_of_owner, n_bytes, spare_bytes, what, claim).atexit = False

    @contextmanager
    def hold(self, n_bytes: int, what: str, beside: Beside = 0) -> Iterator[None]:
        """Hold `n_bytes` for the duration of a block, which will ask for up to `beside` more.

        A refusal, of these bytes or of any in the block, names a limit that suffices for both.
        """
        with self.outlook(lambda: int(n_bytes) + (beside if isinstance(beside, int) else beside())):
            self.allocate(n_bytes, what)
            with self._given_back(n_bytes, what):
                yield

    @contextmanager
    def _given_back(self, n_bytes: int, what: str) -> Iterator[None]:
        passing = int(n_bytes) if self._claim is None else 0  # a question may also wait for these
        with self._changed:
            self._lasting -= passing
        try:
            yield
        finally:
            with self._changed:
                self._lasting += passing
                self.release(n_bytes, what)

    def refusal(self, n_bytes: int, what: str, beside: int = 0) -> TravMemoryError:
        """Return the error for `what`, with the need, the holders of the rest and a sufficient limit."""
        whole = self._foreseen()
        with self._changed:
            needed, base, free, claim = int(n_bytes) + int(beside), self._used, self.free, self._claim
            crowded = False
            if claim is None:
                whole -= base
            else:  # bytes that other questions hold for a while do not count
                needed += claim.held + claim.kept
                base = self._lasting - self._spare
                # Others may also have returned meanwhile what this question missed: it tries again, the last
                # time with all room granted to it.
                crowded = (
                    self._used - self._lasting > claim.held
                    or self._promised_to_others() > 0
                    or (len(self._claims) > 1 and claim.granted < self.limit - base)
                )
        held = sorted(self.held().items(), key=lambda item: -item[1])
        names = [f"{name} {readable(size)}" for name, size in held[:SHOWN] if size]
        if rest := sum(size for _, size in held[SHOWN:]):
            names.append(f"others {readable(rest)}")
        holders = f" ({', '.join(names)} held)" if names else ""
        enough = readable_limit(self._enough(base + max(needed, whole)))
        message = (
            f"{readable(n_bytes)} are needed for {what}, and memory_limit={readable(self.limit)} leaves "
            f"{readable(free)}{holders}: give memory_limit at least {enough}."
        )
        if crowded and base + needed - int(beside) <= self.limit:
            return _RoomTaken(message, min(max(needed, whole), self.limit - base))
        return TravMemoryError(message)

    @property
    def _claim(self) -> _Claim | None:
        """Account of the question that this thread runs; None outside a question."""
        return getattr(self._own, "claim", None)

    @property
    def _outlooks(self) -> list[Callable[[], int]]:
        """Functions that count all bytes this thread will hold, one for each open `outlook`."""
        if not hasattr(self._own, "outlooks"):
            self._own.outlooks = []
        return self._own.outlooks

    def _held_by_question(self) -> int:
        claim = self._claim
        return self._used if claim is None else claim.held + claim.kept

    def _foreseen(self) -> int:
        """Return the most bytes that this thread has announced with `outlook`."""
        outlooks, self._own.outlooks = self._outlooks, []
        try:
            return max((total() for total in outlooks), default=0)
        finally:
            self._own.outlooks = outlooks

    def _promised_to_others(self) -> int:
        return sum(claim.promised for claim in self._claims if claim is not self._claim)

    def _take(self, n_bytes: int, what: str) -> bool:
        if n_bytes < 0 or n_bytes > self.limit - self._used - self._promised_to_others():
            return False
        self._used += n_bytes
        self._peak = max(self._peak, self._used)
        self._held[what] = self._held.get(what, 0) + n_bytes
        return True

    def _give(self, n_bytes: int, what: str) -> None:
        if not 0 <= n_bytes <= self._held.get(what, 0):
            raise ValueError(f"{what} releases {n_bytes} bytes but holds {self._held.get(what, 0)}")
        self._used -= n_bytes
        if left := self._held.pop(what, 0) - n_bytes:
            self._held[what] = left
        self._changed.notify_all()

    def _end_of_owner(self, n_bytes: int, spare_bytes: int, what: str, claim: _Claim | None) -> None:
        with self._changed:
            self._lasting -= n_bytes
            self._spare -= spare_bytes
            if claim is not None:
                claim.kept -= n_bytes
            self._give(n_bytes, what)

    def _free_spare(self) -> None:
        if (give_up := self._give_up()) is not None:
            give_up()

    @contextmanager
    def _admitted(self, claim: _Claim) -> Iterator[None]:
        """Run a block as a question, once all earlier ones have started and its reserved bytes are free."""
        with self._changed:
            self._waiting.append(claim)
            try:
                while self._waiting[0] is not claim or not self._has_room(claim):
                    self._changed.wait()
                self._claims.append(claim)
            finally:
                self._waiting.remove(claim)
                self._changed.notify_all()
        self._own.claim = claim
        try:
            yield
        finally:
            self._own.claim = None
            with self._changed:
                self._claims.remove(claim)
                self._changed.notify_all()

    def _has_room(self, claim: _Claim) -> bool:
        def fits() -> bool:
            return claim.granted <= self.limit - self._used - self._promised_to_others()

        if claim.granted and not fits():
            self._free_spare()
        return fits() or (not self._claims and self._used == self._lasting)

    def __getstate__(self) -> tuple[int, dict[str, int]]:
        """Return the limit and the bytes held; the running and waiting questions belong to this process."""
        return self.limit, self.held()

    def __setstate__(self, state: tuple[int, dict[str, int]]) -> None:
        limit, held = state
        self.__init__(limit)  # type: ignore[misc]
        for what, n_bytes in held.items():
            self.allocate(n_bytes, what)

    def __repr__(self) -> str:
        return f"<Budget: {readable(self.used)} of {readable(self.limit)}, peak {readable(self.peak)}>"
