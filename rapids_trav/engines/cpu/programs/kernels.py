"""The loops of a vertex program, with its functions compiled into them.

The edges that a step gathers over are cut into parts of equal length (docs/systems.md, G12), so that no hub
keeps one thread at work while the others wait.  A vertex whose edges cross a cut is replicated: each part
reduces its own share.  One thread then merges the shares backwards, from the last part to the first, and
applies the merged vertices.  With n parts at most n - 1 vertices are replicated.

The loop of rounds over few edges, with the program's functions compiled into it.

In each round every vertex gathers over its edges.  Where a round takes less time than handing it out to
threads, they stay in the loop: each has a part of the vertices, and they meet after every round.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rapids_trav.engines.cpu.programs.compile import ProgramCompiler
from rapids_trav.engines.cpu.runtime.intrinsics import passed
from rapids_trav.programs.definition import ARGUMENTS, Program
from rapids_trav.programs.digest import ProgramKey

ONE, TWO, THREE, FOUR = map(np.uintp, (1, 2, 3, 4))
CHANGED, EDGES, RESIDUAL, TOTAL, N_STATS = 0, 1, 2, 3, 8  # columns of the parts' counts; 8 fill a cache line


class ProgramKernels(NamedTuple):
    """The functions that the engine calls for one program."""

    offer: Callable
    gather: Callable
    merge: Callable


class Functions(NamedTuple):
    """The functions of a program, none missing and with all arguments, for other compiled functions to call.

    `cast` converts the result of `apply` to the program's dtype.  `scatter` and `gather` return that dtype,
    and pass on the identity of min and max unchanged.
    """

    scatter: Callable
    gather: Callable
    reduce: Callable
    apply: Callable
    active: Callable
    total: Callable
    cast: Callable


kept = functools.lru_cache(maxsize=128)  # compiled programs in a process


def functions(program: Program, compiler: ProgramCompiler) -> Functions:
    """Return the program's functions, with defaults for those that are missing."""

    def smaller(one, other):
        return other if other < one else one

    def larger(one, other):
        return other if other > one else one

    def added(one, other):
        return one + other

    reduce = compiler.inlined({"min": smaller, "max": larger, "sum": added}[program.reducer])
    default = {
        "scatter": lambda value, degree: value,
        "gather": lambda message, weight: message,
        "apply": lambda value, gathered, total, parameters: gathered,
        "active": lambda value, new: new != value,
        "total": lambda value, degree: 0.0,
    }
    if program.reducer != "sum":
        default["apply"] = lambda value, gathered, total, parameters: reduce(value, gathered)
    own = {
        name: compiler.widened(getattr(program, name) or default[name], len(arguments))
        for name, arguments in ARGUMENTS.items()
    }
    if program.start is not None:
        applied, start = own["apply"], np.dtype(program.dtype).type(program.start)
        own["apply"] = compiler.inlined(
            lambda value, gathered, total, parameters: applied(
                value, reduce(start, gathered), total, parameters
            )
        )
    is_active, to_dtype = own["active"], getattr(np, program.dtype)
    # `|` exists only for integers and truth values: for other types the compiler reports an error.
    own["active"] = compiler.inlined(lambda value, new: bool(is_active(value, new) | False))
    cast = to_dtype
    if program.dtype.startswith("int"):
        cast = compiler.inlined(lambda given: to_dtype(given | 0))
    for name in ("scatter", "gather"):
        own[name] = compiler.inlined(_offering(program, name, own[name], cast))
    return Functions(reduce=reduce, cast=cast, **own)


def _offering(program: Program, name: str, function: Callable, cast: Callable) -> Callable:
    """Return `scatter` or `gather` in the program's dtype, skipped for the identity of min and max."""
    if getattr(program, name) is None:
        return lambda given, other: given
    if program.reducer == "sum":
        return lambda given, other: cast(function(given, other))
    nothing = program.identity
    return lambda given, other: nothing if given == nothing else cast(function(given, other))


def steps(program: Program, compiler: ProgramCompiler, own: Functions) -> tuple[Callable, Callable]:
    """Return the two steps of a vertex for kernels: the reduction over its edges, and its new value."""
    scatter, gather, reduce, apply, active, total, cast = own
    has_scatter = program.scatter is not None
    has_tolerance = program.tolerance is not None
    has_total = program.total is not None

    @compiler.inlined
    def gathered_at(columns, weights, messages, e):
        message = messages[np.uintp(columns[e])]
        return gather(message, cast(1) if weights is None else weights[e])

    @compiler.inlined
    def gathered_over(columns, weights, messages, first, length, identity):
        """Reduce in four chains, since within a chain each reduction waits for the one before it.

        Positions are unsigned, since the sign of an index would be tested.
        """
        one, two, three, four = identity, identity, identity, identity
        e = np.uintp(first)
        last = np.uintp(first + length)
        while e + FOUR <= last:
            one = reduce(one, gathered_at(columns, weights, messages, e))
            two = reduce(two, gathered_at(columns, weights, messages, e + ONE))
            three = reduce(three, gathered_at(columns, weights, messages, e + TWO))
            four = reduce(four, gathered_at(columns, weights, messages, e + THREE))
            e += FOUR
        while e < last:
            one = reduce(one, gathered_at(columns, weights, messages, e))
            e += ONE
        return reduce(reduce(one, two), reduce(three, four))

    @compiler.inlined
    def settle(v, gathered, sum_of_totals, parameters, values, degrees, new_values, new_messages, changed):
        value = values[v]
        new = cast(apply(value, gathered, sum_of_totals, parameters))
        has_changed = active(value, new)
        new_values[v] = new
        changed[v] = has_changed
        if has_scatter:
            new_messages[v] = scatter(new, degrees[v])
        residual = abs(np.float64(new) - np.float64(value)) if has_tolerance else 0.0
        return has_changed, residual, (total(new, degrees[v]) if has_total else 0.0)

    return gathered_over, settle


