"""Outcome of a request, from the answers of all ranks."""

from __future__ import annotations

from rapids_trav.distributed.session.rank_actor import agreed, failure_of

WORKERS = ["tcp://a:1", "tcp://b:2", "tcp://c:3"]


def failed(reason, rank):
    return {"status": "failed", "reason": reason, "rank": rank}


def test_a_lost_worker_explains_all():
    replies = [
        failed("the connection with rank 2, tcp://c:3, was lost", 2),
        {"status": "ok"},
        {"status": "lost"},
    ]
    assert failure_of(replies, WORKERS) == ("worker tcp://c:3, which held rank 2, was lost", 2)


def test_a_failure_that_names_a_rank_is_believed():
    replies = [
        failed("it did not answer", None),
        failed("rank 1 failed while searching: no", 1),
        {"status": "ok"},
    ]
    assert failure_of(replies, WORKERS) == (
        "rank 1 failed while searching: no (rank 1 is worker tcp://b:2)",
        1,
    )
    assert failure_of([failed("worker tcp://a:1 would not", 0)], WORKERS)[0] == "worker tcp://a:1 would not"
    assert failure_of([failed("enough", None)], WORKERS) == ("enough", None)


def test_a_late_rank_is_at_fault_if_nobody_says_why():
    late = {"status": "late", "seconds": 10.0}
    assert failure_of([{"status": "ok"}, late, late], WORKERS) == (
        "worker tcp://b:2 did not answer within 10 s",
        1,
    )
    assert failure_of([late, failed("rank 2 did not come", 2)], WORKERS * 2)[1] == 2


def test_results_and_errors_that_all_raised_are_no_failure():
    assert failure_of([{"status": "ok"}, {"status": "error"}], WORKERS) is None
    assert agreed([None, None]) is None
    assert agreed([["KeyError", "7"], ["KeyError", "7"]]) is None


def test_ranks_that_end_differently():
    assert agreed([None, ["MemoryError", "all gone"], None]) == ("rank 1 failed alone: all gone", 1)
    assert agreed([["TypeError", "a"], ["KeyError", "b"]]) == ("rank 0 failed alone: a", 0)
