"""Sorting of distinct strings by their bytes, which for UTF-8 is the order of their code points.

Multikey quicksort (Bentley and Sedgewick, SODA 1997) on eight-byte words stored beside the rows, so that most
comparisons do not touch a string (Ng and Kakehi, "Cache efficient radix sort for string sorting", 2007):

1. the prefix common to all strings is skipped;
2. the words that follow are distributed to buckets by their highest bits;
3. each bucket is sorted by word, and where words are equal, by the next one.

Buckets are shared among the threads.  Strings are padded with zeros; two that end within equal words differ
only in null characters, and the shorter comes first.

Search for strings among others in ascending order of their bytes, which for UTF-8 is that of code points.

A hash table would take a pass over all strings, however few are wanted.  Instead:

1. the wanted strings are sorted;
2. each is searched for from the position of the one before, in steps that double, then by halves (Bentley and
   Yao, "An almost optimal algorithm for unbounded searching", 1976).

Neighbouring searches compare with neighbouring strings, which stay in the cache, and m wanted strings among n
take O(m log(n / m)) comparisons.
"""

from __future__ import annotations

import numpy as np
from numba import types

from rapids_trav.frames.columns import Series
from rapids_trav.frames.strings.text import as_text, buffers_of
from rapids_trav.frames.strings.words import WORD, comes_first, compared, swapped, word_at
from rapids_trav.jit.kernels import Threads, kernel

GRAIN = 1 << 12  # with fewer strings, a step runs on one thread
BUCKET_BITS = 12
FEW = 16  # at most this many words are sorted by insertion
DEEPEST = 256  # size of the stack: at most two parts for each halving, since the smallest is sorted first


def sort_strings(data: np.ndarray, offsets: np.ndarray, rows: np.ndarray, threads: Threads) -> np.ndarray:
    """Return the ascending order of these rows, whose strings are distinct."""
    n = len(rows)
    order = np.arange(n, dtype=rows.dtype)
    if n < 2:
        return order
    common = min(threads.run(_common, n, data, offsets, rows, grain=GRAIN))
    words = np.empty(n, np.uint64)
    threads.run(_words, n, data, offsets, rows, common, words, grain=GRAIN)
    lowest = words.min()
    bits = int(words.max() - lowest).bit_length()
    shift = np.uint64(max(bits - BUCKET_BITS, 0))
    ends = np.cumsum(np.bincount(((words - lowest) >> shift).view(np.int64), minlength=1 << BUCKET_BITS))
    starts = np.concatenate([[0], ends])
    sorted_words = np.empty_like(words)
    _to_buckets(words, lowest, shift, starts.copy(), sorted_words, order)
    threads.run(
        _sort, 1 << BUCKET_BITS, starts, data, offsets, rows, common, sorted_words, order, grain=1
    )  # fmt: skip
    return order


@kernel
def _common(data, offsets, rows, begin, end):
    """Return the length in bytes of the prefix that the strings of these rows share with the first."""
    first = offsets[rows[0]]
    common = offsets[rows[0] + 1] - first
    for i in range(begin, end):
        start = offsets[rows[i]]
        common = min(common, offsets[rows[i] + 1] - start)
        for k in range(common):
            if data[start + k] != data[first + k]:
                common = k
                break
    return common


@kernel
def _word(data, offsets, row, depth):
    at, end = offsets[row] + depth, offsets[row + 1]
    return swapped(word_at(data, at, end)) if at < end else types.uint64(0)


@kernel
def _words(data, offsets, rows, depth, words, begin, end):
    for i in range(begin, end):
        words[i] = _word(data, offsets, rows[i], depth)


@kernel
def _to_buckets(words, lowest, shift, places, sorted_words, order):
    for i in range(len(words)):
        bucket = types.intp((words[i] - lowest) >> shift)
        sorted_words[places[bucket]] = words[i]
        order[places[bucket]] = i
        places[bucket] += 1


@kernel
def _sort(starts, data, offsets, rows, common, words, order, first_bucket, last_bucket):
    waiting = np.empty((DEEPEST, 3), np.int64)
    for bucket in range(first_bucket, last_bucket):
        n_waiting = 0
        begin, end, depth = starts[bucket], starts[bucket + 1], common
        while True:
            if end - begin <= FEW:
                _insert(data, offsets, rows, depth, words, order, begin, end)
                if n_waiting == 0:
                    break
                n_waiting -= 1
                begin, end, depth = _part(waiting, n_waiting)
                continue
            less, more = _split(words, order, begin, end)
            next_depth = depth + WORD
            ended = _ended_first(data, offsets, rows, next_depth, words, order, less, more)
            for part in _by_size((begin, less, depth), (ended, more, next_depth), (more, end, depth)):
                for i in range(3):
                    waiting[n_waiting, i] = part[i]
                n_waiting += 1
            n_waiting -= 1
            begin, end, depth = _part(waiting, n_waiting)


