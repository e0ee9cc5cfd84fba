"""Answers whose frames are Dask data on the workers of their ranks."""

from __future__ import annotations

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
