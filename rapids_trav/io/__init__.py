"""Readers of edge lists and writers of results."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

import pandas as pd

from rapids_trav.errors import TravError, written
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame, Values
from rapids_trav.io import files
from rapids_trav.io.columns import Ends, Name
from rapids_trav.io.dialect import FileOptions
from rapids_trav.io.formats import FORMATS, check_columns
from rapids_trav.io.inspection import EdgeFileReport, inspect
from rapids_trav.io.tables import import_cudf
from rapids_trav.io.write import check_output, check_writable, write_frame
from rapids_trav.utilities.checks import one_of
from rapids_trav.utilities.locations import file_location
from rapids_trav.utilities.progress import ProgressOption, shown

__all__ = [
    "FORMATS",
    "EdgeFileReport",
    "check_output",
    "check_writable",
    "inspect_edges",
    "read_edges",
    "write_frame",
]

LIBRARIES = ("pandas", "cudf")
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


def read_edges(
    path: Paths,
    *,
    src: Ends = None,
    dst: Ends = None,
    weight: Name | None = None,
    format: str = "auto",
    library: str = "pandas",
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    string_ids: bool = False,
    both_directions: bool = False,
    progress: ProgressOption = False,
) -> Frame:
    """Read an edge list from files as the command line does.

    Format, compression, delimiter, quotes, comments, header and the columns of both ends are found from the
    content.  What can be understood in two ways is an error that names the argument that decides it.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder, or several; those of one format form one edge list.
    src, dst : str, int or list of these, optional
        Columns of the two ends, by their names or, if none is called so, by their numbers from 1.  The
        default is a pair of usual names (src and dst, source and target, from_id and to_id, node1 and node2,
        ...), or the only two columns, or the first two if the file names none.
    weight : str or int, optional
        Column that will be used as weight, given like `src`.
    format : {"auto", "text", "parquet", "mtx", "json", "dimacs", "metis", "feather", "orc", "gml", ...}
        "csv" and "text" are delimited text, "tsv" that with tabs; `json` has an object on each line, or a
        list of them.  "gml", "graphml", "gexf" and "pajek" are read through NetworkX or igraph,
        "edgelist" (rows that end with a dictionary, as NetworkX writes them) through NetworkX.
    library : {"pandas", "cudf"}
        Library of the frame.  Parquet is read by that library.  The other formats are always parsed on the
        CPU, because cuDF's CSV reader silently ignores surplus fields.
    columns : sequence of str, optional
        Return only these columns.
    delimiter : str, optional
        Character between the fields of text; a blank is any run of blanks and tabs.
    header : bool, optional
        Whether the first line of a text names the columns.  By default, it does if it holds a pair of usual
        names or a name that is given as `src`, `dst` or `weight`, or words above numbers; it does not if it
        holds a number.  Other words above words are an error.
    comment : str, optional
        Sign that begins a comment at the start of a line or after a blank; by default # and %, after a blank
        only if blanks separate the fields.  "" if there are no comments.
    quote : str, optional
        Character around fields; by default found, "" if quotes are ordinary characters.
    encoding : str, optional
        Encoding of text, by default UTF-8, or UTF-16 if the file begins with its mark.
    decimal : {".", ","}
        Sign before the fraction of a number.
    string_ids : bool, default False
        Keep all ids of a text as strings.  By default, ids of which all are integers without needless zeros
        are integers, and all others are strings.  Marks of missing values (NA, null, \\N, ...) are ids only
        with `string_ids`.
    both_directions : bool, default False
        Return each edge of a format that stores an undirected graph (METIS, a symmetric matrix) in both
        directions.  Otherwise each is one row.
    progress : bool or callable, default False
        Show the bytes of text and the files that were read, or call the function with what is done, of how
        much (None if it is not known) and the unit, perhaps from another thread.

    Returns
    -------
    pandas.DataFrame or cudf.DataFrame
        One row for each edge.  Columns have the names that the file gives them; without names, they are
        `src`, `dst`, `weight`, `column_3`, ...  Ids of matrices, DIMACS and METIS count from 1, as in the
        file: the entry in row `i`, column `j` of a matrix is the edge from `i` to `j`.

    Raises
    ------
    TravError
        If the file is missing, empty, malformed or can be understood in several ways; the message names the
        line and the remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from rapids_trav import read_edges
    >>> _ = Path("trips.txt").write_text("from_stop_id;to_stop_id;km\\n01;2;5\\n2;3;7\\n")
    >>> read_edges("trips.txt")
      from_stop_id to_stop_id  km
    0           01          2   5
    1            2          3   7
    """
    one_of("library", library, LIBRARIES)
    _check_names("columns", columns)
    options = FileOptions(
        src, dst, weight, format, delimiter, header, comment, quote, encoding, decimal, string_ids
    )
    with shown("read_edges", progress):
        paths = _locations(path)
        found = files.read(paths, options, library, columns, both_directions)
    frame = found.frame
    if columns is not None and found.format != "parquet":
        check_columns(paths[0], list(frame.columns), columns)
        frame = frame[list(columns)]
    if library == "cudf":
        return frame if found.format == "parquet" else import_cudf().DataFrame(frame)
    return proxies.proxied(frame)


def inspect_edges(
    path: Paths,
    *,
    src: Ends = None,
    dst: Ends = None,
    weight: Name | None = None,
    format: str = "auto",
    delimiter: str | None = None,
    header: bool | None = None,
    comment: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
    string_ids: bool = False,
) -> EdgeFileReport:
    """Tell how files of edges are read and what they hold, without building a graph.

    Parameters
    ----------
    path, src, dst, weight, format, delimiter, header, comment, quote, encoding, decimal, string_ids
        As of `read_edges`.

    Returns
    -------
    EdgeFileReport
        Format and dialect, columns with their types, both ends, possible weights, counts and degrees.

    Raises
    ------
    TravError
        If the files cannot be read; the message names the line and the remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> import rapids_trav
    >>> _ = Path("links.txt").write_text("# made by hand\\n1 2 0.5\\n2 3 1.5\\n")
    >>> report = rapids_trav.inspect_edges("links.txt")
    >>> report.columns
    {'src': 'int64', 'dst': 'int64', 'weight': 'float64'}
    >>> report.vertices, report.weights, report.comments
    (3, ['weight'], 1)
    """
    options = FileOptions(
        src, dst, weight, format, delimiter, header, comment, quote, encoding, decimal, string_ids
    )
    return inspect(_locations(path), options)


def _locations(path: Paths) -> list[Path]:
    """Return the paths of files or folders that exist."""
    several = list(path) if isinstance(path, (list, tuple)) and path else [path]
    paths = [file_location("path", one, "file or folder") for one in several]
    for one in paths:
        if not one.exists():
            raise TravError(f"There is no file {one}: check the path.")
    return paths


def _check_names(what: str, names: Values) -> None:
    """Refuse anything but a list of column names; a single string would be read as a list of letters."""
    if names is None:
        return
    listed = isinstance(names, (list, tuple, pd.Index)) and len(names) > 0
    if not listed or not all(isinstance(name, str) for name in names):
        raise TravError(
            f"{what}={written(names)} is not a list of column names: give a list, or None for the default."
        )
