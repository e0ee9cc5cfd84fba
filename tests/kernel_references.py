"""The results of the kernels that have no plain kernel beside them, by expressions of NumPy.

The functions are named in the headings of `kernels/*.cu`.  Tests compare the CPU engine with them, and on a
GPU the kernels themselves.
"""

from __future__ import annotations

import bisect

import numpy as np


def build(rows, columns, n_vertices, symmetric=False):
    """Return offsets and columns of the compressed rows, which ascend (`build.cu`)."""
    if symmetric:
        other = rows != columns
        rows, columns = np.r_[rows, columns[other]], np.r_[columns, rows[other]]
    order = np.lexsort((columns, rows))
    return np.append(0, np.bincount(rows, minlength=n_vertices).cumsum()), columns[order]


def first_neighbors(offsets, columns):
    """Return the first entry of each row: -1 if it is empty, -2 - u if u is its only entry (`build.cu`)."""
    degrees = np.diff(offsets)
    first = np.full(len(degrees), -1, np.int64)
    first[degrees > 0] = columns[offsets[:-1][degrees > 0]]
    first[degrees == 1] = -2 - first[degrees == 1]
    return first


def word_rows(offsets):
    """Return, for every 32 rows, where they begin and the length of all, or 0 (`build.cu`)."""
    degrees = np.diff(offsets)
    degrees = np.append(degrees, np.zeros(-len(degrees) % 32, degrees.dtype)).reshape(-1, 32)
    equal = (degrees == degrees[:, :1]).all(axis=1)
    return np.stack([offsets[:-1:32], np.where(equal, degrees[:, 0], 0)], axis=1)


def smallest_predecessors(offsets, columns, distance, order=None):
    """Return, by `order`, the smallest in-neighbour of each vertex that is one level nearer (`tree.cu`)."""
    keys = np.arange(len(distance)) if order is None else order
    predecessor = np.full(len(distance), -1)
    for v in np.flatnonzero(distance > 0):
        row = columns[offsets[v] : offsets[v + 1]]
        nearer = row[distance[row] == distance[v] - 1]
        predecessor[v] = nearer[np.argmin(keys[nearer])]
    return predecessor


