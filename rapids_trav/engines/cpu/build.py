"""Building of compressed rows from edges, by three counting sorts that stay in the cache.

A single scatter of the edges into n rows misses the cache at every edge.  So (as in radix-partitioned joins:
Manegold, Boncz and Kersten, TKDE 2002) the edges first go to buckets of neighbouring rows.  There are few
enough buckets that the cache line to which each is written next stays in cache.  Then each bucket, which is
small, is sorted in place:

1. count the edges of every bucket;
2. scatter the edges to their buckets: the column to its final array, the row's low bits to a second array;
3. in each bucket sort by column, digit by digit, then by row.  The sorts are stable, so each row ascends.

Each step runs on all threads, and the result does not depend on how many there are.  Beyond the result the
build needs 2 bytes an edge, one block of the input and, for each thread, 6 bytes (10 with 64-bit vertices)
and the weight of each edge of the largest of its buckets.  The bucket of a hub may have most edges, so
`allocate_spare` can put these spare arrays elsewhere.

Weights are only moved, so kernels receive their bits: one compilation serves float64 and int64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array, offset_dtype
from rapids_trav.errors import EDGES_CHANGED, TravError
from rapids_trav.jit.kernels import Threads, kernel
from rapids_trav.utilities.progress import report

Allocate = Callable[[int, np.dtype | type, str], np.ndarray]
AllocateSpare = Callable[[int, np.dtype | type, str, int], np.ndarray]

BLOCK = 1 << 22  # edges of the input handled at once
DIGIT_BITS = 11


def build_adjacency(
    chunks: Callable[[], Iterable[tuple[Array, ...]]],
    n_vertices: int,
    *,
    symmetric: bool = False,
    transpose: bool = False,
    allocate: Allocate = lambda length, dtype, what: np.empty(length, dtype),
    allocate_spare: AllocateSpare = lambda length, dtype, what, n_threads: np.empty(length, dtype),
) -> Adjacency:
    """Build compressed rows of the edges that `chunks()` yields; see `csr.adjacency`.

    It yields pairs or triples `(u, v, weight)`, is called twice and has to yield the same edges both times.
    If `symmetric`, each edge is stored at both its ends, a self-loop once; with `transpose`, rows are
    destinations.  Rows keep multi-edges, and weights have the dtype of the first chunk.  `allocate` makes the
    arrays with an entry for each edge or vertex, and `allocate_spare` one with an entry for each edge of a
    bucket, of which each of `n_threads` has one at a time.
    """
    shift = min(16, max(10, (n_vertices - 1).bit_length() - 10))  # low bits of a row, inside its bucket
    n_buckets = (max(n_vertices - 1, 0) >> shift) + 1
    dtype = np.dtype(np.int32 if n_vertices < 2**31 else np.int64)

    with Threads() as team:
        counts = np.zeros((team.size, n_buckets), np.int64)
        weight_dtype = None
        n_edges = done = 0
        for rows, columns, weights in _blocks(chunks, dtype, transpose):
            n_edges += len(rows)
            weight_dtype = weight_dtype or getattr(weights, "dtype", None)
            team.run(_count, team.size, rows, columns, shift, symmetric, counts, grain=1)
        starts = np.zeros(n_buckets + 1, np.int64)
        np.cumsum(counts.sum(axis=0), out=starts[1:])

        n_entries = int(starts[-1])
        column_indices = allocate(n_entries, dtype, "column indices")
        edge_weights = None if weight_dtype is None else allocate(n_entries, weight_dtype, "weights")
        edge_bits = _bits(edge_weights)
        low_bits = allocate(n_entries, np.uint16, "rows of the build")
        free = starts[:-1].copy()
        for rows, columns, weights in _blocks(chunks, dtype, transpose, weight_dtype):
            counts[:] = 0
            team.run(_count, team.size, rows, columns, shift, symmetric, counts, grain=1)
            ends = free + np.cumsum(counts, axis=0)
            if (ends[-1] > starts[1:]).any():  # kernels do not check bounds
                raise TravError(EDGES_CHANGED)
            places = ends - counts
            team.run(
                _scatter, team.size, rows, columns, _bits(weights), shift, symmetric, places,
                column_indices, edge_bits, low_bits, grain=1,
            )  # fmt: skip
            free = ends[-1]
            done += len(rows)
            report(done, n_edges, "edges")
        if (free != starts[1:]).any():
            raise TravError(EDGES_CHANGED)

        row_offsets = allocate(n_vertices + 1, offset_dtype(n_entries), "row offsets")
        row_offsets[-1] = starts[-1]
        vertex_bits = max(n_vertices - 1, 1).bit_length()
        digits = -(-vertex_bits // DIGIT_BITS)
        sizes = np.diff(starts)

        def sort_buckets(begin: int, end: int) -> None:
            longest, arrays = int(sizes[begin:end].max()), (column_indices, edge_bits, low_bits)
            spare = (
                None if array is None else allocate_spare(longest, array.dtype, "sorting rows", team.size)
                for array in arrays
            )
            _sort_buckets(
                starts, shift, digits, -(-vertex_bits // digits), *arrays, *spare, row_offsets, begin, end
            )

        team.run(sort_buckets, n_buckets, grain=1)
    return Adjacency(row_offsets, column_indices, weights=edge_weights)


def _bits(weights: Array | None) -> Array | None:
    """Return a view of the weights as unsigned integers of the same width."""
    return None if weights is None else weights.view(f"u{weights.dtype.itemsize}")


def _blocks(
    chunks: Callable, dtype: np.dtype, transpose: bool, weight_dtype: np.dtype | None = None
) -> Iterator[tuple[Array, Array, Array | None]]:
    """Yield the edges as rows, columns and weights, in arrays of one dtype each and of bounded length."""
    for u, v, *w in chunks():
        rows, columns = (v, u) if transpose else (u, v)
        for begin in range(0, max(len(u), 1), BLOCK):
            block = slice(begin, begin + BLOCK)
            yield (
                np.require(rows[block], dtype, ["C", "W"]),
                np.require(columns[block], dtype, ["C", "W"]),
                np.require(w[0][block], weight_dtype, ["C", "W"]) if w else None,
            )


@kernel
def _count(rows, columns, shift, symmetric, counts, begin, end):
    parts = counts.shape[0]
    for part in range(begin, end):
        count = counts[part]
        for i in range(len(rows) * part // parts, len(rows) * (part + 1) // parts):
            count[rows[i] >> shift] += 1
            if symmetric and rows[i] != columns[i]:
                count[columns[i] >> shift] += 1


@kernel
def _scatter(
    rows, columns, weights, shift, symmetric, places, column_indices, edge_weights, low_bits, begin, end
):  # fmt: skip
    parts = places.shape[0]
    mask = (1 << shift) - 1
    for part in range(begin, end):
        place = places[part]
        for i in range(len(rows) * part // parts, len(rows) * (part + 1) // parts):
            u = rows[i]
            v = columns[i]
            p = place[u >> shift]
            place[u >> shift] = p + 1
            column_indices[p] = v
            low_bits[p] = u & mask
            if weights is not None:
                edge_weights[p] = weights[i]
            if symmetric and u != v:
                p = place[v >> shift]
                place[v >> shift] = p + 1
                column_indices[p] = u
                low_bits[p] = v & mask
                if weights is not None:
                    edge_weights[p] = weights[i]


@kernel
def _sort_buckets(
    starts, shift, digits, digit_bits, column_indices, edge_weights, low_bits,
    spare_columns, spare_weights, spare_bits, row_offsets, begin, end,
):  # fmt: skip
    n_vertices = len(row_offsets) - 1
    place = np.empty(max(1 << digit_bits, 1 << shift), np.int64)
    mask = (1 << digit_bits) - 1

    for bucket in range(begin, end):
        start = starts[bucket]
        size = starts[bucket + 1] - start
        columns = column_indices[start : start + size]
        bits = low_bits[start : start + size]
        other_columns = spare_columns[:size]
        other_bits = spare_bits[:size]
        if edge_weights is not None:
            weights = edge_weights[start : start + size]
            other_weights = spare_weights[:size]

        for digit in range(digits):
            down = digit * digit_bits
            place[: mask + 1] = 0
            for i in range(size):
                place[(columns[i] >> down) & mask] += 1
            _starts_from_counts(place, mask + 1)
            for i in range(size):
                d = (columns[i] >> down) & mask
                p = place[d]
                place[d] = p + 1
                other_columns[p] = columns[i]
                other_bits[p] = bits[i]
                if edge_weights is not None:
                    other_weights[p] = weights[i]
            columns, other_columns = other_columns, columns
            bits, other_bits = other_bits, bits
            if edge_weights is not None:
                weights, other_weights = other_weights, weights

        if digits % 2 == 0:  # the sort by row has to end in `column_indices`: start from the spare
            for i in range(size):  # a loop: Numba takes seconds to compile `a[:] = b` with its check
                other_columns[i] = columns[i]
                if edge_weights is not None:
                    other_weights[i] = weights[i]
            columns, other_columns = other_columns, columns
            if edge_weights is not None:
                weights, other_weights = other_weights, weights
        first = bucket << shift
        n_rows = min(1 << shift, n_vertices - first)
        place[:n_rows] = 0
        for i in range(size):
            place[bits[i]] += 1
        _starts_from_counts(place, n_rows)
        for row in range(n_rows):
            row_offsets[first + row] = start + place[row]
        for i in range(size):
            p = place[bits[i]]
            place[bits[i]] = p + 1
            other_columns[p] = columns[i]
            if edge_weights is not None:
                other_weights[p] = weights[i]


@kernel
def _starts_from_counts(place, length):
    total = 0
    for i in range(length):
        count = place[i]
        place[i] = total
        total += count
