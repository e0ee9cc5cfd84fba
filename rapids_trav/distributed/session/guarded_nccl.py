"""NCCL with an additional TCP connection, over which ranks learn at once that one of them is lost.

A rank that waits in NCCL keeps checking the TCP connection.  If a peer's connection closes, or the peer
reports an error or ends early, the rank stops waiting and raises an error that names the reason and the rank
at fault; NCCL knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rapids_trav.engines.multigpu.communicator import (
    Array,
    BaseCommunicator,
    Form,
    Met,
    Note,
    RankError,
    Traffic,
)
from rapids_trav.engines.multigpu.nccl import NcclCommunicator
from rapids_trav.engines.multigpu.tcp import TcpCommunicator

RELEASE_SECONDS = 4.0  # that closing a graph waits for NCCL; see `RankActor.close`

Result = TypeVar("Result")


class GuardedNccl(BaseCommunicator):
    """NCCL communicator of one rank with a TCP connection beside it; see `communicator.Communicator`."""

    def __init__(self, unique_id: object, control: TcpCommunicator) -> None:
        self.rank = control.rank
        self.size = control.size
        self.deadline = control.deadline
        self._control = control
        self._nccl = NcclCommunicator(
            unique_id, self.rank, self.size, deadline=control.deadline, watch=self._reason_to_stop
        )

    @property
    def traffic(self) -> Traffic:
        return self._nccl.traffic

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        return self._guarded(self._nccl.exchange, group, arrays, known)

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self._control.stopping

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        return self._guarded(self._nccl.sum_and_send, values, note)

    def check(self) -> None:
        self._guarded(self._nccl.check)

    def abort(self, reason: str, rank: int | None = None) -> None:
        self._control.abort(reason, rank)
        self._nccl.abort(reason)

    def release(self) -> None:
        """Free the resources of NCCL, without waiting for the other ranks."""
        self._nccl.abort("the ranks were closed")
        self._nccl.wait_for_abort(RELEASE_SECONDS)

    def _guarded(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Call NCCL; if it fails, notify all ranks and raise an error that names the rank at fault."""
        if self._control.failure is not None:
            raise self._control.error()
        try:
            return call(*arguments)
        except RankError as error:
            self._control.fail(*self._blamed(error))
            raise self._control.error() from error

    def _reason_to_stop(self) -> str | None:
        end = self._control.early_end()
        return None if end is None else end[0]

    def _blamed(self, error: RankError) -> tuple[str, int | None]:
        return self._control.early_end() or (str(error).partition(";")[0], error.rank)
