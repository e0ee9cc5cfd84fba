"""Build of a graph that is distributed over ranks, and the graph as algorithms see it on one rank.

The build has three steps:

1. map ids to places (`dictionary`), and count the degree of each place on the rank that holds it;
2. deal the vertices to the ranks by degree (`numbering`), and convert both ends of the edges to internal ids;
3. send the edges to their ranks in the grid (`engines.multigpu.partition`).

Steps that look up numbers at other ranks do so for a limited number of edges at a time, `round_edges` over
all ranks, so that the data in transit stays small compared with the edges.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from rapids_trav.csr.array import Array
from rapids_trav.distributed.ranks.edge_ends import count_ends, has_few_vertices, in_internal
from rapids_trav.distributed.ranks.numbering import Numbering, build_numbering, grid_of
from rapids_trav.distributed.ranks.rank import Rank
from rapids_trav.distributed.ranks.rank_engine import RankEngine, RankStorage
from rapids_trav.distributed.ranks.rank_rows import Ends, RankRows, RankSource
from rapids_trav.distributed.ranks.rank_values import RankAnswers, RankValues
from rapids_trav.distributed.ranks.renumber_spread import build_ids
from rapids_trav.distributed.ranks.spread_ids import NumberedIds, SpreadMap
from rapids_trav.engines.interface import Engine
from rapids_trav.engines.multigpu.partition import ROUND_EDGES, build
from rapids_trav.errors import TravError, a_type, listed
from rapids_trav.frames.columns import Dtype, Frame, id_names, library_of
from rapids_trav.ids.lookup import isolated, split
from rapids_trav.ids.maps import Column
from rapids_trav.memory.budget import Budget
from rapids_trav.storage.build import edge_columns
from rapids_trav.storage.in_memory import InMemory
from rapids_trav.utilities.progress import PhaseTimes, report

TARGET_BYTES = 4  # bytes of an edge on its rank
PHASES = 3  # of a build


@dataclass(frozen=True)
class RankBuildOptions:
    """Options of a build, the same on every rank."""

    src: Any = None  # name of a column, or a list of them
    dst: Any = None
    directed: bool = False
    vertices: object = None  # that the graph has even if no edge does
    grid: tuple[int, int] | None = None  # rows and columns of ranks; by default the squarest
    keep_rows: bool = True  # the partitions, and ends of their edges as internal ids, for `where` and `khop`
    round_edges: int = ROUND_EDGES  # that a rank sends and receives in a round, at most


@dataclass
class RankGraph:
    """One rank's part of a graph.

    It has the part of `algorithms.interface.TraversableGraph` that searches use.  All ranks make the same
    calls at the same time.
    """

    rank: Rank
    numbering: Numbering
    ids: NumberedIds
    rows: RankRows
    parts: RankStorage
    n_edges: int
    directed: bool
    build_times: dict[str, float]

    weight: Hashable | None = None
    budget: Budget | None = None

    @property
    def storage(self) -> InMemory:
        return cast(InMemory, self.parts)  # it has what searches use, and nothing for programs

    @property
    def engine(self) -> Engine:
        return cast(Engine, RankEngine(self.numbering))  # it has the methods that searches use

    @property
    def values(self) -> RankValues:
        return RankValues(self.numbering)

    @property
    def frame_library(self) -> str:
        return self.rank.library.name

    @property
    def n_vertices(self) -> int:
        return self.ids.n

    def id_columns(self, name: str, internal: Array | None = None, nulls: bool = False) -> dict[str, Column]:
        """Return the caller's ids of internal ids (collective), or with None the ids held here."""
        return _named(name, self.ids.decode(internal, nulls))

    def vertex_columns(self, name: str, places: Array | None = None) -> dict[str, Column]:
        """Return the caller's ids held here, at these positions or all of them."""
        columns = self.ids.decode(None)
        return _named(name, columns if places is None else [self._taken(of, places) for of in columns])

    def _taken(self, column: Column, places: Array) -> Column:
        library = self.rank.library
        if isinstance(column, (np.ndarray, self.rank.xp.ndarray)):
            return column[places]
        return library.take(library.column(column), places)

    def collector(self, n_rows: int | None) -> RankAnswers:
        """Return a collector of the rows of an answer."""
        return RankAnswers(self.rank, None if n_rows is None else self.numbering.firsts)

    def frame(self, columns: Mapping[str, Column]) -> Frame:
        return self.rank.library.frame(columns)

    def hand_out(self, columns: Mapping[str, Column]) -> Frame:
        return self.frame(columns)

    def deliver(self, frame: Frame) -> Frame:
        """Return a result unchanged: its frames stay on their rank."""
        return frame

    def release(self) -> list[object]:
        """Let go of memory of other ranks; return memory that they may still read."""
        return self.parts.release()

    def memory(self) -> list[tuple[str, int]]:
        """Return the name and the bytes of each structure of this rank."""
        return [
            ("vertex ids", self.ids.nbytes),
            ("order of the vertices", self.numbering.nbytes),
            ("ends of the edges", self.rows.nbytes),
            *self.parts.memory(),
        ]


