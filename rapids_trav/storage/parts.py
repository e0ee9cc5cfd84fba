"""The parts of a graph."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from rapids_trav.ids.maps import IdMap
from rapids_trav.storage.edge_rows import PairReader
from rapids_trav.storage.in_memory import InMemory


@dataclass(frozen=True)
class GraphParts:
    """Parts of a graph, built from its edges or read from a folder, from which `Graph` is made.

    Attributes
    ----------
    rows : PairReader
        Reader of the caller's edges.
    ids : IdMap
    storage : InMemory
        Storage of the adjacencies.
    n_edges : int
    directed : bool
    weight : hashable or None
        Column of the weights.
    build_times : dict of str to float
        Seconds by phase.
    """

    rows: PairReader
    ids: IdMap
    storage: InMemory
    n_edges: int
    directed: bool
    weight: Hashable | None
    build_times: dict[str, float]
