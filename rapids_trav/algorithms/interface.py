"""The graph that algorithms see."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

from rapids_trav.csr.adjacency import Array
from rapids_trav.frames.columns import Frame
from rapids_trav.ids.maps import IdMap
from rapids_trav.storage.budget import Budget
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory


class TraversableGraph(Protocol):
    """Ids, edges and frames of one graph; `Graph` is one."""

    directed: bool
    ids: IdMap
    n_edges: int
    rows: RowReader
    storage: InMemory
    weight: Hashable | None

    @property
    def budget(self) -> Budget | None:
        """The memory limit, or None."""

    @property
    def engine(self) -> Any:
        """Where searches and programs run."""

    @property
    def frame_library(self) -> str:
        """Name of the library of the caller's frames."""

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""

    def id_columns(self, name: str, internal: Array | None = None, nulls: bool = False) -> dict[str, Any]:
        """Return the caller's ids of internal ones (None: of all) as columns called `name`."""

    def frame(self, columns: dict[str, Any]) -> Frame:
        """Return a frame of the caller's library."""

    def hand_out(self, columns: dict[str, Any]) -> Frame:
        """Return a frame for the caller: under cudf.pandas a proxy."""

    def deliver(self, frame: Frame) -> Frame:
        """Return a result as the kind of frame that the edges came in."""
