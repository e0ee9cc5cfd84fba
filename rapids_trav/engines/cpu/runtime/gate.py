"""A barrier inside compiled code, for threads that run many short rounds without returning to Python.

A round of tens of microseconds is shorter than it takes to hand out work to threads.  Threads that stay in
one compiled function meet at a gate instead, in less than a microsecond: each increments a counter and
waits until all have arrived equally often.  A waiting thread spins at first and then lets others run, since
the thread that it waits for may have no core.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rapids_trav.engines.cpu.runtime.intrinsics import add_in_order, load
from rapids_trav.jit.kernels import kernel

SPINS = 1 << 10  # looks before a thread that waits lets others run
ARRIVALS, ABANDONED = 0, 8  # entries, on different cache lines

_let_others_run = types.ExternalFunction("sched_yield", types.int32())


def new_gate() -> np.ndarray:
    """Return a gate that nobody has passed yet."""
    return np.zeros(16, np.int64)


def abandon(gate: np.ndarray) -> None:
    """Let all threads pass, with the information that some thread will not arrive."""
    gate[ABANDONED] = 1


@kernel
def passed(gate, n_threads, times):
    """Wait until all `n_threads` threads have arrived `times` times; return False if the gate is abandoned.

    All threads then see what each of them wrote before it arrived.
    """
    if n_threads == 1:
        return True
    add_in_order(gate, ARRIVALS, 1)
    looks = 0
    while load(gate, ARRIVALS) < n_threads * times:
        if load(gate, ABANDONED) != 0:
            return False
        looks += 1
        if looks > SPINS:
            _let_others_run()
    return True
