"""An answer whose frames are on the workers, until they are fetched as futures of Dask."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from distributed import Future

from rapids_trav.distributed.session.tasks import take_frame

if TYPE_CHECKING:
    from rapids_trav.distributed.session.gang import Gang


class KeptOnWorkers:
    """What all ranks keep of one answer.

    Attributes
    ----------
    about : list
        What each rank tells of its frames.
    """

    def __init__(self, gang: Gang, token: str, results: list[tuple[object, dict[str, int] | None]]) -> None:
        self.about = [about for about, _ in results]
        self._gang = gang
        self._token = token
        self._lengths = [lengths or {} for _, lengths in results]
        self._unasked = {name for lengths in self._lengths for name in lengths}
        self._futures: dict[str, list[list[Future]]] = {}
        weakref.finalize(self, _drop, gang, token, self._unasked).atexit = False

    def futures(self, name: str) -> list[list[Future]]:
        """Return the frames of this name that each rank has, as futures on its worker.

        The ranks have handed them over when this returns: they outlive the gang.
        """
        if name not in self._futures:
            self._unasked.discard(name)
            self._futures[name] = [
                [
                    self._gang.take(take_frame, rank, self._token, name, number)
                    for number in range(lengths.get(name, 0))
                ]
                for rank, lengths in enumerate(self._lengths)
            ]
            for futures in self._futures[name]:
                for future in futures:
                    future.exception()  # which waits for it; who uses the frame raises it
        return self._futures[name]


def _drop(gang: Gang, token: str, names: set[str]) -> None:
    if names and not gang.closed:
        gang.drop(token, list(names))
