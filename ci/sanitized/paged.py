"""Vertex programs over streamed pages, by the GPU alone and shared with the CPU."""

from __future__ import annotations

from unittest.mock import patch

from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.errors import TravMemoryError
from rapids_trav.published.garaph import hybrid as shared
from rapids_trav.published.garaph.dispatcher import Dispatcher
from tests.gpu.paged_views import in_budget, in_packed_pages, in_pages, in_pinned_memory

from .cases import STEPS, Case, cases


def check_pages(case: Case, engine: CudaEngine) -> None:
    """Check pages that are read in place, copied, and skipped; many and few."""
    pinned = in_pinned_memory(engine, case.host)
    for mode in ("pull", "notify"):
        case.run(engine.run, in_pages(pinned, 5), mode=mode)
    case.run(engine.run, in_pages(pinned, 60, 2), mode="pull", max_iterations=1, n_streams=2)
    if case.ends:
        for mode in ("pull", "notify"):
            case.run(engine.run, in_pages(pinned, 5), mode=mode, asynchronous=True)


def check_packed(case: Case, engine: CudaEngine) -> None:
    """Check pages that stay packed and are unpacked in each iteration."""
    pinned = in_pinned_memory(engine, case.host)
    for mode in ("pull", "notify"):
        case.run(engine.run, in_packed_pages(pinned, 5), mode=mode, compress=True)


def check_shards(case: Case, engine: CudaEngine) -> None:
    """Check pages that are gathered over by shards, as they are and packed."""
    pinned = in_pinned_memory(engine, case.host)
    for factor in (4, "formula"):
        case.run(engine.run, in_pages(pinned, 5), mode="pull", gather="replicas", replication=factor)
    case.run(engine.run, in_packed_pages(pinned, 5), mode="pull", gather="replicas", compress=True)
    if case.ends:
        case.run(engine.run, in_pages(pinned, 5), mode="pull", gather="replicas", asynchronous=True)


def check_staged(case: Case, engine: CudaEngine) -> None:
    """Check pages that threads read into pinned buffers, as from files; the CPU marks notified vertices."""
    for mode in ("pull", "notify"):
        case.run(engine.run, in_pages(case.host, 5), mode=mode, max_iterations=2)


def check_budget(case: Case, engine: CudaEngine) -> None:
    """Check budgets from the smallest that is not refused; the rest of the budget caches pages."""
    pinned = in_pinned_memory(engine, case.host)
    limit, enough = 300_000, 0
    while enough < 2:
        view = in_budget(pinned, limit)
        try:
            case.run(engine.run, view, mode="pull")
        except TravMemoryError:
            assert not enough
        else:
            enough += 1
        assert view.pages is not None and view.pages.budget.used == 0
        limit = int(1.1 * limit)


def check_hybrid(case: Case, engine: CudaEngine) -> None:
    """Check runs whose pages both processors share, and one whose second iteration is the CPU's alone."""
    pinned = in_pinned_memory(engine, case.host)
    for alone in ([False] * STEPS, [False, True, False]):
        with (
            patch.object(shared, "PATIENCE", 0),
            patch.object(Dispatcher, "shares", return_value=True),
            patch.object(Dispatcher, "alone", side_effect=alone),
        ):
            case.run(engine.run_hybrid, in_pages(pinned, 7))


def run() -> None:
    engine = CudaEngine()
    for name, case in cases().items():
        print(f"program {name} over pages", flush=True)
        check_pages(case, engine)
        check_packed(case, engine)
        check_shards(case, engine)
    check_staged(cases()["breadth_first"], engine)
    check_budget(cases()["shortest_paths"], engine)
    for name in ("shortest_paths", "pagerank"):
        print(f"program {name} on both processors", flush=True)
        check_hybrid(cases()[name], engine)
