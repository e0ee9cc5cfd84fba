"""Vertex ids of a saved graph, stored in ascending order and in the types of the answers.

Opening a graph builds the id map again from the stored ids.  Consecutive integers are stored as two numbers.
Categoricals are saved as codes, with the categories in a separate file, since Parquet keeps neither unused
categories nor their order.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.csr.adjacency import Array
from rapids_trav.errors import TravError, first_line, written
from rapids_trav.frames.columns import Dtype, move
from rapids_trav.ids.degree_order import ReorderedIds
from rapids_trav.ids.maps import IdMap, Library, RangeIds
from rapids_trav.ids.renumber import renumber
from rapids_trav.saved.folder import GraphFolder
from rapids_trav.saved.head import RangeEntry, TableEntry, damaged

ARROW = "[pyarrow]"  # suffix of the names of Arrow dtypes in pandas


def describe(ids: IdMap, library: Library) -> tuple[dict[str, Any], dict[str, pa.Table], dict[str, Any]]:
    """Return the stored form of the ids: an entry of `graph.json`, tables, and arrays."""
    arrays = {} if ids.order is None else {"order": ids.order}
    base = ids.ascending
    if type(base) is RangeIds and isinstance(base.dtype, np.dtype):  # not a part of one, of a rank
        kind = {"kind": "range", "first": base.first, "dtype": base.dtype.name}
        return kind | {"integers": base.integer_dtype.name}, {}, arrays
    names = [f"vertex_{i}" for i in range(base.width)]
    frame = library.frame(dict(zip(names, base.decode(None), strict=True)))
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    for name in names:
        if frame[name].dtype == object and pd.api.types.infer_dtype(frame[name]) == "mixed":
            raise TravError(
                f"Ids of Python objects ({written(frame[name].iloc[0])}) cannot be saved: make them strings "
                f"or several columns, and build the graph of those."
            )
    dtypes = [_dtype_name(frame[name].dtype) for name in names]
    tables, ordered = {}, {}
    for i, name in enumerate(names):
        if isinstance(dtype := frame[name].dtype, pd.CategoricalDtype):
            tables[f"categories_{i}"] = _table(pd.DataFrame({"category": dtype.categories}), "categories")
            ordered[str(i)] = bool(dtype.ordered)
            frame[name] = frame[name].cat.codes
    tables["ids"] = _table(frame, "vertex ids")
    entry = {"kind": "table", "columns": base.width, "ordered": ordered}
    return entry | {"library": library.name, "dtypes": dtypes}, tables, arrays


def restore(folder: GraphFolder, library: Library, xp: ModuleType) -> IdMap:
    """Return the id map of a saved graph."""
    entry, n = folder.head.ids, folder.head.n_vertices
    ids: IdMap
    if isinstance(entry, RangeEntry):
        ids = RangeIds(entry.first, n, entry.integers, entry.dtype, library, xp)
    else:
        ids = _map_of_table(folder, entry, library, xp)
    if folder.has("order.npy"):
        ids = ReorderedIds.of(ids, _permutation(folder, xp), xp)
    return ids


def _map_of_table(folder: GraphFolder, entry: TableEntry, library: Library, xp: ModuleType) -> IdMap:
    """Return the id map of a table of distinct ids in ascending order."""
    n, width = folder.head.n_vertices, len(entry.dtypes)
    table = folder.table("ids", [f"vertex_{i}" for i in range(width)], n)
    categories = {i: folder.table(f"categories_{i}", ["category"]) for i in entry.ordered}
    try:
        columns = columns_of(table, categories, entry)
        named = [(f"vertex_{i}", library.column(column)) for i, column in enumerate(columns)]
        ids, codes = renumber([named], width, library, xp)
        place = move(codes(0), xp)
        found = [_dtype_name(column.dtype) for column in columns] == list(entry.dtypes)
        if not (found and ids.n == len(place) == n and bool((place == xp.arange(n)).all())):
            raise ValueError("they are not as many as the vertices, distinct, ascending and of their types")
    except MemoryError:
        raise
    except Exception as error:  # for a manipulated table, pandas may raise any exception
        raise damaged(
            folder.path / "ids.parquet", f"does not hold the ids of the graph ({first_line(error)})"
        ) from error
    return ids


def columns_of(table: pa.Table, categories: dict[int, pa.Table], entry: TableEntry) -> list[pd.Series]:
    """Return the ids of a table as columns in their original types."""
    columns = []
    for i, dtype in enumerate(entry.dtypes):
        if i in categories:
            index = pd.Index(_categories(categories[i]).rename(None))
            codes = table.column(f"vertex_{i}").to_numpy()
            column = pd.Series(pd.Categorical.from_codes(codes, index, ordered=entry.ordered[i]))
        elif dtype.endswith(ARROW):
            column = _arrow_column(table, f"vertex_{i}", dtype)
        else:
            # Convert single columns: the pandas metadata of the table may hold parameters of other columns'
            # types that pandas refuses.
            column = table.column(f"vertex_{i}").to_pandas().reset_index(drop=True)
            if _dtype_name(column.dtype) != dtype:
                # Parquet returns some types, such as Python objects, as types of its own.
                column = column.astype(pd.StringDtype("pyarrow") if dtype == "string" else dtype)
        columns.append(column)
    return columns


def _categories(table: pa.Table) -> pd.Series:
    (described,) = (table.schema.pandas_metadata or {}).get("columns") or [{}]
    dtype = str(described.get("numpy_type"))
    if dtype.endswith(ARROW):
        return _arrow_column(table, "category", dtype)
    column = table.to_pandas()["category"]
    if column.dtype.kind in "mM":  # Parquet does not keep every time unit, for example seconds
        column = column.dt.as_unit(np.datetime_data(np.dtype(dtype))[0])
    return column


def _arrow_column(table: pa.Table, name: str, dtype: str) -> pd.Series:
    """Return a column in the Arrow type of the file, since pandas cannot parse all names of Arrow types."""
    column = pd.Series(pd.arrays.ArrowExtensionArray(table.column(name)))
    # Parquet returns a few types as others; pandas can parse the names of those.
    return column if str(column.dtype) == dtype else column.astype(dtype)


def _dtype_name(dtype: Dtype) -> str:
    """Return the name of a dtype in `graph.json`; "string" alone stands for strings backed by Arrow."""
    python = isinstance(dtype, pd.StringDtype) and dtype.storage == "python" and dtype.na_value is pd.NA
    return "string[python]" if python else str(dtype)


def _permutation(folder: GraphFolder, xp: ModuleType) -> Array:
    """Return the order of the vertices, after checking that it is a permutation."""
    n, order = folder.head.n_vertices, xp.asarray(folder.vertices("order"))
    seen = xp.zeros(len(order), dtype=bool)
    if len(order) == n:
        seen[order] = True
    if not bool(seen.all()) or len(order) != n:
        raise damaged(folder.path / "order.npy", f"does not hold each of the {n:,} vertices once")
    return order


def _table(frame: pd.DataFrame, what: str) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except UnicodeEncodeError as error:
        raise TravError(
            f"The {what} cannot be saved as Parquet, which holds no lone surrogates "
            f"({written(error.object)}): replace them, for example with str.encode('utf-8', "
            f"'replace').str.decode('utf-8')."
        ) from error
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise TravError(
            f"The {what} cannot be saved as Parquet ({error}): build the graph over ids of another type, for "
            f"example with astype(str)."
        ) from error
