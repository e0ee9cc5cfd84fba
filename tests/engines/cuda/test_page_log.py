"""Time spans of pages and the overlap computed from them, with streams whose clocks the test moves."""

from types import SimpleNamespace

import pytest

pytest.importorskip("cupy")
from rapids_trav.engines.cuda.stream import transfers
from rapids_trav.engines.runs import Moved, RunOptions

COPY, COMPUTE = 4.0, 3.0  # milliseconds per page


class FakeStream:
    """Stream that does its work in sequence; an event is the time at which it is reached."""

    def __init__(self):
        self.now = 0.0

    def wait_event(self, event):
        self.now = max(self.now, event.time)


class FakeEvent:
    done = True

    def __init__(self, disable_timing):
        self.timed = not disable_timing

    def record(self, stream):
        self.time = stream.now

    def synchronize(self):
        pass


@pytest.fixture
def fake_events(monkeypatch):
    def elapsed(start, end):
        assert start.timed and end.timed
        return end.time - start.time

    cuda = SimpleNamespace(Event=FakeEvent, get_elapsed_time=elapsed)
    monkeypatch.setattr(transfers, "cupy", SimpleNamespace(cuda=cuda))


def moved(n_pages, n_streams, trace=True, told=None):
    """Run an iteration with a copy stream and `n_streams` slots, ordered by events as in a streamed run."""
    on_page = None if told is None else lambda pages, n_bytes: told.append((pages, n_bytes))
    log = transfers.TransferTrace(RunOptions(trace=trace, on_page=on_page))
    copying, slots = FakeStream(), [FakeStream() for _ in range(n_streams)]
    copying.now = 10.0  # an iteration need not begin at 0
    begin = log.restart(copying)
    free = [begin] * n_streams
    for page in range(n_pages):
        slot = page % n_streams
        copying.wait_event(free[slot])
        copy_begin = log.mark(copying)
        copying.now += COPY
        copy_end = log.mark(copying)
        slots[slot].wait_event(copy_end)
        computing = log.mark(slots[slot])
        slots[slot].now += COMPUTE
        free[slot] = log.mark(slots[slot])
        log.add(page, 100, (copy_begin, copy_end), (computing, free[slot]))
    log.report_rest()
    return log.moved()


def test_one_slot_waits_for_itself(fake_events):
    done = moved(3, 1)
    assert [span.page for span in done.spans] == [0, 1, 2]
    assert [span.copy for span in done.spans] == [(0, 4), (7, 11), (14, 18)]
    assert [span.computing for span in done.spans] == [(4, 7), (11, 14), (18, 21)]
    assert done.overlap == 0


@pytest.mark.parametrize("n_streams", [2, 3])
def test_more_slots_copy_while_others_compute(fake_events, n_streams):
    done = moved(4, n_streams)
    assert [span.copy for span in done.spans] == [(0, 4), (4, 8), (8, 12), (12, 16)]
    assert [span.computing for span in done.spans] == [(4, 7), (8, 11), (12, 15), (16, 19)]
    assert done.overlap == pytest.approx(9 / 16)


def test_pages_that_stay_are_computed_alone(fake_events):
    log = transfers.TransferTrace(RunOptions(trace=True))
    stream = FakeStream()
    log.restart(stream)
    begin = log.mark(stream)
    stream.now = 2.0
    log.add(5, 0, None, (begin, log.mark(stream)))
    done = log.moved()
    assert (done.pages, done.n_bytes, done.overlap) == (0, 0, 0.0)
    assert done.spans == ((5, None, (0.0, 2.0)),)


def test_without_a_trace_pages_are_counted_and_not_timed(fake_events):
    told = []
    done = moved(4, 2, trace=False, told=told)
    assert done == Moved(4, 400, 0.0, (), blocks=None, block_spans=())
    assert told == [(1, 100)] * 4
