"""The Dask task that brings a frame to a rank.

The task prefers the rank's worker and normally runs there, but it may run elsewhere: a task that is bound to
a worker never runs once that worker is lost, and waiting for it never ends.  If the task runs elsewhere, it
reaches the rank through the rank's worker, and raises an error if that worker is lost.
"""

from __future__ import annotations

from distributed.protocol import to_serialize
from distributed.utils import sync
from distributed.worker import Worker, get_worker

from rapids_trav.distributed.session.worker_ranks import NAME, WorkerRanks
from rapids_trav.engines.multigpu.errors import RankError
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Frame


def put_partition(gang: str, address: str, number: int, frame: Frame) -> None:
    """Give a partition of the edges to the rank at a worker."""
    worker = get_worker()
    if worker.address == address:
        _ranks(worker).rank(gang).put(number, frame)
    else:
        _ask(worker, address, gang, action="put", number=number, frame=to_serialize(frame))


def _ranks(worker: Worker) -> WorkerRanks:
    if NAME not in worker.extensions:
        raise TravError(f"Worker {worker.address} has no part of a graph: build the graph again.")
    return worker.extensions[NAME]


def _ask(worker: Worker, address: str, gang: str, **message: object) -> dict:
    async def ask() -> dict:
        failure = await worker.scheduler.rapids_trav_failure(gang=gang)
        if failure is not None:
            raise RankError.because(*failure)
        return await getattr(worker.rpc(address), NAME)(gang=gang, **message)

    try:
        return sync(worker.loop, ask)
    except OSError as error:
        raise RankError.because(f"worker {address} was lost with its part of the edges") from error
