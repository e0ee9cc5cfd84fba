"""Base class of edge sources: rows in the caller's own frames, and defaults of a graph."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from rapids_trav.frames.columns import Array, Frame
from rapids_trav.frames.libraries import Library


class GraphDefaults(NamedTuple):
    """Defaults of the options of a graph, which depend on the kind of its edges.

    Attributes
    ----------
    directed : bool
    weight : hashable or None
    vertices : array or None
        Vertices that the graph has in any case.
    """

    directed: bool = False
    weight: Hashable | None = None
    vertices: Array | None = None


class FrameRows:
    """Base of an `EdgeSource` whose chunks are the caller's own frames."""

    columns: list[Hashable]
    library: Library
    defaults = GraphDefaults()
    partitions: int | None = None  # of a Dask frame; None for frames in memory

    @property
    def row_columns(self) -> list[Hashable]:
        """Columns that `rows_of` needs in a chunk."""
        return self.columns

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        """Return these rows of a chunk with all columns of the edges."""
        return self.library.rows_of(frame, rows)
