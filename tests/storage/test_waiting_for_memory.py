"""Questions of several threads share a memory limit: each waits for the others' memory, none for its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from rapids_trav.errors import TravMemoryError
from rapids_trav.memory.budget import Budget
from rapids_trav.utilities.sizes import parse_bytes

SECONDS = 60  # after which a thread counts as stuck


def edges(n=3000, m=12_000):
    random = np.random.default_rng(0)
    ends = random.integers(0, n, (2, m))
    return pd.DataFrame({"src": ends[0], "dst": ends[1], "w": random.integers(1, 9, m)})


def limit_for(questions, **options):
    """Return the smallest limit that suffices for each of the questions alone."""
    limit = 1000
    while True:
        try:
            for question in questions:
                question(edges().trav.graph(memory_limit=limit, **options))
            return limit
        except TravMemoryError as error:
            limit = parse_bytes(str(error).partition("give memory_limit at least ")[2].removesuffix("."))


def started(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def ended(*threads):
    for thread in threads:
        thread.join(SECONDS)
    return not any(thread.is_alive() for thread in threads)


QUESTIONS = {
    "components": lambda graph: graph.components(),
    "pagerank": lambda graph: graph.pagerank(),
    "each": lambda graph: graph.bfs([1, 2, 3], mode="each", predecessors=False),
    "levels": lambda graph: graph.levels(1),
    "sssp": lambda graph: graph.sssp(1, predecessors=False),
    "khop": lambda graph: graph.khop(1, 1).vertices,
}


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("names", [("components", "pagerank"), tuple(QUESTIONS)], ids=["two", "all"])
def test_eight_threads_ask_at_a_limit_that_is_enough_for_one(names, directed):
    questions = [QUESTIONS[name] for name in names]
    options = {"weight": "w", "directed": directed}
    limit = limit_for(questions, **options)
    graph = edges().trav.graph(memory_limit=limit, **options)
    at_rest = graph.budget.used
    wanted = [question(edges().trav.graph(**options)) for question in questions]

    def ask(i):
        return i, questions[i % len(questions)](graph)

    with ThreadPoolExecutor(8) as pool:
        for i, found in pool.map(ask, range(48)):
            pd.testing.assert_frame_equal(found, wanted[i % len(questions)])
    assert graph.budget.used == at_rest and graph.budget.peak <= limit


def test_a_question_waits_for_a_holder_that_stalls():
    budget, holding, go_on, found = Budget(100), threading.Event(), threading.Event(), []

    def stalls():
        with budget.hold(80, "rows"):
            holding.set()
            go_on.wait(SECONDS)

    def asks():
        def question():
            with budget.hold(50, "values"):
                found.append(budget.used)

        budget.ask(question)

    holder = started(lambda: budget.ask(stalls))
    assert holding.wait(SECONDS)
    waiting = started(asks)
    waiting.join(0.2)
    assert waiting.is_alive() and not found
    go_on.set()
    assert ended(holder, waiting)
    assert found == [50] and budget.used == 0


def test_room_that_is_there_again_is_asked_for_again():
    """A question found too little, and another returned it before the refusal, but has not ended."""
    budget = Budget(1000)
    taken, give, given, end = (threading.Event() for _ in range(4))

    def other():
        with budget.hold(600, "the other"):
            taken.set()
            assert give.wait(SECONDS)
        given.set()
        assert end.wait(SECONDS)

    thread = started(lambda: budget.ask(other))
    assert taken.wait(SECONDS)
    tries = []

    def question():
        tries.append(budget.free)
        if budget.free < 500:
            give.set()
            assert given.wait(SECONDS)
            raise budget.refusal(500, "this")
        return "an answer"

    assert budget.ask(question) == "an answer"
    assert tries == [400, 1000]
    end.set()
    assert ended(thread)


def test_a_question_refused_with_all_room_is_not_asked_for_ever():
    budget = Budget(1000)
    running, end = threading.Event(), threading.Event()
    thread = started(lambda: budget.ask(lambda: running.set() or end.wait(SECONDS)))
    assert running.wait(SECONDS)
    tries = []

    def question():
        tries.append(None)
        raise budget.refusal(500, "this")

    with pytest.raises(TravMemoryError, match="500 B are needed for this"):
        budget.ask(question)
    assert len(tries) <= 3
    end.set()
    assert ended(thread)


def test_a_question_that_raises_lets_the_next_in():
    budget, holding, go_on, failed = Budget(100), threading.Event(), threading.Event(), []

    def raises():
        with budget.hold(80, "rows"):
            holding.set()
            go_on.wait(SECONDS)
            raise ZeroDivisionError

    def fails():
        try:
            budget.ask(raises)
        except ZeroDivisionError as error:
            failed.append(error)

    holder = started(fails)
    assert holding.wait(SECONDS)

    def asks():
        with budget.hold(100, "values"):
            pass

    waiting = started(lambda: budget.ask(asks))
    go_on.set()
    assert ended(holder, waiting)
    assert failed and budget.used == 0


def test_what_does_not_fit_alone_is_refused_with_a_limit():
    budget, holding, go_on = Budget(1000), threading.Event(), threading.Event()
    budget.allocate(100, "vertex ids")

    def stalls():
        with budget.hold(800, "rows"):
            holding.set()
            go_on.wait(SECONDS)

    def asks():
        with budget.hold(300, "values"), budget.hold(700, "messages"):
            pass

    holder = started(lambda: budget.ask(stalls))
    assert holding.wait(SECONDS)
    with pytest.raises(TravMemoryError, match=r"at least 1\.1 kB"):  # once the holder has gone on
        go_on.set()
        budget.ask(asks)
    go_on.clear()
    assert ended(holder)
    holding.clear()
    holder = started(lambda: budget.ask(stalls))
    assert holding.wait(SECONDS)

    def asks_too_much():
        with budget.hold(950, "values"):
            pass

    with pytest.raises(TravMemoryError, match=r"at least 1\.05 kB"):  # although the other still holds memory
        budget.ask(asks_too_much)
    go_on.set()
    assert ended(holder)


def test_a_large_question_is_not_overtaken_for_good():
    """Small questions keep coming, and the large one gets its turn meanwhile."""
    budget, served, stop = Budget(100), threading.Event(), threading.Event()
    holding, begun = threading.Event(), threading.Event()

    def small():
        def question():
            with budget.hold(60, "small"):
                holding.set()
                stop.wait(0.001)

        while not stop.is_set():
            budget.ask(question)

    def large():
        def question():
            begun.set()
            with budget.hold(100, "large"):
                served.set()

        budget.ask(question)

    threads = [started(small) for _ in range(4)]
    assert holding.wait(SECONDS)
    last = started(large)
    assert served.wait(SECONDS) and begun.is_set()
    stop.set()
    assert ended(*threads, last) and budget.used == 0


def test_questions_that_need_more_do_not_wait_for_each_other():
    """Each holds a half and wants the other: if both held on, they would wait forever."""
    budget, both = Budget(100), threading.Barrier(2)
    turns = []

    def asks():
        first = True

        def question():
            nonlocal first
            with budget.hold(50, "a half"):
                if first:
                    first = False
                    both.wait(SECONDS)
                with budget.hold(50, "the other"):
                    turns.append(budget.used)

        budget.ask(question)

    assert ended(started(asks), started(asks))
    assert turns == [100, 100] and budget.used == 0


def test_a_question_within_a_question_is_a_part_of_it():
    budget = Budget(100)

    def inner():
        with budget.hold(40, "inner"):
            return budget.used

    def outer():
        with budget.hold(60, "outer"):
            return budget.ask(inner)

    assert budget.ask(outer) == 100 and budget.used == 0


def test_what_is_kept_while_there_is_room_gives_way():
    budget = Budget(100)

    class Kept:
        def __init__(self):
            self.rows = {}

        def give_up(self):
            self.rows = {}

    class Rows:
        pass

    kept = Kept()
    budget.on_shortage(kept.give_up)
    kept.rows["out"] = Rows()
    with budget.hold(70, "rows") as held:
        held.keep(kept.rows["out"], 70, spare=True)

    def asks():
        with budget.hold(90, "values"):
            return budget.held()

    assert budget.ask(asks) == {"values": 90}
    assert budget.used == 0 and not kept.rows


def test_an_iterator_of_sources_is_asked_again_whole():
    limit = limit_for([QUESTIONS["components"]], weight="w")
    graph = edges().trav.graph(memory_limit=limit, weight="w")
    wanted = graph.bfs([1, 2, 3], predecessors=False)
    turned_away = []
    search = graph.engine.search

    def crowded(view, sources, options):
        if not turned_away:  # as if another thread had taken the memory meanwhile
            turned_away.append(len(sources))
            started(lambda: graph.budget.ask(stalls))
            assert holding.wait(SECONDS)
            with graph.budget.hold(graph.budget.free + 1, "more than is left"):
                pass
        return search(view, sources, options)

    holding, go_on = threading.Event(), threading.Event()

    def stalls():
        with graph.budget.hold(1, "a byte"):
            holding.set()
            go_on.wait(0.2)

    graph.engine.search = crowded
    found = graph.bfs(iter([1, 2, 3]), predecessors=False)
    assert turned_away == [3]
    pd.testing.assert_frame_equal(found, wanted)
