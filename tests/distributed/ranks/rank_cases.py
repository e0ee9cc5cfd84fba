"""Loopback ranks on the CPU, for tests of the work that ranks do together."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
from loopback import run_ranks

from rapids_trav.distributed.ranks import service
from rapids_trav.distributed.ranks.rank import Rank, RankState
from rapids_trav.distributed.ranks.rank_graph import RankBuildOptions
from rapids_trav.engines.multigpu.local_cpu import CpuWork
from rapids_trav.frames.cudf_frames import CudfFrames
from rapids_trav.frames.libraries import PandasFrames
from rapids_trav.graph import Graph

DEADLINE = 30.0


def on_ranks(size, function, deadline=DEADLINE):
    """Call `function(rank)` on every rank; return the results in rank order."""
    return run_ranks(
        size, lambda communicator: function(Rank(communicator, CpuWork(), PandasFrames())), deadline=deadline
    )


@dataclass
class Spread:
    """Graph built by ranks, and its oracle: the local graph of the whole frame."""

    size: int
    states: list[RankState]
    local: Graph

    def ask(self, name, *args, **kwargs):
        """Ask all ranks a question; return what each of them returns."""
        return self.on_all(service.ask, name, args, kwargs)

    def on_all(self, function, *args):
        def rank(communicator):
            state = self.states[communicator.rank]
            state.communicator = communicator
            graph = state.items.get(service.GRAPH)
            if graph is not None:  # each call has new communicators
                _connect(graph, communicator)
            return function(state, *args)

        return run_ranks(self.size, rank, deadline=DEADLINE)

    def frame(self, name, *args, **kwargs):
        """Return the frame of an answer, joined from the parts of the ranks."""
        kept = self.ask(name, *args, **kwargs)
        return joined([of.frames["result"] for of in kept])


def _connect(graph, communicator):
    """Make a graph use another communicator."""
    object.__setattr__(graph.rank, "communicator", communicator)


def joined(of_ranks):
    """Join the frames of all ranks, turn by turn and in rank order.

    A rank has one frame in every turn, or no frames at all.
    """
    turns = max(map(len, of_ranks))
    assert {len(frames) for frames in of_ranks} <= {turns, 0}
    found = [frames[turn] for turn in range(turns) for frames in of_ranks if frames]
    return (PandasFrames() if isinstance(found[0], pd.DataFrame) else CudfFrames()).concat(found)


def spread(edges, shape, partitions=None, device="cpu", **options):
    """Build a graph on a grid of ranks from a frame that is cut into partitions."""
    size = shape[0] * shape[1]
    n = size + 1 if partitions is None else partitions
    cuts = np.linspace(0, len(edges), n + 1).astype(int)
    parts = [edges.iloc[begin:end] for begin, end in itertools.pairwise(cuts)]
    local = {name: value for name, value in options.items() if name in ("src", "dst", "directed", "vertices")}
    states = [RankState(None, device) for _ in range(size)]
    for number, part in enumerate(parts):
        states[(number * 7 + 1) % size].partitions.append((number, part))
    graph = Spread(size, states, Graph.from_edges(edges, **local))
    graph.on_all(service.build, RankBuildOptions(grid=shape, **options))
    return graph


def same(found, wanted):
    """Check that two frames and their indices are equal; cuDF frames are compared as pandas frames."""
    if not isinstance(found, pd.DataFrame):
        found, wanted = found.to_pandas(nullable=True), wanted.to_pandas(nullable=True)
    pd.testing.assert_frame_equal(found, wanted)


def check_predecessors(edges, found, direction="out", directed=False):
    """Check that an edge leads from each predecessor, one level nearer; return the frame without them."""
    level = dict(zip(found["vertex"], found["distance"], strict=True))
    forward = set(zip(edges.iloc[:, 0], edges.iloc[:, 1], strict=True))
    allowed = set()
    if direction != "in" or not directed:
        allowed |= forward
    if direction != "out" or not directed:
        allowed |= {(v, u) for u, v in forward}
    for row in found.itertuples():
        if pd.isna(row.distance) or row.distance == 0:
            assert pd.isna(row.predecessor), row
        else:
            assert level[row.predecessor] == row.distance - 1, row
            assert (row.predecessor, row.vertex) in allowed, row
    return found.drop(columns="predecessor")
