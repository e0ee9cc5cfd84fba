"""Rows of a backend graph from what a caller has: columns of a frame, arrays, or NetworkX's dicts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np
import pandas as pd

from rapids_trav.backends.kernels.insertion import (
    count_edges,
    drop_repeated,
    number_ends,
    pack_rows,
    place_edges,
    transposed_rows,
)
from rapids_trav.backends.structure import (
    Dicts,
    Node,
    Reduce,
    Rows,
    Structure,
    Value,
    Weights,
    checked,
    index_dtype,
    numbers,
)
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import SHORT, Threads, aside


@dataclass
class ArraySource:
    """Attributes of edges as arrays, with one value for each column of the rows."""

    # Of each attribute, of objects unless `tolist` returns NetworkX's values.
    values: Mapping[Hashable, Array] = field(default_factory=dict)
    # Rows of incoming edges in the order in which the edges were added; by default, row by row.
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


FEW = 1 << 16  # number of edges up to which one thread is enough


def structure_of_frame(
    frame: pd.DataFrame, source: Hashable, target: Hashable, attributes: list[Hashable], directed: bool
) -> Structure | None:
    """Return the structure that NetworkX's loop over the rows would make; None if only that loop can."""
    if not isinstance(frame, pd.DataFrame) or not frame.columns.is_unique:
        return None
    if len(set(attributes)) < len(attributes) or any(c not in frame for c in (source, target, *attributes)):
        return None
    ends = numbered(frame[source], frame[target])
    if ends is None:
        return None
    src, dst, nodes = ends
    offsets, columns, rows = insertion_rows(src, dst, len(nodes), not directed, bool(attributes))
    values = {name: _attributes(frame[name])[rows] for name in attributes}
    predecessors = None
    if directed:

        def predecessors() -> Rows:
            return Rows(*insertion_rows(dst, src, len(nodes), False, False)[:2])

    return Structure(
        nodes.tolist(), Rows(offsets, columns), directed, False, ArraySource(values, predecessors)
    )


def numbered(source: pd.Series, target: pd.Series) -> tuple[Array, Array, Array] | None:
    """Return both columns as numbers by first appearance, and the values; None for other types.

    The columns have to be of one plain type without nulls, in which every node has one representation.  In
    mixed columns 1, 1.0 and True are one node, of which NetworkX keeps the first.
    """
    kinds = {_kind(source), _kind(target)}
    if len(kinds) != 1 or kinds == {None}:
        return None
    src, dst = source.to_numpy(), target.to_numpy()
    if kinds == {"integer"}:
        common = np.result_type(src, dst)
        if common.kind == "f":  # int64 together with uint64
            return None
        src, dst = src.astype(common, copy=False), dst.astype(common, copy=False)
        if (dense := _numbered_densely(src, dst)) is not None:
            return dense
    both = np.empty(2 * len(src), src.dtype if kinds == {"integer"} else object)
    both[0::2], both[1::2] = src, dst
    codes, values = pd.factorize(both)
    if len(codes) and codes.min() < 0:  # a null; kernels do not check the bounds of their arrays
        return None
    codes = codes.astype(index_dtype(len(values)), copy=False)
    return codes[0::2], codes[1::2], values


def _kind(column: pd.Series) -> str | None:
    dtype: Value = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iu":
        return "integer"
    if dtype == np.dtype(object) or isinstance(dtype, pd.StringDtype):
        return "text" if pd.api.types.infer_dtype(column, skipna=False) == "string" else None
    return None


def _attributes(column: pd.Series) -> Array:
    """Return the values that NetworkX finds in a column by iterating over it: numbers, or objects."""
    dtype: Value = column.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcO":
        return column.to_numpy()
    if isinstance(dtype, pd.ArrowDtype) and dtype.kind in "iuf" and not column.hasnans:
        return column.to_numpy()
    return np.fromiter(column, object, len(column))


