"""Vertex ids as they are written on the command line, and columns of files that may hold them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, tzinfo
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Dtype, Frame, Series
from rapids_trav.graph import Graph
from rapids_trav.io.parquet import read_schema
from rapids_trav.io.write import to_pandas

LARGE = "hold numbers that 64 bits do not hold"
SEVERAL = "Several columns: a,b; a value with a comma in double quotes: '\"a,b\",c'."


@dataclass(frozen=True)
class IdReader:
    """Reader of the ids of one column: `parse` converts a text to its value, `what` describes valid ids."""

    parse: Callable[[str], Hashable]
    what: str

    def read(self, text: str, option: str) -> Hashable:
        """Read an id; an error names the option."""
        try:
            return self.parse(text)
        except (ValueError, ArithmeticError):
            raise TravError(
                f"{option} {text or repr(text)}: the ids of these edges are {self.what}: give one of them."
            ) from None


def split_id(text: str, width: int, option: str) -> list[str]:
    """Split an id of several columns, which is given as a row of CSV."""
    try:
        values = next(csv.reader([text], strict=True))
    except csv.Error:
        values = []
    if len(values) != width:
        raise TravError(
            f"{option} {text}: ids have {width} columns, written as a,b; put a value that holds a comma or a "
            f"quote into double quotes, as in '\"a,b\",c'."
        )
    return values


def id_readers(graph: Graph) -> list[IdReader]:
    """Return a reader for each column of the graph's ids."""
    contents = graph.contents
    first = contents.id_columns("id", graph.engine.xp.zeros(min(graph.n_vertices, 1), dtype=np.int64))
    return readers(to_pandas(contents.frame(first)), contents.ids.dtypes)


def readers(first: pd.DataFrame, dtypes: Sequence[Dtype]) -> list[IdReader]:
    """Return a reader for each column of ids, given a frame with the first id, if there is any."""
    examples = first.iloc[0].tolist() if len(first) else [None] * len(dtypes)
    return [_reader(dtype, example) for dtype, example in zip(dtypes, examples, strict=True)]


def _reader(dtype: Dtype, example: object) -> IdReader:
    dtype = dtype.categories.dtype if hasattr(dtype, "categories") else dtype
    if dtype.kind in "iu":
        return IdReader(int, "whole numbers")
    if dtype.kind == "f":
        return IdReader(float, "numbers")
    if dtype.kind == "M":
        zone = getattr(dtype, "tz", None)
        return IdReader(lambda text: _time(text, zone), f"times {f'in {zone}' if zone else 'without a zone'}")
    if dtype.kind == "m":
        return IdReader(pd.Timedelta, "durations")
    objects = {
        date: IdReader(date.fromisoformat, "dates"),
        Decimal: IdReader(Decimal, "decimal numbers"),
        bytes: IdReader(str.encode, "bytes"),
    }
    return objects.get(type(example), IdReader(str, "words"))


def _time(text: str, zone: tzinfo | None) -> pd.Timestamp:
    """Read a time; without a time zone it is in that of the ids."""
    time = pd.Timestamp(text)
    if zone is None and time.tzinfo is not None:
        raise ValueError(text)
    return time.tz_localize(zone) if zone is not None and time.tzinfo is None else time


def check_types(path: Path, src: list[str], dst: list[str]) -> None:
    """Refuse Parquet columns of lists and structs, which cannot be ids."""
    schema = read_schema(path)
    for name in (*src, *dst):
        if pa.types.is_nested(schema.field(name).type):
            raise TravError(
                f"Column {name!r} holds {schema.field(name).type}, which is not an id: give each part a "
                f"column of its own."
            )


def check_ids(frame: Frame, src: list[str], dst: list[str]) -> None:
    """Refuse text columns that do not hold ids of one kind; the error names the option that helps."""
    for pair in zip(src, dst, strict=True):
        kinds = {_kind(frame[name]) for name in pair}
        problem = next((f"hold {kind}" for kind in ("true and false", "fractions") if kind in kinds), None)
        if problem is None and any(_has_large_integers(frame[name]) for name in pair):
            problem = LARGE
        if problem is None and len(kinds) == 2:
            problem = _mixture(*(frame[name] for name in pair if _kind(frame[name]) == "words"))
        if problem:
            raise TravError(
                f"Columns {pair[0]!r} and {pair[1]!r} {problem}: "
                "add --string-ids to take them as words, or name other columns with --src and --dst."
            )


def _mixture(words: Series) -> str:
    """Describe a column that was read as words, beside a column of numbers."""
    whole = words.astype(str).str.match(r"[+-]?[0-9]+$")
    if bool(whole.all()):
        return LARGE
    return f"hold numbers in one and {'numbers and ' if bool(whole.any()) else ''}words in the other"


def _has_large_integers(column: Series) -> bool:
    """Return whether pandas has read integers of more than 64 bits, which it holds as objects."""
    return bool(column.dtype == object and pd.api.types.infer_dtype(column) == "integer")


def _kind(column: Series) -> str:
    kind = column.dtype.kind
    if kind == "f" and bool((column % 1 != 0).any()):
        return "fractions"
    return "true and false" if kind == "b" else "numbers" if kind in "iuf" else "words"
