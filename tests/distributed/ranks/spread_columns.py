"""Columns of ids on several ranks, compared with a build of all columns in one place."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
from loopback import run_ranks

from rapids_trav import TravError
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.distributed.ranks.spread_ids import SpreadMap
from rapids_trav.engines.multigpu.communicator import Communicator
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.frames.columns import Masked
from rapids_trav.frames.libraries import library
from rapids_trav.ids.renumber import renumber

PANDAS = library("pandas")
SIZES = (1, 2, 3, 4, 6)
CARRIED = tuple(map(np.dtype, ("i4", "u4", "i8", "u8", "f4", "f8")))  # between GPUs, see `multigpu.nccl`
Side = Sequence[pd.Series]  # the columns of one list of ids


class Checked:
    """Communicator of one rank that records the bytes received and checks the arrays sent.

    Every communicator must be able to send them: one-dimensional arrays of the dtypes in `CARRIED`.
    """

    def __init__(self, communicator: Communicator) -> None:
        self._communicator = communicator
        self.received: list[int] = []  # bytes from other ranks, one entry per call

    def __getattr__(self, name: str) -> object:
        return getattr(self._communicator, name)

    def exchange(self, group, arrays, known=None):
        assert all(array.ndim == 1 and array.dtype in CARRIED for array in arrays)
        received = self._communicator.exchange(group, arrays, known)
        self.received.append(sum(array.nbytes for k, array in enumerate(received) if k != self.rank))
        return received

    def all_gather(self, group, array, known=None):
        return self.exchange(group, [array] * len(group), known)


def on_ranks(size: int, function: Callable[[Rank], object]) -> list:
    """Call `function(rank)` on every rank; return each result, or the `TravError` raised instead."""

    def work(communicator):
        try:
            return function(Rank(Checked(communicator), CpuWork(), PANDAS))
        except TravError as error:
            return error

    return run_ranks(size, work, deadline=20)


def parts(
    column: pd.Series, size: int, seed: int = 0, *, bounds: Sequence[int] | None = None
) -> list[pd.Series]:
    """Cut a column into one piece for each rank; some pieces may be empty."""
    if bounds is None:
        bounds = np.sort(np.random.default_rng(seed).integers(0, len(column) + 1, size - 1)).tolist()
    edges = [0, *bounds, len(column)]
    return [column.iloc[begin:end] for begin, end in pairwise(edges)]


def spread(sides: Sequence[Side], size: int, seed: int = 0) -> list[list[Side]]:
    """Cut the columns of each list of ids at the same rows; return the sides of each rank."""
    pieces = [[parts(column, size, seed + i) for column in side] for i, side in enumerate(sides)]
    return [[[column[k] for column in side] for side in pieces] for k in range(size)]


def as_values(column: object) -> pd.Series:
    """Return decoded ids as a Series with their dtype."""
    if isinstance(column, Masked):
        return pd.Series(column.values).where(column.valid)
    return pd.Series(column)


def same(found: Sequence[object], wanted: Sequence[object]) -> None:
    """Check that columns and their dtypes are equal."""
    for one, other in zip(found, wanted, strict=True):
        assert isinstance(one, Masked) == isinstance(other, Masked)
        pd.testing.assert_series_equal(as_values(one), as_values(other), check_names=False)


def agree(ranks: Sequence[Sequence[Side]], unknown: Sequence[Side] = ()) -> list[SpreadMap]:
    """Build ids on every rank and compare all their results with a build of all columns in one place.

    Parameters
    ----------
    ranks : sequence of sequences of sides
    unknown : sequence of sides
        Ids that all ranks look up; most of them do not occur in the columns.
    """
    width = len(next(side for sides in ranks for side in sides))
    wanted, codes = renumber(_joined(ranks), width, PANDAS, np)
    order = _order(ranks)
    rng = np.random.default_rng(1)
    places = [
        rng.integers(0, wanted.n, 5 + rank) if wanted.n else np.zeros(0, int) for rank in range(len(ranks))
    ]

    def build(rank):
        ids, found = build_ids(rank, ranks[rank.rank])
        mine = places[rank.rank]
        holes = np.where(np.arange(len(mine)) % 3 == 1, -1, mine)
        encode = ids.encoder()
        return {
            "ids": ids,
            "places": found,
            "held": ids.decode(None),
            "decoded": ids.decode(mine),
            "nulls": ids.decode(holes, nulls=True),
            "encoded": [encode(side) for side in unknown],
            "again": ids.encoder(many=True)(ranks[rank.rank][0]) if all(ranks) else None,
        }

    answers = on_ranks(len(ranks), build)
    errors = [answer for answer in answers if isinstance(answer, Exception)]
    if errors:
        raise errors[0]
    firsts = answers[0]["ids"].firsts
    assert (firsts[0], firsts[-1], len(firsts)) == (0, wanted.n, len(ranks) + 1)
    assert (np.diff(firsts) >= 0).all()
    for rank, answer in enumerate(answers):
        ids = answer["ids"]
        assert (ids.n, ids.width, ids.dtypes) == (wanted.n, width, wanted.dtypes)
        assert ids.firsts.tolist() == firsts.tolist()
        for position, found in enumerate(answer["places"]):
            assert found.dtype == np.int64
            assert found.tolist() == codes(order[rank, position]).tolist()
        here = np.arange(firsts[rank], firsts[rank + 1])
        same(answer["held"], wanted.decode(here))
        mine = places[rank]
        same(answer["decoded"], wanted.decode(mine))
        same(answer["nulls"], wanted.decode(np.where(np.arange(len(mine)) % 3 == 1, -1, mine), nulls=True))
        for side, found in zip(unknown, answer["encoded"], strict=True):
            assert (
                found.tolist() == (wanted.encoder()(side) if wanted.n else np.full(len(side[0]), -1)).tolist()
            )
        if answer["again"] is not None:
            assert answer["again"].tolist() == answer["places"][0].tolist()
    return [answer["ids"] for answer in answers]


def refuse_alike(ranks: Sequence[Sequence[Side]]) -> str:
    """Check that every rank refuses the columns for the same reason; return the message."""
    answers = on_ranks(len(ranks), lambda rank: build_ids(rank, ranks[rank.rank]))
    assert all(isinstance(answer, TravError) for answer in answers), answers
    assert len({(type(answer), str(answer)) for answer in answers}) == 1
    return str(answers[0])


def said_locally(ranks: Sequence[Sequence[Side]]) -> str:
    """Return the error message of a local build of all columns, joined by name."""
    whole: dict = {}
    for sides in ranks:
        for side in sides:
            whole.setdefault(side[0].name, []).append(side)
    joined = [[pd.concat(column) for column in zip(*sides, strict=True)] for sides in whole.values()]
    try:
        renumber([[(c.name, c) for c in side] for side in joined], len(joined[0]), PANDAS, np)
    except TravError as error:
        return str(error)
    raise AssertionError("the local build takes them")


def _order(ranks: Sequence[Sequence[Side]]) -> dict[tuple[int, int], int]:
    """Return the position of each side when sides of the same name are joined."""
    keys = [(rank, i) for rank, sides in enumerate(ranks) for i in range(len(sides))]
    names = [ranks[rank][i][0].name for rank, i in keys]
    ordered = sorted(range(len(keys)), key=lambda k: names.index(names[k]))
    return {keys[k]: position for position, k in enumerate(ordered)}


def _joined(ranks: Sequence[Sequence[Side]]) -> list[list[tuple]]:
    order = _order(ranks)
    sides = {position: ranks[rank][i] for (rank, i), position in order.items()}
    return [[(column.name, column) for column in sides[k]] for k in range(len(sides))]


def day(k: int) -> datetime.date:
    return datetime.date(2000, 1, 1) + datetime.timedelta(days=k)


# For each kind of id: the function that makes the k-th id, and the dtype of the column.
KINDS: dict[str, tuple[Callable[[int], object], object]] = {
    **{f"int{bits}": (lambda k: 3 * k - 60, f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": (lambda k: 3 * k, f"uint{bits}") for bits in (8, 16, 32, 64)},
    "consecutive": (lambda k: k - 7, "int16"),
    "huge": (lambda k: (k - 20) * 2**57 + k, "int64"),
    "past int64": (lambda k: 2**64 - 1 - k * 2**57, "uint64"),
    "float32": (lambda k: float(k * k), "float32"),
    "float64": (lambda k: float(k - 20) * 2**40, "float64"),
    "Int32": (lambda k: k * 1000, "Int32"),
    "arrow integers": (lambda k: k * 1000, "int64[pyarrow]"),
    "objects that are integers": (lambda k: k * 10**6, object),
    "text": (lambda k: f"word {k * k}", "str"),
    "string": (lambda k: f"word {k * k}", "string"),
    "python strings": (lambda k: f"w{k}", pd.StringDtype("python")),
    "object": (lambda k: f"word {k}", object),
    "arrow strings": (lambda k: "é" * (k % 5) + str(k), "string[pyarrow]"),
    "large arrow strings": (lambda k: str(k), "large_string[pyarrow]"),
    "bytes": (lambda k: bytes([k, k]), object),
    "dates": (lambda k: pd.Timestamp(2000, 1, 1) + pd.Timedelta(days=k), "datetime64[s]"),
    "nanoseconds": (lambda k: pd.Timestamp(k * 10**15 + 1), "datetime64[ns]"),
    "zoned": (lambda k: pd.Timestamp(k * 10**15, tz="Europe/Berlin"), "datetime64[ns, Europe/Berlin]"),
    "durations": (lambda k: pd.Timedelta(k, "min"), "timedelta64[ms]"),
    "periods": (lambda k: pd.Period(f"{2000 + k}", "Y"), "period[Y-DEC]"),
    "arrow dates": (day, "date32[pyarrow]"),
    "python dates": (day, object),
    "decimals": (lambda k: Decimal(k) / 4, object),
    "tuples": (lambda k: (k % 3, f"{k}"), object),
    "categories": (lambda k: f"c{k}", pd.CategoricalDtype([f"c{k}" for k in range(60, -1, -1)])),
    "ordered": (lambda k: k, pd.CategoricalDtype(list(range(60, -1, -1)), ordered=True)),
}


def column(kind: str, numbers: Sequence[int], name: str = "src") -> pd.Series:
    """Return a column of ids of one kind; equal numbers give equal ids."""
    make, dtype = KINDS[kind]
    values = [make(k) for k in numbers]
    if dtype is object and values and isinstance(values[0], tuple):
        array = np.empty(len(values), object)
        array[:] = values
        return pd.Series(array, name=name)
    return pd.Series(values, dtype=dtype, name=name)
