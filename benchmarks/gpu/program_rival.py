"""cuGraph's counterparts of this package's vertex programs."""

from __future__ import annotations

from functools import cached_property
from typing import Any

ALPHA = 0.85


class CuGraph:
    """cuGraph's functions on the graphs that they prefer, each built at first use."""

    def __init__(self, edges: Any, directed: bool) -> None:
        self._edges, self._directed = edges.assign(one=1.0), directed

    def _graph(self, directed: bool, weight: str | None = None, transposed: bool = False) -> Any:
        import cugraph

        graph = cugraph.Graph(directed=directed)
        graph.from_cudf_edgelist(
            self._edges, source="src", destination="dst", weight=weight, store_transposed=transposed
        )
        return graph

    @cached_property
    def _transposed(self) -> dict[str, Any]:
        """Transposed graphs by the type of the ranks."""
        return {
            "float32": self._graph(self._directed, transposed=True),
            "float64": self._graph(self._directed, weight="one", transposed=True),
        }

    @cached_property
    def _undirected(self) -> Any:
        return self._graph(directed=False)

    @cached_property
    def _weighted(self) -> Any:
        return self._graph(self._directed, weight="weight")

    def pagerank(self, dtype: str, tolerance: float, most: int) -> tuple[Any, bool]:
        """Return the ranks, and whether they took fewer than `most` iterations."""
        import cugraph

        graph = self._transposed[dtype]
        return cugraph.pagerank(graph, ALPHA, max_iter=most, tol=tolerance, fail_on_nonconvergence=False)

    def components(self) -> Any:
        import cugraph

        return cugraph.weakly_connected_components(self._undirected)

    def sssp(self, source: int) -> Any:
        import cugraph

        return cugraph.sssp(self._weighted, source)
