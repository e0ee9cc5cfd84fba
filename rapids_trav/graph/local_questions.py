"""Queries of a graph whose parts are in this process."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from rapids_trav.algorithms import (
    betweenness,
    bfs,
    bfs_stream,
    closeness,
    components,
    distances,
    khop,
    levels,
    pagerank,
    path_layout,
    paths,
    run,
    sssp,
)
from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.guard import answered, reusable
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.csr import statistics
from rapids_trav.errors import CLOSED
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.contents import GraphContents
from rapids_trav.memory.model.build import COUNTED_BYTES
from rapids_trav.saved import graphs
from rapids_trav.saved.rows import SavedRows
from rapids_trav.storage.block_sizes import reading
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.storage.in_memory import GraphParts
from rapids_trav.storage.paged import Paged
from rapids_trav.utilities.progress import shown
from rapids_trav.utilities.sizes import readable

QUERIES: dict[str, Callable[..., object]] = {
    "bfs": bfs.bfs,
    "paths": paths.paths,
    "khop": khop.khop,
    "levels": levels.levels,
    "degrees": levels.degrees,
    "run": run.run,
    "components": components.components,
    "sssp": sssp.sssp,
    "pagerank": pagerank.pagerank,
    "closeness": closeness.closeness,
    "harmonic": closeness.harmonic,
    "eccentricity": closeness.eccentricity,
    "diameter": closeness.diameter,
    "betweenness": betweenness.betweenness,
    "distances": distances.distances,
    "path_layout": path_layout.path_layout,
}


class LocalQuestions(GraphContents):
    """Implementation of `algorithms.questions.Questions` by the algorithms, within the memory limit."""

    def ask(self, name: str, *arguments: object) -> object:
        query = QUERIES.get(name) or getattr(LocalQuestions, f"_{name}")
        with shown(name, getattr(arguments[-1], "progress", False) if arguments else False):
            if self.budget is not None:  # the query may run more than once
                arguments = tuple(map(reusable, arguments))
            return answered(self, name, lambda: query(self, *arguments))

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        return self._streams.add(bfs_stream.bfs_stream(self, roots, options))

    def _save(self, folder: str | os.PathLike[str]) -> None:
        parts = GraphParts(
            self.rows, self.ids, self.storage, self.n_edges, self.directed, self.weight, self.build_times
        )
        graphs.save(parts, folder)

    def _n_self_loops(self) -> int:
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.self_loops(stored, self.engine.xp, block)

    def _n_duplicate_edges(self) -> int:
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.duplicate_edges(stored, self.engine.xp, self.directed, block)

    def structures(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each structure of the graph."""
        found = [("vertex ids", self.ids.nbytes, self.engine.place), *self.storage.memory()]
        if isinstance(self.rows, EdgeRows) and self.rows.index_bytes:
            found.append(("index of rows", self.rows.index_bytes, self.engine.place))
        return found

    def _memory(self) -> Frame:
        held = self.structures()
        library = self.rows.source.library
        return self.hand_out(
            {
                "structure": library.column([name for name, _, _ in held], dtype="str"),
                "bytes": np.asarray([size for _, size, _ in held], dtype=np.int64),
                "place": library.column([place for _, _, place in held], dtype="str"),
            }
        )

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
