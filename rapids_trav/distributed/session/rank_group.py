"""Client side of a rank group: ranks on workers, one on each, that a client opens, calls and closes."""

from __future__ import annotations

import asyncio
import uuid
import weakref
from collections.abc import Callable, Collection, Coroutine, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from distributed import Client, Future, wait
from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps, loads

from rapids_trav.distributed.dask_frames import thread_for_others
from rapids_trav.distributed.session.conductor import Conductor
from rapids_trav.distributed.session.rank_actor import ERROR, FAILED, Reply, put_partition
from rapids_trav.engines.multigpu.communicator import DEADLINE, RankError
from rapids_trav.errors import TravError, first_line, listed
from rapids_trav.utilities.progress import listening, report

PATIENCE = 1.0  # seconds after which a wait asks whether the ranks are still there
TELLING = 0.2  # seconds between two questions for the progress of a call

T = TypeVar("T")
FramesOfRank = dict[str, list[Future]]  # by their name, in order
Answer = tuple[Reply, list[FramesOfRank] | None]  # what the ranks say, and their frames if there are some


@dataclass(frozen=True)
class KeptOnWorkers:
    """Answer of all ranks whose frames are on their workers, each until no future of it is left."""

    about: list  # what each rank reports about its frames
    frames: list[FramesOfRank]  # those of each rank, as futures that are finished

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


def place(holders: Sequence[Collection[str]], workers: Sequence[str]) -> list[int]:
    """Return a rank for each partition, from the workers that have a copy of it, and those of the ranks.

    A partition goes to a rank whose worker has a copy, and if there are several, to the one with the fewest
    partitions.  The remaining partitions are assigned last, each to the rank with the fewest.
    """
    rank_at = {worker: rank for rank, worker in enumerate(workers)}
    count = [0] * len(workers)
    chosen = [-1] * len(holders)
    candidates = [[rank_at[worker] for worker in holder if worker in rank_at] for holder in holders]
    for k in sorted(range(len(holders)), key=lambda k: (not candidates[k], k)):
        chosen[k] = min(candidates[k] or range(len(workers)), key=lambda rank: (count[rank], rank))
        count[chosen[k]] += 1
    return chosen


