"""Answers of a worker for a group that it does not know, for example after a restart."""

import asyncio
from types import SimpleNamespace

import pytest

from rapids_trav import TravError

pytest.importorskip("distributed")

from rapids_trav.distributed.session.rank_actor import WorkerRanks

GONE = WorkerRanks(SimpleNamespace(address="tcp://here"))


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("fail", {"reason": "a worker was lost", "rank": 0, "unregistered": "t"}),
        ("leave", {}),
        ("close", {"unregistered": None}),
    ],
)
def test_a_rank_that_has_gone_needs_no_more(action, told):
    """Such requests succeed; otherwise Dask would log a traceback on each restarted worker."""
    assert asyncio.run(GONE.serve("gone", action, **told)) == {"status": "ok"}


@pytest.mark.parametrize(
    ("action", "asked"),
    [
        ("call", {"request": b"", "token": "t"}),
        ("put", {"number": 0, "frame": None}),
    ],
)
def test_a_rank_that_has_gone_answers_nothing(action, asked):
    with pytest.raises(TravError, match="Worker tcp://here has no part of this graph"):
        asyncio.run(GONE.serve("gone", action, **asked))
