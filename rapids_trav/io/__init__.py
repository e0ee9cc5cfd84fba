"""Readers of edge lists and writers of results.

`read_edges` reads Parquet, CSV and TSV, SNAP text and Matrix Market; all but Parquet may be compressed (.gz,
.bz2, .zst, .lz4).  Columns keep the names that the file gives them; a file without names gets `src`, `dst`,
`weight`, `column_3`, ...
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError, written
from rapids_trav.frames import proxies
from rapids_trav.frames.columns import Frame, Values
from rapids_trav.io.formats import FORMATS, check_columns, guess_format
from rapids_trav.io.matrix_market import read_matrix_market
from rapids_trav.io.parquet import import_cudf, read_parquet
from rapids_trav.io.text import read_text
from rapids_trav.io.write import check_output, check_writable, write_frame
from rapids_trav.utilities.locations import file_location

__all__ = ["FORMATS", "check_library", "check_output", "check_writable", "read_edges", "write_frame"]


def read_edges(
    path: str | Path,
    *,
    format: str = "auto",
    library: str = "pandas",
    columns: Sequence[str] | None = None,
    id_columns: Sequence[str] | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    string_ids: bool = False,
    both_directions: bool = False,
) -> Frame:
    """Read an edge list from a file, or from a folder of Parquet files.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    format : {"auto", "parquet", "csv", "tsv", "text", "mtx"}
        "auto" decides by the extension: .parquet or .pq (and any folder), .csv, .tsv, .mtx; .txt, .edges,
        .el and .snap are text.  "text" is the format of SNAP: comment lines begin with # or %, and fields
        are separated by white space.
    library : {"pandas", "cudf"}
        Library of the frame.  Parquet is read by that library.  The other formats are always parsed on the
        CPU, because cuDF's CSV reader silently ignores surplus fields.
    columns : sequence of str, optional
        Read only these columns.
    id_columns : sequence of str, optional
        Columns of a text file that hold ids; by default, those with usual names for the two ends, else the
        first two.  In these columns, text that means "no value" elsewhere (NA, null, nan) is an ordinary id,
        and an empty id is an error.
    delimiter : str, optional
        Separator of the fields of a text file; by default, it is detected from the first lines.
    header : bool, optional
        Whether the first line of a text file names the columns.  By default, it does if it holds a usual
        name (src, dst, source, target, from, to, ...) or one of `id_columns`, or words above numbers; words
        above words are read as an edge, with a warning.
    string_ids : bool, default False
        Keep the ids of a text file as strings, so that 007 and 7 are two vertices.
    both_directions : bool, default False
        For a Matrix Market file that stores half of a symmetric matrix: return each edge in both directions,
        as a directed graph needs.  Otherwise each stored entry is one edge.

    Returns
    -------
    pandas.DataFrame or cudf.DataFrame
        One row for each edge.  Matrix Market ids count from 1, as in the file: the entry in row `i`, column
        `j` is the edge from `i` to `j`, and its value, if it has one, is in `weight`.  An id without any
        entry in its row or column is in no edge, so it is not a vertex of a graph of these edges.

    Raises
    ------
    TravError
        If the file is missing, empty, of unknown format or malformed; for text, the message names the line.
    """
    path = file_location("path", path, "file or folder")
    if not path.exists():
        raise TravError(f"There is no file {path}: check the path.")
    check_library(library)
    _check_names("columns", columns)
    _check_names("id_columns", id_columns)
    if header is not None and not isinstance(header, (bool, np.bool_)):
        raise TravError(f"header={written(header)} is neither True, False nor None: give one of them.")
    format = guess_format(path) if format == "auto" else format
    if format == "parquet":
        frame = _not_empty(read_parquet(path, library, columns), path)
        return proxies.proxied(frame) if library == "pandas" else frame
    if path.is_dir():
        raise TravError(
            f"{path} is a folder, and format={format!r} is read only from files: name a file, or give "
            f"format='parquet'."
        )
    if format == "mtx":
        frame = read_matrix_market(path, both_directions)
    elif format in FORMATS:
        frame = read_text(path, format, delimiter, header, string_ids, id_columns)
    else:
        raise TravError(f"format={format!r} is not known: choose one of {', '.join(FORMATS)}.")
    if columns is not None:
        check_columns(path, list(frame.columns), columns)
        frame = frame[list(columns)]
    frame = _not_empty(frame, path)
    return import_cudf().DataFrame(frame) if library == "cudf" else proxies.proxied(frame)


def check_library(library: object) -> None:
    """Refuse a value that is not the name of a frame library."""
    if not isinstance(library, str) or library not in ("pandas", "cudf"):
        raise TravError(f"library={written(library)} is not known: choose 'pandas' or 'cudf'.")


def _check_names(what: str, names: Values) -> None:
    """Refuse anything but a list of column names; a single string would be read as a list of letters."""
    if names is None:
        return
    listed = isinstance(names, (list, tuple, pd.Index)) and len(names) > 0
    if not listed or not all(isinstance(name, str) for name in names):
        raise TravError(
            f"{what}={written(names)} is not a list of column names: give a list, or None for the default."
        )


def _not_empty(frame: Frame, path: Path) -> Frame:
    if len(frame) == 0:
        raise TravError(f"{path} holds no edges: give at least one.")
    return frame
