"""Whether the first line of a text file names its columns, and the names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from rapids_trav.errors import EdgeColumnsError, TravError, UnknownColumnError
from rapids_trav.io.columns import Name, position, resembles_a_value, usual_ends
from rapids_trav.io.dialect import Dialect, FileOptions, is_number

NULLS = ("NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "Null", "None", "\\N", "nil")
YEAR = re.compile("(19|20)[0-9][0-9]")
SAY = "say header=True or header=False (--header or --no-header on the command line)"


def is_header(path: Path, line: int, rows: Sequence[Sequence[str]], wanted: Sequence[Name]) -> bool:
    """Return whether the first row names the columns.

    It does if it has the `wanted` names or a pair of usual names, or if it has words where the other rows
    have numbers.  It does not if it has a number.  Words above words, none a usual name, are refused.
    """
    first, others = rows[0], rows[1:]
    if wanted and has(first, wanted):
        return True
    if wanted and has(default_names(len(first)), wanted):
        return False
    columns = [[row[i] for row in others if len(row) > i] for i in range(len(first))]
    if ends := usual_ends(first):
        below = [row[i] for row in others if row != first for i in map(first.index, ends) if len(row) > i]
        if not any(resembles_a_value(end, below) for end in ends):
            return True
    if first[0] == "" and others and all(row[0] for row in others):  # pandas leaves its index without a name
        return True
    years = [i for i, name in enumerate(first) if YEAR.fullmatch(name)]
    if years and not any(YEAR.fullmatch(value) for i in years for value in columns[i]):
        values = {value for column in columns[:2] for value in column}
        first = (
            [name for name in first if not YEAR.fullmatch(name)] if values.isdisjoint(first[:2]) else first
        )
    if any(map(is_number, first)) or any(name in NULLS for name in first) or not others:
        return False
    if any(values and all(map(is_number, filter(None, values))) and any(values) for values in columns):
        return True
    if any(field[:1].isdigit() for field in first) or len(first) < 2:
        return False
    below = [value for row in others[1:] for value in row]
    if (ends := usual_ends(others[0])) and not any(resembles_a_value(end, below) for end in ends):
        raise TravError(f"Line {line} of {path} stands above the line that names the columns: delete it.")
    raise TravError(
        f"Line {line} of {path} is {' '.join(first)[:60]!r}, words above words, which may be names of the "
        f"columns or an edge: {SAY}, or name the columns of both ends with src= and dst=."
    )


def has(names: Sequence[str], wanted: Sequence[Name]) -> bool:
    """Return whether all of these columns are among the names."""
    try:
        return all(position(name, names) >= 0 for name in wanted)
    except UnknownColumnError:
        return False


def default_names(width: int) -> tuple[str, ...]:
    """Return the names of columns that the file does not name."""
    return tuple(["src", "dst", "weight", *(f"column_{i}" for i in range(3, width))][:width])


def unique_names(path: Path, fields: Sequence[str], free: bool) -> tuple[str, ...]:
    """Return names for all columns of a header; if `free`, a repeated one gets a number."""
    names = tuple(name or f"column_{i}" for i, name in enumerate(fields))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None and not free:
        raise TravError(
            f"{path} names two columns {twice!r}: give them different names, or name both ends by number "
            f"with src= and dst=."
        )
    return tuple(f"{name}_{i}" if name in names[: i - 1] else name for i, name in enumerate(names, 1))


def ends_of(path: Path, dialect: Dialect, options: FileOptions) -> tuple[list[str], list[str]]:
    """Return the columns of both ends; without names the first two, if the others are not like them."""
    names, rows = dialect.names, dialect.sample
    if options.src is None and not usual_ends(names[1:]) and _is_matrix(names, rows):
        raise EdgeColumnsError(
            f"{path} looks like a matrix, with a row and a column for each vertex: write each edge as a row, "
            f"or name both ends with src= and dst= if it is none."
        )
    if options.src is not None or dialect.header:
        return options.ends(names)
    if (named := usual_ends(dialect.explained)) and named != dialect.explained[:2]:
        raise EdgeColumnsError(
            f"{path} has a comment that names the columns {', '.join(dialect.explained)}: name both ends, "
            f"such as src={named[0]!r} and dst={named[1]!r}."
        )
    numbers = [
        all(is_number(row[i], dialect.decimal) for row in rows if len(row) > i)
        for i in range(min(len(names), 3))
    ]
    if numbers == [True] * 3 and _begin_with_counts(rows):
        raise EdgeColumnsError(
            f"{path} has rows that begin with numbers of their own, such as counts or times, and ids of the "
            f"second column stand in the third: name both ends by number, such as src=2 and dst=3."
        )
    if numbers == [True] * 3 and _list_neighbours(rows):
        raise EdgeColumnsError(
            f"{path} has rows such as {' '.join(rows[0])[:60]!r}, which may be an adjacency list: "
            f"write each edge on a line of its own or, if each row is one edge, name both ends with src=1 "
            f"and dst=2."
        )
    if len(numbers) == 3 and (numbers[0] != numbers[1] or not any(numbers)):
        raise EdgeColumnsError(
            f"{path} has {len(names)} columns without names, of which the first two may not be the ends of "
            f"edges (the first row is {' '.join(rows[0])[:60]!r}): name both ends by number with src= and "
            f"dst=, and say header=True if this row names the columns."
        )
    return [names[0]], [names[1]]


def _begin_with_counts(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether the first column has counts or times of edges between the second and the third."""
    first, second, third = ([row[i] for row in rows if len(row) > 2] for i in range(3))
    both, all_ends = set(second) & set(third), {*second, *third}
    if not all_ends.isdisjoint(first):
        return False
    if len(first) > 2 and all(float(one) < float(other) for one, other in pairwise(first)):
        return 2 * len(both) >= len(set(third))
    return 2 * len(both) >= len(all_ends)


def _list_neighbours(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether each row begins with another vertex, and goes on with such vertices, all different."""
    vertices = {row[0] for row in rows}
    alone = len(vertices) == len(rows) > 2 and all(len(set(row)) == len(row) for row in rows)
    return alone and vertices.issuperset(vertex for row in rows for vertex in row[1:])


def check_second_row(path: Path, dialect: Dialect, ends: Sequence[str]) -> None:
    """Refuse a first row below the header that has words where all others have numbers, as units are."""
    places = [dialect.names.index(name) for name in ends]
    first, *others = [row for row in dialect.sample if len(row) == len(dialect.names)] or [[]]
    if not dialect.header or len(others) < 2 or not all(is_number(row[i]) for row in others for i in places):
        return
    if not any(is_number(first[i]) for i in places):
        raise TravError(
            f"Line {dialect.skip + 1} of {path} is {' '.join(first)[:60]!r}, words above numbers: delete it "
            f"if it is no edge, or add string_ids=True (--string-ids on the command line)."
        )


def _is_matrix(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Return whether rows are those of an adjacency matrix: with labels, or of 0 and 1, or symmetric."""
    if len(rows) > 1 and [row[0] for row in rows] == list(names[1:]):
        return True
    if names[0] == "column_0":  # an index of pandas
        return False
    square = len(rows) > 2 and all(len(row) == len(rows) for row in rows) and len(names) == len(rows)
    if not square or not all(is_number(part) for row in rows for part in row):
        return False
    return {part for row in rows for part in row} <= {"0", "1"} or [tuple(row) for row in rows] == [
        *zip(*rows, strict=True)
    ]
