"""Opens edges in any form that a caller may give, and finds the columns of their ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import pandas as pd

from rapids_trav.edges import array_edges
from rapids_trav.edges.edge_source import ArrowEdges, DaskEdges, EdgeSource, FrameEdges, GeneratedEdges
from rapids_trav.edges.parquet_edges import ParquetEdges
from rapids_trav.errors import (
    EdgeColumnsError,
    TravError,
    UnknownColumnError,
    a_type,
    listed,
    type_name,
    written,
)
from rapids_trav.frames.columns import library_of
from rapids_trav.frames.forms import Form, form_of

Ends = Hashable | Sequence[Hashable] | None


def open_edges(edges: Any, engine: object = "auto") -> EdgeSource:
    """Open the edges in any form that a caller may give.

    These are a frame, several frames, an iterator of frames or a function that returns one, Parquet paths, a
    Dask frame, two arrays (three with weights), or a sparse matrix of SciPy.
    """
    if (kind := _kind(edges)) == "dask":
        return DaskEdges(edges)
    if kind is not None:
        return _of_parts([edges], [kind], engine)
    if array_edges.is_matrix(edges):
        return array_edges.of_matrix(edges, engine)
    if column := library_of(edges, ("Series", "Index")):
        raise TravError(
            f"edges is {a_type(edges)} of {column}, not a frame: give the frame that holds both "
            f"ends of the edges."
        )
    if isinstance(edges, tuple) and any(map(array_edges.is_array, edges)):
        return array_edges.of_arrays(edges, engine)
    if callable(edges) and not isinstance(edges, Iterable):
        return GeneratedEdges(edges, engine)
    if isinstance(edges, Mapping):
        raise TravError(
            f"edges is {a_type(edges)}: make a frame of it first, for example with pandas.DataFrame."
        )
    if _is_networkx(edges):
        raise TravError(
            f"edges is {a_type(edges)} of NetworkX: make a frame of it first, with "
            f"networkx.to_pandas_edgelist(edges, 'src', 'dst')."
        )
    if isinstance(edges, Iterable) and not hasattr(edges, "columns") and getattr(edges, "ndim", 1) != 0:
        parts = list(edges)
        if not parts:
            raise TravError("edges is an empty sequence: give at least one frame, which may have no rows.")
        kinds = [*map(_kind, parts)]
        if all(kinds):
            return _of_parts(parts, kinds, engine)
        if all(map(array_edges.is_array, parts)):
            raise TravError(
                f"edges is a {type_name(edges)} of arrays: give the ends of the edges as a tuple of two "
                f"arrays, (src, dst), or of three, (src, dst, weight)."
            )
        edges = parts[kinds.index(None)]
    raise TravError(
        f"edges holds an object of type {type_name(edges)}: give frames of pandas, polars, pyarrow, cuDF or "
        f"Dask, two arrays, a sparse matrix, or paths of Parquet files."
    )


def _kind(edges: object) -> str | Form | None:
    """Return "path", the library of a frame, or its form if it is read through Arrow; None for all else."""
    return "path" if isinstance(edges, (str, PathLike)) else library_of(edges) or form_of(edges)


def _of_parts(parts: list[Any], kinds: Sequence[str | Form | None], engine: object) -> EdgeSource:
    """Open frames or paths of these kinds, which together are one edge list."""
    form = next((kind for kind in kinds if kind is not None and not isinstance(kind, str)), None)
    names = dict.fromkeys(kind if isinstance(kind, str) else kind.name for kind in kinds if kind is not None)
    if names.keys() == {"path"}:
        return ParquetEdges(parts, engine)
    if form is None and names.keys() <= {"pandas", "cudf"}:
        return FrameEdges(parts, engine)
    if names.keys() == {"dask"}:
        raise TravError(
            f"edges holds {len(parts)} Dask frame{'s' if len(parts) > 1 else ''} in a sequence: give one "
            f"Dask frame by itself, for example with dask.dataframe.concat."
        )
    if "path" in names:
        raise TravError(
            "edges mixes frames and paths: read the files into frames first, or give paths alone."
        )
    if form is not None:
        if len(names) > 1 or any(isinstance(kind, str) for kind in kinds):
            raise TravError(f"The edge frames are of {' and of '.join(names)}: convert them to one library.")
        return ArrowEdges(parts, form, engine)
    raise TravError(
        "edges mixes Dask frames and others: make one Dask frame of all, for example with "
        "dask.dataframe.concat, or frames with compute()."
    )


def _is_networkx(edges: object) -> bool:
    bases = [base for base in type(edges).__mro__ if base.__module__.partition(".")[0] == "networkx"]
    return any(base.__name__ == "Graph" for base in bases)


def edge_columns(source: EdgeSource, src: Ends, dst: Ends) -> tuple[list[Hashable], list[Hashable]]:
    """Return the columns of sources and destinations: those named, else the default pair that exists."""
    if not source.columns:
        raise EdgeColumnsError("The edges have no columns: give a frame with a column for each end.")
    if src is None and dst is None and {"src", "dst"} <= set(source.columns):  # as `usual_ends` would find
        src, dst = "src", "dst"
    elif src is None and dst is None:
        from rapids_trav.io.columns import usual_ends  # the package imports parsers, which frames do not need

        found = usual_ends(list(dict.fromkeys(name for name in source.columns if isinstance(name, str))))
        if found is None:
            raise EdgeColumnsError(
                f"The edges have neither columns 'src' and 'dst' nor 'source' and 'destination': "
                f"name them with src= and dst=, from {listed(source.columns)}."
            )
        src, dst = found
    if src is None or dst is None:
        missing = "dst" if dst is None else "src"
        raise TravError(f"Only one end of the edges is named: give {missing}= as well.")
    sides = _side(source, "src", src), _side(source, "dst", dst)
    widths = len(sides[0]), len(sides[1])
    if widths[0] != widths[1] or not widths[0]:
        raise TravError(
            f"src names {widths[0]} column{'' if widths[0] == 1 else 's'} and dst names {widths[1]}: "
            f"give both ends the same number, at least one."
        )
    for name in (*sides[0], *sides[1]):
        require_column(source.columns, name)
    if sides[0] == sides[1]:
        raise TravError(f"src and dst both name {listed(sides[0])}: give each end its own column.")
    return sides


def _side(source: EdgeSource, end: str, columns: Hashable | Sequence[Hashable]) -> list[Hashable]:
    """Return the columns of one end as a list; a tuple may be the label of one column."""
    if isinstance(columns, (list, pd.Index)) or (
        isinstance(columns, tuple) and columns not in source.columns
    ):
        names = list(columns)
    else:
        names = [columns]
    for name in names:
        try:
            hash(name)
        except TypeError:
            raise TravError(
                f"{end} holds a {type(name).__name__}, not the name of a column: "
                f"give the name of a column of the edges, or a list of names."
            ) from None
    return names


def require_column(columns: Sequence[Hashable], name: Hashable, of: str = "the edges") -> None:
    """Refuse a column that the edges, or another frame, do not have, or have twice."""
    try:
        count = Counter(columns)[name]  # by hash: some labels cannot be compared for equality
    except TypeError:
        raise TravError(
            f"{written(name)} is not the name of a column: choose one of {listed(columns)}."
        ) from None
    if count == 0:
        raise UnknownColumnError(f"Column {written(name)} is not in {of}: choose one of {listed(columns)}.")
    if count > 1:
        raise TravError(f"Column {written(name)} occurs {count} times in {of}: rename all but one.")
