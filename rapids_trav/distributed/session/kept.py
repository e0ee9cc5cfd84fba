"""Answers whose frames stay on the workers until they are fetched as Dask futures."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress

from distributed import Future, wait

Part = tuple[object, dict[str, int] | None]  # a rank's result, and how many frames of each name it keeps


class KeptOnWorkers:
    """Frames of one answer that the ranks keep.

    Parameters
    ----------
    token : str
        Name of the answer on the workers.
    parts : sequence of Part
        The part of each rank, in their order.
    take : callable
        Fetches a frame: called with the rank, the token, the name and the number of the frame.
    drop : callable
        Drops frames that can no longer be asked for: called with the token and names.

    Attributes
    ----------
    about : list
        What each rank reports about its frames.
    """

    def __init__(
        self,
        token: str,
        parts: Sequence[Part],
        take: Callable[[int, str, str, int], Future],
        drop: Callable[[str, set[str]], None],
    ) -> None:
        self.about: list = [about for about, _ in parts]
        self.token = token
        self._take = take
        self._counts = [counts or {} for _, counts in parts]
        self._unasked = {name for counts in self._counts for name in counts}
        self._futures: dict[str, list[list[Future]]] = {}
        weakref.finalize(self, drop, token, self._unasked).atexit = False

    def futures(self, name: str) -> list[list[Future]]:
        """Return each rank's frames of this name, as futures on its worker.

        When this returns, the ranks have handed the frames over to Dask, so the frames outlive the gang.
        """
        if name not in self._futures:
            self._unasked.discard(name)
            self._futures[name] = [
                [self._take(rank, self.token, name, number) for number in range(counts.get(name, 0))]
                for rank, counts in enumerate(self._counts)
            ]
            with suppress(CancelledError):  # an error is raised where the frame is used
                wait([future for futures in self._futures[name] for future in futures])
        return self._futures[name]
