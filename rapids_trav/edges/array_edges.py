"""Edges given as arrays: pairs of arrays, and sparse matrices of SciPy."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError, a_type, first_line, type_name
from rapids_trav.frames.columns import Array, Dtype, Frame, Values, library_of
from rapids_trav.frames.decimals import with_sums
from rapids_trav.frames.forms import ArrowForm, Form, PolarsForm
from rapids_trav.frames.libraries import PandasFrames

FORMS: dict[str, Form] = {"polars": PolarsForm(), "pyarrow": ArrowForm()}
NAMES = ("src", "dst", "weight")  # columns of the frame made from arrays


class GraphDefaults(NamedTuple):
    """Defaults of the options of a graph, which depend on the kind of its edges."""

    directed: bool = False
    weight: Hashable | None = None
    vertices: Array | None = None  # vertices that the graph has in any case


class ArrayFrames(PandasFrames):
    """The operations on pandas for arrays, which lack its methods; `weight` is the expression for weights."""

    def __init__(self, weight: str | None) -> None:
        self._weight = weight

    def without_nulls(self, name: Hashable, dtype: Dtype) -> str:
        return f"tuple(array[pandas.notna(edges[{NAMES.index(str(name))}])] for array in edges)"

    def remedy(self, call: str) -> str:
        if call == "fillna(0.0)" and self._weight is not None:
            return f"{self._weight}[numpy.isnan({self._weight})] = 0"
        return call


class Table(NamedTuple):
    """Arrays as a frame of a library or form; `operations` are those on it, if not the usual ones."""

    frame: Frame
    kind: str | Form
    defaults: GraphDefaults
    operations: ArrayFrames | None = None


def table_of(edges: Values) -> Table | None:
    """Return a sparse matrix of SciPy, or a tuple of arrays, as a frame; None for anything else."""
    sparse = sys.modules.get("scipy.sparse")  # whose matrices exist only once it was imported
    if sparse is not None and sparse.issparse(edges):
        return _of_matrix(edges)
    if isinstance(edges, tuple) and any(map(is_array, edges)):
        return _of_arrays(edges)
    if column := library_of(edges, ("Series", "Index")):
        raise TravError(
            f"edges is {a_type(edges)} of {column}, not a frame: give the frame that holds both "
            f"ends of the edges."
        )
    return None


def is_array(obj: object) -> bool:
    """Return whether this is an array or a column: of NumPy, CuPy or a frame library."""
    return _kind(obj) is not None


def _of_arrays(arrays: Sequence[Values]) -> Table:
    """Return the ends of the edges, and perhaps weights, as columns; neither copied nor aligned."""
    kinds = [_kind(array) for array in arrays]
    if len(arrays) not in (2, 3) or None in kinds:
        other = next((array for array in arrays if not is_array(array)), None)
        count = "1 array" if len(arrays) == 1 else f"{len(arrays)} arrays"
        holds = count if other is None else f"an object of type {type_name(other)}"
        raise TravError(
            f"edges is a tuple that holds {holds}: give two arrays, the ends of the edges, or three, the "
            f"ends and the weights."
        )
    for name, array in zip(NAMES, arrays, strict=False):
        if getattr(array, "ndim", 1) != 1:
            raise TravError(
                f"The array of {name} has {array.ndim} dimensions: give one dimension, a value for each edge."
            )
    lengths = [len(array) for array in arrays]
    if len(set(lengths)) > 1:
        listed = ", ".join(f"{name} {length}" for name, length in zip(NAMES, lengths, strict=False))
        raise TravError(
            f"The arrays of the edges have different lengths ({listed}): give each edge one value in each."
        )
    others = [kind for kind in kinds if kind is not None and kind not in ("numpy", "pandas")]
    kind = others[0] if others else "pandas"
    frame = _frame(dict(zip(NAMES, arrays, strict=False)), kind)
    defaults = GraphDefaults(weight="weight" if len(arrays) == 3 else None)
    weight = "weight" if isinstance(arrays[-1], np.ndarray) else None
    return Table(frame, FORMS.get(kind, kind), defaults, None if others else ArrayFrames(weight))


def _of_matrix(matrix: Values) -> Table:
    """Return a square matrix as columns, with an edge from the row to the column of each stored entry.

    As in `scipy.sparse.csgraph`, the graph is directed and the entries are its weights; a boolean matrix
    gives no weights.  Entries that are stored several times are added, in int64 or float64; stored zeros are
    edges.  All rows are vertices.
    """
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise TravError(
            f"The {type(matrix).__name__} has the shape {' by '.join(map(str, matrix.shape))}, and an "
            f"adjacency matrix has a row and a column for each vertex: give a square one."
        )
    entries = _entries(matrix)
    if not getattr(matrix, "has_canonical_format", True):
        entries = with_sums(entries)
    columns = {"src": entries.row, "dst": entries.col}
    weighted = entries.dtype.kind != "b"
    if weighted:
        columns["weight"] = entries.data
    vertices = np.arange(matrix.shape[0], dtype=entries.row.dtype)
    defaults = GraphDefaults(directed=True, weight="weight" if weighted else None, vertices=vertices)
    return Table(_frame(columns, "pandas"), "pandas", defaults, ArrayFrames("matrix.data"))


def _entries(matrix: Values) -> Values:
    """Return a matrix in coordinates, whose indices SciPy's loops do not check but this does."""
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)
        entries = matrix.tocoo()
        return type(entries)((entries.data, (entries.row, entries.col)), shape=matrix.shape)  # checks them
    except ValueError as error:
        raise TravError(
            f"The arrays of the {type(matrix).__name__} do not fit together ({first_line(error)}): make the "
            f"matrix anew."
        ) from error


def _kind(obj: object) -> str | None:
    """Return the library of an array or column."""
    if isinstance(obj, np.ndarray):
        return "numpy"
    if isinstance(obj, (pa.Array, pa.ChunkedArray)):
        return "pyarrow"
    if found := library_of(obj, ("Series", "Index", "ExtensionArray")):
        return found if found != "dask" else None
    module = type(obj).__module__.partition(".")[0]
    if module == "cupy" and type(obj).__name__ == "ndarray":
        return "cudf"
    return "polars" if module == "polars" and type(obj).__name__ == "Series" else None


def _frame(columns: dict[str, Values], kind: str) -> Frame:
    if kind == "polars":
        import polars

        return polars.DataFrame(columns)
    if kind == "pyarrow":
        return pa.table(columns)
    if kind == "cudf":
        import cudf

        bare = {name: cudf.Series(column).reset_index(drop=True) for name, column in columns.items()}
        return cudf.DataFrame(bare)
    bare = {name: getattr(column, "array", column) for name, column in columns.items()}  # without an index
    try:
        return pd.DataFrame(bare, copy=False)
    except UnicodeEncodeError:  # a string with a lone surrogate, which only columns of objects hold
        objects = (name for name, values in bare.items() if values.dtype.kind in "OU")
        return pd.DataFrame(
            bare | {name: pd.Series(bare[name], dtype=object) for name in objects}, copy=False
        )
