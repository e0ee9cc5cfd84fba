"""Pages whose columns are packed: the kernels, programs over them, and what they save."""

from __future__ import annotations

from dataclasses import replace

import kernel_references as reference
import numpy as np
import pytest
from packed_rows import ROWS
from pairs import pairs

from rapids_trav.csr.adjacency import Adjacency
from rapids_trav.csr.packed import MOST_SHARE, PackedHome
from rapids_trav.engines.runs import RunOptions
from rapids_trav.jit.launches import count_launches
from rapids_trav.memory.budget import Budget
from rapids_trav.memory.model.program import packing_bytes

from .paged_views import in_budget, in_packed_pages, in_pages, in_pinned_memory
from .program_cases import CASES, LARGE_CASES, gather_view, question, start

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cpu_takes_part")]

QUESTIONS = ("bfs", "components", "sssp", "pagerank")


@pytest.fixture(autouse=True)
def quick_host(monkeypatch):
    """Pages are packed though they are small."""
    from rapids_trav.engines.cuda.stream import plan

    monkeypatch.setattr(plan, "LAUNCH_BYTES", 0)


def packed_on_gpu(offsets, columns, limit=1 << 30, form="packed.cu"):
    from rapids_trav.engines.cuda.stream.packing import packed_columns

    budget = Budget(limit)
    packed = packed_columns(Adjacency(offsets, columns), budget, form)
    assert budget.used == 0
    return packed


@pytest.fixture
def no_limit(monkeypatch):
    from rapids_trav.engines.cuda.stream import packing

    monkeypatch.setattr(packing, "MOST_SHARE", 100)


