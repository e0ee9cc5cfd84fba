"""Turns at workers: requests for a worker are served one at a time, in the order in which they are made."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass(eq=False)
class _Ticket:
    workers: tuple[str, ...]
    granted: asyncio.Event


class Tickets:
    """Queues of requests for sets of workers.

    A request joins the queues of all its workers when it is made, and is granted when it is the first in all
    of them.  So no request overtakes another at any worker, all workers see overlapping requests in the same
    order, and the oldest request can always proceed: none waits forever.
    """

    def __init__(self) -> None:
        self._queues: dict[str, deque[_Ticket]] = {}

    @asynccontextmanager
    async def turn(self, workers: Sequence[str]) -> AsyncIterator[None]:
        """Wait for the turn at all of these workers; the turn ends with the `with` block."""
        ticket = _Ticket(tuple(workers), asyncio.Event())
        for worker in ticket.workers:
            self._queues.setdefault(worker, deque()).append(ticket)
        self._grant(ticket)
        try:
            await ticket.granted.wait()
            yield
        finally:
            self._leave(ticket)

    def waiting(self) -> dict[str, int]:
        """Return the number of requests queued at each worker, including the current one."""
        return {worker: len(queue) for worker, queue in self._queues.items()}

    def _grant(self, ticket: _Ticket) -> None:
        if all(self._queues[worker][0] is ticket for worker in ticket.workers):
            ticket.granted.set()

    def _leave(self, ticket: _Ticket) -> None:
        for worker in ticket.workers:
            queue = self._queues[worker]
            queue.remove(ticket)
            if not queue:
                del self._queues[worker]
        for worker in ticket.workers:
            if worker in self._queues:
                self._grant(self._queues[worker][0])
