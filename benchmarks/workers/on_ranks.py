"""Functions that benchmarks call on all ranks at once, beside those of `rapids_trav.graph500.ranks`.

Workers import this module by its name, as they have the search path of the process that started them.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from rapids_trav.distributed.ranks.rank import Rank, RankState
from rapids_trav.distributed.ranks.service import check_tree
from rapids_trav.engines.multigpu.communicator import (
    Communicator,
    Form,
    Met,
    Note,
    Traffic,
    aborting,
)
from rapids_trav.engines.multigpu.records import RankSearch
from rapids_trav.engines.multigpu.search2d import search
from rapids_trav.engines.searches import BfsOptions, Search
from rapids_trav.frames.columns import move
from rapids_trav.graph500 import ranks

Row = dict[str, Any]
Settings = Mapping[str, Any]  # options of `SearchOptions`, or AUTO
AUTO: Settings = {"variant": "auto"}  # in one launch on each GPU, where they reach each other's memory


class Synchronous(Communicator):
    """A communicator whose calls return when the device has finished, so that each phase has its own time.

    Without it, the wait for a message in transit would count for the next phase.
    """

    def __init__(self, rank: Rank) -> None:
        self._inner: Communicator = rank.communicator
        self._rank = rank
        self.rank, self.size = self._inner.rank, self._inner.size
        self.deadline, self.xp = self._inner.deadline, self._inner.xp

    def check(self) -> None:
        self._inner.check()

    def abort(self, reason: str, rank: int | None = None) -> None:
        self._inner.abort(reason, rank)

    @property
    def traffic(self) -> Traffic:  # type: ignore[override]
        return self._inner.traffic

    def exchange(
        self, group: Sequence[int], arrays: Sequence[Any], known: Sequence[Form] | None = None
    ) -> list[Any]:
        return self._finished(self._inner.exchange(group, arrays, known))

    def sum_and_send(self, values: Sequence[int], note: Note) -> Met:
        return self._finished(self._inner.meet(values, note))

    def _finished(self, result: Any) -> Any:
        self._rank.synchronize()
        return result


def construct(state: RankState, grid: tuple[int, int] | None = None) -> Row:
    """Build the graph of the tuples; return its size, grid, and the seconds of the build and its phases."""
    n_vertices, seconds = ranks.construct(state, grid)
    graph = ranks.bench_of(state).graph
    shape = graph.numbering.grid
    return {
        "vertices": n_vertices,
        "edges": graph.n_edges,
        "shape": (shape.n_rows, shape.n_columns),
        "seconds": seconds,
        "build_times": graph.build_times,
        "rank_edges": graph.storage.view().part.n_edges,
    }


def search_all(state: RankState, roots: Sequence[int], settings: Settings, n_checked: int) -> list[Row]:
    """Search from each root, each timed between barriers, after one untimed search.

    Returns
    -------
    list of dict
        For each root: `seconds`, of the slowest rank; `edges`, input edges of its component; `bytes` and
        `messages` that this rank sent; `digest` of the distances that it holds; `faults` of the five rules,
        None if not checked: only the first `n_checked` roots are; `device_seconds`, of the slowest GPU's
        clock, and `note`, why there are none, for searches that may take one launch on each GPU (AUTO).
    """
    with aborting(state.communicator, "searching", alike=True):
        bench = ranks.bench_of(state)
        graph, rank = bench.graph, bench.graph.rank
        sources = graph.ids.encoder()([rank.xp.asarray(list(roots))])
        view = graph.storage.view()

        def once(source: Any) -> tuple[RankSearch | Search, Traffic]:
            before = rank.communicator.traffic
            found: RankSearch | Search
            if settings == AUTO:
                found = graph.engine.search(view, source, BfsOptions())
            else:
                found = search(rank.communicator, view.part, source, BfsOptions(of_ranks=settings))
            return found, rank.communicator.traffic - before

        once(sources[-1:])
        held = view.launched.memory() if settings == AUTO else []
        refused = [name for name, n_bytes in held if not n_bytes]
        # Searches follow each other: after a pause, such as a check, GPUs take longer.
        timed = [ranks.timed(rank, lambda i=i: once(sources[i : i + 1])) for i in range(len(sources))]
        rows = []
        for i in range(len(sources)):
            (found, sent), seconds = timed.pop(0)  # freed with its row
            own = _own(found, graph.numbering.n_owned)
            told = rank.communicator.gather_objects(getattr(found, "device_seconds", None))
            ends = int(bench.ends[own.distance >= 0].sum())
            row = {
                "seconds": seconds,
                "edges": rank.communicator.sum([ends])[0] // 2,
                "bytes": sent.bytes,
                "messages": sent.messages,
                "device_seconds": None if None in told else max(told),
                "note": "; ".join(refused) or None,
                "digest": _digest(own.distance),
                "faults": None,
            }
            if i < n_checked:
                verdict = check_tree(graph, own, int(sources[i]))
                row["faults"] = "" if verdict.valid else str(verdict)
            rows.append(row)
            del found, own
        return rows


def levels_of(state: RankState, root: int, settings: Settings, deterministic: bool = False) -> Row:
    """Search once, with each phase of each level finished before the next begins.

    Returns
    -------
    dict
        `source`, the internal id of the root; `levels`, a `LevelRow` of each level as a dict; `resolution`
        and `total`, bytes sent for predecessors and in all; `digest` of the distances, and `predecessors`,
        the digest of those, if they are determined.
    """
    with aborting(state.communicator, "searching", alike=True):
        graph = ranks.bench_of(state).graph
        rank = graph.rank
        source = graph.ids.encoder()([rank.xp.asarray([root])])
        options = BfsOptions(trace=True, of_ranks=settings)
        part = graph.storage.view().part
        found, seconds = ranks.timed(
            rank, lambda: search(Synchronous(rank), part, source, options, deterministic=deterministic)
        )
        own = _own(found, graph.numbering.n_owned)
        return {
            "source": int(source[0]),
            "seconds": seconds,
            "levels": [asdict(row) for row in found.trace],
            "resolution": found.resolution.bytes,
            "total": found.traffic.bytes,
            "digest": _digest(own.distance),
            "predecessors": _digest(own.predecessor) if deterministic else None,
        }


def internal_edges(state: RankState) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return both ends of this rank's input edges in internal ids, on the host; for small graphs."""
    ends = ranks.bench_of(state).graph.rows.ends or ()
    return [(move(u, np), move(v, np)) for u, v in ends]


def forget(state: RankState) -> None:
    """Free the graph and the tuples, before others are made."""
    state.items.clear()
    state.partitions.clear()
    gc.collect()


def _own(found: RankSearch | Search, n_owned: int) -> Search:
    predecessor = None if found.predecessor is None else found.predecessor[:n_owned]
    return Search(found.distance[:n_owned], predecessor, [])


def _digest(values: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(move(values, np)).tobytes()).hexdigest()[:16]
