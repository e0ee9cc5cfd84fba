"""Client side of the questions that a graph on the workers of a Dask cluster answers.

Each question is one request that all ranks answer together.  The results stay on the workers, and the caller
gets a Dask frame of them.  With its part of an answer each rank returns a description, `about`.  It has, for
each frame, the number of rows of each of the rank's partitions (``about["lengths"][name]``) and, for the
edges of a neighbourhood, the numbers of the partitions of the edge list that they come from
(``about["partitions"]``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NoReturn

from rapids_trav.algorithms.bfs import Answer, Traced
from rapids_trav.algorithms.bfs_stream import BfsStream, OpenStreams, counted
from rapids_trav.algorithms.khop import Neighborhood
from rapids_trav.algorithms.options import Direction, PathOptions, SearchOptions
from rapids_trav.distributed.dask_frames import (
    Futures,
    assembled,
    joined,
    portable,
    thread_for_others,
    without_rows,
)
from rapids_trav.errors import CLOSED, TravError
from rapids_trav.frames.columns import Frame
from rapids_trav.frames.exchange import EdgeColumns
from rapids_trav.ids.lookup import each_vertex
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.filters import refuse_mask
from rapids_trav.utilities.locations import location
from rapids_trav.utilities.progress import shown

if TYPE_CHECKING:
    from distributed import Client, Future

    from rapids_trav.distributed.session.rank_group import KeptOnWorkers, RankGroup


def unanswered(question: str) -> TravError:
    """Return the error for a question that only a graph in one process answers."""
    return TravError(
        f"{question} is not answered by a graph on the workers of a cluster: build the graph in this "
        f"process, with edges.compute().trav.graph(...), and ask it."
    )


@dataclass(frozen=True)
class WorkersEngine:
    """Name and variants of the engine that the workers use; `engines.interface` has engines in a process."""

    name: str
    variants: tuple[str, ...] = ("auto",)


class DistributedQuestions:
    """A `graph.properties.Questions` whose answers are Dask frames on the workers.

    `group` are the ranks, which have built the graph, and `summary` its properties (`ranks.service.summary`).
    """

    weight: Hashable | None = None
    budget: Budget | None = None

    def __init__(self, client: Client, group: RankGroup, summary: Mapping[str, Any]) -> None:
        self.directed: bool = summary["directed"]
        self.n_vertices: int = summary["n_vertices"]
        self.n_edges: int = summary["n_edges"]
        self.build_times: dict[str, float] = summary["build_times"]
        self.edge_columns: list[Hashable] = list(summary["columns"])
        self.ends: tuple[Sequence[Hashable], Sequence[Hashable]] = (summary["src"], summary["dst"])
        self.grid: tuple[int, int] = tuple(summary["grid"])
        self.engine: Any = WorkersEngine(summary["engine"], tuple(summary.get("variants", ("auto",))))
        self.frame_library: str = "cudf" if self.engine.name == "cuda" else "pandas"
        self._edge_divisions: tuple | None = summary.get("edge_divisions")
        self._client, self._group = client, group
        self._streams = OpenStreams()
        self._metas: dict[tuple, Frame] = {}  # empty frames with the columns of an answer, by its kind

    @property
    def location(self) -> str:
        rows, columns = self.grid
        workers = len(self._group.workers)
        lost = ", lost" if self._group.error is not None else ""
        return (
            f"{self.engine.name} engine on {workers} worker{'s' if workers > 1 else ''} "
            f"({rows} x {columns}){lost}"
        )

    @classmethod
    def answers(cls, name: str) -> bool:
        """Return whether it answers the query of this name; the others need the graph in one process."""
        return hasattr(cls, f"_{name}")

    def ask(self, query: Callable[..., Any], *arguments: object) -> Any:
        name = query.__name__
        if not self.answers(name):
            raise unanswered(name)
        return getattr(self, f"_{name}")(*arguments)

    def _bfs(self, sources: object, options: SearchOptions) -> Answer:
        kept = self._call("bfs", sources, **_named(options))
        kind = ("bfs", options.mode, options.predecessors)
        result = self._frame(kept, "result", kind, in_turns=options.mode == "each")
        return Traced(result, self._small(kept, "trace")) if options.trace else result

    def bfs_stream(self, roots: object, options: SearchOptions) -> BfsStream[Frame]:
        if not isinstance(roots, Iterator):  # those are read as the searches advance
            roots = portable(roots, self._client)
        given = each_vertex("roots", roots, len(self.ends[0]), on_gpu=False)
        total = len(roots) if isinstance(roots, Sized) else None
        silent = replace(options, progress=False)
        answers = ((root, self._bfs(root, silent)) for root in given)
        stream: BfsStream[Frame] = BfsStream(counted(answers, total, options.progress))
        return self._streams.add(stream)

    def _paths(self, sources: object, options: PathOptions) -> Frame:
        if options.weighted:
            raise TravError(
                "weighted=True needs weights, which a graph on the workers of a cluster does not have: build "
                "the graph in this process, with edges.compute().trav.graph(...), and ask it."
            )
        named = _named(options)
        kept = self._call("paths", sources, named.pop("targets", None), **named)
        return self._frame(kept, "result", ("paths", options.mode))

    def _khop(self, seeds: object, k: int, options: SearchOptions) -> Neighborhood:
        kept = self._call("khop", seeds, k, **_named(options))
        src, dst = map(tuple, self.ends)
        columns = EdgeColumns(src, dst, None, self.directed)
        return Neighborhood.of(self._frame(kept, "vertices", ("khop",)), self._edges(kept), columns)

    def _levels(self, sources: object, options: SearchOptions) -> Frame:
        named = _named(options)
        named.pop("predecessors", None)  # levels need only distances
        return self._frame(self._call("levels", sources, **named), "result", ("levels", options.mode))

    def _degrees(self, direction: Direction) -> Frame:
        return self._frame(self._call("degrees", direction), "result", ("degrees",))

    def _memory(self) -> Frame:
        return self._small(self._call("memory"), "result")

    def _n_self_loops(self) -> int:
        return int(self._call("n_self_loops")[0])

    def _n_duplicate_edges(self) -> int:
        return int(self._call("n_duplicate_edges")[0])

    def _save(self, folder: str | os.PathLike[str]) -> None:
        self._call("save", str(location("folder", folder).absolute()))

    def close(self) -> None:
        self._streams.refuse(CLOSED)
        self._group.close()

    def __getstate__(self) -> NoReturn:
        raise TypeError(
            "A graph on the workers of a cluster cannot be pickled: save it, and open the folder with the "
            "client of the cluster where it is needed."
        )

    def _call(self, name: str, *arguments: object, **options: object) -> Any:
        from rapids_trav.distributed.ranks.service import ask

        progress: object = options.pop("progress", False)
        given = tuple(portable(value, self._client) for value in arguments)
        named = {option: portable(value, self._client) for option, value in options.items()}
        with shown(name, progress):  # type: ignore[arg-type]
            return self._group.call(ask, name, given, named)

    def _frame(self, kept: KeptOnWorkers, name: str, kind: tuple, in_turns: bool = False) -> Frame:
        """Return an answer as a Dask frame.

        The partitions come rank by rank; with `in_turns` the first partition of each rank comes first, then
        the second of each, and so on.
        """
        of_ranks = kept.futures(name), [about["lengths"][name] for about in kept.about]
        futures, lengths = (_flat(zip(*of, strict=True) if in_turns else of) for of in of_ranks)
        return assembled(futures, lengths, self._meta(futures[0], (name, *kind)), name)

    def _edges(self, kept: KeptOnWorkers) -> Frame:
        """Return the edges of a neighbourhood as a Dask frame, in the order of their source partitions."""
        numbers = _flat(about["partitions"] for about in kept.about)
        by_number = dict(zip(numbers, _flat(kept.futures("edges")), strict=True))
        futures = [by_number[number] for number in sorted(by_number)]
        divisions = self._edge_divisions
        if divisions is not None and len(divisions) != len(futures) + 1:
            divisions = None
        return joined(futures, self._meta(futures[0], ("edges",)), "edges", divisions)

    def _small(self, kept: KeptOnWorkers, name: str) -> Frame:
        """Fetch a small frame, which one rank holds in full, into this process."""
        (future,) = _flat(kept.futures(name))
        return future.result()

    def _meta(self, future: Future, kind: tuple) -> Frame:
        """Return an empty frame with the columns of an answer; a worker is asked once for each kind."""
        if kind not in self._metas:
            with thread_for_others():
                self._metas[kind] = self._client.submit(without_rows, future, pure=False).result()
        return self._metas[kind]


def _named(options: SearchOptions) -> dict[str, object]:
    """Return the options that differ from their defaults."""
    refuse_mask(options.where)
    given = {part.name: getattr(options, part.name) for part in fields(options)}
    defaults = {part.name: part.default for part in fields(options)}
    return {name: value for name, value in given.items() if value is not defaults[name]}


def _flat(parts: Any) -> Futures:
    return [item for part in parts for item in part]
