"""Registry of the ranks on a worker, by gang, for messages to the worker and for the tasks of the worker."""

from __future__ import annotations

from typing import Any

from distributed.worker import Worker

from rapids_trav.distributed.session.rank_actor import RankActor
from rapids_trav.distributed.session.verdict import Reply
from rapids_trav.errors import TravError

NAME = "rapids_trav_rank"  # name of the worker's operation and of its extension


class WorkerRanks:
    """Extension of a Dask worker that holds the ranks on it."""

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

    async def serve(self, gang: str, action: str, **arguments: Any) -> Reply:
        """Perform an action on a rank for the scheduler or another worker."""
        if action == "start":
            self._ranks[gang] = RankActor(self._worker, gang, **arguments)
        elif action == "leave":
            if gang in self._ranks:
                await self._ranks[gang].leave()
        elif action == "close":
            if (rank := self._ranks.pop(gang, None)) is not None:
                await rank.close(**arguments)
        elif action == "stop":
            if gang in self._ranks:
                self._ranks[gang].stop(**arguments)
        elif action == "progress":
            return {"status": "ok", "progress": self.rank(gang).progress}
        elif action in ("meet", "call"):
            return await getattr(self.rank(gang), action)(**arguments)
        elif action == "fail":  # nothing to do for a rank that is gone, for example after a restart
            if gang in self._ranks:
                self._ranks[gang].fail(**arguments)
        else:
            self.rank(gang).put(**arguments)
        return {"status": "ok"}

    async def close(self) -> None:
        """Close all ranks; the worker calls it when it closes."""
        for gang in list(self._ranks):
            await self._ranks.pop(gang).close()


def install(dask_worker: Worker) -> None:
    """Prepare a worker for ranks; calling it again does no harm."""
    if NAME not in dask_worker.extensions:
        ranks = WorkerRanks(dask_worker)
        dask_worker.extensions[NAME] = ranks
        dask_worker.handlers[NAME] = ranks.serve
