"""The loops of a program over blocks, with its functions compiled into them.

Y. Zhang et al., "LargeGraph", ACM TACO 18(4), 2021 (docs/systems.md, L8): loaded blocks are processed until
none of their vertices is active.  All resident blocks are processed together, in order of value, as
`near_far` does with a whole graph.

1. An item is the part of a row in one block (see `cut`).  `flags` gives its state: idle; waiting, in a block
   that has no place and counts its waiting items; or in one of the lists, near and far, of a launch.
2. An active item sends its vertex's value along its edges.  Vertices whose value improves enter the lists
   if their block has a place.
3. Otherwise their rows are read where they are stored, in the same launch, as long as that has cost the block
   less than a load would ("rent, then buy"); after that they wait.

An item is taken off its list before the value is read, so an improvement is either read or enters the item
once more.  One thread iterates, while another loads.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.engines.blocks.residency import ABSENT
from rapids_trav.engines.blocks.schedule import ACTIVATED, LISTED, PRICE, SPENT, WAITING, WAITING_EDGES
from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept
from rapids_trav.engines.cpu.programs.near_far import thresholds
from rapids_trav.jit.kernels import kernel
from rapids_trav.programs.digest import ProgramKey

IDLE, WAITS, FAR, NEAR = 0, 1, 2, 3


@kept
def block_kernels(source: ProgramKey) -> tuple[Callable, Callable]:
    """Return `mark` and `converge` for a program; they are compiled at their first call."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    scatter, gather, reduce, _, active, _, cast = functions(program, compiler)
    passes, moved_threshold = thresholds(program, compiler, reduce)

    @compiler.inlined
    def wait(flags, counts, least, item, block, n_edges, value):
        """Let an idle item wait for its block."""
        flags[item] = WAITS
        counts[block, WAITING] += 1
        counts[block, WAITING_EDGES] += n_edges
        counts[block, ACTIVATED] += 1
        least[block] = reduce(least[block], value)

    @compiler.kernel
    def mark(row_offsets, shift, firsts, ends, marked, values, flags, counts, least):
        """Let the items of all marked vertices wait."""
        for b in range(len(firsts)):
            for v in range(firsts[b], ends[b]):
                if marked[v]:
                    n_edges = min(row_offsets[v + 1], (b + 1) << shift) - max(row_offsets[v], b << shift)
                    if n_edges > 0:
                        wait(flags, counts, least, v + b, b, n_edges, values[v])

    @compiler.inlined
    def improved(
        v, value, row_offsets, shift, place, n_edges, flags, counts, least, threshold,
        spare, n_next, far, n_far,
    ):  # fmt: skip
        """Enter the items of a vertex whose value has improved; return the lengths of `spare` and `far`."""
        begin = row_offsets[v]
        end = row_offsets[v + 1]
        if begin == end:
            return n_next, n_far
        is_near = passes(value, threshold)
        enters_near = False
        enters_far = False
        for b in range(begin >> shift, (end - 1 >> shift) + 1):
            item = v + b
            flag = flags[item]
            if flag == WAITS:
                least[b] = reduce(least[b], value)
            elif flag == IDLE:
                length = min(end, (b + 1) << shift) - max(begin, b << shift)
                if place[b] < 0:
                    cost = PRICE * length
                    if place[b] != ABSENT or counts[b, SPENT] + cost >= n_edges[b]:
                        wait(flags, counts, least, item, b, length, value)
                        continue
                    counts[b, SPENT] += cost
                counts[b, LISTED] += 1
                counts[b, ACTIVATED] += 1
                if is_near:
                    flags[item] = NEAR
                    enters_near = True
                else:
                    flags[item] = FAR
                    enters_far = True
            elif flag == FAR and is_near:
                flags[item] = NEAR
                enters_near = True
        if enters_near:
            spare[n_next] = v
            n_next += 1
        if enters_far:
            far[n_far] = v
            n_far += 1
        return n_next, n_far

    @compiler.kernel
    def converge(
        row_offsets, columns, weights, held_columns, held_weights, shift, place, n_edges, degrees, values,
        near, n_near, spare, far, n_far, flags, counts, least, threshold, step, since, most_edges,
    ):  # fmt: skip
        """Process both lists, until they are empty or enough edges have been pushed along.

        Return whether `near` and `spare` are swapped, the lengths of near and far, the threshold, its step,
        the edges pushed along since the threshold moved (`since`), rounds, edges pushed along, and the part
        of these that was read in place.
        """
        pushed = 0
        rented = 0
        rounds = 0
        swapped = False
        while pushed < most_edges:
            if n_near == 0:
                n_far = listed(row_offsets, shift, flags, far, n_far)
                if n_far == 0:
                    break
                threshold, step = moved_threshold(values, far, n_far, threshold, step, since)
                since = 0
                kept_far = 0
                for i in range(n_far):
                    v = np.int64(far[i])
                    if passes(values[v], threshold):
                        for b in range(row_offsets[v] >> shift, (row_offsets[v + 1] - 1 >> shift) + 1):
                            if flags[v + b] == FAR:
                                flags[v + b] = NEAR
                        near[n_near] = v
                        n_near += 1
                    else:
                        far[kept_far] = v
                        kept_far += 1
                n_far = kept_far
            rounds += 1
            n_next = 0
            before = pushed
            for i in range(n_near):
                u = np.int64(near[i])
                begin = row_offsets[u]
                end = row_offsets[u + 1]
                for b in range(begin >> shift, (end - 1 >> shift) + 1):
                    if flags[u + b] != NEAR:
                        continue
                    flags[u + b] = IDLE
                    counts[b, LISTED] -= 1
                    message = scatter(values[u], degrees[u])
                    first = max(begin, b << shift)
                    length = min(end, (b + 1) << shift) - first
                    pushed += length
                    is_held = place[b] >= 0
                    if is_held:
                        first += (place[b] - b) << shift
                    else:
                        rented += length
                    for e in range(first, first + length):
                        if is_held:
                            v = np.int64(held_columns[e])
                            weight = cast(1) if held_weights is None else held_weights[e]
                        else:
                            v = np.int64(columns[e])
                            weight = cast(1) if weights is None else weights[e]
                        value = values[v]
                        new = reduce(value, gather(message, weight))
                        if new == value:
                            continue
                        values[v] = new
                        if active(value, new):
                            n_next, n_far = improved(
                                v, new, row_offsets, shift, place, n_edges, flags, counts, least,
                                threshold, spare, n_next, far, n_far,
                            )  # fmt: skip
            since += pushed - before
            near, spare = spare, near
            swapped = not swapped
            n_near = n_next
        return swapped, n_near, n_far, threshold, step, since, rounds, pushed, rented

    return mark, converge


@kernel
def listed(row_offsets, shift, flags, far, n_far):
    """Drop the stale entries of far; return how many are left."""
    kept_far = 0
    for i in range(n_far):
        v = np.int64(far[i])
        for b in range(row_offsets[v] >> shift, (row_offsets[v + 1] - 1 >> shift) + 1):
            if flags[v + b] == FAR:
                far[kept_far] = v
                kept_far += 1
                break
    return kept_far


@kernel
def enter(block, first, end, flags, far, n_far):
    """Append the items that wait for a block to far; return its length."""
    for v in range(first, end):
        if flags[v + block] == WAITS:
            flags[v + block] = FAR
            far[n_far] = v
            n_far += 1
    return n_far


@kernel
def collect(firsts, ends, flags, active):
    """Mark the vertices that have an active item; return how many there are."""
    active[:] = False
    n_active = 0
    for b in range(len(firsts)):
        for v in range(firsts[b], ends[b]):
            if flags[v + b] != IDLE and not active[v]:
                active[v] = True
                n_active += 1
    return n_active
