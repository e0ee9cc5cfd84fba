"""Search for strings among others in ascending order of their bytes, which for UTF-8 is that of code points.

A hash table would take a pass over all strings, however few are wanted.  Instead:

1. the wanted strings are sorted;
2. each is searched for from the position of the one before, in steps that double, then by halves (Bentley and
   Yao, "An almost optimal algorithm for unbounded searching", 1976).

Neighbouring searches compare with neighbouring strings, which stay in the cache, and m wanted strings among n
take O(m log(n / m)) comparisons.
"""

from __future__ import annotations

import numpy as np

from rapids_trav.frames.columns import Series
from rapids_trav.frames.strings.sorting import sort_strings
from rapids_trav.frames.strings.text import as_text, buffers_of
from rapids_trav.frames.strings.words import compared
from rapids_trav.jit.kernels import Threads, kernel

GRAIN = 1 << 10  # fewer strings are searched for on one thread


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
        threads.run(_search, len(wanted), *buffers_of(known), data, offsets, order, positions, grain=GRAIN)
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
