"""Files of every format as edges with their ends: one reader for Python and the command line."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import NoEdgesError, TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.io.dialect import FileOptions
from rapids_trav.io.formats import BROKEN, FORMATS, TEXTS, compression_of, find_format, reading_error
from rapids_trav.io.graph_texts import read_dimacs, read_foreign, read_matrix_market, read_metis
from rapids_trav.io.header import check_second_row, ends_of
from rapids_trav.io.sniff import find_dialect
from rapids_trav.io.tables import (
    EdgeTable,
    check_ends,
    range_of,
    read_arrow,
    read_json,
    read_parquet,
    read_schema,
    refuse_nested,
    to_frame,
)
from rapids_trav.io.text import check_first_row, check_weight, read_rows
from rapids_trav.utilities.locations import file_location
from rapids_trav.utilities.progress import report

IGNORED = (".", "_")  # what a file's name begins with that holds no rows, as _SUCCESS of Spark


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files, and those that the folders hold."""
    paths = [file_location("path", path, "file or folder") for path in paths]
    found: list[Path] = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(
            file
            for file in path.rglob("*")
            if file.is_file() and not any(part.startswith(IGNORED) for part in file.relative_to(path).parts)
        )
        if not inside:
            raise TravError(f"{path} holds no files of edges: name a file, or a folder that holds some.")
        found += inside
    return found


def format_of(paths: Sequence[Path], format: str) -> str:
    """Return the format of files, which must be one."""
    if format != "auto":
        if format not in FORMATS:
            raise TravError(f"format={format!r} is not known: choose one of {', '.join(FORMATS)}.")
        return format
    formats: dict[str, Path] = {}
    for file in files_of(paths):
        try:
            formats.setdefault(find_format(file), file)
        except BROKEN as error:
            raise reading_error(file, error) from error
    if len(formats) > 1:
        (first, one), (second, other), *_ = formats.items()
        raise TravError(f"{one} is {first}, and {other} is {second}: give files of one format.")
    return next(iter(formats))


def read(
    paths: Sequence[Path],
    options: FileOptions,
    library: str = "pandas",
    columns: Sequence[str] | None = None,
    both_directions: bool = False,
) -> EdgeTable:
    """Read edges from files of one format; the arguments are those of `read_edges`."""
    options = replace(options, format=format_of(paths, options.format))
    if options.format == "parquet":
        return _read_parquet(paths, options, library, columns)
    parts: dict[Path, EdgeTable] = {}
    files = files_of(paths)
    for number, file in enumerate(files, 1):
        try:
            parts[file] = _read_file(file, options, both_directions)
        except NoEdgesError:  # as the last parts of what Spark writes
            if number == len(files) and not parts:
                raise
        except (*BROKEN, pa.ArrowException) as error:
            raise reading_error(file, error) from error
        report(number, len(files), "files")
    kinds = {str(part.frame[part.src[0]].dtype) for part in parts.values()}
    if len(kinds) > 1 and options.format in TEXTS:
        options = replace(options, string_ids=True)  # words in one file make words of all
        parts = {file: _read_file(file, options, both_directions) for file in parts}
    return _not_empty(replace(_joined(list(parts), list(parts.values())), format=options.format), paths)


def _not_empty(found: EdgeTable, paths: Sequence[Path]) -> EdgeTable:
    if found.weight is not None and found.weight in (*found.src, *found.dst):
        raise TravError(f"weight={found.weight!r} is an end of the edges: name a column of weights.")
    if len(found.frame) == 0:
        raise NoEdgesError(f"{paths[0]} holds no edges: give at least one.")
    return found


def _joined(files: Sequence[Path], parts: Sequence[EdgeTable]) -> EdgeTable:
    first = parts[0]
    if len(parts) == 1:
        return first
    for file, part in zip(files, parts, strict=True):
        if list(part.frame.columns) != list(first.frame.columns):
            raise TravError(
                f"{file} has the columns {', '.join(part.frame.columns)}, and {files[0]} has "
                f"{', '.join(first.frame.columns)}: give files with the same columns."
            )
    vertices = None
    if first.vertices is not None:
        vertices = np.unique(np.concatenate([part.vertices for part in parts]))
    return replace(
        first,
        frame=pd.concat([part.frame for part in parts], ignore_index=True),
        vertices=vertices,
        comments=sum(part.comments for part in parts),
    )


