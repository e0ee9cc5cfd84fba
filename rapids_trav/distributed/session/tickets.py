"""Turns at workers: who asks first for a worker gets it first, and holds it until the work is done."""

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
    """Grant sets of workers, in the order of the requests.

    A request stands in the queue of each of its workers from the moment it is made, and is granted when it is
    the first in all of them.  So no request overtakes another at any worker, all workers see overlapping
    requests in one order, and the oldest request of all can always go on: none waits for ever.
    """

    def __init__(self) -> None:
        self._queues: dict[str, deque[_Ticket]] = {}

    @asynccontextmanager
    async def turn(self, workers: Sequence[str]) -> AsyncIterator[None]:
        """Wait for the turn at all of these workers; it ends with the block."""
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
        """Return how many requests stand at each worker, the one under way among them."""
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
