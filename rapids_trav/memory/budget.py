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
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import parse_bytes, readable, readable_limit

SHOWN = 3  # holders that an error names; the rest are added up

T = TypeVar("T")

__all__ = ["Budget", "holding", "parse_bytes"]


@dataclass(eq=False)
class _Claim:
    """Account of one running question, in bytes."""

    granted: int = 0  # reserved for it
    held: int = 0  # that it holds now and releases when it ends
    kept: int = 0  # that it took for objects that outlive it
    foreseen: list[Callable[[], int]] = field(default_factory=list)  # each counts the most it will hold

    @property
    def promised(self) -> int:
        """Reserved bytes that the question has not taken yet."""
        return max(self.granted - self.held - self.kept, 0)

    @contextmanager
    def foreseeing(self, later: Callable[[], int]) -> Iterator[None]:
        """Foresee, during a block, that `later()` bytes will be held in addition to those held now."""
        before, foreseen = self.held + self.kept, self.foreseen

        def count() -> int:
            return before + later()

        foreseen.append(count)
        try:
            yield
        finally:
            foreseen.remove(count)

    def most(self) -> int:
        """Return the most bytes that are foreseen; counting them may itself be refused."""
        self.foreseen, counted = [], self.foreseen
        try:
            return max((count() for count in counted), default=0)
        finally:
            self.foreseen = counted


@dataclass(eq=False)
class Held:
    """Bytes that a budget holds for a block; what is kept outlives it."""

    _budget: Budget
    n_bytes: int  # released at the end of the block
    _what: str

    def keep(self, owner: object, n_bytes: int, spare: bool = False) -> None:
        """Keep `n_bytes` of these for the lifetime of `owner`.

        If they are `spare`, the method registered with `Budget.on_shortage` can free them.
        """
        if not 0 <= n_bytes <= self.n_bytes:
            raise ValueError(f"{self._what} keeps {n_bytes} bytes but holds {self.n_bytes}")
        self.n_bytes -= n_bytes
        self._budget._keep(owner, n_bytes, self._what, spare)


class _RoomTaken(TravMemoryError):
    """A shortage that ends when other questions release their memory."""

    def __init__(self, message: str, needed: int) -> None:
        super().__init__(message)
        self.needed = needed


