"""Plans of streamed runs with packed columns: the budget, the slots, and the choice of the columns' form."""

from dataclasses import replace

import kernel_references as reference
import numpy as np
import pytest
from packed_rows import rows_of

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.packed import PackedColumns, PackedHome
from rapids_trav.engines.cuda.stream import plan as page_plan
from rapids_trav.engines.cuda.stream.plan import PageLayout, chosen_plan, plan_packed, plan_stream
from rapids_trav.engines.runs import GatherView, Pages, RunOptions
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.programs import shipped
from rapids_trav.storage.paged import cut_within

OFFSETS, COLUMNS = rows_of(np.sort(np.random.default_rng(4).zipf(1.6, 3000).clip(max=2500))[::-1], 3000)
PROGRAM = shipped.pagerank()


@pytest.fixture(scope="module")
def packed():
    return PackedColumns(*reference.pack_columns(OFFSETS, COLUMNS))


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", 20_000)
    monkeypatch.setattr(page_plan, "LAUNCH_BYTES", 0)


def paged_view(limit, home=None, weight=None):
    rows, budget = Adjacency(OFFSETS, COLUMNS), Budget(limit)
    weights = None if weight is None else np.ones(len(COLUMNS), weight)
    cut = cut_within(budget, OFFSETS, 4 + (0 if weights is None else weights.dtype.itemsize), 8)
    pages = Pages(np.array([0, 3000]), budget, 3, cut, home)
    return GatherView(rows, rows, weights, np.diff(OFFSETS), pages)


def test_a_layout_with_packed_columns():
    layout = PageLayout.of(n_edges=65, n_rows=3, column=4, weight=8, vertex=4, packed=300)
    assert (layout.weights, layout.rows, layout.packed) == (512, 512 + 768, 512 + 768 + 256)
    assert layout.n_bytes == layout.packed + 512
    assert layout.kept_bytes == 768 + 512
    plain = PageLayout.of(n_edges=65, n_rows=3, column=4, weight=8, vertex=4)
    assert plain.n_bytes == plain.packed == layout.packed and plain.kept_bytes == plain.rows


@pytest.mark.parametrize("weight", [None, "float64"])
@pytest.mark.parametrize("n_streams", [1, 3, 8])
def test_plans_keep_the_budget_and_more_pages(packed, n_streams, weight):
    options, most = RunOptions(n_streams=n_streams), 0.0
    for limit in range(100_000, 1_200_000, 25_000):
        view = paged_view(limit, weight=weight)
        try:
            plain = plan_stream(view, PROGRAM, options, 4)
        except TravMemoryError:
            continue
        plan = plan_packed(view, PROGRAM, options, 4, packed)
        if plan is None:
            assert plain.n_kept == 0
            continue
        assert plan.packed is packed
        assert plan.resident_bytes + plan.buffer_bytes <= limit
        assert 1 <= plan.n_slots <= n_streams
        assert plan.firsts[0] == 0 and plan.firsts[-1] == 3000 and (np.diff(plan.firsts) > 0).all()
        if plain.n_kept > 0:
            one, other = (int(each.first_edges[each.n_kept]) for each in (plain, plan))
            most = max(most, other / one)
    assert most > (1.4 if weight is None else 1.05)


def test_parts_lie_apart_within_their_buffers(packed):
    plan = plan_packed(paged_view(300_000, weight="float32"), PROGRAM, RunOptions(), 4, packed)
    assert 0 < plan.n_kept < plan.n_pages
    for page, layout in enumerate(plan.layouts):
        n_edges = plan.edges(page)[1] - plan.edges(page)[0]
        starts, words = packed.page(*plan.edges(page))
        sizes = (starts.nbytes, words.nbytes, 4 * n_edges)
        assert plan.copied_bytes(page, 4, 4) == sum(sizes)
        first, after = plan.rows(page)
        in_slot = [(0, 4 * n_edges), (layout.rows, 4 * (after - first))]  # unpacked columns, listed rows
        for stays in (True, False):
            parts = sorted([*zip(plan.places(page, stays), sizes, strict=True), *([] if stays else in_slot)])
            ends = [begin + size for begin, size in parts]
            assert all(end <= begin for end, (begin, _) in zip(ends, parts[1:], strict=False))
            assert ends[-1] <= (layout.kept_bytes if stays else layout.n_bytes)


