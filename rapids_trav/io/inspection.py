"""What files of edges hold and how they are read, told without building a graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd

from rapids_trav.errors import EdgeColumnsError
from rapids_trav.io.dialect import Dialect, FileOptions
from rapids_trav.io.files import files_of, format_of, read
from rapids_trav.io.formats import TEXTS, compression_of
from rapids_trav.io.sniff import find_dialect
from rapids_trav.io.tables import EdgeTable
from rapids_trav.io.text import first_types


@dataclass(frozen=True)
class EdgeFileReport:
    """How files of edges are read, and what they hold.

    Attributes
    ----------
    files : list of str
    format : str
    compression : str or None
    text : dict
        Of text: `encoding`, `delimiter`, `quote`, `header`, `skipped_lines` before the rows, and
        `names_in_a_comment`; else empty.
    columns : dict of str
        Types of the columns by name.
    src, dst : list of str
        Columns of both ends; empty if they are not found.
    problem : str or None
        Why the ends are not found, in which case there are no counts.
    weights : list of str
        Numeric columns without nulls, which can be weights.
    directed : bool or None
        Whether an edge leads one way, if the format says so.
    edges, vertices, isolated, self_loops, repeated, comments : int or None
        Counts: rows, distinct ids and listed vertices, those of them in no edge, edges from a vertex to
        itself, rows that repeat both ends of an earlier one, and comments that were skipped.
    degrees : dict
        The `smallest`, `median`, `mean` and `largest` number of ends of edges at a vertex.

    Examples
    --------
    >>> import rapids_trav
    >>> report = rapids_trav.inspect_edges(rapids_trav.datasets.path("facebook"))
    >>> report.format, report.src, report.edges, report.vertices
    ('parquet', ['src'], 88234, 4039)
    """

    files: list[str]
    format: str
    compression: str | None
    text: dict[str, object]
    columns: dict[str, str]
    src: list[str]
    dst: list[str]
    problem: str | None
    weights: list[str]
    directed: bool | None
    edges: int | None = None
    vertices: int | None = None
    isolated: int | None = None
    self_loops: int | None = None
    repeated: int | None = None
    comments: int | None = None
    degrees: dict[str, float] | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the report as a dictionary that JSON can hold.

        Examples
        --------
        >>> import rapids_trav
        >>> rapids_trav.inspect_edges(rapids_trav.datasets.path("facebook")).as_dict()["repeated"]
        0
        """
        return asdict(self)


def inspect(paths: Sequence[Path], options: FileOptions) -> EdgeFileReport:
    """Return the report of files that exist."""
    files = files_of(paths)
    options = replace(options, format=format_of(paths, options.format))
    about = list(map(str, files)), options.format, compression_of(files[0])
    try:
        found = read(paths, options)
    except EdgeColumnsError as error:
        if options.format not in TEXTS:
            raise
        dialect = find_dialect(files[0], options)
        types = {name: str(type) for name, type in first_types(dialect, [], True).items()}
        return EdgeFileReport(*about, _told(dialect), types, [], [], str(error), [], None)
    frame = found.frame
    weights = [
        str(name)
        for name in frame.columns
        if name not in (*found.src, *found.dst)
        and frame[name].dtype.kind in "iuf"
        and not frame[name].isna().any()
    ]
    return EdgeFileReport(
        *about,
        _told(found.dialect),
        {str(name): str(type) for name, type in frame.dtypes.items()},
        found.src,
        found.dst,
        None,
        weights,
        found.directed,
        **_counts(found),
    )


def _told(dialect: Dialect | None) -> dict[str, object]:
    if dialect is None:
        return {}
    return {
        "encoding": dialect.encoding.removesuffix("-sig"),
        "delimiter": dialect.delimiter,
        "quote": dialect.quote,
        "header": dialect.header,
        "skipped_lines": dialect.skip,
        "names_in_a_comment": list(dialect.explained),
    }


def _counts(found: EdgeTable) -> dict:
    """Return what the report counts; ids of several columns are pairs."""
    frame = found.frame
    sides = [frame[columns].set_axis(range(len(columns)), axis=1) for columns in (found.src, found.dst)]
    both = pd.concat(sides, ignore_index=True)
    codes = both.groupby(list(both.columns), sort=False, dropna=False, observed=True).ngroup().to_numpy()
    src, dst = np.split(codes, 2)
    degrees = np.bincount(codes)
    n_vertices = len(degrees)
    if found.vertices is not None and len(found.vertices) > n_vertices:
        n_vertices = len(found.vertices)
    pairs = np.unique(src.astype(np.int64) * len(degrees) + dst)
    return {
        "edges": len(frame),
        "vertices": n_vertices,
        "isolated": n_vertices - len(degrees),
        "self_loops": int(np.count_nonzero(src == dst)),
        "repeated": len(frame) - len(pairs),
        "comments": found.comments,
        "degrees": {
            "smallest": int(degrees.min()) if n_vertices == len(degrees) else 0,
            "median": float(np.median(degrees)),
            "mean": float(2 * len(frame) / n_vertices),
            "largest": int(degrees.max()),
        },
    }
