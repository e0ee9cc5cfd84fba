"""Ranks in processes of their own, which share a GPU and talk over TCP as workers do."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from contextlib import suppress

from .member_cases import DEADLINE, case_of, whole


def run_processes(graphs, size):
    """Search each graph from vertex 0 by ranks in processes, all graphs built before the first search.

    Returns
    -------
    list of (distances, predecessors, exchanges, structures)
        For each graph.
    """
    spawn = multiprocessing.get_context("spawn")
    pipes = [spawn.Pipe() for _ in range(size)]
    processes = [
        spawn.Process(target=_rank, args=(end, number, size, graphs), daemon=True)
        for number, (_, end) in enumerate(pipes)
    ]
    for process, (_, end) in zip(processes, pipes, strict=True):
        process.start()
        end.close()  # a rank that dies is noticed
    try:
        addresses = [_received(pipe) for pipe, _ in pipes]
        for pipe, _ in pipes:
            pipe.send(addresses)
        told = [_received(pipe) for pipe, _ in pipes]
    finally:
        for pipe, _ in pipes:
            with suppress(OSError):
                pipe.send(None)  # all have ended, so memory may be freed
        for process in processes:
            process.join(20)
            process.kill()
    found = []
    for of_ranks in zip(*told, strict=True):
        cases, parts = [one[0] for one in of_ranks], [one[1] for one in of_ranks]
        found.append((*whole(cases, parts, cases[0].graph), *of_ranks[0][2:]))
    return found


class Told:
    """What `member_cases.whole` reads of a case or of an answer, in a form that can be sent."""

    def __init__(self, **values):
        self.__dict__.update(values)


def _received(pipe):
    if not pipe.poll(DEADLINE):
        raise TimeoutError("a rank did not answer")
    answer = pipe.recv()
    if isinstance(answer, str) and answer.startswith("failed"):
        raise RuntimeError(answer)
    return answer


def _rank(pipe, number, size, graphs):
    """Be a rank."""
    try:
        _search(pipe, number, size, graphs)
    except BaseException as error:
        pipe.send(f"failed: {error!r}")
        raise


def _search(pipe, number, size, graphs):
    import cupy
    from distributed.core import Server

    from rapids_trav.engines.multigpu.staged import StagedCommunicator
    from rapids_trav.engines.multigpu.tcp import TcpCommunicator

    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()

    def done(task):
        return asyncio.run_coroutine_threadsafe(task, loop).result(DEADLINE)

    async def start():
        server = Server({}, connection_args={})
        await server.listen("tcp://127.0.0.1:0")
        return server, TcpCommunicator("ranks", server, number, size, deadline=DEADLINE)

    server, control = done(start())
    pipe.send(server.address)
    addresses = pipe.recv()
    done(control.join(addresses))
    communicator = StagedCommunicator(control)
    cases = [case_of(cupy, communicator, graph, (size, 1)) for graph in graphs]
    for case in cases:
        assert case.view.launched.member("out") is not None, case.memory()
    told = []
    for case, graph in zip(cases, graphs, strict=True):
        found = case.search([0], trace=True)
        told.append(
            (
                Told(ids=case.ids, graph=graph, block=case.block),
                Told(distance=found.distance.get(), predecessor=found.predecessor.get()),
                [level.exchange for level in found.trace],
                [name for name, _ in case.memory()],
            )
        )
    pipe.send(told)
    pipe.recv()
    for case in cases:
        case.view.launched.release()
