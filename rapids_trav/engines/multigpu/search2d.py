"""Breadth-first search on a grid of ranks, level by level.

M. Bisson, M. Bernaschi, E. Mastrostefano, "Parallel Distributed Breadth First Search on the Kepler
Architecture", IEEE Transactions on Parallel and Distributed Systems 27(7), 2016; A. Buluc, K. Madduri,
"Parallel Breadth-First Search on Distributed Memory Systems", SC 2011, for the partition.

The idea: a rank at row i and column j of the grid holds the edges from the vertices that column j owns to
those that row i owns (`grid`).  To follow the edges of a frontier, it needs the frontier only from the R
ranks of its column, and the vertices that it finds belong to the C ranks of its row.  That takes R + C - 2
messages per level, instead of the R * C - 1 of a partition in one dimension.

Each level, on every rank:

1. stop if the frontiers of all ranks are empty, by a sum along the columns and then along the rows (K13).
   Together with the sum, the ranks of a column exchange the sizes of their frontiers, which determine the
   forms of the next messages, and the frontiers themselves if they are short;
2. expand: gather the frontier from the ranks of this column (K8), unless step 1 has sent it;
3. follow the frontier's edges and claim the vertices that they lead to, in a bitmap of this rank alone (K5,
   K6; `follow`); a vertex that was claimed is not sent again in this search;
4. fold: send each rank of this row the claimed vertices that it owns (K9), as a list or as a bitmap,
   whichever is shorter (K10);
5. visit the received vertices that are not visited yet: they are this rank's part of the next frontier.

The fold does not carry predecessors.  A rank that claims a vertex remembers the predecessor, the owner
remembers which rank reported the vertex first, and after the last level the owner asks that rank
(`predecessors`, K12). docs/systems.md explains the ids K5 to K13.

A backward search swaps rows and columns of the grid, on the same edges: it expands along the row and folds
along the column.  A search in both directions does one after the other in each level.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from rapids_trav.engines.multigpu.communicator import Communicator, Met, Note, Traffic, aborting
from rapids_trav.engines.multigpu.follow import Follower, sweeps
from rapids_trav.engines.multigpu.grid import WORD
from rapids_trav.engines.multigpu.local_work import Array, LocalWork, Owned
from rapids_trav.engines.multigpu.partition import Part
from rapids_trav.engines.multigpu.predecessors import resolve, smallest
from rapids_trav.engines.multigpu.records import INLINE, LevelRow, RankSearch, form, kinds, pack, unpack
from rapids_trav.engines.searches import BfsOptions
from rapids_trav.errors import TravError
from rapids_trav.frames.columns import move
from rapids_trav.tuning import SearchTuning


@dataclass
class _SearchTally:
    """Counts and times of a level, added up over its sweeps."""

    ways: set[str] = field(default_factory=set)
    edges: int = 0
    candidates: int = 0
    expanded: list[Array] = field(default_factory=list)
    folded: list[Array] = field(default_factory=list)
    expand: Traffic = field(default_factory=Traffic)
    fold: Traffic = field(default_factory=Traffic)
    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=perf_counter)

    def lap(self, phase: str) -> None:
        """Add the time since the last lap to a phase."""
        now = perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self.last
        self.last = now


def search(
    communicator: Communicator,
    part: Part,
    sources: Array,
    options: BfsOptions | None = None,
    *,
    direction: str = "out",
    deterministic: bool = False,
    inline: int = INLINE,
) -> RankSearch:
    """Search from all sources, global ids, together; every rank calls it with the same ones and options.

    Parameters
    ----------
    options : BfsOptions, optional
        Its `of_ranks` has settings of `tuning.SearchTuning`.  By default `exchange` is "auto", `claim`
        "atomics", and `bottom_up` as a rank has memory for it, but not with ``claim="sort"``.
    direction : {"out", "in", "both"}
        Direction in which edges are followed; it has no effect in an undirected graph.
    deterministic : bool
        Return the smallest of all valid predecessors.  This sends the levels of all vertices to the ranks
        that have edges with them, 4 bytes per vertex and message.
    inline : int
        Most 32-bit words of a frontier that are sent along with the sums.  Longer ones are sent on their own
        when their lengths are known.

    Raises a `TravError` if a source or target is not a vertex, and a `RankError` if another rank fails or
    does not answer.
    """
    options = options or BfsOptions()
    with aborting(communicator, "searching"):
        tuning = SearchTuning(**options.of_ranks)
        exchange, claim, bottom_up = tuning.exchange or "auto", tuning.claim or "atomics", tuning.bottom_up
        before = communicator.traffic
        work, block = part.work, part.grid.block
        any_predecessor = options.predecessors and not deterministic
        owned = Owned(
            work.xp.zeros(block // WORD, np.uint32),
            work.xp.full(block, -1, np.int32),
            work.xp.full(block, -1, np.int32) if any_predecessor else None,
        )
        if bottom_up is None:
            bottom_up = claim != "sort" and part.grouped_by_both()
        ways = sweeps(part, direction, any_predecessor, bottom_up)
        followers = [Follower(work, sweep, block, claim) for sweep in ways]
        partners = sorted({rank for sweep in ways for rank in sweep.expand_group})
        row, column = part.grid.place(part.rank)
        axes = part.grid.ranks_of_column(column), part.grid.ranks_of_row(row)
        targets = None if options.targets is None else _own(part, options.targets, "target")
        frontier = work.settle(owned, [(_own(part, sources, "source"), -1)], 0)
        # Bitmaps that are asked for are sent even of no vertices, which the last meeting should not do.
        most_inline = 0 if exchange == "bitmap" else inline
        trace: list[LevelRow] = []
        level = 0
        while True:
            tally = _SearchTally()
            unfound = 0 if targets is None else int((owned.distance[targets] < 0).sum())
            at_limit = level == options.depth_limit
            room = 0 if at_limit else most_inline
            words = _note(work, frontier, block, exchange, room)
            note = Note(partners, len(frontier), words, room, axes)
            before_sum = communicator.traffic
            met = communicator.meet([len(frontier), unfound], note)
            n_frontier, n_unfound = met.sums
            tally.expand += communicator.traffic - before_sum
            tally.lap("sum")
            enough = at_limit or (targets is not None and n_unfound == 0)
            if n_frontier == 0 or enough:
                break
            level += 1
            n_own = len(frontier)
            messages = [
                message
                for follow in followers
                for message in _level(
                    communicator, part, follow, frontier, partners, met, room, exchange, tally
                )
            ]
            frontier = work.settle(owned, messages, level)
            tally.lap("settle")
            if options.trace:
                trace.append(_row(level, part.rank, n_own, tally))

        searched = communicator.traffic
        predecessor = None
        if owned.finder is not None:
            predecessor = resolve(communicator, part, ways, owned.finder, exchange)
        elif options.predecessors:
            predecessor = smallest(communicator, part, ways, owned.distance)
        n_own = len(part.grid.owned(part.rank))
        return RankSearch(
            owned.distance[:n_own],
            None if predecessor is None else predecessor[:n_own],
            trace,
            level,
            communicator.traffic - before,
            communicator.traffic - searched,
        )


def _own(part: Part, vertices: Array, what: str) -> Array:
    """Return the offsets of the vertices that this rank owns; refuse ids that are not vertices."""
    given = move(vertices, np).astype(np.int64, copy=False)  # few, so that the host is faster
    wrong = given[(given < 0) | (given >= part.grid.n_vertices)]
    if len(wrong):
        raise TravError(
            f"{what} {int(wrong[0])} is not a vertex: give ids from 0 to {part.grid.n_vertices - 1}."
        )
    mine = given[part.grid.owner(given) == part.rank]
    return part.work.xp.asarray((mine % part.grid.block).astype(np.int32))


def _note(work: LocalWork, frontier: Array, block: int, exchange: str, room: int) -> Array | None:
    """Return the message with a frontier if it has at most `room` words, else None."""
    if form(len(frontier), block, exchange)[1] > room:
        return None
    return pack(work, frontier, block, exchange)


def _level(
    communicator: Communicator,
    part: Part,
    follow: Follower,
    frontier: Array,
    partners: list[int],
    met: Met,
    room: int,
    exchange: str,
    tally: _SearchTally,
) -> list[tuple[Array, int]]:
    """Expand, follow and fold in one sweep; return the received messages with their finders.

    `met` has the size of the frontier of each partner, from which follow the forms of their messages, and the
    frontiers of at most `room` words.
    """
    work, block, sweep = part.work, part.grid.block, follow.sweep
    places = [partners.index(rank) for rank in sweep.expand_group]
    sizes = [met.numbers[place] for place in places]

    before = communicator.traffic
    forms = [form(size, block, exchange) for size in sizes]
    late = [(dtype, length if length > room else 0) for dtype, length in forms]
    own = sweep.expand_group.index(part.rank)
    gathered = [
        met.notes[place][:length].view(dtype) for place, (dtype, length) in zip(places, forms, strict=True)
    ]
    if any(length for _, length in late):
        packed = pack(work, frontier, block, exchange)[: late[own][1]]
        received = communicator.all_gather(sweep.expand_group, packed, late)
        gathered = [
            array if length else note
            for note, array, (_, length) in zip(gathered, received, late, strict=True)
        ]
    all_front = work.xp.concatenate(
        [
            unpack(work, message, size) + np.int32(place * block)
            for place, (message, size) in enumerate(zip(gathered, sizes, strict=True))
        ]
    )
    tally.expand += communicator.traffic - before
    tally.expanded += [gathered[own]] * (len(sweep.expand_group) > 1)
    tally.lap("expand")

    found, n_edges, way = follow(all_front)
    tally.ways.add(way)
    tally.edges += n_edges
    tally.candidates += sum(map(len, found))
    tally.lap("follow")

    before = communicator.traffic
    outgoing = [pack(work, offsets, block, exchange) for offsets in found]
    incoming = communicator.exchange(sweep.fold_group, outgoing)
    messages = [(unpack(work, message), sweep.base + place) for place, message in enumerate(incoming)]
    tally.fold += communicator.traffic - before
    tally.folded += [m for rank, m in zip(sweep.fold_group, outgoing, strict=True) if rank != part.rank]
    tally.lap("fold")
    return messages


def _row(level: int, rank: int, frontier: int, tally: _SearchTally) -> LevelRow:
    times = {f"{phase}_ms": 1e3 * seconds for phase, seconds in tally.seconds.items()}
    return LevelRow(
        level=level,
        rank=rank,
        frontier=frontier,
        direction="mixed" if len(tally.ways) > 1 else tally.ways.pop(),
        edges=tally.edges,
        candidates=tally.candidates,
        expand_kind=kinds(tally.expanded),
        fold_kind=kinds(tally.folded),
        expand_bytes=tally.expand.bytes,
        fold_bytes=tally.fold.bytes,
        messages=tally.expand.messages + tally.fold.messages,
        **times,
    )
