"""Columns sent from rank to rank keep their values and dtype."""

import numpy as np
import pandas as pd
import pytest
from spread_columns import KINDS, column, on_ranks

from rapids_trav.distributed.ranks.columns import exchange_columns


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind(kind, size):
    whole = column(kind, [5, 3, 8, 5, 11, 40])

    def given(sender, receiver):
        return whole.iloc[(sender + receiver) % 3 : 2 + 2 * receiver]

    answers = on_ranks(size, lambda rank: exchange_columns(rank, [given(rank.rank, k) for k in range(size)]))
    for receiver, answer in enumerate(answers):
        for sender, found in enumerate(answer):
            wanted = given(sender, receiver).reset_index(drop=True)
            pd.testing.assert_series_equal(found, wanted, check_names=False)
            assert [type(value) for value in found] == [type(value) for value in wanted]


@pytest.mark.parametrize(
    "values",
    [
        np.arange(3, dtype="int8"),
        pd.array([1, None, 3], "Int16"),
        np.array([True, False]),
        np.array([0.5, np.nan], "float32"),
        pd.to_datetime(["2000-01-01", None]),
        pd.array(["a", None], "str"),
        pd.array([1, 2], pd.CategoricalDtype([2, 1], ordered=True)),
        pd.array([], "string[pyarrow]"),
        np.array(["a", "b"], object),
    ],
)
def test_arrays_and_nulls(values):
    wanted = pd.Series(values, dtype=values.dtype)
    found = on_ranks(2, lambda rank: exchange_columns(rank, [values, values]))[1][0]
    pd.testing.assert_series_equal(found, wanted)


def test_a_slice_travels_without_the_rest():
    """Neither the rest of an Arrow buffer nor other Python objects are sent with a slice."""
    for kind in ("arrow strings", "object", "text", "huge"):
        whole = column(kind, list(range(30)) * 1000)

        def bytes_sent(rank, whole=whole):
            exchange_columns(rank, [whole.iloc[10:13]] * 2)
            return rank.communicator.traffic.bytes

        assert max(on_ranks(2, bytes_sent)) < 2500
