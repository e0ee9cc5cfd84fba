"""Conversion of the columns of a frame to rows, for `from_pandas_edgelist`."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import chain, pairwise

import numpy as np
import pandas as pd

from rapids_trav.backends.from_arrays import ArraySource
from rapids_trav.backends.kernels.insertion import (
    count_edges,
    drop_repeated,
    number_ends,
    pack_rows,
    place_edges,
)
from rapids_trav.backends.networkx_types import Value
from rapids_trav.backends.structure import Rows, Structure, index_dtype
from rapids_trav.csr.adjacency import Array
from rapids_trav.jit.kernels import SHORT, Threads

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
