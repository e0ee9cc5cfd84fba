"""`Graph.bfs_stream`: the answers of `bfs`, one root after another."""

from __future__ import annotations

import gc
import itertools
import pickle
import threading
import weakref
from collections import deque

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import rapids_trav
from rapids_trav import TravError, TravMemoryError, UnknownVertexError
from rapids_trav.engines.cpu import CpuEngine

EDGES = pd.DataFrame(
    {
        "src": [10, 10, 20, 40, 60, 60],
        "dst": [20, 30, 40, 50, 70, 60],
        "road": [True, True, True, False, True, True],
    }
)
ROOTS = [10, 50, 60, 10, 30]


class QueuingEngine(CpuEngine):
    """A CPU engine that searches ahead when its stream is asked, as one on a GPU does."""

    def __init__(self):
        self.begun, self.closed = [], 0

    def bfs_stream(self, view, sources, options, ahead):
        queued = deque()
        try:
            while True:
                while len(queued) <= ahead and (source := next(sources, None)) is not None:
                    self.begun.append(int(source[0]))
                    queued.append(self.search(view, source, options))
                if not queued:
                    return
                yield queued.popleft()
        finally:
            self.closed += 1


@pytest.fixture(params=["cpu", "queuing"])
def engine(request):
    return "cpu" if request.param == "cpu" else QueuingEngine()


@pytest.fixture
def queuing():
    engine = QueuingEngine()
    return engine, EDGES.trav.graph(engine=engine)


OPTIONS = [
    {},
    {"depth_limit": 1},
    {"predecessors": False},
    {"reached_only": True},
    {"deterministic": True},
    {"targets": [20, 70]},
    {"where": "road"},
    {"where": np.array([True, False, True, True, True, True])},
    {"direction": "in", "reached_only": True, "deterministic": True},
]


@pytest.mark.parametrize("limit", [None, "1MB", 1200])
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "+".join(options) or "none")
def test_answers_are_those_of_bfs(engine, options, limit):
    graph = EDGES.trav.graph(directed=True, engine=engine, memory_limit=limit)
    answers = list(graph.bfs_stream(ROOTS, **options))
    assert [root for root, _ in answers] == ROOTS
    for root, frame in answers:
        assert_frame_equal(frame, graph.bfs(root, **options))


@pytest.mark.parametrize("order", ["ids", "degree"])
def test_any_order_of_the_vertices(engine, order):
    graph = EDGES.trav.graph(engine=engine, order=order)
    answers = list(graph.bfs_stream(ROOTS))
    assert [root for root, _ in answers] == ROOTS
    for root, frame in answers:
        assert_frame_equal(frame, graph.bfs(root))


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, np.array, lambda roots: pd.Series(roots, index=list("abcde"))],
    ids=["list", "tuple", "iterator", "array", "column"],
)
def test_kinds_of_roots(engine, kind):
    graph = EDGES.trav.graph(engine=engine)
    found = [root for root, _ in graph.bfs_stream(kind(ROOTS))]
    assert found == ROOTS
    assert {type(root) for root in found} == {int}


def test_ids_of_several_columns(engine):
    edges = pd.DataFrame({"a": [1, 1], "b": ["x", "x"], "c": [2, 3], "d": ["y", "x"]})
    graph = edges.trav.graph(["a", "b"], ["c", "d"], engine=engine)
    roots = [(2, "y"), (1, "x")]
    for given in (roots, pd.DataFrame(roots), iter(roots)):
        assert [root for root, _ in graph.bfs_stream(given)] == roots
    ((root, frame),) = graph.bfs_stream(roots[0])
    assert root == roots[0]
    assert_frame_equal(frame, graph.bfs([roots[0]]))


def test_strings(engine):
    graph = pd.DataFrame({"src": ["ab", "b"], "dst": ["b", "c"]}).trav.graph(engine=engine)
    assert [frame["distance"].max() for _, frame in graph.bfs_stream(pd.Series(["ab", "b"]))] == [2, 1]
    assert [root for root, _ in graph.bfs_stream("ab")] == ["ab"]


def test_no_roots(engine):
    assert list(EDGES.trav.graph(engine=engine).bfs_stream([])) == []


def test_an_unknown_root_is_reported_when_it_is_reached(engine):
    stream = EDGES.trav.graph(engine=engine).bfs_stream([10, 20, 99, 30])
    assert [next(stream)[0], next(stream)[0]] == [10, 20]
    with pytest.raises(UnknownVertexError, match=r"^roots contains 1 unknown vertex: 99: give ids"):
        next(stream)
    assert list(stream) == []


