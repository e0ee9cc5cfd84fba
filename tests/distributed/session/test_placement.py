"""Partitions stay on the workers that hold them; those that no rank has are spread over the ranks."""

from __future__ import annotations

import pytest

from rapids_trav.distributed.session.rank_group import place


@pytest.mark.parametrize(
    ("holders", "wanted"),
    [
        ([["a"], ["b"], ["a"], ["c"]], [0, 1, 0, 2]),
        ([["x"], ["x"], ["x"], ["x"]], [0, 1, 2, 0]),
        ([["a", "b"], ["a", "b"], ["b", "a"]], [0, 1, 0]),
        ([["x"], ["a"], [], ["a"]], [1, 0, 2, 0]),
        ([], []),
    ],
)
def test_places(holders, wanted):
    assert place(holders, ["a", "b", "c"]) == wanted
