"""The columns of a whole answer, of all or the reached vertices, and the look-up of integer ids.

Array expressions would take half a dozen launches for each, which is longer than most searches take.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

import cupy
import cupyx
import numpy as np
import numpy.typing as npt

from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import ArgumentStruct, arguments_of
from rapids_trav.engines.cuda.runtime.loader import BLOCK
from rapids_trav.engines.cuda.runtime.memory import together
from rapids_trav.engines.cuda.stream.buffers import host_address, to_host
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, vertex_dtype

AnswerArguments = arguments_of("answer.cu", "AnswerArguments")
ReachedArguments = arguments_of("reached.cu", "ReachedArguments")
FEW = 4096  # more are copied, since CuPy keeps pinned memory of each size for later


class HostNumbers:
    """Numbers that kernels launched inside a ``with`` block read or write, and that the host has after it.

    Few of them are in pinned memory, which kernels reach: a copy of a few numbers takes longer than a kernel.
    """

    def __init__(self, memory: Array) -> None:
        self._memory = memory

    @classmethod
    def empty(cls, n: int, dtype: npt.DTypeLike) -> Self:
        """Make room for `n` numbers."""
        return cls(cupyx.empty_pinned(n, dtype) if n <= FEW else cupy.empty(n, dtype))

    @classmethod
    def of(cls, values: np.ndarray, dtype: npt.DTypeLike) -> Self:
        """Copy numbers of the host."""
        if len(values) > FEW:
            return cls(cupy.asarray(values, dtype))
        numbers = cls.empty(len(values), dtype)
        numbers._memory[:] = values
        return numbers

    @property
    def argument(self) -> Array | int:
        """The numbers in the form that kernels take: an address or a device array."""
        return host_address(self._memory) if isinstance(self._memory, np.ndarray) else self._memory

    @property
    def on_host(self) -> np.ndarray:
        """The numbers, after the block."""
        found: np.ndarray = cupy.asnumpy(self._memory)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Wait for the kernels, on an error too, since they may still write."""
        cupy.cuda.get_current_stream().synchronize()


MASK_WORDS = 16  # Arrow requires masks in multiples of 64 bytes


def columns(found: Search, table: IntegerTable, n_sources: int) -> dict[str, Array | BitMasked]:
    """Return `vertex`, `distance` and, if known, `predecessor`, in ascending order of the caller's ids.

    The host does not wait for the columns: the frame is created while they are written.  The search counts
    the null values; `null_count` waits for that.
    """
    distance, predecessor = found.distance, found.predecessor
    n = len(distance)
    n_unreached: cupy.ndarray = found.n_unreached
    if n_unreached is None:
        n_unreached = cupy.count_nonzero(distance < 0).astype(np.uint64).reshape(1)
    counts = _Counts(n_unreached)
    answer = _Columns(n, table, predecessor is not None)
    arguments = answer.arguments(table, found, n=n, n_searches=1, sources=None, nulls=None)
    kernels_of("answer.cu", table, n).launch("answer", n, arguments)
    counts.after()
    # Unreached vertices and sources have no predecessor.  No source is among the unreached ones.
    return answer.named(lambda: counts.read()[0], lambda: min(counts.read()[0] + n_sources, n))


def columns_of_each(found: Search, table: IntegerTable, sources: Array) -> dict[str, Array | BitMasked]:
    """Return the columns of many searches, one after another, with `source` before those of `columns`."""
    k, n = found.distance.shape
    nulls = cupy.zeros(2, np.uint64)
    found = replace(
        found,
        distance=cupy.ascontiguousarray(found.distance),
        predecessor=None if found.predecessor is None else cupy.ascontiguousarray(found.predecessor),
    )
    answer = _Columns(k * n, table, found.predecessor is not None, each=True)
    arguments = answer.arguments(table, found, n=n, n_searches=k, sources=sources, nulls=nulls)
    kernels_of("answer.cu", table, n).launch("answer_each", k * n, arguments)
    counts = _Counts(nulls)
    return answer.named(lambda: counts.read()[0], lambda: counts.read()[1])


class _Counts:
    """Counts on their way to the host, which `read` waits for."""

    def __init__(self, counts: cupy.ndarray) -> None:
        self._host = cupyx.empty_pinned(len(counts), np.uint64)
        to_host(self._host, counts, cupy.cuda.get_current_stream())
        self._counts: cupy.ndarray = counts  # kept until it has been copied
        self._copied = cupy.cuda.Event(disable_timing=True)
        self._copied.record()
        self._read: list[int] | None = None

    def after(self) -> None:
        """Have `read` wait for what has been launched by now as well, if cuDF would not do so."""
        if cupy.cuda.get_current_stream().ptr:  # cuDF uses the default stream
            self._copied.record()

    def read(self) -> list[int]:
        if self._read is None:
            self._copied.synchronize()
            self._counts = None
            self._read = self._host.tolist()
        return self._read


