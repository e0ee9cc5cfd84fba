"""Frames with hostile labels, and with random values of mixed kinds."""

from __future__ import annotations

import contextlib
import datetime
import functools
import random
from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from rapids_trav import Graph, TravError

from .cases import Case
from .columns import all_reached
from .oracle import answered, counted, distances, expect


def cases(seed: int) -> Iterator[Case]:
    """Yield the cases of labels, then those of random values."""
    for name, label in LABELS.items():
        yield Case(f"labels: {name}", functools.partial(_labelled, label))
    generator = random.Random(seed)
    for i in range(150):
        yield Case(f"random values: {i} of seed {seed}", functools.partial(_mixture, _drawn(generator)))


LABELS: dict[str, Any] = {
    "numbers": [0, 1], "a boolean": [True, False], "tuples": [("a", 1), ("a", 2)], "none": [None, "dst"],
    "not a number": [float("nan"), "dst"], "null": [pd.NA, "dst"],
    "no text": pd.Index(["\ud800", "dst"], dtype=object), "fractions": [0.5, 1.5],
    "empty": ["", " "], "twice": ["src", "src"], "moments": list(pd.date_range("2000", periods=2)),
    "bytes": [b"src", b"dst"], "long": ["s" * 10_000, "d" * 10_000], "lines": ["s\nrc", "d\nst"],
    "several levels": pd.MultiIndex.from_tuples([("src", "x"), ("dst", "x")]),
    "quotes": ["'", '"'], "the names of answers": ["vertex", "distance"], "capitals": ["SRC", "DST"],
    "the library's default": ["src", "dst"], "a frozen set": [frozenset(), 1],
}  # fmt: skip


def _labelled(label: Any) -> None:
    frame = pd.DataFrame([[0, 1], [1, 2]])
    frame.columns = label
    first, second = list(frame.columns)
    graph = Graph.from_edges(frame, first, second)
    all_reached(graph.bfs(0), 3)
    expect(len(graph.khop(0, 1).edges) == 1)
    Graph.from_edges(frame, first, second, weight=second).save("saved")
    answered(lambda: Graph.open("saved", engine="cpu"))


NUMBERS: list[Any] = [
    0, 1, 2, 3, -1, 1.0, 2.0, 2**31, 2**53 + 1, float(2**53), 2**63 - 1, -(2**63), -0.0, np.int8(1),
    np.uint8(2), np.float16(1), np.float32(3), np.int64(2**53),
]  # fmt: skip
WORDS: list[Any] = [
    *("", " ", "a", "b", "A", "NA", "1", "a\0", "é", "e\u0301", "nan", "None", np.str_("a"), "\n"),
]
MOMENTS: list[Any] = [*pd.date_range("2000", periods=4), datetime.datetime(2000, 1, 2), pd.Timestamp(0)]
ODD: list[Any] = [
    0.5, 2**63, 2**64, 10**30, True, False, None, float("nan"), float("inf"), 1e308, "\ud800", b"", b"a", (),
    (1,), [], {}, 1j, Decimal("1"), Decimal("NaN"), Fraction(1, 2), datetime.date(2000, 1, 1),
    datetime.timedelta(1), np.uint64(2**64 - 1), np.float64("nan"), np.bool_(True),
    np.datetime64("NaT"), pd.NA, pd.NaT,
    pd.Interval(0, 1), frozenset(), object(),
]  # fmt: skip


def _drawn(generator: random.Random) -> list[Any]:
    """Return values of one kind, perhaps with an odd one among them."""
    pool = generator.choice([NUMBERS, WORDS, MOMENTS])
    values = [generator.choice(pool) for _ in range(generator.randint(2, 6))]
    if generator.random() < 0.5:
        values[generator.randrange(len(values))] = generator.choice(ODD)
    return values


def _mixture(values: list[Any]) -> None:
    """Check a path along any values: refused, or answered as the values compare in Python."""
    column = pd.Series(values, dtype=object)
    frame = pd.DataFrame(
        {"src": column[:-1].reset_index(drop=True), "dst": column[1:].reset_index(drop=True)}
    )
    graph = frame.trav.graph()
    expect(graph.n_vertices == len(set(values)), graph)
    found = distances(pairwise(values), values[:1])
    answer = graph.bfs(column[:1])
    expect(counted(answer) == sorted(found.values()), answer)
    try:
        frame = pd.DataFrame({"src": values[:-1], "dst": values[1:]})
    except UnicodeEncodeError:
        return  # pandas makes no text column of values that are not text
    with contextlib.suppress(TravError):  # pandas' own types, which may have rounded the values
        frame.trav.graph()
