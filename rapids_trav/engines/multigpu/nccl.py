"""Communication between ranks that each have a GPU, through CuPy's interface to NCCL.

Arrays are sent by `ncclSend` and `ncclRecv` in groups over one communicator of all ranks, which serves both
rows and columns of the grid.  Unless the receivers know the type and length of an array, each partner first
gets them in a header of 8 bytes.

The calls only enqueue work.  A rank waits by polling an event, so that it can notice that it has to stop.  A
separate thread enforces the deadline by calling `ncclCommAbort`; it works even if an enqueuing call does not
return because a partner is gone, which may happen in the first call to each partner.  Aborting ends only this
rank.  A rank learns of the failure of others through `watch`; if it does not, it ends at the deadline.

CuPy offers only blocking communicators (its checks do not know ncclInProgress), and NCCL_COMM_BLOCKING=0 in
the environment would break them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import cupy
import numpy as np
from cupy.cuda import nccl

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
from rapids_trav.errors import TravError, first_line

DTYPES = tuple(map(np.dtype, (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64)))
Transfer = tuple[int, Array, Array]  # a rank, what it is sent, and where what it sends is received
LENGTH_BITS = 56  # bits of a header for the length; the number of the type is above
POLL = 0.02  # seconds between two checks by the thread that enforces the deadline
SPIN = 1e-3  # seconds that a rank polls an event without a pause


class NcclCommunicator(Communicator):
    """Communicator of one rank; see `communicator.Communicator`.

    It uses the current device and CuPy's current stream.  `unique_id` is from `nccl.get_unique_id()` on one
    of the ranks.  `watch` is called often, from a thread, while this rank waits; it returns the reason to
    stop, or None.  The constructor returns when all ranks have called it.  NCCL itself waits for that without
    a deadline, so make sure that all ranks have started.
    """

    def __init__(
        self,
        unique_id: Any,
        rank: int,
        size: int,
        *,
        deadline: float = DEADLINE,
        watch: Callable[[], str | None] | None = None,
    ) -> None:
        self.rank = rank
        self.size = size
        self.traffic = Traffic()
        self.xp = cupy
        self.deadline = deadline
        self._watch = watch
        self._failure: str | None = None
        self._aborting: threading.Thread | None = None
        self._since: float | None = None  # when the current call began
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._nccl = nccl.NcclCommunicator(size, unique_id, rank)
        threading.Thread(target=self._keep_deadline, name=f"rank {rank} deadline", daemon=True).start()

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        place = group.index(self.rank)
        partners = [k for k in range(len(group)) if k != place]
        received: list[Array] = list(arrays)
        if partners:
            if known is None:
                known = self._forms(group, place, arrays)
            for k in partners:
                dtype, length = known[k]
                received[k] = cupy.empty(length, dtype)
            self._send_and_receive(
                [(group[k], cupy.ascontiguousarray(arrays[k]), received[k]) for k in partners]
            )
        self.traffic += sent(arrays, place)
        return received

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        partners, room = note.partners, note.room
        slots = cupy.empty((1 + len(partners)) * room, np.uint32)  # so that receivers know the length
        if note.words is not None:
            slots[: len(note.words)] = note.words.view(np.uint32)
        own, *notes = (slots[i * room : (i + 1) * room] for i in range(1 + len(partners)))
        slot_of = {k: own if k == self.rank else slot for k, slot in zip(partners, notes, strict=True)}
        sums, numbers = list(values), {self.rank: note.number}
        for group in self.axes(note):
            if len(group) == 1:
                continue
            table = cupy.asarray(np.tile(np.array([*sums, note.number], np.int64), len(group)))
            rows = dict(zip(group, table.reshape(len(group), -1), strict=True))
            others = [k for k in group if k != self.rank]
            self._send_and_receive(
                [(k, own, slot_of[k]) for k in others if k in slot_of]
                + [(k, rows[self.rank], rows[k]) for k in others]
            )
            *columns, told = table.get().reshape(len(group), -1).T.tolist()
            sums = [sum(column) for column in columns]
            numbers |= zip(group, told, strict=True)
        self.count_sum(note)
        return Met(sums, [numbers[k] for k in partners], [slot_of[k] for k in partners])

    def check(self) -> None:
        if self._watch is not None and (reason := self._watch()) is not None:
            self.give_up(reason)
        self._check()

    def abort(self, reason: str, rank: int | None = None) -> None:
        self.give_up(reason)

    def give_up(self, reason: str) -> None:
        """Make the calls of this rank fail; returns at once."""
        with self._lock:
            if self._failure is None and not self._closed.is_set():
                self._failure = reason
                # NCCL may take long to end its threads, and the caller must not wait.
                self._aborting = threading.Thread(target=self._nccl.abort, daemon=True)
                self._aborting.start()

    def wait_for_abort(self, seconds: float) -> None:
        """Wait until NCCL has freed its buffers after an `abort`, but at most `seconds`."""
        if self._aborting is not None:
            self._aborting.join(seconds)

    def close(self) -> None:
        """Free the communicator; every rank calls it, after all its other calls."""
        with self._lock:
            if self._failure is None and not self._closed.is_set():
                self._nccl.destroy()
            self._closed.set()

    def _forms(self, group: Sequence[int], place: int, arrays: Sequence[Array]) -> list[Form]:
        """Exchange headers, and return the form of what each rank of the group sends to this one."""
        out = cupy.asarray(np.array([header(array) for array in arrays], np.int64))
        back = out.copy()
        self._send_and_receive(
            [(rank, out[k : k + 1], back[k : k + 1]) for k, rank in enumerate(group) if k != place]
        )
        return [parse_header(number) for number in back.tolist()]

    def _send_and_receive(self, transfers: list[Transfer]) -> None:
        """Send to and receive from all ranks at once, as bytes; both sides leave out empty arrays."""
        with self._call() as stream:
            nccl.groupStart()
            try:
                for rank, out, back in transfers:
                    if out.nbytes:
                        self._nccl.send(out.data.ptr, out.nbytes, nccl.NCCL_INT8, rank, stream.ptr)
                    if back.nbytes:
                        self._nccl.recv(back.data.ptr, back.nbytes, nccl.NCCL_INT8, rank, stream.ptr)
            finally:
                nccl.groupEnd()

    @contextmanager
    def _call(self) -> Iterator[Any]:
        """Enqueue the calls inside; on exit wait until the device has done them, or raise."""
        self._check()
        stream = cupy.cuda.get_current_stream()
        self._since = time.monotonic()
        try:
            yield stream
            done = cupy.cuda.Event(disable_timing=True)
            done.record(stream)
            begin = time.monotonic()
            while not done.done:
                self._check()
                if time.monotonic() - begin > SPIN:
                    time.sleep(SPIN / 10)
            self._check()
        except nccl.NcclError as error:
            self._check()  # an abort makes current calls fail, and its reason is more precise
            self.give_up(f"rank {self.rank} received an error from NCCL: {first_line(error)}")
            self._check()
        finally:
            self._since = None

    def _check(self) -> None:
        reason = self._failure
        if reason is not None:
            raise RankError.because(reason)
        if self._closed.is_set():
            raise TravError("The communicator is closed: make another one.")

    def _keep_deadline(self) -> None:
        while not self._closed.wait(POLL) and self._failure is None:
            since = self._since
            if since is None:
                continue
            reason = self._watch() if self._watch else None
            if reason is not None:
                self.give_up(reason)
            elif time.monotonic() - since > self.deadline:
                self.give_up(f"rank {self.rank} waited {self.deadline:g} s for the others without an answer")


def header(array: Array) -> int:
    """Return the type and the length of an array as one number."""
    if array.dtype not in DTYPES:
        raise TravError(f"An array of {array.dtype} cannot be sent: convert it to int64.")
    return DTYPES.index(array.dtype) << LENGTH_BITS | len(array)


def parse_header(number: int) -> tuple[np.dtype, int]:
    """Return the type and the length in a header."""
    return DTYPES[number >> LENGTH_BITS], number & ((1 << LENGTH_BITS) - 1)
