"""Compressed rows in the order in which edges were added, as NetworkX's dicts of dicts keep them.

1. `number_ends` numbers the values of two columns by their first appearance, row by row.
2. `count_edges` and `place_edges` append each edge to its rows.  Each thread has a range of the edges and its
   own cursors: in each row, the edges of a thread follow those of the previous thread.
3. `drop_repeated` keeps the first position of a repeated edge, with the number of its last row, from which
   the attributes are taken; `pack_rows` closes the gaps.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.intrinsics import load
from rapids_trav.jit.kernels import kernel


@kernel
def number_ends(src, dst, first, table, codes_src, codes_dst, values):
    """Number integers by first appearance, by a table over their range; return how many are distinct.

    `first` is the smallest integer, and `table` is filled with -1 at entry.
    """
    n = 0
    for i in range(len(src)):
        u = src[i]
        v = dst[i]
        if table[u - first] < 0:
            table[u - first] = n
            values[n] = u
            n += 1
        if table[v - first] < 0:
            table[v - first] = n
            values[n] = v
            n += 1
        codes_src[i] = table[u - first]
        codes_dst[i] = table[v - first]
    return n


@kernel
def count_edges(src, dst, symmetric, lengths):
    """Add the number of edges of each vertex to `lengths`."""
    for i in range(len(src)):
        u, v = src[i], dst[i]
        lengths[u] += 1
        if symmetric and u != v:
            lengths[v] += 1


@kernel
def place_edges(src, dst, symmetric, cursor, columns, rows, first):
    """Place edges at the cursors.

    `rows` is empty or gets the number of each edge, counted from `first`.
    """
    for i in range(len(src)):
        u, v = src[i], dst[i]
        at = cursor[u]
        cursor[u] = at + 1
        columns[at] = v
        if len(rows):
            rows[at] = first + i
        if symmetric and u != v:
            at = cursor[v]
            cursor[v] = at + 1
            columns[at] = u
            if len(rows):
                rows[at] = first + i


@kernel
def drop_repeated(offsets, columns, rows, lengths, begin, end):
    """Compact each row to the first of equal columns; return how many repeated columns were dropped."""
    place = np.full(len(offsets) - 1, -1, np.int64)
    dropped = 0
    for u in range(begin, end):
        start = offsets[u]
        tail = start
        for e in range(start, offsets[u + 1]):
            v = columns[e]
            if place[v] >= start:
                if len(rows):
                    rows[place[v]] = rows[e]
            else:
                place[v] = tail
                if tail < e:
                    columns[tail] = v
                    if len(rows):
                        rows[tail] = rows[e]
                tail += 1
        lengths[u] = tail - start
        dropped += offsets[u + 1] - tail
    return dropped


@kernel
def pack_rows(offsets, lengths, values):
    """Return the first `lengths[u]` values of each row u, one row after another."""
    packed = np.empty(lengths.sum(), values.dtype)
    tail = 0
    for u in range(len(lengths)):
        for e in range(offsets[u], offsets[u] + lengths[u]):
            packed[tail] = values[e]
            tail += 1
    return packed


@kernel
def transposed_rows(offsets, columns, stop):
    """Return offsets and columns of the transpose, and the position in `columns` of each of its columns.

    The columns of each row are in ascending order of the vertices that lead to it.
    """
    n = len(offsets) - 1
    into = np.zeros(n + 1, np.int64)
    for e in range(len(columns)):
        into[columns[e] + 1] += 1
    for v in range(n):
        into[v + 1] += into[v]
    cursor = into[:-1].copy()
    sources = np.empty(len(columns), columns.dtype)
    edges = np.empty(len(columns), np.int64)
    for u in range(n):
        if load(stop, 0) != 0:
            break
        for e in range(offsets[u], offsets[u + 1]):
            v = columns[e]
            sources[cursor[v]] = u
            edges[cursor[v]] = e
            cursor[v] += 1
    return into, sources, edges
