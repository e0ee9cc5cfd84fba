"""Instructions for which Numba has no public function, a barrier, and many searches that a signal ends.

Atomic operations are relaxed unless they say otherwise: they order nothing but accesses to their own word.
Steps of a search are separated by joining the threads, which orders everything else.

A barrier inside compiled code, for threads that run many short rounds without returning to Python.

A round of tens of microseconds is shorter than it takes to hand out work to threads.  Threads that stay in
one compiled function meet at a gate instead, in less than a microsecond: each increments a counter and
waits until all have arrived equally often.  A waiting thread spins at first and then lets others run, since
the thread that it waits for may have no core.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TypeVar

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from rapids_trav.jit.kernels import SHORT, Threads, kernel
from rapids_trav.jit.launches import launched
from rapids_trav.utilities.progress import report


def _item_pointer(context, builder, array_type, array, index):
    struct = make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, struct, [index], wraparound=False)


def _updating(operation, ordering):
    """Return the generator of an instruction that changes a word and returns what it held."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.atomic_rmw(operation, pointer, args[2], ordering)

    return generate


@intrinsic
def compare_and_swap(typing_context, array, index, expected, desired):
    """Store `desired` in `array[index]` if it holds `expected`; return the former value."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        pair = builder.cmpxchg(pointer, args[2], args[3], "monotonic", "monotonic")
        return builder.extract_value(pair, 0)

    return array.dtype(array, types.intp, array.dtype, array.dtype), generate


@intrinsic
def fetch_and_add(typing_context, array, index, amount):
    """Add `amount` to `array[index]`; return the former value."""
    return array.dtype(array, types.intp, array.dtype), _updating("add", "monotonic")


@intrinsic
def exchange(typing_context, array, index, desired):
    """Store `desired` in `array[index]`; return the former value.  Acquires and releases."""
    return array.dtype(array, types.intp, array.dtype), _updating("xchg", "acq_rel")


@intrinsic
def add_in_order(typing_context, array, index, amount):
    """Add `amount` to `array[index]`; return the former value.  Acquires and releases."""
    return array.dtype(array, types.intp, array.dtype), _updating("add", "acq_rel")


@intrinsic
def load(typing_context, array, index):
    """Return `array[index]`, which other threads change.  Acquires."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        return builder.load_atomic(pointer, "acquire", array.dtype.bitwidth // 8)

    return array.dtype(array, types.intp), generate


@intrinsic
def prefetch(typing_context, array, index):
    """Prefetch the cache line of `array[index]`, which need not exist."""

    def generate(context, builder, signature, args):
        pointer = _item_pointer(context, builder, signature.args[0], args[0], args[1])
        byte_pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
        word = ir.IntType(32)
        instruction = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte_pointer.type, word, word, word]),
            "llvm.prefetch.p0i8",
        )
        read, keep_in_all_caches, data = word(0), word(3), word(1)
        builder.call(instruction, [byte_pointer, read, keep_in_all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@intrinsic
def trailing_zeros(typing_context, word):
    """Return the position of the lowest set bit of a 64-bit `word`, which must not be zero."""

    def generate(context, builder, signature, args):
        return builder.cttz(args[0], ir.IntType(1)(1))

    return types.int64(types.int64), generate


@intrinsic
def population_count(typing_context, word):
    """Return the number of set bits of a 64-bit `word`."""

    def generate(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), generate


@intrinsic
def bits_of(typing_context, value):
    """Return the bits of a number as a signed integer of the same width; an integer is returned unchanged."""

    def generate(context, builder, signature, args):
        return builder.bitcast(args[0], context.get_value_type(signature.return_type))

    if not isinstance(value, (types.Integer, types.Float)):
        return None
    return types.Integer.from_bitwidth(value.bitwidth, True)(value), generate


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


Result = TypeVar("Result")


class Watch:
    """What the threads of one question share: a word that ends them, and the number of sources done."""

    def __init__(self, total: int, unit: str) -> None:
        self.stop = np.zeros(1, np.int64)  # kernels look at it, and end once it is not 0
        self._total, self._unit = total, unit
        self._done = 0
        self._lock = Lock()

    @property
    def stopped(self) -> bool:
        return bool(self.stop[0])

    def done(self, n: int) -> None:
        """Count `n` more sources."""
        with self._lock:
            self._done += n

    def report(self) -> None:
        report(self._done, self._total, self._unit)


def search_all(
    function: Callable[[int, int], Result],
    n_items: int,
    watch: Watch,
    work: int,
    at_once: int | None = None,
    n_parts: int | None = None,
) -> list[Result]:
    """Call `function(begin, end)` for equal parts of the items; results in order.

    There are `n_parts`, by default one for each thread, of which at most `at_once` have some.  The calling
    thread takes part only in short `work`, counted in edges and vertices.
    """
    launched(function.__name__)
    with Threads() as team:
        if work > SHORT:
            return team.run_aside(function, n_items, watch.stop, at_once, watch.report, n_parts)
        results = team.run_parts(function, n_items, at_once)
        watch.report()
        return results
