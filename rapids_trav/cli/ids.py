"""Vertex ids as they are written on the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from ..errors import TravError
from ..graph import Graph


@dataclass(frozen=True)
class IdReader:
    """Reads the ids of one column: `parse` gives the value that a text means, `what` says what it must be."""

    parse: Callable[[str], Any]
    what: str

    def read(self, text: str, option: str) -> Any:
        """The id, or the sentence that names the option."""
        try:
            return self.parse(text)
        except (ValueError, ArithmeticError):
            raise TravError(
                f"{option} {text}: the ids of these edges are {self.what}, and this is none."
            ) from None


def id_readers(graph: Graph) -> list[IdReader]:
    """One for each column of the graph's ids."""
    first = graph.id_columns("id", graph.engine.xp.zeros(min(graph.n_vertices, 1), dtype=np.int64))
    frame = graph.frame(first)
    frame = frame.to_pandas() if hasattr(frame, "to_pandas") else frame
    examples = frame.iloc[0].tolist() if len(frame) else [None] * len(first)
    return [_reader(dtype, example) for dtype, example in zip(graph.ids.dtypes, examples, strict=True)]


def _reader(dtype: Any, example: Any) -> IdReader:
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


def _time(text: str, zone: Any) -> pd.Timestamp:
    """A time; one without a zone is in the ids' own."""
    time = pd.Timestamp(text)
    if zone is None and time.tzinfo is not None:
        raise ValueError(text)
    return time.tz_localize(zone) if zone is not None and time.tzinfo is None else time
