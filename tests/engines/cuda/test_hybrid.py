"""Sharing of pages between the CPU and the GPU in one iteration, with clocks that the tests move."""

import threading

import pytest

from rapids_trav.published.garaph.dispatcher import BOTH, CPU, GPU, Dispatcher


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def measured(edges, cpu, gpu, penalty=1):
    """Return a dispatcher that has seen the CPU process a page, and the GPU two, and its clock.

    `cpu` and `gpu` are seconds per edge; the GPU's first page takes a hundred times as long.
    """
    clock = Clock()
    dispatcher = Dispatcher(edges, penalty, clock)
    for side, seconds in ((GPU, 100 * gpu), (CPU, cpu), (GPU, gpu)):
        dispatcher.begin()
        page = dispatcher.take(side)
        clock.now += edges[page] * seconds
        dispatcher.done(side, page)
    return dispatcher, clock


def test_nothing_is_known_before_both_have_processed_a_page():
    clock = Clock()
    dispatcher = Dispatcher([10, 10, 10], clock=clock)
    assert dispatcher.alpha(0.0) is None and not dispatcher.alone(0.0)
    dispatcher.begin()
    for after in (100.0, 101.0):
        page = dispatcher.take(GPU)
        clock.now = after
        dispatcher.done(GPU, page)
    assert dispatcher.seconds(GPU) == 3.0 and dispatcher.seconds(CPU) is None
    assert not dispatcher.alone(0.0)


def test_a_resumed_run_knows_what_was_measured():
    """The rates hold for other pages as well; what is not complete or not possible is passed over."""
    before, _ = measured([100] * 4, cpu=0.04, gpu=0.01)
    after = Dispatcher([7, 70])
    after.resume(before.policy)
    assert after.policy == before.policy
    assert after.alpha(1.0) == before.alpha(1.0) == pytest.approx(4.0)
    assert after.seconds(CPU, 50) == pytest.approx(2.0) and after.seconds(GPU, 50) == pytest.approx(0.5)
    unknown = Dispatcher([7, 70])
    for policy in ({}, {"cpu pushes": 1.0}, {"cpu seconds": 1.0}, before.policy | {"gpu edges": -1.0}):
        unknown.resume(policy)
        assert unknown.alpha(1.0) is None


@pytest.mark.parametrize(
    ("share", "penalty", "alpha"),
    [
        (1.0, 1, 4.0),
        (0.5, 1, 4.0),
        (0.25, 1, 2.0),
        (0.125, 1, 1.0),
        (0.0, 1, 0.0),
        (0.05, 10, 4.0),
        (0.0125, 10, 1.0),
    ],
)
def test_alpha(share, penalty, alpha):
    """alpha is min(2 f p, 1) T_pull / T_gpu; here the CPU takes four times as long per edge."""
    dispatcher, _ = measured([100] * 4, cpu=0.04, gpu=0.01, penalty=penalty)
    assert dispatcher.alpha(share) == pytest.approx(alpha)
    assert dispatcher.alone(share) == (alpha <= 1)


def test_a_faster_cpu_works_alone():
    dispatcher, _ = measured([100] * 4, cpu=0.01, gpu=0.02)
    assert dispatcher.alone(1.0)


def simulated(dispatcher, clock, edges, cpu, gpu):
    """Simulate both sides; return which side processed which page, and when each side finished."""
    dispatcher.begin()
    begin, at = clock.now, {CPU: clock.now, GPU: clock.now}
    working: dict[str, tuple] = {}
    processed: list[tuple[str, int]] = []
    seconds = {CPU: cpu, GPU: gpu}
    idle = {CPU, GPU}
    while idle or working:
        for side in (GPU, CPU):
            if side in idle:
                idle.discard(side)
                if (page := dispatcher.take(side)) is not None:
                    working[side] = (clock.now + edges[page] * seconds[side], page)
        if working:
            side = min(working, key=working.get)
            clock.now, page = working.pop(side)
            at[side] = clock.now
            dispatcher.done(side, page)
            processed.append((side, page))
            idle.add(side)
    return processed, {side: when - begin for side, when in at.items()}


@pytest.mark.parametrize(("cpu", "gpu"), [(1.0, 1.0), (3.0, 1.0), (1.0, 3.0), (50.0, 1.0), (1.0, 50.0)])
def test_every_page_once_in_every_iteration(cpu, gpu):
    edges = [1 + (7 * i) % 13 for i in range(40)]
    clock = Clock()
    dispatcher = Dispatcher(edges, clock=clock)
    for _ in range(4):
        processed, _ = simulated(dispatcher, clock, edges, cpu, gpu)
        assert sorted(page for _, page in processed) == list(range(40))