@kept
def kernels(source: ProgramKey) -> ProgramKernels:
    """Return the kernels of a program, which are compiled at their first call for each type of graph."""
    program = source.program
    compiler = ProgramCompiler(source.digest)
    own = functions(program, compiler)
    scatter, reduce, total = own.scatter, own.reduce, own.total
    has_scatter = program.scatter is not None
    has_total = program.total is not None
    gathered_over, settle = steps(program, compiler, own)

    @compiler.kernel
    def offer(values, degrees, messages, sums, begin, end):
        """Compute the messages of all vertices, and the sum of `total` for each part of them."""
        parts = len(sums)
        for part in range(begin, end):
            in_total = 0.0
            for v in range(len(values) * part // parts, len(values) * (part + 1) // parts):
                if has_scatter:
                    messages[v] = scatter(values[v], degrees[v])
                if has_total:
                    in_total += total(values[v], degrees[v])
            sums[part] = in_total

    @compiler.kernel
    def gather_parts(
        rows, listed, row, starts, edges, shift, columns, weights, cuts, firsts, identity, sum_of_totals,
        parameters, values, messages, degrees, out_degrees, new_values, new_messages, changed,
        replicas, tails, stats, begin, end,
    ):  # fmt: skip
        """Gather and apply the parts `begin` to `end` - 1.

        Item `i` is vertex `rows[i]` if `listed`, else `row + i`.  Its edges have the positions `starts[i]` to
        `starts[i + 1]` in the sequence that is cut, and begin at `edges[i] - shift` of `columns`.  Part `p`
        has the positions `cuts[p]` to `cuts[p + 1]`; the items that begin there are
        `firsts[p]` to `firsts[p + 1]`.
        """
        for part in range(begin, end):
            left, right = cuts[part], cuts[part + 1]
            stop = min(starts[firsts[part]], right)
            if left < stop:
                i = firsts[part] - 1
                first = edges[i] - shift + left - starts[i]
                replicas[part] = gathered_over(columns, weights, messages, first, stop - left, identity)
            n_changed = 0
            n_edges = 0
            residual = 0.0
            in_total = 0.0
            for i in range(firsts[part], firsts[part + 1]):
                v = np.int64(rows[i]) if listed else row + i
                length = min(starts[i + 1], right) - starts[i]
                gathered = gathered_over(columns, weights, messages, edges[i] - shift, length, identity)
                if starts[i + 1] > right:
                    tails[part] = gathered
                else:
                    has_changed, change, its_total = settle(
                        v, gathered, sum_of_totals, parameters, values, degrees,
                        new_values, new_messages, changed,
                    )  # fmt: skip
                    n_changed += has_changed
                    n_edges += out_degrees[v] if has_changed else 0
                    residual += change
                    in_total += its_total
            stats[part, CHANGED] = n_changed
            stats[part, EDGES] = n_edges
            stats[part, RESIDUAL] = residual
            stats[part, TOTAL] = in_total

    @compiler.kernel
    def merge(
        rows, listed, row, starts, cuts, firsts, sum_of_totals, parameters, values, degrees, out_degrees,
        new_values, new_messages, changed, replicas, tails, stats,
    ):  # fmt: skip
        """Merge the replicas backwards, and apply the vertices that they belong to."""
        for part in range(len(firsts) - 2, 0, -1):
            if starts[firsts[part]] <= cuts[part]:
                continue
            if firsts[part - 1] == firsts[part]:  # the part before holds only a share of the same vertex
                replicas[part - 1] = reduce(replicas[part - 1], replicas[part])
                continue
            i = firsts[part] - 1
            v = np.int64(rows[i]) if listed else row + i
            has_changed, change, its_total = settle(
                v, reduce(tails[part - 1], replicas[part]), sum_of_totals, parameters, values, degrees,
                new_values, new_messages, changed,
            )  # fmt: skip
            stats[part, CHANGED] += has_changed
            stats[part, EDGES] += out_degrees[v] if has_changed else 0
            stats[part, RESIDUAL] += change
            stats[part, TOTAL] += its_total

    return ProgramKernels(offer, gather_parts, merge)


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
