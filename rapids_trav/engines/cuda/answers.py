"""Answers of searches that the CUDA engine makes itself: its `engines.interface.WholeAnswers`.

Array expressions would take half a dozen launches for each, which is longer than most searches take.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace

import cupy
import cupyx
import numpy as np
import numpy.typing as npt

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.device_memory import allocating
from rapids_trav.engines.cuda.runtime import loader
from rapids_trav.engines.cuda.runtime.arguments import arguments_of
from rapids_trav.engines.cuda.runtime.loader import BLOCK
from rapids_trav.engines.cuda.runtime.memory import HostNumbers, copied_together, to_host, together
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, TextTable, vertex_dtype

AnswerArguments = arguments_of("answer.cu", "AnswerArguments")
ReachedArguments = arguments_of("reached.cu", "ReachedArguments")
PathArguments = arguments_of("path_rows.cu", "PathArguments")
MASK_WORDS = 16  # Arrow requires masks in multiples of 64 bytes
LEAST_ROWS, MOST_BLOCKS = 4 * BLOCK, 1024  # of a block of `reached`; each adds up the counts of those before
BINS, _VERTICES_A_THREAD = loader.TUNABLES["level_counts.cu"]["BINS"], 16
_MOST_SEARCHES = 65535  # limit of gridDim.y
_WARPS = BLOCK // 32
_FEWEST_SLICES, _MOST_SLICES = 8, 64  # blocks above each other, so that a hub's rows are not read by one warp

lenient: tuple[str, ...] = ("auto", "fused")


@allocating("the answer", lambda found, *_: 16 * len(found.distance))
def columns(found: Search, table: IntegerTable, n_sources: int) -> dict[str, Array | BitMasked]:
    """Return `vertex`, `distance` and, if known, `predecessor`, in ascending order of the caller's ids.

    The host does not wait for the columns: the frame is created while they are written.  The search counts
    the null values; `null_count` waits for that.
    """
    n = len(found.distance)
    n_unreached: cupy.ndarray = found.n_unreached
    if n_unreached is None:
        n_unreached = cupy.count_nonzero(found.distance < 0).astype(np.uint64).reshape(1)
    counts = _Counts(n_unreached)
    written = _written("answer", found, table)
    counts.after()
    # Unreached vertices and sources have no predecessor.  No source is among the unreached ones.
    return _named(written, lambda: counts.read()[0], lambda: min(counts.read()[0] + n_sources, n))


@allocating("the answer", lambda found, *_: 24 * found.distance.size)
def columns_of_each(found: Search, table: IntegerTable, sources: Array) -> dict[str, Array | BitMasked]:
    """Return the columns of many searches, one after another, with `source` before those of `columns`."""
    nulls = cupy.zeros(2, np.uint64)
    found = replace(
        found,
        distance=cupy.ascontiguousarray(found.distance),
        predecessor=None if found.predecessor is None else cupy.ascontiguousarray(found.predecessor),
    )
    written = _written("answer_each", found, table, sources, nulls)
    counts = _Counts(nulls)
    return _named(written, lambda: counts.read()[0], lambda: counts.read()[1])


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


def _written(
    kernel: str, found: Search, table: IntegerTable, sources: Array | None = None, nulls: Array | None = None
) -> dict[str, Array]:
    """Launch the kernel that writes the columns, in one allocation; return them by the names it has for them.

    `sources` are those of many searches, whose nulls are counted in `nulls`.
    """
    n_searches, n = (1, *found.distance.shape)[-2:]
    n_rows = found.distance.size
    column, mask = (n_rows, table.dtype), (_mask_words(n_rows), np.uint32)
    shapes: dict[str, tuple[int, npt.DTypeLike]] = {
        "vertex_column": column,
        "distance_column": (n_rows, np.int32),
        "distance_bits": mask,
    }
    shapes |= (
        {"predecessor_column": column, "predecessor_bits": mask} if found.predecessor is not None else {}
    )
    shapes |= {"source_column": column} if sources is not None else {}
    written = dict(zip(shapes, together(*shapes.values()), strict=True))
    arguments = AnswerArguments(
        rank=table.rank,
        **labels_of(table),
        n=n,
        n_searches=n_searches,
        sources=sources,
        distance=found.distance,
        predecessor=found.predecessor,
        nulls=nulls,
        **dict.fromkeys(("predecessor_column", "predecessor_bits", "source_column")) | written,
    )
    kernels_of("answer.cu", table, n).launch(kernel, n_rows, arguments)
    return written


def _named(
    written: dict[str, Array], no_distance: Callable[[], int], no_predecessor: Callable[[], int]
) -> dict[str, Array | BitMasked]:
    """Return columns by their names in the answer, given the functions that count their nulls."""
    answer: dict[str, Array | BitMasked] = {}
    if "source_column" in written:
        answer["source"] = written["source_column"]
    answer["vertex"] = written["vertex_column"]
    answer["distance"] = BitMasked(written["distance_column"], written["distance_bits"], no_distance)
    if "predecessor_column" in written:
        led, bits = written["predecessor_column"], written["predecessor_bits"]
        answer["predecessor"] = BitMasked(led, bits, no_predecessor)
    return answer


def _mask_words(n_rows: int) -> int:
    return -(-n_rows // (32 * MASK_WORDS)) * MASK_WORDS


@allocating("a look-up", lambda *_: 8)
def locate(label: int, table: IntegerTable, n_vertices: int) -> Array:
    """Return the internal id of one vertex, (1,), on the device; -1 if the vertex is unknown."""
    found = cupy.empty(1, vertex_dtype(n_vertices))
    label = table.dtype.type(label)
    kernels_of("answer.cu", table, n_vertices).launch_grid(
        "locate", (1,), label, table.rank, table.ids, first_label(table), n_vertices, found
    )
    return found


@allocating("a look-up", lambda labels, *_: 16 * len(labels))
def locate_each(labels: np.ndarray, table: IntegerTable, n_vertices: int) -> np.ndarray:
    """Return the internal ids of many vertices on the host, -1 for unknown ones."""
    given = HostNumbers.of(labels, table.dtype)
    with HostNumbers.empty(len(labels), vertex_dtype(n_vertices)) as found:
        kernels_of("answer.cu", table, n_vertices).launch(
            "locate_each", len(labels), given.argument, len(labels), table.rank, table.ids,
            first_label(table), n_vertices, found.argument,
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


@allocating("the answer", lambda found, *_: 24 * len(found.distance))
def reached(
    found: Search, table: IntegerTable, n_sources: int, listed: bool = False
) -> tuple[dict[str, Array | BitMasked], Array | None]:
    """Return the columns as `columns` does, for the reached vertices only, and these if `listed`."""
    distance, predecessor = found.distance, found.predecessor
    n, dtype = len(distance), table.dtype
    blocks = max(min(-(-n // LEAST_ROWS), MOST_BLOCKS), 1)
    block_rows = -(-n // blocks)
    bits, counts = together((_mask_words(n), np.uint32), (blocks, np.uint32))
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


@allocating("the paths", lambda *given: 16 * len(given[2]))
def path_rows(
    found: Search, sources: Array, targets: Array, table: IntegerTable, each: bool
) -> dict[str, Array | BitMasked] | None:
    """Return the columns of the paths to `targets`, in two launches and one wait."""
    assert found.predecessor is not None  # searches for paths ask for them
    n_searches, n = (1, *found.distance.shape)[-2:]
    n_targets, n_entries = len(targets), n_searches * len(targets)
    kernels, vertex = kernels_of("path_rows.cu", table, n), found.predecessor.dtype
    distance = cupy.ascontiguousarray(found.distance)
    with HostNumbers.empty(n_entries + 1, vertex) as picked:
        kernels.launch(
            "pick_distances", n_entries + 1, distance, n, sources, n_searches, targets, n_targets,
            picked.argument,
        )  # fmt: skip
    numbers = picked.on_host
    level, source = numbers[:-1], numbers[-1]
    if source < 0 and len(sources) == 1:
        return None
    ends = np.cumsum(np.maximum(level, 0) + 1, dtype=np.int64)
    n_rows, unreached = int(ends[-1]), ends[level < 0] - 1
    bits, row_ends, levels = copied_together(_mask(n_rows, unreached), ends, level)
    source_column, target_column, step_column, vertex_column = together(
        (n_rows if each else 0, table.dtype), (n_rows, table.dtype), (n_rows, np.int32), (n_rows, table.dtype)
    )
    arguments = PathArguments(
        n_vertices=n,
        n_targets=n_targets,
        n_entries=n_entries,
        sources=sources,
        targets=targets,
        picked=levels,
        ends=row_ends,
        predecessors=cupy.ascontiguousarray(found.predecessor),
        **labels_of(table),
        source_column=source_column if each else None,
        target_column=target_column,
        step_column=step_column,
        vertex_column=vertex_column,
    )
    kernels.launch("write_paths", n_entries, arguments)
    wait_for_cudf()

    def n_null() -> int:
        return len(unreached)

    columns: dict[str, Array | BitMasked] = {"source": source_column} if each else {}
    return columns | {
        "target": target_column,
        "step": BitMasked(step_column, bits, n_null),
        "vertex": BitMasked(vertex_column, bits, n_null),
    }


def _mask(n_rows: int, unreached: np.ndarray) -> np.ndarray:
    """Return the mask in which the rows of unreached targets are null, of no words if there are none."""
    mask = np.full(4 * _mask_words(n_rows) if len(unreached) else 0, 0xFF, np.uint8)
    if len(unreached):
        np.bitwise_and.at(mask, unreached // 8, ~(1 << unreached % 8).astype(np.uint8))
    return mask.view(np.uint32)


@allocating("the levels", lambda distance: 8 * (BINS + 2) * len(distance))
def level_counts(distance: Array) -> np.ndarray | None:
    """Count each distance of k searches, in one launch and one wait; see `kernels/level_counts.cu`."""
    distance = cupy.ascontiguousarray(distance, np.int32)
    k, n = distance.shape
    counts = cupy.zeros((k, BINS + 2), np.uint64)
    blocks = max(min(-(-n // (_VERTICES_A_THREAD * BLOCK)), loader.most_blocks()), 1)
    loader.load("level_counts.cu").launch_grid(
        "count_levels", (blocks, min(k, _MOST_SEARCHES)), distance, n, k, counts
    )
    found = counts.get().view(np.int64)
    if found[:, BINS + 1].any():
        return None
    used = np.flatnonzero(found[:, :BINS].any(axis=0))
    deepest = int(used[-1]) if len(used) else -1
    return np.concatenate([found[:, : deepest + 1], found[:, BINS : BINS + 1]], axis=1)


@allocating("the rows of a neighbourhood", lambda *given: 16 * len(given[3]))
def rows_inside(
    index: Adjacency, numbers: Array, distance: Array, sources: Array, most_read: int
) -> Array | None:
    """Return the numbers of the rows of an edge list with both ends chosen; see `kernels/rows_inside.cu`."""
    rows = (index.row_offsets, index.column_indices)
    sources = sources.astype(index.column_indices.dtype, copy=False)
    chosen = (distance, sources, len(sources))
    kernels = loader.load_for("rows_inside.cu", index)
    counters = cupy.zeros(3, np.uint64)
    grid = _grid(len(sources))
    kernels.launch_grid("count_inside", grid, *rows, *chosen, counters)
    n_read, n_inside, _ = map(int, counters.get())
    if n_read > most_read:
        return None
    listed = cupy.empty(n_inside, numbers.dtype)
    if n_inside:
        kernels.launch_grid("list_inside", grid, *rows, numbers, *chosen, counters, listed)
        listed.sort()
    return listed


def _grid(n_sources: int) -> tuple[int, int]:
    """Return a grid that keeps the device busy: blocks that divide the sources, and blocks in each column."""
    most = loader.most_blocks()
    across = max(min(-(-n_sources // _WARPS), most), 1)
    return across, min(max(most // across, _FEWEST_SLICES), _MOST_SLICES)


@allocating("a look-up", lambda given, *_: sum(map(len, given)) + 16 * len(given))
def locate_texts(given: Sequence[bytes], table: TextTable, n_vertices: int) -> np.ndarray:
    """Return the internal ids of strings in UTF-8 on the host, -1 for unknown ones."""
    offsets = np.zeros(len(given) + 1, np.int64)
    np.cumsum([len(text) for text in given], out=offsets[1:])
    text = b"".join(given)
    both = cupy.asarray(np.frombuffer(offsets.tobytes() + text, np.uint8))
    vertex = vertex_dtype(n_vertices)
    kernels = loader.load(
        "text_lookup.cu", vertex_bits=8 * vertex.itemsize, OFFSET_BITS=8 * table.offset_bytes
    )
    with HostNumbers.empty(len(given), vertex) as found:
        kernels.launch(
            "locate_texts", len(given), both[offsets.nbytes :], both, len(given), table.bytes, table.offsets,
            n_vertices, table.rank, found.argument,
        )  # fmt: skip
    return found.on_host
