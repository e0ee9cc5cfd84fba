"""Grouping of rows with equal strings, by hash tables that each fit into the cache.

A single table of all strings misses the cache at every row.  So, as in radix-partitioned joins and
aggregation (Manegold, Boncz and Kersten, TKDE 2002; Balkesen et al., ICDE 2013):

1. every row is hashed once;
2. rows go to partitions by the highest bits of their hash, in order;
3. each partition has its own open-addressing table of hashes;
4. each row, in order, is compared with the first row of its group.  If any differs, two strings have the same
   hash, and step 3 is repeated with tables that compare the bytes as well.

Each step runs on all threads.  Partitions have no string in common, so no locks are needed and the result
does not depend on the number of threads.  It takes 24 bytes per row (32 from 2^31 rows on), of which 4 (8)
are the group numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import types

from rapids_trav.frames.strings.words import are_equal, hash_integers, hash_strings
from rapids_trav.jit.kernels import Threads, kernel

GRAIN = 1 << 13  # with fewer rows, a step runs on one thread
PARTITION = 1 << 15  # average rows per partition: with their table about 1 MB
MOST_PARTITIONS = 1 << 12
FEWEST_SLOTS = 1 << 8


class Groups(NamedTuple):
    """Distinct values of rows: the number of each row's value, and one row for each number."""

    codes: np.ndarray
    firsts: np.ndarray


def group_strings(data: np.ndarray, offsets: np.ndarray, threads: Threads) -> Groups:
    """Group strings by their bytes."""
    n = len(offsets) - 1
    hashes = np.empty(n, np.uint64)
    threads.run(hash_strings, n, data, offsets, hashes, grain=GRAIN)
    groups = _grouped(hashes, None, None, threads)
    if all(threads.run(_are_alike, n, data, offsets, groups.codes, groups.firsts, grain=GRAIN)):
        return groups
    threads.run(hash_strings, n, data, offsets, hashes, grain=GRAIN)
    return _grouped(hashes, data, offsets, threads)


def group_integers(values: np.ndarray, threads: Threads) -> Groups:
    """Group 64-bit integers."""
    hashes = np.empty(len(values), np.uint64)
    threads.run(hash_integers, len(hashes), values, hashes, grain=GRAIN)
    return _grouped(hashes, None, None, threads)


def _grouped(
    hashes: np.ndarray, data: np.ndarray | None, offsets: np.ndarray | None, threads: Threads
) -> Groups:
    """Group rows by their hashes, and by their bytes as well if given."""
    n = len(hashes)
    bits = min(max(n // PARTITION, 2), MOST_PARTITIONS).bit_length() - 1
    shift = np.uint64(64 - bits)
    pieces = threads.size if n >= GRAIN else 1
    counts = np.zeros((pieces, 1 << bits), np.int64)
    threads.run(_count, pieces, hashes, shift, counts, grain=1)
    starts = np.zeros((1 << bits) + 1, np.int64)
    np.cumsum(counts.sum(axis=0), out=starts[1:])
    places = starts[:-1] + np.cumsum(counts, axis=0) - counts
    keys = np.empty(n, np.uint64)
    rows = np.empty(n, np.int32 if n < 2**31 else np.int64)
    threads.run(_scatter, pieces, hashes, shift, places, keys, rows, grain=1)
    codes = np.empty_like(rows)
    found = np.zeros(1 << bits, np.int64)
    threads.run(_group, 1 << bits, starts, keys, rows, data, offsets, codes, found, grain=1)
    bases = np.zeros_like(starts)
    np.cumsum(found, out=bases[1:])
    firsts = np.empty(bases[-1], rows.dtype)
    threads.run(_number, 1 << bits, starts, keys, rows, bases, codes, firsts, grain=1)
    return Groups(codes, firsts)


@kernel
def _count(hashes, shift, counts, begin, end):
    pieces = counts.shape[0]
    for piece in range(begin, end):
        count = counts[piece]
        for i in range(len(hashes) * piece // pieces, len(hashes) * (piece + 1) // pieces):
            count[hashes[i] >> shift] += 1


@kernel
def _scatter(hashes, shift, places, keys, rows, begin, end):
    pieces = places.shape[0]
    for piece in range(begin, end):
        place = places[piece]
        for i in range(len(hashes) * piece // pieces, len(hashes) * (piece + 1) // pieces):
            p = place[hashes[i] >> shift]
            place[hashes[i] >> shift] = p + 1
            keys[p] = hashes[i]
            rows[p] = i


@kernel
def _group(starts, keys, rows, data, offsets, codes, found, begin, end):
    """Number the values of each partition; their first rows overwrite the keys, no longer needed."""
    for partition in range(begin, end):
        start = starts[partition]
        n = 0
        slots = FEWEST_SLOTS
        table_keys = np.empty(slots, np.uint64)
        table = np.full(slots, -1, np.int32)
        for i in range(start, starts[partition + 1]):
            key = keys[i]
            row = rows[i]
            slot = types.intp(key & types.uint64(slots - 1))
            while table[slot] >= 0:
                if table_keys[slot] == key:
                    if data is None:
                        break
                    if are_equal(data, offsets, types.intp(keys[start + table[slot]]), row):
                        break
                slot = (slot + 1) & (slots - 1)
            code = table[slot]
            if code < 0:
                code = n
                n += 1
                table[slot] = code
                table_keys[slot] = key
                keys[start + code] = row
                if 2 * n > slots:
                    table_keys, table = _doubled(table_keys, table)
                    slots *= 2
            codes[row] = code
        found[partition] = n


@kernel
def _doubled(old_keys, old):
    mask = 2 * len(old) - 1
    keys = np.empty(2 * len(old), np.uint64)
    table = np.full(2 * len(old), -1, np.int32)
    for i in range(len(old)):
        if old[i] >= 0:
            slot = types.intp(old_keys[i] & types.uint64(mask))
            while table[slot] >= 0:
                slot = (slot + 1) & mask
            table[slot] = old[i]
            keys[slot] = old_keys[i]
    return keys, table


@kernel
def _number(starts, keys, rows, bases, codes, firsts, begin, end):
    """Give the values of all partitions one common numbering."""
    for partition in range(begin, end):
        start, base = starts[partition], bases[partition]
        for code in range(bases[partition + 1] - base):
            firsts[base + code] = keys[start + code]
        for i in range(start, starts[partition + 1]):
            codes[rows[i]] += base


@kernel
def _are_alike(data, offsets, codes, firsts, begin, end):
    """Return whether each row has the same bytes as the first row of its group."""
    for i in range(begin, end):
        first = firsts[codes[i]]
        if first != i and not are_equal(data, offsets, i, first):
            return False
    return True
