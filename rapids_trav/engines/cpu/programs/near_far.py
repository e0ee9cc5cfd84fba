"""The loops of an asynchronous push in order of value, with the program's functions compiled into them.

A. Davidson, S. Baxter, M. Garland, J. D. Owens, "Work-efficient parallel GPU methods for single-source
shortest paths", IPDPS 2014.  The step of the threshold plays the part of the bucket width in U. Meyer, P.
Sanders, "Delta-stepping: a parallelizable shortest path algorithm", Journal of Algorithms 49, 2003, but
adapts by itself.

A value that is far from its final one is mostly replaced before it is needed, so active vertices are kept in
two lists: near, if their value has passed a threshold, else far.

1. A round pushes from every vertex of near; those whose value improves enter near or far.
2. When near is empty, the threshold moves to a value that a part of far passes, and beyond it by a step that
   grows while there is little to do between two moves; the vertices that pass it become near.

A program needs no declaration for this: min and max lead to the same result in any order.

`flags` gives the list of each vertex.  A vertex that passes the threshold while it is in far enters near too,
and its entry in far becomes stale.  One that has been near stays on the near side of the threshold, so it
never enters far again, and each list has room for every vertex.

`narrow` does all of this on one thread, without returning to the host between rounds.  `wide` is one round on
several threads.  They reduce by compare-and-swap, and exchange flags: the thread that finds a flag other than
NEAR enters the vertex.  A thread that takes a vertex marks it PASSED before it reads the value, so that an
improvement is either read or enters the vertex once more.

Reading is bound by cache misses, so both prefetch the rows of vertices a few places ahead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.engines.cpu.runtime.intrinsics import (
    bits_of,
    compare_and_swap,
    exchange,
    fetch_and_add,
    prefetch,
)
from rapids_trav.programs.definition import Program
from rapids_trav.programs.digest import ProgramKey

IDLE, FAR, NEAR, PASSED = 0, 1, 2, 3
BUFFER = 512  # vertices that a thread collects before it appends them to a list
AHEAD = 4  # vertices between prefetching values and reading them; rows are prefetched twice as early
ASKED = 8  # values that are prefetched for a row
SAMPLE = 256  # values of far from which the threshold is chosen
# Measured on grids, a road-like lattice, R-MAT of scale 18, a random, a citation and the Facebook graph:
NEAR_PART = 32  # 1/NEAR_PART of the vertices of far become near
NEAR_LEAST = 32
LITTLE = 1 << 14  # if fewer edges lie between two moves of the threshold, the next goes further


def thresholds(program: Program, compiler: ProgramCompiler, reduce: Callable) -> tuple[Callable, Callable]:
    """Return two functions for kernels: whether a value passes a threshold, and the next threshold."""
    descending = program.reducer == "max"
    to_dtype = getattr(np, program.dtype)
    identity = program.identity

    @compiler.inlined
    def passes(value, threshold):
        return reduce(value, threshold) == value

    @compiler.inlined
    def moved_threshold(values, far, n_far, threshold, step, since):
        """Return the next threshold, and the step by which it moved beyond the sampled value."""
        n_sample = min(n_far, SAMPLE)
        sample = np.empty(n_sample, values.dtype)
        for i in range(n_sample):
            sample[i] = values[far[n_far * i // n_sample]]
        sample.sort()
        place = min(max(NEAR_LEAST, n_far // NEAR_PART) * n_sample // n_far, n_sample - 1)
        passed = sample[n_sample - 1 - place] if descending else sample[place]
        if since < LITTLE:
            moved = abs(np.float64(passed) - np.float64(threshold))
            step = max(2 * step, moved if moved < np.inf else 0.0)
        else:
            step /= 2
        room = abs(np.float64(identity) - np.float64(passed))
        if not 2 * step < room:
            return identity, step  # everything that is left
        further = to_dtype(step)
        return (passed - further if descending else passed + further), step

    return passes, moved_threshold


@kept
def near_far_kernels(source: ProgramKey) -> tuple[Callable, Callable]:
    """Return `narrow` and `wide` for a program; they are compiled at their first call."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    scatter, gather, reduce, _, active, _, cast = functions(program, compiler)
    passes, moved_threshold = thresholds(program, compiler, reduce)

    @compiler.inlined
    def ask_ahead(row_offsets, columns, weights, values, near, i, end):
        """Prefetch the data that the vertices after `near[i]` need; the list has `end` vertices."""
        row = row_offsets[near[min(i + 2 * AHEAD, end - 1)]]
        prefetch(columns, row)
        if weights is not None:
            prefetch(weights, row)
        u = np.int64(near[min(i + AHEAD, end - 1)])
        for e in range(row_offsets[u], min(row_offsets[u] + ASKED, row_offsets[u + 1])):
            prefetch(values, columns[e])

    @compiler.kernel
    def narrow(
        row_offsets, columns, weights, degrees, values, near, n_near, spare, far, n_far, flags, threshold,
        step, since, most_edges, most_pushed,
    ):  # fmt: skip
        """Process both lists, until they are empty, near is wide or enough edges have been pushed along.

        Return whether `near` and `spare` are swapped, the lengths of near and far, the edges of near, the
        threshold, its step, the edges pushed along since it moved (`since`), and those of this call.
        """
        pushed = 0
        n_edges = 0
        swapped = False
        while True:
            if n_near == 0:
                kept = 0
                for i in range(n_far):
                    if flags[far[i]] == FAR:
                        far[kept] = far[i]
                        kept += 1
                n_far = kept
                n_edges = 0
                if n_far == 0:
                    break
                threshold, step = moved_threshold(values, far, n_far, threshold, step, since)
                since = 0
                kept = 0
                for i in range(n_far):
                    v = far[i]
                    if passes(values[v], threshold):
                        flags[v] = NEAR
                        near[n_near] = v
                        n_near += 1
                    else:
                        far[kept] = v
                        kept += 1
                n_far = kept
            n_edges = 0
            for i in range(n_near):
                n_edges += row_offsets[np.int64(near[i]) + 1] - row_offsets[near[i]]
            if n_edges > most_edges or pushed >= most_pushed:
                break
            pushed += n_edges
            since += n_edges
            n_next = 0
            for i in range(n_near):
                ask_ahead(row_offsets, columns, weights, values, near, i, n_near)
                u = np.int64(near[i])
                flags[u] = PASSED
                message = scatter(values[u], degrees[u])
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
                    if passes(new, threshold):
                        if flags[v] != NEAR:
                            flags[v] = NEAR
                            spare[n_next] = v
                            n_next += 1
                    elif flags[v] == IDLE:
                        flags[v] = FAR
                        far[n_far] = v
                        n_far += 1
            near, spare = spare, near
            swapped = not swapped
            n_near = n_next
        return swapped, n_near, n_far, n_edges, threshold, step, since, pushed

    @compiler.kernel
    def wide(
        row_offsets, columns, weights, degrees, values, bits, threshold, near, spare, far, tails, flags,
        begin, end,
    ):  # fmt: skip
        """Push from `near[begin:end]`; `tails` holds the lengths of `spare` and `far`."""
        found = np.empty(BUFFER, near.dtype)
        n_found = 0
        for i in range(begin, end):
            ask_ahead(row_offsets, columns, weights, values, near, i, end)
            u = np.int64(near[i])
            exchange(flags, u, PASSED)
            message = scatter(values[u], degrees[u])
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
                    if passes(new, threshold):
                        if exchange(flags, v, NEAR) != NEAR:
                            found[n_found] = v
                            n_found += 1
                            if n_found == BUFFER:
                                place = fetch_and_add(tails, 0, n_found)
                                spare[place : place + n_found] = found
                                n_found = 0
                    elif flags[v] == IDLE and compare_and_swap(flags, v, IDLE, FAR) == IDLE:
                        far[fetch_and_add(tails, 1, 1)] = v
                    break
        place = fetch_and_add(tails, 0, n_found)
        spare[place : place + n_found] = found[:n_found]

    return narrow, wide
