"""Reader of CSV, TSV and SNAP text: detects the layout from the first lines and reports malformed lines."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError, written
from rapids_trav.io.formats import check_columns, open_bytes, reading_error

COMMENTS = ("#", "%")
# Pairs of usual names for the two ends of an edge; letter case is ignored.
USUAL_ENDS = (
    ("src", "dst"),
    ("source", "destination"),
    ("source", "target"),
    ("source_id", "target_id"),
    ("from", "to"),
    ("from_id", "to_id"),
    ("fromnodeid", "tonodeid"),
    ("u", "v"),
)
USUAL_NAMES = {name for ends in USUAL_ENDS for name in ends}
SAMPLE_LINES = 100
EXACT = 2.0**53  # from here on float64 cannot represent all integers
MISSING = ["", "NA", "NaN", "nan", "null", "None"]


@dataclass(frozen=True)
class TextLayout:
    """Layout of a text file.

    Attributes
    ----------
    delimiter : str
        One character; a blank means any run of white space.
    names : tuple of str
        Names of the columns; as many as the first row of data has fields.
    skip : int
        Number of lines before the first row of data.
    comment : str or None
        Character that begins a comment among the rows.
    """

    delimiter: str
    names: tuple[str, ...]
    skip: int
    comment: str | None


def read_text(
    path: Path,
    format: str,
    delimiter: str | None = None,
    header: bool | None = None,
    string_ids: bool = False,
    id_columns: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a text file; `id_columns` hold the ids, by default the first two columns."""
    try:
        check_delimiter(delimiter)
        layout = find_layout(path, format, delimiter, header, id_columns or ())
        ids = id_columns_of(path, layout, id_columns)
        frame = _parse(path, layout, ids, string_ids)
    except (OSError, pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        raise reading_error(path, error) from error
    cut = frame.iloc[:, -1].isna().any() and _has_short_row(path, layout)
    if cut or frame[ids].isna().any(axis=None):
        raise _malformed(path, layout, ids)
    for name in ids:
        _check_exact(path, name, frame[name])
    return frame


def _check_exact(path: Path, name: str, column: pd.Series) -> None:
    """Refuse integers that were rounded because other values of the column have a decimal point."""
    rounded = column[column.abs() >= EXACT] if column.dtype.kind == "f" else column[:0]
    if len(rounded):
        raise TravError(
            f"Column {name!r} of {path} holds ids with a decimal point or an exponent, so that the id "
            f"{rounded.iloc[0]:.0f} may have been rounded: write only integers, or read the ids "
            "as strings, with string_ids=True."
        )


def check_delimiter(delimiter: str | None) -> None:
    """Refuse a value that cannot separate two fields."""
    if delimiter is None:
        return
    known = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not known or not (delimiter == "\t" or delimiter.isprintable()) or delimiter == '"':
        raise TravError(
            f"delimiter={written(delimiter)} cannot stand between two fields: give one ASCII character, "
            "a comma, a tab or a blank for example."
        )


def usual_ends(names: Sequence[str]) -> tuple[str, str] | None:
    """Return the columns that have the usual names of the two ends of an edge, or None.

    The library's default names come first; others count if they are the only pair.
    """
    for default in USUAL_ENDS[:2]:
        if all(name in names for name in default):
            return default
    lower = [name.lower() for name in names]
    pairs = [pair for pair in USUAL_ENDS if all(lower.count(name) == 1 for name in pair)]
    if len(pairs) != 1:
        return None
    src, dst = pairs[0]
    return names[lower.index(src)], names[lower.index(dst)]


def id_columns_of(path: Path, layout: TextLayout, id_columns: Sequence[str] | None) -> list[str]:
    """Return the columns that hold ids: those named, those of usual names, or the first two."""
    names = list(id_columns or usual_ends(layout.names) or layout.names[:2])
    check_columns(path, layout.names, names)
    return names


def _parse(path: Path, layout: TextLayout, ids: list[str], string_ids: bool) -> pd.DataFrame:
    if _has_surplus(path, layout):
        raise _malformed(path, layout, ids)
    try:
        with closing(open_bytes(path)) as stream:
            return parse_rows(stream, layout, layout.skip, ids, string_ids)
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        raise _malformed(path, layout, ids) from error


def parse_rows(
    stream: BinaryIO, layout: TextLayout, skip: int, ids: list[str], string_ids: bool
) -> pd.DataFrame:
    """Return the rows after the first `skip` lines as a frame; raise pandas' error for malformed ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # surplus fields in all rows
        return pd.read_csv(
            stream,
            sep=r"\s+" if layout.delimiter == " " else layout.delimiter,
            header=None,
            index_col=False,  # surplus fields are an error, not an index
            names=list(layout.names),
            skiprows=skip,
            comment=layout.comment,
            quoting=csv.QUOTE_NONE if layout.delimiter == " " else csv.QUOTE_MINIMAL,
            dtype=dict.fromkeys(ids, str) if string_ids else None,
            # "NA" and "null" are valid names of vertices; as a weight they mean that there is none.
            keep_default_na=False,
            na_values={name: [""] if name in ids else MISSING for name in layout.names},
            skipinitialspace=True,
            low_memory=False,
        )


def find_layout(
    path: Path, format: str, delimiter: str | None, header: bool | None, id_columns: Sequence[str]
) -> TextLayout:
    """Find the delimiter, header and comments from the first lines of the file."""
    with closing(_open_lines(path)) as lines:
        skip, comment = 0, None
        first = ""
        for first in lines:
            if first.strip() and not first.lstrip().startswith(COMMENTS):
                break
            skip += 1
            comment = comment or first.strip()[:1] or None
        else:
            raise TravError(f"{path} holds no edges: give at least one.")
        comment = (comment or "#") if format == "text" else None
        sample = [first, *(line for line in islice(lines, SAMPLE_LINES) if line.strip())]
        sample = [bare for line in sample if (bare := _without(comment, line)).strip()]
    delimiter = delimiter or _find_delimiter(format, sample)
    rows = [split(line, delimiter) for line in sample]
    if header is None:
        header = _is_header(rows) or (bool(id_columns) and set(id_columns) <= set(rows[0]))
        if not header and not any(_is_number(field) for field in rows[0][:2]):
            warnings.warn(
                f"The first line of {path}, {first.strip()[:40]!r}, was read as an edge and not as names of "
                "columns: say header=True or header=False (--header or --no-header on the command line).",
                stacklevel=4,  # the caller of read_edges
            )
    names = _unique_names(path, rows[0]) if header else _default_names(len(rows[0]))
    if len(names) < 2:
        raise TravError(
            f"Line {skip + 1} of {path} has one field ({first.strip()[:40]!r}), and an edge needs two: "
            "check the delimiter."
        )
    return TextLayout(delimiter, names, skip + header, comment)


def split(line: str, delimiter: str) -> list[str]:
    """Return the fields of a line, without quotes and surrounding blanks."""
    if delimiter == " ":
        return line.split()
    line = line.rstrip("\r\n")
    if '"' not in line:  # the standard library's reader refuses fields above 128 KB
        return [field.strip() for field in line.split(delimiter)]
    return [
        field.strip() for field in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    ]


def _find_delimiter(format: str, sample: list[str]) -> str:
    if format == "tsv":
        return "\t"
    for candidate in ("\t",) if format == "text" else (",", "\t", ";", "|"):
        if candidate in sample[0].strip() and all(candidate in line for line in sample):
            return candidate
    return "," if format == "csv" and "," in sample[0] else " "


def _is_header(rows: list[list[str]]) -> bool:
    first = rows[0][:2]
    if any(_is_number(field) for field in first):
        return False
    if any(field.lower() in USUAL_NAMES for field in first):
        return True
    return len(rows) > 1 and all(_is_number(field) for field in rows[1][:2])


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _unique_names(path: Path, fields: list[str]) -> tuple[str, ...]:
    names = tuple(field or f"column_{i}" for i, field in enumerate(fields))
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise TravError(f"{path} names two columns {twice[0]!r}: give them different names.")
    return names


def _default_names(count: int) -> tuple[str, ...]:
    return tuple((["src", "dst", "weight"] + [f"column_{i}" for i in range(3, count)])[:count])


def _has_surplus(path: Path, layout: TextLayout) -> bool:
    """Return whether the first row has more fields than names; pandas drops empty ones."""
    with closing(_lines(path, layout)) as lines:
        return any(len(split(line, layout.delimiter)) > len(layout.names) for _, line in islice(lines, 1))


def _has_short_row(path: Path, layout: TextLayout) -> bool:
    """Return whether a row has fewer fields than the first; pandas fills it with nulls."""
    with closing(_lines(path, layout)) as lines:
        return any(len(split(line, layout.delimiter)) < len(layout.names) for _, line in lines)


def _malformed(path: Path, layout: TextLayout, ids: list[str]) -> TravError:
    """Return the error for the first line with too many or too few fields, or without an id."""
    expected = len(layout.names)
    positions = [layout.names.index(name) for name in ids]
    with closing(_lines(path, layout)) as lines:
        for number, line in lines:
            fields = split(line, layout.delimiter)
            if len(fields) != expected or not all(fields[i] for i in positions):
                other = ""
                if layout.delimiter == " " and len(fields) != expected:
                    other = "; if this is an adjacency list, write each edge on a line of its own"
                return TravError(
                    f"Line {number} of {path} is {line.strip()[:60]!r}, where {expected} fields are "
                    f"expected and {' and '.join(ids)} must not be empty: correct or delete it{other}."
                )
    return TravError(
        f"{path} has a row that is not an edge: give each row {expected} fields, and close each quote."
    )


def _lines(path: Path, layout: TextLayout) -> Generator[tuple[int, str]]:
    """Yield rows of data with their line numbers, without comments and rows of several lines."""
    inside = False  # inside a quoted field that began on an earlier line
    with closing(_open_lines(path)) as lines:
        for number, line in islice(enumerate(lines, 1), layout.skip, None):
            line = _without(layout.comment, line)
            part = layout.delimiter != " " and line.count('"') % 2 == 1
            if line.strip() and not inside and not part:
                yield number, line
            inside ^= part


def _without(comment: str | None, line: str) -> str:
    """Return the line up to the character that begins a comment."""
    return line.partition(comment)[0] if comment else line


def _open_lines(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline=None)
