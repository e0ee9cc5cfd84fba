"""Partition of the rows of an adjacency into pages, which are streamed through limited memory.

L. Ma et al., "Garaph", USENIX ATC 2017 (docs/systems.md, G4 and G5): the data of the vertices stay resident.
The streams share the remaining memory equally, and a page is as many consecutive rows as fit one share.  A
page is a slice of the adjacency, not a format of its own, so pages can be cut anew for every budget.

A row is never split.  If the longest row does not fit one share, there are fewer streams with larger shares.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from rapids_trav.csr.adjacency import search_offsets
from rapids_trav.csr.array import Array
from rapids_trav.errors import TravMemoryError
from rapids_trav.utilities.sizes import readable


@dataclass(frozen=True)
class PagePlan:
    """Row ranges of the pages, and the number of pages that are in flight at once."""

    firsts: np.ndarray  # int64, (k + 1,): page `i` is the rows `firsts[i]` to `firsts[i + 1] - 1`
    n_streams: int  # pages in flight at once; at most the number asked for
    page_bytes: int  # memory share of one stream, which no page exceeds


def plan_pages(
    row_offsets: Array,
    free_bytes: int,
    *,
    edge_bytes: int,
    row_bytes: int = 0,
    n_streams: int = 3,
    most_bytes: int | None = None,
    longest: int | None = None,
) -> PagePlan:
    """Cut the rows into the fewest pages such that `n_streams` of them fit into `free_bytes`.

    There are fewer streams if the longest row requires it; if it does not fit alone, that is a
    `TravMemoryError`.  Pages have at most `most_bytes`, even if more would fit; a longer row is a page by
    itself.
    """
    longest = longest_row(row_offsets) if longest is None else longest
    row_needs = longest * edge_bytes + row_bytes
    if len(row_offsets) > 1 and row_needs > max(free_bytes, 0):
        raise TravMemoryError(
            f"{readable(row_needs)} are needed for the longest row, of {longest:,} edges, and "
            f"{readable(max(free_bytes, 0))} are left for pages."
        )
    streams = max(1, min(n_streams, free_bytes // row_needs)) if row_needs else n_streams
    share = max(free_bytes, 0) // streams
    if most_bytes is not None:
        share = min(share, max(most_bytes, row_needs))
    return PagePlan(page_rows(row_offsets, share, edge_bytes, row_bytes), streams, share)


def page_rows(row_offsets: Array, page_bytes: int, edge_bytes: int, row_bytes: int = 0) -> np.ndarray:
    """Return the first row of each page, followed by the number of rows.

    A page is the longest run of rows that fits into `page_bytes`.  A row that is larger than that is a page
    of its own.
    """
    n_rows = len(row_offsets) - 1

    def bytes_before(row: int) -> int:
        return int(row_offsets[row]) * edge_bytes + row * row_bytes

    firsts = [0]
    while firsts[-1] < n_rows:
        first = firsts[-1]
        fitting = bisect_right(range(n_rows + 1), bytes_before(first) + page_bytes, first, key=bytes_before)
        firsts.append(max(fitting - 1, first + 1))
    return np.asarray(firsts, dtype=np.int64)


def longest_row(row_offsets: Array, block: int = 1 << 24) -> int:
    """Return the number of edges of the longest row; offsets are read in blocks to avoid a copy."""
    return max(
        (int(np.diff(row_offsets[i : i + block + 1]).max()) for i in range(0, len(row_offsets) - 1, block)),
        default=0,
    )


def resident_ends(row_offsets: Array, free_bytes: int, edge_bytes: int) -> tuple[int, int]:
    """Return the ends of the rows that stay: edges before the first, and from the second on, fit the bytes.

    Rows are in descending order of length.  Every search reads the first rows, those of hubs, from end to
    end; the last are the shortest, so most vertices are there.  Half of the bytes is for each, which moves
    0.4 times the bytes that the last rows alone do (docs/systems.md, section L).
    """
    n_edges = int(row_offsets[-1])
    kept = min(max(free_bytes, 0) // edge_bytes, n_edges)
    if kept == n_edges:
        return 0, 0
    head = int(row_offsets[search_offsets(row_offsets, kept // 2 + 1) - 1])
    return head, int(row_offsets[search_offsets(row_offsets, n_edges - (kept - head))])
