"""`frame.trav`: traversal as a method of the frame that holds the edges.

The accessor is registered for pandas at import.  For cuDF and Dask, whose import takes seconds and may need a
GPU, it is registered at once if they are already imported, else right after their own import: so it makes no
difference whether `rapids_trav` or they come first.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pandas as pd
from pandas.api.extensions import register_dataframe_accessor

from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.edges.sources import Ends
from rapids_trav.errors import EdgeColumnsError
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame
from rapids_trav.graph import Graph
from rapids_trav.programs.definition import Program
from rapids_trav.utilities.import_hooks import after_import

# The options of `TravAccessor.graph`.
BUILDING = ("src", "dst", "directed", "weight", "vertices", "engine", "degree_sort", "memory_limit", "spill")


class TravAccessor:
    """Graph traversal over the edges of this frame.

    It holds nothing but the frame.  `bfs`, `paths`, `khop`, `levels`, `components`, `sssp`, `pagerank` and
    `run` build a graph for one question; for several, keep the graph: ``graph = edges.trav.graph()``.

    Raises
    ------
    AttributeError
        If the frame cannot hold edges, having fewer than two columns.
    """

    def __init__(self, frame: Frame) -> None:
        n_columns = len(proxies.held(frame).columns)
        if n_columns < 2:
            count = {0: "no column", 1: "one column"}[n_columns]
            raise EdgeColumnsError(f"A frame of {count} holds no edges: .trav needs a column for each end.")
        self._frame = frame

    def graph(
        self,
        src: Ends = None,
        dst: Ends = None,
        *,
        directed: bool = False,
        weight: Hashable | None = None,
        vertices: Any = None,
        engine: Any = "auto",
        degree_sort: str = "auto",
        memory_limit: int | str | None = None,
        spill: Any = None,
    ) -> Graph:
        """Build the graph of these edges; see `Graph.from_edges`."""
        return Graph.from_edges(
            self._frame,
            src,
            dst,
            directed=directed,
            weight=weight,
            vertices=vertices,
            engine=engine,
            degree_sort=degree_sort,
            memory_limit=memory_limit,
            spill=spill,
        )

    def bfs(self, sources: Any, **options: Any) -> Any:
        """Search breadth-first: options of `graph` and of `Graph.bfs`."""
        graph, question = self._split(options)
        return graph.bfs(sources, **question)

    def paths(self, sources: Any, targets: Any, **options: Any) -> Frame:
        """Shortest paths: options of `graph` and of `Graph.paths`."""
        graph, question = self._split(options)
        return graph.paths(sources, targets, **question)

    def khop(self, seeds: Any, k: int, **options: Any) -> Neighborhood:
        """The neighbourhood of some seeds: options of `graph` and of `Graph.khop`."""
        graph, question = self._split(options)
        return graph.khop(seeds, k, **question)

    def levels(self, sources: Any, **options: Any) -> Frame:
        """Vertices at each distance: options of `graph` and of `Graph.levels`."""
        graph, question = self._split(options)
        return graph.levels(sources, **question)

    def components(self, **options: Any) -> Any:
        """Weakly connected components: options of `graph` and of `Graph.components`."""
        graph, question = self._split(options)
        return graph.components(**question)

    def sssp(self, sources: Any, **options: Any) -> Any:
        """Shortest paths by weight: options of `graph` and of `Graph.sssp`."""
        graph, question = self._split(options)
        return graph.sssp(sources, **question)

    def pagerank(self, alpha: float = 0.85, **options: Any) -> Any:
        """PageRank: options of `graph` and of `Graph.pagerank`."""
        graph, question = self._split(options)
        return graph.pagerank(alpha, **question)

    def run(self, program: Program, **options: Any) -> Any:
        """Run a vertex program: options of `graph` and of `Graph.run`."""
        graph, question = self._split(options)
        return graph.run(program, **question)

    def _split(self, options: dict[str, Any]) -> tuple[Graph, dict[str, Any]]:
        """The graph that the options describe, and the options that are left for the question."""
        built = {name: options.pop(name) for name in BUILDING if name in options}
        return self.graph(**built), options


def register() -> None:
    """Register `.trav` on the frames of pandas, and on those of cuDF and Dask once they are imported."""
    register_dataframe_accessor("trav")(TravAccessor)
    after_import(proxies.WRAPPERS, _register_proxies)
    after_import("cudf", _register_cudf)
    after_import("dask.dataframe", _register_dask)
    proxies.stay_outside()


def _register_proxies() -> None:
    # Else a proxy would hand over to the accessor of the frame that it holds, and results be of cuDF.
    from cudf.pandas._wrappers.pandas import DataFrame

    DataFrame.trav = pd.DataFrame.__dict__["trav"]


def _register_cudf() -> None:
    from cudf.api.extensions import register_dataframe_accessor

    register_dataframe_accessor("trav")(TravAccessor)


def _register_dask() -> None:
    # A dask_cudf frame is a Dask frame, and inherits the accessor.
    from dask.dataframe.extensions import register_dataframe_accessor

    register_dataframe_accessor("trav")(TravAccessor)
