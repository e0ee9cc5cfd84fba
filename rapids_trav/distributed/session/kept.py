"""An answer whose frames are on the workers, until they are fetched as futures of Dask."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

from distributed import Future

Part = tuple[object, dict[str, int] | None]  # what a rank tells, and how many frames of each name it keeps


class KeptOnWorkers:
    """What all ranks keep of one answer.

    Parameters
    ----------
    token : str
        Name of the answer on the workers.
    parts : sequence of Part
        Of each rank.
    take : callable
        Fetches a frame: called with the rank, the token, the name and the number of the frame.
    drop : callable
        Forgets frames that nobody can ask for any longer: called with the token and names.

    Attributes
    ----------
    about : list
        What each rank tells of its frames.
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
        """Return the frames of this name that each rank has, as futures on its worker.

        The ranks have handed them over when this returns: they outlive the gang.
        """
        if name not in self._futures:
            self._unasked.discard(name)
            self._futures[name] = [
                [self._take(rank, self.token, name, number) for number in range(counts.get(name, 0))]
                for rank, counts in enumerate(self._counts)
            ]
            for futures in self._futures[name]:
                for future in futures:
                    future.exception()  # which waits for it; who uses the frame raises it
        return self._futures[name]
