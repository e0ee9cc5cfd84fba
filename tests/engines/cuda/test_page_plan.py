"""Plans of streamed runs: memory held and the treatment of each page. Planning needs no GPU."""

from dataclasses import replace

import numpy as np
import pytest

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.engines.cuda.stream import plan as page_plan
from rapids_trav.engines.cuda.stream.plan import (
    PageLayout,
    hidden_share,
    page_action,
    plan_stream,
)
from rapids_trav.engines.runs import GatherView, Pages, RunOptions, run_shape
from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.program import RunShape, streamed_vertex_bytes
from rapids_trav.programs import shipped
from rapids_trav.storage.paged import cut_within
from rapids_trav.utilities.sizes import parse_bytes


def paged_view(degrees, limit, weight=None):
    """Return a view whose pages are cut for the memory that a budget of `limit` bytes leaves."""
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    rows = Adjacency(offsets, np.zeros(offsets[-1], np.int32))
    weights = None if weight is None else np.ones(offsets[-1], weight)
    edge_bytes = 4 + (0 if weights is None else weights.dtype.itemsize)
    budget = Budget(limit)
    cut = cut_within(budget, offsets, edge_bytes, 8)
    return GatherView(
        rows, rows, weights, np.diff(offsets), Pages(np.array([0, len(degrees)]), budget, 3, cut)
    )


def shape(program, options) -> RunShape:
    return run_shape(paged_view([1, 1], 100), program, options)


def test_a_layout_is_aligned():
    layout = PageLayout.of(n_edges=65, n_rows=3, column=4, weight=8, vertex=4)
    assert (layout.weights, layout.rows, layout.n_bytes) == (512, 512 + 768, 512 + 768 + 256)
    assert PageLayout.of(0, 0, 4, 0, 4).n_bytes == 0


def test_places_in_shards_and_listed_rows_use_the_same_bytes():
    layout = PageLayout.of(n_edges=1000, n_rows=3, column=4, weight=0, vertex=4, local=2)
    assert (layout.rows, layout.n_bytes, layout.kept_bytes) == (4096, 4096 + 2048, 4096)
    assert PageLayout.of(1000, 3000, 4, 0, 4, local=2).n_bytes == 4096 + 12_032


def test_bytes_of_a_vertex():
    components, pagerank = shipped.connected_components(), shipped.pagerank()
    sync, later = RunOptions(), RunOptions(asynchronous=True)
    # Value, two messages, flag, offset; a mark and a place in the queue.
    assert streamed_vertex_bytes(shape(components, sync), 4) == 4 + 8 + 1 + 4 + 5
    assert streamed_vertex_bytes(shape(components, later), 4) == 4 + 4 + 1 + 4 + 5
    pulled = replace(shape(components, replace(sync, mode="pull")), symmetric=False)
    assert streamed_vertex_bytes(pulled, 8) == 4 + 8 + 1 + 16
    # Degrees, and no notification.
    assert streamed_vertex_bytes(shape(pagerank, sync), 8) == 8 + 16 + 1 + 8 + 8


@pytest.mark.parametrize("gather", ["rows", "replicas"])
@pytest.mark.parametrize("weight", [None, "float64"])
@pytest.mark.parametrize("n_streams", [1, 2, 3, 8])
@pytest.mark.parametrize("seed", range(3))
def test_plans_keep_the_budget(seed, n_streams, weight, gather, monkeypatch):
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", 20_000)
    generator = np.random.default_rng(seed)
    degrees = np.sort(generator.zipf(1.7, 3000).clip(max=2500))[::-1]
    program, options = shipped.connected_components(), RunOptions(n_streams=n_streams, gather=gather)
    smallest = None
    for limit in range(60_000, 600_000, 20_000):
        view = paged_view(degrees, limit, weight)
        try:
            plan = plan_stream(view, program, options, 4)
        except TravMemoryError:
            assert smallest is None, "a larger budget is enough if a smaller one is"
            continue
        smallest = smallest or limit
        assert plan.resident_bytes + plan.buffer_bytes <= limit
        assert plan.resident_bytes >= 3000 * streamed_vertex_bytes(shape(program, options), 4)
        assert 1 <= plan.n_slots <= n_streams
        assert plan.firsts[0] == 0 and plan.firsts[-1] == 3000 and (np.diff(plan.firsts) > 0).all()
        assert plan.edges(plan.n_pages - 1)[1] == degrees.sum()
        edge = 4 + (0 if weight is None else 8) + (0 if gather == "rows" else 2)
        longest = edge * int(degrees.max()) + 8
        assert (
            max(layout.n_bytes for layout in plan.layouts) <= max(20_000, longest) + 3 * page_plan.ALIGNMENT
        )
    assert smallest is not None and plan.n_kept > 0


@pytest.mark.parametrize("gather", ["rows", "replicas"])
@pytest.mark.parametrize("n_streams", [1, 3])
@pytest.mark.parametrize("longest", [10, 3000])
@pytest.mark.parametrize("most_bytes", [5_000, page_plan.MOST_PAGE_BYTES])
def test_the_limit_a_refusal_names_is_enough_and_hardly_more(
    n_streams, longest, most_bytes, gather, monkeypatch
):
    monkeypatch.setattr(page_plan, "MOST_PAGE_BYTES", most_bytes)
    degrees = np.full(2000, 10)
    degrees[0] = longest
    options = RunOptions(n_streams=n_streams, gather=gather)
    program = shipped.connected_components()

    def refused(limit):
        try:
            plan = plan_stream(paged_view(degrees, limit), program, options, 4)
        except TravMemoryError as error:
            return str(error)
        assert plan.resident_bytes + plan.buffer_bytes <= limit
        return None

    for limit in (0, 20_000, 60_000):
        message = refused(limit)
        assert "are needed for program 'connected_components' and a page of the edges" in message
        enough = parse_bytes(message.partition("memory_limit at least ")[2].removesuffix("."))
        assert refused(enough) is None
        assert refused(int(0.98 * enough)) is not None


