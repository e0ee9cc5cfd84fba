"""A rank on a worker: its state, the thread that it computes in, and the frames that it keeps for others."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Sequence

from distributed.protocol import to_serialize
from distributed.protocol.pickle import dumps, loads
from distributed.threadpoolexecutor import ThreadPoolExecutor
from distributed.worker import Worker

from rapids_trav.distributed.ranks.state import Kept, RankState
from rapids_trav.distributed.session.devices import connect_devices
from rapids_trav.distributed.session.verdict import ERROR, FAILED, OK, Reply, agreed
from rapids_trav.engines.multigpu.errors import RankError
from rapids_trav.engines.multigpu.tcp import TcpCommunicator
from rapids_trav.errors import TravError, first_line
from rapids_trav.frames.columns import Frame

Frames = dict[str, dict[int, Frame]]  # frames of one answer, by name and number


class RankActor:
    """One rank of one gang, on its worker.

    Methods run on the worker's event loop.  The functions of requests run in a thread of the rank's own, so
    that neither the worker's tasks nor its heartbeats wait for them.

    At the end of every request all ranks tell each other how it ended for them.  This distinguishes an error
    that all ranks raise alike from one that a single rank raises, which ends the gang.
    """

    def __init__(self, worker: Worker, gang: str, rank: int, size: int, deadline: float) -> None:
        self._control = TcpCommunicator(gang, worker, rank, size, deadline=deadline)
        self._state = RankState(self._control, "cpu")
        self._kept: dict[str, Frames] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"rapids-trav-rank-{rank}")

    async def meet(self, addresses: Sequence[str], device: str | None) -> Reply:
        """Connect with the other ranks, and connect the GPUs if the ranks work on them."""
        try:
            await self._control.join(addresses)
        except (OSError, TimeoutError) as error:
            self._control.abort(f"rank {self._control.rank} could not reach the others: {first_line(error)}")

        def connect() -> str:
            self._state.device, self._state.communicator = connect_devices(self._control, device)
            return self._state.device

        return await self._in_thread(connect, "")

    async def call(self, request: bytes, token: str) -> Reply:
        """Call the function of a request with the rank's state; its kept frames are stored under `token`."""

        def work() -> object:
            function, args, kwargs = loads(request)
            return function(self._state, *args, **kwargs)

        return await self._in_thread(work, token)

    def put(self, number: int, frame: Frame) -> None:
        """Accept a partition of the edges."""
        if self._control.failure is not None:
            raise self._control.error()
        self._state.partitions.append((number, frame))

    def take(self, token: str, name: str, number: int) -> Frame:
        """Return a kept frame and drop it here, so that each frame is handed out once."""
        frames = self._kept.get(token, {}).get(name, {})
        if number not in frames:
            raise TravError("This part of the answer is no longer on its worker: ask the graph again.")
        frame = frames.pop(number)
        if not frames:
            self.drop(token, [name])
        return frame

    def drop(self, token: str, names: Sequence[str]) -> None:
        """Drop kept frames that will not be fetched."""
        kept = self._kept.get(token, {})
        for name in names:
            kept.pop(name, None)
        if not kept:
            self._kept.pop(token, None)

    def fail(self, reason: str, rank: int | None) -> None:
        """End the current request and free the graph."""
        self._control.fail(reason, rank)
        self._thread.submit(self._forget)

    async def close(self) -> None:
        """End the current request, disconnect from the other ranks and free everything."""
        self._control.fail("the graph was closed", None)
        self._kept.clear()
        freed = asyncio.get_running_loop().run_in_executor(self._thread, self._forget)
        await asyncio.wait([freed], timeout=5)  # a function that does not communicate may run on for long
        await self._control.close()
        self._thread.shutdown(wait=False)

    def _forget(self) -> None:
        self._state.items.clear()
        self._state.partitions.clear()
        close = getattr(self._state.communicator, "release", None)
        if close is not None:
            close()
        gc.collect()

    async def _in_thread(self, work: Callable[[], object], token: str) -> Reply:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._perform, work, token)

    def _perform(self, work: Callable[[], object], token: str) -> Reply:
        """Do the work, settle the outcome with the other ranks, and return the reply to the client."""
        control = self._control
        status, answer, error, frames = OK, b"", None, None
        if control.failure is None:
            try:
                answer, frames = _packed(work())
            except BaseException as raised:
                status, answer, error = ERROR, _packed_error(raised), [type(raised).__name__, _said(raised)]
        try:
            failure = agreed(control.conclude(error))
            if failure is not None:
                control.fail(*failure, tell=False)  # each rank finds it by itself
                raise control.error()
        except RankError:
            assert control.failure is not None
            self._forget()
            reason, rank = control.failure
            return {"status": FAILED, "reason": reason, "rank": rank}
        if frames:
            self._kept[token] = frames
        return {"status": status, "answer": to_serialize(answer)}


def _packed(answer: object) -> tuple[bytes, Frames | None]:
    """Return the pickled part of an answer that is sent to the client, and the frames that stay here."""
    if not isinstance(answer, Kept):
        return dumps((answer, None)), None
    frames = {name: dict(enumerate(each)) for name, each in answer.frames.items() if each}
    return dumps((answer.about, {name: len(each) for name, each in frames.items()})), frames


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
