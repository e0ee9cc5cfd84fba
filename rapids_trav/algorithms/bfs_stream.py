"""Searches from one root after another, with the answers of `Graph.bfs`.

An engine with the method `bfs_stream` searches from later roots while the caller has the answer of an earlier
one.  Other engines, and graphs whose edges are not in the engine's memory, search when they are asked.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Generator, Hashable, Iterator, Sized
from contextlib import ExitStack, closing
from dataclasses import replace
from types import TracebackType
from typing import Generic, cast
from weakref import WeakSet

from rapids_trav.algorithms.bfs import answer_room, check_size, framed, with_smallest
from rapids_trav.algorithms.interface import TraversableGraph
from rapids_trav.algorithms.options import SearchOptions
from rapids_trav.algorithms.request import (
    answered,
    ask_for_roots,
    on_engine,
    own_answers,
    reusable,
    vertices,
)
from rapids_trav.algorithms.results import columns_of
from rapids_trav.csr.adjacency import Array
from rapids_trav.engines.interface import BfsOptions, Search
from rapids_trav.errors import TravError, written
from rapids_trav.frames.columns import BitMasked, Frame
from rapids_trav.frames.kinds import FrameT
from rapids_trav.ids.lookup import each_vertex
from rapids_trav.ids.maps import Column
from rapids_trav.memory.model.search import QueryBytes
from rapids_trav.storage.in_memory import MemoryView
from rapids_trav.utilities.progress import ProgressOption, opened

AHEAD = 3  # searches behind the one whose answer the caller has
NAME, ROOTS = "bfs_stream", "roots"  # of the question and of its argument, in error messages

Answers = Generator[tuple[Hashable, Frame], None, None]


class BfsStream(Generic[FrameT]):
    """The answers of `Graph.bfs_stream`: an iterator over pairs of root and frame.

    Several threads may each have an iterator of one graph, but only one at a time may advance an iterator.
    Any thread may close it: an answer that is being made is still returned.

    Examples
    --------
    >>> import pandas as pd, rapids_trav
    >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
    >>> graph = edges.trav.graph()
    >>> with graph.bfs_stream([4, 0]) as answers:
    ...     root, frame = next(answers)
    >>> root, frame["distance"].tolist()
    (4, [3, 2, 4, 1, 0])
    >>> list(answers)
    []
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._refusal: str | None = None
        self._ended = False
        self._advancing = threading.Lock()  # held while an answer is made

    def __iter__(self) -> BfsStream[FrameT]:
        return self

    def __next__(self) -> tuple[Hashable, FrameT]:
        if not self._advancing.acquire(blocking=False):
            raise TravError(f"This {NAME} is already making an answer: give each thread a stream of its own.")
        try:
            return next(self._answers)
        except StopIteration:
            if self._refusal is not None:
                raise TravError(self._refusal) from None
            raise
        finally:
            self._advancing.release()
            if self._ended:
                self._end()

    def close(self) -> None:
        """End the searches and free their memory; frames that were returned remain valid.

        The searches also end with a ``with`` block, when the last answer has been returned, at an exception
        of the iterator, and when nothing refers to the iterator any more.

        Examples
        --------
        >>> import pandas as pd, rapids_trav
        >>> edges = pd.DataFrame({"src": [0, 0, 1, 3], "dst": [1, 2, 3, 4]})
        >>> answers = edges.trav.graph().bfs_stream([4, 0])
        >>> next(answers)[0]
        4
        >>> answers.close()
        """
        self._end()

    def refuse(self, reason: str) -> None:
        """End the searches; a request for another answer raises an error that gives the reason."""
        self._refusal = reason
        self._end()

    def _end(self) -> None:
        """End the searches now or, if an answer is being made, once it has been."""
        self._ended = True
        if self._advancing.acquire(blocking=False):
            try:
                self._answers.close()
            finally:
                self._advancing.release()

    def __enter__(self) -> BfsStream[FrameT]:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class OpenStreams:
    """The streams of a graph, which end with it; threads may open some while another one closes the graph."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: WeakSet[BfsStream[Frame]] = WeakSet()
        self._reason: str | None = None

    def add(self, stream: BfsStream[Frame]) -> BfsStream[Frame]:
        """Return the stream, which is refused if the graph has been closed."""
        with self._lock:
            self._streams.add(stream)
            reason = self._reason
        if reason is not None:
            stream.refuse(reason)
        return stream

    def refuse(self, reason: str) -> None:
        """Refuse all streams, and those that are opened later."""
        with self._lock:
            self._reason = reason
            opened = list(self._streams)
        for stream in opened:
            stream.refuse(reason)

    def __reduce__(self) -> tuple[type[OpenStreams], tuple[()]]:
        """Make a copy of a graph begin without streams."""
        return OpenStreams, ()


def bfs_stream(graph: TraversableGraph, roots: object, options: SearchOptions) -> BfsStream[Frame]:
    """Return the iterator that `Graph.bfs_stream` documents."""
    on_gpu = graph.rows.source.library.name == "cudf"
    given = each_vertex(ROOTS, roots, graph.ids.width, on_gpu)
    options = cast("SearchOptions", reusable(options))  # the question may be asked again
    view, asked = answered(graph, NAME, ask_for_roots, options)
    total = len(roots) if isinstance(roots, Sized) else None
    return BfsStream(counted(_answers(graph, view, asked, given, options), total, options.progress))


def counted(answers: Answers, total: int | None, progress: ProgressOption) -> Answers:
    """Pass on answers, and tell how many the caller has taken of `total`."""
    with opened(NAME, progress) as told, closing(answers):
        for done, answer in enumerate(answers, 1):
            yield answer
            if told is not None:
                told.tell(done, total, "roots", "")


def _answers(
    graph: TraversableGraph,
    view: MemoryView,
    asked: BfsOptions,
    given: Iterator[Hashable],
    options: SearchOptions,
) -> Answers:
    maker = _FrameMaker(graph, view, asked, options)
    roots = _Roots(graph, given, maker.lenient)
    queue = graph.engine.bfs_stream if graph.n_vertices else None

    def prepare(_: TraversableGraph) -> None:
        with view.searching(maker.needed):
            pass  # builds what searches read, and refuses if there is no room for one

    answered(graph, NAME, prepare)
    with ExitStack() as open_:
        ahead = 0 if queue is None else open_.enter_context(view.searching_ahead(AHEAD, maker.needed))
        searches: Iterator[Search] = _OneByOne(graph, view, maker.options, roots)
        if ahead and queue is not None:
            searches = open_.enter_context(closing(queue(view, roots, maker.options, ahead)))
        # The caller's iterable is read outside the question, as it may ask questions of its own.
        while roots.read(ahead + 1):
            frame = answered(graph, NAME, lambda _: maker.frame(searches, roots))
            if frame is None:
                assert roots.failure is not None, "the searches ended before their sources"
                break
            yield roots.searched.popleft(), frame
            del frame
    if roots.failure is not None:
        raise roots.failure


class _Roots(Iterator[Array]):
    """The sources of the searches, located when their searches begin.

    An exception of the caller's iterable, or for a root that is not a vertex, ends the sources; it is kept as
    `failure` until the searches before it have been answered.
    """

    def __init__(self, graph: TraversableGraph, given: Iterator[Hashable], lenient: bool) -> None:
        self._graph, self._given, self._lenient = graph, given, lenient
        self._unread: deque[Hashable] = deque()
        self.searched: deque[Hashable] = deque()  # roots whose searches have begun and are not answered
        self.failure: Exception | None = None

    def read(self, number: int) -> bool:
        """Read roots until `number` are not answered; return whether there is one."""
        try:
            while self.failure is None and len(self._unread) + len(self.searched) < number:
                self._unread.append(next(self._given))
        except StopIteration:
            pass
        except Exception as error:
            self.failure = error
        return bool(self._unread or self.searched)

    def __next__(self) -> Array:
        if not self._unread:
            raise StopIteration
        root = self._unread.popleft()
        try:
            source = self._located(root)
        except Exception as error:
            self.failure = error
            self._unread.clear()
            raise StopIteration from None
        self.searched.append(root)
        return source

    def _located(self, root: Hashable) -> Array:
        located = vertices(self._graph, ROOTS, root, checked=not self._lenient)
        if len(located) != 1:
            raise TravError(
                f"{ROOTS} holds {written(root)}, which names {len(located)} vertices: give one for each "
                f"search."
            )
        return on_engine(self._graph, located)


class _OneByOne(Iterator[Search]):
    """Searches that begin when they are asked for; one that fails can be asked for again."""

    def __init__(
        self, graph: TraversableGraph, view: MemoryView, options: BfsOptions, sources: Iterator[Array]
    ) -> None:
        self._engine, self._view, self._options, self._sources = graph.engine, view, options, sources
        self._source: Array | None = None

    def __next__(self) -> Search:
        if self._source is None:
            self._source = next(self._sources)
        found = self._engine.search(self._view, self._source, self._options)
        self._source = None
        return found


class _FrameMaker:
    """Maker of frames from searches with `options`; `needed` returns the bytes of one of them and its answer.

    If `lenient`, the source of an unknown root may be -1, so that no host thread waits for the look-up; the
    frame then reports it.
    """

    def __init__(
        self, graph: TraversableGraph, view: MemoryView, asked: BfsOptions, options: SearchOptions
    ) -> None:
        self._graph, self._view, self._reached_only = graph, view, options.reached_only
        self._smallest = options.deterministic and options.predecessors
        self._own = own_answers(graph)
        self._found: Search | None = None
        self._columns: dict[str, Column | BitMasked] | None = None
        self.lenient = self._own is not None and graph.n_vertices > 0
        self.options = replace(asked, predecessors=options.predecessors and not self._smallest)
        self._room = answer_room(graph, False, options.reached_only)

    def needed(self, table: QueryBytes, _: int) -> int:
        return table.search(self._room)

    def frame(self, searches: Iterator[Search], roots: _Roots) -> Frame | None:
        """Return the answer of the next search; None if there is none."""
        graph = self._graph
        with self._view.searching(self.needed):
            # If others hold the memory that a step needs, the steps after the last finished one are repeated.
            if self._columns is None:
                if self._found is None:
                    self._found = next(searches, None)
                if self._found is None:
                    return None
                found = with_smallest(graph, self._view, self._found) if self._smallest else self._found
                self._columns = self._columns_of(found)
                del found
                self._found = None
        result = graph.deliver(framed(graph, self._columns, ROOTS, roots.searched[0]))
        self._columns = None
        return result

    def _columns_of(self, found: Search) -> dict[str, Column | BitMasked]:
        graph = self._graph
        if self._own is not None:
            return self._own.columns(found, 1, self._reached_only)
        columns, n_rows = columns_of(graph, None, found, self._reached_only)
        check_size(graph, graph.collector(None), n_rows)
        return columns
