"""Registration of frames that workers have stored as Dask data on the scheduler, like `Scheduler.scatter`.

If a worker is lost, Dask forgets its scattered data, and cancels tasks that need the data without giving a
reason.  So each frame also has a task, which Dask runs only in this case, on another worker: it raises an
error that names the lost worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dask._task_spec import Task
from dask.typing import Key
from distributed.scheduler import Scheduler

from rapids_trav.distributed.session.verdict import Reply, lost_worker
from rapids_trav.engines.multigpu.errors import RankError

FIRST = (0, 0, 0)  # priority of a task that takes no time


def register(scheduler: Scheduler, client: str, workers: Sequence[str], replies: Sequence[Reply]) -> None:
    """Make the frames in the replies of ranks Dask data that a client wants.

    Parameters
    ----------
    scheduler : Scheduler
    client : str
        The id of a client that is connected.
    workers, replies : sequences
        The worker and the reply of each rank; the workers are present.
    """
    who_has: dict[Key, list[str]] = {}
    nbytes: dict[Key, int] = {}
    tasks: dict[Key, Task] = {}
    for rank, (worker, reply) in enumerate(zip(workers, replies, strict=True)):
        for frames in reply.get("frames", {}).values():
            for key, size, _ in frames:
                who_has[key], nbytes[key] = [worker], size
                tasks[key] = Task(key, raise_lost, *lost_worker(worker, rank))
    scheduler.update_data(who_has=who_has, nbytes=nbytes, client=client)
    registered = [scheduler.tasks[key] for key in tasks]
    for state in registered:
        state.run_spec, state.priority = tasks[state.key], FIRST
    if (spans := scheduler.extensions.get("spans")) is not None:  # a task that runs must belong to a span
        spans.observe_tasks(registered, (), {})


def raise_lost(reason: str, rank: int) -> NoReturn:
    """Raise the error of a frame that was lost with its worker."""
    raise RankError.because(reason, rank)
