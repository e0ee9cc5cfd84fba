"""The transpose and the symmetrised adjacency of directed edges, made without sorting the edges again.

An adjacency is read in row order, so a stable sort of its entries by column alone makes the rows of the
transpose, each ascending (Gustavson, "Two Fast Algorithms for Sparse Matrices", ACM TOMS 4(3), 1978).  As in
`build`, the entries first go to buckets of neighbouring columns, so that no write leaves the cache:

1. count the entries of every bucket; each thread counts an equal part of the entries;
2. scatter them: the row to its final array, the column's low bits to a second array;
3. in each bucket count and sort by those bits.

The rows of the symmetrised adjacency are the rows of the adjacency and of its transpose, merged in pairs.

Beyond the result the transpose takes 2 bytes an entry and, for each thread, the rows of its current bucket;
the symmetrised adjacency takes the transpose, unless the caller has it.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, offset_dtype
from rapids_trav.jit.kernels import Threads, kernel

SHARED = 1 << 16  # entries above which several threads beat one: a thread takes 0.1 ms to start


def transposed(adjacency: Adjacency) -> Adjacency:
    """Return the edges grouped by destination; rows ascend and keep multi-edges."""
    offsets, columns, n_vertices = adjacency.row_offsets, adjacency.column_indices, adjacency.n_vertices
    shift = min(16, max(10, (n_vertices - 1).bit_length() - 10))  # low bits of a column, inside its bucket
    n_buckets = (max(n_vertices - 1, 0) >> shift) + 1
    rows = np.empty(len(columns), columns.dtype)
    low_bits = np.empty(len(columns), np.uint16)
    row_offsets = np.empty(n_vertices + 1, offset_dtype(len(columns)))
    with _team(len(columns)) as team:
        counts = np.zeros((team.size, n_buckets), np.int64)
        team.run(_count, team.size, columns, shift, counts, grain=1)
        ends = np.cumsum(counts.sum(axis=0))
        places = (ends - counts[::-1].cumsum(axis=0)[::-1]).astype(np.uintp)  # parts follow in order
        team.run(_scatter, team.size, offsets, columns, shift, places, rows, low_bits, grain=1)
        starts = np.concatenate([np.zeros(1, np.int64), ends])
        team.run(_sort_buckets, n_buckets, starts, shift, rows, low_bits, row_offsets, grain=1)
    row_offsets[-1] = len(columns)
    return Adjacency(row_offsets, rows)


def symmetrized(out: Adjacency, into: Adjacency | None = None) -> Adjacency:
    """Return rows that hold each edge at both its ends, a self-loop once; `into` is a known transpose."""
    into = transposed(out) if into is None else into
    row_offsets = np.zeros(out.n_vertices + 1, offset_dtype(2 * out.n_edges))
    rows = (out.row_offsets, out.column_indices, into.row_offsets, into.column_indices)
    with _team(2 * out.n_edges) as team:
        team.run(_measure, out.n_vertices, *rows, row_offsets[1:], grain=1024)
        np.cumsum(row_offsets, dtype=row_offsets.dtype, out=row_offsets)
        columns = np.empty(int(row_offsets[-1]), out.column_indices.dtype)
        team.run(_merge, out.n_vertices, *rows, row_offsets, columns, grain=1024)
    return Adjacency(row_offsets, columns)


def _team(n_entries: int) -> Threads:
    return Threads(None if n_entries > SHARED else 1)


@kernel
def _count(columns, shift, counts, begin, end):
    parts = counts.shape[0]
    for part in range(begin, end):
        count = counts[part]
        for e in range(len(columns) * part // parts, len(columns) * (part + 1) // parts):
            count[columns[e] >> shift] += 1


@kernel
def _scatter(row_offsets, columns, shift, places, rows, low_bits, begin, end):
    parts = places.shape[0]
    mask = (1 << shift) - 1
    for part in range(begin, end):
        place = places[part]
        first = len(columns) * part // parts
        last = len(columns) * (part + 1) // parts
        u = np.searchsorted(row_offsets, first, side="right") - 1
        while first < last:
            stop = min(row_offsets[u + 1], last)
            for e in range(np.uintp(first), np.uintp(stop)):  # unsigned: an index is not tested for its sign
                v = columns[e]
                p = place[np.uintp(v >> shift)]
                place[np.uintp(v >> shift)] = p + np.uintp(1)
                rows[p] = u
                low_bits[p] = v & mask
            first = stop
            u += 1


@kernel
def _sort_buckets(starts, shift, rows, low_bits, row_offsets, begin, end):
    n_vertices = len(row_offsets) - 1
    longest = 0
    for bucket in range(begin, end):
        longest = max(longest, starts[bucket + 1] - starts[bucket])
    spare = np.empty(longest, rows.dtype)
    place = np.empty(1 << shift, np.int64)
    for bucket in range(begin, end):
        start = starts[bucket]
        size = starts[bucket + 1] - start
        first = bucket << shift
        n_rows = min(1 << shift, n_vertices - first)
        place[:n_rows] = 0
        for i in range(start, start + size):
            place[low_bits[i]] += 1
        total = 0
        for row in range(n_rows):
            count = place[row]
            row_offsets[first + row] = start + total
            place[row] = total
            total += count
        for i in range(start, start + size):
            p = place[low_bits[i]]
            place[low_bits[i]] = p + 1
            spare[p] = rows[i]
        rows[start : start + size] = spare[:size]


@kernel
def _measure(out_offsets, out_columns, in_offsets, in_columns, lengths, begin, end):
    for v in range(begin, end):
        length = out_offsets[v + 1] - out_offsets[v] + in_offsets[v + 1] - in_offsets[v]
        first = in_offsets[v] + np.searchsorted(in_columns[in_offsets[v] : in_offsets[v + 1]], v)
        while first < in_offsets[v + 1] and in_columns[first] == v:
            first += 1
            length -= 1
        lengths[v] = length


@kernel
def _merge(out_offsets, out_columns, in_offsets, in_columns, row_offsets, columns, begin, end):
    one = np.uintp(1)
    for v in range(begin, end):
        i = np.uintp(out_offsets[v])
        i_end = np.uintp(out_offsets[v + 1])
        j = np.uintp(in_offsets[v])
        j_end = np.uintp(in_offsets[v + 1])
        p = np.uintp(row_offsets[v])
        while i < i_end and j < j_end:
            a = out_columns[i]
            b = in_columns[j]
            if b == v:  # self-loops are taken from `out_columns`, which has as many of them
                j += one
                continue
            columns[p] = min(a, b)  # without a branch, which could not be predicted
            p += one
            i += np.uintp(a <= b)
            j += np.uintp(a > b)
        while i < i_end:
            columns[p] = out_columns[i]
            p += one
            i += one
        while j < j_end:
            columns[p] = in_columns[j]
            p += one
            j += one
