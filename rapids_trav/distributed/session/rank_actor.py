"""A rank on a worker: its state, its thread, its replies, and the frames that it gives to Dask.

A request ends with results, a common error, or the loss of the graph (`failure_of`, `agreed`).

A Dask task brings a frame to a rank (`put_partition`).  It prefers the rank's worker and normally runs there,
but it may run elsewhere: a task that is bound to a worker never runs once that worker is lost, and waiting
for it never ends.  If the task runs elsewhere, it reaches the rank through the rank's worker, and raises an
error if that worker is lost.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Mapping, Sequence
from inspect import isawaitable
from typing import Any, TypedDict

from dask.typing import Key
from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps, loads
from distributed.threadpoolexecutor import ThreadPoolExecutor
from distributed.utils import sync
from distributed.worker import Worker, get_worker
from distributed.worker_state_machine import FreeKeysEvent

from rapids_trav.distributed.ranks.rank import Kept, RankState
from rapids_trav.distributed.session.devices import connect_devices
from rapids_trav.engines.multigpu.communicator import WAS_CLOSED, RankError
from rapids_trav.engines.multigpu.tcp import TcpCommunicator
from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame
from rapids_trav.utilities.progress import shown

OK, ERROR, FAILED, LOST, LATE = "ok", "error", "failed", "lost", "late"  # status of a rank's answer
Failure = tuple[str, int | None]  # a reason, and the rank at fault
Frames = dict[str, list[tuple[str, int, bytes]]]  # by name: key, bytes and pickled type of each frame


class Reply(TypedDict, total=False):
    """Answer of one rank, or of all: the status, and the entries that belong to it."""

    status: str
    answer: object  # with OK and ERROR: the pickled result or error
    frames: Frames  # with OK, if the result has frames: those that the worker stores
    reason: str  # with FAILED, beside the rank at fault
    rank: int | None
    progress: tuple[int, int | None, str] | None  # what is done of how much, and the unit
    seconds: float | None  # with LATE: how long the scheduler waited
    replies: list[Reply]  # in the answer of all ranks
    group: str


def lost_worker(worker: str, rank: int) -> Failure:
    """Return the failure for the loss of a worker."""
    return f"worker {worker}, which held rank {rank}, was lost", rank


def failure_of(replies: Sequence[Reply], workers: Sequence[str]) -> Failure | None:
    """Return why the ranks cannot continue, or None if they can.

    A lost worker comes first, because it explains the answers of the others.  Next comes the first failure
    that names a rank at fault, then any other failure.  A rank that did not answer is at fault itself if no
    rank reports a failure.
    """
    for rank, reply in enumerate(replies):
        if reply["status"] == LOST:
            return lost_worker(workers[rank], rank)
    failed = [reply for reply in replies if reply["status"] == FAILED]
    if not failed:
        late = [rank for rank, reply in enumerate(replies) if reply["status"] == LATE]
        if not late:
            return None
        return f"worker {workers[late[0]]} did not answer within {replies[late[0]]['seconds']:g} s", late[0]
    reply = next((each for each in failed if each["rank"] is not None), failed[0])
    reason, culprit = reply["reason"], reply["rank"]
    if culprit is not None and workers[culprit] not in reason:
        reason = f"{reason} (rank {culprit} is worker {workers[culprit]})"
    return reason, culprit


def agreed(outcomes: Sequence[Sequence[str] | None]) -> Failure | None:
    """Return why ranks with these outcomes cannot continue, or None if all ended alike.

    An outcome is None for a result, and the type and message for an error.
    """
    kinds = [None if outcome is None else outcome[0] for outcome in outcomes]
    if len(set(kinds)) == 1:
        return None
    rank = next(rank for rank, kind in enumerate(kinds) if kind is not None)
    outcome = outcomes[rank]
    assert outcome is not None
    return f"rank {rank} failed alone: {outcome[1]}", rank


class RankActor:
    """One rank of one group, on its worker.

    Methods run on the worker's event loop.  The functions of requests run in a thread of the rank's own, so
    that neither the worker's tasks nor its heartbeats wait for them.

    At the end of every request all ranks report to each other how it ended for them.  This distinguishes an
    error that all ranks raise alike from one that a single rank raises, which ends the group.

    Frames of an answer are stored with the worker's data.  They are Dask's as soon as the scheduler has
    registered them; until then they are known here alone, so the rank remembers those of its last answer.
    """

    def __init__(self, worker: Worker, group: str, rank: int, size: int, deadline: float) -> None:
        self._worker = worker
        self._control = TcpCommunicator(group, worker, rank, size, deadline=deadline)
        self._state = RankState(self._control, "cpu")
        self._last: tuple[str, list[Key]] = ("", [])  # token of the last answer, and keys of its frames
        self._progress: tuple[int, int | None, str] | None = None
        self._token = self._interrupted = ""  # of the current request, and of the last that was interrupted
        self._left = False
        self._raised = False  # whether a function has, and the traceback may hold its variables in a cycle
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"rapids-trav-rank-{rank}")

    def progress(self) -> Reply:
        """Return what is done of how much and the unit, of the last request or the current one."""
        return {"status": "ok", "progress": self._progress}

    async def meet(self, addresses: Sequence[str], device: str | None) -> Reply:
        """Connect with the other ranks, and connect the GPUs if the ranks work on them."""
        try:
            await self._control.join(addresses)
        except (OSError, TimeoutError) as error:
            self._control.abort(f"rank {self._control.rank} could not reach the others: {first_line(error)}")

        def connect() -> str:
            self._state.device, self._state.communicator = connect_devices(self._control, device)
            return self._state.device

        return (await self._in_thread(connect))[0]

    async def call(self, request: bytes, token: str) -> Reply:
        """Call the function of a request with the rank's state; frames of its answer become Dask data."""
        self._token, self._progress = token, None
        self._control.stopping = token == self._interrupted

        def tell(done: int, total: int | None, unit: str) -> None:
            self._progress = done, total, unit

        def work() -> object:
            function, args, kwargs = loads(request)
            with shown("", tell):
                return function(self._state, *args, **kwargs)

        reply, frames = await self._in_thread(work)
        if frames is None:
            return reply
        if self._control.failure is not None:  # it came after this rank was ready
            return self._failed()
        return reply | {"frames": self._store(frames, token)}

    def stop(self, token: str) -> None:
        """End a request at the next synchronisation of the ranks, or when it comes."""
        self._interrupted = token
        if token == self._token:
            self._control.stopping = True

    def put(self, number: int, frame: Frame) -> None:
        """Accept a partition of the edges."""
        if self._control.failure is not None:
            raise self._control.error()
        self._state.partitions.append((number, frame))

    def fail(self, reason: str, rank: int | None, unregistered: str | None) -> None:
        """End the current request and free the graph, and the frames of an answer that was not registered."""
        self._control.fail(reason, rank)
        self._raised = True  # in this request, if there is one
        self._thread.submit(self._forget)
        self._discard(unregistered)

    async def leave(self) -> None:
        """End the current request and free everything but what other ranks may still read."""
        if self._left:
            return
        self._left = True
        self._control.fail(WAS_CLOSED, None)
        freed = asyncio.get_running_loop().run_in_executor(self._thread, self._forget)
        await asyncio.wait([freed], timeout=5)  # a function that does not communicate may run on for long

    async def close(self, unregistered: str | None = None) -> None:
        """Disconnect from the other ranks, which have left, and free everything that is not Dask's."""
        self._discard(unregistered)
        await self.leave()
        self._thread.submit(self._state.exported.clear)
        await self._control.close()
        self._thread.shutdown(wait=False)

    def _store(self, frames: Mapping[str, list[Frame]], token: str) -> Frames:
        """Store frames with the worker's data; return what the scheduler and the client need to know."""
        keys = {
            name: [f"rapids-trav-{name}-{token}-{self._control.rank}-{k}" for k in range(len(of))]
            for name, of in frames.items()
        }
        data: dict[Key, Frame] = {
            key: frame for name in keys for key, frame in zip(keys[name], frames[name], strict=True)
        }
        self._last = token, list(data)
        nbytes = self._worker.update_data(data)["nbytes"]
        return {name: [(key, nbytes[key], dumps(type(data[key]))) for key in of] for name, of in keys.items()}

    def _discard(self, token: str | None) -> None:
        """Free the frames of the last answer if it is that of this token, which was not registered."""
        if token == self._last[0]:
            event = FreeKeysEvent(keys=self._last[1], stimulus_id=f"rapids-trav-{token}")
            self._worker.handle_stimulus(event)

    def _forget(self) -> None:
        for item in self._state.items.values():
            if (release := getattr(item, "release", None)) is not None:
                self._state.exported.extend(release())
        self._state.items.clear()
        self._state.partitions.clear()
        close = getattr(self._state.communicator, "release", None)
        if close is not None:
            close()
        if self._raised:  # a collection takes 0.3 s in a process with the libraries that workers have
            gc.collect()
            self._raised = False

    async def _in_thread(self, work: Callable[[], object]) -> tuple[Reply, Mapping[str, list[Frame]] | None]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._perform, work)

    def _perform(self, work: Callable[[], object]) -> tuple[Reply, Mapping[str, list[Frame]] | None]:
        """Do the work and settle the outcome with the other ranks; return the reply, and frames to store."""
        control = self._control
        status, answer, error = OK, b"", None
        frames: Mapping[str, list[Frame]] | None = None
        if control.failure is None:
            try:
                found = work()
                answer = dumps(found.about if isinstance(found, Kept) else found)
                frames = found.frames if isinstance(found, Kept) else None
            except BaseException as raised:
                self._raised = True
                status, answer, error = ERROR, _packed_error(raised), [type(raised).__name__, _said(raised)]
        try:
            failure = agreed(control.conclude(error))
            if failure is not None:
                control.fail(*failure, notify=False)  # each rank finds it by itself
                raise control.error()
        except RankError:
            self._forget()
            return self._failed(), None
        reply: Reply = {"status": status, "answer": to_serialize(answer), "progress": self._progress}
        return reply, frames

    def _failed(self) -> Reply:
        assert self._control.failure is not None
        reason, rank = self._control.failure
        return {"status": FAILED, "reason": reason, "rank": rank}


