"""The ranks on a worker, by gang; reached by one operation of the worker, and by its tasks."""

from __future__ import annotations

from typing import Any

from distributed.protocol import to_serialize
from distributed.worker import Worker

from rapids_trav.distributed.session.rank_actor import RankActor
from rapids_trav.errors import TravError

NAME = "rapids_trav_rank"  # of the worker's operation, and of its extension


class WorkerRanks:
    """Keep the ranks of one worker, as an extension of it."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._ranks: dict[str, RankActor] = {}

    def rank(self, gang: str) -> RankActor:
        """Return the rank of a gang."""
        if gang not in self._ranks:
            raise TravError(
                f"Worker {self._worker.address} has no part of this graph, which was closed or lost: build "
                "it again."
            )
        return self._ranks[gang]

    async def serve(self, gang: str, action: str, **arguments: Any) -> object:
        """Do what the scheduler or another worker asks of a rank."""
        if action == "start":
            self._ranks[gang] = RankActor(self._worker, gang, **arguments)
        elif action == "close":
            if (rank := self._ranks.pop(gang, None)) is not None:
                await rank.close()
        elif action in ("meet", "call"):
            return await getattr(self.rank(gang), action)(**arguments)
        elif action in ("drop", "fail"):  # of which a rank that has gone, with a restart say, needs none
            if gang in self._ranks:
                getattr(self._ranks[gang], action)(**arguments)
        elif action == "put":
            self.rank(gang).put(**arguments)
        else:
            return self._handed_out(gang, **arguments)
        return {"status": "ok"}

    def _handed_out(self, gang: str, **arguments: Any) -> dict[str, object]:
        return {"status": "ok", "frame": to_serialize(self.rank(gang).take(**arguments))}

    async def close(self) -> None:
        """Close all ranks, as the worker does when it closes."""
        for gang in list(self._ranks):
            await self._ranks.pop(gang).close()


def install(dask_worker: Worker) -> None:
    """Make a worker ready for ranks; more than once does no harm."""
    if NAME not in dask_worker.extensions:
        ranks = WorkerRanks(dask_worker)
        dask_worker.extensions[NAME] = ranks
        dask_worker.handlers[NAME] = ranks.serve
