"""Lookup of a caller's vertices by all ranks at once: answers and errors are those of a local graph."""

import numpy as np
import pandas as pd
import pytest
from pairs import FULL
from spread_columns import KINDS, PANDAS, column, on_ranks, parts

from rapids_trav import TravError
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.distributed.ranks.spread_ids import FEW
from rapids_trav.ids.lookup import lookup
from rapids_trav.ids.renumber import renumber

SIZES = (1, 3, 4)
NUMBERS = [5, 3, 9, 3, 12, 30, 7, 1]


def told(function):
    """Return an answer as a list, or the type and message of the error."""
    try:
        return function().tolist()
    except TravError as error:
        return type(error), str(error)


def compare(columns, vertices, size):
    """Check that lookups in spread ids give what ids in one place give; return these answers."""
    ids, _ = renumber([[(one.name, one) for one in columns]], len(columns), PANDAS, np)
    wanted = [told(lambda v=v: lookup("sources", v, ids, PANDAS)) for v in vertices]
    pieces = [parts(one, size, 3) for one in columns]

    def work(rank):
        spread, _ = build_ids(rank, [[piece[rank.rank] for piece in pieces]])
        assert (spread.rank, spread.order) == (None, None)
        assert spread.ascending is spread
        return [told(lambda v=v: lookup("sources", v, spread, PANDAS)) for v in vertices]

    for found in on_ranks(size, work):
        assert found == wanted
    return wanted


@pytest.mark.parametrize(
    ("kind", "size"),
    [(kind, size) for k, kind in enumerate(KINDS) for size in (SIZES if FULL else SIZES[k % 3 :][:1])],
)
def test_every_kind(kind, size):
    make, _ = KINDS[kind]
    known, unknown = make(9), make(33)
    vertices = [
        known,
        [known, make(1), known],
        [unknown],
        [known, unknown, make(1)],
        column(kind, [3, 1]),
        column(kind, [3, 4, 1, 4, 2, 8]),
        "no such word",
        [known, "no such word"],
        1.5,
        [],
        [known] * 70 + [unknown],
        *([known, make(1)] * (n // 2) + [known] * (n % 2) for n in (FEW, FEW + 1)),
        [known] * FEW + [unknown],
        pd.Series([known, known]),
    ]
    found = compare([column(kind, NUMBERS)], vertices, size)
    assert kind == "tuples" or isinstance(found[0], list)


@pytest.mark.parametrize("size", SIZES)
def test_pairs(size):
    columns = [pd.Series(list("abcab"), name="a"), pd.Series([1, 2, 3, 2, 1], name="n")]
    vertices = [("a", 1), [("a", 2), ("c", 3)], ("a", 3), ("z", 1), [("a", 1), ("b", "x")], "a", [("a",)]]
    found = compare(columns, vertices, size)
    assert found[:2] == [[0], [1, 4]]


@pytest.mark.parametrize("size", SIZES)
def test_objects_of_several_kinds_among_words(size):
    """Objects that cannot be compared with the ids are unknown; the others are found."""
    words = pd.Series(["d", "b", "a", "c"], dtype=object, name="a")
    vertices = [
        ["a", 7, "d"],
        [7, "b"] * 40,
        [7, "b"] * FEW,
        ["d"] * (FEW + 1),
        ["d", ("a", 1), None],
        [b"a"],
        [["a"]],
    ]
    compare([words], vertices, size)


@pytest.mark.parametrize("size", SIZES)
def test_a_graph_without_vertices(size):
    compare([pd.Series([], dtype="int64", name="a")], [1, []], size)
    compare([pd.Series([], dtype="str", name="a")], ["a"], size)


def test_ranks_may_ask_for_different_vertices():
    words = pd.Series([f"w{k:03}" for k in range(100)], name="a")

    def work(rank):
        ids, _ = build_ids(rank, [[part] for part in [parts(words, 3)[rank.rank]]])
        encode = ids.encoder(many=True)
        asked = words.iloc[rank.rank * 30 : rank.rank * 30 + 10 * rank.rank]
        places = encode([asked])
        return places, asked, ids.decode(places)[0]

    for places, asked, decoded in on_ranks(3, work):
        assert places.tolist() == asked.index.tolist()
        assert decoded.tolist() == asked.tolist()


def test_what_was_handed_out_may_be_written_to():
    def work(rank):
        ids, _ = build_ids(rank, [[pd.Series([5, 900_000, 7], name="a"), pd.Series(list("abc"), name="b")]])
        for _ in range(2):
            for one in ids.decode(None):
                one[:] = one.iloc[0] if hasattr(one, "iloc") else one[0]
        return [list(one) for one in ids.decode(None)]

    assert on_ranks(1, work) == [[[5, 7, 900_000], ["a", "c", "b"]]]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["uint8", "uint32", "int8"])
@pytest.mark.parametrize("ids", [[1, 2, 3, 4, 5], [1, 9, 30, 100, 120]], ids=["range", "gaps"])
def test_an_id_past_the_dtype_of_the_ids_does_not_wrap(dtype, ids, size):
    beyond = ids[0] + 2**32
    vertices = [ids[0], beyond, [beyond] * (FEW + 1), np.array([beyond], "u8")]
    found = compare([pd.Series(np.array(ids, dtype), name="src")], vertices, size)
    assert found[0] == [0]
    assert all(isinstance(answer, tuple) for answer in found[1:])