class RankGroup:
    """Ranks on the workers of a cluster that call functions together, as seen by their client.

    Create one with `open`.  A group may be used from several threads, beside other groups and other clients:
    calls that share a worker are served one after another.  `workers` are the addresses of the ranks'
    workers, and `device`, "cpu" or "cuda", is where they work.
    """

    def __init__(self, client: Client, name: str, workers: tuple[str, ...], device: str) -> None:
        self.client = client
        self.workers = workers
        self.device = device
        self._name = name
        self._error: RankError | None = None
        self._finalizer = weakref.finalize(self, _end_unseen, weakref.ref(client), name)
        self._finalizer.atexit = False  # at exit the scheduler notices by itself that the client is gone

    @classmethod
    def open(
        cls,
        client: Client,
        workers: Sequence[str] | None = None,
        *,
        deadline: float = DEADLINE,
        device: str | None = None,
    ) -> RankGroup:
        """Start a rank on each worker, by default on all that the cluster has now, in the order of the ranks.

        A rank waits `deadline` seconds for the others in one exchange.  The device is by default "cuda" if
        every worker has a GPU.

        Raises a `RankError` if a worker is lost while the ranks start.
        """
        _check(client)
        # Not scheduler_info: a periodic update of the client may overwrite it at any time.
        there = list(client.nthreads())
        chosen = tuple(there if workers is None else workers)
        if not chosen:
            raise TravError("The cluster has no workers: wait for some with client.wait_for_workers.")
        if unknown := set(chosen) - set(there):
            raise TravError(f"There is no worker {listed(sorted(unknown))}: choose from {listed(there)}.")
        if repeated := sorted({worker for worker in chosen if chosen.count(worker) > 1}):
            raise TravError(f"workers names {listed(repeated)} twice: name each worker once.")
        try:
            client.register_plugin(Conductor())
        except ImportError as error:
            raise TravError(
                f"The scheduler cannot load rapids_trav ({first_line(error)}): install it there and on the "
                "workers."
            ) from error
        asked = {"client": client.id, "workers": chosen, "deadline": deadline, "device": device}
        answer = _ask(client, "open", **asked)
        name = answer["group"]
        try:
            found = _results(answer)[0]
        except Exception:
            _ask(client, "end", group=name)
            raise
        return cls(client, name, chosen, str(found))

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return not self._finalizer.alive

    @property
    def error(self) -> RankError | None:
        """The error that a call found when the ranks were lost; None if no call has."""
        return self._error

    def hand_over(self, partitions: Sequence[Future]) -> None:
        """Give partitions to the ranks, as (number, frame).

        A partition goes to a rank on a worker that has it, if there is one; the others are spread over the
        ranks (`place`).  Partitions move directly from worker to worker.
        """
        self._check()
        with thread_for_others():
            for number, partition in enumerate(partitions):
                self._wait([partition])
                if (error := partition.exception()) is not None:
                    raise error
                report(number + 1, len(partitions), "partitions")
            holders = self.client.who_has(partitions)
            rank_of = place([holders.get(part.key, ()) for part in partitions], self.workers)
            puts = [
                self._submit(put_partition, rank, number, partition)
                for number, (partition, rank) in enumerate(zip(partitions, rank_of, strict=True))
            ]
            self._gathered(puts)

    def call(self, function: Callable, *args: object, **kwargs: object) -> Any:
        """Call `function(state, *args, **kwargs)` on every rank at once, when it is the group's turn.

        Returns a list of the results in the order of the ranks, or `KeptOnWorkers` if they are `Kept`.

        Raises a `RankError` if a rank failed alone or was lost, which ends the group, or the error that all
        ranks raised alike, which does not.
        """
        self._check()
        request, token = to_serialize(dumps((function, args, kwargs))), uuid.uuid4().hex
        try:
            answer, frames = _called(self.client, group=self._name, request=request, token=token)
        except KeyboardInterrupt:
            _send_unseen(self.client, "stop", group=self._name, token=token)
            raise
        try:
            results = _results(answer)
        except RankError as error:
            self._error = _bare(error)
            raise
        return results if frames is None else KeptOnWorkers(results, frames)

    def close(self, wait: bool = True) -> None:
        """Free the ranks' memory on the workers, and wait until it is free; further calls do nothing."""
        if self._finalizer.detach() is not None and self.client.status == "running":
            (_ask if wait else _send_unseen)(self.client, "end", group=self._name)

    def __enter__(self) -> RankGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TravError("The ranks of a graph cannot be pickled: call them from the process of their client.")

    def _check(self) -> None:
        if self.closed:
            raise TravError("The graph is closed: build it again.")
        if self._error is not None:
            raise _bare(self._error)
        _check(self.client)

    def _submit(self, function: Callable, rank: int, *args: object) -> Future:
        address = self.workers[rank]
        return self.client.submit(
            function,
            self._name,
            address,
            *args,
            workers=[address],
            allow_other_workers=True,
            pure=False,
            key=f"rapids-trav-{function.__name__}-{uuid.uuid4().hex}",
        )

    def _wait(self, futures: list[Future]) -> None:
        """Wait until tasks have ended, or the ranks are lost: Dask may then never run a task."""
        while True:
            try:
                with self.client.as_current():  # `wait` asks the current client
                    wait(futures, timeout=PATIENCE)
                return
            except TimeoutError:
                if (error := self._failure()) is not None:
                    self._error = _bare(error)
                    raise error from None
            except CancelledError as error:
                _check(self.client)
                raise TravError(
                    "Dask has let go of a partition of the edges: give edges whose futures belong to the "
                    "client of the graph, and persist them again if they were lost."
                ) from error

    def _failure(self) -> RankError | None:
        """Return the error of ranks that are lost, as the conductor knows it."""
        failure = _ask(self.client, "failure", group=self._name)
        return RankError.because(*failure) if failure else None

    def _gathered(self, futures: list[Future]) -> None:
        """Wait for tasks; raise the first error."""
        self._wait(futures)
        try:
            self.client.gather(futures)
        except RankError as error:
            known = self._failure() or error  # the conductor may know more than the task
            self._error = _bare(known)
            raise known from error


