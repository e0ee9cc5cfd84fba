"""Connections of one rank with all others, served by the event loop of its worker.

Each pair of ranks shares one connection.  The higher rank opens it, through the port on which the worker
already listens, with the worker's security settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence

from distributed.comm import Comm, connect
from distributed.core import Server, Status

from rapids_trav.errors import first_line

FAREWELL = 2.0  # seconds to send the last messages in


class Links:
    """Connections of one rank with the others; messages between two ranks keep their order.

    `receive` is called with a rank and its message, or None when the rank has left; `fail` with a reason, and
    the rank at fault, when a connection is lost or a message cannot be sent.
    """

    def __init__(
        self,
        name: str,
        server: Server,
        rank: int,
        size: int,
        receive: Callable[[int, dict | None], None],
        fail: Callable[[str, int], None],
    ) -> None:
        self.others = [k for k in range(size) if k != rank]
        self.by_reference = server.address.startswith("inproc:")  # messages are not copied
        self._operation = f"rapids-trav-ranks-{name}"
        self._server = server
        self._rank = rank
        self._receive = receive
        self._fail = fail
        self._loop = asyncio.get_running_loop()
        self._addresses: Sequence[str] = [""] * size
        self._outbox: dict[int, asyncio.Queue[dict | None]] = {k: asyncio.Queue() for k in self.others}
        self._comms: dict[int, Comm] = {}
        self._tasks: set[asyncio.Task] = set()
        self._writers: set[asyncio.Task] = set()
        self._all_here = asyncio.Event()
        server.handlers[self._operation] = self._accept

    async def join(self, addresses: Sequence[str], deadline: float) -> None:
        """Connect with the ranks at these addresses; return when all are connected with this one."""
        self._addresses = addresses
        for k in range(self._rank):
            comm = await connect(addresses[k], deadline, **self._server.rpc.connection_args)
            await comm.write({"op": self._operation, "rank": self._rank, "reply": False})
            self._adopt(k, comm)
            self._start(self._read(k, comm), self._tasks)
        if self.others:
            await asyncio.wait_for(self._all_here.wait(), deadline)

    def post(self, messages: Mapping[int, dict]) -> bool:
        """Send messages to some ranks, from any thread; return False if the worker is closing."""
        try:
            self._loop.call_soon_threadsafe(self._queue, messages)
        except RuntimeError:  # the event loop has ended
            return False
        return True

    async def close(self) -> None:
        """Tell the others that this rank leaves, and close the connections."""
        self._server.handlers.pop(self._operation, None)
        for queue in self._outbox.values():
            queue.put_nowait({"left": True})
            queue.put_nowait(None)
        if self._writers:
            await asyncio.wait(self._writers, timeout=FAREWELL)
        for comm in self._comms.values():
            comm.abort()
        for task in [*self._tasks, *self._writers]:
            task.cancel()

    def _queue(self, messages: Mapping[int, dict]) -> None:
        for k, message in messages.items():
            self._outbox[k].put_nowait(message)

    async def _accept(self, comm: Comm, rank: int) -> object:
        """Serve a connection that another rank opened."""
        self._adopt(rank, comm)
        await self._read(rank, comm)
        return Status.dont_reply

    def _adopt(self, k: int, comm: Comm) -> None:
        comm.name = f"rank {self._rank} with rank {k}"
        self._comms[k] = comm
        self._start(self._write(k, comm), self._writers)
        if len(self._comms) == len(self.others):
            self._all_here.set()

    def _start(self, work: Coroutine[None, None, None], tasks: set[asyncio.Task]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _write(self, k: int, comm: Comm) -> None:
        try:
            while (message := await self._outbox[k].get()) is not None:
                await comm.write(message)
                del message  # which may hold large arrays
        except OSError:
            self._lose(k)
        except Exception as error:
            self._fail(f"rank {self._rank} could not send to rank {k}: {first_line(error)}", self._rank)

    async def _read(self, k: int, comm: Comm) -> None:
        try:
            while "left" not in (message := await comm.read()):
                self._receive(k, message)
                del message
            self._receive(k, None)
        except OSError:
            self._lose(k)
        except Exception as error:
            self._fail(f"rank {self._rank} could not receive from rank {k}: {first_line(error)}", self._rank)

    def _lose(self, k: int) -> None:
        self._fail(f"the connection with rank {k}, {self._addresses[k]}, was lost", k)
