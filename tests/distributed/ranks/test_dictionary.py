"""Ids spread over ranks, compared with a build of all columns in one place."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pairs import FULL
from spread_columns import KINDS, SIZES, agree, column, on_ranks, parts, spread

from rapids_trav.distributed.ranks import renumber_spread
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.distributed.ranks.spread_ids import SpreadIds, SpreadRange

FEW = st.lists(st.integers(0, 40), max_size=30)
some = settings(max_examples=10 if FULL else 4, deadline=None, derandomize=True)


@pytest.fixture(
    autouse=True,
    scope="module",
    params=[
        pytest.param((256, 3), id="all"),
        pytest.param((1, 3), id="few", marks=pytest.mark.release),
        pytest.param((1, 0), id="rounds"),
    ],
)
def samples_and_rounds(request):
    """Sample all ids, or so few that most ranks have none of the splitters; also send one id at a time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(renumber_spread, "SAMPLED", request.param[0])
        patch.setattr(renumber_spread, "MOST", request.param[1])
        yield


@pytest.mark.parametrize("kind", KINDS)
@some
@given(st.data())
def test_every_kind_of_id(kind, data):
    src, dst = data.draw(FEW), data.draw(FEW)
    sides = [[column(kind, src)], [column(kind, dst, "dst")]]
    ranks = spread(sides, data.draw(st.sampled_from(SIZES)), data.draw(st.integers(0, 9)))
    agree(ranks, [[column(kind, data.draw(st.lists(st.integers(0, 42), max_size=5)))]])


@some
@given(st.data())
def test_several_columns(data):
    kinds = data.draw(
        st.lists(
            st.sampled_from(["consecutive", "huge", "text", "categories", "dates", "float64"]),
            min_size=2,
            max_size=3,
        )
    )
    rows = st.lists(st.tuples(*[st.integers(0, 8)] * len(kinds)), max_size=12)

    def side(name, rows):
        columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
        return [column(kind, numbers, name) for kind, numbers in zip(kinds, columns, strict=True)]

    sides = [side("src", data.draw(rows)), side("dst", data.draw(rows))]
    ranks = spread(sides, data.draw(st.sampled_from(SIZES)), data.draw(st.integers(0, 9)))
    agree(ranks, [side("src", data.draw(rows))])


@pytest.mark.parametrize(
    "dtypes",
    [
        ["int8", "int32", "int16"],
        ["uint8", "int8", "uint16"],
        ["int64", "uint64", "int64"],
        ["float32", "float64", "float32"],
        ["int32", "float64", "float32"],
        ["Int8", "int64", "UInt16"],
        ["int32[pyarrow]", "int8[pyarrow]", "int64[pyarrow]"],
        [object, "int8", "float32"],
    ],
)
@pytest.mark.parametrize("factor", [1, 5])
def test_numbers_of_several_dtypes(dtypes, factor):
    numbers = [[factor * k for k in part] for part in ([1, 7, 2], [3, 9], [7, 8, 4, 11])]
    ranks = [
        [[pd.Series(part, dtype=dtype, name="src")], [pd.Series(part[::-1], dtype=dtype, name="dst")]]
        for part, dtype in zip(numbers, dtypes, strict=True)
    ]
    agree(ranks, [[np.array([1, 2, 100])]])
    agree([sides[:1] for sides in ranks] + [[]])


@pytest.mark.parametrize(
    "dtypes",
    [
        ["str", object, "string"],
        ["string[pyarrow]", "str", "category"],
        ["category", "category", "str"],
        ["datetime64[s]", "datetime64[ns]", "datetime64[ms]"],
        ["datetime64[ns, UTC]", "datetime64[ns, Europe/Berlin]", "datetime64[ns, UTC]"],
    ],
)
def test_values_of_several_dtypes(dtypes):
    def part(dtype, numbers):
        values = [f"2000-01-{k + 1:02}" for k in numbers]
        made = pd.Series(values, dtype="datetime64[ns, UTC]" if "UTC" in str(dtypes) else None)
        return pd.Series(made.astype(dtype), name="src")

    numbers = [[1, 7, 2], [3, 9], [7, 8, 4, 11]]
    agree([[[part(dtype, few)]] for dtype, few in zip(dtypes, numbers, strict=True)])
    agree([[], [[part(dtypes[0], [])]], *([[part(dtype, [4, 5])]] for dtype in dtypes)])


