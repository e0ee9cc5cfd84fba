"""Scheduler plugin that starts ranks on workers, passes requests to them one at a time, and ends them.

A client sends a request as one message to the scheduler, which forwards it to all ranks at once, waits for
all of them and returns their answers.  This runs on the scheduler and not on a worker because a cluster has
exactly one scheduler: it orders the requests of all clients, it outlives workers and clients, and it is the
first to know that one of them is gone.  While a request is in progress, the scheduler itself holds the turn
at the workers (`Tickets`), so a client that dies during its request leaves nothing behind.  Only requests and
answers pass through the scheduler, never the data that ranks exchange with each other.

Frames that workers have stored are registered as Dask data, as `Scheduler.scatter` does.  If a worker is
lost, Dask forgets its scattered data, and cancels tasks that need the data without giving a reason.  So each
frame also has a task, which Dask runs only in this case, on another worker: it raises an error that names the
lost worker.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import NoReturn

from dask._task_spec import Task
from dask.typing import Key
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.pickle import dumps
from distributed.scheduler import Scheduler, WorkerState

from rapids_trav.distributed.session.rank_actor import (
    FAILED,
    LATE,
    LOST,
    Failure,
    Reply,
    failure_of,
    install,
    lost_worker,
)
from rapids_trav.engines.multigpu.communicator import WAS_CLOSED, RankError
from rapids_trav.errors import first_line

FIRST = (0, 0, 0)  # priority of a task that takes no time


def register(scheduler: Scheduler, client: str, workers: Sequence[str], replies: Sequence[Reply]) -> None:
    """Make the frames in the replies of ranks, whose workers are present, Dask data that a client wants."""
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


@dataclass(eq=False)
class _Ticket:
    workers: frozenset[str]
    granted: asyncio.Event


class Tickets:
    """Queue of requests for sets of workers.

    A request is granted when no earlier one wants any of its workers.  So no request overtakes another at any
    worker, and the oldest can always proceed: none waits forever.
    """

    def __init__(self) -> None:
        self._queue: list[_Ticket] = []

    @asynccontextmanager
    async def turn(self, workers: Iterable[str]) -> AsyncIterator[None]:
        """Wait for the turn at all of these workers; the turn ends with the `with` block."""
        ticket = _Ticket(frozenset(workers), asyncio.Event())
        self._queue.append(ticket)
        self._grant()
        try:
            await ticket.granted.wait()
            yield
        finally:
            self._queue.remove(ticket)
            self._grant()

    def waiting(self) -> dict[str, int]:
        """Return the number of requests queued at each worker, including the current one."""
        return dict(Counter(worker for ticket in self._queue for worker in ticket.workers))

    def _grant(self) -> None:
        wanted: set[str] = set()
        for ticket in self._queue:
            if wanted.isdisjoint(ticket.workers):
                ticket.granted.set()
            wanted |= ticket.workers


GRACE = 10.0  # seconds that the other ranks have to answer once one has failed
STARTING = 60.0  # seconds to start a rank, in addition to the deadline for connecting with the others
CLOSED: Failure = (WAS_CLOSED, None)
INTERRUPTED: Failure = ("the call was interrupted", None)


@dataclass(eq=False)
class _RankGroup:
    name: str
    client: str
    workers: tuple[str, ...]
    failure: Failure | None = None
    unregistered: str | None = None  # token of the last answer, until Dask knows its frames
    interrupted: dict[str, bool] = field(default_factory=dict)  # by the token of each request that is served


class Conductor(SchedulerPlugin):
    """Scheduler plugin that serves the groups of all clients.

    Every client registers it, and the one registered first stays.
    """

    name = "rapids-trav-conductor"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._groups: dict[str, _RankGroup] = {}
        self._tickets = Tickets()
        self._lost: dict[str, asyncio.Future] = {}  # a future for each worker that is waited for
        self._tasks: set[asyncio.Task] = set()
        for operation in ("open", "call", "stop", "progress", "end", "failure"):
            scheduler.handlers[f"rapids_trav_{operation}"] = getattr(self, operation)

    async def open(self, client: str, workers: Sequence[str], deadline: float, device: str | None) -> Reply:
        """Start a rank on each worker and connect the ranks."""
        group = _RankGroup(uuid.uuid4().hex, client, tuple(workers))
        if client not in self._scheduler.clients:
            return _failed(CLOSED)
        self._groups[group.name] = group
        size, patience = len(group.workers), STARTING + deadline
        message = {"group": group.name, "action": "start", "size": size, "deadline": deadline}
        answer = await self._play(
            group,
            [self._start_rank(worker, **message, rank=rank) for rank, worker in enumerate(group.workers)],
            patience,
        )
        if answer["status"] != FAILED:
            async with self._tickets.turn(group.workers):  # GPUs wait for each other inside kernels here, too
                message = {
                    "group": group.name,
                    "action": "meet",
                    "addresses": group.workers,
                    "device": device,
                }
                answer = await self._play(
                    group, [self._ask(worker, **message) for worker in group.workers], patience
                )
        if answer["status"] == FAILED:
            await self.end(group.name)
            await self._close_ranks(group)  # `end` misses them if the client left before they started
        return answer | {"group": group.name}

    async def call(self, group: str, request: object, token: str) -> Reply:
        """Wait for the turn at the workers, then let all ranks call a function.

        The frames of the answer are Dask data that the client wants when this returns.
        """
        found = self._groups.get(group)
        if found is None:
            return _failed(CLOSED)
        found.interrupted[token] = False
        try:
            async with self._tickets.turn(found.workers):
                if found.failure is not None or found.interrupted[token]:
                    return _failed(found.failure or INTERRUPTED)
                found.unregistered = token
                message = {"group": group, "action": "call", "request": request, "token": token}
                answer = await self._play(found, [self._ask(worker, **message) for worker in found.workers])
                # If the client is gone nobody wants the frames, and the ranks free them when they are closed.
                if answer["status"] != FAILED and found.client in self._scheduler.clients:
                    register(self._scheduler, found.client, found.workers, answer["replies"])
                    found.unregistered = None
                return answer
        finally:
            del found.interrupted[token]

    async def stop(self, group: str, token: str) -> None:
        """End a request that its caller has interrupted; the group stays usable."""
        found = self._groups.get(group)
        if found is not None and token in found.interrupted:
            found.interrupted[token] = True
            await self._send(found, action="stop", token=token)

    async def progress(self, group: str) -> tuple[int, int | None, str] | None:
        """Return what is done of how much and the unit, as rank 0 tells of its last request."""
        if (found := self._groups.get(group)) is None:
            return None
        return (await self._ask(found.workers[0], group=group, action="progress")).get("progress")

    async def end(self, group: str) -> None:
        """Close a group, and return when its workers have freed it."""
        found = self._groups.pop(group, None)
        if found is not None:
            found.failure = found.failure or CLOSED
            await self._close_ranks(found)

    async def failure(self, group: str) -> Failure | None:
        """Return why a group can no longer be called, or None if it can."""
        return self._groups[group].failure if group in self._groups else CLOSED

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: object) -> None:
        """Fail the groups of a lost worker, and end every wait for its answer."""
        if (waited := self._lost.pop(worker, None)) is not None:
            waited.set_result(None)
        for group in self._groups.values():
            if worker in group.workers:
                self._give_up(group, lost_worker(worker, group.workers.index(worker)))

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """Close the groups of a client that has disconnected."""
        for group in [group for group in self._groups.values() if group.client == client]:
            self._later(self.end(group.name))

    def valid_workers_downscaling(
        self, scheduler: Scheduler, workers: list[WorkerState]
    ) -> list[WorkerState]:
        """Return the workers that may be retired when a cluster shrinks by itself.

        The workers of groups look idle to Dask, but have to stay.
        """
        held = {
            worker for group in self._groups.values() if group.failure is None for worker in group.workers
        }
        return [worker for worker in workers if worker.address not in held]

    async def _play(
        self, group: _RankGroup, asked: Sequence[Coroutine[None, None, Reply]], patience: float | None = None
    ) -> Reply:
        """Wait for the answers of all ranks, but only briefly (`GRACE`) once one has failed."""
        tasks = [asyncio.ensure_future(each) for each in asked]
        waiting, seconds = set(tasks), patience
        while waiting:
            done, waiting = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                break
            if any(task.result()["status"] in (FAILED, LOST) for task in done):
                seconds = GRACE
        for task in waiting:
            task.cancel()
        late: Reply = {"status": LATE, "seconds": seconds}
        replies = [late if task in waiting else task.result() for task in tasks]
        if (failure := failure_of(replies, group.workers)) is not None:
            self._give_up(group, failure)
        return _failed(group.failure) if group.failure else {"status": "ok", "replies": replies}

    def _give_up(self, group: _RankGroup, failure: Failure) -> None:
        """Record why a group is lost, unless a reason is recorded already, and let its workers free it."""
        if group.failure is None:
            group.failure = failure
            message = {"reason": failure[0], "rank": failure[1], "unregistered": group.unregistered}
            self._later(self._send(group, action="fail", **message))

    async def _start_rank(self, worker: str, **message: object) -> Reply:
        installed = await self._until_lost(worker, self._scheduler.rpc(worker).run(function=dumps(install)))
        if installed["status"] in (FAILED, LOST):
            return installed
        if installed["status"] == "error":
            text = installed.get("exception_text", "no reason given")
            return _failed((f"worker {worker} could not start a rank: {text}", None))
        return await self._ask(worker, **message)

    async def _ask(self, worker: str, **message: object) -> Reply:
        return await self._until_lost(worker, self._scheduler.rpc(worker).rapids_trav_rank(**message))

    async def _until_lost(self, worker: str, answer: Coroutine[None, None, Reply]) -> Reply:
        """Return the answer of a worker, or the status LOST if the worker is lost."""
        if worker not in self._scheduler.workers:
            answer.close()
            return {"status": LOST}
        lost = self._lost.setdefault(worker, asyncio.get_running_loop().create_future())
        task = asyncio.ensure_future(answer)
        try:
            await asyncio.wait({task, lost}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else {"status": LOST}
        except OSError:
            return {"status": LOST}
        except Exception as error:  # an error of the worker's operation arrives as an exception with its text
            return _failed((f"worker {worker} failed: {first_line(error)}", None))
        finally:
            task.cancel()

    async def _close_ranks(self, group: _RankGroup) -> None:
        await self._send(group, action="leave")  # no rank frees memory that another one reads
        await self._send(group, action="close", unregistered=group.unregistered)

    async def _send(self, group: _RankGroup, **message: object) -> None:
        """Send a message to all present workers of a group; wait at most `GRACE` seconds for answers."""
        asked = [
            asyncio.ensure_future(self._ask(worker, group=group.name, **message)) for worker in group.workers
        ]
        _, stuck = await asyncio.wait(asked, timeout=GRACE)
        for task in stuck:
            task.cancel()

    def _later(self, work: Coroutine[None, None, object]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _failed(failure: Failure) -> Reply:
    return {"status": FAILED, "reason": failure[0], "rank": failure[1]}
