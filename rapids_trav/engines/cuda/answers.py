"""Answers of searches that the CUDA engine makes itself, with the functions of `results`.

CuPy is imported when an answer is made, not with this module.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.engines.cuda.device_memory import device_memory
from rapids_trav.engines.interface import Search
from rapids_trav.frames.columns import BitMasked
from rapids_trav.ids.maps import IntegerTable, TextTable


class DeviceAnswers:
    """Shortcuts that make answers on the device while the host continues; see `results.columns`."""

    lenient: tuple[str, ...] = ("auto", "fused")

    def columns(self, found: Search, table: IntegerTable, n_sources: int) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of a search from joint sources, in the caller's ids and order."""
        from rapids_trav.engines.cuda.results import columns

        with device_memory("the answer", 16 * len(found.distance)):
            return columns.columns(found, table, n_sources)

    def columns_of_each(
        self, found: Search, table: IntegerTable, sources: Array
    ) -> dict[str, Array | BitMasked]:
        """Return the columns of the answer of k searches, one after another, from k `sources`."""
        from rapids_trav.engines.cuda.results import columns

        with device_memory("the answer", 24 * found.distance.size):
            return columns.columns_of_each(found, table, sources)

    def reached(
        self, found: Search, table: IntegerTable, n_sources: int, listed: bool = False
    ) -> tuple[dict[str, Array | BitMasked], Array | None]:
        """Return the columns for the vertices that joint sources reached, and these vertices if `listed`."""
        from rapids_trav.engines.cuda.results import columns

        with device_memory("the answer", 24 * len(found.distance)):
            return columns.reached(found, table, n_sources, listed)

    def rows_inside(
        self, index: Adjacency, numbers: Array, distance: Array, sources: Array, most_read: int
    ) -> Array | None:
        """Return the numbers of the rows with both ends chosen; None if more than `most_read` are read."""
        from rapids_trav.engines.cuda.results import rows_inside

        with device_memory("the rows of a neighbourhood", 16 * len(sources)):
            return rows_inside.rows_inside(index, numbers, distance, sources, most_read)

    def locate(self, label: int, table: IntegerTable, n_vertices: int) -> Array:
        """Return the internal id of the caller's id `label`, (1,), or -1; the host does not wait for it."""
        from rapids_trav.engines.cuda.results import columns

        with device_memory("a look-up", 8):
            return columns.locate(label, table, n_vertices)

    def locate_each(self, labels: np.ndarray, table: IntegerTable, n_vertices: int) -> np.ndarray:
        """Return the internal ids of the caller's ids `labels` on the host, -1 for unknown ones."""
        from rapids_trav.engines.cuda.results import columns

        with device_memory("a look-up", 16 * len(labels)):
            return columns.locate_each(labels, table, n_vertices)

    def locate_texts(self, given: Sequence[bytes], table: TextTable, n_vertices: int) -> np.ndarray:
        """Return the internal ids of strings in UTF-8 on the host, -1 for unknown ones."""
        from rapids_trav.engines.cuda.results import text_lookup

        with device_memory("a look-up", sum(map(len, given)) + 16 * len(given)):
            return text_lookup.locate_texts(given, table, n_vertices)

    def path_rows(
        self, found: Search, sources: Array, targets: Array, table: IntegerTable, each: bool
    ) -> dict[str, Array | BitMasked] | None:
        """Return the columns of the paths to `targets`; None if the only source is -1."""
        from rapids_trav.engines.cuda.results import path_rows

        with device_memory("the paths", 16 * len(targets)):
            return path_rows.path_rows(found, sources, targets, table, each)

    def level_counts(self, distance: Array) -> np.ndarray | None:
        """Count each distance of k searches, (k, n), on the host; None if one of them is too large."""
        from rapids_trav.engines.cuda.results import level_counts

        with device_memory("the levels", 8 * (level_counts.BINS + 2) * len(distance)):
            return level_counts.level_counts(distance)