def test_both_share_by_their_speed():
    edges = [10] * 400
    clock = Clock()
    dispatcher = Dispatcher(edges, clock=clock)
    processed, at = simulated(dispatcher, clock, edges, cpu=3.0, gpu=1.0)
    assert sum(side == CPU for side, _ in processed) == pytest.approx(100, abs=2)
    assert abs(at[CPU] - at[GPU]) <= 30
    assert dispatcher.alpha(1.0) == pytest.approx(3.0)


def test_the_gpu_does_not_wait_for_a_slow_cpu():
    """Once the speeds are known, the CPU starts no page that would end after all the others."""
    edges = [10] * 8
    clock = Clock()
    dispatcher = Dispatcher(edges, clock=clock)
    simulated(dispatcher, clock, edges, cpu=20.0, gpu=1.0)
    processed, at = simulated(dispatcher, clock, edges, cpu=20.0, gpu=1.0)
    assert [side for side, _ in processed] == [GPU] * 8
    assert at[GPU] == 80


def iteration(dispatcher, clock, sides, seconds):
    """Run an iteration of the GPU alone, or of both, that takes so long."""
    dispatcher.begin()
    clock.now += seconds
    dispatcher.end(sides)


def test_the_cpu_waits_until_the_gpu_has_been_timed_alone():
    """The first iteration, for which kernels are loaded and pages that stay are copied, does not count."""
    clock = Clock()
    dispatcher = Dispatcher([10] * 8, clock=clock)
    iteration(dispatcher, clock, GPU, 500.0)
    assert not dispatcher.shares() and dispatcher.seconds(GPU) is None
    iteration(dispatcher, clock, GPU, 80.0)
    assert dispatcher.shares() and dispatcher.seconds(GPU) == 80.0


@pytest.mark.parametrize(("cpu", "n_pages"), [(2.0, 4), (7.0, 1), (9.5, 1)])
def test_a_cpu_that_saves_little_takes_one_page(cpu, n_pages):
    """That page tells its speed; from then on the GPU works alone."""
    edges, clock = [10] * 12, Clock()
    dispatcher = Dispatcher(edges, clock=clock)
    for _ in range(2):
        iteration(dispatcher, clock, GPU, 120.0)
    processed, _ = simulated(dispatcher, clock, edges, cpu=cpu, gpu=1.0)
    dispatcher.end(BOTH)
    assert sum(side == CPU for side, _ in processed) == n_pages
    assert dispatcher.shares() == (cpu < 9)


def test_the_cpu_is_withdrawn_where_the_gpu_alone_is_faster():
    """The speeds of the sides do not tell how much they delay each other."""
    edges, clock = [10] * 12, Clock()
    dispatcher = Dispatcher(edges, clock=clock)
    for _ in range(2):
        iteration(dispatcher, clock, GPU, 120.0)
    simulated(dispatcher, clock, edges, cpu=2.0, gpu=1.0)
    dispatcher.end(BOTH)
    assert dispatcher.shares()
    processed, _ = simulated(dispatcher, clock, edges, cpu=3.0, gpu=2.0)
    dispatcher.end(BOTH)
    assert {side for side, _ in processed} == {CPU, GPU}
    assert not dispatcher.shares()


def test_the_cpu_takes_pages_from_the_end():
    """The first pages stay in the GPU's memory."""
    dispatcher = Dispatcher([10] * 5)
    dispatcher.begin()
    assert [dispatcher.take(side) for side in (GPU, CPU, CPU, GPU, CPU, GPU)] == [0, 4, 3, 1, 2, None]


def test_threads_share_the_pages():
    dispatcher = Dispatcher([1] * 2000)
    dispatcher.begin()
    taken: dict[str, list[int]] = {CPU: [], GPU: []}

    def work(side):
        while (page := dispatcher.take(side)) is not None:
            taken[side].append(page)
            dispatcher.done(side, page)

    threads = [threading.Thread(target=work, args=(side,)) for side in (CPU, GPU, GPU)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken[CPU] + taken[GPU]) == list(range(2000))


def test_no_pages():
    dispatcher = Dispatcher([])
    dispatcher.begin()
    assert dispatcher.take(GPU) is dispatcher.take(CPU) is None
    assert not dispatcher.alone(0.0)
