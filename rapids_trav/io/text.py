"""Reader of delimited text: Arrow parses it, and what is special to edges is checked."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from rapids_trav.errors import NoEdgesError, TravError
from rapids_trav.io import rows
from rapids_trav.io.dialect import Dialect, is_infinite, is_number
from rapids_trav.io.header import NULLS
from rapids_trav.io.sniff import quote_error
from rapids_trav.utilities.progress import reporter

INTEGER = r"^-?(0|[1-9][0-9]*)$"
WHOLE = r"^-?(0|[1-9][0-9]*)(\.0*)?$"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
FRACTION = r"[+-]?[0-9]*\.[0-9]*[1-9][0-9]*([eE].*)?"
AMID = r"(-?[0-9.]+[ \t]+[#%]|.*[ \t]#[ \t]).*"  # a field that may end with a comment
FLOAT = r"^-?[0-9]\.[0-9]{18}e[+-][0-9]{2}$"  # numpy.savetxt writes numbers like this
GROUPED = r"-?[0-9]{1,3}\.000"
THOUSANDS = r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?"
FEW = 1000  # values at which a column is looked at first
LINE = " \r\n"
HELP = "add string_ids=True (--string-ids on the command line) to take the values as they are written"


def read_rows(
    path: Path, dialect: Dialect, ends: tuple[Sequence[str], Sequence[str]], string_ids: bool
) -> tuple[pa.Table, int]:
    """Return the rows, with ends that are all integers or all strings, and how many comments were skipped."""
    pairs, ids = list(zip(*ends, strict=True)), [*ends[0], *ends[1]]
    types = first_types(dialect, pairs, string_ids)
    while True:
        # Among strings it does not matter how integers are written.
        words = not any(types[name] == pa.int64() for name in ids)
        tally = rows.Tally(comments=dialect.n_comments, unusual=words)
        stream = rows.Stream(rows.strict(path, dialect, tally, rows.blocks(path, dialect, reporter())))
        try:
            table = parse(stream, dialect, types, not string_ids)
        except pa.ArrowInvalid as error:
            if "Empty CSV file" in str(error):
                other = ", or say comment='' to read its comments" if tally.comments else ""
                raise NoEdgesError(f"{path} holds no edges: give at least one{other}.") from error
            _promote(path, dialect, types, pairs, error)
            continue
        if words or not tally.unusual:
            break
        types |= dict.fromkeys(ids, pa.string())
    if not dialect.multiline and table.num_rows != tally.rows:
        raise malformed(path, dialect, ids)
    table = checked(path, dialect, table, ids, string_ids, tally)
    if tally.marks and not dialect.explicit and _may_end_with_comments(table.columns[-1]):
        raise _doubtful(path, dialect, ids)
    if not string_ids:
        for pair in pairs:
            if pa.types.is_string(table[pair[0]].type):
                table = _numbers(path, dialect, table, pair, tally.marks)
    return table, tally.comments


def first_types(
    dialect: Dialect, pairs: Sequence[tuple[str, str]], string_ids: bool
) -> dict[str, pa.DataType | None]:
    """Return the types of the columns in the first rows; those of a pair of ends are the same."""
    types = {name: _first_type(dialect, i) for i, name in enumerate(dialect.names)}
    for pair in pairs:
        numbers = not string_ids and all(types[name] == pa.int64() for name in pair)
        types |= dict.fromkeys(pair, pa.int64() if numbers else pa.string())
    return types


def parse(
    stream: rows.Stream, dialect: Dialect, types: dict[str, pa.DataType | None], marks: bool
) -> pa.Table:
    """Return strict rows as a table of these types, if given; with `marks`, NA is null in strings."""
    return pyarrow.csv.read_csv(
        pa.PythonFile(stream, mode="r"),
        read_options=pyarrow.csv.ReadOptions(column_names=dialect.names, block_size=rows.BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char=dialect.quote or False,
            newlines_in_values=dialect.multiline,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: type for name, type in types.items() if type is not None},
            null_values=["", *NULLS],
            strings_can_be_null=marks,
            quoted_strings_can_be_null=False,
            decimal_point=dialect.decimal,
        ),
    )


def _first_type(dialect: Dialect, column: int) -> pa.DataType | None:
    """Return the type of a column in the first rows, or None if they have no value of it."""
    values = [row[column] for row in dialect.sample if len(row) > column]
    values = [value for value in values if value and value not in NULLS]
    if not values:
        return None
    if all(re.fullmatch(INTEGER, value) and len(value) < 19 for value in values):
        return pa.int64()
    if all(is_number(value, dialect.decimal) or is_infinite(value) for value in values):
        return pa.float64()
    return pa.bool_() if all(value in ("True", "False", "true", "false") for value in values) else pa.string()


def _promote(
    path: Path,
    dialect: Dialect,
    types: dict[str, pa.DataType | None],
    pairs: Sequence[tuple],
    error: Exception,
) -> None:
    """Change the type of the column that could not be read, or raise the error for the row."""
    found = re.match(r"In CSV column #(\d+): CSV conversion error to (\w+)", str(error))
    if found is None or found[2] == "string":
        if found is not None or "invalid UTF8" in str(error):
            _check_encoding(path, dialect)
        raise malformed(path, dialect, [name for pair in pairs for name in pair]) from error
    name = dialect.names[int(found[1])]
    pair = next((pair for pair in pairs if name in pair), None)
    wider = pa.float64() if found[2] == "int64" and pair is None else pa.string()
    types |= dict.fromkeys(pair or [name], wider)


def _check_encoding(path: Path, dialect: Dialect) -> None:
    line = dialect.skip + 1
    for block in rows.blocks(path, dialect):
        rows.decoded(path, block, "utf-8", line)
        line += block.count(b"\n")


def checked(
    path: Path, dialect: Dialect, table: pa.Table, ids: Sequence[str], string_ids: bool, tally: rows.Tally
) -> pa.Table:
    """Return a table whose ids are there and of one kind, without blanks around them."""
    for i, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(name).type):
            column = pc.ascii_trim(table[name], " \t") if tally.blanks else table[name]
            if tally.unseen:
                column = pc.utf8_trim(column, f" \t{rows.UNSEEN}")
            if string_ids and name not in ids:
                column = pc.if_else(pc.is_in(column, pa.array(["", *NULLS])), None, column)
            table = table.set_column(i, name, column)
    may_be_empty = string_ids or tally.blanks or tally.quotes  # other empty fields are nulls
    for name in ids:
        column = table[name]
        if column.null_count or (may_be_empty and pa.types.is_string(column.type) and _has(column, "")):
            raise _missing(path, dialect, ids)
    return table


def _numbers(path: Path, dialect: Dialect, table: pa.Table, ids: Sequence[str], marks: bool) -> pa.Table:
    """Return ids that are all whole numbers as integers; others stay strings."""
    columns = [table[name] for name in ids]
    if dialect.header and all(_has(column, name) for column, name in zip(columns, ids, strict=True)):
        raise _repeated(path, dialect, ids)
    if dialect.decimal == ",":  # a point is then no part of a number
        columns = [pc.replace_substring(pc.replace_substring(c, ".", "_"), ",", ".") for c in columns]
    if marks and not dialect.explicit and any(_holds(column, AMID) for column in columns):
        raise _doubtful(path, dialect, ids)
    if all(_are(column, FLOAT) for column in columns):
        floats = [column.cast(pa.float64()) for column in columns]
        if all(pc.all(pc.less(pc.abs(column), 2.0**53)).as_py() for column in floats):
            try:
                whole = [column.cast(pa.int64()) for column in floats]
            except pa.ArrowInvalid:  # fractions, which are refused below
                pass
            else:
                return _replaced(table, ids, whole)
    if all(_are(column, WHOLE) for column in columns):
        if dialect.delimiter == ";" and any(_holds(column, GROUPED) for column in columns):
            raise TravError(
                f"Columns {' and '.join(map(repr, ids))} of {path} hold numbers such as 1.000, where the "
                f"point may group digits: remove the points, or {HELP}."
            )
        for kind in (pa.int64(), pa.uint64()):
            try:
                whole = [pc.replace_substring_regex(column, r"\.0*$", "").cast(kind) for column in columns]
            except pa.ArrowInvalid:
                continue
            return _replaced(table, ids, whole)
    elif all(_are(column, NUMBER) for column in columns) and any(
        _holds(column, FRACTION) for column in columns
    ):
        raise TravError(
            f"Columns {' and '.join(map(repr, ids))} of {path} hold fractions, which are unlikely ids: name "
            f"other columns with src= and dst=, or {HELP}."
        )
    return table


def _replaced(table: pa.Table, names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> pa.Table:
    for name, column in zip(names, columns, strict=True):
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _may_end_with_comments(column: pa.ChunkedArray) -> bool:
    """Return whether all strings of a column are numbers but for a comment behind some."""
    if not pa.types.is_string(column.type) or not pc.any(pc.match_substring(column, "#")).as_py():
        return False
    return _are(column, rf"{NUMBER[:-1]}([ \t]+#.*)?$")


def _are(column: pa.ChunkedArray, pattern: str) -> bool:
    if len(column) > FEW and not _are(column.slice(0, FEW), pattern):  # most columns of words end here
        return False
    return bool(pc.all(pc.match_substring_regex(column, pattern)).as_py())


def _has(column: pa.ChunkedArray, value: str) -> bool:
    return bool(pc.any(pc.equal(column, value)).as_py())


def _holds(column: pa.ChunkedArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(column, f"^{pattern}$")).as_py())


def malformed(path: Path, dialect: Dialect, ids: Sequence[str]) -> TravError:
    """Return the error for the first line with too many or too few fields, or without an id."""
    expected = len(dialect.names)
    positions = [dialect.names.index(name) for name in ids]
    try:
        for number, line, fields in rows.numbered(path, dialect):
            if len(fields) != expected or not all(fields[i] for i in positions):
                if dialect.quote and dialect.quote in line and len(fields) != expected:
                    return quote_error(path, number, line)
                other = ""
                if dialect.header and number == dialect.skip + 1 and len(fields) == expected + 1:
                    other = "; if rows begin with names that R gave them, name their column in the header"
                elif dialect.delimiter == " " and len(fields) != expected:
                    sign = next((sign for sign in dialect.comments if sign in line), None)
                    other = (
                        "; if this is an adjacency list, write each edge on a line of its own, and say "
                        "format='metis' if its first line counts vertices and edges, as in METIS"
                    )
                    if sign:
                        other = f"; if {sign} begins no comment, say comment=''"
                return TravError(
                    f"Line {number} of {path} is {line.strip(LINE)[:60]!r}, where {expected} fields are "
                    f"expected and {' and '.join(ids)} must not be empty: correct or delete it{other}."
                )
    except csv.Error as error:
        return TravError(f"{path} cannot be read: {error}; close each quote.")
    return TravError(
        f"{path} has a row that is not an edge: give each row {expected} fields, and close each quote."
    )


def _missing(path: Path, dialect: Dialect, ids: Sequence[str]) -> TravError:
    """Return the error for the first row with a mark for "no value" in place of an id."""
    for number, _, fields in rows.numbered(path, dialect):
        for name in ids:
            value = fields[dialect.names.index(name)] if len(fields) == len(dialect.names) else ""
            if value in NULLS:
                return TravError(
                    f"Line {number} of {path} has {value!r} in column {name!r}, which means that there is no "
                    f"value (null): delete the line, or {HELP}."
                )
            if not value:
                return malformed(path, dialect, ids)
    return malformed(path, dialect, ids)


def _repeated(path: Path, dialect: Dialect, ids: Sequence[str]) -> TravError:
    for number, _, fields in rows.numbered(path, dialect):
        if tuple(fields) == dialect.names:
            return TravError(f"Line {number} of {path} repeats the header: delete it.")
    return malformed(path, dialect, ids)


def _doubtful(path: Path, dialect: Dialect, ids: Sequence[str]) -> TravError:
    for number, line, fields in rows.numbered(path, dialect):
        if any(re.fullmatch(AMID, field) for field in fields):
            return TravError(
                f"Line {number} of {path} is {line.strip()[:60]!r}, which may end with a comment: say "
                f"comment='#' to cut it, or comment='' to read it."
            )
    return malformed(path, dialect, ids)


def check_weight(path: Path, dialect: Dialect, table: pa.Table, name: str) -> None:
    """Refuse a column of weights that holds words; the message names the first."""
    if not pa.types.is_string(table.schema.field(name).type):
        return
    for number, _, fields in rows.numbered(path, dialect):
        value = fields[dialect.names.index(name)] if len(fields) == len(dialect.names) else ""
        if value and value not in NULLS and not is_number(value, dialect.decimal) and not is_infinite(value):
            other = ""
            if re.fullmatch(THOUSANDS, value):
                other = "; if commas group its digits, remove them"
            elif "," in value and dialect.decimal == ".":
                other = "; a comma before a fraction is read with decimal=','"
            raise TravError(
                f"Line {number} of {path} has {value[:60]!r} in column {name!r}, which is no number: correct "
                f"it, or name another column with weight={other}."
            )


def check_first_row(path: Path, dialect: Dialect, table: pa.Table) -> None:
    """Refuse a first row that tells the numbers of vertices and edges, as some formats do."""
    if not 2 <= table.num_columns <= 3 or table.num_rows < 3:
        return
    if not all(pa.types.is_integer(field.type) for field in table.schema):
        return
    counts = [column[0].as_py() for column in table.columns]
    n_edges = table.num_rows - 1
    if n_edges not in (counts[0], counts[-1]):
        return
    largest = max(pc.max(column.slice(1)).as_py() for column in table.columns[:2])
    others = counts[:-1] if counts[-1] == n_edges else counts[1:]
    if all(count in (largest, largest + 1) for count in others):
        raise TravError(
            f"Line {dialect.skip + 1} of {path} is '{' '.join(map(str, counts))}', which may count vertices "
            f"and edges: delete it, or say format='metis' if each line lists the neighbours of a vertex, or "
            f"name both ends with src=1 and dst=2 if it is an edge."
        )
