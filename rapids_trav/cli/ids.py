"""Vertex ids as they are written on the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import date, time, tzinfo
from decimal import Decimal
from uuid import UUID

import numpy as np
import pandas as pd

from rapids_trav.errors import TravError
from rapids_trav.frames.columns import Dtype
from rapids_trav.graph import Graph
from rapids_trav.io.write import to_pandas

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
        time: IdReader(time.fromisoformat, "times of a day"),
        UUID: IdReader(UUID, "UUIDs"),
        bytes: IdReader(
            lambda text: bytes.fromhex(text[2:]) if text.startswith("0x") else text.encode(),
            "bytes, as text or as a hexadecimal number such as 0xff00",
        ),
    }
    return objects.get(type(example), IdReader(str, "words"))


def _time(text: str, zone: tzinfo | None) -> pd.Timestamp:
    """Read a time; without a time zone it is in that of the ids."""
    stamp = pd.Timestamp(text)
    if zone is None and stamp.tzinfo is not None:
        raise ValueError(text)
    return stamp.tz_localize(zone) if zone is not None and stamp.tzinfo is None else stamp
