"""Ranks that communicate over TCP, all in one process: a server and a thread for each."""

from __future__ import annotations

import asyncio
import threading
import uuid
from contextlib import contextmanager

from distributed.core import Server

from rapids_trav.engines.multigpu.communicator import DEADLINE, aborting
from rapids_trav.engines.multigpu.tcp import TcpCommunicator


@contextmanager
def communicators(size, deadline=DEADLINE):
    """Yield a communicator for each rank, all served by one event loop."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start():
        servers = [Server({}, connection_args={}) for _ in range(size)]
        for server in servers:
            await server.listen("tcp://127.0.0.1:0")
        name = uuid.uuid4().hex
        ranks = [
            TcpCommunicator(name, server, k, size, deadline=deadline) for k, server in enumerate(servers)
        ]
        await asyncio.gather(*(rank.join([server.address for server in servers]) for rank in ranks))
        return servers, ranks

    async def stop(servers, ranks):
        await asyncio.gather(*(rank.close() for rank in ranks))
        await asyncio.gather(*(server.close() for server in servers))

    servers, ranks = asyncio.run_coroutine_threadsafe(start(), loop).result(60)
    try:
        yield ranks
    finally:
        asyncio.run_coroutine_threadsafe(stop(servers, ranks), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def run_ranks(size, function, *, deadline=DEADLINE):
    """Call a function on every rank at once, as `loopback.run_ranks` does."""
    results, errors = [None] * size, {}

    def work(communicator):
        try:
            with aborting(communicator, "working"):
                results[communicator.rank] = function(communicator)
        except BaseException as error:
            errors[communicator.rank] = error

    with communicators(size, deadline) as ranks:
        threads = [threading.Thread(target=work, args=(rank,), daemon=True) for rank in ranks]
        for thread in threads:
            thread.start()
        for thread in threads:  # a stuck thread must not hold up the test
            while thread.is_alive() and not all(rank.failure for rank in ranks):
                thread.join(0.05)
        failed = [rank for rank in ranks if rank.failure is not None]
        for thread in threads:
            thread.join(3)
        if failed:
            raise failed[0].error() from errors.get(failed[0].failure[1])
    return results


def close_connections(communicator):
    """Abort the connections as the kernel does for a killed process; call this on the event loop."""
    for comm in communicator._links._comms.values():
        comm.abort()