def _packed_error(error: BaseException) -> bytes:
    """Return the pickled error without its traceback, which would keep the function's variables alive."""
    try:
        packed = dumps(error.with_traceback(None))
        loads(packed)
    except Exception:  # it cannot be pickled
        return dumps(TravError(f"{type(error).__name__}: {_said(error)}"))
    return packed


def _said(error: BaseException) -> str:
    return first_line(error) if isinstance(error, Exception) else type(error).__name__


NAME = "rapids_trav_rank"  # name of the worker's operation and of its extension


class WorkerRanks:
    """Extension of a Dask worker that holds the ranks on it."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._ranks: dict[str, RankActor] = {}

    def rank(self, group: str) -> RankActor:
        """Return the rank of a group."""
        if group not in self._ranks:
            raise TravError(
                f"Worker {self._worker.address} has no part of this graph, which was closed or lost: build "
                "it again."
            )
        return self._ranks[group]

    async def serve(self, group: str, action: str, **arguments: Any) -> Reply:
        """Perform an action on a rank for the scheduler or another worker."""
        rank: RankActor | None = None
        if action == "start":
            self._ranks[group] = RankActor(self._worker, group, **arguments)
        elif action == "close":
            rank = self._ranks.pop(group, None)
        elif action in ("leave", "stop", "fail"):  # nothing to do for a rank that is gone, as after a restart
            rank = self._ranks.get(group)
        else:
            rank = self.rank(group)
        if rank is not None:
            done = getattr(rank, action)(**arguments)
            reply = await done if isawaitable(done) else done
            if reply is not None:
                return reply
        return {"status": "ok"}

    async def close(self) -> None:
        """Close all ranks; the worker calls it when it closes."""
        for group in list(self._ranks):
            await self._ranks.pop(group).close()


def install(dask_worker: Worker) -> None:
    """Prepare a worker for ranks; calling it again does no harm."""
    if NAME not in dask_worker.extensions:
        ranks = WorkerRanks(dask_worker)
        dask_worker.extensions[NAME] = ranks
        dask_worker.handlers[NAME] = ranks.serve


def put_partition(group: str, address: str, number: int, frame: Frame) -> None:
    """Give a partition of the edges to the rank at a worker."""
    worker = get_worker()
    if worker.address == address:
        _ranks(worker).rank(group).put(number, frame)
    else:
        _ask(worker, address, group, action="put", number=number, frame=to_serialize(frame))


def _ranks(worker: Worker) -> WorkerRanks:
    if NAME not in worker.extensions:
        raise TravError(f"Worker {worker.address} has no part of a graph: build the graph again.")
    return worker.extensions[NAME]


def _ask(worker: Worker, address: str, group: str, **message: object) -> dict:
    async def ask() -> dict:
        failure = await worker.scheduler.rapids_trav_failure(group=group)
        if failure is not None:
            raise RankError.because(*failure)
        return await getattr(worker.rpc(address), NAME)(group=group, **message)

    try:
        return sync(worker.loop, ask)
    except OSError as error:
        raise RankError.because(f"worker {address} was lost with its part of the edges") from error
