"""Attributes of `Graph`, which come from the place where it lives and is asked (`Questions`)."""

from __future__ import annotations

from collections.abc import Hashable

from rapids_trav.algorithms.results import LocalValues
from rapids_trav.distributed.questions import DistributedQuestions
from rapids_trav.engines.interface import Engine
from rapids_trav.errors import TravError
from rapids_trav.graph.local import ClosedQuestions, LocalGraph
from rapids_trav.ids.maps import IdMap
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.edge_rows import RowReader
from rapids_trav.storage.in_memory import InMemory

Questions = LocalGraph | DistributedQuestions | ClosedQuestions  # the place where a graph is asked


class GraphProperties:
    """Base class of `Graph`, with the attributes that it reads from its `questions`."""

    questions: Questions

    @property
    def n_vertices(self) -> int:
        return self.questions.n_vertices

    @property
    def n_edges(self) -> int:
        return self.questions.n_edges

    @property
    def directed(self) -> bool:
        return self.questions.directed

    @property
    def weight(self) -> Hashable | None:
        return self.questions.weight

    @property
    def build_times(self) -> dict[str, float]:
        return self.questions.build_times

    @property
    def engine(self) -> Engine:
        return self.questions.engine

    @property
    def budget(self) -> Budget | None:
        """The memory limit, with the bytes in use and their peak; None without a limit."""
        return self.questions.budget

    @property
    def frame_library(self) -> str:
        """Name of the library of the answers: "pandas", "cudf", "polars" or "pyarrow"."""
        return self.questions.frame_library

    @property
    def edge_columns(self) -> list[Hashable]:
        """Columns of the edge list, each addressable by its name (`where`, `weight`, the edges of `khop`)."""
        return self.questions.edge_columns

    @property
    def contents(self) -> LocalGraph:
        """Ids and edges of a graph in this process, with the interface that algorithms use."""
        if not isinstance(self.questions, LocalGraph):
            raise TravError(
                f"The graph's ids and edges are not in this process ({self.questions.location}): ask its "
                f"questions, or compute the edges into this process and build the graph of them."
            )
        return self.questions

    @property
    def rows(self) -> RowReader:
        """Reader of the caller's edges."""
        return self.contents.rows

    @property
    def ids(self) -> IdMap:
        """Map between the caller's ids and the internal ids."""
        return self.contents.ids

    @property
    def storage(self) -> InMemory:
        """Storage of the adjacencies."""
        return self.contents.storage

    @property
    def values(self) -> LocalValues:
        """Operations on the values of all vertices."""
        return self.contents.values
