"""The loop of a synchronous push, with the program's functions compiled into it.

Along each edge that leaves an active vertex the message is reduced into the neighbour's value at once.  The
messages of a round are computed before it, so that every vertex gets the value that a pull would give it.  It
runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.programs.digest import ProgramKey

IDLE, TOUCHED = 0, 1


@kept
def push_rounds(source: ProgramKey) -> Callable:
    """Return the kernel of a program, which is compiled at its first call for each type of graph."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    scatter, gather, reduce, _, active, _, cast = functions(program, compiler)
    has_scatter = program.scatter is not None

    @compiler.kernel
    def rounds(
        row_offsets, columns, weights, degrees, values, messages, queue, n_queue, touched, offers, before,
        flags, most_edges, most_rounds,
    ):  # fmt: skip
        """Push round by round; return rounds, vertices in `queue`, their edges, and edges pushed along."""
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
                            flags[v] = TOUCHED
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

    return rounds