def test_most_of_the_memory_is_for_pages_that_stay(monkeypatch):
    """With a quarter of the edges' bytes beside the vertices, most of that quarter saves copies."""
    monkeypatch.setattr(page_plan, "LEAST_PAGE_BYTES", 1000)
    degrees = np.full(20_000, 40)
    program, options = shipped.pagerank(), RunOptions()
    for part in (4, 2):
        vertices = plan_stream(paged_view(degrees, 10**8), program, options, 4).resident_bytes
        quarter = 4 * int(degrees.sum()) // part
        plan = plan_stream(paged_view(degrees, vertices + quarter), program, options, 4)
        stays = sum(layout.kept_bytes for layout in plan.layouts[: plan.n_kept])
        assert plan.n_slots == 3 and stays > 0.8 * quarter


def test_pages_are_worth_launching():
    assert page_plan.page_size(10**6) == page_plan.LEAST_PAGE_BYTES
    assert page_plan.page_size(10**10) == page_plan.MOST_PAGE_BYTES
    assert page_plan.page_size(2**31) == 2**31 // page_plan.ROOM_PAGES


def test_pages_of_which_little_is_copied_are_larger():
    """The host takes as long to launch them, and the link less to copy them."""
    least = page_plan.LEAST_PAGE_BYTES
    assert page_plan.page_size(10**6, 0.25) == 4 * least
    assert page_plan.page_size(10**10, 0.25) == page_plan.MOST_PAGE_BYTES


def test_pages_that_stay_lie_among_those_that_are_copied():
    view = paged_view(np.full(100, 64), 10**6)
    view = replace(view, pages=replace(view.pages, firsts=np.arange(0, 101, 10), n_streams=2, cut=None))
    plan = plan_stream(view, shipped.connected_components(), RunOptions(), 4)
    for n_kept in range(11):
        order = replace(plan, n_kept=n_kept).sweep_order()
        stays = [page < n_kept for page in order]
        assert sorted(order) == list(range(10))
        assert [page for page in order if page < n_kept] == list(range(n_kept))
        assert n_kept == 10 or not stays[0]  # the link begins at once
        longest = max(map(len, "".join("ck"[stay] for stay in stays).split("c")))
        assert longest <= -(-n_kept // max(10 - n_kept, 1))


def test_the_time_of_a_sweep_is_that_of_the_link_or_of_the_host():
    view = paged_view(np.full(100, 64), 10**6)
    view = replace(view, pages=replace(view.pages, firsts=np.arange(0, 101, 10), n_streams=2, cut=None))
    plan = plan_stream(view, shipped.connected_components(), RunOptions(), 4)
    assert replace(plan, n_kept=4).sweep_bytes(4, 0) == 10 * page_plan.LAUNCH_BYTES
    million = replace(plan, first_edges=1_000_000 * np.arange(11), n_kept=4)
    assert million.sweep_bytes(4, 8) == 6 * 12_000_000


def test_pages_as_they_are_given():
    view = paged_view(np.full(100, 4), 10**6)
    view = replace(view, pages=replace(view.pages, firsts=np.array([0, 10, 60, 100]), n_streams=2, cut=None))
    plan = plan_stream(view, shipped.connected_components(), RunOptions(), 4)
    assert plan.firsts.tolist() == [0, 10, 60, 100] and plan.first_edges.tolist() == [0, 40, 240, 400]
    assert plan.n_slots == 2 and plan.n_kept == 3
    assert (plan.rows(1), plan.edges(1)) == ((10, 60), (40, 240))


def test_pages_that_stay_are_allocated_together():
    view = paged_view(np.full(100, 64), 10**6)  # a row takes 256 bytes
    view = replace(view, pages=replace(view.pages, firsts=np.arange(101), n_streams=2, cut=None))
    plan = plan_stream(view, shipped.connected_components(), RunOptions(), 4)
    assert plan.n_kept == 100
    for n_bytes, longest in ((1, 1), (256, 1), (1000, 4), (1 << 20, 100)):
        together = list(plan.kept_together(n_bytes))
        assert [page for pages in together for page in pages] == list(range(100))
        assert max(map(len, together)) == longest
    assert list(replace(plan, n_kept=0).kept_together(1000)) == []


def test_a_graph_without_vertices():
    plan = plan_stream(paged_view(np.empty(0, int), 10**6), shipped.connected_components(), RunOptions(), 4)
    assert (plan.n_pages, plan.n_slots, plan.buffer_bytes) == (0, 1, 0)


def test_what_is_done_with_a_page():
    assert page_action(0, 0, 1000, reachable=True) == "skip"
    assert page_action(1, 250, 1000, reachable=True) == "read"
    assert page_action(1, 251, 1000, reachable=True) == "copy"
    assert page_action(1, 1, 1000, reachable=False) == "copy"
    assert page_action(1, 0, 0, reachable=True) == "read"


def test_the_share_of_copies_that_is_hidden():
    assert hidden_share([], [(0, 1)]) == 0
    assert hidden_share([(0, 1), (1, 2)], []) == 0
    assert hidden_share([(0, 1), (1, 2)], [(1, 2)]) == 0.5
    assert hidden_share([(0, 4)], [(1, 2), (1.5, 3), (2, 2.5), (6, 9)]) == 0.5
    assert hidden_share([(0, 1), (1, 2), (2, 3)], [(1, 2), (2, 3), (3, 4)]) == pytest.approx(2 / 3)
