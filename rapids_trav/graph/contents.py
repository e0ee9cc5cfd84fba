"""Contents of a graph in this process, with the interface that algorithms use."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from rapids_trav.algorithms.bfs_stream import OpenStreams
from rapids_trav.algorithms.search_rows import Rows
from rapids_trav.algorithms.vertex_values import LocalValues
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import Engine
from rapids_trav.frames.columns import Frame, id_names
from rapids_trav.ids.maps import Column, IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.edge_rows import PairReader
from rapids_trav.storage.in_memory import InMemory


class GraphContents:
    """The ids, edges and frames of a graph; implements `algorithms.interface.TraversableGraph`."""

    def __init__(
        self,
        rows: PairReader,
        ids: IdMap,
        storage: InMemory,
        *,
        n_edges: int,
        directed: bool,
        weight: Hashable | None,
        build_times: dict[str, float],
    ) -> None:
        self.rows = rows
        self.ids = ids
        self.storage = storage
        self.engine: Engine = storage.engine
        self.n_vertices = ids.n
        self.values = LocalValues(self.engine, ids)
        """Operations on the values of all vertices."""
        self.n_edges = n_edges
        self.directed = directed
        self.weight = weight
        self.build_times = build_times
        self._streams = OpenStreams()

    @property
    def budget(self) -> Budget | None:
        """The memory limit, with the bytes in use and their peak; None without a limit."""
        return self.storage.budget

    @property
    def frame_library(self) -> str:
        """Name of the library of the caller's frames and of the answers, such as "pandas"."""
        return self.rows.source.library.answers

    @property
    def ends(self) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
        """Columns of the sources and of the destinations."""
        return self.rows.src, self.rows.dst

    @property
    def edge_columns(self) -> list[Hashable]:
        """Columns of the edge list, each addressable by its name (`where`, `weight`, the edges of `khop`)."""
        return list(self.rows.source.columns)

    def id_columns(self, name: str, internal: Array | None = None, nulls: bool = False) -> dict[str, Column]:
        """Return the caller's ids of internal ids (None: of all vertices) as columns.

        The column is called `name`; ids of several columns are called `name_0`, `name_1` and so on.
        """
        columns = self.ids.decode(internal, nulls)
        return dict(zip(id_names(name, len(columns)), columns, strict=True))

    def vertex_columns(self, name: str, places: Array | None = None) -> dict[str, Column]:
        """Return the caller's ids at these places of their order (None: all), as `id_columns` does."""
        return self.id_columns(name, None if places is None else self.values.at(places))

    def collector(self, n_rows: int | None) -> Rows:
        """Return a collector of the rows of an answer; `n_rows` is their number, or None if unknown."""
        return Rows(self.rows.source.library, self.engine.xp, n_rows)

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame in the library of the caller's edges."""
        return self.rows.source.library.frame(columns)

    def hand_out(self, columns: Mapping[str, Column]) -> Frame:
        """Return a frame for the caller, which is a proxy under cudf.pandas."""
        return self.rows.source.library.hand_out(self.frame(columns))

    def deliver(self, frame: Frame) -> Frame:
        """Return a result as the caller's kind of frame: the frame itself, a proxy of it, or a Dask frame."""
        return self.rows.source.library.hand_out(self.rows.source.deliver(frame))