def _read_file(file: Path, options: FileOptions, both: bool) -> EdgeTable:
    format = options.format
    if format in TEXTS:
        return _read_text(file, options)
    if format in ("json", "feather", "orc"):
        directed = vertices = None
        if format == "json":
            table, directed, vertices = read_json(file, options.encoding)
        else:
            table = read_arrow(file, format)
            for name, index in range_of(table.schema).items():
                table = table.add_column(0, name, pa.array(index))
            # Without the metadata of pandas, which would make columns an index.
            unnamed = [name for name in table.column_names if re.fullmatch(r"__index_level_\d+__", name)]
            table = table.drop_columns(unnamed).replace_schema_metadata()
        ends = options.ends(table.column_names)
        check_ends(file, table, [*ends[0], *ends[1]])
        found = EdgeTable(to_frame(table), *ends, directed=directed, vertices=vertices)
    elif format == "mtx":
        found = read_matrix_market(file, both)
    elif format == "dimacs":
        found = read_dimacs(file)
    elif format == "metis":
        found = read_metis(file, both)
    else:
        found = read_foreign(file, format, options.encoding)
    names = list(found.frame.columns)
    if options.src is not None:
        src, dst = options.ends(names)
        found = replace(found, src=src, dst=dst)
    return replace(found, weight=options.weighed(names) or found.weight)


def _read_text(file: Path, options: FileOptions) -> EdgeTable:
    dialect = find_dialect(file, options)
    ends = ends_of(file, dialect, options)
    if not options.string_ids:
        check_second_row(file, dialect, [*ends[0], *ends[1]])
    weighed = options.weighed(dialect.names)
    try:
        table, comments = read_rows(file, dialect, ends, options.string_ids)
    except TravError:
        if not options.quote or dialect.multiline:
            raise
        # Fields may go over several lines further down.
        dialect = replace(dialect, multiline=True)
        table, comments = read_rows(file, dialect, ends, options.string_ids)
    if options.src is None and not dialect.header:
        check_first_row(file, dialect, table)
    if weighed is not None:
        check_weight(file, dialect, table, weighed)
    return EdgeTable(to_frame(table), *ends, weight=weighed, dialect=dialect, comments=comments)


def _read_parquet(
    paths: Sequence[Path], options: FileOptions, library: str, columns: Sequence[str] | None
) -> EdgeTable:
    if paths[0].is_file() and compression_of(paths[0]):
        raise TravError(f"{paths[0]} is compressed, and Parquet is compressed inside: decompress the file.")
    schema = read_schema(paths[0])
    names = [*range_of(schema), *schema.names]
    ends = options.ends(names) if columns is None else ([], [])
    refuse_nested(paths[0], schema, [*ends[0], *ends[1]])
    frames = []
    for path in paths:
        frames.append(read_parquet(path, library, columns))
        for name in (name for name in (*ends[0], *ends[1]) if name in frames[-1].columns):
            if (nulls := frames[-1][name].isna()).any():
                row = int(nulls.to_numpy().argmax())
                raise TravError(
                    f"Row {row + 1} of {path} has no value (null) in column {name!r}: leave such rows out."
                )
        report(len(frames), len(paths), "files")
    frame: Frame = frames[0] if len(frames) == 1 else pd.concat(frames)
    in_index = set(names) - set(map(str, frame.columns))
    if columns is None and in_index and in_index <= set(frame.index.names):
        frame = frame.reset_index()[names]
    elif len(frames) > 1:
        frame = frame.reset_index(drop=True)
    return _not_empty(EdgeTable(frame, *ends, weight=options.weighed(names), format="parquet"), paths)