def deal_back(distances, predecessors, n):
    """Return the answers of all ranks, (ranks, ids of each), by place in the order by degree (`dealt.cu`)."""
    n_ranks, each = distances.shape
    places = np.arange(n)
    found = predecessors[places % n_ranks, places // n_ranks]
    led = np.where(found < 0, -1, found % each * n_ranks + found // each)
    return distances[places % n_ranks, places // n_ranks], led


def walk(predecessor, targets):
    """Return the vertices from the root down to each target, -1 being an empty path (`tree.cu`)."""
    paths = []
    for target in targets:
        path = []
        while target >= 0:
            path.append(int(target))
            target = predecessor[target]
        paths.append(path[::-1])
    return paths


def answer(distance, predecessor, rank, names):
    """Return rows of vertex, distance and predecessor, None where there is none (`answer.cu`).

    Row i is vertex `rank[i]`; `names` has the caller's id of each vertex.
    """
    rows = []
    for v in rank:
        level = None if distance[v] < 0 else distance[v]
        rows.append((names[v], level, None if predecessor[v] < 0 else names[predecessor[v]]))
    return rows


def reached(distance, predecessor, rank, names):
    """Return the rows of `answer` whose vertex was reached (`reached.cu`)."""
    return [row for row in answer(distance, predecessor, rank, names) if row[1] is not None]


def places_of_texts(given, ascending):
    """Return the place of each string, in UTF-8, among ascending ones, or -1 (`text_lookup.cu`)."""
    places = np.array([bisect.bisect_left(ascending, text) for text in given])
    return np.where(
        [text in ascending[place : place + 1] for place, text in zip(places, given, strict=True)], places, -1
    )


def rows_inside(u, v, chosen):
    """Return the numbers of the rows u -> v with both ends chosen (`rows_inside.cu`)."""
    return np.flatnonzero(chosen[u] & chosen[v])


def active_queue(active, degrees, heavy_degree):
    """Return the active vertices with short rows and those with long rows, each in order (`gas_state.cu`)."""
    vertices = np.flatnonzero(active)
    light = degrees[vertices] < heavy_degree
    return vertices[light], vertices[~light]


def count_pages(offsets, firsts, marks):
    """Return the marked rows of each page, and their edges, (n_pages, 2) (`pages.cu`)."""
    each = np.stack([marks, marks * np.diff(offsets)], axis=1).astype(np.int64)
    sums = np.concatenate([np.zeros((1, 2), np.int64), each.cumsum(axis=0)])
    return np.diff(sums[firsts], axis=0)


def pack_columns(offsets, columns):
    """Return starts and words of the packed columns; `csr/packed.py` describes them (`packed.cu`)."""
    n, bits = len(columns), 8 * columns.dtype.itemsize
    heads = np.zeros(n, bool)
    heads[offsets[:-1][np.diff(offsets) > 0]] = True
    starts, words = [0], []
    for begin in range(0, n, 1024):
        own, first = columns[begin : begin + 1024].tolist(), heads[begin : begin + 1024].tolist()
        own += (1024 - len(own)) * own[-1:]
        first += (1024 - len(first)) * [False]
        column = own[0]
        head = first_head = own[first.index(True)] if True in first else 0
        widths, groups = [], []
        for group in range(0, 1024, 32):
            mask, entries = 0, []
            for i in range(group, group + 32):
                if first[i]:
                    mask |= 1 << i - group
                    off = own[i] - head
                    off -= (off >= 1 << bits - 1) << bits
                    off += (off < -(1 << bits - 1)) << bits
                    entries.append(2 * off if off >= 0 else -2 * off - 1)
                    head = own[i]
                else:
                    entries.append((own[i] - column) % (1 << bits))
                column = own[i]
            width = max(map(int.bit_length, entries))
            widths.append(width | (mask > 0) << 7)
            groups += [mask] * (mask > 0)
            packed = sum(entry << width * i for i, entry in enumerate(entries))
            groups += [packed >> 32 * k & 0xFFFFFFFF for k in range(width)]
        header = np.array(widths, np.uint8).view(np.uint32).tolist()
        for value in (own[0], first_head):
            header += [value % (1 << bits) >> 32 * k & 0xFFFFFFFF for k in range(bits // 32)]
        words += header + groups
        starts.append(len(words))
    return np.array(starts, np.int64), np.array(words, np.uint32)


def frame_columns(columns):
    """Return starts and words of the framed columns; `csr/packed.py` describes them (`framed.cu`)."""
    bits, starts, words = 8 * columns.dtype.itemsize, [0], []
    frame = bits // 32 + 1
    for begin in range(0, len(columns), 1024):
        own = columns[begin : begin + 1024].tolist()
        own += (1024 - len(own)) * own[-1:]
        frames, entries = [], []
        for group in range(0, 1024, 32):
            some = own[group : group + 32]
            least = min(some)
            width = (max(some) - least).bit_length()
            frames += [least >> 32 * k & 0xFFFFFFFF for k in range(bits // 32)]
            frames.append(32 * frame + len(entries) << 8 | width)
            packed = sum(column - least << width * i for i, column in enumerate(some))
            entries += [packed >> 32 * k & 0xFFFFFFFF for k in range(width)]
        words += frames + entries
        starts.append(len(words))
    return np.array(starts, np.int64), np.array(words, np.uint32)


def framed_column(starts, words, edge, dtype):
    """Return the column of an edge that `frame_columns` framed (`framed.cuh`)."""
    n, own = np.dtype(dtype).itemsize // 4, words[starts[edge // 1024] :]
    *least, place = own[edge % 1024 // 32 * (n + 1) :][: n + 1].tolist()
    width, first = place & 0xFF, place >> 8
    packed = sum(word << 32 * k for k, word in enumerate(own[first : first + width].tolist()))
    entry = packed >> width * (edge % 32) & (1 << width) - 1
    return sum(word << 32 * k for k, word in enumerate(least)) + entry


def unpack_columns(starts, words, n_edges, dtype):
    """Return the columns that `pack_columns` packed (`packed.cu`)."""
    bits = 8 * np.dtype(dtype).itemsize
    size, found = 1 << bits, []
    for begin in starts[:-1].tolist():
        widths = words[begin : begin + 8].view(np.uint8).tolist()
        pairs = words[begin + 8 : begin + 8 + bits // 16].tolist()
        column, head = (
            sum(word << 32 * k for k, word in enumerate(pairs[i : i + bits // 32]))
            for i in range(0, bits // 16, bits // 32)
        )
        at = begin + 8 + bits // 16
        for width in widths:
            mask = 0
            if width >> 7:
                mask, at = int(words[at]), at + 1
            width &= 0x7F
            packed = sum(word << 32 * k for k, word in enumerate(words[at : at + width].tolist()))
            at += width
            for i in range(32):
                entry = packed >> width * i & (1 << width) - 1
                if mask >> i & 1:
                    head += entry >> 1 if entry % 2 == 0 else -(entry + 1) // 2
                    column = head
                else:
                    column += entry
                found.append(column % size)
    unsigned = np.array(found[:n_edges], f"u{bits // 8}")
    return unsigned.view(dtype)
