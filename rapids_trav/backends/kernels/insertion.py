"""Compressed rows in the order in which edges were added, as NetworkX's dicts of dicts keep them.

1. `number_ends` numbers the values of two columns by their first appearance, row by row.
2. `insertion_rows` counts, then places each edge at the end of its rows; of an edge that comes again the
   first place stays, and the last row of the columns gives its attributes.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.engines.cpu.runtime.compile import kernel


@kernel
def number_ends(src, dst, first, table, codes_src, codes_dst, values):
    """Number integers from `first` on by a table of -1 over their range; the number of distinct ones."""
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
def insertion_rows(src, dst, n, symmetric, keep_rows):
    """Return offsets, columns, and with `keep_rows` the last row of the edge list for each column."""
    offsets = np.zeros(n + 1, np.int64)
    for i in range(len(src)):
        offsets[src[i] + 1] += 1
        if symmetric and src[i] != dst[i]:
            offsets[dst[i] + 1] += 1
    for v in range(n):
        offsets[v + 1] += offsets[v]
    cursor = offsets[:-1].copy()
    columns = np.empty(offsets[n], src.dtype)
    rows = np.empty(offsets[n] if keep_rows else 0, np.int64)
    for i in range(len(src)):
        u, v = src[i], dst[i]
        columns[cursor[u]] = v
        if keep_rows:
            rows[cursor[u]] = i
        cursor[u] += 1
        if symmetric and u != v:
            columns[cursor[v]] = u
            if keep_rows:
                rows[cursor[v]] = i
            cursor[v] += 1
    place = np.full(n, -1, np.int64)
    tail = 0
    begin = 0
    for u in range(n):
        end = offsets[u + 1]
        start = tail
        for e in range(begin, end):
            v = columns[e]
            if place[v] >= start:
                if keep_rows:
                    rows[place[v]] = rows[e]
            else:
                place[v] = tail
                columns[tail] = v
                if keep_rows:
                    rows[tail] = rows[e]
                tail += 1
        begin = end
        offsets[u + 1] = tail
    return offsets, columns[:tail], rows[:tail]


@kernel
def transposed_rows(offsets, columns):
    """Return offsets and columns of the transpose, rows in the order of the vertices that lead to them.

    Also, for each of its columns, the place of that edge among the columns that came in.
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
        for e in range(offsets[u], offsets[u + 1]):
            v = columns[e]
            sources[cursor[v]] = u
            edges[cursor[v]] = e
            cursor[v] += 1
    return into, sources, edges