@kernel
def _part(waiting, i):
    return waiting[i, 0], waiting[i, 1], waiting[i, 2]


@kernel
def _by_size(one, two, three):
    """Return the three parts, the largest first."""
    if one[1] - one[0] < two[1] - two[0]:
        one, two = two, one
    if one[1] - one[0] < three[1] - three[0]:
        one, three = three, one
    if two[1] - two[0] < three[1] - three[0]:
        two, three = three, two
    return one, two, three


@kernel
def _insert(data, offsets, rows, depth, words, order, begin, end):
    for i in range(begin + 1, end):
        word, item = words[i], order[i]
        k = i
        while k > begin and (
            word < words[k - 1]
            or (word == words[k - 1] and comes_first(data, offsets, rows[item], rows[order[k - 1]], depth))
        ):
            words[k], order[k] = words[k - 1], order[k - 1]
            k -= 1
        words[k], order[k] = word, item


@kernel
def _split(words, order, begin, end):
    """Move the words less than a pivot to the front, and those greater to the back."""
    one, two, three = words[begin], words[(begin + end) // 2], words[end - 1]
    pivot = max(min(one, two), min(max(one, two), three))
    less, i, more = begin, begin, end
    while i < more:
        if words[i] < pivot:
            words[i], words[less] = words[less], words[i]
            order[i], order[less] = order[less], order[i]
            less += 1
            i += 1
        elif words[i] > pivot:
            more -= 1
            words[i], words[more] = words[more], words[i]
            order[i], order[more] = order[more], order[i]
        else:
            i += 1
    return less, more


@kernel
def _ended_first(data, offsets, rows, depth, words, order, begin, end):
    """Move strings of at most `depth` bytes to the front, by length; load the next word of the others.

    At most eight of them end here, since the words before are equal.
    """
    ended = begin
    for i in range(begin, end):
        row = rows[order[i]]
        if offsets[row + 1] - offsets[row] > depth:
            words[i] = _word(data, offsets, row, depth)
            continue
        words[i], item = words[ended], order[i]
        order[i] = order[ended]
        k = ended
        while k > begin and comes_first(data, offsets, row, rows[order[k - 1]], 0):
            order[k] = order[k - 1]
            k -= 1
        order[k] = item
        ended += 1
    return ended


SEARCHED_AT_ONCE = 1 << 10  # fewer strings are searched for on one thread


def string_positions(vocabulary: Series, column: Series) -> np.ndarray | None:
    """Return the position of each string in a vocabulary; -1 if absent.

    Parameters
    ----------
    vocabulary : Series
        A pandas column of distinct strings in ascending order of their code points.
    column : Series
        A pandas column of strings, perhaps of another dtype; many repeats take long to sort.

    Returns
    -------
    int64 array or None
        None if either holds nulls or anything but strings that Arrow can hold.
    """
    wanted, known = as_text(column), as_text(vocabulary)
    if wanted is None or known is None:
        return None
    data, offsets = buffers_of(wanted)
    positions = np.empty(len(wanted), np.int64)
    with Threads() as threads:
        order = sort_strings(data, offsets, np.arange(len(wanted)), threads)
        threads.run(
            _search, len(wanted), *buffers_of(known), data, offsets, order, positions, grain=SEARCHED_AT_ONCE
        )
    return positions


@kernel
def _search(known_data, known_offsets, data, offsets, order, positions, begin, end):
    n = len(known_offsets) - 1
    low = 0  # the strings before are less than the wanted one
    for k in range(begin, end):
        row = order[k]
        high, step = low, 1  # no string from `high` on is less
        while high < n and _compared(known_data, known_offsets, high, data, offsets, row) < 0:
            low = high + 1
            high += step
            step *= 2
        high = min(high, n)
        while low < high:
            middle = (low + high) // 2
            if _compared(known_data, known_offsets, middle, data, offsets, row) < 0:
                low = middle + 1
            else:
                high = middle
        found = low < n and _compared(known_data, known_offsets, low, data, offsets, row) == 0
        positions[row] = low if found else -1


@kernel
def _compared(known_data, known_offsets, known, data, offsets, row):
    known_at, known_end = known_offsets[known], known_offsets[known + 1]
    return compared(known_data, known_at, known_end, data, offsets[row], offsets[row + 1])
