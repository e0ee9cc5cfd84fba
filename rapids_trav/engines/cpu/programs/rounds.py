"""The loop of rounds over few edges, with the program's functions compiled into it.

In each round every vertex gathers over its edges.  Where a round takes less time than handing it out to
threads, they stay in the loop: each has a part of the vertices, and they meet after every round.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import (
    CHANGED,
    EDGES,
    N_STATS,
    RESIDUAL,
    TOTAL,
    functions,
    kept,
    steps,
)
from rapids_trav.engines.cpu.runtime.gate import passed
from rapids_trav.programs.digest import ProgramKey


@kept
def gather_rounds(source: ProgramKey) -> Callable:
    """Return the kernel of a program, which is compiled at its first call for each type of graph."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    gathered_over, settle = steps(program, compiler, functions(program, compiler))
    has_tolerance = program.tolerance is not None

    @compiler.kernel
    def rounds(
        row_offsets, columns, weights, identity, next_total, parameters, values, messages, degrees,
        out_degrees, new_values, new_messages, changed, tolerance, most_rounds, bounds, tallies, gate, part,
    ):  # fmt: skip
        """Run rounds until no vertex changes, the changes are within the tolerance, or there are enough.

        This thread gathers at the vertices from `bounds[part]` to `bounds[part + 1]`.  `tallies` has the
        counts of each part in the last round and in the one before, as a thread may be a round ahead of
        another that still reads them.  The tolerance is an argument, since programs that differ in nothing
        else share the compiled code.

        Return the rounds, the vertices that the last one changed, their out-edges, the sum of its changes,
        and the sums of `total` that it used and that the next would use; no rounds if the gate is abandoned.
        After an odd number of rounds the current values and messages are in `new_values` and `new_messages`.
        """
        n_parts = len(bounds) - 1
        n_rounds = 0
        n_changed = 1
        n_edges = 0
        residual = 0.0
        used_total = next_total
        while n_rounds < most_rounds and n_changed > 0:
            own_changed = 0
            own_edges = 0
            own_residual = 0.0
            own_total = 0.0
            used_total = next_total
            for v in range(bounds[part], bounds[part + 1]):
                first = row_offsets[v]
                length = row_offsets[v + 1] - first
                gathered = gathered_over(columns, weights, messages, first, length, identity)
                has_changed, change, its_total = settle(
                    v, gathered, used_total, parameters, values, degrees, new_values, new_messages, changed
                )
                own_changed += has_changed
                own_edges += np.int64(out_degrees[v]) if has_changed else 0
                own_residual += change
                own_total += its_total
            tally = tallies[n_rounds % 2]
            tally[part, CHANGED] = own_changed
            tally[part, EDGES] = own_edges
            tally[part, RESIDUAL] = own_residual
            tally[part, TOTAL] = own_total
            n_rounds += 1
            if not passed(gate, n_parts, n_rounds):
                return 0, n_changed, n_edges, residual, used_total, next_total
            n_changed = 0
            n_edges = 0
            residual = 0.0
            next_total = 0.0
            for other in range(n_parts):
                n_changed += int(tally[other, CHANGED])
                n_edges += int(tally[other, EDGES])
                residual += tally[other, RESIDUAL]
                next_total += tally[other, TOTAL]
            values, new_values = new_values, values
            messages, new_messages = new_messages, messages
            if has_tolerance and residual < tolerance:
                break
        return n_rounds, n_changed, n_edges, residual, used_total, next_total

    return rounds


def new_tallies(n_parts: int) -> np.ndarray:
    """Return the counts of the parts that the kernel takes."""
    return np.zeros((2, n_parts, N_STATS))
