"""Vertex ids in a saved graph: as they are given back, in ascending order; their map is made of them again.

Consecutive integers are two numbers.  Categoricals are saved as their codes, with the categories apart, since
Parquet keeps neither unused ones nor their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.degree_order import DegreeOrderedIds
from rapids_trav.errors import TravError, written
from rapids_trav.ids import IdMap, Library, RangeIds
from rapids_trav.renumber import renumber

from .saved_folder import GraphFolder


def describe(ids: IdMap, library: Library) -> tuple[dict[str, Any], dict[str, pa.Table], dict[str, Any]]:
    """The ids as an entry of `graph.json`, as tables and as arrays."""
    arrays = {} if ids.order is None else {"order": ids.order}
    base = ids.ascending
    if isinstance(base, RangeIds) and isinstance(base.dtype, np.dtype):
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
    dtypes = [str(frame[name].dtype) for name in names]
    tables, ordered = {}, {}
    for i, name in enumerate(names):
        if isinstance(dtype := frame[name].dtype, pd.CategoricalDtype):
            tables[f"categories_{i}"] = _table(pd.DataFrame({"category": dtype.categories}), "categories")
            ordered[str(i)] = bool(dtype.ordered)
            frame[name] = frame[name].cat.codes
    tables["ids"] = _table(frame, "vertex ids")
    entry = {"kind": "table", "columns": base.width, "ordered": ordered}
    return entry | {"library": library.name, "dtypes": dtypes}, tables, arrays


def restore(folder: GraphFolder, library: Library, xp: Any) -> IdMap:
    """The map of the ids of a saved graph."""
    entry, n = folder.head["ids"], folder.head["n_vertices"]
    if entry["kind"] == "range":
        integers, dtype = np.dtype(entry["integers"]), np.dtype(entry["dtype"])
        ids: IdMap = RangeIds(entry["first"], n, integers, dtype, library, xp)
    else:
        columns = _columns(folder, entry)
        named = [(f"vertex_{i}", library.column(column)) for i, column in enumerate(columns)]
        ids, _ = renumber([named], len(named), library, xp)
    if ids.n != n:
        raise TravError(f"{folder.path} tells {n:,} vertices but {ids.n:,} ids: save the graph again.")
    if folder.has("order.npy"):
        ids = DegreeOrderedIds.of(ids, xp.asarray(folder.array("order")), xp)
    return ids


def _columns(folder: GraphFolder, entry: dict[str, Any]) -> list[pd.Series]:
    frame = folder.table("ids").to_pandas()
    columns = []
    for i, dtype in enumerate(entry["dtypes"]):
        column = frame[f"vertex_{i}"]
        if str(i) in entry["ordered"]:
            categories = folder.table(f"categories_{i}").to_pandas()["category"]
            categories = pd.Index(categories.rename(None))
            values = pd.Categorical.from_codes(column, categories, ordered=entry["ordered"][str(i)])
            column = pd.Series(values)
        elif str(column.dtype) != dtype:
            column = column.astype(dtype)  # Python objects, say, which Parquet gives back as its own types
        columns.append(column)
    return columns


def _table(frame: pd.DataFrame, what: str) -> pa.Table:
    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except UnicodeEncodeError as error:
        raise TravError(
            f"The {what} cannot be saved as Parquet, which holds no lone surrogates "
            f"({written(error.object)}): mend them, for example with str.encode('utf-8', "
            f"'replace').str.decode('utf-8')."
        ) from error
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise TravError(
            f"The {what} cannot be saved as Parquet ({error}): build the graph over ids of another type, for "
            f"example with astype(str)."
        ) from error
