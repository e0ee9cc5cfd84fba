"""Communication between ranks in separate processes, over the worker connections of `distributed`.

Arrays are sent as raw bytes, each large array as a separate frame.  The worker's event loop reads and writes;
a rank calls from its own thread and waits there.  Each pair of ranks shares one connection (`Links`): the
higher rank opens it, through the port on which the worker already listens, with its security settings.

Messages between two ranks arrive in the order in which they were sent, and all ranks make the same calls, so
the oldest message of a rank is the one that the current call needs.  A label on each message shows if a rank
makes a different call; all ranks then fail at once instead of at the deadline.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from distributed.comm import Comm, connect
from distributed.core import Server, Status
from distributed.protocol import to_serialize

from rapids_trav.engines.multigpu.communicator import (
    DEADLINE,
    Array,
    Communicator,
    Form,
    Met,
    Note,
    RankError,
    Traffic,
    sent,
)
from rapids_trav.errors import first_line

ASK = 2.0  # seconds to wait for a late rank to say whether it is held up itself
SMALL = 1 << 14  # bytes up to which an array is part of a message, instead of a frame of its own
Outcome = Sequence[str] | None  # how a request ended: None for success, or an error's type and message
NOTHING = np.empty(0, np.uint32)
END = "end"  # label of the last message of a request
FAREWELL = 2.0  # seconds to send the last messages in


@dataclass(frozen=True)
class _Message:
    """Message from another rank: the label of the call that it belongs to, and its content."""

    label: tuple
    content: Any


class TcpCommunicator(Communicator):
    """Communicator of one rank; see `communicator.Communicator`.

    `name` is that of this set of ranks, the same on all of them and used once, and `server` the worker that
    the rank runs on.  Construct it and call `join` on the server's event loop; the communicators of all ranks
    must exist before the first one joins.  Make all other calls from one other thread.
    """

    def __init__(
        self, name: str, server: Server, rank: int, size: int, *, deadline: float = DEADLINE
    ) -> None:
        self.rank = rank
        self.size = size
        self.traffic = Traffic()
        self.failure: tuple[str, int | None] | None = None
        self.deadline = deadline
        self._links = Links(name, server, rank, size, self._receive, self.fail)
        self._changed = threading.Condition()
        self._inbox: dict[int, deque[_Message]] = {k: deque() for k in self._links.others}
        self._left: set[int] = set()  # ranks that have closed
        self._outcome: Outcome = None  # how the last request ended here
        self._awaited: Collection[int] | None = None  # ranks that a call waits for, if one does
        self._waiting: dict[int, list[int] | None] = {}  # the same of other ranks, as they say when asked

    async def join(self, addresses: Sequence[str]) -> None:
        """Connect with the ranks at these addresses, given in rank order; return when all are connected."""
        await self._links.join(addresses, self.deadline)

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        place = group.index(self.rank)
        outgoing: dict[int, object] = {}
        packed: dict[int, object] = {}  # by the array's id: one array may go to many ranks
        for k, array in zip(group, arrays, strict=True):
            if k != self.rank:
                if id(array) not in packed or self._links.by_reference:
                    packed[id(array)] = _packed(array)
                outgoing[k] = packed[id(array)]
        received = self._meet(("exchange", *group), outgoing)
        self.traffic += sent(arrays, place)
        return [arrays[place] if k == self.rank else _unpacked(received[k]) for k in group]

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        words = NOTHING if note.words is None else note.words.view(np.uint32)
        sums, told = list(map(int, values)), {self.rank: (note.number, words)}
        for group in self.axes(note):
            mine = [*sums, note.number]
            outgoing: dict[int, list] = {k: [mine, None] for k in group if k != self.rank}
            if len(words):
                outgoing |= {k: [mine, _packed(words)] for k in outgoing if k in note.partners}
            for k, ((*theirs, number), packed) in self._meet(("sum",), outgoing).items():
                sums = [one + other for one, other in zip(sums, theirs, strict=True)]
                told[k] = number, _unpacked(packed)
        self.count_sum(note)
        return Met(sums, [told[k][0] for k in note.partners], [told[k][1] for k in note.partners])

    def conclude(self, outcome: Outcome) -> list[Outcome]:
        """Tell all ranks how a request ended here, None for success; return the outcomes of all ranks.

        A rank that still waits for this one in another call learns that this one has ended, and gives up.
        """
        self._outcome = outcome
        received = self._meet((END,), dict.fromkeys(self._inbox, outcome))
        return [outcome if k == self.rank else received[k] for k in range(self.size)]

    def early_end(self) -> tuple[str, int | None] | None:
        """Return why a wait elsewhere, such as in NCCL, cannot succeed, and the rank at fault.

        Return None if there is no reason to stop waiting.
        """
        with self._changed:
            if self.failure is not None:
                return self.failure
            for k, messages in self._inbox.items():
                if messages and messages[0].label == (END,) and messages[0].content is not None:
                    return self._mismatch_reason(k, ("",))
        return None

    def check(self) -> None:
        if (end := self.early_end()) is not None:
            self.fail(*end)
            raise self.error()

    def abort(self, reason: str, rank: int | None = None) -> None:
        self.fail(reason, self.rank if rank is None else rank)

    def fail(self, reason: str, rank: int | None, *, notify: bool = True) -> None:
        """Make all calls fail with this reason and rank at fault; the first reason is kept.

        May be called from any thread.
        """
        with self._changed:
            if self.failure is not None:
                return
            self.failure = (reason, rank)
            for messages in self._inbox.values():
                messages.clear()
            self._changed.notify_all()
        if notify:
            self._post({k: {"abort": reason, "rank": rank} for k in self._inbox})

    def error(self) -> RankError:
        """Return a new error that gives the reason."""
        return RankError.because(*(self.failure or ("a rank failed", None)))

    async def close(self) -> None:
        """Close the connections, on the event loop; the other ranks see that this one has left."""
        await self._links.close()
        self.fail("the ranks were closed", self.rank, notify=False)

    def _meet(self, label: tuple, outgoing: Mapping[int, object]) -> dict[int, Any]:
        """Send to some ranks; return what each of them sent for the same call."""
        if self.failure is not None:
            raise self.error()
        self._post({k: {"label": label, "content": content} for k, content in outgoing.items()})
        with self._changed:
            self._awaited = outgoing.keys()
            settled = self._wait(lambda: self._settled(label, outgoing), self.deadline)
            if not settled:
                self._find_late_rank(label, outgoing)
            if self.failure is None:
                other = self._mismatched_rank(label, outgoing)
                if other is None:
                    self._awaited = None
                    return {k: self._inbox[k].popleft().content for k in outgoing}
        if self.failure is None and other is not None:
            self.fail(*self._mismatch_reason(other, label))
        raise self.error()

    def _wait(self, ready: Callable[[], bool], seconds: float) -> bool:
        return self._changed.wait_for(lambda: self.failure is not None or ready(), seconds)

    def _settled(self, label: tuple, ranks: Mapping[int, object]) -> bool:
        return all(self._inbox[k] for k in ranks) or self._mismatched_rank(label, ranks) is not None

    def _mismatched_rank(self, label: tuple, ranks: Mapping[int, object]) -> int | None:
        """Return a rank that will not send what this call needs, or None."""
        for k in ranks:
            if (self._inbox[k][0].label != label) if self._inbox[k] else (k in self._left):
                return k
        return None

    def _mismatch_reason(self, k: int, label: tuple) -> tuple[str, int]:
        """Return the reason and the rank at fault if rank k makes another call than this rank."""
        if not self._inbox[k]:
            return f"rank {k} has left while rank {self.rank} waits for it", k
        other = self._inbox[k][0]
        if other.label == (END,):
            return _ended(k, other.content), k
        if label == (END,):
            return _ended(self.rank, self._outcome), self.rank
        return f"rank {k} calls {other.label[0]} while rank {self.rank} calls {label[0]}", k

    def _find_late_rank(self, label: tuple, ranks: Mapping[int, object]) -> None:
        """Fail with the rank that did not come in time; the lock is held at entry and at exit.

        A rank that waits elsewhere is held up by the one at fault, and times out at about that time.
        """
        self._waiting.clear()
        late = asked = self._missing(ranks)
        at_fault: list[int] = []
        while asked and not at_fault:
            self._ask_where(asked, lambda: self._settled(label, ranks))
            if self.failure is not None or self._settled(label, ranks):
                return
            at_fault = [k for k in asked if self._waiting.get(k) is None]
            further = {k for held_up in asked for k in self._waiting.get(held_up) or ()}
            asked = sorted(further - self._waiting.keys() - {self.rank})
        at_fault = at_fault or late
        names = ", ".join(map(str, at_fault))
        self.fail(f"rank {names} did not answer rank {self.rank} within {self.deadline:g} s", at_fault[0])

    def _ask_where(self, asked: list[int], settled: Callable[[], bool]) -> None:
        """Ask ranks for whom they wait; return when they have said so, at the latest after `ASK` seconds."""
        self._post({k: {"where": True} for k in asked})
        self._wait(lambda: settled() or self._waiting.keys() >= set(asked), ASK)

    def _missing(self, ranks: Iterable[int]) -> list[int]:
        return [k for k in ranks if not self._inbox[k]]

    def _post(self, messages: Mapping[int, dict]) -> None:
        if not self._links.post(messages):
            self.fail(f"the worker of rank {self.rank} is closing", self.rank, notify=False)

    def _receive(self, k: int, message: dict | None) -> None:
        """Process a message from rank k, or None if it has left; runs on the event loop."""
        if message is not None and "abort" in message:
            self.fail(message["abort"], message["rank"], notify=False)
            return
        if message is not None and "where" in message:
            with self._changed:
                waits_for = None if self._awaited is None else self._missing(self._awaited)
            self._post({k: {"waits_for": waits_for}})
            return
        with self._changed:
            if message is None:
                self._left.add(k)
            elif "label" in message and self.failure is None:
                self._inbox[k].append(_Message(tuple(message["label"]), message["content"]))
            elif "waits_for" in message:
                self._waiting[k] = message["waits_for"]
            self._changed.notify_all()


def _packed(array: Array) -> object:
    """Return an array in the form that is sent: a copy, since the caller may change it before it is sent."""
    if array.nbytes <= SMALL and array.dtype.kind in "biufmM":
        return {"dtype": array.dtype.str, "bytes": np.asarray(array).tobytes()}
    return to_serialize(np.array(array))


def _unpacked(content: Any) -> Array:
    if content is None:
        return NOTHING
    if isinstance(content, dict):
        return np.frombuffer(bytearray(content["bytes"]), content["dtype"])
    return content


def _ended(rank: int, outcome: Outcome) -> str:
    """Return a message that says how a rank ended for which others still wait."""
    if outcome is None:
        return f"rank {rank} ended before the others"
    return f"rank {rank} failed alone: {outcome[-1]}"


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
