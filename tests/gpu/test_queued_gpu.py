"""Searches that are queued on a stream of their own, ahead of the one that is read."""

from __future__ import annotations

import itertools
import threading
import weakref

import numpy as np
import pytest

from rapids_trav.engines.cuda import CudaEngine
from rapids_trav.engines.interface import BfsOptions

from .small_graphs import GRAPHS, GraphView, check_tree

pytestmark = pytest.mark.gpu

ROOTS = (0, 5, 2, 2, 0, 17, 3, 299, 8, 1)


def sources(engine, roots=ROOTS):
    """Yield the sources, each written by the device itself, as a look-up writes it."""
    return (engine.xp.full(1, root, np.int32) for root in roots)


def graph_and_view(engine, name="undirected"):
    return GRAPHS[name], GraphView(GRAPHS[name], engine)


@pytest.mark.parametrize("ahead", [0, 1, 3, 40])
@pytest.mark.parametrize("name", ["undirected", "directed", "dense", "grid"])
def test_searches_come_in_the_order_of_their_sources(engine, name, ahead):
    graph, view = graph_and_view(engine, name)
    stream = engine.bfs_stream(view, sources(engine), BfsOptions(), ahead)
    for root, found in zip(ROOTS, stream, strict=True):
        distance = graph.distance([root])
        assert np.array_equal(found.distance.get(), distance)
        assert int(found.n_unreached[0]) == (distance < 0).sum()
        check_tree(graph, [root], distance, found.predecessor.get())


def test_what_is_kept_is_not_overwritten(engine):
    graph, view = graph_and_view(engine)
    kept = list(engine.bfs_stream(view, sources(engine), BfsOptions(), 2))
    for root, found in zip(ROOTS, kept, strict=True):
        assert np.array_equal(found.distance.get(), graph.distance([root]))


def test_what_is_dropped_is_overwritten_only_after_it_was_read(engine):
    """Sums are launched without waiting for them, and the arrays they read are dropped at once."""
    graph, view = graph_and_view(engine)
    roots = ROOTS * 4
    stream = engine.bfs_stream(view, sources(engine, roots), BfsOptions(), 2)
    sums = [found.distance.astype(np.int64).sum() for found in stream]
    assert [int(total) for total in sums] == [graph.distance([root]).sum() for root in roots]


def test_memory_that_is_still_read_is_not_written_by_a_search(engine, monkeypatch):
    """An allocator gives memory out again as soon as it is dropped, in the order of the stream."""
    from rapids_trav.engines.cuda.bfs import queued

    graph, view = graph_and_view(engine)
    again = queued.Outputs(view.n_vertices, view.out.column_indices.dtype, True)
    monkeypatch.setattr(queued, "Outputs", lambda *of: again)
    stream = engine.bfs_stream(view, sources(engine, ROOTS * 4), BfsOptions(), 0)
    sums = [found.distance.astype(np.int64).sum() for found in stream]
    assert [int(total) for total in sums] == [graph.distance([root]).sum() for root in ROOTS * 4]


@pytest.mark.parametrize("options", [{"depth_limit": 2}, {"predecessors": False}, {"depth_limit": 0}])
def test_options(engine, options):
    graph, view = graph_and_view(engine)
    stream = engine.bfs_stream(view, sources(engine), BfsOptions(**options), 2)
    for root, found in zip(ROOTS, stream, strict=True):
        distance = graph.distance([root])
        limited = np.where(distance > options.get("depth_limit", len(distance)), -1, distance)
        assert np.array_equal(found.distance.get(), limited)
        assert (found.predecessor is None) == ("predecessors" in options)


def test_targets(engine):
    graph, view = graph_and_view(engine, "grid")
    options = BfsOptions(targets=engine.xp.asarray([1, 24]))
    for root, found in zip((0, 2), engine.bfs_stream(view, sources(engine, (0, 2)), options, 2), strict=True):
        distance = graph.distance([root])
        last = distance[[1, 24]].max()
        assert np.array_equal(found.distance.get(), np.where(distance > last, -1, distance))


def test_a_source_that_is_none(engine):
    graph, view = graph_and_view(engine)
    lost, found = engine.bfs_stream(view, sources(engine, (-1, 3)), BfsOptions(), 2)
    assert int(lost.n_unreached[0]) == graph.n
    assert np.array_equal(found.distance.get(), graph.distance([3]))


def test_sources_are_read_only_as_far_ahead_as_asked(engine):
    _, view = graph_and_view(engine)
    read = []

    def endless():
        for root in itertools.cycle(ROOTS):
            read.append(root)
            yield engine.xp.asarray([root], np.int32)

    stream = engine.bfs_stream(view, endless(), BfsOptions(), 2)
    assert read == []
    for number in range(1, 5):
        next(stream)
        assert len(read) == number + 2


def test_the_host_does_not_wait_between_searches(engine, monkeypatch):
    """Nothing waits for the device until the searches end."""
    _, view = graph_and_view(engine)
    engine.search(view, engine.xp.asarray([0], np.int32), BfsOptions())  # reads properties of the adjacency
    waited = []
    for kind in (engine.xp.cuda.Event, engine.xp.cuda.Stream):
        if isinstance(kind.synchronize, type(len)):
            pytest.skip("CuPy's own types cannot be watched")
        monkeypatch.setattr(kind, "synchronize", lambda *of: waited.append(of))
    given = list(sources(engine))
    stream = engine.bfs_stream(view, iter(given), BfsOptions(), 2)
    for _ in given:
        next(stream)
    assert waited == []
    monkeypatch.undo()
    stream.close()