def test_a_long_row_costs_slots(packed):
    """Its page cannot be made smaller, so fewer fit beside one another."""
    slots = set()
    for limit in range(600_000, 1_400_000, 50_000):
        view, firsts = paged_view(limit), np.array([0, 1500, 3000])
        view = replace(view, pages=replace(view.pages, firsts=firsts, n_streams=3, cut=None))
        plan = plan_packed(view, PROGRAM, RunOptions(), 4, packed)
        if plan is not None:
            assert plan.resident_bytes + plan.buffer_bytes <= limit
            slots.add(plan.n_slots)
    assert slots == {1, 2}


def test_columns_are_packed_unless_all_pages_stay_as_they_are(packed):
    def chosen(limit, compress, columns=packed):
        packs = []

        def pack():
            packs.append(1)
            return columns

        options = RunOptions(compress=compress)
        view = paged_view(limit, PackedHome())
        return chosen_plan(view, PROGRAM, options, 4, pack).packed, len(packs)

    assert chosen(300_000, None) == (packed, 1)
    assert chosen(300_000, False) == (None, 0)
    assert chosen(350_000, None, None) == (None, 1)
    assert chosen(10**7, None) == (None, 0)
    assert chosen(10**7, True) == (packed, 1)
    assert chosen(300_000, True, None) == (None, 1)
    view = paged_view(300_000)  # without a keeper of the columns
    assert chosen_plan(view, PROGRAM, RunOptions(compress=True), 4, lambda: packed).packed is None


@pytest.mark.parametrize(
    ("launch_bytes", "packs", "is_packed"),
    [
        (0, 1, True),
        (8_000, 1, True),
        (9_500, 1, False),  # the host would launch 54 pages instead of 44
        (20_000, 0, False),  # the host takes longer than the link in any case
    ],
)
def test_the_form_is_that_of_the_faster_sweep(packed, launch_bytes, packs, is_packed, monkeypatch):
    """The time is that of the link or of the host, whichever is longer; packed pages are smaller here."""
    monkeypatch.setattr(page_plan, "LAUNCH_BYTES", launch_bytes)
    monkeypatch.setattr(page_plan, "LEAST_PAGE_BYTES", 1 << 20)
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", 1 << 28)
    asked = []
    view = paged_view(157_000, PackedHome())
    plan = chosen_plan(view, PROGRAM, RunOptions(), 4, lambda: asked.append(1) or packed)
    assert ((plan.packed is packed), len(asked)) == (is_packed, packs)
    for compress in (False, True):
        view = paged_view(157_000, PackedHome())
        plan = chosen_plan(view, PROGRAM, RunOptions(compress=compress), 4, lambda: packed)
        assert (plan.packed is packed) == compress


@pytest.mark.parametrize("n_streams", [1, 8])
@pytest.mark.parametrize("most_bytes", [20_000, 1 << 28])
def test_packed_pages_are_fewer_bytes_with_larger_slots(packed, n_streams, most_bytes, monkeypatch):
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", most_bytes)

    def swept(plan):
        """Return the bytes that an iteration over all edges copies, once the pages that stay are there."""
        return sum(plan.copied_bytes(page, 4, 0) for page in range(plan.n_kept, plan.n_pages))

    for limit in range(160_000, 900_000, 20_000):
        view, options = paged_view(limit, PackedHome()), RunOptions(n_streams=n_streams)
        plain = plan_stream(view, PROGRAM, options, 4)
        plan = chosen_plan(view, PROGRAM, options, 4, lambda: packed)
        assert swept(plan) < 0.75 * swept(plain) or plan.packed is None
        assert (plan.packed is None) == (plain.n_kept == plain.n_pages)
