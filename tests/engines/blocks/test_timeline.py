"""When blocks are loaded, stay in memory and are worked on."""

from __future__ import annotations

import pytest
from block_cases import from_sources, lattice, over_blocks, path

from rapids_trav.engines.blocks.schedule import Timeline
from rapids_trav.programs import shipped


@pytest.fixture
def timeline(monkeypatch):
    """Return a timeline by a clock that advances by 1 ms at each look."""
    made, ticks = Timeline(), iter(range(100))
    monkeypatch.setattr(made, "now", lambda: float(next(ticks)))
    return made


def test_a_block_stays_until_it_is_dropped(timeline):
    timeline.holds([3])  # at 0
    timeline.holds([3, 5])
    timeline.holds([5])
    assert timeline.taken() == ((3, "stay", 0, 2), (5, "stay", 1, 3))
    assert timeline.taken() == ((5, "stay", 3, 4),)


def test_work_of_successive_launches_is_one_span(timeline):
    timeline.worked([1, 2], 0.5)  # ends at 0
    timeline.worked([1], 0.6)
    timeline.worked([1, 2], 0.7)
    assert timeline.taken() == ((1, "work", 0.5, 2), (2, "work", 0.5, 0), (2, "work", 0.7, 2))
    timeline.worked([1], 5.0)
    assert [span.begin for span in timeline.taken()] == [5.0]


def test_a_load_lasts_as_long_as_its_copy(timeline):
    copied = []
    copy = timeline.timed(lambda block, place: copied.append((block, place)) or 77)
    assert copy(4, 1) == 77 and copied == [(4, 1)]
    assert timeline.taken() == ((4, "load", 0, 1),)


def test_spans_of_a_run_fit_together():
    view, order = path(4000, seed=2)
    program = shipped.breadth_first()
    found = over_blocks(view, program, from_sources(program, 4000, order[0]), 6, 2, trace=True)
    assert len(found.trace) > 1
    clock = 0.0
    for row in found.trace:
        stays = [span for span in row.block_spans if span.what == "stay"]
        assert sum(span.what == "load" for span in row.block_spans) == row.blocks.loads
        for span in row.block_spans:
            assert span.begin <= span.end
            assert span.begin >= clock or span.what == "load"
        for moment in {span.begin for span in stays}:
            assert sum(span.begin <= moment < span.end for span in stays) <= 2  # as many as there are places
        clock = max(span.end for span in row.block_spans)


def test_work_is_told_of_blocks_in_memory_and_read_in_place():
    view, program = lattice(40), shipped.shortest_paths("int64")
    found = over_blocks(view, program, from_sources(program, 1600, 0), 6, 2, trace=True)
    spans = [span for row in found.trace for span in row.block_spans]
    worked = {span.block for span in spans if span.what == "work"}
    assert worked == set(range(-(-view.out.n_edges // 64)))  # every block has edges that were pushed along
    stays = [span for span in spans if span.what == "stay"]
    in_place = [
        span
        for span in spans
        if span.what == "work"
        and not any(
            stay.block == span.block and stay.begin < span.end and span.begin < stay.end for stay in stays
        )
    ]
    assert in_place and found.counters["in_place"] > 0