def _named(name: str, columns: Sequence[Column]) -> dict[str, Column]:
    return dict(zip(id_names(name, len(columns)), columns, strict=True))


def build_graph(rank: Rank, partitions: Sequence[tuple[int, Frame]], options: RankBuildOptions) -> RankGraph:
    """Build the graph of the edges of all ranks; every rank calls it with its partitions.

    Raises a `TravError` on all ranks, if columns are missing or hold values that cannot be ids.
    """
    grid_of(rank.size, 0, options.grid)  # refuses a wrong grid before any work is done
    _refuse_other_than_frames(rank, partitions)
    library = rank.library
    partitions = [(number, library.native(frame.copy(deep=False))) for number, frame in partitions]
    source, dtypes = _agreed(rank, partitions)
    src, dst = edge_columns(source, options.src, options.dst)
    sides = [[frame[name] for name in side] for _, frame in partitions for side in (src, dst)]
    n_sides = len(sides)
    sides += _isolated(rank, options.vertices, [dtypes[name] for name in src])
    n_edges = rank.communicator.sum([sum(len(frame) for _, frame in partitions)])[0]
    times = PhaseTimes(rank.synchronize)
    with times.phase("renumber"):
        ids, places = build_ids(rank, sides)
        del sides, places[n_sides:]
    report(1, PHASES, "phases")

    def rows(numbering: Numbering, ends: list[Ends]) -> RankRows:
        kept = options.keep_rows
        return RankRows(source, src, dst, partitions if kept else [], ends if kept else None, numbering)

    return assemble(rank, ids, places, n_edges, rows, options, times)


def assemble(
    rank: Rank,
    ids: SpreadMap,
    places: list[Array],
    n_edges: int,
    rows_of_ends: Callable[[Numbering, list[Ends]], RankRows],
    options: RankBuildOptions,
    times: PhaseTimes,
) -> RankGraph:
    """Build the graph of edges whose ends are given as places: sources and destinations in turn."""
    chunk = max(1, options.round_edges // rank.size)
    with times.phase("degree sort"):
        few = has_few_vertices(rank, ids.n, places)
        degree = count_ends(rank, ids.firsts, places, chunk, few)
        numbering = build_numbering(rank, ids.firsts, ids.n, degree, options.grid)
        del degree
        ends = in_internal(numbering, places, chunk, few)
    report(2, PHASES, "phases")
    with times.phase("adjacency"):
        part = build(
            rank.communicator,
            numbering.grid,
            ends,
            rank.work,
            directed=options.directed,
            round_edges=options.round_edges,
        )
    rows = rows_of_ends(numbering, ends)
    report(PHASES, PHASES, "phases")
    return RankGraph(
        rank=rank,
        numbering=numbering,
        ids=NumberedIds.of(ids, numbering, room_for_ids(n_edges, options.directed, rank.size)),
        rows=rows,
        parts=RankStorage(numbering, part, rows, options.round_edges),
        n_edges=n_edges,
        directed=options.directed,
        build_times=times.seconds,
    )


def room_for_ids(n_edges: int, directed: bool, size: int) -> int:
    """Return the bytes that each rank may use for ids of all vertices: a quarter of those of its edges."""
    return TARGET_BYTES * n_edges * (1 if directed else 2) // size // 4


def _refuse_other_than_frames(rank: Rank, partitions: Sequence[tuple[int, Frame]]) -> None:
    with rank.communicator.raising_together():
        for _, part in partitions:
            if library_of(part) is None:
                raise TravError(f"A partition of the edges is {a_type(part)}: make each of them a frame.")


def _agreed(rank: Rank, partitions: Sequence[tuple[int, Frame]]) -> tuple[RankSource, dict[Hashable, Dtype]]:
    """Return the columns, the same for the partitions of all ranks, and their dtypes."""
    mine = [list(zip(frame.columns, frame.dtypes, strict=True)) for _, frame in partitions]
    gathered = [columns for of_rank in rank.communicator.gather_objects(mine) for columns in of_rank]
    if not gathered:
        raise TravError("The edges have no partitions: give at least one, which may have no rows.")
    names = [name for name, _ in gathered[0]]
    for columns in gathered:
        other = [name for name, _ in columns]
        if other != names:
            differ = (
                "the same columns in different orders" if set(other) == set(names) else "different columns"
            )
            raise TravError(
                f"Partitions of the edges have {differ}, {listed(names)} and {listed(other)}: give all of "
                f"them the same."
            )
    return RankSource(names, rank.library), dict(gathered[-1])


def _isolated(rank: Rank, vertices: object, dtypes: Sequence[Dtype]) -> list[list[Column]]:
    """Return the columns of the option `vertices` on the last rank, and none on the others.

    The columns of the ranks are joined in rank order, so that the edges come first, as in one process.
    """
    found: list[list[Column]] = []
    with rank.communicator.raising_together():
        if vertices is not None and rank.rank == rank.size - 1:
            given = split("vertices", vertices, len(dtypes))
            columns = [isolated(of, dtype, rank.library) for of, dtype in zip(given, dtypes, strict=True)]
            found = [[column.rename("vertices") for column in columns]]
    return found