def test_two_streams_in_turns(engine):
    graph, view = graph_and_view(engine)
    other, other_view = graph_and_view(engine, "directed")
    streams = (
        engine.bfs_stream(view, sources(engine), BfsOptions(), 2),
        engine.bfs_stream(other_view, sources(engine, ROOTS[::-1]), BfsOptions(), 3),
    )
    for root, found, back, reverse in zip(ROOTS, streams[0], ROOTS[::-1], streams[1], strict=True):
        single = engine.search(view, engine.xp.asarray([back], np.int32), BfsOptions())
        assert np.array_equal(found.distance.get(), graph.distance([root]))
        assert np.array_equal(reverse.distance.get(), other.distance([back]))
        assert np.array_equal(single.distance.get(), graph.distance([back]))


def test_threads_with_a_stream_each(engine):
    graph, view = graph_and_view(engine)
    _ = view.out, view.into
    wrong = []

    def search(roots):
        stream = engine.bfs_stream(view, sources(engine, roots), BfsOptions(), 2)
        for root, found in zip(roots, stream, strict=True):
            if not np.array_equal(found.distance.get(), graph.distance([root])):
                wrong.append(root)

    threads = [threading.Thread(target=search, args=(ROOTS[k:],)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_read_on_another_stream_than_it_was_queued_for(engine):
    graph, view = graph_and_view(engine)
    stream, sums = engine.bfs_stream(view, sources(engine, ROOTS * 3), BfsOptions(), 3), []
    elsewhere = engine.xp.cuda.Stream(non_blocking=True)
    for number in range(len(ROOTS) * 3):
        if number % 3:
            with elsewhere:
                sums.append(next(stream).distance.astype(np.int64).sum())
        else:
            sums.append(next(stream).distance.astype(np.int64).sum())
    elsewhere.synchronize()
    assert [int(total) for total in sums] == [graph.distance([root]).sum() for root in ROOTS * 3]


def test_searches_that_nobody_reads_end_with_the_stream(engine):
    _, view = graph_and_view(engine)
    xp, sums = engine.xp, []
    for number in range(12):
        stream = engine.bfs_stream(view, sources(engine), BfsOptions(), 3)
        next(stream)
        stream.close()
        # These take the memory of the searches and of their working memory.
        mine = [xp.full(view.n_vertices, number, np.int32) for _ in range(8)]
        sums += [xp.stack(mine).astype(np.int64).sum()]
    assert [int(total) for total in sums] == [8 * view.n_vertices * number for number in range(12)]


def test_an_exception_of_the_sources_ends_the_stream(engine):
    _, view = graph_and_view(engine)

    def failing():
        yield from sources(engine, (0, 1))
        raise KeyError("roots")

    stream = engine.bfs_stream(view, failing(), BfsOptions(), 0)
    assert len([next(stream), next(stream)]) == 2
    with pytest.raises(KeyError):
        next(stream)


def test_fewer_searches_ahead_if_there_is_no_memory_for_more(engine, monkeypatch):
    from rapids_trav.engines.cuda.bfs import queued

    graph, view = graph_and_view(engine)
    _ = view.out, view.into
    alive, refused = [], []

    class Scarce(queued.Outputs):
        def __init__(self, *of):
            if sum(one() is not None for one in alive) >= 2:
                refused.append(1)
                raise MemoryError("no room")
            super().__init__(*of)

        def search(self):
            found = super().search()
            alive.append(weakref.ref(found.distance))
            return found

    monkeypatch.setattr(queued, "Outputs", Scarce)
    stream, read = engine.bfs_stream(view, sources(engine), BfsOptions(), 4), []
    for root in ROOTS:
        read.append(np.array_equal(next(stream).distance.get(), graph.distance([root])))
    assert read == [True] * len(ROOTS)
    assert refused
    monkeypatch.setattr(queued, "Outputs", lambda *of: (_ for _ in ()).throw(MemoryError("none")))
    with pytest.raises(MemoryError):
        next(CudaEngine().bfs_stream(view, sources(engine), BfsOptions(), 4))


def test_a_source_that_was_refused_is_known_on_another_stream(engine, monkeypatch):
    """Its search begins when the caller asks again, which may be on another stream than the first time."""
    from rapids_trav.engines.cuda.bfs import queued

    graph, view = graph_and_view(engine)
    made = []

    class Refused(queued.Outputs):
        def __init__(self, *of):
            made.append(of)
            if len(made) == 3:
                raise MemoryError("no room")
            super().__init__(*of)

    monkeypatch.setattr(queued, "Outputs", Refused)
    streams = [engine.xp.cuda.Stream(non_blocking=True) for _ in ROOTS]
    for _ in range(10):
        made.clear()
        searches = engine.bfs_stream(view, sources(engine), BfsOptions(), 2)
        found = []
        for stream in streams:
            with stream:
                found.append(next(searches))
        for root, stream, one in zip(ROOTS, streams, found, strict=True):
            with stream:
                assert np.array_equal(one.distance.get(), graph.distance([root]))
        assert len(made) > len(ROOTS)
