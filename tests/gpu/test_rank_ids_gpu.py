"""Ids over loopback ranks of one GPU agree with the ids of a local build from the same cuDF columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from loopback import run_ranks

from rapids_trav import TravError, UnknownVertexError
from rapids_trav.distributed.ranks import renumber_spread
from rapids_trav.distributed.ranks.columns import exchange_columns
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.frames.columns import Masked, move
from rapids_trav.frames.libraries import library
from rapids_trav.ids.lookup import lookup
from rapids_trav.ids.renumber import renumber

pytestmark = pytest.mark.gpu
cudf = pytest.importorskip("cudf", reason="cuDF is not installed")
CUDF = library("cudf")
CARRIED = tuple(map(np.dtype, ("i4", "u4", "i8", "u8", "f4", "f8")))

NUMBERS = np.random.default_rng(0).integers(0, 41, 60)
KINDS = {
    "consecutive": pd.Series(np.append(np.arange(41), NUMBERS) - 7, dtype="int16"),
    "int8": pd.Series(3 * NUMBERS - 60, dtype="int8"),
    "uint16": pd.Series(1000 * NUMBERS, dtype="uint16"),
    "int32": pd.Series(50_000_000 * NUMBERS, dtype="int32"),
    "huge": pd.Series((NUMBERS - 20) * 2**57, dtype="int64"),
    "past int64": pd.Series(np.uint64(2**64 - 1) - NUMBERS.astype("uint64") * np.uint64(2**57)),
    "float64": pd.Series((NUMBERS - 20) * 2.0**40),
    "words": pd.Series([f"wörd {k * k}" for k in NUMBERS]),
    "dates": pd.Series(pd.to_datetime(NUMBERS * 10**15)).astype("datetime64[ns]"),
    "durations": pd.Series(pd.to_timedelta(NUMBERS, "min")).astype("timedelta64[ms]"),
    "categories": pd.Series([f"c{k}" for k in NUMBERS]).astype(
        pd.CategoricalDtype([f"c{k}" for k in range(40, -1, -1)])
    ),
}


SAMPLES_AND_ROUNDS = {"all": (256, 3), "few": (1, 3), "rounds": (1, 0)}


@pytest.fixture
def sample(monkeypatch):
    """Return a function that sets the samples of each range and the ids that a rank receives in a round."""

    def choose(name):
        sampled, most = SAMPLES_AND_ROUNDS[name]
        monkeypatch.setattr(renumber_spread, "SAMPLED", sampled)
        monkeypatch.setattr(renumber_spread, "MOST", most)

    return choose


class Checked:
    """Communicator of a rank that asserts that it sends only device arrays of types that NCCL carries."""

    def __init__(self, communicator, cupy):
        self._communicator = communicator
        self._cupy = cupy

    def __getattr__(self, name):
        return getattr(self._communicator, name)

    def exchange(self, group, arrays, known=None):
        assert all(isinstance(array, self._cupy.ndarray) and array.dtype in CARRIED for array in arrays)
        return self._communicator.exchange(group, arrays, known)

    def all_gather(self, group, array, known=None):
        return self.exchange(group, [array] * len(group), known)


def on_ranks(cupy, size, function):
    """Call `function(rank)` on ranks of one device; return a TravError as the result of its rank."""
    from rapids_trav.engines.multigpu.local_cuda import CudaWork

    def work(communicator):
        try:
            return function(Rank(Checked(communicator, cupy), CudaWork(), CUDF))
        except TravError as error:
            return error

    return run_ranks(size, work, deadline=60)


def on_host(column):
    """Return a decoded column as a list of values, with None for null."""
    if isinstance(column, Masked):
        values, valid = (move(part, np) for part in column)
        return [value if real else None for value, real in zip(values.tolist(), valid.tolist(), strict=True)]
    if isinstance(column, cudf.Series):
        return [None if pd.isna(value) else value for value in column.to_pandas().tolist()]
    return move(column, np).tolist()


def cut(column, size):
    """Return a piece of a column for each rank, the last one empty."""
    bounds = np.linspace(0, len(column), max(size - 1, 1) + 1).astype(int).tolist()
    bounds = [*bounds, len(column)][: size + 1]
    return [column.iloc[bounds[k] : bounds[k + 1]] for k in range(size)]


def compare(cupy, columns, size):
    """Compare the ids of columns that are distributed over ranks with the ids of the whole columns."""
    columns = [cudf.from_pandas(column.rename(f"c{i}")) for i, column in enumerate(columns)]
    wanted, codes = renumber([[(column.name, column) for column in columns]], len(columns), CUDF, cupy)
    pieces = [cut(column, size) for column in columns]
    places = cupy.asarray(np.random.default_rng(1).integers(0, wanted.n, 20))
    holes = cupy.where(cupy.arange(20) % 3 == 1, -1, places)

    def build(rank):
        ids, (found,) = build_ids(rank, [[piece[rank.rank] for piece in pieces]])
        again = ids.encoder(many=True)([piece[rank.rank] for piece in pieces])
        return ids, found, again, ids.decode(None), ids.decode(places), ids.decode(holes, nulls=True)

    answers = on_ranks(cupy, size, build)
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    found = np.concatenate([move(answer[1], np) for answer in answers])
    assert found.tolist() == move(codes(0), np).tolist()
    for k, (ids, found, again, held, decoded, nulls) in enumerate(answers):
        assert (ids.n, ids.dtypes) == (wanted.n, wanted.dtypes)
        assert found.dtype == np.int64
        assert again.tolist() == found.tolist()
        here = cupy.arange(int(ids.firsts[k]), int(ids.firsts[k + 1]))
        for one, other in ((held, wanted.decode(here)), (decoded, wanted.decode(places)),
                           (nulls, wanted.decode(holes, nulls=True))):  # fmt: skip
            assert list(map(on_host, one)) == list(map(on_host, other))
    return [answer[0] for answer in answers]


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(cupy, kind, size):
    compare(cupy, [KINDS[kind]], size)


@pytest.mark.parametrize("how", ["few", "rounds"])
@pytest.mark.parametrize("kind", ["huge", "words", "dates", "categories"])
def test_few_samples_and_more_rounds(cupy, sample, kind, how):
    sample(how)
    compare(cupy, [KINDS[kind]], 3)


@pytest.mark.parametrize("how", SAMPLES_AND_ROUNDS)
@pytest.mark.parametrize("kinds", [("words", "int8"), ("huge", "float64"), ("categories", "words", "dates")])
def test_several_columns(cupy, sample, kinds, how):
    sample(how)
    compare(cupy, [KINDS[kind].iloc[:60] for kind in kinds], 3)


def test_many_words(cupy, monkeypatch):
    """There are more words than the sample holds, so that hashes choose."""
    monkeypatch.setattr(renumber_spread, "MOST", 1)
    numbers = np.random.default_rng(2).integers(0, 10**9, 20_000)
    for ids in compare(cupy, [pd.Series(numbers.astype(str))], 3):
        assert (np.diff(ids.firsts) > 0).all()


@pytest.mark.parametrize("kind", ["huge", "consecutive", "words", "categories"])
def test_look_ups(cupy, kind):
    column = cudf.from_pandas(KINDS[kind].rename("src"))
    known = KINDS[kind].iloc[3]
    unknown = "nowhere" if kind in ("words", "categories") else 12345
    whole, _ = renumber([[("src", column)]], 1, CUDF, cupy)
    pieces = cut(column, 3)

    def work(rank):
        ids, _ = build_ids(rank, [[pieces[rank.rank]]])
        found = lookup("sources", [known, known], ids, CUDF)
        try:
            lookup("sources", [known, unknown], ids, CUDF)
        except UnknownVertexError as error:
            return found.tolist(), str(error)
        return None

    wanted = lookup("sources", [known, known], whole, CUDF).tolist()
    for answer in on_ranks(cupy, 3, work):
        assert answer[0] == wanted
        assert answer[1].startswith(f"sources contains 1 unknown vertex: {unknown!r}:")


def test_what_one_rank_refuses_all_refuse(cupy):
    columns = [cudf.Series([1.0, 2.0], name="src"), cudf.Series([3.0, 1.5], name="src")]
    errors = on_ranks(cupy, 2, lambda rank: build_ids(rank, [[columns[rank.rank]]]))
    assert {str(error) for error in errors} == {
        "Column 'src' holds 1.5, which is not a whole number: round it, or use astype(str) to take the "
        "values as labels."
    }


@pytest.mark.parametrize("kind", KINDS)
def test_columns_from_rank_to_rank(cupy, kind):
    column = cudf.from_pandas(KINDS[kind])

    def work(rank):
        return exchange_columns(rank, [column.iloc[k : 10 + rank.rank] for k in range(2)])

    for receiver, answer in enumerate(on_ranks(cupy, 2, work)):
        for sender, found in enumerate(answer):
            wanted = column.iloc[receiver : 10 + sender].reset_index(drop=True)
            assert found.dtype == wanted.dtype
            pd.testing.assert_series_equal(found.to_pandas(), wanted.to_pandas(), check_names=False)
