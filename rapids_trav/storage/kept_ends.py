"""Lookup of the ends of the edges that a filter keeps, in cache-sized blocks on all threads of the host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.errors import EDGES_CHANGED, TravError
from rapids_trav.ids.maps import Encoder

ROWS = 1 << 16  # smallest block of rows: its temporary arrays fit the cache of a core
PIECES = 16  # blocks, at least, however few rows are flagged, unless a block would have fewer than `ROWS`
SHARED = 1 << 18  # rows from which several threads are faster than one


def kept_ends(
    encode: Encoder, ends: Sequence[np.ndarray], flags: np.ndarray, dtype: np.dtype
) -> list[np.ndarray]:
    """Return the internal ids, in `dtype`, of the flagged rows of each array of `ends`.

    Only flagged rows are looked up.  `encode` must give each value an id that does not depend on the other
    values of the block.
    """
    from rapids_trav.jit.kernels import Threads

    n_rows = ROWS * len(flags) // (2 * int(np.count_nonzero(flags)) + 1)  # ROWS / 2 of them are kept
    n_rows = max(ROWS, min(len(flags) // PIECES, n_rows))
    firsts = range(0, len(flags), n_rows)
    places = np.cumsum([0, *(np.count_nonzero(flags[first : first + n_rows]) for first in firsts)])
    found = [np.empty(places[-1], dtype) for _ in ends]

    def keep_rows(begin: int, end: int) -> None:
        for i in range(begin, end):
            rows = slice(firsts[i], firsts[i] + n_rows)
            kept = np.flatnonzero(flags[rows])
            for given, internal in zip(ends, found, strict=True):
                some = encode([given[rows][kept]])
                if len(some) and some.min() < 0:
                    raise TravError(EDGES_CHANGED)
                internal[places[i] : places[i + 1]] = some

    with Threads() as team:
        team.run(keep_rows, len(firsts), grain=-(-SHARED // n_rows))
    return found
