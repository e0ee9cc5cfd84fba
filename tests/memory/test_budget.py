"""Amounts of memory, budgets that enforce a limit, and pages cut to fit a budget."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rapids_trav.csr.pages import page_rows, plan_pages, resident_ends
from rapids_trav.errors import TravError, TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.paged import cut_within
from rapids_trav.utilities.sizes import parse_bytes, readable, readable_limit

common = settings(max_examples=200)


@pytest.mark.parametrize(
    ("amount", "n_bytes"),
    [
        ("8GB", 8 * 10**9),
        ("500 MB", 500 * 10**6),
        ("1GiB", 2**30),
        ("1.5 gib", 3 * 2**29),
        (".5k", 500),
        ("2T", 2 * 10**12),
        ("1PB", 10**15),
        ("100", 100),
        ("7 B", 7),
        ("9007199254740993", 2**53 + 1),
        (0, 0),
        (12345, 12345),
        (np.int32(7), 7),
        (8e9, 8 * 10**9),
        ("1e9", 10**9),
        ("2.5E3 kB", 2_500_000),
        ("9223372036854775807", 2**63 - 1),
        (np.float32(2**20), 2**20),
    ],
)
def test_amounts(amount, n_bytes):
    assert parse_bytes(amount) == n_bytes


@pytest.mark.parametrize(
    "amount",
    [
        "",
        "GB",
        "8 gigabytes",
        "-1",
        -1,
        1.5,
        -1.0,
        float("inf"),
        float("nan"),
        True,
        None,
        "8GB of it",
        "1e",
        "1e-3",
        "9" * 400,
        "1e999999999",
        2**63,
        1e300,
        "1..5",
        "٣GB",
    ],
)
def test_what_is_no_amount(amount):
    with pytest.raises(
        TravError, match=r"memory_limit=.* is not an amount of memory: give bytes as a whole number"
    ):
        parse_bytes(amount)


@common
@given(st.integers(0, 2**60))
def test_a_limit_that_is_read_back_suffices(n_bytes):
    assert n_bytes <= parse_bytes(readable_limit(n_bytes)) <= n_bytes + max(n_bytes // 90, 1)
    assert abs(parse_bytes(readable(n_bytes)) - n_bytes) <= n_bytes // 150 + 1


def test_budget_counts_and_refuses():
    budget = Budget("1kB")
    budget.allocate(600, "values")
    with budget.hold(300, "pages"):
        assert (budget.used, budget.free, budget.peak) == (900, 100, 900)
        assert budget.held() == {"values": 600, "pages": 300}
        with pytest.raises(TravMemoryError) as refused:
            budget.allocate(200, "messages")
        assert str(refused.value) == (
            "200 B are needed for messages, and memory_limit=1 kB leaves 100 B "
            "(values 600 B, pages 300 B held): give memory_limit at least 1.1 kB."
        )
        with pytest.raises(TravMemoryError, match=r"200 B are needed .* at least 1\.15 kB"):
            budget.allocate(200, "messages", lambda: 50)
        budget.require(100, "messages")
        with pytest.raises(TravMemoryError, match=r"101 B are needed for messages"):
            budget.require(101, "messages")
        with pytest.raises(TravMemoryError), budget.hold(101, "more"):
            pass
        with budget.hold(100, "more"):
            assert budget.free == 0
    assert (budget.used, budget.peak, budget.held()) == (600, 1000, {"values": 600})
    assert repr(budget) == "<Budget: 600 B of 1 kB, peak 1 kB>"


def test_what_is_kept_leaves_questions_their_room():
    budget = Budget(100)
    budget.allocate(30, "ids")
    assert budget.fits(50, 20) and not budget.fits(51, 20)

    def question():
        with budget.hold(40, "values"):
            assert budget.fits(30, 20) and not budget.fits(31, 20)  # it holds more than the 20 already
            assert budget.fits(10, 60) and not budget.fits(11, 60)
            with pytest.raises(TravMemoryError):
                budget.allocate(31, "rows")

    budget.ask(question)
    assert budget.used == 30


@pytest.mark.parametrize("asked", [False, True])
def test_what_a_block_keeps_lives_as_long_as_its_owner(asked):
    budget = Budget(100)

    class Owner:
        pass

    def question():
        owner = Owner()
        with budget.hold(60, "rows") as held:
            held.keep(owner, 20)
            with pytest.raises(ValueError, match="rows keeps 41 bytes but holds 40"):
                held.keep(owner, 41)
            held.keep(owner, 10, spare=True)
            assert budget.used == 60
        assert budget.used == 30
        assert budget.fits(80, 0) and not budget.fits(81, 0)  # what is spare may be freed
        return owner

    owner = budget.ask(question) if asked else question()
    assert budget.held() == {"rows": 30}
    del owner
    assert budget.used == 0 and budget.fits(100, 0)


def test_an_error_counts_small_holders_together():
    budget = Budget(10)
    for i, size in enumerate([4, 3, 1, 1, 1]):
        budget.allocate(size, f"part {i}")
    with pytest.raises(TravMemoryError, match=r"\(part 0 4 B, part 1 3 B, part 2 1 B, others 2 B held\)"):
        budget.allocate(1, "page")


def test_a_block_gives_back_what_it_held_when_it_fails():
    budget = Budget(10)
    with pytest.raises(ZeroDivisionError), budget.hold(10, "page"):
        raise ZeroDivisionError
    assert (budget.used, budget.peak) == (0, 10)


def test_threads_together_stay_within_the_limit():
    budget = Budget(70)
    refused = []

    def work(name):
        for _ in range(300):
            try:
                with budget.hold(20, name):
                    assert budget.used <= 70
            except TravMemoryError:
                refused.append(name)

    threads = [threading.Thread(target=work, args=(f"thread {i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.used == 0 and 20 <= budget.peak <= 60 and not budget.held()


def test_holders_of_nothing_leave_each_other_alone():
    budget = Budget(10)
    with budget.hold(0, "rows"), budget.hold(0, "rows"):
        pass
    first, second = budget.hold(0, "rows"), budget.hold(3, "rows")
    with first:
        with second:
            assert budget.held() == {"rows": 3}
        assert budget.used == 0
    assert not budget.held()


@st.composite
def offsets(draw):
    degrees = draw(st.lists(st.one_of(st.just(0), st.integers(0, 30)), max_size=60))
    return np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]).astype(
        draw(st.sampled_from(["i4", "i8"]))
    )


@common
@given(offsets(), st.integers(0, 400), st.integers(1, 12), st.integers(0, 9))
def test_pages_are_the_longest_runs_of_rows_that_fit(row_offsets, page_bytes, edge_bytes, row_bytes):
    firsts = page_rows(row_offsets, page_bytes, edge_bytes, row_bytes)
    n_rows = len(row_offsets) - 1
    assert firsts.dtype == np.int64 and firsts[0] == 0 and firsts[-1] == n_rows
    assert (np.diff(firsts) > 0).all()

    def size(first, last):
        return int(row_offsets[last] - row_offsets[first]) * edge_bytes + (last - first) * row_bytes

    for first, last in zip(firsts[:-1].tolist(), firsts[1:].tolist(), strict=True):
        assert size(first, last) <= page_bytes or last == first + 1
        assert last == n_rows or size(first, last + 1) > page_bytes  # another row would overflow the page


@common
@given(offsets(), st.integers(-5, 2000), st.integers(1, 12), st.integers(0, 9), st.integers(1, 5))
def test_plans_fit_or_say_what_would(row_offsets, free, edge_bytes, row_bytes, n_streams):
    longest = int(np.diff(row_offsets).max(initial=0)) * edge_bytes + row_bytes
    options = {"edge_bytes": edge_bytes, "row_bytes": row_bytes, "n_streams": n_streams}
    if len(row_offsets) > 1 and longest > max(free, 0):
        with pytest.raises(TravMemoryError, match="are needed for the longest row"):
            plan_pages(row_offsets, free, **options)
        return
    plan = plan_pages(row_offsets, free, **options)
    assert 1 <= plan.n_streams <= n_streams
    assert plan.n_streams * plan.page_bytes <= max(free, 0)
    assert plan.n_streams == n_streams or longest * (plan.n_streams + 1) > free
    sizes = np.diff(row_offsets[plan.firsts].astype(np.int64)) * edge_bytes + np.diff(plan.firsts) * row_bytes
    assert sizes.max(initial=0) <= plan.page_bytes


@common
@given(offsets(), st.integers(50, 350), st.integers(0, 2000), st.integers(1, 12), st.integers(1, 5))
def test_pages_that_do_not_fit_name_a_limit_that_is_enough(row_offsets, limit, resident, edge_bytes, streams):
    def cut(limit):
        budget = Budget(limit)
        budget.allocate(50, "vertex ids")
        return cut_within(budget, row_offsets, edge_bytes, 8)(resident, streams)

    try:
        cut(limit)
    except TravMemoryError as refused:
        named = str(refused).partition("memory_limit at least ")[2].removesuffix(".")
        cut(parse_bytes(named))


def test_pages_may_be_smaller_than_their_share():
    row_offsets = np.array([0, 5, 10, 50, 55, 60])
    plan = plan_pages(row_offsets, 300, edge_bytes=1, n_streams=3, most_bytes=10)
    assert (plan.n_streams, plan.page_bytes, plan.firsts.tolist()) == (3, 40, [0, 2, 3, 5])
    plan = plan_pages(row_offsets[:3], 300, edge_bytes=1, n_streams=3, most_bytes=6)
    assert (plan.n_streams, plan.page_bytes, plan.firsts.tolist()) == (3, 6, [0, 1, 2])


def test_a_hub_gets_fewer_streams():
    row_offsets = np.array([0, 100, 110, 120, 130])
    plan = plan_pages(row_offsets, 120, edge_bytes=1, n_streams=3)
    assert (plan.n_streams, plan.page_bytes, plan.firsts.tolist()) == (1, 120, [0, 3, 4])
    plan = plan_pages(row_offsets, 300, edge_bytes=1, n_streams=3)
    assert (plan.n_streams, plan.firsts.tolist()) == (3, [0, 1, 4])


def test_pages_of_a_graph_of_many_vertices():
    row_offsets = np.arange(0, 3 * 10**7 + 1, 3)
    plan = plan_pages(row_offsets, 3 * 10**6, edge_bytes=4, n_streams=3)
    assert len(plan.firsts) == 1 + -(-(10**7) // (10**6 // 12))


@common
@given(offsets(), st.integers(-5, 400), st.integers(1, 8))
def test_the_resident_ends_are_the_longest_that_fit(row_offsets, free, edge_bytes):
    row_offsets = np.concatenate([[0], np.cumsum(np.sort(np.diff(row_offsets))[::-1])]).astype(np.int64)
    n_edges, most = int(row_offsets[-1]), max(free, 0) // edge_bytes
    head, begin = resident_ends(row_offsets, free, edge_bytes)
    assert head in row_offsets and begin in row_offsets and head <= begin
    assert head + n_edges - begin <= most
    if most >= n_edges:
        assert begin == 0
        return
    longer = row_offsets[row_offsets > head]
    assert len(longer) == 0 or longer[0] > most // 2
    longer = row_offsets[row_offsets < begin]
    assert len(longer) == 0 or head + n_edges - longer[-1] > most
