"""The loops of a pushing vertex program, with its functions compiled into them.

Along each edge that leaves an active vertex the message is reduced into the neighbour's value at once.

`rounds` is synchronous and runs on one thread: the messages of a round are made before it, so that every
vertex gets what a pull would give it.

`narrow` and `wide` are asynchronous, on one thread and on several.  What is active lies in one of two lists:
near, if its value has passed a threshold, else far (A. Davidson et al., "Work-efficient parallel GPU methods
for single-source shortest paths", IPDPS 2014), for a value that is far from its end is mostly replaced before
it is needed.  `flags` says in which: a vertex whose value passes the threshold while it is far enters near
too, and its entry in far is stale.  Several threads reduce by compare-and-swap; a vertex enters a list by the
thread that swaps its flag.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.engines.cpu.runtime.intrinsics import bits_of, compare_and_swap, fetch_and_add
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey

IDLE, FAR, NEAR = 0, 1, 2
BUFFER = 512  # vertices that a thread gathers before it enters them in a list


class PushKernels(NamedTuple):
    """The functions that the engine calls for one program."""

    rounds: Callable
    narrow: Callable
    wide: Callable


def push_kernels(program: Program) -> PushKernels:
    """The kernels of a program, compiled at their first call for each type of graph."""
    return _kernels(ProgramKey(program))


@kept
def _kernels(source: ProgramKey) -> PushKernels:
    program = source.program
    compiler = ProgramCompiler(source.digest)
    scatter, gather, reduce, _, active, _, cast = functions(program, compiler)
    has_scatter = program.scatter is not None

    @compiler.kernel
    def rounds(
        row_offsets, columns, weights, degrees, values, messages, queue, n_queue, touched, offers, before,
        flags, most_edges, most_rounds,
    ):  # fmt: skip
        """Rounds done, vertices in `queue` after them, their edges, and edges pushed along."""
        n_rounds = 0
        n_edges = 0
        pushed = 0
        while n_rounds < most_rounds and n_queue > 0:
            for i in range(n_queue):
                u = np.int64(queue[i])
                offers[i] = scatter(values[u], degrees[u])
            n_touched = 0
            for i in range(n_queue):
                u = np.int64(queue[i])
                pushed += row_offsets[u + 1] - row_offsets[u]
                for e in range(row_offsets[u], row_offsets[u + 1]):
                    v = np.uintp(columns[e])
                    weight = cast(1) if weights is None else weights[e]
                    value = values[v]
                    new = reduce(value, gather(offers[i], weight))
                    if new != value:
                        if flags[v] == IDLE:
                            flags[v] = NEAR
                            touched[n_touched] = v
                            before[n_touched] = value
                            n_touched += 1
                        values[v] = new
            n_queue = 0
            n_edges = 0
            for i in range(n_touched):
                v = np.int64(touched[i])
                flags[v] = IDLE
                if has_scatter:
                    messages[v] = scatter(values[v], degrees[v])
                if active(before[i], values[v]):
                    queue[n_queue] = v
                    n_queue += 1
                    n_edges += row_offsets[v + 1] - row_offsets[v]
            n_rounds += 1
            if n_edges > most_edges:
                break
        return n_rounds, n_queue, n_edges, pushed

    @compiler.kernel
    def narrow(
        row_offsets, columns, weights, degrees, values, threshold, near, n_near, n_edges, spare, far, n_far,
        flags, most_edges, most_pushed,
    ):  # fmt: skip
        """Pass over near until it is empty or wide; the list that is near then, its length and edges,
        the length of far, and edges pushed along."""
        pushed = 0
        swapped = False
        while n_near > 0 and n_edges <= most_edges and pushed < most_pushed:
            n_next = 0
            n_edges = 0
            for i in range(n_near):
                u = np.int64(near[i])
                flags[u] = IDLE
                message = scatter(values[u], degrees[u])
                pushed += row_offsets[u + 1] - row_offsets[u]
                for e in range(row_offsets[u], row_offsets[u + 1]):
                    v = np.uintp(columns[e])
                    weight = cast(1) if weights is None else weights[e]
                    value = values[v]
                    new = reduce(value, gather(message, weight))
                    if new == value:
                        continue
                    values[v] = new
                    if not active(value, new):
                        continue
                    if reduce(new, threshold) == new:
                        if flags[v] != NEAR:
                            flags[v] = NEAR
                            spare[n_next] = v
                            n_next += 1
                            n_edges += row_offsets[v + 1] - row_offsets[v]
                    elif flags[v] == IDLE:
                        flags[v] = FAR
                        far[n_far] = v
                        n_far += 1
            near, spare = spare, near
            swapped = not swapped
            n_near = n_next
        return swapped, n_near, n_edges, n_far, pushed

    @compiler.kernel
    def wide(
        row_offsets, columns, weights, degrees, values, bits, threshold, near, spare, far, tails, flags,
        begin, end,
    ):  # fmt: skip
        """Push from `near[begin:end]`; the edges of what enters `spare`, and edges pushed along."""
        found = np.empty(BUFFER, near.dtype)
        n_found = 0
        n_edges = 0
        pushed = 0
        for i in range(begin, end):
            u = np.int64(near[i])
            message = scatter(values[u], degrees[u])
            pushed += row_offsets[u + 1] - row_offsets[u]
            for e in range(row_offsets[u], row_offsets[u + 1]):
                v = np.uintp(columns[e])
                weight = cast(1) if weights is None else weights[e]
                offered = gather(message, weight)
                while True:
                    value = values[v]
                    new = reduce(value, offered)
                    if new == value:
                        break
                    if compare_and_swap(bits, v, bits_of(value), bits_of(new)) != bits_of(value):
                        continue
                    if not active(value, new):
                        break
                    if reduce(new, threshold) == new:
                        while True:
                            flag = flags[v]
                            if flag == NEAR or compare_and_swap(flags, v, flag, NEAR) == flag:
                                break
                        if flag != NEAR:
                            found[n_found] = v
                            n_found += 1
                            n_edges += row_offsets[v + 1] - row_offsets[v]
                            if n_found == BUFFER:
                                place = fetch_and_add(tails, 0, n_found)
                                spare[place : place + n_found] = found
                                n_found = 0
                    elif flags[v] == IDLE and compare_and_swap(flags, v, IDLE, FAR) == IDLE:
                        far[fetch_and_add(tails, 1, 1)] = v
                    break
        place = fetch_and_add(tails, 0, n_found)
        spare[place : place + n_found] = found[:n_found]
        return n_edges, pushed

    return PushKernels(rounds, narrow, wide)
