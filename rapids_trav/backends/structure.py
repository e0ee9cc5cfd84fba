"""Compressed rows of a backend graph, with the vertices numbered in NetworkX's order of nodes.

Rows keep the order of NetworkX's dicts, because the order of a search is the order of these rows.  A `Source`
represents the origin of the rows and supplies later on, if needed, rows of incoming edges, weights, and the
dicts of a NetworkX graph.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from rapids_trav.backends.kernels.insertion import transposed_rows
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import aside

Graph: TypeAlias = Any  # a graph of NetworkX or of the backend
Value: TypeAlias = Any  # an argument or a result: NetworkX checks few of them
Arguments: TypeAlias = dict[str, Value]


Node = Hashable
Reduce = Literal["sum", "min"]  # how the weights of parallel edges are combined


class Rows(NamedTuple):
    """Compressed rows: int64 offsets (n + 1,) and vertices (m,)."""

    offsets: Array
    columns: Array


class Weights(NamedTuple):
    """Weights of columns, int64 or float64; `whole` says which of them are integers if only some are."""

    values: Array
    whole: Array | None = None


class Dicts(NamedTuple):
    """Dicts of a NetworkX graph: attributes of nodes, successors and, if it is directed, predecessors."""

    node: Mapping[Node, Mapping]
    adj: Mapping[Node, Mapping]
    pred: Mapping[Node, Mapping] | None


class Source(Protocol):
    """Origin of rows, which supplies incoming edges, weights and dicts on demand."""

    def incoming(self, structure: Structure) -> Rows:
        """Return the rows of incoming edges of a directed graph, in NetworkX's order of predecessors."""

    def weights(self, structure: Structure, attribute: Hashable, default: object, reduce: Reduce) -> Weights:
        """Return the weight of each column of `structure.rows`.

        Raises NotImplementedError if they are not all numbers that such an array holds exactly.
        """

    def dicts(self, structure: Structure) -> Dicts:
        """Return new dicts, which share no dict with the source."""


@dataclass
class Structure:
    """Topology of a graph, and what has been derived from it."""

    nodes: Sequence[Node]  # NetworkX's, in its order
    # Neighbours, or successors, in NetworkX's order; an undirected edge is in the rows of both ends, a
    # self-loop once.
    rows: Rows
    directed: bool
    multigraph: bool
    source: Source
    _weights: dict[tuple, Weights] = field(default_factory=dict)
    _sought: bool = False  # whether a node has been looked for

    @property
    def n(self) -> int:
        return len(self.nodes)

    @cached_property
    def index(self) -> Mapping[Node, int]:
        """The number of each node."""
        return dict(zip(self.nodes, range(self.n), strict=True))

    @cached_property
    def names(self) -> Array:
        """The nodes as an array of Python objects."""
        names = np.empty(self.n, object)
        names[:] = self.nodes if isinstance(self.nodes, list) else list(self.nodes)
        return names

    def find(self, node: object) -> int | None:
        """Return the number of a node, or None."""
        try:
            hash(node)
        except TypeError:  # an object that cannot be hashed is not a node
            return None
        if self._sought or "index" in self.__dict__:
            return self.index.get(node)
        self._sought = True  # many graphs are asked once, for which a look at the nodes takes less time
        with suppress(ValueError):
            return self.nodes.index(node)
        return None

    def named(self, vertices: Array) -> list:
        """Return the nodes with these numbers."""
        return self.names[vertices].tolist()

    @cached_property
    def incoming(self) -> Rows:
        """The rows of incoming edges."""
        return self.source.incoming(self) if self.directed else self.rows

    @cached_property
    def transpose(self) -> tuple[Rows, Array | None]:
        """Rows of incoming edges in any order, and the position of each edge in `rows.columns`.

        For an undirected graph they are the rows themselves and None.
        """
        if not self.directed:
            return self.rows, None
        work = self.n + len(self.rows.columns)
        offsets, sources, edges = aside(work, transposed_rows, *self.rows)
        return Rows(offsets, sources), edges

    @property
    def knows_incoming(self) -> bool:
        """Whether the rows of incoming edges are available already."""
        return not self.directed or "incoming" in self.__dict__

    def read(self, reverse: bool) -> tuple[Rows, Rows]:
        """Return the rows to follow and their transpose."""
        return (self.incoming, self.rows) if reverse else (self.rows, self.incoming)

    def weights(self, attribute: Hashable, default: object = 1, reduce: Reduce = "min") -> Weights | None:
        """Return the weights of the columns, which are cached; None if each of them is 1.

        Each weight is 1 if `attribute` is None, but the sum over parallel edges is their number.
        """
        if attribute is None and not (self.multigraph and reduce == "sum"):
            return None
        least = (attribute, default, "min")
        if not self.multigraph and least in self._weights:  # nothing to combine, and "min" takes fewer types
            return self._weights[least]
        key = (attribute, default, reduce)
        if key not in self._weights:
            self._weights[key] = self.source.weights(self, attribute, default, reduce)
        return self._weights[key]


def numbers(values: Iterable[object], reduce: Reduce) -> Weights:
    """Return weights.

    Raise NotImplementedError if they are not numbers that int64 or float64 hold.  Distances, for which
    `reduce` is "min", are sums of the caller's objects, which round and overflow as those do: a narrower type
    of NumPy is refused.
    """
    taken = list(values)
    kinds = set(map(type, taken))
    if not all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
        raise NotImplementedError("a weight is not an integer or a float")
    whole = all(issubclass(kind, (int, np.integer)) for kind in kinds)
    if reduce == "min" and not all(issubclass(kind, (int, float, np.int64)) for kind in kinds):
        raise NotImplementedError("a weight is of a type of NumPy that is neither int64 nor float64")
    try:
        array = np.array(taken, dtype=np.int64 if whole else np.float64)
    except OverflowError as error:
        raise NotImplementedError("a weight does not fit 64 bits") from error
    weights = checked(array)
    if reduce == "sum" or whole or not any(issubclass(kind, (int, np.integer)) for kind in kinds):
        return Weights(weights)
    integers = np.fromiter((isinstance(value, (int, np.integer)) for value in taken), bool, len(taken))
    if np.abs(weights[integers]).max() > (1 << 53) // len(weights):
        raise NotImplementedError("sums of the integers among the weights may not fit a float")
    return Weights(weights, integers)


def checked(array: Array) -> Array:
    """Return weights as int64 or float64.

    Raise NotImplementedError if they are not numbers, include NaN, or if sums of integer weights along a path
    may not fit 64 bits.
    """
    if array.dtype.kind in "bui":
        largest = max(abs(int(array.max())), abs(int(array.min()))) if len(array) else 0
        if largest > (1 << 62) // max(len(array), 1):
            raise NotImplementedError("sums of the weights may not fit 64 bits")
        return array.astype(np.int64, copy=False)
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        raise NotImplementedError(f"weights of type {array.dtype} are not integers or floats of 64 bits")
    array = array.astype(np.float64, copy=False)
    if np.isnan(array).any():
        raise NotImplementedError("a weight is NaN")
    return array


def index_dtype(n: int) -> Value:
    """Return the dtype of the vertices of a graph of n vertices."""
    return np.int32 if n < 2**31 else np.int64