@pytest.mark.parametrize(
    ("roots", "message"),
    [
        ([[10, 20]], r"^roots holds \[10, 20\], which names 2 vertices: give one for each search.$"),
        ([None], r"^roots is None"),
        (["a"], r"^roots holds 'a', but the graph's ids are int64"),
        (np.zeros((2, 2), int), r"^roots has 2 dimensions: give a flat sequence of ids.$"),
        (None, r"^roots is None, which names no vertex: give at least one vertex id.$"),
    ],
)
def test_roots_that_are_refused(engine, roots, message):
    graph = EDGES.trav.graph(engine=engine)
    with pytest.raises(TravError, match=message):
        next(graph.bfs_stream(roots))


def test_a_graph_without_vertices(engine):
    graph = EDGES.iloc[:0].trav.graph(engine=engine)
    with pytest.raises(UnknownVertexError, match=r"^roots names a vertex, but the graph has none"):
        next(graph.bfs_stream([1]))


def test_options_are_refused_at_once(engine):
    graph = EDGES.trav.graph(engine=engine)
    with pytest.raises(TravError, match=r"^depth_limit=-1 is not a number of levels"):
        graph.bfs_stream([10], depth_limit=-1)
    with pytest.raises(TravError, match=r"^Column 'rail' is not"):
        graph.bfs_stream([10], where="rail")
    with pytest.raises(UnknownVertexError, match=r"^targets contains"):
        graph.bfs_stream([10], targets=[99])


def test_roots_are_read_as_the_searches_advance(queuing):
    engine, graph = queuing
    read = []
    stream = graph.bfs_stream(read.append(root) or root for root in itertools.cycle(ROOTS))
    assert (read, engine.begun) == ([], [])
    for number in range(1, 8):
        next(stream)
        assert len(read) == len(engine.begun) == number + 3
    stream.close()
    assert engine.closed == 1
    assert list(stream) == []


def test_without_searches_ahead_one_root_is_read():
    read = []
    stream = EDGES.trav.graph().bfs_stream(read.append(root) or root for root in itertools.cycle(ROOTS))
    for number in range(1, 4):
        next(stream)
        assert len(read) == number


def test_an_exception_of_the_iterable_comes_after_the_answers(engine):
    def failing():
        yield from (10, 20)
        raise KeyError("no more")

    stream = EDGES.trav.graph(engine=engine).bfs_stream(failing())
    assert [next(stream)[0], next(stream)[0]] == [10, 20]
    with pytest.raises(KeyError, match=r"no more"):
        next(stream)


@pytest.mark.parametrize("limit", [None, "1MB"])
def test_the_iterable_and_the_loop_may_ask_questions(engine, limit):
    graph = EDGES.trav.graph(engine=engine, memory_limit=limit)

    def near():
        for root in ROOTS:
            assert len(graph.khop(root, 1).vertices)
            yield root

    found = []
    for root, frame in graph.bfs_stream(near()):
        assert_frame_equal(frame, graph.bfs(root))
        found.append(root)
    assert found == ROOTS


@pytest.mark.parametrize("leave", ["break", "exception", "closing", "dropping", "with"])
def test_nothing_is_left_behind(leave):
    engine = QueuingEngine()
    graph = EDGES.trav.graph(engine=engine, memory_limit="1MB")
    used = graph.budget.used
    stream = graph.bfs_stream(itertools.cycle(ROOTS))
    next(stream)
    assert graph.budget.used > used
    if leave == "break":
        for _ in stream:
            break
        del stream
    elif leave == "exception":
        with pytest.raises(KeyError):
            for _ in (stream, stream := None)[0]:
                raise KeyError
    elif leave == "closing":
        stream.close()
    elif leave == "with":
        with stream:
            next(stream)
    else:
        stream = None
    gc.collect()
    assert (graph.budget.used, engine.closed) == (used, 1)
    assert graph.budget.peak <= graph.budget.limit


def test_a_stream_that_is_dropped_within_another_question(queuing):
    """The memory of its searches is not that of the question."""
    engine = queuing[0]
    graph = EDGES.trav.graph(engine=engine, memory_limit="1MB")
    used = graph.budget.used
    streams = [graph.bfs_stream(ROOTS)]
    next(streams[0])
    search = engine.search

    def dropping(*asked):
        streams.clear()
        return search(*asked)

    engine.search = dropping
    graph.bfs(10)
    assert graph.budget.used == used
    assert graph.budget.free == graph.budget.limit - used


def test_closing_the_graph_ends_its_streams(engine):
    graph = EDGES.trav.graph(engine=engine)
    begun, fresh = graph.bfs_stream(ROOTS), graph.bfs_stream(ROOTS)
    _, frame = next(begun)
    contents = weakref.ref(graph.questions)
    graph.close()
    gc.collect()
    assert contents() is None  # although the streams are still there
    for stream in (begun, fresh):
        with pytest.raises(TravError, match=r"^The graph is closed"):
            next(stream)
    assert frame["distance"].max() == 3