class Budget:
    """A limit on the bytes held at once, which any number of threads may share.

    `enough` takes the number of bytes needed and returns a limit that suffices for them.  The two differ if
    the memory that a graph holds depends on the limit.
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
        """Register the bound method that frees, on a shortage, the spare memory of `Held.keep`."""
        self._give_up = weakref.WeakMethod(give_up)

    def allocate(self, n_bytes: int, what: str, later: Callable[[], int] | None = None) -> None:
        """Take `n_bytes` for `what`, or raise the error of `refusal` without taking any."""
        if not self._take(int(n_bytes), what):
            self._free_spare()
            if not self._take(int(n_bytes), what):
                raise self.refusal(n_bytes, what, later)

    def require(self, n_bytes: int, what: str) -> None:
        """Raise the error that `allocate` would raise, without taking anything."""
        if n_bytes > self.free:
            raise self.refusal(n_bytes, what)

    def fits(self, n_bytes: int, left: int) -> bool:
        """Return whether `n_bytes` could be kept, with `left` bytes left for each question that runs alone.

        The bytes that this thread's question holds now are part of `left`, unless they are more.
        """
        with self._changed:
            held = 0 if self._claim is None else self._claim.held
            return n_bytes + max(left, held) <= self.limit - (self._lasting - self._spare)

    @contextmanager
    def hold(self, n_bytes: int, what: str, later: Callable[[], int] | None = None) -> Iterator[Held]:
        """Hold `n_bytes` for the duration of a block, in which `later()` more will be held.

        A refusal in the block names a limit that suffices for these as well, so that a caller who raises the
        limit has to do so only once.  They are counted if the question is refused; nothing is allocated.
        """
        held, claim = Held(self, int(n_bytes), what), self._claim
        self.allocate(n_bytes, what, later)
        with self._changed:
            if claim is None:  # a question may also wait for these
                self._lasting -= held.n_bytes
        try:
            with nullcontext() if claim is None or later is None else claim.foreseeing(later):
                yield held
        finally:
            with self._changed:
                self._give(held.n_bytes, what)
                if claim is not None:
                    claim.held -= held.n_bytes

    def refusal(self, n_bytes: int, what: str, later: Callable[[], int] | None = None) -> TravMemoryError:
        """Return the error for `what`, with the need, the holders of the rest and a sufficient limit.

        The limit suffices for `later()` more bytes as well.
        """
        more = 0 if later is None else later()
        whole = 0 if self._claim is None else self._claim.most()
        with self._changed:
            needed, base, free, claim = int(n_bytes), self._used, self.free, self._claim
            crowded = False
            if claim is not None:  # bytes that other questions hold for a while do not count
                needed += claim.held + claim.kept
                base = self._lasting - self._spare
                # Others may also have returned meanwhile what this question missed: it tries again, the last
                # time with all room granted to it.
                crowded = base + needed <= self.limit and (
                    self._used - self._lasting > claim.held
                    or self._promised_to_others() > 0
                    or (len(self._claims) > 1 and claim.granted < self.limit - base)
                )
        whole = max(needed + more, whole)
        held = sorted(self.held().items(), key=lambda item: -item[1])
        names = [f"{name} {readable(size)}" for name, size in held[:SHOWN] if size]
        if rest := sum(size for _, size in held[SHOWN:]):
            names.append(f"others {readable(rest)}")
        holders = f" ({', '.join(names)} held)" if names else ""
        message = (
            f"{readable(n_bytes)} are needed for {what}, and memory_limit={readable(self.limit)} leaves "
            f"{readable(free)}{holders}: give memory_limit at least "
            f"{readable_limit(self._enough(base + whole))}."
        )
        return _RoomTaken(message, min(whole, self.limit - base)) if crowded else TravMemoryError(message)

    @property
    def _claim(self) -> _Claim | None:
        """Account of the question that this thread runs; None outside a question."""
        return getattr(self._own, "claim", None)

    def _promised_to_others(self) -> int:
        return sum(claim.promised for claim in self._claims if claim is not self._claim)

    def _take(self, n_bytes: int, what: str) -> bool:
        """Take `n_bytes` for `what` if they are left; return whether they were."""
        with self._changed:
            if n_bytes < 0 or n_bytes > self.limit - self._used - self._promised_to_others():
                return False
            self._used += n_bytes
            self._peak = max(self._peak, self._used)
            self._held[what] = self._held.get(what, 0) + n_bytes
            if (claim := self._claim) is not None:
                claim.held += n_bytes
            else:
                self._lasting += n_bytes
            return True

    def _give(self, n_bytes: int, what: str) -> None:
        if not 0 <= n_bytes <= self._held.get(what, 0):
            raise ValueError(f"{what} releases {n_bytes} bytes but holds {self._held.get(what, 0)}")
        self._used -= n_bytes
        if left := self._held.pop(what, 0) - n_bytes:
            self._held[what] = left
        self._changed.notify_all()

    def _keep(self, owner: object, n_bytes: int, what: str, spare: bool) -> None:
        """Keep bytes of a block that are held for a while; see `Held.keep`."""
        spare_bytes, claim = n_bytes if spare else 0, self._claim
        with self._changed:
            self._lasting += n_bytes
            self._spare += spare_bytes
            if claim is not None:
                claim.held -= n_bytes
                claim.kept += n_bytes
        weakref.finalize(owner, self._end_of_owner, n_bytes, spare_bytes, what, claim).atexit = False

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


def holding(
    budget: Budget | None,
    n_bytes: int | Callable[[], int],
    what: str,
    later: Callable[[], int] | None = None,
) -> AbstractContextManager[object]:
    """Hold bytes, which a function may compute, of a budget, if there is one, as `Budget.hold` does."""
    if budget is None:
        return nullcontext()
    return budget.hold(n_bytes() if callable(n_bytes) else n_bytes, what, later)
