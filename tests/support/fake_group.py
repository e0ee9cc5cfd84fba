"""RankGroup without ranks: a graph in this process answers, and its answers are cut into the parts of ranks.

The parts are sent to a client's workers, so that Dask frames can be made of them as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rapids_trav import Graph

RANKS = 3


@dataclass
class FakeKept:
    """Answer of all ranks: the futures of their frames, and what each rank reports about them."""

    about: list[dict]
    parts: dict[str, list[list]]

    def futures(self, name: str) -> list[list]:
        return self.parts[name]


class FakeGroup:
    """RankGroup of three ranks, of which the second holds no vertices."""

    opened: list[FakeGroup]  # `install` makes a subclass, with its own list, for each test

    error = None  # no rank is lost

    def __init__(self, client, device):
        self.client, self.device, self.workers = client, device, RANKS * tuple(client.nthreads())
        self.closed, self.calls, self.numbered = False, [], []
        self.opened.append(self)

    @classmethod
    def open(cls, client, workers=None, *, device=None, deadline=60.0):
        return cls(client, device)

    def hand_over(self, partitions):
        self.numbered = list(enumerate(self.client.gather(partitions)))
        self.n_partitions = len(self.numbered)

    def call(self, function: Callable, *arguments, **options):
        self.calls.append((function.__name__, arguments))
        return getattr(self, f"_{function.__name__}")(*arguments, **options)

    def close(self, wait=True):
        self.closed = True
        self.graph = self.numbered = None

    def _build(self, options):
        edges = pd.concat([frame for _, frame in self.numbered])
        self.graph = Graph.from_edges(
            edges, options.src, options.dst, directed=options.directed, vertices=options.vertices
        )
        return [self._summary(options.grid) for _ in range(RANKS)]

    def _open_saved(self, folder):
        self.graph = Graph.open(folder, engine="cpu")
        return [self._summary(None) for _ in range(RANKS)]

    def _summary(self, grid):
        rows = self.graph.rows
        return {
            "n_vertices": self.graph.n_vertices,
            "n_edges": self.graph.n_edges,
            "directed": self.graph.directed,
            "src": rows.src,
            "dst": rows.dst,
            "columns": self.graph.edge_columns,
            "build_times": {"renumber": 0.0},
            "grid": grid or (1, RANKS),
            "engine": "cpu",
        }

    def _ask(self, name, arguments, options):
        if name.startswith("n_"):
            return [getattr(self.graph, name)] * RANKS
        answer = getattr(self.graph, name)(*arguments, **options)
        if answer is None:
            return [None] * RANKS
        if name == "khop":
            return self._kept(vertices=self._cut(answer.vertices), edges=self._edges(answer.edges))
        if options.get("trace"):
            return self._kept(result=self._cut(answer.result), trace=[[answer.trace], [], []])
        if options.get("mode") == "each" and name == "bfs":
            search = np.cumsum((answer["source"] != answer["source"].shift()).to_numpy(bool))
            cut = [self._cut(rows) for _, rows in answer.groupby(search)]
            return self._kept(result=[[of[rank][0] for of in cut] for rank in range(RANKS)])
        if name in ("bfs", "degrees"):
            return self._kept(result=self._cut(answer))
        return self._kept(result=[[answer], [], []])

    def _cut(self, frame):
        """Return the rows of each rank; the second has none."""
        half = len(frame) // 2
        return [[frame.iloc[:half]], [frame.iloc[half:half]], [frame.iloc[half:]]]

    def _edges(self, rows):
        """Return the rows of each rank, cut by partition; partition k is on rank k % RANKS."""
        parts, first = [], 0
        for number, frame in self.numbered:
            inside = sum(frame.index.isin(rows.index))  # an index value occurs in one partition only
            parts.append((number, rows.iloc[first : first + inside]))
            first += inside
        self.numbers = [[number for number, _ in parts if number % RANKS == rank] for rank in range(RANKS)]
        return [[part for number, part in parts if number % RANKS == rank] for rank in range(RANKS)]

    def _kept(self, **frames):
        parts = {
            name: [[self.client.submit(lambda kept: kept, part, pure=False) for part in of] for of in ranks]
            for name, ranks in frames.items()
        }
        about = [
            {"lengths": {name: [len(part) for part in ranks[rank]] for name, ranks in frames.items()}}
            for rank in range(RANKS)
        ]
        for rank, numbers in enumerate(getattr(self, "numbers", [[], [], []])):
            about[rank]["partitions"] = numbers
        return FakeKept(about, parts)


def install(monkeypatch) -> list[FakeGroup]:
    """Make graphs open fake groups; return the list of those that are opened."""

    class RankGroup(FakeGroup):
        opened: list[FakeGroup] = []  # noqa: RUF012 -- for one test

    monkeypatch.setattr("rapids_trav.distributed.session.rank_group.RankGroup", RankGroup)
    return RankGroup.opened