def _bare(error: RankError) -> RankError:
    """Return the same error without a traceback, which would keep partitions and answers."""
    return RankError(str(error), error.rank)


def _check(client: Client) -> None:
    if client.asynchronous:
        raise TravError("The client is asynchronous: give one made with asynchronous=False.")
    if client.status != "running":
        raise TravError(
            f"The client is {client.status}, and its graphs are lost: make another client and build the "
            "graph again."
        )


def _ask(client: Client, operation: str, /, **message: object) -> Any:
    """Send a message to the conductor and return its answer."""
    return _waited(client, lambda: _sent(client, operation, message))


def _called(client: Client, **message: object) -> Answer:
    """Send a call to the conductor; return its answer and the futures of the frames in it, if it has some.

    Meanwhile, tell the surrounding call what the ranks have done.
    """
    tasks: list[asyncio.Task[Answer]] = []

    async def call() -> Answer:
        answer = await _sent(client, "call", message)
        return answer, received(client, answer)

    async def ended() -> bool:
        if not tasks:  # after an interrupt it runs on, so that the futures are made as well, and let go
            tasks.append(asyncio.ensure_future(call()))
        await asyncio.wait(tasks, timeout=TELLING if listening() else None)
        return tasks[0].done()

    async def result() -> Answer:
        return await tasks.pop()

    try:
        while not _waited(client, ended):
            _tell(_ask(client, "progress", group=message["group"]))
        answer, frames = _waited(client, result)
    finally:
        tasks.clear()
    _tell(answer["replies"][0].get("progress") if "replies" in answer else None)
    return answer, frames


def _tell(progress: tuple[int, int | None, str] | None) -> None:
    if progress is not None:
        report(*progress)


def _sent(client: Client, operation: str, message: dict[str, object]) -> Coroutine[None, None, Reply]:
    if client.scheduler is None:  # it was closed since the caller's check
        raise OSError("the client is closed")
    return getattr(client.scheduler, f"rapids_trav_{operation}")(**message)


def _waited(client: Client, work: Callable[[], Coroutine[None, None, T]]) -> T:
    """Wait for a coroutine on the client's event loop that talks to the scheduler."""
    try:
        return client.sync(work)
    except OSError as error:
        _check(client)
        raise RankError.because(f"the scheduler cannot be reached: {first_line(error)}") from error


def _results(answer: Reply) -> list:
    """Return each rank's result; raise the error of the ranks."""
    if answer["status"] == FAILED:
        raise RankError.because(answer["reason"], answer["rank"])
    replies = answer["replies"]
    for reply in replies:
        if reply["status"] == ERROR:
            raise loads(reply["answer"])
    return [loads(reply["answer"]) for reply in replies]


def _end_unseen(client_of: weakref.ref[Client], name: str) -> None:
    """Close a group that was garbage-collected without a call of `close`."""
    client = client_of()
    if client is not None:
        _send_unseen(client, "end", group=name)


def _send_unseen(client: Client, operation: str, /, **message: object) -> None:
    """Send a message without waiting for the answer; works from any thread and from finalizers."""

    async def send() -> None:
        try:
            await _sent(client, operation, message)
        except OSError:  # the scheduler is gone, and the ranks with it
            return

    if client.status == "running" and client.loop is not None:
        client.loop.add_callback(send)
