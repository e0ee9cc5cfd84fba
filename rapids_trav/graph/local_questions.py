"""Questions to a graph whose parts are in this process."""

from __future__ import annotations

import os

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
from rapids_trav.algorithms.bfs import Answer
from rapids_trav.algorithms.bfs_stream import BfsStream
from rapids_trav.algorithms.guard import question
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import (
    BetweennessOptions,
    CentralityOptions,
    ClosenessOptions,
    ComponentsOptions,
    Direction,
    PagerankOptions,
    PathOptions,
    ProgramOptions,
    SearchOptions,
    SsspOptions,
)
from rapids_trav.csr import statistics
from rapids_trav.csr.paths import PathLayout
from rapids_trav.errors import CLOSED
from rapids_trav.frames.columns import Frame
from rapids_trav.graph.contents import GraphContents
from rapids_trav.memory.model.build import COUNTED_BYTES
from rapids_trav.programs.definition import Program
from rapids_trav.saved import graphs
from rapids_trav.saved.rows import SavedRows
from rapids_trav.storage.block_sizes import reading
from rapids_trav.storage.edge_rows import EdgeRows
from rapids_trav.storage.paged import Paged
from rapids_trav.storage.parts import GraphParts
from rapids_trav.utilities.progress import streamed
from rapids_trav.utilities.sizes import readable


class LocalQuestions(GraphContents):
    """Implementation of `algorithms.questions.Questions` by the algorithms, within the memory limit."""

    @question
    def bfs(self, sources: object, options: SearchOptions) -> Answer:
        return bfs.bfs(self, sources, options)

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        return self._streams.add(bfs_stream.bfs_stream(self, roots, options))

    @question
    def paths(self, sources: object, options: PathOptions) -> Frame:
        return paths.paths(self, sources, options)

    @question
    def khop(self, seeds: object, k: int, options: SearchOptions) -> Neighborhood:
        return khop.khop(self, seeds, k, options)

    @question
    def levels(self, sources: object, options: SearchOptions) -> Frame:
        return levels.levels(self, sources, options)

    @question
    def degrees(self, direction: Direction) -> Frame:
        return levels.degrees(self, direction)

    @question
    def run(self, program: Program, initial: object, options: ProgramOptions) -> Answer:
        return run.run(self, program, initial, options, streamed())

    @question
    def components(self, options: ComponentsOptions) -> Answer:
        return components.components(self, options, streamed())

    @question
    def sssp(self, sources: object, options: SsspOptions) -> Answer:
        return sssp.sssp(self, sources, options, streamed())

    @question
    def pagerank(self, options: PagerankOptions) -> Answer:
        return pagerank.pagerank(self, options, streamed())

    @question
    def closeness(self, vertices: object, options: ClosenessOptions, improved: bool) -> Frame:
        return closeness.closeness(self, vertices, options, improved)

    @question
    def harmonic(self, vertices: object, options: ClosenessOptions) -> Frame:
        return closeness.harmonic(self, vertices, options)

    @question
    def eccentricity(self, vertices: object, options: CentralityOptions) -> Frame:
        return closeness.eccentricity(self, vertices, options)

    @question
    def diameter(self, options: CentralityOptions) -> int:
        return closeness.diameter(self, options)

    @question
    def betweenness(self, options: BetweennessOptions) -> Frame:
        return betweenness.betweenness(self, options)

    @question
    def distances(self, pairs: object, options: CentralityOptions) -> Frame:
        return distances.distances(self, pairs, options)

    @question
    def path_layout(self, relaxed: int) -> PathLayout:
        return path_layout.path_layout(self, relaxed)

    @question
    def save(self, folder: str | os.PathLike[str]) -> None:
        parts = GraphParts(
            self.rows, self.ids, self.storage, self.n_edges, self.directed, self.weight, self.build_times
        )
        graphs.save(parts, folder)

    @question
    def n_self_loops(self) -> int:
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.self_loops(stored, self.engine.xp, block)

    @question
    def n_duplicate_edges(self) -> int:
        stored = self.storage.view().stored
        with reading(self.budget, stored.n_edges, COUNTED_BYTES) as block:
            return statistics.duplicate_edges(stored, self.engine.xp, self.directed, block)

    def structures(self) -> list[tuple[str, int, str]]:
        """Return name, bytes and place of each structure of the graph."""
        found = [("vertex ids", self.ids.nbytes, self.engine.place), *self.storage.memory()]
        if isinstance(self.rows, EdgeRows) and self.rows.index_bytes:
            found.append(("index of rows", self.rows.index_bytes, self.engine.place))
        return found

    def memory(self) -> Frame:
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
