"""What sources of edges have in common: rows and answers as they come, and a graph's defaults."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from rapids_trav.frames.columns import Array, Frame


class GraphDefaults(NamedTuple):
    """What a graph of these edges is, unless its options say otherwise.

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
    defaults = GraphDefaults()

    @property
    def row_columns(self) -> list[Hashable]:
        """Columns that `rows_of` needs in a chunk."""
        return self.columns

    def rows_of(self, frame: Frame, rows: Array) -> Frame:
        """Return these rows of a chunk with all columns of the edges."""
        return frame.take(rows)

    def deliver(self, frame: Frame) -> Frame:
        """Return a result in the kind of frame that came in."""
        return frame
