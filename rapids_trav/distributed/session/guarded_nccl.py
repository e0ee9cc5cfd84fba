"""NCCL with an additional TCP connection, over which ranks learn at once that one of them is lost.

A rank that waits in NCCL keeps checking the TCP connection.  If a peer's connection closes, or the peer
reports an error or ends early, the rank stops waiting and raises an error that names the reason and the rank
at fault; NCCL knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from rapids_trav.engines.multigpu.communicator import Array, Form, Met, Note, RankError
from rapids_trav.engines.multigpu.nccl import NcclCommunicator
from rapids_trav.engines.multigpu.tcp import TcpCommunicator

RELEASE_SECONDS = 4.0  # that closing a graph waits for NCCL; see `RankActor.close`

Result = TypeVar("Result")


class GuardedNccl(NcclCommunicator):
    """NCCL communicator of one rank with a TCP connection beside it; see `communicator.Communicator`."""

    def __init__(self, unique_id: object, control: TcpCommunicator) -> None:
        self._control = control
        super().__init__(
            unique_id, control.rank, control.size, deadline=control.deadline, watch=self._reason_to_stop
        )

    @property
    def stopping(self) -> bool:  # type: ignore[override]
        return self._control.stopping

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Array], known: Sequence[Form] | None = None
    ) -> list[Array]:
        return self._guarded(super().exchange, group, arrays, known)

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        return self._guarded(super().sum_and_send, values, note)

    def check(self) -> None:
        self._guarded(super().check)

    def abort(self, reason: str, rank: int | None = None) -> None:
        self._control.abort(reason, rank)
        self.give_up(reason)

    def release(self) -> None:
        """Free the resources of NCCL, without waiting for the other ranks."""
        self.give_up("the ranks were closed")
        self.wait_for_abort(RELEASE_SECONDS)

    def _guarded(self, call: Callable[..., Result], *arguments: object) -> Result:
        """Call NCCL; if it fails, notify all ranks and raise an error that names the rank at fault."""
        if self._control.failure is not None:
            raise self._control.error()
        try:
            return call(*arguments)
        except RankError as error:
            blamed = self._control.early_end() or (str(error).partition(";")[0], error.rank)
            self._control.fail(*blamed)
            raise self._control.error() from error

    def _reason_to_stop(self) -> str | None:
        end = self._control.early_end()
        return None if end is None else end[0]
