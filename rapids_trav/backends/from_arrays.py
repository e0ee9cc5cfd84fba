"""Source of rows that were made from arrays: the columns of a frame, or the result of a search."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

import numpy as np

from rapids_trav.backends.kernels.insertion import transposed_rows
from rapids_trav.backends.structure import Dicts, Reduce, Rows, Structure, Weights, checked, numbers
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import aside


@dataclass
class ArraySource:
    """Attributes of edges as arrays, with one value for each column of the rows.

    Attributes
    ----------
    values : mapping of array
        One array for each attribute, of objects unless `tolist` returns NetworkX's values.
    predecessors : callable, optional
        Returns the rows of incoming edges in the order in which the edges were added.  By default the edges
        count as added row by row.
    """

    values: Mapping[Hashable, Array] = field(default_factory=dict)
    predecessors: Callable[[], Rows] | None = None

    def incoming(self, structure: Structure) -> Rows:
        if self.predecessors is not None:
            return self.predecessors()
        work = structure.n + len(structure.rows.columns)
        return Rows(*aside(work, transposed_rows, *structure.rows)[:2])

    def weights(self, structure: Structure, attribute: Hashable, default: object, reduce: Reduce) -> Weights:
        if attribute in self.values:
            values = self.values[attribute]
            return numbers(values.tolist(), reduce) if values.dtype == object else Weights(checked(values))
        return Weights(checked(np.full(len(structure.rows.columns), default)))

    def dicts(self, structure: Structure) -> Dicts:
        names = list(structure.nodes)
        offsets, columns = structure.rows.offsets.tolist(), structure.rows.columns.tolist()
        attributes = list(self.values)
        data = list(zip(*(values.tolist() for values in self.values.values()), strict=True))
        adj: dict[Hashable, dict] = {}
        rows: list[dict] = []
        for u in range(len(names)):
            row = {}
            for e in range(offsets[u], offsets[u + 1]):
                v = columns[e]
                if v < u and not structure.directed:
                    row[names[v]] = rows[v][names[u]]
                else:
                    row[names[v]] = dict(zip(attributes, data[e], strict=True)) if data else {}
            adj[names[u]] = row
            rows.append(row)
        pred = None
        if structure.directed:
            ends, sources = structure.incoming.offsets.tolist(), structure.incoming.columns.tolist()
            pred = {
                name: {names[u]: rows[u][name] for u in sources[ends[v] : ends[v + 1]]}
                for v, name in enumerate(names)
            }
        return Dicts({name: {} for name in names}, adj, pred)
