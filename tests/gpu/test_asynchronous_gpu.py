"""Asynchronous runs of pages: a page sees the results of earlier pages of the same iteration (G17)."""

from __future__ import annotations

import numpy as np
import pytest

from rapids_trav.engines.cpu import CpuEngine
from rapids_trav.engines.runs import RunOptions
from rapids_trav.programs import shipped

from .paged_views import in_pages, in_pinned_memory
from .program_cases import gather_view, start
from .small_graphs import Graph

pytestmark = pytest.mark.gpu

PAGES, ROWS = 8, 64


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("pinned", [False, True], ids=["staged", "pinned"])
def test_a_page_sees_what_the_pages_before_it_made(engine, pinned, asynchronous):
    """A path visits one vertex of each page, and one stream computes the pages one after another."""
    stops = np.arange(PAGES) * ROWS + 5
    view = gather_view(Graph(PAGES * ROWS, stops[:-1], stops[1:]), CpuEngine())
    view = in_pages(in_pinned_memory(engine, view) if pinned else view, PAGES, 1)
    program = shipped.breadth_first()
    first = np.full(PAGES * ROWS, program.identity)
    first[stops[0]] = 0
    state = start(program, len(first), first, first == 0, engine.xp)
    options = RunOptions(mode="pull", asynchronous=asynchronous, max_iterations=1, n_streams=1)
    values = engine.run(view, program, state, options).values.get()
    n_reached = PAGES if asynchronous else 2
    assert values[stops[:n_reached]].tolist() == list(range(n_reached))
    assert np.count_nonzero(values != program.identity) == n_reached