class _Columns:
    """The columns that a kernel writes, in one allocation."""

    def __init__(self, n_rows: int, table: IntegerTable, led: bool, each: bool = False) -> None:
        words = -(-n_rows // (32 * MASK_WORDS)) * MASK_WORDS
        column, mask = (n_rows, table.dtype), (words, np.uint32)
        self._led, self._each = led, each
        shapes: dict[str, tuple[int, npt.DTypeLike]] = {
            "vertex": column,
            "distance": (n_rows, np.int32),
            "distance_bits": mask,
        }
        shapes |= {"predecessor": column, "predecessor_bits": mask} if led else {}
        shapes |= {"source": column} if each else {}
        self._parts = dict(zip(shapes, together(*shapes.values()), strict=True))

    def arguments(
        self,
        table: IntegerTable,
        found: Search,
        *,
        n: int,
        n_searches: int,
        sources: Array | None,
        nulls: Array | None,
    ) -> ArgumentStruct:
        parts = self._parts
        return AnswerArguments(
            rank=table.rank,
            **labels_of(table),
            n=n,
            n_searches=n_searches,
            sources=sources,
            distance=found.distance,
            predecessor=found.predecessor,
            source_column=parts.get("source"),
            vertex_column=parts["vertex"],
            distance_column=parts["distance"],
            distance_bits=parts["distance_bits"],
            predecessor_column=parts.get("predecessor"),
            predecessor_bits=parts.get("predecessor_bits"),
            nulls=nulls,
        )

    def named(
        self, no_distance: Callable[[], int], no_predecessor: Callable[[], int]
    ) -> dict[str, Array | BitMasked]:
        """Return the columns by name, given the functions that count their nulls."""
        parts = self._parts
        answer: dict[str, Array | BitMasked] = {"source": parts["source"]} if self._each else {}
        answer["vertex"] = parts["vertex"]
        answer["distance"] = BitMasked(parts["distance"], parts["distance_bits"], no_distance)
        if self._led:
            answer["predecessor"] = BitMasked(parts["predecessor"], parts["predecessor_bits"], no_predecessor)
        return answer


def locate(label: int, table: IntegerTable, n: int) -> Array:
    """Return the internal id of one vertex, (1,), on the device; -1 if the vertex is unknown."""
    found = cupy.empty(1, vertex_dtype(n))
    label = table.dtype.type(label)
    kernels_of("answer.cu", table, n).launch_grid(
        "locate", (1,), label, table.rank, table.ids, first_label(table), n, found
    )
    return found


def locate_each(labels: np.ndarray, table: IntegerTable, n: int) -> np.ndarray:
    """Return the internal ids of many vertices on the host, -1 for unknown ones."""
    given = HostNumbers.of(labels, table.dtype)
    with HostNumbers.empty(len(labels), vertex_dtype(n)) as found:
        kernels_of("answer.cu", table, n).launch(
            "locate_each", len(labels), given.argument, len(labels), table.rank, table.ids,
            first_label(table), n, found.argument,
        )  # fmt: skip
    return found.on_host


def kernels_of(file: str, table: IntegerTable, n: int) -> loader.Kernels:
    """Return the kernels of a file for the types of `n` vertices and of the caller's ids."""
    return loader.load(file, vertex_bits=8 * vertex_dtype(n).itemsize, LABEL_BITS=8 * table.dtype.itemsize)


def labels_of(table: IntegerTable) -> dict[str, Array | int | None]:
    """Return the arguments from which kernels read the caller's ids; see `kernels/labels.cuh`."""
    return {"order": table.order, "labels": table.ids, "names": table.names, "first": first_label(table)}


def wait_for_cudf() -> None:
    """Wait for the kernels if cuDF would not: it uses the default stream."""
    if (stream := cupy.cuda.get_current_stream()).ptr:
        stream.synchronize()


def first_label(table: IntegerTable) -> int:
    """Return the first id of a range as a signed number; an unsigned id keeps its bits."""
    return ctypes.c_int64(table.first).value


MOST_BLOCKS = 1024  # each adds up the counts of those before it
LEAST_ROWS = 4 * BLOCK  # of a block


def reached(
    found: Search, table: IntegerTable, n_sources: int, listed: bool
) -> tuple[dict[str, Array | BitMasked], Array | None]:
    """Return the columns of the vertices that a search from joint sources has reached, and these vertices.

    The columns are `vertex`, `distance` and, if known, `predecessor`, in ascending order of the caller's ids.

    Parameters
    ----------
    n_sources : int
        Number of distinct sources, which have no predecessor.
    listed : bool
        Whether to return the vertices, as internal ids, or None.
    """
    distance, predecessor = found.distance, found.predecessor
    n, dtype = len(distance), table.dtype
    blocks = max(min(-(-n // LEAST_ROWS), MOST_BLOCKS), 1)
    block_rows = -(-n // blocks)
    words = -(-n // (32 * MASK_WORDS)) * MASK_WORDS
    bits, counts = together((words, np.uint32), (blocks, np.uint32))
    kernels = kernels_of("reached.cu", table, n)
    kernels.launch_grid("count_reached", (blocks,), table.rank, distance, n, block_rows, counts, bits)
    n_rows = int(counts.get().sum())
    n_led = 0 if predecessor is None else n_rows
    vertex, level, led, vertices = together(
        (n_rows, dtype), (n_rows, np.int32), (n_led, dtype), (n_rows if listed else 0, vertex_dtype(n))
    )
    if n_rows:
        arguments = ReachedArguments(
            rank=table.rank,
            **labels_of(table),
            n=n,
            block_rows=block_rows,
            distance=distance,
            predecessor=predecessor,
            counts=counts,
            vertices=vertices if listed else None,
            vertex_column=vertex,
            distance_column=level,
            predecessor_column=None if predecessor is None else led,
            predecessor_bits=bits,
        )
        kernels.launch_grid("list_reached", (blocks,), arguments)
    wait_for_cudf()
    columns: dict[str, Array | BitMasked] = {"vertex": vertex, "distance": BitMasked(level, None, lambda: 0)}
    if predecessor is not None:
        columns["predecessor"] = BitMasked(led, bits, lambda: min(n_sources, n_rows))
    return columns, vertices if listed else None
