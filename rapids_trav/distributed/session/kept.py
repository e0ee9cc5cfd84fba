"""Answers whose frames are Dask data on the workers of their ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from distributed import Client, Future
from distributed.protocol.pickle import loads

from rapids_trav.distributed.session.verdict import Reply

FramesOfRank = dict[str, list[Future]]  # by their name, in order


@dataclass(frozen=True)
class KeptOnWorkers:
    """Answer of all ranks whose frames are on their workers, each until no future of it is left.

    Attributes
    ----------
    about : list
        What each rank reports about its frames.
    frames : list of FramesOfRank
        The frames of each rank, as futures that are finished.
    """

    about: list
    frames: list[FramesOfRank]

    def futures(self, name: str) -> list[list[Future]]:
        """Return each rank's frames of this name."""
        return [of.get(name, []) for of in self.frames]


def received(client: Client, answer: Reply) -> list[FramesOfRank] | None:
    """Return the frames of each rank in an answer to a call, on the client's event loop; None if it has none.

    The futures are finished from the start, as `Client.scatter` makes them: the scheduler knows the frames.
    """
    replies = answer.get("replies", [])
    if not any("frames" in reply for reply in replies):
        return None
    return [
        {name: [_finished(client, key, kind) for key, _, kind in of] for name, of in frames.items()}
        for frames in (reply.get("frames", {}) for reply in replies)
    ]


def _finished(client: Client, key: str, kind: bytes) -> Future:
    future: Future = Future(key, client)
    client.futures[key].finish(type=loads(kind))
    return future


@contextmanager
def thread_for_others() -> Iterator[None]:
    """Let the worker run other tasks in this thread's place meanwhile, if a task runs the block.

    Dask's own `compute` does so, too.  Otherwise tasks that wait for others may occupy all threads.
    """
    from distributed import rejoin, secede

    try:
        secede()
    except (ValueError, KeyError):  # not in a task, or in one that has left already
        yield
        return
    try:
        yield
    finally:
        rejoin()
