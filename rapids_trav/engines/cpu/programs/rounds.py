"""The loop of rounds over few edges, with the program's functions compiled into it.

In each round every vertex gathers over its edges.  Where a round takes less time than sharing it among
threads, one thread runs round after round and does not return to the host between them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.programs.kernels import functions, kept, steps
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
        out_degrees, new_values, new_messages, changed, tolerance, most_rounds,
    ):  # fmt: skip
        """Run rounds until no vertex changes, the changes are within the tolerance, or there are enough.

        The tolerance is an argument, since programs that differ in nothing else share the compiled code.
        Return the rounds, the vertices that the last one changed, their out-edges, the sum of its changes,
        and the sums of `total` that it used and that the next would use.  After an odd number of rounds the
        current values and messages are in `new_values` and `new_messages`.
        """
        n_rounds = 0
        n_changed = 1
        n_edges = 0
        residual = 0.0
        used_total = next_total
        while n_rounds < most_rounds and n_changed > 0:
            n_changed = 0
            n_edges = 0
            residual = 0.0
            used_total = next_total
            next_total = 0.0
            for v in range(len(values)):
                first = row_offsets[v]
                length = row_offsets[v + 1] - first
                gathered = gathered_over(columns, weights, messages, first, length, identity)
                has_changed, change, its_total = settle(
                    v, gathered, used_total, parameters, values, degrees, new_values, new_messages, changed
                )
                n_changed += has_changed
                n_edges += np.int64(out_degrees[v]) if has_changed else 0
                residual += change
                next_total += its_total
            values, new_values = new_values, values
            messages, new_messages = new_messages, messages
            n_rounds += 1
            if has_tolerance and residual < tolerance:
                break
        return n_rounds, n_changed, n_edges, residual, used_total, next_total

    return rounds