def test_closing_the_graph_while_an_answer_is_made(queuing):
    engine, graph = queuing
    stream, search = graph.bfs_stream(ROOTS), engine.search

    def closing(*asked):
        graph.close()
        return search(*asked)

    engine.search = closing
    assert next(stream)[0] == 10
    assert engine.closed == 1
    with pytest.raises(TravError, match=r"^The graph is closed"):
        next(stream)


def test_closing_a_stream_while_an_answer_is_made(queuing):
    """As another thread does: the answer is returned, then the searches end."""
    engine, graph = queuing
    stream, search = graph.bfs_stream(ROOTS), engine.search

    def closing(*asked):
        stream.close()
        return search(*asked)

    engine.search = closing
    assert next(stream)[0] == 10
    assert engine.closed == 1
    assert list(stream) == []


def test_two_threads_that_advance_one_stream(engine):
    graph = EDGES.trav.graph(engine=engine)
    advanced = []

    def roots():
        thread = threading.Thread(target=advance)
        thread.start()
        thread.join()
        yield from ROOTS

    def advance():
        with pytest.raises(TravError, match=r"^This bfs_stream is already making an answer: give"):
            next(stream)
        advanced.append(True)

    stream = graph.bfs_stream(roots())
    assert [root for root, _ in stream] == ROOTS
    assert advanced == [True]


def test_a_graph_with_a_stream_can_be_pickled():
    graph = EDGES.trav.graph()
    stream = graph.bfs_stream(ROOTS)
    next(stream)
    copy = pickle.loads(pickle.dumps(graph))
    assert [root for root, _ in copy.bfs_stream(ROOTS)] == ROOTS


def test_two_streams_in_turns(engine):
    graph = EDGES.trav.graph(engine=engine)
    pairs = zip(graph.bfs_stream(ROOTS), graph.bfs_stream(ROOTS[::-1], direction="in"), strict=True)
    found = []
    for (root, frame), (back, reverse) in pairs:
        assert_frame_equal(frame, graph.bfs(root))
        assert_frame_equal(reverse, graph.bfs(back, direction="in"))
        found.append((root, back))
    assert found == list(zip(ROOTS, ROOTS[::-1], strict=True))


@pytest.mark.parametrize("limit", [None, 2000])
def test_threads_with_a_stream_each(engine, limit):
    graph = EDGES.trav.graph(engine=engine, memory_limit=limit)
    expected = {root: graph.bfs(root) for root in ROOTS}
    found = []

    def search():
        found.append([(root, frame.equals(expected[root])) for root, frame in graph.bfs_stream(ROOTS)])

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[(root, True) for root in ROOTS]] * 4


def test_a_limit_bounds_how_far_the_searches_run_ahead():
    lengths = {}
    for limit in (900, 1200, 1600, "1MB"):
        engine = QueuingEngine()
        graph = EDGES.trav.graph(engine=engine, memory_limit=limit)
        stream = graph.bfs_stream(itertools.cycle(ROOTS))
        next(stream)
        lengths[limit] = len(engine.begun)
        assert graph.budget.peak <= graph.budget.limit
    assert list(lengths.values()) == sorted(lengths.values())
    assert (min(lengths.values()), lengths["1MB"]) == (0, 4)


def test_a_limit_that_is_too_small_for_one_search():
    edges = pd.DataFrame({"src": np.arange(2000), "dst": np.arange(1, 2001)})
    needed = edges.trav.graph(memory_limit="10MB")
    least = needed.budget.used + 2000
    with pytest.raises(TravMemoryError, match=r"for a search"):
        next(edges.trav.graph(memory_limit=max(least, needed.budget.peak)).bfs_stream([0], reached_only=True))


def test_an_answer_that_is_made_again_is_that_of_its_root(queuing):
    """A question is asked again if others held the memory that it needs."""
    engine, _ = queuing
    graph = EDGES.trav.graph(engine=engine, memory_limit="1MB")
    ask = graph.budget.ask

    class Again(Exception):
        pass

    def twice(work):
        failing = graph.questions.frame
        graph.questions.frame = lambda columns: (_ for _ in ()).throw(Again)
        try:
            ask(work)
        except Again:
            pass
        finally:
            graph.questions.frame = failing
        return ask(work)

    stream = graph.bfs_stream(ROOTS)
    graph.budget.ask = twice
    for root, (own, frame) in zip(ROOTS, stream, strict=True):
        assert own == root
        assert frame.set_index("vertex")["distance"][root] == 0


def test_the_type_is_public():
    assert isinstance(EDGES.trav.graph().bfs_stream(ROOTS), rapids_trav.BfsStream)
