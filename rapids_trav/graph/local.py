"""A graph in this process: its ids, edges and frames, how it answers a query, and its HTML for notebooks."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rapids_trav.algorithms import bfs_stream
from rapids_trav.algorithms.bfs_stream import BfsStream, OpenStreams
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import Found, answered
from rapids_trav.algorithms.results import LocalValues, Rows
from rapids_trav.csr import adjacency
from rapids_trav.csr.adjacency import Adjacency, Array
from rapids_trav.errors import CLOSED, TravError
from rapids_trav.frames.columns import Frame, id_names, move
from rapids_trav.ids.maps import Column
from rapids_trav.memory.budget import holding
from rapids_trav.memory.model.build import COUNTED_BYTES
from rapids_trav.memory.model.search import HISTOGRAM_BYTES
from rapids_trav.saved import graphs
from rapids_trav.saved.rows import SavedRows
from rapids_trav.storage.block_sizes import reading
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.storage.in_memory import GraphParts
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities import svg
from rapids_trav.utilities.progress import shown
from rapids_trav.utilities.sizes import readable


class LocalGraph(GraphParts):
    """The ids, edges and frames of a graph in this process, and the queries over them.

    It is the `TraversableGraph` that algorithms see, and the `Questions` that `Graph` asks.
    """

    @cached_property
    def values(self) -> LocalValues:
        """Operations on the values of all vertices."""
        return LocalValues(self.engine, self.ids)

    @property
    def _streams(self) -> OpenStreams:
        return vars(self).setdefault("streams", OpenStreams())

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
        if len(columns) == 1:
            return {name: columns[0]}
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
        source = self.rows.source
        if source.partitions is not None:
            import dask.dataframe

            return dask.dataframe.from_pandas(frame, npartitions=source.partitions, sort=False)
        return source.library.hand_out(frame)

    def ask(self, query: Callable[..., Found], *arguments: object) -> Found:
        """Return ``query(self, *arguments)``, made within the memory limit, and tell of its progress."""
        name = query.__name__
        with shown(name, getattr(arguments[-1], "progress", False) if arguments else False):
            return answered(self, name, query, *arguments)

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        return self._streams.add(bfs_stream.bfs_stream(self, roots, options))

    def structures(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each structure of the graph."""
        found = [("vertex ids", self.ids.nbytes, self.engine.place), *self.storage.memory()]
        if isinstance(self.rows, EdgeRows) and self.rows.index_bytes:
            found.append(("index of rows", self.rows.index_bytes, self.engine.place))
        return found

    @property
    def location(self) -> str:
        return f"{self.engine.name} engine" + (
            f", within {readable(self.budget.limit)}" if self.budget else ""
        )

    def close(self) -> None:
        """End searches that run; all else is in this process and freed with its last reference."""
        self._streams.refuse(CLOSED)
        self.storage.close()

    def __getstate__(self) -> dict[str, object]:
        in_files = any(place == "disk" for _, _, place in self.storage.memory())
        if in_files or isinstance(self.storage, Paged) or isinstance(self.rows, SavedRows):
            raise TypeError(
                "A graph that is kept in files cannot be pickled: save it, and open the folder where it is "
                "needed."
            )
        if (self.engine.place, self.rows.source.library.name) != ("host", "pandas"):
            raise TypeError(
                f"A graph of {self.frame_library} frames on the {self.engine.name} engine cannot be pickled: "
                f"pickle the edges and build it where it is needed."
            )
        return vars(self)


def save(graph: LocalGraph, folder: str | os.PathLike[str]) -> None:
    """Save the graph, as `Graph.save` documents."""
    graphs.save(graph, folder)


def memory(graph: LocalGraph) -> Frame:
    """Return the frame that `Graph.memory` documents."""
    held = graph.structures()
    library = graph.rows.source.library
    return graph.hand_out(
        {
            "structure": library.column([name for name, _, _ in held], dtype="str"),
            "bytes": np.asarray([size for _, size, _ in held], dtype=np.int64),
            "place": library.column([place for _, _, place in held], dtype="str"),
        }
    )


def n_self_loops(graph: LocalGraph) -> int:
    """Count the rows whose two ends are the same vertex."""
    return _counted(graph, lambda stored, block: adjacency.self_loops(stored, graph.engine.xp, block))


def n_duplicate_edges(graph: LocalGraph) -> int:
    """Count the rows that repeat an edge of an earlier row."""
    xp, directed = graph.engine.xp, graph.directed
    return _counted(graph, lambda stored, block: adjacency.duplicate_edges(stored, xp, directed, block))


def _counted(graph: LocalGraph, count: Callable[[Adjacency, int], int]) -> int:
    """Return what `count` counts in the rows as stored, reading a block of edges at a time."""
    stored = graph.storage.view().stored
    with reading(graph.budget, stored.n_edges, COUNTED_BYTES) as block:
        return count(stored, block)


class ClosedQuestions:
    """Questions of a closed graph, all of which raise an error."""

    def close(self) -> None:
        """Do nothing, since the graph is closed already."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # special names that Python looks up, for example in copying
            raise AttributeError(name)
        raise TravError(CLOSED)


def graph_html(text: str, contents: object) -> str:
    """Return the text that describes a graph and, if it is in this process, its degrees and memory."""
    text = f"<div>{svg.text_of(text)}</div>"
    if not isinstance(contents, LocalGraph):  # closed, or on the workers of a cluster
        return text
    rows = "".join(
        f"<tr><td>{name}</td><td>{readable(n_bytes)}</td><td>{place}</td></tr>"
        for name, n_bytes, place in contents.structures()
    )
    table = f"<table><tr><th>structure</th><th>bytes</th><th>place</th></tr>{rows}</table>"
    try:
        with holding(contents.budget, HISTOGRAM_BYTES * contents.n_vertices, "a histogram of the degrees"):
            picture = degree_bars(contents)
    except (TravError, MemoryError):  # no room for the degrees
        picture = ""
    return f"<div>{text}{picture}{table}</div>"


def degree_bars(contents: LocalGraph) -> str:
    """Return a histogram of the degrees: the vertices of degree 0, 1, 2 to 3, 4 to 7, and so on."""
    degree, xp = contents.storage.view("out").degrees(), contents.engine.xp
    group = xp.zeros(len(degree), np.int64)
    for power in range(int(degree.max()).bit_length() if len(degree) else 0):
        group += degree >= 1 << power
    counts = move(xp.bincount(group), np).tolist() if len(degree) else []
    labels = ["0", *map(_compact, (1 << power for power in range(len(counts))))]
    return svg.bars(counts, labels[: len(counts)], "vertices of at least this degree, and less than the next")


def _compact(number: int) -> str:
    """Write a power of two in at most four characters."""
    for letter, bits in (("G", 30), ("M", 20), ("k", 10)):
        if number >> bits:
            return f"{number >> bits}{letter}"
    return str(number)