def _numbered_densely(src: Array, dst: Array) -> tuple[Array, Array, Array] | None:
    """Return the result of `numbered` by a table over the range of the ids.

    Return None if the range is too large for the number of edges.
    """
    if len(src) == 0:
        return None
    first, last = (int(f(g(src), g(dst))) for f, g in ((min, np.min), (max, np.max)))
    if last - first >= 4 * len(src) + 1024 or last >= 2**62 or first < -(2**62):
        return None
    if src.dtype not in (np.int32, np.int64):  # the dtypes that the kernel is compiled for
        src, dst = src.astype(np.int64), dst.astype(np.int64)
    length = last - first + 1
    dtype = index_dtype(length)
    table = np.full(length, -1, dtype)
    codes_src, codes_dst = np.empty(len(src), dtype), np.empty(len(src), dtype)
    values = np.empty(min(length, 2 * len(src)), np.int64)
    n = number_ends(src, dst, first, table, codes_src, codes_dst, values)
    return codes_src, codes_dst, values[:n]


def insertion_rows(
    src: Array, dst: Array, n: int, symmetric: bool, keep_rows: bool
) -> tuple[Array, Array, Array]:
    """Return the offsets and columns of the rows, and the last row of the edge list for each column.

    The rows of the edge list are left out unless `keep_rows`.
    """
    with Threads() as team:
        parts = team.size if len(src) > FEW else 1
        cuts = [len(src) * i // parts for i in range(parts + 1)]
        ends = [(src[begin:end], dst[begin:end]) for begin, end in pairwise(cuts)]
        cursors = np.zeros((parts + 1, n), np.int64)
        _at_once(team, parts, len(src), lambda i: count_edges(*ends[i], symmetric, cursors[i + 1]))
        offsets = np.zeros(n + 1, np.int64)
        np.cumsum(cursors.sum(axis=0), out=offsets[1:])
        cursors[0] = offsets[:-1]
        np.cumsum(cursors, axis=0, out=cursors)
        columns = np.empty(offsets[-1], src.dtype)
        rows = np.empty(offsets[-1] if keep_rows else 0, np.int64)
        _at_once(
            team,
            parts,
            len(src),
            lambda i: place_edges(*ends[i], symmetric, cursors[i], columns, rows, cuts[i]),
        )
        kept = np.empty(n, np.int64)
        firsts = np.searchsorted(offsets, np.linspace(0, offsets[-1], parts + 1))
        firsts[0], firsts[-1] = 0, n
        dropped = _at_once(
            team,
            parts,
            len(src),
            lambda i: drop_repeated(offsets, columns, rows, kept, firsts[i], firsts[i + 1]),
        )
    if any(dropped):
        columns = pack_rows(offsets, kept, columns)
        rows = pack_rows(offsets, kept, rows) if keep_rows else rows
        np.cumsum(kept, out=offsets[1:])
    return offsets, columns, rows


def _at_once(team: Threads, parts: int, n_edges: int, work: Callable[[int], Value]) -> list:
    """Return the results of `work` for all parts of the edges, computed on as many threads."""

    def several(begin: int, end: int) -> list:
        return [work(i) for i in range(begin, end)]

    if n_edges > SHORT:  # the calling thread waits, so that an interrupt need not
        return list(chain.from_iterable(team.run_aside(several, parts, np.zeros(1, np.int64))))
    return list(chain.from_iterable(team.run(several, parts, grain=1)))


CHANGED = (
    "An edge of the graph leads to a node that it does not have, or the graph has changed since it was "
    "converted: convert it again."
)


@dataclass
class NetworkxSource:
    """Dicts of a NetworkX graph, which are read on demand and never changed."""

    held: Dicts
    multigraph: bool

    def incoming(self, structure: Structure) -> Rows:
        assert self.held.pred is not None
        rows = read_rows(self.held.pred, structure.nodes, structure.index)
        if len(rows.columns) != len(structure.rows.columns) or len(rows.offsets) != structure.n + 1:
            raise RuntimeError(CHANGED)
        return rows

    def weights(self, structure: Structure, attribute: Hashable, default: object, reduce: Reduce) -> Weights:
        parallel = list(chain.from_iterable(nbrs.values() for nbrs in self.held.adj.values()))
        if len(parallel) != len(structure.rows.columns):
            raise RuntimeError(CHANGED)
        if not self.multigraph:
            return numbers((data.get(attribute, default) for data in parallel), reduce)
        every = (data.get(attribute, default) for keys in parallel for data in keys.values())
        values, whole = numbers(every, reduce)
        counts = np.fromiter(map(len, parallel), np.int64, len(parallel))
        if len(values) == len(parallel):
            return Weights(values, whole)
        starts = np.cumsum(counts) - counts
        combined = (np.add if reduce == "sum" else np.minimum).reduceat(values, starts)
        if whole is None:
            return Weights(combined)
        group = np.repeat(np.arange(len(parallel)), counts)
        least = np.flatnonzero(values == combined[group])  # of equal ones Python takes the first
        return Weights(combined, whole[least[np.unique(group[least], return_index=True)[1]]])

    def dicts(self, structure: Structure) -> Dicts:
        return copied(self.held, self.multigraph)


def structure_of_dicts(held: Dicts, multigraph: bool) -> Structure:
    """Return the structure of a graph with these dicts."""
    nodes = list(held.adj)
    if set(map(type, nodes)) == {int} and (compact := _compact(nodes)) is not None:
        nodes = compact
    index = dict(zip(nodes, range(len(nodes)), strict=True))
    source = NetworkxSource(held, multigraph)
    rows = read_rows(held.adj, nodes, index)
    structure = Structure(nodes, rows, held.pred is not None, multigraph, source)
    structure.__dict__["index"] = index
    return structure


def _compact(nodes: list) -> list | None:
    """Return equal integers that are adjacent in memory, which makes dicts of them faster.

    Return None if one of them does not fit 64 bits.
    """
    try:
        return np.fromiter(nodes, np.int64, len(nodes)).tolist()
    except OverflowError:
        return None


def read_rows(adj: Mapping[Node, Mapping], nodes: Value, index: Mapping[Node, int]) -> Rows:
    """Return the compressed rows of a dict of dicts, in the order of the dicts."""
    n = len(nodes)
    offsets = np.zeros(n + 1, np.int64)
    rows: Collection[Collection[Node]] = adj.values()
    if set(map(type, rows)) != {dict}:
        rows = [list(nbrs) for nbrs in rows]  # the length of NetworkX's views may count edges that they hide
    np.cumsum(np.fromiter(map(len, rows), np.int64, n), out=offsets[1:])
    every: Iterable[Node] = chain.from_iterable(rows)
    m = int(offsets[-1])
    kinds = set(map(type, nodes))
    if kinds == {int} and min(nodes) >= 0 and max(nodes) < 4 * (n + 64):
        # Equal nodes are equal integers, so a table works, and it is faster than hashing each of them.
        taken = np.fromiter(every, np.int64, m)
        if m and not 0 <= int(taken.min()) <= int(taken.max()) <= max(nodes):
            raise RuntimeError(CHANGED)
        ids = np.fromiter(nodes, np.int64, n)
        if np.array_equal(ids, np.arange(n)):
            return Rows(offsets, taken.astype(index_dtype(n)))
        table = np.full(int(ids.max()) + 1, -1, index_dtype(n))
        table[ids] = np.arange(n)
        columns = table[taken]
        if m and int(columns.min()) < 0:
            raise RuntimeError(CHANGED)
        return Rows(offsets, columns)
    try:
        return Rows(offsets, np.fromiter(map(index.__getitem__, every), index_dtype(n), m))
    except KeyError as error:
        raise RuntimeError(CHANGED) from error


def copied(held: Dicts, multigraph: bool) -> Dicts:
    """Return a copy of the dicts down to the attributes; both ends of an edge share one dict."""
    node = {name: dict(data) for name, data in held.node.items()}
    adj: dict[Node, dict] = {name: {} for name in held.adj}

    def edge(data: Mapping) -> dict:
        return {key: dict(inner) for key, inner in data.items()} if multigraph else dict(data)

    if held.pred is None:
        for u, nbrs in held.adj.items():
            adj[u].update((v, adj[v][u] if u in adj[v] else edge(data)) for v, data in nbrs.items())
        return Dicts(node, adj, None)
    for u, nbrs in held.adj.items():
        adj[u].update((v, edge(data)) for v, data in nbrs.items())
    pred = {v: {u: adj[u][v] for u in nbrs} for v, nbrs in held.pred.items()}
    return Dicts(node, adj, pred)