@pytest.mark.parametrize("size", SIZES)
def test_categories(size):
    """Equal categories are ordered as categories, different ones by their values."""
    numbers = [5, 3, 9, 3, 1, 7]
    same = pd.CategoricalDtype([f"c{k}" for k in (9, 3, 5, 7, 1, 2)])
    words = pd.Series([f"c{k}" for k in numbers], name="src")
    equal = [[[part.astype(same)]] for part in parts(words, size)]
    ids = agree(equal, [[pd.Series(["c1", "c2", "x"], dtype="category")]])
    assert all(one.dtypes == (same,) for one in ids)
    if size > 1:
        other = [[[part.astype("category")]] for part in parts(words, size, bounds=[4] * (size - 1))]
        ids = agree(other)
        assert all(one.dtypes == (words.dtype,) for one in ids)
        shuffled = pd.CategoricalDtype(same.categories[::-1])
        other = [
            [[part.astype(same if k else shuffled)]]
            for k, part in enumerate(parts(words, size, bounds=[3] * (size - 1)))
        ]
        assert agree(other)[0].dtypes == (words.dtype,)
    numeric = [[[part.astype("category")]] for part in parts(pd.Series(numbers, name="src"), size)]
    agree(numeric)


@pytest.mark.parametrize("size", [2, pytest.param(3, marks=pytest.mark.release), 6])
@pytest.mark.parametrize("kind", ["consecutive", "huge", "text", "categories"])
def test_uneven_shares(size, kind):
    everything = column(kind, [4, 8, 8, 1, 30, 2, 0, 4, 11])
    nothing, equal = everything.iloc[:0], column(kind, [5] * 7)
    for holder in range(size):
        agree([[[everything if rank == holder else nothing]] for rank in range(size)], [[everything]])
        agree([[[everything], [nothing]] if rank == holder else [] for rank in range(size)])
    agree([[[everything]] for _ in range(size)])
    agree([[[equal], [equal]] for _ in range(size)])
    agree([[[nothing]] for _ in range(size)], [[equal]])
    agree([[[column(kind, [rank])]] for rank in range(size)])
    agree([[[column(kind, [k])] for k in range(rank)] for rank in range(size + 1)])


@pytest.mark.parametrize("size", SIZES)
def test_consecutive_integers_are_not_held(size):
    numbers = np.random.default_rng(0).permutation(1000).astype("int32") - 3
    whole = pd.Series(numbers, name="src")
    for ids in agree([[[part]] for part in parts(whole, size)], [[np.array([-4, -3, 996, 997])]]):
        assert isinstance(ids, SpreadRange)
        assert ids.nbytes == 0
        assert (abs(np.diff(ids.firsts) - 1000 / size) < 1).all()
    for ids in agree([[[part]] for part in parts(whole[whole != 500], size)]):
        assert isinstance(ids, SpreadIds)


def test_places_without_messages():
    """Each rank translates consecutive integers without messages, however many it is given."""

    def work(rank):
        ids, _ = build_ids(rank, [[pd.Series(np.arange(50) + rank.rank, name="src")]])
        before = rank.communicator.traffic
        ids.encoder()([pd.Series([7] * rank.rank)])
        ids.decode(np.arange(rank.rank))
        return rank.communicator.traffic - before

    assert all(traffic.messages == 0 for traffic in on_ranks(3, work))


def test_no_partitions_at_all():
    (one, other) = on_ranks(2, lambda rank: build_ids(rank, []))
    assert str(one) == str(other)
    assert str(one).startswith("The edges have no partitions")
