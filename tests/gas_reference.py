"""Reference implementation of vertex programs: all vertices, one after another, in plain Python."""

from __future__ import annotations

import numpy as np

from rapids_trav.programs.definition import Program, n_arguments

REDUCE = {"min": min, "max": max, "sum": lambda one, other: one + other}


def call(function, default, *arguments):
    if function is None:
        return default
    return function(*arguments[: n_arguments(function)])


def offer(program: Program, function, given, other):
    """Return the result of `scatter` or `gather` for a value; min and max pass on their identity."""
    nothing = program.reducer != "sum" and given == program.identity
    return given if nothing else call(function, given, given, other)


def iterate(program: Program, edges, values, parameters=()):
    """Return values and active vertices after one Jacobi iteration; `edges` are tuples (u, v, weight)."""
    cast = np.dtype(program.dtype).type
    degrees = np.zeros(len(values), np.int64 if all(w == 1 for _, _, w in edges) else np.float64)
    for u, _, w in edges:
        degrees[u] += w
    total = sum(call(program.total, 0.0, x, d) for x, d in zip(values, degrees, strict=True))
    messages = [cast(offer(program, program.scatter, x, d)) for x, d in zip(values, degrees, strict=True)]
    gathered = [program.identity] * len(values)
    for u, v, w in edges:
        arrived = cast(offer(program, program.gather, messages[u], w))
        gathered[v] = cast(REDUCE[program.reducer](gathered[v], arrived))
    new = np.empty_like(values)
    for v, (value, g) in enumerate(zip(values, gathered, strict=True)):
        default = g if program.reducer == "sum" else REDUCE[program.reducer](value, g)
        new[v] = cast(call(program.apply, default, value, g, total, parameters))
    active = [bool(call(program.active, x != y, x, y)) for x, y in zip(values, new, strict=True)]
    return new, np.array(active, bool)


def history(program: Program, edges, values, parameters=(), most=50):
    """Return values before and after each iteration, until no vertex is active or `most` are done."""
    steps = [np.asarray(values, program.dtype)]
    active = np.ones(len(values), bool)
    while active.any() and len(steps) <= most:
        new, active = iterate(program, edges, steps[-1], parameters)
        steps.append(new)
        if program.tolerance is not None and np.abs(new - steps[-2]).sum() < program.tolerance:
            break
    return steps