@pytest.mark.parametrize("blocks", [1, 3, 1000])
@pytest.mark.parametrize("name", [name for name in ROWS if name != "none"])
def test_kernels_agree_with_the_reference(engine, no_limit, name, blocks):
    """However many blocks are packed at once, and wherever a page is cut."""
    from rapids_trav.engines.cuda.runtime.loader import load
    from rapids_trav.engines.cuda.stream.packing import prepared_unpack

    offsets, columns = ROWS[name]
    packed = packed_on_gpu(offsets, columns, 2 * packing_bytes(blocks, 1024, columns.dtype.itemsize))
    starts, words = reference.pack_columns(offsets, columns)
    np.testing.assert_array_equal(packed.starts, starts)
    np.testing.assert_array_equal(packed.words, words)
    n, xp = len(columns), engine.xp
    kernels = load("packed.cu", 8 * columns.dtype.itemsize)
    for first, last in ((0, n), (n // 3, n), (n // 3, 2 * n // 3), (n - 1, n), (n, n)):
        found = xp.full(n, -1, columns.dtype)
        if last > first:
            page = map(xp.asarray, packed.page(first, last))
            prepared_unpack(kernels, *page, (first, last), found.data.ptr)()
        expected = np.full(n, -1, columns.dtype)
        expected[first:last] = columns[first:last]
        np.testing.assert_array_equal(found.get(), expected)


@pytest.mark.parametrize("blocks", [1, 1000])
@pytest.mark.parametrize("name", [name for name in ROWS if name != "none"])
def test_frames_agree_with_the_reference(engine, no_limit, name, blocks):
    offsets, columns = ROWS[name]
    room = 2 * packing_bytes(blocks, 1024, columns.dtype.itemsize)
    framed = packed_on_gpu(offsets, columns, room, "framed.cu")
    starts, words = reference.frame_columns(columns)
    np.testing.assert_array_equal(framed.starts, starts)
    np.testing.assert_array_equal(framed.words, words)


def test_columns_that_do_not_shrink_are_not_packed(engine):
    assert packed_on_gpu(*ROWS["not ascending"]) is None
    assert packed_on_gpu(*ROWS["none"]) is None
    offsets, columns = ROWS["degree-sorted"]
    assert packed_on_gpu(offsets, columns, 2 * packing_bytes(1, 1024, 4) - 2) is None  # no room for a block


def test_too_little_host_memory_leaves_columns_as_they_are(engine, monkeypatch):
    from rapids_trav.engines.cuda.stream import packing

    assert packed_on_gpu(*ROWS["equal columns"]) is not None
    monkeypatch.setattr(packing.machine, "available_bytes", lambda: 0)
    assert packed_on_gpu(*ROWS["equal columns"]) is None


@pytest.fixture(scope="module")
def views(engine):
    from rapids_trav.engines.cpu import CpuEngine

    cpu, made = CpuEngine(), {}

    def of(name, asked):
        _, _, _, options = question(asked, CASES[name])
        if (name, options.weighted) not in made:
            view = gather_view(CASES[name], cpu, "float32" if options.weighted else None)
            made[name, options.weighted] = in_pinned_memory(engine, view)
        return made[name, options.weighted]

    return of


def ask(engine, view, name, asked, hybrid=False, **changes):
    """Return the run, and the number of launches that unpacked a page."""
    program, values, active, options = question(asked, CASES[name])
    state = start(program, view.n_vertices, values, active, engine.xp)
    run = engine.run_hybrid if hybrid else engine.run
    with count_launches() as launches:
        done = run(view, program, state, replace(options, schedule="sweep", **changes))
    budget = view.pages.budget
    assert budget.used == 0 and budget.peak <= budget.limit
    return replace(done, values=done.values.get()), launches["unpack_blocks"]


def with_home(view, home):
    return replace(view, pages=replace(view.pages, packed=home))


@pairs(
    ("pagerank", "wheel", "gpu"),
    ("components", "wheel", "hybrid"),
    asked=QUESTIONS,
    name=["rmat", "directed rmat", "multi", *LARGE_CASES],
    processor=["gpu", "hybrid"],
)
def test_answers_are_those_of_pages_as_they_are(engine, views, no_limit, asked, name, processor):
    hybrid = processor == "hybrid"
    view = views(name, asked)
    plain, none = ask(engine, in_packed_pages(view, 7), name, asked, hybrid)
    assert none == 0  # all pages stay on the GPU
    home = PackedHome()
    ours, launches = ask(engine, with_home(in_pages(view, 7), home), name, asked, hybrid, compress=True)
    assert home.columns is not None
    assert launches > 0 or hybrid  # the CPU may take every page
    if asked == "pagerank":
        np.testing.assert_allclose(ours.values, plain.values, rtol=1e-12)
    else:
        np.testing.assert_array_equal(ours.values, plain.values)
    assert (ours.iterations, ours.converged) == (plain.iterations, plain.converged)


@pairs(asked=QUESTIONS, place=["staged", "pinned"], mode=["pull", "notify"])
def test_modes_and_places(engine, views, asked, place, mode):
    """Columns in pageable memory, like those in files, are read only while they are packed."""
    view = views("rmat", asked)
    if place == "staged":
        into = replace(view.into, column_indices=np.array(view.into.column_indices))
        weights = None if view.weights is None else np.array(view.weights)
        view = replace(view, into=into, out=into, weights=weights)
    plain, _ = ask(engine, in_pages(view, 5), "rmat", asked, mode=mode)
    packed = in_packed_pages(view, 5)
    ours, launches = ask(engine, packed, "rmat", asked, mode=mode, compress=True)
    assert launches > 0
    np.testing.assert_allclose(ours.values, plain.values, rtol=1e-12)
    assert ours.iterations == plain.iterations


@pytest.mark.parametrize("asked", ["components", "pagerank"])
def test_fewer_bytes_are_copied_and_more_pages_stay(engine, views, asked, monkeypatch):
    from rapids_trav.engines.cuda.stream import plan

    monkeypatch.setattr(plan, "MOST_PAGE_BYTES", 20_000)
    view, home = views("rmat", asked), PackedHome()
    moved = {}
    for compress in (False, None):
        for limit in (250_000, 300_000):
            paged = with_home(in_budget(view, limit), home)
            ours, launches = ask(engine, paged, "rmat", asked, mode="pull", trace=True, compress=compress)
            assert (launches > 0) == (compress is None)
            moved[compress, limit] = [row.bytes for row in ours.trace[:2]]
    for limit in (250_000, 300_000):
        assert moved[None, limit][0] < MOST_SHARE * moved[False, limit][0]
        assert moved[None, limit][1] < moved[False, limit][1] / 2
    assert moved[None, 250_000][0] >= sum(part.nbytes for part in home.columns.parts)


@pytest.mark.parametrize("n_streams", [1, 3])
@pytest.mark.parametrize("asked", QUESTIONS)
def test_the_smallest_budgets(engine, views, asked, n_streams):
    """Where only a page as it is fits, pages are not packed; answers are the same in any case."""
    from rapids_trav.errors import TravMemoryError

    view, home = views("rmat", asked), PackedHome()
    plain, _ = ask(engine, in_pages(view, 3), "rmat", asked)
    limit, ran, how = 20_000, 0, set()
    while ran < 8:
        try:
            paged = with_home(in_budget(view, limit), home)
            ours, launches = ask(engine, paged, "rmat", asked, n_streams=n_streams, compress=True)
        except TravMemoryError:
            assert ran == 0
        else:
            ran += 1
            how.add(launches > 0)
            np.testing.assert_allclose(ours.values, plain.values, rtol=1e-12)
        limit = int(limit * (1.05 if ran == 0 else 1.2))
    assert True in how


@pytest.mark.parametrize("directed", [False, True])
def test_a_graph_tells_what_it_packs(engine, directed):
    from rapids_trav import Graph, generators

    graph = Graph.from_edges(generators.rmat(12), engine=engine, memory_limit=400_000, directed=directed)
    ranks, rows = {}, {}
    for compress in (False, None):
        found = graph.pagerank(trace=True, tuning={"compress": compress})
        ranks[compress], rows[compress] = found.result["pagerank"].to_numpy(), found.trace
        held = dict(zip(*(graph.memory()[name] for name in ("structure", "bytes")), strict=True))
        packed = held.get(f"packed columns of {'CSC' if directed else 'CSR, symmetrised'}", 0)
        assert (packed > 0) == (compress is None)
    np.testing.assert_allclose(ranks[None], ranks[False], rtol=1e-9)
    first = {compress: trace["bytes"].iloc[0] / trace["edges"].iloc[0] for compress, trace in rows.items()}
    assert first[False] == 4
    assert packed / graph.n_edges / (1 if directed else 2) < first[None] < 2
    assert graph.budget.peak <= graph.budget.limit


@pytest.mark.parametrize("weighted", [False, True])
def test_buffers_take_the_bytes_that_were_planned(engine, views, weighted, monkeypatch):
    from rapids_trav.engines.cuda.stream import plan
    from rapids_trav.engines.cuda.stream.plan import chosen_plan
    from rapids_trav.engines.cuda.stream.transfers import Buffers

    monkeypatch.setattr(plan, "MOST_PAGE_BYTES", 20_000)
    asked = "sssp" if weighted else "pagerank"
    view, program = in_budget(views("rmat", asked), 350_000), question(asked, CASES["rmat"])[0]
    packed = packed_on_gpu(view.into.row_offsets, view.into.column_indices)
    options = RunOptions(weighted=weighted)
    chosen = chosen_plan(with_home(view, PackedHome()), program, options, 4, lambda: packed)
    assert chosen.packed is packed and 0 < chosen.n_kept < chosen.n_pages
    buffers = Buffers(chosen)
    held = [slot.memory.nbytes for slot in buffers.slots] + [home.nbytes for home in buffers.kept.values()]
    assert len(buffers.kept) == chosen.n_kept and sum(held) == chosen.buffer_bytes
